/* SPDX-License-Identifier: MIT */
/* The keys Condition*= and Assert*= of a service. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"
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
		key_warning(c, "%s=%s names what is not known here, and is never met (but always with '!')",
			    c->assignment->key, shown);
		break;
	case CONDITION_IS_PASSED_OVER:
		key_warning(c, "%s=%s names nothing that is known here, and is always met (but never with '!')",
			    c->assignment->key, shown);
		break;
	}
}

/* The list, made when the first of them is seen. NULL when memory ran out. */
static struct condition_list *list_of(const struct key_context *c, bool is_assert)
{
	struct service_spec *spec = &((struct spec_draft *) c->object)->spec;
	struct conditions *all = (struct conditions *) (uintptr_t) spec->conditions;

	if (!all)
		spec->conditions = all = arena_alloc(c->arena, sizeof(*all));
	if (!all)
		return NULL;
	return is_assert ? &all->assert : &all->condition;
}

static int append(const struct key_context *c, bool is_assert, const struct condition *condition)
{
	struct condition_list *list = list_of(c, is_assert);
	struct condition *grown = list ? arena_grow(c->arena, list->item, list->n, sizeof(*grown)) : NULL;

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
	if (all->condition.n + all->assert.n == 0)
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
		key_error(c, "%s= asks for %%%c, which is not known here: '%s' (a percent sign is written %%%%)",
			  c->assignment->key, letter, text_escape_to(shown, sizeof(shown), c->assignment->value));
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
