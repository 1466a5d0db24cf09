/* SPDX-License-Identifier: MIT */
#ifndef SUPD_UNIT_SOURCE_H
#define SUPD_UNIT_SOURCE_H

/* Everything the directories say about one unit, before anybody parsed it: handed from who reads
 * files (store/unit_files, or a test) to who understands them (unit/merge). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* Longer files are refused. */
#define UNIT_FILE_MAX (1024 * 1024)

/* One file: the fragment first, then the drop-ins in the order in which they apply. */
struct unit_piece {
	char *path;
	char *bytes;
	size_t n;
	/* that it lies in, lent for as long as there are unit files; NULL: some other */
	const char *folder;
};

/* A unit that is named by a link in NAME.wants/, .requires/ or .upholds/. */
struct unit_pull {
	char *unit;
	char *file; /* that link */
	bool is_required;
};

struct unit_source {
	char *name;
	/* changes when a byte of any piece, a link or the mask may have changed */
	uint64_t fingerprint;
	bool is_masked;        /* empty, or a link to /dev/null */
	bool is_systemd;       /* found in a directory laid out for systemd (SystemdUnitPath=) */
	bool is_wanted;        /* linked into a .wants/ that counts: see supd(8) */
	bool is_runtime;       /* found in a directory that is empty again after a boot */
	bool is_made;          /* an instance without a file of its own, made of its template */
	bool is_outside;       /* a link to a file in none of the directories */
	bool is_linked;        /* a link in any .wants/, .requires/ or .upholds/ names it … */
	bool is_linked_for_good; /* … in a directory that outlives a boot */
	struct unit_piece *piece;
	size_t n_pieces;       /* 0 with problems: could not be read */
	struct unit_pull *pull;
	size_t n_pulls;
	/* of the files: unreadable, writable by others, not a regular file … */
	struct diag problems;
};

void unit_source_done(struct unit_source *s);

#endif
