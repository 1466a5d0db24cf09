/* SPDX-License-Identifier: MIT */
#include "timer/zone_load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse_error.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "timer/calendar.h"
#include "timer/zone.h"

/* A TZif file of version 2 with nothing in it but a rule. */
static void write_zone(const char *dir, const char *name, const char *rule)
{
	unsigned char file[512] = { 0 };
	size_t n = 0;

	for (int block = 0; block < 2; block++) {
		memcpy(file + n, "TZif2", 5);
		file[n + 39] = 1; /* one type */
		file[n + 43] = 4; /* four characters of names */
		n += 44 + 6;
		memcpy(file + n, "LMT", 4);
		n += 4;
	}
	n += (size_t) sprintf((char *) file + n, "\n%s\n", rule);
	test_dir_write(dir, name, file, n);
}

static struct zone_cache *cache_new(const char *tz, const char *dir, const char *localtime)
{
	const struct zone_source source = { .tz = tz, .dir = dir, .localtime = localtime };
	struct zone_cache *cache;

	ck_assert_int_eq(zone_cache_new(&source, &cache), 0);
	return cache;
}

static int local_offset(const struct zone_cache *cache)
{
	struct zone_era era;

	zone_era_at(zone_cache_local(cache), 1795253400, &era);
	return era.offset;
}

static char *dir;

static void set_up(void)
{
	dir = test_dir_new();
	write_zone(dir, "Test/One", "ONE-1");
	write_zone(dir, "Test/Two", "TWO-2");
	test_dir_write_text(dir, "Test/Text", "this is no zone");
}

static void tear_down(void)
{
	dir = test_dir_free(dir);
}

START_TEST(tz_is_understood_as_by_libc)
{
	char path[512], colon_path[520];
	struct {
		const char *tz;
		int offset;
		bool is_problem;
	} rows[] = {
		{ "Test/One", 3600, false }, { ":Test/Two", 7200, false }, { "", 0, false },
		{ ":", 0, false }, { "XYZ-3:30", 12600, false }, { "UTC", 0, false },
		{ path, 3600, false }, { colon_path, 3600, false },
		{ "Test/Three", 0, true }, { ":Test/Text", 0, true }, { "../Test/One", 0, true },
		{ "/nowhere/at/all", 0, true },
	};

	(void) snprintf(path, sizeof(path), "%s/Test/One", dir);
	(void) snprintf(colon_path, sizeof(colon_path), ":%s", path);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct zone_cache *cache = cache_new(rows[i].tz, dir, NULL);

		ck_assert_msg(local_offset(cache) == rows[i].offset, "TZ=%s: offset %d", rows[i].tz,
			      local_offset(cache));
		ck_assert_msg((zone_cache_local_problem(cache) != NULL) == rows[i].is_problem,
			      "TZ=%s: %s", rows[i].tz, zone_cache_local_problem(cache));
		zone_cache_free(cache);
	}
}
END_TEST

START_TEST(localtime_counts_where_tz_is_unset)
{
	char *path = test_dir_path(dir, "Test/Two"), *none = test_dir_path(dir, "none");
	struct zone_cache *cache = cache_new(NULL, dir, path);

	ck_assert_int_eq(local_offset(cache), 7200);
	zone_cache_free(cache);
	cache = cache_new(NULL, dir, none);
	ck_assert_int_eq(local_offset(cache), 0);
	ck_assert_ptr_null(zone_cache_local_problem(cache));
	zone_cache_free(cache);
	free(path);
	free(none);
}
END_TEST

START_TEST(zone_is_read_once_and_shared)
{
	struct zone_cache *cache = cache_new("", dir, NULL);
	const struct zone_slot *one, *again, *two;

	ck_assert_int_eq(zone_cache_get(cache, "Test/One", &one, NULL), 0);
	ck_assert_int_eq(zone_cache_get(cache, "Test/Two", &two, NULL), 0);
	ck_assert_int_eq(zone_cache_get(cache, "Test/One", &again, NULL), 0);
	ck_assert_ptr_eq(one, again);
	ck_assert_ptr_ne(one, two);
	zone_cache_free(cache);
}
END_TEST

START_TEST(missing_zone_names_tzdata)
{
	struct zone_cache *cache = cache_new("", dir, NULL);
	struct calendar calendar;
	struct parse_error error;

	ck_assert_int_eq(zone_cache_parse(cache, "Mon 12:00 Nowhere/At_All", &calendar, &error),
			 -EBADMSG);
	ck_assert_uint_eq(error.column, 11);
	ck_assert_ptr_nonnull(strstr(error.sentence, "tzdata"));
	ck_assert_ptr_nonnull(strstr(error.sentence, "Nowhere/At_All"));
	ck_assert_int_eq(zone_cache_parse(cache, "12:00 Test/Text", &calendar, &error), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error.sentence, "TZif"));
	zone_cache_free(cache);
}
END_TEST

static const char *const escapes[] = {
	"../Test/One", "Test/../Test/One", "/etc/localtime", "Test//One", "Test/One/", "Test/",
	".", "..", "", "Test/One\n", "Te st", "Test\\One", "Test/One.",
};

