/* SPDX-License-Identifier: MIT */
/* A unit's name in the first line, a text with specifiers in the rest: the same each time, never
 * longer than what its parts amount to, and what is refused is refused for a letter that stands
 * there behind a '%'. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "service/specifier.h"
#include "unit/name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

static bool asks_for(const char *text, char letter)
{
	for (const char *p = strchr(text, '%'); p && p[1]; p = strchr(p + 2, '%'))
		if (p[1] == letter)
			return true;
	return false;
}

static void check_text(const struct specifiers *s, const char *text)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	char *one = NULL, *two = NULL, letter = '\0';
	int r = specifier_expand(s, text, &arena, &one, &letter);

	CHECK(r == 0 || r == -EINVAL);
	CHECK(specifier_expand(s, text, &arena, &two, NULL) == r);
	if (r < 0) {
		CHECK(!one && !two);
		CHECK(asks_for(text, letter));
		return;
	}
	CHECK(str_equal(one, two));
	CHECK(strlen(one) <= strlen(text) * (UNIT_NAME_MAX + 2));
	if (!strchr(text, '%'))
		CHECK(str_equal(one, text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *copy = strndup((const char *) data, size);
	struct specifiers s = { .unit = "fuzz-er@in-\\x20ner.service", .host_name = "box.example", .user = "ann" };
	char *text;

	CHECK(copy);
	text = strchr(copy, '\n');
	if (text) {
		*text++ = '\0';
		if (unit_name_is_valid(copy))
			s.unit = copy;
	}
	check_text(&s, text ? text : copy);
	s.fragment = "/etc/supd/units/x.service";
	check_text(&s, text ? text : copy);
	return 0;
}
