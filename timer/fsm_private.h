/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_FSM_PRIVATE_H
#define SUPD_TIMER_FSM_PRIVATE_H

/* Shared by the two halves of the machine: fsm.c has what comes, fsm_past.c what went by: beginning
 * with a memory, and a clock that was set. */

#include "timer/fsm.h"

/* What one step works on. */
struct step {
	struct timer *t;
	struct timer_memory *memory;
	const struct timer_context *c;
	const struct timer_event *ev;
	struct supd_now now;
	struct timer_effects *fx;
	/* what moments were that nobody acted on: LATE, DOWNTIME, CLOCK_JUMP */
	enum miss_reason unseen;
	bool is_hastened;    /* moments act now that would have been delayed: they are not late */
	bool is_delay_spent; /* a moment came: the next has a delay of its own */
	bool has_elapsed;    /* a moment came in time: what went by beside it is not made up for */
	struct waiting before; /* waited when a run was interrupted that now waits instead */
};

/* fsm.c */
void step_effect(struct step *s, struct timer_effect e);
void step_missed(struct step *s, enum miss_reason reason, usec_t at);
/* @count moments, none of them if it is 0. */
void step_missed_all(struct step *s, enum miss_reason reason, usec_t first, usec_t last,
		     uint64_t count);
void step_own_run_ended(struct step *s, struct stamp end);
void step_close_run(struct step *s);
void step_due_spans(struct step *s);
void step_due_span(struct step *s, const struct trigger *trigger, int64_t due, usec_t age);
/* Moments that went by, the last of them @age ago: one run for all if it is young. */
void step_went_by(struct step *s, const struct moments *past, usec_t age);
void step_wait(struct step *s, enum miss_reason reason, usec_t scheduled);
void step_drop_waiting(struct step *s);
bool step_is_young(const struct step *s, usec_t age);
void step_interval_anew(struct step *s, enum trigger_kind kind);
struct stamp *anchor_of(struct timer_memory *m, enum trigger_kind kind); /* NULL: not an interval */
struct stamp stamp_now(const struct step *s);

/* fsm_skip.c */
/* Is the moment skipped? Then it is on record, once. @trigger NULL: of whatever trigger. */
bool step_is_skipped_real(struct step *s, usec_t when);
bool step_is_skipped_boot(struct step *s, const struct trigger *trigger, int64_t due);
/* So is every skipped moment of the calendar behind the line and up to @until; spent, if it
 * @may_come_again. */
void step_pass_skipped(struct step *s, usec_t until, bool may_come_again);
/* Forgets those that are over, and those that are none any more. */
void step_prune_skips(struct step *s);

/* fsm_past.c */
void step_begin(struct step *s);
/* Draws the line at now, once the clock can be believed, and deals with what lies behind it. */
void step_begin_calendar(struct step *s);
/* The clock went on, by itself, to where it can be believed: the line of that time is one, as good
 * as any other. */
void step_believe_clock(struct step *s);
/* No moments from here on: the timer is disabled. */
void step_unschedule(struct step *s);
void step_jump(struct step *s);
/* Moments in (from, to] do not come again, should the clock go back. */
void memory_spend(struct timer_memory *m, usec_t from, usec_t to);

#endif
