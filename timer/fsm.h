/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_FSM_H
#define SUPD_TIMER_FSM_H

/* One timer's rules, as a pure state machine: when it runs its target, and what is on record.
 *
 * Phases of a run
 *   IDLE     no run of this timer goes on
 *   INTENT   a moment was taken: its run is decided, and waits to be written, together with the
 *             others of this turn (TFX_INTENT was returned)
 *   OPEN     the target was asked to start, its end is awaited
 * Beside the phase stand the schedule (always: the next moment does not wait for the run), a rung
 * of the ladder (retry_at) and a catch-up that waits (memory.waiting, catch_up_at). Each step
 * restates all alarms: wake_real, wake_boot.
 *
 * Events, and what they do
 *   BEGIN     the timer becomes active: a run that was open is matched with what became of it, else
 *             it was interrupted; moments since the line of its memory are made up for by one run,
 *             or missed (downtime)
 *   WAKE      moments that are due: the latest runs, whatever else was due with it is missed (late)
 *   SUBMITTED the intent is on its way to the disk (or cannot be: work goes on): the target is
 *             asked to start, and nothing of it is executed before the intent is there
 *   REFUSED   it would not start
 *   STARTED   a run of the target began, whoever began it
 *   ENDED     and ended: success, skip, the ladder, or failed for good
 *   INACTIVE  the target, which had remained active after its run, was stopped
 *   JUMP      the real-time clock was set by more than TIMER_STEP_MAX
 *   RECOMPUTE it was set by less: alarms only
 *   SETTLE    what is due by now is acted on now, random delays cut short: the spec is about to
 *             change
 *   CHANGED   another spec took the place of the old one: lines are drawn at now, so that nothing
 *             fires for a past that the new one did not have; intervals that would be over begin
 *             anew; the ladder and a waiting catch-up (missed, on record) go; the open run stays
 *   TRIGGER   an admin wants a run now
 *   RESET     an admin wants the record forgotten; intervals begin anew
 *   CLOCK_CHANGED, ZONE_CHANGED   moments for OnClockChange= and OnTimezoneChange=; in the new
 *             zone, only what comes after now is scheduled
 *   END       supd stops, is paused, or the timer is removed: a taken moment that did not start is
 *             made up for at the next BEGIN, as is a catch-up that waits; not persistent: missed
 *             (shutdown)
 *
 * Precedence: a scheduled moment drops the ladder and a waiting catch-up, and is itself missed
 * (overlap) while the target is active, this timer's own INTENT included. A rung that comes due
 * while the target is active is missed (overlap) and ends the ladder. Retries move no anchor:
 * OnUnitActiveSec= counts from a success or from an end that is not retried, OnUnitInactiveSec=
 * from the end of a run that is no retry.
 *
 * No interval falls silent: a moment that no run of the target can answer (masked, missing …) moves
 * the anchors itself, and whenever an interval's moment has passed with nothing left that will move
 * its anchor, it begins anew.
 *
 * The real-time clock may be wrong. Moments that came are spent: should the clock go back over
 * them, they do not come again. Moments that a jump forward or downtime passed over are not: they
 * are on record as missed, and come all the same if the clock goes back before them; of these, the
 * one that was made up for is spent. Before the clock's epoch (a board without a battery, in 1970)
 * calendars go by the clock as it is, but nothing is made up for and the lines of the memory are
 * kept until it is set. Stamps from before this boot follow the real-time clock when it is set;
 * those of this boot follow the boot-time clock. */

#include <stdbool.h>
#include <stdint.h>

#include "timer/memory.h"
#include "timer/schedule.h"
#include "timer/spec.h"

/* A step of the clock by no more than this is no jump: the time service does its work. Likewise a
 * moment acted on within this was acted on in time. */
#define TIMER_STEP_MAX USEC_PER_MINUTE

enum timer_phase { TIMER_IDLE, TIMER_INTENT, TIMER_OPEN };
#define TIMER_PHASE_COUNT (TIMER_OPEN + 1)

struct timer {
	struct timer_memory memory;
	struct schedule next;      /* without the delay */
	usec_t delay;              /* random, of the next moment */
	usec_t wake_real, wake_boot; /* the alarms: the whole truth after each step */
	usec_t retry_at;           /* boot-time clock; USEC_NEVER: no rung waits */
	/* boot-time clock: when memory.waiting is made up for; USEC_NEVER: not now */
	usec_t catch_up_at;
	/* of the ladder: the run that goes on or went last; 0: no run yet */
	uint32_t attempt;
	enum timer_phase phase;
	bool is_active;            /* begun, and not disabled */
	bool is_target_active;
	bool is_clock_believed;
};

/* What the rules need besides the spec. */
struct timer_context {
	const struct timer_spec *spec;
	const struct zone *local;
	struct schedule_bases bases;
	usec_t clock_epoch; /* real time before this is not believed */
};

