/* SPDX-License-Identifier: MIT */
/* What run/ relies on in sd-event, and what it must not do to it. sd-event(3) and its neighbours
 * say most of it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static sd_event *event;
static unsigned n_called;
static int order[16];

static void set_up(void)
{
	sigset_t mask;

	n_called = 0;
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGUSR1);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, NULL), 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
}

static void tear_down(void)
{
	event = sd_event_unref(event);
}

static int turn(void)
{
	return sd_event_run(event, 10 * USEC_PER_SEC);
}

static int on_defer(sd_event_source *source, void *userdata)
{
	(void) source;
	order[n_called++ % ELEMENTS(order)] = (int) (intptr_t) userdata;
	return 0;
}

static sd_event_source *defer(int number, int64_t priority)
{
	sd_event_source *source;

	ck_assert_int_ge(sd_event_add_defer(event, &source, on_defer, (void *) (intptr_t) number), 0);
	ck_assert_int_ge(sd_event_source_set_priority(source, priority), 0);
	return source;
}

START_TEST(one_turn_dispatches_one_source_by_priority)
{
	sd_event_source *a = defer(1, 10), *b = defer(2, -10), *c = defer(3, 0);

	for (unsigned i = 1; i <= 3; i++) {
		ck_assert_int_gt(turn(), 0);
		ck_assert_uint_eq(n_called, i);
	}
	ck_assert_int_eq(order[0], 2);
	ck_assert_int_eq(order[1], 3);
	ck_assert_int_eq(order[2], 1);
	sd_event_source_unref(a);
	sd_event_source_unref(b);
	sd_event_source_unref(c);
}
END_TEST

START_TEST(defer_fires_once_and_again_when_enabled_again)
{
	sd_event_source *a = defer(1, 0);

	ck_assert_int_gt(turn(), 0);
	ck_assert_int_eq(sd_event_run(event, 0), 0);
	ck_assert_int_ge(sd_event_source_set_enabled(a, SD_EVENT_ONESHOT), 0);
	ck_assert_uint_eq(n_called, 1);
	ck_assert_int_gt(turn(), 0);
	ck_assert_uint_eq(n_called, 2);
	sd_event_source_unref(a);
}
END_TEST

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	uint64_t now;

	(void) usec;
	n_called++;
	ck_assert_int_ge(sd_event_now(event, (clockid_t) (intptr_t) userdata, &now), 0);
	ck_assert_uint_ge(now, usec);
	(void) source;
	return 0;
}

static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_BOOTTIME };

START_TEST(both_clocks_have_timers_that_are_never_early)
{
	sd_event_source *source;
	uint64_t now;

	ck_assert_int_ge(sd_event_now(event, clocks[_i], &now), 0);
	ck_assert_int_ge(sd_event_add_time(event, &source, clocks[_i], now + 5 * USEC_PER_MSEC, 1, on_time,
					   (void *) (intptr_t) clocks[_i]), 0);
	while (n_called == 0)
		ck_assert_int_ge(turn(), 0);
	/* it was one shot */
	ck_assert_int_eq(sd_event_run(event, 20 * USEC_PER_MSEC), 0);
	ck_assert_int_ge(sd_event_source_set_time(source, 0), 0);
	ck_assert_int_ge(sd_event_source_set_enabled(source, SD_EVENT_ONESHOT), 0);
	ck_assert_int_gt(turn(), 0);
	ck_assert_uint_eq(n_called, 2);
	sd_event_source_unref(source);
}
END_TEST

static int on_spend_time(sd_event_source *source, void *userdata)
{
	uint64_t before[2], after[2];
	struct timespec begin, ts;

	(void) source;
	(void) userdata;
	for (size_t i = 0; i < ELEMENTS(clocks); i++)
		ck_assert_int_ge(sd_event_now(event, clocks[i], &before[i]), 0);
	clock_gettime(CLOCK_BOOTTIME, &begin);
	do
		clock_gettime(CLOCK_BOOTTIME, &ts);
	while (ts.tv_sec == begin.tv_sec && ts.tv_nsec - begin.tv_nsec < 2000000);
	for (size_t i = 0; i < ELEMENTS(clocks); i++) {
		ck_assert_int_eq(sd_event_now(event, clocks[i], &after[i]), 0);
		ck_assert_uint_eq(before[i], after[i]);
	}
	n_called++;
	return 0;
}

START_TEST(now_is_one_moment_a_turn)
{
	sd_event_source *source;

	ck_assert_int_ge(sd_event_add_defer(event, &source, on_spend_time, NULL), 0);
	ck_assert_int_gt(turn(), 0);
	ck_assert_uint_eq(n_called, 1);
	sd_event_source_unref(source);
}
END_TEST

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void) source;
	(void) userdata;
	n_called++;
	order[0] = (int) info->ssi_signo;
	return 0;
}

START_TEST(signal_that_was_pending_before_is_heard)
{
	sd_event_source *source;

	ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
	ck_assert_int_ge(sd_event_add_signal(event, &source, SIGUSR1, on_signal, NULL), 0);
	ck_assert_int_gt(turn(), 0);
	ck_assert_int_eq(order[0], SIGUSR1);
	sd_event_source_unref(source);
}
END_TEST

START_TEST(signal_that_is_not_blocked_is_refused)
{
	sd_event_source *source;

	ck_assert_int_eq(sd_event_add_signal(event, &source, SIGUSR2, on_signal, NULL), -EBUSY);
}
END_TEST

