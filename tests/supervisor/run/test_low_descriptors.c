/* SPDX-License-Identifier: MIT */
/* What a child is handed by a daemon that holds many descriptors, and what is left of it there. */
#include "run/low_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/run/scene.h"

#define HIGH 200      /* no low descriptor */
#define LIMIT 1024    /* RLIMIT_NOFILE here */
#define MANY 400

static void set_limit(rlim_t soft)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = soft;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void set_up(void)
{
	set_limit(LIMIT);
}

static bool is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
}

/* A pipe with high numbers. */
static void open_pipe(int ret[2])
{
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	for (int i = 0; i < 2; i++) {
		ret[i] = fcntl(fd[i], F_DUPFD_CLOEXEC, HIGH);
		ck_assert_int_ge(ret[i], HIGH);
		close(fd[i]);
	}
}

static void expect_end(int fd)
{
	char byte;

	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(read(fd, &byte, 1), 0);
}

START_TEST(copies_are_low_and_nothing_is_left_of_them)
{
	int end[2], fd[LOW_DESCRIPTORS], set;
	char bytes[4] = "";

	low_descriptors_prepare();
	open_pipe(end);
	for (int i = 0; i < LOW_DESCRIPTORS; i++)
		fd[i] = end[1];
	set = low_descriptors_take(fd);
	ck_assert_int_ge(set, 0);
	for (int i = 0; i < LOW_DESCRIPTORS; i++) {
		ck_assert_int_gt(fd[i], STDERR_FILENO);
		ck_assert_int_lt(fd[i], HIGH);
		ck_assert_int_eq(fcntl(fd[i], F_GETFD), FD_CLOEXEC);
		ck_assert_int_eq(write(fd[i], &"abc"[i], 1), 1);
	}
	ck_assert_int_eq(read(end[0], bytes, 3), 3);
	ck_assert_str_eq(bytes, "abc");
	close(end[1]);
	low_descriptors_give(set);
	expect_end(end[0]);
	for (int i = 0; i < LOW_DESCRIPTORS; i++) {
		ck_assert(is_null(fd[i]));
		ck_assert_int_eq(fcntl(fd[i], F_GETFD), FD_CLOEXEC);
	}
}
END_TEST

START_TEST(low_ones_stay_as_they_are)
{
	int fd[LOW_DESCRIPTORS] = { 10, 11, 96 };

	low_descriptors_prepare();
	ck_assert_int_eq(low_descriptors_take(fd), -1);
	ck_assert(fd[0] == 10 && fd[1] == 11 && fd[2] == 96);
	low_descriptors_give(-1);
}
END_TEST

START_TEST(without_being_prepared_there_are_none)
{
	int end[2], fd[LOW_DESCRIPTORS];

	open_pipe(end);
	for (int i = 0; i < LOW_DESCRIPTORS; i++)
		fd[i] = end[1];
	ck_assert_int_eq(low_descriptors_take(fd), -1);
	ck_assert_int_eq(fd[0], end[1]);
}
END_TEST

