/* SPDX-License-Identifier: MIT */
#include "base/merge.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct sort {
	size_t size;
	int (*compare)(const void *, const void *);
};

/* Where the ascending stretch ends that begins at @from. */
static char *stretch_end(const struct sort *s, char *from, const char *end)
{
	char *next = from + s->size;

	while (next < end && s->compare(next - s->size, next) <= 0)
		next += s->size;
	return next;
}

/* [a, b) and [b, end) to @to. */
static void merge(const struct sort *s, const char *a, const char *b, const char *end, char *to)
{
	const char *middle = b;

	while (a < middle && b < end) {
		const char **from = s->compare(a, b) <= 0 ? &a : &b;

		memcpy(to, *from, s->size);
		to += s->size;
		*from += s->size;
	}
	if (a < middle)
		memcpy(to, a, (size_t) (middle - a));
	else if (b < end)
		memcpy(to, b, (size_t) (end - b));
}

/* Each two stretches become one. False: there was only one, and nothing is at @to. */
static bool merge_pairs(const struct sort *s, char *from, char *end, char *to)
{
	char *first = stretch_end(s, from, end);

	if (first == end)
		return false;
	for (char *a = from, *b = first; a < end;) {
		char *next = b < end ? stretch_end(s, b, end) : end;

		merge(s, a, b, next, to + (a - from));
		a = next;
		b = a < end ? stretch_end(s, a, end) : end;
	}
	return true;
}

void merge_sort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	const struct sort s = { size, compare };
	_cleanup_free_ char *space = NULL;
	char *at = base, *other, *swap;

	if (n < 2)
		return;
	space = reallocarray(NULL, n, size);
	if (!space) {
		qsort(base, n, size, compare);
		return;
	}
	for (other = space; merge_pairs(&s, at, at + n * size, other); other = swap) {
		swap = at;
		at = other;
	}
	if (at != base)
		memcpy(base, at, n * size);
}
