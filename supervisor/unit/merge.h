/* SPDX-License-Identifier: MIT */
#ifndef SUPD_UNIT_MERGE_H
#define SUPD_UNIT_MERGE_H

/* Fragment, drop-ins and links → one list of assignments, in the order in which they apply. */

#include "unit/reader.h"

struct unit_source;

/* Strings live in @arena. The source's own problems are copied to @d, too. 0 or -ENOMEM. */
int unit_merge(const struct unit_source *source, struct arena *arena, struct assignments *ret,
	       struct diag *d);

#endif
