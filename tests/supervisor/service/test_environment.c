/* SPDX-License-Identifier: MIT */
#include "service/environment.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static struct spec_text t;
static struct run run;
static struct environment_input in;
static char **environment;

static void setup(void)
{
	run = (struct run) {
		.id = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 1, 2, 3, 4, 5, 6, 7, 8 },
		.cause = "manual",
		.attempt = 1,
		.scheduled_real = USEC_NEVER,
		.scheduled_boot = USEC_NEVER,
		.triggered_real = 5000,
		.triggered_boot = 300,
	};
	in = (struct environment_input) {
		.spec = &t.spec, .run = &run, .phase = EXEC_START, .unit = "x.service", .is_system = true,
	};
}

static void teardown(void)
{
	spec_text_done(&t);
}

static void build(const char *text)
{
	char file[512];

	(void) snprintf(file, sizeof(file), "ExecStart=a\n%s", text);
	spec_text_init_good(&t, file);
	ck_assert_int_eq(environment_build(&in, &t.arena, &environment), 0);
}

static const char *get(const char *name)
{
	const char *found = NULL;
	size_t n = strlen(name);

	for (char **e = environment; *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') {
			ck_assert_ptr_null(found); /* no doubles */
			found = *e + n + 1;
		}
	return found;
}

static void ck_all(const char *joined)
{
	char got[1024] = "";

	for (char **e = environment; *e; e++) {
		strcat(got, *e);
		strcat(got, "\n");
	}
	ck_assert_str_eq(got, joined);
}

START_TEST(a_service_gets_little_and_nothing_of_the_daemons)
{
	static const char *const daemon[] = { "SECRET=1", "HOME=/root", "PATH=/evil", "TERM=xterm", NULL };

	in.daemon = daemon;
	in.user_name = "root";
	in.home = "/root";
	in.shell = "/bin/sh";
	build("");
	ck_all("PATH=" ENVIRONMENT_PATH "\n"
	       "INVOCATION_ID=0123456789abcdef0102030405060708\n"
	       "SUPD_CAUSE=manual\n"
	       "SUPD_ATTEMPT=1\n");
}
END_TEST

static const struct {
	const char *text, *term;
} terminals[] = {
	{ "StandardInput=tty\nTTYPath=/dev/tty3", "linux" },
	{ "StandardOutput=tty\nTTYPath=/dev/ttyS0", "vt220" },
	{ "StandardError=tty\nTTYPath=/dev/pts/1", "vt220" },
	{ "StandardOutput=tty", "xterm" },
	{ "TTYPath=/dev/tty3", NULL },
};

START_TEST(who_has_a_terminal_knows_its_kind)
{
	static const char *const daemon[] = { "TERM=xterm", NULL };

	in.daemon = daemon;
	build(terminals[_i].text);
	if (terminals[_i].term)
		ck_assert_str_eq(get("TERM"), terminals[_i].term);
	else
		ck_assert_ptr_null(get("TERM"));
}
END_TEST

START_TEST(the_language_of_the_daemon_is_passed_on)
{
	static const char *const daemon[] = { "LANG=de_DE.UTF-8", NULL };

	in.daemon = daemon;
	build("");
	ck_assert_str_eq(get("LANG"), "de_DE.UTF-8");
}
END_TEST

START_TEST(user_says_who_and_where_home_is)
{
	in.is_user_set = true;
	in.user_name = "ann";
	in.home = "/home/ann";
	in.shell = "/bin/zsh";
	build("User=ann");
	ck_assert_str_eq(get("USER"), "ann");
	ck_assert_str_eq(get("LOGNAME"), "ann");
	ck_assert_str_eq(get("HOME"), "/home/ann");
	ck_assert_str_eq(get("SHELL"), "/bin/zsh");
}
END_TEST

START_TEST(what_is_not_known_of_the_user_is_left_out)
{
	in.is_user_set = true;
	build("User=4711");
	ck_assert_ptr_null(get("USER"));
	ck_assert_ptr_null(get("HOME"));
}
END_TEST

START_TEST(a_persons_own_supd_passes_on_the_session)
{
	static const char *const daemon[] = {
		"SECRET=1", "HOME=/home/old", "PATH=/home/ann/bin:/bin", "XDG_RUNTIME_DIR=/run/user/1000",
		"DBUS_SESSION_BUS_ADDRESS=unix:path=/x", "XDG_SESSION_ID=3", NULL,
	};

	in.is_system = false;
	in.daemon = daemon;
	in.user_name = "ann";
	in.home = "/home/ann";
	build("");
	ck_assert_str_eq(get("PATH"), "/home/ann/bin:/bin");
	ck_assert_str_eq(get("XDG_RUNTIME_DIR"), "/run/user/1000");
	ck_assert_str_eq(get("DBUS_SESSION_BUS_ADDRESS"), "unix:path=/x");
	ck_assert_str_eq(get("HOME"), "/home/ann"); /* the password database knows better */
	ck_assert_str_eq(get("USER"), "ann");
	ck_assert_ptr_null(get("SECRET"));
	ck_assert_ptr_null(get("XDG_SESSION_ID"));
}
END_TEST

