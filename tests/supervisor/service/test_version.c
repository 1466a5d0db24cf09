/* SPDX-License-Identifier: MIT */
#include "service/version.h"

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

/* Each as `systemd-analyze compare-versions` of systemd 252 has it. */
static const struct {
	const char *a;
	char order;
	const char *b;
} orders[] = {
	{ "5.9", '<', "5.10" },
	{ "5.10", '=', "5.10" },
	{ "6.1~rc1", '<', "6.1" },
	{ "6.1", '<', "6.1.1" },
	{ "6.1-2", '<', "6.1.1" },
	{ "6.1", '<', "6.1-2" },
	{ "6.1^git", '<', "6.1.1" },
	{ "6.1-2", '<', "6.1^1" },
	{ "5.0010", '=', "5.10" },
	{ "1.a", '<', "1.1" },
	{ "1.a", '<', "1.b" },
	{ "1.ab", '>', "1.a" },
	{ "1.Z", '<', "1.a" },
	{ "1_2", '<', "12" },
	{ "1+2", '=', "1_2" },
	{ "", '<', "0" },
	{ "", '>', "~" },
	{ "~~", '>', "~" },
	{ "", '=', "" },
	{ "00", '=', "0" },
	{ "1..2", '<', "1.2" },
	{ "18446744073709551616", '>', "18446744073709551615" },
	{ "6.18.44-fc-v669", '>', "6.18.44-fc" },
	{ "4.19.0-26-amd64", '<', "4.19.0-100-amd64" },
	{ "é1", '=', "1" },
};

START_TEST(versions_have_an_order)
{
	int wanted = orders[_i].order == '<' ? -1 : orders[_i].order == '>';
	int r = version_compare(orders[_i].a, orders[_i].b), s = version_compare(orders[_i].b, orders[_i].a);

	ck_assert_msg((r > 0) - (r < 0) == wanted, "%s %c %s", orders[_i].a, orders[_i].order, orders[_i].b);
	ck_assert_int_eq((s > 0) - (s < 0), -wanted);
}
END_TEST

static const struct {
	const char *text;
	enum comparison comparison;
	const char *rest;
} operators[] = {
	{ "<5", COMPARISON_LESS, "5" },         { "<=5", COMPARISON_LESS_OR_SAME, "5" },
	{ "==5", COMPARISON_SAME, "5" },        { "=5", COMPARISON_EQUAL, "5" },
	{ "<>5", COMPARISON_OTHER, "5" },       { "!=5", COMPARISON_UNEQUAL, "5" },
	{ ">= 5", COMPARISON_GREATER_OR_SAME, " 5" }, { ">5", COMPARISON_GREATER, "5" },
	{ "$=5*", COMPARISON_GLOB, "5*" },      { "!$=5*", COMPARISON_NO_GLOB, "5*" },
	{ "5", COMPARISON_NONE, "5" },          { "!5", COMPARISON_NONE, "!5" },
	{ "", COMPARISON_NONE, "" },
};

START_TEST(operators_are_read)
{
	const char *p = operators[_i].text;

	ck_assert_int_eq(comparison_read(&p), operators[_i].comparison);
	ck_assert_str_eq(p, operators[_i].rest);
}
END_TEST

START_TEST(texts_are_compared_as_versions_bytes_or_patterns)
{
	ck_assert(comparison_of_texts(COMPARISON_SAME, "5.010", "5.10"));
	ck_assert(!comparison_of_texts(COMPARISON_OTHER, "5.010", "5.10"));
	ck_assert(!comparison_of_texts(COMPARISON_EQUAL, "5.010", "5.10"));
	ck_assert(comparison_of_texts(COMPARISON_UNEQUAL, "5.010", "5.10"));
	ck_assert(comparison_of_texts(COMPARISON_GLOB, "5.10", "5.*"));
	ck_assert(!comparison_of_texts(COMPARISON_NO_GLOB, "5.10", "5.*"));
	ck_assert(comparison_of_texts(COMPARISON_GREATER_OR_SAME, "5.10", "5.9"));
	ck_assert(!comparison_of_texts(COMPARISON_LESS, "5.10", "5.9"));
}
END_TEST

START_TEST(numbers_are_compared)
{
	ck_assert(comparison_of_numbers(COMPARISON_LESS, 1, UINT64_MAX));
	ck_assert(comparison_of_numbers(COMPARISON_GREATER, UINT64_MAX, 1));
	ck_assert(comparison_of_numbers(COMPARISON_EQUAL, 2, 2));
	ck_assert(comparison_of_numbers(COMPARISON_OTHER, 2, 3));
	ck_assert(!comparison_of_numbers(COMPARISON_GLOB, 2, 2));
}
END_TEST

static Suite *version_suite(void)
{
	Suite *s = suite_create("version");
	TCase *tc = tcase_create("version");

	tcase_add_loop_test(tc, versions_have_an_order, 0, ELEMENTS(orders));
	tcase_add_loop_test(tc, operators_are_read, 0, ELEMENTS(operators));
	tcase_add_test(tc, texts_are_compared_as_versions_bytes_or_patterns);
	tcase_add_test(tc, numbers_are_compared);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(version_suite)
