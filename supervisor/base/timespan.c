/* SPDX-License-Identifier: MIT */
#include "base/timespan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/parse_error.h"

#define SPACE " \t\n\r"

struct unit {
	const char *name;
	uint64_t nsec;
};

/* The first that the text begins with wins: longer names stand before their beginnings. */
static const struct unit units[] = {
	{ "seconds", 1000 * USEC_PER_SEC },
	{ "second", 1000 * USEC_PER_SEC },
	{ "sec", 1000 * USEC_PER_SEC },
	{ "s", 1000 * USEC_PER_SEC },
	{ "minutes", 1000 * USEC_PER_MINUTE },
	{ "minute", 1000 * USEC_PER_MINUTE },
	{ "min", 1000 * USEC_PER_MINUTE },
	{ "months", 1000 * USEC_PER_MONTH },
	{ "month", 1000 * USEC_PER_MONTH },
	{ "M", 1000 * USEC_PER_MONTH },
	{ "msec", 1000 * USEC_PER_MSEC },
	{ "ms", 1000 * USEC_PER_MSEC },
	{ "m", 1000 * USEC_PER_MINUTE },
	{ "hours", 1000 * USEC_PER_HOUR },
	{ "hour", 1000 * USEC_PER_HOUR },
	{ "hr", 1000 * USEC_PER_HOUR },
	{ "h", 1000 * USEC_PER_HOUR },
	{ "days", 1000 * USEC_PER_DAY },
	{ "day", 1000 * USEC_PER_DAY },
	{ "d", 1000 * USEC_PER_DAY },
	{ "weeks", 1000 * USEC_PER_WEEK },
	{ "week", 1000 * USEC_PER_WEEK },
	{ "w", 1000 * USEC_PER_WEEK },
	{ "years", 1000 * USEC_PER_YEAR },
	{ "year", 1000 * USEC_PER_YEAR },
	{ "y", 1000 * USEC_PER_YEAR },
	{ "usec", 1000 },
	{ "us", 1000 },
	{ "\302\265s", 1000 }, /* U+00B5 */
	{ "\316\274s", 1000 }, /* U+03BC, what a Greek keyboard makes of it */
	{ "nsec", 1 },
	{ "ns", 1 },
};

/* What one text is read with: how many nanoseconds a tick has, and what a bare number counts. */
struct scale {
	uint64_t tick;
	uint64_t default_ticks;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

/* Returns where the unit ends; @p itself, and the default in *ret, if none stands there. Units
 * finer than a tick are no units. */
static const char *read_unit(const char *p, const struct scale *scale, uint64_t *ret)
{
	*ret = scale->default_ticks;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i].name);

		if (units[i].nsec < scale->tick || strncmp(p, units[i].name, n) != 0)
			continue;
		*ret = units[i].nsec / scale->tick;
		return p + n;
	}
	return p;
}

/* Adds a * b to *sum; false if that does not fit below UINT64_MAX, which is infinity. (The first
 * test refuses the last few values that would fit, as systemd does.) */
static bool add_product(uint64_t *sum, uint64_t a, uint64_t b)
{
	if (a >= UINT64_MAX / b || a * b >= UINT64_MAX - *sum)
		return false;
	*sum += a * b;
	return true;
}

/* False if the digits are worth more than 63 bits hold, as strtoll() would say. */
static bool read_whole(const char *p, const char *end, uint64_t *ret)
{
	uint64_t value = 0;

	for (; p < end; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t) (*p - '0'), &value) ||
		    value > INT64_MAX)
			return false;
	*ret = value;
	return true;
}

/* Decimal places, each a tenth of the unit above; places finer than a tick are cut. */
static bool add_fraction(uint64_t *sum, const char *p, const char *end, uint64_t unit)
{
	for (unit /= 10; p < end && unit > 0; p++, unit /= 10)
		if (!add_product(sum, (uint64_t) (*p - '0'), unit))
			return false;
	return true;
}

static int span_error(const char *text, const char *at, struct parse_error *reterr,
		      const char *why)
{
	unsigned column = (unsigned) (at - text) + 1;

	if (*at == '\0')
		return parse_error_at(reterr, column, "%s at the end", why);
	return parse_error_at(reterr, column, "%s at '%.24s'", why, at);
}

