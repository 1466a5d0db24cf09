/* SPDX-License-Identifier: MIT */
#include "service/not_applied.h"

#include "base/cleanup.h"
#include "service/spec.h"
#include "tests/lib/test_main.h"

static const struct key_row *row_of(const char *key)
{
	const struct key_table *table = service_keys();

	for (size_t i = 0; i < table->n; i++)
		if (str_equal(table->row[i].key, key))
			return &table->row[i];
	return NULL;
}

START_TEST(the_table_names_keys_of_services)
{
	const char *key;

	for (size_t i = 0; (key = not_applied_key_at(i)); i++) {
		ck_assert_msg(row_of(key), "%s= is no key of a service", key);
		ck_assert_msg(not_applied_reason(key) != NOT_APPLIED_UNSUPPORTED, "%s= has no reason", key);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(key, not_applied_key_at(k));
	}
	ck_assert_uint_gt(strlen(not_applied_key_at(0)), 0);
}
END_TEST

START_TEST(a_sandbox_option_says_that_the_service_runs_without)
{
	ck_assert_int_eq(not_applied_reason("PrivateTmp"), NOT_APPLIED_SANDBOX);
	ck_assert_str_eq(not_applied_explanation("PrivateTmp"),
			 "supd has no sandbox; the service runs without this protection");
	ck_assert_str_eq(not_applied_reason_to_string(NOT_APPLIED_SANDBOX), "sandbox");
}
END_TEST

START_TEST(what_needs_systemd_says_what_to_do)
{
	const char *all;

	for (size_t i = 0; (all = not_applied_key_at(i)); i++)
		if (not_applied_reason(all) == NOT_APPLIED_NEEDS_SYSTEMD)
			ck_assert_str_ne(not_applied_explanation(all), "this makes sense only under systemd");
	ck_assert_int_eq(not_applied_reason("Slice"), NOT_APPLIED_NEEDS_SYSTEMD);
	ck_assert_ptr_nonnull(strstr(not_applied_explanation("Slice"), "set the limits in the service itself"));
}
END_TEST

START_TEST(any_other_key_is_merely_unsupported)
{
	ck_assert_int_eq(not_applied_reason("ExecStart"), NOT_APPLIED_UNSUPPORTED);
	ck_assert_int_eq(not_applied_reason(NULL), NOT_APPLIED_UNSUPPORTED);
	ck_assert_ptr_nonnull(not_applied_explanation(NULL));
}
END_TEST

static Suite *not_applied_suite(void)
{
	Suite *s = suite_create("not_applied");
	TCase *tc = tcase_create("not_applied");

	tcase_add_test(tc, the_table_names_keys_of_services);
	tcase_add_test(tc, a_sandbox_option_says_that_the_service_runs_without);
	tcase_add_test(tc, what_needs_systemd_says_what_to_do);
	tcase_add_test(tc, any_other_key_is_merely_unsupported);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(not_applied_suite)
