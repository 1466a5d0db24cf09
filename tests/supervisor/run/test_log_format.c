/* SPDX-License-Identifier: MIT */
#include "run/log_format.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "tests/lib/test_main.h"

static const uint8_t run_id[16] = { 0x1a, 0x2b, 0x3c, 0x4d, 0x5e };
#define NOW ((usec_t) 1782900000123456) /* 2026-07-01T10:00:00.123456Z */

static char *format(enum log_format f, const struct log_line *line, size_t *ret_n)
{
	char *bytes = NULL;
	size_t n = 0;

	ck_assert_int_eq(log_format(f, NOW, line, &bytes, &n), 0);
	if (ret_n)
		*ret_n = n;
	return bytes;
}

static const struct row {
	struct log_line line;
	const char *text, *prefixed;
} rows[] = {
	{ { .level = LOG_WARNING, .message = "hello" },
	  "2026-07-01T10:00:00.123456Z warning hello\n", "<4>hello\n" },
	{ { .level = LOG_INFO, .unit = "a.service", .message = "hello" },
	  "2026-07-01T10:00:00.123456Z info a.service: hello\n", "<6>a.service: hello\n" },
	{ { .level = LOG_ERR, .unit = "a.service", .run_id = run_id, .stream = "stderr", .message = "hello" },
	  "2026-07-01T10:00:00.123456Z error a.service[1a2b3c4d]: hello\n", "<3>a.service[1a2b3c4d]: hello\n" },
	/* what a service says is escaped, whole, and remains one line */
	{ { .level = LOG_INFO, .unit = "a.service", .run_id = run_id, .stream = "stdout",
	    .message = "a\nb\033]0;x\007\\\xff\xc2\x9b" },
	  "2026-07-01T10:00:00.123456Z info a.service[1a2b3c4d]: a\\nb\\x1b]0;x\\x07\\\\\\xff\\xc2\\x9b\n",
	  "<6>a.service[1a2b3c4d]: a\\nb\\x1b]0;x\\x07\\\\\\xff\\xc2\\x9b\n" },
	/* our own sentences keep the backslashes of what they quote */
	{ { .level = LOG_ERR, .message = "'a\\x1b' is wrong\n\033[2J" },
	  "2026-07-01T10:00:00.123456Z error 'a\\x1b' is wrong\\n\\x1b[2J\n", "<3>'a\\x1b' is wrong\\n\\x1b[2J\n" },
	{ { .level = LOG_DEBUG, .message = "grün" }, "2026-07-01T10:00:00.123456Z debug grün\n", "<7>grün\n" },
	{ { .level = LOG_NOTICE, .message = "" }, "2026-07-01T10:00:00.123456Z notice \n", "<5>\n" },
};

START_TEST(text_is_one_escaped_line)
{
	_cleanup_free_ char *text = format(LOG_TEXT, &rows[_i].line, NULL);
	_cleanup_free_ char *prefixed = format(LOG_PREFIX, &rows[_i].line, NULL);

	ck_assert_str_eq(text, rows[_i].text);
	ck_assert_str_eq(prefixed, rows[_i].prefixed);
}
END_TEST

START_TEST(an_event_has_its_fields)
{
	static const struct log_field field[] = { { "reason", "overlap" }, { "restart_in", "5" } };
	const struct log_line line = {
		.level = LOG_NOTICE, .message = "x", .event = "missed", .field = field, .n_fields = ELEMENTS(field),
	};
	_cleanup_free_ char *json = format(LOG_JSON, &line, NULL), *text = format(LOG_PREFIX, &line, NULL);
	_cleanup_free_ char *datagram = NULL;
	size_t n;

	ck_assert(strstr(json, "\"fields\":{\"reason\":\"overlap\",\"restart_in\":\"5\"},\"event\":\"missed\""));
	ck_assert_str_eq(text, "<5>x\n");
	datagram = format(LOG_JOURNAL, &line, &n);
	ck_assert(memmem(datagram, n, "\nSUPD_EVENT=missed\nSUPD_REASON=overlap\nSUPD_RESTART_IN=5\n", 52));
}
END_TEST

