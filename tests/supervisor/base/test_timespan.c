/* SPDX-License-Identifier: MIT */
#include "base/timespan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/parse_error.h"
#include "tests/lib/test_main.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static const struct {
	const char *text;
	usec_t span;
	const char *normal;
} spans[] = {
	{ "0", 0, "0" },
	{ "5", 5000000, "5s" },
	{ "+5", 5000000, "5s" },
	{ ".5", 500000, "500ms" },
	{ "1.5", 1500000, "1.500000s" },
	{ "2.567ms", 2567, "2.567ms" },
	{ "1h 30min", 5400000000, "1h 30min" },
	{ "1h30", 3630000000, "1h 30s" },
	{ "3 4", 7000000, "7s" },
	{ "1.5 .5", 2000000, "2s" },
	{ " 5 s ", 5000000, "5s" },
	{ "5M", 13149000000000, "5month" },
	{ "5m", 300000000, "5min" },
	{ "1y2month3w4d", 31557600000000 + 2 * 2629800000000 + 25 * 86400000000, "1y 2month 3w 4d" },
	{ "5 \302\265s", 5, "5us" },
	{ "5\316\274s", 5, "5us" },
	{ "0.0000001", 0, "0" },
	{ "1.123456789s", 1123456, "1.123456s" },
	{ "61.5s", 61500000, "1min 1.500000s" },
	{ "infinity", USEC_NEVER, "infinity" },
	{ " infinity ", USEC_NEVER, "infinity" },
	{ "9223372036854775807us", 9223372036854775807, "292271y 1w 1d 10h 54.775807s" },
	{ "584541y", 584541 * USEC_PER_YEAR, "584541y" },
};

START_TEST(span_is_read_and_printed_as_by_systemd)
{
	usec_t span, again;
	char buf[TIMESPAN_MAX];

	ck_assert_int_eq(timespan_parse(spans[_i].text, &span, NULL), 0);
	ck_assert_uint_eq(span, spans[_i].span);
	ck_assert_str_eq(timespan_print(buf, sizeof(buf), span, 0), spans[_i].normal);
	ck_assert_int_eq(timespan_parse(buf, &again, NULL), 0);
	ck_assert_uint_eq(again, span);
}
END_TEST

static const struct {
	const char *text;
	unsigned column;
	const char *says;
} refused[] = {
	{ "", 1, "missing" },
	{ "  ", 1, "missing" },
	{ "-5", 1, "negative" },
	{ "5s -3", 4, "negative" },
	{ "foo", 1, "number" },
	{ "5 foo", 3, "unit" },
	{ "5mo", 3, "unit" },
	{ "5ns", 2, "unit" },
	{ "1.5.5", 4, "unit" },
	{ ".", 2, "number" },
	{ "5.", 3, "number" },
	{ "5.s", 3, "number" },
	{ "+.5", 1, "number" },
	{ "inf", 1, "number" },
	{ "infinityx", 9, "infinity" },
	{ "infinity 5", 10, "infinity" },
	{ "584542y", 1, "too long" },
	{ "1s 584542y", 4, "too long" },
	{ "300000y 300000y", 9, "too long" },
	{ "9223372036854775808us", 1, "too long" },
	{ "99999999999999999999999", 1, "too long" },
	{ "18446744073709551614us", 1, "too long" },
};

START_TEST(bad_span_is_refused_where_it_is_bad)
{
	struct parse_error error = { .column = 0 };
	usec_t span = 4711;

	ck_assert_int_eq(timespan_parse(refused[_i].text, &span, &error), -EBADMSG);
	ck_assert_uint_eq(span, 4711);
	ck_assert_msg(error.column == refused[_i].column, "'%s': column %u, not %u",
		      refused[_i].text, error.column, refused[_i].column);
	ck_assert_msg(strstr(error.sentence, refused[_i].says) != NULL, "'%s': %s", refused[_i].text,
		      error.sentence);
	ck_assert_int_eq(timespan_parse(refused[_i].text, &span, NULL), -EBADMSG);
}
END_TEST

START_TEST(bare_number_counts_the_default_unit)
{
	usec_t span;

	ck_assert_int_eq(timespan_parse_unit("5", USEC_PER_MINUTE, &span, NULL), 0);
	ck_assert_uint_eq(span, 5 * USEC_PER_MINUTE);
	ck_assert_int_eq(timespan_parse_unit("5s", USEC_PER_MINUTE, &span, NULL), 0);
	ck_assert_uint_eq(span, 5 * USEC_PER_SEC);
	ck_assert_int_eq(timespan_parse_unit("1.5", 1, &span, NULL), 0);
	ck_assert_uint_eq(span, 1);
}
END_TEST

