/* SPDX-License-Identifier: MIT */
#include "daemon/supd_events.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "control/client.h"
#include "core/events.h"
#include "core/report.h"
#include "daemon/supd_control.h"
#include "service/history_record.h"

#define BYTES_MAX ((size_t) 256 * 1024)
#define READERS_MAX 64
/* Of one event; a plugin that tells more is cut short. */
#define FIELDS_MAX 24
#define STRING_MAX ((size_t) 512)
/* How often it is looked whether a reader has caught up. */
#define PAUSE (20 * USEC_PER_MSEC)

struct event {
	uint64_t seq;
	usec_t time;
	int level;
	size_t size;
	const char *type, *unit, *message; /* unit: or NULL */
	size_t n;
	struct supd_field field[]; /* no lists, no rows; the texts stand behind them */
};

struct event_reader {
	struct supd_control *c;
	uint64_t id;
	uint64_t next; /* the number of the first event that it has not been told */
	char *types; /* words parted by commas, or NULL */
	char **unit; /* patterns */
	size_t n_units;
	sd_event_source *pause; /* on while it has not read what it was sent */
	struct event_reader *prev, *next_reader;
};

/* ---- an event, copied ---- */

static bool is_reserved(const char *key)
{
	static const char *const keys[] = { "seq", "time", "type", "level", "unit", "message" };

	for (size_t i = 0; i < ELEMENTS(keys); i++)
		if (str_equal(keys[i], key))
			return true;
	return false;
}

static bool is_kept(const struct supd_field *f)
{
	return f->type != SUPD_ROW && f->type != SUPD_ROWS && f->type != SUPD_STRINGS &&
	       !is_reserved(f->key);
}

static size_t text_size(const char *s)
{
	return s ? strnlen(s, STRING_MAX) + 1 : 0;
}

static const char *copy_text(char **at, const char *s)
{
	size_t n = s ? text_size(s) - 1 : 0;
	char *copy = *at;

	if (!s)
		return NULL;
	/* Not within a character. */
	while (n > 0 && s[n] != '\0' && ((unsigned char) s[n] & 0xc0) == 0x80)
		n--;
	memcpy(copy, s, n);
	copy[n] = '\0';
	*at += n + 1;
	return copy;
}

static size_t count_fields(const struct supd_row *fields, size_t *text)
{
	size_t n = 0;

	for (size_t i = 0; fields && i < fields->n && n < FIELDS_MAX; i++) {
		const struct supd_field *f = &fields->field[i];

		if (!is_kept(f))
			continue;
		*text += text_size(f->key) +
			 (f->type == SUPD_STRING ? text_size(f->value.string) : 0);
		n++;
	}
	return n;
}

static void copy_fields(struct event *e, size_t n, const struct supd_row *fields, char **at)
{
	for (size_t i = 0; e->n < n; i++) {
		const struct supd_field *from = &fields->field[i];
		struct supd_field *to = &e->field[e->n];

		if (!is_kept(from))
			continue;
		*to = *from;
		to->key = copy_text(at, from->key);
		if (from->type == SUPD_STRING)
			to->value.string = copy_text(at, from->value.string);
		e->n++;
	}
}

static struct event *event_new(const struct happening *h, const char *message)
{
	size_t text = text_size(h->type) + text_size(h->unit) + text_size(message);
	size_t n = count_fields(h->fields, &text),
	       size = sizeof(struct event) + n * sizeof(struct supd_field) + text;
	struct event *e = calloc(1, size);
	char *at;

	if (!e)
		return NULL;
	at = (char *) (e->field + n);
	e->size = size;
	e->type = copy_text(&at, h->type);
	e->unit = copy_text(&at, h->unit);
	e->message = copy_text(&at, message);
	copy_fields(e, n, h->fields, &at);
	return e;
}

/* ---- those that are kept ---- */

static void drop_oldest(struct events *all)
{
	struct event **e = &all->event[all->first++ % EVENTS_MAX];

	all->bytes -= (*e)->size;
	free(*e);
	*e = NULL;
}

static void keep(struct events *all, struct event *e)
{
	e->seq = all->next;
	while (all->next - all->first == EVENTS_MAX ||
	       (all->next > all->first && all->bytes + e->size > BYTES_MAX))
		drop_oldest(all);
	all->event[all->next++ % EVENTS_MAX] = e;
	all->bytes += e->size;
}

/* ---- who reads ---- */

static void reader_free(struct event_reader *r)
{
	if (!r)
		return;
	sd_event_source_disable_unref(r->pause);
	for (size_t i = 0; i < r->n_units; i++)
		free(r->unit[i]);
	free((void *) r->unit);
	free(r->types);
	free(r);
}

