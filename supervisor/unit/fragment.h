/* SPDX-License-Identifier: MIT */
#ifndef SUPD_UNIT_FRAGMENT_H
#define SUPD_UNIT_FRAGMENT_H

/* Where a unit's own file is, for those who keep that of very many units: most lie under the unit's
 * name in one of few folders, and those are all that is kept then. All zero: there is no such
 * file. */

struct unit_source;

struct fragment {
	const char *folder; /* lent, see struct unit_piece */
	char *path;         /* owned; NULL: it is in the folder */
};
#define FRAGMENT_PATH_MAX 4352 /* of a folder, and a name */

/* 0 or -ENOMEM. */
int fragment_init(struct fragment *f, const struct unit_source *source);
int fragment_copy(const struct fragment *f, struct fragment *ret);
void fragment_done(struct fragment *f);
/* Lends @buf or its own. NULL: there is none. */
const char *fragment_path(const struct fragment *f, const char *unit, char buf[FRAGMENT_PATH_MAX]);

#endif
