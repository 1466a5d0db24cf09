/* SPDX-License-Identifier: MIT */
/* What comes: moments that are due, runs of the target, and what people ask. */
#include "timer/fsm_private.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Each effect at most once a step; misses of one reason are one, with the first moment, the last
 * one and the sum. */
void step_effect(struct step *s, struct timer_effect e)
{
	for (unsigned i = 0; i < s->fx->n; i++) {
		struct timer_effect *have = &s->fx->item[i];

		if (have->kind != e.kind || have->reason != e.reason)
			continue;
		have->first = usec_min(have->first, e.first);
		have->at = usec_max(have->at, e.at);
		have->count += e.count;
		return;
	}
	assert(s->fx->n < TIMER_EFFECTS_MAX);
	s->fx->item[s->fx->n++] = e;
}

struct stamp stamp_now(const struct step *s)
{
	return (struct stamp) { .real = s->now.real, .boot = (int64_t) s->now.boot };
}

usec_t timer_real_of(const struct supd_now *now, int64_t boot)
{
	int64_t ahead;

	if (boot == BOOT_NEVER)
		return USEC_NEVER;
	ahead = boot - (int64_t) now->boot;
	return ahead >= 0 ? usec_add(now->real, (usec_t) ahead)
			  : usec_sub(now->real, (usec_t) -ahead);
}

/* ---- the record ---- */

static void remember_miss(struct timer_memory *m, enum miss_reason reason, usec_t at,
			  uint64_t count)
{
	m->miss_in_row = m->miss_reason == reason && !m->has_run_since_miss ? m->miss_in_row + count
									    : count;
	m->has_run_since_miss = false;
	m->miss_reason = reason;
	m->miss_at = at;
	m->miss_count += count;
}

