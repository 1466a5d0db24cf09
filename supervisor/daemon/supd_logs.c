/* SPDX-License-Identifier: MIT */
#include "daemon/supd_logs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <utlist.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "control/client.h"
#include "core/report.h"
#include "core/unit.h"
#include "daemon/supd_control.h"
#include "run/keeper.h"
#include "store/run_log_reader.h"

#define READINGS_MAX 64
/* Of one part. */
#define PART_RECORDS 2000
#define PART_BYTES ((size_t) 256 * 1024)
/* How often it is looked whether a caller has caught up. */
#define PAUSE (20 * USEC_PER_MSEC)

struct log_reading {
	struct worker_job job;
	struct supd_control *c; /* NULL: the daemon ends */
	uint64_t id;
	char unit[UNIT_NAME_MAX + 1];
	struct run_log_query query;
	bool follows;
	bool is_busy;  /* a thread has it */
	bool has_news; /* meanwhile more has been written */
	sd_event_source *pause; /* on while the caller has not read what it was sent */
	int dir;       /* the keeper's */
	/* the thread's, while busy */
	struct run_log_reader *reader;
	struct arena arena;
	struct run_log_record *record;
	size_t n;
	int result; /* 1: there may be more */
	struct log_reading *prev, *next;
};

static void reading_free(struct log_reading *l)
{
	if (l->c)
		DL_DELETE(l->c->logs.reading, l);
	sd_event_source_disable_unref(l->pause);
	run_log_reader_free(l->reader);
	arena_done(&l->arena);
	free(l);
}

/* ---- in the thread ---- */

static int keep_record(struct log_reading *l, const struct run_log_record *record, size_t *bytes)
{
	struct run_log_record *grown = arena_grow(&l->arena, l->record, l->n, sizeof(*grown));
	char *text = arena_alloc(&l->arena, record->n + record->n_identifier + 1);

	if (!grown || !text)
		return -ENOMEM;
	memcpy(text, record->text, record->n);
	memcpy(text + record->n, record->identifier, record->n_identifier);
	l->record = grown;
	grown[l->n] = *record;
	grown[l->n].text = text;
	grown[l->n++].identifier = text + record->n;
	*bytes += record->n;
	return 1;
}

/* 1: a part; 0: the last one for now; or a negative errno. */
static int read_part(struct log_reading *l)
{
	struct run_log_record record;
	size_t bytes = 0;
	int r = 1;

	if (!l->reader)
		r = run_log_reader_new(l->dir, l->unit, &l->query, &l->reader);
	while (r >= 0 && l->n < PART_RECORDS && bytes < PART_BYTES) {
		r = run_log_reader_next(l->reader, &record);
		if (r == 0)
			return 0;
		if (r > 0)
			r = keep_record(l, &record, &bytes);
	}
	return r < 0 ? r : 1;
}

static void work(struct worker_job *job)
{
	struct log_reading *l = (struct log_reading *) job; /* its first member */

	l->result = read_part(l);
}

/* ---- rows ---- */

static const char *to_string(struct arena *arena, const char *bytes, size_t n)
{
	return arena_strndup(arena, bytes, n);
}

static void report_message(struct report *r, const struct run_log_record *record)
{
	_cleanup_free_ char *digits = NULL;
	const char *text = NULL;

	if (!memchr(record->text, '\0', record->n) &&
	    text_utf8_valid(record->text, record->n) == record->n) {
		text = to_string(r->arena, record->text, record->n);
		report_string(r, "message", text);
	} else {
		digits = base64_encode(record->text, record->n);
		text = digits ? to_string(r->arena, digits, strlen(digits)) : NULL;
		report_string(r, "message_base64", text);
	}
	r->is_failed |= !text;
}

static void send_record(struct log_reading *l, const struct run_log_record *record)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	char hex[33];

	text_hex16(record->run_id, hex);
	report_time(&r, "time", record->time);
	report_string(&r, "unit", l->unit);
	report_string(&r, "run_id", hex);
	report_string(&r, "stream", record->stream == RUN_LOG_STDOUT ? "stdout" : "stderr");
	report_number(&r, "level", record->level);
	report_number(&r, "number", (int64_t) record->number);
	if (record->n_identifier > 0)
		report_string(&r, "identifier",
			      to_string(&arena, record->identifier, record->n_identifier));
	if (record->flags & RUN_LOG_CONTINUED)
		report_bool(&r, "continued", true);
	if (record->flags & RUN_LOG_UNFINISHED)
		report_bool(&r, "unfinished", true);
	if (record->n_missing > 0)
		report_number(&r, "missing", (int64_t) record->n_missing);
	report_message(&r, record);
	supd_control_row(l->c, l->id, &r);
}

static void send_part(struct log_reading *l)
{
	for (size_t i = 0; i < l->n; i++)
		send_record(l, &l->record[i]);
	control_flush(l->c->server, l->id);
	arena_done(&l->arena);
	l->record = NULL;
	l->n = 0;
}

/* ---- one part after the other ---- */

static void read_on(struct log_reading *l)
{
	l->is_busy = true;
	l->has_news = false;
	keeper_submit(l->c->keeper, &l->job);
}

/* Nothing was ever kept of it: is there such a unit at all? */
static void settle_unknown(struct log_reading *l)
{
	if (l->result == -ENOENT && manager_unit(l->c->manager, l->unit))
		l->result = 0;
}

