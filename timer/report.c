/* SPDX-License-Identifier: MIT */
/* What is told of timers: rows of typed fields, so that nobody who shows them needs to know
 * timers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "timer/instance.h"
#include "timer/making.h"
#include "timer/never.h"
#include "timer/zone_load.h"

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
	[SUPD_RESULT_DEPENDENCY] = "dependency",
	[SUPD_RESULT_START_LIMIT] = "start-limit-hit",
	[SUPD_RESULT_ASSERT] = "assert",
	[SUPD_RESULT_OOM_KILL] = "oom-kill",
};
_Static_assert(ELEMENTS(result_words) == SUPD_RESULT_COUNT, "a word for each result");

const char *report_result_words(enum supd_result result, int32_t status, char *buf, size_t n)
{
	char signal[16];

	switch (result) {
	case SUPD_RESULT_EXIT_CODE:
		snprintf(buf, n, "failed exit %d", status);
		return buf;
	case SUPD_RESULT_SIGNAL:
	case SUPD_RESULT_CORE_DUMP:
		snprintf(buf, n, "failed %s %s",
			 result == SUPD_RESULT_SIGNAL ? "signal" : "core dump",
			 value_signal_name(status, signal));
		return buf;
	case SUPD_RESULT_TIMEOUT:
	case SUPD_RESULT_EXEC:
	case SUPD_RESULT_RESOURCES:
	case SUPD_RESULT_ASSERT:
	case SUPD_RESULT_OOM_KILL:
		snprintf(buf, n, "failed %s", result_words[result]);
		return buf;
	case SUPD_RESULT_NONE:
	case SUPD_RESULT_SUCCESS:
	case SUPD_RESULT_SKIPPED:
	case SUPD_RESULT_STOPPED:
		break;
	case SUPD_RESULT_DEPENDENCY:
		return "dependency failed";
	case SUPD_RESULT_START_LIMIT:
		return "started too often";
	}
	return result_words[result];
}

static const char *ended_words(const struct timer_memory *m, char *buf, size_t n)
{
	if (m->is_interrupted)
		return "interrupted";
	return report_result_words(m->last_result, m->last_status, buf, n);
}

static bool missed_since_last_run(const struct timer_memory *m)
{
	return m->miss_reason != MISS_NONE && !m->has_run_since_miss;
}

/* The RESULT column: what a person wants to know first. NULL: nothing yet. */
static const char *result_text(const struct entry *e, const struct supd_now *now, char *buf,
			       size_t n)
{
	const struct timer *t = &e->timer;
	char span[TIMESPAN_MAX];

	if (timer_has_open_run(t))
		return "running";
	if (t->retry_at != USEC_NEVER) {
		snprintf(buf, n, "retry %u/%u in %s", t->attempt, e->config->spec.n_retries,
			 timespan_print(span, sizeof(span), usec_sub(t->retry_at, now->boot),
					USEC_PER_SEC));
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
	if (next != USEC_NEVER)
		return "waiting";
	return e->config->spec.remain_after_elapse ? "elapsed" : "dead";
}

static bool is_active(const struct entry *e, usec_t next)
{
	return e->is_running && e->timer.is_active &&
	       (next != USEC_NEVER || e->config->spec.remain_after_elapse);
}

/* ---- one timer ---- */

/* What a row of it is made of; lives while the row is lent. */
struct view {
	const struct entry *entry;
	const struct supd_now *now;
	usec_t next;
	struct timer_coming coming;
	char result[96];
	char run_id[33], signal[16];
	struct making row, retry, miss, open;
	struct supd_row retry_row, miss_row, open_row;
};

static void add_retry(struct view *v)
{
	const struct timer *t = &v->entry->timer;

	if (t->retry_at == USEC_NEVER) {
		making_null(&v->row, "retry");
		return;
	}
	making_number(&v->retry, "attempt", t->attempt);
	making_number(&v->retry, "of", v->entry->config->spec.n_retries);
	making_time(&v->retry, "at", SUPD_TIMESTAMP,
		    usec_add(v->now->real, usec_sub(t->retry_at, v->now->boot)), USEC_NEVER);
	making_row(&v->row, "retry", &v->retry_row, &v->retry);
}

static void add_miss(struct view *v)
{
	const struct timer_memory *m = &v->entry->timer.memory;

	if (m->miss_reason == MISS_NONE) {
		making_null(&v->row, "last_miss");
		return;
	}
	making_time(&v->miss, "at", SUPD_TIMESTAMP, m->miss_at, 0);
	making_string(&v->miss, "reason", miss_reason_to_string(m->miss_reason));
	making_number(&v->miss, "count", m->miss_in_row);
	making_row(&v->row, "last_miss", &v->miss_row, &v->miss);
}

static void add_open(struct view *v)
{
	const struct open_run *open = &v->entry->timer.memory.open;

	if (!timer_has_open_run(&v->entry->timer)) {
		making_null(&v->row, "open_run");
		return;
	}
	text_hex16(open->run_id, v->run_id);
	making_string(&v->open, "run_id", v->run_id);
	making_string(&v->open, "cause", open->cause);
	making_number(&v->open, "attempt", open->attempt);
	making_time(&v->open, "scheduled", SUPD_TIMESTAMP, open->scheduled, 0);
	making_row(&v->row, "open_run", &v->open_row, &v->open);
}

/* systemctl's keys first, in its order. */
static void add_schedule(struct view *v)
{
	const struct timer_memory *m = &v->entry->timer.memory;
	usec_t last = m->last_trigger.real;

	making_time(&v->row, "next", SUPD_TIMESTAMP, v->next, USEC_NEVER);
	making_time(&v->row, "left", SUPD_SPAN,
		    v->next == USEC_NEVER ? USEC_NEVER : usec_sub(v->next, v->now->real),
		    USEC_NEVER);
	making_time(&v->row, "last", SUPD_TIMESTAMP, last, 0);
	making_time(&v->row, "passed", SUPD_SPAN,
		    last == 0 ? USEC_NEVER : usec_sub(v->now->real, last), USEC_NEVER);
	making_string(&v->row, "unit", v->entry->name);
	making_string(&v->row, "activates", v->entry->config->spec.unit);
	making_string(&v->row, "result",
		      result_text(v->entry, v->now, v->result, sizeof(v->result)));
	making_bool(&v->row, "never",
		    v->next == USEC_NEVER &&
			    never_reason(&v->entry->timer, &v->entry->config->spec));
}

static void add_record(struct view *v)
{
	const struct timer_memory *m = &v->entry->timer.memory;

	making_string(&v->row, "next_cause", v->coming.cause);
	making_bool(&v->row, "enabled", v->entry->config->spec.is_enabled);
	making_string(&v->row, "state", sub_state(v->entry, v->next));
	making_time(&v->row, "last_scheduled", SUPD_TIMESTAMP, m->last_scheduled, 0);
	making_time(&v->row, "last_started", SUPD_TIMESTAMP, m->last_trigger.real, 0);
	making_time(&v->row, "last_end", SUPD_TIMESTAMP, m->last_end.real, 0);
	making_string(&v->row, "last_result",
		      m->is_interrupted ? "interrupted" : result_words[m->last_result]);
	if (m->last_result == SUPD_RESULT_EXIT_CODE || m->last_result == SUPD_RESULT_SUCCESS)
		making_number(&v->row, "last_exit", (uint64_t) m->last_status);
	else
		making_null(&v->row, "last_exit");
	if (!m->is_interrupted &&
	    (m->last_result == SUPD_RESULT_SIGNAL || m->last_result == SUPD_RESULT_CORE_DUMP))
		making_string(&v->row, "last_signal", value_signal_name(m->last_status, v->signal));
	else
		making_null(&v->row, "last_signal");
	making_time(&v->row, "last_success", SUPD_TIMESTAMP, m->last_success.real, 0);
	making_time(&v->row, "last_failure", SUPD_TIMESTAMP, m->last_failure.real, 0);
	add_retry(v);
	add_miss(v);
	making_bool(&v->row, "missed_since_run", missed_since_last_run(m));
	making_number(&v->row, "miss_count", m->miss_count);
	add_open(v);
	making_string(&v->row, "description", v->entry->config->spec.description);
}

static void view_init(const struct supd_instance *self, const struct entry *e,
		      const struct supd_now *now, struct view *v)
{
	struct timer_context context = entry_context(self, e);

	v->entry = e;
	v->now = now;
	v->next = timer_next(&e->timer, &context, now, &v->coming);
	v->row.n = v->retry.n = v->miss.n = v->open.n = 0;
}

static int units_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now,
		     supd_row_fn *row, void *userdata)
{
	struct view v;

	view_init(self, e, now, &v);
	making_string(&v.row, "kind", "timer");
	add_schedule(&v);
	add_record(&v);
	return making_give(&v.row, row, userdata);
}

