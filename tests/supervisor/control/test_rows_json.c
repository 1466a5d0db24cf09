/* SPDX-License-Identifier: MIT */
#include "control/rows_json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "control/rows.h"
#include "tests/lib/test_main.h"

static const char *const words[] = { "a", "b\xff" };
static const struct supd_field inner_fields[] = { { .key = "x", .type = SUPD_BOOL, .value.boolean = true } };
static const struct supd_row inner = { inner_fields, 1 };
static const struct supd_field fields[] = {
	{ .key = "next", .type = SUPD_TIMESTAMP, .value.usec = UINT64_C(1795242209320574) },
	{ .key = "left", .type = SUPD_SPAN, .value.usec = 14 },
	{ .key = "last", .type = SUPD_TIMESTAMP, .value.usec = SUPD_NEVER },
	{ .key = "passed", .type = SUPD_NULL },
	{ .key = "unit", .type = SUPD_STRING, .value.string = "gr\"ün\n\x7f" },
	{ .key = "number", .type = SUPD_NUMBER, .value.number = -1 },
	{ .key = "row", .type = SUPD_ROW, .value.row = &inner },
	{ .key = "rows", .type = SUPD_ROWS, .value.rows = { &inner, 1 } },
	{ .key = "none", .type = SUPD_ROWS },
	{ .key = "words", .type = SUPD_STRINGS, .value.strings = { words, 2 } },
	{ .key = "no_words", .type = SUPD_STRINGS },
	{ .key = "real", .type = SUPD_REAL, .value.real = 0.5 },
	{ .key = "whole", .type = SUPD_REAL, .value.real = -42 },
	{ .key = "large", .type = SUPD_REAL, .value.real = 1e300 },
};
static const struct supd_row row = { fields, ELEMENTS(fields) };

static char *print(json_t *json, bool is_pretty, bool is_terminal)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(rows_json_print(json, is_pretty, is_terminal, f), 0);
	fclose(f);
	return text;
}

START_TEST(a_row_is_an_object_with_its_keys_in_order)
{
	_cleanup_free_ char *text = print(rows_json_object(&row), false, false);

	ck_assert_str_eq(text, "{\"next\":1795242209320574,\"left\":14,\"last\":null,\"passed\":null,"
			       "\"unit\":\"gr\\\"ün\\n\x7f\",\"number\":-1,\"row\":{\"x\":true},"
			       "\"rows\":[{\"x\":true}],\"none\":[],\"words\":[\"a\",\"b\\\\xff\"],"
			       "\"no_words\":[],\"real\":0.5,\"whole\":-42,\"large\":1e300}\n");
}
END_TEST

START_TEST(no_rows_are_an_empty_array)
{
	_cleanup_free_ char *text = print(rows_json_array(NULL, 0), false, false);

	ck_assert_str_eq(text, "[]\n");
}
END_TEST

START_TEST(a_terminal_gets_ascii)
{
	const struct supd_field f = { .key = "k", .type = SUPD_STRING, .value.string = "\xc2\x9b" "31m" };
	_cleanup_free_ char *text = print(rows_json_object(&(const struct supd_row){ &f, 1 }), true, true);

	ck_assert_str_eq(text, "{\n  \"k\": \"\\u009B31m\"\n}\n");
}
END_TEST

START_TEST(an_error_has_three_keys)
{
	_cleanup_free_ char *text = print(rows_json_error("no such \"unit\"", 4), false, false);

	ck_assert_str_eq(text, "{\"error\":true,\"message\":\"no such \\\"unit\\\"\",\"exitcode\":4}\n");
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	FILE *f = fopen("/dev/full", "we");
	int r;

	ck_assert_ptr_nonnull(f);
	setbuf(f, NULL);
	r = rows_json_print(rows_json_array(NULL, 0), false, false, f);
	ck_assert_int_eq(r, -EIO);
	ck_assert_int_eq(rows_json_print(NULL, false, false, f), -ENOMEM);
	fclose(f);
}
END_TEST

/* ---- rows ---- */

START_TEST(fields_are_found_by_key_and_type)
{
	size_t n;

	ck_assert_str_eq(row_string(&row, "unit"), "gr\"ün\n\x7f");
	ck_assert_ptr_null(row_string(&row, "next"));
	ck_assert_ptr_null(row_string(&row, "nothing"));
	ck_assert_uint_eq(row_usec(&row, "left"), 14);
	ck_assert_uint_eq(row_usec(&row, "passed"), USEC_NEVER);
	ck_assert_int_eq(row_number(&row, "number", 7), -1);
	ck_assert_int_eq(row_number(&row, "unit", 7), 7);
	ck_assert(row_bool(&inner, "x") && !row_bool(&row, "unit"));
	ck_assert_ptr_eq(row_rows(&row, "rows", &n), &inner);
	ck_assert_uint_eq(n, 1);
	ck_assert_ptr_null(row_rows(&row, "words", &n));
	ck_assert_uint_eq(n, 0);
	ck_assert_ptr_eq(row_strings(&row, "words", &n), words);
	ck_assert_uint_eq(n, 2);
	ck_assert_ptr_null(row_strings(&row, "passed", &n));
	ck_assert_uint_eq(n, 0);
}
END_TEST

static Suite *rows_json_suite(void)
{
	Suite *s = suite_create("control/rows_json");
	TCase *tc = tcase_create("rows_json");

	tcase_add_test(tc, a_row_is_an_object_with_its_keys_in_order);
	tcase_add_test(tc, no_rows_are_an_empty_array);
	tcase_add_test(tc, a_terminal_gets_ascii);
	tcase_add_test(tc, an_error_has_three_keys);
	tcase_add_test(tc, a_full_disk_is_an_error);
	tcase_add_test(tc, fields_are_found_by_key_and_type);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(rows_json_suite)
