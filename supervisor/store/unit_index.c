/* SPDX-License-Identifier: MIT */
#include "store/unit_index_private.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/cleanup.h"

void *unit_index_grow(void *array, size_t n, size_t *size, size_t element)
{
	size_t bigger_size = *size ? 2 * *size : 64;
	void *bigger;

	if (n < *size)
		return array;
	bigger = reallocarray(array, bigger_size, element);
	if (bigger)
		*size = bigger_size;
	return bigger;
}

static_assert(offsetof(struct unit_dropin, stem) == 0, "tables are searched by what comes first");
static_assert(offsetof(struct unit_index_link, owner) == 0, "so are links");
static_assert(offsetof(struct unit_entry, name) == 0, "so are entries");

size_t unit_index_where(const void *table, size_t n, size_t element, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const void *at = (const char *) table + middle * element;

		if (strcmp(*(const char *const *) at, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Who asks for one after the other, in their order, finds the next near the last: steps that
 * double, then halves. */
struct unit_entry *unit_index_entry(struct unit_index *x, const char *name)
{
	size_t low = x->last < x->n_entries && strcmp(name, x->entry[x->last].name) >= 0 ? x->last
											 : 0;
	size_t high = low, step = 1;

	while (high < x->n_entries && strcmp(name, x->entry[high].name) > 0) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = high < x->n_entries ? high + 1 : x->n_entries;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = strcmp(name, x->entry[middle].name);

		if (c == 0) {
			x->last = middle;
			return &x->entry[middle];
		}
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* What was grown by doubling stays for long. */
static void shrink(struct unit_index *x)
{
	struct unit_entry *exact =
		x->n_entries ? reallocarray(x->entry, x->n_entries, sizeof(*exact)) : NULL;

	if (exact)
		x->entry = exact;
}

static int build(struct scan *s)
{
	int r = scan_directories(s);

	if (r == 0)
		r = scan_add_instances(s);
	if (r == 0)
		r = scan_keep_missing(s);
	if (r < 0)
		return r;
	scan_mark_wanted(s);
	unit_index_resolve_aliases(s->index);
	r = scan_keep_links(s);
	return r < 0 ? r : unit_index_mix_in_all_dropins(s->index);
}

int unit_index_build(const struct unit_dir *dirs, size_t n_dirs, bool trusted_only, unsigned kinds,
		     struct unit_index *ret, struct diag *d)
{
	struct unit_index x = {.kinds = kinds};
	struct scan s = {
		.dirs = dirs,
		.n_dirs = n_dirs,
		.index = &x,
		.kinds = kinds,
		.trusted_only = trusted_only,
		.diag = d,
	};
	int r;

	x.distrust = calloc(n_dirs + 1, sizeof(*x.distrust));
	s.identity = calloc(n_dirs + 1, sizeof(*s.identity));
	r = x.distrust && s.identity ? build(&s) : -ENOMEM;
	free(s.want);
	free(s.identity);
	shrink(&x);
	if (r < 0)
		unit_index_done(&x);
	else
		*ret = x;
	return r;
}

/* What stat() said, and whether the directory can be trusted, is in the fingerprint. */
static bool is_same_entry(const struct unit_entry *a, const struct unit_entry *b)
{
	return a->fingerprint == b->fingerprint && str_equal(a->name, b->name) &&
	       !a->alias_of == !b->alias_of &&
	       (!a->alias_of || str_equal(a->alias_of, b->alias_of)) &&
	       a->file.hash == b->file.hash && a->is_wanted == b->is_wanted &&
	       a->is_made == b->is_made && a->is_outside == b->is_outside &&
	       a->is_linked == b->is_linked && a->is_linked_for_good == b->is_linked_for_good;
}

static bool is_same_dropin(const struct unit_dropin *a, const struct unit_dropin *b)
{
	return a->facts.hash == b->facts.hash && str_equal(a->stem, b->stem) &&
	       str_equal(a->file, b->file) && !a->distrust == !b->distrust;
}

static bool is_same_link(const struct unit_index_link *a, const struct unit_index_link *b)
{
	return str_equal(a->owner, b->owner) && str_equal(a->unit, b->unit) &&
	       str_equal(a->in, b->in) && a->dir == b->dir && a->is_required == b->is_required;
}

bool unit_index_is_same(const struct unit_index *a, const struct unit_index *b)
{
	bool is_same = a->n_entries == b->n_entries && a->n_dropins == b->n_dropins &&
		       a->n_links == b->n_links;

	for (size_t i = 0; is_same && i < a->n_entries; i++)
		is_same = is_same_entry(&a->entry[i], &b->entry[i]);
	for (size_t i = 0; is_same && i < a->n_dropins; i++)
		is_same = is_same_dropin(&a->dropin[i], &b->dropin[i]);
	for (size_t i = 0; is_same && i < a->n_links; i++)
		is_same = is_same_link(&a->link[i], &b->link[i]);
	return is_same;
}

void unit_index_done(struct unit_index *x)
{
	free(x->entry);
	free(x->dropin);
	free(x->link);
	free(x->distrust);
	free(x->missing);
	arena_done(&x->arena);
	*x = (struct unit_index) {0};
}
