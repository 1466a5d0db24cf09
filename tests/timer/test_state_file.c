/* SPDX-License-Identifier: MIT */
/* What is written of a timer is what is read of it, and what was altered is not read. */
#include "timer/state_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

#define NOW (UINT64_C(1800000000) * USEC_PER_SEC)

#define LIFE { .boot_id = "0f0e0d0c-0b0a-0908-0706-050403020100", .daemon_id = { 1, 2, 3 } }

static const struct state_life life = LIFE;
static const struct state_now reader = {
	.now = { .real = NOW, .boot = 5000 }, .life = LIFE, .is_clock_believed = true,
};

static struct spent two_spent[] = { { 20, 21 }, { 22, 23 } };
static struct skips two_skips = {
	.n = 2,
	.item = { { .real = NOW + 24, .is_calendar = true }, { .real = NOW + 25, .boot = 2600 } },
};
static const struct timer_memory full = {
	.accounted_real = NOW - 1,
	.normal_since = 2,
	.kept_real = 3,
	.accounted = { NOW - 4, 400 },
	.activated = { NOW - 5, -500 },
	.anchor_active = { NOW - 6, 600 },
	.anchor_inactive = { NOW - 7, 700 },
	.last_trigger = { NOW - 8, 800 },
	.last_scheduled = NOW - 9,
	.last_end = { NOW - 10, 1000 },
	.last_result = SUPD_RESULT_EXIT_CODE,
	.last_status = -11,
	.is_interrupted = true,
	.last_success = { NOW - 12, 1200 },
	.last_failure = { NOW - 13, 1300 },
	.miss_reason = MISS_CLOCK_JUMP,
	.miss_at = 14,
	.miss_in_row = 15,
	.has_run_since_miss = true,
	.miss_count = INT64_MAX,
	.open = {
		.run_id = { 0xff, 0x01 }, .cause = "unit-\"active\\", .attempt = 16, .scheduled = 17,
		.taken = { NOW - 18, 1800 },
	},
	.waiting = { MISS_DOWNTIME, 19 },
	.spent = two_spent,
	.n_spent = 2,
	.skips = &two_skips,
};
static const struct timer_memory empty;

struct list {
	struct state_record record[5];
	size_t n, at;
};

static bool next_of(void *userdata, struct state_record *ret)
{
	struct list *l = userdata;

	if (l->at == l->n)
		return false;
	*ret = l->record[l->at++];
	return true;
}

static int compare_one(void *userdata, const char *name, const struct timer_memory *m, usec_t gone_since)
{
	struct list *l = userdata;
	const struct state_record *wanted = &l->record[l->at++];
	struct timer_memory same;

	ck_assert_str_eq(name, wanted->name);
	ck_assert_uint_eq(gone_since, wanted->gone_since);
	same = *m;
	same.spent = wanted->memory->spent; /* each has its own */
	same.skips = wanted->memory->skips;
	ck_assert_mem_eq(&same, wanted->memory, sizeof(same));
	if (m->n_spent > 0)
		ck_assert_mem_eq(m->spent, wanted->memory->spent, m->n_spent * sizeof(*m->spent));
	ck_assert_int_eq(!m->skips, !wanted->memory->skips);
	if (m->skips)
		ck_assert_mem_eq(m->skips, wanted->memory->skips, sizeof(*m->skips));
	return 0;
}

static char *encode(struct list *l, size_t *ret_n)
{
	char *bytes = NULL;

	l->at = 0;
	ck_assert_int_eq(state_encode(&life, NOW, next_of, l, &bytes, ret_n), 0);
	l->at = 0;
	return bytes;
}

START_TEST(what_was_written_is_read)
{
	struct list l = {
		.record = { { "a.timer", &full, 0 }, { "b\\x2d\"\t\xc3\xa4.timer", &empty, 7 }, { "c.timer", &empty, 0 } },
		.n = 3,
	};
	_cleanup_free_ char *bytes = NULL;
	size_t n;

	bytes = encode(&l, &n);
	ck_assert_int_eq(state_decode(bytes, n, &reader, compare_one, &l), STATE_SOUND);
	ck_assert_uint_eq(l.at, 3);
}
END_TEST

static int compare_skips(void *userdata, const char *name _unused_, const struct timer_memory *m,
			 usec_t gone_since _unused_)
{
	const int64_t *boot = userdata;

	ck_assert_ptr_nonnull(m->skips);
	ck_assert_uint_eq(m->skips->n, 2);
	ck_assert(m->skips->item[0].is_calendar);
	ck_assert_uint_eq(m->skips->item[0].real, NOW + 24);
	ck_assert(m->skips->item[1].is_vague);
	ck_assert_int_eq(m->skips->item[1].boot, *boot);
	return 0;
}

START_TEST(after_another_boot_a_skipped_interval_lies_as_far_ahead)
{
	const struct state_now later = {
		.now = { .real = NOW + 5, .boot = 77 }, .life = { .boot_id = "another" }, .is_clock_believed = true,
	};
	struct list l = { .record = { { "a.timer", &full, 0 } }, .n = 1 };
	_cleanup_free_ char *bytes = NULL;
	int64_t boot = 77 + 20;
	size_t n;

	bytes = encode(&l, &n);
	ck_assert_int_eq(state_decode(bytes, n, &later, compare_skips, &boot), STATE_SOUND);
}
END_TEST

