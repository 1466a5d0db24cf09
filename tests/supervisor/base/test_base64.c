/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct {
	const char *text, *bytes;
} rows[] = {
	/* RFC 4648, section 10 */
	{ "", "" }, { "Zg==", "f" }, { "Zm8=", "fo" }, { "Zm9v", "foo" }, { "Zm9vYg==", "foob" },
	{ "Zm9vYmE=", "fooba" }, { "Zm9vYmFy", "foobar" }, { "//79", "\xff\xfe\xfd" },
};

START_TEST(text_and_bytes_go_both_ways)
{
	_cleanup_free_ char *text = base64_encode(rows[_i].bytes, strlen(rows[_i].bytes));
	_cleanup_free_ void *bytes = NULL;
	size_t n;

	ck_assert_str_eq(text, rows[_i].text);
	ck_assert_int_eq(base64_decode(text, &bytes, &n), 0);
	ck_assert_uint_eq(n, strlen(rows[_i].bytes));
	ck_assert_str_eq((const char *) bytes, rows[_i].bytes);
}
END_TEST

START_TEST(blanks_are_passed_over)
{
	_cleanup_free_ void *bytes = NULL;
	size_t n;

	ck_assert_int_eq(base64_decode(" Zm9v\n\tYm Fy ", &bytes, &n), 0);
	ck_assert_str_eq((const char *) bytes, "foobar");
}
END_TEST

static const char *const mistakes[] = { "Z", "Zg", "Zg=", "Zg=x", "=", "====", "Zm9v!", "Zg==Zg==", "Zm9vY", "Z===" };

START_TEST(anything_else_is_refused)
{
	void *bytes;
	size_t n;

	ck_assert_int_eq(base64_decode(mistakes[_i], &bytes, &n), -EINVAL);
}
END_TEST

START_TEST(all_lengths_of_all_bytes_survive)
{
	uint8_t all[256];

	for (unsigned i = 0; i < sizeof(all); i++)
		all[i] = (uint8_t) (i * 151);
	for (size_t n = 0; n <= sizeof(all); n++) {
		_cleanup_free_ char *text = base64_encode(all, n);
		_cleanup_free_ void *bytes = NULL;
		size_t got;

		ck_assert_int_eq(base64_decode(text, &bytes, &got), 0);
		ck_assert_uint_eq(got, n);
		ck_assert_mem_eq(bytes, all, n);
	}
}
END_TEST

static Suite *base64_suite(void)
{
	Suite *s = suite_create("base64");
	TCase *tc = tcase_create("base64");

	tcase_add_loop_test(tc, text_and_bytes_go_both_ways, 0, ELEMENTS(rows));
	tcase_add_test(tc, blanks_are_passed_over);
	tcase_add_loop_test(tc, anything_else_is_refused, 0, ELEMENTS(mistakes));
	tcase_add_test(tc, all_lengths_of_all_bytes_survive);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(base64_suite)
