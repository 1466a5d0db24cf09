/* SPDX-License-Identifier: MIT */
/* Any value of any Condition*=: the first byte is the kind, the rest the value. What is taken is
 * judged, on a machine of which each text is that value, too; it must come to an answer, and a copy
 * to the same one. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "service/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

static int find_text(void *userdata, enum condition_text what _unused_, const char *name _unused_, const char **ret)
{
	*ret = userdata;
	return **ret != '\0';
}

static int find_number(void *userdata, enum condition_number what _unused_, uint64_t *ret)
{
	*ret = strlen(userdata);
	return 0;
}

static int test(void *userdata, enum condition_kind kind _unused_, const char *parameter)
{
	return parameter && str_equal(parameter, userdata);
}

static void check_list(const struct condition *c, const struct condition_facts *facts, struct arena *arena)
{
	struct condition item = *c;
	const struct conditions list = { .condition = { &item, 1 } };
	const struct conditions *copy = conditions_copy(&list, arena);
	const char *unmet, *unmet_copy;
	enum condition_outcome outcome = conditions_judge(&list, facts, arena, &unmet);

	CHECK(copy && conditions_judge(copy, facts, arena, &unmet_copy) == outcome);
	CHECK((outcome == CONDITIONS_HOLD) == (condition_judge(c, facts, arena) > 0));
	CHECK((outcome == CONDITIONS_SKIP) == (unmet != NULL));
	CHECK(!unmet || str_equal(unmet, unmet_copy));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_free_ char *value = size > 0 ? strndup((const char *) data + 1, size - 1) : NULL;
	_cleanup_free_ char *text = value ? strdup(value) : NULL;
	const struct condition_facts facts = {
		.userdata = text, .text = find_text, .number = find_number, .test = test,
	};
	enum condition_remark remark;
	const char *wanted = NULL;
	struct condition c;

	if (size == 0)
		return 0;
	CHECK(value && text);
	if (condition_parse((enum condition_kind) (data[0] % CONDITION_KIND_COUNT), value, &c, &remark, &wanted) < 0) {
		CHECK(wanted);
		return 0;
	}
	CHECK(*c.parameter);
	check_list(&c, &facts, &arena);
	return 0;
}
