/* SPDX-License-Identifier: MIT */
/* Moments that an admin skips: on record when they come, and nothing else happens. */
#include "tests/timer/fsm_script.h"

#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

#define BEGIN TIMER_BEGIN
#define WAKE TIMER_WAKE
#define SUBMITTED TIMER_SUBMITTED
#define STARTED TIMER_STARTED
#define ENDED TIMER_ENDED
#define IDLE TIMER_IDLE
#define INTENT TIMER_INTENT
#define OPEN TIMER_OPEN

#define EXIT .result = SUPD_RESULT_EXIT_CODE
#define SUCCESS .result = SUPD_RESULT_SUCCESS

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define SKIPPED "missed skipped-by-admin"
#define SKIP(at) .skip = (at)

/* Alarms are those of the schedule: for what is skipped, too. SKIP() is before the event of its
 * row. */
static const struct script scripts[] = {
	SCRIPT("a skipped moment is on record, and the one after it runs", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, WAKE, IDLE, HOUR, NEVER, "", SKIP(HOUR)),
	       ROW(HOUR, WAKE, IDLE, 2 * HOUR, NEVER, SKIPPED),
	       ROW(2 * HOUR, WAKE, INTENT, 3 * HOUR, NEVER, "intent")),
	SCRIPT("one further on can be skipped", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, WAKE, IDLE, HOUR, NEVER, "", SKIP(2 * HOUR)),
	       ROW(HOUR, WAKE, INTENT, 2 * HOUR, NEVER, "intent"),
	       ROW(HOUR, SUBMITTED, OPEN, 2 * HOUR, NEVER, "start"),
	       ROW(HOUR, STARTED, OPEN, 2 * HOUR, NEVER, "", .active = true),
	       ROW(HOUR + 1, ENDED, IDLE, 2 * HOUR, NEVER, "ended", SUCCESS),
	       ROW(2 * HOUR, WAKE, IDLE, 3 * HOUR, NEVER, SKIPPED)),
	SCRIPT("while the target is active, it is skipped rather than an overlap", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(10, STARTED, IDLE, HOUR, NEVER, "", .who = OTHER, .active = true, SKIP(HOUR)),
	       ROW(HOUR, WAKE, IDLE, 2 * HOUR, NEVER, SKIPPED)),
	SCRIPT("the ladder of an earlier run goes on", "OnCalendar=hourly\nX-RetrySec=55min 10min\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(HOUR, WAKE, INTENT, 2 * HOUR, NEVER, "intent", SKIP(2 * HOUR)),
	       ROW(HOUR, SUBMITTED, OPEN, 2 * HOUR, NEVER, "start"),
	       ROW(HOUR, STARTED, OPEN, 2 * HOUR, NEVER, "", .active = true),
	       ROW(HOUR + 10 * MIN, ENDED, IDLE, 2 * HOUR, 2 * HOUR + 5 * MIN, "retry, ended", EXIT),
	       ROW(2 * HOUR, WAKE, IDLE, 3 * HOUR, 2 * HOUR + 5 * MIN, SKIPPED),
	       ROW(2 * HOUR + 5 * MIN, WAKE, INTENT, 3 * HOUR, NEVER, "intent")),
	SCRIPT("it is not made up for, what was missed before it is", "OnCalendar=hourly\nCatchUpSec=5h\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, WAKE, IDLE, HOUR, NEVER, "", SKIP(3 * HOUR)),
	       ROW(3 * HOUR + 30 * MIN, WAKE, IDLE, 4 * HOUR, 3 * HOUR + 30 * MIN, SKIPPED ", missed late"),
	       ROW(3 * HOUR + 30 * MIN, WAKE, INTENT, 4 * HOUR, NEVER, "intent")),
	SCRIPT("two in one wake are two on record", "OnCalendar=hourly\nPersistent=no\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, WAKE, IDLE, HOUR, NEVER, "", SKIP(HOUR)),
	       ROW(3, WAKE, IDLE, HOUR, NEVER, "", SKIP(2 * HOUR)),
	       ROW(2 * HOUR + 5 * MIN, WAKE, IDLE, 3 * HOUR, NEVER, SKIPPED " 2")),
	SCRIPT("an interval begins anew at it", "OnActiveSec=1min\nOnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, MIN, ""),
	       ROW(1, WAKE, IDLE, NEVER, MIN, "", SKIP(MIN)),
	       ROW(MIN, WAKE, IDLE, NEVER, NEVER, SKIPPED),
	       ROW(2 * MIN, ENDED, IDLE, NEVER, HOUR + 2 * MIN, "", SUCCESS, .who = OTHER),
	       ROW(HOUR + 2 * MIN, WAKE, IDLE, NEVER, 2 * HOUR + 2 * MIN, SKIPPED, SKIP(HOUR + 2 * MIN)),
	       ROW(2 * HOUR + 2 * MIN, WAKE, INTENT, NEVER, NEVER, "intent")),
	SCRIPT("an interval's skipped moment that comes late leaves the others late", "OnUnitActiveSec=1h\nPersistent=no\n",
	       NULL,
	       ROW(0, BEGIN, IDLE, NEVER, NEVER, ""),
	       ROW(0, ENDED, IDLE, NEVER, HOUR, "", SUCCESS, .who = OTHER),
	       ROW(3 * HOUR + 30 * MIN, WAKE, IDLE, NEVER, 4 * HOUR, SKIPPED ", missed late 2", SKIP(HOUR))),
	SCRIPT("a run that moves the interval leaves nothing to skip", "OnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, NEVER, ""),
	       ROW(0, ENDED, IDLE, NEVER, HOUR, "", SUCCESS, .who = OTHER),
	       ROW(MIN, ENDED, IDLE, NEVER, HOUR + MIN, "", SUCCESS, .who = OTHER, SKIP(HOUR)),
	       ROW(HOUR + MIN, WAKE, INTENT, NEVER, NEVER, "intent")),
	SCRIPT("another expression leaves nothing to skip", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, TIMER_CHANGED, IDLE, 30 * MIN, NEVER, "", SKIP(HOUR), .spec = "OnCalendar=*:30\n"),
	       ROW(3, TIMER_CHANGED, IDLE, HOUR, NEVER, "", .spec = "OnCalendar=hourly\n"),
	       ROW(HOUR, WAKE, INTENT, 2 * HOUR, NEVER, "intent")),
	SCRIPT("another expression with the same moment keeps it skipped", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, TIMER_CHANGED, IDLE, HOUR, NEVER, "", SKIP(HOUR), .spec = "OnCalendar=*-*-* *:00\n"),
	       ROW(HOUR, WAKE, IDLE, 2 * HOUR, NEVER, SKIPPED)),
	SCRIPT("edited so as to be disabled while the delay of a skipped moment runs",
	       "OnCalendar=hourly\nRandomizedDelaySec=10min\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR + 5 * MIN, NEVER, "", .random = 300 * USEC_PER_SEC),
	       ROW(HOUR + 1, TIMER_CHANGED, IDLE, NEVER, NEVER, SKIPPED, SKIP(HOUR),
		   .spec = "OnCalendar=hourly\nX-Enabled=no\n")),
	SCRIPT("a clock that is set past it puts it on record, and set back does not bring it back", "OnCalendar=hourly\n",
	       NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(2, TIMER_JUMP, IDLE, 3 * HOUR, 2, SKIPPED, SKIP(2 * HOUR), .jump = 2 * HOUR + 30 * MIN),
	       ROW(3, WAKE, INTENT, 3 * HOUR, NEVER, "intent"),
	       ROW(4, TIMER_REFUSED, IDLE, 3 * HOUR, NEVER, "missed masked", .refused = MISS_MASKED),
	       ROW(5, TIMER_JUMP, IDLE, 3 * HOUR, NEVER, "", .jump = -2 * HOUR)),
	SCRIPT("a clock that is set back before it, and it is skipped all the same", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(40 * MIN, TIMER_JUMP, IDLE, HOUR, NEVER, "", SKIP(HOUR), .jump = -30 * MIN),
	       ROW(90 * MIN, WAKE, IDLE, 2 * HOUR, NEVER, SKIPPED)),
	SCRIPT("in the night of the change, by its moment", "OnCalendar=*-*-* 02:30\n", BERLIN,
	       /* 2026-03-29 is day 27: 02:30 does not exist and is 03:00, 01:00 UTC. */
	       ROW(27 * DAY, BEGIN, IDLE, 27 * DAY + HOUR, NEVER, ""),
	       ROW(27 * DAY + 1, WAKE, IDLE, 27 * DAY + HOUR, NEVER, "", SKIP(27 * DAY + HOUR)),
	       ROW(27 * DAY + HOUR, WAKE, IDLE, 28 * DAY + 30 * MIN, NEVER, SKIPPED)),
};