START_TEST(nanoseconds_are_read_where_they_are_counted)
{
	uint64_t span;

	ck_assert_int_eq(timespan_parse_nsec("5", &span, NULL), 0);
	ck_assert_uint_eq(span, 5);
	ck_assert_int_eq(timespan_parse_nsec("1us 5nsec", &span, NULL), 0);
	ck_assert_uint_eq(span, 1005);
	ck_assert_int_eq(timespan_parse_nsec("1.5ms", &span, NULL), 0);
	ck_assert_uint_eq(span, 1500000);
	ck_assert_int_eq(timespan_parse_nsec("infinity", &span, NULL), 0);
	ck_assert_uint_eq(span, UINT64_MAX);
	ck_assert_int_eq(timespan_parse_nsec("600y", &span, NULL), -EBADMSG);
}
END_TEST

static const struct {
	usec_t span, accuracy;
	const char *text;
} cuts[] = {
	{ 1500003, 1, "1.500003s" },
	{ 1500003, 1000, "1.500s" },
	{ 1500003, USEC_PER_SEC, "1s" },
	{ 3661 * USEC_PER_SEC, USEC_PER_MINUTE, "1h 1min" },
	{ 59, USEC_PER_SEC, "59us" },
	{ 86399999999, 1, "23h 59min 59.999999s" },
};

START_TEST(accuracy_cuts_what_is_finer)
{
	char buf[TIMESPAN_MAX];

	ck_assert_str_eq(timespan_print(buf, sizeof(buf), cuts[_i].span, cuts[_i].accuracy),
			 cuts[_i].text);
}
END_TEST

START_TEST(print_never_writes_past_its_buffer)
{
	const usec_t span = 9223372036854775807;
	char whole[TIMESPAN_MAX], buf[TIMESPAN_MAX];

	timespan_print(whole, sizeof(whole), span, 0);
	for (size_t size = 1; size <= sizeof(buf); size++) {
		memset(buf, 'x', sizeof(buf));
		timespan_print(buf, size, span, 0);
		ck_assert_uint_lt(strnlen(buf, size), size);
		ck_assert_int_eq(strncmp(buf, whole, strlen(buf)), 0);
		for (size_t i = size; i < sizeof(buf); i++)
			ck_assert_int_eq(buf[i], 'x');
	}
}
END_TEST

static const struct {
	usec_t span;
	const char *text;
} roughs[] = {
	{ 0, "now" },
	{ 999, "999us" },
	{ 1500, "1ms" },
	{ 59 * USEC_PER_SEC, "59s" },
	{ 61 * USEC_PER_SEC, "1min 1s" },
	{ 5 * USEC_PER_MINUTE + 59 * USEC_PER_SEC, "5min" },
	{ 65 * USEC_PER_MINUTE, "1h 5min" },
	{ 6 * USEC_PER_HOUR + 59 * USEC_PER_MINUTE, "6h" },
	{ 24 * USEC_PER_HOUR, "24h" },
	{ 25 * USEC_PER_HOUR, "1 day 1h" },
	{ 48 * USEC_PER_HOUR, "2 days" },
	{ 8 * USEC_PER_DAY, "1 week 1 day" },
	{ 14 * USEC_PER_DAY, "2 weeks 0 days" },
	{ USEC_PER_MONTH, "1 month 0 days" },
	{ 2 * USEC_PER_YEAR + USEC_PER_MONTH, "2 years 1 month" },
};

START_TEST(rough_distance_has_two_units_at_most)
{
	char buf[TIMESPAN_MAX];

	ck_assert_str_eq(timespan_print_rough(buf, sizeof(buf), roughs[_i].span), roughs[_i].text);
}
END_TEST

static Suite *timespan_suite(void)
{
	Suite *suite = suite_create("timespan");
	TCase *tcase = tcase_create("timespan");

	tcase_add_loop_test(tcase, span_is_read_and_printed_as_by_systemd, 0, COUNT(spans));
	tcase_add_loop_test(tcase, bad_span_is_refused_where_it_is_bad, 0, COUNT(refused));
	tcase_add_test(tcase, bare_number_counts_the_default_unit);
	tcase_add_test(tcase, nanoseconds_are_read_where_they_are_counted);
	tcase_add_loop_test(tcase, accuracy_cuts_what_is_finer, 0, COUNT(cuts));
	tcase_add_test(tcase, print_never_writes_past_its_buffer);
	tcase_add_loop_test(tcase, rough_distance_has_two_units_at_most, 0, COUNT(roughs));
	suite_add_tcase(suite, tcase);
	return suite;
}

TEST_MAIN(timespan_suite)
