/* SPDX-License-Identifier: MIT */
/* Why a timer elapses when it does: each rule with its own next moment, which of them wins, and
 * what became of the last moments. For people, who then look no further; nothing decides anything
 * by it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "timer/calendar.h"
#include "timer/instance.h"
#include "timer/making.h"
#include "timer/never.h"
#include "timer/timestamp.h"
#include "timer/zone_load.h"

/* Something that could make the timer act. */
struct candidate {
	const char *rule;  /* "OnCalendar=daily", "retry", "catch-up" */
	const char *cause; /* of the run */
	usec_t next;       /* real time; USEC_NEVER: none */
	bool is_chosen;
	const char *note;  /* what is to be said of it */
};

#define CANDIDATES_MAX (UINT8_MAX + 2)

struct why {
	const struct supd_instance *self;
	const struct entry *entry;
	const struct timer *timer;
	const struct timer_spec *spec;
	const struct supd_now *now;
	struct arena *arena;
	usec_t next;
	struct timer_coming coming;
	struct candidate candidate[CANDIDATES_MAX];
	size_t n;
	bool is_failed; /* memory ran out */
};

static const char *text(struct why *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static const char *text(struct why *w, const char *fmt, ...)
{
	char buf[512];
	char *copy;
	va_list ap;

	va_start(ap, fmt);
	(void) vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	copy = arena_strdup(w->arena, buf);
	w->is_failed |= !copy;
	return copy ? copy : "";
}

static const char *moment(struct why *w, usec_t when)
{
	char buf[TIMESTAMP_MAX];

	return text(w, "%s",
		    timestamp_print(buf, sizeof(buf), when, zone_cache_local(w->self->zones),
				    false));
}

static const char *span(struct why *w, usec_t length)
{
	char buf[TIMESPAN_MAX];
	usec_t accuracy = length < USEC_PER_SEC      ? 1
			  : length < USEC_PER_MINUTE ? USEC_PER_MSEC
						     : USEC_PER_SEC;

	return text(w, "%s", timespan_print(buf, sizeof(buf), length, accuracy));
}

/* Real time of a moment on the boot-time clock that is not over. */
static usec_t real_time(const struct why *w, usec_t boot)
{
	return usec_add(w->now->real, usec_sub(boot, w->now->boot));
}

/* ---- what is considered ---- */

static const char *last_run_note(struct why *w, const struct trigger *t)
{
	const struct timer_memory *m = &w->timer->memory;
	const struct stamp *anchor = t->kind == TRIGGER_UNIT_ACTIVE ? &m->anchor_active
								    : &m->anchor_inactive;

	if (t->span == USEC_NEVER)
		return "its span is infinite";
	if (timer_has_open_run(w->timer) || w->timer->is_target_active)
		return text(w, "counts from the end of %s, which runs", w->spec->unit);
	if (w->timer->retry_at != USEC_NEVER)
		return text(w, "counts from the end of %s, which is to be retried", w->spec->unit);
	if (anchor->real == 0)
		return text(w, "counts from the end of %s, which has not run yet", w->spec->unit);
	return "its moment has passed";
}

/* Why a trigger has no moment to come. */
static const char *without_moment(struct why *w, const struct trigger *t)
{
	switch (t->kind) {
	case TRIGGER_CALENDAR:
		return calendar_is_possible(t->calendar) ? "its last moment lies in the past"
							 : "no year has such a date";
	case TRIGGER_STARTUP:
	case TRIGGER_ACTIVE:
	case TRIGGER_BOOT:
		return t->span == USEC_NEVER ? "its span is infinite"
					     : "elapses once, and has had its moment";
	case TRIGGER_UNIT_ACTIVE:
	case TRIGGER_UNIT_INACTIVE:
		break;
	}
	return last_run_note(w, t);
}

static const char *dst_note(const struct why *w, const struct trigger *t)
{
	const struct zone *local = zone_cache_local(w->self->zones);
	usec_t when = schedule_next_real(t, &w->timer->memory, local);
	enum calendar_note note;

	if (when == USEC_NEVER || when == 0 ||
	    calendar_next(t->calendar, local, when - 1, &note) != when)
		return "";
	switch (note) {
	case CALENDAR_PLAIN:
		break;
	case CALENDAR_GAP:
		return ", moved: the local time does not exist that day";
	case CALENDAR_FOLD:
		return ", the local time occurs twice that day";
	}
	return "";
}

static const char *with_moment(struct why *w, const struct candidate *c, const struct trigger *t)
{
	const char *dst = t->kind == TRIGGER_CALENDAR ? dst_note(w, t) : "";

	if (c->is_chosen && w->timer->delay > 0)
		return text(w, "next, with a random delay of %s%s", span(w, w->timer->delay), dst);
	return text(w, "%s%s", c->is_chosen ? "next" : "later", dst);
}

static void consider_triggers(struct why *w)
{
	for (unsigned i = 0; i < w->spec->n_triggers; i++) {
		const struct trigger *t = &w->spec->trigger[i];
		struct candidate *c = &w->candidate[w->n++];

		*c = (struct candidate) {
			.rule = text(w, "%s=%s", trigger_kind_to_key(t->kind), t->text),
			.cause = trigger_kind_to_string(t->kind),
			.next = report_trigger_next(w->self, w->entry, t, w->now),
			.is_chosen = (int) i == w->coming.trigger,
		};
		if (!w->timer->is_active)
			c->note = "the timer is disabled";
		else
			c->note = c->next == USEC_NEVER ? without_moment(w, t)
							: with_moment(w, c, t);
	}
}

static void consider_retry(struct why *w)
{
	bool is_chosen = w->coming.cause && str_equal(w->coming.cause, "retry");

	if (w->timer->retry_at == USEC_NEVER)
		return;
	w->candidate[w->n++] = (struct candidate){
		.rule = "retry",
		.cause = "retry",
		.next = real_time(w, w->timer->retry_at),
		.is_chosen = is_chosen,
		.note = text(w, "%s: retry %u of %u",
			     is_chosen ? "next" : "a scheduled moment comes before it and drops it",
			     w->timer->attempt, w->spec->n_retries),
	};
}

static void consider_catch_up(struct why *w)
{
	const struct waiting *waiting = &w->timer->memory.waiting;
	bool is_chosen = w->coming.cause && str_equal(w->coming.cause, "catch-up");

	if (w->timer->catch_up_at == USEC_NEVER)
		return;
	w->candidate[w->n++] = (struct candidate){
		.rule = "catch-up",
		.cause = "catch-up",
		.next = real_time(w, w->timer->catch_up_at),
		.is_chosen = is_chosen,
		.note = text(w, "%s: for %s (%s)",
			     is_chosen ? "next" : "a scheduled moment comes before it and drops it",
			     moment(w, waiting->scheduled), miss_reason_to_string(waiting->reason)),
	};
}

static void look(struct why *w, const struct supd_instance *self, const struct entry *e,
		 const struct supd_now *now, struct arena *arena)
{
	struct timer_context context = entry_context(self, e);

	w->self = self;
	w->entry = e;
	w->timer = &e->timer;
	w->spec = &e->config->spec;
	w->now = now;
	w->arena = arena;
	w->n = 0;
	w->is_failed = false;
	w->next = timer_next(&e->timer, &context, now, &w->coming);
	consider_triggers(w);
	consider_retry(w);
	consider_catch_up(w);
}

/* ---- sentences ---- */

#define WORDS_MAX 16

struct words {
	const char *line[WORDS_MAX + 1];
	size_t n;
};

static void say(struct words *s, const char *line)
{
	if (s->n < WORDS_MAX)
		s->line[s->n++] = line;
}

static void say_changes(const struct why *w, struct words *s)
{
	if (w->spec->on_clock_change)
		say(s, "elapses whenever the clock is set (OnClockChange=)");
	if (w->spec->on_timezone_change)
		say(s, "elapses whenever the time zone changes (OnTimezoneChange=)");
}

/* Why its moments would be missed. */
static void say_target(struct why *w, struct words *s)
{
	const struct supd_host *host = w->self->host;
	struct supd_unit_state state = { .size = sizeof(state) };

	if (host->unit_state(host->ctx, w->spec->unit, &state) < 0)
		say(s, text(w, "%s is missing; moments are missed", w->spec->unit));
	else if (state.is_masked)
		say(s, text(w, "%s is masked; moments until it is unmasked are missed",
			    w->spec->unit));
	else if (!state.is_startable)
		say(s, text(w, "%s %s; moments are missed", w->spec->unit, state.why_not));
	else if (!state.is_enabled)
		say(s, text(w, "%s says Enabled=no; moments are missed", w->spec->unit));
}

/* Its run is of a target that a reload took from it. */
static bool is_stray(const struct why *w)
{
	const struct entry *e = w->self->stray;

	while (e && e != w->entry)
		e = e->stray_next;
	return e;
}

static void say_waits(struct why *w, struct words *s)
{
	const struct open_run *open = &w->timer->memory.open;
	const char *never = w->next == USEC_NEVER ? never_reason(w->timer, w->spec) : NULL;

	if (timer_has_open_run(w->timer))
		say(s,
		    text(w,
			 "waits for the end of %s (%s, attempt %u); moments until then are missed",
			 is_stray(w) ? "a run of its former target" : w->spec->unit, open->cause,
			 open->attempt));
	else if (w->timer->is_target_active)
		say(s,
		    text(w,
			 "%s is active, and no run of this timer goes on; moments until it is inactive are missed",
			 w->spec->unit));
	else
		say_target(w, s);
	if (!w->timer->is_active)
		say(s, "disabled: it does not elapse");
	if (never)
		say(s, text(w, "never elapses again: %s", never));
}

static const char *retry_on(struct why *w)
{
	static const struct {
		enum retry_on bit;
		const char *word;
	} words[] = {
		{ RETRY_ON_EXIT, "exit" },
		{ RETRY_ON_SIGNAL, "signal" },
		{ RETRY_ON_TIMEOUT, "timeout" },
		{ RETRY_ON_EXEC, "exec" },
	};
	const char *list = "";

	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (w->spec->retry_on & words[i].bit)
			list = text(w, "%s%s%s", list, *list ? " " : "", words[i].word);
	return list;
}

static void say_ladder(struct why *w, struct words *s)
{
	const char *rungs = "";

	for (unsigned i = 0; i < w->spec->n_retries; i++)
		rungs = text(w, "%s%s%s", rungs, i > 0 ? ", " : "", span(w, w->spec->retry[i]));
	if (w->timer->retry_at != USEC_NEVER)
		say(s,
		    text(w, "retry %u of %u in %s (of: %s)", w->timer->attempt, w->spec->n_retries,
			 span(w, usec_sub(w->timer->retry_at, w->now->boot)), rungs));
	else if (w->spec->n_retries > 0)
		say(s,
		    text(w, "a failed run is retried after %s (RetryOn=%s)", rungs, retry_on(w)));
	else
		say(s, "a failed run is not retried");
}

/* Why no retry follows the last run. */
static const char *for_good(const struct why *w)
{
	const struct timer_memory *m = &w->timer->memory;

	if (m->is_interrupted || !timer_has_failed(m->last_result) ||
	    m->last_result == SUPD_RESULT_STOPPED || timer_has_open_run(w->timer) ||
	    w->timer->retry_at != USEC_NEVER)
		return "";
	if (!timer_is_retried(w->spec, m->last_result))
		return ", for good: such an end is not retried";
	return w->timer->attempt > w->spec->n_retries ? ", for good: no retry is left"
						      : ", for good";
}

static void say_record(struct why *w, struct words *s)
{
	const struct timer_memory *m = &w->timer->memory;
	char buf[96];
	const char *result = m->is_interrupted ? "interrupted"
					       : report_result_words(m->last_result, m->last_status,
								     buf, sizeof(buf));

	if (m->last_end.real != 0 && result)
		say(s, text(w, "last run ended %s: %s%s", moment(w, m->last_end.real), result,
			    for_good(w)));
	if (m->last_success.real != 0 && m->last_result != SUPD_RESULT_SUCCESS)
		say(s, text(w, "last success: %s", moment(w, m->last_success.real)));
}

static void say_miss(struct why *w, struct words *s)
{
	const struct timer_memory *m = &w->timer->memory;

	if (m->miss_reason != MISS_NONE)
		say(s,
		    text(w, "last miss: %s, scheduled %s; %llu in a row, %llu in all",
			 miss_reason_to_string(m->miss_reason), moment(w, m->miss_at),
			 (unsigned long long) m->miss_in_row, (unsigned long long) m->miss_count));
}

static void say_random(struct why *w, struct words *s)
{
	if (w->spec->randomized_delay > 0)
		say(s, text(w, "a %s delay of up to %s is part of each moment: %s this time",
			    w->spec->fixed_random_delay ? "fixed random" : "random",
			    span(w, w->spec->randomized_delay), span(w, w->timer->delay)));
}

static void say_skips(struct why *w, struct words *s)
{
	const struct skips *all = w->timer->memory.skips;
	const char *list = "";

	for (unsigned i = 0; all && i < all->n; i++)
		list = text(w, "%s%s%s", list, i > 0 ? ", " : "",
			    moment(w, skip_real(&all->item[i], w->now)));
	if (all)
		say(s, text(w, "skipped by an admin: %s", list));
}

static void say_unpersisted(struct why *w, struct words *s)
{
	if (w->self->failing_since != 0)
		say(s,
		    text(w,
			 "not persisted since %s: %s; a restart would forget what happened since",
			 moment(w, w->self->failing_since), strerror(-w->self->failure)));
}

static void say_all(struct why *w, struct words *s)
{
	say_changes(w, s);
	say_random(w, s);
	say_skips(w, s);
	say_waits(w, s);
	say_record(w, s);
	say_ladder(w, s);
	say_unpersisted(w, s);
}

int why_words(const struct supd_instance *self, const struct entry *e, const struct supd_now *now,
	      struct arena *arena, struct why_words *ret)
{
	struct words *s = arena_alloc(arena, sizeof(*s));
	struct why *w = arena_alloc(arena, sizeof(*w));
	const char **note = arena_alloc(arena, CANDIDATES_MAX * sizeof(*note));

	if (!s || !w || !note)
		return -ENOMEM;
	look(w, self, e, now, arena);
	say_all(w, s);
	for (size_t i = 0; i < w->n; i++)
		note[i] = w->candidate[i].note;
	*ret = (struct why_words) { .line = s->line, .trigger_note = note };
	return w->is_failed ? -ENOMEM : 0;
}

/* ---- the row ---- */

struct considered {
	struct supd_field field[5];
};

static void add_considered(struct why *w, struct making *row, struct considered *fields,
			   struct supd_row *rows)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct candidate *c = &w->candidate[i];
		struct supd_field *f = fields[i].field;

		f[0] = (struct supd_field) { "rule", SUPD_STRING, { .string = c->rule } };
		f[1] = (struct supd_field) { "cause", SUPD_STRING, { .string = c->cause } };
		f[2] = (struct supd_field){ "next",
					    c->next == USEC_NEVER ? SUPD_NULL : SUPD_TIMESTAMP,
					    { .usec = c->next } };
		f[3] = (struct supd_field) { "chosen", SUPD_BOOL, { .boolean = c->is_chosen } };
		f[4] = (struct supd_field) { "note", SUPD_STRING, { .string = c->note } };
		rows[i] = (struct supd_row) { .field = f, .n = ELEMENTS(fields[i].field) };
	}
	making_rows(row, "considered", rows, w->n);
}

