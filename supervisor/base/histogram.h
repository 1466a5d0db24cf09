/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_HISTOGRAM_H
#define SUPD_BASE_HISTOGRAM_H

/* How often values came up, in buckets that are a 64th of their value wide: the histogram of a year
 * stays small, those of many days add up, and a percentile is true to 1 %. Values below 128 are
 * exact. */

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct histogram_bucket {
	uint32_t index;
	uint64_t times;
};

/* All zero is empty. */
struct histogram {
	struct histogram_bucket *bucket; /* in the order of indices, none with zero times */
	size_t n, allocated;
	size_t last;    /* where something was added last */
	uint64_t total; /* of all times */
};

void histogram_done(struct histogram *h);
/* 0 or -ENOMEM, and nothing has changed. */
int histogram_add(struct histogram *h, uint64_t value, uint64_t times);
int histogram_merge(struct histogram *h, const struct histogram *other);

/* The value below which @permille of a thousand lie (nearest rank): the middle of its bucket; 0 if
 * there are none. */
uint64_t histogram_quantile(const struct histogram *h, unsigned permille);

/* Where a value goes, and the middle of that: for who writes a histogram down and reads it
 * again. */
uint32_t histogram_index(uint64_t value);
uint64_t histogram_middle(uint32_t index);
#define HISTOGRAM_INDEX_MAX 3775 /* of UINT64_MAX */
/* As histogram_add(), by the index, which is at most HISTOGRAM_INDEX_MAX. */
int histogram_add_index(struct histogram *h, uint32_t index, uint64_t times);

#endif