void step_missed_all(struct step *s, enum miss_reason reason, usec_t first, usec_t at,
		     uint64_t count)
{
	if (count == 0)
		return;
	/* What somebody wanted to be missed hides nothing that nobody wanted. */
	if (reason != MISS_SKIPPED)
		remember_miss(s->memory, reason, at, count);
	step_effect(s, (struct timer_effect) {
		.kind = TFX_MISSED, .reason = reason, .first = first, .at = at, .count = count,
	});
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

void step_missed(struct step *s, enum miss_reason reason, usec_t at)
{
	step_missed_all(s, reason, at, at, 1);
}

/* ---- beginning a run ---- */

static void take(struct step *s, const char *cause, usec_t scheduled, uint32_t attempt)
{
	struct open_run *open = &s->memory->open;

	memcpy(open->run_id, s->ev->run_id, sizeof(open->run_id));
	snprintf(open->cause, sizeof(open->cause), "%s", cause);
	open->attempt = attempt;
	open->scheduled = scheduled;
	open->taken = stamp_now(s);
	s->t->attempt = attempt;
	s->t->phase = TIMER_INTENT;
	step_effect(s, (struct timer_effect) { .kind = TFX_INTENT });
}

void step_close_run(struct step *s)
{
	s->memory->open = (struct open_run) { 0 };
	s->t->phase = TIMER_IDLE;
}

static bool is_busy(const struct step *s)
{
	return s->t->phase != TIMER_IDLE || s->t->is_target_active;
}

static void drop_ladder(struct step *s)
{
	s->t->retry_at = USEC_NEVER;
}

bool step_is_young(const struct step *s, usec_t age)
{
	return s->c->spec->persistent && age <= s->c->spec->catch_up;
}

/* What waited to be made up for is on record instead; an interrupted run is so already. */
void step_drop_waiting(struct step *s)
{
	const struct waiting w = s->memory->waiting;

	s->memory->waiting = (struct waiting) { 0 };
	s->t->catch_up_at = USEC_NEVER;
	if (w.reason != MISS_NONE && w.reason != MISS_INTERRUPTED)
		step_missed(s, w.reason, w.scheduled);
}

/* Of two that wait, the one noticed last is run for. */
void step_wait(struct step *s, enum miss_reason reason, usec_t scheduled)
{
	step_drop_waiting(s);
	drop_ladder(s);
	s->memory->waiting = (struct waiting) { .reason = reason, .scheduled = scheduled };
	s->t->catch_up_at = s->now.boot;
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* The ladder ends without another try. */
static void failed_for_good(struct step *s)
{
	drop_ladder(s);
	s->memory->anchor_active = s->memory->last_end;
}

/* One moment of the schedule, due now. */
static void elapse(struct step *s, const char *cause, usec_t scheduled)
{
	s->has_elapsed = true;
	drop_ladder(s);
	step_drop_waiting(s);
	if (is_busy(s))
		step_missed(s, MISS_OVERLAP, scheduled);
	else
		take(s, cause, scheduled, 1);
}

void step_went_by(struct step *s, const struct moments *past, usec_t age)
{
	if (past->n == 0)
		return;
	if (s->has_elapsed || !step_is_young(s, age)) {
		step_missed_all(s, s->unseen, past->first, past->last, past->n);
		return;
	}
	step_missed_all(s, s->unseen, past->first, past->before, past->n - 1);
	step_wait(s, s->unseen, past->last);
}

/* ---- moments that are due ---- */

static bool is_late(const struct step *s, usec_t age)
{
	return age > TIMER_STEP_MAX && !s->is_hastened;
}

static void due_calendar(struct step *s)
{
	struct timer_memory *m = s->memory;
	usec_t until = usec_sub(s->now.real, s->t->delay);
	struct moments due;

	if (m->accounted_real >= until)
		return;
	schedule_moments(s->c->spec, m, s->c->local, m->accounted_real, until, &due);
	step_pass_skipped(s, until, false);
	m->accounted_real = until;
	if (due.n == 0)
		return;
	if (is_late(s, until - due.last)) {
		step_went_by(s, &due, until - due.last);
		return;
	}
	step_missed_all(s, MISS_LATE, due.first, due.before, due.n - 1);
	elapse(s, trigger_kind_to_string(TRIGGER_CALENDAR), due.last);
}

/* Moves an interval's anchor by whole spans so that its next moment lies behind now. For a moment
 * that no run of the target will answer. Returns how many moments that were. */
static uint64_t anchor_skip(struct stamp *anchor, usec_t span, const struct supd_now *now)
{
	int64_t past = (int64_t) now->boot - anchor->boot;
	uint64_t n;

	if (span == 0 || past < 0 || (usec_t) past < span)
		n = 1;
	else
		n = (usec_t) past / span;
	anchor->boot = boot_add(anchor->boot, n * span); /* at most now */
	anchor->real = usec_max(timer_real_of(now, anchor->boot), 1);
	return n;
}

struct stamp *anchor_of(struct timer_memory *m, enum trigger_kind kind)
{
	if (kind == TRIGGER_UNIT_ACTIVE)
		return &m->anchor_active;
	return kind == TRIGGER_UNIT_INACTIVE ? &m->anchor_inactive : NULL;
}

/* A moment that counts from before the timer was there at all, and was never to come before now, is
 * not late. */
static bool is_first_sight(const struct step *s, const struct trigger *trigger, int64_t due)
{
	const struct stamp *line = &s->memory->accounted;

	return trigger_is_once(trigger) &&
	       (line->real == 0 || line->boot < due - (int64_t) trigger->span);
}

/* In time, the interval begins anew by itself. Late, the moments behind this one are no less late
 * for that. */
static void skipped_span(struct step *s, const struct trigger *trigger, int64_t due, usec_t age)
{
	struct stamp *anchor = anchor_of(s->memory, trigger->kind);

	if (!anchor || !is_late(s, age))
		return;
	*anchor = (struct stamp) { .real = usec_max(timer_real_of(&s->now, due), 1), .boot = due };
	if (trigger->span <= age)
		step_due_span(s, trigger, boot_add(due, trigger->span), age - trigger->span);
}

/* One span trigger was due at @due. Several at one time come one by one, and all but the first are
 * overlaps. */
void step_due_span(struct step *s, const struct trigger *trigger, int64_t due, usec_t age)
{
	struct stamp *anchor = anchor_of(s->memory, trigger->kind);
	usec_t at = timer_real_of(&s->now, due);
	struct moments past = { .n = 1, .first = at, .last = at };

	if (step_is_skipped_boot(s, trigger, due)) {
		skipped_span(s, trigger, due, age);
		return;
	}
	if (!is_late(s, age) || is_first_sight(s, trigger, due)) {
		elapse(s, trigger_kind_to_string(trigger->kind), at);
		return;
	}
	if (anchor) {
		past.n = anchor_skip(anchor, trigger->span, &s->now);
		past.last = anchor->real;
		past.before = usec_sub(past.last, trigger->span);
		past.first = usec_min(past.first, past.n > 1 ? past.before : past.last);
		age = (usec_t) ((int64_t) s->now.boot - anchor->boot);
	}
	step_went_by(s, &past, age);
}

void step_due_spans(struct step *s)
{
	const struct timer_spec *spec = s->c->spec;
	int64_t until = (int64_t) s->now.boot - (int64_t) usec_min(s->t->delay, INT64_MAX);
	const struct timer_memory before = *s->memory;

	/* A longer delay than the last must not bring back what came. */
	if (before.accounted.real != 0 && before.accounted.boot >= until)
		return;
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		int64_t due = schedule_next_boot(&spec->trigger[i], &before, &s->c->bases);

		if (due <= until)
			step_due_span(s, &spec->trigger[i], due, (usec_t) (until - due));
	}
	s->memory->accounted =
		(struct stamp){ .real = usec_max(timer_real_of(&s->now, until), 1), .boot = until };
}

static void due_retry(struct step *s)
{
	struct timer *t = s->t;
	usec_t at;

	if (t->retry_at > s->now.boot)
		return;
	at = timer_real_of(&s->now, (int64_t) t->retry_at);
	t->retry_at = USEC_NEVER;
	if (!is_busy(s)) {
		take(s, "retry", at, t->attempt + 1);
		return;
	}
	step_missed(s, MISS_OVERLAP, at);
	failed_for_good(s);
}

/* Should the clock turn out to be ahead and be set back, a moment that was taken does not come
 * again. */
static void spend_taken(struct step *s, usec_t at)
{
	struct moments moment;

	if (!s->t->is_clock_believed)
		return;
	schedule_moments(s->c->spec, s->memory, s->c->local, at - 1, at, &moment);
	if (moment.n > 0)
		memory_spend(s->memory, at - 1, at);
}

static void due_catch_up(struct step *s)
{
	struct timer_memory *m = s->memory;
	const struct waiting w = m->waiting;

	if (s->t->catch_up_at > s->now.boot)
		return;
	/* It waited through a night's sleep. */
	if (is_late(s, s->now.boot - s->t->catch_up_at) &&
	    !step_is_young(s, usec_sub(s->now.real, w.scheduled))) {
		step_drop_waiting(s);
		return;
	}
	if (is_busy(s)) {
		if (w.reason != MISS_INTERRUPTED) /* that is on record already */
			m->waiting.reason = MISS_OVERLAP;
		step_drop_waiting(s);
		return;
	}
	m->waiting = (struct waiting) { 0 };
	s->t->catch_up_at = USEC_NEVER;
	drop_ladder(s);
	take(s, "catch-up", w.scheduled, 1);
	spend_taken(s, w.scheduled);
}

static bool is_due(const struct timer *t, const struct supd_now *now)
{
	return (t->next.real != USEC_NEVER && usec_add(t->next.real, t->delay) <= now->real) ||
	       (t->next.boot != BOOT_NEVER &&
		boot_add(t->next.boot, t->delay) <= (int64_t) now->boot);
}

static void wake(struct step *s)
{
	if (!is_due(s->t, &s->now)) {
		due_retry(s);
		due_catch_up(s);
		return;
	}
	/* A fresh moment goes before a rung and a catch-up, and drops them. A catch-up that this
	 * finds necessary waits for the next wake, so that those of many timers can be spread. */
	due_calendar(s);
	if (!s->t->is_clock_believed && s->now.real >= s->c->clock_epoch)
		step_believe_clock(s);
	step_due_spans(s);
	s->is_delay_spent = true;
}

/* ---- runs of the target ---- */

static bool is_ours(const struct step *s)
{
	return s->t->phase != TIMER_IDLE &&
	       memcmp(s->memory->open.run_id, s->ev->run_id, sizeof(s->ev->run_id)) == 0;
}

bool timer_is_retried(const struct timer_spec *spec, enum supd_result result)
{
	switch (result) {
	case SUPD_RESULT_EXIT_CODE:
		return spec->retry_on & RETRY_ON_EXIT;
	case SUPD_RESULT_SIGNAL:
	case SUPD_RESULT_CORE_DUMP:
	case SUPD_RESULT_OOM_KILL:
		return spec->retry_on & RETRY_ON_SIGNAL;
	case SUPD_RESULT_TIMEOUT:
		return spec->retry_on & RETRY_ON_TIMEOUT;
	case SUPD_RESULT_EXEC:
	case SUPD_RESULT_ASSERT: /* nothing was executed, either */
		return spec->retry_on & RETRY_ON_EXEC;
	case SUPD_RESULT_RESOURCES:
		return true; /* it was supd that failed, not the job */
	case SUPD_RESULT_NONE:
	case SUPD_RESULT_SUCCESS:
	case SUPD_RESULT_SKIPPED:
	case SUPD_RESULT_STOPPED:
	case SUPD_RESULT_DEPENDENCY:
	case SUPD_RESULT_START_LIMIT:
		break;
	}
	return false;
}

bool timer_has_failed(enum supd_result result)
{
	return result != SUPD_RESULT_NONE && result != SUPD_RESULT_SUCCESS &&
	       result != SUPD_RESULT_SKIPPED;
}

/* The target's run ended; is another try of it to come? Then anchors wait for that. */
static void anchors_follow(struct step *s, struct stamp end, bool is_retry, bool retries_follow)
{
	if (s->ev->result == SUPD_RESULT_SUCCESS)
		s->memory->last_success = end;
	if (!retries_follow)
		s->memory->anchor_active = end;
	if (!is_retry)
		s->memory->anchor_inactive = end;
}

/* Climbs one rung, or has failed for good. Returns whether a retry waits now. */
static bool climb(struct step *s)
{
	struct timer *t = s->t;
	const struct timer_spec *spec = s->c->spec;

	if (!t->is_active || !timer_is_retried(spec, s->ev->result) || t->attempt == 0 ||
	    t->attempt > spec->n_retries)
		return false;
	/* Moments of the boot-time clock are signed elsewhere: a rung after all ages is no moment
	 * of the past there. */
	t->retry_at = usec_min(usec_add(s->now.boot, spec->retry[t->attempt - 1]),
			       (usec_t) BOOT_NEVER - 1);
	step_effect(s, (struct timer_effect) { .kind = TFX_RETRY });
	return true;
}

void step_own_run_ended(struct step *s, struct stamp end)
{
	struct timer_memory *m = s->memory;
	bool is_retry = str_equal(m->open.cause, "retry"), follows;

	m->last_end = end;
	m->last_result = s->ev->result;
	m->last_status = s->ev->status;
	m->is_interrupted = false;
	if (timer_has_failed(s->ev->result))
		m->last_failure = end;
	step_close_run(s);
	follows = climb(s);
	anchors_follow(s, end, is_retry, follows);
	step_effect(s, (struct timer_effect) { .kind = TFX_ENDED });
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void run_ended(struct step *s)
{
	s->t->is_target_active = s->ev->is_target_active;
	if (is_ours(s)) {
		step_own_run_ended(s, stamp_now(s));
		return;
	}
	/* Somebody else's run: its end counts for the anchors, and for nothing more. */
	anchors_follow(s, stamp_now(s), false, false);
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void became_inactive(struct step *s)
{
	struct timer_memory *m = s->memory;

	s->t->is_target_active = false;
	m->anchor_inactive = stamp_now(s);
	/* While it was active, the interval's moments were overlaps; it begins anew. */
	if (m->anchor_active.real != 0)
		m->anchor_active = stamp_now(s);
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void run_started(struct step *s)
{
	struct timer_memory *m = s->memory;

	s->t->is_target_active = true;
	if (!is_ours(s))
		return;
	s->t->phase = TIMER_OPEN;
	m->last_trigger = stamp_now(s);
	m->last_scheduled = m->open.scheduled;
	m->has_run_since_miss = true; /* written with its end: until then the open run says it */
}

static void submitted(struct step *s)
{
	if (s->t->phase != TIMER_INTENT)
		return;
	s->t->phase = TIMER_OPEN;
	step_effect(s, (struct timer_effect) { .kind = TFX_START });
}

/* It would not start: the moment is missed after all. No run will move the anchors, so this
 * does. */
static void refused(struct step *s)
{
	usec_t at = s->memory->open.scheduled;

	if (s->t->phase == TIMER_IDLE)
		return;
	step_close_run(s);
	step_missed(s, s->ev->refused, at);
	if (s->ev->refused != MISS_OVERLAP)
		s->memory->anchor_active = s->memory->anchor_inactive = stamp_now(s);
}

/* ---- what people ask ---- */

/* An interval that would be over by now begins anew. */
void step_interval_anew(struct step *s, enum trigger_kind kind)
{
	struct stamp *anchor = anchor_of(s->memory, kind);

	for (unsigned i = 0; i < s->c->spec->n_triggers; i++) {
		const struct trigger *t = &s->c->spec->trigger[i];

		if (t->kind == kind && anchor->real != 0 &&
		    boot_add(anchor->boot, t->span) <= (int64_t) s->now.boot)
			*anchor = stamp_now(s);
	}
}

/* A timer that was edited so as to be disabled: a moment whose delay ran is not acted on. */
static void disable(struct step *s)
{
	const struct timer *t = s->t;

	if (t->next.real <= s->now.real && !step_is_skipped_real(s, t->next.real))
		step_missed(s, MISS_DISABLED, t->next.real);
	if (t->next.boot <= (int64_t) s->now.boot && !step_is_skipped_boot(s, NULL, t->next.boot))
		step_missed(s, MISS_DISABLED, timer_real_of(&s->now, t->next.boot));
	step_unschedule(s);
}

static void begin_anew(struct step *s)
{
	struct timer_memory *m = s->memory;

	m->activated = m->accounted = stamp_now(s);
	if (m->accounted_real == 0)
		m->normal_since = s->now.real;
	m->accounted_real = usec_max(m->accounted_real, s->now.real);
	m->kept_real = 0;
	s->t->is_clock_believed = s->now.real >= s->c->clock_epoch;
	step_interval_anew(s, TRIGGER_UNIT_ACTIVE);
	step_interval_anew(s, TRIGGER_UNIT_INACTIVE);
	s->is_delay_spent = true;
}

static void spec_changed(struct step *s)
{
	bool was_active = s->t->is_active;

	s->t->is_active = s->c->spec->is_enabled;
	s->t->is_target_active = s->ev->is_target_active;
	if (s->t->retry_at != USEC_NEVER)
		failed_for_good(s);
	step_drop_waiting(s);
	if (s->t->is_active)
		begin_anew(s);
	else if (was_active)
		disable(s);
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* Intervals begin anew, so that the timer does not fall silent. */
static void reset(struct step *s)
{
	struct timer_memory *m = s->memory;
	const struct timer_memory old = *m;

	m->skips = NULL; /* what an admin said of the future is no record */
	memory_done(m);
	*m = (struct timer_memory){
		.open = old.open,
		.activated = stamp_now(s),
		.accounted = stamp_now(s),
		.skips = old.skips,
	};
	if (old.anchor_active.real != 0)
		m->anchor_active = stamp_now(s);
	if (old.anchor_inactive.real != 0)
		m->anchor_inactive = stamp_now(s);
	s->t->retry_at = s->t->catch_up_at = USEC_NEVER;
	step_begin_calendar(s);
	s->is_delay_spent = true;
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void triggered(struct step *s)
{
	if (is_busy(s))
		return;
	drop_ladder(s);
	step_drop_waiting(s);
	take(s, "manual", s->now.real, 1);
}

/* A moment of the old zone whose delay runs is acted on now; those of the new zone count from
 * now. */
static void zone_changed(struct step *s)
{
	struct timer_memory *m = s->memory;

	if (s->t->next.real <= s->now.real && !step_is_skipped_real(s, s->t->next.real)) {
		elapse(s, trigger_kind_to_string(TRIGGER_CALENDAR), s->t->next.real);
		s->is_delay_spent = true;
	}
	m->accounted_real = usec_max(m->accounted_real, s->now.real);
	if (s->c->spec->on_timezone_change)
		elapse(s, "timezone-change", s->now.real);
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void settle(struct step *s)
{
	s->is_hastened = s->is_delay_spent = true;
	s->t->delay = 0;
	wake(s);
}

/* A moment that was taken waits for the next beginning to be made up for. */
static void end(struct step *s)
{
	usec_t at = s->memory->open.scheduled;

	if (s->t->phase != TIMER_INTENT)
		return;
	step_close_run(s);
	if (at <= s->memory->normal_since) /* a reset came in between */
		spend_taken(s, at);
	if (step_is_young(s, 0))
		step_wait(s, MISS_SHUTDOWN, at);
	else
		step_missed(s, MISS_SHUTDOWN, at);
}

/* ---- the step ---- */

static void handle(struct step *s)
{
	switch (s->ev->kind) {
	case TIMER_BEGIN:
		step_begin(s);
		break;
	case TIMER_WAKE:
		wake(s);
		break;
	case TIMER_SUBMITTED:
		submitted(s);
		break;
	case TIMER_REFUSED:
		refused(s);
		break;
	case TIMER_STARTED:
		run_started(s);
		break;
	case TIMER_ENDED:
		run_ended(s);
		break;
	case TIMER_INACTIVE:
		became_inactive(s);
		break;
	case TIMER_JUMP:
		step_jump(s);
		break;
	case TIMER_RECOMPUTE:
		break;
	case TIMER_CHANGED:
		spec_changed(s);
		break;
	case TIMER_TRIGGER:
		triggered(s);
		break;
	case TIMER_RESET:
		reset(s);
		break;
	case TIMER_SETTLE:
		settle(s);
		break;
	case TIMER_CLOCK_CHANGED:
		if (s->c->spec->on_clock_change)
			elapse(s, "clock-change", s->now.real);
		break;
	case TIMER_ZONE_CHANGED:
		zone_changed(s);
		break;
	case TIMER_END:
		end(s);
		break;
	}
}

static bool is_interval_coming(const struct step *s, enum trigger_kind kind)
{
	for (unsigned i = 0; i < s->c->spec->n_triggers; i++) {
		const struct trigger *t = &s->c->spec->trigger[i];

		if (t->kind == kind && schedule_next_boot(t, s->memory, &s->c->bases) != BOOT_NEVER)
			return true;
	}
	return false;
}

/* No interval falls silent: one whose moment has passed, with nothing going on that will move its
 * anchor, begins anew. */
static void intervals_go_on(struct step *s)
{
	static const enum trigger_kind kinds[] = { TRIGGER_UNIT_ACTIVE, TRIGGER_UNIT_INACTIVE };
	struct timer *t = s->t;

	if (is_busy(s) || t->retry_at != USEC_NEVER || t->catch_up_at != USEC_NEVER)
		return;
	for (size_t i = 0; i < ELEMENTS(kinds); i++) {
		struct stamp *anchor = anchor_of(s->memory, kinds[i]);

		if (anchor->real != 0 && !is_interval_coming(s, kinds[i]))
			*anchor = stamp_now(s);
	}
}

/* How long moments wait by chance. One that lies behind (the one before it waited longer than to
 * here) waits no more. */
static void draw_delay(struct step *s)
{
	struct timer *t = s->t;
	usec_t max = s->c->spec->randomized_delay;

	t->delay = max < USEC_NEVER ? s->ev->random % (max + 1) : s->ev->random;
	if (t->next.real < s->now.real)
		t->delay = usec_max(t->delay, s->now.real - t->next.real);
	if (t->next.boot < (int64_t) s->now.boot)
		t->delay = usec_max(t->delay, (usec_t) ((int64_t) s->now.boot - t->next.boot));
}

/* The alarms, from nothing but the state as it is. */
static void set_alarms(struct timer *t)
{
	int64_t boot = boot_add(t->next.boot, t->delay);

	t->wake_real = usec_add(t->next.real, t->delay);
	t->wake_boot = boot == BOOT_NEVER ? USEC_NEVER : boot > 0 ? (usec_t) boot : 0;
	t->wake_boot = usec_min(t->wake_boot, usec_min(t->retry_at, t->catch_up_at));
}

static void restate(struct step *s)
{
	struct timer *t = s->t;

	if (!t->is_active) {
		t->next = (struct schedule) { .real = USEC_NEVER, .boot = BOOT_NEVER };
		t->wake_real = t->wake_boot = USEC_NEVER;
		return;
	}
	intervals_go_on(s);
	step_prune_skips(s);
	schedule_next(s->c->spec, s->memory, &s->c->bases, s->c->local, &t->next);
	if (s->is_delay_spent)
		draw_delay(s);
	set_alarms(t);
}

/* A timer that is not active has no moments; it can be triggered by hand, and follows that run. */
static bool needs_active(enum timer_event_kind kind)
{
	switch (kind) {
	case TIMER_BEGIN:
	case TIMER_CHANGED:
	case TIMER_TRIGGER:
	case TIMER_SUBMITTED:
	case TIMER_REFUSED:
	case TIMER_STARTED:
	case TIMER_ENDED:
	case TIMER_INACTIVE:
	case TIMER_END:
		return false;
	case TIMER_WAKE:
	case TIMER_JUMP:
	case TIMER_RECOMPUTE:
	case TIMER_SETTLE:
	case TIMER_RESET:
	case TIMER_CLOCK_CHANGED:
	case TIMER_ZONE_CHANGED:
		break;
	}
	return true;
}

void timer_init(struct timer *t)
{
	*t = (struct timer) {
		.next = { .real = USEC_NEVER, .boot = BOOT_NEVER },
		.wake_real = USEC_NEVER,
		.wake_boot = USEC_NEVER,
		.retry_at = USEC_NEVER,
		.catch_up_at = USEC_NEVER,
	};
}

void timer_step(struct timer *t, const struct timer_context *c, const struct timer_event *ev,
		struct timer_effects *ret)
{
	struct step s = {
		.t = t,
		.memory = &t->memory,
		.c = c,
		.ev = ev,
		.now = ev->now,
		.fx = ret,
		.unseen = MISS_LATE,
	};

	ret->n = 0;
	if (t->is_active || !needs_active(ev->kind))
		handle(&s);
	restate(&s);
}

void timer_spread(struct timer *t, usec_t when)
{
	t->catch_up_at = when;
	set_alarms(t);
}

/* What is armed may be skipped: then the alarm is that of the moment behind, whose delay nobody
 * knows yet. */
static struct schedule kept_alarms(const struct timer *t, const struct timer_context *c)
{
	struct schedule kept = t->next;

	if (t->memory.skips)
		schedule_next_kept(c->spec, &t->memory, &c->bases, c->local, &kept);
	if (kept.real == t->next.real)
		kept.real = usec_add(kept.real, t->delay);
	if (kept.boot == t->next.boot)
		kept.boot = boot_add(kept.boot, t->delay);
	return kept;
}

static struct timer_coming coming_of(const struct timer_context *c, uint8_t trigger)
{
	return (struct timer_coming){ trigger_kind_to_string(c->spec->trigger[trigger].kind),
				      trigger };
}

usec_t timer_next(const struct timer *t, const struct timer_context *c, const struct supd_now *now,
		  struct timer_coming *ret)
{
	usec_t waits = usec_min(t->retry_at, t->catch_up_at), next = USEC_NEVER;
	struct schedule kept;

	*ret = (struct timer_coming) { NULL, -1 };
	if (!t->is_active)
		return USEC_NEVER;
	kept = kept_alarms(t, c);
	if (kept.real != USEC_NEVER) {
		next = kept.real;
		*ret = coming_of(c, kept.real_trigger);
	}
	if (timer_real_of(now, kept.boot) < next) {
		next = timer_real_of(now, kept.boot);
		*ret = coming_of(c, kept.boot_trigger);
	}
	if (waits == USEC_NEVER || timer_real_of(now, (int64_t) waits) >= next)
		return next;
	*ret = (struct timer_coming) { waits == t->retry_at ? "retry" : "catch-up", -1 };
	return timer_real_of(now, (int64_t) waits);
}
