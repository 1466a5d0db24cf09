/* SPDX-License-Identifier: MIT */
#include "service/not_applied.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "service/spec.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

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
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(key, not_applied_key_at(k));
	}
	ck_assert_uint_gt(strlen(not_applied_key_at(0)), 0);
}
END_TEST

START_TEST(each_key_that_is_not_applied_is_explained)
{
	const struct key_table *table = service_keys();

	for (size_t i = 0; i < table->n; i++)
		if (table->row[i].kind == KEY_NOT_APPLIED)
			ck_assert_msg(not_applied_reason(table->row[i].key) == NOT_APPLIED_SANDBOX ||
					      !str_equal(not_applied_explanation(table->row[i].key), not_applied_explanation(NULL)),
				      "%s= has no explanation of its own", table->row[i].key);
	for (size_t i = 0; not_applied_key_at(i); i++)
		ck_assert_msg(row_of(not_applied_key_at(i))->kind == KEY_NOT_APPLIED, "%s= is applied", not_applied_key_at(i));
}
END_TEST

/* Keys and what they ask for: is anything missing? */
static const struct {
	const char *lines;
	unsigned n_warnings;
} asked[] = {
	{ "PrivateTmp=yes", 1 }, { "PrivateTmp=no", 0 }, { "PrivateTmp=yes\nPrivateTmp=no", 0 },
	{ "PrivateTmp=no\nPrivateTmp=yes", 1 }, { "PrivateTmp=yes\nPrivateTmp=", 0 }, { "ProtectProc=default", 0 },
	{ "ProtectProc=invisible", 1 }, { "DevicePolicy=auto\nDevicePolicy=closed", 1 }, { "WatchdogSec=0", 0 },
	{ "ReadWritePaths=/a\nReadWritePaths=\nReadWritePaths=/b", 1 }, { "PrivateTmp=yes\nProtectHome=no", 1 },
	{ "StartupMemoryMax=0", 1 }, { "[Unit]\nSuccessAction=none\nFailureAction=reboot", 1 },
};

START_TEST(what_is_so_anyway_is_not_missing)
{
	_cleanup_free_ char *text = NULL;
	struct spec_text t;

	ck_assert_int_gt(asprintf(&text, "ExecStart=a\n%s", asked[_i].lines), 0);
	spec_text_init(&t, text);
	ck_assert_uint_eq(t.diag.n_errors, 0);
	ck_assert_uint_eq(t.diag.n_warnings, asked[_i].n_warnings);
	ck_assert_uint_eq(t.diag.n, asked[_i].n_warnings);
	spec_text_done(&t);
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
	tcase_add_test(tc, each_key_that_is_not_applied_is_explained);
	tcase_add_loop_test(tc, what_is_so_anyway_is_not_missing, 0, ELEMENTS(asked));
	tcase_add_test(tc, a_sandbox_option_says_that_the_service_runs_without);
	tcase_add_test(tc, what_needs_systemd_says_what_to_do);
	tcase_add_test(tc, any_other_key_is_merely_unsupported);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(not_applied_suite)
