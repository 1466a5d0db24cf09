/* SPDX-License-Identifier: MIT */
#include "run/barrier.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/lib/test_main.h"

#ifdef SYS_futex
#define SYS_FUTEX SYS_futex
#else
#define SYS_FUTEX SYS_futex_time64
#endif

static struct barrier barrier;

struct waiter {
	struct barrier_wait wait;
	pthread_t thread;
	bool went_on; /* what barrier_await() said */
};

static void set_up(void)
{
	barrier = (struct barrier) { 0 };
}

static void *wait_in_thread(void *userdata)
{
	struct waiter *w = userdata;

	w->went_on = barrier_await(&w->wait);
	return NULL;
}

static void waiter_begin(struct waiter *w, uint32_t number)
{
	w->wait = (struct barrier_wait){ .barrier = &barrier, .number = number };
	ck_assert_int_eq(pthread_create(&w->thread, NULL, wait_in_thread, w), 0);
}

static bool waiter_end(struct waiter *w)
{
	ck_assert_int_eq(pthread_join(w->thread, NULL), 0);
	return w->went_on;
}

/* Who sleeps is moved from the barrier to the barrier: that wakes nobody, and tells how many there are. */
static long count_asleep(void)
{
	uint32_t turns = __atomic_load_n(&barrier.turns, __ATOMIC_SEQ_CST);
	long n = syscall(SYS_FUTEX, &barrier.turns, FUTEX_CMP_REQUEUE_PRIVATE, 0, (long) INT_MAX, &barrier.turns, turns);

	ck_assert_int_ge(n, 0);
	return n;
}

static void wait_asleep(long n)
{
	while (count_asleep() != n)
		(void) sched_yield();
}

START_TEST(who_waits_goes_on_when_the_number_is_reached)
{
	struct waiter w = { 0 };

	waiter_begin(&w, 3);
	wait_asleep(1);
	ck_assert(barrier_holds(&w.wait));
	barrier_raise(&barrier, 2);
	wait_asleep(1);
	ck_assert(barrier_holds(&w.wait));
	barrier_raise(&barrier, 3);
	ck_assert(waiter_end(&w));
	ck_assert(!barrier_holds(&w.wait));
}
END_TEST

START_TEST(a_number_that_was_passed_over_is_reached_too)
{
	struct waiter w = { 0 };

	waiter_begin(&w, 3);
	wait_asleep(1);
	barrier_raise(&barrier, 17);
	ck_assert(waiter_end(&w));
}
END_TEST

START_TEST(what_was_reached_before_is_not_waited_for)
{
	struct barrier_wait at = { .barrier = &barrier, .number = 5 }, below = { .barrier = &barrier, .number = 4 };

	barrier_raise(&barrier, 5);
	ck_assert(!barrier_holds(&at) && barrier_await(&at));
	ck_assert(!barrier_holds(&below) && barrier_await(&below));
}
END_TEST

START_TEST(all_zero_has_nothing_to_wait_for)
{
	struct barrier_wait nothing = { 0 };

	ck_assert(!barrier_holds(&nothing));
	ck_assert(barrier_await(&nothing));
	barrier_withdraw(&nothing);
	ck_assert(!barrier_holds(&nothing));
	ck_assert(barrier_await(&nothing));
}
END_TEST

START_TEST(withdrawn_before_it_waits)
{
	struct barrier_wait w = { .barrier = &barrier, .number = 1 };

	barrier_withdraw(&w);
	ck_assert(!barrier_await(&w));
}
END_TEST

START_TEST(withdrawn_while_it_waits)
{
	struct waiter w = { 0 };

	waiter_begin(&w, 1);
	wait_asleep(1);
	barrier_withdraw(&w.wait);
	ck_assert(!waiter_end(&w));
}
END_TEST

START_TEST(withdrawn_stays_withdrawn_when_the_number_comes)
{
	struct barrier_wait w = { .barrier = &barrier, .number = 1 };

	barrier_withdraw(&w);
	barrier_raise(&barrier, 1);
	ck_assert(barrier_holds(&w));
	ck_assert(!barrier_await(&w));
}
END_TEST

/* A thread that hangs somewhere else may come to its wait when the barrier is long gone. */
START_TEST(withdrawn_needs_its_barrier_no_more)
{
	struct barrier_wait w = { .barrier = &barrier, .number = 1 };

	barrier_withdraw(&w);
	w.barrier = (struct barrier *) 8; /* nothing is there */
	ck_assert(barrier_holds(&w));
	ck_assert(!barrier_await(&w));
}
END_TEST

