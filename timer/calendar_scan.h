/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_CALENDAR_SCAN_H
#define SUPD_TIMER_CALENDAR_SCAN_H

/* Reading a calendar expression from left to right. Private to calendar*.c. */

#include <stdbool.h>
#include <stddef.h>

#include "timer/calendar_layout.h"

/* A place in the text; reads as NUL at its end. */
struct cursor {
	const char *text, *at, *end;
	struct parse_error *error;
};

static inline char peek(const struct cursor *c, ptrdiff_t n)
{
	return c->end - c->at > n ? c->at[n] : '\0';
}

static inline bool take(struct cursor *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "@wanted expected at '…'"; -EBADMSG */
int calendar_syntax_error(const struct cursor *c, const char *wanted);

/* One item of a list, grammar only; leaves @ret alone on failure. */
int calendar_item_scan(struct cursor *c, enum calendar_field field, struct calendar_item *ret);

#endif
