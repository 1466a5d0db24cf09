/* SPDX-License-Identifier: MIT */
#include "store/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

struct book {
	atomic_uint *times; /* how often each was worked on */
	size_t n;
};

static void note(void *userdata, size_t first, size_t end)
{
	struct book *b = userdata;

	ck_assert_uint_le(first, end);
	ck_assert_uint_le(end, b->n);
	for (size_t i = first; i < end; i++)
		atomic_fetch_add(&b->times[i], 1);
}

static const struct {
	size_t n, least;
} works[] = { { 0, 1 }, { 1, 1 }, { 1, 1000 }, { 2, 1 }, { 3, 1 }, { 7, 2 }, { 999, 1000 }, { 2000, 1000 }, { 10007, 10 } };

START_TEST(each_is_worked_on_once)
{
	struct book b = { calloc(works[_i].n + 1, sizeof(*b.times)), works[_i].n };

	ck_assert_ptr_nonnull(b.times);
	parallel_for(b.n, works[_i].least, note, &b);
	for (size_t i = 0; i < b.n; i++)
		ck_assert_uint_eq(atomic_load(&b.times[i]), 1);
	ck_assert_uint_eq(atomic_load(&b.times[b.n]), 0);
	free(b.times);
}
END_TEST

static Suite *parallel_suite(void)
{
	Suite *s = suite_create("parallel");
	TCase *tc = tcase_create("parallel");

	tcase_add_loop_test(tc, each_is_worked_on_once, 0, ELEMENTS(works));
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(parallel_suite)