START_TEST(no_timers_are_read_as_none)
{
	struct list l = { .n = 0 };
	_cleanup_free_ char *bytes = NULL;
	size_t n;

	bytes = encode(&l, &n);
	ck_assert_int_eq(state_decode(bytes, n, &reader, compare_one, &l), STATE_SOUND);
}
END_TEST

/* Whatever byte it is, and wherever the file is cut. */
START_TEST(what_was_altered_is_not_read)
{
	struct list l = { .record = { { "a.timer", &full, 0 } }, .n = 1 };
	_cleanup_free_ char *bytes = NULL;
	size_t n;

	bytes = encode(&l, &n);
	for (size_t i = 0; i < n; i++) {
		bytes[i] ^= 1;
		l.at = 0;
		ck_assert_int_eq(state_decode(bytes, n, &reader, compare_one, &l), STATE_CORRUPT);
		bytes[i] ^= 1;
		ck_assert_int_eq(state_decode(bytes, i, &reader, compare_one, &l), STATE_CORRUPT);
	}
}
END_TEST

/* ---- lines that were added ---- */

static void add_line(struct list *l, char **bytes, size_t *n)
{
	_cleanup_free_ char *line = NULL;
	size_t length;

	l->at = 0;
	ck_assert_int_eq(state_encode_added(next_of, l, &line, &length), 0);
	*bytes = realloc(*bytes, *n + length);
	memcpy(*bytes + *n, line, length);
	*n += length;
	l->at = 0;
}

START_TEST(later_records_are_read_after_those_of_the_whole)
{
	struct list whole = { .record = { { "a.timer", &empty, 0 }, { "b.timer", &empty, 7 } }, .n = 2 };
	struct list one = { .record = { { "a.timer", &full, 0 } }, .n = 1 };
	struct list two = { .record = { { "c\n}\n+.timer", &full, 0 }, { "a.timer", &empty, 0 } }, .n = 2 };
	struct list all = {
		.record = { whole.record[0], whole.record[1], one.record[0], two.record[0], two.record[1] }, .n = 5,
	};
	_cleanup_free_ char *bytes = NULL;
	size_t n;

	bytes = encode(&whole, &n);
	add_line(&one, &bytes, &n);
	add_line(&two, &bytes, &n);
	ck_assert_int_eq(state_decode(bytes, n, &reader, compare_one, &all), STATE_SOUND);
	ck_assert_uint_eq(all.at, 5);
}
END_TEST

/* A crash while a line was being added: what was there before it counts. */
START_TEST(a_last_line_that_was_cut_off_is_passed_over)
{
	struct list whole = { .record = { { "a.timer", &empty, 0 } }, .n = 1 };
	struct list line = { .record = { { "a.timer", &full, 0 } }, .n = 1 };
	struct list before = { .record = { whole.record[0], line.record[0] }, .n = 2 };
	_cleanup_free_ char *bytes = NULL;
	size_t n, n_before;

	bytes = encode(&whole, &n);
	add_line(&line, &bytes, &n);
	n_before = n;
	add_line(&line, &bytes, &n);
	for (size_t i = n_before; i < n; i++) {
		before.at = 0;
		ck_assert_int_eq(state_decode(bytes, i, &reader, compare_one, &before), STATE_SOUND);
		ck_assert_uint_eq(before.at, 2);
	}
	memset(bytes + n_before, 0, n - n_before);
	before.at = 0;
	ck_assert_int_eq(state_decode(bytes, n, &reader, compare_one, &before), STATE_SOUND);
	ck_assert_uint_eq(before.at, 2);
}
END_TEST

/* Nobody cuts off what has a sound line behind it. */
START_TEST(a_line_that_is_damaged_before_another_makes_the_file_corrupt)
{
	struct list whole = { .record = { { "a.timer", &empty, 0 } }, .n = 1 };
	struct list line = { .record = { { "a.timer", &full, 0 } }, .n = 1 };
	struct list any = { .record = { whole.record[0], line.record[0], line.record[0] }, .n = 3 };
	_cleanup_free_ char *bytes = NULL;
	size_t n, from, to;

	bytes = encode(&whole, &n);
	from = n;
	add_line(&line, &bytes, &n);
	to = n;
	add_line(&line, &bytes, &n);
	for (size_t i = from; i < to; i++) {
		bytes[i] ^= 1;
		any.at = 0;
		ck_assert_int_eq(state_decode(bytes, n, &reader, compare_one, &any), STATE_CORRUPT);
		bytes[i] ^= 1;
	}
}
END_TEST

static Suite *state_file_suite(void)
{
	Suite *s = suite_create("timer/state_file");
	TCase *t = tcase_create("state_file");

	tcase_add_test(t, what_was_written_is_read);
	tcase_add_test(t, after_another_boot_a_skipped_interval_lies_as_far_ahead);
	tcase_add_test(t, no_timers_are_read_as_none);
	tcase_add_test(t, what_was_altered_is_not_read);
	tcase_add_test(t, later_records_are_read_after_those_of_the_whole);
	tcase_add_test(t, a_last_line_that_was_cut_off_is_passed_over);
	tcase_add_test(t, a_line_that_is_damaged_before_another_makes_the_file_corrupt);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(state_file_suite)
