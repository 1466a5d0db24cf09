/* SPDX-License-Identifier: MIT */
#include "store/unit_links.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/unit_files.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define DEFAULT "default.target.wants"

static char *top, *etc, *lib, *fragment;

static void setup(void)
{
	umask(077); /* as the daemon's is */
	top = test_dir_new();
	etc = test_dir_path(top, "a/etc");
	lib = test_dir_path(top, "lib");
	fragment = test_dir_path(top, "lib/a.service");
	test_dir_write_text(top, "lib/a.service", "[Service]\n");
	test_dir_write_text(top, "lib/a.timer", "[Timer]\n");
}

static void teardown(void)
{
	free(etc);
	free(lib);
	free(fragment);
	top = test_dir_free(top);
}

/* What the daemon will see. */
static struct unit_source seen(const char *name)
{
	struct unit_source source;
	struct unit_files *files;
	struct diag d = {0};

	ck_assert_int_eq(unit_files_new(&(struct unit_files_config) {.dirs = (const char *const[]) {etc, lib, NULL}},
					&files), 0);
	ck_assert_int_eq(unit_files_scan(files, ~0u, &d), 0);
	ck_assert_int_eq(unit_files_read(files, name, &source), 0);
	unit_files_free(files);
	diag_done(&d);
	return source;
}

static bool is_wanted(const char *name)
{
	struct unit_source source = seen(name);
	bool wanted = source.is_wanted;

	unit_source_done(&source);
	return wanted;
}

static mode_t mode_of(const char *name)
{
	char *path = test_dir_path(top, name);
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	free(path);
	return st.st_mode & 07777;
}

START_TEST(a_service_is_enabled_by_a_link_once)
{
	char *link = test_dir_path(top, "a/etc/default.target.wants/a.service"), target[PATH_MAX] = "";

	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), 1);
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), 0);
	ck_assert_int_gt(readlink(link, target, sizeof(target) - 1), 0);
	ck_assert_str_eq(target, fragment);
	ck_assert(is_wanted("a.service"));
	ck_assert_uint_eq(mode_of("a/etc"), 0755);
	ck_assert_uint_eq(mode_of("a/etc/default.target.wants"), 0755);
	free(link);
}
END_TEST

START_TEST(a_service_is_disabled_once)
{
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 0);
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), 1);
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 1);
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 0);
	ck_assert(!is_wanted("a.service"));
}
END_TEST

START_TEST(a_stale_link_is_replaced)
{
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", "/old/a.service"), 1);
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), 1);
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), 0);
}
END_TEST

START_TEST(what_a_package_enabled_can_be_turned_off_and_on)
{
	ck_assert_int_eq(unit_links_put(lib, DEFAULT, "a.service", fragment), 1);
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 0);
	ck_assert(is_wanted("a.service")); /* the package's link is still there */
	ck_assert_int_eq(unit_links_off(etc, DEFAULT, "a.service"), 1);
	ck_assert_int_eq(unit_links_off(etc, DEFAULT, "a.service"), 0);
	ck_assert(!is_wanted("a.service"));
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 0); /* that link says no, and stays */
	ck_assert(!is_wanted("a.service"));
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), 1);
	ck_assert(is_wanted("a.service"));
	ck_assert_int_eq(unit_links_no_longer_off(etc, DEFAULT, "a.service"), 0);
	ck_assert_int_eq(unit_links_off(etc, DEFAULT, "a.service"), 1);
	ck_assert_int_eq(unit_links_no_longer_off(etc, DEFAULT, "a.service"), 1);
	ck_assert(is_wanted("a.service")); /* the package's, again */
}
END_TEST