START_TEST(children_that_die_together_may_give_one_signal)
{
	sd_event_source *source;
	siginfo_t info;

	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			_exit(0);
	/* all dead, none reaped */
	for (int i = 0; i < 3;) {
		ck_assert_int_eq(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
		ck_assert_int_eq(waitid(P_PID, (id_t) info.si_pid, &info, WEXITED), 0);
		i++;
	}
	ck_assert_int_ge(sd_event_add_signal(event, &source, SIGCHLD, on_signal, NULL), 0);
	ck_assert_int_gt(turn(), 0);
	ck_assert_int_eq(sd_event_run(event, 0), 0);
	ck_assert_uint_eq(n_called, 1);
	sd_event_source_unref(source);
}
END_TEST

static int on_child(sd_event_source *source, const siginfo_t *info, void *userdata)
{
	(void) source;
	(void) info;
	(void) userdata;
	n_called++;
	return 0;
}

/* Why nothing here waits for "any child". */
START_TEST(child_that_another_reaps_breaks_the_loop)
{
	sd_event_source *source;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_ge(sd_event_add_child(event, &source, pid, WEXITED, on_child, NULL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(sd_event_run(event, USEC_PER_SEC), -ECHILD);
	ck_assert_uint_eq(n_called, 0);
	sd_event_source_unref(source);
}
END_TEST

START_TEST(peek_leaves_the_dead_where_they_are)
{
	siginfo_t first, second;
	pid_t pid = fork();

	if (pid == 0)
		_exit(7);
	ck_assert_int_eq(waitid(P_ALL, 0, &first, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(waitid(P_ALL, 0, &second, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(first.si_pid, pid);
	ck_assert_int_eq(second.si_pid, pid);
	ck_assert_int_eq(second.si_status, 7);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	(void) fd;
	(void) revents;
	n_called++;
	/* Freed by its own handler. */
	if (userdata)
		sd_event_source_disable_unref(source);
	return 0;
}

START_TEST(source_may_be_freed_by_its_own_handler)
{
	sd_event_source *source;
	int fd[2];

	ck_assert_int_eq(pipe2(fd, O_CLOEXEC), 0);
	ck_assert_int_ge(sd_event_add_io(event, &source, fd[0], EPOLLIN, on_io, event), 0);
	ck_assert_int_eq(write(fd[1], "x", 1), 1);
	ck_assert_int_gt(turn(), 0);
	ck_assert_uint_eq(n_called, 1);
	ck_assert_int_eq(sd_event_run(event, 0), 0);
	close(fd[0]);
	close(fd[1]);
}
END_TEST

START_TEST(regular_files_cannot_be_watched)
{
	sd_event_source *source;
	char *dir = test_dir_new();
	_cleanup_free_ char *path = test_dir_path(dir, "file");
	int fd;

	test_dir_write_text(dir, "file", "x");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(sd_event_add_io(event, &source, fd, EPOLLIN, on_io, NULL), -EPERM);
	close(fd);
	test_dir_free(dir);
}
END_TEST

static int on_inotify(sd_event_source *source, const struct inotify_event *e, void *userdata)
{
	(void) source;
	(void) userdata;
	n_called++;
	snprintf((char *) order, sizeof(order), "%s", e->len > 0 ? e->name : "");
	return 0;
}

START_TEST(watched_folder_names_the_file)
{
	sd_event_source *source;
	char *dir = test_dir_new();

	ck_assert_int_ge(sd_event_add_inotify(event, &source, dir, IN_CREATE | IN_ONLYDIR, on_inotify, NULL), 0);
	test_dir_write_text(dir, "file", "x");
	while (n_called == 0)
		ck_assert_int_ge(turn(), 0);
	ck_assert_str_eq((char *) order, "file");
	sd_event_source_unref(source);
	test_dir_free(dir);
}
END_TEST

static int on_exit_now(sd_event_source *source, void *userdata)
{
	(void) source;
	(void) userdata;
	return sd_event_exit(event, 3);
}

START_TEST(loop_returns_the_code_it_was_ended_with)
{
	sd_event_source *source;

	ck_assert_int_ge(sd_event_add_defer(event, &source, on_exit_now, NULL), 0);
	ck_assert_int_eq(sd_event_loop(event), 3);
	sd_event_source_unref(source);
}
END_TEST

static Suite *sd_event_suite(void)
{
	Suite *s = suite_create("sd_event");
	TCase *tc = tcase_create("sd_event");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, one_turn_dispatches_one_source_by_priority);
	tcase_add_test(tc, defer_fires_once_and_again_when_enabled_again);
	tcase_add_loop_test(tc, both_clocks_have_timers_that_are_never_early, 0, ELEMENTS(clocks));
	tcase_add_test(tc, now_is_one_moment_a_turn);
	tcase_add_test(tc, signal_that_was_pending_before_is_heard);
	tcase_add_test(tc, signal_that_is_not_blocked_is_refused);
	tcase_add_test(tc, children_that_die_together_may_give_one_signal);
	tcase_add_test(tc, child_that_another_reaps_breaks_the_loop);
	tcase_add_test(tc, peek_leaves_the_dead_where_they_are);
	tcase_add_test(tc, source_may_be_freed_by_its_own_handler);
	tcase_add_test(tc, regular_files_cannot_be_watched);
	tcase_add_test(tc, watched_folder_names_the_file);
	tcase_add_test(tc, loop_returns_the_code_it_was_ended_with);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(sd_event_suite)
