/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tests/lib/test_main.h"

static struct {
	int n, level;
	char unit[64], message[8192];
} seen;

static void sink(void *userdata, const struct log_line *line)
{
	ck_assert_ptr_eq(userdata, &seen);
	seen.n++;
	seen.level = line->level;
	snprintf(seen.unit, sizeof(seen.unit), "%s", line->unit ? line->unit : "-");
	snprintf(seen.message, sizeof(seen.message), "%s", line->message);
	errno = EIO; /* as a sink may */
}

static void setup(void)
{
	memset(&seen, 0, sizeof(seen));
	log_set_sink(sink, &seen);
	log_set_level(LOG_INFO);
}

START_TEST(a_line_reaches_the_sink_with_unit_and_errno_text)
{
	log_unit("a.service", LOG_ERR, -ENOENT, "cannot read %s", "x");
	ck_assert_int_eq(seen.n, 1);
	ck_assert_int_eq(seen.level, LOG_ERR);
	ck_assert_str_eq(seen.unit, "a.service");
	ck_assert_str_eq(seen.message, "cannot read x: No such file or directory");
	log_notice("running");
	ck_assert_str_eq(seen.message, "running");
	ck_assert_str_eq(seen.unit, "-");
	ck_assert_int_eq(seen.level, LOG_NOTICE);
}
END_TEST

START_TEST(lines_above_the_level_are_dropped)
{
	log_debug("no");
	ck_assert_int_eq(seen.n, 0);
	log_set_level(LOG_DEBUG);
	log_debug("yes");
	ck_assert_int_eq(seen.n, 1);
	log_set_level(LOG_ERR);
	log_warning(0, "no");
	log_write(&(struct log_line) {.level = LOG_INFO, .message = "no"});
	ck_assert_int_eq(seen.n, 1);
	ck_assert_int_eq(log_level(), LOG_ERR);
}
END_TEST

START_TEST(a_long_line_is_cut_between_characters)
{
	static char text[6001];

	for (size_t shift = 0; shift < 3; shift++) {
		size_t n;

		memset(text, 'x', shift);
		for (size_t i = shift; i + 3 < sizeof(text); i += 3)
			memcpy(text + i, "€", 3);
		log_info("%s", text);
		n = strlen(seen.message);
		ck_assert_uint_gt(n, 1000);
		ck_assert_uint_lt(n, 6000);
		ck_assert_str_eq(seen.message + n - strlen("…"), "…");
		ck_assert_uint_eq(text_utf8_valid(seen.message, n), n);
	}
}
END_TEST

START_TEST(errno_survives_logging)
{
	errno = EBUSY;
	log_info("x");
	ck_assert_int_eq(errno, EBUSY);
}
END_TEST

START_TEST(without_a_sink_nothing_happens)
{
	log_set_sink(NULL, NULL);
	log_error(-EIO, "lost");
	log_write(&(struct log_line) {.level = LOG_ERR, .message = "lost"});
	ck_assert_int_eq(seen.n, 0);
}
END_TEST

START_TEST(levels_have_names_both_ways)
{
	static const char *const names[] = {"error", "warning", "notice", "info", "debug"};

	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(log_level_from_string(names[i]), LOG_ERR + i);
		ck_assert_str_eq(log_level_to_string(LOG_ERR + i), names[i]);
	}
	ck_assert_str_eq(log_level_to_string(LOG_EMERG), "error");
	ck_assert_int_eq(log_level_from_string("loud"), -EINVAL);
	ck_assert_int_eq(log_level_from_string(""), -EINVAL);
}
END_TEST

static Suite *log_suite(void)
{
	Suite *s = suite_create("log");
	TCase *t = tcase_create("log");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_line_reaches_the_sink_with_unit_and_errno_text);
	tcase_add_test(t, lines_above_the_level_are_dropped);
	tcase_add_test(t, a_long_line_is_cut_between_characters);
	tcase_add_test(t, errno_survives_logging);
	tcase_add_test(t, without_a_sink_nothing_happens);
	tcase_add_test(t, levels_have_names_both_ways);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(log_suite)
