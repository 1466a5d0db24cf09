/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_RECENT_H
#define SUPD_TIMER_RECENT_H

/* What became of a timer's last scheduled moments, for people who ask why. A small ring that is
 * allocated with the first of them, so that a timer that has never elapsed costs nothing. Not kept
 * over restarts: the record is that of memory.h. A retry belongs to the moment of the run that it
 * retries. */

#include <stdint.h>

#include "timer/memory.h"

enum recent_outcome { RECENT_RUNNING, RECENT_ENDED, RECENT_MISSED };

struct recent_moment {
	usec_t scheduled; /* real time */
	uint32_t count;   /* MISSED: moments, of which @scheduled is the last */
	int32_t status;   /* ENDED: as memory.last_status */
	uint16_t attempt; /* the last one */
	uint8_t cause;    /* of the first attempt; see recent_cause() */
	uint8_t outcome : 2, detail : 6; /* ENDED: enum supd_result; MISSED: enum miss_reason */
};

#define RECENT_MAX 8
struct recent {
	struct recent_moment item[RECENT_MAX];
	uint8_t first, n; /* the oldest, and how many there are */
};
_Static_assert(sizeof(struct recent) <= 208, "there are many timers");

/* @r is made when it is NULL; out of memory, nothing is noted. */
void recent_taken(struct recent **r, const struct open_run *open);
void recent_missed(struct recent **r, enum miss_reason reason, usec_t at, uint64_t count);
/* The run that was taken last has ended, as @m says. */
void recent_ended(struct recent *r, const struct timer_memory *m);

/* 0 is the oldest; NULL past the end, or of NULL. */
const struct recent_moment *recent_at(const struct recent *r, unsigned i);
/* "calendar", "catch-up" …; NULL: unknown. */
const char *recent_cause(const struct recent_moment *m);

#endif
