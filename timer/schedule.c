/* SPDX-License-Identifier: MIT */
#include "timer/schedule.h"

#include "timer/calendar.h"

#define UNION_STEPS 1000

int64_t boot_add(int64_t boot, usec_t span)
{
	if (boot == BOOT_NEVER || span >= (usec_t) INT64_MAX)
		return BOOT_NEVER;
	return boot > 0 && (int64_t) span > BOOT_NEVER - boot ? BOOT_NEVER : boot + (int64_t) span;
}

/* The end of a spent stretch that holds @when, or 0. */
static usec_t spent_until(const struct timer_memory *m, usec_t when)
{
	for (unsigned i = 0; i < m->n_spent; i++)
		if (m->spent[i].from < when && when <= m->spent[i].to)
			return m->spent[i].to;
	return 0;
}

static usec_t calendar_next_unspent(const struct trigger *t, const struct timer_memory *m, const struct zone *local,
				    usec_t after)
{
	usec_t next = calendar_next(t->calendar, local, after, NULL), skip;

	/* Each turn leaves a stretch behind for good: at most TIMER_SPENT_MAX of them, in any order. */
	for (unsigned i = 0; i <= TIMER_SPENT_MAX * TIMER_SPENT_MAX && next != USEC_NEVER; i++) {
		skip = spent_until(m, next);
		if (skip == 0)
			return next;
		next = calendar_next(t->calendar, local, skip, NULL);
	}
	return next;
}

usec_t schedule_next_real(const struct trigger *t, const struct timer_memory *memory, const struct zone *local)
{
	if (t->kind != TRIGGER_CALENDAR)
		return USEC_NEVER;
	return calendar_next_unspent(t, memory, local, memory->accounted_real);
}

static int64_t base_of(const struct trigger *t, const struct timer_memory *m, const struct schedule_bases *bases)
{
	switch (t->kind) {
	case TRIGGER_CALENDAR:
		return BOOT_NEVER;
	case TRIGGER_STARTUP:
		return bases->startup;
	case TRIGGER_BOOT:
		return bases->boot;
	case TRIGGER_ACTIVE:
		return m->activated.real != 0 ? m->activated.boot : BOOT_NEVER;
	case TRIGGER_UNIT_ACTIVE:
		return m->anchor_active.real != 0 ? m->anchor_active.boot : BOOT_NEVER;
	case TRIGGER_UNIT_INACTIVE:
		return m->anchor_inactive.real != 0 ? m->anchor_inactive.boot : BOOT_NEVER;
	}
	return BOOT_NEVER;
}

int64_t schedule_next_boot(const struct trigger *t, const struct timer_memory *memory,
			   const struct schedule_bases *bases)
{
	int64_t due = boot_add(base_of(t, memory, bases), t->span);

	/* A span that began before the line was drawn and ends on it has had its moment. */
	return memory->accounted.real != 0 && due <= memory->accounted.boot ? BOOT_NEVER : due;
}

void schedule_next(const struct timer_spec *spec, const struct timer_memory *memory,
		   const struct schedule_bases *bases, const struct zone *local, struct schedule *ret)
{
	*ret = (struct schedule) { .real = USEC_NEVER, .boot = BOOT_NEVER };
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];

		if (t->kind == TRIGGER_CALENDAR) {
			usec_t when = schedule_next_real(t, memory, local);

			if (when < ret->real) {
				ret->real = when;
				ret->real_trigger = (uint8_t) i;
			}
		} else {
			int64_t when = schedule_next_boot(t, memory, bases);

			if (when < ret->boot) {
				ret->boot = when;
				ret->boot_trigger = (uint8_t) i;
			}
		}
	}
}

/* ---- how many, and the last ---- */

static void note_last(struct moments *ret, usec_t when, unsigned trigger)
{
	if (when != USEC_NEVER && when >= ret->last) {
		ret->last = when;
		ret->trigger = (uint8_t) trigger;
	}
}

static usec_t earliest(const struct timer_spec *spec, const struct zone *local, usec_t after)
{
	usec_t first = USEC_NEVER;

	for (unsigned i = 0; i < spec->n_triggers; i++)
		if (spec->trigger[i].kind == TRIGGER_CALENDAR)
			first = usec_min(first, calendar_next(spec->trigger[i].calendar, local, after, NULL));
	return first;
}

static uint64_t count_union(const struct timer_spec *spec, const struct zone *local, usec_t after, usec_t until)
{
	uint64_t n = 0, sum = 0;
	unsigned n_calendars = 0;

	for (unsigned i = 0; i < spec->n_triggers; i++) {
		if (spec->trigger[i].kind != TRIGGER_CALENDAR)
			continue;
		sum += calendar_count(spec->trigger[i].calendar, local, after, until);
		n_calendars++;
	}
	if (n_calendars < 2 || sum > UNION_STEPS)
		return sum;
	for (usec_t t = earliest(spec, local, after); t != USEC_NEVER && t <= until; t = earliest(spec, local, t))
		n++;
	return n;
}

/* All moments in (after, until], spent or not. */
static void moments_add(const struct timer_spec *spec, const struct zone *local, usec_t after, usec_t until,
			struct moments *ret)
{
	uint64_t n;

	if (after >= until)
		return;
	n = count_union(spec, local, after, until);
	if (n > 0 && ret->n == 0)
		ret->first = earliest(spec, local, after);
	ret->n += n;
	for (unsigned i = 0; i < spec->n_triggers; i++)
		if (spec->trigger[i].kind == TRIGGER_CALENDAR)
			note_last(ret, calendar_last(spec->trigger[i].calendar, local, after, until), i);
}

/* The nearest beginning of a spent stretch in [@from, @until), else @until. */
static usec_t unspent_until(const struct timer_memory *m, usec_t from, usec_t until)
{
	for (unsigned i = 0; i < m->n_spent; i++)
		if (m->spent[i].from >= from && m->spent[i].from < until)
			until = m->spent[i].from;
	return until;
}

/* From stretch to stretch between what is spent. */
static void moments_walk(const struct timer_spec *spec, const struct timer_memory *memory, const struct zone *local,
			 usec_t after, usec_t until, struct moments *ret)
{
	*ret = (struct moments) { 0 };
	for (unsigned i = 0; i <= 2 * TIMER_SPENT_MAX && after < until; i++) {
		usec_t skip = spent_until(memory, after + 1), end;

		if (skip != 0) {
			after = skip;
			continue;
		}
		end = unspent_until(memory, after, until);
		moments_add(spec, local, after, end, ret);
		after = usec_max(end, spent_until(memory, end + 1));
	}
}

void schedule_moments(const struct timer_spec *spec, const struct timer_memory *memory, const struct zone *local,
		      usec_t after, usec_t until, struct moments *ret)
{
	struct moments older;

	moments_walk(spec, memory, local, after, until, ret);
	if (ret->n < 2)
		return;
	moments_walk(spec, memory, local, after, ret->last - 1, &older);
	ret->before = older.last;
}
