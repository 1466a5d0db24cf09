/* SPDX-License-Identifier: MIT */
#include "timer/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/parse_error.h"
#include "tests/lib/test_main.h"
#include "timer/zone.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

/* Sat 2026-11-21 09:30:00.5 UTC */
#define NOW (INT64_C(1795253400) * USEC_PER_SEC + 500000)

static struct zone *tokyo;

static const struct zone *find_zone(void *userdata, const char *name)
{
	ck_assert_ptr_eq(userdata, &tokyo);
	return strcmp(name, "Asia/Tokyo") == 0 ? tokyo : NULL;
}

static int parse(const char *text, const char *rule, usec_t *ret, struct parse_error *reterr)
{
	struct timestamp_context context = {
		.now = NOW, .find_zone = find_zone, .userdata = &tokyo };
	struct zone *zone;
	int r;

	ck_assert_int_eq(zone_from_posix("JST-9", &tokyo, NULL), 0);
	ck_assert_int_eq(zone_from_posix(rule, &zone, NULL), 0);
	context.local = zone;
	r = timestamp_parse(text, &context, ret, reterr);
	zone_free(zone);
	zone_free(tokyo);
	return r;
}

static const struct {
	const char *text, *rule;
	usec_t seconds, fraction;
} times[] = {
	{ "now", "UTC0", 1795253400, 500000 },
	{ "@5", "UTC0", 5, 0 },
	{ "@1.25", "UTC0", 1, 250000 },
	{ "@5min", "UTC0", 300, 0 },
	{ "+5min", "UTC0", 1795253700, 500000 },
	{ "-5", "UTC0", 1795253395, 500000 },
	{ "5min ago", "UTC0", 1795253100, 500000 },
	{ "1h left", "UTC0", 1795257000, 500000 },
	{ "today", "UTC0", 1795219200, 0 },
	{ "yesterday", "UTC0", 1795132800, 0 },
	{ "tomorrow", "UTC0", 1795305600, 0 },
	{ "today", "JST-9", 1795186800, 0 },
	{ "tomorrow UTC", "JST-9", 1795305600, 0 },
	{ "tomorrow Asia/Tokyo", "UTC0", 1795273200, 0 },
	{ "09:31", "UTC0", 1795253460, 0 },
	{ " 9:31:05", "UTC0", 1795253465, 0 },
	{ "9:31:05.25", "UTC0", 1795253465, 250000 },
	{ "9:31:05.9999995", "UTC0", 1795253466, 0 },
	{ "2026-11-21", "UTC0", 1795219200, 0 },
	{ "26-11-21 9:30", "UTC0", 1795253400, 0 },
	{ "2026-11-21 09:30:00", "UTC0", 1795253400, 0 },
	{ "2026-11-21\t 09:30:00 UTC", "JST-9", 1795253400, 0 },
	{ "2026-11-21 09:30:00 utc", "JST-9", 1795253400, 0 },
	{ "2026-11-21 18:30:00 Asia/Tokyo", "UTC0", 1795253400, 0 },
	{ "2026-11-21 18:30 jst", "JST-9", 1795253400, 0 },
	{ "Sat 2026-11-21", "UTC0", 1795219200, 0 },
	{ "saturday 9:30", "UTC0", 1795253400, 0 },
	{ "Nov 21 09:30:00", "UTC0", 1795253400, 0 },
	{ "november 21 09:30:00", "UTC0", 1795253400, 0 },
	{ "2026-02-31", "UTC0", 1772496000, 0 },
	{ "2026-11-21 09:29:60", "UTC0", 1795253400, 0 },
	{ "68-01-01", "UTC0", 3092601600, 0 },
	{ "9999-12-30 23:59:59", "UTC0", 253402214399, 0 },
	/* nights of a change: behind the gap as far as into it; the first pass; or as it says */
	{ "2026-03-29 02:30", BERLIN, 1774747800, 0 },
	{ "2026-10-25 02:30", BERLIN, 1792888200, 0 },
	{ "2026-10-25 02:30 CEST", BERLIN, 1792888200, 0 },
	{ "2026-10-25 02:30 cet", BERLIN, 1792891800, 0 },
	{ "2026-12-25 02:30 CEST", BERLIN, 1798158600, 0 },
	{ "2026-07-01 12:00 CET", BERLIN, 1782903600, 0 },
};

