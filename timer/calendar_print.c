/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "timer/calendar_private.h"
#include "timer/zone.h"

/* Counts all that is written, keeps what fits. */
struct sink {
	char *buf;
	size_t size, used;
};

__attribute__((format(printf, 2, 3)))
static void put(struct sink *out, const char *fmt, ...)
{
	size_t room = out->used < out->size ? out->size - out->used : 0;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(room > 0 ? out->buf + out->used : NULL, room, fmt, args);
	va_end(args);
	out->used += (size_t) n;
}

/* Runs of three or more days as a range */
static void put_weekdays(struct sink *out, unsigned days)
{
	static const char names[7][4] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
	const char *comma = "";

	for (int first = 0, last; first < 7; first = last + 1) {
		last = first;
		if ((days & 1u << first) == 0)
			continue;
		while (last < 6 && days & 1u << (last + 1))
			last++;
		put(out, "%s%s", comma, names[first]);
		if (last > first)
			put(out, "%s%s", last > first + 1 ? ".." : ",", names[last]);
		comma = ",";
	}
	put(out, " ");
}

static void put_value(struct sink *out, int width, int value, int unit)
{
	put(out, "%0*d", width, value / unit);
	if (value % unit > 0)
		put(out, ".%06d", value % unit);
}

static void put_item(struct sink *out, const struct calendar_item *item, int width, int unit)
{
	put_value(out, width, item->start, unit);
	if (item->stop > 0) {
		put(out, "..");
		put_value(out, width, item->stop, unit);
	}
	if (item->step > 0 && !(item->stop > 0 && item->step == unit)) {
		put(out, "/");
		put_value(out, 0, item->step, unit);
	}
}

static void put_field(struct sink *out, const struct calendar_layout *layout,
		      enum calendar_field field, const char *text)
{
	struct calendar_item items[CALENDAR_ITEM_MAX];
	int width = field == FIELD_YEAR ? 4 : 2, unit = field == FIELD_SECOND ? SECOND_UNIT : 1;
	int count = 0;

	if (layout->field[field].at)
		count = calendar_items_read(layout, field, text, items, NULL);
	if (count <= 0 || (field == FIELD_SECOND && calendar_items_are_any_second(items, count))) {
		put(out, "*");
		return;
	}
	for (int i = 0; i < count; i++) {
		if (i > 0)
			put(out, ",");
		put_item(out, &items[i], width, unit);
	}
}

static void put_zone(struct sink *out, const struct calendar *c, const struct zone *local)
{
	bool is_dst = c->zone_kind == CALENDAR_ZONE_DST;

	if (c->is_utc)
		put(out, " UTC");
	else if (local && (is_dst || c->zone_kind == CALENDAR_ZONE_STD))
		put(out, " %s", zone_name_of(local, is_dst));
	else if (c->zone_word)
		put(out, " %s", c->zone_word);
}

size_t calendar_print(const struct calendar *c, const struct zone *local, char *buf, size_t size)
{
	static const char before[FIELD_COUNT] = {
		[FIELD_MONTH] = '-', [FIELD_DAY] = '-', [FIELD_HOUR] = ' ',
		[FIELD_MINUTE] = ':', [FIELD_SECOND] = ':',
	};
	struct sink out = { buf, size, 0 };
	struct calendar_layout layout;

	if (size > 0)
		buf[0] = '\0';
	if (calendar_layout_read(c->text, &layout, NULL) < 0)
		return 0;
	if (c->weekdays != 0x7f)
		put_weekdays(&out, c->weekdays);
	for (int i = 0; i < FIELD_COUNT; i++) {
		if (before[i] != '\0')
			put(&out, "%c", i == FIELD_DAY && c->days_from_end ? '~' : before[i]);
		put_field(&out, &layout, (enum calendar_field) i, c->text);
	}
	put_zone(&out, c, local);
	return out.used;
}
