/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_ARENA_H
#define SUPD_BASE_ARENA_H

/* Memory that lives and dies together: everything parsed out of one unit. */

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

/* All zero is an empty arena. */
struct arena {
	struct arena_chunk *chunk;
};

void arena_done(struct arena *a);
/* Before anything else is taken from it: room for @size bytes, and no more, in one piece. What does
 * not fit comes beside it. For what lives long and is of a known size. */
bool arena_reserve(struct arena *a, size_t size);
/* Zeroed, aligned for any object; NULL when memory ran out. Valid until arena_done(). */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* An array grown to hold @n + 1 elements of @size: the old one while it has room (capacity doubles
 * at powers of two), else a copy. For lists of which the length is not known beforehand. */
void *arena_grow(struct arena *a, void *array, size_t n, size_t size);
/* Bytes taken from malloc. */
size_t arena_size(const struct arena *a);
/* What arena_reserve() must be told, so that another arena holds the same in one piece. */
size_t arena_used(const struct arena *a);

#endif
