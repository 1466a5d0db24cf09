/* SPDX-License-Identifier: MIT */
#include "base/values.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct {
	const char *text;
	int r;
	bool value;
} bools[] = {
	{"1", 0, true},   {"yes", 0, true}, {"Y", 0, true},   {"TRUE", 0, true},   {"t", 0, true},   {"On", 0, true},
	{"0", 0, false},  {"no", 0, false}, {"N", 0, false},  {"False", 0, false}, {"f", 0, false},  {"OFF", 0, false},
	{"", -EINVAL, 0}, {"maybe", -EINVAL, 0}, {"yes ", -EINVAL, 0}, {"2", -EINVAL, 0}, {"ye", -EINVAL, 0},
	{"enabled", -EINVAL, 0},
};

START_TEST(booleans_are_systemds)
{
	bool value = !bools[_i].value;

	ck_assert_int_eq(value_bool(bools[_i].text, &value), bools[_i].r);
	ck_assert(value == (bools[_i].r == 0 ? bools[_i].value : !bools[_i].value));
}
END_TEST

static const struct {
	const char *text;
	uint64_t max;
	int r;
	uint64_t value;
} unsigneds[] = {
	{"0", 10, 0, 0},
	{"10", 10, 0, 10},
	{"007", 10, 0, 7},
	{"11", 10, -ERANGE, 0},
	{"18446744073709551615", UINT64_MAX, 0, UINT64_MAX},
	{"18446744073709551616", UINT64_MAX, -ERANGE, 0},
	{"99999999999999999999999999", UINT64_MAX, -ERANGE, 0},
	{"99999999999999999999999999x", UINT64_MAX, -EINVAL, 0},
	{"", 10, -EINVAL, 0},
	{"-1", 10, -EINVAL, 0},
	{"+1", 10, -EINVAL, 0},
	{" 1", 10, -EINVAL, 0},
	{"1 ", 10, -EINVAL, 0},
	{"0x10", 100, -EINVAL, 0},
	{"1e3", 10000, -EINVAL, 0},
	{"\xd9\xa3", 10, -EINVAL, 0}, /* an Arabic digit */
};

START_TEST(numbers_are_digits_and_fit)
{
	uint64_t value = 42;

	ck_assert_int_eq(value_unsigned(unsigneds[_i].text, unsigneds[_i].max, &value), unsigneds[_i].r);
	ck_assert_uint_eq(value, unsigneds[_i].r == 0 ? unsigneds[_i].value : 42);
}
END_TEST

static const struct {
	const char *text;
	int64_t min, max;
	int r;
	int64_t value;
} signeds[] = {
	{"-20", -20, 19, 0, -20},
	{"+5", -20, 19, 0, 5},
	{"-0", -20, 19, 0, 0},
	{"20", -20, 19, -ERANGE, 0},
	{"-21", -20, 19, -ERANGE, 0},
	{"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
	{"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
	{"9223372036854775808", INT64_MIN, INT64_MAX, -ERANGE, 0},
	{"-9223372036854775809", INT64_MIN, INT64_MAX, -ERANGE, 0},
	{"-", -20, 19, -EINVAL, 0},
	{"--1", -20, 19, -EINVAL, 0},
	{"+-1", -20, 19, -EINVAL, 0},
	{"", -20, 19, -EINVAL, 0},
};

START_TEST(signed_numbers_reach_their_ends)
{
	int64_t value = 42;

	ck_assert_int_eq(value_signed(signeds[_i].text, signeds[_i].min, signeds[_i].max, &value), signeds[_i].r);
	ck_assert_int_eq(value, signeds[_i].r == 0 ? signeds[_i].value : 42);
}
END_TEST

static const struct {
	const char *text;
	int r;
	mode_t value;
} modes[] = {
	{"0022", 0, 022}, {"77", 0, 077},       {"7777", 0, 07777},  {"0", 0, 0},         {"10000", -ERANGE, 0},
	{"8", -EINVAL, 0}, {"0o22", -EINVAL, 0}, {"", -EINVAL, 0},   {"-22", -EINVAL, 0}, {"u=rwx", -EINVAL, 0},
};

static const struct {
	const char *text;
	int r;
	uint64_t value;
} sizes[] = {
	{"0", 0, 0},
	{"4096", 0, 4096},
	{"1B", 0, 1},
	{"1K", 0, 1024},
	{"1 K", 0, 1024},
	{"2M", 0, 2 << 20},
	{"1.5G", 0, UINT64_C(3) << 29},
	{"0.5K", 0, 512},
	{"1.K", 0, 1024},
	{"1T", 0, UINT64_C(1) << 40},
	{"1P", 0, UINT64_C(1) << 50},
	{"1.5E", 0, UINT64_C(3) << 59},
	{"1G 512M", 0, UINT64_C(3) << 29},
	{"1K1", 0, 1025},
	{"18446744073709551615", 0, UINT64_MAX},
	{"18446744073709551616", -ERANGE, 0},
	{"16E", -ERANGE, 0},
	{"15.9E 1E", -EINVAL, 0},
	{"512M 1G", -EINVAL, 0},
	{"", -EINVAL, 0},
	{"K", -EINVAL, 0},
	{".5K", -EINVAL, 0},
	{"1KB", -EINVAL, 0},
	{"1k", -EINVAL, 0},
	{"-1", -EINVAL, 0},
	{"1.2.3", -EINVAL, 0},
	{"5 parsecs", -EINVAL, 0},
};

START_TEST(sizes_count_by_1024)
{
	uint64_t value = 42;

	ck_assert_int_eq(value_size(sizes[_i].text, &value), sizes[_i].r);
	ck_assert_uint_eq(value, sizes[_i].r == 0 ? sizes[_i].value : 42);
}
END_TEST

START_TEST(some_sizes_count_by_1000)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} thousands[] = {
		{ "4096", 0, 4096 }, { "7B", 0, 7 }, { "1K", 0, 1000 }, { "1.5M", 0, 1500000 }, { "0.0005K", 0, 0 },
		{ "18E", 0, UINT64_C(18000000000000000000) }, { "19E", -ERANGE, 0 }, { "18.5E", -ERANGE, 0 }, { "1.K", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 }, { "", -EINVAL, 0 }, { "K", -EINVAL, 0 }, { "-1", -EINVAL, 0 },
		{ "99999999999999999999", -ERANGE, 0 },
	};

	for (size_t i = 0; i < ELEMENTS(thousands); i++) {
		uint64_t value = 42;

		ck_assert_int_eq(value_size_1000(thousands[i].text, &value), thousands[i].r);
		ck_assert_uint_eq(value, thousands[i].r == 0 ? thousands[i].value : 42);
	}
}
END_TEST

