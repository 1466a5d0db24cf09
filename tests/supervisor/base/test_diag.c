/* SPDX-License-Identifier: MIT */
#include "base/diag.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/test_main.h"

static struct diag diag;

static void teardown(void)
{
	diag_done(&diag);
}

static void assert_formatted(size_t i, const char *expected)
{
	char *line;

	ck_assert_uint_lt(i, diag.n);
	line = diag_format(&diag.entry[i]);
	ck_assert_str_eq(line, expected);
	free(line);
}

START_TEST(place_and_sentence_make_a_line)
{
	diag_add(&diag, DIAG_ERROR, "backup.timer", 7, "OnCalendar", "OnCalendar= does not parse at '%s'", "25:00");
	diag_add(&diag, DIAG_WARNING, "backup.timer", 0, NULL, "is writable by others");
	diag_add(&diag, DIAG_ERROR, NULL, 0, NULL, "no such unit");
	assert_formatted(0, "backup.timer:7: OnCalendar= does not parse at '25:00'");
	assert_formatted(1, "backup.timer: is writable by others");
	assert_formatted(2, "no such unit");
	ck_assert_str_eq(diag.entry[0].key, "OnCalendar");
	ck_assert_ptr_null(diag.entry[1].key);
}
END_TEST

START_TEST(errors_and_warnings_are_counted_apart)
{
	diag_add(&diag, DIAG_ERROR, NULL, 0, NULL, "a");
	diag_add(&diag, DIAG_WARNING, NULL, 0, NULL, "b");
	diag_add(&diag, DIAG_NOT_APPLIED, NULL, 0, NULL, "c");
	ck_assert_uint_eq(diag.n, 3);
	ck_assert_uint_eq(diag.n_errors, 1);
	ck_assert_uint_eq(diag.n_warnings, 2);
	ck_assert_int_eq(diag.entry[2].severity, DIAG_NOT_APPLIED);
}
END_TEST

START_TEST(a_line_stays_one_line_and_harmless)
{
	diag_add(&diag, DIAG_ERROR, "ev\033il\n.service", 3, NULL, "unknown key '%s', escaped 'a\\\\b'",
		 "x\033]0;owned\a\r\n\xff");
	assert_formatted(0, "ev\\x1bil\\n.service:3: unknown key 'x\\x1b]0;owned\\x07\\x0d\\n\\xff', "
			    "escaped 'a\\\\b'");
}
END_TEST

START_TEST(nothing_refers_to_the_callers_strings)
{
	char file[] = "a.service", key[] = "User";

	diag_add(&diag, DIAG_ERROR, file, 1, key, "%s", file);
	memset(file, 'x', 5);
	memset(key, 'x', 4);
	assert_formatted(0, "a.service:1: a.service");
	ck_assert_str_eq(diag.entry[0].key, "User");
}
END_TEST

START_TEST(moving_appends_in_order_and_empties)
{
	struct diag more = {0}, none = {0};

	for (int i = 0; i < 10; i++)
		diag_add(i < 5 ? &diag : &more, i % 2 ? DIAG_ERROR : DIAG_WARNING, NULL, 0, NULL, "%d", i);
	diag_move(&diag, &more);
	diag_move(&diag, &none);
	ck_assert_uint_eq(more.n + more.n_errors + more.n_warnings, 0);
	ck_assert_uint_eq(diag.n, 10);
	ck_assert_uint_eq(diag.n_errors, 5);
	ck_assert_uint_eq(diag.n_warnings, 5);
	for (size_t i = 0; i < 10; i++)
		ck_assert_int_eq(atoi(diag.entry[i].message), (int) i);
	diag_move(&none, &diag);
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_uint_eq(none.n, 10);
	diag_move(&diag, &none);
}
END_TEST

START_TEST(a_collection_is_empty_after_done)
{
	diag_add(&diag, DIAG_ERROR, "f", 1, "k", "m");
	diag_done(&diag);
	ck_assert_uint_eq(diag.n + diag.n_errors + diag.n_warnings, 0);
	diag_done(&diag);
}
END_TEST

static Suite *diag_suite(void)
{
	Suite *s = suite_create("diag");
	TCase *t = tcase_create("diag");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, place_and_sentence_make_a_line);
	tcase_add_test(t, errors_and_warnings_are_counted_apart);
	tcase_add_test(t, a_line_stays_one_line_and_harmless);
	tcase_add_test(t, nothing_refers_to_the_callers_strings);
	tcase_add_test(t, moving_appends_in_order_and_empties);
	tcase_add_test(t, a_collection_is_empty_after_done);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(diag_suite)
