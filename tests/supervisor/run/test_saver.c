/* SPDX-License-Identifier: MIT */
#include "run/saver.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "store/atomic_file.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/run/slow_disk.h"

static sd_event *event;
static struct saver *saver;
static char *dir;
static int fd;
static struct {
	uint64_t ticket;
	int result;
} told[64];
static unsigned n_told;

static bool holds(uint64_t ticket)
{
	const struct barrier_wait w = saver_wait(saver, ticket);

	return barrier_holds(&w);
}

static void on_saved(void *userdata, const char *plugin, uint64_t ticket, int result)
{
	(void) userdata;
	ck_assert_str_eq(plugin, "timer");
	/* Whoever is told may look after those that wait. */
	ck_assert(!holds(ticket));
	told[n_told].ticket = ticket;
	told[n_told++].result = result;
}

static void set_up(void)
{
	char why[256];

	n_told = 0;
	dir = test_dir_new();
	fd = state_dir_open(dir, why, sizeof(why));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_ge(saver_new(event, 0, fd, on_saved, NULL, &saver), 0);
}

static void tear_down(void)
{
	saver = saver_free(saver);
	event = sd_event_unref(event);
	close(fd);
	dir = test_dir_free(dir);
}

static void save(uint64_t ticket, const char *text)
{
	ck_assert_int_eq(saver_save(saver, "timer", ticket, text, strlen(text)), 0);
}

static void wait_told(unsigned n)
{
	while (n_told < n)
		ck_assert_int_ge(sd_event_run(event, 30 * USEC_PER_SEC), 0);
}

static void expect_file(unsigned generation, const char *text)
{
	_cleanup_free_ void *bytes = NULL;
	size_t n;

	ck_assert_int_eq(saver_load(saver, "timer", generation, &bytes, &n), 0);
	ck_assert_uint_eq(n, strlen(text));
	ck_assert_mem_eq(bytes, text, n);
}

START_TEST(what_is_saved_is_there_when_it_is_told)
{
	_cleanup_free_ char *text = NULL;

	save(1, "one");
	ck_assert_uint_eq(n_told, 0);
	wait_told(1);
	ck_assert_uint_eq(told[0].ticket, 1);
	ck_assert_int_eq(told[0].result, 0);
	text = test_dir_read(dir, "timers.state", NULL);
	ck_assert_str_eq(text, "one");
}
END_TEST

START_TEST(newest_replaces_what_waits_and_all_are_told_in_order)
{
	for (uint64_t i = 1; i <= 50; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%u", (unsigned) i);
		save(i, text);
	}
	wait_told(50);
	for (uint64_t i = 1; i <= 50; i++) {
		ck_assert_uint_eq(told[i - 1].ticket, i);
		ck_assert_int_eq(told[i - 1].result, 0);
	}
	expect_file(0, "50");
	/* The first was under way, the rest became one. */
	expect_file(1, "1");
}
END_TEST

static void append(uint64_t ticket, const char *text)
{
	ck_assert_int_eq(saver_append(saver, "timer", ticket, text, strlen(text)), 0);
}

START_TEST(what_is_added_stands_behind_what_was_saved)
{
	save(1, "one,");
	append(2, "two,");
	append(3, "three,");
	wait_told(3);
	append(4, "four");
	wait_told(4);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(told[i].ticket, i + 1);
		ck_assert_int_eq(told[i].result, 0);
	}
	expect_file(0, "one,two,three,four");
	save(5, "five,");
	append(6, "six");
	wait_told(6);
	expect_file(0, "five,six");
	expect_file(1, "one,two,three,four");
}
END_TEST

START_TEST(a_save_takes_the_place_of_what_waits_to_be_added)
{
	save(1, "one,");
	append(2, "two,");
	save(3, "three");
	wait_told(3);
	expect_file(0, "three");
}
END_TEST

