/* SPDX-License-Identifier: MIT */
#include "service/command.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

/* Commands as text: prefixes that hold, the path, each word in [], commands apart by " ; ". */
static char *to_text(const struct exec_commands *list)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(f);
	for (size_t i = 0; i < list->n; i++) {
		const struct exec_command *c = &list->item[i];

		fprintf(f, "%s%s%s%s", i ? " ; " : "", c->ignore_failure ? "-" : "", c->no_substitution ? ":" : "",
			c->path);
		for (const char *const *word = c->argv; *word; word++)
			fprintf(f, " [%s]", *word);
	}
	fclose(f);
	return text;
}

/* ---- what makes sense ---- */

static const struct {
	const char *value, *commands;
} good[] = {
	{ "/bin/a", "/bin/a [/bin/a]" },
	{ "  /bin/a  \t b ", "/bin/a [/bin/a] [b]" },
	{ "a b", "a [a] [b]" },
	{ "-/bin/a", "-/bin/a [/bin/a]" },
	{ ":/bin/a $B", ":/bin/a [/bin/a] [$B]" },
	{ "@/bin/a b c", "/bin/a [b] [c]" },
	{ "@/bin/a ''", "/bin/a []" },
	{ "-@:/bin/a b", "-:/bin/a [b]" },
	{ ":@-/bin/a b", "-:/bin/a [b]" },
	{ "@:-/bin/a b", "-:/bin/a [b]" },
	{ "-foo", "-foo [foo]" },
	/* one prefix too many is the beginning of the name */
	{ "--foo", "--foo [-foo]" },
	{ "::foo", "::foo [:foo]" },
	/* quotes: systemd.syntax(7) */
	{ "/bin/a 'b c' \"d e\"", "/bin/a [/bin/a] [b c] [d e]" },
	{ "/bin/a b'c 'd\" e\"", "/bin/a [/bin/a] [bc d e]" },
	{ "/bin/a '' \"\"", "/bin/a [/bin/a] [] []" },
	{ "/bin/a \"'\" '\"'", "/bin/a [/bin/a] ['] [\"]" },
	{ "\"/bin/a b\" c", "/bin/a b [/bin/a b] [c]" },
	{ "\"-/bin/a\" b", "-/bin/a [/bin/a] [b]" },
	/* escapes, in quotes and without */
	{ "/bin/a b\\sc '\\x41' \\u00e9 \\101", "/bin/a [/bin/a] [b c] [A] [é] [A]" },
	{ "/bin/a \\\\ \\\" \\'", "/bin/a [/bin/a] [\\] [\"] [']" },
	/* nothing of a shell */
	{ "/bin/a >b | c && d & e;f", "/bin/a [/bin/a] [>b] [|] [c] [&&] [d] [&] [e;f]" },
	{ "/bin/a $B ${C} $$ *", "/bin/a [/bin/a] [$B] [${C}] [$$] [*]" },
	{ "/bin/a # no comment", "/bin/a [/bin/a] [#] [no] [comment]" },
	/* several in one value */
	{ "/bin/a b ; /bin/c d", "/bin/a [/bin/a] [b] ; /bin/c [/bin/c] [d]" },
	{ "/bin/a ; -/bin/c", "/bin/a [/bin/a] ; -/bin/c [/bin/c]" },
	{ "; /bin/a ; ; /bin/b ;", "/bin/a [/bin/a] ; /bin/b [/bin/b]" },
	{ "/bin/a \\; b", "/bin/a [/bin/a] [;] [b]" },
	{ "/bin/a \\;", "/bin/a [/bin/a] [;]" },
	{ "/bin/a \";\" ';'", "/bin/a [/bin/a] [;] [;]" },
	{ "/bin/a ;b c;", "/bin/a [/bin/a] [;b] [c;]" },
	{ "echo / >/dev/null & \\; ls", "echo [echo] [/] [>/dev/null] [&] [;] [ls]" },
	/* specifiers */
	{ "/bin/%p %i %%n 100% %-d", "/bin/backup [/bin/backup] [home] [%n] [100%] [%-d]" },
	{ "/bin/a '%n'", "/bin/a [/bin/a] [backup@home.service]" },
};

