/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_EVENTS_H
#define SUPD_CORE_EVENTS_H

/* What can happen that people or programs may want to follow: one table, from which come the line
 * in the log and its fields, the rows of the event stream, and supd-events(7), which names each
 * type and each field (tests/arch). Pure.
 *
 * An event that a plugin tells and that is not in the table is passed on as it is, with the level
 * info and its type for words; the plugin logs it itself. */

#include <stdbool.h>
#include <stddef.h>

#include "supd-plugin.h"

struct event_field {
	const char *key;
	enum supd_type type; /* null, too, where it does not apply */
	const char *meaning;
};

struct event_type {
	const char *name; /* [a-z-]+ */
	int level;        /* syslog's */
	int failed_level; /* where the field "failed" is true */
	/* The sentence. {key}: a field's value; {key|one|many}: a number and its noun; {key?}:
	 * nothing, but see there. A part in [] is left out unless all fields in it have a value: a
	 * number of more than 1, a bool that is true. */
	const char *words;
	const struct event_field *field;
	size_t n_fields;
};

/* NULL past the end. */
const struct event_type *event_type_at(size_t i);
/* NULL: none of that name. */
const struct event_type *event_type_find(const char *name);

#define EVENT_WORDS_MAX 1024

/* The sentence into @buf, cut to fit; lends it. */
const char *event_words(const char *type, const struct supd_row *fields, char *buf, size_t n);
int event_level(const char *type, const struct supd_row *fields);

/* A value as a field of a log has it: numbers as they are, times in microseconds. False: it has
 * none, or is a list or a row. */
bool event_value(const struct supd_field *f, char *buf, size_t n);

#endif
