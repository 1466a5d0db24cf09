/* SPDX-License-Identifier: MIT */

/* Every change of every clock from 1970 to 2037, and a plain reading of the rule: step through the
 * minutes around the change, look at what the clock shows, and apply the two sentences to it. What
 * calendar_next() finds must be the same, and so must its notes, counts and the last one.
 *
 * The sample of `make check` is a few changes a zone; SUPD_TEST_FULL=1 takes them all. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/oracle/expressions.h"
#include "tests/lib/test_main.h"
#include "timer/calendar.h"
#include "timer/civil.h"
#include "timer/zone.h"
#include "tests/timer/zone_files.h"

#define HOUR 3600
#define SHOWN_HOURS 54    /* looked at, on each side of a change */
#define COMPARED_HOURS 27 /* compared: what is shown there is shown within the others, too */
#define GRID_MAX (2 * SHOWN_HOURS * HOUR)
#define YEAR_2038 INT64_C(2145916800)

/* An expression as sets. */
struct model {
	bool weekday[7], day[32], hour[24], minute[60];
	bool runs_on_real_time;
	char text[512];
};

/* The moments around a change, one every @step seconds. */
struct grid {
	int64_t start;
	int step, count;
	int64_t local[GRID_MAX];
	bool elapses[GRID_MAX], is_moved[GRID_MAX], is_twice[GRID_MAX];
};

static struct grid grid;

static bool model_matches(const struct model *model, int64_t local)
{
	struct civil date;

	civil_from_seconds(local, &date);
	return date.second == 0 && model->weekday[date.weekday] && model->day[date.day] &&
	       model->hour[date.hour] && model->minute[date.minute];
}

static void put_set(char *text, const bool *set, int min, int max)
{
	const char *comma = "";
	int n = 0;

	for (int i = min; i <= max; i++)
		n += set[i];
	if (n == max - min + 1) {
		strcat(text, "*");
		return;
	}
	for (int i = min; i <= max; i++)
		if (set[i]) {
			sprintf(text + strlen(text), "%s%d", comma, i);
			comma = ",";
		}
}

static void fill_set(struct chance *chance, bool *set, int min, int max, int count)
{
	for (int i = min; i <= max; i++)
		set[i] = count == 0;
	for (int i = 0; i < count; i++)
		set[min + (int) chance_below(chance, (unsigned) (max - min + 1))] = true;
}

/* A random expression; half of them with hours that the clock jumps over, or shows twice. */
static void model_make(struct chance *chance, int near_hour, struct model *ret)
{
	static const char *const names[7] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
	const char *comma = "";

	memset(ret, 0, sizeof(*ret));
	ret->runs_on_real_time = chance_below(chance, 4) == 0;
	fill_set(chance, ret->weekday, 0, 6, chance_below(chance, 3) == 0 ? 4 : 0);
	fill_set(chance, ret->day, 1, 31, chance_below(chance, 3) == 0 ? 20 : 0);
	fill_set(chance, ret->minute, 0, 59, (int) chance_below(chance, 5));
	if (ret->runs_on_real_time) {
		fill_set(chance, ret->hour, 0, 23, 0);
	} else {
		for (unsigned i = chance_below(chance, 3); i > 0; i--)
			ret->hour[(unsigned) (near_hour + 22 + (int) chance_below(chance, 4)) % 24] =
				true;
		ret->hour[chance_below(chance, 24)] = true;
	}
	for (int i = 0; i < 7; i++)
		if (ret->weekday[i] && memchr(ret->weekday, false, 7)) {
			sprintf(ret->text + strlen(ret->text), "%s%s", comma, names[i]);
			comma = ",";
		}
	strcat(ret->text, *comma ? " *-*-" : "*-*-");
	put_set(ret->text, ret->day, 1, 31);
	strcat(ret->text, " ");
	put_set(ret->text, ret->hour, 0, 23);
	strcat(ret->text, ":");
	put_set(ret->text, ret->minute, 0, 59);
}

/* What the clock shows. The step is such that every change falls on it, and every whole minute of
 * the clock. */
static void grid_fill(const struct zone *zone, int64_t change)
{
	struct zone_era before, after;
	struct civil date;

	zone_era_at(zone, change - 1, &before);
	zone_era_at(zone, change, &after);
	grid.step = 60;
	if (change % 60 != 0 || before.offset % 60 != 0 || after.offset % 60 != 0)
		grid.step = change % 30 == 0 && before.offset % 30 == 0 && after.offset % 30 == 0 ? 30 : 1;
	grid.start = change - SHOWN_HOURS * HOUR;
	grid.count = 2 * SHOWN_HOURS * HOUR / grid.step;
	for (int i = 0; i < grid.count; i++) {
		zone_to_civil(zone, grid.start + (int64_t) i * grid.step, &date);
		grid.local[i] = seconds_from_civil(&date);
	}
}

/* "whenever the local clock shows a matching time" */
static void read_real_time(const struct model *model)
{
	for (int i = 0; i < grid.count; i++)
		grid.elapses[i] = model_matches(model, grid.local[i]);
}

/* "once for each matching local date and time: when it is first shown, or when it is passed
 * over" */
