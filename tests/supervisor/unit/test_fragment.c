/* SPDX-License-Identifier: MIT */
#include "unit/fragment.h"

#include <stdio.h>

#include "tests/lib/test_main.h"
#include "unit/source.h"

#define TEXT(s) ((char *) (uintptr_t) (s))

static const char *path_of(const char *path, const char *folder, bool *ret_is_shared)
{
	static char buf[FRAGMENT_PATH_MAX];
	struct unit_piece piece = { .path = TEXT(path), .folder = folder };
	struct unit_source source = { .name = TEXT("a.service"), .piece = &piece, .n_pieces = path ? 1 : 0 };
	struct fragment f, copy;
	const char *found;

	ck_assert_int_eq(fragment_init(&f, &source), 0);
	ck_assert_int_eq(fragment_copy(&f, &copy), 0);
	*ret_is_shared = !f.path;
	fragment_done(&f);
	found = fragment_path(&copy, "a.service", buf);
	if (found && found != buf)
		(void) snprintf(buf, sizeof(buf), "%s", found);
	fragment_done(&copy);
	return found ? buf : NULL;
}

START_TEST(in_a_folder_under_its_name_only_the_folder_is_kept)
{
	bool is_shared;

	ck_assert_str_eq(path_of("/etc/supd/units/a.service", "/etc/supd/units", &is_shared), "/etc/supd/units/a.service");
	ck_assert(is_shared);
}
END_TEST

START_TEST(any_other_path_is_kept_whole)
{
	static const struct {
		const char *path, *folder;
	} rows[] = {
		{ "/etc/a.service", NULL },
		{ "/etc/a@.service", "/etc" },
		{ "/etc/b/a.service", "/etc" },
		{ "/etcetera/a.service", "/etc" },
		{ "a.service", "" },
	};
	bool is_shared;

	ck_assert_str_eq(path_of(rows[_i].path, rows[_i].folder, &is_shared), rows[_i].path);
	ck_assert(!is_shared);
}
END_TEST

START_TEST(without_a_file_there_is_none)
{
	bool is_shared;

	ck_assert_ptr_null(path_of(NULL, NULL, &is_shared));
}
END_TEST

static Suite *fragment_suite(void)
{
	Suite *s = suite_create("fragment");
	TCase *tc = tcase_create("fragment");

	tcase_add_test(tc, in_a_folder_under_its_name_only_the_folder_is_kept);
	tcase_add_loop_test(tc, any_other_path_is_kept_whole, 0, 5);
	tcase_add_test(tc, without_a_file_there_is_none);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(fragment_suite)
