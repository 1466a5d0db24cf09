/* SPDX-License-Identifier: MIT */
/* When a timer elapses, of each kind of trigger, and how many moments lie between two. */
#include "timer/schedule.h"

#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "timer/zone.h"

#define SEC ((int64_t) USEC_PER_SEC)
#define HOUR USEC_PER_HOUR
#define DAY USEC_PER_DAY
/* Monday, 2026-03-02 00:00 UTC. */
#define T0 (UINT64_C(1772409600) * USEC_PER_SEC)

static const struct schedule_bases bases = { .startup = 100 * SEC, .boot = -50 * SEC };

/* A timer of two calendars at most, and spans. */
struct bench {
	struct calendar calendar[2];
	struct trigger trigger[6];
	struct timer_spec spec;
	struct timer_memory memory;
};

static void add_calendar(struct bench *b, const char *text)
{
	unsigned n = b->spec.n_triggers;

	ck_assert_uint_lt(n, ELEMENTS(b->calendar));
	ck_assert_int_eq(calendar_parse(text, &b->calendar[n], NULL), 0);
	b->trigger[n] = (struct trigger) { .kind = TRIGGER_CALENDAR, .calendar = &b->calendar[n], .text = text };
	b->spec.trigger = b->trigger;
	b->spec.n_triggers++;
}

static void add_span(struct bench *b, enum trigger_kind kind, usec_t span)
{
	ck_assert_uint_lt(b->spec.n_triggers, ELEMENTS(b->trigger));
	b->trigger[b->spec.n_triggers++] = (struct trigger) { .kind = kind, .span = span };
	b->spec.trigger = b->trigger;
}

static void spend(struct bench *b, usec_t from, usec_t to)
{
	static struct spent spent[TIMER_SPENT_MAX];

	ck_assert_uint_lt(b->memory.n_spent, TIMER_SPENT_MAX);
	b->memory.spent = spent;
	b->memory.spent[b->memory.n_spent++] = (struct spent) { .from = from, .to = to };
}

static struct schedule next_of(const struct bench *b)
{
	struct schedule s;

	schedule_next(&b->spec, &b->memory, &bases, zone_utc(), &s);
	return s;
}

static struct moments moments_of(const struct bench *b, usec_t after, usec_t until)
{
	struct moments m;

	schedule_moments(&b->spec, &b->memory, zone_utc(), after, until, &m);
	return m;
}

/* ---- sums ---- */

START_TEST(boot_times_saturate)
{
	static const struct {
		int64_t boot;
		usec_t span;
		int64_t sum;
	} rows[] = {
		{ 0, 0, 0 },
		{ 5, 7, 12 },
		{ -5, 3, -2 },
		{ -5, 7, 2 },
		{ INT64_MIN, 0, INT64_MIN },
		{ INT64_MIN, INT64_MAX - 1, -2 },
		{ 0, INT64_MAX - 1, INT64_MAX - 1 },
		{ 1, INT64_MAX - 1, BOOT_NEVER },
		{ 2, INT64_MAX - 1, BOOT_NEVER },
		{ INT64_MAX - 1, 1, BOOT_NEVER },
		{ INT64_MAX - 1, 2, BOOT_NEVER },
		{ 0, INT64_MAX, BOOT_NEVER },
		{ -5, INT64_MAX, BOOT_NEVER },
		{ 0, USEC_NEVER, BOOT_NEVER },
		{ BOOT_NEVER, 0, BOOT_NEVER },
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++)
		ck_assert_msg(boot_add(rows[i].boot, rows[i].span) == rows[i].sum, "row %zu", i);
}
END_TEST

/* ---- the next moment of each kind ---- */

START_TEST(a_timer_of_no_triggers_never_elapses)
{
	struct bench b = { 0 };

	ck_assert_uint_eq(next_of(&b).real, USEC_NEVER);
	ck_assert_int_eq(next_of(&b).boot, BOOT_NEVER);
}
END_TEST

