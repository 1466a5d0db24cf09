/* SPDX-License-Identifier: MIT */
#include "service/environment.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static struct arena arena;
static struct diag diag;
static const char **list;
static size_t n_list;

static void setup(void)
{
	list = NULL;
	n_list = 0;
}

static void teardown(void)
{
	arena_done(&arena);
	diag_done(&diag);
}

static int parse(const char *bytes, size_t n)
{
	return environment_file_parse("/etc/default/x", bytes, n, &arena, &list, &n_list, &diag);
}

static void ck_list(const char *joined)
{
	char got[512] = "";

	for (size_t i = 0; i < n_list; i++) {
		strcat(got, "[");
		strcat(got, list[i]);
		strcat(got, "]");
	}
	ck_assert(!list || !list[n_list]);
	ck_assert_str_eq(got, joined);
}

/* Each seen to come out so of systemd 252. */
static const struct {
	const char *text, *assignments;
	unsigned n_warnings;
} files[] = {
	{ "", "", 0 },
	{ "\n\n \t\n", "", 0 },
	{ "A=1", "[A=1]", 0 },
	{ "A=1\nB=2\n", "[A=1][B=2]", 0 },
	{ "A=1\r\nB=2\r\n", "[A=1][B=2]", 0 },
	{ "A=\nB=", "[A=][B=]", 0 },
	/* blanks: around names and values gone, inside kept */
	{ "  A  =  1  2  \t\nB=x", "[A=1  2][B=x]", 0 },
	{ "A=1 # no comment", "[A=1 # no comment]", 0 },
	/* comments; a backslash at the end takes the next line along */
	{ "# A=1\n;B=2\n  # C=3\nD=4", "[D=4]", 0 },
	{ "# A=1\\\nB=2\nC=3", "[C=3]", 0 },
	{ "# caf\xe9 in Latin-1\nA=1", "[A=1]", 0 },
	/* no quotes */
	{ "A=a\\ b\\\\c\\\"d\\n", "[A=a b\\c\"dn]", 0 },
	{ "A=a\\\nb", "[A=ab]", 0 },
	{ "A=a \\\n b", "[A=a  b]", 0 },
	{ "A=a\\ \nB=b", "[A=a ][B=b]", 0 },
	{ "A=a\"b\" 'c'", "[A=a\"b\" 'c']", 0 },
	{ "A=$B ${B} `b`", "[A=$B ${B} `b`]", 0 },
	{ "A=a\\", "[A=a]", 0 },
	/* single quotes */
	{ "A='a  b'", "[A=a  b]", 0 },
	{ "A=' a\\n\"b '", "[A= a\\n\"b ]", 0 },
	{ "A='a\nb'", "[A=a\nb]", 0 },
	/* double quotes */
	{ "A=\"a  b\"", "[A=a  b]", 0 },
	{ "A=\"a'b\"", "[A=a'b]", 0 },
	{ "A=\"\\\"\\\\\\`\\$\"", "[A=\"\\`$]", 0 },
	{ "A=\"\\n\\x\"", "[A=\\n\\x]", 0 },
	{ "A=\"a\\\nb\"", "[A=ab]", 0 },
	{ "A=\"a\nb\"\nC=1", "[A=a\nb][C=1]", 0 },
	/* pieces behind one another; what is unquoted ends it */
	{ "A='a'\"b\"", "[A=ab]", 0 },
	{ "A='a' \"b\"  'c'", "[A=abc]", 0 },
	{ "A='a' b 'c'", "[A=ab 'c']", 0 },
	{ "A=  'a'  ", "[A=a]", 0 },
	/* doubles stay; who builds the environment takes the last */
	{ "A=1\nA=2", "[A=1][A=2]", 0 },
	{ "A==b", "[A==b]", 0 },
	/* what makes no sense */
	{ "nonsense\nA=1", "[A=1]", 1 },
	{ "export A=1\nB=2", "[B=2]", 1 },
	{ "1A=1\nB=2", "[B=2]", 1 },
	{ "=1\nB=2", "[B=2]", 1 },
	{ "=1=2\nB=2", "[B=2]", 1 },
	{ "A='open\nB=2", "[A=open\nB=2]", 1 },
	{ "A=\"open\nB=2", "[A=open\nB=2]", 1 },
};

START_TEST(a_file_is_read_as_systemd_does)
{
	ck_assert_int_eq(parse(files[_i].text, strlen(files[_i].text)), 0);
	ck_list(files[_i].assignments);
	ck_assert_uint_eq(diag.n_warnings, files[_i].n_warnings);
	ck_assert_uint_eq(diag.n_errors, 0);
}
END_TEST

START_TEST(files_add_up)
{
	ck_assert_int_eq(parse("A=1\nB=2", 7), 0);
	ck_assert_int_eq(parse("", 0), 0);
	ck_assert_int_eq(parse("A=3", 3), 0);
	ck_list("[A=1][B=2][A=3]");
}
END_TEST

START_TEST(a_nul_byte_is_refused)
{
	ck_assert_int_eq(parse("A=1\0B=2", 7), -EBADMSG);
	ck_list("");
	ck_assert_uint_eq(diag.n_errors, 1);
}
END_TEST

START_TEST(an_assignment_that_is_not_utf8_is_refused_with_its_line)
{
	ck_assert_int_eq(parse("A=1\nB='x\ny'\nC=caf\xe9\n", 18), -EBADMSG);
	ck_assert_uint_eq(diag.n_errors, 1);
	ck_assert_uint_eq(diag.entry[0].line, 4);
	ck_assert_str_eq(diag.entry[0].file, "/etc/default/x");
}
END_TEST

START_TEST(a_warning_names_line_and_word)
{
	ck_assert_int_eq(parse("A=1\n\n\x1b[1m=2\n", 12), 0);
	ck_assert_uint_eq(diag.entry[0].line, 3);
	ck_assert_str_eq(diag.entry[0].message, "'\\x1b[1m' is no name of a variable, ignored");
}
END_TEST

static Suite *environment_file_suite(void)
{
	Suite *s = suite_create("environment_file");
	TCase *tc = tcase_create("parse");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_file_is_read_as_systemd_does, 0, ELEMENTS(files));
	tcase_add_test(tc, files_add_up);
	tcase_add_test(tc, a_nul_byte_is_refused);
	tcase_add_test(tc, an_assignment_that_is_not_utf8_is_refused_with_its_line);
	tcase_add_test(tc, a_warning_names_line_and_word);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(environment_file_suite)
