/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/oracle/expressions.h"
#include "base/parse_error.h"
#include "tests/lib/test_main.h"
#include "timer/calendar.h"
#include "timer/civil.h"
#include "timer/zone.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))

static struct calendar parse(const char *text)
{
	struct calendar calendar;
	struct parse_error error;

	if (calendar_parse(text, &calendar, &error) < 0)
		ck_abort_msg("'%s': column %u: %s", text, error.column, error.sentence);
	return calendar;
}

static usec_t at(const char *date)
{
	struct civil d = { .year = 0 };
	int year;
	unsigned fraction = 0;

	ck_assert_int_ge(sscanf(date, "%d-%d-%d %d:%d:%d.%6u", &year, &d.month, &d.day, &d.hour,
				&d.minute, &d.second, &fraction), 6);
	d.year = year;
	return (usec_t) seconds_from_civil(&d) * USEC_PER_SEC + fraction;
}

static void print_utc(char *buf, size_t size, usec_t when)
{
	struct civil d;

	if (when == USEC_NEVER) {
		(void) snprintf(buf, size, "never");
		return;
	}
	civil_from_seconds((int64_t) (when / USEC_PER_SEC), &d);
	(void) snprintf(buf, size, "%04" PRIi64 "-%02d-%02d %02d:%02d:%02d", d.year, d.month, d.day,
			d.hour, d.minute, d.second);
	if (when % USEC_PER_SEC > 0)
		(void) snprintf(buf + strlen(buf), size - strlen(buf), ".%06" PRIu64,
				when % USEC_PER_SEC);
}

static const struct {
	const char *text, *normal;
} forms[] = {
	{ "minutely", "*-*-* *:*:00" },
	{ "HOURLY", "*-*-* *:00:00" },
	{ "daily", "*-*-* 00:00:00" },
	{ "weekly", "Mon *-*-* 00:00:00" },
	{ "monthly", "*-*-01 00:00:00" },
	{ "quarterly", "*-01,04,07,10-01 00:00:00" },
	{ "semi-annually", "*-01,07-01 00:00:00" },
	{ "bi-annually", "*-01,07-01 00:00:00" },
	{ "anually", "*-01-01 00:00:00" },
	{ "hourly UTC", "*-*-* *:00:00 UTC" },
	{ "hourly Europe/Berlin", "*-*-* *:00:00 Europe/Berlin" },
	{ "Mon", "Mon *-*-* 00:00:00" },
	{ "Mon,", "Mon *-*-* 00:00:00" },
	{ "monday..FRI 9:0", "Mon..Fri *-*-* 09:00:00" },
	{ "Sat,Mon-Wed 9:0", "Mon..Wed,Sat *-*-* 09:00:00" },
	{ "Mon,Tue 9:0", "Mon,Tue *-*-* 09:00:00" },
	{ "Mon..Sun", "*-*-* 00:00:00" },
	{ "9-1", "*-09-01 00:00:00" },
	{ "26-9-1", "2026-09-01 00:00:00" },
	{ "70-9-1", "1970-09-01 00:00:00" },
	{ "99..01-1-1", "1999..2001-01-01 00:00:00" },
	{ "*~1", "*-*~01 00:00:00" },
	{ "*-2~*", "*-02-* 00:00:00" },
	{ "Mon *-05~07/1", "Mon *-05~07/1 00:00:00" },
	{ "*:0/15", "*-*-* *:00/15:00" },
	{ "*:0..59/7", "*-*-* *:00..56/7:00" },
	{ "5,3,5,1..2:0", "*-*-* 01..02,03,05:00:00" },
	{ "*:5..5", "*-*-* *:05:00" },
	{ "1..3/5:0", "*-*-* 01:00:00" },
	{ "*:*:*", "*-*-* *:*:*" },
	{ "*:*:5,0/1", "*-*-* *:*:*" },
	{ "*:0/1", "*-*-* *:00/1:00" },
	{ "*:*:0.5", "*-*-* *:*:00.500000" },
	{ "*:*:1..30/1.5", "*-*-* *:*:01..29.500000/1.500000" },
	{ "*:*:0.9999995", "*-*-* *:*:01" },
	{ "*:*:0.1..0.5/0.1", "*-*-* *:*:00.100000..00.500000/0.100000" },
	{ "@1234567890", "2009-02-13 23:31:30 UTC" },
	{ "Mon @0", "Mon 1970-01-01 00:00:00 UTC" },
	{ "@7258118399", "2199-12-31 23:59:59 UTC" },
	{ "1-1  1:1", "*-01-01 01:01:00" },
	{ "*-*~1,25", "*-*~01,25 00:00:00" },
};

