/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/parse_error.h"
#include "tests/lib/test_main.h"
#include "timer/civil.h"
#include "timer/zone.h"

static struct zone *zone_of(const char *rule)
{
	struct parse_error error;
	struct zone *zone;

	if (zone_from_posix(rule, &zone, &error) < 0)
		ck_abort_msg("%s: %s", rule, error.sentence);
	return zone;
}

static int64_t utc(int64_t year, int month, int day, int hour, int minute)
{
	struct civil date = { year, month, day, hour, minute, 0, 0 };

	return seconds_from_civil(&date);
}

START_TEST(date_and_its_number_are_each_others_inverse)
{
	int64_t days = days_from_date(-800, 1, 1), end = days_from_date(3200, 1, 1);
	int64_t year = -800;
	int month = 1, day = 1, weekday = weekday_from_days(days);

	for (; days < end; days++) {
		int64_t y;
		int m, d;

		date_from_days(days, &y, &m, &d);
		if (y != year || m != month || d != day || days_from_date(y, m, d) != days ||
		    weekday_from_days(days) != weekday)
			ck_abort_msg("day %" PRIi64 " is %" PRIi64 "-%d-%d", days, y, m, d);
		weekday = (weekday + 1) % 7;
		if (++day <= month_length(year, month))
			continue;
		day = 1;
		if (++month <= 12)
			continue;
		month = 1;
		year++;
	}
}
END_TEST

START_TEST(epoch_is_a_thursday)
{
	struct civil date;

	civil_from_seconds(0, &date);
	ck_assert_int_eq(date.year, 1970);
	ck_assert_int_eq(date.weekday, 3);
	civil_from_seconds(-1, &date);
	ck_assert_int_eq(date.year, 1969);
	ck_assert_int_eq(date.second, 59);
	ck_assert_int_eq(date.weekday, 2);
}
END_TEST

static const struct {
	const char *rule;
	int64_t when;
	int32_t offset;
	const char *name;
} moments[] = {
	{ "UTC0", 0, 0, "UTC" },
	{ "<+0545>-5:45", 0, 20700, "+0545" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", 1774745999, 3600, "CET" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", 1774746000, 7200, "CEST" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", 1792889999, 7200, "CEST" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", 1792890000, 3600, "CET" },
	/* Dublin: standard time is summer's, "DST" is winter and goes back */
	{ "IST-1GMT0,M10.5.0,M3.5.0/1", 1767225600, 0, "GMT" },
	{ "IST-1GMT0,M10.5.0,M3.5.0/1", 1782864000, 3600, "IST" },
	/* all year, as RFC 9636 has it */
	{ "XXX3EDT4,0/0,J365/23", 1767225599, -14400, "EDT" },
	{ "XXX3EDT4,0/0,J365/23", 1767225600, -14400, "EDT" },
	{ "XXX3EDT4,0/0,J365/23", 1782864000, -14400, "EDT" },
	/* DST that ends when it starts is none */
	{ "AAA0BBB,J100/0,J100/1", 1775779200, 0, "AAA" },
	/* dates of the US where a rule names none */
	{ "YST5YDT", 1772953199, -18000, "YST" },
	{ "YST5YDT", 1772953200, -14400, "YDT" },
	/* long behind the years that are written out: 3026-07-01, 3026-12-01 */
	{ "CET-1CEST,M3.5.0,M10.5.0/3", 33339772800, 7200, "CEST" },
	{ "CET-1CEST,M3.5.0,M10.5.0/3", 33352992000, 3600, "CET" },
	/* and before: 1800-01-01 */
	{ "<-03>3", -5364662400, -10800, "-03" },
};

START_TEST(rule_says_what_holds)
{
	struct zone *zone = zone_of(moments[_i].rule);
	struct zone_era era;

	zone_era_at(zone, moments[_i].when, &era);
	ck_assert_int_eq(era.offset, moments[_i].offset);
	ck_assert_str_eq(era.abbreviation, moments[_i].name);
	ck_assert(era.start <= moments[_i].when && moments[_i].when < era.end);
	zone_free(zone);
}
END_TEST

