/* SPDX-License-Identifier: MIT */
/* What is told of timers: rows of typed fields, so that nobody who shows them needs to know timers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "timer/instance.h"
#include "timer/zone_load.h"

#define FIELDS_MAX 48

/* A row in the making, in the caller's frame. */
struct making {
	struct supd_field field[FIELDS_MAX];
	size_t n;
};

static struct supd_field *add(struct making *m, const char *key, enum supd_type type)
{
	struct supd_field *f = &m->field[m->n < FIELDS_MAX ? m->n++ : FIELDS_MAX - 1];

	*f = (struct supd_field) { .key = key, .type = type };
	return f;
}

static void add_string(struct making *m, const char *key, const char *value)
{
	add(m, key, value ? SUPD_STRING : SUPD_NULL)->value.string = value;
}

static void add_bool(struct making *m, const char *key, bool value)
{
	add(m, key, SUPD_BOOL)->value.boolean = value;
}

static void add_number(struct making *m, const char *key, uint64_t value)
{
	add(m, key, SUPD_NUMBER)->value.number = value > INT64_MAX ? INT64_MAX : (int64_t) value;
}

/* @none is the value that stands for unknown: 0 or USEC_NEVER. */
static void add_time(struct making *m, const char *key, enum supd_type type, usec_t value, usec_t none)
{
	add(m, key, value == none ? SUPD_NULL : type)->value.usec = value;
}

static void add_row(struct making *m, const char *key, struct supd_row *row, const struct making *of)
{
	*row = (struct supd_row) { .field = of->field, .n = of->n };
	add(m, key, SUPD_ROW)->value.row = row;
}

/* ---- words ---- */

static const char *const result_words[] = {
	[SUPD_RESULT_NONE] = NULL,
	[SUPD_RESULT_SUCCESS] = "success",
	[SUPD_RESULT_EXIT_CODE] = "exit-code",
	[SUPD_RESULT_SIGNAL] = "signal",
	[SUPD_RESULT_CORE_DUMP] = "core-dump",
	[SUPD_RESULT_TIMEOUT] = "timeout",
	[SUPD_RESULT_EXEC] = "exec",
	[SUPD_RESULT_SKIPPED] = "skipped",
	[SUPD_RESULT_RESOURCES] = "resources",
	[SUPD_RESULT_STOPPED] = "stopped",
};
_Static_assert(ELEMENTS(result_words) == SUPD_RESULT_COUNT, "a word for each result");

static const char *ended_words(const struct timer_memory *m, char *buf, size_t n)
{
	char signal[16];

	switch (m->last_result) {
	case SUPD_RESULT_EXIT_CODE:
		snprintf(buf, n, "failed exit %d", m->last_status);
		return buf;
	case SUPD_RESULT_SIGNAL:
	case SUPD_RESULT_CORE_DUMP:
		snprintf(buf, n, "failed %s %s", m->last_result == SUPD_RESULT_SIGNAL ? "signal" : "core dump",
			 value_signal_name(m->last_status, signal));
		return buf;
	case SUPD_RESULT_TIMEOUT:
	case SUPD_RESULT_EXEC:
	case SUPD_RESULT_RESOURCES:
		snprintf(buf, n, "failed %s", result_words[m->last_result]);
		return buf;
	case SUPD_RESULT_NONE:
	case SUPD_RESULT_SUCCESS:
	case SUPD_RESULT_SKIPPED:
	case SUPD_RESULT_STOPPED:
		break;
	}
	return m->is_interrupted ? "interrupted" : result_words[m->last_result];
}

static bool missed_since_last_run(const struct timer_memory *m)
{
	return m->miss_reason != MISS_NONE && !m->has_run_since_miss;
}

/* The RESULT column: what a person wants to know first. NULL: nothing yet. */
static const char *result_text(const struct entry *e, const struct supd_now *now, char *buf, size_t n)
{
	const struct timer *t = &e->timer;
	char span[TIMESPAN_MAX];

	if (timer_has_open_run(t))
		return "running";
	if (t->retry_at != USEC_NEVER) {
		snprintf(buf, n, "retry %u/%u in %s", t->attempt, e->config->spec.n_retries,
			 timespan_print(span, sizeof(span), usec_sub(t->retry_at, now->boot), USEC_PER_SEC));
		return buf;
	}
	if (missed_since_last_run(&t->memory)) {
		snprintf(buf, n, "missed %s", miss_reason_to_string(t->memory.miss_reason));
		return buf;
	}
	return ended_words(&t->memory, buf, n);
}

static const char *sub_state(const struct entry *e, usec_t next)
{
	if (!e->is_running)
		return "dead";
	if (timer_has_open_run(&e->timer) || e->timer.is_target_active)
		return "running";
	if (!e->timer.is_active)
		return "dead";
	return next == USEC_NEVER ? "elapsed" : "waiting";
}

