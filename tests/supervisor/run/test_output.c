/* SPDX-License-Identifier: MIT */
#include "run/output.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/usec.h"
#include "service/exec_streams.h"
#include "service/spec.h"
#include "tests/lib/test_main.h"

#define GRACE (100 * USEC_PER_MSEC)

static const uint8_t run_id[16] = { 1, 2, 3 };
static sd_event *event;
static struct outputs *all;
static struct output *output;
static int out, err;
static char *lines[4096];
static int levels[4096];
static size_t n_lines, n_notes;
static struct exec_streams streams;
static struct output_config config = { .token = 1, .unit = "x.service", .run_id = run_id, .streams = &streams };

static void on_line(void *userdata, const struct log_line *line)
{
	(void) userdata;
	ck_assert_str_eq(line->unit, "x.service");
	if (!line->stream) {
		n_notes++;
		return;
	}
	ck_assert_mem_eq(line->run_id, run_id, sizeof(run_id));
	ck_assert_uint_lt(n_lines, ELEMENTS(lines));
	levels[n_lines] = line->level;
	ck_assert_int_gt(asprintf(&lines[n_lines++], "%.3s:%s", line->stream + 3, line->message), 0);
}

static void set_up(void)
{
	const struct exec_context exec = { 0 };
	const struct service_spec spec = { .exec = &exec };

	streams = *exec_streams_of(&spec);
	config.token = 1;
	n_lines = n_notes = 0;
	log_set_sink(on_line, NULL);
	log_set_level(LOG_DEBUG);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(outputs_new(event, SD_EVENT_PRIORITY_IDLE, GRACE, true, &all), 0);
	ck_assert_int_ge(output_new(all, &config, &out, &err, &output), 0);
}

static void hang_up(void)
{
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	out = err = -1;
}

static void tear_down(void)
{
	hang_up();
	all = outputs_free(all);
	event = sd_event_unref(event);
	log_set_sink(NULL, NULL);
	while (n_lines > 0)
		free(lines[--n_lines]);
}

static void say_bytes(int fd, const char *bytes, size_t n)
{
	ck_assert_int_eq(write(fd, bytes, n), (ssize_t) n);
}

static void say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text));
}

static void turns(unsigned n)
{
	while (n-- > 0)
		ck_assert_int_ge(sd_event_run(event, 0), 0);
}

