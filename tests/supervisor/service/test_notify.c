/* SPDX-License-Identifier: MIT */
#include "service/notify.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/run_said.h"
#include "tests/lib/test_main.h"

static struct notification said;
static char message[NOTIFY_BYTES_MAX + 1];

static void parse_bytes(const char *bytes, size_t n)
{
	ck_assert_uint_le(n, NOTIFY_BYTES_MAX);
	memcpy(message, bytes, n);
	message[n] = 'x'; /* whatever was there before */
	notification_parse(message, n, &said);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

START_TEST(lines_that_are_for_us_are_taken)
{
	parse("READY=1\nSTATUS=half done\nMAINPID=1\nEXTEND_TIMEOUT_USEC=1500\nX_SUPD_METRIC=files=42\nWATCHDOG=1\n");
	ck_assert_str_eq(said.status, "half done");
	ck_assert_uint_eq(said.extend, 1500);
	ck_assert_uint_eq(said.n_metrics, 1);
	ck_assert_str_eq(said.metric[0].name, "files");
	ck_assert(said.metric[0].value >= 42 && said.metric[0].value <= 42);
	ck_assert_ptr_null(said.mistake);
}
END_TEST

START_TEST(what_was_not_said_is_told_apart_from_an_empty_status)
{
	parse("READY=1");
	ck_assert_ptr_null(said.status);
	ck_assert_uint_eq(said.extend, 0);
	parse("STATUS=");
	ck_assert_str_eq(said.status, "");
	parse("");
	ck_assert_ptr_null(said.status);
	ck_assert_ptr_null(said.mistake);
}
END_TEST

START_TEST(a_name_is_not_the_beginning_of_another)
{
	parse("XSTATUS=a\nSTATUSES=b\n STATUS=c");
	ck_assert_ptr_null(said.status);
}
END_TEST

START_TEST(a_nul_is_allowed_at_the_end_only)
{
	parse_bytes("STATUS=a\0", 9);
	ck_assert_str_eq(said.status, "a");
	parse_bytes("STATUS=a\0\0", 10);
	ck_assert_ptr_nonnull(said.mistake);
	parse_bytes("STATUS=a\0STATUS=b", 17);
	ck_assert_ptr_null(said.status);
	ck_assert_str_eq(said.mistake, "a message with a NUL byte");
}
END_TEST

START_TEST(a_status_is_utf8)
{
	parse("STATUS=gr\xc3\xbcn");
	ck_assert_str_eq(said.status, "gr\xc3\xbcn");
	parse("STATUS=gr\xfcn");
	ck_assert_ptr_null(said.status);
	ck_assert_str_eq(said.mistake, "STATUS= is not UTF-8");
}
END_TEST

static const struct {
	const char *text;
	bool is_good;
	double value;
} numbers[] = {
	{ "0", true, 0 }, { "-1", true, -1 }, { "+1.5", true, 1.5 }, { ".5", true, 0.5 }, { "5.", true, 5 },
	{ "1e3", true, 1000 }, { "1E-3", true, 0.001 }, { "00012", true, 12 }, { "1e-999", true, 0 },
	{ "", false, 0 }, { "-", false, 0 }, { ".", false, 0 }, { "1e", false, 0 }, { "1e+", false, 0 },
	{ "0x10", false, 0 }, { "inf", false, 0 }, { "nan", false, 0 }, { "-infinity", false, 0 }, { "1 ", false, 0 },
	{ " 1", false, 0 }, { "1,5", false, 0 }, { "1e999", false, 0 }, { "1=2", false, 0 },
};

START_TEST(a_metric_is_a_finite_decimal_number)
{
	char line[64];

	(void) snprintf(line, sizeof(line), "X_SUPD_METRIC=m=%s", numbers[_i].text);
	parse(line);
	ck_assert_uint_eq(said.n_metrics, numbers[_i].is_good);
	ck_assert_int_eq(said.mistake == NULL, numbers[_i].is_good);
	if (numbers[_i].is_good)
		ck_assert(said.metric[0].value >= numbers[_i].value && said.metric[0].value <= numbers[_i].value);
}
END_TEST

static const struct {
	const char *name;
	bool is_good;
} names[] = {
	{ "a", true }, { "_a", true }, { "Files.copied:total-1", true }, { "1a", false }, { "", false }, { "a b", false },
	{ "-a", false }, { "\xc3\xbc", false }, { "a\033[31m", false },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", true },
	{ "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
};

START_TEST(a_metric_has_a_plain_name)
{
	char line[128];

	(void) snprintf(line, sizeof(line), "X_SUPD_METRIC=%s=1", names[_i].name);
	parse(line);
	ck_assert_uint_eq(said.n_metrics, names[_i].is_good);
}
END_TEST

START_TEST(time_is_a_whole_number)
{
	parse("EXTEND_TIMEOUT_USEC=-1");
	ck_assert_uint_eq(said.extend, 0);
	ck_assert_ptr_nonnull(said.mistake);
	parse("EXTEND_TIMEOUT_USEC=18446744073709551615");
	ck_assert_uint_eq(said.extend, UINT64_MAX);
	parse("EXTEND_TIMEOUT_USEC=18446744073709551616");
	ck_assert_uint_eq(said.extend, 0);
}
END_TEST

START_TEST(more_metrics_than_a_run_may_have_are_passed_over)
{
	char text[NOTIFY_BYTES_MAX];
	size_t n = 0;

	for (int i = 0; i < NOTIFY_METRICS_MAX + 10; i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "X_SUPD_METRIC=m%d=%d\n", i, i);
	parse_bytes(text, n);
	ck_assert_uint_eq(said.n_metrics, NOTIFY_METRICS_MAX);
	ck_assert_ptr_nonnull(said.mistake);
}
END_TEST

/* ---- what is kept of it ---- */

START_TEST(the_last_value_of_a_metric_is_kept)
{
	struct run_said *kept = NULL;

	parse("READY=1\nEXTEND_TIMEOUT_USEC=5");
	ck_assert_int_eq(run_said_add(&kept, &said), 0);
	ck_assert_ptr_null(kept);
	parse("X_SUPD_METRIC=a=1\nX_SUPD_METRIC=b=2\nX_SUPD_METRIC=a=3\nSTATUS=x");
	ck_assert_int_eq(run_said_add(&kept, &said), 0);
	parse("X_SUPD_METRIC=b=4");
	ck_assert_int_eq(run_said_add(&kept, &said), 0);
	ck_assert_uint_eq(kept->n_metrics, 2);
	ck_assert_str_eq(kept->metric[0].name, "a");
	ck_assert(kept->metric[0].value >= 3 && kept->metric[0].value <= 3);
	ck_assert(kept->metric[1].value >= 4 && kept->metric[1].value <= 4);
	ck_assert_str_eq(kept->status, "x");
	parse("STATUS=");
	ck_assert_int_eq(run_said_add(&kept, &said), 0);
	ck_assert_ptr_null(kept->status);
	run_said_free(kept);
}
END_TEST

START_TEST(a_run_has_so_many_metrics_and_no_more)
{
	struct run_said *kept = NULL;
	char line[64];

	for (int i = 0; i < NOTIFY_METRICS_MAX + 5; i++) {
		(void) snprintf(line, sizeof(line), "X_SUPD_METRIC=m%d=1", i);
		parse(line);
		ck_assert_int_eq(run_said_add(&kept, &said), 0);
	}
	ck_assert_uint_eq(kept->n_metrics, NOTIFY_METRICS_MAX);
	ck_assert_uint_eq(kept->n_ignored, 5);
	run_said_free(kept);
}
END_TEST

static Suite *notify_suite(void)
{
	Suite *s = suite_create("notify");
	TCase *tc = tcase_create("notify");

	tcase_add_test(tc, lines_that_are_for_us_are_taken);
	tcase_add_test(tc, what_was_not_said_is_told_apart_from_an_empty_status);
	tcase_add_test(tc, a_name_is_not_the_beginning_of_another);
	tcase_add_test(tc, a_nul_is_allowed_at_the_end_only);
	tcase_add_test(tc, a_status_is_utf8);
	tcase_add_loop_test(tc, a_metric_is_a_finite_decimal_number, 0, ELEMENTS(numbers));
	tcase_add_loop_test(tc, a_metric_has_a_plain_name, 0, ELEMENTS(names));
	tcase_add_test(tc, time_is_a_whole_number);
	tcase_add_test(tc, more_metrics_than_a_run_may_have_are_passed_over);
	tcase_add_test(tc, the_last_value_of_a_metric_is_kept);
	tcase_add_test(tc, a_run_has_so_many_metrics_and_no_more);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(notify_suite)
