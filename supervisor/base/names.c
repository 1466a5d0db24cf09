/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16

static const char *name_of(const struct names *t, const void *item)
{
	return (const char *) item + t->name_at;
}

void names_done(struct names *t)
{
	free(t->item);
	*t = (struct names) { .name_at = t->name_at };
}

const char *names_name(const struct names *t, size_t i)
{
	return name_of(t, t->item[i]);
}

/* Where in [@low, @high), which is in order, @name is or would be: steps that double from @from on,
 * then halves. */
static size_t find_place(const struct names *t, size_t low, size_t high, size_t from,
			 const char *name)
{
	size_t at = low, step = 1;

	if (from > low && from < high && strcmp(names_name(t, from), name) <= 0)
		low = at = from;
	while (at < high && strcmp(names_name(t, at), name) < 0) {
		low = at + 1;
		at += step;
		step *= 2;
	}
	high = at < high ? at : high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names_name(t, middle), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_at(const struct names *t, size_t place, size_t end, const char *name)
{
	return place < end && strcmp(names_name(t, place), name) == 0;
}

/* Its place, or t->n. */
static size_t place_of(const struct names *t, const char *name)
{
	size_t place = find_place(t, 0, t->n_settled, t->last, name);

	if (is_at(t, place, t->n_settled, name))
		return place;
	place = find_place(t, t->n_settled, t->n, t->last, name);
	return is_at(t, place, t->n, name) ? place : t->n;
}

void *names_find(struct names *t, const char *name)
{
	size_t place = place_of(t, name);

	if (place == t->n)
		return NULL;
	t->last = place;
	return t->item[place];
}

static int make_room(struct names *t)
{
	size_t bigger = t->allocated ? t->allocated * 2 : ROOM_FIRST;
	void **item;

	if (t->n < t->allocated)
		return 0;
	item = reallocarray(t->item, bigger, sizeof(*item));
	if (!item)
		return -ENOMEM;
	t->item = item;
	t->allocated = bigger;
	return 0;
}

int names_add(struct names *t, void *item)
{
	const char *name = name_of(t, item);
	size_t place;

	if (make_room(t) < 0)
		return -ENOMEM;
	if (t->n == t->n_settled && (t->n == 0 || strcmp(names_name(t, t->n - 1), name) < 0)) {
		t->item[t->n++] = item;
		t->n_settled = t->n;
		return 0;
	}
	/* Most come in order: at the very end. */
	place = t->n;
	if (t->n > t->n_settled && strcmp(names_name(t, t->n - 1), name) > 0)
		place = find_place(t, t->n_settled, t->n, 0, name);
	memmove(&t->item[place + 1], &t->item[place], (t->n - place) * sizeof(*t->item));
	t->item[place] = item;
	t->n++;
	return 0;
}

/* Of two runs in order one is made, from behind, where there is room. Without that: the slow
 * way. */
static void merge(struct names *t)
{
	size_t n_new = t->n - t->n_settled, old = t->n_settled, to = t->n;
	void **new = malloc(n_new * sizeof(*new));

	for (size_t i = t->n_settled; !new && i < t->n; i++) {
		void *item = t->item[i];
		size_t place = find_place(t, 0, i, 0, name_of(t, item));

		memmove(&t->item[place + 1], &t->item[place], (i - place) * sizeof(*t->item));
		t->item[place] = item;
	}
	if (!new)
		return;
	memcpy(new, &t->item[t->n_settled], n_new * sizeof(*new));
	while (n_new > 0)
		if (old > 0 && strcmp(names_name(t, old - 1), name_of(t, new[n_new - 1])) > 0)
			t->item[--to] = t->item[--old];
		else
			t->item[--to] = new[--n_new];
	free(new);
}

void names_settle(struct names *t)
{
	if (t->n == t->n_settled)
		return;
	merge(t);
	t->n_settled = t->n;
	t->last = 0;
}

void names_remove(struct names *t, const char *name)
{
	size_t place = place_of(t, name);

	if (place == t->n)
		return;
	if (place < t->n_settled)
		t->n_settled--;
	t->n--;
	memmove(&t->item[place], &t->item[place + 1], (t->n - place) * sizeof(*t->item));
}

void names_keep(struct names *t, bool (*is_kept)(void *item, void *userdata), void *userdata)
{
	size_t n = 0;

	names_settle(t);
	for (size_t i = 0; i < t->n; i++) {
		void *item = t->item[i];

		if (is_kept(item, userdata))
			t->item[n++] = item;
	}
	t->n = t->n_settled = n;
}
