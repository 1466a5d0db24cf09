/* SPDX-License-Identifier: MIT */
#include "service/notify.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

static void mistake(struct notification *t, const char *sentence)
{
	if (!t->mistake)
		t->mistake = sentence;
}

/* ---- metrics ---- */

static bool name_is_valid(const char *name)
{
	size_t n = strspn(name, LETTERS DIGITS ".:-");

	return n > 0 && n <= NOTIFY_METRIC_NAME_MAX && !name[n] && strchr(LETTERS, *name);
}

/* [+-]digits[.digits][e[+-]digits], a digit before or after the point: strtod() alone takes more,
 * "inf" and "0x1" too. */
static bool number_is_valid(const char *s)
{
	size_t whole, fraction = 0;

	s += *s == '+' || *s == '-';
	whole = strspn(s, DIGITS);
	s += whole;
	if (*s == '.') {
		fraction = strspn(s + 1, DIGITS);
		s += 1 + fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		if (strspn(s, DIGITS) == 0)
			return false;
		s += strspn(s, DIGITS);
	}
	return !*s;
}

/* "NAME=NUMBER", cut up. */
static void take_metric(struct notification *t, char *value)
{
	char *equals = strchr(value, '=');
	double number;

	if (equals)
		*equals = '\0';
	if (!equals || !name_is_valid(value) || !number_is_valid(equals + 1)) {
		mistake(t, "X_SUPD_METRIC= wants NAME=NUMBER");
		return;
	}
	number = strtod(equals + 1, NULL);
	if (!isfinite(number))
		mistake(t, "X_SUPD_METRIC= has a number that is too large");
	else if (t->n_metrics == NOTIFY_METRICS_MAX)
		mistake(t, "more metrics in one message than a run may have");
	else
		t->metric[t->n_metrics++] = (struct metric) { value, number };
}

/* ---- lines ---- */

static void take_status(struct notification *t, char *value)
{
	size_t n = strlen(value);

	if (text_utf8_valid(value, n) == n)
		t->status = value;
	else
		mistake(t, "STATUS= is not UTF-8");
}

static void take_extend(struct notification *t, char *value)
{
	uint64_t usec;

	if (value_unsigned(value, UINT64_MAX, &usec) < 0)
		mistake(t, "EXTEND_TIMEOUT_USEC= wants a number of microseconds");
	else
		t->extend = usec;
}

static const struct {
	const char *name;
	void (*take)(struct notification *t, char *value);
} lines[] = {
	{ "STATUS=", take_status },
	{ "EXTEND_TIMEOUT_USEC=", take_extend },
	{ "X_SUPD_METRIC=", take_metric },
};

static void take_line(struct notification *t, char *line)
{
	for (size_t i = 0; i < ELEMENTS(lines); i++)
		if (str_starts(line, lines[i].name)) {
			lines[i].take(t, line + strlen(lines[i].name));
			return;
		}
}

void notification_parse(char *message, size_t n, struct notification *ret)
{
	char *next;

	*ret = (struct notification) { .n_metrics = 0 };
	/* One at the end is what C strings have. */
	n -= n > 0 && message[n - 1] == '\0';
	if (memchr(message, '\0', n)) {
		mistake(ret, "a message with a NUL byte");
		return;
	}
	message[n] = '\0';
	for (char *line = message; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		take_line(ret, line);
	}
}