START_TEST(the_rules_hold)
{
	script_run(&scripts[_i]);
}
END_TEST

static struct bench b;

static void setup(void)
{
	const struct row begin = { .at = 1, .event = BEGIN };

	bench_init(&b, "OnCalendar=hourly\nOnStartupSec=90min\n", NULL);
	(void) bench_step(&b, &begin);
}

static void teardown(void)
{
	bench_done(&b);
}

static enum skip_verdict skip(int64_t at, usec_t moment)
{
	struct supd_now now = bench_now(&b, at);
	usec_t found;

	return timer_skip(&b.timer, &b.context, &now, moment, &found);
}

static enum skip_verdict unskip(int64_t at, usec_t moment)
{
	struct supd_now now = bench_now(&b, at);
	usec_t found;

	return timer_unskip(&b.timer, &now, moment, &found);
}

static usec_t next_at(int64_t at, const char *cause)
{
	struct supd_now now = bench_now(&b, at);
	struct timer_coming coming;
	usec_t next = timer_next(&b.timer, &b.context, &now, &coming);

	ck_assert_str_eq(coming.cause ? coming.cause : "", cause);
	return next;
}

START_TEST(only_a_coming_moment_can_be_skipped)
{
	ck_assert_int_eq(skip(2, real_at(0)), SKIP_PAST);
	ck_assert_int_eq(skip(2, real_at(HOUR) + 1), SKIP_NO_MOMENT);
	ck_assert_int_eq(skip(2, real_at(DAY * 366 + 3)), SKIP_TOO_FAR);
	ck_assert_int_eq(skip(2, real_at(HOUR)), SKIP_DONE);
	ck_assert_int_eq(skip(2, real_at(HOUR)), SKIP_ALREADY);
	/* of a span: to the second */
	ck_assert_int_eq(skip(2, real_at(90 * MIN) + 999999), SKIP_DONE);
	ck_assert_int_eq(skip(2, real_at(90 * MIN)), SKIP_ALREADY);
}
END_TEST