START_TEST(normal_form_is_that_of_systemd)
{
	struct calendar calendar = parse(forms[_i].text);
	char buf[256];
	size_t n = calendar_print(&calendar, NULL, buf, sizeof(buf));

	ck_assert_str_eq(buf, forms[_i].normal);
	ck_assert_uint_eq(n, strlen(forms[_i].normal));
}
END_TEST

START_TEST(print_says_what_it_needs_and_writes_no_more)
{
	struct calendar calendar = parse("Mon..Fri *-*-* 09:00:00 Europe/Berlin");
	const char *whole = "Mon..Fri *-*-* 09:00:00 Europe/Berlin";
	char buf[64];

	for (size_t size = 1; size < sizeof(buf); size++) {
		memset(buf, 'x', sizeof(buf));
		ck_assert_uint_eq(calendar_print(&calendar, NULL, buf, size), strlen(whole));
		ck_assert_uint_eq(strlen(buf), size <= strlen(whole) ? size - 1 : strlen(whole));
		ck_assert_int_eq(strncmp(buf, whole, strlen(buf)), 0);
	}
	ck_assert_uint_eq(calendar_print(&calendar, NULL, NULL, 0), strlen(whole));
}
END_TEST

static const struct {
	const char *text;
	unsigned column;
	const char *says;
} refused[] = {
	{ "", 1, "empty" },
	{ " UTC", 1, "" },
	{ " 1:00", 1, "number" },
	{ "foo", 1, "'foo' is neither a weekday nor a name" },
	{ "dayly", 1, "did you mean 'daily'?" },
	{ "Mnday 9:00", 1, "did you mean 'Monday'?" },
	{ "25:00", 1, "hour 25 is out of range (0 to 23)" },
	{ "1:60", 3, "minute 60 is out of range" },
	{ "1:0:60", 5, "second 60 is out of range" },
	{ "1:0:59.9999995", 5, "second 60" },
	{ "13-1", 1, "month 13" },
	{ "1-32", 3, "day 32" },
	{ "1~29", 3, "day 29" },
	{ "*-*~1,26", 7, "day 26" },
	{ "1969-1-1", 1, "year 1969" },
	{ "2200-1-1", 1, "year 2200" },
	{ "9,25:00", 3, "hour 25" },
	{ "5..3:0", 1, "backwards" },
	{ "*:0/0", 5, "step" },
	{ "*:50/15", 3, "step" },
	{ "*:*:5..5", 5, "step" },
	{ "*:*:0.5..1", 5, "step" },
	{ "Sun..Mon", 6, "Sunday" },
	{ "Mon,,Tue", 5, "weekday" },
	{ "Mon..", 6, "weekday" },
	{ "Mon..Tue..Wed", 9, "" },
	{ "Mond", 4, "weekday" },
	{ "1:0x", 4, "'x'" },
	{ "1", 2, "" },
	{ "*", 2, "" },
	{ "1:0 ", 4, "" },
	{ "*/2:0", 2, "" },
	{ "2026~1~1", 7, "" },
	{ "99999999999999999999:0", 1, "too large" },
	{ "@", 2, "seconds" },
	{ "@1.5", 3, "end" },
	{ "@-1", 1, "1970" },
	{ "@7258118400", 1, "2199" },
	{ "1:0 UTC UTC", 4, "" },
	{ "1:0 /etc/passwd", 4, "" },
};

START_TEST(what_systemd_refuses_is_refused_with_a_column)
{
	struct parse_error error = { .column = 0 };
	struct calendar calendar;

	ck_assert_int_eq(calendar_parse(refused[_i].text, &calendar, &error), -EBADMSG);
	ck_assert_msg(error.column == refused[_i].column, "'%s': column %u, not %u",
		      refused[_i].text, error.column, refused[_i].column);
	ck_assert_msg(strstr(error.sentence, refused[_i].says) != NULL, "'%s': %s", refused[_i].text,
		      error.sentence);
	ck_assert_int_eq(calendar_parse(refused[_i].text, &calendar, NULL), -EBADMSG);
}
END_TEST

