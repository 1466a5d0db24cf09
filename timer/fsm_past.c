/* SPDX-License-Identifier: MIT */
/* What went by while nobody could act: beginning with a memory, and a real-time clock that was
 * set. */
#include "timer/fsm_private.h"

#include <string.h>

#include "base/cleanup.h"

/* ---- moments that must not come again ---- */

static void spent_remove(struct timer_memory *m, unsigned i)
{
	memmove(&m->spent[i], &m->spent[i + 1], (m->n_spent - i - 1) * sizeof(m->spent[0]));
	m->n_spent--;
}

/* Of too many, the one that ends first is forgotten: what lies ahead is sure to come again, what
 * lies far behind is not. False: that would be the one that ends at @to. */
static bool spent_make_room(struct timer_memory *m, usec_t to)
{
	unsigned first = 0;

	for (unsigned i = 1; i < m->n_spent; i++)
		if (m->spent[i].to < m->spent[first].to)
			first = i;
	if (to <= m->spent[first].to)
		return false;
	spent_remove(m, first);
	return true;
}

void memory_spend(struct timer_memory *m, usec_t from, usec_t to)
{
	if (from >= to)
		return;
	/* Stretches that touch are one: a clock that is set to and fro uses up no room. */
	for (unsigned i = m->n_spent; i-- > 0;)
		if (m->spent[i].from <= to && from <= m->spent[i].to) {
			from = usec_min(from, m->spent[i].from);
			to = usec_max(to, m->spent[i].to);
			spent_remove(m, i);
		}
	if (m->n_spent == TIMER_SPENT_MAX && !spent_make_room(m, to))
		return;
	/* Without memory it is forgotten: should the clock be set back over it, it comes again. */
	(void) memory_add_spent(m, from, to);
}

static void spent_forget_after(struct timer_memory *m, usec_t now)
{
	for (unsigned i = m->n_spent; i-- > 0;) {
		m->spent[i].to = usec_min(m->spent[i].to, now);
		if (m->spent[i].from >= now)
			spent_remove(m, i);
	}
}

/* ---- the line of the real-time clock ---- */

/* Deals with calendar moments in (from, now], none of which anybody saw, and draws the line at
 * now. */
static void calendar_since(struct step *s, usec_t from)
{
	struct timer_memory *m = s->memory;
	struct moments past;

	schedule_moments(s->c->spec, m, s->c->local, from, s->now.real, &past);
	if (past.n > 0) {
		/* What was passed over may come yet, if it turns out that the clock was wrong: it
		 * is not spent. */
		memory_spend(m, m->normal_since, from);
		m->normal_since = s->now.real;
	}
	step_pass_skipped(s, s->now.real, past.n > 0);
	m->accounted_real = s->now.real;
	step_went_by(s, &past, s->now.real - past.last);
}

static void calendar_anew(struct step *s)
{
	s->memory->accounted_real = s->memory->normal_since = s->now.real;
}

/* The clock was set back while supd did not run, or the record is wrong. By a day or less: what ran
 * does not run again. By more: of what lies ahead the record is not believed, but for the one
 * moment that is known to have run. */
static void record_from_future(struct step *s, usec_t line)
{
	struct timer_memory *m = s->memory;

	if (line - s->now.real <= USEC_PER_DAY) {
		memory_spend(m, m->normal_since, line);
	} else {
		memory_spend(m, m->normal_since, s->now.real);
		spent_forget_after(m, s->now.real);
		if (m->last_scheduled != 0)
			memory_spend(m, m->last_scheduled - 1, m->last_scheduled);
	}
	step_effect(s, (struct timer_effect) { .kind = TFX_FUTURE, .at = line });
}

static bool is_to_come(const struct step *s, usec_t when)
{
	struct moments moment;

	schedule_moments(s->c->spec, s->memory, s->c->local, when - 1, when, &moment);
	return moment.n > 0;
}

/* A catch-up whose moment lies ahead again is none: that moment comes by itself. Not if it is
 * spent: it had come, and was taken and did not start, or was late. Nor does one of an interval
 * come again. */
static bool comes_by_itself(const struct step *s, const struct waiting *w)
{
	if (w->reason == MISS_NONE || w->reason == MISS_INTERRUPTED || w->scheduled <= s->now.real)
		return false;
	if (!s->t->is_clock_believed && w->scheduled >= s->c->clock_epoch)
		return false; /* nobody knows where it lies */
	return is_to_come(s, w->scheduled);
}

static void unwait_future(struct step *s)
{
	if (!comes_by_itself(s, &s->memory->waiting))
		return;
	s->memory->waiting = (struct waiting) { 0 };
	s->t->catch_up_at = USEC_NEVER;
}

/* What waited before a run was interrupted is not made up for any more: whether its moment comes by
 * itself is known only now. */
static void miss_before(struct step *s)
{
	const struct waiting w = s->before;

	s->before = (struct waiting) { 0 };
	if (w.reason != MISS_NONE && !comes_by_itself(s, &w))
		step_missed(s, w.reason, w.scheduled);
}

