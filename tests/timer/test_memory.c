/* SPDX-License-Identifier: MIT */
/* The words for why a moment was missed: they stand in state files and in front of users, so they
 * stay. */
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
	[MISS_SKIPPED] = "skipped-by-admin",
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

START_TEST(stretches_are_kept_up_to_as_many_as_there_is_room_for)
{
	struct timer_memory m = { 0 };

	for (usec_t i = 0; i < TIMER_SPENT_MAX; i++)
		ck_assert(memory_add_spent(&m, 2 * i, 2 * i + 1));
	ck_assert(!memory_add_spent(&m, 100, 101));
	ck_assert_uint_eq(m.n_spent, TIMER_SPENT_MAX);
	for (usec_t i = 0; i < TIMER_SPENT_MAX; i++)
		ck_assert(m.spent[i].from == 2 * i && m.spent[i].to == 2 * i + 1);
	memory_done(&m);
	ck_assert_uint_eq(m.n_spent, 0);
	memory_done(&m);
}
END_TEST

START_TEST(a_copy_has_its_own_stretches_and_what_is_taken_is_gone)
{
	struct timer_memory m = { .miss_count = 7 }, copy, taken;

	ck_assert_int_eq(memory_copy(&m, &copy), 0);
	ck_assert_ptr_null(copy.spent);
	ck_assert(memory_add_spent(&m, 1, 2));
	ck_assert_int_eq(memory_copy(&m, &copy), 0);
	ck_assert(memory_add_spent(&m, 3, 4));
	taken = memory_take(&m);
	ck_assert_uint_eq(m.n_spent, 0);
	memory_done(&m);
	ck_assert_uint_eq(copy.n_spent, 1);
	ck_assert(copy.spent[0].from == 1 && copy.spent[0].to == 2);
	ck_assert_uint_eq(taken.n_spent, 2);
	ck_assert_uint_eq(taken.miss_count, 7);
	memory_done(&copy);
	memory_done(&taken);
}
END_TEST

static Suite *memory_suite(void)
{
	Suite *s = suite_create("timer/memory");
	TCase *t = tcase_create("words");

	tcase_add_loop_test(t, each_reason_has_its_word_and_is_read_from_it, 0, MISS_REASON_COUNT);
	tcase_add_test(t, other_words_are_no_reason);
	suite_add_tcase(s, t);
	t = tcase_create("spent");
	tcase_add_test(t, stretches_are_kept_up_to_as_many_as_there_is_room_for);
	tcase_add_test(t, a_copy_has_its_own_stretches_and_what_is_taken_is_gone);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(memory_suite)