static const struct {
	const char *text, *after, *next;
} elapses[] = {
	{ "hourly", "2026-11-21 09:00:00", "2026-11-21 10:00:00" },
	{ "hourly", "2026-12-31 23:00:00", "2027-01-01 00:00:00" },
	{ "*:0/15", "2026-11-21 23:45:00", "2026-11-22 00:00:00" },
	{ "*:3/16", "2026-11-21 23:52:00", "2026-11-22 00:03:00" },
	{ "Mon..Fri 9:0", "2026-11-20 09:00:00", "2026-11-23 09:00:00" },
	{ "*-*~1", "2026-11-21 00:00:00", "2026-11-30 00:00:00" },
	{ "*-02~1", "2027-03-01 00:00:00", "2028-02-29 00:00:00" },
	{ "Mon *-*-1..7", "2026-11-21 00:00:00", "2026-12-07 00:00:00" },
	{ "Mon *-05~07/1", "2026-01-01 00:00:00", "2026-05-25 00:00:00" },
	{ "*-02-29", "2096-02-29 00:00:00", "2104-02-29 00:00:00" },
	{ "Sat *-02-29", "2048-03-01 00:00:00", "2076-02-29 00:00:00" },
	{ "Mon *-02-29", "2096-03-01 00:00:00", "2112-02-29 00:00:00" },
	{ "Fri *-*-13", "2026-11-21 00:00:00", "2027-08-13 00:00:00" },
	{ "*:*:0/0.1", "2026-11-21 09:00:59.900000", "2026-11-21 09:01:00" },
	{ "*:*:0/0.1", "2026-11-21 09:00:59.899999", "2026-11-21 09:00:59.900000" },
	{ "*:*:59.999999", "2026-11-21 09:00:00", "2026-11-21 09:00:59.999999" },
	{ "*:*:0.3/7.5,1.1", "2026-11-21 09:00:00.300000", "2026-11-21 09:00:01.100000" },
	{ "*-02-30", "2026-11-21 00:00:00", "never" },
	{ "*-04,06,09,11-31", "2026-11-21 00:00:00", "never" },
	{ "Sun 2026-11-23", "2000-01-01 00:00:00", "never" },
	{ "2020-1-1", "2026-11-21 00:00:00", "never" },
	{ "*-*-*", "2199-12-30 00:00:00", "2199-12-31 00:00:00" },
	{ "*-*-*", "2199-12-31 00:00:00", "never" },
	{ "Wed", "2199-12-26 00:00:00", "never" },
	{ "Tue", "2199-12-25 00:00:00", "2199-12-31 00:00:00" },
	{ "1970-1-1", "1970-01-01 00:00:00", "never" },
	{ "@1795253400", "2026-11-21 00:00:00", "2026-11-21 09:30:00" },
	/* more fractions than are kept: read from the text */
	{ "*:*:0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,30/0.001", "2026-11-21 09:00:00.850000",
	  "2026-11-21 09:00:00.900000" },
	{ "*:*:0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,30/0.001", "2026-11-21 09:00:59.999000",
	  "2026-11-21 09:01:00.100000" },
};

START_TEST(next_elapse_is_strictly_after)
{
	struct calendar calendar = parse(elapses[_i].text);
	enum calendar_note note = CALENDAR_PLAIN;
	char buf[64];

	print_utc(buf, sizeof(buf), calendar_next(&calendar, NULL, at(elapses[_i].after), &note));
	ck_assert_str_eq(buf, elapses[_i].next);
	ck_assert_int_eq(note, CALENDAR_PLAIN);
}
END_TEST

START_TEST(impossible_date_is_known_once_parsed)
{
	static const char *const texts[] = { "*-02-30", "*-04-31", "2027-02-29", "*-02-30..31",
					     "Mon 2026-11-22", "Sun 2100-02~1" };
	static const char *const possible[] = { "*-02-29", "Sat *-02-29", "2028-02-29", "*-*-31",
						"Mon 2026-11-23", "1970-01-01", "Sun *-02~28" };

	for (int i = 0; i < COUNT(texts); i++) {
		struct calendar calendar = parse(texts[i]);

		/* 2100 has a February 28th, a Sunday */
		ck_assert_msg(calendar_is_possible(&calendar) == (i == 5), "%s", texts[i]);
	}
	for (int i = 0; i < COUNT(possible); i++) {
		struct calendar calendar = parse(possible[i]);

		ck_assert_msg(calendar_is_possible(&calendar), "%s", possible[i]);
	}
}
END_TEST

