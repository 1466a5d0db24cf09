/* SPDX-License-Identifier: MIT */
#include "cli/simulate_report.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "core/unit.h"

void simulate_report_done(struct simulate_report *r)
{
	HASH_CLEAR(hh, r->timer);
	HASH_CLEAR(hh, r->service);
	free(r->row);
	arena_done(&r->arena);
}

/* ---- names ---- */

static struct simulate_timer *timer_of(struct simulate_report *r, const char *name)
{
	struct simulate_timer *t;

	HASH_FIND_STR(r->timer, name, t);
	if (t)
		return t;
	t = arena_alloc(&r->arena, sizeof(*t));
	if (t)
		t->name = arena_strdup(&r->arena, name);
	if (t && t->name)
		HASH_ADD_KEYPTR(hh, r->timer, t->name, strlen(t->name), t);
	if (t && t->name && HASH_IS_IN(t))
		return t;
	r->is_failed = true;
	return NULL;
}

static struct simulate_service *service_of(struct simulate_report *r, const char *name)
{
	struct simulate_service *s;

	HASH_FIND_STR(r->service, name, s);
	if (s)
		return s;
	s = arena_alloc(&r->arena, sizeof(*s));
	if (s)
		s->name = arena_strdup(&r->arena, name);
	if (s && s->name)
		HASH_ADD_KEYPTR(hh, r->service, s->name, strlen(s->name), s);
	if (s && s->name && HASH_IS_IN(s))
		return s;
	r->is_failed = true;
	return NULL;
}

/* ---- rows ---- */

static struct simulate_row *row_new(struct simulate_report *r, enum simulate_event event)
{
	size_t want = r->allocated > 0 ? 2 * r->allocated : 256;
	struct simulate_row *grown;

	if (r->n == r->allocated) {
		grown = reallocarray(r->row, want, sizeof(*grown));
		if (!grown) {
			r->is_failed = true;
			return NULL;
		}
		r->row = grown;
		r->allocated = want;
	}
	r->row[r->n] = (struct simulate_row){
		.event = event,
		.time = r->now->real,
		.scheduled = USEC_NEVER,
		.retry_at = USEC_NEVER,
		.restart_in = USEC_NEVER,
	};
	return &r->row[r->n++];
}

void simulate_started(struct simulate_report *r, const struct unit *u)
{
	struct simulate_timer *t = u->run->trigger_unit ? timer_of(r, u->run->trigger_unit) : NULL;
	struct simulate_service *s = service_of(r, u->name);
	struct simulate_row *row;

	if (r->is_failed || (t ? t->is_hidden : r->is_shown && !r->is_shown(r->userdata, u->name)))
		return;
	row = row_new(r, SIMULATE_RUN);
	if (!row)
		return;
	row->timer = t ? t->name : NULL;
	row->service = s->name;
	row->scheduled = u->run->scheduled_real;
	row->run = *u->run;
	row->run.trigger_unit = row->timer;
	row->dst = t ? t->dst : NULL;
	s->open = r->n;
	if (t)
		t->last = r->n;
}

void simulate_ended(struct simulate_report *r, const struct unit *u)
{
	struct simulate_service *s = service_of(r, u->name);
	struct simulate_row *row;

	if (r->is_failed || s->open == 0)
		return;
	row = &r->row[s->open - 1];
	row->run = *u->run;
	row->run.trigger_unit = row->timer;
	if (u->service.state == SERVICE_AUTO_RESTART)
		row->restart_in = u->config->spec->restart->delay;
	s->open = 0;
}

/* What it points to outlives the event. */
static const char *dst_word(const char *word)
{
	static const char *const words[] = { "gap", "fold" };

	for (size_t i = 0; word && i < ELEMENTS(words); i++)
		if (str_equal(word, words[i]))
			return words[i];
	return NULL;
}

static void missed(struct simulate_report *r, struct simulate_timer *t,
		   const struct supd_row *fields)
{
	const char *reason = row_string(fields, "reason");
	struct simulate_row *row = row_new(r, SIMULATE_MISSED);

	if (!row)
		return;
	row->timer = t->name;
	row->service = t->target;
	row->scheduled = row_usec(fields, "scheduled");
	row->dst = dst_word(row_string(fields, "dst"));
	row->count = (uint64_t) row_number(fields, "count", 1);
	row->reason = arena_strdup(&r->arena, reason ? reason : "");
	r->is_failed |= !row->reason;
}