static const struct {
	const char *rule;
	unsigned column;
} bad_rules[] = {
	{ "", 1 }, { "C", 2 }, { "CE1", 3 }, { "CET", 4 }, { "CET-", 5 }, { "CET-25", 5 },
	{ "CET-1:60", 7 }, { "CET-1CEST,", 11 }, { "CET-1CEST,M3.5.0", 17 },
	{ "CET-1CEST,M13.5.0,M10.5.0", 12 }, { "CET-1CEST,M0.5.0,M10.5.0", 12 },
	{ "CET-1CEST,M3.6.0,M10.5.0", 14 }, { "CET-1CEST,M3.5.7,M10.5.0", 16 },
	{ "CET-1CEST,M3.5.0,M10.5.0/168", 26 }, { "CET-1CEST,J0,J1", 12 }, { "CET-1CEST,366,1", 11 },
	{ "<CET-1", 7 }, { "CET-1 ", 6 }, { "CET-1CEST,M3.5.0,M10.5.0x", 25 },
	{ "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJ1", 37 }, { "99999999999999", 1 },
};

START_TEST(bad_rule_is_refused_where_it_is_bad)
{
	struct parse_error error;
	struct zone *zone;

	ck_assert_int_eq(zone_from_posix(bad_rules[_i].rule, &zone, &error), -EBADMSG);
	ck_assert_msg(error.column == bad_rules[_i].column, "'%s': column %u, not %u",
		      bad_rules[_i].rule, error.column, bad_rules[_i].column);
	ck_assert_int_eq(zone_from_posix(bad_rules[_i].rule, &zone, NULL), -EBADMSG);
}
END_TEST

START_TEST(gap_and_fold_are_told)
{
	struct zone *zone = zone_of("CET-1CEST,M3.5.0,M10.5.0/3");
	int64_t when;

	ck_assert_int_eq(zone_from_local(zone, utc(2026, 3, 29, 1, 59), &when), ZONE_ONCE);
	ck_assert_int_eq(when, 1774745940);
	for (int minute = 0; minute < 60; minute++) {
		ck_assert_int_eq(zone_from_local(zone, utc(2026, 3, 29, 2, minute), &when), ZONE_GAP);
		ck_assert_int_eq(when, 1774746000);
		ck_assert_int_eq(zone_from_local(zone, utc(2026, 10, 25, 2, minute), &when),
				 ZONE_FOLD);
		ck_assert_int_eq(when, 1792886400 + minute * 60);
	}
	ck_assert_int_eq(zone_from_local(zone, utc(2026, 3, 29, 3, 0), &when), ZONE_ONCE);
	ck_assert_int_eq(when, 1774746000);
	ck_assert_int_eq(zone_from_local(zone, utc(2026, 10, 25, 3, 0), &when), ZONE_ONCE);
	ck_assert_int_eq(when, 1792893600);
	zone_free(zone);
}
END_TEST

START_TEST(utc_is_utc)
{
	struct zone *berlin = zone_of("CET-1CEST,M3.5.0,M10.5.0/3"), *gmt = zone_of("GMT0");
	struct zone_era era;

	zone_era_at(zone_utc(), INT64_C(-99999999999), &era);
	ck_assert_int_eq(era.offset, 0);
	ck_assert_str_eq(era.abbreviation, "UTC");
	ck_assert_int_eq(era.end, ZONE_FOREVER);
	ck_assert(zone_is_utc(zone_utc()) && zone_is_utc(gmt) && !zone_is_utc(berlin));
	ck_assert_str_eq(zone_name_of(berlin, false), "CET");
	ck_assert_str_eq(zone_name_of(berlin, true), "CEST");
	ck_assert_str_eq(zone_name_of(gmt, true), "");
	zone_free(berlin);
	zone_free(gmt);
	zone_free(NULL);
}
END_TEST

/* A TZif file in the making. */
struct tzif {
	uint8_t bytes[4096];
	size_t size;
};

static void put(struct tzif *t, const void *data, size_t n)
{
	memcpy(t->bytes + t->size, data, n);
	t->size += n;
}

