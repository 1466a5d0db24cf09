/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "timer/calendar_private.h"

/* Bit i of the result is the value min + i. */
static uint64_t bits_of_item(const struct calendar_item *item, enum calendar_field field,
			     bool toward_start)
{
	const struct calendar_range *range = &calendar_ranges[field];
	int last = item->stop >= 0 ? item->stop : range->max;
	uint64_t bits = 0;

	if (item->step == 0)
		return UINT64_C(1) << (item->start - range->min);
	/* counted from the end of the month, an open item runs to its last day, which is day 1 */
	if (toward_start && item->stop < 0)
		for (int v = item->start; v >= range->min; v -= item->step)
			bits |= UINT64_C(1) << (v - range->min);
	else
		for (int v = item->start; v <= last; v += item->step)
			bits |= UINT64_C(1) << (v - range->min);
	return bits;
}

static int parse_bits(const struct calendar_layout *layout, enum calendar_field field,
		      const char *text, uint64_t *ret, struct parse_error *reterr)
{
	const struct calendar_range *range = &calendar_ranges[field];
	struct calendar_item items[CALENDAR_ITEM_MAX];
	int count;

	if (!layout->field[field].at) {
		*ret = (UINT64_C(2) << (range->max - range->min)) - 1;
		return 0;
	}
	count = calendar_items_read(layout, field, text, items, reterr);
	if (count < 0)
		return count;
	*ret = 0;
	for (int i = 0; i < count; i++)
		*ret |= bits_of_item(&items[i], field,
				     field == FIELD_DAY && layout->days_from_end);
	return 0;
}

static const uint64_t all_years[4] = {
	UINT64_MAX, UINT64_MAX, UINT64_MAX, (UINT64_C(1) << (CALENDAR_YEAR_COUNT - 192)) - 1,
};

static int parse_years(const struct calendar_layout *layout, const char *text, uint64_t ret[4],
		       struct parse_error *reterr)
{
	struct calendar_item items[CALENDAR_ITEM_MAX];
	int count;

	memcpy(ret, all_years, sizeof(all_years));
	if (!layout->field[FIELD_YEAR].at)
		return 0;
	count = calendar_items_read(layout, FIELD_YEAR, text, items, reterr);
	if (count < 0)
		return count;
	memset(ret, 0, sizeof(all_years));
	for (int i = 0; i < count; i++) {
		int last = items[i].stop >= 0 ? items[i].stop : CALENDAR_YEAR_MAX;
		int step = items[i].step > 0 ? items[i].step : CALENDAR_YEAR_COUNT;

		for (int y = items[i].start - CALENDAR_YEAR_BASE; y <= last - CALENDAR_YEAR_BASE;
		     y += step)
			ret[y / 64] |= UINT64_C(1) << (y % 64);
	}
	return 0;
}

struct calendar_step calendar_step_of(const struct calendar_item *item)
{
	int last = item->step == 0 ? item->start : item->stop >= 0 ? item->stop : MINUTE_UNIT - 1;
	int by = item->step > 0 ? item->step : 1;

	return (struct calendar_step) {
		.first = (uint32_t) item->start,
		.last = (uint32_t) (last - (last - item->start) % by),
		.by = (uint32_t) by,
	};
}

/* Whole seconds fit a mask like every other field; with fractions the steps are kept. */
static void set_seconds(struct calendar *c, const struct calendar_item *items, int count)
{
	bool are_whole = true;

	c->second_first = (uint32_t) items[0].start;
	for (int i = 0; i < count; i++)
		are_whole &= items[i].start % SECOND_UNIT == 0 && items[i].step % SECOND_UNIT == 0;
	for (int i = 0; i < count; i++) {
		struct calendar_step step = calendar_step_of(&items[i]);

		if (are_whole)
			for (uint32_t s = step.first; s <= step.last; s += SECOND_UNIT)
				c->seconds |= (s - step.first) % step.by == 0
					? UINT64_C(1) << (s / SECOND_UNIT) : 0;
		else if (i < CALENDAR_STEP_MAX)
			c->steps[i] = step;
	}
	if (!are_whole)
		c->step_count =
			(uint8_t) (count <= CALENDAR_STEP_MAX ? count : CALENDAR_STEP_MAX + 1);
}

static int parse_seconds(const struct calendar_layout *layout, struct calendar *c,
			 struct parse_error *reterr)
{
	const struct field_text *where = &layout->field[FIELD_SECOND];
	struct calendar_item items[CALENDAR_ITEM_MAX];
	int count = calendar_items_read(layout, FIELD_SECOND, c->text, items, reterr);

