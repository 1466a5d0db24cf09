/* SPDX-License-Identifier: MIT */
#include "service/tally.h"

#include <errno.h>
#include <float.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct metric metrics[] = { { "rows", 7 }, { "bytes", 0.5 } };

static struct history_record a_run(enum history_class class, usec_t at, usec_t duration, uint32_t attempt)
{
	return (struct history_record) {
		.class = class, .unit = "a.service", .at = at, .ended = at + duration, .duration = duration,
		.lateness = attempt > 1 ? USEC_NEVER : 10, .scheduled = at, .cause = "calendar", .attempt = attempt,
		.cpu = 100, .peak_memory = duration, .metric = metrics, .n_metrics = ELEMENTS(metrics),
	};
}

static void fill(struct tally *t)
{
	const struct history_record record[] = {
		a_run(HISTORY_FAILED, 1000, 20, 1),
		a_run(HISTORY_SUCCESS, 2000, 30, 2),
		a_run(HISTORY_SUCCESS, 3000, 40, 1),
		a_run(HISTORY_RUNNING, 4000, 0, 1),
		{ .class = HISTORY_MISSED, .at = 9000, .first = 500, .reason = "downtime", .count = 5 },
		{ .class = HISTORY_MISSED, .at = 8000, .first = 8000, .reason = "overlap", .count = 1 },
		{ .class = HISTORY_MISSED, .at = 8500, .first = 8500, .reason = "overlap", .count = 1 },
	};

	for (size_t i = 0; i < ELEMENTS(record); i++)
		ck_assert_int_eq(tally_add(t, &record[i]), 0);
}

static void check(const struct tally *t, unsigned times)
{
	ck_assert_uint_eq(tally_runs(t), 3 * times);
	ck_assert_uint_eq(t->by_class[HISTORY_RUNNING], 0);
	ck_assert_uint_eq(t->by_class[HISTORY_FAILED], times);
	ck_assert_uint_eq(t->by_class[HISTORY_MISSED], 7 * times);
	ck_assert_uint_eq(t->healed, times);
	ck_assert_uint_eq(t->first, 500);
	ck_assert_uint_eq(t->last, 9000);
	ck_assert_uint_eq(t->last_success, 3040);
	ck_assert_uint_eq(t->cpu, 300 * times);
	ck_assert_uint_eq(t->peak_memory, 40);
	ck_assert_uint_eq(t->duration.sum, 90 * times);
	ck_assert_uint_eq(t->duration.most, 40);
	ck_assert_uint_eq(t->duration.histogram.total, 3 * times);
	ck_assert_uint_eq(histogram_quantile(&t->duration.histogram, 500), 30);
	ck_assert_uint_eq(t->lateness.histogram.total, 2 * times);
	ck_assert_uint_eq(t->n_misses, 2);
	ck_assert_str_eq(t->miss[0].reason, "downtime");
	ck_assert_uint_eq(t->miss[0].count, 5 * times);
	ck_assert_uint_eq(t->miss[1].count, 2 * times);
	ck_assert_uint_eq(t->n_metrics, 2);
	ck_assert_str_eq(t->metric[0].name, "rows");
	ck_assert(t->metric[0].sum == 21.0 * times);
	ck_assert(t->metric[0].most == 7.0);
	ck_assert_uint_eq(t->metric[1].count, 3 * times);
}

START_TEST(runs_and_misses_are_counted)
{
	struct tally t = { 0 };

	fill(&t);
	check(&t, 1);
	tally_done(&t);
}
END_TEST

START_TEST(tallies_add_up)
{
	struct tally a = { 0 }, b = { 0 };

	fill(&a);
	fill(&b);
	ck_assert_int_eq(tally_merge(&a, &b), 0);
	check(&a, 2);
	tally_done(&a);
	tally_done(&b);
}
END_TEST

START_TEST(what_is_written_is_what_is_read)
{
	struct tally t = { 0 }, read = { 0 };
	void *bytes;
	size_t n;

	fill(&t);
	ck_assert_int_eq(tally_encode(&t, &bytes, &n), 0);
	ck_assert_int_eq(tally_decode(bytes, n, &read), 0);
	check(&read, 1);
	free(bytes);
	tally_done(&t);
	tally_done(&read);
}
END_TEST

START_TEST(what_is_cut_or_longer_is_refused)
{
	struct tally t = { 0 }, read = { 0 };
	void *bytes;
	size_t n;

	fill(&t);
	ck_assert_int_eq(tally_encode(&t, &bytes, &n), 0);
	for (size_t cut = 0; cut < n; cut++) {
		/* A copy of just that size: reading past it is noticed. */
		void *part = malloc(cut + 1);

		memcpy(part, bytes, cut);
		ck_assert_int_eq(tally_decode(part, cut, &read), -EBADMSG);
		free(part);
	}
	bytes = realloc(bytes, n + 1);
	((char *) bytes)[n] = 0;
	ck_assert_int_eq(tally_decode(bytes, n + 1, &read), -EBADMSG);
	free(bytes);
	tally_done(&t);
}
END_TEST

START_TEST(flipped_bits_do_no_harm)
{
	struct tally t = { 0 };
	void *bytes;
	size_t n;

	fill(&t);
	ck_assert_int_eq(tally_encode(&t, &bytes, &n), 0);
	for (size_t bit = 0; bit < 8 * n; bit++) {
		struct tally read = { 0 };

		((unsigned char *) bytes)[bit / 8] ^= (unsigned char) (1U << bit % 8);
		if (tally_decode(bytes, n, &read) == 0)
			tally_done(&read);
		((unsigned char *) bytes)[bit / 8] ^= (unsigned char) (1U << bit % 8);
	}
	free(bytes);
	tally_done(&t);
}
END_TEST

START_TEST(sums_of_metrics_stay_numbers)
{
	const struct tally_metric large = { .name = "a", .count = 1, .sum = 1.7e308, .most = 1.7e308, .last = 1.7e308 };
	struct tally t = { 0 };

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(tally_add_metric(&t, &large, true), 0);
	ck_assert_uint_eq(t.metric->count, 3);
	ck_assert(t.metric->sum <= DBL_MAX && t.metric->sum > 1.7e308);
	tally_done(&t);
}
END_TEST

static Suite *tally_suite(void)
{
	Suite *s = suite_create("tally");
	TCase *tc = tcase_create("tally");

	tcase_add_test(tc, sums_of_metrics_stay_numbers);
	tcase_add_test(tc, runs_and_misses_are_counted);
	tcase_add_test(tc, tallies_add_up);
	tcase_add_test(tc, what_is_written_is_what_is_read);
	tcase_add_test(tc, what_is_cut_or_longer_is_refused);
	tcase_add_test(tc, flipped_bits_do_no_harm);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(tally_suite)
