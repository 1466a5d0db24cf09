/* SPDX-License-Identifier: MIT */
#include "core/install.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/keys.h"
#include "base/text.h"
#include "base/values.h"
#include "service/specifier.h"
#include "unit/merge.h"
#include "unit/name.h"
#include "unit/source.h"

/* What `supctl enable` and `disable` write by themselves. */
#define OWN_DROPIN "50-enabled.conf"

struct reading {
	struct install install;
	const struct specifiers *specifiers;
};

static int expand(const struct key_context *c, const char *text, char **ret)
{
	const struct reading *reading = c->object;
	char letter, shown[64];
	int r = specifier_expand(reading->specifiers, text, c->arena, ret, &letter);

	if (r == -EINVAL)
		key_error(c, "%s= asks for %%%c, which is not known here: '%s'", c->assignment->key,
			  letter, text_escape_to(shown, sizeof(shown), text));
	return r;
}

static int append(const struct key_context *c, const char *name)
{
	const char ***list = key_field(c), **grown;
	size_t n = 0;

	while (*list && (*list)[n])
		n++;
	grown = arena_alloc(c->arena, (n + 2) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	if (n > 0)
		memcpy(grown, *list, n * sizeof(*grown));
	grown[n] = name;
	grown[n + 1] = NULL;
	*list = grown;
	return 0;
}

static int parse_units(const struct key_context *c)
{
	const char *p = c->assignment->value;
	char *word, *name, shown[64];
	int r;

	if (!*p)
		*(const char ***) key_field(c) = NULL;
	while ((r = value_word(&p, VALUE_WORD_PLAIN, c->arena, &word)) > 0) {
		r = expand(c, word, &name);
		if (r < 0)
			return r == -ENOMEM ? r : 0;
		if (!unit_name_is_valid(name)) {
			key_error(c, "%s= names '%s', which is no unit", c->assignment->key,
				  text_escape_to(shown, sizeof(shown), name));
			continue;
		}
		r = append(c, name);
		if (r < 0)
			return r;
	}
	if (r == -EINVAL)
		key_error(c, "%s= has unbalanced quotes or a bad escape", c->assignment->key);
	return r == -ENOMEM ? r : 0;
}

static int parse_instance(const struct key_context *c)
{
	const char **field = key_field(c);
	char *text;
	int r;

	*field = NULL;
	if (!*c->assignment->value)
		return 0;
	r = expand(c, c->assignment->value, &text);
	if (r >= 0)
		*field = text;
	return r == -ENOMEM ? r : 0;
}

#define FIELD(member) (offsetof(struct reading, install) + offsetof(struct install, member))
static const struct key_row rows[] = {
	{ "Install", "WantedBy", KEY_KNOWN, parse_units, FIELD(wanted_by), 0 },
	{ "Install", "RequiredBy", KEY_KNOWN, parse_units, FIELD(required_by), 0 },
	{ "Install", "UpheldBy", KEY_KNOWN, parse_units, FIELD(upheld_by), 0 },
	{ "Install", "Alias", KEY_KNOWN, parse_units, FIELD(alias), 0 },
	{ "Install", "Also", KEY_KNOWN, parse_units, FIELD(also), 0 },
	{ "Install", "DefaultInstance", KEY_KNOWN, parse_instance, FIELD(default_instance), 0 },
};
static const struct key_table table = { .row = rows, .n = ELEMENTS(rows) };

static bool is_own_dropin(const char *file)
{
	const char *slash = strrchr(file, '/');

	return str_equal(slash ? slash + 1 : file, OWN_DROPIN);
}

static bool says_enabled(const struct assignment *a)
{
	return (str_equal(a->key, "Enabled") || str_equal(a->key, "X-Enabled")) &&
	       !is_own_dropin(a->file);
}

/* Leaves those of [Install]; what is wrong elsewhere is not said here. */
static void keep_install(struct assignments *all, struct install *install)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		install->says_enabled |= says_enabled(&all->item[i]);
		if (str_equal(all->item[i].section, "Install"))
			all->item[n++] = all->item[i];
	}
	all->n = n;
	install->is_there = n > 0;
}

int install_read(const char *name, const struct unit_source *source,
		 const struct specifiers *common, struct arena *arena, struct diag *d,
		 struct install *ret)
{
	struct specifiers specifiers = *common;
	struct reading reading = { .specifiers = &specifiers };
	struct assignments all = { 0 };
	struct diag elsewhere = { 0 };
	int r;

	specifiers.unit = name;
	specifiers.fragment = source->n_pieces > 0 ? source->piece[0].path : NULL;
	r = unit_merge(source, arena, &all, &elsewhere);
	diag_done(&elsewhere);
	if (r < 0)
		return r;
	keep_install(&all, &reading.install);
	r = keys_apply(&table, all.item, all.n, arena, d, &reading);
	if (r >= 0)
		*ret = reading.install;
	return r;
}