static const char *outcome(struct why *w, const struct recent_moment *m)
{
	char buf[96];
	const char *words;

	switch ((enum recent_outcome) m->outcome) {
	case RECENT_RUNNING:
		return "running";
	case RECENT_ENDED:
		words = report_result_words((enum supd_result) m->detail, m->status, buf,
					    sizeof(buf));
		return text(w, "%s", words ? words : "interrupted");
	case RECENT_MISSED:
		break;
	}
	return text(w, "missed %s", miss_reason_to_string((enum miss_reason) m->detail));
}

static void add_moments(struct why *w, struct making *row, struct making fields[RECENT_MAX],
			struct supd_row rows[RECENT_MAX])
{
	const struct recent_moment *m;
	size_t n = 0;

	for (; (m = recent_at(w->entry->recent, (unsigned) n)); n++) {
		fields[n].n = 0;
		making_time(&fields[n], "scheduled", SUPD_TIMESTAMP, m->scheduled, 0);
		making_string(&fields[n], "cause", recent_cause(m));
		making_string(&fields[n], "outcome", outcome(w, m));
		making_number(&fields[n], "attempts", m->attempt);
		making_number(&fields[n], "count", m->outcome == RECENT_MISSED ? m->count : 1);
		rows[n] = (struct supd_row) { .field = fields[n].field, .n = fields[n].n };
	}
	making_rows(row, "moments", rows, n);
}

