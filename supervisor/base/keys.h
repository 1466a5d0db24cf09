/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_KEYS_H
#define SUPD_BASE_KEYS_H

/* Tables of keys: services, timers and supd.conf each describe their keys as rows; one function
 * applies the assignments of a file by them, and words the mistakes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

/* One Key=Value as it was read. */
struct assignment {
	const char *section;
	const char *key;
	/* surrounding blanks trimmed, continuation lines joined, else verbatim */
	const char *value;
	const char *file;
	uint32_t line;
	uint32_t section_line; /* of the section's header; 0: not known */
};

/* What a key is; supd.service(5) tells people. */
enum key_kind {
	KEY_KNOWN,       /* parsed by parse() */
	KEY_HARMLESS,    /* systemd's, no effect wanted here: accepted */
	/* systemd's, asks for something not yet done here: accepted with a warning */
	KEY_NOT_APPLIED,
};

struct key_context;

/* Reports its own mistakes through key_error() and key_warning(); returns 0 or -ENOMEM. */
typedef int key_parse_fn(const struct key_context *c);

struct key_row {
	const char *section;
	const char *key;
	enum key_kind kind;
	key_parse_fn *parse; /* KEY_KNOWN only */
	size_t offset;       /* of the field in the object; for parse() */
	int64_t parameter;   /* for parse(): a limit, a flag, a default */
};

struct key_table {
	const struct key_row *row;
	size_t n;
	/* Sections of other unit kinds, passed over as a whole ("Install"); NULL-terminated, may be
	 * NULL. */
	const char *const *ignored_sections;
	/* Does this value of a key that is not applied ask for nothing ("no")? NULL: only an empty
	 * one does. */
	bool (*asks_for_nothing)(const char *key, const char *value);
};

struct key_context {
	const struct key_row *row;
	const struct assignment *assignment;
	struct arena *arena;
	struct diag *diag;
	void *object; /* the spec being filled */
};

/* File, line and key of the assignment are added. */
void key_error(const struct key_context *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void key_warning(const struct key_context *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The field at row->offset of the object. */
void *key_field(const struct key_context *c);

/* Parse functions for rows, named after the type of the field. An empty value resets it: to
 * row->parameter where it is a number, to NULL for a string. */
int key_parse_bool(const struct key_context *c);   /* bool */
int key_parse_span(const struct key_context *c);   /* usec_t */
int key_parse_string(const struct key_context *c); /* const char *, in the arena */
int key_parse_mode(const struct key_context *c);   /* mode_t */
int key_parse_signal(const struct key_context *c); /* int */
int key_parse_int(const struct key_context *c);    /* int, any */

/* Applies @n assignments in their order to @object. X-Foo= where Foo= is KNOWN in that section is
 * that key; other X- keys and [X-…] sections are ignored. An unknown key or section is an error
 * with a suggestion: "unknown key 'OnCallendar' in section [Timer] (did you mean OnCalendar=?)". 0
 * or -ENOMEM. */
int keys_apply(const struct key_table *table, const struct assignment *assignment, size_t n,
	       struct arena *arena, struct diag *d, void *object);

#endif
