/* SPDX-License-Identifier: MIT */
/* What is to come: the moments of all timers in a stretch of time, from the same schedule that arms
 * the alarms. It is asked again and again, of a copy of the memory in which the line moves from
 * moment to moment. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "timer/calendar.h"
#include "timer/instance.h"
#include "timer/making.h"
#include "timer/timestamp.h"
#include "timer/zone_load.h"

/* A timer that elapses each second has 86 400 moments a day; nobody reads them. What is left out is
 * said. */
#define TIMER_ROWS_MAX 1000
#define ROWS_MAX 20000

struct plan {
	const struct supd_instance *self;
	const struct supd_query *query;
	supd_row_fn *row;
	void *userdata;
	unsigned n;       /* rows in all */
	unsigned n_timer; /* of this timer */
	const struct entry *entry;
	char note[320];
};

/* One row. */
struct coming {
	const char *state; /* "coming", "running", "note" */
	usec_t moment;     /* real time: when it acts; USEC_NEVER: a note */
	usec_t scheduled;  /* for which moment: of a catch-up it is over; names the row */
	const char *cause;
	bool is_skipped;
	const char *dst;
	usec_t delay;      /* random; USEC_NEVER: not known, or none */
	uint32_t attempt;
	const char *note;
};

const char *plan_dst(const struct supd_instance *self, const struct entry *e, usec_t scheduled)
{
	static const char *const word[] = {
		[CALENDAR_PLAIN] = NULL, [CALENDAR_GAP] = "gap", [CALENDAR_FOLD] = "fold"
	};
	const struct timer_spec *spec = &e->config->spec;

	for (unsigned i = 0; i < spec->n_triggers && scheduled > 0; i++) {
		const struct calendar *c = spec->trigger[i].calendar;
		enum calendar_note note;

		if (c &&
		    calendar_next(c, zone_cache_local(self->zones), scheduled - 1, &note) ==
			    scheduled &&
		    word[note])
			return word[note];
	}
	return NULL;
}

unsigned plan_coming(const struct supd_instance *self, const struct entry *e,
		     const struct supd_now *now, usec_t *ret, unsigned max)
{
	struct timer_memory m = e->timer.memory;
	struct schedule next;
	unsigned n = 0;

	while (n < max) {
		schedule_next_kept(&e->config->spec, &m, &self->bases,
				   zone_cache_local(self->zones), &next);
		ret[n] = usec_min(next.real, timer_real_of(now, next.boot));
		if (ret[n] == USEC_NEVER)
			break;
		if (ret[n] == next.real)
			m.accounted_real = next.real;
		else
			m.accounted = (struct stamp) { .real = 1, .boot = next.boot };
		n++;
	}
	return n;
}

/* ---- rows ---- */

static const char *note(struct plan *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Until the next one. */
static const char *note(struct plan *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void) vsnprintf(p->note, sizeof(p->note), fmt, ap);
	va_end(ap);
	return p->note;
}

static int give(struct plan *p, const struct coming *c)
{
	const struct timer_spec *spec = p->entry ? &p->entry->config->spec : NULL;
	usec_t max = spec ? spec->randomized_delay : 0;
	struct making row;

	row.n = 0;
	making_string(&row, "state", c->state);
	making_string(&row, "unit", p->entry ? p->entry->name : NULL);
	making_string(&row, "activates", spec ? spec->unit : NULL);
	making_time(&row, "moment", SUPD_TIMESTAMP, c->moment, USEC_NEVER);
	making_time(&row, "scheduled", SUPD_TIMESTAMP, c->scheduled, USEC_NEVER);
	making_string(&row, "cause", c->cause);
	making_bool(&row, "skipped", c->is_skipped);
	making_string(&row, "dst", c->dst);
	making_time(&row, "delay", SUPD_SPAN, c->delay, USEC_NEVER);
	making_time(&row, "delay_max", SUPD_SPAN,
		    max > 0 && c->delay == USEC_NEVER && !c->attempt ? max : USEC_NEVER,
		    USEC_NEVER);
	making_number(&row, "attempt", c->attempt);
	making_string(&row, "note", c->note);
	return making_give(&row, p->row, p->userdata);
}

