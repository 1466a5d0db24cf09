/* SPDX-License-Identifier: MIT */
#include "run/history_keeper.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define DAY0 (UINT64_C(20000) * USEC_PER_DAY)

static sd_event *event;
static struct history_keeper *keeper;
static char *dir, *folder, *path;
static char said[4096];

static void sink(void *userdata, const struct log_line *line)
{
	size_t n = strlen(said);

	(void) userdata;
	(void) snprintf(said + n, sizeof(said) - n, "%s\n", line->message);
}

static void start(void)
{
	const struct history_keeper_config config = {
		.path = path, .limits = { .age = USEC_NEVER, .per_unit = USEC_NEVER, .size = USEC_NEVER },
	};

	ck_assert_int_eq(history_keeper_new(event, &config, &keeper), 0);
}

/* The file's folder is not there at first: nothing can be written. */
static void set_up(void)
{
	*said = '\0';
	log_set_sink(sink, NULL);
	dir = test_dir_new();
	folder = test_dir_path(dir, "state");
	path = test_dir_path(folder, "history.db");
	ck_assert_int_ge(sd_event_new(&event), 0);
}

static void make_folder(void)
{
	ck_assert_int_eq(mkdir(folder, 0700), 0);
}

static void tear_down(void)
{
	keeper = history_keeper_free(keeper);
	event = sd_event_unref(event);
	free(path);
	free(folder);
	dir = test_dir_free(dir);
	log_set_sink(NULL, NULL);
}

static void add(unsigned id, enum history_class class)
{
	char unit[] = "a.service";
	struct history_record r = {
		.class = class, .unit = unit, .at = DAY0 + id, .scheduled = USEC_NEVER, .cause = "manual", .attempt = 1,
		.duration = USEC_NEVER, .lateness = USEC_NEVER,
	};

	memcpy(r.run_id, &id, sizeof(id));
	history_keeper_add(keeper, &r);
	/* It was copied. */
	memset(unit, 'x', sizeof(unit) - 1);
}

static struct {
	unsigned n, n_gaps;
	uint64_t lost;
	size_t n_output;
	bool is_done;
	int result;
	char message[512];
} answer;

static int on_record(void *userdata, const struct history_record *r)
{
	(void) userdata;
	answer.n++;
	answer.n_output += r->n_output;
	if (r->class == HISTORY_GAP) {
		answer.n_gaps++;
		answer.lost += r->count;
	} else {
		ck_assert_str_eq(r->unit, "a.service");
	}
	return 0;
}

static void on_done(void *userdata, int result, const char *message)
{
	(void) userdata;
	answer.is_done = true;
	answer.result = result;
	(void) snprintf(answer.message, sizeof(answer.message), "%s", message ? message : "");
}

static void on_drop(void *userdata)
{
	(void) userdata;
	answer.is_done = true;
	answer.result = -ECANCELED;
}

static void ask(unsigned classes)
{
	const struct history_filter f = { .classes = classes, .until = USEC_NEVER, .limit = 20, .patience = USEC_NEVER };
	const struct history_answer a = { .record = on_record, .done = on_done, .drop = on_drop };

	memset(&answer, 0, sizeof(answer));
	ck_assert_int_eq(history_keeper_ask(keeper, &f, &a), 0);
	while (!answer.is_done)
		ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
}

static int count_runs(void *userdata, const char *unit, const struct tally *t)
{
	(void) userdata;
	(void) unit;
	answer.n += (unsigned) tally_runs(t);
	return 0;
}

static void ask_sum(void)
{
	const struct history_filter f = { .until = USEC_NEVER, .patience = USEC_NEVER };
	const struct history_answer a = { .tally = count_runs, .done = on_done, .drop = on_drop };

	memset(&answer, 0, sizeof(answer));
	ck_assert_int_eq(history_keeper_ask(keeper, &f, &a), 0);
	while (!answer.is_done)
		ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
}

