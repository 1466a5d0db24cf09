/* SPDX-License-Identifier: MIT */
/* Links in .wants, .requires and .upholds: which units they start with supd, and what they make of
 * the units whose directories they are. */
#include "store/unit_index_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

bool scan_is_link_dir(const struct scan *s, const char *name)
{
	static const char *const suffix[] = { ".wants", ".requires", ".upholds" };

	/* Nothing of a kind that is not asked for is looked at. */
	if (str_equal(name, "timers.target.wants"))
		return s->kinds & 1u << UNIT_TIMER;
	for (size_t i = 0; i < ELEMENTS(suffix); i++)
		if (str_ends(name, suffix[i]))
			return true;
	return false;
}

/* In a directory of supd's a service is started with the daemon if default.target wants it; where
 * systemd rules, also if its multi-user.target does. A timer is active if any unit wants it. */
static bool counts(const struct scan *s, const struct place *p, const char *unit)
{
	if (unit_name_kind(unit) == UNIT_TIMER || str_equal(p->in, "default.target.wants"))
		return true;
	return s->dirs[p->dir].is_systemd && (str_equal(p->in, "multi-user.target.wants") ||
					      str_equal(p->in, "graphical.target.wants"));
}

int scan_add_want(struct scan *s, const struct place *p, const struct dirent *e)
{
	char link[PATH_MAX];
	struct want *want;

	if (!unit_name_is_valid(e->d_name) || !scan_is_wanted_kind(s, e->d_name))
		return 0;
	if (p->distrust) {
		diag_add(s->diag, DIAG_WARNING, p->path, 0, NULL, "%s; '%s' in it is ignored",
			 p->distrust, e->d_name);
		return 0;
	}
	want = unit_index_grow(s->want, s->n_wants, &s->wants_size, sizeof(*want));
	if (!want)
		return -ENOMEM;
	s->want = want;
	want += s->n_wants++;
	place_read_link(p, e, link);
	*want = (struct want) {
		.unit = arena_strdup(&s->index->arena, e->d_name),
		.in = arena_strdup(&s->index->arena, p->in),
		.dir = p->dir,
		.is_masked = str_equal(link, "/dev/null"),
		.counts = counts(s, p, e->d_name),
	};
	return want->unit && want->in ? 0 : -ENOMEM;
}

static int compare_wants(const void *one, const void *other)
{
	const struct want *a = one, *b = other;
	int c = strcmp(a->unit, b->unit);

	if (c == 0)
		c = strcmp(a->in, b->in);
	return c ? c : (int) a->dir - (int) b->dir;
}

/* Of the wants of one unit from @first on: the first directory of supd's that says no in its
 * default.target.wants/. What directories below it want does not count. */
static size_t refusing_dir(const struct scan *s, const struct want *first)
{
	size_t dir = SIZE_MAX;

	for (const struct want *w = first;
	     w < s->want + s->n_wants && str_equal(w->unit, first->unit); w++)
		if (w->is_masked && w->counts && !s->dirs[w->dir].is_systemd && w->dir < dir)
			dir = w->dir;
	return dir;
}

/* Of the same link in several directories the first one decides. */
static bool is_repeated(const struct scan *s, size_t i)
{
	return i > 0 && str_equal(s->want[i - 1].unit, s->want[i].unit) &&
	       str_equal(s->want[i - 1].in, s->want[i].in);
}

static void mark(const struct scan *s, const struct want *w, size_t refusing, struct unit_entry *e)
{
	e->fingerprint = hash_text(e->fingerprint, w->in);
	e->fingerprint = hash_numbers(e->fingerprint, (uint64_t[]){ w->dir, w->is_masked }, 2);
	if (w->is_masked || (w->counts && w->dir >= refusing))
		return;
	e->is_wanted |= w->counts;
	e->is_linked = true;
	e->is_linked_for_good |= !s->dirs[w->dir].is_runtime;
}

void scan_mark_wanted(struct scan *s)
{
	size_t refusing = SIZE_MAX;

	if (s->n_wants)
		qsort(s->want, s->n_wants, sizeof(*s->want), compare_wants);
	for (size_t i = 0; i < s->n_wants; i++) {
		const struct want *w = &s->want[i];
		struct unit_entry *e;

		if (i == 0 || !str_equal(s->want[i - 1].unit, w->unit))
			refusing = refusing_dir(s, w);
		e = is_repeated(s, i) ? NULL : unit_index_entry(s->index, w->unit);
		if (e)
			mark(s, w, refusing, e);
	}
}

/* "a.target" of "a.target.wants": a service or target that has a file. */
static struct unit_entry *owner_of(struct unit_index *x, const char *in)
{
	char name[NAME_MAX + 1];
	struct unit_entry *e;

	(void) snprintf(name, sizeof(name), "%.*s", (int) (strrchr(in, '.') - in), in);
	e = unit_name_is_valid(name) ? unit_index_entry(x, name) : NULL;
	if (e && e->alias_of)
		e = unit_index_entry(x, e->alias_of);
	if (!e ||
	    (unit_name_kind(e->name) != UNIT_SERVICE && unit_name_kind(e->name) != UNIT_TARGET))
		return NULL;
	return e;
}

static int compare_links(const void *one, const void *other)
{
	const struct unit_index_link *a = one, *b = other;
	int c = strcmp(a->owner, b->owner);

	return c ? c : strcmp(a->unit, b->unit);
}

int scan_keep_links(struct scan *s)
{
	struct unit_index *x = s->index;
	size_t allocated = 0;

	for (size_t i = 0; i < s->n_wants; i++) {
		const struct want *w = &s->want[i];
		struct unit_index_link *grown;
		struct unit_entry *owner;

		owner = w->is_masked || is_repeated(s, i) ? NULL : owner_of(x, w->in);
		if (!owner)
			continue;
		grown = unit_index_grow(x->link, x->n_links, &allocated, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		x->link = grown;
		x->link[x->n_links++] = (struct unit_index_link) {
			.owner = owner->name, .unit = w->unit, .in = w->in, .dir = w->dir,
			.is_required = str_ends(w->in, ".requires"),
		};
		owner->fingerprint = hash_text(hash_text(owner->fingerprint, w->in), w->unit);
	}
	if (x->n_links > 0)
		qsort(x->link, x->n_links, sizeof(*x->link), compare_links);
	return 0;
}

const struct unit_index_link *unit_index_links(const struct unit_index *x, const char *owner,
					       size_t *ret_n)
{
	size_t low = unit_index_where(x->link, x->n_links, sizeof(*x->link), owner), end;

	for (end = low; end < x->n_links && str_equal(x->link[end].owner, owner); end++)
		;
	*ret_n = end - low;
	return *ret_n > 0 ? x->link + low : NULL;
}
