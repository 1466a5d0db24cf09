/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/parse_error.h"
#include "timer/calendar.h"
#include "timer/calendar_scan.h"

const struct calendar_range calendar_ranges[FIELD_COUNT] = {
	[FIELD_YEAR] = { "year", CALENDAR_YEAR_MIN, CALENDAR_YEAR_MAX },
	[FIELD_MONTH] = { "month", 1, 12 },
	[FIELD_DAY] = { "day", 1, 31 },
	[FIELD_HOUR] = { "hour", 0, 23 },
	[FIELD_MINUTE] = { "minute", 0, 59 },
	[FIELD_SECOND] = { "second", 0, MINUTE_UNIT - 1 },
};

int calendar_syntax_error(const struct cursor *c, const char *wanted)
{
	unsigned column = (unsigned) (c->at - c->text) + 1;

	if (c->at == c->end)
		return parse_error_at(c->error, column, "%s expected at the end", wanted);
	return parse_error_at(c->error, column, "%s expected at '%.*s'", wanted,
			      (int) (c->end - c->at < 24 ? c->end - c->at : 24), c->at);
}

/* Digits behind the point, as microseconds: six of them, the seventh rounds. */
static int read_fraction(struct cursor *c, int64_t *value)
{
	int64_t unit = SECOND_UNIT;

	if (!is_digit(peek(c, 0)))
		return calendar_syntax_error(c, "a digit");
	for (; unit > 1 && is_digit(peek(c, 0)); c->at++) {
		unit /= 10;
		*value += (*c->at - '0') * unit;
	}
	if (peek(c, 0) >= '5' && peek(c, 0) <= '9')
		*value += 1;
	while (is_digit(peek(c, 0)))
		c->at++;
	return 0;
}

static int read_value(struct cursor *c, enum calendar_field field, int *ret)
{
	const char *start = c->at;
	int64_t value = 0;

	if (!is_digit(peek(c, 0)))
		return calendar_syntax_error(c, "a number");
	for (; is_digit(peek(c, 0)); c->at++)
		if (value <= INT_MAX)
			value = value * 10 + (*c->at - '0');
	if (field == FIELD_SECOND) {
		value *= SECOND_UNIT;
		/* one point is a decimal point, two are a range */
		if (peek(c, 0) == '.' && peek(c, 1) != '.') {
			c->at++;
			if (read_fraction(c, &value) < 0)
				return -EBADMSG;
		}
	}
	if (value > INT_MAX)
		return parse_error_at(c->error, (unsigned) (start - c->text) + 1,
				      "the number '%.*s' is too large",
				      (int) (c->at - start < 40 ? c->at - start : 40), start);
	*ret = (int) value;
	return 0;
}

static bool ends_item(char c)
{
	return c == '\0' || c == ' ' || c == ',' || c == '-' || c == '~' || c == ':';
}

int calendar_item_scan(struct cursor *c, enum calendar_field field, struct calendar_item *ret)
{
	struct calendar_item item = { .stop = -1 };
	unsigned column = (unsigned) (c->at - c->text) + 1;
	int r = read_value(c, field, &item.start);

	if (r == 0 && peek(c, 0) == '.' && peek(c, 1) == '.') {
		c->at += 2;
		item.step = field == FIELD_SECOND ? SECOND_UNIT : 1;
		r = read_value(c, field, &item.stop);
	}
	if (r < 0)
		return r;
	if (take(c, '/')) {
		const struct cursor at_step = *c;

		r = read_value(c, field, &item.step);
		if (r < 0)
			return r;
		if (item.step == 0)
			return calendar_syntax_error(&at_step, "a step greater than zero");
	} else if (field == FIELD_SECOND && item.stop >= 0 &&
		   item.stop - item.start < SECOND_UNIT) {
		return parse_error_at(c->error, column, "a range of less than a second "
				      "needs a step ('/0.1')");
	}
	if (!ends_item(peek(c, 0)))
		return calendar_syntax_error(c, "',' or the end of the field");
	*ret = item;
	return 0;
}

/* 12 is 2012, 89 is 1989. */
static int full_year(int year)
{
	if (year >= 0 && year < 70)
		return year + 2000;
	return year >= 70 && year < 100 ? year + 1900 : year;
}

