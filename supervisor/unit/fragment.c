/* SPDX-License-Identifier: MIT */
#include "unit/fragment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "unit/source.h"

static bool is_in_folder(const struct unit_piece *piece, const char *unit)
{
	size_t n = piece->folder ? strlen(piece->folder) : 0;

	return n > 0 && strncmp(piece->path, piece->folder, n) == 0 && piece->path[n] == '/' &&
	       str_equal(piece->path + n + 1, unit);
}

int fragment_init(struct fragment *f, const struct unit_source *source)
{
	*f = (struct fragment) { 0 };
	if (source->n_pieces == 0)
		return 0;
	if (is_in_folder(&source->piece[0], source->name)) {
		f->folder = source->piece[0].folder;
		return 0;
	}
	f->path = strdup(source->piece[0].path);
	return f->path ? 0 : -ENOMEM;
}

int fragment_copy(const struct fragment *f, struct fragment *ret)
{
	*ret = *f;
	if (!f->path)
		return 0;
	ret->path = strdup(f->path);
	return ret->path ? 0 : -ENOMEM;
}

void fragment_done(struct fragment *f)
{
	free(f->path);
	*f = (struct fragment) { 0 };
}

const char *fragment_path(const struct fragment *f, const char *unit, char buf[FRAGMENT_PATH_MAX])
{
	if (f->path || !f->folder)
		return f->path;
	(void) snprintf(buf, FRAGMENT_PATH_MAX, "%s/%s", f->folder, unit);
	return buf;
}