START_TEST(nothing_is_added_to_a_file_of_another_life_or_behind_a_failure)
{
	ck_assert_int_eq(atomic_file_write(fd, "timers.state", "old,", 4), 0);
	append(1, "new");
	wait_told(1);
	ck_assert_int_eq(told[0].result, -ESTALE);
	expect_file(0, "old,");
	save(2, "saved,");
	wait_told(2);
	ck_assert_int_eq(unlinkat(fd, "timers.state", 0), 0);
	append(3, "lost");
	wait_told(3);
	ck_assert_int_eq(told[2].result, -ENOENT);
	ck_assert_int_eq(atomic_file_write(fd, "timers.state", "somebody's,", 11), 0);
	append(4, "lost, too");
	wait_told(4);
	ck_assert_int_eq(told[3].result, -ESTALE);
	expect_file(0, "somebody's,");
	save(5, "again,");
	append(6, "and again");
	wait_told(6);
	ck_assert_int_eq(told[5].result, 0);
	expect_file(0, "again,and again");
}
END_TEST

START_TEST(what_waits_to_be_added_at_the_end_is_written)
{
	_cleanup_free_ void *bytes = NULL;
	size_t n;

	save(1, "one,");
	append(2, "two");
	saver = saver_free(saver);
	ck_assert_int_eq(atomic_file_read(fd, "timers.state", 0, 1000, &bytes, &n), 0);
	ck_assert_uint_eq(n, strlen("one,two"));
	ck_assert_mem_eq(bytes, "one,two", n);
}
END_TEST

START_TEST(bytes_are_copied)
{
	char text[] = "first";

	ck_assert_int_eq(saver_save(saver, "timer", 1, text, 5), 0);
	memcpy(text, "XXXXX", 5);
	wait_told(1);
	expect_file(0, "first");
}
END_TEST

START_TEST(save_now_is_on_disk_at_once_and_nothing_older_follows)
{
	save(1, "one");
	save(2, "two");
	ck_assert_int_eq(saver_save_now(saver, "timer", "three", 5), 0);
	expect_file(0, "three");
	wait_told(2);
	ck_assert_uint_eq(told[0].ticket, 1);
	ck_assert_uint_eq(told[1].ticket, 2);
	for (int i = 0; i < 5; i++)
		ck_assert_int_ge(sd_event_run(event, 0), 0);
	expect_file(0, "three");
	ck_assert_uint_eq(n_told, 2);
}
END_TEST

START_TEST(save_now_twice_tells_everybody_once)
{
	save(1, "a");
	save(2, "b");
	ck_assert_int_eq(saver_save_now(saver, "timer", "c", 1), 0);
	save(3, "d");
	ck_assert_int_eq(saver_save_now(saver, "timer", "e", 1), 0);
	wait_told(3);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_uint_eq(told[i].ticket, i + 1);
	expect_file(0, "e");
}
END_TEST

START_TEST(what_is_queued_at_the_end_is_written)
{
	_cleanup_free_ char *text = NULL;

	for (uint64_t i = 1; i <= 20; i++)
		save(i, "older");
	save(21, "newest");
	saver = saver_free(saver);
	text = test_dir_read(dir, "timers.state", NULL);
	ck_assert_str_eq(text, "newest");
}
END_TEST

START_TEST(failure_is_told_and_the_next_save_starts_anew)
{
	_cleanup_free_ char *obstacle = test_dir_path(dir, "timers.state");

	/* A folder cannot be replaced by a file. */
	ck_assert_int_eq(mkdir(obstacle, 0700), 0);
	save(1, "one");
	wait_told(1);
	ck_assert_int_lt(told[0].result, 0);
	ck_assert_int_lt(saver_save_now(saver, "timer", "x", 1), 0);
	ck_assert_int_eq(rmdir(obstacle), 0);
	save(2, "two");
	wait_told(2);
	ck_assert_int_eq(told[1].result, 0);
	expect_file(0, "two");
}
END_TEST

START_TEST(what_is_set_aside_is_out_of_the_way)
{
	_cleanup_free_ char *text = NULL;
	void *bytes;
	char name[256];
	size_t n;

	ck_assert_int_eq(saver_save_now(saver, "timer", "spoilt", 6), 0);
	ck_assert_int_eq(saver_set_aside(saver, "timer", name, sizeof(name)), 0);
	ck_assert_int_eq(saver_load(saver, "timer", 0, &bytes, &n), -ENOENT);
	ck_assert_msg(str_starts(name, "timers.state.bad-"), "%s", name);
	text = test_dir_read(dir, name, NULL);
	ck_assert_str_eq(text, "spoilt");
}
END_TEST