static void retry(struct simulate_report *r, const struct simulate_timer *t,
		  const struct supd_row *fields)
{
	struct simulate_row *row = t->last > 0 ? &r->row[t->last - 1] : NULL;

	if (!row)
		return;
	row->retry = (uint32_t) row_number(fields, "attempt", 0);
	row->retries = (uint32_t) row_number(fields, "of", 0);
	row->retry_at = usec_add(r->now->real, row_usec(fields, "in"));
}

void simulate_told(struct simulate_report *r, const char *type, const char *timer,
		   const struct supd_row *fields)
{
	bool is_of_timer = str_equal(type, "elapsed") || str_equal(type, "missed") ||
			   str_equal(type, "retry");
	struct simulate_timer *t = is_of_timer ? timer_of(r, timer) : NULL;

	if (!t || t->is_hidden || r->is_failed)
		return;
	if (str_equal(type, "elapsed"))
		t->dst = dst_word(row_string(fields, "dst"));
	else if (str_equal(type, "missed"))
		missed(r, t, fields);
	else if (str_equal(type, "retry"))
		retry(r, t, fields);
}

void simulate_learn(struct simulate_report *r, const char *timer, const char *target,
		    bool is_hidden)
{
	struct simulate_timer *t = timer_of(r, timer);

	if (!t)
		return;
	t->target = arena_strdup(&r->arena, target);
	t->is_hidden = is_hidden;
	r->is_failed |= !t->target;
}

void simulate_learned(struct simulate_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct simulate_row *row = &r->row[i];
		const struct simulate_timer *t = row->timer ? timer_of(r, row->timer) : NULL;

		if (!t)
			continue;
		row->service = t->target;
		row->is_hidden = t->is_hidden;
	}
}

void simulate_jumped(struct simulate_report *r, int64_t delta)
{
	struct simulate_row *row = row_new(r, SIMULATE_CLOCK_JUMP);

	if (row)
		row->delta = delta;
}

void simulate_cut(struct simulate_report *r, size_t max)
{
	struct simulate_row *row;

	if (r->n > max)
		r->n = max;
	max = r->n;
	row = row_new(r, SIMULATE_CUT);
	if (row)
		row->count = max;
}

/* ---- in words ---- */

static bool has_ended(const struct simulate_row *row)
{
	return row->run.ended_boot != 0;
}

static bool has_failed(const struct simulate_row *row)
{
	switch (row->run.result) {
	case RUN_RESULT_NONE:
	case RUN_RESULT_SUCCESS:
	case RUN_RESULT_SKIPPED:
		return false;
	case RUN_RESULT_EXIT_CODE:
	case RUN_RESULT_SIGNAL:
	case RUN_RESULT_CORE_DUMP:
	case RUN_RESULT_OOM_KILL:
	case RUN_RESULT_TIMEOUT:
	case RUN_RESULT_EXEC:
	case RUN_RESULT_RESOURCES:
	case RUN_RESULT_STOPPED:
	case RUN_RESULT_DEPENDENCY:
	case RUN_RESULT_START_LIMIT:
	case RUN_RESULT_ASSERT:
		break;
	}
	return true;
}

static bool has_failed_for_good(const struct simulate_row *row)
{
	return row->event == SIMULATE_RUN && has_ended(row) && has_failed(row) && row->retry == 0 &&
	       row->restart_in == USEC_NEVER;
}

static const char *span(char *buf, size_t n, usec_t length)
{
	return timespan_print(buf, n, length, USEC_PER_MSEC);
}

