/* SPDX-License-Identifier: MIT */
#ifndef SUPD_UNIT_READER_H
#define SUPD_UNIT_READER_H

/* Bytes of one file in systemd's syntax → assignments, in their order. Pure: the bytes are handed in.
 *
 * A line reader of ours stands in front of inih: values arrive verbatim at any length with the number of
 * the line on which they begin; a line ending in '\' goes on on the next line (a blank stands for the backslash
 * and the newline; comment lines between are skipped, as systemd.syntax(7)); '#' and ';' begin a
 * comment only as the first character of a line. NUL bytes, invalid UTF-8, a line over UNIT_LINE_MAX, an
 * assignment outside a section, a line that is neither: each is an error with its line. */

#include "base/arena.h"
#include "base/diag.h"
#include "base/keys.h"

#define UNIT_FILE_MAX (1024 * 1024)
#define UNIT_LINE_MAX (1024 * 1024)

struct assignments {
	struct assignment *item;
	size_t n;
};

/* Appends to @ret what @bytes hold; strings live in @arena, except @file, which is lent to them (put it
 * into the arena first). Mistakes go to @d, and reading goes on after them. 0, or -ENOMEM. */
int unit_read(const char *file, const char *bytes, size_t n, struct arena *arena, struct assignments *ret,
	      struct diag *d);

#endif
