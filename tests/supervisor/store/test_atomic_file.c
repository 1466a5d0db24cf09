/* SPDX-License-Identifier: MIT */
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static char *top;
static int dir_fd;
static char sentence[512];

static void setup(void)
{
	umask(0); /* the worst: what is made must be closed all the same */
	top = test_dir_new();
	dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
}

static void teardown(void)
{
	close(dir_fd);
	top = test_dir_free(top);
}

static void write_text(const char *text)
{
	ck_assert_int_eq(atomic_file_write(dir_fd, "state", text, strlen(text)), 0);
}

static void assert_read(unsigned generation, const char *expected)
{
	void *bytes = NULL;
	size_t n = 0;

	ck_assert_int_eq(atomic_file_read(dir_fd, "state", generation, 1000, &bytes, &n), 0);
	ck_assert_uint_eq(n, strlen(expected));
	ck_assert_mem_eq(bytes, expected, n);
	free(bytes);
}

static int read_result(const char *name, unsigned generation)
{
	void *bytes = NULL;
	size_t n = 0;
	int r = atomic_file_read(dir_fd, name, generation, 1000, &bytes, &n);

	if (r == 0)
		free(bytes);
	return r;
}

static bool exists(const char *name)
{
	return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

START_TEST(what_was_written_is_read_and_the_one_before_kept)
{
	struct stat st;

	ck_assert_int_eq(read_result("state", 0), -ENOENT);
	write_text("one");
	assert_read(0, "one");
	ck_assert_int_eq(read_result("state", 1), -ENOENT);
	write_text("two");
	write_text("three");
	assert_read(0, "three");
	assert_read(1, "two");
	ck_assert_int_eq(read_result("state", 2), -ENOENT);
	ck_assert_int_eq(fstatat(dir_fd, "state", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert(!exists(".state.tmp"));
	ck_assert(!exists(".state.1.tmp"));
}
END_TEST

START_TEST(an_empty_file_and_one_with_nul_bytes_are_fine)
{
	void *bytes;
	size_t n;

	write_text("");
	assert_read(0, "");
	ck_assert_int_eq(atomic_file_write(dir_fd, "state", "a\0b", 3), 0);
	ck_assert_int_eq(atomic_file_read(dir_fd, "state", 0, 3, &bytes, &n), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_mem_eq(bytes, "a\0b", 3);
	free(bytes);
}
END_TEST

START_TEST(a_large_file_arrives_whole)
{
	size_t n = 3000000, got;
	char *large = malloc(n);
	void *bytes;

	for (size_t i = 0; i < n; i++)
		large[i] = (char) (i * 31 >> 7);
	ck_assert_int_eq(atomic_file_write(dir_fd, "state", large, n), 0);
	ck_assert_int_eq(atomic_file_read(dir_fd, "state", 0, n - 1, &bytes, &got), -EFBIG);
	ck_assert_int_eq(atomic_file_read(dir_fd, "state", 0, n, &bytes, &got), 0);
	ck_assert_uint_eq(got, n);
	ck_assert_mem_eq(bytes, large, n);
	free(bytes);
	free(large);
}
END_TEST

START_TEST(what_a_crash_left_is_no_hindrance)
{
	test_dir_write_text(top, ".state.tmp", "torn");
	test_dir_write_text(top, ".state.1.tmp", "torn");
	write_text("one");
	assert_read(0, "one");
	test_dir_write_text(top, ".state.tmp", "torn");
	/* a crash between the link of the generation before and the last rename */
	ck_assert_int_eq(linkat(dir_fd, "state", dir_fd, "state.1", 0), 0);
	ck_assert_int_eq(linkat(dir_fd, "state", dir_fd, ".state.1.tmp", 0), 0);
	assert_read(1, "one");
	write_text("two");
	assert_read(0, "two");
	assert_read(1, "one");
	ck_assert(!exists(".state.1.tmp"));
}
END_TEST

START_TEST(sweeping_takes_only_temporary_files)
{
	write_text("one");
	write_text("two");
	test_dir_write_text(top, ".state.tmp", "torn");
	test_dir_write_text(top, ".state.1.tmp", "torn");
	test_dir_write_text(top, ".other.tmp", "not ours");
	atomic_file_sweep(dir_fd, "state");
	ck_assert(!exists(".state.tmp"));
	ck_assert(!exists(".state.1.tmp"));
	ck_assert(exists(".other.tmp"));
	assert_read(0, "two");
	assert_read(1, "one");
}
END_TEST

START_TEST(a_disk_that_takes_no_more_leaves_the_old_file)
{
	struct rlimit before, small = {.rlim_cur = 2000};
	char large[4000];

	memset(large, 'x', sizeof(large));
	write_text("old");
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	ck_assert_int_eq(atomic_file_write(dir_fd, "state", large, sizeof(large)), -EFBIG);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_read(0, "old");
	ck_assert(!exists(".state.tmp"));
	write_text("new");
	assert_read(0, "new");
	assert_read(1, "old");
}
END_TEST

START_TEST(every_step_that_fails_leaves_the_old_file)
{
	write_text("old");
	/* a directory stands where the temporary file, the link or the generation before should
	 * go */
	static const char *const obstacle[] = {".state.tmp", ".state.1.tmp", "state.1"};

	for (size_t i = 0; i < ELEMENTS(obstacle); i++) {
		ck_assert_int_eq(mkdirat(dir_fd, obstacle[i], 0700), 0);
		ck_assert_int_lt(atomic_file_write(dir_fd, "state", "new", 3), 0);
		assert_read(0, "old");
		ck_assert_int_eq(unlinkat(dir_fd, obstacle[i], AT_REMOVEDIR), 0);
		ck_assert(!exists(".state.tmp"));
	}
	write_text("new");
	assert_read(0, "new");
}
END_TEST

START_TEST(only_files_of_ours_are_read)
{
	ck_assert_int_eq(mkdirat(dir_fd, "dir", 0700), 0);
	ck_assert_int_eq(mkfifoat(dir_fd, "fifo", 0600), 0);
	test_dir_write_text(top, "open", "x");
	ck_assert_int_eq(fchmodat(dir_fd, "open", 0620, 0), 0);
	test_dir_write_text(top, "plain", "x");
	ck_assert_int_eq(fchmodat(dir_fd, "plain", 0644, 0), 0);
	ck_assert_int_eq(symlinkat("plain", dir_fd, "link"), 0);
	ck_assert_int_eq(read_result("dir", 0), -EINVAL);
	ck_assert_int_eq(read_result("fifo", 0), -EINVAL);
	ck_assert_int_eq(read_result("open", 0), -EPERM);
	ck_assert_int_eq(read_result("link", 0), -ELOOP);
	ck_assert_int_eq(read_result("plain", 0), 0);
	if (geteuid() == 0) {
		ck_assert_int_eq(fchownat(dir_fd, "plain", 1234, 0, 0), 0);
		ck_assert_int_eq(read_result("plain", 0), -EPERM);
	}
}
END_TEST

START_TEST(a_link_is_replaced_not_followed)
{
	test_dir_write_text(top, "victim", "untouched");
	ck_assert_int_eq(symlinkat("victim", dir_fd, "state"), 0);
	ck_assert_int_eq(symlinkat("victim", dir_fd, ".state.tmp"), 0);
	write_text("new");
	assert_read(0, "new");
	{
		char *victim = test_dir_read(top, "victim", NULL);

		ck_assert_str_eq(victim, "untouched");
		free(victim);
	}
}
END_TEST

START_TEST(names_are_names)
{
	char long_name[300];

	memset(long_name, 'a', sizeof(long_name));
	long_name[250] = '\0';
	ck_assert_int_eq(atomic_file_write(dir_fd, "../state", "x", 1), -EINVAL);
	ck_assert_int_eq(atomic_file_write(dir_fd, "", "x", 1), -EINVAL);
	ck_assert_int_eq(atomic_file_write(dir_fd, long_name, "x", 1), -ENAMETOOLONG);
	ck_assert_int_eq(read_result("a/b", 0), -EINVAL);
}
END_TEST

START_TEST(a_corrupt_file_is_set_aside_under_a_name_of_its_own)
{
	char name[256];

	write_text("one");
	ck_assert_int_eq(atomic_file_set_aside(dir_fd, "state", "2026", name, sizeof(name)), 0);
	ck_assert_str_eq(name, "state.bad-2026");
	ck_assert_int_eq(read_result("state", 0), -ENOENT);
	write_text("two");
	ck_assert_int_eq(atomic_file_set_aside(dir_fd, "state", "2026", name, sizeof(name)), 0);
	ck_assert_str_eq(name, "state.bad-2026-1");
	ck_assert_int_eq(read_result("state.bad-2026", 0), 0);
	ck_assert_int_eq(atomic_file_set_aside(dir_fd, "state", "2026", name, sizeof(name)), -ENOENT);
	ck_assert_int_eq(atomic_file_set_aside(dir_fd, "state", "../x", name, sizeof(name)), -EINVAL);
}
END_TEST

/* ---- the directory ---- */

static int open_dir(const char *name)
{
	char *path = test_dir_path(top, name);
	int fd = state_dir_open(path, sentence, sizeof(sentence));

	free(path);
	return fd;
}

START_TEST(a_directory_is_made_for_us_alone)
{
	struct stat st;
	int fd = open_dir("a/b/state///");

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_str_eq(sentence, "");
	close(fd);
	ck_assert_int_eq(fstatat(dir_fd, "a/b", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 022, 0);
	fd = open_dir("a/b/state");
	ck_assert_int_ge(fd, 0);
	close(fd);
}
END_TEST

START_TEST(a_link_is_no_directory_of_ours)
{
	ck_assert_int_eq(mkdirat(dir_fd, "real", 0700), 0);
	ck_assert_int_eq(symlinkat("real", dir_fd, "link"), 0);
	ck_assert_int_eq(open_dir("link"), -EPERM);
	ck_assert_ptr_nonnull(strstr(sentence, "/link is a link, not a directory"));
	ck_assert_int_eq(open_dir("link/"), -EPERM);
}
END_TEST

START_TEST(a_directory_others_may_write_is_refused)
{
	ck_assert_int_eq(mkdirat(dir_fd, "open", 0777), 0);
	ck_assert_int_eq(open_dir("open"), -EPERM);
	ck_assert_ptr_nonnull(strstr(sentence, "/open is writable by others (mode 0777); chmod go-w it"));
	if (geteuid() == 0) {
		ck_assert_int_eq(mkdirat(dir_fd, "theirs", 0700), 0);
		ck_assert_int_eq(fchownat(dir_fd, "theirs", 1234, 0, 0), 0);
		ck_assert_int_eq(open_dir("theirs"), -EPERM);
		ck_assert_ptr_nonnull(strstr(sentence, "/theirs belongs to uid 1234, not to uid 0"));
	}
}
END_TEST

START_TEST(what_is_in_the_way_is_told)
{
	test_dir_write_text(top, "file", "x");
	ck_assert_int_eq(open_dir("file"), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(sentence, "/file cannot be used: Not a directory"));
	ck_assert_int_eq(open_dir("file/below"), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(sentence, "cannot be used: Not a directory"));
}
END_TEST

static Suite *atomic_file_suite(void)
{
	Suite *s = suite_create("atomic_file");
	TCase *t = tcase_create("atomic_file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, what_was_written_is_read_and_the_one_before_kept);
	tcase_add_test(t, an_empty_file_and_one_with_nul_bytes_are_fine);
	tcase_add_test(t, a_large_file_arrives_whole);
	tcase_add_test(t, what_a_crash_left_is_no_hindrance);
	tcase_add_test(t, sweeping_takes_only_temporary_files);
	tcase_add_test(t, a_disk_that_takes_no_more_leaves_the_old_file);
	tcase_add_test(t, every_step_that_fails_leaves_the_old_file);
	tcase_add_test(t, only_files_of_ours_are_read);
	tcase_add_test(t, a_link_is_replaced_not_followed);
	tcase_add_test(t, names_are_names);
	tcase_add_test(t, a_corrupt_file_is_set_aside_under_a_name_of_its_own);
	tcase_add_test(t, a_directory_is_made_for_us_alone);
	tcase_add_test(t, a_link_is_no_directory_of_ours);
	tcase_add_test(t, a_directory_others_may_write_is_refused);
	tcase_add_test(t, what_is_in_the_way_is_told);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(atomic_file_suite)
