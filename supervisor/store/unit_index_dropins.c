/* SPDX-License-Identifier: MIT */
/* Which drop-ins there are, and which of them apply to a unit. */
#include "store/unit_index_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* "a.service.d", or, of all services, "service.d". */
bool scan_is_dropin_dir(const struct scan *s, const char *name)
{
	size_t n = strlen(name);
	char unit[NAME_MAX + 8];

	if (n > UNIT_NAME_MAX + 2 || !str_ends(name, ".d"))
		return false;
	n -= 2;
	(void) snprintf(unit, sizeof(unit), "%s%.*s", memchr(name, '.', n) ? "" : "a.", (int) n,
			name);
	return unit_name_is_valid(unit) && scan_is_wanted_kind(s, unit);
}

int scan_add_dropin(struct scan *s, const struct place *p, const struct dirent *e)
{
	struct unit_index *x = s->index;
	char link[PATH_MAX];
	struct unit_dropin *dropin;

	if (!str_ends(e->d_name, ".conf"))
		return 0;
	dropin = unit_index_grow(x->dropin, x->n_dropins, &s->dropins_size, sizeof(*dropin));
	if (!dropin)
		return -ENOMEM;
	x->dropin = dropin;
	dropin += x->n_dropins;
	*dropin = (struct unit_dropin) {
		.stem = arena_strndup(&x->arena, p->in, strlen(p->in) - 2),
		.file = arena_strdup(&x->arena, e->d_name),
		.distrust = p->distrust,
	};
	if (!dropin->stem || !dropin->file)
		return -ENOMEM;
	place_read_link(p, e, link);
	if (place_find_facts(p, e->d_name, link, &dropin->facts))
		x->n_dropins++;
	return 0;
}

static int compare_dropins(const void *one, const void *other)
{
	const struct unit_dropin *a = one, *b = other;
	int c = strcmp(a->stem, b->stem);

	if (c == 0)
		c = strcmp(a->file, b->file);
	return c ? c : (int) a->facts.dir - (int) b->facts.dir;
}

void unit_index_sort_dropins(struct unit_index *x)
{
	if (x->n_dropins)
		qsort(x->dropin, x->n_dropins, sizeof(*x->dropin), compare_dropins);
}

struct chosen {
	const struct unit_dropin *dropin;
	unsigned rank; /* smaller wins */
};

struct choice {
	struct chosen *item;
	size_t n, size;
};

#define RANK_OF_TYPE UINT_MAX
#define STEMS_MAX 1024u /* no name has more dashes, twice, as there is a template, too */

static int choose_stem(const struct unit_index *x, const char *stem, unsigned specificity,
		       struct choice *c)
{
	size_t low = unit_index_where(x->dropin, x->n_dropins, sizeof(*x->dropin), stem);

	for (; low < x->n_dropins && str_equal(x->dropin[low].stem, stem); low++) {
		const struct unit_dropin *dropin = &x->dropin[low];
		struct chosen *item = unit_index_grow(c->item, c->n, &c->size, sizeof(*item));

		if (!item)
			return -ENOMEM;
		c->item = item;
		c->item[c->n++] = (struct chosen){
			.dropin = dropin,
			.rank = specificity == RANK_OF_TYPE
					? RANK_OF_TYPE - UINT16_MAX + dropin->facts.dir
					: dropin->facts.dir * STEMS_MAX + specificity,
		};
	}
	return 0;
}

/* a-b-c.service.d, a-b-.service.d, a-.service.d. */
static int choose_prefixes(const struct unit_index *x, const char *name, unsigned *specificity,
			   struct choice *c)
{
	const char *at = strchr(name, '@'), *rest = at ? at : unit_name_suffix(name);
	char stem[UNIT_NAME_MAX + 1];
	int r = choose_stem(x, name, (*specificity)++, c);

	/* Each dash but one at the very end, from the last to the first. */
	for (size_t n = (size_t) (rest - name) - 1; r == 0 && n > 0; n--)
		if (name[n - 1] == '-') {
			(void) snprintf(stem, sizeof(stem), "%.*s%s", (int) n, name, rest);
			r = choose_stem(x, stem, (*specificity)++, c);
		}
	return r;
}

/* Those of the name itself, for an instance its template's, those of its kind. As in systemd, what
 * is the instance's alone outweighs, then what is the template's, then prefixes of the instance's
 * name. */
static int choose_all(const struct unit_index *x, const char *name, struct choice *c)
{
	char template[UNIT_NAME_MAX + 1];
	unsigned specificity = 0;
	int r = 0;

	if (unit_name_template(name, template) == 0) {
		r = choose_stem(x, name, specificity++, c);
		if (r == 0)
			r = choose_prefixes(x, template, &specificity, c);
	}
	if (r == 0)
		r = choose_prefixes(x, name, &specificity, c);
	return r < 0 ? r : choose_stem(x, unit_name_suffix(name) + 1, RANK_OF_TYPE, c);
}

static int compare_chosen(const void *one, const void *other)
{
	const struct chosen *a = one, *b = other;
	int c = strcmp(a->dropin->file, b->dropin->file);

	return c ? c : a->rank < b->rank ? -1 : a->rank > b->rank;
}

int unit_index_dropins(const struct unit_index *x, const char *name,
		       const struct unit_dropin ***ret, size_t *ret_n)
{
	const struct unit_dropin **applied;
	struct choice c = {0};
	size_t n = 0;
	int r = 0;

	*ret = NULL;
	*ret_n = 0;
	if (x->n_dropins == 0)
		return 0;
	r = choose_all(x, name, &c);
	applied = r == 0 && c.n ? calloc(c.n, sizeof(*applied)) : NULL;
	if (!applied) {
		free(c.item);
		return r < 0 ? r : c.n ? -ENOMEM : 0;
	}
	qsort(c.item, c.n, sizeof(*c.item), compare_chosen);
	for (size_t i = 0; i < c.n; i++) {
		const struct unit_dropin *dropin = c.item[i].dropin;

		if (i > 0 && str_equal(c.item[i - 1].dropin->file, dropin->file))
			continue;
		if (!dropin->facts.is_masked)
			applied[n++] = dropin;
	}
	free(c.item);
	*ret = applied;
	*ret_n = n;
	return 0;
}

int unit_index_mix_in_dropins(const struct unit_index *x, struct unit_entry *e)
{
	const struct unit_dropin **dropin;
	size_t n;
	int r = unit_index_dropins(x, e->name, &dropin, &n);

	if (r < 0)
		return r;
	for (size_t j = 0; j < n; j++)
		e->fingerprint = hash_numbers(e->fingerprint, &dropin[j]->facts.hash, 1);
	free(dropin);
	return 0;
}

int unit_index_mix_in_all_dropins(struct unit_index *x)
{
	int r = 0;

	for (size_t i = 0; r == 0 && x->n_dropins && i < x->n_entries; i++)
		r = unit_index_mix_in_dropins(x, &x->entry[i]);
	return r;
}
