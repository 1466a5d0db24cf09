/* SPDX-License-Identifier: MIT */
#include "run/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "tests/lib/test_main.h"

struct task {
	struct worker_job job;
	unsigned number;
	pthread_t worked_by;
	bool signals_are_blocked;
	pthread_barrier_t *meeting; /* NULL: none */
	bool is_worked, is_done, is_dropped;
};

static sd_event *event;
static struct worker *worker;
static unsigned order[64], n_done;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void work(struct worker_job *job)
{
	struct task *t = (struct task *) job;
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	t->signals_are_blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGCHLD) == 1;
	t->worked_by = pthread_self();
	if (t->meeting)
		pthread_barrier_wait(t->meeting);
	/* Held by a test that wants work to take long. */
	pthread_mutex_lock(&gate);
	t->is_worked = true;
	pthread_mutex_unlock(&gate);
}

static void done(struct worker_job *job)
{
	struct task *t = (struct task *) job;

	ck_assert(t->is_worked);
	t->is_done = true;
	order[n_done++] = t->number;
}

static void drop(struct worker_job *job)
{
	((struct task *) job)->is_dropped = true;
}

static void open_worker(unsigned threads)
{
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(worker_new(event, 0, threads, &worker), 0);
}

static void close_worker(void)
{
	worker = worker_free(worker);
	event = sd_event_unref(event);
}

static void submit(struct task *t, unsigned number)
{
	*t = (struct task) { .job = { .work = work, .done = done, .drop = drop }, .number = number, .meeting = t->meeting };
	worker_submit(worker, &t->job);
}

static void wait_done(unsigned n)
{
	while (n_done < n)
		ck_assert_int_ge(sd_event_run(event, 30 * USEC_PER_SEC), 0);
}

START_TEST(work_is_done_elsewhere_and_told_in_the_loop)
{
	struct task t = { 0 };

	open_worker(2);
	submit(&t, 1);
	worker_wait(worker);
	ck_assert(t.is_worked);
	ck_assert(!t.is_done);
	wait_done(1);
	ck_assert(t.is_done);
	ck_assert(!pthread_equal(t.worked_by, pthread_self()));
	ck_assert(t.signals_are_blocked);
	close_worker();
	ck_assert(!t.is_dropped);
}
END_TEST

START_TEST(one_thread_keeps_the_order)
{
	struct task t[50] = { 0 };

	open_worker(1);
	for (unsigned i = 0; i < ELEMENTS(t); i++)
		submit(&t[i], i);
	wait_done(ELEMENTS(t));
	for (unsigned i = 0; i < ELEMENTS(t); i++)
		ck_assert_uint_eq(order[i], i);
	close_worker();
}
END_TEST

START_TEST(as_many_work_at_once_as_there_may_be_threads)
{
	struct task t[4] = { 0 };
	pthread_barrier_t meeting;

	/* None gets through it alone. */
	pthread_barrier_init(&meeting, NULL, ELEMENTS(t));
	open_worker(ELEMENTS(t));
	for (unsigned i = 0; i < ELEMENTS(t); i++) {
		t[i].meeting = &meeting;
		submit(&t[i], i);
	}
	wait_done(ELEMENTS(t));
	close_worker();
	pthread_barrier_destroy(&meeting);
}
END_TEST

START_TEST(what_was_not_told_is_dropped_at_the_end)
{
	struct task t[20] = { 0 };

	open_worker(1);
	pthread_mutex_lock(&gate);
	for (unsigned i = 0; i < ELEMENTS(t); i++)
		submit(&t[i], i);
	pthread_mutex_unlock(&gate);
	close_worker();
	for (unsigned i = 0; i < ELEMENTS(t); i++) {
		ck_assert(t[i].is_dropped);
		ck_assert(!t[i].is_done);
	}
}
END_TEST

/* A dead mount, and a daemon that is to end. */
START_TEST(work_that_hangs_is_left_behind)
{
	struct task t = { 0 };
	pthread_barrier_t meeting;

	pthread_barrier_init(&meeting, NULL, 2);
	t.meeting = &meeting;
	open_worker(1);
	pthread_mutex_lock(&gate);
	submit(&t, 1);
	pthread_barrier_wait(&meeting);
	ck_assert(!worker_free_within(worker, 10));
	ck_assert(!t.is_dropped);
	pthread_mutex_unlock(&gate);
	close_worker();
	ck_assert(t.is_dropped && !t.is_done);
	pthread_barrier_destroy(&meeting);
}
END_TEST

START_TEST(work_that_ends_in_time_is_waited_for)
{
	struct task t = { 0 };

	open_worker(1);
	submit(&t, 1);
	ck_assert(worker_free_within(worker, 60000));
	ck_assert(t.is_dropped);
	event = sd_event_unref(event);
}
END_TEST

static Suite *worker_suite(void)
{
	Suite *s = suite_create("worker");
	TCase *tc = tcase_create("worker");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, work_is_done_elsewhere_and_told_in_the_loop);
	tcase_add_test(tc, one_thread_keeps_the_order);
	tcase_add_test(tc, as_many_work_at_once_as_there_may_be_threads);
	tcase_add_test(tc, what_was_not_told_is_dropped_at_the_end);
	tcase_add_test(tc, work_that_hangs_is_left_behind);
	tcase_add_test(tc, work_that_ends_in_time_is_waited_for);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(worker_suite)