START_TEST(all_links_of_a_unit_are_removed_and_no_others)
{
	static const char *const dirs[] = { "x.target.wants", "y.target.requires", "z.service.upholds" };
	char *alias = test_dir_path(top, "a/etc/alias.service"), *other = test_dir_path(top, "a/etc/other.service");
	char *own = test_dir_path(top, "a/etc/a.service"), *twin = test_dir_path(top, "a/etc/b@x.service");

	for (size_t i = 0; i < ELEMENTS(dirs); i++)
		ck_assert_int_eq(unit_links_put(etc, dirs[i], "a.service", fragment), 1);
	ck_assert_int_eq(unit_links_put(etc, "x.target.wants", "b.service", fragment), 1);
	ck_assert_int_eq(unit_links_put(etc, "", "alias.service", fragment), 1);
	ck_assert_int_eq(unit_links_put(etc, "", "other.service", "/lib/b.service"), 1);
	ck_assert_int_eq(unit_links_put(etc, "", "a.service", "/outside/a.service"), 1);
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 1);
	for (size_t i = 0; i < ELEMENTS(dirs); i++) {
		char *path = test_dir_path(etc, dirs[i]), *link = test_dir_path(path, "a.service");

		ck_assert_int_eq(faccessat(AT_FDCWD, link, F_OK, AT_SYMLINK_NOFOLLOW), -1);
		free(link);
		free(path);
	}
	ck_assert_int_eq(faccessat(AT_FDCWD, alias, F_OK, AT_SYMLINK_NOFOLLOW), -1);
	ck_assert_int_eq(faccessat(AT_FDCWD, other, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert_int_eq(faccessat(AT_FDCWD, own, F_OK, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert_int_eq(unit_links_remove(etc, "a.service"), 0);
	/* other names of an instance */
	ck_assert_int_eq(unit_links_put(etc, "", "b@x.service", "/lib/a@.service"), 1);
	ck_assert_int_eq(unit_links_remove(etc, "a@y.service"), 0);
	ck_assert_int_eq(unit_links_remove(etc, "a@x.service"), 1);
	ck_assert_int_eq(faccessat(AT_FDCWD, twin, F_OK, AT_SYMLINK_NOFOLLOW), -1);
	free(alias);
	free(other);
	free(own);
	free(twin);
}
END_TEST

START_TEST(a_file_does_not_give_way_to_a_link)
{
	test_dir_write_text(top, "a/etc/b.service", "[Service]\n");
	test_dir_write_text(top, "a/etc/default.target.wants/b.service", "[Service]\n");
	ck_assert_int_eq(unit_links_put(etc, "", "b.service", fragment), -EEXIST);
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "b.service", fragment), -EEXIST);
	ck_assert_int_eq(unit_links_mask(etc, "b.service"), -EEXIST);
	ck_assert_int_eq(unit_links_unmask(etc, "b.service"), 0);
	ck_assert_int_eq(unit_links_put(etc, "", "c.service", fragment), 1);
	/* the same unit */
	ck_assert_int_eq(unit_links_put(etc, "", "c.service", "/old/a.service"), 1);
	ck_assert_int_eq(unit_links_put(etc, "", "c.service", "/lib/b.service"), -EEXIST);
	ck_assert_int_eq(unit_links_mask(etc, "c.service"), -EEXIST);
}
END_TEST

START_TEST(a_mask_is_a_link_that_comes_and_goes)
{
	struct unit_source source;

	ck_assert_int_eq(unit_links_unmask(etc, "a.service"), 0);
	ck_assert_int_eq(unit_links_mask(etc, "a.service"), 1);
	ck_assert_int_eq(unit_links_mask(etc, "a.service"), 0);
	source = seen("a.service");
	ck_assert(source.is_masked);
	unit_source_done(&source);
	ck_assert_int_eq(unit_links_unmask(etc, "a.service"), 1);
	ck_assert_int_eq(unit_links_unmask(etc, "a.service"), 0);
	source = seen("a.service");
	ck_assert(!source.is_masked);
	unit_source_done(&source);
}
END_TEST

START_TEST(a_timer_is_switched_by_a_drop_in)
{
	struct unit_source source;

	ck_assert_int_eq(unit_links_dropin(etc, "a.timer", "Timer", false), 1);
	ck_assert_int_eq(unit_links_dropin(etc, "a.timer", "Timer", false), 0);
	source = seen("a.timer");
	ck_assert_uint_eq(source.n_pieces, 2);
	ck_assert_str_eq(source.piece[1].bytes, "# written by supctl enable and disable\n[Timer]\nEnabled=no\n");
	unit_source_done(&source);
	ck_assert_int_eq(unit_links_dropin(etc, "a.timer", "Timer", true), 1);
	source = seen("a.timer");
	ck_assert_uint_eq(source.n_pieces, 2);
	ck_assert_ptr_nonnull(strstr(source.piece[1].bytes, "\n[Timer]\nEnabled=yes\n"));
	unit_source_done(&source);
	ck_assert_uint_eq(mode_of("a/etc/a.timer.d/50-enabled.conf"), 0644);
	ck_assert_uint_eq(mode_of("a/etc/a.timer.d"), 0755);
	ck_assert_int_eq(unit_links_no_dropin(etc, "a.timer"), 1);
	ck_assert_int_eq(unit_links_no_dropin(etc, "a.timer"), 0);
	source = seen("a.timer");
	ck_assert_uint_eq(source.n_pieces, 1);
	unit_source_done(&source);
}
END_TEST

START_TEST(names_that_are_no_units_reach_no_file)
{
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "../a.service", fragment), -EINVAL);
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a", fragment), -EINVAL);
	ck_assert_int_eq(unit_links_off(etc, DEFAULT, ""), -EINVAL);
	ck_assert_int_eq(unit_links_put(etc, "../x.wants", "a.service", fragment), -EINVAL);
	ck_assert_int_eq(unit_links_put(etc, "a.service.d", "a.service", fragment), -EINVAL);
	ck_assert_int_eq(unit_links_mask(etc, "../a.service"), -EINVAL);
	ck_assert_int_eq(unit_links_unmask(etc, "/a.service"), -EINVAL);
	ck_assert_int_eq(unit_links_remove(etc, "a/b.service"), -EINVAL);
	ck_assert_int_eq(unit_links_no_dropin(etc, "../a.timer"), -EINVAL);
	ck_assert_int_eq(unit_links_dropin(etc, "x/../a.timer", "Timer", true), -EINVAL);
	ck_assert_int_eq(access(etc, F_OK), -1);
}
END_TEST

START_TEST(what_is_in_the_way_is_an_error)
{
	test_dir_write_text(top, "a/etc/default.target.wants", "a file");
	test_dir_write_text(top, "a/etc/a.timer.d", "a file");
	ck_assert_int_eq(unit_links_put(etc, DEFAULT, "a.service", fragment), -ENOTDIR);
	ck_assert_int_eq(unit_links_dropin(etc, "a.timer", "Timer", true), -ENOTDIR);
}
END_TEST

static Suite *unit_links_suite(void)
{
	Suite *s = suite_create("unit_links");
	TCase *t = tcase_create("unit_links");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_service_is_enabled_by_a_link_once);
	tcase_add_test(t, a_service_is_disabled_once);
	tcase_add_test(t, a_stale_link_is_replaced);
	tcase_add_test(t, what_a_package_enabled_can_be_turned_off_and_on);
	tcase_add_test(t, all_links_of_a_unit_are_removed_and_no_others);
	tcase_add_test(t, a_file_does_not_give_way_to_a_link);
	tcase_add_test(t, a_mask_is_a_link_that_comes_and_goes);
	tcase_add_test(t, a_timer_is_switched_by_a_drop_in);
	tcase_add_test(t, names_that_are_no_units_reach_no_file);
	tcase_add_test(t, what_is_in_the_way_is_an_error);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(unit_links_suite)
