/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_BARRIER_H
#define SUPD_RUN_BARRIER_H

/* A number that only grows, and who waits until it has come to theirs: threads, and children that
 * still share our memory (launch.h). So a process that is ready to be another program becomes it
 * the moment a write is on disk, without the loop in between.
 *
 * Numbers are compared as 32 bits that wrap: those that are waited for lie close together. */

#include <stdbool.h>
#include <stdint.h>

struct barrier {
	uint32_t reached;
	uint32_t turns; /* counts raises and withdrawals: what those who wait sleep on */
};

/* Embedded in what waits. All zero: there is nothing to wait for. */
struct barrier_wait {
	struct barrier *barrier; /* lent until the wait is over or withdrawn */
	uint32_t number;
	bool is_withdrawn;
};

/* Any thread. */
void barrier_raise(struct barrier *b, uint64_t number);
/* False: barrier_await() would return true at once. */
bool barrier_holds(const struct barrier_wait *w);
/* Waits no more, although the number has not come; nor if it comes after all. */
void barrier_withdraw(struct barrier_wait *w);
/* False: it was withdrawn. Makes system calls only; for code on a borrowed stack, too. */
bool barrier_await(const struct barrier_wait *w);

#endif
