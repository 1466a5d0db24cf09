/* SPDX-License-Identifier: MIT */
/* Links to other names: whether one is an alias, and of which unit in the end. */
#include "store/unit_index_private.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* systemd's own directories: a copy of its units, in a tree that is looked at from outside, has
 * links that name them. */
static bool is_of_systemd(const char *dir)
{
	static const char *const known[] = { "/etc/systemd/system",     "/run/systemd/system",
					     "/usr/lib/systemd/system", "/usr/local/lib/systemd/system",
					     "/lib/systemd/system" };

	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (str_equal(dir, known[i]))
			return true;
	return false;
}

/* Is where a link leads a place in the unit path? */
static bool leads_into_path(const struct scan *s, const struct place *p, const char *link)
{
	const char *slash = strrchr(link, '/');
	char dir[PATH_MAX];
	struct stat st;

	if (!slash)
		return true;
	(void) snprintf(dir, sizeof(dir), "%.*s", (int) (slash == link ? 1 : slash - link), link);
	if (s->dirs[p->dir].is_systemd && is_of_systemd(dir))
		return true;
	if (fstatat(p->fd, dir, &st, 0) < 0)
		return false;
	for (size_t i = 0; i < s->n_dirs; i++)
		if (s->identity[i].is_known && s->identity[i].dev == st.st_dev &&
		    s->identity[i].ino == st.st_ino)
			return true;
	return false;
}

/* The name of the instance that a link of an instance's name to a template stands for: a@b.service
 * → c@.service is c@b.service. */
static int alias_of_instance(struct scan *s, struct unit_entry *e, const char *target)
{
	char name[UNIT_NAME_MAX + 1];

	if (unit_name_instance_of(target, e->name, name) < 0 || str_equal(name, e->name))
		return 0;
	e->alias_of = arena_strdup(&s->index->arena, name);
	return e->alias_of ? 0 : -ENOMEM;
}

/* What a link may stand for: the last part of where it leads, if that is a unit's name and not its
 * own, and lies in the unit path. What is not there at all is known by its name alone. */
int scan_set_alias(struct scan *s, const struct place *p, struct unit_entry *e, const char *link)
{
	const char *slash = strrchr(link, '/'), *target = slash ? slash + 1 : link;

	if (!*link)
		return 0;
	e->is_outside = !e->file.error && !leads_into_path(s, p, link);
	if (!unit_name_is_valid(target) || str_equal(target, e->name))
		return 0;
	e->file.is_crossed = !str_equal(unit_name_suffix(target), unit_name_suffix(e->name));
	if (e->file.is_crossed || e->is_outside)
		return 0;
	if (unit_name_is_instance(e->name) && unit_name_is_template(target))
		return alias_of_instance(s, e, target);
	e->alias_of = arena_strdup(&s->index->arena, target);
	return e->alias_of ? 0 : -ENOMEM;
}

/* What an alias stands for in the end; NULL if that is in none of the directories. A chain within
 * one directory has an end, else stat() had failed; but several directories can bend one into a
 * circle. */
static struct unit_entry *follow_alias(struct unit_index *x, const struct unit_entry *alias)
{
	struct unit_entry *e = NULL;

	for (int i = 0; i < ALIAS_CHAIN_MAX && alias->alias_of; i++) {
		e = unit_index_entry(x, alias->alias_of);
		if (!e)
			return NULL;
		alias = e;
	}
	return alias->alias_of ? NULL : e;
}

/* A link to what is in none of the directories is a unit itself. What an alias is wanted for, its
 * unit is. */
void unit_index_resolve_aliases(struct unit_index *x)
{
	for (size_t i = 0; i < x->n_entries; i++) {
		struct unit_entry *e = &x->entry[i], *target = follow_alias(x, e);

		e->alias_of = target ? target->name : NULL;
		if (target) {
			target->is_linked |= e->is_linked;
			target->is_linked_for_good |= e->is_linked_for_good;
		}
		if (target && e->is_wanted && !target->is_wanted) {
			target->is_wanted = true;
			target->fingerprint = hash_text(target->fingerprint, e->name);
		}
	}
}

const char *unit_index_resolve(struct unit_index *x, const char *name, char buf[UNIT_NAME_MAX + 1])
{
	const struct unit_entry *e = unit_index_entry(x, name);

	if (!e) {
		e = unit_index_template(x, name);
		if (!e || e->file.is_crossed)
			return NULL;
		if (!e->alias_of || unit_name_instance_of(e->alias_of, name, buf) < 0)
			(void) snprintf(buf, UNIT_NAME_MAX + 1, "%s", name);
		e = unit_index_entry(x, buf);
		if (!e)
			return buf;
	}
	(void) snprintf(buf, UNIT_NAME_MAX + 1, "%s", e->alias_of ? e->alias_of : e->name);
	return buf;
}
