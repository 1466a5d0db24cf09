/* SPDX-License-Identifier: MIT */

/* Every zone of the database against libc's localtime_r(): at every change, one second before and
 * after, and between them often enough that no change is overlooked. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/lib/test_main.h"
#include "timer/civil.h"
#include "timer/zone.h"
#include "tests/timer/zone_files.h"

#define FROM (-(INT64_C(1) << 31) - 86400 * 365 * 60) /* 1841, before the first zones */
#define UNTIL INT64_C(7289654400)                     /* 2201 */

static void enter_zone(const char *tz)
{
	setenv("TZ", tz, 1);
	tzset();
}

static void compare_at(const struct zone *zone, const char *name, int64_t when)
{
	struct zone_era era;
	struct civil date;
	struct tm tm;
	time_t t = (time_t) when;

	if (!localtime_r(&t, &tm))
		ck_abort_msg("%s @%" PRIi64 ": libc knows no date", name, when);
	zone_era_at(zone, when, &era);
	zone_to_civil(zone, when, &date);
	if (era.start > when || when >= era.end)
		ck_abort_msg("%s @%" PRIi64 ": not in its era", name, when);
	if (era.offset != tm.tm_gmtoff || era.is_dst != (tm.tm_isdst > 0) ||
	    strcmp(era.abbreviation, tm.tm_zone) != 0)
		ck_abort_msg("%s @%" PRIi64 ": %d %d %s, libc %ld %d %s", name, when,
			     (int) era.offset, era.is_dst, era.abbreviation, tm.tm_gmtoff,
			     tm.tm_isdst, tm.tm_zone);
	if (date.year != tm.tm_year + 1900 || date.month != tm.tm_mon + 1 ||
	    date.day != tm.tm_mday || date.hour != tm.tm_hour || date.minute != tm.tm_min ||
	    date.second != tm.tm_sec || date.weekday != (tm.tm_wday + 6) % 7)
		ck_abort_msg("%s @%" PRIi64 ": another date", name, when);
}

/* What is shown comes back as the moment, or as an earlier one that shows the same. */
static void compare_back(const struct zone *zone, const char *name, int64_t when)
{
	struct zone_era era, before;
	enum zone_fit fit;
	int64_t back;

	zone_era_at(zone, when, &era);
	fit = zone_from_local(zone, when + era.offset, &back);
	zone_era_at(zone, back, &before);
	if (fit == ZONE_GAP || back > when || (fit == ZONE_ONCE && back != when) ||
	    back + before.offset != when + era.offset)
		ck_abort_msg("%s @%" PRIi64 ": comes back as @%" PRIi64, name, when, back);
}

static void go_through(const struct zone *zone, const char *name, int64_t stride)
{
	struct zone_era era;

	for (int64_t at = FROM; at < UNTIL; at = era.end) {
		zone_era_at(zone, at, &era);
		for (int64_t d = -1; d <= 1; d++) {
			compare_at(zone, name, at + d);
			compare_back(zone, name, at + d);
		}
		if (era.end < UNTIL && stride < 86400)
			compare_at(zone, name, era.end - 1800);
	}
	for (int64_t at = FROM; at < UNTIL; at += stride)
		compare_at(zone, name, at);
}

START_TEST(every_zone_shows_what_libc_shows)
{
	int64_t stride = test_is_full() ? 86400 / 2 : 86400 * 20;
	struct zone_files files;

	zone_files_load(&files);
	for (size_t i = 0; i < files.count; i++) {
		char tz[256];

		(void) snprintf(tz, sizeof(tz), ":%s", files.file[i].name);
		enter_zone(tz);
		/* sampled, every zone starts elsewhere */
		go_through(files.file[i].zone, files.file[i].name, stride + (int64_t) i * 61);
	}
	zone_files_done(&files);
}
END_TEST

START_TEST(latest_names_are_those_of_libc)
{
	struct zone_files files;

	zone_files_load(&files);
	for (size_t i = 0; i < files.count; i++) {
		const struct zone *zone = files.file[i].zone;
		char tz[256];

		(void) snprintf(tz, sizeof(tz), ":%s", files.file[i].name);
		enter_zone(tz);
		ck_assert_msg(strcmp(zone_name_of(zone, false), tzname[0]) == 0,
			      "%s: '%s', libc '%s'", files.file[i].name, zone_name_of(zone, false),
			      tzname[0]);
		/* without DST libc repeats the name, or knows one of long ago */
		if (strcmp(tzname[1], tzname[0]) != 0)
			ck_assert_msg(strcmp(zone_name_of(zone, true), tzname[1]) == 0,
				      "%s: DST '%s', libc '%s'", files.file[i].name,
				      zone_name_of(zone, true), tzname[1]);
	}
	zone_files_done(&files);
}
END_TEST

/* What occurs in footers, and what only people write. */
static const char *const rules[] = {
	"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<-03>3",
	"AEST-10AEDT,M10.1.0,M4.1.0/3", "IST-1GMT0,M10.5.0,M3.5.0/1", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
	"IST-2IDT,M3.4.4/26,M10.5.0", "EET-2EEST,M3.4.4/50,M10.4.4/50", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
	"XXX3YYY,J60/0,J300", "XXX-5:30:15YYY-7,59/1:30,299/23:59:59",
	"EET-2EEST,M4.5.5/0,M10.5.4/24", "CST5CDT,M3.2.0/0,M11.1.0/1",
};

#define RULE_COUNT ((int) (sizeof(rules) / sizeof(rules[0])))

START_TEST(rule_shows_what_libc_shows)
{
	const char *rule = rules[_i];
	struct zone *zone;

	ck_assert_int_eq(zone_from_posix(rule, &zone, NULL), 0);
	enter_zone(rule);
	for (int64_t at = 0; at < UNTIL; at += test_is_full() ? 1801 : 36007)
		compare_at(zone, rule, at);
	/* behind the years that are written out */
	for (int64_t at = INT64_C(9400000000); at < INT64_C(9800000000); at += 20011)
		compare_at(zone, rule, at);
	zone_free(zone);
}
END_TEST

static Suite *zone_libc_suite(void)
{
	Suite *suite = suite_create("zone_libc");
	TCase *zones = tcase_create("zones"), *posix = tcase_create("rules");

	zone_files_or_skip();
	tcase_set_timeout(zones, 600);
	tcase_set_timeout(posix, 600);
	tcase_add_test(zones, every_zone_shows_what_libc_shows);
	tcase_add_test(zones, latest_names_are_those_of_libc);
	tcase_add_loop_test(posix, rule_shows_what_libc_shows, 0,
			    RULE_COUNT);
	suite_add_tcase(suite, zones);
	suite_add_tcase(suite, posix);
	return suite;
}

TEST_MAIN(zone_libc_suite)
