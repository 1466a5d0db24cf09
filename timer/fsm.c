/* SPDX-License-Identifier: MIT */
#include "timer/fsm.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* What one step works on. */
struct step {
	struct timer *t;
	struct timer_memory *memory;
	const struct timer_context *c;
	const struct timer_event *ev;
	struct supd_now now;
	struct timer_effects *fx;
};

/* Each effect at most once a step; misses of one reason are one, with the last moment and the sum. */
static void effect(struct step *s, struct timer_effect e)
{
	for (unsigned i = 0; i < s->fx->n; i++) {
		struct timer_effect *have = &s->fx->item[i];

		if (have->kind != e.kind || have->reason != e.reason)
			continue;
		have->at = usec_max(have->at, e.at);
		have->count += e.count;
		return;
	}
	assert(s->fx->n < TIMER_EFFECTS_MAX);
	s->fx->item[s->fx->n++] = e;
}

static struct stamp stamp_now(const struct step *s)
{
	return (struct stamp) { .real = s->now.real, .boot = (int64_t) s->now.boot };
}

/* Real time of a moment on the boot-time clock, as seen now. */
static usec_t real_of(const struct supd_now *now, int64_t boot)
{
	int64_t ahead = boot - (int64_t) now->boot;

	return ahead >= 0 ? usec_add(now->real, (usec_t) ahead) : usec_sub(now->real, (usec_t) -ahead);
}

/* ---- the record ---- */

