/* SPDX-License-Identifier: MIT */
#include "service/exec_streams.h"

#include <stdio.h>
#include <syslog.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static struct spec_text t;

static void tear_down(void)
{
	spec_text_done(&t);
}

static const struct exec_streams *parse(const char *lines)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_gt(asprintf(&text, "ExecStart=/a\n%s", lines), 0);
	spec_text_init_good(&t, text);
	return exec_streams_of(&t.spec);
}

START_TEST(who_says_nothing_has_the_defaults)
{
	const struct exec_streams *s = parse("");

	ck_assert_ptr_null(t.spec.exec->streams);
	ck_assert_int_eq(s->in.kind, STREAM_NULL);
	ck_assert(exec_streams_captures_out(s) && exec_streams_captures_err(s));
	ck_assert(s->level_prefix);
	ck_assert_int_eq(s->level_max, LOG_DEBUG);
}
END_TEST

static const struct {
	const char *lines;
	enum stream_kind in, out, err;
	bool captures_out, captures_err;
} kinds[] = {
	{ "StandardOutput=journal", STREAM_NULL, STREAM_JOURNAL, STREAM_INHERIT, true, true },
	{ "StandardOutput=syslog\nStandardError=journal+console", STREAM_NULL, STREAM_JOURNAL, STREAM_JOURNAL, true,
	  true },
	{ "StandardOutput=null", STREAM_NULL, STREAM_NULL, STREAM_INHERIT, false, false },
	{ "StandardOutput=null\nStandardError=journal", STREAM_NULL, STREAM_NULL, STREAM_JOURNAL, false, true },
	{ "StandardError=null", STREAM_NULL, STREAM_JOURNAL, STREAM_NULL, true, false },
	{ "StandardOutput=inherit", STREAM_NULL, STREAM_INHERIT, STREAM_INHERIT, false, false },
	{ "StandardInput=tty\nStandardOutput=inherit", STREAM_TTY, STREAM_INHERIT, STREAM_INHERIT, false, false },
	{ "StandardInput=file:/i\nStandardOutput=append:/o\nStandardError=truncate:/e", STREAM_FILE, STREAM_APPEND,
	  STREAM_TRUNCATE, false, false },
	{ "StandardOutput=file:/o\nStandardOutput=", STREAM_NULL, STREAM_JOURNAL, STREAM_INHERIT, true, true },
	{ "StandardInputText=x", STREAM_DATA, STREAM_JOURNAL, STREAM_INHERIT, true, true },
	{ "StandardInput=null\nStandardInputText=x", STREAM_NULL, STREAM_JOURNAL, STREAM_INHERIT, true, true },
	{ "StandardInput=null\nStandardInputText=x\nStandardInput=", STREAM_DATA, STREAM_JOURNAL, STREAM_INHERIT, true,
	  true },
	{ "StandardInput=data\nStandardInputText=x\nStandardInputText=", STREAM_DATA, STREAM_JOURNAL, STREAM_INHERIT,
	  true, true },
};

START_TEST(streams_lead_where_they_are_to)
{
	const struct exec_streams *s = parse(kinds[_i].lines);

	ck_assert_int_eq(s->in.kind, kinds[_i].in);
	ck_assert_int_eq(s->out.kind, kinds[_i].out);
	ck_assert_int_eq(s->err.kind, kinds[_i].err);
	ck_assert(exec_streams_captures_out(s) == kinds[_i].captures_out);
	ck_assert(exec_streams_captures_err(s) == kinds[_i].captures_err);
}
END_TEST

START_TEST(paths_are_expanded)
{
	const struct exec_streams *s = parse("StandardOutput=append:/log/%N\nTTYPath=/dev/tty-%i\nSyslogIdentifier=%p");

	ck_assert_str_eq(s->out.path, "/log/backup@home");
	ck_assert_str_eq(s->tty_path, "/dev/tty-home");
	ck_assert_str_eq(s->identifier, "backup");
}
END_TEST