START_TEST(time_is_understood)
{
	struct parse_error error;
	usec_t when = 0;

	if (parse(times[_i].text, times[_i].rule, &when, &error) < 0)
		ck_abort_msg("'%s': column %u: %s", times[_i].text, error.column, error.sentence);
	ck_assert_msg(when == times[_i].seconds * USEC_PER_SEC + times[_i].fraction,
		      "'%s': @%" PRIu64 ".%06" PRIu64, times[_i].text, when / USEC_PER_SEC,
		      when % USEC_PER_SEC);
}
END_TEST

static const struct {
	const char *text;
	unsigned column;
} refused[] = {
	{ "", 1 }, { "foo", 1 }, { "now ", 1 }, { "12:00 ", 6 }, { "25:00", 3 }, { "12:60", 5 },
	{ "2026-13-01", 6 }, { "2026-11-21 9:30:00.", 20 }, { "2026-11-21 9:30.5", 16 },
	{ "Sun 2026-11-21", 1 }, { "69-01-01", 1 }, { "1969-12-31", 1 }, { "9999-12-31", 1 },
	{ "2026-11-21T09:30:00", 11 }, { "2026-11-21 09:30 Mars/Base", 17 },
	{ "2026-11-21 09:30 ../../etc/passwd", 17 }, { "@", 2 }, { "@x", 2 }, { "@5 UTC", 4 },
	{ "+", 2 }, { "+5 foo", 4 }, { "-100y", 1 }, { "+9000y", 1 }, { "+infinity", 1 },
	{ "foo ago", 1 }, { "now UTC", 1 },
};

START_TEST(bad_time_is_refused_where_it_is_bad)
{
	struct parse_error error = { .column = 0 };
	usec_t when;

	ck_assert_int_eq(parse(refused[_i].text, "UTC0", &when, &error), -EBADMSG);
	ck_assert_msg(error.column == refused[_i].column, "'%s': column %u, not %u: %s",
		      refused[_i].text, error.column, refused[_i].column, error.sentence);
	ck_assert_int_eq(parse(refused[_i].text, "UTC0", &when, NULL), -EBADMSG);
}
END_TEST

static const struct {
	usec_t when;
	const char *rule;
	bool has_fraction;
	const char *text;
} prints[] = {
	{ NOW, "UTC0", false, "Sat 2026-11-21 09:30:00 UTC" },
	{ NOW, "UTC0", true, "Sat 2026-11-21 09:30:00.500000 UTC" },
	{ NOW, BERLIN, false, "Sat 2026-11-21 10:30:00 CET" },
	{ NOW, "<+0545>-5:45", false, "Sat 2026-11-21 15:15:00 +0545" },
	{ 0, "UTC0", false, "-" },
	{ USEC_NEVER, "UTC0", false, "-" },
	{ INT64_C(253402214400) * USEC_PER_SEC, "UTC0", false, "--- XXXX-XX-XX XX:XX:XX" },
	{ 1, "EST5", false, "Wed 1969-12-31 19:00:00 EST" },
};

START_TEST(time_is_printed_as_by_systemd)
{
	struct zone *zone;
	char buf[TIMESTAMP_MAX];

	ck_assert_int_eq(zone_from_posix(prints[_i].rule, &zone, NULL), 0);
	timestamp_print(buf, sizeof(buf), prints[_i].when, zone, prints[_i].has_fraction);
	ck_assert_str_eq(buf, prints[_i].text);
	zone_free(zone);
}
END_TEST

/* What is printed is read back as the same moment, also in the second pass of a fold. */
START_TEST(printed_time_is_read_back)
{
	usec_t start = INT64_C(1792800000) * USEC_PER_SEC, when;
	struct zone *zone;
	char buf[TIMESTAMP_MAX];

	for (usec_t t = start; t < start + 3 * USEC_PER_DAY; t += 17 * USEC_PER_MINUTE + 1) {
		ck_assert_int_eq(zone_from_posix(BERLIN, &zone, NULL), 0);
		timestamp_print(buf, sizeof(buf), t, zone, true);
		zone_free(zone);
		ck_assert_int_eq(parse(buf, BERLIN, &when, NULL), 0);
		ck_assert_msg(when == t, "%s", buf);
	}
}
END_TEST

static Suite *timestamp_suite(void)
{
	Suite *suite = suite_create("timestamp");
	TCase *tcase = tcase_create("timestamp");

	tcase_add_loop_test(tcase, time_is_understood, 0, COUNT(times));
	tcase_add_loop_test(tcase, bad_time_is_refused_where_it_is_bad, 0, COUNT(refused));
	tcase_add_loop_test(tcase, time_is_printed_as_by_systemd, 0, COUNT(prints));
	tcase_add_test(tcase, printed_time_is_read_back);
	suite_add_tcase(suite, tcase);
	return suite;
}

TEST_MAIN(timestamp_suite)
