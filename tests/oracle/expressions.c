/* SPDX-License-Identifier: MIT */
#include "tests/oracle/expressions.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

struct text {
	char *buf;
	size_t size, used;
};

uint64_t chance_next(struct chance *chance)
{
	uint64_t x = chance->state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	chance->state = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

unsigned chance_below(struct chance *chance, unsigned n)
{
	return (unsigned) ((chance_next(chance) >> 33) % n);
}

static int once_in(struct chance *chance, unsigned n)
{
	return chance_below(chance, n) == 0;
}

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->buf + t->used, t->size - t->used, fmt, args);
	va_end(args);
	t->used += (size_t) n;
	if (t->used >= t->size)
		t->used = t->size - 1;
}

/* Mostly in the range, now and then just outside, or with a digit more. */
static unsigned value_near(struct chance *c, unsigned min, unsigned max)
{
	if (once_in(c, 60))
		return max + 1 + chance_below(c, 3);
	if (once_in(c, 60))
		return min > 0 ? min - 1 : 0;
	return min + chance_below(c, max - min + 1);
}

static void put_number(struct chance *c, struct text *t, unsigned min, unsigned max, int fraction)
{
	put(t, once_in(c, 2) ? "%u" : "%02u", value_near(c, min, max));
	if (fraction && once_in(c, 4))
		put(t, ".%0*u", 1 + (int) chance_below(c, 8), chance_below(c, 1000));
}

static void put_item(struct chance *c, struct text *t, unsigned min, unsigned max, int fraction)
{
	unsigned low = min + chance_below(c, max - min + 1);

	put(t, once_in(c, 2) ? "%u" : "%02u", low);
	if (fraction && once_in(c, 4))
		put(t, ".%u", chance_below(c, 1000));
	if (once_in(c, 4)) {
		put(t, "..");
		put_number(c, t, once_in(c, 8) ? min : low, max, fraction);
	}
	if (once_in(c, 4)) {
		put(t, "/");
		put_number(c, t, 1, 1 + (max - min) / (1 + chance_below(c, 12)), fraction);
	}
}

static void put_field(struct chance *c, struct text *t, unsigned min, unsigned max, int fraction)
{
	unsigned count = once_in(c, 3) ? 1 + chance_below(c, 4) : 1;

	if (once_in(c, 3)) {
		put(t, "*");
		return;
	}
	for (unsigned i = 0; i < count; i++) {
		put(t, "%s", i > 0 ? "," : "");
		put_item(c, t, min, max, fraction);
	}
}

static void put_weekdays(struct chance *c, struct text *t)
{
	static const char *const names[] = {
		"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "monday", "TUESDAY", "Wednesday",
		"Thursday", "friday", "Saturday", "Sunday", "fri", "sAt",
	};
	static const char *const joints[] = { ",", ",", "..", "..", "-", ".", ",," };
	unsigned count = 1 + chance_below(c, 3);

	for (unsigned i = 0; i < count; i++) {
		put(t, "%s", names[chance_below(c, ELEMENTS(names))]);
		if (i + 1 < count)
			put(t, "%s", joints[chance_below(c, once_in(c, 10) ? 7 : 4)]);
	}
	put(t, "%s", once_in(c, 30) ? "," : "");
	put(t, "%s", once_in(c, 20) ? "  " : " ");
}

static void put_date(struct chance *c, struct text *t)
{
	if (once_in(c, 4))
		put_field(c, t, 1970, 2199, 0);
	else if (once_in(c, 4))
		put_field(c, t, 0, 99, 0);
	else
		put(t, once_in(c, 2) ? "*" : "2026..2040");
	put(t, once_in(c, 60) ? "~" : "-");
	put_field(c, t, 1, 12, 0);
	if (once_in(c, 3)) {
		put(t, "~");
		put_field(c, t, 1, 28, 0);
	} else {
		put(t, "-");
		put_field(c, t, 1, 31, 0);
	}
}

static void put_time(struct chance *c, struct text *t)
{
	put_field(c, t, 0, 23, 0);
	put(t, ":");
	put_field(c, t, 0, 59, 0);
	if (once_in(c, 2)) {
		put(t, ":");
		put_field(c, t, 0, 59, 1);
	}
}

static void put_zone(struct chance *c, struct text *t)
{
	static const char *const names[] = {
		"UTC", "utc", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Apia",
		"Asia/Kathmandu", "Etc/GMT+5", "CET", "EST", "Europe/berlin", "Nowhere/At_All",
		"Mars", "EST5EDT", "Australia/Lord_Howe", "America/Argentina/Ushuaia", "GMT",
	};

	put(t, " %s", names[chance_below(c, ELEMENTS(names))]);
}