/* The bound, seen from outside: over all years, each step from one elapse leads to the next. */
START_TEST(rare_date_is_found_in_every_year_it_has)
{
	struct calendar calendar = parse("Sat *-02-29 12:00");
	static const int years[] = { 1992, 2020, 2048, 2076, 2116, 2144, 2172 };
	usec_t when = 0;

	for (int i = 0; i < COUNT(years); i++) {
		struct civil date;

		when = calendar_next(&calendar, NULL, when, NULL);
		civil_from_seconds((int64_t) (when / USEC_PER_SEC), &date);
		ck_assert_int_eq(date.year, years[i]);
		ck_assert_int_eq(date.day, 29);
		ck_assert_int_eq(date.hour, 12);
	}
	ck_assert_uint_eq(calendar_next(&calendar, NULL, when, NULL), USEC_NEVER);
	ck_assert_uint_eq(calendar_next(&calendar, NULL, USEC_NEVER, NULL), USEC_NEVER);
	ck_assert_uint_eq(calendar_next(&calendar, NULL, USEC_NEVER - 1, NULL), USEC_NEVER);
}
END_TEST

static usec_t random_moment(struct chance *chance)
{
	return chance_next(chance) % ((usec_t) 7258118400 * USEC_PER_SEC);
}

/* next(t) > t; what lies between is empty: asked from any moment in between the answer is the same;
 * asked from one microsecond before the elapse, too. */
static void check_properties(struct chance *chance, const struct calendar *calendar,
			     const char *text, const struct zone *zone)
{
	usec_t t = random_moment(chance), last;

	for (int i = 0; i < 8; i++) {
		usec_t next = calendar_next(calendar, zone, t, NULL), between;

		if (next == USEC_NEVER) {
			ck_assert_uint_eq(calendar_count(calendar, zone, t, USEC_NEVER), 0);
			return;
		}
		between = t + chance_next(chance) % (next - t);
		if (next <= t || calendar_next(calendar, zone, between, NULL) != next ||
		    calendar_next(calendar, zone, next - 1, NULL) != next)
			ck_abort_msg("'%s' after %" PRIu64 ": %" PRIu64, text, t, next);
		last = calendar_last(calendar, zone, t, next);
		if (last != next || calendar_count(calendar, zone, t, next) != 1 ||
		    calendar_count(calendar, zone, t, next - 1) != 0 ||
		    calendar_last(calendar, zone, t, next - 1) != USEC_NEVER)
			ck_abort_msg("'%s' after %" PRIu64 ": counted %" PRIu64, text, t,
				     calendar_count(calendar, zone, t, next));
		t = next;
	}
}

START_TEST(properties_hold_for_random_expressions)
{
	static const char *const rules[] = { "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3",
					     "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
					     "IST-1GMT0,M10.5.0,M3.5.0/1", "EST5EDT,M3.2.0,M11.1.0" };
	struct chance chance = { 4711 + (uint64_t) _i };
	struct zone *zone;
	int valid = 0;

	ck_assert_int_eq(zone_from_posix(rules[_i], &zone, NULL), 0);
	for (int i = 0; i < 6000; i++) {
		struct calendar calendar, again;
		char text[512], normal[4096], twice[4096];

		expression_calendar(&chance, text, sizeof(text));
		if (calendar_parse(text, &calendar, NULL) < 0)
			continue;
		valid++;
		(void) calendar_print(&calendar, zone, normal, sizeof(normal));
		if (calendar_parse(normal, &again, NULL) < 0)
			ck_abort_msg("'%s': '%s' does not parse", text, normal);
		(void) calendar_print(&again, zone, twice, sizeof(twice));
		ck_assert_str_eq(normal, twice);
		ck_assert_int_eq(memcmp(again.years, calendar.years, sizeof(again.years)), 0);
		ck_assert_uint_eq(again.days, calendar.days);
		ck_assert_uint_eq(again.hours, calendar.hours);
		ck_assert_uint_eq(again.minutes, calendar.minutes);
		ck_assert_uint_eq(again.seconds, calendar.seconds);
		check_properties(&chance, &calendar, text, zone);
	}
	ck_assert_int_gt(valid, 2000);
	zone_free(zone);
}
END_TEST

