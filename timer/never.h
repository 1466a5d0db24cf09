/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_NEVER_H
#define SUPD_TIMER_NEVER_H

/* Timers that elapse no more, and why: silence should be no accident. Pure. */

#include <stddef.h>

#include "base/usec.h"

struct assignment;
struct diag;
struct timer;
struct timer_spec;
struct zone;

/* What can be said of a timer from its file alone, as warnings, where it stands in @assignment. */
void never_warn(const struct timer_spec *spec, const struct zone *local, usec_t now,
		const struct assignment *assignment, size_t n, struct diag *d);

/* Why a timer with no next moment gets none without help from outside; NULL: it does, of itself or
 * when supd starts next (OnStartupSec= and the like), or it is not active. */
const char *never_reason(const struct timer *t, const struct timer_spec *spec);

#endif