START_TEST(what_was_added_is_in_the_answer)
{
	make_folder();
	start();
	ask(0);
	ck_assert_uint_eq(answer.n, 0);
	add(1, HISTORY_RUNNING);
	add(2, HISTORY_SUCCESS);
	ask(0);
	ck_assert_int_eq(answer.result, 0);
	ck_assert_uint_eq(answer.n, 2);
	ask(1U << HISTORY_SUCCESS);
	ck_assert_uint_eq(answer.n, 1);
	ck_assert_ptr_null(history_keeper_state(keeper).failure);
}
END_TEST

/* The thread is at work on what came before. */
START_TEST(what_was_added_meanwhile_is_in_the_answer)
{
	make_folder();
	start();
	add(1, HISTORY_SUCCESS);
	ask(0);
	ck_assert_int_eq(answer.result, 0);
	ck_assert_uint_eq(answer.n, 1);
	for (unsigned i = 0; i < 1500; i++)
		add(2 + i, HISTORY_SUCCESS);
	ask_sum();
	ck_assert_uint_eq(answer.n, 1501);
}
END_TEST

/* Not even an answer comes any more. */
START_TEST(who_waits_at_the_end_hears_of_it)
{
	const struct history_filter f = { .until = USEC_NEVER, .limit = 20, .patience = USEC_NEVER };
	const struct history_answer a = { .record = on_record, .done = on_done, .drop = on_drop };

	make_folder();
	start();
	add(1, HISTORY_SUCCESS);
	memset(&answer, 0, sizeof(answer));
	ck_assert_int_eq(history_keeper_ask(keeper, &f, &a), 0);
	keeper = history_keeper_free(keeper);
	ck_assert(answer.is_done);
	ck_assert_int_eq(answer.result, -ECANCELED);
}
END_TEST

START_TEST(what_is_added_last_is_written_at_the_end)
{
	make_folder();
	start();
	add(1, HISTORY_RUNNING);
	add(2, HISTORY_SUCCESS);
	keeper = history_keeper_free(keeper);
	start();
	ask(0);
	ck_assert_uint_eq(answer.n, 2);
	ask(1U << HISTORY_INTERRUPTED);
	ck_assert_uint_eq(answer.n, 1);
	ck_assert(strstr(said, "1 run was going on when supd ended last"));
}
END_TEST

START_TEST(what_cannot_be_written_waits)
{
	start();
	add(1, HISTORY_SUCCESS);
	ask(0);
	ck_assert_int_lt(answer.result, 0);
	ck_assert(strstr(answer.message, "history.db: No such file or directory"));
	ck_assert(strstr(said, "the history is not written, runs go on"));
	ck_assert_ptr_nonnull(history_keeper_state(keeper).failure);
	add(2, HISTORY_SUCCESS);
	make_folder();
	ask(0);
	ck_assert_int_eq(answer.result, 0);
	ask(0);
	ck_assert_uint_eq(answer.n, 2);
	ck_assert(strstr(said, "the history is written again, nothing is lost"));
	ck_assert_ptr_null(history_keeper_state(keeper).failure);
}
END_TEST

/* More than the bound of what waits in memory. */
#define MANY 90000

START_TEST(what_is_too_much_is_lost_and_on_record)
{
	uint64_t lost;

	start();
	for (unsigned i = 0; i < MANY; i++)
		add(i, HISTORY_SUCCESS);
	ask(0);
	ck_assert_int_lt(answer.result, 0);
	lost = history_keeper_state(keeper).lost;
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_lt(lost, MANY);
	make_folder();
	ask(0);
	ask(1U << HISTORY_GAP);
	ask(1U << HISTORY_GAP);
	ck_assert_uint_eq(answer.n_gaps, 1);
	ck_assert_uint_eq(answer.lost, lost);
	ck_assert(strstr(said, " records are lost"));
	ask_sum();
	ck_assert_uint_eq(answer.n, MANY - lost);
}
END_TEST