static void missed(struct step *s, enum miss_reason reason, usec_t at, uint64_t count)
{
	struct timer_memory *m = s->memory;

	if (count == 0)
		return;
	m->miss_in_row = m->miss_reason == reason && !m->has_run_since_miss ? m->miss_in_row + count : count;
	m->has_run_since_miss = false;
	m->miss_reason = reason;
	m->miss_at = at;
	m->miss_count += count;
	effect(s, (struct timer_effect) { .kind = TFX_MISSED, .reason = reason, .at = at, .count = count });
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* ---- beginning a run ---- */

static void take(struct step *s, const char *cause, usec_t scheduled, uint32_t attempt)
{
	struct open_run *open = &s->memory->open;

	memcpy(open->run_id, s->ev->run_id, sizeof(open->run_id));
	snprintf(open->cause, sizeof(open->cause), "%s", cause);
	open->attempt = attempt;
	open->scheduled = scheduled;
	s->memory->last_trigger = stamp_now(s);
	s->memory->last_scheduled = scheduled;
	s->memory->has_run_since_miss = true;
	s->t->attempt = attempt;
	s->t->phase = TIMER_INTENT;
	effect(s, (struct timer_effect) { .kind = TFX_INTENT });
}

static void close_run(struct step *s)
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

/* What waited to be made up for is on record instead; an interrupted run is so already. */
static void drop_catch_up(struct step *s)
{
	struct timer *t = s->t;

	if (t->catch_up_at == USEC_NEVER)
		return;
	t->catch_up_at = USEC_NEVER;
	if (t->catch_up_reason != MISS_INTERRUPTED)
		missed(s, t->catch_up_reason, t->catch_up_scheduled, 1);
}

/* One moment of the schedule, due now. */
static void elapse(struct step *s, const char *cause, usec_t scheduled)
{
	drop_ladder(s);
	drop_catch_up(s);
	if (is_busy(s))
		missed(s, MISS_OVERLAP, scheduled, 1);
	else
		take(s, cause, scheduled, 1);
}

/* A moment that went by unseen, and @n - 1 before it: one run for all of them if it is young enough. */
static void went_by(struct step *s, enum miss_reason reason, usec_t last, usec_t age, uint64_t n)
{
	struct timer *t = s->t;

	if (n == 0)
		return;
	if (!s->c->spec->persistent || age > s->c->spec->catch_up) {
		missed(s, reason, last, n);
		return;
	}
	if (n > 1)
		missed(s, reason, last, n - 1);
	drop_catch_up(s); /* of two that wait, the one noticed last is run for */
	drop_ladder(s);
	t->catch_up_at = s->now.boot;
	t->catch_up_scheduled = last;
	t->catch_up_reason = reason;
}

/* ---- moments that are due ---- */

static void account_real(struct step *s, usec_t until)
{
	s->memory->accounted_real = until;
}

static void due_calendar(struct step *s)
{
	usec_t delay = s->t->delay, until = usec_sub(s->now.real, delay), age;
	struct moments due;

	if (s->memory->accounted_real >= until)
		return;
	schedule_moments(s->c->spec, s->memory, s->c->local, s->memory->accounted_real, until, &due);
	account_real(s, until);
	if (due.n == 0)
		return;
	age = until - due.last;
	if (age > TIMER_STEP_MAX) {
		went_by(s, MISS_LATE, due.last, age, due.n);
		return;
	}
	missed(s, MISS_LATE, due.last, due.n - 1);
	elapse(s, trigger_kind_to_string(TRIGGER_CALENDAR), due.last);
}

/* Moves an interval's anchor by whole spans so that its next moment lies behind now. For a moment that no run of the
 * target will answer. Returns how many moments that were. */
static uint64_t anchor_skip(struct stamp *anchor, usec_t span, const struct supd_now *now)
{
	int64_t past = (int64_t) now->boot - anchor->boot;
	uint64_t n;

	if (span == 0 || past < 0 || (usec_t) past < span)
		n = 1;
	else
		n = (usec_t) past / span;
	anchor->boot = boot_add(anchor->boot, span > UINT64_MAX / 2 / n ? USEC_NEVER : n * span);
	anchor->real = real_of(now, anchor->boot);
	return n;
}

static struct stamp *anchor_of(struct timer_memory *m, enum trigger_kind kind)
{
	if (kind == TRIGGER_UNIT_ACTIVE)
		return &m->anchor_active;
	return kind == TRIGGER_UNIT_INACTIVE ? &m->anchor_inactive : NULL;
}

/* One span trigger is due. Several at one time come one by one, and all but the first are overlaps. */
static void due_span(struct step *s, const struct trigger *trigger, int64_t due)
{
	struct stamp *anchor = anchor_of(s->memory, trigger->kind);
	usec_t age = s->now.boot - s->t->delay - (usec_t) (due > 0 ? due : 0);
	usec_t at = real_of(&s->now, due);
	uint64_t n = 1;

	if (due < 0)
		age = usec_add(age, (usec_t) -due);
	/* What is only counted from the past, and was never to come before now, is not late. */
	if (age <= TIMER_STEP_MAX || (trigger_is_once(trigger) && s->memory->accounted.real == 0)) {
		elapse(s, trigger_kind_to_string(trigger->kind), at);
		return;
	}
	if (anchor) {
		n = anchor_skip(anchor, trigger->span, &s->now);
		at = anchor->real;
		age = s->now.boot - (usec_t) anchor->boot;
	}
	went_by(s, s->ev->kind == TIMER_BEGIN ? MISS_DOWNTIME : MISS_LATE, at, age, n);
}

static void due_spans(struct step *s)
{
	const struct timer_spec *spec = s->c->spec;
	int64_t until = (int64_t) s->now.boot - (int64_t) usec_min(s->t->delay, INT64_MAX);
	const struct timer_memory before = *s->memory;

	for (unsigned i = 0; i < spec->n_triggers; i++) {
		int64_t due = schedule_next_boot(&spec->trigger[i], &before, &s->c->bases);

		if (due <= until)
			due_span(s, &spec->trigger[i], due);
	}
	s->memory->accounted = (struct stamp) { .real = real_of(&s->now, until), .boot = until };
}

static void due_retry(struct step *s)
{
	struct timer *t = s->t;
	usec_t at = real_of(&s->now, (int64_t) t->retry_at);

	if (t->retry_at > s->now.boot)
		return;
	t->retry_at = USEC_NEVER;
	if (!is_busy(s)) {
		take(s, "retry", at, t->attempt + 1);
		return;
	}
	/* The ladder ends here: the run has failed for good. */
	missed(s, MISS_OVERLAP, at, 1);
	s->memory->anchor_active = s->memory->last_end;
}

static void due_catch_up(struct step *s)
{
	struct timer *t = s->t;
	usec_t scheduled = t->catch_up_scheduled;

	if (t->catch_up_at > s->now.boot)
		return;
	t->catch_up_at = USEC_NEVER;
	drop_ladder(s);
	if (is_busy(s))
		missed(s, MISS_OVERLAP, scheduled, 1);
	else
		take(s, "catch-up", scheduled, 1);
}

static void draw_delay(struct step *s)
{
	usec_t max = s->c->spec->randomized_delay;

	if (max == 0)
		s->t->delay = 0;
	else if (max >= (usec_t) INT64_MAX)
		s->t->delay = s->ev->random >> 1;
	else
		s->t->delay = s->ev->random % (max + 1);
}

static void wake(struct step *s)
{
	struct timer *t = s->t;
	bool is_due = t->next.real != USEC_NEVER && usec_add(t->next.real, t->delay) <= s->now.real;

	is_due = is_due || (t->next.boot != BOOT_NEVER && boot_add(t->next.boot, t->delay) <= (int64_t) s->now.boot);
	if (!is_due) {
		due_retry(s);
		due_catch_up(s);
		return;
	}
	/* A fresh moment goes before a rung and a catch-up, and drops them. A catch-up that this finds necessary
	 * waits for the next wake, so that those of many timers can be spread. */
	due_calendar(s);
	due_spans(s);
	draw_delay(s);
}

/* ---- runs of the target ---- */

static bool is_ours(const struct step *s)
{
	return s->t->phase != TIMER_IDLE &&
	       memcmp(s->memory->open.run_id, s->ev->run_id, sizeof(s->ev->run_id)) == 0;
}

static bool is_retried(const struct timer_spec *spec, enum supd_result result)
{
	switch (result) {
	case SUPD_RESULT_EXIT_CODE:
		return spec->retry_on & RETRY_ON_EXIT;
	case SUPD_RESULT_SIGNAL:
	case SUPD_RESULT_CORE_DUMP:
		return spec->retry_on & RETRY_ON_SIGNAL;
	case SUPD_RESULT_TIMEOUT:
		return spec->retry_on & RETRY_ON_TIMEOUT;
	case SUPD_RESULT_EXEC:
		return spec->retry_on & RETRY_ON_EXEC;
	case SUPD_RESULT_RESOURCES:
		return true; /* it was supd that failed, not the job */
	case SUPD_RESULT_NONE:
	case SUPD_RESULT_SUCCESS:
	case SUPD_RESULT_SKIPPED:
	case SUPD_RESULT_STOPPED:
		break;
	}
	return false;
}

static bool is_failure(enum supd_result result)
{
	return result != SUPD_RESULT_NONE && result != SUPD_RESULT_SUCCESS && result != SUPD_RESULT_SKIPPED;
}

/* The target's run ended; is another try of it to come? Then anchors wait for that. */
static void anchors_follow(struct step *s, struct stamp end, bool is_retry, bool retries_follow)
{
	if (s->ev->result == SUPD_RESULT_SUCCESS)
		s->memory->last_success = end;
	if (s->ev->result == SUPD_RESULT_SUCCESS || !retries_follow)
		s->memory->anchor_active = end;
	if (!is_retry)
		s->memory->anchor_inactive = end;
}

/* Climbs one rung, or has failed for good. Returns whether a retry waits now. */
static bool climb(struct step *s)
{
	struct timer *t = s->t;
	const struct timer_spec *spec = s->c->spec;

	if (!is_retried(spec, s->ev->result) || t->attempt == 0 || t->attempt > spec->n_retries)
		return false;
	t->retry_at = usec_add(s->now.boot, spec->retry[t->attempt - 1]);
	effect(s, (struct timer_effect) { .kind = TFX_RETRY });
	return true;
}

static void own_run_ended(struct step *s, struct stamp end)
{
	struct timer_memory *m = s->memory;
	bool is_retry = str_equal(m->open.cause, "retry"), follows;

	m->last_end = end;
	m->last_result = s->ev->result;
	m->last_status = s->ev->status;
	m->is_interrupted = false;
	if (is_failure(s->ev->result))
		m->last_failure = end;
	close_run(s);
	follows = climb(s);
	anchors_follow(s, end, is_retry, follows);
	effect(s, (struct timer_effect) { .kind = TFX_ENDED });
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void run_ended(struct step *s)
{
	s->t->is_target_active = s->ev->is_target_active;
	if (is_ours(s)) {
		own_run_ended(s, stamp_now(s));
		return;
	}
	/* Somebody else's run: its end counts for the anchors, and for nothing more. */
	anchors_follow(s, stamp_now(s), false, false);
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void became_inactive(struct step *s)
{
	struct timer_memory *m = s->memory;

	s->t->is_target_active = false;
	m->anchor_inactive = stamp_now(s);
	/* While it was active, the interval's moments were overlaps; it begins anew. */
	if (m->anchor_active.real != 0)
		m->anchor_active = stamp_now(s);
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void run_started(struct step *s)
{
	s->t->is_target_active = true;
	if (is_ours(s))
		s->t->phase = TIMER_OPEN;
}

static void durable(struct step *s)
{
	if (s->t->phase != TIMER_INTENT)
		return;
	s->t->phase = TIMER_OPEN;
	effect(s, (struct timer_effect) { .kind = TFX_START });
}

/* It would not start: the moment is missed after all. No run will move the anchors, so this does. */
static void refused(struct step *s)
{
	usec_t at = s->memory->open.scheduled;

	if (s->t->phase == TIMER_IDLE)
		return;
	close_run(s);
	drop_ladder(s);
	missed(s, s->ev->refused, at, 1);
	if (s->ev->refused == MISS_OVERLAP)
		return;
	if (s->memory->anchor_active.real != 0)
		s->memory->anchor_active = stamp_now(s);
	if (s->memory->anchor_inactive.real != 0)
		s->memory->anchor_inactive = stamp_now(s);
}

/* ---- beginning ---- */

/* A run was open when this memory was last written: what became of it? True if it was the target's last. */
static bool resolve_open(struct step *s)
{
	static const uint8_t none[SUPD_RUN_ID_BYTES];
	struct timer_memory *m = s->memory;
	struct stamp end = { .real = s->ev->ended.real, .boot = (int64_t) s->ev->ended.boot };
	usec_t scheduled = m->open.scheduled;

	if (memcmp(m->open.run_id, none, sizeof(none)) == 0)
		return false;
	s->t->attempt = m->open.attempt;
	s->t->phase = TIMER_OPEN;
	if (memcmp(m->open.run_id, s->ev->run_id, sizeof(none)) == 0) {
		/* It is still there, or ended while the timer was not listening. */
		if (s->ev->result != SUPD_RESULT_NONE)
			own_run_ended(s, end);
		return true;
	}
	m->is_interrupted = true;
	m->last_result = SUPD_RESULT_NONE;
	m->last_end = stamp_now(s);
	m->last_failure = m->last_end;
	close_run(s);
	effect(s, (struct timer_effect) { .kind = TFX_INTERRUPTED, .at = scheduled });
	missed(s, MISS_INTERRUPTED, scheduled, 1);
	if (s->c->spec->persistent && usec_sub(s->now.real, scheduled) <= s->c->spec->catch_up) {
		s->t->catch_up_at = s->now.boot;
		s->t->catch_up_scheduled = scheduled;
		s->t->catch_up_reason = MISS_INTERRUPTED;
	} else {
		m->anchor_active = m->anchor_inactive = m->last_end;
	}
	return false;
}

/* Draws the line for calendar moments at @from, and deals with those between it and now. */
static void calendar_since(struct step *s, usec_t from, enum miss_reason reason)
{
	struct moments past;

	schedule_moments(s->c->spec, s->memory, s->c->local, from, s->now.real, &past);
	account_real(s, s->now.real);
	went_by(s, reason, past.last, s->now.real - past.last, past.n);
}

static void spend(struct timer_memory *m, usec_t from, usec_t to)
{
	if (from >= to)
		return;
	if (m->n_spent == TIMER_SPENT_MAX) {
		memmove(&m->spent[0], &m->spent[1], (TIMER_SPENT_MAX - 1) * sizeof(m->spent[0]));
		m->n_spent--;
	}
	m->spent[m->n_spent++] = (struct spent) { .from = from, .to = to };
}

/* The clock was set back while supd did not run, or the record is wrong. By a day or less: what ran does not run
 * again. By more: the record is not believed, but for the one moment that is known to have run. */
static void record_from_future(struct step *s, usec_t line)
{
	struct timer_memory *m = s->memory;

	if (line - s->now.real <= USEC_PER_DAY) {
		spend(m, m->normal_since, line);
	} else {
		m->n_spent = 0;
		if (m->last_scheduled != 0)
			spend(m, m->last_scheduled - 1, m->last_scheduled);
	}
	effect(s, (struct timer_effect) { .kind = TFX_FUTURE, .at = line });
}

static void begin_calendar(struct step *s)
{
	struct timer_memory *m = s->memory;
	usec_t line = m->kept_real ? m->kept_real : m->accounted_real;

	s->t->is_clock_believed = s->now.real >= s->c->clock_epoch;
	if (!s->t->is_clock_believed) {
		m->kept_real = line;
		account_real(s, s->now.real);
		return;
	}
	m->kept_real = 0;
	if (line != 0 && line <= s->now.real) {
		calendar_since(s, line, MISS_DOWNTIME);
		return;
	}
	if (line != 0)
		record_from_future(s, line);
	account_real(s, s->now.real);
	m->normal_since = s->now.real;
}

/* A run of the target that nobody here began can anchor an interval, too. */
static void adopt_target(struct step *s)
{
	struct stamp end = { .real = s->ev->ended.real, .boot = (int64_t) s->ev->ended.boot };

	if (end.real == 0 || s->ev->result == SUPD_RESULT_NONE)
		return;
	if (end.boot > s->memory->anchor_active.boot || s->memory->anchor_active.real == 0)
		s->memory->anchor_active = end;
	if (end.boot > s->memory->anchor_inactive.boot || s->memory->anchor_inactive.real == 0)
		s->memory->anchor_inactive = end;
}

/* A ladder does not outlive its instance: what it was to retry has failed for good, at its end. */
static void ladder_lost(struct step *s)
{
	struct timer_memory *m = s->memory;

	if (s->t->phase != TIMER_IDLE || s->t->retry_at != USEC_NEVER)
		return;
	if (m->last_end.real != 0 && (m->anchor_active.real == 0 || m->last_end.boot > m->anchor_active.boot))
		m->anchor_active = m->last_end;
}

static void begin(struct step *s)
{
	struct timer *t = s->t;

	t->is_active = s->c->spec->is_enabled;
	if (!t->is_active) {
		/* What is scheduled by nobody is missed by nobody. */
		s->memory->accounted_real = s->memory->kept_real = 0;
		return;
	}
	if (s->memory->activated.real == 0)
		s->memory->activated = stamp_now(s);
	s->t->is_target_active = s->ev->is_target_active;
	if (!resolve_open(s))
		adopt_target(s);
	ladder_lost(s);
	begin_calendar(s);
	draw_delay(s);
	due_spans(s);
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* ---- clocks ---- */

static void jump(struct step *s)
{
	struct timer_memory *m = s->memory;
	struct timer *t = s->t;
	usec_t line = m->accounted_real;

	if (!t->is_clock_believed) {
		begin_calendar(s);
		return;
	}
	if (s->now.real < s->c->clock_epoch) {
		spend(m, m->normal_since, line);
		begin_calendar(s);
		return;
	}
	spend(m, m->normal_since, line);
	m->normal_since = s->now.real;
	if (line > s->now.real) {
		account_real(s, s->now.real);
	} else {
		calendar_since(s, line, MISS_CLOCK_JUMP);
		/* Its moment ran: should the clock go back, it does not come again. */
		if (t->catch_up_at != USEC_NEVER)
			spend(m, t->catch_up_scheduled - 1, t->catch_up_scheduled);
	}
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* ---- what people ask ---- */

static void interval_anew(struct step *s, struct stamp *anchor, enum trigger_kind kind)
{
	for (unsigned i = 0; i < s->c->spec->n_triggers; i++) {
		const struct trigger *t = &s->c->spec->trigger[i];

		if (t->kind == kind && anchor->real != 0 && boot_add(anchor->boot, t->span) <= (int64_t) s->now.boot)
			*anchor = stamp_now(s);
	}
}

static void spec_changed(struct step *s)
{
	struct timer_memory *m = s->memory;

	s->t->is_active = s->c->spec->is_enabled;
	s->t->is_target_active = s->ev->is_target_active;
	drop_ladder(s);
	drop_catch_up(s);
	if (s->t->is_active) {
		m->activated = m->accounted = stamp_now(s);
		if (m->accounted_real < s->now.real) {
			if (m->accounted_real == 0)
				m->normal_since = s->now.real;
			account_real(s, s->now.real);
		}
		s->t->is_clock_believed = s->now.real >= s->c->clock_epoch;
		interval_anew(s, &m->anchor_active, TRIGGER_UNIT_ACTIVE);
		interval_anew(s, &m->anchor_inactive, TRIGGER_UNIT_INACTIVE);
		draw_delay(s);
	} else {
		m->accounted_real = m->kept_real = 0;
	}
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void reset(struct step *s)
{
	struct open_run open = s->memory->open;

	*s->memory = (struct timer_memory) { .open = open };
	s->t->retry_at = s->t->catch_up_at = USEC_NEVER;
	s->memory->activated = stamp_now(s);
	s->memory->accounted = stamp_now(s);
	begin_calendar(s);
	draw_delay(s);
	effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

static void triggered(struct step *s)
{
	if (is_busy(s))
		return;
	drop_ladder(s);
	drop_catch_up(s);
	take(s, "manual", s->now.real, 1);
}

static void changed(struct step *s, bool is_wanted, const char *cause)
{
	if (is_wanted)
		elapse(s, cause, s->now.real);
}

static void end(struct step *s)
{
	if (s->t->phase == TIMER_INTENT) {
		usec_t at = s->memory->open.scheduled;

		close_run(s);
		missed(s, MISS_SHUTDOWN, at, 1);
	}
	drop_catch_up(s);
}

/* ---- the step ---- */

static void handle(struct step *s)
{
	switch (s->ev->kind) {
	case TIMER_BEGIN:
		begin(s);
		break;
	case TIMER_WAKE:
		wake(s);
		break;
	case TIMER_DURABLE:
		durable(s);
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
		jump(s);
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
	case TIMER_CLOCK_CHANGED:
		changed(s, s->c->spec->on_clock_change, "clock-change");
		break;
	case TIMER_ZONE_CHANGED:
		changed(s, s->c->spec->on_timezone_change, "timezone-change");
		break;
	case TIMER_END:
		end(s);
		break;
	}
}

/* The alarms, from nothing but the state as it is. */
static void restate(struct step *s)
{
	struct timer *t = s->t;
	int64_t boot;

	t->wake_real = t->wake_boot = USEC_NEVER;
	if (!t->is_active)
		return;
	schedule_next(s->c->spec, s->memory, &s->c->bases, s->c->local, &t->next);
	t->wake_real = usec_add(t->next.real, t->delay);
	boot = boot_add(t->next.boot, t->delay);
	if (boot != BOOT_NEVER)
		t->wake_boot = boot > 0 ? (usec_t) boot : 0;
	t->wake_boot = usec_min(t->wake_boot, usec_min(t->retry_at, t->catch_up_at));
}

/* A timer that is not active has no moments; it can be triggered by hand, and follows that run. */
static bool needs_active(enum timer_event_kind kind)
{
	switch (kind) {
	case TIMER_BEGIN:
	case TIMER_CHANGED:
	case TIMER_TRIGGER:
	case TIMER_DURABLE:
	case TIMER_REFUSED:
	case TIMER_STARTED:
	case TIMER_ENDED:
	case TIMER_INACTIVE:
	case TIMER_END:
		return false;
	case TIMER_WAKE:
	case TIMER_JUMP:
	case TIMER_RECOMPUTE:
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
	struct step s = { .t = t, .memory = &t->memory, .c = c, .ev = ev, .now = ev->now, .fx = ret };

	ret->n = 0;
	if (t->is_active || !needs_active(ev->kind))
		handle(&s);
	restate(&s);
}

void timer_spread(struct timer *t, usec_t when)
{
	t->catch_up_at = when;
	t->wake_boot = usec_min(t->wake_boot, when);
}

usec_t timer_next(const struct timer *t, const struct timer_context *c, const struct supd_now *now,
		  const char **ret_cause)
{
	usec_t next = t->wake_real;

	*ret_cause = next != USEC_NEVER ? trigger_kind_to_string(TRIGGER_CALENDAR) : NULL;
	if (!t->is_active || t->wake_boot == USEC_NEVER || real_of(now, (int64_t) t->wake_boot) >= next)
		return next;
	if (t->wake_boot == t->retry_at)
		*ret_cause = "retry";
	else if (t->wake_boot == t->catch_up_at)
		*ret_cause = "catch-up";
	else
		*ret_cause = trigger_kind_to_string(c->spec->trigger[t->next.boot_trigger].kind);
	return real_of(now, (int64_t) t->wake_boot);
}