static const char *const bad_names[] = { "", "../x", "a/b", "A", "-x", "x.y" };

START_TEST(name_is_never_a_path)
{
	void *bytes;
	size_t n;

	ck_assert_int_eq(saver_save(saver, bad_names[_i], 1, "x", 1), -EINVAL);
	ck_assert_int_eq(saver_load(saver, bad_names[_i], 0, &bytes, &n), -EINVAL);
}
END_TEST

START_TEST(without_a_directory_everything_is_refused)
{
	struct saver *none;
	void *bytes;
	size_t n;

	ck_assert_int_ge(saver_new(event, 0, -1, on_saved, NULL, &none), 0);
	ck_assert_int_eq(saver_save(none, "timer", 1, "x", 1), -EROFS);
	ck_assert_int_eq(saver_save_now(none, "timer", "x", 1), -EROFS);
	ck_assert_int_eq(saver_load(none, "timer", 0, &bytes, &n), -EROFS);
	saver_free(none);
}
END_TEST

/* ---- waiting beside the loop ---- */

START_TEST(who_waits_goes_on_when_it_is_written_without_the_loop)
{
	_cleanup_free_ char *text = NULL;
	struct barrier_wait w;

	slow_disk_hang();
	save(1, "one");
	slow_disk_wait();
	w = saver_wait(saver, 1);
	ck_assert(barrier_holds(&w));
	slow_disk_go();
	ck_assert(barrier_await(&w));
	ck_assert_uint_eq(n_told, 0);
	text = test_dir_read(dir, "timers.state", NULL);
	ck_assert_str_eq(text, "one");
	ck_assert(!holds(1));
	wait_told(1);
}
END_TEST

START_TEST(what_is_added_is_waited_for_too)
{
	_cleanup_free_ char *text = NULL;
	struct barrier_wait w;

	save(1, "one,");
	wait_told(1);
	slow_disk_hang();
	append(2, "two");
	slow_disk_wait();
	w = saver_wait(saver, 2);
	ck_assert(barrier_holds(&w));
	slow_disk_go();
	ck_assert(barrier_await(&w));
	text = test_dir_read(dir, "timers.state", NULL);
	ck_assert_str_eq(text, "one,two");
}
END_TEST

START_TEST(nothing_is_waited_for_that_is_unknown_or_told)
{
	save(1, "one");
	wait_told(1);
	save(2, "two");
	ck_assert_ptr_null(saver_wait(saver, 0).barrier);
	ck_assert_ptr_null(saver_wait(saver, 1).barrier);
	ck_assert_ptr_null(saver_wait(saver, 3).barrier);
	ck_assert_ptr_nonnull(saver_wait(saver, 2).barrier);
	wait_told(2);
	ck_assert_ptr_null(saver_wait(saver, 2).barrier);
}
END_TEST

START_TEST(what_is_queued_is_waited_for_until_it_is_written)
{
	struct barrier_wait first, second;

	slow_disk_hang();
	save(1, "one");
	save(2, "two");
	first = saver_wait(saver, 1);
	second = saver_wait(saver, 2);
	ck_assert(barrier_holds(&first));
	slow_disk_go();
	ck_assert(barrier_await(&first));
	/* It is begun from the loop, which has not run yet. */
	ck_assert(barrier_holds(&second));
	wait_told(1);
	ck_assert(barrier_await(&second));
	expect_file(0, "two");
}
END_TEST

START_TEST(a_save_that_replaces_another_lets_go_both)
{
	struct barrier_wait w[4];

	slow_disk_hang();
	save(1, "one,");
	append(2, "two,");
	save(3, "three,");
	append(4, "four");
	for (uint64_t i = 0; i < ELEMENTS(w); i++) {
		w[i] = saver_wait(saver, i + 1);
		ck_assert(barrier_holds(&w[i]));
	}
	slow_disk_go();
	ck_assert(barrier_await(&w[0]));
	for (uint64_t i = 1; i < ELEMENTS(w); i++)
		ck_assert(barrier_holds(&w[i]));
	wait_told(1);
	for (uint64_t i = 1; i < ELEMENTS(w); i++)
		ck_assert(barrier_await(&w[i]));
	wait_told(4);
	expect_file(0, "three,four");
}
END_TEST