static void read_once(const struct model *model)
{
	static int first_shown[2 * GRID_MAX];
	int64_t low = grid.local[0], high = low;
	int passed = 0;

	for (int i = 0; i < grid.count; i++) {
		low = grid.local[i] < low ? grid.local[i] : low;
		high = grid.local[i] > high ? grid.local[i] : high;
	}
	for (int64_t n = 0; n <= (high - low) / grid.step; n++)
		first_shown[n] = -1;
	for (int i = grid.count - 1; i >= 0; i--)
		first_shown[(grid.local[i] - low) / grid.step] = i;
	for (int64_t local = low; local <= high; local += grid.step) {
		int shown = first_shown[(local - low) / grid.step];

		while (grid.local[passed] < local)
			passed++;
		if (!model_matches(model, local))
			continue;
		grid.elapses[shown >= 0 ? shown : passed] = true;
		grid.is_moved[shown >= 0 ? shown : passed] |= shown < 0;
	}
}

static void find_doubles(void)
{
	for (int i = 0; i < grid.count; i++)
		grid.is_twice[i] = false;
	/* a local time shown twice is shown again within a day and a bit */
	for (int i = 1; i < grid.count; i++) {
		int back = (int) ((grid.local[i - 1] + grid.step - grid.local[i]) / grid.step);

		for (int k = 0; back > 0 && k < back && i + k < grid.count; k++) {
			if (i - back + k < 0 || grid.local[i - back + k] != grid.local[i + k])
				continue;
			grid.is_twice[i + k] = true;
			grid.is_twice[i - back + k] = true;
		}
	}
}

static enum calendar_note expected_note(int i)
{
	if (grid.is_moved[i])
		return CALENDAR_GAP;
	return grid.is_twice[i] ? CALENDAR_FOLD : CALENDAR_PLAIN;
}

static void compare(const struct model *model, const struct zone *zone, const char *name,
		    int64_t change)
{
	const usec_t from = (usec_t) (change - COMPARED_HOURS * HOUR) * USEC_PER_SEC;
	const usec_t until = (usec_t) (change + COMPARED_HOURS * HOUR) * USEC_PER_SEC;
	usec_t found = from, last = USEC_NEVER;
	struct calendar calendar;
	uint64_t count = 0;

	ck_assert_int_eq(calendar_parse(model->text, &calendar, NULL), 0);
	for (int i = 0; i < grid.count; i++) {
		usec_t when = (usec_t) (grid.start + (int64_t) i * grid.step) * USEC_PER_SEC;
		enum calendar_note note = CALENDAR_PLAIN;

		if (!grid.elapses[i] || when <= from || when > until)
			continue;
		found = calendar_next(&calendar, zone, found, &note);
		if (found != when)
			ck_abort_msg("%s, '%s': @%" PRIu64 " expected, found @%" PRIu64, name,
				     model->text, when / USEC_PER_SEC, found / USEC_PER_SEC);
		if (note != expected_note(i))
			ck_abort_msg("%s, '%s', @%" PRIu64 ": note %d", name, model->text,
				     when / USEC_PER_SEC, (int) note);
		last = when;
		count++;
	}
	found = calendar_next(&calendar, zone, found, NULL);
	if (found <= until)
		ck_abort_msg("%s, '%s': @%" PRIu64 " found, not expected", name, model->text,
			     found / USEC_PER_SEC);
	if (calendar_count(&calendar, zone, from, until) != count)
		ck_abort_msg("%s, '%s', around @%" PRIi64 ": counted %" PRIu64 ", there are %" PRIu64,
			     name, model->text, change, calendar_count(&calendar, zone, from, until),
			     count);
	if (calendar_last(&calendar, zone, from, until) != last)
		ck_abort_msg("%s, '%s', around @%" PRIi64 ": another last one", name, model->text,
			     change);
}

static void look_at_change(struct chance *chance, const struct zone *zone, const char *name,
			   int64_t change, int models)
{
	grid_fill(zone, change);
	find_doubles();
	for (int i = 0; i < models; i++) {
		struct model model;

		model_make(chance, (int) (grid.local[grid.count / 2] / HOUR % 24), &model);
		memset(grid.elapses, 0, sizeof(grid.elapses));
		memset(grid.is_moved, 0, sizeof(grid.is_moved));
		if (model.runs_on_real_time)
			read_real_time(&model);
		else
			read_once(&model);
		compare(&model, zone, name, change);
	}
}

START_TEST(every_change_of_every_clock_follows_the_rule)
{
	struct chance chance = { 20261025 };
	struct zone_files files;
	int changes = 0;

	zone_files_load(&files);
	for (size_t i = 0; i < files.count; i++) {
		const struct zone *zone = files.file[i].zone;
		struct zone_era era;

		for (zone_era_at(zone, 60 * 24 * HOUR, &era); era.end < YEAR_2038;
		     zone_era_at(zone, era.end, &era)) {
			if (!test_is_full() && chance_below(&chance, 8) != 0)
				continue;
			look_at_change(&chance, zone, files.file[i].name, era.end,
				       test_is_full() ? 12 : 4);
			changes++;
		}
	}
	ck_assert_int_gt(changes, 1000);
	zone_files_done(&files);
}
END_TEST

static Suite *calendar_dst_suite(void)
{
	Suite *suite = suite_create("calendar_dst");
	TCase *tcase = tcase_create("changes");

	zone_files_or_skip();
	tcase_set_timeout(tcase, 3600);
	tcase_add_test(tcase, every_change_of_every_clock_follows_the_rule);
	suite_add_tcase(suite, tcase);
	return suite;
}

TEST_MAIN(calendar_dst_suite)