START_TEST(a_timer_is_named_with_its_moments)
{
	run.trigger_unit = "x.timer";
	run.scheduled_real = 4900;
	run.attempt = 3;
	strcpy(run.cause, "retry");
	build("");
	ck_assert_str_eq(get("TRIGGER_UNIT"), "x.timer");
	ck_assert_str_eq(get("TRIGGER_TIMER_REALTIME_USEC"), "5000");
	ck_assert_str_eq(get("TRIGGER_TIMER_MONOTONIC_USEC"), "300");
	ck_assert_str_eq(get("SUPD_SCHEDULED_USEC"), "4900");
	ck_assert_str_eq(get("SUPD_ATTEMPT"), "3");
	ck_assert_str_eq(get("SUPD_CAUSE"), "retry");
}
END_TEST

START_TEST(a_moment_of_the_boot_time_clock_is_told_in_real_time)
{
	run.trigger_unit = "x.timer";
	run.scheduled_boot = 250;
	build("");
	ck_assert_str_eq(get("SUPD_SCHEDULED_USEC"), "4950");
}
END_TEST

START_TEST(a_manual_start_has_no_trigger)
{
	build("");
	ck_assert_ptr_null(get("TRIGGER_UNIT"));
	ck_assert_ptr_null(get("TRIGGER_TIMER_REALTIME_USEC"));
	ck_assert_ptr_null(get("SUPD_SCHEDULED_USEC"));
}
END_TEST

/* ---- who wins ---- */

START_TEST(later_sources_win)
{
	static const char *const daemon[] = { "A=daemon", "B=daemon", "C=daemon", "D=daemon", NULL };
	static const char *const file[] = { "A=file", "E=file", "PATH=/file", "A=file2", NULL };

	in.daemon = daemon;
	in.file_assignment = file;
	build("PassEnvironment=A B C NOT_THERE\nEnvironment=A=unit B=unit INVOCATION_ID=mine\nEnvironment=B=later");
	ck_assert_str_eq(get("A"), "file2");
	ck_assert_str_eq(get("B"), "later");
	ck_assert_str_eq(get("C"), "daemon");
	ck_assert_ptr_null(get("D"));
	ck_assert_str_eq(get("E"), "file");
	ck_assert_str_eq(get("PATH"), "/file");
	ck_assert_str_eq(get("INVOCATION_ID"), "mine");
	ck_assert_ptr_null(get("NOT_THERE"));
}
END_TEST

START_TEST(unset_comes_last)
{
	static const char *const file[] = { "D=4", NULL };

	in.file_assignment = file;
	build("Environment=A=1 B=2 C=3 AA=5\nUnsetEnvironment=A B=other C=3 D PATH NOT_THERE");
	ck_assert_ptr_null(get("A"));
	ck_assert_str_eq(get("AA"), "5");
	ck_assert_str_eq(get("B"), "2");
	ck_assert_ptr_null(get("C"));
	ck_assert_ptr_null(get("D"));
	ck_assert_ptr_null(get("PATH"));
}
END_TEST

START_TEST(what_is_no_assignment_does_not_get_in)
{
	static const char *const file[] = { "1A=x", "nonsense", "=x", "B=\xff", "C=fine", NULL };

	in.file_assignment = file;
	build("Environment=EMPTY=");
	ck_assert_str_eq(get("EMPTY"), "");
	ck_assert_str_eq(get("C"), "fine");
	ck_assert_ptr_null(get("1A"));
	ck_assert_ptr_null(get("B"));
}
END_TEST

START_TEST(ten_thousand_variables_are_no_trouble)
{
	static char text[10000][32];
	static const char *file[2 * 10000 + 1];
	size_t n = 0;

	for (int i = 0; i < 10000; i++) {
		(void) snprintf(text[i], sizeof(text[i]), "V%d=%d", i, i);
		file[i] = file[10000 + i] = text[i];
	}
	in.file_assignment = file;
	build("");
	while (environment[n])
		n++;
	ck_assert_uint_eq(n, 10000 + 4);
	ck_assert_str_eq(get("V9999"), "9999");
}
END_TEST

/* ---- the end of the story, for ExecStop= and ExecStopPost= ---- */

static const struct {
	enum run_result result;
	bool main_exited;
	int wstatus;
	const char *service_result, *exit_code, *exit_status;
} endings[] = {
	{ RUN_RESULT_NONE, true, W_EXITCODE(0, 0), "success", "exited", "0" },
	{ RUN_RESULT_EXIT_CODE, true, W_EXITCODE(3, 0), "exit-code", "exited", "3" },
	{ RUN_RESULT_SIGNAL, true, W_EXITCODE(0, SIGKILL), "signal", "killed", "KILL" },
	{ RUN_RESULT_CORE_DUMP, true, W_EXITCODE(0, SIGSEGV) | WCOREFLAG, "core-dump", "dumped", "SEGV" },
	{ RUN_RESULT_TIMEOUT, true, W_EXITCODE(0, SIGTERM), "timeout", "killed", "TERM" },
	{ RUN_RESULT_SKIPPED, false, 0, "exec-condition", NULL, NULL },
	{ RUN_RESULT_RESOURCES, false, 0, "resources", NULL, NULL },
	/* words systemd does not have */
	{ RUN_RESULT_EXEC, true, W_EXITCODE(203, 0), "exit-code", "exited", "203" },
	{ RUN_RESULT_STOPPED, true, W_EXITCODE(0, SIGTERM), "success", "killed", "TERM" },
};