START_TEST(each_span_counts_from_its_own_base)
{
	static const struct {
		enum trigger_kind kind;
		int64_t due;
	} rows[] = {
		{ TRIGGER_STARTUP, 110 * SEC },
		{ TRIGGER_BOOT, -40 * SEC },
		{ TRIGGER_ACTIVE, 210 * SEC },
		{ TRIGGER_UNIT_ACTIVE, 310 * SEC },
		{ TRIGGER_UNIT_INACTIVE, 410 * SEC },
	};

	for (size_t i = 0; i < ELEMENTS(rows); i++) {
		struct bench b = { 0 };

		add_span(&b, rows[i].kind, 10 * USEC_PER_SEC);
		b.memory.activated = (struct stamp) { T0, 200 * SEC };
		b.memory.anchor_active = (struct stamp) { T0, 300 * SEC };
		b.memory.anchor_inactive = (struct stamp) { T0, 400 * SEC };
		ck_assert_int_eq(next_of(&b).boot, rows[i].due);
		ck_assert_uint_eq(next_of(&b).real, USEC_NEVER);
		ck_assert_uint_eq(schedule_next_real(&b.trigger[0], &b.memory, zone_utc()), USEC_NEVER);
	}
}
END_TEST

START_TEST(a_span_whose_base_never_was_does_not_elapse)
{
	static const enum trigger_kind kinds[] = { TRIGGER_ACTIVE, TRIGGER_UNIT_ACTIVE, TRIGGER_UNIT_INACTIVE };

	for (size_t i = 0; i < ELEMENTS(kinds); i++) {
		struct bench b = { 0 };

		add_span(&b, kinds[i], 0);
		b.memory.activated.boot = b.memory.anchor_active.boot = b.memory.anchor_inactive.boot = 5;
		ck_assert_int_eq(next_of(&b).boot, BOOT_NEVER);
	}
}
END_TEST

START_TEST(an_infinite_span_does_not_elapse)
{
	struct bench b = { 0 };

	add_span(&b, TRIGGER_STARTUP, USEC_NEVER);
	ck_assert_int_eq(next_of(&b).boot, BOOT_NEVER);
}
END_TEST

START_TEST(a_calendar_elapses_strictly_behind_its_line)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	b.memory.accounted_real = T0 - 1;
	ck_assert_uint_eq(next_of(&b).real, T0);
	b.memory.accounted_real = T0;
	ck_assert_uint_eq(next_of(&b).real, T0 + HOUR);
	ck_assert_int_eq(next_of(&b).boot, BOOT_NEVER);
	ck_assert_int_eq(schedule_next_boot(&b.trigger[0], &b.memory, &bases), BOOT_NEVER);
}
END_TEST

START_TEST(a_calendar_that_is_over_elapses_no_more)
{
	struct bench b = { 0 };

	add_calendar(&b, "2026-03-01");
	b.memory.accounted_real = T0;
	ck_assert_uint_eq(next_of(&b).real, USEC_NEVER);
}
END_TEST

START_TEST(a_calendar_runs_in_the_local_zone)
{
	struct bench b = { 0 };
	struct schedule s;
	struct zone *zone;

	ck_assert_int_eq(zone_from_posix("EST5", &zone, NULL), 0);
	add_calendar(&b, "daily");
	b.memory.accounted_real = T0;
	schedule_next(&b.spec, &b.memory, &bases, zone, &s);
	ck_assert_uint_eq(s.real, T0 + 5 * HOUR);
	zone_free(zone);
}
END_TEST