static void add_skips(const struct why *w, struct making *row,
		      struct supd_field field[TIMER_SKIPS_MAX],
		      struct supd_row rows[TIMER_SKIPS_MAX])
{
	const struct skips *all = w->timer->memory.skips;
	unsigned n = all ? all->n : 0;

	for (unsigned i = 0; i < n; i++) {
		field[i] = (struct supd_field) {
			"moment", SUPD_TIMESTAMP, { .usec = skip_real(&all->item[i], w->now) },
		};
		rows[i] = (struct supd_row) { .field = &field[i], .n = 1 };
	}
	making_rows(row, "skipped", rows, n);
}

static void add_delay(const struct why *w, struct making *row, struct making *delay,
		      struct supd_row *delay_row)
{
	if (w->spec->randomized_delay == 0) {
		making_null(row, "random_delay");
		return;
	}
	delay->n = 0;
	making_time(delay, "max", SUPD_SPAN, w->spec->randomized_delay, USEC_NEVER);
	making_time(delay, "drawn", SUPD_SPAN, w->timer->delay, USEC_NEVER);
	making_bool(delay, "fixed", w->spec->fixed_random_delay);
	making_row(row, "random_delay", delay_row, delay);
}

static const char *chosen_rule(const struct why *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->candidate[i].is_chosen)
			return w->candidate[i].rule;
	return NULL;
}

