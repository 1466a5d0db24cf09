/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_UNIT_WAIT_H
#define SUPD_CORE_UNIT_WAIT_H

/* What a unit waits for before it goes on: its turn, its conditions, the next try. */

#include <stdbool.h>
#include <stddef.h>

#include "base/usec.h"

struct arena;
struct report;
struct supd_now;
struct unit;

struct unit_wait {
	char *words;              /* "waits to start, for a.service, b.service" */
	const char *const *units; /* those that it waits for; NULL-terminated, or NULL: for none */
	/* boot-time clock; at the latest then it goes on; USEC_NEVER: nobody knows */
	usec_t until;
};

/* False: for nothing, or there is no memory to say for what. Strings are in @arena, names are the
 * units'. */
bool unit_wait_find(const struct unit *u, struct arena *arena, struct unit_wait *ret);
/* As fields of the unit's row: waiting, waits_for, waits_until; nothing if it does not wait. */
void unit_wait_report(struct report *r, const struct unit *u, const struct supd_now *now);

#endif