START_TEST(counts_are_those_of_stepping)
{
	static const char *const texts[] = {
		"hourly", "*:0/7", "Mon..Fri 9:0,30", "*-*~1 2:30", "Fri *-*-13", "*:*:0/0.25",
		"*:*:0/0.25,0/0.1", "2:0/15", "*-02-29", "*-*-* 1..3:*:30",
	};
	struct chance chance = { 99 };
	struct zone *zone;

	ck_assert_int_eq(zone_from_posix("CET-1CEST,M3.5.0,M10.5.0/3", &zone, NULL), 0);
	for (int i = 0; i < COUNT(texts); i++) {
		struct calendar calendar = parse(texts[i]);

		for (int k = 0; k < 20; k++) {
			usec_t from = random_moment(&chance), t = from, last = USEC_NEVER;
			uint64_t wanted = 1 + chance_below(&chance, 500), count = 0;

			while (count < wanted && (t = calendar_next(&calendar, zone, t, NULL)) != USEC_NEVER) {
				last = t;
				count++;
			}
			if (last == USEC_NEVER)
				continue;
			ck_assert_uint_eq(calendar_count(&calendar, zone, from, last), count);
			ck_assert_uint_eq(calendar_count(&calendar, zone, from, last - 1), count - 1);
			ck_assert_uint_eq(calendar_last(&calendar, zone, from, last), last);
			ck_assert_uint_eq(calendar_last(&calendar, zone, from, last + 1), last);
		}
	}
	zone_free(zone);
}
END_TEST

START_TEST(long_downtime_is_counted_without_stepping)
{
	struct calendar calendar = parse("*:*:*");
	const usec_t year = 365 * USEC_PER_DAY, from = at("2026-01-01 00:00:00");

	ck_assert_uint_eq(calendar_count(&calendar, NULL, from, from + year), 365 * 86400);
	ck_assert_uint_eq(calendar_count(&calendar, NULL, from, from + year - 1), 365 * 86400 - 1);
	ck_assert_uint_eq(calendar_count(&calendar, NULL, from, from), 0);
	ck_assert_uint_eq(calendar_count(&calendar, NULL, from, from - 1), 0);
	ck_assert_uint_eq(calendar_last(&calendar, NULL, from, from + year + 17), from + year);
}
END_TEST

static const struct {
	const char *rule, *text, *after;
	struct { const char *when; enum calendar_note note; } next[4];
} nights[] = {
	/* Berlin: the gap of March 29th, 2026 ends at 01:00 UTC */
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2:30", "2026-03-28 12:00:00",
	  { { "2026-03-29 01:00:00", CALENDAR_GAP }, { "2026-03-30 00:30:00", CALENDAR_PLAIN } } },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2:0/15", "2026-03-28 23:00:00",
	  { { "2026-03-29 01:00:00", CALENDAR_GAP }, { "2026-03-30 00:00:00", CALENDAR_PLAIN } } },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2,3:00", "2026-03-28 12:00:00",
	  { { "2026-03-29 01:00:00", CALENDAR_GAP }, { "2026-03-30 00:00:00", CALENDAR_PLAIN } } },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "*:30", "2026-03-29 00:00:00",
	  { { "2026-03-29 00:30:00", CALENDAR_PLAIN }, { "2026-03-29 01:30:00", CALENDAR_PLAIN } } },
	/* and the fold of October 25th is from 00:00 to 02:00 UTC */
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2:30", "2026-10-24 12:00:00",
	  { { "2026-10-25 00:30:00", CALENDAR_FOLD }, { "2026-10-26 01:30:00", CALENDAR_PLAIN } } },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "*:30", "2026-10-25 00:00:00",
	  { { "2026-10-25 00:30:00", CALENDAR_FOLD }, { "2026-10-25 01:30:00", CALENDAR_FOLD },
	    { "2026-10-25 02:30:00", CALENDAR_PLAIN } } },
	/* all 24 hours, however they are written, run on real time; 23 of them do not */
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "0..11,12..23:30", "2026-10-25 00:00:00",
	  { { "2026-10-25 00:30:00", CALENDAR_FOLD }, { "2026-10-25 01:30:00", CALENDAR_FOLD } } },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "0..22:30", "2026-10-25 00:00:00",
	  { { "2026-10-25 00:30:00", CALENDAR_FOLD }, { "2026-10-25 02:30:00", CALENDAR_PLAIN } } },
	/* Havana's gap and fold are at midnight: 2026-03-08, 2026-11-01 */
	{ "CST5CDT,M3.2.0/0,M11.1.0/1", "0:30", "2026-03-07 12:00:00",
	  { { "2026-03-08 05:00:00", CALENDAR_GAP }, { "2026-03-09 04:30:00", CALENDAR_PLAIN } } },
	{ "CST5CDT,M3.2.0/0,M11.1.0/1", "0:30", "2026-10-31 12:00:00",
	  { { "2026-11-01 04:30:00", CALENDAR_FOLD }, { "2026-11-02 05:30:00", CALENDAR_PLAIN } } },
	/* Lord Howe: half an hour, October 4th, 2026 from 02:00 */
	{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2:15", "2026-10-03 00:00:00",
	  { { "2026-10-03 15:30:00", CALENDAR_GAP }, { "2026-10-04 15:15:00", CALENDAR_PLAIN } } },
	{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2:45", "2026-10-03 00:00:00",
	  { { "2026-10-03 15:45:00", CALENDAR_PLAIN } } },
	/* Dublin: winter is the "DST", and goes back */
	{ "IST-1GMT0,M10.5.0,M3.5.0/1", "1:30", "2026-03-28 12:00:00",
	  { { "2026-03-29 01:00:00", CALENDAR_GAP }, { "2026-03-30 00:30:00", CALENDAR_PLAIN } } },
	{ "IST-1GMT0,M10.5.0,M3.5.0/1", "1:30", "2026-10-24 12:00:00",
	  { { "2026-10-25 00:30:00", CALENDAR_FOLD }, { "2026-10-26 01:30:00", CALENDAR_PLAIN } } },
	/* the zone of the expression is not the local one */
	{ "CET-1CEST,M3.5.0,M10.5.0/3", "2:30 UTC", "2026-03-29 00:00:00",
	  { { "2026-03-29 02:30:00", CALENDAR_PLAIN } } },
};