static void reader_drop(struct event_reader *r)
{
	DL_DELETE2(r->c->events.reader, r, prev, next_reader);
	reader_free(r);
}

static bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = words; *p; p += strspn(p, ",")) {
		size_t length = strcspn(p, ",");

		if (length == n && memcmp(p, word, n) == 0)
			return true;
		p += length;
	}
	return false;
}

static bool is_wanted(const struct event_reader *r, const struct event *e)
{
	if (r->types && !has_word(r->types, e->type))
		return false;
	for (size_t i = 0; e->unit && i < r->n_units; i++)
		if (fnmatch(r->unit[i], e->unit, FNM_NOESCAPE) == 0)
			return true;
	return r->n_units == 0;
}

static void send_event(const struct event_reader *r, const struct event *e)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report row = { .arena = &arena };

	report_number(&row, "seq", (int64_t) e->seq);
	report_time(&row, "time", e->time);
	report_string(&row, "type", e->type);
	report_string(&row, "level", log_level_to_string(e->level));
	report_string(&row, "unit", e->unit);
	report_string(&row, "message", e->message);
	for (size_t i = 0; i < e->n && !row.is_failed; i++) {
		struct supd_field *grown = arena_grow(&arena, row.field, row.n, sizeof(*grown));

		row.is_failed = !grown;
		if (grown) {
			row.field = grown;
			row.field[row.n++] = e->field[i];
		}
	}
	supd_control_row(r->c, r->id, &row);
}

static void send_lost(struct event_reader *r, uint64_t n)
{
	const struct supd_field count = { .key = "count",
					  .type = SUPD_NUMBER,
					  .value.number = (int64_t) n };
	const struct supd_row fields = { &count, 1 };
	const struct happening h = { .type = "lost", .fields = &fields };
	char words[EVENT_WORDS_MAX];
	struct event *e = event_new(&h, event_words(h.type, h.fields, words, sizeof(words)));

	if (!e)
		return;
	e->seq = r->next;
	e->time = r->c->now(r->c->userdata).real;
	e->level = event_level(h.type, h.fields);
	send_event(r, e);
	free(e);
}

/* All that is kept and that it has not been told. */
static void send_rest(struct event_reader *r)
{
	const struct events *all = &r->c->events;

	if (r->next < all->first) {
		send_lost(r, all->first - r->next);
		r->next = all->first;
	}
	for (; r->next < all->next; r->next++) {
		const struct event *e = all->event[r->next % EVENTS_MAX];

		if (is_wanted(r, e))
			send_event(r, e);
	}
}

/* False: it has gone. */
static bool feed(struct event_reader *r)
{
	int enabled = SD_EVENT_OFF;

	if (!control_is_awaited(r->c->server, r->id)) {
		reader_drop(r);
		return false;
	}
	if (sd_event_source_get_enabled(r->pause, &enabled) >= 0 && enabled != SD_EVENT_OFF)
		return true;
	send_rest(r);
	control_flush(r->c->server, r->id);
	if (control_is_behind(r->c->server, r->id) &&
	    (sd_event_source_set_time_relative(r->pause, PAUSE) < 0 ||
	     sd_event_source_set_enabled(r->pause, SD_EVENT_ONESHOT) < 0)) {
		reader_drop(r);
		return false;
	}
	return true;
}

static int on_pause_over(sd_event_source *source, uint64_t now _unused_, void *userdata)
{
	struct event_reader *r = userdata;

	if (control_is_awaited(r->c->server, r->id) && control_is_behind(r->c->server, r->id)) {
		(void) sd_event_source_set_time_relative(source, PAUSE);
		return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
	}
	(void) feed(r);
	return 0;
}

static size_t purge(struct supd_control *c)
{
	struct event_reader *r, *next;
	size_t n = 0;

	DL_FOREACH_SAFE2(c->events.reader, r, next, next_reader) {
		if (control_is_awaited(c->server, r->id))
			n++;
		else
			reader_drop(r);
	}
	return n;
}

/* ---- telling ---- */

#define LOG_VALUE_MAX 256

