/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_CALENDAR_PRIVATE_H
#define SUPD_TIMER_CALENDAR_PRIVATE_H

/* Shared by calendar*.c: which days a month has for an expression. */

#include "timer/calendar.h"
#include "timer/calendar_layout.h"
#include "timer/civil.h"

/* A year's first day, and its kind: 0..6 the weekday of that day, 7 more in a leap year. */
struct year {
	int64_t first;
	int kind;
};

static inline struct year year_of(int64_t year)
{
	int64_t first = days_from_date(year, 1, 1);

	return (struct year) { first, weekday_from_days(first) + (year_is_leap(year) ? 7 : 0) };
}

static inline int days_before_month(int kind, int month)
{
	static const uint16_t before[12] = {
		0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334
	};

	return before[month - 1] + (kind >= 7 && month > 2);
}

static inline int days_of_month(int kind, int month)
{
	return month == 2 ? (kind >= 7 ? 29 : 28) : 30 + ((month ^ month >> 3) & 1);
}

/* The matching days of a month in a kind of year; bit 0 is the first. */
static inline uint32_t calendar_days_in_month(const struct calendar *c, int kind, int month)
{
	int length = days_of_month(kind, month);
	unsigned first_weekday = (unsigned) (kind % 7 + days_before_month(kind, month)) % 7;
	uint32_t days = c->days;
	uint64_t weekdays = c->weekdays;

	if (c->days_from_end)
		days >>= 31 - length;
	weekdays |= weekdays << 7 | weekdays << 14 | weekdays << 21 | weekdays << 28 |
		    weekdays << 35;
	return days & (uint32_t) (weekdays >> first_weekday) & ((1u << length) - 1);
}

/* Local times count microseconds of the local clock since its 1970-01-01. */
#define LOCAL_DAY (INT64_C(86400) * SECOND_UNIT)
#define LOCAL_NEVER INT64_MAX

/* The first matching local time at or after @local, or LOCAL_NEVER. Knows no zone. */
int64_t calendar_local_next(const struct calendar *c, int64_t local);

/* How many moments of any minute match; may take long for a long list of fractions. */
uint64_t calendar_minute_count(const struct calendar *c);

/* How many matching local times lie in [@from, @to). @in_minute is calendar_minute_count(). */
uint64_t calendar_local_count(const struct calendar *c, int64_t from, int64_t to,
			      uint64_t in_minute);

struct calendar_step calendar_step_of(const struct calendar_item *item);

/* The first matching moment of a minute at or after @usec, or -1. */
int64_t calendar_second_next(const struct calendar *c, uint32_t usec);

#endif
