/* SPDX-License-Identifier: MIT */
#include "unit/merge.h"

#include <errno.h>

#include "unit/source.h"

static void copy_problems(const struct diag *from, struct diag *to)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct diag_entry *e = &from->entry[i];

		diag_add(to, e->severity, e->file, e->line, e->key, "%s", e->message);
	}
}

/* What a link says, said in the file. */
static int add_link(const struct unit_pull *link, struct arena *arena, struct assignments *to)
{
	struct assignment *grown = arena_grow(arena, to->item, to->n, sizeof(*grown));
	struct assignment a = {
		.section = "Unit",
		.key = link->is_required ? "Requires" : "Wants",
		.value = arena_strdup(arena, link->unit),
		.file = arena_strdup(arena, link->file),
	};

	if (!grown || !a.value || !a.file)
		return -ENOMEM;
	to->item = grown;
	to->item[to->n++] = a;
	return 0;
}

int unit_merge(const struct unit_source *source, struct arena *arena, struct assignments *ret, struct diag *d)
{
	struct assignments merged = {0};

	copy_problems(&source->problems, d);
	for (size_t i = 0; i < source->n_pieces; i++) {
		const struct unit_piece *piece = &source->piece[i];
		const char *path = arena_strdup(arena, piece->path);
		int r;

		if (!path)
			return -ENOMEM;
		r = unit_read(path, piece->bytes, piece->n, arena, &merged, d);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < source->n_pulls; i++)
		if (add_link(&source->pull[i], arena, &merged) < 0)
			return -ENOMEM;
	*ret = merged;
	return 0;
}
