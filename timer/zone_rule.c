/* SPDX-License-Identifier: MIT */
#include "timer/zone_rule.h"

#include <string.h>

#include "base/parse_error.h"
#include "timer/civil.h"
#include "timer/zone.h"

struct cursor {
	const char *text, *at;
	struct parse_error *error;
};

static int rule_error(const struct cursor *c, const char *why)
{
	return parse_error_at(c->error, (unsigned) (c->at - c->text) + 1,
			      "%s in the zone rule '%.40s'", why, c->text);
}

static bool take(struct cursor *c, char wanted)
{
	if (*c->at != wanted)
		return false;
	c->at++;
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int read_number(struct cursor *c, int min, int max, int *ret)
{
	const struct cursor start = *c;
	int value = 0;

	if (!is_digit(*c->at))
		return rule_error(c, "expected a number");
	for (; is_digit(*c->at) && value <= max; c->at++)
		value = value * 10 + (*c->at - '0');
	if (value < min || value > max)
		return rule_error(&start, value < min ? "number too small" : "number too large");
	*ret = value;
	return 0;
}

/* Three letters or more; or anything of letters, digits and signs between < and >. */
static int read_name(struct cursor *c, char *ret)
{
	bool quoted = take(c, '<');
	const char *start = c->at;
	size_t n;

	while (is_letter(*c->at) ||
	       (quoted && (is_digit(*c->at) || *c->at == '+' || *c->at == '-')))
		c->at++;
	n = (size_t) (c->at - start);
	if (n < 3 || n >= ZONE_ABBREVIATION_MAX)
		return rule_error(c, "a name has 3 to 31 characters");
	memcpy(ret, start, n);
	ret[n] = '\0';
	return quoted && !take(c, '>') ? rule_error(c, "expected '>'") : 0;
}

/* [+-]hh[:mm[:ss]] */
static int read_time(struct cursor *c, int max_hours, int32_t *ret)
{
	int sign = take(c, '-') ? -1 : 1, hours, minutes = 0, seconds = 0, r;

	if (sign > 0)
		(void) take(c, '+');
	r = read_number(c, 0, max_hours, &hours);
	if (r == 0 && take(c, ':')) {
		r = read_number(c, 0, 59, &minutes);
		if (r == 0 && take(c, ':'))
			r = read_number(c, 0, 59, &seconds);
	}
	if (r == 0)
		*ret = sign * (hours * 3600 + minutes * 60 + seconds);
	return r;
}

/* m.w.d, behind the M */
static int read_month_day(struct cursor *c, struct rule_day *day)
{
	int r = read_number(c, 1, 12, &day->month);

	if (r == 0 && !take(c, '.'))
		r = rule_error(c, "expected '.'");
	if (r == 0)
		r = read_number(c, 1, 5, &day->week);
	if (r == 0 && !take(c, '.'))
		r = rule_error(c, "expected '.'");
	return r == 0 ? read_number(c, 0, 6, &day->day) : r;
}

static int read_day(struct cursor *c, struct rule_day *ret)
{
	struct rule_day day = { .time = 2 * 3600 };
	int r;

	if (take(c, 'M')) {
		day.kind = RULE_DAY_MONTH;
		r = read_month_day(c, &day);
	} else if (take(c, 'J')) {
		day.kind = RULE_DAY_JULIAN;
		r = read_number(c, 1, 365, &day.day);
	} else {
		day.kind = RULE_DAY_ZERO;
		r = read_number(c, 0, 365, &day.day);
	}
	if (r == 0 && take(c, '/'))
		r = read_time(c, 167, &day.time);
	*ret = day;
	return r;
}

static int read_dates(struct cursor *c, struct zone_rule *rule)
{
	int r;

	if (!take(c, ','))
		return rule_error(c, "expected ','");
	r = read_day(c, &rule->dst_start);
	if (r == 0 && !take(c, ','))
		r = rule_error(c, "expected ','");
	return r == 0 ? read_day(c, &rule->dst_end) : r;
}

/* Dates of the US, which libc takes when a rule names none. */
static int take_usual_dates(struct zone_rule *rule)
{
	rule->dst_start = (struct rule_day) { RULE_DAY_MONTH, 3, 2, 0, 2 * 3600 };
	rule->dst_end = (struct rule_day) { RULE_DAY_MONTH, 11, 1, 0, 2 * 3600 };
	return 0;
}

static int read_dst(struct cursor *c, struct zone_rule *rule)
{
	int r = read_name(c, rule->dst_name);

	if (r < 0)
		return r;
	rule->has_dst = true;
	rule->dst_offset = rule->std_offset + 3600;
	if (*c->at != ',' && *c->at != '\0') {
		r = read_time(c, 24, &rule->dst_offset);
		if (r < 0)
			return r;
		rule->dst_offset = -rule->dst_offset;
	}
	return *c->at == '\0' ? take_usual_dates(rule) : read_dates(c, rule);
}

int zone_rule_parse(const char *text, struct zone_rule *ret, struct parse_error *reterr)
{
	struct cursor c = { text, text, reterr };
	struct zone_rule rule = { .has_dst = false };
	int r;

	r = read_name(&c, rule.std_name);
	if (r == 0)
		r = read_time(&c, 24, &rule.std_offset);
	if (r < 0)
		return r;
	rule.std_offset = -rule.std_offset; /* a rule counts west, we count east */
	if (*c.at != '\0')
		r = read_dst(&c, &rule);
	if (r < 0)
		return r;
	if (*c.at != '\0')
		return rule_error(&c, "unexpected text");
	*ret = rule;
	return 0;
}

/* Days since 1970-01-01. */
static int64_t rule_day_in_year(const struct rule_day *day, int64_t year)
{
	int64_t first = days_from_date(year, day->kind == RULE_DAY_MONTH ? day->month : 1, 1), n;

	switch (day->kind) {
	case RULE_DAY_JULIAN:
		return first + day->day - 1 + (day->day >= 60 && year_is_leap(year));
	case RULE_DAY_ZERO:
		return first + day->day;
	case RULE_DAY_MONTH:
		break;
	}
	n = (day->day + 6 - weekday_from_days(first)) % 7 + 7 * (day->week - 1);
	if (n >= month_length(year, day->month))
		n -= 7;
	return first + n;
}

struct change {
	int64_t when;
	bool to_dst;
};

/* When DST starts and ends in @year. Of two changes at one moment the later in the list counts: so
 * DST that ends when it starts is none, and an end that meets the start of the next year gives way
 * to it, which is how a rule says "all year" (RFC 9636, 3.3.1). */
static void changes_of_year(const struct zone_rule *rule, int64_t year, struct change ret[2])
{
	struct change start = {
		rule_day_in_year(&rule->dst_start, year) * SEC_PER_DAY + rule->dst_start.time -
			rule->std_offset, true };
	struct change end = {
		rule_day_in_year(&rule->dst_end, year) * SEC_PER_DAY + rule->dst_end.time -
			rule->dst_offset, false };

	ret[0] = start.when <= end.when ? start : end;
	ret[1] = start.when <= end.when ? end : start;
}

/* Stable, so that of two changes at one moment the later year's stays behind. */
static void sort_changes(struct change *changes, int n)
{
	for (int i = 1; i < n; i++) {
		struct change moving = changes[i];
		int j = i;

		for (; j > 0 && changes[j - 1].when > moving.when; j--)
			changes[j] = changes[j - 1];
		changes[j] = moving;
	}
}

/* Leaves those that change something: the last of a moment, if it is not what holds already. */
static int drop_void_changes(struct change *changes, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (i + 1 == n || changes[i].when < changes[i + 1].when)
			if (kept == 0 || changes[kept - 1].to_dst != changes[i].to_dst)
				changes[kept++] = changes[i];
	return kept;
}

/* Some rules change nothing for years: DST from one New Year to the next, but for a day in leap
 * years. What has not changed in 12 years never does: there are 8 between some leap years. */
#define YEARS_FAR 12

/* Looks @years back and on; false if no change is found on either side. */
static bool find_span(const struct zone_rule *rule, int64_t when, int years, struct rule_span *ret)
{
	struct change changes[2 * (2 * YEARS_FAR + 1)];
	struct civil date;
	int n = 0, now = 0;

	civil_from_seconds(when, &date);
	for (int64_t year = date.year - years; year <= date.year + years; year++, n += 2)
		changes_of_year(rule, year, &changes[n]);
	sort_changes(changes, n);
	n = drop_void_changes(changes, n);
	while (now + 1 < n && changes[now + 1].when <= when)
		now++;
	*ret = (struct rule_span) { -ZONE_FOREVER, ZONE_FOREVER, changes[now].to_dst };
	/* the first one found may be no change, seen from before */
	if (now == 0 || now + 1 == n)
		return false;
	ret->start = changes[now].when;
	ret->end = changes[now + 1].when;
	return true;
}

void zone_rule_span_at(const struct zone_rule *rule, int64_t when, struct rule_span *ret)
{
	if (!rule->has_dst)
		*ret = (struct rule_span) { -ZONE_FOREVER, ZONE_FOREVER, false };
	/* times of day reach a week into the years beside */
	else if (!find_span(rule, when, 2, ret))
		(void) find_span(rule, when, YEARS_FAR, ret);
}