START_TEST(one_withdrawn_leaves_the_others_waiting)
{
	struct waiter w[3] = { 0 };

	for (unsigned i = 0; i < 3; i++)
		waiter_begin(&w[i], 1);
	wait_asleep(3);
	barrier_withdraw(&w[1].wait);
	ck_assert(!waiter_end(&w[1]));
	wait_asleep(2);
	barrier_raise(&barrier, 1);
	ck_assert(waiter_end(&w[0]));
	ck_assert(waiter_end(&w[2]));
}
END_TEST

static const struct {
	uint64_t reached, number;
	bool holds;
} wraps[] = {
	{ 0, 1, true },
	{ 0xfffffffe, 0xffffffff, true },
	{ 0xffffffff, 0x100000000, true },
	{ 0xffffffff, 0x100000005, true },
	{ 0x100000000, 0xffffffff, false },
	{ 0x100000000, 0x100000000, false },
	{ 0x100000001, 0x100000000, false },
	{ 0x7fffffff, 0x80000000, true },
	{ 0x80000000, 0x7fffffff, false },
	{ 0x123456789a, 0x123456789b, true },
	{ 0x123456789b, 0x123456789a, false },
};

START_TEST(numbers_wrap_at_32_bits)
{
	struct barrier_wait w = { .barrier = &barrier, .number = (uint32_t) wraps[_i].number };

	barrier_raise(&barrier, wraps[_i].reached);
	ck_assert_int_eq(barrier_holds(&w), wraps[_i].holds);
}
END_TEST

START_TEST(who_waits_across_the_wrap_goes_on)
{
	struct waiter w = { 0 };

	barrier_raise(&barrier, 0xffffffff);
	waiter_begin(&w, 1);
	wait_asleep(1);
	barrier_raise(&barrier, 0x100000000);
	wait_asleep(1);
	barrier_raise(&barrier, 0x100000001);
	ck_assert(waiter_end(&w));
}
END_TEST

START_TEST(each_of_many_goes_on_at_its_number)
{
	enum { N = 40 };
	struct waiter w[N] = { 0 };

	for (uint32_t i = 0; i < N; i++)
		waiter_begin(&w[i], i + 1);
	for (uint32_t i = 0; i < N; i++) {
		wait_asleep(N - (long) i);
		barrier_raise(&barrier, i + 1);
		ck_assert(waiter_end(&w[i]));
	}
}
END_TEST

START_TEST(one_raise_lets_go_many)
{
	enum { N = 40 };
	struct waiter w[N] = { 0 };

	for (uint32_t i = 0; i < N; i++)
		waiter_begin(&w[i], i + 1);
	wait_asleep(N);
	barrier_raise(&barrier, N);
	for (uint32_t i = 0; i < N; i++)
		ck_assert(waiter_end(&w[i]));
}
END_TEST

/* Nobody falls asleep after the last call that would have woken him. */
START_TEST(no_raise_is_slept_through)
{
	for (uint32_t i = 1; i <= 2000; i++) {
		struct waiter w = { 0 };

		waiter_begin(&w, i);
		if (i % 4 == 0)
			barrier_withdraw(&w.wait);
		barrier_raise(&barrier, i);
		ck_assert(waiter_end(&w) || i % 4 == 0);
	}
}
END_TEST

static Suite *barrier_suite(void)
{
	Suite *s = suite_create("barrier");
	TCase *tc = tcase_create("barrier");

	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, who_waits_goes_on_when_the_number_is_reached);
	tcase_add_test(tc, a_number_that_was_passed_over_is_reached_too);
	tcase_add_test(tc, what_was_reached_before_is_not_waited_for);
	tcase_add_test(tc, all_zero_has_nothing_to_wait_for);
	tcase_add_test(tc, withdrawn_before_it_waits);
	tcase_add_test(tc, withdrawn_while_it_waits);
	tcase_add_test(tc, withdrawn_stays_withdrawn_when_the_number_comes);
	tcase_add_test(tc, withdrawn_needs_its_barrier_no_more);
	tcase_add_test(tc, one_withdrawn_leaves_the_others_waiting);
	tcase_add_loop_test(tc, numbers_wrap_at_32_bits, 0, sizeof(wraps) / sizeof(wraps[0]));
	tcase_add_test(tc, who_waits_across_the_wrap_goes_on);
	tcase_add_test(tc, each_of_many_goes_on_at_its_number);
	tcase_add_test(tc, one_raise_lets_go_many);
	tcase_add_test(tc, no_raise_is_slept_through);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(barrier_suite)