static void ck_maybe_str_eq(const char *got, const char *expected)
{
	if (!expected)
		ck_assert_ptr_null(got);
	else {
		ck_assert_ptr_nonnull(got);
		ck_assert_str_eq(got, expected);
	}
}

START_TEST(the_commands_of_a_stop_are_told_how_it_went)
{
	run.result = endings[_i].result;
	run.main_exited = endings[_i].main_exited;
	run.main_wstatus = endings[_i].wstatus;
	in.phase = _i % 2 ? EXEC_STOP : EXEC_STOP_POST;
	build("");
	ck_maybe_str_eq(get("SERVICE_RESULT"), endings[_i].service_result);
	ck_maybe_str_eq(get("EXIT_CODE"), endings[_i].exit_code);
	ck_maybe_str_eq(get("EXIT_STATUS"), endings[_i].exit_status);
}
END_TEST

START_TEST(nobody_else_is_told)
{
	run.main_exited = true;
	in.phase = EXEC_START_POST;
	build("");
	ck_assert_ptr_null(get("SERVICE_RESULT"));
	ck_assert_ptr_null(get("EXIT_CODE"));
}
END_TEST

/* ---- names ---- */

static const struct {
	const char *text;
	bool is_name, is_assignment;
} words[] = {
	{ "A", true, false }, { "_a1", true, false }, { "", false, false }, { "1A", false, false },
	{ "A-B", false, false }, { "Ä", false, false }, { "A=", false, true }, { "A=b=c", false, true },
	{ "A=\n", false, true }, { "=b", false, false }, { "1=b", false, false }, { "A B=c", false, false },
	{ "A=\xc3", false, false },
};

START_TEST(a_name_is_letters_digits_and_underscores)
{
	ck_assert_int_eq(environment_name_is_valid(words[_i].text), words[_i].is_name);
	ck_assert_int_eq(environment_assignment_is_valid(words[_i].text), words[_i].is_assignment);
}
END_TEST

START_TEST(those_who_may_speak_are_told_where)
{
	build("");
	ck_assert_ptr_null(get("NOTIFY_SOCKET"));
	spec_text_done(&t);
	in.notify_socket = "/run/supd/notify";
	in.manager_pid = 17;
	build("");
	ck_assert_str_eq(get("NOTIFY_SOCKET"), "/run/supd/notify");
	ck_assert_str_eq(get("MANAGERPID"), "17");
	spec_text_done(&t);
	build("NotifyAccess=none");
	ck_assert_ptr_null(get("NOTIFY_SOCKET"));
	ck_assert_ptr_null(get("MANAGERPID"));
	spec_text_done(&t);
	build("NotifyAccess=main");
	ck_assert_ptr_nonnull(get("NOTIFY_SOCKET"));
	spec_text_done(&t);
	in.phase = EXEC_STOP;
	build("NotifyAccess=main");
	ck_assert_ptr_null(get("NOTIFY_SOCKET"));
	spec_text_done(&t);
	build("NotifyAccess=exec");
	ck_assert_ptr_nonnull(get("NOTIFY_SOCKET"));
}
END_TEST

static Suite *environment_suite(void)
{
	Suite *s = suite_create("environment");
	TCase *tc = tcase_create("build");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_service_gets_little_and_nothing_of_the_daemons);
	tcase_add_loop_test(tc, who_has_a_terminal_knows_its_kind, 0, ELEMENTS(terminals));
	tcase_add_test(tc, the_language_of_the_daemon_is_passed_on);
	tcase_add_test(tc, user_says_who_and_where_home_is);
	tcase_add_test(tc, what_is_not_known_of_the_user_is_left_out);
	tcase_add_test(tc, a_persons_own_supd_passes_on_the_session);
	tcase_add_test(tc, a_timer_is_named_with_its_moments);
	tcase_add_test(tc, a_moment_of_the_boot_time_clock_is_told_in_real_time);
	tcase_add_test(tc, a_manual_start_has_no_trigger);
	tcase_add_test(tc, later_sources_win);
	tcase_add_test(tc, unset_comes_last);
	tcase_add_test(tc, what_is_no_assignment_does_not_get_in);
	tcase_add_test(tc, ten_thousand_variables_are_no_trouble);
	tcase_add_loop_test(tc, the_commands_of_a_stop_are_told_how_it_went, 0, ELEMENTS(endings));
	tcase_add_test(tc, nobody_else_is_told);
	tcase_add_loop_test(tc, a_name_is_letters_digits_and_underscores, 0, ELEMENTS(words));
	tcase_add_test(tc, those_who_may_speak_are_told_where);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(environment_suite)
