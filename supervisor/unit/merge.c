/* SPDX-License-Identifier: MIT */
#include "unit/merge.h"

#include <errno.h>
#include <string.h>

#include "unit/source.h"

static void copy_problems(const struct diag *from, struct diag *to)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct diag_entry *e = &from->entry[i];

		diag_add(to, e->severity, e->file, e->line, e->key, "%s", e->message);
	}
}

/* What links say, said in the file. */
static int add_pulls(const struct unit_source *source, struct arena *arena, struct assignments *to)
{
	struct assignment *all = arena_alloc(arena, (to->n + source->n_pulls) * sizeof(*all));

	if (!all)
		return -ENOMEM;
	if (to->n > 0)
		memcpy(all, to->item, to->n * sizeof(*all));
	to->item = all;
	for (size_t i = 0; i < source->n_pulls; i++) {
		struct assignment *a = &to->item[to->n++];

		*a = (struct assignment) {
			.section = "Unit",
			.key = source->pull[i].is_required ? "Requires" : "Wants",
			.value = arena_strdup(arena, source->pull[i].unit),
			.file = arena_strdup(arena, source->pull[i].file),
		};
		if (!a->value || !a->file)
			return -ENOMEM;
	}
	return 0;
}

int unit_merge(const struct unit_source *source, struct arena *arena, struct assignments *ret,
	       struct diag *d)
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
	if (source->n_pulls > 0 && add_pulls(source, arena, &merged) < 0)
		return -ENOMEM;
	*ret = merged;
	return 0;
}
