/* SPDX-License-Identifier: MIT */
/* The keys Condition*= and Assert*= of a service. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"
#include "service/condition.h"
#include "service/spec_values.h"

#define SHOWN_MAX 128

static void remark(const struct key_context *c, enum condition_remark r, const char *value)
{
	char shown[SHOWN_MAX];

	(void) text_escape_to(shown, sizeof(shown), value);
	switch (r) {
	case CONDITION_FINE:
		break;
	case CONDITION_IS_UNKNOWN:
		key_warning(
			c,
			"%s=%s names what is not known here, and is never met (but always with '!')",
			c->assignment->key, shown);
		break;
	case CONDITION_IS_PASSED_OVER:
		key_warning(
			c,
			"%s=%s names nothing that is known here, and is always met (but never with '!')",
			c->assignment->key, shown);
		break;
	}
}

/* Made when the first of them is seen. NULL when memory ran out. */
static struct conditions *all_of(struct spec_draft *draft, struct arena *arena)
{
	struct conditions *all = (struct conditions *) (uintptr_t) draft->spec.conditions;

	if (!all)
		draft->spec.conditions = all = arena_alloc(arena, sizeof(*all));
	return all;
}

static struct condition_list *list_of(const struct key_context *c, bool is_assert)
{
	struct conditions *all = all_of(c->object, c->arena);

	if (!all)
		return NULL;
	return is_assert ? &all->assert : &all->condition;
}

static int append(const struct key_context *c, bool is_assert, const struct condition *condition)
{
	struct condition_list *list = list_of(c, is_assert);
	struct condition *grown = list ? arena_grow(c->arena, list->item, list->n, sizeof(*grown))
				       : NULL;

	if (!grown)
		return -ENOMEM;
	grown[list->n++] = *condition;
	list->item = grown;
	return 0;
}

/* An empty value of any of them empties the list. */
static void reset(const struct key_context *c, bool is_assert)
{
	struct service_spec *spec = &((struct spec_draft *) c->object)->spec;
	struct conditions *all = (struct conditions *) (uintptr_t) spec->conditions;

	if (!all)
		return;
	*(is_assert ? &all->assert : &all->condition) = (struct condition_list) { 0 };
	if (all->condition.n + all->assert.n == 0 && !all->mounts)
		spec->conditions = NULL;
}

static int parse(const struct key_context *c, bool is_assert)
{
	const struct spec_draft *draft = c->object;
	enum condition_kind kind = (enum condition_kind) c->row->parameter;
	enum condition_remark said;
	struct condition condition;
	char letter, *value, shown[SHOWN_MAX];
	const char *wanted;
	int r;

	if (!*c->assignment->value) {
		reset(c, is_assert);
		return 0;
	}
	r = specifier_expand(draft->specifiers, c->assignment->value, c->arena, &value, &letter);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		key_error(
			c,
			"%s= asks for %%%c, which is not known here: '%s' (a percent sign is written %%%%)",
			c->assignment->key, letter,
			text_escape_to(shown, sizeof(shown), c->assignment->value));
		return 0;
	}
	if (condition_parse(kind, value, &condition, &said, &wanted) < 0) {
		key_error(c, "%s= wants %s, not '%s'", c->assignment->key, wanted,
			  text_escape_to(shown, sizeof(shown), value));
		return 0;
	}
	remark(c, said, value);
	return append(c, is_assert, &condition);
}

int spec_parse_condition(const struct key_context *c)
{
	return parse(c, false);
}

int spec_parse_assert(const struct key_context *c)
{
	return parse(c, true);
}

/* ---- mounts ---- */

static int require_mount(struct spec_draft *draft, struct arena *arena, const char *path)
{
	struct conditions *all = all_of(draft, arena);

	return all ? spec_list_append(arena, &all->mounts, path) : -ENOMEM;
}

static int parse_mount(const struct key_context *c, char *word)
{
	int r = spec_expand(c, word, &word);

	if (r < 0)
		return spec_reported(r);
	if (condition_path_read(word))
		return require_mount(c->object, c->arena, word);
	spec_refuse(c, "wants absolute paths without ..", word);
	return 0;
}

/* As in systemd, an empty value takes nothing back. */
int spec_parse_mounts(const struct key_context *c)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	const char *at = c->assignment->value;
	char *word;
	int r;

	while ((r = value_word(&at, VALUE_WORD_RAW, &scratch, &word)) > 0) {
		r = parse_mount(c, word);
		if (r < 0)
			return r;
	}
	if (r == -EINVAL)
		spec_refuse(c, "wants balanced quotes", c->assignment->value);
	return r == -ENOMEM ? r : 0;
}

int spec_require_directory(struct spec_draft *draft, struct arena *arena)
{
	const struct exec_context *exec = &draft->exec;

	if (!exec->working_directory || *exec->working_directory != '/' ||
	    exec->working_directory_optional || str_equal(exec->working_directory, "/"))
		return 0;
	return require_mount(draft, arena, exec->working_directory);
}