START_TEST(a_good_value_is_understood)
{
	_cleanup_free_ char *text = NULL, *got = NULL;
	struct spec_text t;

	ck_assert_int_ge(asprintf(&text, "ExecStart=%s", good[_i].value), 0);
	spec_text_init_good(&t, text);
	got = to_text(&t.spec.command[EXEC_START]);
	ck_assert_str_eq(got, good[_i].commands);
	spec_text_done(&t);
}
END_TEST

/* ---- what makes none ---- */

static const struct {
	const char *value, *message;
} bad[] = {
	{ "/bin/a 'b", "ExecStart= has unbalanced quotes: '/bin/a 'b'" },
	{ "\"/bin/a", "ExecStart= has unbalanced quotes: '\"/bin/a'" },
	{ "bin/a", "ExecStart= wants an absolute path or the name of a program: 'bin/a'" },
	{ "./a", "ExecStart= wants an absolute path or the name of a program: './a'" },
	{ "..", "ExecStart= wants an absolute path or the name of a program: '..'" },
	{ "--/bin/a", "ExecStart= wants an absolute path or the name of a program: '-/bin/a'" },
	{ "@@/bin/a b", "ExecStart= wants an absolute path or the name of a program: '@/bin/a'" },
	{ "+!/bin/a", "ExecStart= wants an absolute path or the name of a program: '!/bin/a'" },
	{ "!+/bin/a", "ExecStart= wants an absolute path or the name of a program: '+/bin/a'" },
	{ "!!!/bin/a", "ExecStart= wants an absolute path or the name of a program: '!/bin/a'" },
	{ "/bin/", "ExecStart= names a directory, not a program: '/bin/'" },
	{ "-", "ExecStart= names no program: '-'" },
	{ "- /bin/a", "ExecStart= names no program: '- /bin/a'" },
	{ "''", "ExecStart= names no program: ''''" },
	{ "@/bin/a", "ExecStart= wants a word for argv[0] after '@': '@/bin/a'" },
	{ "@/bin/a ; /bin/b", "ExecStart= wants a word for argv[0] after '@': '@/bin/a'" },
	{ "/bin/\\x01a", "ExecStart= names a program with special characters: '/bin/\\x01a'" },
	{ "/bin/a\\\"", "ExecStart= names a program with special characters: '/bin/a\"'" },
	{ "/bin/a +%F", "ExecStart= asks for %F, which is not known here: '+%F' (a percent sign is written %%)" },
	{ "/bin/a ; b/c", "ExecStart= wants an absolute path or the name of a program: 'b/c'" },
};

START_TEST(a_bad_value_is_refused_whole_with_its_line)
{
	_cleanup_free_ char *text = NULL, *message = NULL;
	struct spec_text t;

	ck_assert_int_ge(asprintf(&text, "ExecStart=%s", bad[_i].value), 0);
	ck_assert_int_ge(asprintf(&message, "2: %s", bad[_i].message), 0);
	spec_text_init(&t, text);
	ck_assert(spec_text_has(&t, DIAG_ERROR, message));
	ck_assert_uint_eq(t.diag.n_errors, 1);
	ck_assert_uint_eq(t.spec.command[EXEC_START].n, 0);
	spec_text_done(&t);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
	char text[5000] = "ExecStart=/";
	struct spec_text t;

	memset(text + strlen(text), 'a', 4096);
	spec_text_init(&t, text);
	ck_assert_uint_eq(t.diag.n_errors, 1);
	spec_text_done(&t);
}
END_TEST

