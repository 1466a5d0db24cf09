/* SPDX-License-Identifier: MIT */
#include "base/merge.h"

#include "tests/lib/test_main.h"

struct pair {
	int key;
	int place; /* to see that it is stable */
	char more[40];
};

static size_t n_compared;

static int by_key(const void *one, const void *other)
{
	const struct pair *a = one, *b = other;

	n_compared++;
	return (a->key > b->key) - (a->key < b->key);
}

static struct pair *pairs_new(size_t n, int (*key)(size_t i))
{
	struct pair *p = calloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = (struct pair) { .key = key(i), .place = (int) i };
	return p;
}

static void expect_sorted(struct pair *p, size_t n)
{
	n_compared = 0;
	merge_sort(p, n, sizeof(*p), by_key);
	for (size_t i = 1; i < n; i++) {
		ck_assert_int_le(p[i - 1].key, p[i].key);
		if (p[i - 1].key == p[i].key)
			ck_assert_int_lt(p[i - 1].place, p[i].place);
	}
	free(p);
}

static int ascending(size_t i)
{
	return (int) i;
}

static int descending(size_t i)
{
	return -(int) i;
}

static int two_stretches(size_t i)
{
	return (int) (i % 5000 * 2 + i / 5000);
}

static int three_stretches(size_t i)
{
	return (int) (i % 3000);
}

static int scattered(size_t i)
{
	return (int) (i * 7919 % 1009);
}

static int same(size_t i)
{
	(void) i;
	return 7;
}

START_TEST(whatever_it_was_it_is_sorted_and_equal_ones_keep_their_order)
{
	int (*const key[])(size_t) = { ascending, descending, two_stretches, three_stretches, scattered, same };

	for (size_t k = 0; k < sizeof(key) / sizeof(key[0]); k++)
		for (size_t n = 0; n < 70; n++)
			expect_sorted(pairs_new(n, key[k]), n);
	for (size_t k = 0; k < sizeof(key) / sizeof(key[0]); k++)
		expect_sorted(pairs_new(10007, key[k]), 10007);
}
END_TEST

START_TEST(few_stretches_take_few_comparisons)
{
	expect_sorted(pairs_new(10000, ascending), 10000);
	ck_assert_uint_lt(n_compared, 10000);
	expect_sorted(pairs_new(10000, two_stretches), 10000);
	ck_assert_uint_lt(n_compared, 30000);
}
END_TEST

static Suite *merge_suite(void)
{
	Suite *s = suite_create("base/merge");
	TCase *t = tcase_create("merge");

	tcase_add_test(t, whatever_it_was_it_is_sorted_and_equal_ones_keep_their_order);
	tcase_add_test(t, few_stretches_take_few_comparisons);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(merge_suite)
