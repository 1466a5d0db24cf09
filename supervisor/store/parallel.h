/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_PARALLEL_H
#define SUPD_STORE_PARALLEL_H

/* One piece of work on several processors: where the kernel is asked the same of very many
 * files. */

#include <stddef.h>

/* Of @first and those behind it, before @end. It may be called in several threads at once: what it
 * touches besides must not change. It neither logs nor allocates. */
typedef void parallel_fn(void *userdata, size_t first, size_t end);

/* Returns when all of 0 … @n - 1 have been worked on: in parts of @least or more, as many at once
 * as there are processors (at most four), one of them by the caller. Where no thread can be had,
 * the caller does it all. */
void parallel_for(size_t n, size_t least, parallel_fn *fn, void *userdata);

#endif