START_TEST(next_is_the_next_that_is_not_skipped)
{
	ck_assert_uint_eq(next_at(2, "calendar"), real_at(HOUR));
	ck_assert_int_eq(skip(2, 0), SKIP_DONE);
	ck_assert_uint_eq(next_at(2, "startup"), real_at(90 * MIN));
	ck_assert_int_eq(skip(2, 0), SKIP_DONE);
	ck_assert_uint_eq(next_at(2, "calendar"), real_at(2 * HOUR));
	ck_assert_int_eq(unskip(2, 0), SKIP_DONE);
	ck_assert_uint_eq(next_at(2, "calendar"), real_at(HOUR));
}
END_TEST

START_TEST(what_is_taken_back_runs)
{
	const struct row wake = { .at = HOUR, .event = WAKE };

	ck_assert_int_eq(skip(2, real_at(HOUR)), SKIP_DONE);
	ck_assert_int_eq(unskip(3, real_at(2 * HOUR)), SKIP_ALREADY);
	ck_assert_int_eq(unskip(3, real_at(HOUR)), SKIP_DONE);
	ck_assert_int_eq(unskip(3, real_at(HOUR)), SKIP_ALREADY);
	ck_assert_ptr_null(b.timer.memory.skips);
	ck_assert_str_eq(bench_step(&b, &wake), "intent");
}
END_TEST

START_TEST(there_is_an_end_to_it)
{
	for (unsigned i = 0; i < TIMER_SKIPS_MAX; i++)
		ck_assert_int_eq(skip(2, real_at((TIMER_SKIPS_MAX - i) * HOUR)), SKIP_DONE);
	ck_assert_int_eq(skip(2, real_at((TIMER_SKIPS_MAX + 1) * HOUR)), SKIP_TOO_MANY);
	for (unsigned i = 0; i + 1 < TIMER_SKIPS_MAX; i++)
		ck_assert_uint_lt(b.timer.memory.skips->item[i].real, b.timer.memory.skips->item[i + 1].real);
	ck_assert_uint_eq(next_at(2, "startup"), real_at(90 * MIN));
}
END_TEST