START_TEST(the_earliest_of_each_clock_wins_and_is_named)
{
	struct bench b = { 0 };
	struct schedule s;

	add_calendar(&b, "*-*-* 03:00");
	add_calendar(&b, "*-*-* 02:00");
	add_span(&b, TRIGGER_STARTUP, 30 * USEC_PER_SEC);
	add_span(&b, TRIGGER_STARTUP, 20 * USEC_PER_SEC);
	add_span(&b, TRIGGER_STARTUP, 20 * USEC_PER_SEC);
	b.memory.accounted_real = T0;
	s = next_of(&b);
	ck_assert_uint_eq(s.real, T0 + 2 * HOUR);
	ck_assert_uint_eq(s.real_trigger, 1);
	ck_assert_int_eq(s.boot, 120 * SEC);
	ck_assert_uint_eq(s.boot_trigger, 3); /* of two at once, the first */

	b.memory.accounted_real = T0 + 2 * HOUR;
	s = next_of(&b);
	ck_assert_uint_eq(s.real, T0 + 3 * HOUR);
	ck_assert_uint_eq(s.real_trigger, 0);
}
END_TEST

/* ---- what is accounted for ---- */

START_TEST(a_span_that_ends_on_the_line_has_had_its_moment)
{
	struct bench b = { 0 };

	add_span(&b, TRIGGER_STARTUP, 10 * USEC_PER_SEC);
	b.memory.accounted = (struct stamp) { T0, 110 * SEC - 1 };
	ck_assert_int_eq(next_of(&b).boot, 110 * SEC);
	b.memory.accounted.boot = 110 * SEC;
	ck_assert_int_eq(next_of(&b).boot, BOOT_NEVER);
	/* a line that never was drawn holds nothing back */
	b.memory.accounted = (struct stamp) { 0, 110 * SEC };
	ck_assert_int_eq(next_of(&b).boot, 110 * SEC);
}
END_TEST

START_TEST(a_base_that_moves_on_brings_the_next)
{
	struct bench b = { 0 };

	add_span(&b, TRIGGER_UNIT_ACTIVE, HOUR);
	b.memory.anchor_active = (struct stamp) { T0, 0 };
	b.memory.accounted = (struct stamp) { T0, (int64_t) HOUR };
	ck_assert_int_eq(next_of(&b).boot, BOOT_NEVER);
	b.memory.anchor_active.boot = 1;
	ck_assert_int_eq(next_of(&b).boot, (int64_t) HOUR + 1);
}
END_TEST

/* ---- what is spent ---- */

START_TEST(what_is_spent_does_not_come_again)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	b.memory.accounted_real = T0;
	spend(&b, T0 + HOUR - 1, T0 + HOUR); /* the end belongs to it */
	ck_assert_uint_eq(next_of(&b).real, T0 + 2 * HOUR);
	b.memory.n_spent = 0;
	spend(&b, T0 + HOUR, T0 + 2 * HOUR); /* the beginning does not */
	ck_assert_uint_eq(next_of(&b).real, T0 + HOUR);
	b.memory.accounted_real = T0 + HOUR;
	ck_assert_uint_eq(next_of(&b).real, T0 + 3 * HOUR);
}
END_TEST

START_TEST(stretches_in_any_order_are_all_passed_over)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	b.memory.accounted_real = T0;
	for (unsigned i = TIMER_SPENT_MAX; i > 0; i--)
		spend(&b, T0 + i * HOUR - 1, T0 + i * HOUR + 1);
	ck_assert_uint_eq(next_of(&b).real, T0 + (TIMER_SPENT_MAX + 1) * HOUR);
	ck_assert_uint_eq(moments_of(&b, T0, T0 + 10 * HOUR).n, 10 - TIMER_SPENT_MAX);
}
END_TEST

START_TEST(a_calendar_spent_to_its_end_never_elapses)
{
	struct bench b = { 0 };

	add_calendar(&b, "2026-03-02,03,04");
	b.memory.accounted_real = T0;
	spend(&b, T0, T0 + 30 * DAY);
	ck_assert_uint_eq(next_of(&b).real, USEC_NEVER);
}
END_TEST

START_TEST(spans_know_nothing_of_what_is_spent)
{
	struct bench b = { 0 };

	add_span(&b, TRIGGER_STARTUP, 10 * USEC_PER_SEC);
	spend(&b, 0, T0);
	ck_assert_int_eq(next_of(&b).boot, 110 * SEC);
}
END_TEST