static void expect_lines(const char *const *expected, size_t n)
{
	ck_assert_uint_eq(n_lines, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(lines[i], expected[i]);
}
#define EXPECT(...)                                                              \
	expect_lines((const char *const[]) { __VA_ARGS__ },                       \
		     sizeof((const char *const[]) { __VA_ARGS__ }) / sizeof(char *))

START_TEST(lines_arrive_with_their_stream)
{
	say(out, "one\ntwo\n");
	turns(2);
	say(err, "three\n");
	turns(2);
	EXPECT("out:one", "out:two", "err:three");
}
END_TEST

START_TEST(output_comes_before_error)
{
	say(err, "why\n");
	say(out, "what\n");
	turns(4);
	EXPECT("out:what", "err:why");
}
END_TEST

START_TEST(line_in_parts_is_one_line)
{
	say(out, "be");
	turns(2);
	say(out, "gin");
	turns(2);
	ck_assert_uint_eq(n_lines, 0);
	say(out, "ning\n");
	turns(2);
	EXPECT("out:beginning");
}
END_TEST

START_TEST(what_the_dead_wrote_is_logged_before_their_end_is_told)
{
	say(out, "last words");
	say(err, "last error\n");
	output_finish(output);
	EXPECT("out:last words", "err:last error");
}
END_TEST

START_TEST(empty_lines_are_kept)
{
	say(out, "\n\nx\n");
	output_finish(output);
	EXPECT("out:", "out:", "out:x");
}
END_TEST

START_TEST(nul_ends_a_line)
{
	say_bytes(out, "a\0b\0\0\0c\n", 8);
	output_finish(output);
	EXPECT("out:a", "out:b", "out:c");
}
END_TEST

START_TEST(bytes_stay_as_they_are)
{
	say(out, "\033[31mred\r\xff\xfe\n");
	output_finish(output);
	EXPECT("out:\033[31mred\r\xff\xfe");
}
END_TEST

START_TEST(level_prefix_sets_the_level)
{
	say(out, "<3>bad\n<7>fine\n<0>very bad\n<8>text\n<3 text\nplain\n");
	output_finish(output);
	EXPECT("out:bad", "out:fine", "out:very bad", "out:<8>text", "out:<3 text", "out:plain");
	ck_assert_int_eq(levels[0], LOG_ERR);
	ck_assert_int_eq(levels[1], LOG_DEBUG);
	ck_assert_int_eq(levels[2], LOG_ERR);
	ck_assert_int_eq(levels[3], LOG_INFO);
	ck_assert_int_eq(levels[5], LOG_INFO);
}
END_TEST

START_TEST(long_line_is_split_and_nothing_lost)
{
	enum { LONG = 40000 };
	char *text = malloc(LONG + 2), *joined = calloc(1, LONG + 1);

	for (int i = 0; i < LONG; i++)
		text[i] = (char) ('a' + i % 26);
	text[LONG] = '\n';
	text[LONG + 1] = '\0';
	say(out, text);
	output_finish(output);
	ck_assert_uint_eq(n_lines, 3);
	for (size_t i = 0; i < n_lines; i++) {
		ck_assert_uint_le(strlen(lines[i]) - 4, OUTPUT_LINE_MAX);
		strcat(joined, lines[i] + 4);
	}
	ck_assert_mem_eq(joined, text, LONG);
	free(text);
	free(joined);
}
END_TEST

START_TEST(character_is_not_split)
{
	static const char *const characters[] = { "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80" };
	const char *c = characters[_i / 4];
	size_t at = OUTPUT_LINE_MAX - (size_t) (_i % 4), n = strlen(c);
	char text[OUTPUT_LINE_MAX + 16];

	memset(text, 'a', sizeof(text));
	memcpy(text + at, c, n);
	text[at + n] = '\n';
	say_bytes(out, text, at + n + 1);
	output_finish(output);
	ck_assert_uint_ge(n_lines, 1);
	/* The whole of it stands in one line. */
	ck_assert(strstr(lines[0], c) || (n_lines > 1 && strstr(lines[1], c)));
}
END_TEST

START_TEST(flood_is_read_in_bounded_parts)
{
	char block[OUTPUT_TURN_MAX];
	size_t before;
	ssize_t n, total = 0;

	memset(block, 'x', sizeof(block));
	for (size_t i = 63; i < sizeof(block); i += 64)
		block[i] = '\n';
	(void) fcntl(out, F_SETPIPE_SZ, 4 * OUTPUT_TURN_MAX);
	ck_assert_int_eq(fcntl(out, F_SETFL, O_NONBLOCK), 0);
	while ((n = write(out, block, sizeof(block))) > 0)
		total += n;
	turns(1);
	before = n_lines;
	ck_assert_uint_gt(before, 0);
	ck_assert_uint_le(before, OUTPUT_TURN_MAX / 64);
	for (unsigned i = 0; n_lines < (size_t) total / 64 && i < 100; i++)
		turns(1);
	ck_assert_uint_eq(n_lines, (size_t) total / 64);
}
END_TEST

static int on_defer(sd_event_source *source, void *userdata)
{
	unsigned *n = userdata;

	ck_assert_int_ge(sd_event_source_set_enabled(source, ++*n < 10 ? SD_EVENT_ON : SD_EVENT_OFF), 0);
	return 0;
}

START_TEST(flood_waits_for_everything_else)
{
	sd_event_source *source = NULL;
	unsigned n = 0;

	say(out, "flood\n");
	ck_assert_int_ge(sd_event_add_defer(event, &source, on_defer, &n), 0);
	turns(9);
	ck_assert_uint_eq(n, 9);
	ck_assert_uint_eq(n_lines, 0);
	turns(3);
	ck_assert_uint_eq(n_lines, 1);
	sd_event_source_disable_unref(source);
}
END_TEST

START_TEST(end_of_a_run_is_not_held_up_by_whoever_keeps_the_pipe)
{
	say(out, "mine\n");
	output_finish(output);
	EXPECT("out:mine");
	/* somebody else still writes, and is heard */
	say(out, "theirs\n");
	turns(2);
	EXPECT("out:mine", "out:theirs");
	outputs_leave(all, 1);
	say(out, "still\n");
	turns(2);
	EXPECT("out:mine", "out:theirs", "out:still");
	/* until the grace time is over */
	while (n_notes == 0)
		ck_assert_int_ge(sd_event_run(event, 10 * USEC_PER_SEC), 0);
	{
		struct pollfd p = { .fd = out, .events = POLLOUT };

		ck_assert_int_eq(poll(&p, 1, 0), 1);
		ck_assert(p.revents & POLLERR);
	}
}
END_TEST

/* A second output, as the service of @streams has it; what it says goes through @out and @err. */
static struct output *begin_another(int *ret_out, int *ret_err)
{
	struct output *other;

	config.token = 2;
	ck_assert_int_ge(output_new(all, &config, ret_out, ret_err, &other), 0);
	return other;
}

START_TEST(levels_are_as_the_service_says)
{
	int other_out, other_err;
	struct output *other;

	streams.level = LOG_NOTICE;
	streams.level_max = LOG_WARNING;
	streams.level_prefix = true;
	other = begin_another(&other_out, &other_err);
	say(other_out, "dropped\n<4>kept\n<7>dropped\n");
	output_finish(other);
	outputs_leave(all, 2);
	EXPECT("out:kept");
	close(other_out);
	close(other_err);
}
END_TEST

START_TEST(prefixes_can_mean_nothing)
{
	int other_out, other_err;
	struct output *other;

	streams.level = LOG_WARNING;
	streams.level_prefix = false;
	other = begin_another(&other_out, &other_err);
	say(other_out, "<3>as it is\n");
	output_finish(other);
	EXPECT("out:<3>as it is");
	ck_assert_int_eq(levels[0], LOG_WARNING);
	close(other_out);
	close(other_err);
}
END_TEST

START_TEST(log_takes_only_so_many_lines_at_once)
{
	int other_out, other_err;
	struct output *other;

	streams.rate_interval = 3600 * USEC_PER_SEC;
	streams.rate_burst = 2;
	other = begin_another(&other_out, &other_err);
	say(other_out, "one\ntwo\nthree\nfour\n");
	close(other_out);
	close(other_err);
	output_finish(other);
	EXPECT("out:one", "out:two");
	ck_assert_uint_eq(n_notes, 1);
}
END_TEST

START_TEST(only_what_is_captured_has_a_pipe)
{
	int other_out = -2, other_err = -2;
	struct output *other;

	streams.out.kind = STREAM_NULL;
	ck_assert_ptr_null(begin_another(&other_out, &other_err));
	ck_assert_int_eq(other_out, -1);
	ck_assert_int_eq(other_err, -1);
	streams.err.kind = STREAM_JOURNAL;
	other = begin_another(&other_out, &other_err);
	ck_assert_int_eq(other_out, -1);
	say(other_err, "alone\n");
	close(other_err);
	output_finish(other);
	EXPECT("err:alone");
}
END_TEST

START_TEST(other_runs_are_left_alone)
{
	struct output *other;
	int other_out, other_err;

	config.token = 2;
	ck_assert_int_ge(output_new(all, &config, &other_out, &other_err, &other), 0);
	output_finish(output);
	outputs_leave(all, 1);
	while (n_notes == 0)
		ck_assert_int_ge(sd_event_run(event, 10 * USEC_PER_SEC), 0);
	say(other_out, "here\n");
	turns(2);
	EXPECT("out:here");
	close(other_out);
	close(other_err);
	output_finish(other);
}
END_TEST

START_TEST(end_is_no_busy_loop)
{
	hang_up();
	turns(4);
	/* Nothing is ready any more. */
	ck_assert_int_eq(sd_event_run(event, 0), 0);
	output_finish(output);
	ck_assert_uint_eq(n_lines, 0);
}
END_TEST

START_TEST(descriptors_are_not_inherited)
{
	ck_assert(fcntl(out, F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(err, F_GETFD) & FD_CLOEXEC);
	/* and the service's end is as programs expect */
	ck_assert(!(fcntl(out, F_GETFL) & O_NONBLOCK));
}
END_TEST

static Suite *output_suite(void)
{
	Suite *s = suite_create("output");
	TCase *tc = tcase_create("output");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, lines_arrive_with_their_stream);
	tcase_add_test(tc, output_comes_before_error);
	tcase_add_test(tc, line_in_parts_is_one_line);
	tcase_add_test(tc, what_the_dead_wrote_is_logged_before_their_end_is_told);
	tcase_add_test(tc, empty_lines_are_kept);
	tcase_add_test(tc, nul_ends_a_line);
	tcase_add_test(tc, bytes_stay_as_they_are);
	tcase_add_test(tc, level_prefix_sets_the_level);
	tcase_add_test(tc, long_line_is_split_and_nothing_lost);
	tcase_add_loop_test(tc, character_is_not_split, 0, 12);
	tcase_add_test(tc, flood_is_read_in_bounded_parts);
	tcase_add_test(tc, flood_waits_for_everything_else);
	tcase_add_test(tc, end_of_a_run_is_not_held_up_by_whoever_keeps_the_pipe);
	tcase_add_test(tc, other_runs_are_left_alone);
	tcase_add_test(tc, levels_are_as_the_service_says);
	tcase_add_test(tc, prefixes_can_mean_nothing);
	tcase_add_test(tc, log_takes_only_so_many_lines_at_once);
	tcase_add_test(tc, only_what_is_captured_has_a_pipe);
	tcase_add_test(tc, end_is_no_busy_loop);
	tcase_add_test(tc, descriptors_are_not_inherited);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(output_suite)
