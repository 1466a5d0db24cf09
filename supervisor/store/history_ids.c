/* SPDX-License-Identifier: MIT */
/* Which units a question is about: their numbers in the file. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "store/history_private.h"

void history_ids_done(struct history_ids *ids)
{
	free(ids->item);
}

static int add(struct history_ids *ids, sqlite3_int64 id)
{
	sqlite3_int64 *grown = ids->item;

	if (ids->n == ids->allocated) {
		grown = reallocarray(ids->item, 2 * ids->allocated + 8, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		ids->item = grown;
		ids->allocated = 2 * ids->allocated + 8;
	}
	ids->item[ids->n++] = id;
	return 0;
}

static bool is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/* Names are matched as everywhere: a \\ in them is one (systemd.unit(5) escapes with it). */
static int add_matching(struct history *h, const char *pattern, struct history_ids *ids)
{
	const char *text = is_pattern(pattern) ? "SELECT id, name FROM unit"
					       : "SELECT id, name FROM unit WHERE name = ?1";
	_cleanup_(history_finalize) sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(h->db, text, -1, &s, NULL), r = history_errno(code);

	if (r >= 0 && !is_pattern(pattern))
		(void) sqlite3_bind_text(s, 1, pattern, -1, SQLITE_STATIC);
	while (r >= 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
		const char *name = (const char *) sqlite3_column_text(s, 1);

		if (name && (!is_pattern(pattern) || fnmatch(pattern, name, FNM_NOESCAPE) == 0))
			r = add(ids, sqlite3_column_int64(s, 0));
	}
	return r < 0 ? r : history_errno(code);
}

static int compare(const void *a, const void *b)
{
	const sqlite3_int64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int history_ids_of(struct history *h, const struct history_filter *f, struct history_ids *ret)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < f->n_units && r >= 0; i++)
		r = add_matching(h, f->unit[i], ret);
	if (r < 0 || ret->n == 0)
		return r;
	qsort(ret->item, ret->n, sizeof(*ret->item), compare);
	for (size_t i = 1; i < ret->n; i++)
		if (ret->item[i] != ret->item[n])
			ret->item[++n] = ret->item[i];
	ret->n = n + 1;
	return 0;
}

bool history_ids_have(const struct history_ids *ids, sqlite3_int64 id)
{
	return ids->n > 0 && bsearch(&id, ids->item, ids->n, sizeof(*ids->item), compare);
}

void history_put_ids(FILE *f, const char *column, const struct history_ids *ids)
{
	(void) fprintf(f, "%s IN (", column);
	for (size_t i = 0; i < ids->n; i++)
		(void) fprintf(f, "%s%lld", i > 0 ? "," : "", (long long) ids->item[i]);
	(void) fputc(')', f);
}