START_TEST(name_cannot_leave_the_database)
{
	struct zone_cache *cache = cache_new("", dir, NULL);
	const struct zone_slot *slot;
	struct parse_error error;

	ck_assert_int_eq(zone_cache_get(cache, escapes[_i], &slot, &error), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error.sentence, "not the name of a time zone"));
	ck_assert_ptr_null(zone_cache_find(cache, escapes[_i]));
	zone_cache_free(cache);
}
END_TEST

START_TEST(folder_is_no_zone)
{
	struct zone_cache *cache = cache_new("", dir, NULL);
	const struct zone_slot *slot;

	ck_assert_int_eq(zone_cache_get(cache, "Test", &slot, NULL), -EBADMSG);
	zone_cache_free(cache);
}
END_TEST

START_TEST(changed_file_is_read_again_in_the_same_slot)
{
	struct zone_cache *cache = cache_new("Test/One", dir, NULL);
	struct calendar calendar;
	const usec_t now = INT64_C(1795253400) * USEC_PER_SEC;

	ck_assert_int_eq(zone_cache_parse(cache, "12:00 Test/Two", &calendar, NULL), 0);
	ck_assert_uint_eq(calendar_next(&calendar, NULL, now, NULL),
			  INT64_C(1795255200) * USEC_PER_SEC);
	ck_assert(!zone_cache_refresh(cache));
	write_zone(dir, "Test/Two", "TRI-3:00");
	ck_assert(zone_cache_refresh(cache));
	ck_assert_uint_eq(calendar_next(&calendar, NULL, now - USEC_PER_HOUR, NULL),
			  INT64_C(1795251600) * USEC_PER_SEC);
	ck_assert_int_eq(local_offset(cache), 3600);
	write_zone(dir, "Test/One", "FOUR-4:00");
	ck_assert(zone_cache_refresh(cache));
	ck_assert_int_eq(local_offset(cache), 14400);
	ck_assert(!zone_cache_refresh(cache));
	zone_cache_free(cache);
}
END_TEST

START_TEST(file_that_goes_bad_leaves_the_zone_as_it_was)
{
	struct zone_cache *cache = cache_new("Test/One", dir, NULL);
	const struct zone_slot *two;
	struct zone_era era;

	ck_assert_int_eq(zone_cache_get(cache, "Test/Two", &two, NULL), 0);
	test_dir_write_text(dir, "Test/One", "TZif2 but not really a zone, and of another size");
	test_dir_write_text(dir, "Test/Two", "");
	ck_assert(!zone_cache_refresh(cache));
	ck_assert_int_eq(local_offset(cache), 3600);
	zone_era_at(two->zone, 0, &era);
	ck_assert_int_eq(era.offset, 7200);
	zone_cache_free(cache);
}
END_TEST

START_TEST(local_abbreviation_comes_before_the_database)
{
	struct zone_cache *cache;
	struct calendar calendar;
	char buf[64];

	write_zone(dir, "ONE", "XXX-9");
	cache = cache_new("Test/One", dir, NULL);
	ck_assert_int_eq(zone_cache_parse(cache, "12:00 one", &calendar, NULL), 0);
	ck_assert_int_eq(calendar.zone_kind, CALENDAR_ZONE_STD);
	(void) calendar_print(&calendar, zone_cache_local(cache), buf, sizeof(buf));
	ck_assert_str_eq(buf, "*-*-* 12:00:00 ONE");
	zone_cache_free(cache);
	cache = cache_new("", dir, NULL);
	ck_assert_int_eq(zone_cache_parse(cache, "12:00 ONE", &calendar, NULL), 0);
	ck_assert_int_eq(calendar.zone_kind, CALENDAR_ZONE_NAMED);
	/* a moment is a moment, but the word has to be a zone */
	ck_assert_int_eq(zone_cache_parse(cache, "@0 ONE", &calendar, NULL), 0);
	(void) calendar_print(&calendar, NULL, buf, sizeof(buf));
	ck_assert_str_eq(buf, "1970-01-01 00:00:00 UTC");
	ck_assert_int_eq(zone_cache_parse(cache, "@0 TWO", &calendar, NULL), -EBADMSG);
	zone_cache_free(cache);
}
END_TEST

static Suite *zone_load_suite(void)
{
	Suite *suite = suite_create("zone_load");
	TCase *tcase = tcase_create("zone_load");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, tz_is_understood_as_by_libc);
	tcase_add_test(tcase, localtime_counts_where_tz_is_unset);
	tcase_add_test(tcase, zone_is_read_once_and_shared);
	tcase_add_test(tcase, missing_zone_names_tzdata);
	tcase_add_loop_test(tcase, name_cannot_leave_the_database, 0,
			    (int) (sizeof(escapes) / sizeof(escapes[0])));
	tcase_add_test(tcase, folder_is_no_zone);
	tcase_add_test(tcase, changed_file_is_read_again_in_the_same_slot);
	tcase_add_test(tcase, file_that_goes_bad_leaves_the_zone_as_it_was);
	tcase_add_test(tcase, local_abbreviation_comes_before_the_database);
	suite_add_tcase(suite, tcase);
	return suite;
}

TEST_MAIN(zone_load_suite)