/* A catch-up that waits in the memory waits on, if it is young enough still. */
static void wait_again(struct step *s)
{
	struct waiting *w = &s->memory->waiting;

	if (w->reason == MISS_NONE)
		return;
	if (step_is_young(s, usec_sub(s->now.real, w->scheduled)))
		s->t->catch_up_at = s->now.boot;
	else
		step_drop_waiting(s);
}

void step_begin_calendar(struct step *s)
{
	struct timer_memory *m = s->memory;
	usec_t line = m->kept_real ? m->kept_real : m->accounted_real;

	/* A line from before the epoch was drawn by a clock that nobody believed. */
	if (line < s->c->clock_epoch)
		line = 0;
	s->t->is_clock_believed = s->now.real >= s->c->clock_epoch;
	if (!s->t->is_clock_believed) {
		if (m->kept_real == 0 && line != 0)
			memory_spend(m, m->normal_since, line);
		m->kept_real = line;
		calendar_anew(s);
		if (m->waiting.scheduled >= s->c->clock_epoch)
			s->t->catch_up_at = USEC_NEVER; /* nobody knows how old it is */
		unwait_future(s);
		return;
	}
	if (m->kept_real != 0)
		m->normal_since = line;
	m->kept_real = 0;
	wait_again(s);
	if (line != 0 && line <= s->now.real) {
		calendar_since(s, line);
		return;
	}
	if (line != 0)
		record_from_future(s, line);
	calendar_anew(s);
	unwait_future(s);
}

void step_believe_clock(struct step *s)
{
	struct timer_memory *m = s->memory;

	if (m->kept_real != 0) {
		/* What came by this clock has come, and is not missed behind the kept line. */
		memory_spend(m, m->normal_since, m->accounted_real);
		s->unseen = MISS_DOWNTIME; /* nobody could have known */
		step_begin_calendar(s);
		s->unseen = MISS_LATE;
	} else {
		s->t->is_clock_believed = true;
		wait_again(s);
	}
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* ---- stamps on two clocks ---- */

/* Of a stamp from before this boot only the real time is known, of one from this boot the boot time
 * is sure. */
static void stamp_follow(struct stamp *stamp, const struct supd_now *now)
{
	if (stamp->real == 0)
		return;
	if (stamp->boot >= 0)
		stamp->real = usec_max(timer_real_of(now, stamp->boot), 1);
	else if (stamp->real <= now->real)
		stamp->boot = (int64_t) now->boot - (int64_t) (now->real - stamp->real);
	if (stamp->boot >= (int64_t) now->boot)
		stamp->boot = (int64_t) now->boot;
}

/* An anchor that turns out to be older than it was taken for: its moment may lie behind the line
 * already. */
static void anchors_follow(struct step *s)
{
	const struct timer_spec *spec = s->c->spec;
	struct timer_memory *m = s->memory;
	const struct timer_memory before = *m;

	stamp_follow(&m->anchor_active, &s->now);
	stamp_follow(&m->anchor_inactive, &s->now);
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];
		const struct stamp *anchor = anchor_of(m, t->kind);
		int64_t due = anchor && anchor->real != 0 ? boot_add(anchor->boot, t->span)
							  : BOOT_NEVER;

		if (due <= m->accounted.boot &&
		    schedule_next_boot(t, &before, &s->c->bases) != BOOT_NEVER)
			step_due_span(s, t, due, (usec_t) ((int64_t) s->now.boot - due));
	}
}

static void stamps_follow(struct step *s)
{
	struct timer_memory *m = s->memory;
	struct stamp *const counted[] = { &m->accounted, &m->activated };
	struct stamp *const shown[] = { &m->last_trigger, &m->last_end, &m->last_success,
					&m->last_failure };

	for (size_t i = 0; i < ELEMENTS(counted); i++)
		stamp_follow(counted[i], &s->now);
	/* What people were told stays, unless it was told by a clock that had no idea. */
	for (size_t i = 0; i < ELEMENTS(shown); i++)
		if (shown[i]->boot < 0 || shown[i]->real < s->c->clock_epoch)
			stamp_follow(shown[i], &s->now);
}

/* ---- beginning ---- */

static bool is_zero(const uint8_t id[SUPD_RUN_ID_BYTES])
{
	static const uint8_t none[SUPD_RUN_ID_BYTES];

	return memcmp(id, none, sizeof(none)) == 0;
}

static void interrupted(struct step *s)
{
	struct timer_memory *m = s->memory;
	const struct open_run open = m->open;

	step_close_run(s);
	m->is_interrupted = true;
	m->last_result = SUPD_RESULT_NONE;
	m->last_trigger = open.taken;
	m->last_scheduled = open.scheduled;
	m->last_end = m->last_failure = stamp_now(s);
	step_effect(s, (struct timer_effect){
			       .kind = TFX_INTERRUPTED, .at = open.scheduled, .run = open });
	step_missed(s, MISS_INTERRUPTED, open.scheduled);
}

/* A run was open when this memory was last written: what became of it? True if it was the target's
 * last. */