static void add_loud(unsigned id, const char *output, size_t n)
{
	struct history_record r = {
		.class = HISTORY_SUCCESS, .unit = "a.service", .at = DAY0 + id, .scheduled = USEC_NEVER, .cause = "manual",
		.attempt = 1, .duration = USEC_NEVER, .lateness = USEC_NEVER, .output = output, .n_output = n,
	};

	memcpy(r.run_id, &id, sizeof(id));
	history_keeper_add(keeper, &r);
}

static size_t output_of(unsigned id)
{
	uint8_t run_id[RUN_ID_BYTES] = { 0 };
	const struct history_filter f = {
		.run_first = run_id, .run_last = run_id, .until = USEC_NEVER, .limit = 20, .patience = USEC_NEVER,
	};
	const struct history_answer a = { .record = on_record, .done = on_done, .drop = on_drop };

	memcpy(run_id, &id, sizeof(id));
	memset(&answer, 0, sizeof(answer));
	ck_assert_int_eq(history_keeper_ask(keeper, &f, &a), 0);
	while (!answer.is_done)
		ck_assert_int_ge(sd_event_run(event, UINT64_MAX), 0);
	ck_assert_uint_eq(answer.n, 1);
	return answer.n_output;
}

/* 5000 runs of 16 KiB of output are far over the bound of what waits, the runs themselves are not. */
START_TEST(output_that_is_too_much_is_left_out)
{
	static char output[16384];

	start();
	memset(output, 'x', sizeof(output));
	for (unsigned i = 0; i < 5000; i++)
		add_loud(i, output, sizeof(output));
	ask(0);
	ck_assert_int_lt(answer.result, 0);
	ck_assert_uint_eq(history_keeper_state(keeper).lost, 0);
	make_folder();
	ask(0);
	ask_sum();
	ck_assert_uint_eq(answer.n, 5000);
	ck_assert_uint_eq(output_of(0), sizeof(output));
	ck_assert_uint_eq(output_of(4999), 0);
}
END_TEST

/* Nothing else has to happen for it. */
START_TEST(what_is_over_a_limit_goes_bit_by_bit)
{
	const struct history_keeper_config config = {
		.path = path, .limits = { .age = USEC_NEVER, .per_unit = 10, .size = USEC_NEVER },
	};

	make_folder();
	start();
	for (unsigned i = 0; i < 5000; i++)
		add(i, HISTORY_SUCCESS);
	keeper = history_keeper_free(keeper);
	ck_assert_int_eq(history_keeper_new(event, &config, &keeper), 0);
	do
		ask(0);
	while (answer.n > 10);
	ck_assert_uint_eq(answer.n, 10);
}
END_TEST

START_TEST(a_damaged_file_is_set_aside)
{
	make_folder();
	test_dir_write_text(folder, "history.db", "no database, and long enough that nobody could take it for an empty one");
	start();
	add(1, HISTORY_SUCCESS);
	ask(0);
	ck_assert_int_eq(answer.result, 0);
	ask(0);
	ck_assert_uint_eq(answer.n, 2);
	ck_assert_uint_eq(answer.n_gaps, 1);
	ck_assert(strstr(said, "the history was damaged: it is set aside as "));
}
END_TEST

static Suite *history_keeper_suite(void)
{
	Suite *s = suite_create("history_keeper");
	TCase *tc = tcase_create("history_keeper");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, what_was_added_is_in_the_answer);
	tcase_add_test(tc, what_was_added_meanwhile_is_in_the_answer);
	tcase_add_test(tc, who_waits_at_the_end_hears_of_it);
	tcase_add_test(tc, what_is_added_last_is_written_at_the_end);
	tcase_add_test(tc, what_cannot_be_written_waits);
	tcase_add_test(tc, what_is_too_much_is_lost_and_on_record);
	tcase_add_test(tc, output_that_is_too_much_is_left_out);
	tcase_add_test(tc, what_is_over_a_limit_goes_bit_by_bit);
	tcase_add_test(tc, a_damaged_file_is_set_aside);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(history_keeper_suite)
