/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_CIVIL_H
#define SUPD_TIMER_CIVIL_H

/* Dates of the proleptic Gregorian calendar and their number of days since 1970-01-01. Pure, with
 * no table and no loop: months are counted from March, so that the odd day of a leap year is the
 * last of its year, and the length of the months before one is a line, 153/5 days a month. */

#include <stdbool.h>
#include <stdint.h>

#define SEC_PER_DAY 86400

/* A date and time of day as a wall clock shows it. */
struct civil {
	int64_t year;
	int month;   /* 1..12 */
	int day;     /* 1..31 */
	int hour;
	int minute;
	int second;  /* 0..59 */
	int weekday; /* 0 is Monday */
};

static inline int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static inline bool year_is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline int month_length(int64_t year, int month)
{
	return month == 2 ? 28 + year_is_leap(year) : 30 + ((month ^ (month >> 3)) & 1);
}

/* @month must be 1..12; @day may lie outside its month and then counts on from it. */
static inline int64_t days_from_date(int64_t year, int month, int64_t day)
{
	int64_t y = year - (month <= 2), cycle = floor_div(y, 400);
	int64_t in_cycle = y - cycle * 400;
	int64_t in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return cycle * 146097 + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + in_year - 719468;
}

static inline void date_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	int64_t z = days + 719468, cycle = floor_div(z, 146097);
	uint32_t of_cycle = (uint32_t) (z - cycle * 146097);
	uint32_t year = (of_cycle - of_cycle / 1460 + of_cycle / 36524 - of_cycle / 146096) / 365;
	uint32_t of_year = of_cycle - (365 * year + year / 4 - year / 100);
	uint32_t march_month = (5 * of_year + 2) / 153;

	*ret_day = (int) (of_year - (153 * march_month + 2) / 5 + 1);
	*ret_month = (int) (march_month < 10 ? march_month + 3 : march_month - 9);
	*ret_year = cycle * 400 + year + (*ret_month <= 2);
}

/* 0 is Monday; 1970-01-01 was a Thursday. */
static inline int weekday_from_days(int64_t days)
{
	int64_t r = (days + 3) % 7;

	return (int) (r < 0 ? r + 7 : r);
}

/* Seconds of a clock in @civil's own zone; @civil->weekday is not read. */
static inline int64_t seconds_from_civil(const struct civil *civil)
{
	return days_from_date(civil->year, civil->month, civil->day) * SEC_PER_DAY +
	       civil->hour * 3600 + civil->minute * 60 + civil->second;
}

static inline void civil_from_seconds(int64_t seconds, struct civil *ret)
{
	int64_t days = floor_div(seconds, SEC_PER_DAY);
	int rest = (int) (seconds - days * SEC_PER_DAY);

	date_from_days(days, &ret->year, &ret->month, &ret->day);
	ret->hour = rest / 3600;
	ret->minute = rest / 60 % 60;
	ret->second = rest % 60;
	ret->weekday = weekday_from_days(days);
}

#endif
