/* SPDX-License-Identifier: MIT */
#include "core/report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "core/unit.h"
#include "tests/lib/test_main.h"

static struct arena arena;
static struct supd_row row;
static struct specifiers specifiers;

static void tear_down(void)
{
	arena_done(&arena);
	arena = (struct arena) { 0 };
}

static const struct supd_field *field(const char *key)
{
	for (size_t i = 0; i < row.n; i++)
		if (str_equal(row.field[i].key, key))
			return &row.field[i];
	ck_abort_msg("no field %s", key);
}

static const char *text(const char *key)
{
	ck_assert_int_eq(field(key)->type, SUPD_STRING);
	return field(key)->value.string;
}

static bool is_null(const char *key)
{
	return field(key)->type == SUPD_NULL;
}

static struct unit *unit(const char *content)
{
	char bytes[512];
	struct unit_piece piece = { .path = (char *) (uintptr_t) "/u/a.service", .bytes = bytes };
	struct unit_source source = { .name = (char *) (uintptr_t) "a.service", .piece = &piece, .n_pieces = 1,
				      .is_wanted = true };

	(void) snprintf(bytes, sizeof(bytes), "%s", content);
	piece.n = strlen(bytes);
	return unit_new("a.service", unit_config_load(&source, &specifiers));
}

START_TEST(a_unit_that_never_ran_has_no_last_run)
{
	struct report r = { .arena = &arena };
	struct unit *u = unit("[Unit]\nDescription=some job\n[Service]\nExecStart=/bin/job\n");

	report_unit(&r, u);
	ck_assert_int_eq(report_end(&r, &row), 0);
	ck_assert_str_eq(text("unit"), "a.service");
	ck_assert_str_eq(text("description"), "some job");
	ck_assert_str_eq(text("load_state"), "loaded");
	ck_assert_str_eq(text("active_state"), "inactive");
	ck_assert_str_eq(text("sub_state"), "dead");
	ck_assert(field("enabled")->value.boolean);
	ck_assert_str_eq(text("fragment"), "/u/a.service");
	ck_assert_uint_eq(field("dropins")->value.strings.n, 0);
	ck_assert_uint_eq(field("problems")->value.rows.n, 0);
	ck_assert(is_null("result") && is_null("run_id") && is_null("started") && is_null("main_pid"));
	unit_free(u);
}
END_TEST

START_TEST(a_mistaken_unit_has_its_mistakes)
{
	struct report r = { .arena = &arena };
	struct unit *u = unit("[Service]\nExecStart=/bin/job\nExecStrat=x\nPrivateTmp=yes\n");
	const struct supd_row *problem;

	report_unit(&r, u);
	ck_assert_int_eq(report_end(&r, &row), 0);
	ck_assert_str_eq(text("load_state"), "invalid");
	ck_assert(!field("enabled")->value.boolean);
	ck_assert_uint_eq(field("problems")->value.rows.n, 2);
	problem = field("problems")->value.rows.item;
	row = problem[0];
	ck_assert_str_eq(text("file"), "/u/a.service");
	ck_assert_int_eq(field("line")->value.number, 3);
	ck_assert_str_eq(text("key"), "ExecStrat");
	ck_assert_str_eq(text("severity"), "error");
	ck_assert_int_eq(field("reason")->type, SUPD_NULL);
	row = problem[1];
	ck_assert_str_eq(text("severity"), "not-applied");
	ck_assert_str_eq(text("reason"), "sandbox");
	ck_assert_ptr_nonnull(strstr(text("explanation"), "without this protection"));
	unit_free(u);
}
END_TEST

START_TEST(properties_say_what_the_file_says)
{
	struct report r = { .arena = &arena };
	struct unit *u = unit("[Service]\nExecStart=-/bin/job \"two words\" plain\nUser=me\nUMask=0027\nKillMode=mixed\n"
			      "Environment=A=1\n");

	report_unit_properties(&r, u->config, true);
	ck_assert_int_eq(report_end(&r, &row), 0);
	ck_assert_uint_eq(field("exec_start")->value.strings.n, 1);
	ck_assert_str_eq(field("exec_start")->value.strings.item[0], "-/bin/job \"two words\" plain");
	ck_assert_str_eq(text("user"), "me");
	ck_assert_str_eq(text("umask"), "0027");
	ck_assert_str_eq(text("kill_mode"), "mixed");
	ck_assert_str_eq(text("kill_signal"), "SIGTERM");
	ck_assert(is_null("timeout_start"));
	ck_assert_uint_eq(field("timeout_stop")->value.usec, 90 * USEC_PER_SEC);
	ck_assert_str_eq(field("environment")->value.strings.item[0], "A=1");
	unit_free(u);
}
END_TEST

