/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_USEC_H
#define SUPD_BASE_USEC_H

/* Microseconds: points on a clock and spans between them. Sums saturate; "never" absorbs. */

#include <stdint.h>

typedef uint64_t usec_t;

#define USEC_NEVER ((usec_t) UINT64_MAX)
#define NSEC_PER_USEC ((usec_t) 1000)
#define USEC_PER_MSEC ((usec_t) 1000)
#define USEC_PER_SEC ((usec_t) 1000000)
#define USEC_PER_MINUTE (60 * USEC_PER_SEC)
#define USEC_PER_HOUR (60 * USEC_PER_MINUTE)
#define USEC_PER_DAY (24 * USEC_PER_HOUR)
#define USEC_PER_WEEK (7 * USEC_PER_DAY)
#define USEC_PER_MONTH ((usec_t) 2629800 * USEC_PER_SEC)
#define USEC_PER_YEAR ((usec_t) 31557600 * USEC_PER_SEC)

/* a + b, or USEC_NEVER when either is or the sum does not fit. */
static inline usec_t usec_add(usec_t a, usec_t b)
{
	return a > USEC_NEVER - b ? USEC_NEVER : a + b;
}

/* a - b, 0 when that would be negative; USEC_NEVER stays. */
static inline usec_t usec_sub(usec_t a, usec_t b)
{
	if (a == USEC_NEVER)
		return USEC_NEVER;
	return a > b ? a - b : 0;
}

static inline usec_t usec_min(usec_t a, usec_t b)
{
	return a < b ? a : b;
}

static inline usec_t usec_max(usec_t a, usec_t b)
{
	return a > b ? a : b;
}

#endif