START_TEST(modes_are_octal)
{
	mode_t value = 01234;

	ck_assert_int_eq(value_mode(modes[_i].text, &value), modes[_i].r);
	ck_assert_uint_eq(value, modes[_i].r == 0 ? modes[_i].value : 01234);
}
END_TEST

START_TEST(spans_count_seconds_unless_said_otherwise)
{
	usec_t span = 7;

	ck_assert_int_eq(value_span("90", &span), 0);
	ck_assert_uint_eq(span, 90 * USEC_PER_SEC);
	ck_assert_int_eq(value_span("1h 30min", &span), 0);
	ck_assert_uint_eq(span, 90 * USEC_PER_MINUTE);
	ck_assert_int_eq(value_span("infinity", &span), 0);
	ck_assert_uint_eq(span, USEC_NEVER);
	ck_assert_int_eq(value_span("5 parsecs", &span), -EINVAL);
	ck_assert_int_eq(value_span("", &span), -EINVAL);
	ck_assert_uint_eq(span, USEC_NEVER);
}
END_TEST

/* The real-time signals are not constants: an offset from RTMIN is written +n, from RTMAX -n. */
enum { AT_RTMIN = 1000, AT_RTMAX = 2000 };

static const struct {
	const char *text;
	int r, value;
} signal_rows[] = {
	{"SIGTERM", 0, SIGTERM},   {"TERM", 0, SIGTERM},        {"15", 0, 15},
	{"KILL", 0, SIGKILL},      {"SIGUSR1", 0, SIGUSR1},     {"SIGWINCH", 0, SIGWINCH},
	{"RTMIN", 0, AT_RTMIN},    {"SIGRTMIN+3", 0, AT_RTMIN + 3}, {"RTMIN+0", 0, AT_RTMIN},
	{"RTMAX", 0, AT_RTMAX},    {"SIGRTMAX-2", 0, AT_RTMAX - 2},
	{"RTMIN+31", -ERANGE, 0},  {"RTMIN-1", -EINVAL, 0},     {"RTMAX+1", -EINVAL, 0},
	{"RTMIN+", -EINVAL, 0},    {"RTMINX", -EINVAL, 0},      {"0", -ERANGE, 0},
	{"65", -ERANGE, 0},        {"-9", -EINVAL, 0},          {"", -EINVAL, 0},
	{"SIG", -EINVAL, 0},       {"sigterm", -EINVAL, 0},     {"SIGSIGTERM", -EINVAL, 0},
	{"SIG15", -EINVAL, 0},     {"FOO", -EINVAL, 0},
};

START_TEST(signals_have_names_and_numbers)
{
	int value = 77, expected = signal_rows[_i].r == 0 ? signal_rows[_i].value : 77;

	if (expected >= AT_RTMAX - 100)
		expected += SIGRTMAX - AT_RTMAX;
	else if (expected >= AT_RTMIN)
		expected += SIGRTMIN - AT_RTMIN;
	ck_assert_int_eq(value_signal(signal_rows[_i].text, &value), signal_rows[_i].r);
	ck_assert_int_eq(value, expected);
}
END_TEST

