/* SPDX-License-Identifier: MIT */
#include "base/keys.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"

/* A file with more mistakes than this is no unit file, or somebody's joke. */
#define MISTAKES_MAX 100

/* ---- finding rows ---- */

/* Rows by the hash of section and key, for the tables used last: made on first use, since tables
 * are constants. Only ever a hint: each row found is compared, and what is not found is looked for
 * row by row, so that a table that took the place of another in memory is no harm. */
#define INDEX_SLOTS 1024u
#define INDEX_ROWS_MAX (INDEX_SLOTS / 4 * 3)
#define INDEX_TABLES 4

static struct row_index {
	const struct key_row *row;
	size_t n;
	uint16_t slot[INDEX_SLOTS]; /* number of the row plus one; 0: empty */
} row_index[INDEX_TABLES];

static uint32_t hash_of(const char *section, const char *key)
{
	uint64_t h = text_hash(TEXT_HASH_INIT, section, strlen(section) + 1);

	h = text_hash(h, key, strlen(key));
	return (uint32_t) (h ^ h >> 32);
}

static bool is_row(const struct key_row *row, const char *section, const char *key)
{
	return str_equal(row->key, key) && str_equal(row->section, section);
}

static void index_fill(struct row_index *x, const struct key_table *table)
{
	memset(x->slot, 0, sizeof(x->slot));
	for (size_t i = 0; i < table->n; i++) {
		uint32_t at = hash_of(table->row[i].section, table->row[i].key);

		while (x->slot[at % INDEX_SLOTS])
			at++;
		x->slot[at % INDEX_SLOTS] = (uint16_t) (i + 1);
	}
	x->row = table->row;
	x->n = table->n;
}

static struct row_index *index_of(const struct key_table *table)
{
	static size_t victim;
	struct row_index *x;

	if (table->n > INDEX_ROWS_MAX)
		return NULL;
	for (size_t i = 0; i < INDEX_TABLES; i++)
		if (row_index[i].row == table->row && row_index[i].n == table->n)
			return &row_index[i];
	x = &row_index[victim++ % INDEX_TABLES];
	index_fill(x, table);
	return x;
}

static const struct key_row *find_row(const struct key_table *table, const char *section,
				      const char *key)
{
	const struct row_index *x = index_of(table);

	if (x)
		for (uint32_t at = hash_of(section, key); x->slot[at % INDEX_SLOTS]; at++) {
			const struct key_row *row = &table->row[x->slot[at % INDEX_SLOTS] - 1];

			if (is_row(row, section, key))
				return row;
		}
	for (size_t i = 0; i < table->n; i++)
		if (is_row(&table->row[i], section, key))
			return &table->row[i];
	return NULL;
}

static bool is_ignored_section(const struct key_table *table, const char *section)
{
	if (str_starts(section, "X-"))
		return true;
	for (const char *const *s = table->ignored_sections; s && *s; s++)
		if (str_equal(*s, section))
			return true;
	return false;
}

static bool is_known_section(const struct key_table *table, const char *section)
{
	for (size_t i = 0; i < table->n; i++)
		if (str_equal(table->row[i].section, section))
			return true;
	return false;
}

/* ---- what was meant ---- */

struct suggestions {
	const struct key_table *table;
	const char *section;
	size_t at;
};

/* text_suggest() asks for 0, 1, 2 …: go on where the last answer was found. @section NULL: any. */
static const char *next_key(void *userdata, size_t i)
{
	struct suggestions *s = userdata;

	if (i == 0)
		s->at = 0;
	for (; s->at < s->table->n; s->at++)
		if (!s->section || str_equal(s->table->row[s->at].section, s->section))
			return s->table->row[s->at++].key;
	return NULL;
}

static const char *next_section(void *userdata, size_t i)
{
	const struct suggestions *s = userdata;
	const char *const *ignored = s->table->ignored_sections;

	if (i < s->table->n)
		return s->table->row[i].section;
	return ignored ? ignored[i - s->table->n] : NULL;
}

static const char *section_with_key(const struct key_table *table, const char *key)
{
	for (size_t i = 0; i < table->n; i++)
		if (str_equal(table->row[i].key, key))
			return table->row[i].section;
	return NULL;
}

/* " (did you mean …)", or "" */
static void hint_for_key(const struct key_table *table, const struct assignment *a, char *hint,
			 size_t size)
{
	struct suggestions here = { .table = table, .section = a->section },
			   anywhere = { .table = table };
	const char *elsewhere = section_with_key(table, a->key), *near;

	*hint = '\0';
	if (elsewhere) {
		(void) snprintf(hint, size, " (it belongs into [%s])", elsewhere);
		return;
	}
	near = text_suggest(a->key, next_key, &here);
	if (near) {
		(void) snprintf(hint, size, " (did you mean %s=?)", near);
		return;
	}
	near = text_suggest(a->key, next_key, &anywhere);
	if (near)
		(void) snprintf(hint, size, " (did you mean %s= in [%s]?)", near,
				section_with_key(table, near));
}

static void unknown_key(const struct key_table *table, const struct assignment *a, struct diag *d)
{
	char shown[128], hint[160];

	hint_for_key(table, a, hint, sizeof(hint));
	diag_add(d, DIAG_ERROR, a->file, a->line, a->key, "unknown key '%s' in section [%s]%s",
		 text_escape_to(shown, sizeof(shown), a->key), a->section, hint);
}

static void unknown_section(const struct key_table *table, const struct assignment *a,
			    struct diag *d)
{
	struct suggestions s = {.table = table};
	const char *near = text_suggest(a->section, next_section, &s);
	char shown[128], hint[160] = "";

