/* SPDX-License-Identifier: MIT */
#include "run/directories.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define NOBODY 65534

static char *dir;
static struct exec_directories d;
static enum exec_step step;

static void set_up(void)
{
	dir = test_dir_new();
	d = (struct exec_directories) { 0 };
	step = EXEC_STEP_NONE;
	(void) umask(077);
}

static void tear_down(void)
{
	test_dir_free(dir);
}

/* The folders @path (to NULL) of a kind, below the scratch folder. */
static void ask(enum exec_directory_kind kind, mode_t mode, const char *const *path)
{
	d.set[kind] = (struct exec_directory_set) { .root = dir, .path = path, .mode = mode };
}

static struct stat look(const char *name)
{
	_cleanup_free_ char *path = test_dir_path(dir, name);
	struct stat st;

	ck_assert_msg(lstat(path, &st) == 0, "no %s", name);
	return st;
}

static bool is_there(const char *name)
{
	_cleanup_free_ char *path = test_dir_path(dir, name);

	return access(path, F_OK) == 0;
}

static void make_folder(const char *name)
{
	_cleanup_free_ char *path = test_dir_path(dir, name);

	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

static void make_link(const char *to, const char *name)
{
	_cleanup_free_ char *path = test_dir_path(dir, name), *target = test_dir_path(dir, to);

	ck_assert_int_eq(symlink(target, path), 0);
}

START_TEST(folders_are_made_with_their_mode)
{
	ask(EXEC_DIRECTORY_STATE, 0710, (const char *const[]) { "a/b", "c", NULL });
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), 0);
	ck_assert_uint_eq(look("a").st_mode & 07777, 0755);
	ck_assert_uint_eq(look("a/b").st_mode & 07777, 0710);
	ck_assert_uint_eq(look("c").st_mode & 07777, 0710);
}
END_TEST

START_TEST(the_mode_of_an_old_folder_is_put_right)
{
	make_folder("a");
	ask(EXEC_DIRECTORY_CACHE, 0700, (const char *const[]) { "a", NULL });
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), 0);
	ck_assert_uint_eq(look("a").st_mode & 07777, 0700);
}
END_TEST

START_TEST(configuration_stays_as_it_is)
{
	make_folder("a");
	ask(EXEC_DIRECTORY_CONFIGURATION, 0700, (const char *const[]) { "a", "b", NULL });
	ck_assert_int_eq(directories_make(&d, NOBODY, NOBODY, &step), 0);
	ck_assert_uint_eq(look("a").st_mode & 07777, 0755);
	ck_assert_uint_eq(look("b").st_mode & 07777, 0700);
	ck_assert_uint_eq(look("b").st_uid, geteuid());
}
END_TEST

START_TEST(what_is_in_it_goes_to_the_new_owner)
{
	_cleanup_free_ char *outside = test_dir_path(dir, "outside"), *hard = test_dir_path(dir, "a/hard");

	if (geteuid() != 0)
		return;
	make_folder("a");
	make_folder("a/below");
	test_dir_write_text(dir, "a/below/file", "x");
	test_dir_write_text(dir, "outside", "x");
	make_link("outside", "a/link");
	ck_assert_int_eq(link(outside, hard), 0);
	ask(EXEC_DIRECTORY_STATE, 0755, (const char *const[]) { "a", NULL });
	ck_assert_int_eq(directories_make(&d, NOBODY, NOBODY, &step), 0);
	ck_assert_uint_eq(look("a").st_uid, NOBODY);
	ck_assert_uint_eq(look("a/below/file").st_uid, NOBODY);
	ck_assert_uint_eq(look("a/below/file").st_gid, NOBODY);
	ck_assert_uint_eq(look("outside").st_uid, 0);
}
END_TEST

START_TEST(links_of_others_are_not_followed)
{
	char *path = test_dir_path(dir, "a");

	make_folder("elsewhere");
	make_link("elsewhere", "a");
	ask(EXEC_DIRECTORY_LOGS, 0700, (const char *const[]) { "a", NULL });
	/* one of ours is */
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), 0);
	ck_assert_uint_eq(look("elsewhere").st_mode & 07777, 0700);
	if (geteuid() == 0) {
		ck_assert_int_eq(lchown(path, NOBODY, NOBODY), 0);
		ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), -ENOTDIR);
		ck_assert_int_eq(step, EXEC_STEP_LOGS_DIRECTORY);
	}
	free(path);
}
END_TEST

START_TEST(a_file_in_the_way_is_told)
{
	test_dir_write_text(dir, "a", "x");
	ask(EXEC_DIRECTORY_RUNTIME, 0755, (const char *const[]) { "a", NULL });
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), -ENOTDIR);
	ck_assert_int_eq(step, EXEC_STEP_RUNTIME_DIRECTORY);
}
END_TEST

START_TEST(a_root_that_is_missing_is_made)
{
	_cleanup_free_ char *root = test_dir_path(dir, "home/.local/state");

	d.set[EXEC_DIRECTORY_STATE] =
		(struct exec_directory_set) { .root = root, .path = (const char *const[]) { "a", NULL }, .mode = 0755 };
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), 0);
	ck_assert(is_there("home/.local/state/a"));
}
END_TEST

START_TEST(what_is_set_aside_can_be_made_anew)
{
	_cleanup_free_ char *aside = NULL;

	ask(EXEC_DIRECTORY_RUNTIME, 0755, (const char *const[]) { "a/b", NULL });
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), 0);
	test_dir_write_text(dir, "a/b/old", "x");
	make_folder("outside");
	test_dir_write_text(dir, "outside/file", "x");
	make_link("outside", "a/b/link");
	ck_assert_int_eq(directories_set_aside(dir, "a/b", &aside), 0);
	ck_assert(!is_there("a/b"));
	ck_assert_int_eq(directories_make(&d, (uid_t) -1, (gid_t) -1, &step), 0);
	ck_assert(!is_there("a/b/old"));
	ck_assert_int_eq(directories_remove(dir, aside), 0);
	ck_assert(!is_there(aside));
	ck_assert(is_there("a/b"));
	ck_assert(is_there("outside/file"));
}
END_TEST

START_TEST(what_is_not_there_need_not_go)
{
	char *aside;

	ck_assert_int_eq(directories_set_aside(dir, "a", &aside), -ENOENT);
	ck_assert_int_eq(directories_set_aside(dir, "a/b", &aside), -ENOENT);
	ck_assert_int_eq(directories_remove(dir, "a"), -ENOENT);
}
END_TEST

static Suite *directories_suite(void)
{
	Suite *s = suite_create("directories");
	TCase *tc = tcase_create("directories");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, folders_are_made_with_their_mode);
	tcase_add_test(tc, the_mode_of_an_old_folder_is_put_right);
	tcase_add_test(tc, configuration_stays_as_it_is);
	tcase_add_test(tc, what_is_in_it_goes_to_the_new_owner);
	tcase_add_test(tc, links_of_others_are_not_followed);
	tcase_add_test(tc, a_file_in_the_way_is_told);
	tcase_add_test(tc, a_root_that_is_missing_is_made);
	tcase_add_test(tc, what_is_set_aside_can_be_made_anew);
	tcase_add_test(tc, what_is_not_there_need_not_go);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(directories_suite)
