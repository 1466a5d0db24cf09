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

static usec_t calendar_next_unspent(const struct trigger *t, const struct timer_memory *m,
				    const struct zone *local, usec_t after)
{
	usec_t next = calendar_next(t->calendar, local, after, NULL), skip;

	/* Each turn leaves a stretch behind for good: at most TIMER_SPENT_MAX of them, in any
	 * order. */
	for (unsigned i = 0; i <= TIMER_SPENT_MAX * TIMER_SPENT_MAX && next != USEC_NEVER; i++) {
		skip = spent_until(m, next);
		if (skip == 0)
			return next;
		next = calendar_next(t->calendar, local, skip, NULL);
	}
	return next;
}

static usec_t calendar_next_kept(const struct trigger *t, const struct timer_memory *m,
				 const struct zone *local, usec_t after)
{
	usec_t next = calendar_next_unspent(t, m, local, after);

	while (next != USEC_NEVER && memory_is_skipped(m, next))
		next = calendar_next_unspent(t, m, local, next);
	return next;
}

usec_t schedule_next_real(const struct trigger *t, const struct timer_memory *memory,
			  const struct zone *local)
{
	if (t->kind != TRIGGER_CALENDAR)
		return USEC_NEVER;
	return calendar_next_unspent(t, memory, local, memory->accounted_real);
}

static int64_t base_of(const struct trigger *t, const struct timer_memory *m,
		       const struct schedule_bases *bases)
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

static void note_real(struct schedule *ret, usec_t when, unsigned trigger)
{
	if (when >= ret->real)
		return;
	ret->real = when;
	ret->real_trigger = (uint8_t) trigger;
}

static void note_boot(struct schedule *ret, int64_t when, unsigned trigger)
{
	if (when >= ret->boot)
		return;
	ret->boot = when;
	ret->boot_trigger = (uint8_t) trigger;
}

void schedule_next(const struct timer_spec *spec, const struct timer_memory *memory,
		   const struct schedule_bases *bases, const struct zone *local,
		   struct schedule *ret)
{
	*ret = (struct schedule) { .real = USEC_NEVER, .boot = BOOT_NEVER };
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];

		if (t->kind == TRIGGER_CALENDAR)
			note_real(ret, schedule_next_real(t, memory, local), i);
		else
			note_boot(ret, schedule_next_boot(t, memory, bases), i);
	}
}

/* ---- what is skipped ---- */

bool schedule_is_meant(const struct trigger *t, int64_t due, const struct skip *skip)
{
	int64_t apart = due - skip->boot;
	usec_t tolerance = 0;

	if (skip->is_calendar || t->kind == TRIGGER_CALENDAR || due == BOOT_NEVER)
		return false;
	/* Of what counts from boot or from a start, nothing is left after the next. */
	if (skip->is_vague && trigger_is_once(t))
		return false;
	if (skip->is_vague)
		tolerance = usec_min(t->span / 2, USEC_PER_MINUTE);
	return (usec_t) (apart < 0 ? -apart : apart) <= tolerance;
}

usec_t schedule_kept_real(const struct trigger *t, const struct timer_memory *memory,
			  const struct zone *local)
{
	if (t->kind != TRIGGER_CALENDAR)
		return USEC_NEVER;
	return calendar_next_kept(t, memory, local, memory->accounted_real);
}

int64_t schedule_kept_boot(const struct trigger *t, const struct timer_memory *memory,
			   const struct schedule_bases *bases)
{
	int64_t due = schedule_next_boot(t, memory, bases);

	for (unsigned i = 0; memory->skips && i < memory->skips->n; i++)
		if (schedule_is_meant(t, due, &memory->skips->item[i]))
			return trigger_is_once(t) ? BOOT_NEVER : boot_add(due, t->span);
	return due;
}

void schedule_next_kept(const struct timer_spec *spec, const struct timer_memory *memory,
			const struct schedule_bases *bases, const struct zone *local,
			struct schedule *ret)
{
	*ret = (struct schedule) { .real = USEC_NEVER, .boot = BOOT_NEVER };
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];

		if (t->kind == TRIGGER_CALENDAR)
			note_real(ret, schedule_kept_real(t, memory, local), i);
		else
			note_boot(ret, schedule_kept_boot(t, memory, bases), i);
	}
}

bool schedule_has(const struct timer_spec *spec, const struct timer_memory *memory,
		  const struct zone *local, usec_t when)
{
	for (unsigned i = 0; i < spec->n_triggers && when > memory->accounted_real; i++) {
		const struct trigger *t = &spec->trigger[i];

		if (t->kind == TRIGGER_CALENDAR &&
		    calendar_next_unspent(t, memory, local, when - 1) == when)
			return true;
	}
	return false;
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
			first = usec_min(first, calendar_next(spec->trigger[i].calendar, local,
							      after, NULL));
	return first;
}

static uint64_t count_union(const struct timer_spec *spec, const struct zone *local, usec_t after,
			    usec_t until)
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
	for (usec_t t = earliest(spec, local, after); t != USEC_NEVER && t <= until;
	     t = earliest(spec, local, t))
		n++;
	return n;
}

/* All moments in (after, until], spent or not. */
static void moments_add(const struct timer_spec *spec, const struct zone *local, usec_t after,
			usec_t until, struct moments *ret)
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
			note_last(ret,
				  calendar_last(spec->trigger[i].calendar, local, after, until), i);
}

/* What is not to be counted: a spent stretch, or one of a single moment that is skipped. Its end if
 * it holds @when, or 0. */
static usec_t hole_until(const struct timer_memory *m, usec_t when)
{
	usec_t end = spent_until(m, when);

	return end == 0 && memory_is_skipped(m, when) ? when : end;
}

/* The nearest beginning of a hole in [@from, @until), else @until. */
static usec_t solid_until(const struct timer_memory *m, usec_t from, usec_t until)
{
	for (unsigned i = 0; i < m->n_spent; i++)
		if (m->spent[i].from >= from && m->spent[i].from < until)
			until = m->spent[i].from;
	for (unsigned i = 0; m->skips && i < m->skips->n; i++) {
		const struct skip *skip = &m->skips->item[i];

		if (skip->is_calendar && skip->real > from && skip->real <= until)
			until = skip->real - 1;
	}
	return until;
}

/* From hole to hole. */
static void moments_walk(const struct timer_spec *spec, const struct timer_memory *memory,
			 const struct zone *local, usec_t after, usec_t until, struct moments *ret)
{
	*ret = (struct moments) { 0 };
	for (unsigned i = 0; i <= 2 * (TIMER_SPENT_MAX + TIMER_SKIPS_MAX) && after < until; i++) {
		usec_t hole = hole_until(memory, after + 1), end;

		if (hole != 0) {
			after = hole;
			continue;
		}
		end = solid_until(memory, after, until);
		moments_add(spec, local, after, end, ret);
		after = usec_max(end, hole_until(memory, end + 1));
	}
}

void schedule_moments(const struct timer_spec *spec, const struct timer_memory *memory,
		      const struct zone *local, usec_t after, usec_t until, struct moments *ret)
{
	struct moments older;

	moments_walk(spec, memory, local, after, until, ret);
	if (ret->n < 2)
		return;
	moments_walk(spec, memory, local, after, ret->last - 1, &older);
	ret->before = older.last;
}
