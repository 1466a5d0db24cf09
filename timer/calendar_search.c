/* SPDX-License-Identifier: MIT */

/* The next matching time of a clock that never jumps: no zone is known here. */

#include "timer/calendar_private.h"

#define LAST_DAY 84005 /* 2199-12-31 */

static int lowest(uint64_t bits)
{
	return __builtin_ctzll(bits);
}

static int64_t step_next(const struct calendar_step *step, uint32_t usec)
{
	uint32_t behind;

	if (usec <= step->first)
		return step->first;
	if (usec > step->last)
		return -1;
	behind = (usec - step->first) % step->by;
	return behind == 0 ? usec : usec + (step->by - behind);
}

/* A field with more items than @steps holds is read from the text, each time. */
static int64_t long_field_next(const struct calendar *c, uint32_t usec)
{
	const char *p = c->text + c->seconds_at, *end = p + c->seconds_length;
	struct calendar_item item;
	int64_t best = -1;

	while (calendar_item_next(&p, end, FIELD_SECOND, &item)) {
		const struct calendar_step step = calendar_step_of(&item);
		int64_t found = step_next(&step, usec);

		if (found >= 0 && (best < 0 || found < best))
			best = found;
	}
	return best;
}

int64_t calendar_second_next(const struct calendar *c, uint32_t usec)
{
	int64_t best = -1;

	if (c->seconds != 0) {
		unsigned second = (usec + SECOND_UNIT - 1) / SECOND_UNIT;
		uint64_t rest = second < 60 ? c->seconds >> second : 0;

		return rest != 0 ? (int64_t) (second + (unsigned) lowest(rest)) * SECOND_UNIT : -1;
	}
	if (c->step_count > CALENDAR_STEP_MAX)
		return long_field_next(c, usec);
	for (int i = 0; i < c->step_count; i++) {
		int64_t found = step_next(&c->steps[i], usec);

		if (found >= 0 && (best < 0 || found < best))
			best = found;
	}
	return best;
}

/* The first matching time of day at or after @time, or -1. */
static int64_t time_next(const struct calendar *c, int64_t time)
{
	unsigned whole = (unsigned) (time / MINUTE_UNIT), hour = whole / 60, minute = whole % 60;
	uint64_t rest;

	if (c->hours >> hour & 1) {
		if (c->minutes >> minute & 1) {
			int64_t found = calendar_second_next(
				c, (uint32_t) (time - (int64_t) whole * MINUTE_UNIT));

			if (found >= 0)
				return (int64_t) whole * MINUTE_UNIT + found;
		}
		rest = c->minutes >> minute >> 1;
		if (rest != 0)
			return (int64_t) (whole + 1 + (unsigned) lowest(rest)) * MINUTE_UNIT +
			       c->second_first;
	}
	rest = c->hours >> hour >> 1;
	if (rest == 0)
		return -1;
	hour += 1 + (unsigned) lowest(rest);
	return (int64_t) (hour * 60 + (unsigned) lowest(c->minutes)) * MINUTE_UNIT +
	       c->second_first;
}

static int64_t first_time(const struct calendar *c)
{
	return (int64_t) (lowest(c->hours) * 60 + lowest(c->minutes)) * MINUTE_UNIT +
	       c->second_first;
}

/* A day in its month. */
struct place {
	int64_t day;
	struct year year;
	int number;    /* of the year */
	int month;
	uint32_t rest; /* matching days of the month from this one on, which is bit 0 */
};

/* date_from_days() and year_of() in numbers of 32 bits, for days of CALENDAR_YEAR_BASE and on. */
static void place_date(int64_t day, struct place *ret, int *ret_of_month)
{
	uint32_t z = (uint32_t) (day + 719468), cycle = z / 146097, of_cycle = z % 146097;
	uint32_t year = (of_cycle - of_cycle / 1460 + of_cycle / 36524 - of_cycle / 146096) / 365;
	uint32_t of_year = of_cycle - (365 * year + year / 4 - year / 100);
	uint32_t month = (5 * of_year + 2) / 153;
	bool is_leap;

	*ret_of_month = (int) (of_year - (153 * month + 2) / 5 + 1);
	ret->month = (int) (month < 10 ? month + 3 : month - 9);
	ret->number = (int) (cycle * 400 + year + (month >= 10));
	is_leap = ret->number % 4 == 0 && ret->number != 2100;
	ret->year.kind = is_leap ? 7 : 0;
	ret->year.first = day + 1 - *ret_of_month - days_before_month(ret->year.kind, ret->month);
	/* 1970-01-01 was a Thursday; whole weeks more, so that no number is negative */
	ret->year.kind += (int) ((uint32_t) (ret->year.first + 3 + 7 * 60) % 7);
	ret->day = day;
}