START_TEST(who_may_not_read_the_file_sees_no_commands)
{
	struct report r = { .arena = &arena };
	struct unit *u = unit("[Service]\nExecStart=/bin/job secret\nEnvironment=A=secret\n");

	report_unit_properties(&r, u->config, false);
	ck_assert_int_eq(report_end(&r, &row), 0);
	for (size_t i = 0; i < row.n; i++) {
		ck_assert_str_ne(row.field[i].key, "exec_start");
		ck_assert_str_ne(row.field[i].key, "environment");
	}
	unit_free(u);
}
END_TEST

static const struct {
	struct run run;
	const char *result, *words; /* result NULL: a null */
	int64_t exit_status;        /* -1: a null */
	const char *exit_signal;
} runs[] = {
	{ { .result = RUN_RESULT_NONE }, NULL, "running", -1, NULL },
	{ { .ended_boot = 9, .result = RUN_RESULT_SUCCESS }, "success", "success", 0, NULL },
	{ { .ended_boot = 9, .result = RUN_RESULT_EXIT_CODE, .status = 3 }, "exit-code", "failed exit 3", 3, NULL },
	{ { .ended_boot = 9, .result = RUN_RESULT_SIGNAL, .status = SIGKILL }, "signal", "killed KILL", -1, "KILL" },
	{ { .ended_boot = 9, .result = RUN_RESULT_TIMEOUT }, "timeout", "timeout", -1, NULL },
	{ { .ended_boot = 9, .result = RUN_RESULT_SKIPPED }, "exec-condition", "skipped", -1, NULL },
	{ { .ended_boot = 9, .result = RUN_RESULT_EXEC, .step = EXEC_STEP_EXEC, .status = 2 }, "exec",
	  "failed exec: No such file or directory", 203, NULL },
};

START_TEST(a_run_is_told_in_words_and_numbers)
{
	struct report r = { .arena = &arena };

	report_run(&r, "a.service", &runs[_i].run);
	ck_assert_int_eq(report_end(&r, &row), 0);
	ck_assert_str_eq(text("unit"), "a.service");
	ck_assert_str_eq(text("words"), runs[_i].words);
	if (runs[_i].result)
		ck_assert_str_eq(text("result"), runs[_i].result);
	else
		ck_assert(is_null("result"));
	if (runs[_i].exit_status >= 0)
		ck_assert_int_eq(field("exit_status")->value.number, runs[_i].exit_status);
	else
		ck_assert(is_null("exit_status"));
	if (runs[_i].exit_signal)
		ck_assert_str_eq(text("exit_signal"), runs[_i].exit_signal);
	else
		ck_assert(is_null("exit_signal"));
}
END_TEST

START_TEST(how_long_it_took_is_known_of_what_was_started)
{
	struct run run = { .started_boot = 2, .started_real = 1002, .ended_boot = 9, .ended_real = 1009,
			   .result = RUN_RESULT_SUCCESS };
	struct report r = { .arena = &arena }, never = { .arena = &arena };

	report_run(&r, "a.service", &run);
	ck_assert_int_eq(report_end(&r, &row), 0);
	ck_assert_int_eq(field("started")->type, SUPD_TIMESTAMP);
	ck_assert_uint_eq(field("duration")->value.usec, 7);
	run.started_boot = run.started_real = 0;
	report_run(&never, "a.service", &run);
	ck_assert_int_eq(report_end(&never, &row), 0);
	ck_assert(is_null("duration") && is_null("started"));
}
END_TEST

START_TEST(times_that_never_come_are_null)
{
	struct report r = { .arena = &arena };

	report_time(&r, "a", 0);
	report_time(&r, "b", USEC_NEVER);
	report_span(&r, "c", USEC_NEVER);
	report_span(&r, "d", 0);
	ck_assert_int_eq(report_end(&r, &row), 0);
	ck_assert(is_null("a") && is_null("b") && is_null("c"));
	ck_assert_int_eq(field("d")->type, SUPD_SPAN);
}
END_TEST

static Suite *report_suite(void)
{
	Suite *s = suite_create("report");
	TCase *tc = tcase_create("report");

	tcase_add_checked_fixture(tc, NULL, tear_down);
	tcase_add_test(tc, a_unit_that_never_ran_has_no_last_run);
	tcase_add_test(tc, a_mistaken_unit_has_its_mistakes);
	tcase_add_test(tc, properties_say_what_the_file_says);
	tcase_add_test(tc, who_may_not_read_the_file_sees_no_commands);
	tcase_add_loop_test(tc, a_run_is_told_in_words_and_numbers, 0, (int) ELEMENTS(runs));
	tcase_add_test(tc, how_long_it_took_is_known_of_what_was_started);
	tcase_add_test(tc, times_that_never_come_are_null);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(report_suite)