enum timer_event_kind {
	TIMER_BEGIN,
	TIMER_WAKE,
	TIMER_SUBMITTED,
	TIMER_REFUSED,
	TIMER_STARTED,
	TIMER_ENDED,
	TIMER_INACTIVE,
	TIMER_JUMP,
	TIMER_RECOMPUTE,
	TIMER_SETTLE,
	TIMER_CHANGED,
	TIMER_TRIGGER,
	TIMER_RESET,
	TIMER_CLOCK_CHANGED,
	TIMER_ZONE_CHANGED,
	TIMER_END,
};
#define TIMER_EVENT_COUNT (TIMER_END + 1)

struct timer_event {
	enum timer_event_kind kind;
	struct supd_now now;
	uint64_t random;                   /* chance: for the delay */
	/* of the run that may begin; STARTED, ENDED: of the run */
	uint8_t run_id[SUPD_RUN_ID_BYTES];
	/* BEGIN: of the target's last run, whoever began it */
	uint8_t last_run_id[SUPD_RUN_ID_BYTES];
	/* the target, after the event: BEGIN, CHANGED, ENDED */
	bool is_target_active;
	/* ENDED; BEGIN: of the target's last run, NONE while it goes on */
	enum supd_result result;
	int32_t status;
	struct supd_now ended;             /* BEGIN: when that was */
	enum miss_reason refused;          /* REFUSED */
};

enum timer_effect_kind {
	TFX_INTENT, /* have the memory written, then answer SUBMITTED */
	TFX_START,  /* start the target: memory.open says with which id and cause */
	TFX_SAVE,   /* memory changed: write it when convenient */
	TFX_MISSED, /* for the record: reason; count moments from first to at (real time) */
	TFX_ENDED,  /* a run of this timer ended: memory.last_* */
	TFX_RETRY,  /* a rung waits: retry_at, attempt */
	TFX_INTERRUPTED, /* the open run's end was never seen */
	TFX_FUTURE, /* its record came from the future and was not believed */
};

struct timer_effect {
	enum timer_effect_kind kind;
	enum miss_reason reason;
	usec_t first, at;
	uint64_t count;
	struct open_run run; /* INTERRUPTED: the one that was */
};
/* One of each kind, and one MISSED for each reason. */
#define TIMER_EFFECTS_MAX (8 + MISS_REASON_COUNT)

struct timer_effects {
	struct timer_effect item[TIMER_EFFECTS_MAX];
	unsigned n;
};

/* All fields zero but what is set here: a timer without memory, not begun. */
void timer_init(struct timer *t);
void timer_step(struct timer *t, const struct timer_context *c, const struct timer_event *ev,
		struct timer_effects *ret);

/* ---- skipping ----
 *
 * An admin drops one coming moment. It stays in the schedule, and the timer wakes for it: then it
 * is on record as missed (skipped), and that is all. It drops no ladder and no catch-up, is not
 * made up for, and counts for nothing among the misses of the memory, which are for people to look
 * at. An interval begins anew at it. Whether it comes in time, late or in downtime makes no
 * difference. What is skipped and no longer a moment of the schedule (another expression, another
 * zone, an anchor that moved) is forgotten. */

enum skip_verdict {
	SKIP_DONE,
	SKIP_ALREADY,   /* it is (unskip: is not) skipped */
	SKIP_NO_MOMENT, /* the schedule has no such moment */
	SKIP_PAST,      /* and it lies behind */
	SKIP_TOO_FAR,   /* more than TIMER_SKIP_AHEAD_MAX ahead */
	SKIP_INACTIVE,  /* the timer is disabled: nothing comes */
	SKIP_TOO_MANY,  /* TIMER_SKIPS_MAX are skipped */
	SKIP_NO_MEMORY,
};
#define TIMER_SKIP_AHEAD_MAX (366 * USEC_PER_DAY)

/* @moment 0: the next one that is not skipped. @ret_moment is set when it is DONE or ALREADY. Of an
 * interval, the moment on the real-time clock is right to a second. */
enum skip_verdict timer_skip(struct timer *t, const struct timer_context *c,
			     const struct supd_now *now, usec_t moment, usec_t *ret_moment);
/* Takes it back; 0: the first that is skipped. */
enum skip_verdict timer_unskip(struct timer *t, const struct supd_now *now, usec_t moment,
			       usec_t *ret_moment);

/* The moment as seen now, real time. */
usec_t skip_real(const struct skip *skip, const struct supd_now *now);

/* Real time of a moment on the boot-time clock, as seen now. */
usec_t timer_real_of(const struct supd_now *now, int64_t boot);

/* A catch-up that waits is put off until boot-time @when: many at once are spread. */
void timer_spread(struct timer *t, usec_t when);

/* When the timer acts next, on the real-time clock as far as that can be said now (USEC_NEVER:
 * never), and the cause that this run will have. Passes over what is skipped; of the moment behind,
 * the random delay is not known yet. */
struct timer_coming {
	const char *cause; /* of the run; NULL: nothing comes */
	int trigger;       /* whose moment it is; -1: of none */
};
usec_t timer_next(const struct timer *t, const struct timer_context *c, const struct supd_now *now,
		  struct timer_coming *ret);

/* Is the ladder for an end like this? */
bool timer_is_retried(const struct timer_spec *spec, enum supd_result result);
bool timer_has_failed(enum supd_result result);

static inline bool timer_has_open_run(const struct timer *t)
{
	return t->phase != TIMER_IDLE;
}

#endif