START_TEST(a_write_that_fails_lets_go)
{
	_cleanup_free_ char *obstacle = test_dir_path(dir, "timers.state");
	struct barrier_wait w;

	append(1, "lost");
	w = saver_wait(saver, 1);
	ck_assert(barrier_await(&w));
	wait_told(1);
	ck_assert_int_eq(told[0].result, -ESTALE);
	ck_assert_int_eq(mkdir(obstacle, 0700), 0);
	slow_disk_hang();
	save(2, "two");
	w = saver_wait(saver, 2);
	ck_assert(barrier_holds(&w));
	slow_disk_go();
	ck_assert(barrier_await(&w));
	wait_told(2);
	ck_assert_int_lt(told[1].result, 0);
}
END_TEST

START_TEST(save_now_lets_go_what_it_replaced)
{
	struct barrier_wait first, second;

	save(1, "one");
	save(2, "two");
	first = saver_wait(saver, 1);
	second = saver_wait(saver, 2);
	ck_assert(barrier_holds(&second));
	ck_assert_int_eq(saver_save_now(saver, "timer", "three", 5), 0);
	ck_assert(!barrier_holds(&first) && !barrier_holds(&second));
	ck_assert(!holds(1) && !holds(2));
	ck_assert_uint_eq(n_told, 0);
	wait_told(2);
	save(3, "four");
	first = saver_wait(saver, 3);
	ck_assert(barrier_await(&first));
}
END_TEST

START_TEST(save_now_that_fails_lets_go_what_it_replaced)
{
	_cleanup_free_ char *obstacle = test_dir_path(dir, "timers.state");
	struct barrier_wait second;

	ck_assert_int_eq(mkdir(obstacle, 0700), 0);
	save(1, "one");
	save(2, "two");
	second = saver_wait(saver, 2);
	ck_assert(barrier_holds(&second));
	ck_assert_int_lt(saver_save_now(saver, "timer", "three", 5), 0);
	ck_assert(!barrier_holds(&second));
	wait_told(2);
	ck_assert_int_lt(told[1].result, 0);
}
END_TEST

static Suite *saver_suite(void)
{
	Suite *s = suite_create("saver");
	TCase *tc = tcase_create("saver");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, what_is_saved_is_there_when_it_is_told);
	tcase_add_test(tc, newest_replaces_what_waits_and_all_are_told_in_order);
	tcase_add_test(tc, bytes_are_copied);
	tcase_add_test(tc, what_is_added_stands_behind_what_was_saved);
	tcase_add_test(tc, a_save_takes_the_place_of_what_waits_to_be_added);
	tcase_add_test(tc, nothing_is_added_to_a_file_of_another_life_or_behind_a_failure);
	tcase_add_test(tc, what_waits_to_be_added_at_the_end_is_written);
	tcase_add_test(tc, save_now_is_on_disk_at_once_and_nothing_older_follows);
	tcase_add_test(tc, save_now_twice_tells_everybody_once);
	tcase_add_test(tc, what_is_queued_at_the_end_is_written);
	tcase_add_test(tc, failure_is_told_and_the_next_save_starts_anew);
	tcase_add_test(tc, what_is_set_aside_is_out_of_the_way);
	tcase_add_loop_test(tc, name_is_never_a_path, 0, ELEMENTS(bad_names));
	tcase_add_test(tc, without_a_directory_everything_is_refused);
	tcase_add_test(tc, who_waits_goes_on_when_it_is_written_without_the_loop);
	tcase_add_test(tc, what_is_added_is_waited_for_too);
	tcase_add_test(tc, nothing_is_waited_for_that_is_unknown_or_told);
	tcase_add_test(tc, what_is_queued_is_waited_for_until_it_is_written);
	tcase_add_test(tc, a_save_that_replaces_another_lets_go_both);
	tcase_add_test(tc, a_write_that_fails_lets_go);
	tcase_add_test(tc, save_now_lets_go_what_it_replaced);
	tcase_add_test(tc, save_now_that_fails_lets_go_what_it_replaced);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(saver_suite)