static bool year_matches(const struct calendar *c, int number)
{
	unsigned i = (unsigned) (number - CALENDAR_YEAR_BASE);

	return i < CALENDAR_YEAR_COUNT && c->years[i / 64] >> (i % 64) & 1;
}

static void place_of(const struct calendar *c, int64_t day, struct place *ret)
{
	int of_month;

	if (c->is_any_date) {
		ret->day = day;
		ret->rest = (c->weekdays | (uint32_t) c->weekdays << 7) >>
			    ((uint32_t) (day + 7 + 3) % 7);
		return;
	}
	place_date(day, ret, &of_month);
	ret->rest = 0;
	if (year_matches(c, ret->number) && c->kinds[ret->year.kind] >> (ret->month - 1) & 1)
		ret->rest = calendar_days_in_month(c, ret->year.kind, ret->month) >> (of_month - 1);
}

/* The next year with a match, or -1. */
static int next_year(const struct calendar *c, int number)
{
	unsigned from = (unsigned) (number + 1 - CALENDAR_YEAR_BASE);

	for (unsigned word = from / 64; word < 4; word++) {
		uint64_t bits = c->years[word];

		if (word == from / 64)
			bits &= UINT64_MAX << (from % 64);
		if (bits != 0)
			return CALENDAR_YEAR_BASE + (int) (word * 64) + lowest(bits);
	}
	return -1;
}

/* The first matching day of months, bit 0 being @month; there is one, @months is not 0. */
static int64_t first_day(const struct calendar *c, const struct year *year, unsigned months,
			 int month)
{
	month += lowest(months);
	return year->first + days_before_month(year->kind, month) +
	       lowest(calendar_days_in_month(c, year->kind, month));
}

/* The first matching day after @place: of the month, of the year, of the years after. */
static int64_t day_after(const struct calendar *c, const struct place *place)
{
	unsigned months;
	struct year year;
	int number;

	if (place->rest >> 1 != 0)
		return place->day + 1 + lowest(place->rest >> 1);
	if (c->is_any_date) /* a week has one */
		return LOCAL_NEVER;
	months = year_matches(c, place->number)
			 ? (unsigned) c->kinds[place->year.kind] >> place->month
			 : 0;
	if (months != 0)
		return first_day(c, &place->year, months, place->month + 1);
	number = next_year(c, place->number);
	if (number < 0)
		return LOCAL_NEVER;
	year = year_of(number);
	return first_day(c, &year, c->kinds[year.kind], 1);
}

static bool day_matches(const struct calendar *c, int64_t day)
{
	struct place place;

	place_of(c, day, &place);
	return day <= LAST_DAY && place.rest & 1;
}

int64_t calendar_local_next(const struct calendar *c, int64_t local)
{
	/* local times begin a day before the epoch, so that this division is one of naturals */
	uint64_t moved = (uint64_t) local + 2 * LOCAL_DAY;
	int64_t day = (int64_t) (moved / LOCAL_DAY) - 2, time = (int64_t) (moved % LOCAL_DAY);
	struct place place;

	place_of(c, day, &place);
	if (place.rest & 1) {
		int64_t found = time_next(c, time);

		if (found >= 0 && day <= LAST_DAY)
			return day * LOCAL_DAY + found;
	}
	day = day_after(c, &place);
	return day <= LAST_DAY ? day * LOCAL_DAY + first_time(c) : LOCAL_NEVER;
}

/* With more moments in a minute than this, those that two items share count twice: to find them
 * would take long, and nobody misses them. */
#define MANY 4096

static uint64_t count_step(const struct calendar_step *step, uint32_t usec)
{
	if (usec <= step->first)
		return 0;
	return (usec_min(usec - 1, step->last) - step->first) / step->by + 1;
}