/* ---- how many ---- */

static void check_moments(const struct bench *b, usec_t after, usec_t until, uint64_t n, usec_t last, usec_t before)
{
	struct moments m = moments_of(b, after, until);

	ck_assert_uint_eq(m.n, n);
	ck_assert_uint_eq(m.last, last);
	ck_assert_uint_eq(m.before, before);
}

START_TEST(moments_are_counted_behind_the_beginning_and_with_the_end)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	check_moments(&b, T0, T0 + 3 * HOUR, 3, T0 + 3 * HOUR, T0 + 2 * HOUR);
	check_moments(&b, T0 - 1, T0 + 3 * HOUR - 1, 3, T0 + 2 * HOUR, T0 + HOUR);
	check_moments(&b, T0, T0 + HOUR, 1, T0 + HOUR, 0);
	check_moments(&b, T0, T0 + HOUR - 1, 0, 0, 0);
	check_moments(&b, T0, T0, 0, 0, 0);
	check_moments(&b, T0 + DAY, T0, 0, 0, 0);
}
END_TEST

START_TEST(a_century_of_seconds_is_counted_at_once)
{
	struct bench b = { 0 };

	add_calendar(&b, "*:*:*");
	check_moments(&b, T0, T0 + 36525 * DAY, UINT64_C(36525) * 86400, T0 + 36525 * DAY,
		      T0 + 36525 * DAY - USEC_PER_SEC);
}
END_TEST

START_TEST(spans_have_no_moments_on_the_calendar)
{
	struct bench b = { 0 };

	add_span(&b, TRIGGER_UNIT_ACTIVE, HOUR);
	check_moments(&b, T0, T0 + DAY, 0, 0, 0);
}
END_TEST

START_TEST(two_calendars_that_meet_count_once)
{
	struct bench b = { 0 };

	add_calendar(&b, "*-*-* 00/2:00"); /* 2 4 6 … 24 */
	add_calendar(&b, "*-*-* 00/3:00"); /* 3 6 9 … 24 */
	check_moments(&b, T0, T0 + DAY, 16, T0 + DAY, T0 + 22 * HOUR);
	check_moments(&b, T0, T0 + 3 * HOUR, 2, T0 + 3 * HOUR, T0 + 2 * HOUR);
	ck_assert_uint_eq(moments_of(&b, T0, T0 + 2 * HOUR).trigger, 0);
	ck_assert_uint_eq(moments_of(&b, T0, T0 + 3 * HOUR).trigger, 1);
}
END_TEST

START_TEST(past_a_thousand_they_are_added_up)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	add_calendar(&b, "hourly");
	check_moments(&b, T0, T0 + 500 * HOUR, 500, T0 + 500 * HOUR, T0 + 499 * HOUR);
	check_moments(&b, T0, T0 + 501 * HOUR, 1002, T0 + 501 * HOUR, T0 + 500 * HOUR);
}
END_TEST

START_TEST(what_is_spent_is_not_counted)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	spend(&b, T0 + 7 * HOUR, T0 + 9 * HOUR); /* 8 and 9 */
	spend(&b, T0 + 2 * HOUR, T0 + 3 * HOUR); /* 3 */
	check_moments(&b, T0, T0 + 10 * HOUR, 7, T0 + 10 * HOUR, T0 + 7 * HOUR);
	check_moments(&b, T0, T0 + 9 * HOUR, 6, T0 + 7 * HOUR, T0 + 6 * HOUR);
	check_moments(&b, T0 + 2 * HOUR, T0 + 4 * HOUR, 1, T0 + 4 * HOUR, 0);
	/* the range begins, ends or lies within a stretch */
	check_moments(&b, T0 + 8 * HOUR, T0 + 10 * HOUR, 1, T0 + 10 * HOUR, 0);
	check_moments(&b, T0 + 6 * HOUR, T0 + 8 * HOUR, 1, T0 + 7 * HOUR, 0);
	check_moments(&b, T0 + 7 * HOUR, T0 + 9 * HOUR, 0, 0, 0);
	check_moments(&b, T0 + 7 * HOUR + 1, T0 + 8 * HOUR, 0, 0, 0);
}
END_TEST