/* For `supctl list`, beside the services. */
static int list_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now,
		    supd_row_fn *row, void *userdata)
{
	struct view v;

	view_init(self, e, now, &v);
	making_string(&v.row, "unit", e->name);
	making_string(&v.row, "description", e->config->spec.description);
	making_string(&v.row, "load_state", "loaded");
	making_string(&v.row, "active_state", is_active(e, v.next) ? "active" : "inactive");
	making_string(&v.row, "sub_state", sub_state(e, v.next));
	making_bool(&v.row, "enabled", e->config->spec.is_enabled);
	making_string(&v.row, "result", result_text(e, now, v.result, sizeof(v.result)));
	making_string(&v.row, "triggers", e->config->spec.unit);
	return making_give(&v.row, row, userdata);
}

/* ---- one timer in full ---- */

usec_t report_trigger_next(const struct supd_instance *self, const struct entry *e,
			   const struct trigger *t, const struct supd_now *now)
{
	const struct timer *timer = &e->timer;
	usec_t real;
	int64_t boot;

	if (!timer->is_active)
		return USEC_NEVER;
	if (t->kind == TRIGGER_CALENDAR) {
		real = schedule_kept_real(t, &timer->memory, zone_cache_local(self->zones));
		return real == USEC_NEVER ? real : usec_add(real, timer->delay);
	}
	boot = boot_add(schedule_kept_boot(t, &timer->memory, &self->bases), timer->delay);
	if (boot == BOOT_NEVER)
		return USEC_NEVER;
	return boot <= (int64_t) now->boot ? now->real
					   : usec_add(now->real, (usec_t) boot - now->boot);
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int status_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now,
		      supd_row_fn *row, void *userdata)
{
	const struct timer_spec *spec = &e->config->spec;
	struct supd_row trigger_row[UINT8_MAX];
	struct supd_field trigger[UINT8_MAX][4];
	struct arena arena = { 0 };
	struct why_words words;
	struct view v;
	int r = why_words(self, e, now, &arena, &words);

	if (r < 0) {
		arena_done(&arena);
		return r;
	}
	view_init(self, e, now, &v);
	add_schedule(&v);
	making_string(&v.row, "load_state", "loaded");
	making_string(&v.row, "active_state", is_active(e, v.next) ? "active" : "inactive");
	making_string(&v.row, "sub_state", sub_state(e, v.next));
	add_record(&v);
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];
		usec_t next = report_trigger_next(self, e, t, now);

		trigger[i][0] = (struct supd_field){ "key",
						     SUPD_STRING,
						     { .string = trigger_kind_to_key(t->kind) } };
		trigger[i][1] = (struct supd_field) { "value", SUPD_STRING, { .string = t->text } };
		trigger[i][2] = (struct supd_field) {
			"next", next == USEC_NEVER ? SUPD_NULL : SUPD_TIMESTAMP, { .usec = next },
		};
		trigger[i][3] = (struct supd_field){ "note",
						     SUPD_STRING,
						     { .string = words.trigger_note[i] } };
		trigger_row[i] =
			(struct supd_row){ .field = trigger[i], .n = ELEMENTS(trigger[i]) };
	}
	making_rows(&v.row, "timer_triggers", trigger_row, spec->n_triggers);
	making_bool(&v.row, "persistent", spec->persistent);
	making_time(&v.row, "catch_up", SUPD_SPAN, spec->catch_up, USEC_NEVER);
	making_strings(&v.row, "words", words.line, count(words.line));
	r = making_give(&v.row, row, userdata);
	arena_done(&arena);
	return r;
}