/* What only strtoll() passes over, and so systemd before a digit or sign. */
static const char *skip_odd_space(const char *p)
{
	const char *q = p + strspn(p, SPACE "\v\f");

	return is_digit(*q) || *q == '+' ? q : p;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One "12.5min" of the text; *p moves behind it. */
static int read_part(const char *text, const char **p, const struct scale *scale, uint64_t *sum,
		     struct parse_error *reterr)
{
	const char *start = skip_odd_space(*p),
		   *digits = start + (*start == '+' && is_digit(start[1]));
	const char *dot = skip_digits(digits), *end = dot, *unit_at, *after;
	uint64_t whole, unit;

	if (*start == '-')
		return span_error(text, start, reterr, "a time span cannot be negative");
	if (*dot == '.')
		end = skip_digits(dot + 1);
	if (*dot == '.' ? end == dot + 1 : end == digits)
		return span_error(text, *dot == '.' ? end : start, reterr,
				  is_letter(*start) && start > text ? "unknown unit of time"
								    : "expected a number");
	unit_at = end + strspn(end, SPACE);
	after = read_unit(unit_at, scale, &unit);
	if (after == end && *end != '\0')
		return span_error(text, end, reterr, "unknown unit of time");
	if (!read_whole(digits, dot, &whole) || !add_product(sum, whole, unit) ||
	    (*dot == '.' && !add_fraction(sum, dot + 1, end, unit)))
		return parse_error_at(reterr, (unsigned) (start - text) + 1,
				      "the time span is too long: it does not fit in 64 bits");
	*p = after;
	return 0;
}

static int parse_ticks(const char *text, const struct scale *scale, uint64_t *ret,
		       struct parse_error *reterr)
{
	const char *p = text + strspn(text, SPACE);
	uint64_t sum = 0;

	if (*p == '\0')
		return parse_error_at(reterr, 1, "a time span is missing");
	if (strncmp(p, "infinity", 8) == 0) {
		p += 8 + strspn(p + 8, SPACE);
		if (*p != '\0')
			return span_error(text, p, reterr,
					  "nothing may follow 'infinity', found it");
		*ret = UINT64_MAX;
		return 0;
	}
	while (*p != '\0') {
		int r = read_part(text, &p, scale, &sum, reterr);

		if (r < 0)
			return r;
		p += strspn(p, SPACE);
	}
	*ret = sum;
	return 0;
}

int timespan_parse(const char *text, usec_t *ret, struct parse_error *reterr)
{
	return timespan_parse_unit(text, USEC_PER_SEC, ret, reterr);
}

int timespan_parse_unit(const char *text, usec_t unit, usec_t *ret, struct parse_error *reterr)
{
	const struct scale scale = { NSEC_PER_USEC, unit };

	return parse_ticks(text, &scale, ret, reterr);
}

int timespan_parse_nsec(const char *text, uint64_t *ret, struct parse_error *reterr)
{
	const struct scale scale = { 1, 1 };

	return parse_ticks(text, &scale, ret, reterr);
}

/* Appends at buf[*used]; what does not fit is cut, and *used says so by reaching @size. */
__attribute__((format(printf, 4, 5)))
static void append(char *buf, size_t size, size_t *used, const char *fmt, ...)
{
	va_list args;
	int n;

	if (*used >= size)
		return;
	va_start(args, fmt);
	n = vsnprintf(buf + *used, size - *used, fmt, args);
	va_end(args);
	if (n > 0)
		*used += (size_t) n;
}

/* Below a minute the rest is written as decimal places of the unit: how many are left after the
 * cut at @accuracy. Cuts *rest along with it. */
static int decimal_places(usec_t unit, usec_t accuracy, usec_t *rest)
{
	int places = 0;

	for (; unit > 1; unit /= 10)
		places++;
	for (; accuracy > 1; accuracy /= 10) {
		*rest /= 10;
		places--;
	}
	return places;
}

char *timespan_print(char *buf, size_t size, usec_t span, usec_t accuracy)
{
	static const struct {
		const char *name;
		usec_t usec;
	} table[] = {
		{ "y", USEC_PER_YEAR }, { "month", USEC_PER_MONTH }, { "w", USEC_PER_WEEK },
		{ "d", USEC_PER_DAY }, { "h", USEC_PER_HOUR }, { "min", USEC_PER_MINUTE },
		{ "s", USEC_PER_SEC }, { "ms", USEC_PER_MSEC }, { "us", 1 },
	};
	size_t used = 0;

	if (span == USEC_NEVER || span == 0) {
		(void) snprintf(buf, size, "%s", span == 0 ? "0" : "infinity");
		return buf;
	}
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]) && span > 0; i++) {
		usec_t unit = table[i].usec, rest = span % unit;
		const char *gap = used > 0 ? " " : "";
		int places = 0;

		if (span < accuracy && used > 0)
			break;
		if (span < unit)
			continue;
		if (span < USEC_PER_MINUTE && rest > 0)
			places = decimal_places(unit, accuracy, &rest);
		if (places > 0) {
			append(buf, size, &used, "%s%" PRIu64 ".%0*" PRIu64 "%s", gap, span / unit,
			       places, rest, table[i].name);
			break;
		}
		append(buf, size, &used, "%s%" PRIu64 "%s", gap, span / unit, table[i].name);
		span %= unit;
	}
	return buf;
}

