/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/test_main.h"
#include "timer/recent.h"

static void taken(struct recent **r, usec_t scheduled, const char *cause, uint32_t attempt)
{
	struct open_run open = { .scheduled = scheduled, .attempt = attempt };

	(void) snprintf(open.cause, sizeof(open.cause), "%s", cause);
	recent_taken(r, &open);
}

static void ended(struct recent *r, enum supd_result result, int status)
{
	const struct timer_memory m = { .last_result = result, .last_status = status };

	recent_ended(r, &m);
}

START_TEST(nothing_is_kept_of_a_timer_that_never_elapsed)
{
	ck_assert_ptr_null(recent_at(NULL, 0));
	ended(NULL, SUPD_RESULT_SUCCESS, 0);
}
END_TEST

START_TEST(a_run_is_one_moment)
{
	struct recent *r = NULL;

	taken(&r, 100, "calendar", 1);
	ck_assert_uint_eq(recent_at(r, 0)->outcome, RECENT_RUNNING);
	ended(r, SUPD_RESULT_EXIT_CODE, 3);
	ck_assert_uint_eq(recent_at(r, 0)->outcome, RECENT_ENDED);
	ck_assert_uint_eq(recent_at(r, 0)->detail, SUPD_RESULT_EXIT_CODE);
	ck_assert_int_eq(recent_at(r, 0)->status, 3);
	ck_assert_str_eq(recent_cause(recent_at(r, 0)), "calendar");
	ck_assert_ptr_null(recent_at(r, 1));
	free(r);
}
END_TEST

START_TEST(a_retry_belongs_to_the_moment_that_it_retries)
{
	struct recent *r = NULL;

	taken(&r, 100, "calendar", 1);
	ended(r, SUPD_RESULT_EXIT_CODE, 3);
	recent_missed(&r, MISS_OVERLAP, 200, 1);
	taken(&r, 130, "retry", 2);
	ended(r, SUPD_RESULT_SUCCESS, 0);
	ck_assert_uint_eq(recent_at(r, 0)->scheduled, 100);
	ck_assert_uint_eq(recent_at(r, 0)->attempt, 2);
	ck_assert_uint_eq(recent_at(r, 0)->detail, SUPD_RESULT_SUCCESS);
	ck_assert_str_eq(recent_cause(recent_at(r, 0)), "calendar");
	ck_assert_uint_eq(recent_at(r, 1)->outcome, RECENT_MISSED);
	ck_assert_ptr_null(recent_at(r, 2));
	free(r);
}
END_TEST

START_TEST(a_moment_that_was_taken_and_refused_is_missed)
{
	struct recent *r = NULL;

	taken(&r, 100, "startup", 1);
	recent_missed(&r, MISS_MASKED, 100, 1);
	ck_assert_uint_eq(recent_at(r, 0)->outcome, RECENT_MISSED);
	ck_assert_uint_eq(recent_at(r, 0)->detail, MISS_MASKED);
	ck_assert_uint_eq(recent_at(r, 0)->count, 1);
	ck_assert_ptr_null(recent_cause(recent_at(r, 0)));
	ck_assert_ptr_null(recent_at(r, 1));
	free(r);
}
END_TEST

START_TEST(misses_of_one_reason_in_a_row_are_one)
{
	struct recent *r = NULL;

	recent_missed(&r, MISS_OVERLAP, 100, 1);
	recent_missed(&r, MISS_OVERLAP, 200, 2);
	recent_missed(&r, MISS_LATE, 300, 1);
	recent_missed(&r, MISS_OVERLAP, 400, UINT64_MAX - 1);
	ck_assert_uint_eq(recent_at(r, 0)->count, 3);
	ck_assert_uint_eq(recent_at(r, 0)->scheduled, 200);
	ck_assert_uint_eq(recent_at(r, 1)->detail, MISS_LATE);
	ck_assert_uint_eq(recent_at(r, 2)->count, UINT32_MAX);
	ck_assert_ptr_null(recent_at(r, 3));
	free(r);
}
END_TEST

START_TEST(the_oldest_goes_first)
{
	struct recent *r = NULL;

	for (unsigned i = 1; i <= RECENT_MAX + 3; i++) {
		taken(&r, i, "calendar", 1);
		ended(r, SUPD_RESULT_SUCCESS, 0);
	}
	for (unsigned i = 0; i < RECENT_MAX; i++)
		ck_assert_uint_eq(recent_at(r, i)->scheduled, i + 4);
	ck_assert_ptr_null(recent_at(r, RECENT_MAX));
	free(r);
}
END_TEST

START_TEST(a_retry_of_a_moment_that_is_forgotten_stands_for_itself)
{
	struct recent *r = NULL;

	taken(&r, 500, "retry", 3);
	ck_assert_uint_eq(recent_at(r, 0)->scheduled, 500);
	ck_assert_str_eq(recent_cause(recent_at(r, 0)), "retry");
	free(r);
}
END_TEST

static const char *const causes[] = {
	"calendar", "startup", "active", "boot", "unit-active", "unit-inactive",
	"retry", "catch-up", "manual", "clock-change", "timezone-change",
};

START_TEST(every_cause_is_remembered)
{
	struct recent *r = NULL;

	taken(&r, 1, causes[_i], 1);
	ck_assert_str_eq(recent_cause(recent_at(r, 0)), causes[_i]);
	free(r);
}
END_TEST

static Suite *recent_suite(void)
{
	Suite *s = suite_create("recent");
	TCase *t = tcase_create("recent");

	tcase_add_test(t, nothing_is_kept_of_a_timer_that_never_elapsed);
	tcase_add_test(t, a_run_is_one_moment);
	tcase_add_test(t, a_retry_belongs_to_the_moment_that_it_retries);
	tcase_add_test(t, a_moment_that_was_taken_and_refused_is_missed);
	tcase_add_test(t, misses_of_one_reason_in_a_row_are_one);
	tcase_add_test(t, the_oldest_goes_first);
	tcase_add_test(t, a_retry_of_a_moment_that_is_forgotten_stands_for_itself);
	tcase_add_loop_test(t, every_cause_is_remembered, 0, (int) (sizeof(causes) / sizeof(causes[0])));
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(recent_suite)