/* ---- tables ---- */

typedef int row_fn(struct supd_instance *self, const struct entry *e, const struct supd_now *now,
		   supd_row_fn *row, void *userdata);

static row_fn *table_of(const char *name)
{
	static const struct {
		const char *name;
		row_fn *row;
	} tables[] = {
		{ "units", units_row },
		{ "list", list_row },
		{ "status", status_row },
		{ "why", why_row },
	};

	for (size_t i = 0; i < ELEMENTS(tables); i++)
		if (str_equal(tables[i].name, name))
			return tables[i].row;
	return NULL;
}

/* The two clocks are read one after the other: a moment on one, told on the other, would differ by
 * a microsecond from answer to answer. As long as they have not moved against each other, it
 * stays. */
static struct supd_now steady_now(struct supd_instance *self, const struct supd_now *now)
{
	int64_t offset = (int64_t) now->real - (int64_t) now->boot,
		moved = offset - self->told_offset;
	struct supd_now ret = *now;

	if (moved > (int64_t) USEC_PER_MSEC || moved < -(int64_t) USEC_PER_MSEC)
		self->told_offset = offset;
	ret.boot = (usec_t) ((int64_t) now->real - self->told_offset);
	return ret;
}

/* Of all timers together. */
static int subsystem_row(const struct supd_instance *self, supd_row_fn *row, void *userdata)
{
	struct making m = { .n = 0 };

	making_time(&m, "not_persisted_since", SUPD_TIMESTAMP, self->failing_since, 0);
	return making_give(&m, row, userdata);
}

static int table_give(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
		      void *userdata)
{
	row_fn *one = table_of(query->table);
	struct entry *e;
	int r;

	if (str_equal(query->table, "plan"))
		return plan_table(self, query, row, userdata);
	if (!one)
		return -EOPNOTSUPP;
	if (query->unit) {
		e = names_find(&self->entries, query->unit);
		return e && e->is_running ? one(self, e, &query->now, row, userdata) : -ENOENT;
	}
	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		r = e->is_running ? one(self, e, &query->now, row, userdata) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

int report_table(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
		 void *userdata)
{
	struct supd_query steady = { .size = 0 };

	if (str_equal(query->table, "subsystem"))
		return subsystem_row(self, row, userdata);
	memcpy(&steady, query, query->size < sizeof(steady) ? query->size : sizeof(steady));
	steady.now = steady_now(self, &query->now);
	return table_give(self, &steady, row, userdata);
}