static void log_event(const struct happening *h, int level, const char *message)
{
	char value[FIELDS_MAX][LOG_VALUE_MAX];
	struct log_field field[FIELDS_MAX];
	struct log_line line = {
		.level = level,
		.unit = h->unit,
		.run_id = h->run_id,
		.message = message,
		.event = h->type,
		.field = field,
	};

	if (level > log_level())
		return;
	for (size_t i = 0; h->fields && i < h->fields->n && line.n_fields < FIELDS_MAX; i++) {
		const struct supd_field *f = &h->fields->field[i];
		size_t n = line.n_fields;

		/* A line has its run's id already, under the name that a journal knows. */
		if (!is_kept(f) || (h->run_id && str_equal(f->key, "run_id")) ||
		    !event_value(f, value[n], sizeof(value[n])))
			continue;
		field[n] = (struct log_field) { .name = f->key, .value = value[n] };
		line.n_fields++;
	}
	log_write(&line);
}

static void tell(struct supd_control *c, const struct happening *h, bool with_log)
{
	char words[EVENT_WORDS_MAX];
	const char *message = event_words(h->type, h->fields, words, sizeof(words));
	int level = event_level(h->type, h->fields);
	struct event_reader *r, *next;
	struct event *e;

	if (with_log)
		log_event(h, level, message);
	e = event_new(h, message);
	if (!e)
		return;
	e->time = c->now(c->userdata).real;
	e->level = level;
	keep(&c->events, e);
	DL_FOREACH_SAFE2(c->events.reader, r, next, next_reader)
		(void) feed(r);
}

void events_tell(struct supd_control *c, const struct happening *h)
{
	tell(c, h, true);
}

static const char *run_of(const struct supd_row *fields)
{
	for (size_t i = 0; fields && i < fields->n; i++)
		if (fields->field[i].type == SUPD_STRING &&
		    str_equal(fields->field[i].key, "run_id"))
			return fields->field[i].value.string;
	return NULL;
}

void events_tell_plugin(struct supd_control *c, const char *type, const char *unit,
			const struct supd_row *fields)
{
	struct happening h = { .type = type, .unit = unit, .fields = fields };
	uint8_t run_id[RUN_ID_BYTES], last[RUN_ID_BYTES];
	const char *run = run_of(fields);

	if (run && history_run_range(run, run_id, last))
		h.run_id = run_id;
	tell(c, &h, event_type_find(type) != NULL);
}

/* ---- the question ---- */

/* So that the last @lines of those that are wanted are told; 0: all. */
static uint64_t begin_at(const struct event_reader *r, uint64_t lines)
{
	const struct events *all = &r->c->events;
	uint64_t seq = all->next;

	if (lines == 0)
		return all->first;
	while (seq > all->first && lines > 0)
		lines -= is_wanted(r, all->event[--seq % EVENTS_MAX]);
	return seq;
}

static struct event_reader *reader_new(struct supd_control *c, const struct control_request *q)
{
	struct event_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->c = c;
	r->id = q->id;
	r->types = q->types ? strdup(q->types) : NULL;
	r->unit = q->n_units > 0 ? calloc(q->n_units, sizeof(*r->unit)) : NULL;
	if ((q->types && !r->types) || (q->n_units > 0 && !r->unit))
		goto failed;
	for (; r->n_units < q->n_units; r->n_units++) {
		r->unit[r->n_units] = strdup(q->units[r->n_units]);
		if (!r->unit[r->n_units])
			goto failed;
	}
	r->next = begin_at(r, q->lines);
	return r;
failed:
	reader_free(r);
	return NULL;
}

static void follow(struct event_reader *r)
{
	struct supd_control *c = r->c;

	if (sd_event_add_time_relative(c->event, &r->pause, CLOCK_BOOTTIME, 0, 0, on_pause_over,
				       r) < 0 ||
	    sd_event_source_set_enabled(r->pause, SD_EVENT_OFF) < 0) {
		control_done(c->server, r->id, CONTROL_FAILED, "out of memory");
		reader_free(r);
		return;
	}
	DL_APPEND2(c->events.reader, r, prev, next_reader);
	(void) feed(r);
}

void events_read(struct supd_control *c, const struct control_request *q)
{
	struct event_reader *r;

	if (q->follow && purge(c) >= READERS_MAX) {
		control_done(c->server, q->id, CONTROL_FAILED, "too many follow the events");
		return;
	}
	r = reader_new(c, q);
	if (!r) {
		control_done(c->server, q->id, CONTROL_FAILED, "out of memory");
	} else if (q->follow) {
		follow(r);
	} else {
		send_rest(r);
		control_done(c->server, q->id, CONTROL_OK, NULL);
		reader_free(r);
	}
}

void events_done(struct events *e)
{
	while (e->reader) {
		struct event_reader *r = e->reader;

		DL_DELETE2(e->reader, r, prev, next_reader);
		reader_free(r);
	}
	while (e->first < e->next)
		drop_oldest(e);
}