/* "1 year 2 months" */
static void print_pair(char *buf, size_t size, usec_t a, const char *a_name, usec_t b,
		       const char *b_name)
{
	(void) snprintf(buf, size, "%" PRIu64 " %s%s %" PRIu64 " %s%s", a, a_name,
			a == 1 ? "" : "s", b, b_name, b == 1 ? "" : "s");
}

static char *print_rough_days(char *buf, size_t size, usec_t span)
{
	if (span >= USEC_PER_YEAR)
		print_pair(buf, size, span / USEC_PER_YEAR, "year",
			   span % USEC_PER_YEAR / USEC_PER_MONTH, "month");
	else if (span >= USEC_PER_MONTH)
		print_pair(buf, size, span / USEC_PER_MONTH, "month",
			   span % USEC_PER_MONTH / USEC_PER_DAY, "day");
	else if (span >= USEC_PER_WEEK)
		print_pair(buf, size, span / USEC_PER_WEEK, "week",
			   span % USEC_PER_WEEK / USEC_PER_DAY, "day");
	else if (span >= 2 * USEC_PER_DAY)
		(void) snprintf(buf, size, "%" PRIu64 " days", span / USEC_PER_DAY);
	else
		(void) snprintf(buf, size, "1 day %" PRIu64 "h",
				(span - USEC_PER_DAY) / USEC_PER_HOUR);
	return buf;
}

char *timespan_print_rough(char *buf, size_t size, usec_t span)
{
	if (span >= 25 * USEC_PER_HOUR)
		return print_rough_days(buf, size, span);
	if (span >= 6 * USEC_PER_HOUR)
		(void) snprintf(buf, size, "%" PRIu64 "h", span / USEC_PER_HOUR);
	else if (span >= USEC_PER_HOUR)
		(void) snprintf(buf, size, "%" PRIu64 "h %" PRIu64 "min", span / USEC_PER_HOUR,
				span % USEC_PER_HOUR / USEC_PER_MINUTE);
	else if (span >= 5 * USEC_PER_MINUTE)
		(void) snprintf(buf, size, "%" PRIu64 "min", span / USEC_PER_MINUTE);
	else if (span >= USEC_PER_MINUTE)
		(void) snprintf(buf, size, "%" PRIu64 "min %" PRIu64 "s", span / USEC_PER_MINUTE,
				span % USEC_PER_MINUTE / USEC_PER_SEC);
	else if (span >= USEC_PER_SEC)
		(void) snprintf(buf, size, "%" PRIu64 "s", span / USEC_PER_SEC);
	else if (span >= USEC_PER_MSEC)
		(void) snprintf(buf, size, "%" PRIu64 "ms", span / USEC_PER_MSEC);
	else if (span > 0)
		(void) snprintf(buf, size, "%" PRIu64 "us", span);
	else
		(void) snprintf(buf, size, "now");
	return buf;
}
