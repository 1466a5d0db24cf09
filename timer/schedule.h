/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_SCHEDULE_H
#define SUPD_TIMER_SCHEDULE_H

/* When a timer elapses. Pure: same arguments, same answer; supctl's plan and the alarms come from
 * here alone.
 *
 * Calendar triggers live on the real-time clock, spans on the boot-time clock. Each clock has its
 * line: moments up to it are accounted for (memory.accounted_real, memory.accounted), and only
 * those behind it are still to come. A span trigger has at most one moment at a time, counted from
 * its base; a base that moves on brings the next. */

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "timer/memory.h"
#include "timer/spec.h"

struct zone;

/* What spans count from; boot-time clock. */
struct schedule_bases {
	int64_t startup; /* the manager became running */
	int64_t boot;    /* boot; in a container the daemon's start */
};

/* The next moment of each clock, without any random delay; USEC_NEVER / INT64_MAX: none. */
struct schedule {
	usec_t real;
	int64_t boot;
	uint8_t real_trigger, boot_trigger; /* which one, an index into spec->trigger */
};
#define BOOT_NEVER INT64_MAX

/* Moments that an admin skipped are among them: somebody must be awake to put them on record. */
void schedule_next(const struct timer_spec *spec, const struct timer_memory *memory,
		   const struct schedule_bases *bases, const struct zone *local,
		   struct schedule *ret);
/* The next that is not skipped. */
void schedule_next_kept(const struct timer_spec *spec, const struct timer_memory *memory,
			const struct schedule_bases *bases, const struct zone *local,
			struct schedule *ret);

/* The moment of one trigger that is still to come: on the real-time clock for CALENDAR, else as a
 * boot-time. */
usec_t schedule_next_real(const struct trigger *t, const struct timer_memory *memory,
			  const struct zone *local);
int64_t schedule_next_boot(const struct trigger *t, const struct timer_memory *memory,
			   const struct schedule_bases *bases);

/* The same, passing over what is skipped. An interval begins anew with a moment that is. */
usec_t schedule_kept_real(const struct trigger *t, const struct timer_memory *memory,
			  const struct zone *local);
int64_t schedule_kept_boot(const struct trigger *t, const struct timer_memory *memory,
			   const struct schedule_bases *bases);

/* Is @when, behind the line, a moment of a calendar of @spec, skipped or not? */
bool schedule_has(const struct timer_spec *spec, const struct timer_memory *memory,
		  const struct zone *local, usec_t when);
/* Does @skip mean @due, the moment to come of @t? */
bool schedule_is_meant(const struct trigger *t, int64_t due, const struct skip *skip);

/* Calendar moments of @spec in (@after, @until] that were neither spent nor skipped: how many, the
 * first and the last one. Several expressions that meet in one moment count once, as long as there
 * are fewer than a thousand. */
struct moments {
	uint64_t n;
	usec_t first;    /* 0: none */
	usec_t last;     /* 0: none */
	usec_t before;   /* the last but one; 0: none */
	uint8_t trigger; /* of the last */
};
void schedule_moments(const struct timer_spec *spec, const struct timer_memory *memory,
		      const struct zone *local, usec_t after, usec_t until, struct moments *ret);

/* @boot + @span, saturating at BOOT_NEVER. */
int64_t boot_add(int64_t boot, usec_t span);

#endif
