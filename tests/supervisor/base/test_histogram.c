/* SPDX-License-Identifier: MIT */
#include "base/histogram.h"

#include "tests/lib/test_main.h"

START_TEST(small_values_are_exact)
{
	for (uint64_t v = 0; v < 128; v++)
		ck_assert_uint_eq(histogram_middle(histogram_index(v)), v);
}
END_TEST

START_TEST(a_bucket_is_within_a_percent)
{
	for (uint64_t v = 128; v < UINT64_MAX / 3; v += v / 7 + 1) {
		uint64_t middle = histogram_middle(histogram_index(v));
		uint64_t off = middle > v ? middle - v : v - middle;

		ck_assert_msg(off <= v / 100, "%llu became %llu", (unsigned long long) v, (unsigned long long) middle);
	}
	ck_assert_uint_eq(histogram_index(UINT64_MAX), HISTOGRAM_INDEX_MAX);
}
END_TEST

START_TEST(indices_grow_without_a_hole)
{
	uint32_t before = histogram_index(0);

	for (uint64_t v = 1; v < 100000; v++) {
		uint32_t index = histogram_index(v);

		ck_assert_uint_ge(index, before);
		ck_assert_uint_le(index - before, 1);
		before = index;
	}
}
END_TEST

START_TEST(quantiles_are_of_the_nearest_rank)
{
	struct histogram h = { 0 };

	ck_assert_uint_eq(histogram_quantile(&h, 500), 0);
	for (uint64_t v = 1; v <= 100; v++)
		ck_assert_int_eq(histogram_add(&h, v, 1), 0);
	ck_assert_uint_eq(histogram_quantile(&h, 0), 1);
	ck_assert_uint_eq(histogram_quantile(&h, 500), 50);
	ck_assert_uint_eq(histogram_quantile(&h, 950), 95);
	ck_assert_uint_eq(histogram_quantile(&h, 999), 100);
	ck_assert_uint_eq(histogram_quantile(&h, 1000), 100);
	histogram_done(&h);
}
END_TEST

START_TEST(what_is_merged_counts_as_if_added)
{
	struct histogram all = { 0 }, odd = { 0 }, even = { 0 };

	for (uint64_t v = 0; v < 5000; v++) {
		ck_assert_int_eq(histogram_add(&all, v * v, 1 + v % 3), 0);
		ck_assert_int_eq(histogram_add(v % 2 ? &odd : &even, v * v, 1 + v % 3), 0);
	}
	ck_assert_int_eq(histogram_merge(&odd, &even), 0);
	ck_assert_uint_eq(odd.total, all.total);
	ck_assert_uint_eq(odd.n, all.n);
	for (size_t i = 0; i < all.n; i++) {
		ck_assert_uint_eq(odd.bucket[i].index, all.bucket[i].index);
		ck_assert_uint_eq(odd.bucket[i].times, all.bucket[i].times);
	}
	for (unsigned p = 0; p <= 1000; p += 50)
		ck_assert_uint_eq(histogram_quantile(&odd, p), histogram_quantile(&all, p));
	histogram_done(&all);
	histogram_done(&odd);
	histogram_done(&even);
}
END_TEST

static Suite *histogram_suite(void)
{
	Suite *s = suite_create("histogram");
	TCase *tc = tcase_create("histogram");

	tcase_add_test(tc, small_values_are_exact);
	tcase_add_test(tc, a_bucket_is_within_a_percent);
	tcase_add_test(tc, indices_grow_without_a_hole);
	tcase_add_test(tc, quantiles_are_of_the_nearest_rank);
	tcase_add_test(tc, what_is_merged_counts_as_if_added);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(histogram_suite)