	if (near)
		(void) snprintf(hint, sizeof(hint), " (did you mean [%s]?)", near);
	diag_add(d, DIAG_ERROR, a->file, a->section_line ? a->section_line : a->line, NULL,
		 "unknown section [%s]%s", text_escape_to(shown, sizeof(shown), a->section), hint);
}

/* ---- applying ---- */

/* The row for @a: by its name, or by X-NAME where NAME is a key of ours. */
static const struct key_row *row_for(const struct key_table *table, const struct assignment *a)
{
	const struct key_row *row = find_row(table, a->section, a->key);

	if (row || !str_starts(a->key, "X-"))
		return row;
	row = find_row(table, a->section, a->key + strlen("X-"));
	return row && row->kind == KEY_KNOWN ? row : NULL;
}

/* What asks for nothing also takes back what stood above it. */
static void note_not_applied(const struct key_table *table, const struct key_context *c)
{
	const struct assignment *a = c->assignment;

	if (!*a->value || (table->asks_for_nothing && table->asks_for_nothing(a->key, a->value)))
		diag_drop_not_applied(c->diag, a->key);
	else
		diag_add(c->diag, DIAG_NOT_APPLIED, a->file, a->line, a->key,
			 "%s= is not applied, ignored", a->key);
}

static int apply_row(const struct key_table *table, const struct key_context *c)
{

	switch (c->row->kind) {
	case KEY_KNOWN:
		return c->row->parse(c);
	case KEY_HARMLESS:
		return 0;
	case KEY_NOT_APPLIED:
		note_not_applied(table, c);
		return 0;
	}
	return 0;
}

/* One mistaken header, not one for each key below it. */
static bool is_same_section(const struct assignment *a, const struct assignment *b)
{
	return str_equal(a->section, b->section) && a->section_line == b->section_line &&
	       a->file == b->file;
}

int keys_apply(const struct key_table *table, const struct assignment *assignment, size_t n,
	       struct arena *arena, struct diag *d, void *object)
{
	const unsigned n_errors_before = d->n_errors;
	const struct assignment *told = NULL;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct assignment *a = &assignment[i];
		struct key_context c = {
			.assignment = a, .arena = arena, .diag = d, .object = object
		};

		if (d->n_errors - n_errors_before >= MISTAKES_MAX) {
			diag_add(d, DIAG_ERROR, a->file, a->line, NULL,
				 "too many mistakes, what follows is not looked at");
			break;
		}
		if (is_ignored_section(table, a->section))
			continue;
		c.row = row_for(table, a);
		if (c.row)
			r = apply_row(table, &c);
		else if (!is_known_section(table, a->section)) {
			if (!told || !is_same_section(told, a))
				unknown_section(table, a, d);
			told = a;
		} else if (!str_starts(a->key, "X-"))
			unknown_key(table, a, d);
	}
	return r < 0 ? r : 0;
}

/* ---- for parse functions ---- */

static void report(const struct key_context *c, enum diag_severity severity, const char *fmt,
		   va_list ap) __attribute__((format(printf, 3, 0)));
static void report(const struct key_context *c, enum diag_severity severity, const char *fmt,
		   va_list ap)
{
	const struct assignment *a = c->assignment;
	_cleanup_free_ char *message = NULL;

	if (vasprintf(&message, fmt, ap) < 0)
		message = NULL;
	diag_add(c->diag, severity, a->file, a->line, a->key, "%s",
		 message ? message : "out of memory");
}

void key_error(const struct key_context *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(c, DIAG_ERROR, fmt, ap);
	va_end(ap);
}

void key_warning(const struct key_context *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(c, DIAG_WARNING, fmt, ap);
	va_end(ap);
}

void *key_field(const struct key_context *c)
{
	return (char *) c->object + c->row->offset;
}

static void wants(const struct key_context *c, const char *what)
{
	char shown[128];

	key_error(c, "%s= wants %s, not '%s'", c->assignment->key, what,
		  text_escape_to(shown, sizeof(shown), c->assignment->value));
}

int key_parse_bool(const struct key_context *c)
{
	bool *field = key_field(c);

	if (!*c->assignment->value)
		*field = c->row->parameter;
	else if (value_bool(c->assignment->value, field) < 0)
		wants(c, "yes or no");
	return 0;
}

int key_parse_span(const struct key_context *c)
{
	usec_t *field = key_field(c);
	struct parse_error error;

	if (!*c->assignment->value)
		*field = (usec_t) c->row->parameter;
	else if (timespan_parse(c->assignment->value, field, &error) < 0)
		key_error(c, "%s= is no time span: %s", c->assignment->key, error.sentence);
	return 0;
}

int key_parse_string(const struct key_context *c)
{
	const char **field = key_field(c);

	*field = NULL;
	if (!*c->assignment->value)
		return 0;
	*field = arena_strdup(c->arena, c->assignment->value);
	return *field ? 0 : -ENOMEM;
}

int key_parse_mode(const struct key_context *c)
{
	mode_t *field = key_field(c);

	if (!*c->assignment->value)
		*field = (mode_t) c->row->parameter;
	else if (value_mode(c->assignment->value, field) < 0)
		wants(c, "an octal mode such as 0022");
	return 0;
}

int key_parse_signal(const struct key_context *c)
{
	int *field = key_field(c);

	if (!*c->assignment->value)
		*field = (int) c->row->parameter;
	else if (value_signal(c->assignment->value, field) < 0)
		wants(c, "a signal such as SIGTERM");
	return 0;
}

int key_parse_int(const struct key_context *c)
{
	int64_t value = c->row->parameter;

	if (*c->assignment->value &&
	    value_signed(c->assignment->value, INT_MIN, INT_MAX, &value) < 0)
		wants(c, "a whole number");
	else
		*(int *) key_field(c) = (int) value;
	return 0;
}
