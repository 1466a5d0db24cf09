/* SPDX-License-Identifier: MIT */
/* The words for why a moment was missed: they stand in state files and in front of users, so they stay. */
#include "timer/memory.h"

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const char *const words[] = {
	[MISS_NONE] = "none",
	[MISS_OVERLAP] = "overlap",
	[MISS_DOWNTIME] = "downtime",
	[MISS_INTERRUPTED] = "interrupted",
	[MISS_LATE] = "late",
	[MISS_CLOCK_JUMP] = "clock-jump",
	[MISS_DISABLED] = "disabled",
	[MISS_MASKED] = "masked",
	[MISS_TARGET] = "target",
	[MISS_SHUTDOWN] = "shutdown",
	[MISS_RESOURCES] = "resources",
};
_Static_assert(ELEMENTS(words) == MISS_REASON_COUNT, "a word for each reason");

START_TEST(each_reason_has_its_word_and_is_read_from_it)
{
	enum miss_reason read;

	ck_assert_str_eq(miss_reason_to_string((enum miss_reason) _i), words[_i]);
	ck_assert(miss_reason_from_string(words[_i], &read));
	ck_assert_int_eq(read, _i);
}
END_TEST

START_TEST(other_words_are_no_reason)
{
	static const char *const others[] = { "", "Overlap", "over", "overlaps", " overlap", "clock jump", "0" };
	enum miss_reason read = MISS_LATE;

	for (size_t i = 0; i < ELEMENTS(others); i++) {
		ck_assert_msg(!miss_reason_from_string(others[i], &read), "'%s'", others[i]);
		ck_assert_int_eq(read, MISS_LATE);
	}
}
END_TEST

static Suite *memory_suite(void)
{
	Suite *s = suite_create("timer/memory");
	TCase *t = tcase_create("words");

	tcase_add_loop_test(t, each_reason_has_its_word_and_is_read_from_it, 0, MISS_REASON_COUNT);
	tcase_add_test(t, other_words_are_no_reason);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(memory_suite)
