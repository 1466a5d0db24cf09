/* SPDX-License-Identifier: MIT */
/* What supctl run writes, read as any unit file: it means what was said. */
#include "cli/run_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/environment.h"
#include "service/spec.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static struct spec_text t;

static void read_service(const struct run_unit *u)
{
	_cleanup_free_ char *text = run_unit_service(u);

	ck_assert_ptr_nonnull(text);
	spec_text_init(&t, text);
	for (size_t i = 0; i < t.diag.n; i++)
		ck_assert_msg(false, "%s\nin:\n%s", t.diag.entry[i].message, text);
}

static const char *const words[] = {
	"plain", "", " ", "a b", "\"", "'", "\\", "\\\\n", "\n", "\t", "a\rb", "\x01\x1f\x7f", "%", "%%", "%n", "$A", "${A}", "$$",
	";", "\\;", "#", "-", "--", "@x", "!x", "+x", ":x", "=", "gr\xc3\xbcn", "\xe6\x97\xa5", "a\\", "'a' \"b\"", "x;y", "*?[]{}",
	"|&<>()", "~", "!!", "a=b c",
	"\xff\xfe", /* the last: variables are UTF-8 */
};

START_TEST(each_word_arrives_as_it_was_typed)
{
	const char *const argv[] = { "/bin/job", words[_i], "last", words[_i], NULL };
	const struct run_unit u = { .argv = argv };
	const struct exec_command *c;
	const char *const *got;
	char *const no_variables[] = { NULL };
	char **expanded;

	read_service(&u);
	ck_assert_uint_eq(t.spec.command[EXEC_START].n, 1);
	c = &t.spec.command[EXEC_START].item[0];
	ck_assert_str_eq(c->path, "/bin/job");
	ck_assert(!c->ignore_failure);
	got = c->argv;
	for (size_t i = 1; argv[i]; i++)
		ck_assert_str_eq(got[i], argv[i]);
	ck_assert_ptr_null(got[4]);
	/* And so it is when variables are replaced. */
	ck_assert_int_eq(exec_command_expand(c, no_variables, &t.arena, &expanded), 0);
	for (size_t i = 1; argv[i]; i++)
		ck_assert_str_eq(expanded[i], argv[i]);
	ck_assert_ptr_null(expanded[4]);
	spec_text_done(&t);
}
END_TEST

START_TEST(a_variable_has_the_value_that_was_typed)
{
	static const char *const path[] = { "/bin/job", NULL };
	_cleanup_free_ char *assignment = NULL, *quoted = NULL;
	struct run_line line = { "Service", "Environment", NULL };
	const struct run_unit u = { .argv = path, .line = &line, .n_lines = 1 };

	ck_assert_int_gt(asprintf(&assignment, "A=%s", words[_i]), 0);
	quoted = run_unit_quote(assignment);
	line.value = quoted;
	read_service(&u);
	ck_assert_str_eq(t.spec.exec->environment[0], assignment);
	ck_assert_ptr_null(t.spec.exec->environment[1]);
	spec_text_done(&t);
}
END_TEST

START_TEST(a_program_with_any_name_is_the_program)
{
	static const char *const argv[] = { "/opt/my job/50% (new)", "a", NULL };
	const struct run_unit u = { .argv = argv };

	read_service(&u);
	ck_assert_str_eq(t.spec.command[EXEC_START].item[0].path, argv[0]);
	spec_text_done(&t);
}
END_TEST

START_TEST(lines_stand_in_their_sections)
{
	static const char *const argv[] = { "/bin/job", NULL };
	static const struct run_line lines[] = {
		{ "Service", "TimeoutStartSec", "5" }, { "Unit", "Documentation", "man:x" }, { "Service", "Nice", "3" },
	};
	static const struct run_line timer = { "Timer", "OnActiveSec", "5" };
	const struct run_unit u = {
		.argv = argv, .line = lines, .n_lines = 3, .timer_line = &timer, .n_timer_lines = 1, .description = "50% done",
	};
	_cleanup_free_ char *text = run_unit_timer(&u);

	read_service(&u);
	ck_assert_str_eq(t.spec.description, "50% done");
	ck_assert_uint_eq(t.spec.timeout_start, 5 * USEC_PER_SEC);
	spec_text_done(&t);
	ck_assert_ptr_nonnull(strstr(text, "[Unit]\nDescription=50%% done\n\n[Timer]\nOnActiveSec=5\n"));
}
END_TEST

static const struct {
	const char *value;
	bool is_fit;
} values[] = {
	{ "", true }, { "a b", true }, { "a\tb", true }, { "gr\xc3\xbcn", true },
	{ "a\nb", false }, { "a\\", false }, { "\x01", false }, { "\xff", false }, { "a\rb", false },
};

START_TEST(what_no_line_can_hold_is_refused)
{
	ck_assert_int_eq(run_unit_fault(values[_i].value) == NULL, values[_i].is_fit);
}
END_TEST

static Suite *run_unit_suite(void)
{
	Suite *s = suite_create("run_unit");
	TCase *tc = tcase_create("run_unit");

	tcase_add_loop_test(tc, each_word_arrives_as_it_was_typed, 0, ELEMENTS(words));
	tcase_add_loop_test(tc, a_variable_has_the_value_that_was_typed, 0, ELEMENTS(words) - 1);
	tcase_add_test(tc, a_program_with_any_name_is_the_program);
	tcase_add_test(tc, lines_stand_in_their_sections);
	tcase_add_loop_test(tc, what_no_line_can_hold_is_refused, 0, ELEMENTS(values));
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(run_unit_suite)
