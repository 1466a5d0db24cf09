/* SPDX-License-Identifier: MIT */
#include "timer/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/parse_error.h"
#include "base/timespan.h"
#include "timer/civil.h"
#include "timer/zone.h"

/* The last moment that is printed and taken, 9999-12-30 23:59:59.999999 UTC: behind it some zone
 * would have to print a year of five digits. */
#define TIMESTAMP_LAST (INT64_C(253402214400) * USEC_PER_SEC - 1)

/* One text being read: [at, end), the zone's word and what else is known taken off its ends. */
struct scan {
	const char *text, *at, *end;
	const char *furthest; /* where the best attempt ended */
	const struct zone *zone;
	bool is_bound, is_dst; /* an abbreviation says which */
	struct parse_error *error;
};

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(const struct scan *s, const char *word)
{
	size_t n = strlen(word);

	return (size_t) (s->end - s->at) == n && memcmp(s->at, word, n) == 0;
}

/* Up to @max_digits, of a number no larger than @max; spaces before it are passed over. */
static bool read_number(const char **p, const char *end, int min, int max, int max_digits, int *ret)
{
	int value = 0, digits = 0;

	while (*p < end && is_space(**p))
		(*p)++;
	for (; *p < end && is_digit(**p) && digits < max_digits; digits++) {
		if (digits > 0 && value * 10 > max)
			break;
		value = value * 10 + (*(*p)++ - '0');
	}
	if (digits == 0 || value < min || value > max)
		return false;
	*ret = value;
	return true;
}

static bool read_month_name(const char **p, const char *end, int *ret)
{
	static const char *const names[12] = {
		"January", "February", "March", "April", "May", "June", "July", "August",
		"September", "October", "November", "December",
	};

	for (int i = 0; i < 12; i++) {
		size_t n = strlen(names[i]);

		if ((size_t) (end - *p) < n || strncasecmp(*p, names[i], n) != 0)
			n = 3;
		if ((size_t) (end - *p) < n || strncasecmp(*p, names[i], n) != 0)
			continue;
		*p += n;
		*ret = i + 1;
		return true;
	}
	return false;
}

/* One letter of a form: y Y year, b m month, d day, H M S time of day. */
static bool read_part(const char **p, const char *end, char letter, struct civil *date)
{
	int year = 0;
	bool ok;

	switch (letter) {
	case 'y':
		ok = read_number(p, end, 0, 99, 2, &year);
		date->year = year + (year >= 69 ? 1900 : 2000);
		return ok;
	case 'Y':
		ok = read_number(p, end, 0, 9999, 4, &year);
		date->year = year;
		return ok;
	case 'b':
		return read_month_name(p, end, &date->month);
	case 'm':
		return read_number(p, end, 1, 12, 2, &date->month);
	case 'd':
		return read_number(p, end, 1, 31, 2, &date->day);
	case 'H':
		return read_number(p, end, 0, 23, 2, &date->hour);
	case 'M':
		return read_number(p, end, 0, 59, 2, &date->minute);
	default: /* a minute has up to 61 seconds, as for strptime() */
		return read_number(p, end, 0, 61, 2, &date->second);
	}
}

/* Reads by a form of letters and separators; a space stands for any space, also none. Returns
 * where it ends, or NULL. */
static const char *read_form(struct scan *s, const char *form, struct civil *date)
{
	const char *p = s->at;

	for (; *form != '\0'; form++) {
		if (p > s->furthest)
			s->furthest = p;
		if (*form == ' ') {
			while (p < s->end && is_space(*p))
				p++;
		} else if (*form == '-' || *form == ':') {
			if (p == s->end || *p++ != *form)
				return NULL;
		} else if (!read_part(&p, s->end, *form, date)) {
			return NULL;
		}
	}
	if (p > s->furthest)
		s->furthest = p;
	return p;
}

/* ".5": six digits count, the seventh rounds. It has to end the text. */
static bool read_fraction(struct scan *s, const char *p, usec_t *ret)
{
	usec_t value = 0, unit = USEC_PER_SEC;
	bool has_digits = false;

	for (; p < s->end && is_digit(*p); p++, has_digits = true) {
		if (unit == 1) {
			value += *p >= '5';
			unit = 0;
		}
		unit /= 10;
		value += (usec_t) (*p - '0') * unit;
	}
	if (p > s->furthest)
		s->furthest = p;
	*ret = value;
	return has_digits && p == s->end;
}

