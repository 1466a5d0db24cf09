/* SPDX-License-Identifier: MIT */
#include "timer/calendar_layout.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/text.h"
#include "timer/calendar.h"
#include "timer/calendar_scan.h"
#include "timer/civil.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool at_end_or(const struct cursor *c, char other)
{
	return c->at == c->end || *c->at == other;
}

static void skip_spaces(struct cursor *c)
{
	while (take(c, ' '))
		;
}

/* One field, its items read for their grammar only; *ret says where it stands. */
static int read_field(struct cursor *c, enum calendar_field field, struct field_text *ret)
{
	const char *start = c->at;
	struct calendar_item item;
	int count = 0, r;

	if (take(c, '*')) {
		/* a second counts microseconds, so any of them needs saying */
		static const char every_second[] = "0/1";

		*ret = field == FIELD_SECOND
			? (struct field_text) { every_second, every_second + 3 }
			: (struct field_text) { NULL, NULL };
		return 0;
	}
	do {
		if (++count > CALENDAR_ITEM_MAX)
			return calendar_syntax_error(c, "no more than 241 items");
		r = calendar_item_scan(c, field, &item);
		if (r < 0)
			return r;
	} while (take(c, ','));
	*ret = (struct field_text) { start, c->at };
	return 0;
}

static const char *const weekday_names[7] = {
	"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
};

/* Returns the length of the name of a weekday, 0 if none stands there. */
static size_t weekday_at(const struct cursor *c, int *ret)
{
	size_t rest = (size_t) (c->end - c->at);

	for (int i = 0; i < 7; i++) {
		size_t length = strlen(weekday_names[i]);

		if (rest < 3 || strncasecmp(c->at, weekday_names[i], 3) != 0)
			continue;
		*ret = i;
		return rest >= length && strncasecmp(c->at, weekday_names[i], length) == 0 ? length
											   : 3;
	}
	return 0;
}

/* What stands behind a weekday: its list goes on ("," or ".."), or ends. Ranges with '-' are
 * old. */
static int read_weekday_joint(struct cursor *c, bool in_range, bool *ret_opens_range)
{
	*ret_opens_range = false;
	if (take(c, ',') || at_end_or(c, ' '))
		return 0;
	if (!in_range && (peek(c, 0) == '-' || (peek(c, 0) == '.' && peek(c, 1) == '.'))) {
		c->at += peek(c, 0) == '-' ? 1 : 2;
		*ret_opens_range = true;
		return 0;
	}
	return calendar_syntax_error(c, in_range ? "a space or ',' behind the range of weekdays"
					: "a space, ',' or '..' behind the weekday");
}

/* "Mon..Fri,Sun ", if it stands there. A comma at the end is let pass, as in systemd. */
static int read_weekdays(struct cursor *c, unsigned *ret)
{
	bool in_range = false, opens_range;
	int first = 0, day, r;
	size_t length;

	while ((length = weekday_at(c, &day)) > 0) {
		if (!in_range)
			first = day;
		if (first > day)
			return parse_error_at(c->error, (unsigned) (c->at - c->text) + 1,
					      "a range of weekdays cannot run past Sunday");
		for (int i = first; i <= day; i++)
			*ret |= 1u << i;
		c->at += length;
		r = read_weekday_joint(c, in_range, &opens_range);
		if (r < 0)
			return r;
		in_range = opens_range;
		if (at_end_or(c, ' ')) {
			skip_spaces(c);
			return in_range ? calendar_syntax_error(c, "a weekday") : 0;
		}
	}
	return *ret != 0 ? calendar_syntax_error(c, "a weekday") : 0;
}

/* '-' or '~' before a day or month */
static int read_separator(struct cursor *c, struct calendar_layout *l)
{
	if (take(c, '~'))
		l->days_from_end = true;
	else if (!take(c, '-'))
		return calendar_syntax_error(c, "'-' or ':'");
	return 0;
}

