/* SPDX-License-Identifier: MIT */
#include "service/run_record.h"

#include <errno.h>
#include <signal.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

START_TEST(each_result_has_a_word_that_leads_back)
{
	enum run_result back;

	ck_assert(run_result_from_string(run_result_to_string((enum run_result) _i), &back));
	ck_assert_int_eq(back, _i);
}
END_TEST

START_TEST(other_words_are_no_results)
{
	enum run_result back = RUN_RESULT_STOPPED;

	ck_assert(!run_result_from_string("watchdog", &back));
	ck_assert(!run_result_from_string("", &back));
	ck_assert_int_eq(back, RUN_RESULT_STOPPED);
}
END_TEST

static const struct {
	struct run run;
	const char *words;
} rows[] = {
	{ { .result = RUN_RESULT_NONE }, "running" },
	{ { .result = RUN_RESULT_SUCCESS }, "success" },
	{ { .result = RUN_RESULT_EXIT_CODE, .status = 3 }, "failed exit 3" },
	{ { .result = RUN_RESULT_SIGNAL, .status = SIGKILL }, "killed KILL" },
	{ { .result = RUN_RESULT_SIGNAL, .status = 35 }, "killed RTMIN+1" },
	{ { .result = RUN_RESULT_CORE_DUMP, .status = SIGSEGV }, "dumped SEGV" },
	{ { .result = RUN_RESULT_TIMEOUT }, "timeout" },
	{ { .result = RUN_RESULT_SKIPPED, .status = 1 }, "skipped" },
	{ { .result = RUN_RESULT_ASSERT, .detail = "AssertUser=x was not met" }, "failed assert" },
	{ { .result = RUN_RESULT_OOM_KILL, .status = SIGKILL }, "killed, out of memory" },
	{ { .result = RUN_RESULT_START_LIMIT }, "started too often" },
	{ { .result = RUN_RESULT_DEPENDENCY }, "dependency failed" },
	{ { .result = RUN_RESULT_DEPENDENCY, .detail = "/mnt is not mounted" }, "dependency failed: /mnt is not mounted" },
	{ { .result = RUN_RESULT_STOPPED }, "stopped" },
	{ { .result = RUN_RESULT_EXEC, .step = EXEC_STEP_EXEC, .status = ENOENT },
	  "failed exec: No such file or directory" },
	{ { .result = RUN_RESULT_EXEC, .step = EXEC_STEP_USER, .status = ESRCH }, "failed user: No such process" },
	{ { .result = RUN_RESULT_RESOURCES, .step = EXEC_STEP_FORK, .status = EAGAIN },
	  "failed fork: Resource temporarily unavailable" },
};

START_TEST(a_result_is_worded_for_people)
{
	char buf[64];

	ck_assert_str_eq(run_result_words(&rows[_i].run, buf, sizeof(buf)), rows[_i].words);
}
END_TEST

START_TEST(words_are_cut_to_the_room_there_is)
{
	char buf[8];

	ck_assert_str_eq(run_result_words(&rows[2].run, buf, sizeof(buf)), "failed ");
}
END_TEST

START_TEST(steps_have_systemds_exit_statuses)
{
	ck_assert_int_eq(exec_step_status(EXEC_STEP_CHDIR), 200);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_NICE), 201);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_FDS), 202);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_EXEC), 203);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_SIGNAL_MASK), 207);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_STDIN), 208);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_STDOUT), 209);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_GROUP), 216);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_USER), 217);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_CGROUP), 219);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_SETSID), 220);
	ck_assert_int_eq(exec_step_status(EXEC_STEP_FORK), 0);
	ck_assert_str_eq(exec_step_to_string(EXEC_STEP_SIGNAL_MASK), "signal-mask");
}
END_TEST

static Suite *run_record_suite(void)
{
	Suite *s = suite_create("run_record");
	TCase *tc = tcase_create("words");

	tcase_add_loop_test(tc, each_result_has_a_word_that_leads_back, 0, RUN_RESULT_COUNT);
	tcase_add_test(tc, other_words_are_no_results);
	tcase_add_loop_test(tc, a_result_is_worded_for_people, 0, ELEMENTS(rows));
	tcase_add_test(tc, words_are_cut_to_the_room_there_is);
	tcase_add_test(tc, steps_have_systemds_exit_statuses);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(run_record_suite)
