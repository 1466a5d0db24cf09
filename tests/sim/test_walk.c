/* SPDX-License-Identifier: MIT */
/* A share of make sim: the same walks every time, one a seed. A failure prints the seed and what both sides know. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/sim/walk.h"

#define STEPS 500

static const uint64_t seeds[] = { 1, 5, 6, 16, 21, 24, 30, 39, 41, 55, 84, 88, 94, 109 };

START_TEST(a_random_walk_agrees_with_the_book)
{
	struct walk_counts counts = { 0 };

	walk(seeds[_i], STEPS, getenv("SIM_VERBOSE") != NULL, &counts);
	ck_assert(counts.n[WALK_EVENTS] > STEPS / 2);
}
END_TEST

static Suite *walk_suite(void)
{
	Suite *s = suite_create("tests/sim/walk");
	TCase *t = tcase_create("walk");

	tcase_set_timeout(t, 0);
	tcase_add_loop_test(t, a_random_walk_agrees_with_the_book, 0, (int) ELEMENTS(seeds));
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(walk_suite)