/* "Y-M-D ", "M-D " or nothing; leaves the cursor alone if a time stands there. */
static int read_date(struct cursor *c, struct calendar_layout *l)
{
	const char *start = c->at;
	struct field_text first, second;
	int r;

	if (c->at == c->end)
		return 0;
	r = read_field(c, FIELD_YEAR, &first);
	if (r < 0)
		return r;
	if (at_end_or(c, ':')) {
		c->at = start;
		return 0;
	}
	r = read_separator(c, l);
	if (r == 0)
		r = read_field(c, FIELD_MONTH, &second);
	if (r < 0)
		return r;
	if (at_end_or(c, ' ')) {
		l->field[FIELD_MONTH] = first;
		l->field[FIELD_DAY] = second;
		skip_spaces(c);
		return 0;
	}
	if (l->days_from_end)
		return calendar_syntax_error(c, "a space behind the day");
	l->field[FIELD_YEAR] = first;
	l->field[FIELD_MONTH] = second;
	r = read_separator(c, l);
	if (r == 0)
		r = read_field(c, FIELD_DAY, &l->field[FIELD_DAY]);
	if (r < 0)
		return r;
	if (!at_end_or(c, ' '))
		return calendar_syntax_error(c, "a space behind the date");
	skip_spaces(c);
	return 0;
}

/* "H:M:S", "H:M" or nothing, up to the end */
static int read_time(struct cursor *c, struct calendar_layout *l)
{
	static const char zero[] = "0";
	int r;

	for (int i = FIELD_HOUR; i <= FIELD_SECOND; i++)
		l->field[i] = (struct field_text) { zero, zero + 1 };
	if (c->at == c->end)
		return 0;
	r = read_field(c, FIELD_HOUR, &l->field[FIELD_HOUR]);
	if (r == 0 && !take(c, ':'))
		r = calendar_syntax_error(c, "':'");
	if (r == 0)
		r = read_field(c, FIELD_MINUTE, &l->field[FIELD_MINUTE]);
	if (r < 0 || c->at == c->end)
		return r;
	if (!take(c, ':'))
		return calendar_syntax_error(c, "':'");
	r = read_field(c, FIELD_SECOND, &l->field[FIELD_SECOND]);
	if (r == 0 && c->at != c->end)
		r = calendar_syntax_error(c, "the end");
	return r;
}

/* "@SECONDS", a moment: written out as a date. What strtoul() takes before the digits is taken. */
static int read_epoch(struct cursor *c, struct calendar_layout *l)
{
	const char *start = c->at;
	struct civil date;
	int64_t value = 0;
	bool minus;

	c->at++;
	while (c->at < c->end && strchr(" \t\n\v\f\r", *c->at))
		c->at++;
	minus = take(c, '-');
	if (!minus)
		(void) take(c, '+');
	if (!is_digit(peek(c, 0)))
		return calendar_syntax_error(c, "a number of seconds");
	for (; is_digit(peek(c, 0)); c->at++)
		if (value < INT64_MAX / 20)
			value = value * 10 + (*c->at - '0');
	if (c->at != c->end)
		return calendar_syntax_error(c, "the end");
	if (minus && value != 0)
		value = INT64_MAX / 20;
	if (value >= days_from_date(CALENDAR_YEAR_MAX + 1, 1, 1) * SEC_PER_DAY)
		return parse_error_at(c->error, (unsigned) (start - c->text) + 1,
				      "the moment '%.40s' is not in the years %d to %d", start,
				      CALENDAR_YEAR_MIN, CALENDAR_YEAR_MAX);
	civil_from_seconds(value, &date);
	(void) snprintf(l->epoch, sizeof(l->epoch), "%" PRIi64 "-%d-%d %d:%d:%d", date.year,
			date.month, date.day, date.hour, date.minute, date.second);
	l->is_utc = true;
	return 1;
}