START_TEST(night_of_a_change_follows_the_rule)
{
	struct calendar calendar = parse(nights[_i].text);
	usec_t t = at(nights[_i].after);
	struct zone *zone;

	ck_assert_int_eq(zone_from_posix(nights[_i].rule, &zone, NULL), 0);
	for (int i = 0; i < 4 && nights[_i].next[i].when; i++) {
		enum calendar_note note;
		char buf[64];

		t = calendar_next(&calendar, zone, t, &note);
		print_utc(buf, sizeof(buf), t);
		ck_assert_str_eq(buf, nights[_i].next[i].when);
		ck_assert_int_eq(note, nights[_i].next[i].note);
	}
	zone_free(zone);
}
END_TEST

START_TEST(abbreviation_binds_to_the_time_it_names)
{
	struct calendar calendar = parse("2:30 cet");
	struct zone *zone;
	char buf[64];

	ck_assert_int_eq(zone_from_posix("CET-1CEST,M3.5.0,M10.5.0/3", &zone, NULL), 0);
	ck_assert_int_eq(calendar.zone_kind, CALENDAR_ZONE_WORD);
	ck_assert_str_eq(calendar.zone_word, "cet");
	calendar.zone_kind = CALENDAR_ZONE_STD;
	print_utc(buf, sizeof(buf), calendar_next(&calendar, zone, at("2026-03-29 00:00:00"), NULL));
	ck_assert_str_eq(buf, "2026-10-25 01:30:00");
	(void) calendar_print(&calendar, zone, buf, sizeof(buf));
	ck_assert_str_eq(buf, "*-*-* 02:30:00 CET");
	zone_free(zone);
}
END_TEST

static Suite *calendar_suite(void)
{
	Suite *suite = suite_create("calendar");
	TCase *tcase = tcase_create("calendar");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, normal_form_is_that_of_systemd, 0, COUNT(forms));
	tcase_add_test(tcase, print_says_what_it_needs_and_writes_no_more);
	tcase_add_loop_test(tcase, what_systemd_refuses_is_refused_with_a_column, 0, COUNT(refused));
	tcase_add_loop_test(tcase, next_elapse_is_strictly_after, 0, COUNT(elapses));
	tcase_add_test(tcase, impossible_date_is_known_once_parsed);
	tcase_add_test(tcase, rare_date_is_found_in_every_year_it_has);
	tcase_add_loop_test(tcase, properties_hold_for_random_expressions, 0, 5);
	tcase_add_test(tcase, counts_are_those_of_stepping);
	tcase_add_test(tcase, long_downtime_is_counted_without_stepping);
	tcase_add_loop_test(tcase, night_of_a_change_follows_the_rule, 0, COUNT(nights));
	tcase_add_test(tcase, abbreviation_binds_to_the_time_it_names);
	suite_add_tcase(suite, tcase);
	return suite;
}

TEST_MAIN(calendar_suite)
