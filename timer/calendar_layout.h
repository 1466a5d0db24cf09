/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_CALENDAR_LAYOUT_H
#define SUPD_TIMER_CALENDAR_LAYOUT_H

/* The grammar of calendar expressions: which part of a text is which field, and what the items of a
 * field are. Parsing and printing both read a text through it. Private to calendar*.c. */

#include <stdbool.h>
#include <stddef.h>

struct parse_error;

enum calendar_field {
	FIELD_YEAR,
	FIELD_MONTH,
	FIELD_DAY,
	FIELD_HOUR,
	FIELD_MINUTE,
	FIELD_SECOND, /* its items count microseconds */
};
#define FIELD_COUNT (FIELD_SECOND + 1)

/* Longest list in a field, as in systemd. */
#define CALENDAR_ITEM_MAX 241

#define SECOND_UNIT 1000000
#define MINUTE_UNIT (60 * SECOND_UNIT)

struct calendar_range {
	const char *name;
	int min, max;
};
extern const struct calendar_range calendar_ranges[FIELD_COUNT];

/* The text of one field; @at is NULL where any value will do. */
struct field_text {
	const char *at, *end;
};

struct calendar_layout {
	struct field_text field[FIELD_COUNT];
	const char *zone_word;   /* the last word, if it is to name a zone other than UTC */
	unsigned weekdays;       /* bit 0 is Monday; 0: none given */
	bool days_from_end;
	bool is_utc;
	char epoch[48];          /* what @SECONDS stands for */
};

/* "1", "1..5", "1/2" or "1..5/2" */
struct calendar_item {
	int start;
	int stop;  /* -1: none */
	int step;  /* 0: none */
	unsigned offset; /* where it stands in its field's text */
};

/* @ret borrows @text, and points into itself. Checks the grammar, not the ranges of values. */
int calendar_layout_read(const char *text, struct calendar_layout *ret, struct parse_error *reterr);

/* The items of a field that is not "any", brought into normal form one by one, their ranges
 * checked: @ret has room for CALENDAR_ITEM_MAX. Returns how many; a negative errno on a value that
 * the field cannot take. @text is where columns count from. */
int calendar_items_read(const struct calendar_layout *layout, enum calendar_field field,
			const char *text, struct calendar_item *ret, struct parse_error *reterr);

/* Step through a seconds field whose items were checked before, without storing them. False after
 * the last. */
bool calendar_item_next(const char **p, const char *end, enum calendar_field field,
			struct calendar_item *ret);

/* Any second: "*", "0/1", or a list with that among its items. */
bool calendar_items_are_any_second(const struct calendar_item *items, int count);

#endif
