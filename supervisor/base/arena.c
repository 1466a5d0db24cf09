/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* The first chunk is small, since most units are; later ones are half of what is there already, so
 * that never more than a third of an arena is unused. Sizes leave room for malloc's own header. */
#define CHUNK_FIRST ((size_t) 256 - 16)
#define CHUNK_MAX ((size_t) 16 * 1024 - 16)

struct arena_chunk {
	struct arena_chunk *older;
	size_t size; /* as taken from malloc */
	size_t used; /* header included */
	alignas(max_align_t) char data[];
};

static size_t align_up(size_t n, size_t alignment)
{
	return (n + alignment - 1) & ~(alignment - 1);
}

void arena_done(struct arena *a)
{
	struct arena_chunk *c;

	while ((c = a->chunk)) {
		a->chunk = c->older;
		free(c);
	}
}

size_t arena_size(const struct arena *a)
{
	size_t n = 0;

	for (const struct arena_chunk *c = a->chunk; c; c = c->older)
		n += c->size;
	return n;
}

/* Every chunk begins where any object may lie, so that in one piece no object needs more padding
 * than it had. */
size_t arena_used(const struct arena *a)
{
	size_t n = 0;

	for (const struct arena_chunk *c = a->chunk; c; c = c->older)
		n += align_up(c->used - sizeof(struct arena_chunk), alignof(max_align_t));
	return n;
}

static bool chunk_new(struct arena *a, size_t size)
{
	struct arena_chunk *c = calloc(1, size);

	if (!c)
		return false;
	c->size = size;
	c->used = sizeof(struct arena_chunk);
	c->older = a->chunk;
	a->chunk = c;
	return true;
}

bool arena_reserve(struct arena *a, size_t size)
{
	return chunk_new(a, sizeof(struct arena_chunk) + size);
}

static bool chunk_add(struct arena *a, size_t payload)
{
	size_t size = CHUNK_FIRST, need = sizeof(struct arena_chunk) + payload;

	if (a->chunk) {
		size = align_up(arena_size(a) / 2, alignof(max_align_t));
		size = size < CHUNK_FIRST ? CHUNK_FIRST : size;
		size = size > CHUNK_MAX ? CHUNK_MAX : size;
	}
	return chunk_new(a, size < need ? need : size);
}

static void *take(struct arena *a, size_t size, size_t alignment)
{
	size_t start;

	if (size > SIZE_MAX / 2)
		return NULL;
	start = a->chunk ? align_up(a->chunk->used, alignment) : 0;
	if (!a->chunk || start > a->chunk->size || size > a->chunk->size - start) {
		if (!chunk_add(a, size))
			return NULL;
		start = a->chunk->used;
	}
	a->chunk->used = start + size;
	return (char *) a->chunk + start;
}

void *arena_alloc(struct arena *a, size_t size)
{
	/* What is smaller than the strictest alignment cannot need it. */
	return take(a, size,
		    size < alignof(max_align_t) ? alignof(uint64_t) : alignof(max_align_t));
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy;

	n = strnlen(s, n);
	copy = take(a, n + 1, 1);
	return copy ? memcpy(copy, s, n) : NULL;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	s = take(a, (size_t) n + 1, 1);
	if (!s)
		return NULL;
	va_start(ap, fmt);
	(void) vsnprintf(s, (size_t) n + 1, fmt, ap);
	va_end(ap);
	return s;
}

/* Is @array what was taken last? Then it grows where it is, if the chunk has room. */
static bool grow_in_place(struct arena *a, void *array, size_t old_size, size_t new_size)
{
	struct arena_chunk *c = a->chunk;
	size_t start;

	if (!c || (char *) array < c->data || (char *) array + old_size != (char *) c + c->used)
		return false;
	start = (size_t) ((char *) array - (char *) c);
	if (new_size > c->size - start)
		return false;
	c->used = start + new_size;
	return true;
}

void *arena_grow(struct arena *a, void *array, size_t n, size_t size)
{
	size_t capacity = n ? 2 * n : 1;
	void *bigger;

	if (array && (n & (n - 1)))
		return array;
	if (n > SIZE_MAX / 4 || capacity > SIZE_MAX / 2 / size)
		return NULL;
	if (array && n && grow_in_place(a, array, n * size, capacity * size))
		return array;
	bigger = arena_alloc(a, capacity * size);
	if (bigger && array)
		memcpy(bigger, array, n * size);
	return bigger;
}