static void print_run(const struct simulate_row *row, FILE *f)
{
	usec_t took = usec_sub(row->run.ended_boot, row->run.started_boot);
	char words[160], buf[TIMESPAN_MAX];

	if (!has_ended(row)) {
		fputs("still running at the end", f);
		return;
	}
	fputs(run_result_words(&row->run, words, sizeof(words)), f);
	if (took > 0)
		fprintf(f, " after %s", span(buf, sizeof(buf), took));
	if (row->restart_in != USEC_NEVER)
		fprintf(f, ", restarted in %s", span(buf, sizeof(buf), row->restart_in));
	else if (row->retry > 0)
		fprintf(f, ", retry %" PRIu32 "/%" PRIu32 " in %s", row->retry, row->retries,
			span(buf, sizeof(buf), usec_sub(row->retry_at, row->run.ended_real)));
	else if (has_failed(row) && row->timer)
		fputs(", failed for good", f);
}

static void print_dst(const struct simulate_row *row, FILE *f)
{
	if (row->dst && str_equal(row->dst, "gap"))
		fputs(" (moved: the local time does not exist that day)", f);
	else if (row->dst)
		fputs(" (the local time occurs twice that day)", f);
}

/* The moment that a row is about, where it is another than that of the row. */
static void print_scheduled(const struct simulate_row *row, FILE *f)
{
	char buf[FORMAT_TIME_MAX];

	if (row->scheduled != USEC_NEVER &&
	    row->scheduled / USEC_PER_SEC != row->time / USEC_PER_SEC)
		fprintf(f, ", scheduled %s", format_timestamp(buf, sizeof(buf), row->scheduled));
}

static void print_words(const struct simulate_row *row, FILE *f)
{
	uint64_t size = row->delta < 0 ? -(uint64_t) row->delta : (uint64_t) row->delta;
	char buf[TIMESPAN_MAX];

	switch (row->event) {
	case SIMULATE_RUN:
		print_run(row, f);
		print_dst(row, f);
		print_scheduled(row, f);
		break;
	case SIMULATE_MISSED:
		fputs(row->reason, f);
		if (row->count > 1)
			fprintf(f, ", %" PRIu64 " moments", row->count);
		print_dst(row, f);
		print_scheduled(row, f);
		break;
	case SIMULATE_CLOCK_JUMP:
		fprintf(f, "the clock is set by %s%s", row->delta < 0 ? "-" : "+",
			span(buf, sizeof(buf), size));
		break;
	case SIMULATE_CUT:
		fprintf(f, "cut after %" PRIu64 " lines", row->count);
		break;
	}
}

static const char *event_word(const struct simulate_row *row)
{
	static const char *const word[] = {
		[SIMULATE_RUN] = "run",
		[SIMULATE_MISSED] = "missed",
		[SIMULATE_CLOCK_JUMP] = "clock-jump",
		[SIMULATE_CUT] = "cut",
	};
	_Static_assert(ELEMENTS(word) == SIMULATE_EVENT_COUNT, "a word for each event");

	return word[row->event];
}

/* ---- the table ---- */

static enum table_style style_of(const struct simulate_row *row)
{
	if (has_failed_for_good(row))
		return TABLE_BAD;
	return row->event == SIMULATE_RUN && row->retry == 0 && row->restart_in == USEC_NEVER
		       ? TABLE_PLAIN
		       : TABLE_WARNING;
}

static int add_row(struct table *t, const struct simulate_row *row)
{
	_cleanup_free_ char *text = NULL;
	char buf[FORMAT_TIME_MAX];
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return -1;
	print_words(row, f);
	if (fclose(f) != 0)
		return -1;
	table_add(t, format_timestamp(buf, sizeof(buf), row->time), TABLE_PLAIN);
	table_add(t, row->timer, TABLE_PLAIN);
	table_add(t, row->service, TABLE_PLAIN);
	table_add(t, row->event == SIMULATE_RUN ? row->run.cause : event_word(row), TABLE_PLAIN);
	table_add(t, text, style_of(row));
	return 0;
}

static void print_sum(const struct simulate_report *r, const struct cli *c)
{
	uint64_t runs = 0, failed = 0, moments = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct simulate_row *row = &r->row[i];

		if (row->is_hidden)
			continue;
		runs += row->event == SIMULATE_RUN;
		failed += has_failed_for_good(row);
		moments += row->event == SIMULATE_MISSED ? row->count : 0;
	}
	cli_print_legend(c,
			 "\n%" PRIu64 " run%s, %" PRIu64 " failed for good, %" PRIu64
			 " moment%s missed.\n",
			 runs, runs == 1 ? "" : "s", failed, moments, moments == 1 ? "" : "s");
}