/* Ends a range on its last step; what has no second step becomes a single value. */
static void item_normalise(struct calendar_item *item, enum calendar_field field)
{
	if (field == FIELD_YEAR) {
		item->start = full_year(item->start);
		item->stop = full_year(item->stop);
	}
	if (item->stop > item->start && item->step > 0)
		item->stop -= (item->stop - item->start) % item->step;
	if (item->start == item->stop) {
		item->step = 0;
		item->stop = -1;
	}
}

bool calendar_item_next(const char **p, const char *end, enum calendar_field field,
			struct calendar_item *ret)
{
	struct cursor c = { *p, *p, end, NULL };

	if (*p >= end || calendar_item_scan(&c, field, ret) < 0)
		return false;
	(void) take(&c, ',');
	item_normalise(ret, field);
	*p = c.at;
	return true;
}

static int item_compare(const struct calendar_item *a, const struct calendar_item *b)
{
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->stop != b->stop)
		return a->stop < b->stop ? -1 : 1;
	return a->step < b->step ? -1 : a->step > b->step;
}

/* Keeps @items sorted, and without doubles. Returns the new count. */
static int item_insert(struct calendar_item *items, int count, const struct calendar_item *item)
{
	int at = count;

	while (at > 0 && item_compare(&items[at - 1], item) > 0)
		at--;
	if (at > 0 && item_compare(&items[at - 1], item) == 0)
		return count;
	memmove(&items[at + 1], &items[at], (size_t) (count - at) * sizeof(items[0]));
	items[at] = *item;
	return count + 1;
}

static int value_error(const struct calendar_range *range, int value, struct parse_error *reterr)
{
	if (range->max == MINUTE_UNIT - 1)
		return parse_error_at(reterr, 0, "second %d is out of range (0 to 59)",
				      value / SECOND_UNIT);
	return parse_error_at(reterr, 0, "%s %d is out of range (%d to %d)", range->name, value,
			      range->min, range->max);
}

/* @toward_start: days from the end of a month step towards its end, so to smaller numbers. The
 * caller knows the column. */
static int item_check(const struct calendar_item *item, const struct calendar_range *range,
		      bool toward_start, struct parse_error *reterr)
{
	if (item->start < range->min || item->start > range->max)
		return value_error(range, item->start, reterr);
	if (item->stop >= 0 && (item->stop < range->min || item->stop > range->max))
		return value_error(range, item->stop, reterr);
	if (item->stop >= 0 && item->stop < item->start)
		return parse_error_at(reterr, 0, "the range runs backwards");
	if (item->stop >= 0 ? item->step > item->stop - item->start
	    : toward_start  ? item->step > item->start - range->min
			    : item->step > range->max - item->start)
		return parse_error_at(reterr, 0, "the step is too long: it leaves the range of "
				      "the %s at once", range->name);
	return 0;
}

int calendar_items_read(const struct calendar_layout *layout, enum calendar_field field,
			const char *text, struct calendar_item *ret, struct parse_error *reterr)
{
	const struct field_text *where = &layout->field[field];
	struct calendar_range range = calendar_ranges[field];
	bool from_end = field == FIELD_DAY && layout->days_from_end;
	const char *p = where->at, *at = p;
	struct calendar_item item;
	int count = 0;

	for (; calendar_item_next(&p, where->end, field, &item); at = p) {
		item.offset = (unsigned) (at - where->at);
		count = item_insert(ret, count, &item);
	}
	for (int i = 0; i < count; i++) {
		/* Every month has 28 days. systemd lowers the limit anew with each item of a list,
		 * and what it refuses is refused here. */
		if (from_end)
			range.max -= 3;
		if (item_check(&ret[i], &range, from_end, reterr) < 0) {
			if (reterr)
				reterr->column = (unsigned) (where->at - text) + ret[i].offset + 1;
			return -EBADMSG;
		}
	}
	return count;
}

bool calendar_items_are_any_second(const struct calendar_item *items, int count)
{
	for (int i = 0; i < count; i++)
		if (items[i].start == 0 && items[i].stop < 0 && items[i].step == SECOND_UNIT)
			return true;
	return false;
}
