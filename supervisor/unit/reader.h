/* SPDX-License-Identifier: MIT */
#ifndef SUPD_UNIT_READER_H
#define SUPD_UNIT_READER_H

/* Bytes of one file in systemd's syntax → assignments, in their order. Pure: the bytes are handed
 * in.
 *
 * A line reader of ours stands in front of inih: values arrive verbatim at any length with the
 * number of the line on which they begin. A line ending in '\' goes on on the next one (a blank
 * stands for the backslash and the line's end; comment lines between are skipped). '#' and ';'
 * begin a comment only as the first character of a line that is not blank. Lines end in LF, CR or
 * both; a byte order mark at the start is passed over. systemd.syntax(7), and systemd 252 where
 * that is silent.
 *
 * Mistakes, each told with its line: a NUL byte or invalid UTF-8 (with the column), an assignment
 * before the first section header, a header that is none, a line that is neither. Below a mistaken
 * header assignments are left out, as it is not known where they belong. A file over UNIT_FILE_MAX
 * is refused; a line has no limit of its own. */

#include "base/arena.h"
#include "base/diag.h"
#include "base/keys.h"
#include "unit/source.h"

struct assignments {
	struct assignment *item;
	size_t n;
};

/* Appends to @ret what @bytes hold; strings live in @arena, except @file, which is lent to them
 * (put it into the arena first). Mistakes go to @d, and reading goes on after them. 0, or
 * -ENOMEM. */
int unit_read(const char *file, const char *bytes, size_t n, struct arena *arena,
	      struct assignments *ret, struct diag *d);

#endif
