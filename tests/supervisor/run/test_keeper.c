/* SPDX-License-Identifier: MIT */
#include "run/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "store/run_log_reader.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define UNIT "x.service"
#define PATIENCE (20 * USEC_PER_SEC)

static const struct run_log_limits limits = {
	.per_run = 4 * 1024 * 1024, .per_unit = 64 * 1024 * 1024, .max_age = USEC_PER_YEAR,
};
static const uint8_t run_a[16] = { 1 }, run_b[16] = { 2 };
static char *dir;
static int state_dir;
static sd_event *event;
static struct keeper *keeper;
static unsigned n_written, n_warnings;

static void on_written(void *userdata, const char *unit)
{
	(void) userdata;
	ck_assert_str_eq(unit, UNIT);
	n_written++;
}

static void on_line(void *userdata, const struct log_line *line)
{
	(void) userdata;
	n_warnings += line->level <= LOG_WARNING;
}

static void open_keeper(void)
{
	ck_assert_int_eq(keeper_new(event, SD_EVENT_PRIORITY_NORMAL, state_dir, &limits, &keeper), 0);
	keeper_listen(keeper, &(struct keeper_listener) { .written = on_written });
}

static void set_up(void)
{
	log_set_sink(on_line, NULL);
	n_written = n_warnings = 0;
	dir = test_dir_new();
	state_dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(sd_event_new(&event), 0);
	open_keeper();
}

static void tear_down(void)
{
	keeper = keeper_free(keeper);
	event = sd_event_unref(event);
	close(state_dir);
	dir = test_dir_free(dir);
	log_set_sink(NULL, NULL);
}

static void put(struct keeper_run *r, const char *text)
{
	const struct run_log_record line = { .time = 1, .level = 6, .text = text, .n = strlen(text) };

	keeper_put(r, &line);
}

/* What stands on the disk; how many of it are missing, and the last text. */
static uint64_t count(const uint8_t run_id[16], uint64_t *ret_missing, char last[32])
{
	struct run_log_query q = { .n_run_digits = 32, .until = USEC_NEVER };
	_cleanup_free_ char *logs = test_dir_path(dir, RUN_LOG_DIRECTORY);
	int fd = open(logs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct run_log_record record;
	struct run_log_reader *r;
	uint64_t n = 0;

	memcpy(q.run_id, run_id, 16);
	*ret_missing = 0;
	ck_assert_int_eq(run_log_reader_new(fd, UNIT, &q, &r), 0);
	while (run_log_reader_next(r, &record) > 0) {
		n++;
		*ret_missing += record.n_missing;
		(void) snprintf(last, 32, "%.*s", (int) record.n, record.text);
	}
	run_log_reader_free(r);
	close(fd);
	return n;
}

static void wait_for_writes(unsigned n)
{
	while (n_written < n)
		ck_assert_int_gt(sd_event_run(event, PATIENCE), 0);
}

START_TEST(lines_reach_the_disk_by_themselves)
{
	struct keeper_run *r = keeper_run_new(keeper, UNIT, run_a, NULL);
	uint64_t missing;
	char last[32];

	put(r, "one");
	wait_for_writes(1);
	put(r, "two");
	put(r, "three");
	while (count(run_a, &missing, last) < 3)
		ck_assert_int_gt(sd_event_run(event, PATIENCE), 0);
	ck_assert_str_eq(last, "three");
	keeper_run_unref(r);
}
END_TEST

START_TEST(end_writes_what_is_queued)
{
	struct keeper_run *a = keeper_run_new(keeper, UNIT, run_a, "me"), *b = keeper_run_new(keeper, UNIT, run_b, "");
	uint64_t missing;
	char last[32];

	for (unsigned i = 0; i < 100; i++) {
		put(a, "a");
		put(b, "b");
	}
	keeper_run_unref(a);
	keeper_run_unref(b);
	keeper = keeper_free(keeper);
	ck_assert_uint_eq(count(run_a, &missing, last), 100);
	ck_assert_uint_eq(count(run_b, &missing, last), 100);
	ck_assert_uint_eq(missing, 0);
}
END_TEST

/* The loop never turns: only one batch is on its way, and all else has to wait. */
START_TEST(flood_is_bounded_and_its_end_is_kept)
{
	struct keeper_run *a = keeper_run_new(keeper, UNIT, run_a, NULL), *b = keeper_run_new(keeper, UNIT, run_b, NULL);
	char text[128], last[32];
	uint64_t n, missing;
	struct rusage before, after;

	put(b, "of another run");
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	for (unsigned i = 0; i < 500000; i++) {
		(void) snprintf(text, sizeof(text), "%-100u", i);
		put(a, text);
	}
	put(a, "the end");
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	/* 75 MB were said; sanitizers keep what is freed for a while. */
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 300 * 1024);
	keeper_run_unref(a);
	keeper_run_unref(b);
	keeper = keeper_free(keeper);
	n = count(run_a, &missing, last);
	ck_assert_uint_eq(n + missing, 500001);
	ck_assert_uint_ge(n, 1000);
	ck_assert_str_eq(last, "the end");
	ck_assert_uint_eq(count(run_b, &missing, last), 1);
}
END_TEST

struct look {
	struct worker_job job;
	uint64_t n;
	bool is_done;
};

static void look(struct worker_job *job)
{
	uint64_t missing;
	char last[32];

	((struct look *) job)->n = count(run_a, &missing, last);
}

static void look_done(struct worker_job *job)
{
	((struct look *) job)->is_done = true;
}

START_TEST(job_sees_all_that_was_put_before)
{
	struct keeper_run *r = keeper_run_new(keeper, UNIT, run_a, NULL);
	struct look l = { .job = { .work = look, .done = look_done } };

	for (unsigned i = 0; i < 1000; i++)
		put(r, "line");
	keeper_submit(keeper, &l.job);
	while (!l.is_done)
		ck_assert_int_gt(sd_event_run(event, PATIENCE), 0);
	ck_assert_uint_eq(l.n, 1000);
	keeper_run_unref(r);
}
END_TEST

START_TEST(failure_is_told_once)
{
	struct keeper_run *r = keeper_run_new(keeper, UNIT, run_a, NULL);
	_cleanup_free_ char *path = test_dir_path(dir, RUN_LOG_DIRECTORY "/" UNIT);

	ck_assert_int_eq(symlink("/nonexistent", path), 0);
	for (unsigned i = 1; i <= 3; i++) {
		put(r, "line");
		wait_for_writes(i);
	}
	ck_assert_uint_eq(n_warnings, 1);
	ck_assert_int_eq(unlink(path), 0);
	put(r, "line");
	wait_for_writes(4);
	ck_assert_uint_eq(n_warnings, 1);
	keeper_run_unref(r);
}
END_TEST

static Suite *keeper_suite(void)
{
	Suite *s = suite_create("keeper");
	TCase *tc = tcase_create("keeper");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, lines_reach_the_disk_by_themselves);
	tcase_add_test(tc, end_writes_what_is_queued);
	tcase_add_test(tc, flood_is_bounded_and_its_end_is_kept);
	tcase_add_test(tc, job_sees_all_that_was_put_before);
	tcase_add_test(tc, failure_is_told_once);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(keeper_suite)