/* Of all items, each on its own. */
static uint64_t count_steps(const struct calendar *c, uint32_t usec)
{
	const char *p = c->text + c->seconds_at, *end = p + c->seconds_length;
	struct calendar_item item;
	uint64_t count = 0;

	if (c->step_count <= CALENDAR_STEP_MAX) {
		for (int i = 0; i < c->step_count; i++)
			count += count_step(&c->steps[i], usec);
		return count;
	}
	while (calendar_item_next(&p, end, FIELD_SECOND, &item)) {
		const struct calendar_step step = calendar_step_of(&item);

		count += count_step(&step, usec);
	}
	return count;
}

/* Matching moments of a minute before @usec. */
static uint64_t count_seconds(const struct calendar *c, uint32_t usec)
{
	uint64_t count = 0, bound;

	if (c->seconds != 0) {
		unsigned seconds = (usec + SECOND_UNIT - 1) / SECOND_UNIT;

		return (uint64_t) __builtin_popcountll(c->seconds & ((UINT64_C(1) << seconds) - 1));
	}
	bound = count_steps(c, usec);
	if (c->step_count == 1 || bound > MANY)
		return bound;
	for (int64_t at = calendar_second_next(c, 0); at >= 0 && at < usec;
	     at = calendar_second_next(c, (uint32_t) at + 1))
		count++;
	return count;
}

/* Matching times of a day before @time. */
static uint64_t count_times(const struct calendar *c, int64_t time, uint64_t in_minute)
{
	unsigned whole = (unsigned) (time / MINUTE_UNIT), hour = whole / 60, minute = whole % 60;
	uint64_t in_hour = (uint64_t) __builtin_popcountll(c->minutes) * in_minute, count;

	count = (uint64_t) __builtin_popcountll(c->hours & ((UINT64_C(1) << hour) - 1)) * in_hour;
	if (c->hours >> hour & 1) {
		count += (uint64_t) __builtin_popcountll(c->minutes &
							 ((UINT64_C(1) << minute) - 1)) *
			 in_minute;
		if (c->minutes >> minute & 1)
			count +=
				count_seconds(c, (uint32_t) (time - (int64_t) whole * MINUTE_UNIT));
	}
	return count;
}

/* Matching days of a year before day @until of it, day 0 being the first. */
static uint64_t count_days(const struct calendar *c, int kind, int64_t until)
{
	uint64_t count = 0;

	for (int month = 1; month <= 12; month++) {
		int64_t rest = until - days_before_month(kind, month);
		uint32_t days = calendar_days_in_month(c, kind, month);

		if (rest <= 0)
			break;
		if (!(c->kinds[kind] >> (month - 1) & 1))
			continue;
		if (rest < 31)
			days &= (1u << rest) - 1;
		count += (uint64_t) __builtin_popcount(days);
	}
	return count;
}

/* Matching days in [@from, @to). */
static uint64_t count_dates(const struct calendar *c, int64_t from, int64_t to)
{
	int64_t number, count = 0;
	int month, day;

	date_from_days(from, &number, &month, &day);
	for (; number <= CALENDAR_YEAR_MAX; number++) {
		struct year year = year_of(number);
		int64_t i = number - CALENDAR_YEAR_BASE;

		if (year.first >= to)
			break;
		if (!(c->years[i / 64] >> (i % 64) & 1))
			continue;
		count += (int64_t) count_days(c, year.kind,
					      to - year.first < 366 ? to - year.first : 366);
		if (from > year.first)
			count -= (int64_t) count_days(c, year.kind, from - year.first);
	}
	return (uint64_t) count;
}

uint64_t calendar_minute_count(const struct calendar *c)
{
	return count_seconds(c, MINUTE_UNIT);
}

uint64_t calendar_local_count(const struct calendar *c, int64_t from, int64_t to,
			      uint64_t in_minute)
{
	int64_t from_day = floor_div(from, LOCAL_DAY), to_day = floor_div(to, LOCAL_DAY);
	uint64_t count;

	if (to <= from)
		return 0;
	count = count_dates(c, from_day, to_day) * count_times(c, LOCAL_DAY, in_minute);
	if (day_matches(c, to_day))
		count += count_times(c, to - to_day * LOCAL_DAY, in_minute);
	if (day_matches(c, from_day))
		count -= count_times(c, from - from_day * LOCAL_DAY, in_minute);
	return count;
}