int simulate_print_table(const struct simulate_report *r, struct cli *c)
{
	static const struct table_column columns[] = {
		{ "TIME", false },  { "UNIT", true },   { "ACTIVATES", true },
		{ "EVENT", false }, { "RESULT", true },
	};
	int status = CONTROL_OK;
	struct table t;

	table_init(&t, columns, ELEMENTS(columns));
	for (size_t i = 0; i < r->n && status == CONTROL_OK; i++)
		if (!r->row[i].is_hidden && add_row(&t, &r->row[i]) < 0)
			status = cli_fail(c, CONTROL_FAILED, "out of memory");
	if (status == CONTROL_OK)
		status = cli_print_table(c, &t);
	table_done(&t);
	if (status == CONTROL_OK)
		print_sum(r, c);
	return status;
}

/* ---- JSON ---- */

static json_t *time_json(usec_t when)
{
	return when == USEC_NEVER || when == 0 ? json_null() : json_integer((json_int_t) when);
}

static json_t *text_json(const char *text)
{
	return text ? rows_json_string(text) : json_null();
}

static json_t *retry_json(const struct simulate_row *row)
{
	if (row->retry == 0)
		return json_null();
	return json_pack("{sI sI so}", "attempt", (json_int_t) row->retry, "of",
			 (json_int_t) row->retries, "at", time_json(row->retry_at));
}

static void set_run(json_t *o, const struct simulate_row *row)
{
	bool is_exit = row->run.result == RUN_RESULT_EXIT_CODE ||
		       row->run.result == RUN_RESULT_SUCCESS;
	char words[160];

	(void) json_object_set_new(o, "cause", text_json(row->run.cause));
	(void) json_object_set_new(o, "attempt", json_integer(row->run.attempt));
	(void) json_object_set_new(o, "started", time_json(row->time));
	(void) json_object_set_new(o, "ended",
				   has_ended(row) ? time_json(row->run.ended_real) : json_null());
	(void) json_object_set_new(o, "result",
				   has_ended(row) ? text_json(run_result_to_string(row->run.result))
						  : json_null());
	(void) json_object_set_new(
		o, "words",
		has_ended(row) ? text_json(run_result_words(&row->run, words, sizeof(words)))
			       : json_null());
	(void) json_object_set_new(o, "exit_status",
				   has_ended(row) && is_exit ? json_integer(row->run.status)
							     : json_null());
	(void) json_object_set_new(o, "failed_for_good", json_boolean(has_failed_for_good(row)));
	(void) json_object_set_new(o, "retry", retry_json(row));
	(void) json_object_set_new(o, "restart_in",
				   row->restart_in == USEC_NEVER
					   ? json_null()
					   : json_integer((json_int_t) row->restart_in));
}

static json_t *row_json(const struct simulate_row *row)
{
	json_t *o = json_pack("{so so so ss so so}", "time", time_json(row->time), "unit",
			      text_json(row->timer), "activates", text_json(row->service), "event",
			      event_word(row), "scheduled", time_json(row->scheduled), "dst",
			      text_json(row->dst));

	if (!o)
		return NULL;
	switch (row->event) {
	case SIMULATE_RUN:
		set_run(o, row);
		break;
	case SIMULATE_MISSED:
		(void) json_object_set_new(o, "reason", text_json(row->reason));
		(void) json_object_set_new(o, "count", json_integer((json_int_t) row->count));
		break;
	case SIMULATE_CLOCK_JUMP:
		(void) json_object_set_new(o, "delta", json_integer(row->delta));
		break;
	case SIMULATE_CUT:
		(void) json_object_set_new(o, "count", json_integer((json_int_t) row->count));
		break;
	}
	return o;
}

int simulate_print_json(const struct simulate_report *r, const struct cli *c)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->n && array; i++)
		if (!r->row[i].is_hidden &&
		    json_array_append_new(array, row_json(&r->row[i])) < 0) {
			json_decref(array);
			array = NULL;
		}
	return cli_print_json(c, array, CONTROL_OK);
}