static int give_note(struct plan *p, const char *text)
{
	p->n++;
	return give(p, &(struct coming){
			       .state = "note",
			       .moment = USEC_NEVER,
			       .scheduled = USEC_NEVER,
			       .delay = USEC_NEVER,
			       .note = text,
		       });
}

static bool is_asked_for(const struct plan *p, usec_t moment)
{
	return moment >= p->query->from && moment < p->query->to;
}

static bool is_full(const struct plan *p)
{
	return p->n >= ROWS_MAX || p->n_timer >= TIMER_ROWS_MAX;
}

static int add(struct plan *p, const struct coming *c)
{
	if (!is_asked_for(p, c->moment))
		return 0;
	p->n++;
	p->n_timer++;
	return give(p, c);
}

/* ---- one timer ---- */

static int add_open_run(struct plan *p)
{
	const struct open_run *open = &p->entry->timer.memory.open;

	if (!timer_has_open_run(&p->entry->timer))
		return 0;
	return add(p, &(struct coming){
			      .state = "running",
			      .moment = open->taken.real,
			      .scheduled = open->scheduled,
			      .cause = open->cause,
			      .delay = USEC_NEVER,
			      .attempt = open->attempt,
		      });
}

static int add_catch_up(struct plan *p)
{
	const struct timer *t = &p->entry->timer;
	const struct waiting *w = &t->memory.waiting;
	char when[TIMESTAMP_MAX];

	if (t->catch_up_at == USEC_NEVER)
		return 0;
	timestamp_print(when, sizeof(when), w->scheduled, zone_cache_local(p->self->zones), false);
	return add(p, &(struct coming){
			      .state = "coming",
			      .moment = timer_real_of(&p->query->now, (int64_t) t->catch_up_at),
			      .scheduled = w->scheduled,
			      .cause = "catch-up",
			      .delay = USEC_NEVER,
			      .attempt = 1,
			      .note = note(p, "makes up for %s (%s)", when,
					   miss_reason_to_string(w->reason)),
		      });
}

static int add_retry(struct plan *p)
{
	const struct timer *t = &p->entry->timer;
	usec_t at;

	if (t->retry_at == USEC_NEVER)
		return 0;
	at = timer_real_of(&p->query->now, (int64_t) t->retry_at);
	return add(p,
		   &(struct coming){
			   .state = "coming",
			   .moment = at,
			   .scheduled = at,
			   .cause = "retry",
			   .delay = USEC_NEVER,
			   .attempt = t->attempt + 1,
			   .note = note(p,
					"retry %u of %u, unless a scheduled moment comes before it",
					t->attempt, p->entry->config->spec.n_retries),
		   });
}

static int add_calendar(struct plan *p)
{
	const struct timer *t = &p->entry->timer;
	const struct timer_spec *spec = &p->entry->config->spec;
	const struct zone *local = zone_cache_local(p->self->zones);
	struct timer_memory m = t->memory;
	char when[TIMESTAMP_MAX];
	struct schedule next;
	int r = 0;

	if (p->query->from > 0)
		m.accounted_real = usec_max(m.accounted_real, p->query->from - 1);
	for (;; m.accounted_real = next.real) {
		schedule_next(spec, &m, &p->self->bases, local, &next);
		if (r < 0 || next.real == USEC_NEVER || next.real >= p->query->to)
			return r;
		if (is_full(p))
			break;
		r = add(p, &(struct coming){
				   .state = "coming",
				   .moment = next.real,
				   .scheduled = next.real,
				   .cause = trigger_kind_to_string(TRIGGER_CALENDAR),
				   .is_skipped = memory_is_skipped(&m, next.real),
				   .dst = plan_dst(p->self, p->entry, next.real),
				   .delay = next.real == t->next.real && spec->randomized_delay > 0
						    ? t->delay
						    : USEC_NEVER,
			   });
	}
	timestamp_print(when, sizeof(when), next.real, local, false);
	return give_note(
		p,
		note(p,
		     "its moments from %s on are left out: at most %u of a timer are told, and %u of all",
		     when, TIMER_ROWS_MAX, ROWS_MAX));
}

