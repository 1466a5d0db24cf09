/* SPDX-License-Identifier: MIT */
#include "cli/log_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

#define RUN_SHOWN 8 /* digits of the run's id, as in the log of supd */

void log_lines_done(struct log_lines *l)
{
	arena_done(&l->arena);
}

/* ---- collecting ---- */

static const char *copy(struct arena *arena, const char *bytes, size_t n)
{
	char *to = arena_alloc(arena, n + 1);

	return to && n > 0 ? memcpy(to, bytes, n) : to;
}

int log_lines_add(struct log_lines *l, const char *unit, const struct run_log_record *record)
{
	struct log_entry *grown = arena_grow(&l->arena, l->entry, l->n, sizeof(*grown)), *e;

	if (!grown)
		return -ENOMEM;
	l->entry = grown;
	e = &grown[l->n];
	*e = (struct log_entry) { .record = *record };
	e->unit = l->n > 0 && str_equal(grown[l->n - 1].unit, unit) ? grown[l->n - 1].unit
								   : arena_strdup(&l->arena, unit);
	e->record.text = copy(&l->arena, record->text, record->n);
	e->record.identifier = copy(&l->arena, record->identifier, record->n_identifier);
	if (!e->unit || !e->record.text || !e->record.identifier)
		return -ENOMEM;
	l->n++;
	return 0;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void read_text(const struct supd_row *row, struct run_log_record *record, void **ret_bytes)
{
	const char *text = row_string(row, "message"), *digits = row_string(row, "message_base64");

	record->text = or_empty(text);
	record->n = strlen(record->text);
	if (digits && base64_decode(digits, ret_bytes, &record->n) >= 0)
		record->text = *ret_bytes;
}

int log_lines_add_row(struct log_lines *l, const struct supd_row *row)
{
	const char *unit = row_string(row, "unit"), *run = row_string(row, "run_id");
	struct run_log_record record = { .time = row_usec(row, "time") };
	_cleanup_free_ void *bytes = NULL;

	if (!unit || !run || !text_unhex16(run, record.run_id))
		return 0;
	record.stream = str_equal(or_empty(row_string(row, "stream")), "stderr") ? RUN_LOG_STDERR
										 : RUN_LOG_STDOUT;
	record.level = (uint8_t) row_number(row, "level", LOG_INFO);
	record.number = (uint64_t) row_number(row, "number", 0);
	record.n_missing = (uint64_t) row_number(row, "missing", 0);
	record.identifier = or_empty(row_string(row, "identifier"));
	record.n_identifier = strlen(record.identifier);
	record.flags = (uint8_t) ((row_bool(row, "continued") ? RUN_LOG_CONTINUED : 0) |
				  (row_bool(row, "unfinished") ? RUN_LOG_UNFINISHED : 0));
	read_text(row, &record, &bytes);
	return log_lines_add(l, unit, &record);
}

/* A stable sort: what was said at the same time stays in its order. */
static void merge(struct log_entry *from, struct log_entry *to, size_t n)
{
	size_t half = n / 2, a = 0, b = half;

	if (n < 2)
		return;
	merge(from, to, half);
	merge(from + half, to + half, n - half);
	for (size_t i = 0; i < n; i++) {
		bool takes_first = b >= n ||
				   (a < half && from[a].record.time <= from[b].record.time);

		to[i] = takes_first ? from[a++] : from[b++];
	}
	memcpy(from, to, n * sizeof(*to));
}

void log_lines_sort(struct log_lines *l, size_t last)
{
	_cleanup_free_ struct log_entry *scratch = calloc(l->n + 1, sizeof(*scratch));

	if (scratch)
		merge(l->entry, scratch, l->n);
	if (last > 0 && last < l->n) {
		l->entry += l->n - last;
		l->n = last;
	}
}

/* ---- for people ---- */

static enum table_style style_of(const struct run_log_record *r)
{
	if (r->level <= LOG_ERR)
		return TABLE_BAD;
	if (r->level <= LOG_WARNING || r->stream == RUN_LOG_STDERR)
		return TABLE_WARNING;
	return r->level >= LOG_DEBUG ? TABLE_DIM : TABLE_PLAIN;
}

/* Tabs are what columns are made of; they do a terminal no harm. */
static void print_text(const char *text, size_t n, FILE *f)
{
	for (size_t at = 0; at < n;) {
		const char *tab = memchr(text + at, '\t', n - at);
		size_t part = tab ? (size_t) (tab - (text + at)) : n - at;
		_cleanup_free_ char *escaped = text_escape(text + at, part);

		fputs(escaped ? escaped : "", f);
		if (tab)
			putc('\t', f);
		at += part + (tab != NULL);
	}
}

static void print_name(const struct log_entry *e, FILE *f)
{
	if (e->record.n_identifier > 0)
		print_text(e->record.identifier, e->record.n_identifier, f);
	else
		fputs(e->unit, f); /* a valid name: no escapes in it */
}

static void print_missing(const struct log_entry *e, FILE *f)
{
	char hex[33];

	if (e->record.n_missing == 0)
		return;
	text_hex16(e->record.run_id, hex);
	fprintf(f, "-- %" PRIu64 " line%s of %s[%.*s] %s missing here --\n", e->record.n_missing,
		e->record.n_missing == 1 ? "" : "s", e->unit, RUN_SHOWN, hex,
		e->record.n_missing == 1 ? "is" : "are");
}

static void print_entry(const struct cli *c, const struct log_entry *e, FILE *f)
{
	enum table_style style = style_of(&e->record);
	bool has_color = c->has_color && f == stdout;
	char when[FORMAT_TIME_MAX], hex[33];

	print_missing(e, f);
	text_hex16(e->record.run_id, hex);
	fprintf(f, "%s ", format_log_time(when, sizeof(when), e->record.time, c->now));
	print_name(e, f);
	fprintf(f, "[%.*s] %s: %s", RUN_SHOWN, hex,
		e->record.stream == RUN_LOG_STDOUT ? "out" : "err",
		table_style_begin(style, has_color));
	print_text(e->record.text, e->record.n, f);
	fprintf(f, "%s%s\n", table_style_end(style, has_color),
		e->record.flags & RUN_LOG_CONTINUED ? c->is_utf8 ? "…" : "..." : "");
}

bool log_lines_print_bare(const struct run_log_record *r, FILE *f)
{
	bool is_terminal = isatty(fileno(f)),
	     has_newline = !(r->flags & (RUN_LOG_CONTINUED | RUN_LOG_UNFINISHED));

	if (is_terminal)
		print_text(r->text, r->n, f);
	else
		(void) fwrite(r->text, 1, r->n, f);
	if (has_newline)
		(void) putc('\n', f);
	return has_newline;
}

/* ---- for programs ---- */

/* As the journal's JSON has it: what is not UTF-8, or has NULs, is an array of its bytes. */
static json_t *json_text(const char *text, size_t n)
{
	json_t *array;

	if (!memchr(text, '\0', n) && text_utf8_valid(text, n) == n)
		return json_stringn_nocheck(text, n);
	array = json_array();
	for (size_t i = 0; array && i < n; i++)
		(void) json_array_append_new(array, json_integer((unsigned char) text[i]));
	return array;
}

static json_t *json_entry(const struct log_entry *e)
{
	const struct run_log_record *r = &e->record;
	json_t *object = json_object();
	char hex[33];

	if (!object)
		return NULL;
	text_hex16(r->run_id, hex);
	(void) json_object_set_new(object, "time", json_integer((json_int_t) r->time));
	(void) json_object_set_new(object, "unit", json_string(e->unit));
	(void) json_object_set_new(object, "run_id", json_string(hex));
	(void) json_object_set_new(object, "stream",
				   json_string(r->stream == RUN_LOG_STDOUT ? "stdout" : "stderr"));
	(void) json_object_set_new(object, "level", json_integer(r->level));
	if (r->n_identifier > 0)
		(void) json_object_set_new(object, "identifier",
					   json_text(r->identifier, r->n_identifier));
	(void) json_object_set_new(object, "message", json_text(r->text, r->n));
	if (r->flags & RUN_LOG_CONTINUED)
		(void) json_object_set_new(object, "continued", json_true());
	if (r->flags & RUN_LOG_UNFINISHED)
		(void) json_object_set_new(object, "unfinished", json_true());
	if (r->n_missing > 0)
		(void) json_object_set_new(object, "missing",
					   json_integer((json_int_t) r->n_missing));
	return object;
}

void log_lines_print(const struct cli *c, const struct log_lines *l, FILE *f)
{
	for (size_t i = 0; i < l->n; i++)
		if (c->json != CLI_JSON_OFF)
			(void) rows_json_print(json_entry(&l->entry[i]), c->json == CLI_JSON_PRETTY,
					       c->is_terminal && f == stdout, f);
		else
			print_entry(c, &l->entry[i], f);
}
