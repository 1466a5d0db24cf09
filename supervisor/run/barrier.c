/* SPDX-License-Identifier: MIT */
#include "run/barrier.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/child_code.h"

#ifdef SYS_futex
#define SYS_FUTEX SYS_futex
#else
#define SYS_FUTEX SYS_futex_time64
#endif

static void wake_all(struct barrier *b)
{
	__atomic_add_fetch(&b->turns, 1, __ATOMIC_SEQ_CST);
	(void) syscall(SYS_FUTEX, &b->turns, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

CHILD_CODE static bool has_come(const struct barrier_wait *w)
{
	uint32_t reached = __atomic_load_n(&w->barrier->reached, __ATOMIC_SEQ_CST);

	return (int32_t) (reached - w->number) >= 0;
}

void barrier_raise(struct barrier *b, uint64_t number)
{
	__atomic_store_n(&b->reached, (uint32_t) number, __ATOMIC_SEQ_CST);
	wake_all(b);
}

CHILD_CODE static bool is_withdrawn(const struct barrier_wait *w)
{
	return __atomic_load_n(&w->is_withdrawn, __ATOMIC_SEQ_CST);
}

CHILD_CODE bool barrier_holds(const struct barrier_wait *w)
{
	return w->barrier && (is_withdrawn(w) || !has_come(w));
}

void barrier_withdraw(struct barrier_wait *w)
{
	__atomic_store_n(&w->is_withdrawn, true, __ATOMIC_SEQ_CST);
	if (w->barrier)
		wake_all(w->barrier);
}

/* The count is read before the rest: whoever changes that counts on, and then we do not fall
 * asleep. */
CHILD_CODE bool barrier_await(const struct barrier_wait *w)
{
	while (w->barrier && !is_withdrawn(w)) {
		uint32_t turns = __atomic_load_n(&w->barrier->turns, __ATOMIC_SEQ_CST);

		if (is_withdrawn(w))
			break;
		if (has_come(w))
			return true;
		(void) syscall(SYS_FUTEX, &w->barrier->turns, FUTEX_WAIT_PRIVATE, turns, NULL, NULL,
			       0);
	}
	return !w->barrier;
}