static unsigned count_open(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < LIMIT; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

START_TEST(a_low_limit_is_left_to_the_runs)
{
	static const rlim_t limits[] = { 511, 512 };
	unsigned n = count_open();
	int end[2], fd[LOW_DESCRIPTORS];

	set_limit(limits[_i]);
	low_descriptors_prepare();
	if (limits[_i] < 512)
		ck_assert_uint_eq(count_open(), n);
	open_pipe(end);
	for (int i = 0; i < LOW_DESCRIPTORS; i++)
		fd[i] = end[1];
	ck_assert_int_eq(low_descriptors_take(fd) >= 0, limits[_i] >= 512);
}
END_TEST

START_TEST(standard_streams_are_never_among_them)
{
	int end[2], fd[LOW_DESCRIPTORS], saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 500);

	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	low_descriptors_prepare();
	ck_assert_int_eq(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
	open_pipe(end);
	for (;;) {
		for (int i = 0; i < LOW_DESCRIPTORS; i++)
			fd[i] = end[1];
		if (low_descriptors_take(fd) < 0)
			break;
		for (int i = 0; i < LOW_DESCRIPTORS; i++)
			ck_assert_int_gt(fd[i], STDERR_FILENO);
	}
}
END_TEST

START_TEST(when_all_are_taken_numbers_stay_as_they_are)
{
	int end[2], fd[LOW_DESCRIPTORS], set, last = -1;
	bool is_seen[LIMIT] = { false };

	low_descriptors_prepare();
	open_pipe(end);
	for (;;) {
		for (int i = 0; i < LOW_DESCRIPTORS; i++)
			fd[i] = end[1];
		set = low_descriptors_take(fd);
		if (set < 0)
			break;
		last = set;
		for (int i = 0; i < LOW_DESCRIPTORS; i++) {
			ck_assert(!is_seen[fd[i]]);
			is_seen[fd[i]] = true;
		}
	}
	ck_assert_int_eq(fd[0], end[1]);
	low_descriptors_give(last);
	ck_assert_int_eq(low_descriptors_take(fd), last);
}
END_TEST

/* By prlimit(1), say. A copy that stayed open would keep the pipe from its end. */
START_TEST(a_limit_that_was_lowered_leaves_no_copy)
{
	int end[2], fd[LOW_DESCRIPTORS], again[LOW_DESCRIPTORS], set, other;

	low_descriptors_prepare();
	open_pipe(end);
	for (int i = 0; i < LOW_DESCRIPTORS; i++)
		fd[i] = again[i] = end[1];
	set = low_descriptors_take(fd);
	ck_assert_int_ge(set, 0);
	set_limit(0);
	low_descriptors_give(set);
	set_limit(LIMIT);
	for (int i = 0; i < LOW_DESCRIPTORS; i++)
		ck_assert_int_lt(fcntl(fd[i], F_GETFD), 0);
	/* Somebody gets the number, who keeps it. */
	other = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(other, fd[0]);
	while ((set = low_descriptors_take(again)) >= 0)
		for (int i = 0; i < LOW_DESCRIPTORS; i++) {
			ck_assert_int_ne(again[i], other);
			again[i] = end[1];
		}
	close(other);
}
END_TEST

enum { THREADS = 16, ROUNDS = 300 };

static void *hand_over(void *userdata)
{
	int *end = userdata;

	for (int round = 0; round < ROUNDS; round++) {
		int fd[LOW_DESCRIPTORS] = { end[1], end[1], end[1] }, number = end[0], got;
		int set = low_descriptors_take(fd);

		/* It is our pipe, whoever else has one. */
		for (int i = 0; i < LOW_DESCRIPTORS; i++)
			if (write(fd[i], &number, sizeof(number)) != sizeof(number) ||
			    read(end[0], &got, sizeof(got)) != sizeof(got) || got != number)
				return NULL;
		low_descriptors_give(set);
	}
	return userdata;
}

START_TEST(more_threads_than_sets_do_not_disturb_one_another)
{
	pthread_t thread[THREADS];
	int end[THREADS][2];
	void *r;

	low_descriptors_prepare();
	for (int i = 0; i < THREADS; i++) {
		open_pipe(end[i]);
		/* Nobody waits for what never comes. */
		ck_assert_int_eq(fcntl(end[i][0], F_SETFL, O_NONBLOCK), 0);
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, hand_over, end[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(thread[i], &r), 0);
		ck_assert_ptr_nonnull(r);
		close(end[i][1]);
	}
	for (int i = 0; i < THREADS; i++)
		expect_end(end[i][0]);
}
END_TEST

/* ---- with children ---- */

static struct scene *scene;

/* Of a daemon with several hundred runs. */
static void set_up_crowded(void)
{
	set_up();
	scene = scene_new(NULL);
	for (int i = 0; i < MANY; i++)
		ck_assert_int_ge(open("/dev/zero", O_RDONLY | O_CLOEXEC), 3);
}

static void tear_down(void)
{
	scene = scene_free(scene);
}

static void read_targets(char target[LIMIT][64])
{
	for (int fd = 0; fd < LIMIT; fd++) {
		char path[64];
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target[fd], sizeof(target[fd]) - 1);
		target[fd][n < 0 ? 0 : n] = '\0';
	}
}

static void release(world_token token)
{
	scene->world->release(scene->world->ctx, token, false);
}