static bool is_active(const struct entry *e, usec_t next)
{
	return e->is_running && e->timer.is_active && (next != USEC_NEVER || e->config->spec.remain_after_elapse);
}

/* ---- one timer ---- */

/* What a row of it is made of; lives while the row is lent. */
struct view {
	const struct entry *entry;
	const struct supd_now *now;
	usec_t next;
	const char *next_cause;
	char result[96];
	char run_id[33];
	struct making row, retry, miss, open;
	struct supd_row retry_row, miss_row, open_row;
};

static void add_retry(struct view *v)
{
	const struct timer *t = &v->entry->timer;

	if (t->retry_at == USEC_NEVER) {
		add(&v->row, "retry", SUPD_NULL);
		return;
	}
	add_number(&v->retry, "attempt", t->attempt);
	add_number(&v->retry, "of", v->entry->config->spec.n_retries);
	add_time(&v->retry, "at", SUPD_TIMESTAMP, usec_add(v->now->real, usec_sub(t->retry_at, v->now->boot)), USEC_NEVER);
	add_row(&v->row, "retry", &v->retry_row, &v->retry);
}

static void add_miss(struct view *v)
{
	const struct timer_memory *m = &v->entry->timer.memory;

	if (m->miss_reason == MISS_NONE) {
		add(&v->row, "last_miss", SUPD_NULL);
		return;
	}
	add_time(&v->miss, "at", SUPD_TIMESTAMP, m->miss_at, 0);
	add_string(&v->miss, "reason", miss_reason_to_string(m->miss_reason));
	add_number(&v->miss, "count", m->miss_in_row);
	add_row(&v->row, "last_miss", &v->miss_row, &v->miss);
}

static void add_open(struct view *v)
{
	const struct open_run *open = &v->entry->timer.memory.open;

	if (!timer_has_open_run(&v->entry->timer)) {
		add(&v->row, "open_run", SUPD_NULL);
		return;
	}
	text_hex16(open->run_id, v->run_id);
	add_string(&v->open, "run_id", v->run_id);
	add_string(&v->open, "cause", open->cause);
	add_number(&v->open, "attempt", open->attempt);
	add_time(&v->open, "scheduled", SUPD_TIMESTAMP, open->scheduled, 0);
	add_row(&v->row, "open_run", &v->open_row, &v->open);
}

/* systemctl's keys first, in its order. */
static void add_schedule(struct view *v)
{
	const struct timer_memory *m = &v->entry->timer.memory;
	usec_t last = m->last_trigger.real;

	add_time(&v->row, "next", SUPD_TIMESTAMP, v->next, USEC_NEVER);
	add_time(&v->row, "left", SUPD_SPAN, v->next == USEC_NEVER ? USEC_NEVER : usec_sub(v->next, v->now->real),
		 USEC_NEVER);
	add_time(&v->row, "last", SUPD_TIMESTAMP, last, 0);
	add_time(&v->row, "passed", SUPD_SPAN, last == 0 ? USEC_NEVER : usec_sub(v->now->real, last), USEC_NEVER);
	add_string(&v->row, "unit", v->entry->name);
	add_string(&v->row, "activates", v->entry->config->spec.unit);
	add_string(&v->row, "result", result_text(v->entry, v->now, v->result, sizeof(v->result)));
}

static void add_record(struct view *v)
{
	const struct timer_memory *m = &v->entry->timer.memory;

	add_string(&v->row, "next_cause", v->next_cause);
	add_bool(&v->row, "enabled", v->entry->config->spec.is_enabled);
	add_string(&v->row, "state", sub_state(v->entry, v->next));
	add_time(&v->row, "last_scheduled", SUPD_TIMESTAMP, m->last_scheduled, 0);
	add_time(&v->row, "last_started", SUPD_TIMESTAMP, m->last_trigger.real, 0);
	add_time(&v->row, "last_end", SUPD_TIMESTAMP, m->last_end.real, 0);
	add_string(&v->row, "last_result", m->is_interrupted ? "interrupted" : result_words[m->last_result]);
	if (m->last_result == SUPD_RESULT_EXIT_CODE || m->last_result == SUPD_RESULT_SUCCESS)
		add_number(&v->row, "last_exit", (uint64_t) m->last_status);
	else
		add(&v->row, "last_exit", SUPD_NULL);
	add_time(&v->row, "last_success", SUPD_TIMESTAMP, m->last_success.real, 0);
	add_time(&v->row, "last_failure", SUPD_TIMESTAMP, m->last_failure.real, 0);
	add_retry(v);
	add_miss(v);
	add_number(&v->row, "miss_count", m->miss_count);
	add_open(v);
	add_string(&v->row, "description", v->entry->config->spec.description);
}