START_TEST(an_unknown_escape_stays_and_is_warned_of)
{
	struct spec_text t;
	char *got;

	spec_text_init(&t, "ExecStart=/bin/a \\q \\d+ b\\\\");
	ck_assert_uint_eq(t.diag.n_errors, 0);
	ck_assert(spec_text_has(&t, DIAG_WARNING, "2: ExecStart= has an unknown escape in '\\\\q', kept as it stands"));
	got = to_text(&t.spec.command[EXEC_START]);
	ck_assert_str_eq(got, "/bin/a [/bin/a] [\\q] [\\d+] [b\\]");
	free(got);
	spec_text_done(&t);
}
END_TEST

static const struct privilege {
	const char *command;
	bool keeps_user, is_unlimited;
} privileges[] = {
	{ "/bin/a", false, false },   { "+/bin/a", true, true },    { "!/bin/a", true, false },
	{ "!!/bin/a", false, false }, { "-+:/bin/a", true, true }, { "!-!/bin/a", false, false },
	{ "@!/bin/a b", true, false },
};

START_TEST(prefixes_say_what_is_not_for_a_command)
{
	const struct privilege *p = &privileges[_i];
	_cleanup_free_ char *text = NULL;
	const struct exec_command *got;
	struct spec_text t;

	ck_assert_int_ge(asprintf(&text, "ExecStart=%s", p->command), 0);
	spec_text_init_good(&t, text);
	got = &t.spec.command[EXEC_START].item[0];
	ck_assert_str_eq(got->path, "/bin/a");
	ck_assert_int_eq(got->keeps_user, p->keeps_user);
	ck_assert_int_eq(got->is_unlimited, p->is_unlimited);
	spec_text_done(&t);
}
END_TEST

START_TEST(assignments_add_up_and_an_empty_one_resets)
{
	struct spec_text t;
	char *got;

	spec_text_init_good(&t, "ExecStart=a\nExecStart=b ; c\nExecStartPre=p\nExecStart=\nExecStart=d\nExecStart=e");
	got = to_text(&t.spec.command[EXEC_START]);
	ck_assert_str_eq(got, "d [d] ; e [e]");
	free(got);
	got = to_text(&t.spec.command[EXEC_START_PRE]);
	ck_assert_str_eq(got, "p [p]");
	free(got);
	spec_text_done(&t);
}
END_TEST

START_TEST(many_words_and_commands_arrive)
{
	_cleanup_free_ char *text = NULL;
	struct spec_text t;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	fprintf(f, "ExecStart=");
	for (int i = 0; i < 100; i++) {
		fprintf(f, "c%d", i);
		for (int j = 0; j < i; j++)
			fprintf(f, " w%d", j);
		fprintf(f, " ; ");
	}
	fclose(f);
	spec_text_init_good(&t, text);
	ck_assert_uint_eq(t.spec.command[EXEC_START].n, 100);
	ck_assert_str_eq(t.spec.command[EXEC_START].item[99].argv[99], "w98");
	ck_assert_ptr_null(t.spec.command[EXEC_START].item[99].argv[100]);
	spec_text_done(&t);
}
END_TEST

static Suite *command_suite(void)
{
	Suite *s = suite_create("command");
	TCase *tc = tcase_create("parse");

	tcase_add_loop_test(tc, a_good_value_is_understood, 0, ELEMENTS(good));
	tcase_add_loop_test(tc, a_bad_value_is_refused_whole_with_its_line, 0, ELEMENTS(bad));
	tcase_add_test(tc, a_path_that_is_too_long_is_refused);
	tcase_add_test(tc, an_unknown_escape_stays_and_is_warned_of);
	tcase_add_loop_test(tc, prefixes_say_what_is_not_for_a_command, 0, ELEMENTS(privileges));
	tcase_add_test(tc, assignments_add_up_and_an_empty_one_resets);
	tcase_add_test(tc, many_words_and_commands_arrive);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(command_suite)
