/* SPDX-License-Identifier: MIT */
#include "store/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "store/run_log_reader.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define UNIT "x.service"
#define NOW (1000 * USEC_PER_DAY)
#define MAX_AGE (10 * USEC_PER_DAY)

static const uint8_t run_a[16] = { 0xaa, 1 }, run_b[16] = { 0xab, 2 };
static char *dir;
static int state_dir, logs_dir;
static struct run_logs *logs;
static struct run_log_limits limits;
static usec_t now;
static uint64_t number[256]; /* of each run's next record, by its first byte */

static void open_logs(void)
{
	ck_assert_int_eq(run_logs_new(state_dir, &limits, &logs), 0);
}

static void set_up(void)
{
	dir = test_dir_new();
	state_dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(state_dir, 0);
	limits = (struct run_log_limits) { .per_run = 64 * 1024, .per_unit = 256 * 1024, .max_age = MAX_AGE };
	now = NOW;
	memset(number, 0, sizeof(number));
	open_logs();
	logs_dir = openat(state_dir, RUN_LOG_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(logs_dir, 0);
}

static void tear_down(void)
{
	logs = run_logs_free(logs);
	close(logs_dir);
	close(state_dir);
	dir = test_dir_free(dir);
}

/* As after the end of a daemon, whatever way. */
static void begin_anew(void)
{
	run_logs_free(logs);
	open_logs();
}

static int try_put(const char *unit, const uint8_t run_id[16], const char *text, size_t n)
{
	struct run_log_record r = { .time = now, .number = number[run_id[0]]++, .level = 6, .text = text, .n = n };
	uint8_t bytes[RUN_LOG_RECORD_HEADER + RUN_LOG_TEXT_MAX];

	memcpy(r.run_id, run_id, 16);
	run_log_record_encode(&r, bytes);
	return run_logs_append(logs, unit, run_id, bytes, run_log_record_size(&r), now);
}

static void put(const uint8_t run_id[16], const char *text)
{
	ck_assert_int_eq(try_put(UNIT, run_id, text, strlen(text)), 0);
}

/* "line 1" … of about 100 bytes each, on the disk. */
static void put_many(const uint8_t run_id[16], unsigned n)
{
	char text[64];

	for (unsigned i = 0; i < n; i++) {
		(void) snprintf(text, sizeof(text), "line %-46" PRIu64, number[run_id[0]]);
		put(run_id, text);
	}
}

static struct run_log_query everything(void)
{
	return (struct run_log_query) { .until = USEC_NEVER };
}

static struct run_log_reader *begin(const struct run_log_query *q)
{
	struct run_log_reader *r;

	ck_assert_int_eq(run_log_reader_new(logs_dir, UNIT, q, &r), 0);
	return r;
}

static void expect_text(struct run_log_reader *r, const char *text)
{
	struct run_log_record record;

	ck_assert_int_eq(run_log_reader_next(r, &record), 1);
	ck_assert_uint_eq(record.n, strlen(text));
	ck_assert_mem_eq(record.text, text, record.n);
}

static void expect_end(struct run_log_reader *r)
{
	struct run_log_record record;

	ck_assert_int_eq(run_log_reader_next(r, &record), 0);
}

/* How many there are, and how many of them are said to be missing. */
static uint64_t count(const struct run_log_query *q, uint64_t *ret_missing)
{
	struct run_log_reader *r = begin(q);
	struct run_log_record record;
	uint64_t n = 0;
	int k;

	*ret_missing = 0;
	while ((k = run_log_reader_next(r, &record)) > 0) {
		n++;
		*ret_missing += record.n_missing;
	}
	ck_assert_int_eq(k, 0);
	run_log_reader_free(r);
	return n;
}

static uint64_t size_on_disk(void)
{
	_cleanup_free_ uint64_t *list = NULL;
	uint64_t sum = 0;
	size_t n = 0;

	ck_assert_int_eq(run_log_list(logs_dir, UNIT, &list, &n), 0);
	for (size_t i = 0; i < n; i++) {
		char path[RUN_LOG_PATH_SIZE];
		struct stat st;

		ck_assert_int_eq(run_log_path(UNIT, list[i], path), 0);
		ck_assert_int_eq(fstatat(logs_dir, path, &st, 0), 0);
		ck_assert_int_eq(st.st_mode & 0777, 0600);
		sum += (uint64_t) st.st_size;
	}
	return sum;
}

static char *last_path(void)
{
	_cleanup_free_ uint64_t *list = NULL;
	static char path[RUN_LOG_PATH_SIZE];
	size_t n;

	ck_assert_int_eq(run_log_list(logs_dir, UNIT, &list, &n), 0);
	ck_assert_uint_gt(n, 0);
	ck_assert_int_eq(run_log_path(UNIT, list[n - 1], path), 0);
	return path;
}

static void append_raw(const void *bytes, size_t n)
{
	int fd = openat(logs_dir, last_path(), O_WRONLY | O_APPEND | O_CLOEXEC);

	ck_assert_int_eq(write(fd, bytes, n), (ssize_t) n);
	close(fd);
}

static void overwrite(off_t at, const char *text)
{
	int fd = openat(logs_dir, last_path(), O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(pwrite(fd, text, strlen(text), at), (ssize_t) strlen(text));
	close(fd);
}

static void cut_last(off_t by)
{
	struct stat st;
	int fd = openat(logs_dir, last_path(), O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_int_eq(ftruncate(fd, st.st_size - by), 0);
	close(fd);
}

/* ---- what is written is read ---- */

START_TEST(lines_are_read_in_their_order)
{
	struct run_log_query q = everything();
	struct run_log_reader *r;

	put(run_a, "one");
	put(run_a, "");
	put(run_b, "three");
	r = begin(&q);
	expect_text(r, "one");
	expect_text(r, "");
	expect_text(r, "three");
	expect_end(r);
	put(run_b, "four");
	expect_text(r, "four");
	expect_end(r);
	run_log_reader_free(r);
}
END_TEST

START_TEST(any_bytes_survive)
{
	struct run_log_record a = {
		.time = 5, .number = 7, .stream = RUN_LOG_STDERR, .flags = RUN_LOG_CONTINUED, .level = 3,
		.identifier = "me", .n_identifier = 2, .text = "\0\xff\x1b[31m\n\xf5rl\x1a", .n = 12,
	}, b;
	uint8_t bytes[128];

	memcpy(a.run_id, run_a, 16);
	run_log_record_encode(&a, bytes);
	ck_assert_int_eq(run_log_record_decode(bytes, sizeof(bytes), &b), (int) run_log_record_size(&a));
	ck_assert_uint_eq(b.time, 5);
	ck_assert_uint_eq(b.number, 7);
	ck_assert_int_eq(b.stream, RUN_LOG_STDERR);
	ck_assert_uint_eq(b.flags, RUN_LOG_CONTINUED);
	ck_assert_uint_eq(b.level, 3);
	ck_assert_mem_eq(b.identifier, "me", 2);
	ck_assert_uint_eq(b.n, 12);
	ck_assert_mem_eq(b.text, a.text, 12);
	ck_assert_mem_eq(b.run_id, run_a, 16);
}
END_TEST

START_TEST(nothing_kept_is_told_apart)
{
	struct run_log_query q = everything();
	struct run_log_reader *r;

	ck_assert_int_eq(run_log_reader_new(logs_dir, "y.service", &q, &r), -ENOENT);
	ck_assert_int_lt(run_log_reader_new(logs_dir, "../x.service", &q, &r), 0);
	ck_assert_int_eq(try_put("../x.service", run_a, "", 0), -EINVAL);
	ck_assert_int_eq(try_put("..", run_a, "", 0), -EINVAL);
}
END_TEST

START_TEST(another_daemon_writes_on)
{
	struct run_log_query q = everything();
	uint64_t missing;

	put_many(run_a, 3);
	begin_anew();
	put_many(run_b, 2);
	ck_assert_uint_eq(count(&q, &missing), 5);
	ck_assert_uint_eq(missing, 0);
	ck_assert_str_eq(last_path(), UNIT "/0000000000000001.log");
}
END_TEST

START_TEST(reader_that_does_not_follow_comes_to_an_end)
{
	struct run_log_query q = everything();
	struct run_log_reader *r = NULL, *follower = NULL;
	struct run_log_record record;
	uint64_t n = 0, n_followed = 0;

	put_many(run_a, 1);
	r = begin(&q);
	q.follows = true;
	follower = begin(&q);
	while (run_log_reader_next(r, &record) > 0) {
		put_many(run_a, 10);
		n++;
		ck_assert_int_eq(run_log_reader_next(follower, &record), 1);
		n_followed++;
	}
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_lt(n, 1000);
	while (run_log_reader_next(follower, &record) > 0)
		n_followed++;
	ck_assert_uint_gt(n_followed, n);
	run_log_reader_free(r);
	run_log_reader_free(follower);
}
END_TEST

/* ---- queries ---- */

START_TEST(queries_choose)
{
	struct run_log_query q = everything();
	struct run_log_reader *r;

	put(run_a, "one");
	now += USEC_PER_SEC;
	put(run_b, "two");
	now += USEC_PER_SEC;
	put(run_a, "three");
	ck_assert(run_log_query_set_run(&q, "aa"));
	r = begin(&q);
	expect_text(r, "one");
	expect_text(r, "three");
	expect_end(r);
	run_log_reader_free(r);
	ck_assert(run_log_query_set_run(&q, "A"));
	q.since = NOW + 1;
	r = begin(&q);
	expect_text(r, "two");
	expect_text(r, "three");
	expect_end(r);
	run_log_reader_free(r);
	q.until = NOW + USEC_PER_SEC;
	r = begin(&q);
	expect_text(r, "two");
	expect_end(r);
	run_log_reader_free(r);
}
END_TEST

START_TEST(run_of_a_query_is_hexadecimal)
{
	struct run_log_query q = everything();

	ck_assert(run_log_query_set_run(&q, "0123456789abcdefABCDEF0123456789"));
	ck_assert(!run_log_query_set_run(&q, ""));
	ck_assert(!run_log_query_set_run(&q, "x"));
	ck_assert(!run_log_query_set_run(&q, "0123456789abcdef0123456789abcdef0"));
}
END_TEST

START_TEST(last_lines_are_the_last)
{
	struct run_log_query q = everything();
	uint64_t missing;

	put_many(run_a, 250);
	for (q.last = 1; q.last <= 260; q.last += 37) {
		struct run_log_reader *r = begin(&q);
		uint64_t first = q.last < 250 ? 250 - q.last : 0;
		char text[64];

		for (uint64_t i = first; i < 250; i++) {
			(void) snprintf(text, sizeof(text), "line %-46" PRIu64, i);
			expect_text(r, text);
		}
		expect_end(r);
		run_log_reader_free(r);
	}
	q.last = 10;
	ck_assert(run_log_query_set_run(&q, "ab"));
	ck_assert_uint_eq(count(&q, &missing), 0);
}
END_TEST

START_TEST(tail_of_a_run_outlives_what_it_was_read_from)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct run_log_record *line;
	size_t n;

	put(run_a, "one");
	put(run_b, "two");
	put(run_a, "three");
	ck_assert_int_eq(run_log_tail(logs_dir, UNIT, run_a, 10, &arena, &line, &n), 0);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(line[1].text, "three");
	ck_assert_int_eq(run_log_tail(logs_dir, UNIT, run_a, 1, &arena, &line, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(run_log_tail(logs_dir, "none.service", run_a, 1, &arena, &line, &n), 0);
	ck_assert_uint_eq(n, 0);
}
END_TEST

/* ---- bounds ---- */

START_TEST(long_run_keeps_its_head_and_its_tail)
{
	struct run_log_query q = everything();
	uint64_t n, missing;
	struct run_log_reader *r;
	struct run_log_record record;
	bool had_gap = false;

	put(run_b, "an earlier run");
	put_many(run_a, 5000);
	ck_assert_uint_le(size_on_disk(), limits.per_run + 8192);
	n = count(&q, &missing);
	ck_assert_uint_eq(n + missing, 5001);
	ck_assert_uint_ge(n, 300);
	r = begin(&q);
	expect_text(r, "an earlier run");
	for (uint64_t at = 0; run_log_reader_next(r, &record) > 0; at = record.number + 1) {
		ck_assert_uint_eq(record.n_missing, record.number - at);
		if (record.n_missing > 0) {
			ck_assert(!had_gap);
			ck_assert_uint_ge(record.number, 200);
			had_gap = true;
		}
	}
	ck_assert(had_gap);
	ck_assert_uint_eq(record.number, 4999);
	run_log_reader_free(r);
}
END_TEST

START_TEST(runs_after_a_long_one_are_whole)
{
	struct run_log_query q = everything();
	uint64_t missing;

	put_many(run_a, 2000);
	put_many(run_b, 50);
	/* Somebody of the long run is still there. */
	ck_assert_int_eq(try_put(UNIT, run_a, "late", 4), 1);
	put_many(run_b, 50);
	ck_assert(run_log_query_set_run(&q, "ab"));
	ck_assert_uint_eq(count(&q, &missing), 100);
	ck_assert_uint_eq(missing, 0);
}
END_TEST

START_TEST(long_run_stays_bounded_over_restarts)
{
	for (unsigned i = 0; i < 20; i++) {
		put_many(run_a, 200);
		begin_anew();
	}
	ck_assert_uint_le(size_on_disk(), limits.per_run + 8192);
}
END_TEST

START_TEST(unit_keeps_the_newest)
{
	struct run_log_query q = everything();
	uint8_t id[16] = { 0 };
	uint64_t missing, n;

	for (unsigned i = 0; i < 100; i++) {
		id[0] = (uint8_t) i;
		put_many(id, 100);
	}
	ck_assert_uint_le(size_on_disk(), limits.per_unit + 8192);
	ck_assert_uint_ge(size_on_disk(), limits.per_unit / 2);
	n = count(&q, &missing);
	ck_assert_uint_ge(n, 1000);
	ck_assert(run_log_query_set_run(&q, "63"));
	ck_assert_uint_eq(count(&q, &missing), 100);
}
END_TEST

START_TEST(what_is_old_goes)
{
	struct run_log_query q = everything();
	uint64_t missing;

	put_many(run_a, 10);
	now += MAX_AGE / 2;
	put_many(run_b, 5);
	now += MAX_AGE / 2 + USEC_PER_DAY;
	run_logs_sweep(logs, now);
	ck_assert_uint_eq(count(&q, &missing), 5);
	now += MAX_AGE;
	run_logs_sweep(logs, now);
	ck_assert_int_lt(faccessat(logs_dir, UNIT, F_OK, 0), 0);
	put(run_a, "again");
	ck_assert_uint_eq(count(&q, &missing), 1);
}
END_TEST

START_TEST(sweep_needs_no_open_unit)
{
	put_many(run_a, 10);
	begin_anew();
	/* The file's own time is the real one. */
	run_logs_sweep(logs, USEC_NEVER - 1);
	ck_assert_int_lt(faccessat(logs_dir, UNIT, F_OK, 0), 0);
}
END_TEST

START_TEST(many_units_are_written_to)
{
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < 200; i++) {
			char unit[32];

			(void) snprintf(unit, sizeof(unit), "u%u.service", i);
			ck_assert_int_eq(try_put(unit, run_a, "text", 4), 0);
		}
	ck_assert_int_eq(faccessat(logs_dir, "u199.service/0000000000000001.log", F_OK, 0), 0);
	ck_assert_int_lt(faccessat(logs_dir, "u199.service/0000000000000002.log", F_OK, 0), 0);
}
END_TEST

START_TEST(without_descriptors_there_is_a_spare_one)
{
	struct rlimit limit, none;
	struct run_log_query q = everything();
	uint64_t missing;
	int next;

	ck_assert_int_eq(try_put("other.service", run_a, "text", 4), 0);
	next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t) next;
	close(next);
	/* All below is taken: what is opened now must be given up by somebody. */
	next = dup(0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	put(run_a, "text");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(next);
	ck_assert_uint_eq(count(&q, &missing), 1);
}
END_TEST

/* ---- damage ---- */

START_TEST(torn_tail_is_passed_over_and_written_over)
{
	struct run_log_query q = everything();
	uint64_t missing;

	put_many(run_a, 10);
	cut_last(_i);
	ck_assert_uint_eq(count(&q, &missing), _i == 0 ? 10 : 9);
	begin_anew();
	put_many(run_b, 5);
	ck_assert_uint_eq(count(&q, &missing), _i == 0 ? 15 : 14);
	ck_assert_uint_eq(missing, 0);
	ck_assert_str_eq(last_path(), UNIT "/0000000000000001.log");
}
END_TEST

START_TEST(reader_waits_for_the_rest_of_a_line)
{
	struct run_log_query q = everything();
	struct run_log_reader *r;
	struct run_log_record record = { .time = NOW, .text = "second", .n = 6, .number = 1 };
	uint8_t bytes[128];
	size_t n = run_log_record_size(&record);

	put(run_a, "first");
	memcpy(record.run_id, run_a, 16);
	run_log_record_encode(&record, bytes);
	r = begin(&q);
	expect_text(r, "first");
	for (size_t i = 0; i < n - 1; i++) {
		append_raw(bytes + i, 1);
		expect_end(r);
	}
	append_raw(bytes + n - 1, 1);
	expect_text(r, "second");
	run_log_reader_free(r);
}
END_TEST

START_TEST(damage_costs_no_more_than_what_it_hits)
{
	struct run_log_query q = everything();
	uint64_t missing;

	put_many(run_a, 10);
	overwrite(RUN_LOG_SEGMENT_HEADER + 99 * 3 + 60, "damage");
	ck_assert_uint_eq(count(&q, &missing), 9);
	ck_assert_uint_eq(missing, 1);
	/* a size that reaches beyond the end */
	overwrite(RUN_LOG_SEGMENT_HEADER + 99 * 5 + 4, "\xff\x20");
	ck_assert_uint_eq(count(&q, &missing), 8);
	ck_assert_uint_eq(missing, 2);
	overwrite(0, "no-log");
	ck_assert_uint_eq(count(&q, &missing), 8);
}
END_TEST

START_TEST(segment_of_a_newer_version_is_left_alone)
{
	struct run_log_query q = everything();
	uint64_t missing;

	uint64_t size;

	put_many(run_a, 10);
	overwrite(8, "\x09");
	overwrite(RUN_LOG_SEGMENT_HEADER, "other records");
	size = size_on_disk();
	begin_anew();
	ck_assert_uint_eq(count(&q, &missing), 0);
	q.last = 5;
	ck_assert_uint_eq(count(&q, &missing), 0);
	put_many(run_b, 3);
	ck_assert_uint_eq(count(&q, &missing), 3);
	ck_assert_str_eq(last_path(), UNIT "/0000000000000002.log");
	ck_assert_uint_gt(size_on_disk(), size);
}
END_TEST

START_TEST(links_are_not_followed)
{
	ck_assert_int_eq(mkdirat(logs_dir, "elsewhere", 0700), 0);
	ck_assert_int_eq(symlinkat("elsewhere", logs_dir, UNIT), 0);
	ck_assert_int_lt(try_put(UNIT, run_a, "x", 1), 0);
}
END_TEST

static Suite *run_log_suite(void)
{
	Suite *s = suite_create("run_log");
	TCase *tc = tcase_create("run_log");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, lines_are_read_in_their_order);
	tcase_add_test(tc, any_bytes_survive);
	tcase_add_test(tc, nothing_kept_is_told_apart);
	tcase_add_test(tc, another_daemon_writes_on);
	tcase_add_test(tc, reader_that_does_not_follow_comes_to_an_end);
	tcase_add_test(tc, queries_choose);
	tcase_add_test(tc, run_of_a_query_is_hexadecimal);
	tcase_add_test(tc, last_lines_are_the_last);
	tcase_add_test(tc, tail_of_a_run_outlives_what_it_was_read_from);
	tcase_add_test(tc, long_run_keeps_its_head_and_its_tail);
	tcase_add_test(tc, runs_after_a_long_one_are_whole);
	tcase_add_test(tc, long_run_stays_bounded_over_restarts);
	tcase_add_test(tc, unit_keeps_the_newest);
	tcase_add_test(tc, what_is_old_goes);
	tcase_add_test(tc, sweep_needs_no_open_unit);
	tcase_add_test(tc, many_units_are_written_to);
	tcase_add_test(tc, without_descriptors_there_is_a_spare_one);
	tcase_add_loop_test(tc, torn_tail_is_passed_over_and_written_over, 0, 99);
	tcase_add_test(tc, reader_waits_for_the_rest_of_a_line);
	tcase_add_test(tc, damage_costs_no_more_than_what_it_hits);
	tcase_add_test(tc, segment_of_a_newer_version_is_left_alone);
	tcase_add_test(tc, links_are_not_followed);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(run_log_suite)