static const char *interval_note(struct plan *p, const struct trigger *t)
{
	char span[TIMESPAN_MAX];

	if (trigger_is_once(t))
		return NULL;
	return note(p, "then %s after %s of %s",
		    timespan_print(span, sizeof(span), t->span, USEC_PER_MSEC),
		    t->kind == TRIGGER_UNIT_ACTIVE ? "each success" : "each end",
		    p->entry->config->spec.unit);
}

/* Of an interval, the moment after the next is known by nobody: the run between decides. */
static int add_span(struct plan *p, const struct trigger *t)
{
	const struct timer *timer = &p->entry->timer;
	int64_t due = schedule_next_boot(t, &timer->memory, &p->self->bases);
	int64_t kept = schedule_kept_boot(t, &timer->memory, &p->self->bases);
	struct coming c = {
		.state = "coming",
		.moment = timer_real_of(&p->query->now, due),
		.cause = trigger_kind_to_string(t->kind),
		.is_skipped = due != kept,
		.delay = due == timer->next.boot && p->entry->config->spec.randomized_delay > 0
				 ? timer->delay
				 : USEC_NEVER,
	};
	int r;

	if (due == BOOT_NEVER)
		return 0;
	c.scheduled = c.moment;
	c.note = c.is_skipped ? NULL : interval_note(p, t);
	r = add(p, &c);
	if (r < 0 || !c.is_skipped || kept == BOOT_NEVER)
		return r;
	c.moment = c.scheduled = timer_real_of(&p->query->now, kept);
	c.is_skipped = false;
	c.note = interval_note(p, t);
	return add(p, &c);
}

/* An interval that counts from what is not over, or has not been. */
static int add_silent_span(struct plan *p, const struct trigger *t)
{
	const struct timer *timer = &p->entry->timer;
	const char *unit = p->entry->config->spec.unit, *what = NULL;

	if (trigger_is_once(t) || t->kind == TRIGGER_CALENDAR || t->span == USEC_NEVER ||
	    schedule_next_boot(t, &timer->memory, &p->self->bases) != BOOT_NEVER ||
	    p->query->to <= p->query->now.real)
		return 0;
	if (timer_has_open_run(timer) || timer->is_target_active)
		what = "which runs";
	else if (timer->retry_at != USEC_NEVER)
		what = "which is to be retried";
	else if (timer->memory.anchor_active.real == 0 && timer->memory.anchor_inactive.real == 0)
		what = "which has not run yet";
	if (!what)
		return 0;
	return give_note(p, note(p, "%s=%s counts from the end of %s, %s",
				 trigger_kind_to_key(t->kind), t->text, unit, what));
}

static int add_timer(struct plan *p)
{
	const struct timer_spec *spec = &p->entry->config->spec;
	int r;

	p->n_timer = 0;
	r = add_open_run(p);
	if (!p->entry->timer.is_active)
		return r;
	r = r < 0 ? r : add_catch_up(p);
	r = r < 0 ? r : add_retry(p);
	for (unsigned i = 0; r >= 0 && i < spec->n_triggers; i++) {
		if (spec->trigger[i].kind == TRIGGER_CALENDAR)
			continue;
		r = add_span(p, &spec->trigger[i]);
		r = r < 0 ? r : add_silent_span(p, &spec->trigger[i]);
	}
	return r < 0 ? r : add_calendar(p);
}

int plan_table(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
	       void *userdata)
{
	struct plan p = { .self = self, .query = query, .row = row, .userdata = userdata };
	int r = 0;

	if (!SUPD_HAS(query, to))
		return -EOPNOTSUPP;
	if (query->unit) {
		p.entry = names_find(&self->entries, query->unit);
		return p.entry && p.entry->is_running ? add_timer(&p) : -ENOENT;
	}
	for (size_t i = 0; r >= 0 && (p.entry = entry_nth(self, i)); i++) {
		if (p.n >= ROWS_MAX)
			return give_note(
				&p,
				note(&p,
				     "this timer and those behind it in the order of names are left out:"
				     " %u moments are told",
				     ROWS_MAX));
		r = p.entry->is_running ? add_timer(&p) : 0;
	}
	return r;
}