START_TEST(every_signal_name_leads_back_to_its_number)
{
	char buf[16];
	int back;

	for (int i = 1; i <= SIGRTMAX; i++) {
		ck_assert_int_eq(value_signal(value_signal_name(i, buf), &back), 0);
		ck_assert_int_eq(back, i);
	}
	ck_assert_str_eq(value_signal_name(SIGTERM, buf), "TERM");
	ck_assert_str_eq(value_signal_name(SIGRTMIN, buf), "RTMIN+0");
	ck_assert_str_eq(value_signal_name(SIGRTMIN + 3, buf), "RTMIN+3");
	ck_assert_str_eq(value_signal_name(999, buf), "999");
}
END_TEST

static const struct {
	const char *text;
	unsigned flags;
	int r; /* of the last call */
	const char *words[5];
} lists[] = {
	{"", 0, 0, {NULL}},
	{"  \t ", 0, 0, {NULL}},
	{"a", 0, 0, {"a"}},
	{"  a  b\tc\n d ", 0, 0, {"a", "b", "c", "d"}},
	{"\"a b\" 'c d'", 0, 0, {"a b", "c d"}},
	{"\"it's\" '\"'", 0, 0, {"it's", "\""}},
	{"\"\" ''", 0, 0, {"", ""}},
	{"VAR=\"a b\"c d", 0, 0, {"VAR=a bc", "d"}},
	{"\\a\\b\\f\\n\\r\\t\\v", 0, 0, {"\a\b\f\n\r\t\v"}},
	{"\\\\ \\\" \\' a\\sb", 0, 0, {"\\", "\"", "'", "a b"}},
	{"\\x41\\x7a\\101\\u00e9\\u20AC\\U0001f600", 0, 0, {"AzAé€😀"}},
	{"\"a\\\"b\" 'c\\'d'", 0, 0, {"a\"b", "c'd"}},
	{"\\xe9", 0, 0, {"\xe9"}},
	{"\\0411", 0, 0, {"!1"}},
	{"ok \"open", 0, -EINVAL, {"ok"}},
	{"'open", 0, -EINVAL, {NULL}},
	{"\\q", 0, -EINVAL, {NULL}},
	{"a\\", 0, -EINVAL, {NULL}},
	{"\\x4", 0, -EINVAL, {NULL}},
	{"\\x00", 0, -EINVAL, {NULL}},
	{"\\000", 0, -EINVAL, {NULL}},
	{"\\400", 0, -EINVAL, {NULL}},
	{"\\u0000", 0, -EINVAL, {NULL}},
	{"\\ud800", 0, -EINVAL, {NULL}},
	{"\\U00110000", 0, -EINVAL, {NULL}},
	{"\\u12", 0, -EINVAL, {NULL}},
	{"a\\qb \\x4g \\", VALUE_WORD_KEEP_BACKSLASH, 0, {"a\\qb", "\\x4g", "\\"}},
	{"a\\tb", VALUE_WORD_KEEP_BACKSLASH, 0, {"a\tb"}},
	{"\"open", VALUE_WORD_KEEP_BACKSLASH, -EINVAL, {NULL}},
	{"a\\tb \"c \\\\\"", VALUE_WORD_RAW, 0, {"a\\tb", "c \\\\"}},
	{"'a\\'", VALUE_WORD_RAW, 0, {"a\\"}},
};

START_TEST(words_are_split_and_unquoted_as_systemd_does)
{
	struct arena arena = {0};
	const char *p = lists[_i].text, *before;
	char *word;
	size_t n;
	int r;

	for (n = 0; before = p, (r = value_word(&p, lists[_i].flags, &arena, &word)) > 0; n++) {
		ck_assert_uint_lt(n, ELEMENTS(lists[_i].words) - 1);
		ck_assert_pstr_eq(word, lists[_i].words[n]);
	}
	ck_assert_int_eq(r, lists[_i].r);
	ck_assert_ptr_null(lists[_i].words[n]);
	if (r == 0)
		ck_assert_str_eq(p, "");
	else
		ck_assert_ptr_eq(p, before);
	arena_done(&arena);
}
END_TEST

static Suite *values_suite(void)
{
	Suite *s = suite_create("values");
	TCase *t = tcase_create("values");

	tcase_add_loop_test(t, booleans_are_systemds, 0, ELEMENTS(bools));
	tcase_add_loop_test(t, numbers_are_digits_and_fit, 0, ELEMENTS(unsigneds));
	tcase_add_loop_test(t, signed_numbers_reach_their_ends, 0, ELEMENTS(signeds));
	tcase_add_test(t, some_sizes_count_by_1000);
	tcase_add_loop_test(t, modes_are_octal, 0, ELEMENTS(modes));
	tcase_add_loop_test(t, sizes_count_by_1024, 0, ELEMENTS(sizes));
	tcase_add_test(t, spans_count_seconds_unless_said_otherwise);
	tcase_add_loop_test(t, signals_have_names_and_numbers, 0, ELEMENTS(signal_rows));
	tcase_add_test(t, every_signal_name_leads_back_to_its_number);
	tcase_add_loop_test(t, words_are_split_and_unquoted_as_systemd_does, 0, ELEMENTS(lists));
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(values_suite)