static bool resolve_open(struct step *s)
{
	struct timer_memory *m = s->memory;
	const struct open_run open = m->open;
	struct stamp end = { .real = s->ev->ended.real, .boot = (int64_t) s->ev->ended.boot };

	if (is_zero(open.run_id))
		return false;
	s->t->attempt = open.attempt;
	s->t->phase = TIMER_OPEN;
	if (memcmp(open.run_id, s->ev->last_run_id, sizeof(open.run_id)) == 0) {
		/* It is still there, or ended while the timer was not listening. */
		m->last_trigger = open.taken;
		m->last_scheduled = open.scheduled;
		if (s->ev->result != SUPD_RESULT_NONE)
			step_own_run_ended(s, end);
		return true;
	}
	if (m->activated.real != 0) {
		/* The daemon is still the same: the run ended, unseen, and another of the target
		 * came after it. */
		step_close_run(s);
		m->is_interrupted = true;
		m->last_result = SUPD_RESULT_NONE;
		return false;
	}
	interrupted(s);
	if (s->t->is_active && step_is_young(s, usec_sub(s->now.real, open.scheduled))) {
		if (m->waiting.reason != MISS_INTERRUPTED)
			s->before = m->waiting;
		m->waiting = (struct waiting) { 0 };
		step_wait(s, MISS_INTERRUPTED, open.scheduled);
	} else {
		m->anchor_active = m->anchor_inactive = m->last_end;
	}
	return false;
}

static void stamp_advance(struct stamp *stamp, struct stamp to)
{
	if (to.real != 0 && (stamp->real == 0 || to.boot > stamp->boot))
		*stamp = to;
}

/* A run of the target that nobody here began can anchor an interval, too. */
static void adopt_target(struct step *s)
{
	struct stamp end = { .real = s->ev->ended.real, .boot = (int64_t) s->ev->ended.boot };

	if (s->ev->result == SUPD_RESULT_NONE)
		return;
	stamp_advance(&s->memory->anchor_active, end);
	stamp_advance(&s->memory->anchor_inactive, end);
}

/* A ladder does not outlive its instance: what it was to retry has failed for good, at its end. */
static void ladder_lost(struct step *s)
{
	if (s->t->phase == TIMER_IDLE && s->t->retry_at == USEC_NEVER)
		stamp_advance(&s->memory->anchor_active, s->memory->last_end);
}

/* What is scheduled by nobody is missed by nobody. What came does not come again all the same. */
void step_unschedule(struct step *s)
{
	struct timer_memory *m = s->memory;

	if (m->kept_real == 0 && m->accounted_real >= s->c->clock_epoch)
		memory_spend(m, m->normal_since, m->accounted_real);
	m->accounted_real = m->kept_real = 0;
	m->accounted = (struct stamp) { 0 };
}

static void begin_disabled(struct step *s)
{
	step_drop_waiting(s);
	step_unschedule(s);
}

static void begin_enabled(struct step *s, bool is_run_last)
{
	struct timer_memory *m = s->memory;

	if (m->activated.real == 0)
		m->activated = stamp_now(s);
	if (!is_run_last)
		adopt_target(s);
	ladder_lost(s);
	if (m->accounted.real == 0) {
		step_interval_anew(s, TRIGGER_UNIT_ACTIVE);
		step_interval_anew(s, TRIGGER_UNIT_INACTIVE);
	}
	step_begin_calendar(s);
	miss_before(s);
	step_due_spans(s);
	/* A rung does not wait beside a moment that is made up for. */
	if (s->t->catch_up_at != USEC_NEVER)
		s->t->retry_at = USEC_NEVER;
	s->is_delay_spent = true;
}

void step_begin(struct step *s)
{
	bool is_run_last;

	s->unseen = MISS_DOWNTIME;
	s->t->is_active = s->c->spec->is_enabled;
	s->t->is_target_active = s->ev->is_target_active;
	is_run_last = resolve_open(s);
	if (s->t->is_active)
		begin_enabled(s, is_run_last);
	else
		begin_disabled(s);
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}

/* ---- a clock that was set ---- */

void step_jump(struct step *s)
{
	struct timer_memory *m = s->memory;
	bool was_believed = s->t->is_clock_believed;
	usec_t line = m->accounted_real;

	/* Without a clock to believe there was nobody who could have known. */
	s->unseen = was_believed ? MISS_CLOCK_JUMP : MISS_DOWNTIME;
	stamps_follow(s);
	anchors_follow(s);
	if (s->t->catch_up_at != USEC_NEVER &&
	    !step_is_young(s, usec_sub(s->now.real, m->waiting.scheduled)))
		step_drop_waiting(s);
	if (!was_believed || s->now.real < s->c->clock_epoch) {
		step_begin_calendar(s);
	} else if (line > s->now.real) {
		memory_spend(m, m->normal_since, line);
		calendar_anew(s);
		unwait_future(s);
	} else {
		calendar_since(s, line);
	}
	step_due_spans(s);
	step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
}
