/* SPDX-License-Identifier: MIT */
#include "service/restart.h"

#include <signal.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "service/spec.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

#define EXIT(code) W_EXITCODE(code, 0)
#define KILLED(signal) W_EXITCODE(0, signal)

/* The table of systemd.service(5) for Restart=, as far as a oneshot can have it. */
static const struct {
	const char *spec;
	enum run_result result;
	int wstatus; /* of the main process */
	bool is_due;
} cases[] = {
	{ "Restart=on-failure", RUN_RESULT_SUCCESS, EXIT(0), false },
	{ "Restart=on-failure", RUN_RESULT_EXIT_CODE, EXIT(1), true },
	{ "Restart=on-failure", RUN_RESULT_SIGNAL, KILLED(SIGKILL), true },
	{ "Restart=on-failure", RUN_RESULT_CORE_DUMP, KILLED(SIGSEGV), true },
	{ "Restart=on-failure", RUN_RESULT_TIMEOUT, KILLED(SIGTERM), true },
	{ "Restart=on-failure", RUN_RESULT_EXEC, EXIT(203), true },
	{ "Restart=on-failure", RUN_RESULT_RESOURCES, EXIT(0), true },
	{ "Restart=on-failure", RUN_RESULT_SKIPPED, EXIT(1), false },
	{ "Restart=on-failure", RUN_RESULT_STOPPED, KILLED(SIGTERM), false },
	{ "Restart=on-failure", RUN_RESULT_DEPENDENCY, EXIT(0), false },
	{ "Restart=on-failure", RUN_RESULT_START_LIMIT, EXIT(0), false },
	{ "Restart=on-abnormal", RUN_RESULT_EXIT_CODE, EXIT(1), false },
	{ "Restart=on-abnormal", RUN_RESULT_EXEC, EXIT(203), false },
	{ "Restart=on-abnormal", RUN_RESULT_SIGNAL, KILLED(SIGKILL), true },
	{ "Restart=on-abnormal", RUN_RESULT_TIMEOUT, KILLED(SIGTERM), true },
	{ "Restart=on-abort", RUN_RESULT_EXIT_CODE, EXIT(1), false },
	{ "Restart=on-abort", RUN_RESULT_TIMEOUT, KILLED(SIGTERM), false },
	{ "Restart=on-abort", RUN_RESULT_SIGNAL, KILLED(SIGKILL), true },
	{ "Restart=on-abort", RUN_RESULT_CORE_DUMP, KILLED(SIGSEGV), true },
	{ "Restart=on-watchdog", RUN_RESULT_EXIT_CODE, EXIT(1), false },
	{ "Restart=on-failure\nRestartPreventExitStatus=2 TEMPFAIL", RUN_RESULT_EXIT_CODE, EXIT(1), true },
	{ "Restart=on-failure\nRestartPreventExitStatus=2 TEMPFAIL", RUN_RESULT_EXIT_CODE, EXIT(75), false },
	{ "Restart=on-failure\nRestartPreventExitStatus=SIGSEGV", RUN_RESULT_CORE_DUMP, KILLED(SIGSEGV), false },
	{ "RestartForceExitStatus=75", RUN_RESULT_EXIT_CODE, EXIT(75), true },
	{ "RestartForceExitStatus=75", RUN_RESULT_EXIT_CODE, EXIT(1), false },
	{ "RestartForceExitStatus=75\nRestartPreventExitStatus=75", RUN_RESULT_EXIT_CODE, EXIT(75), false },
};

START_TEST(restart_is_judged_as_systemd_does)
{
	struct spec_text t;

	spec_text_init(&t, cases[_i].spec);
	ck_assert_ptr_nonnull(t.spec.restart);
	ck_assert_int_eq(restart_is_due(t.spec.restart, cases[_i].result, true, cases[_i].wstatus), cases[_i].is_due);
	spec_text_done(&t);
}
END_TEST

START_TEST(a_service_that_asks_for_nothing_has_no_policy)
{
	struct spec_text t;

	spec_text_init_good(&t, "ExecStart=a\nRestart=no\nRestartSec=3");
	ck_assert_ptr_null(t.spec.restart);
	spec_text_done(&t);
}
END_TEST

START_TEST(the_defaults_are_those_of_systemd)
{
	struct spec_text t;

	spec_text_init_good(&t, "ExecStart=a\nRestart=on-abort");
	ck_assert_uint_eq(t.spec.restart->delay, 100 * USEC_PER_MSEC);
	ck_assert_uint_eq(t.spec.restart->limit_interval, 10 * USEC_PER_SEC);
	ck_assert_uint_eq(t.spec.restart->limit_burst, 5);
	ck_assert(!t.spec.restart->has_limit);
	spec_text_done(&t);
	spec_text_init_good(&t, "[Unit]\nStartLimitIntervalSec=1min\nStartLimitBurst=2\n[Service]\nExecStart=a");
	ck_assert_uint_eq(t.spec.restart->limit_interval, USEC_PER_MINUTE);
	ck_assert_uint_eq(t.spec.restart->limit_burst, 2);
	ck_assert(t.spec.restart->has_limit);
	spec_text_done(&t);
}
END_TEST

START_TEST(so_many_starts_in_so_long_and_no_more)
{
	const struct restart_policy p = { .limit_burst = 2, .limit_interval = 10 };
	struct start_limit l = { 0 };

	ck_assert(start_limit_take(&l, &p, 100));
	ck_assert(start_limit_take(&l, &p, 105));
	ck_assert(!start_limit_take(&l, &p, 110));
	ck_assert(start_limit_take(&l, &p, 111));
}
END_TEST

START_TEST(a_limit_of_nothing_is_none)
{
	const struct restart_policy no_burst = { .limit_interval = 10 }, no_interval = { .limit_burst = 1 };
	struct start_limit l = { 0 };

	for (int i = 0; i < 9; i++) {
		ck_assert(start_limit_take(&l, &no_burst, 100));
		ck_assert(start_limit_take(&l, &no_interval, 100));
	}
}
END_TEST

static Suite *restart_suite(void)
{
	Suite *s = suite_create("restart");
	TCase *tc = tcase_create("restart");

	tcase_add_loop_test(tc, restart_is_judged_as_systemd_does, 0, (int) ELEMENTS(cases));
	tcase_add_test(tc, a_service_that_asks_for_nothing_has_no_policy);
	tcase_add_test(tc, the_defaults_are_those_of_systemd);
	tcase_add_test(tc, so_many_starts_in_so_long_and_no_more);
	tcase_add_test(tc, a_limit_of_nothing_is_none);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(restart_suite)