START_TEST(child_of_a_crowded_daemon_gets_its_streams_and_no_more)
{
	static const char *const keys[] = { "fd0", "fd1", "fd2" };
	static const char *const values[] = { "/dev/null blocking", "pipe blocking", "pipe blocking" };

	scene_report(scene, 1);
	for (size_t i = 0; i < ELEMENTS(keys); i++) {
		ck_assert_ptr_nonnull(scene_value(scene, keys[i]));
		ck_assert_str_eq(scene_value(scene, keys[i]), values[i]);
	}
	for (int fd = 3; fd < LIMIT; fd++) {
		char key[16];

		snprintf(key, sizeof(key), "fd%d", fd);
		ck_assert_msg(!scene_value(scene, key), "descriptor %d leaked", fd);
	}
}
END_TEST

START_TEST(crowded_daemon_keeps_nothing_of_a_child)
{
	static char before[LIMIT][64], after[LIMIT][64];

	/* What is opened once. */
	scene_report(scene, 1);
	release(1);
	read_targets(before);
	for (world_token t = 2; t < 6; t++) {
		scene_report(scene, t);
		release(t);
	}
	/* Of one that cannot be executed, too. */
	ck_assert_int_eq(scene_spawn(scene, 6, (const char *const[]) { "/nonexistent/program", NULL }), 0);
	scene_expect(scene, ANSWER_SPAWN_FAILED);
	release(6);
	read_targets(after);
	for (int fd = 0; fd < LIMIT; fd++)
		ck_assert_msg(str_equal(before[fd], after[fd]), "descriptor %d was %s and is %s", fd, before[fd],
			      after[fd]);
}
END_TEST

START_TEST(many_children_of_a_crowded_daemon_print_to_the_right_place)
{
	enum { N = 30 };
	unsigned n_exited = 0;
	char text[32];

	for (world_token t = 1; t <= N; t++) {
		snprintf(text, sizeof(text), "this is %d\n", (int) t);
		ck_assert_int_eq(scene_spawn(scene, t, (const char *const[]) { "say", text, NULL }), 0);
	}
	while (n_exited < N) {
		struct answer a = scene_next(scene);

		ck_assert(a.kind == ANSWER_SPAWNED || a.kind == ANSWER_EXITED);
		n_exited += a.kind == ANSWER_EXITED;
	}
	for (world_token t = 1; t <= N; t++) {
		snprintf(text, sizeof(text), "this is %d", (int) t);
		ck_assert(scene_has_line(scene, "stdout", text));
		ck_assert(scene_has_line(scene, "stderr", text));
		release(t);
	}
	ck_assert_uint_eq(scene_count_lines(scene, "stdout"), N);
	ck_assert_uint_eq(scene_count_lines(scene, "stderr"), N);
}
END_TEST

static Suite *low_descriptors_suite(void)
{
	Suite *s = suite_create("low_descriptors");
	TCase *alone = tcase_create("alone"), *crowded = tcase_create("crowded");

	tcase_add_checked_fixture(alone, set_up, NULL);
	tcase_set_timeout(alone, 60);
	tcase_add_test(alone, copies_are_low_and_nothing_is_left_of_them);
	tcase_add_test(alone, low_ones_stay_as_they_are);
	tcase_add_test(alone, without_being_prepared_there_are_none);
	tcase_add_loop_test(alone, a_low_limit_is_left_to_the_runs, 0, 2);
	tcase_add_test(alone, standard_streams_are_never_among_them);
	tcase_add_test(alone, when_all_are_taken_numbers_stay_as_they_are);
	tcase_add_test(alone, a_limit_that_was_lowered_leaves_no_copy);
	tcase_add_test(alone, more_threads_than_sets_do_not_disturb_one_another);
	suite_add_tcase(s, alone);
	tcase_add_checked_fixture(crowded, set_up_crowded, tear_down);
	tcase_set_timeout(crowded, 60);
	tcase_add_test(crowded, child_of_a_crowded_daemon_gets_its_streams_and_no_more);
	tcase_add_test(crowded, crowded_daemon_keeps_nothing_of_a_child);
	tcase_add_test(crowded, many_children_of_a_crowded_daemon_print_to_the_right_place);
	suite_add_tcase(s, crowded);
	return s;
}

TEST_MAIN(low_descriptors_suite)
