/* SPDX-License-Identifier: MIT */
#include "run/checks.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "tests/lib/test_main.h"

static sd_event *event;
static struct checks *checks;
static struct {
	world_token token;
	enum condition_outcome outcome;
	char unmet[256];
	unsigned n;
	bool is_releasing; /* as the manager does when the run is over with the answer */
} told;

static void on_checked(void *userdata _unused_, world_token token, enum condition_outcome outcome, const char *unmet,
		       int error)
{
	ck_assert_int_eq(error, 0);
	told.token = token;
	told.outcome = outcome;
	told.n++;
	(void) snprintf(told.unmet, sizeof(told.unmet), "%s", unmet ? unmet : "");
	if (told.is_releasing)
		checks_release(checks, token);
}

static void open_checks(void)
{
	static const char *const environment[] = { "A=b", NULL };
	const struct checks_listener listener = { .checked = on_checked };

	memset(&told, 0, sizeof(told));
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(checks_new(event, 0, environment, &listener, &checks), 0);
}

static void close_checks(void)
{
	checks = checks_free(checks);
	event = sd_event_unref(event);
}

/* A unit with one condition, gone when this returns: the checks have a copy. */
static void begin(world_token token, enum condition_kind kind, const char *parameter)
{
	char text[64];
	struct condition c = { .kind = (uint8_t) kind, .parameter = text };
	const struct conditions all = { .condition = { &c, 1 } };
	const struct service_spec spec = { .conditions = &all };

	(void) snprintf(text, sizeof(text), "%s", parameter);
	ck_assert_int_eq(checks_begin(checks, token, &spec), 0);
	memset(text, 'x', sizeof(text));
}

static void wait_told(unsigned n)
{
	while (told.n < n)
		ck_assert_int_ge(sd_event_run(event, 30 * USEC_PER_SEC), 0);
}

START_TEST(a_look_is_answered_once_from_the_loop)
{
	begin(7, CONDITION_PATH_EXISTS, "/");
	ck_assert_uint_eq(told.n, 0);
	wait_told(1);
	ck_assert_uint_eq(told.token, 7);
	ck_assert_int_eq(told.outcome, CONDITIONS_HOLD);
	begin(8, CONDITION_PATH_EXISTS, "/nonexistent/file");
	wait_told(2);
	ck_assert_int_eq(told.outcome, CONDITIONS_SKIP);
	ck_assert_str_eq(told.unmet, "ConditionPathExists=/nonexistent/file was not met");
}
END_TEST

START_TEST(the_environment_is_the_daemons)
{
	begin(1, CONDITION_ENVIRONMENT, "A=b");
	wait_told(1);
	ck_assert_int_eq(told.outcome, CONDITIONS_HOLD);
	begin(2, CONDITION_ENVIRONMENT, "PATH");
	wait_told(2);
	ck_assert_int_eq(told.outcome, CONDITIONS_SKIP);
}
END_TEST

START_TEST(who_was_released_hears_nothing)
{
	begin(1, CONDITION_PATH_EXISTS, "/");
	checks_release(checks, 1);
	checks_release(checks, 99);
	begin(2, CONDITION_PATH_EXISTS, "/");
	wait_told(1);
	ck_assert_uint_eq(told.token, 2);
}
END_TEST

START_TEST(who_is_told_may_release)
{
	told.is_releasing = true;
	for (world_token i = 1; i <= 20; i++)
		begin(i, CONDITION_HOST, "*");
	wait_told(20);
}
END_TEST

START_TEST(the_end_drops_what_nobody_was_told)
{
	for (world_token i = 1; i <= 50; i++)
		begin(i, CONDITION_PATH_EXISTS_GLOB, "/*");
	checks_release(checks, 3);
	ck_assert_uint_eq(told.n, 0);
}
END_TEST

static Suite *checks_suite(void)
{
	Suite *s = suite_create("checks");
	TCase *tc = tcase_create("checks");

	tcase_add_checked_fixture(tc, open_checks, close_checks);
	tcase_add_test(tc, a_look_is_answered_once_from_the_loop);
	tcase_add_test(tc, the_environment_is_the_daemons);
	tcase_add_test(tc, who_was_released_hears_nothing);
	tcase_add_test(tc, who_is_told_may_release);
	tcase_add_test(tc, the_end_drops_what_nobody_was_told);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(checks_suite)