static void put_number(struct tzif *t, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		t->bytes[t->size++] = (uint8_t) (value >> (8 * bytes));
}

static void put_header(struct tzif *t, char version, uint32_t leaps, uint32_t times, uint32_t types,
		       uint32_t chars)
{
	static const char zeros[15];

	put(t, "TZif", 4);
	put(t, &version, 1);
	put(t, zeros, 15);
	put_number(t, 0, 4);
	put_number(t, 0, 4);
	put_number(t, leaps, 4);
	put_number(t, times, 4);
	put_number(t, types, 4);
	put_number(t, chars, 4);
}

static void put_type(struct tzif *t, int32_t offset, int is_dst, int name)
{
	put_number(t, (uint32_t) offset, 4);
	put_number(t, (unsigned) is_dst, 1);
	put_number(t, (unsigned) name, 1);
}

/* One change at @when from AAA to BBB, an hour ahead, then @rule. */
static void put_zone(struct tzif *t, char version, int64_t when, const char *rule)
{
	if (version >= '2') {
		put_header(t, version, 0, 0, 1, 4);
		put_type(t, 0, 0, 0);
		put(t, "AAA", 4);
	}
	put_header(t, version, 0, 1, 2, 8);
	put_number(t, (uint64_t) when, version >= '2' ? 8 : 4);
	put_number(t, 1, 1);
	put_type(t, 0, 0, 0);
	put_type(t, 3600, 1, 4);
	put(t, "AAA\0BBB", 8);
	if (version < '2')
		return;
	put(t, "\n", 1);
	put(t, rule, strlen(rule));
	put(t, "\n", 1);
}

START_TEST(every_version_is_read)
{
	static const char versions[] = { '\0', '2', '3', '4', '5' };
	struct tzif t = { .size = 0 };
	struct zone_era era;
	struct zone *zone;

	put_zone(&t, versions[_i], 1000, "");
	ck_assert_int_eq(zone_from_tzif(t.bytes, t.size, &zone, NULL), 0);
	zone_era_at(zone, 999, &era);
	ck_assert_int_eq(era.offset, 0);
	ck_assert_int_eq(era.end, 1000);
	zone_era_at(zone, 1000, &era);
	ck_assert_int_eq(era.offset, 3600);
	ck_assert(era.is_dst);
	ck_assert_str_eq(era.abbreviation, "BBB");
	ck_assert_int_eq(era.end, ZONE_FOREVER);
	zone_free(zone);
}
END_TEST

START_TEST(footer_goes_on_after_the_last_change)
{
	struct tzif t = { .size = 0 };
	struct zone_era era;
	struct zone *zone;

	put_zone(&t, '2', 1000, "CCC-2");
	ck_assert_int_eq(zone_from_tzif(t.bytes, t.size, &zone, NULL), 0);
	zone_era_at(zone, 1000, &era);
	ck_assert_str_eq(era.abbreviation, "CCC");
	ck_assert_int_eq(era.offset, 7200);
	zone_free(zone);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
	struct tzif t = { .size = 0 };
	struct parse_error error;
	struct zone *zone;

	put_zone(&t, '2', 1000, "CET-1CEST,M3.5.0,M10.5.0/3");
	for (size_t n = 0; n < t.size; n++) {
		/* of its own size, so that a read behind it is seen */
		uint8_t *copy = malloc(n + 1);

		memcpy(copy, t.bytes, n);
		copy = realloc(copy, n > 0 ? n : 1);
		error.sentence[0] = '\0';
		ck_assert_int_eq(zone_from_tzif(copy, n, &zone, &error), -EBADMSG);
		ck_assert_str_ne(error.sentence, "");
		free(copy);
	}
	ck_assert_int_eq(zone_from_tzif(t.bytes, t.size, &zone, NULL), 0);
	zone_free(zone);
}
END_TEST