START_TEST(stretches_that_touch_or_overlap_are_passed_over_as_one)
{
	struct bench b = { 0 };

	add_calendar(&b, "hourly");
	spend(&b, T0 + 4 * HOUR, T0 + 6 * HOUR);
	spend(&b, T0 + HOUR, T0 + 4 * HOUR);
	spend(&b, T0 + 5 * HOUR, T0 + 8 * HOUR);
	check_moments(&b, T0, T0 + 9 * HOUR, 2, T0 + 9 * HOUR, T0 + HOUR);
	b.memory.accounted_real = T0 + HOUR;
	ck_assert_uint_eq(next_of(&b).real, T0 + 9 * HOUR);
}
END_TEST

/* Whatever is spent: stepping by schedule_next() and counting agree. */
START_TEST(counting_agrees_with_stepping)
{
	for (unsigned mask = 0; mask < 256; mask++) {
		struct bench b = { 0 };
		usec_t when, first = 0, last = 0, before = 0, until = T0 + 12 * HOUR;
		uint64_t n = 0;

		add_calendar(&b, "hourly");
		add_calendar(&b, "*:00/40");
		for (unsigned i = 0; i < TIMER_SPENT_MAX; i++)
			if (mask & 1U << i)
				spend(&b, T0 + i * HOUR + HOUR / 2, T0 + (i + 1) * HOUR + (i % 3) * HOUR / 4);
		b.memory.accounted_real = T0;
		while ((when = next_of(&b).real) <= until) {
			before = last;
			last = b.memory.accounted_real = when;
			first = n++ == 0 ? when : first;
		}
		check_moments(&b, T0, until, n, last, before);
		ck_assert_uint_eq(moments_of(&b, T0, until).first, first);
	}
}
END_TEST

static Suite *schedule_suite(void)
{
	Suite *s = suite_create("timer/schedule");
	TCase *t = tcase_create("next");

	tcase_add_test(t, boot_times_saturate);
	tcase_add_test(t, a_timer_of_no_triggers_never_elapses);
	tcase_add_test(t, each_span_counts_from_its_own_base);
	tcase_add_test(t, a_span_whose_base_never_was_does_not_elapse);
	tcase_add_test(t, an_infinite_span_does_not_elapse);
	tcase_add_test(t, a_calendar_elapses_strictly_behind_its_line);
	tcase_add_test(t, a_calendar_that_is_over_elapses_no_more);
	tcase_add_test(t, a_calendar_runs_in_the_local_zone);
	tcase_add_test(t, the_earliest_of_each_clock_wins_and_is_named);
	tcase_add_test(t, a_span_that_ends_on_the_line_has_had_its_moment);
	tcase_add_test(t, a_base_that_moves_on_brings_the_next);
	tcase_add_test(t, what_is_spent_does_not_come_again);
	tcase_add_test(t, stretches_in_any_order_are_all_passed_over);
	tcase_add_test(t, a_calendar_spent_to_its_end_never_elapses);
	tcase_add_test(t, spans_know_nothing_of_what_is_spent);
	suite_add_tcase(s, t);

	t = tcase_create("moments");
	tcase_add_test(t, moments_are_counted_behind_the_beginning_and_with_the_end);
	tcase_add_test(t, a_century_of_seconds_is_counted_at_once);
	tcase_add_test(t, spans_have_no_moments_on_the_calendar);
	tcase_add_test(t, two_calendars_that_meet_count_once);
	tcase_add_test(t, past_a_thousand_they_are_added_up);
	tcase_add_test(t, what_is_spent_is_not_counted);
	tcase_add_test(t, stretches_that_touch_or_overlap_are_passed_over_as_one);
	tcase_add_test(t, counting_agrees_with_stepping);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(schedule_suite)
