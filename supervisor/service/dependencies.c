/* SPDX-License-Identifier: MIT */
#include "service/dependencies.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "service/spec_values.h"
#include "unit/name.h"

static const char *const kind_words[] = {
	[DEPENDENCY_REQUIRES] = "Requires",
	[DEPENDENCY_REQUISITE] = "Requisite",
	[DEPENDENCY_BINDS_TO] = "BindsTo",
	[DEPENDENCY_WANTS] = "Wants",
	[DEPENDENCY_UPHOLDS] = "Upholds",
	[DEPENDENCY_PART_OF] = "PartOf",
	[DEPENDENCY_CONFLICTS] = "Conflicts",
	[DEPENDENCY_BEFORE] = "Before",
	[DEPENDENCY_AFTER] = "After",
	[DEPENDENCY_ON_SUCCESS] = "OnSuccess",
	[DEPENDENCY_ON_FAILURE] = "OnFailure",
	[DEPENDENCY_PROPAGATES_STOP_TO] = "PropagatesStopTo",
	[DEPENDENCY_STOP_PROPAGATED_FROM] = "StopPropagatedFrom",
};
static_assert(ELEMENTS(kind_words) == DEPENDENCY_KIND_COUNT, "a word for each kind");

const char *dependency_kind_to_string(enum dependency_kind k)
{
	return kind_words[k];
}

static struct dependencies *own(const struct key_context *c)
{
	return &spec_draft_of(c)->dependencies;
}

/* Several assignments of one file stand next to each other: its name is kept once. */
static const char *keep_file(const struct key_context *c)
{
	const struct dependencies *d = own(c);
	const char *last = d->n > 0 ? d->item[d->n - 1].file : NULL;

	return last && str_equal(last, c->assignment->file)
		       ? last
		       : arena_strdup(c->arena, c->assignment->file);
}

static int append(struct arena *arena, struct dependencies *d, const struct dependency *item)
{
	struct dependency *grown =
		arena_grow(arena, (void *) (uintptr_t) d->item, d->n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	grown[d->n++] = *item;
	d->item = grown;
	return 0;
}

/* Where a template is named, that instance of it is meant which this unit is: foo@.service in
 * bar@x.service. */
static void instantiate(const char *unit, const char *word, char ret[UNIT_NAME_MAX + 1])
{
	const char *at = strchr(word, '@'), *own_at = strchr(unit, '@');
	const char *instance = unit_name_is_instance(unit) ? own_at + 1 : unit;
	int n = (int) (unit_name_suffix(unit) - instance);

	if (!unit_name_is_template(word) ||
	    snprintf(ret, UNIT_NAME_MAX + 1, "%.*s%.*s%s", (int) (at + 1 - word), word, n, instance,
		     at + 1) > UNIT_NAME_MAX)
		(void) snprintf(ret, UNIT_NAME_MAX + 1, "%s", word);
}

static int add(const struct key_context *c, const char *word)
{
	const char *unit = spec_draft_of(c)->specifiers->unit;
	struct dependency item = { .line = c->assignment->line,
				   .kind = (enum dependency_kind) c->row->parameter };
	char name[UNIT_NAME_MAX + 1];

	instantiate(unit, word, name);
	if (str_equal(name, unit))
		return 0;
	item.unit = arena_strdup(c->arena, name);
	item.file = keep_file(c);
	return item.unit && item.file ? append(c->arena, own(c), &item) : -ENOMEM;
}

/* systemd has more kinds of units than we: what they stand for is taken as there. */
static bool is_of_systemd(const char *word)
{
	const char *suffix = unit_name_suffix(word);
	char name[16];

	if (!suffix || snprintf(name, sizeof(name), "a%s", suffix) >= (int) sizeof(name))
		return false;
	return unit_name_is_valid(name) && unit_name_kind(name) == UNIT_OTHER;
}

static int parse_word(const struct key_context *c, char *word)
{
	enum unit_kind kind;
	int r = 0;

	if (strchr(word, '%'))
		r = spec_expand(c, word, &word);
	if (r < 0)
		return spec_reported(r);
	if (is_of_systemd(word))
		return 0;
	if (!unit_name_is_valid(word)) {
		spec_refuse(c, "wants names of units, with their suffix", word);
		return 0;
	}
	kind = unit_name_kind(word);
	return kind == UNIT_SERVICE || kind == UNIT_TARGET ? add(c, word) : 0;
}

/* As in systemd, an empty value takes nothing back. */
int spec_parse_dependency(const struct key_context *c)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	const char *at = c->assignment->value;
	char *word;
	int r;

	while ((r = value_word(&at, VALUE_WORD_RAW, &scratch, &word)) > 0) {
		r = parse_word(c, word);
		if (r < 0)
			return r;
	}
	if (r == -EINVAL)
		spec_refuse(c, "wants balanced quotes", c->assignment->value);
	return r == -ENOMEM ? r : 0;
}

int spec_keep_dependencies(struct spec_draft *draft, struct arena *arena)
{
	const struct dependencies *d = &draft->dependencies;
	struct dependencies *kept;

	if (d->n == 0 && !d->refuse_manual_start && !d->refuse_manual_stop)
		return 0;
	kept = arena_alloc(arena, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *d;
	draft->spec.dependencies = kept;
	return 0;
}