/* One byte of a sound file changed: never a crash; a zone that is taken answers. */
START_TEST(every_changed_byte_is_refused_or_harmless)
{
	struct tzif t = { .size = 0 };

	put_zone(&t, '3', 86400, "CET-1CEST,M3.5.0,M10.5.0/3");
	for (size_t i = 0; i < t.size; i++)
		for (int value = 0; value < 256; value += 1 + value / 8) {
			struct tzif broken = t;
			struct zone_era era;
			struct zone *zone;
			int64_t when;

			broken.bytes[i] = (uint8_t) value;
			if (zone_from_tzif(broken.bytes, broken.size, &zone, NULL) < 0)
				continue;
			for (int64_t at = 0; at < INT64_C(20000000000); at += 999999999) {
				zone_era_at(zone, at, &era);
				ck_assert(era.start <= at && at < era.end);
				ck_assert(era.offset > -ZONE_OFFSET_LIMIT &&
					  era.offset < ZONE_OFFSET_LIMIT);
				(void) zone_from_local(zone, at, &when);
			}
			zone_free(zone);
		}
}
END_TEST

enum fault { NO_TYPE, BAD_INDEX, BAD_NAME, NAME_WITH_ESCAPE, BAD_DST, HUGE_OFFSET, DESCENDING,
	     EQUAL_TIMES, LEAPS, HUGE_COUNT, BAD_FOOTER, NOT_TZIF };

static void put_fault(struct tzif *t, enum fault fault)
{
	put_header(t, '\0', fault == LEAPS, fault == HUGE_COUNT ? 0xffffffff : 2,
		   fault == NO_TYPE ? 0 : 2, 8);
	if (fault == NOT_TZIF)
		t->bytes[0] = 't';
	put_number(t, fault == DESCENDING ? 2000 : 1000, 4);
	put_number(t, fault == EQUAL_TIMES ? 1000 : 1500, 4);
	put_number(t, fault == BAD_INDEX ? 2 : 1, 1);
	put_number(t, 0, 1);
	if (fault != NO_TYPE) {
		put_type(t, fault == HUGE_OFFSET ? 26 * 3600 : 0, fault == BAD_DST ? 2 : 0, 0);
		put_type(t, 3600, 1, fault == BAD_NAME ? 8 : 4);
	}
	put(t, fault == NAME_WITH_ESCAPE ? "A\033A\0BBB" : "AAA\0BBB", 8);
	if (fault == LEAPS)
		put_number(t, 0x10000000001, 8);
	if (fault == BAD_FOOTER)
		t->bytes[4] = '2';
}

START_TEST(hostile_file_is_refused_with_a_reason)
{
	struct tzif t = { .size = 0 };
	struct parse_error error;
	struct zone *zone;

	put_fault(&t, (enum fault) _i);
	ck_assert_int_eq(zone_from_tzif(t.bytes, t.size, &zone, &error), -EBADMSG);
	ck_assert_uint_eq(error.column, 0);
	ck_assert_int_gt((int) strlen(error.sentence), 10);
	ck_assert_msg((_i == LEAPS) == (strstr(error.sentence, "leap seconds") != NULL), "%s",
		      error.sentence);
}
END_TEST

static Suite *zone_suite(void)
{
	Suite *suite = suite_create("zone");
	TCase *tcase = tcase_create("zone");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, date_and_its_number_are_each_others_inverse);
	tcase_add_test(tcase, epoch_is_a_thursday);
	tcase_add_loop_test(tcase, rule_says_what_holds, 0,
			    (int) (sizeof(moments) / sizeof(moments[0])));
	tcase_add_loop_test(tcase, bad_rule_is_refused_where_it_is_bad, 0,
			    (int) (sizeof(bad_rules) / sizeof(bad_rules[0])));
	tcase_add_test(tcase, gap_and_fold_are_told);
	tcase_add_test(tcase, utc_is_utc);
	tcase_add_loop_test(tcase, every_version_is_read, 0, 5);
	tcase_add_test(tcase, footer_goes_on_after_the_last_change);
	tcase_add_test(tcase, every_truncation_is_refused);
	tcase_add_test(tcase, every_changed_byte_is_refused_or_harmless);
	tcase_add_loop_test(tcase, hostile_file_is_refused_with_a_reason, 0, NOT_TZIF + 1);
	suite_add_tcase(suite, tcase);
	return suite;
}

TEST_MAIN(zone_suite)
