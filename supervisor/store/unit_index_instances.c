/* SPDX-License-Identifier: MIT */
/* Instances that have no file: their template's is theirs. */
#include "store/unit_index_private.h"

#include <errno.h>

struct unit_entry *unit_index_template(struct unit_index *x, const char *name)
{
	char template[UNIT_NAME_MAX + 1];

	return unit_name_template(name, template) == 0 ? unit_index_entry(x, template) : NULL;
}

/* Not yet with its drop-ins and links. */
static struct unit_entry make_instance(const struct unit_entry *template, const char *name)
{
	return (struct unit_entry) {
		.name = name,
		.fingerprint = hash_text(template->file.hash, name),
		.file = template->file,
		.is_outside = template->is_outside,
		.is_made = true,
	};
}

/* Instances that are to be, behind the sorted ones. */
struct instances {
	struct scan *s;
	size_t n; /* all entries */
};

static int append_instance(struct instances *i, const struct unit_entry *template, const char *name)
{
	struct unit_index *x = i->s->index;
	struct unit_entry e = make_instance(template, arena_strdup(&x->arena, name)), *all;

	if (!e.name)
		return -ENOMEM;
	if (template->alias_of) {
		char target[UNIT_NAME_MAX + 1];

		if (unit_name_instance_of(template->alias_of, name, target) == 0) {
			e.alias_of = arena_strdup(&x->arena, target);
			if (!e.alias_of)
				return -ENOMEM;
		}
	}
	all = unit_index_grow(x->entry, i->n, &i->s->entries_size, sizeof(*all));
	if (!all)
		return -ENOMEM;
	x->entry = all;
	all[i->n++] = e;
	return 0;
}

/* A name that something names: if it is an instance without a file, its template makes it; and what
 * that one is an alias of, likewise. */
static int need_instance(struct instances *i, const char *name)
{
	struct unit_index *x = i->s->index;
	int r;

	for (int depth = 0; depth < ALIAS_CHAIN_MAX && name; depth++) {
		const struct unit_entry *template;

		if (unit_index_entry(x, name))
			return 0;
		template = unit_index_template(x, name);
		if (!template || template->file.is_crossed)
			return 0;
		r = append_instance(i, template, name);
		if (r < 0)
			return r;
		name = x->entry[i->n - 1].alias_of;
	}
	return 0;
}

int scan_add_instances(struct scan *s)
{
	struct unit_index *x = s->index;
	struct instances i = { s, x->n_entries };
	size_t n = x->n_entries;
	int r = 0;

	for (size_t k = 0; r == 0 && k < s->n_wants; k++)
		if (!s->want[k].is_masked)
			r = need_instance(&i, s->want[k].unit);
	for (size_t k = 0; r == 0 && k < n; k++)
		r = need_instance(&i, x->entry[k].alias_of);
	if (r < 0 || i.n == n)
		return r;
	x->n_entries = i.n;
	unit_index_sort_entries(x);
	return 0;
}

int unit_index_find(struct unit_index *x, const char *name, struct unit_entry *ret)
{
	const struct unit_entry *e = unit_index_entry(x, name);
	char target[UNIT_NAME_MAX + 1];
	int r;

	if (e) {
		*ret = *e;
		return 1;
	}
	e = unit_index_template(x, name);
	/* A link to another template has no files of its own: what it stands for has. */
	if (e && e->alias_of && unit_name_instance_of(e->alias_of, name, target) == 0)
		e = unit_index_template(x, target);
	if (!e || e->file.is_crossed)
		return 0;
	*ret = make_instance(e, name);
	r = unit_index_mix_in_dropins(x, ret);
	return r < 0 ? r : 1;
}