/* All that a row points to. */
struct whole {
	struct why why;
	struct words words;
	struct making row, delay, moment[RECENT_MAX];
	struct considered considered[CANDIDATES_MAX];
	struct supd_field skip[TIMER_SKIPS_MAX];
	struct supd_row skip_row[TIMER_SKIPS_MAX];
	struct supd_row considered_row[CANDIDATES_MAX], moment_row[RECENT_MAX], delay_row;
};

static void fill(struct whole *all)
{
	struct why *w = &all->why;
	const char *never = w->next == USEC_NEVER ? never_reason(w->timer, w->spec) : NULL;
	struct making *row = &all->row;

	making_string(row, "unit", w->entry->name);
	making_string(row, "activates", w->spec->unit);
	making_bool(row, "enabled", w->spec->is_enabled);
	making_time(row, "next", SUPD_TIMESTAMP, w->next, USEC_NEVER);
	making_time(row, "left", SUPD_SPAN,
		    w->next == USEC_NEVER ? USEC_NEVER : usec_sub(w->next, w->now->real),
		    USEC_NEVER);
	making_string(row, "next_cause", w->coming.cause);
	making_string(row, "next_rule", chosen_rule(w));
	making_bool(row, "never", never);
	making_string(row, "never_reason", never);
	add_considered(w, row, all->considered, all->considered_row);
	add_skips(w, row, all->skip, all->skip_row);
	add_delay(w, row, &all->delay, &all->delay_row);
	add_moments(w, row, all->moment, all->moment_row);
	making_strings(row, "words", all->words.line, all->words.n);
}

int why_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now,
	    supd_row_fn *row, void *userdata)
{
	struct arena arena = { 0 };
	struct whole *all = arena_alloc(&arena, sizeof(*all));
	int r = -ENOMEM;

	if (all) {
		look(&all->why, self, e, now, &arena);
		say_all(&all->why, &all->words);
		say_miss(&all->why, &all->words);
		fill(all);
		r = all->why.is_failed ? -ENOMEM : making_give(&all->row, row, userdata);
	}
	arena_done(&arena);
	return r;
}