	if (count < 0)
		return count;
	set_seconds(c, items, count);
	if (c->step_count > CALENDAR_STEP_MAX) {
		c->seconds_at = (uint16_t) (where->at - c->text);
		c->seconds_length = (uint16_t) (where->end - where->at);
	}
	return 0;
}

#define ANY_DAY 0x7fffffff
#define ANY_WEEKDAY 0x7f
#define ANY_MONTH 0xfff

static unsigned months_with_match(const struct calendar *c, int kind, unsigned months)
{
	unsigned found = 0;

	for (int month = 1; month <= 12; month++)
		if (months & 1u << (month - 1) && calendar_days_in_month(c, kind, month) != 0)
			found |= 1u << (month - 1);
	return found;
}

/* Which months of each kind of year hold a matching day. */
static void find_months(struct calendar *c, unsigned months)
{
	bool is_simple = c->weekdays == ANY_WEEKDAY;

	for (int kind = 0; kind < CALENDAR_YEAR_KINDS; kind++)
		if (c->days == ANY_DAY) /* every month has every weekday */
			c->kinds[kind] = (uint16_t) months;
		else if (is_simple && kind % 7 > 0) /* only the lengths of months matter */
			c->kinds[kind] = c->kinds[kind - 1];
		else
			c->kinds[kind] = (uint16_t) months_with_match(c, kind, months);
}

static void strike_empty_years(struct calendar *c)
{
	int weekday = year_of(CALENDAR_YEAR_BASE).kind;

	for (int y = 0; y < CALENDAR_YEAR_COUNT; y++) {
		int is_leap = year_is_leap(y + CALENDAR_YEAR_BASE);

		if (c->kinds[weekday + 7 * is_leap] == 0)
			c->years[y / 64] &= ~(UINT64_C(1) << (y % 64));
		weekday += 1 + is_leap;
		weekday -= weekday >= 7 ? 7 : 0;
	}
}

static void find_dates(struct calendar *c, unsigned months)
{
	c->is_any_date = months == ANY_MONTH && c->days == ANY_DAY &&
			 memcmp(c->years, all_years, sizeof(all_years)) == 0;
	find_months(c, months);
	for (int kind = 0; kind < CALENDAR_YEAR_KINDS; kind++)
		if (c->kinds[kind] == 0) {
			strike_empty_years(c);
			break;
		}
}

/* Days from the end, where bit 0 was the last, so that bit 30 is. */
static uint32_t mirror_days(uint64_t days)
{
	uint32_t mirrored = 0;

	for (int i = 0; i < 31; i++)
		mirrored |= (uint32_t) (days >> i & 1) << (30 - i);
	return mirrored;
}

static int parse_fields(const struct calendar_layout *layout, struct calendar *c,
			struct parse_error *reterr)
{
	uint64_t months, days, hours;
	int r = parse_years(layout, c->text, c->years, reterr);

	if (r == 0)
		r = parse_bits(layout, FIELD_MONTH, c->text, &months, reterr);
	if (r == 0)
		r = parse_bits(layout, FIELD_DAY, c->text, &days, reterr);
	if (r == 0)
		r = parse_bits(layout, FIELD_HOUR, c->text, &hours, reterr);
	if (r == 0)
		r = parse_bits(layout, FIELD_MINUTE, c->text, &c->minutes, reterr);
	if (r == 0)
		r = parse_seconds(layout, c, reterr);
	if (r < 0)
		return r;
	c->days = c->days_from_end ? mirror_days(days) : (uint32_t) days;
	c->hours = (uint32_t) hours;
	c->runs_on_real_time = hours == 0xffffff;
	find_dates(c, (unsigned) months);
	return 0;
}

int calendar_parse(const char *text, struct calendar *ret, struct parse_error *reterr)
{
	struct calendar_layout layout;
	struct calendar c = { .text = text };
	int r = calendar_layout_read(text, &layout, reterr);

	if (r < 0)
		return r;
	c.zone_word = layout.zone_word;
	c.zone_kind = layout.zone_word ? CALENDAR_ZONE_WORD : CALENDAR_ZONE_LOCAL;
	c.is_utc = layout.is_utc;
	c.weekdays = (uint8_t) (layout.weekdays != 0 ? layout.weekdays : 0x7f);
	c.days_from_end = layout.days_from_end && layout.field[FIELD_DAY].at;
	r = parse_fields(&layout, &c, reterr);
	if (r == 0)
		*ret = c;
	return r;
}

bool calendar_is_possible(const struct calendar *c)
{
	return (c->years[0] | c->years[1] | c->years[2] | c->years[3]) != 0;
}