START_TEST(input_is_text_and_data_in_turn)
{
	const struct exec_streams *s = parse("StandardInputText= a\\tb  %i\nStandardInputData=AAEC /w==\nStandardInputText=c");

	ck_assert_uint_eq(s->n_data, 16);
	ck_assert_mem_eq(s->data, "a\tb  home\n\0\1\2\xff" "c\n", 16);
}
END_TEST

START_TEST(levels_are_syslogs)
{
	const struct exec_streams *s = parse("SyslogLevel=notice\nLogLevelMax=4\nSyslogFacility=local3\n"
					     "SyslogLevelPrefix=no\nLogRateLimitIntervalSec=0\nLogRateLimitBurst=7");

	ck_assert_int_eq(s->level, LOG_NOTICE);
	ck_assert_int_eq(s->level_max, LOG_WARNING);
	ck_assert_int_eq(s->facility, LOG_LOCAL3);
	ck_assert(!s->level_prefix);
	ck_assert_uint_eq(s->rate_interval, 0);
	ck_assert_uint_eq(s->rate_burst, 7);
}
END_TEST

static const char *const mistakes[] = {
	"StandardInput=journal", "StandardInput=append:/x", "StandardInput=file:x", "StandardOutput=file:",
	"StandardOutput=data", "StandardOutput=tty-force", "StandardError=journal+", "StandardError=journal+tty",
	"StandardOutput=fd:x", "StandardError=socket", "Type=oneshot\nStandardInput=socket", "StandardOutput=file:/%z",
	"StandardInputText=\\q", "StandardInputData=Zg", "TTYPath=tty1", "SyslogLevel=8", "LogLevelMax=loud",
	"SyslogFacility=24", "SyslogLevelPrefix=maybe", "LogRateLimitBurst=-1", "LogRateLimitIntervalSec=x",
	"SyslogIdentifier=12345678901234567890123456789012345678901234567890123456789012345",
};

START_TEST(mistakes_are_told_once)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_gt(asprintf(&text, "ExecStart=/a\n%s", mistakes[_i]), 0);
	spec_text_init(&t, text);
	ck_assert_uint_eq(t.diag.n_errors, 1);
	ck_assert_uint_eq(t.diag.n, 1);
}
END_TEST

START_TEST(what_a_socket_starts_is_not_ours)
{
	spec_text_init(&t, "ExecStart=/a\nStandardInput=socket");
	ck_assert_uint_eq(t.diag.n_errors, 0);
	ck_assert_int_eq(t.spec.type, SERVICE_UNSUPPORTED);
}
END_TEST

START_TEST(the_kernels_log_is_not_written)
{
	spec_text_init(&t, "ExecStart=/a\nStandardOutput=kmsg");
	ck_assert_uint_eq(t.diag.n_errors, 0);
	ck_assert_uint_eq(t.diag.n, 1);
	ck_assert(exec_streams_captures_out(exec_streams_of(&t.spec)));
}
END_TEST

static Suite *exec_streams_suite(void)
{
	Suite *s = suite_create("exec_streams");
	TCase *tc = tcase_create("exec_streams");

	tcase_add_checked_fixture(tc, NULL, tear_down);
	tcase_add_test(tc, who_says_nothing_has_the_defaults);
	tcase_add_loop_test(tc, streams_lead_where_they_are_to, 0, ELEMENTS(kinds));
	tcase_add_test(tc, paths_are_expanded);
	tcase_add_test(tc, input_is_text_and_data_in_turn);
	tcase_add_test(tc, levels_are_syslogs);
	tcase_add_loop_test(tc, mistakes_are_told_once, 0, ELEMENTS(mistakes));
	tcase_add_test(tc, what_a_socket_starts_is_not_ours);
	tcase_add_test(tc, the_kernels_log_is_not_written);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(exec_streams_suite)
