/* SPDX-License-Identifier: MIT */
#include "base/histogram.h"

#include <errno.h>

/* 2^PRECISION buckets for each doubling. */
#define PRECISION 6
#define PER_DOUBLING (UINT64_C(1) << PRECISION)

void histogram_done(struct histogram *h)
{
	free(h->bucket);
	*h = (struct histogram) { 0 };
}

/* Below two doublings each value has its own; above, the leading bits count. */
uint32_t histogram_index(uint64_t value)
{
	unsigned shift;

	if (value < 2 * PER_DOUBLING)
		return (uint32_t) value;
	shift = 63U - (unsigned) __builtin_clzll(value) - PRECISION;
	return (uint32_t) (shift * PER_DOUBLING + (value >> shift));
}

uint64_t histogram_middle(uint32_t index)
{
	unsigned shift;

	if (index < 2 * PER_DOUBLING)
		return index;
	shift = index / PER_DOUBLING - 1;
	return ((index - shift * PER_DOUBLING) << shift) + (UINT64_C(1) << (shift - 1));
}

/* The place of the first bucket that is not before @index. What is merged comes in order: the next
 * one is near. */
static size_t find(const struct histogram *h, uint32_t index)
{
	size_t low = 0, high = h->n;

	if (h->last < h->n && h->bucket[h->last].index < index) {
		low = h->last + 1;
		if (low < high && h->bucket[low].index >= index)
			return low;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->bucket[middle].index < index)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int insert(struct histogram *h, size_t at, uint32_t index, uint64_t times)
{
	if (h->n == h->allocated) {
		size_t allocated = h->allocated > 0 ? 2 * h->allocated : 8;
		struct histogram_bucket *grown = reallocarray(h->bucket, allocated, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		h->bucket = grown;
		h->allocated = allocated;
	}
	memmove(&h->bucket[at + 1], &h->bucket[at], (h->n - at) * sizeof(*h->bucket));
	h->bucket[at] = (struct histogram_bucket) { .index = index, .times = times };
	h->n++;
	return 0;
}

int histogram_add_index(struct histogram *h, uint32_t index, uint64_t times)
{
	size_t at = find(h, index);
	int r;

	if (times == 0)
		return 0;
	if (at < h->n && h->bucket[at].index == index) {
		h->bucket[at].times += times;
	} else {
		r = insert(h, at, index, times);
		if (r < 0)
			return r;
	}
	h->total += times;
	h->last = at;
	return 0;
}

int histogram_add(struct histogram *h, uint64_t value, uint64_t times)
{
	return histogram_add_index(h, histogram_index(value), times);
}

int histogram_merge(struct histogram *h, const struct histogram *other)
{
	for (size_t i = 0; i < other->n; i++) {
		int r = histogram_add_index(h, other->bucket[i].index, other->bucket[i].times);

		if (r < 0)
			return r;
	}
	return 0;
}

uint64_t histogram_quantile(const struct histogram *h, unsigned permille)
{
	uint64_t rank = h->total / 1000 * permille + (h->total % 1000 * permille + 999) / 1000,
		 seen = 0;

	for (size_t i = 0; i < h->n; i++) {
		seen += h->bucket[i].times;
		if (seen >= rank && seen > 0)
			return histogram_middle(h->bucket[i].index);
	}
	return 0;
}
