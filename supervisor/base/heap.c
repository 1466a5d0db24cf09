/* SPDX-License-Identifier: MIT */
#include "base/heap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void heap_done(struct heap *h)
{
	free(h->item);
	*h = (struct heap) { 0 };
}

int heap_reserve(struct heap *h, size_t n)
{
	struct heap_item **item;
	size_t want;

	if (n <= h->allocated)
		return 0;
	want = h->allocated * 2 > n ? h->allocated * 2 : n;
	item = reallocarray(h->item, want, sizeof(*item));
	if (!item)
		return -ENOMEM;
	h->item = item;
	h->allocated = want;
	return 0;
}

static bool is_before(const struct heap_item *a, const struct heap_item *b)
{
	if (a->when != b->when)
		return a->when < b->when;
	return strcmp(a->name, b->name) < 0;
}

static void put(struct heap *h, size_t at, struct heap_item *i)
{
	h->item[at] = i;
	i->place = at + 1;
}

static void rise(struct heap *h, size_t at)
{
	struct heap_item *i = h->item[at];

	while (at > 0 && is_before(i, h->item[(at - 1) / 2])) {
		put(h, at, h->item[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(h, at, i);
}

static void sink(struct heap *h, size_t at)
{
	struct heap_item *i = h->item[at];
	size_t child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && is_before(h->item[child + 1], h->item[child]))
			child++;
		if (!is_before(h->item[child], i))
			break;
		put(h, at, h->item[child]);
		at = child;
	}
	put(h, at, i);
}

static void take_out(struct heap *h, struct heap_item *i)
{
	size_t at = i->place - 1;
	struct heap_item *last = h->item[--h->n];

	i->place = 0;
	if (last == i)
		return;
	put(h, at, last);
	rise(h, at);
	sink(h, last->place - 1);
}

void heap_set(struct heap *h, struct heap_item *i, usec_t when)
{
	if (i->place > 0 && i->when == when)
		return;
	if (i->place > 0 && when == USEC_NEVER) {
		take_out(h, i);
		i->when = when;
		return;
	}
	i->when = when;
	if (when == USEC_NEVER)
		return;
	if (i->place == 0) {
		assert(h->n < h->allocated);
		put(h, h->n++, i);
	}
	rise(h, i->place - 1);
	sink(h, i->place - 1);
}

struct heap_item *heap_first(const struct heap *h)
{
	return h->n > 0 ? h->item[0] : NULL;
}