START_TEST(a_miss_that_nobody_wanted_stays_on_record)
{
	const struct row wake = { .at = HOUR, .event = WAKE };

	b.timer.memory.miss_reason = MISS_OVERLAP;
	b.timer.memory.miss_count = 1;
	ck_assert_int_eq(skip(2, real_at(HOUR)), SKIP_DONE);
	ck_assert_str_eq(bench_step(&b, &wake), SKIPPED);
	ck_assert_int_eq(b.timer.memory.miss_reason, MISS_OVERLAP);
	ck_assert_uint_eq(b.timer.memory.miss_count, 1);
	ck_assert_ptr_null(b.timer.memory.skips);
}
END_TEST

START_TEST(a_reset_leaves_what_is_skipped)
{
	const struct row reset = { .at = 5, .event = TIMER_RESET }, wake = { .at = HOUR, .event = WAKE };

	ck_assert_int_eq(skip(2, real_at(HOUR)), SKIP_DONE);
	(void) bench_step(&b, &reset);
	ck_assert_str_eq(bench_step(&b, &wake), SKIPPED);
}
END_TEST

/* Skipped, and the daemon is down when it comes. */
START_TEST(in_downtime_it_is_skipped_just_the_same)
{
	const struct row again = { .at = HOUR + 29 * MIN, .event = BEGIN, .who = OTHER };
	struct timer_memory memory;

	ck_assert_int_eq(skip(2, real_at(HOUR)), SKIP_DONE);
	memory = memory_take(&b.timer.memory);
	timer_init(&b.timer);
	b.timer.memory = memory;
	b.timer.memory.activated = (struct stamp) { 0 };
	ck_assert_str_eq(bench_step(&b, &again), SKIPPED);
	ck_assert_int_eq(bench_boot(&b), 90 * MIN); /* the span, and no catch-up */
}
END_TEST

START_TEST(a_disabled_timer_has_nothing_to_skip)
{
	const struct row off = { .at = 5, .event = TIMER_CHANGED, .spec = "OnCalendar=hourly\nX-Enabled=no\n" };

	(void) bench_step(&b, &off);
	ck_assert_int_eq(skip(6, real_at(HOUR)), SKIP_INACTIVE);
}
END_TEST

/* The moment of an interval after a restart of the machine: near enough. */
START_TEST(an_interval_is_known_again_after_a_boot)
{
	const struct trigger interval = { .kind = TRIGGER_UNIT_ACTIVE, .span = USEC_PER_HOUR };
	const struct trigger once = { .kind = TRIGGER_BOOT, .span = USEC_PER_HOUR };
	const struct skip vague = { .boot = 1000, .is_vague = true }, exact = { .boot = 1000 };

	ck_assert(schedule_is_meant(&interval, 1000 + (int64_t) USEC_PER_MINUTE, &vague));
	ck_assert(!schedule_is_meant(&interval, 1001 + (int64_t) USEC_PER_MINUTE, &vague));
	ck_assert(!schedule_is_meant(&interval, 1001, &exact));
	ck_assert(schedule_is_meant(&interval, 1000, &exact));
	ck_assert(!schedule_is_meant(&once, 1000, &vague));
}
END_TEST

static Suite *fsm_skip_suite(void)
{
	Suite *s = suite_create("timer/fsm_skip");
	TCase *rules = tcase_create("rules"), *t = tcase_create("by hand");

	tcase_add_loop_test(rules, the_rules_hold, 0, ELEMENTS(scripts));
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, only_a_coming_moment_can_be_skipped);
	tcase_add_test(t, next_is_the_next_that_is_not_skipped);
	tcase_add_test(t, what_is_taken_back_runs);
	tcase_add_test(t, there_is_an_end_to_it);
	tcase_add_test(t, a_miss_that_nobody_wanted_stays_on_record);
	tcase_add_test(t, a_reset_leaves_what_is_skipped);
	tcase_add_test(t, in_downtime_it_is_skipped_just_the_same);
	tcase_add_test(t, a_disabled_timer_has_nothing_to_skip);
	tcase_add_test(t, an_interval_is_known_again_after_a_boot);
	suite_add_tcase(s, rules);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(fsm_skip_suite)
