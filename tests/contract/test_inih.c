/* SPDX-License-Identifier: MIT */

/* What unit/reader relies on in inih, and why it stands in front of it: the second half shows the
 * slips of the library as distributions build it (r55). A later inih that reads faithfully passes
 * as well. */

#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static struct {
	const char *next; /* lines yet to be given */
	int given;
	char log[4096];   /* what came: "[section] name=value;" and "given N;" where that is asked for */
	bool notes_given;
	int refuse;       /* answer 0 to this call of the handler, counted from 1 */
	int calls;
} x;

static void setup(void)
{
	memset(&x, 0, sizeof(x));
}

static char *give(char *buf, int size, void *stream)
{
	size_t n;

	ck_assert_ptr_eq(stream, &x);
	if (!*x.next)
		return NULL;
	n = strcspn(x.next, "\n");
	n += x.next[n] == '\n';
	if (n > (size_t) size - 1) /* as fgets() does */
		n = (size_t) size - 1;
	memcpy(buf, x.next, n);
	buf[n] = '\0';
	x.next += n;
	x.given++;
	return buf;
}

static int take(void *user, const char *section, const char *name, const char *value)
{
	size_t n = strlen(x.log);

	ck_assert_ptr_eq(user, &x);
	snprintf(x.log + n, sizeof(x.log) - n, "[%s] %s=%s;", section, name, value);
	n = strlen(x.log);
	if (x.notes_given)
		snprintf(x.log + n, sizeof(x.log) - n, "given %d;", x.given);
	return ++x.calls != x.refuse;
}

static int parse(const char *text)
{
	x.next = text;
	return ini_parse_stream(give, &x, take, &x);
}

/* ---- relied on ---- */

START_TEST(short_tokens_arrive_as_they_were_sent)
{
	ck_assert_int_eq(parse("1=1\n[1]\n2=2\n3=3\n[2]\n[3]\n4=4\n"), 0);
	ck_assert_str_eq(x.log, "[] 1=1;[1] 2=2;[1] 3=3;[3] 4=4;");
}
END_TEST

START_TEST(large_numbers_are_tokens_too)
{
	ck_assert_int_eq(parse("[4294967295]\n4294967295=4294967295\n"), 0);
	ck_assert_str_eq(x.log, "[4294967295] 4294967295=4294967295;");
}
END_TEST

START_TEST(the_handler_is_called_before_the_next_line_is_asked_for)
{
	x.notes_given = true;
	ck_assert_int_eq(parse("[1]\n1=1\n2=2\n"), 0);
	ck_assert_str_eq(x.log, "[1] 1=1;given 2;[1] 2=2;given 3;");
}
END_TEST

START_TEST(a_refusal_is_returned_as_a_line)
{
	x.refuse = 2;
	ck_assert_int_eq(parse("[1]\n1=1\n2=2\n3=3\n"), 3);
}
END_TEST

START_TEST(an_empty_stream_is_fine)
{
	ck_assert_int_eq(parse(""), 0);
	ck_assert_int_eq(x.calls, 0);
}
END_TEST

START_TEST(a_token_fits_into_the_buffer)
{
	char token[64];

	snprintf(token, sizeof(token), "%u=%u\n", UINT32_MAX, UINT32_MAX);
	ck_assert_uint_lt(strlen(token), 32);
	ck_assert_int_ge(ini_max_line, 32);
}
END_TEST

/* ---- kept away from ---- */

static const struct {
	const char *text;
	const char *slip, *faithful; /* what libinih r55 makes of it; what it says */
} slips[] = {
	/* " ;" begins a comment */
	{"[S]\nExecStart=/bin/a ; rm\n", "[S] ExecStart=/bin/a;", "[S] ExecStart=/bin/a ; rm;"},
	/* an indented line goes on with the key before */
	{"[S]\nUser=a\n  Group=b\n", "[S] User=a;[S] User=Group=b;", "[S] User=a;[S] Group=b;"},
	/* a backslash continues nothing */
	{"[S]\nExecStart=/bin/a \\\nb\n", "[S] ExecStart=/bin/a \\;", "[S] ExecStart=/bin/a  b;"},
	/* a colon is as good as '=' */
	{"[S]\nUser: a\n", "[S] User=a;", ""},
};

START_TEST(text_of_people_comes_out_otherwise)
{
	(void) parse(slips[_i].text);
	if (!str_equal(x.log, slips[_i].faithful))
		ck_assert_str_eq(x.log, slips[_i].slip);
}
END_TEST

/* The line buffer has 200 bytes: "ExecStart=/bin/echo " and 179 digits fill it, and what follows is
 * a line of its own, and no error. */
START_TEST(the_end_of_a_long_line_becomes_a_key)
{
	char text[400];

	snprintf(text, sizeof(text), "[S]\nExecStart=/bin/echo %0179dUser=root\n", 0);
	ck_assert_int_eq(parse(text), 0);
	if (!strstr(x.log, "0User=root;"))
		ck_assert_ptr_nonnull(strstr(x.log, "0;[S] User=root;"));
}
END_TEST

START_TEST(a_long_section_name_is_cut)
{
	char text[200], cut[200], whole[200];

	snprintf(text, sizeof(text), "[X-%0100d]\nA=1\n", 0);
	snprintf(cut, sizeof(cut), "[X-%047d] A=1;", 0);
	snprintf(whole, sizeof(whole), "[X-%0100d] A=1;", 0);
	ck_assert_int_eq(parse(text), 0);
	if (!str_equal(x.log, whole))
		ck_assert_str_eq(x.log, cut);
}
END_TEST

static Suite *inih_suite(void)
{
	Suite *s = suite_create("inih");
	TCase *relied = tcase_create("relied on"), *avoided = tcase_create("kept away from");

	tcase_add_checked_fixture(relied, setup, NULL);
	tcase_add_test(relied, short_tokens_arrive_as_they_were_sent);
	tcase_add_test(relied, large_numbers_are_tokens_too);
	tcase_add_test(relied, the_handler_is_called_before_the_next_line_is_asked_for);
	tcase_add_test(relied, a_refusal_is_returned_as_a_line);
	tcase_add_test(relied, an_empty_stream_is_fine);
	tcase_add_test(relied, a_token_fits_into_the_buffer);
	suite_add_tcase(s, relied);
	tcase_add_checked_fixture(avoided, setup, NULL);
	tcase_add_loop_test(avoided, text_of_people_comes_out_otherwise, 0, ELEMENTS(slips));
	tcase_add_test(avoided, the_end_of_a_long_line_becomes_a_key);
	tcase_add_test(avoided, a_long_section_name_is_cut);
	suite_add_tcase(s, avoided);
	return s;
}

TEST_MAIN(inih_suite)