static const struct {
	const char *name, *meaning;
} names[] = {
	{ "minutely", "*-*-* *:*:00" },
	{ "hourly", "*-*-* *:00:00" },
	{ "daily", "*-*-* 00:00:00" },
	{ "weekly", "Mon *-*-* 00:00:00" },
	{ "monthly", "*-*-01 00:00:00" },
	{ "quarterly", "*-01,04,07,10-01 00:00:00" },
	{ "semiannually", "*-01,07-01 00:00:00" },
	{ "semi-annually", "*-01,07-01 00:00:00" },
	{ "biannually", "*-01,07-01 00:00:00" },
	{ "bi-annually", "*-01,07-01 00:00:00" },
	{ "annually", "*-01-01 00:00:00" },
	{ "yearly", "*-01-01 00:00:00" },
	{ "anually", "*-01-01 00:00:00" }, /* once misspelt in systemd, still taken */
};

static const char *meaning_of_name(const char *text, size_t length)
{
	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (strlen(names[i].name) == length &&
		    strncasecmp(names[i].name, text, length) == 0)
			return names[i].meaning;
	return NULL;
}

static const char *next_known_word(void *userdata, size_t i)
{
	const size_t name_count = ELEMENTS(names) - 1; /* without the misspelt one */

	(void) userdata;
	if (i < name_count)
		return names[i].name;
	return i - name_count < ELEMENTS(weekday_names) ? weekday_names[i - name_count] : NULL;
}

/* A word at the beginning that is neither a name nor a weekday. */
static int unknown_word(const struct cursor *c)
{
	char word[24] = "";
	const char *known;
	size_t n = 0;

	for (; n + 1 < sizeof(word) && (is_letter(peek(c, (ptrdiff_t) n)) ||
					peek(c, (ptrdiff_t) n) == '-'); n++)
		word[n] = peek(c, (ptrdiff_t) n);
	word[n] = '\0';
	known = text_suggest(word, next_known_word, NULL);
	return parse_error_at(c->error, (unsigned) (c->at - c->text) + 1,
			      "'%s' is neither a weekday nor a name like 'daily'%s%s%s", word,
			      known ? " (did you mean '" : "", known ? known : "",
			      known ? "'?)" : "");
}

static int read_parts(struct cursor *c, struct calendar_layout *l)
{
	int r = read_weekdays(c, &l->weekdays);

	if (r == 0 && l->weekdays == 0 && is_letter(peek(c, 0)))
		return unknown_word(c);
	if (r == 0 && peek(c, 0) == '@') {
		r = read_epoch(c, l);
		if (r < 0)
			return r;
		*c = (struct cursor) { l->epoch, l->epoch, l->epoch + strlen(l->epoch), NULL };
		r = 0;
	}
	if (r == 0)
		r = read_date(c, l);
	return r == 0 ? read_time(c, l) : r;
}

/* Cuts the zone off the end: "UTC" in any case, or a last word that can only be a zone, because no
 * date or time begins with a letter or a sign. */
static const char *cut_zone(const char *text, struct calendar_layout *l)
{
	const char *space = strrchr(text, ' ');

	if (!space || !(is_letter(space[1]) || space[1] == '+' || space[1] == '-'))
		return text + strlen(text);
	if (strcasecmp(space + 1, "UTC") == 0)
		l->is_utc = true;
	else
		l->zone_word = space + 1;
	return space;
}

int calendar_layout_read(const char *text, struct calendar_layout *ret, struct parse_error *reterr)
{
	struct cursor c = { text, text, NULL, reterr };
	const char *meaning;

	*ret = (struct calendar_layout) { .weekdays = 0 };
	if (strlen(text) > UINT16_MAX)
		return parse_error_at(reterr, UINT16_MAX, "the expression is too long");
	c.end = cut_zone(text, ret);
	if (c.end == text)
		return parse_error_at(reterr, 1, "the expression is empty");
	meaning = meaning_of_name(text, (size_t) (c.end - text));
	if (meaning)
		c = (struct cursor) { meaning, meaning, meaning + strlen(meaning), reterr };
	return read_parts(&c, ret);
}