static int scan_error(const struct scan *s, const char *why)
{
	const char *at = s->furthest < s->end ? s->furthest : s->end;

	return parse_error_at(s->error, (unsigned) (at - s->text) + 1, "%s", why);
}

/* The forms in the order they are tried; what a form does not name comes from today, or is 0. */
static bool read_date_and_time(struct scan *s, struct civil *date, usec_t *ret_fraction)
{
	static const char *const forms[] = {
		"y-m-d H:M:S", "Y-m-d H:M:S", "b d H:M:S", "y-m-d H:M", "Y-m-d H:M",
		"y-m-d", "Y-m-d", "H:M:S", "H:M",
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct civil found = *date;
		const char *p;

		found.hour = found.minute = found.second = 0;
		p = read_form(s, forms[i], &found);
		if (!p)
			continue;
		*ret_fraction = 0;
		if (p != s->end && !(strchr(forms[i], 'S') && *p == '.' &&
				     read_fraction(s, p + 1, ret_fraction)))
			continue;
		*date = found;
		return true;
	}
	return false;
}

/* -1: none. The name and one space are taken off the text. */
static int read_weekday(struct scan *s)
{
	static const char *const names[7] = { "Monday", "Tuesday", "Wednesday", "Thursday",
					      "Friday", "Saturday", "Sunday" };

	for (int i = 0; i < 7; i++)
		for (size_t n = strlen(names[i]); n >= 3; n = n > 3 ? 3 : 0)
			if ((size_t) (s->end - s->at) > n && s->at[n] == ' ' &&
			    strncasecmp(s->at, names[i], n) == 0) {
				s->at += n + 1;
				return i;
			}
	return -1;
}

/* The offset of the nearest time, as libc looks for it, when the zone's clock is on standard or
 * on daylight-saving time. "12:00 CEST" in winter is meant on the clock of summer. */
static int32_t bound_offset(const struct scan *s, int64_t when)
{
	const int64_t stride = 601200, limit = 536454000 / 2 + stride;
	struct zone_era era;

	for (int64_t delta = 0; delta < limit; delta += stride)
		for (int sign = -1; sign <= 1; sign += 2) {
			zone_era_at(s->zone, when + sign * delta, &era);
			if (era.is_dst == s->is_dst)
				return era.offset;
		}
	zone_era_at(s->zone, when, &era);
	return era.offset;
}

static int64_t seconds_in_zone(const struct scan *s, int64_t local)
{
	struct zone_era era;
	enum zone_fit fit;
	int64_t when;

	fit = zone_from_local(s->zone, local, &when);
	if (s->is_bound) {
		zone_era_at(s->zone, when, &era);
		if (fit == ZONE_ONCE && era.is_dst == s->is_dst)
			return when;
		return local - bound_offset(s, when);
	}
	if (fit == ZONE_GAP) {
		zone_era_at(s->zone, when - 1, &era);
		return local - era.offset;
	}
	return when;
}

static int from_civil(const struct scan *s, const struct civil *date, usec_t fraction, usec_t *ret)
{
	int64_t when = seconds_in_zone(s, seconds_from_civil(date));

	if (when < 0)
		return parse_error_at(s->error, 1, "the time lies before 1970");
	if ((usec_t) when > TIMESTAMP_LAST / USEC_PER_SEC)
		return parse_error_at(s->error, 1, "the time lies after the year 9999");
	*ret = (usec_t) when * USEC_PER_SEC + fraction;
	return 0;
}

static int read_absolute(struct scan *s, usec_t now, usec_t *ret)
{
	static const struct {
		const char *name;
		int days;
	} words[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };
	struct civil date;
	usec_t fraction;
	int weekday;

	zone_to_civil(s->zone, (int64_t) (now / USEC_PER_SEC), &date);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(s, words[i].name)) {
			date.hour = date.minute = date.second = 0;
			date.day += words[i].days;
			return from_civil(s, &date, 0, ret);
		}
	weekday = read_weekday(s);
	s->furthest = s->at;
	if (!read_date_and_time(s, &date, &fraction))
		return scan_error(s, "not a point in time (like '2026-11-21 09:30:00', '09:30', "
				  "'tomorrow', '+5min' or '@1795253400')");
	if (weekday >= 0 &&
	    weekday != weekday_from_days(days_from_date(date.year, date.month, date.day)))
		return parse_error_at(s->error, 1, "the date is not a '%.*s'",
				      (int) (s->at - s->text - 1), s->text);
	return from_civil(s, &date, fraction, ret);
}

static int beyond(struct parse_error *reterr, const char *direction)
{
	return parse_error_at(reterr, 1, "the time lies too far in the %s", direction);
}