static void end(struct log_reading *l)
{
	char message[160];

	if (l->result == -ENOENT) {
		supd_control_no_unit(l->c, l->id, l->unit);
		reading_free(l);
		return;
	}
	(void) snprintf(message, sizeof(message), "what was printed cannot be read: %s",
			strerror(-l->result));
	control_done(l->c->server, l->id, l->result < 0 ? CONTROL_FAILED : CONTROL_OK,
		     l->result < 0 ? message : NULL);
	reading_free(l);
}

static int on_pause_over(sd_event_source *source, uint64_t now _unused_, void *userdata)
{
	struct log_reading *l = userdata;

	if (!control_is_awaited(l->c->server, l->id)) {
		reading_free(l);
		return 0;
	}
	if (!control_is_behind(l->c->server, l->id)) {
		read_on(l);
		return 0;
	}
	(void) sd_event_source_set_time_relative(source, PAUSE);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void pause_for_caller(struct log_reading *l)
{
	if (sd_event_source_set_time_relative(l->pause, PAUSE) < 0 ||
	    sd_event_source_set_enabled(l->pause, SD_EVENT_ONESHOT) < 0)
		reading_free(l);
}

static void done(struct worker_job *job)
{
	struct log_reading *l = (struct log_reading *) job;

	l->is_busy = false;
	if (!l->c || !control_is_awaited(l->c->server, l->id)) {
		reading_free(l);
		return;
	}
	send_part(l);
	settle_unknown(l);
	if (l->result < 0 || (l->result == 0 && !l->follows))
		end(l);
	else if (l->result == 0 && !l->has_news)
		return;
	else if (control_is_behind(l->c->server, l->id))
		pause_for_caller(l);
	else
		read_on(l);
}

static void drop(struct worker_job *job)
{
	reading_free((struct log_reading *) job);
}

/* ---- who reads ---- */

static bool is_paused(const struct log_reading *l)
{
	int enabled = SD_EVENT_OFF;

	return sd_event_source_get_enabled(l->pause, &enabled) >= 0 && enabled != SD_EVENT_OFF;
}

static void on_written(void *userdata, const char *unit)
{
	struct supd_control *c = userdata;
	struct log_reading *l, *next;

	DL_FOREACH_SAFE(c->logs.reading, l, next) {
		if (!str_equal(l->unit, unit))
			continue;
		if (l->is_busy)
			l->has_news = true;
		else if (!control_is_awaited(c->server, l->id))
			reading_free(l);
		else if (!is_paused(l))
			read_on(l);
	}
}

/* Those whose caller has gone make room; how many are left. */
static unsigned purge(struct supd_control *c)
{
	struct log_reading *l, *next;
	unsigned n = 0;

	DL_FOREACH_SAFE(c->logs.reading, l, next) {
		if (l->is_busy || control_is_awaited(c->server, l->id))
			n++;
		else
			reading_free(l);
	}
	return n;
}

void logs_listen(struct supd_control *c)
{
	const struct keeper_listener listener = { .userdata = c, .written = on_written };

	if (c->keeper)
		keeper_listen(c->keeper, &listener);
}

void logs_done(struct logs *logs)
{
	struct log_reading *l, *next;

	DL_FOREACH_SAFE(logs->reading, l, next) {
		if (!l->is_busy) {
			reading_free(l);
			continue;
		}
		DL_DELETE(logs->reading, l);
		l->c = NULL;
	}
}

/* ---- the question ---- */

static struct log_reading *reading_new(struct supd_control *c, const struct control_request *q,
				       const char *unit)
{
	struct log_reading *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->job.work = work;
	l->job.done = done;
	l->job.drop = drop;
	l->c = c;
	l->id = q->id;
	l->dir = keeper_dir(c->keeper);
	l->follows = q->follow;
	l->query = (struct run_log_query){
		.since = q->since, .until = q->until, .last = q->lines, .follows = q->follow
	};
	(void) snprintf(l->unit, sizeof(l->unit), "%s", unit);
	if (q->run)
		(void) run_log_query_set_run(&l->query, q->run);
	DL_APPEND(c->logs.reading, l);
	if (sd_event_add_time_relative(c->event, &l->pause, CLOCK_BOOTTIME, 0, 0, on_pause_over,
				       l) < 0 ||
	    sd_event_source_set_enabled(l->pause, SD_EVENT_OFF) < 0) {
		reading_free(l);
		return NULL;
	}
	return l;
}

static bool refuse_timer(struct supd_control *c, const struct control_request *q)
{
	char message[512];

	if (unit_name_kind(q->unit) != UNIT_TIMER)
		return false;
	(void) snprintf(message, sizeof(message),
			"%s is a timer; it is the service that it activates that prints", q->unit);
	control_done(c->server, q->id, CONTROL_FAILED, message);
	return true;
}

/* A unit's files may be gone, and what it printed still there. */
void logs_read(struct supd_control *c, const struct control_request *q)
{
	const struct unit *u = manager_unit(c->manager, q->unit);
	const char *unit = u ? u->name : q->unit; /* not an alias */
	struct log_reading *l;

	if (!c->keeper)
		control_done(c->server, q->id, CONTROL_FAILED,
			     "nothing is kept of what services print: OutputMaxPerRun= or OutputMaxPerUnit= is 0, or "
			     "the state directory cannot be written to");
	else if (refuse_timer(c, q))
		return;
	else if (purge(c) >= READINGS_MAX)
		control_done(c->server, q->id, CONTROL_FAILED,
			     "too many read or follow what services print");
	else if (!(l = reading_new(c, q, unit)))
		supd_control_refuse(c, q->id, unit, MANAGER_NO_MEMORY);
	else
		read_on(l);
}
