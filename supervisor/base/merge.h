/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_MERGE_H
#define SUPD_BASE_MERGE_H

/* Sorting what is sorted in parts already. */

#include <stddef.h>

/* As qsort(), and stable; where all of it consists of few ascending stretches, a few comparisons
 * for each element are all it takes. */
void merge_sort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *));

#endif
