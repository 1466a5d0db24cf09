/* SPDX-License-Identifier: MIT */
#include "daemon/supd_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "control/client.h"
#include "core/report.h"
#include "core/unit.h"
#include "daemon/supd_control.h"

/* ---- who may see what ---- */

/* May everybody read this file by themselves? */
static bool is_public(const char *path)
{
	char part[PATH_MAX];
	struct stat st;

	if (stat(path, &st) < 0 || !(st.st_mode & S_IROTH) || strlen(path) >= sizeof(part))
		return false;
	(void) snprintf(part, sizeof(part), "%s", path);
	for (char *slash; (slash = strrchr(part, '/')) && slash != part;) {
		*slash = '\0';
		if (stat(part, &st) < 0 || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

bool files_may_see(const struct control_request *q, const struct unit *u)
{
	char buf[FRAGMENT_PATH_MAX];
	const char *fragment = unit_fragment(u, buf);

	if (q->is_owner)
		return true;
	if (!fragment || !is_public(fragment))
		return false;
	for (const char **path = u->config->dropin; path && *path; path++)
		if (!is_public(*path))
			return false;
	return true;
}

/* ---- cat ---- */

static int send_piece(struct supd_control *c, const struct control_request *q,
		      const struct unit_piece *piece)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	char *text = arena_strndup(&arena, piece->bytes ? piece->bytes : "", piece->n);

	r.is_failed = !text;
	report_string(&r, "path", piece->path);
	report_string(&r, "text", text);
	supd_control_row(c, q->id, &r);
	arena_done(&arena);
	return 0;
}

static bool all_public(const struct unit_source *source)
{
	for (size_t i = 0; i < source->n_pieces; i++)
		if (!is_public(source->piece[i].path))
			return false;
	return true;
}

static void cat_source(struct supd_control *c, const struct control_request *q,
		       const struct unit_source *source)
{
	char message[512];

	if (!q->is_owner && !all_public(source)) {
		(void) snprintf(message, sizeof(message),
				"%s: its files are not readable by everybody", q->unit);
		control_done(c->server, q->id, CONTROL_FAILED, message);
		return;
	}
	for (size_t i = 0; i < source->n_pieces; i++)
		send_piece(c, q, &source->piece[i]);
	if (source->is_masked && source->n_pieces == 0)
		(void) snprintf(message, sizeof(message), "%s is masked: there is nothing in it",
				q->unit);
	else if (source->n_pieces == 0)
		(void) snprintf(message, sizeof(message), "%s: %s", q->unit,
				source->problems.n > 0 ? source->problems.entry[0].message
						       : "cannot be read");
	control_done(c->server, q->id, source->n_pieces > 0 ? CONTROL_OK : CONTROL_NO_UNIT,
		     source->n_pieces > 0 ? NULL : message);
}

/* As the files are now, which may be newer than what was loaded. */
void units_cat(struct supd_control *c, const struct control_request *q)
{
	struct unit_source source = { 0 };
	char message[512];
	const char *name;
	int r;

	if (unit_name_kind(q->unit) == UNIT_TIMER && supd_control_no_timers(c, q->id))
		return;
	name = c->world->unit_resolve(c->world->ctx, q->unit);
	r = c->world->read_unit(c->world->ctx, name ? name : q->unit, &source);
	if (r == -ENOENT) {
		supd_control_no_unit(c, q->id, q->unit);
		return;
	}
	if (r < 0) {
		(void) snprintf(message, sizeof(message), "%s: %s", q->unit, strerror(-r));
		control_done(c->server, q->id, CONTROL_FAILED, message);
		return;
	}
	cat_source(c, q, &source);
	unit_source_done(&source);
}