/* Takes away, adds or changes a character or two. */
static void mutate(struct chance *c, char *buf, size_t size)
{
	static const char alphabet[] = "0123456789**,,--~~::///..  @MonTueUTCx+";

	for (unsigned i = 1 + chance_below(c, 2); i > 0; i--) {
		size_t n = strlen(buf), at = chance_below(c, (unsigned) n + 1);
		char with = alphabet[chance_below(c, sizeof(alphabet) - 1)];

		switch (chance_below(c, 3)) {
		case 0:
			if (at < n)
				memmove(buf + at, buf + at + 1, n - at);
			break;
		case 1:
			if (at < n)
				buf[at] = with;
			break;
		default:
			if (n + 2 < size) {
				memmove(buf + at + 1, buf + at, n - at + 1);
				buf[at] = with;
			}
		}
	}
}

void expression_calendar(struct chance *c, char *buf, size_t size)
{
	static const char *const words[] = {
		"minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "semiannually",
		"semi-annually", "biannually", "bi-annually", "annually", "yearly", "anually",
		"Hourly", "DAILY", "dayly", "@0", "@4102444800", "@7258118400", "@7258118399",
	};
	struct text t = { buf, size, 0 };
	unsigned kind = chance_below(c, 20);

	buf[0] = '\0';
	if (kind == 0)
		put(&t, "%s", words[chance_below(c, ELEMENTS(words))]);
	if (kind == 1)
		put(&t, "@%u", chance_below(c, 1u << 31) * (1 + chance_below(c, 4)));
	if (kind >= 2 && once_in(c, 3))
		put_weekdays(c, &t);
	if (kind >= 2 && kind <= 12)
		put_date(c, &t);
	if (kind >= 2 && kind <= 8)
		put(&t, " ");
	if ((kind >= 2 && kind <= 8) || kind > 12)
		put_time(c, &t);
	if (once_in(c, 6))
		put_zone(c, &t);
	if (once_in(c, 6))
		mutate(c, buf, size);
}

void expression_timespan(struct chance *c, char *buf, size_t size)
{
	static const char *const units[] = {
		"", "s", "sec", "second", "seconds", "m", "min", "minute", "minutes", "h", "hr",
		"hour", "hours", "d", "day", "days", "w", "week", "weeks", "M", "month", "months",
		"y", "year", "years", "ms", "msec", "us", "usec", "\302\265s", "\316\274s", "ns",
		"fortnight", "Y",
	};
	struct text t = { buf, size, 0 };
	unsigned count = 1 + chance_below(c, 4);

	buf[0] = '\0';
	if (once_in(c, 40))
		put(&t, "infinity");
	for (unsigned i = 0; i < count; i++) {
		put(&t, "%u", once_in(c, 12) ? (unsigned) chance_next(c) : chance_below(c, 100));
		if (once_in(c, 4))
			put(&t, ".%u", chance_below(c, 100000));
		put(&t, "%s%s%s", once_in(c, 4) ? " " : "", units[chance_below(c, ELEMENTS(units))],
		    once_in(c, 2) ? " " : "");
	}
	if (once_in(c, 6))
		mutate(c, buf, size);
}

static void put_day(struct chance *c, struct text *t)
{
	static const char *const words[] = { "today", "yesterday", "tomorrow" };

	if (once_in(c, 4))
		put(t, "%s", words[chance_below(c, ELEMENTS(words))]);
	else if (once_in(c, 8))
		put(t, "Nov %u", 1 + chance_below(c, 31));
	else
		put(t, "%0*u-%02u-%02u", once_in(c, 4) ? 2 : 4,
		    once_in(c, 4) ? chance_below(c, 100) : 1968 + chance_below(c, 240),
		    chance_below(c, 14), chance_below(c, 33));
}

void expression_timestamp(struct chance *c, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };

	buf[0] = '\0';
	if (once_in(c, 6)) {
		put(&t, "@%u", (unsigned) chance_next(c));
	} else {
		if (once_in(c, 10))
			put(&t, "Fri ");
		put_day(c, &t);
		if (once_in(c, 2))
			put(&t, " %u:%02u", chance_below(c, 25), chance_below(c, 61));
		if (once_in(c, 3))
			put(&t, ":%02u", chance_below(c, 63));
	}
	if (once_in(c, 4))
		put(&t, ".%u", chance_below(c, 10000000));
	if (once_in(c, 4))
		put(&t, " UTC");
	if (once_in(c, 8))
		mutate(c, buf, size);
}
