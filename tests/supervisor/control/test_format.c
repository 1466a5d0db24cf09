/* SPDX-License-Identifier: MIT */
#include "control/format.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

#define DAY (86400 * UINT64_C(1000000))

static void in_utc(void)
{
	ck_assert_int_eq(setenv("TZ", "UTC", 1), 0);
	tzset();
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

static const struct {
	const char *zone;
	usec_t when;
	const char *expected;
} times[] = {
	{ "UTC", UINT64_C(1795242209320574), "Sat 2026-11-21 06:23:29 UTC" },
	{ "UTC", 1000000, "Thu 1970-01-01 00:00:01 UTC" },
	{ "UTC", 0, "-" },
	{ "UTC", USEC_NEVER, "-" },
	{ "UTC", USEC_NEVER - 1, "Wed 586524-01-19 08:01:49 UTC" },
	{ "XYZ-2", UINT64_C(1795242209000000), "Sat 2026-11-21 08:23:29 XYZ" },
	{ "UTC", UINT64_C(4102444800000000), "Fri 2100-01-01 00:00:00 UTC" },
};

START_TEST(times_are_written_as_systemctl_writes_them)
{
	char buf[FORMAT_TIME_MAX];

	ck_assert_int_eq(setenv("TZ", times[_i].zone, 1), 0);
	tzset();
	ck_assert_str_eq(format_timestamp(buf, sizeof(buf), times[_i].when), times[_i].expected);
}
END_TEST

static const struct {
	usec_t span;
	const char *left, *ago;
} spans[] = {
	{ 0, "now", "now" },
	{ 1, "1us left", "1us ago" },
	{ 14 * 1000000, "14s left", "14s ago" },
	{ 65 * 1000000, "1min 5s left", "1min 5s ago" },
	{ 17 * 3600 * UINT64_C(1000000), "17h left", "17h ago" },
	{ 3 * DAY, "3 days left", "3 days ago" },
	{ USEC_NEVER, "-", "-" },
};

START_TEST(distances_are_worded_as_systemctl_words_them)
{
	char buf[FORMAT_TIME_MAX];

	ck_assert_str_eq(format_left(buf, sizeof(buf), spans[_i].span), spans[_i].left);
	ck_assert_str_eq(format_ago(buf, sizeof(buf), spans[_i].span), spans[_i].ago);
}
END_TEST

static const char *const words[] = { "one", "t\tw\x1bo" };
static const struct supd_field inner = { .key = "k", .type = SUPD_NUMBER, .value.number = 1 };
static const struct supd_row row = { &inner, 1 };

static const struct {
	struct supd_field field;
	const char *expected;
} values[] = {
	{ { .type = SUPD_NULL }, "" },
	{ { .type = SUPD_BOOL, .value.boolean = true }, "yes" },
	{ { .type = SUPD_BOOL }, "no" },
	{ { .type = SUPD_NUMBER, .value.number = INT64_MIN }, "-9223372036854775808" },
	{ { .type = SUPD_STRING, .value.string = "a\nb\\x2dc" }, "a\\nb\\x2dc" },
	{ { .type = SUPD_TIMESTAMP, .value.usec = 1000000 }, "Thu 1970-01-01 00:00:01 UTC" },
	{ { .type = SUPD_SPAN, .value.usec = 90 * 1000000 }, "1min 30s" },
	{ { .type = SUPD_SPAN, .value.usec = SUPD_NEVER }, "infinity" },
	{ { .type = SUPD_STRINGS, .value.strings = { words, 2 } }, "one t\\tw\\x1bo" },
	{ { .type = SUPD_STRINGS }, "" },
	{ { .type = SUPD_REAL, .value.real = 0.1 }, "0.1" },
	{ { .type = SUPD_REAL, .value.real = 1234567 }, "1234567" },
	{ { .type = SUPD_ROW, .value.row = &row }, "{\"k\":1}" },
	{ { .type = SUPD_ROWS, .value.rows = { &row, 1 } }, "[{\"k\":1}]" },
	{ { .type = SUPD_ROWS }, "[]" },
};

START_TEST(values_are_one_printable_line)
{
	_cleanup_free_ char *text = format_value(&values[_i].field);

	ck_assert_str_eq(text, values[_i].expected);
}
END_TEST

static const struct {
	const char *text;
	size_t width, fit, fit_bytes, fit_cells;
} widths[] = {
	{ "", 0, 5, 0, 0 },
	{ "abc", 3, 2, 2, 2 },
	{ "grün", 4, 3, 4, 3 },
	{ "日本", 4, 3, 3, 2 }, /* two cells each: half a character is none */
	{ "e\xcc\x81x", 2, 1, 3, 1 }, /* a combining accent takes none */
	{ "a\xffz", 3, 2, 2, 2 },
};

START_TEST(widths_are_those_of_a_terminal)
{
	size_t cells;

	ck_assert_uint_eq(format_width(widths[_i].text), widths[_i].width);
	ck_assert_uint_eq(format_fit(widths[_i].text, widths[_i].fit, &cells), widths[_i].fit_bytes);
	ck_assert_uint_eq(cells, widths[_i].fit_cells);
}
END_TEST

START_TEST(lines_of_a_log_carry_the_year_only_where_it_is_another)
{
	const usec_t now = 1700000000 * USEC_PER_SEC, last_year = 1660000000 * USEC_PER_SEC;
	char buf[FORMAT_TIME_MAX];

	ck_assert_str_eq(format_log_time(buf, sizeof(buf), now, now), "Nov 14 22:13:20");
	ck_assert_str_eq(format_log_time(buf, sizeof(buf), last_year, now), "2022 Aug 08 23:06:40");
	ck_assert_str_eq(format_log_time(buf, sizeof(buf), USEC_NEVER, now), "-");
}
END_TEST

static Suite *format_suite(void)
{
	Suite *s = suite_create("control/format");
	TCase *tc = tcase_create("format");

	tcase_add_checked_fixture(tc, in_utc, NULL);
	tcase_add_loop_test(tc, times_are_written_as_systemctl_writes_them, 0, ELEMENTS(times));
	tcase_add_test(tc, lines_of_a_log_carry_the_year_only_where_it_is_another);
	tcase_add_loop_test(tc, distances_are_worded_as_systemctl_words_them, 0, ELEMENTS(spans));
	tcase_add_loop_test(tc, values_are_one_printable_line, 0, ELEMENTS(values));
	tcase_add_loop_test(tc, widths_are_those_of_a_terminal, 0, ELEMENTS(widths));
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(format_suite)
