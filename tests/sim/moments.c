/* SPDX-License-Identifier: MIT */
#include "tests/sim/moments.h"

#include <stdbool.h>

#define DAY_SECONDS INT64_C(86400)

const struct sim_expression sim_expressions[SIM_EXPRESSION_COUNT] = {
	{ "*:0/15", 0, 0, 0, 15 },
	{ "hourly", 0, 0, 0, 60 },
	{ "daily", 0x7f, 0, 0, 0 },
	{ "*-*-* 02:30", 0x7f, 0, 150, 0 },
	{ "*-*-* 01:10", 0x7f, 0, 70, 0 },
	{ "Mon..Fri 09:00", 0x1f, 0, 540, 0 },
	{ "*-*-01 04:00", 0x7f, 1, 240, 0 },
	{ "*:*", 0, 0, 0, 1 },
};

/* Days since 1970-01-01, counted year by year and month by month. */
static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && is_leap(year));
}

static int64_t year_start(int year)
{
	static int64_t known[400];
	int64_t days = 0;

	if (known[year - 1970] || year == 1970)
		return known[year - 1970];
	for (int y = 1970; y < year; y++)
		days += is_leap(y) ? 366 : 365;
	return known[year - 1970] = days;
}

static int year_of(int64_t day)
{
	int year = 1970 + (int) (day / 366);

	while (day >= year_start(year + 1))
		year++;
	return year;
}

static void month_of(int64_t day, int *year, int *month, int *mday)
{
	*year = year_of(day);
	day -= year_start(*year);
	for (*month = 1; day >= month_days(*year, *month); ++*month)
		day -= month_days(*year, *month);
	*mday = (int) day + 1;
}

/* The @n-th Sunday of the month; 0: the last. */
static int64_t sunday(int year, int month, int n)
{
	int64_t day = year_start(year);
	int64_t found[6];
	int k = 0;

	for (int m = 1; m < month; m++)
		day += month_days(year, m);
	for (int d = 0; d < month_days(year, month); d++)
		if ((day + d + 3) % 7 == 6) /* 1970-01-01 was a Thursday */
			found[k++] = day + d;
	return n == 0 ? found[k - 1] : found[n - 1];
}

static void summer(enum sim_zone z, int year, int64_t *from, int64_t *to)
{
	static struct {
		int64_t from, to;
	} known[SIM_ZONE_COUNT][400];

	if (known[z][year - 1970].from == 0) {
		known[z][year - 1970].from = z == SIM_BERLIN ? sunday(year, 3, 0) * DAY_SECONDS + 3600
							     : sunday(year, 3, 2) * DAY_SECONDS + 7 * 3600;
		known[z][year - 1970].to = z == SIM_BERLIN ? sunday(year, 10, 0) * DAY_SECONDS + 3600
							   : sunday(year, 11, 1) * DAY_SECONDS + 6 * 3600;
	}
	*from = known[z][year - 1970].from;
	*to = known[z][year - 1970].to;
}

const char *sim_zone_rule(enum sim_zone z)
{
	static const char *const rules[] = { "UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0" };

	return rules[z];
}

int sim_zone_offset(enum sim_zone z, int64_t second)
{
	int64_t from, to;

	if (z == SIM_UTC)
		return 0;
	summer(z, year_of(second / DAY_SECONDS), &from, &to);
	return (z == SIM_BERLIN ? 3600 : -5 * 3600) + (second >= from && second < to ? 3600 : 0);
}

/* The second at which the local clock shows this; if never, when it jumps over it; if twice, the first time. */
static int64_t second_of(enum sim_zone z, int64_t local)
{
	int standard = z == SIM_UTC ? 0 : z == SIM_BERLIN ? 3600 : -5 * 3600;
	int64_t in_summer = local - standard - 3600, in_winter = local - standard, from, to;

	if (z == SIM_UTC)
		return local;
	if (sim_zone_offset(z, in_summer) == standard + 3600)
		return in_summer;
	if (sim_zone_offset(z, in_winter) == standard)
		return in_winter;
	summer(z, year_of(local / DAY_SECONDS), &from, &to);
	return from;
}

static bool day_matches(const struct sim_expression *e, int64_t day)
{
	int year, month, mday;

	if (!(e->weekdays & 1U << (day + 3) % 7))
		return false;
	if (e->day == 0)
		return true;
	month_of(day, &year, &month, &mday);
	return mday == (int) e->day;
}

static usec_t of_day(const struct sim_expression *e, enum sim_zone z, int64_t day)
{
	return (usec_t) second_of(z, day * DAY_SECONDS + e->minute * 60) * USEC_PER_SEC;
}

usec_t moment_next(const struct sim_expression *e, enum sim_zone z, usec_t after)
{
	usec_t period = e->period * USEC_PER_MINUTE, when;
	int64_t day;

	/* All offsets here are whole hours, so that the minutes of the local clock are those of UTC. */
	if (period)
		return (after / period + 1) * period;
	day = (int64_t) (after / USEC_PER_DAY) - 2;
	for (day = day < 0 ? 0 : day;; day++) {
		if (!day_matches(e, day))
			continue;
		when = of_day(e, z, day);
		if ((int64_t) when > (int64_t) after) /* east of Greenwich the first day begins before zero */
			return when;
	}
}

usec_t moment_last(const struct sim_expression *e, enum sim_zone z, usec_t until)
{
	usec_t period = e->period * USEC_PER_MINUTE, when;

	if (period)
		return until / period * period;
	for (int64_t day = (int64_t) (until / USEC_PER_DAY) + 2; day >= 0; day--) {
		if (!day_matches(e, day))
			continue;
		when = of_day(e, z, day);
		if (when <= until)
			return when;
	}
	return 0;
}