START_TEST(json_is_one_valid_line)
{
	size_t n;
	_cleanup_free_ char *bytes = format(LOG_JSON, &rows[_i].line, &n);
	const struct log_line *line = &rows[_i].line;
	json_t *object = json_loads(bytes, JSON_REJECT_DUPLICATES, NULL);
	const char *message;

	ck_assert_ptr_nonnull(object);
	ck_assert_ptr_eq(memchr(bytes, '\n', n), bytes + n - 1);
	ck_assert_uint_eq(text_utf8_valid(bytes, n), n);
	ck_assert_str_eq(json_string_value(json_object_get(object, "time")), "2026-07-01T10:00:00.123456Z");
	ck_assert_str_eq(json_string_value(json_object_get(object, "level")), log_level_to_string(line->level));
	ck_assert_int_eq(json_object_get(object, "unit") != NULL, line->unit != NULL);
	ck_assert_int_eq(json_object_get(object, "stream") != NULL, line->stream != NULL);
	if (line->run_id)
		ck_assert_str_eq(json_string_value(json_object_get(object, "run_id")), "1a2b3c4d5e0000000000000000000000");
	message = json_string_value(json_object_get(object, "message"));
	if (text_utf8_valid(line->message, strlen(line->message)) == strlen(line->message)) {
		ck_assert_str_eq(message, line->message);
		ck_assert_ptr_null(json_object_get(object, "escaped"));
	} else {
		ck_assert_ptr_nonnull(strstr(message, "\\xff"));
		ck_assert(json_is_true(json_object_get(object, "escaped")));
	}
	json_decref(object);
}
END_TEST

START_TEST(journal_fields_are_lines)
{
	const struct log_line line = { .level = LOG_WARNING, .unit = "a.service", .run_id = run_id, .stream = "stdout",
				       .message = "hello = you" };
	size_t n;
	_cleanup_free_ char *bytes = format(LOG_JOURNAL, &line, &n);
	static const char expected[] = "SYSLOG_IDENTIFIER=supd\nPRIORITY=4\nSUPD_UNIT=a.service\n"
				       "INVOCATION_ID=1a2b3c4d5e0000000000000000000000\nSUPD_STREAM=stdout\n"
				       "MESSAGE=hello = you\n";

	ck_assert_uint_eq(n, sizeof(expected) - 1);
	ck_assert_mem_eq(bytes, expected, n);
}
END_TEST

START_TEST(journal_files_a_line_as_its_service_says)
{
	const struct log_line line = { .level = LOG_INFO, .message = "m", .identifier = "me", .facility = LOG_CRON };
	size_t n;
	_cleanup_free_ char *bytes = format(LOG_JOURNAL, &line, &n);
	static const char expected[] = "SYSLOG_IDENTIFIER=me\nPRIORITY=6\nSYSLOG_FACILITY=9\nMESSAGE=m\n";

	ck_assert_uint_eq(n, sizeof(expected) - 1);
	ck_assert_mem_eq(bytes, expected, n);
}
END_TEST

START_TEST(journal_field_with_newlines_has_a_length)
{
	const struct log_line line = { .level = LOG_INFO, .message = "a\nPRIORITY=0" };
	size_t n;
	_cleanup_free_ char *bytes = format(LOG_JOURNAL, &line, &n);
	static const char expected[] = "SYSLOG_IDENTIFIER=supd\nPRIORITY=6\nMESSAGE\n\x0c\0\0\0\0\0\0\0a\nPRIORITY=0\n";

	ck_assert_uint_eq(n, sizeof(expected) - 1);
	ck_assert_mem_eq(bytes, expected, n);
}
END_TEST

START_TEST(years_far_away_have_a_time)
{
	static const struct {
		usec_t now;
		const char *time;
	} times[] = {
		{ 0, "1970-01-01T00:00:00.000000Z" },
		{ (usec_t) 2147483648 * USEC_PER_SEC, "2038-01-19T03:14:08.000000Z" },
		{ (usec_t) 253402300799 * USEC_PER_SEC + 999999, "9999-12-31T23:59:59.999999Z" },
	};

	for (size_t i = 0; i < ELEMENTS(times); i++) {
		_cleanup_free_ char *bytes = NULL;
		size_t n;

		ck_assert_int_eq(log_format(LOG_TEXT, times[i].now, &(struct log_line) { .message = "x" }, &bytes, &n), 0);
		ck_assert_msg(str_starts(bytes, times[i].time), "%s", bytes);
	}
}
END_TEST

static Suite *log_format_suite(void)
{
	Suite *s = suite_create("log_format");
	TCase *tc = tcase_create("log_format");

	tcase_add_test(tc, an_event_has_its_fields);
	tcase_add_loop_test(tc, text_is_one_escaped_line, 0, ELEMENTS(rows));
	tcase_add_loop_test(tc, json_is_one_valid_line, 0, ELEMENTS(rows));
	tcase_add_test(tc, journal_fields_are_lines);
	tcase_add_test(tc, journal_files_a_line_as_its_service_says);
	tcase_add_test(tc, journal_field_with_newlines_has_a_length);
	tcase_add_test(tc, years_far_away_have_a_time);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(log_format_suite)