static void view_init(const struct supd_instance *self, const struct entry *e, const struct supd_now *now, struct view *v)
{
	struct timer_context context = entry_context(self, e);

	v->entry = e;
	v->now = now;
	v->next = timer_next(&e->timer, &context, now, &v->next_cause);
	v->row.n = v->retry.n = v->miss.n = v->open.n = 0;
}

static int give(const struct making *m, supd_row_fn *row, void *userdata)
{
	const struct supd_row r = { .field = m->field, .n = m->n };

	return row(userdata, &r);
}

static int units_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now, supd_row_fn *row,
		     void *userdata)
{
	struct view v;

	view_init(self, e, now, &v);
	add_string(&v.row, "kind", "timer");
	add_schedule(&v);
	add_record(&v);
	return give(&v.row, row, userdata);
}

/* For `supctl list`, beside the services. */
static int list_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now, supd_row_fn *row,
		    void *userdata)
{
	struct view v;

	view_init(self, e, now, &v);
	add_string(&v.row, "unit", e->name);
	add_string(&v.row, "description", e->config->spec.description);
	add_string(&v.row, "load_state", "loaded");
	add_string(&v.row, "active_state", is_active(e, v.next) ? "active" : "inactive");
	add_string(&v.row, "sub_state", sub_state(e, v.next));
	add_bool(&v.row, "enabled", e->config->spec.is_enabled);
	add_string(&v.row, "result", result_text(e, now, v.result, sizeof(v.result)));
	add_string(&v.row, "triggers", e->config->spec.unit);
	return give(&v.row, row, userdata);
}

/* ---- one timer in full ---- */

static usec_t trigger_next(const struct supd_instance *self, const struct entry *e, const struct trigger *t,
			   const struct supd_now *now)
{
	const struct timer *timer = &e->timer;
	int64_t boot;

	if (!timer->is_active)
		return USEC_NEVER;
	if (t->kind == TRIGGER_CALENDAR)
		return usec_add(schedule_next_real(t, &timer->memory, zone_cache_local(self->zones)), timer->delay);
	boot = boot_add(schedule_next_boot(t, &timer->memory, &self->bases), timer->delay);
	if (boot == BOOT_NEVER)
		return USEC_NEVER;
	return boot <= (int64_t) now->boot ? now->real : usec_add(now->real, (usec_t) boot - now->boot);
}

static int status_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now, supd_row_fn *row,
		      void *userdata)
{
	const struct timer_spec *spec = &e->config->spec;
	struct supd_row trigger_row[UINT8_MAX];
	struct supd_field trigger[UINT8_MAX][3];
	struct view v;

	view_init(self, e, now, &v);
	add_schedule(&v);
	add_string(&v.row, "load_state", "loaded");
	add_string(&v.row, "active_state", is_active(e, v.next) ? "active" : "inactive");
	add_string(&v.row, "sub_state", sub_state(e, v.next));
	add_record(&v);
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];
		usec_t next = trigger_next(self, e, t, now);

		trigger[i][0] = (struct supd_field) { "key", SUPD_STRING, { .string = trigger_kind_to_key(t->kind) } };
		trigger[i][1] = (struct supd_field) { "value", SUPD_STRING, { .string = t->text } };
		trigger[i][2] = (struct supd_field) {
			"next", next == USEC_NEVER ? SUPD_NULL : SUPD_TIMESTAMP, { .usec = next },
		};
		trigger_row[i] = (struct supd_row) { .field = trigger[i], .n = ELEMENTS(trigger[i]) };
	}
	add(&v.row, "timer_triggers", SUPD_ROWS)->value.rows.item = trigger_row;
	v.row.field[v.row.n - 1].value.rows.n = spec->n_triggers;
	add_bool(&v.row, "persistent", spec->persistent);
	add_time(&v.row, "catch_up", SUPD_SPAN, spec->catch_up, USEC_NEVER);
	return give(&v.row, row, userdata);
}

/* ---- tables ---- */

typedef int row_fn(struct supd_instance *self, const struct entry *e, const struct supd_now *now, supd_row_fn *row,
		   void *userdata);

static row_fn *table_of(const char *name)
{
	static const struct {
		const char *name;
		row_fn *row;
	} tables[] = {
		{ "units", units_row },
		{ "list", list_row },
		{ "status", status_row },
	};

	for (size_t i = 0; i < ELEMENTS(tables); i++)
		if (str_equal(tables[i].name, name))
			return tables[i].row;
	return NULL;
}

int report_table(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row, void *userdata)
{
	row_fn *one = table_of(query->table);
	struct entry *e, *next;
	int r;

	if (!one)
		return -EOPNOTSUPP;
	if (query->unit) {
		HASH_FIND_STR(self->entry, query->unit, e);
		return e && e->is_running ? one(self, e, &query->now, row, userdata) : -ENOENT;
	}
	HASH_ITER(hh, self->entry, e, next) {
		r = e->is_running ? one(self, e, &query->now, row, userdata) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}
