/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_HEAP_H
#define SUPD_BASE_HEAP_H

/* What is due first: a binary heap keyed by (moment, name), so that what is due at one moment comes
 * in the order of names. Items are embedded in their owner and know their place: changing one costs
 * O(log n). */

#include <stdbool.h>
#include <stddef.h>

#include "base/usec.h"

struct heap_item {
	usec_t when;
	const char *name; /* lent: outlives the item's stay in the heap */
	size_t place;     /* 1-based; 0: not in a heap */
};

/* All zero is an empty heap. */
struct heap {
	struct heap_item **item;
	size_t n, allocated;
};

void heap_done(struct heap *h); /* the items are their owners' */
/* Room for @n items, so that heap_set() can not fail up to there. 0 or -ENOMEM. */
int heap_reserve(struct heap *h, size_t n);
/* Puts, moves, or with USEC_NEVER takes out. There must be room. */
void heap_set(struct heap *h, struct heap_item *i, usec_t when);
/* The first; NULL if the heap is empty. */
struct heap_item *heap_first(const struct heap *h);
static inline usec_t heap_when(const struct heap *h)
{
	return h->n > 0 ? h->item[0]->when : USEC_NEVER;
}

#endif