/* @sign times the span from now. */
static int from_now(const char *text, size_t skip, size_t length, usec_t now, int sign, usec_t *ret,
		    struct parse_error *reterr)
{
	char copy[256];
	usec_t span;
	int r;

	if (length >= sizeof(copy))
		return parse_error_at(reterr, 1, "the time span is too long");
	memcpy(copy, text + skip, length);
	copy[length] = '\0';
	r = timespan_parse(copy, &span, reterr);
	if (r < 0) {
		if (reterr)
			reterr->column += (unsigned) skip;
		return r;
	}
	if (sign < 0 ? span > now : usec_add(now, span) > TIMESTAMP_LAST)
		return beyond(reterr, sign < 0 ? "past" : "future");
	*ret = sign < 0 ? now - span : now + span;
	return 0;
}

/* Times that know no zone. Returns 1 if @text is none. */
static int read_relative(const char *text, usec_t now, usec_t *ret, struct parse_error *reterr)
{
	size_t n = strlen(text);

	if (strcmp(text, "now") == 0) {
		*ret = now;
		return 0;
	}
	if (text[0] == '@') {
		int r = timespan_parse(text + 1, ret, reterr);

		if (r < 0 && reterr)
			reterr->column++;
		return r;
	}
	if (text[0] == '+' || text[0] == '-')
		return from_now(text, 1, n - 1, now, text[0] == '-' ? -1 : 1, ret, reterr);
	if (n > 4 && strcmp(text + n - 4, " ago") == 0)
		return from_now(text, 0, n - 4, now, -1, ret, reterr);
	if (n > 5 && strcmp(text + n - 5, " left") == 0)
		return from_now(text, 0, n - 5, now, 1, ret, reterr);
	return 1;
}

/* Takes a zone off the end: "UTC", the name of a zone, or an abbreviation of the local one. */
static void cut_zone(struct scan *s, const struct timestamp_context *context)
{
	const char *space = strrchr(s->text, ' ');
	const struct zone *zone = NULL;

	s->zone = context->local;
	if (!space)
		return;
	if (strcasecmp(space, " UTC") == 0) {
		s->zone = zone_utc();
		s->end = space;
		return;
	}
	if (context->find_zone && ((space[1] | 0x20) >= 'a' && (space[1] | 0x20) <= 'z'))
		zone = context->find_zone(context->userdata, space + 1);
	if (zone) {
		s->zone = zone;
		s->end = space;
	}
	for (int is_dst = 0; is_dst < 2; is_dst++) {
		const char *name = zone_name_of(s->zone, is_dst);

		if (name[0] == '\0' ||
		    (zone ? strcmp(name, space + 1) : strcasecmp(name, space + 1)) != 0)
			continue;
		s->is_bound = true;
		s->is_dst = is_dst;
		s->end = space;
		return;
	}
}

int timestamp_parse(const char *text, const struct timestamp_context *context, usec_t *ret,
		    struct parse_error *reterr)
{
	struct scan s = { .text = text, .at = text, .end = text + strlen(text),
			  .furthest = text, .error = reterr };
	int r = read_relative(text, context->now, ret, reterr);

	if (r <= 0)
		return r;
	cut_zone(&s, context);
	return read_absolute(&s, context->now, ret);
}

char *timestamp_print(char *buf, size_t size, usec_t when, const struct zone *zone,
		      bool has_fraction)
{
	static const char days[7][4] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
	char fraction[16] = "";
	struct zone_era era;
	struct civil date;
	const char *name;

	if (when == 0 || when == USEC_NEVER) {
		(void) snprintf(buf, size, "-");
		return buf;
	}
	if (when > TIMESTAMP_LAST) {
		(void) snprintf(buf, size, "--- XXXX-XX-XX XX:XX:XX%s",
				has_fraction ? ".XXXXXX" : "");
		return buf;
	}
	zone_era_at(zone, (int64_t) (when / USEC_PER_SEC), &era);
	civil_from_seconds((int64_t) (when / USEC_PER_SEC) + era.offset, &date);
	if (has_fraction)
		(void) snprintf(fraction, sizeof(fraction), ".%06" PRIu64, when % USEC_PER_SEC);
	name = era.abbreviation;
	(void) snprintf(buf, size, "%s %04" PRIi64 "-%02d-%02d %02d:%02d:%02d%s%s%s",
			days[date.weekday], date.year, date.month, date.day, date.hour, date.minute,
			date.second, fraction, name[0] != '\0' ? " " : "", name);
	return buf;
}
