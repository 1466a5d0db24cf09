/* SPDX-License-Identifier: MIT */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static char *top;
static int dir_fd;

static void setup(void)
{
	top = test_dir_new();
	dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir_fd, 0);
}

static void teardown(void)
{
	close(dir_fd);
	top = test_dir_free(top);
}

START_TEST(the_first_gets_it_and_the_second_learns_who_has_it)
{
	pid_t holder = -1;
	int first = lock_take(dir_fd, "lock", &holder), second;
	struct stat st;
	char expected[32], *text;

	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(fstat(first, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fcntl(first, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_eq(lock_take(dir_fd, "lock", &holder), -EAGAIN);
	ck_assert_int_eq(holder, getpid());
	close(first);
	second = lock_take(dir_fd, "lock", &holder);
	ck_assert_int_ge(second, 0);
	text = test_dir_read(top, "lock", NULL);
	snprintf(expected, sizeof(expected), "%d\n", (int) getpid());
	ck_assert_str_eq(text, expected);
	free(text);
	close(second);
}
END_TEST

START_TEST(it_ends_with_the_process_that_holds_it)
{
	int ready[2], done[2], status, fd;
	pid_t child, holder;
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(done), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (lock_take(dir_fd, "lock", &holder) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		close(done[1]);
		(void) !read(done[0], &byte, 1);
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(lock_take(dir_fd, "lock", &holder), -EAGAIN);
	ck_assert_int_eq(holder, child);
	close(done[1]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	fd = lock_take(dir_fd, "lock", &holder);
	ck_assert_int_ge(fd, 0);
	close(fd);
	close(done[0]);
	close(ready[0]);
	close(ready[1]);
}
END_TEST

START_TEST(a_shorter_pid_replaces_a_longer_text)
{
	pid_t holder;
	char *text;
	int fd;

	test_dir_write_text(top, "lock", "99999999999999\nand more\n");
	fd = lock_take(dir_fd, "lock", &holder);
	ck_assert_int_ge(fd, 0);
	text = test_dir_read(top, "lock", NULL);
	ck_assert_int_eq(atoi(text), (int) getpid());
	ck_assert_ptr_null(strstr(text, "more"));
	free(text);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(lock_take(dir_fd, "lock", &holder), -EAGAIN);
	ck_assert_int_eq(holder, 0); /* who: not known */
	close(fd);
}
END_TEST

START_TEST(links_and_fifos_are_no_locks)
{
	pid_t holder;

	ck_assert_int_eq(symlinkat("elsewhere", dir_fd, "link"), 0);
	ck_assert_int_eq(mkfifoat(dir_fd, "fifo", 0600), 0);
	ck_assert_int_eq(lock_take(dir_fd, "link", &holder), -ELOOP);
	ck_assert_int_eq(lock_take(dir_fd, "fifo", &holder), -EINVAL);
	ck_assert_int_eq(faccessat(dir_fd, "elsewhere", F_OK, 0), -1);
}
END_TEST

static Suite *lock_suite(void)
{
	Suite *s = suite_create("lock");
	TCase *t = tcase_create("lock");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, the_first_gets_it_and_the_second_learns_who_has_it);
	tcase_add_test(t, it_ends_with_the_process_that_holds_it);
	tcase_add_test(t, a_shorter_pid_replaces_a_longer_text);
	tcase_add_test(t, links_and_fifos_are_no_locks);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(lock_suite)
