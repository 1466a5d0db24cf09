/* SPDX-License-Identifier: MIT */
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static char *top;
static int dir_fd;

static void setup(void)
{
	umask(077);
	top = test_dir_new();
	dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
}

static void teardown(void)
{
	close(dir_fd);
	top = test_dir_free(top);
}

/* How much was expected and how much is there need not agree: files grow and shrink. */
static const struct {
	size_t n, expected, max;
	int r;
} sizes[] = {
	{0, 0, 100, 0},      {0, 50, 100, 0},        {100, 100, 100, 0},          {101, 100, 100, -EFBIG},
	{101, 0, 100, -EFBIG}, {5000, 0, 5000, 0},   {5000, 4999, 10000, 0},      {5000, 100000, 5000, 0},
	{5000, 1000, 4999, -EFBIG}, {200000, 1, 1000000, 0},
};

START_TEST(a_file_is_read_to_its_end)
{
	char *content = malloc(sizes[_i].n + 1), *bytes = NULL;
	size_t n = 0;
	int fd;

	memset(content, 'x', sizes[_i].n);
	test_dir_write(top, "f", content, sizes[_i].n);
	fd = openat(dir_fd, "f", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(file_read_all(fd, sizes[_i].expected, sizes[_i].max, &bytes, &n), sizes[_i].r);
	if (sizes[_i].r == 0) {
		ck_assert_uint_eq(n, sizes[_i].n);
		ck_assert_mem_eq(bytes, content, n);
		ck_assert_int_eq(bytes[n], '\0');
		free(bytes);
	}
	close(fd);
	free(content);
}
END_TEST

START_TEST(what_comes_in_pieces_is_read_whole)
{
	char *bytes = NULL;
	int fd[2];
	size_t n;

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	ck_assert_int_eq(file_write_all(fd[1], "one ", 4), 0);
	ck_assert_int_eq(file_write_all(fd[1], "two", 3), 0);
	close(fd[1]);
	ck_assert_int_eq(file_read_all(fd[0], 2, 100, &bytes, &n), 0);
	ck_assert_str_eq(bytes, "one two");
	free(bytes);
	close(fd[0]);
}
END_TEST

START_TEST(a_disk_that_is_full_is_an_error)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(file_write_all(fd, "x", 1), -ENOSPC);
	close(fd);
}
END_TEST

START_TEST(a_new_file_has_its_mode_and_replaces_what_was_there)
{
	struct stat st;
	char *text;

	test_dir_write_text(top, "victim", "untouched");
	ck_assert_int_eq(symlinkat("victim", dir_fd, "f"), 0);
	ck_assert_int_eq(file_write_new(dir_fd, "f", 0644, "new", 3), 0);
	ck_assert_int_eq(fstatat(dir_fd, "f", &st, AT_SYMLINK_NOFOLLOW), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	text = test_dir_read(top, "victim", NULL);
	ck_assert_str_eq(text, "untouched");
	free(text);
}
END_TEST

START_TEST(directories_are_made_with_their_mode)
{
	char *path = test_dir_path(top, "a//b/c");
	struct stat st;

	ck_assert_int_eq(mkdirat(dir_fd, "a", 0700), 0);
	ck_assert_int_eq(file_make_dirs(path, 0755), 0);
	ck_assert_int_eq(file_make_dirs(path, 0700), 0);
	ck_assert_int_eq(fstatat(dir_fd, "a", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700); /* stood already */
	ck_assert_int_eq(fstatat(dir_fd, "a/b/c", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_eq(file_make_dirs("/", 0755), 0);
	free(path);
}
END_TEST

START_TEST(a_file_in_the_way_is_an_error)
{
	char *path = test_dir_path(top, "f/b");

	test_dir_write_text(top, "f", "x");
	ck_assert_int_eq(file_make_dirs(path, 0755), -ENOTDIR);
	free(path);
}
END_TEST

static Suite *file_suite(void)
{
	Suite *s = suite_create("file");
	TCase *t = tcase_create("file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_file_is_read_to_its_end, 0, ELEMENTS(sizes));
	tcase_add_test(t, what_comes_in_pieces_is_read_whole);
	tcase_add_test(t, a_disk_that_is_full_is_an_error);
	tcase_add_test(t, a_new_file_has_its_mode_and_replaces_what_was_there);
	tcase_add_test(t, directories_are_made_with_their_mode);
	tcase_add_test(t, a_file_in_the_way_is_an_error);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(file_suite)
