/* SPDX-License-Identifier: MIT */
/* What an admin wants left out: one coming moment at a time. */
#include "timer/fsm_private.h"

#include "base/cleanup.h"

/* How far a moment of an interval may be from what is asked for: people write seconds. */
#define SAME (USEC_PER_SEC - 1)

/* ---- asked for ---- */

static usec_t apart(usec_t a, usec_t b)
{
	return a > b ? a - b : b - a;
}

/* The skip of this moment; -1: it is not skipped. */
static int find_skip(const struct timer_memory *m, const struct supd_now *now, usec_t moment)
{
	for (unsigned i = 0; m->skips && i < m->skips->n; i++) {
		const struct skip *skip = &m->skips->item[i];
		usec_t real = skip_real(skip, now);

		if (moment == 0 || real == moment ||
		    (!skip->is_calendar && apart(real, moment) <= SAME))
			return (int) i;
	}
	return -1;
}

static bool find_span(const struct timer *t, const struct timer_context *c,
		      const struct supd_now *now, usec_t moment, struct skip *ret)
{
	for (unsigned i = 0; i < c->spec->n_triggers; i++) {
		int64_t due = schedule_next_boot(&c->spec->trigger[i], &t->memory, &c->bases);

		if (due == BOOT_NEVER || apart(timer_real_of(now, due), moment) > SAME)
			continue;
		*ret = (struct skip) { .real = timer_real_of(now, due), .boot = due };
		return true;
	}
	return false;
}

static bool find_next(const struct timer *t, const struct timer_context *c,
		      const struct supd_now *now, struct skip *ret)
{
	struct schedule next;
	usec_t real;

	schedule_next_kept(c->spec, &t->memory, &c->bases, c->local, &next);
	real = timer_real_of(now, next.boot);
	if (next.real == USEC_NEVER && next.boot == BOOT_NEVER)
		return false;
	*ret = next.real <= real ? (struct skip) { .real = next.real, .is_calendar = true }
				 : (struct skip) { .real = real, .boot = next.boot };
	return true;
}

/* The moment that is asked for, as one of the schedule. */
static enum skip_verdict find_moment(const struct timer *t, const struct timer_context *c,
				     const struct supd_now *now, usec_t moment, struct skip *ret)
{
	if (moment == 0)
		return find_next(t, c, now, ret) ? SKIP_DONE : SKIP_NO_MOMENT;
	if (moment > usec_add(now->real, TIMER_SKIP_AHEAD_MAX))
		return SKIP_TOO_FAR;
	if (schedule_has(c->spec, &t->memory, c->local, moment)) {
		*ret = (struct skip) { .real = moment, .is_calendar = true };
		return SKIP_DONE;
	}
	if (find_span(t, c, now, moment, ret))
		return SKIP_DONE;
	return moment <= now->real ? SKIP_PAST : SKIP_NO_MOMENT;
}

enum skip_verdict timer_skip(struct timer *t, const struct timer_context *c,
			     const struct supd_now *now, usec_t moment, usec_t *ret_moment)
{
	struct timer_memory *m = &t->memory;
	enum skip_verdict v;
	struct skip skip;

	if (!t->is_active)
		return SKIP_INACTIVE;
	v = find_moment(t, c, now, moment, &skip);
	if (v != SKIP_DONE)
		return v;
	*ret_moment = skip.real;
	if (moment != 0 && find_skip(m, now, moment) >= 0)
		return SKIP_ALREADY;
	if (memory_add_skip(m, &skip))
		return SKIP_DONE;
	return m->skips && m->skips->n == TIMER_SKIPS_MAX ? SKIP_TOO_MANY : SKIP_NO_MEMORY;
}

enum skip_verdict timer_unskip(struct timer *t, const struct supd_now *now, usec_t moment,
			       usec_t *ret_moment)
{
	int i = find_skip(&t->memory, now, moment);

	if (i < 0) {
		*ret_moment = moment;
		return moment != 0 && moment <= now->real ? SKIP_PAST : SKIP_ALREADY;
	}
	*ret_moment = skip_real(&t->memory.skips->item[i], now);
	memory_remove_skip(&t->memory, (unsigned) i);
	return SKIP_DONE;
}

usec_t skip_real(const struct skip *skip, const struct supd_now *now)
{
	return skip->is_calendar ? skip->real : timer_real_of(now, skip->boot);
}

/* ---- when it comes ---- */

static void tell(struct step *s, struct skip *skip, usec_t at)
{
	skip->is_told = true;
	step_missed(s, MISS_SKIPPED, at);
}

bool step_is_skipped_real(struct step *s, usec_t when)
{
	struct skips *all = s->memory->skips;

	for (unsigned i = 0; all && i < all->n; i++) {
		struct skip *skip = &all->item[i];

		if (!skip->is_calendar || skip->real != when)
			continue;
		if (!skip->is_told)
			tell(s, skip, when);
		return true;
	}
	return false;
}

bool step_is_skipped_boot(struct step *s, const struct trigger *trigger, int64_t due)
{
	struct skips *all = s->memory->skips;

	for (unsigned i = 0; all && i < all->n; i++) {
		struct skip *skip = &all->item[i];
		bool is_meant = trigger ? schedule_is_meant(trigger, due, skip)
					: !skip->is_calendar && skip->boot == due;

		if (!is_meant)
			continue;
		if (!skip->is_told)
			tell(s, skip, timer_real_of(&s->now, due));
		return true;
	}
	return false;
}

void step_pass_skipped(struct step *s, usec_t until, bool may_come_again)
{
	struct timer_memory *m = s->memory;

	for (unsigned i = 0; m->skips && i < m->skips->n; i++) {
		const struct skip *skip = &m->skips->item[i];

		if (!skip->is_calendar || skip->real > until || skip->is_told ||
		    !schedule_has(s->c->spec, m, s->c->local, skip->real))
			continue;
		(void) step_is_skipped_real(s, skip->real);
		/* What else is known to have been is worth more than this. */
		if (may_come_again && m->n_spent < TIMER_SPENT_MAX)
			memory_spend(m, skip->real - 1, skip->real);
	}
}

static bool is_still_meant(const struct step *s, const struct skip *skip)
{
	const struct timer_spec *spec = s->c->spec;

	if (skip->is_told)
		return false;
	if (skip->is_calendar)
		return schedule_has(spec, s->memory, s->c->local, skip->real);
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];

		if (schedule_is_meant(t, schedule_next_boot(t, s->memory, &s->c->bases), skip))
			return true;
	}
	return false;
}

void step_prune_skips(struct step *s)
{
	struct timer_memory *m = s->memory;

	for (unsigned i = m->skips ? m->skips->n : 0; i-- > 0;)
		if (!is_still_meant(s, &m->skips->item[i])) {
			memory_remove_skip(m, i);
			step_effect(s, (struct timer_effect) { .kind = TFX_SAVE });
		}
}
