/* SPDX-License-Identifier: MIT */
#include "daemon/supd_reload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "control/client.h"
#include "core/report.h"
#include "daemon/supd_control.h"
#include "run/world_linux.h"
#include "unit/name.h"

/* Rows of units that were enabled, kept until it is known that this counts. */
struct enabled {
	struct arena arena;
	struct {
		const char *unit;
		bool has_changed;
	} *item;
	size_t n;
};

/* What ends with a reload. Of the request its unit alone is kept. */
struct reload_task {
	struct reload_task *next;
	struct control_request request; /* id 0: nobody waits */
	char *unit;
	struct enabled enabled;
	char message[700];
	bool is_shared; /* a reload without more: the one before it serves both */
};

static void task_free(struct reload_task *t)
{
	arena_done(&t->enabled.arena);
	free(t->unit);
	free(t);
}

/* ---- what is said of a reload ---- */

static void log_reload(const struct reload_report *report, int r)
{
	for (size_t i = 0; i < report->mistakes.n; i++) {
		_cleanup_free_ char *line = diag_format(&report->mistakes.entry[i]);

		log_warning(0, "%s", line ? line : "out of memory");
	}
	if (r < 0 && r != -EBADMSG)
		log_error(r, "reload failed; everything is as it was");
}

static void send_reload(struct supd_control *c, uint64_t id, const struct reload_report *report)
{
	struct arena arena = { 0 };

	for (size_t i = 0; i < report->n; i++) {
		struct report r = { .arena = &arena };

		report_string(&r, "unit", report->change[i].unit);
		report_string(&r, "change", report->change[i].what);
		supd_control_row(c, id, &r);
	}
	for (size_t i = 0; i < report->mistakes.n; i++) {
		struct report r = { .arena = &arena };

		report_problem(&r, &report->mistakes.entry[i]);
		supd_control_row(c, id, &r);
	}
	arena_done(&arena);
}

static const char *reload_words(int r, const struct reload_report *report, char *buf, size_t n)
{
	unsigned errors = report->mistakes.n_errors;

	if (r == -EBADMSG)
		(void) snprintf(buf, n, "nothing was changed: %u mistake%s must be corrected first",
				errors, errors == 1 ? "" : "s");
	else
		(void) snprintf(buf, n, "nothing was changed: %s", strerror(-r));
	return buf;
}

/* ---- enable, disable, mask, unmask ---- */

static void send_changed(struct supd_control *c, uint64_t id, const char *unit, bool changed,
			 const char *message)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "unit", unit);
	report_bool(&r, "changed", changed);
	report_string(&r, "message", message && *message ? message : NULL);
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

static void note_enabled(void *userdata, const char *unit, bool has_changed)
{
	struct enabled *e = userdata;
	void *grown = arena_grow(&e->arena, e->item, e->n, sizeof(*e->item));
	const char *copy = arena_strdup(&e->arena, unit);

	if (!grown || !copy)
		return;
	e->item = grown;
	e->item[e->n].unit = copy;
	e->item[e->n++].has_changed = has_changed;
}

static int status_of(int r)
{
	return r == -ENOENT || r == -EBADMSG ? CONTROL_NO_UNIT : CONTROL_FAILED;
}

/* The links of an instance that cannot be are taken back. */
static void take_back(struct supd_control *c, const struct control_request *q,
		      const struct reload_report *report, struct enabled *e)
{
	const struct manager_enabling back = { .unit = q->unit, .runtime = q->runtime };
	const char *first = "the reload was refused";
	char message[700], ignored[700];

	for (size_t i = 0; i < report->mistakes.n; i++)
		if (report->mistakes.entry[i].severity == DIAG_ERROR) {
			first = report->mistakes.entry[i].message;
			break;
		}
	(void) snprintf(message, sizeof(message),
			"%s was not enabled, as units could not be reloaded: %.400s%s", q->unit,
			first,
			report->mistakes.n_errors > 1 ? " (and more; see supctl reload)" : "");
	(void) manager_enable_unit(c->manager, &back, note_enabled, e, ignored, sizeof(ignored));
	control_done(c->server, q->id, CONTROL_FAILED, message);
}

static void answer_enabled(struct supd_control *c, const struct control_request *q,
			   const struct enabled *e, int r, const struct reload_report *report)
{
	char message[700], words[256];

	for (size_t i = 0; i < e->n; i++)
		send_changed(c, q->id, e->item[i].unit, e->item[i].has_changed, NULL);
	(void) snprintf(message, sizeof(message),
			"%s is %s on disk, but the reload was refused: %s", q->unit,
			q->verb == CONTROL_ENABLE ? "enabled" : "disabled",
			reload_words(r, report, words, sizeof(words)));
	control_done(c->server, q->id, r < 0 ? CONTROL_FAILED : CONTROL_OK, r < 0 ? message : NULL);
}

/* 1: what was written counts after a reload; 0: all was so; or a negative errno, answered. */
static int write_enabled(struct supd_control *c, struct reload_task *t)
{
	const struct control_request *q = &t->request;
	const struct manager_enabling what = {
		.unit = q->unit, .enable = q->verb == CONTROL_ENABLE, .runtime = q->runtime,
	};
	int r;

	if (unit_name_kind(q->unit) == UNIT_TIMER && supd_control_no_timers(c, q->id))
		return -EHOSTDOWN;
	r = manager_enable_unit(c->manager, &what, note_enabled, &t->enabled, t->message,
				sizeof(t->message));
	if (r < 0)
		control_done(c->server, q->id, status_of(r), t->message);
	return r;
}

static int write_mask(struct supd_control *c, struct reload_task *t)
{
	const struct control_request *q = &t->request;
	int r = manager_mask_unit(c->manager, q->unit, q->verb == CONTROL_MASK, q->runtime,
				  t->message, sizeof(t->message));

	if (r < 0)
		control_done(c->server, q->id, status_of(r), t->message);
	return r;
}

static void answer_mask(struct supd_control *c, struct reload_task *t, bool changed, int r,
			const struct reload_report *report)
{
	const struct control_request *q = &t->request;
	char words[256];

	if (r < 0)
		(void) snprintf(t->message, sizeof(t->message),
				"%s is %s on disk, but the reload was refused: %s", q->unit,
				q->verb == CONTROL_MASK ? "masked" : "unmasked",
				reload_words(r, report, words, sizeof(words)));
	send_changed(c, q->id, q->unit, changed, t->message);
	control_done(c->server, q->id, r < 0 ? CONTROL_FAILED : CONTROL_OK,
		     r < 0 ? t->message : NULL);
}

/* ---- one after the other ---- */

static bool is_reload_alone(const struct reload_task *t)
{
	return t->request.verb == CONTROL_RELOAD;
}

static bool is_mask(const struct reload_task *t)
{
	return t->request.verb == CONTROL_MASK || t->request.verb == CONTROL_UNMASK;
}

/* What is to be on the disk before the units are read again. */
static int write_first(struct supd_control *c, struct reload_task *t)
{
	if (is_reload_alone(t))
		return 1;
	return is_mask(t) ? write_mask(c, t) : write_enabled(c, t);
}

static void answer(struct supd_control *c, struct reload_task *t, bool changed, int r,
		   const struct reload_report *report)
{
	const struct control_request *q = &t->request;
	char message[256];

	if (is_mask(t)) {
		answer_mask(c, t, changed, r, report);
	} else if (!is_reload_alone(t)) {
		if (r < 0 && q->verb == CONTROL_ENABLE && unit_name_is_instance(q->unit))
			take_back(c, q, report, &t->enabled);
		else
			answer_enabled(c, q, &t->enabled, r, report);
	} else {
		send_reload(c, q->id, report);
		control_done(c->server, q->id,
			     r >= 0          ? CONTROL_OK
			     : r == -EBADMSG ? CONTROL_NO_UNIT
					     : CONTROL_FAILED,
			     r < 0 ? reload_words(r, report, message, sizeof(message)) : NULL);
	}
}

static void answer_first(struct supd_control *c, bool changed, int r,
			 const struct reload_report *report)
{
	struct reload_task *t = c->reloads.first;

	answer(c, t, changed, r, report);
	c->reloads.first = t->next;
	task_free(t);
}

/* The units have been looked at: what follows is short, where little has changed. */
static void reload(struct supd_control *c)
{
	const struct supd_now now = c->now(c->userdata);
	struct reload_report report = { 0 };
	int r = manager_reload(c->manager, &now, &report);

	jobs_timers_changed(c);
	log_reload(&report, r);
	do
		answer_first(c, true, r, &report);
	while (c->reloads.first && c->reloads.first->is_shared);
	reload_report_done(&report);
}

static void advance(struct supd_control *c);

static void on_looked(void *userdata)
{
	struct supd_control *c = userdata;

	c->reloads.is_looking = false;
	reload(c);
	advance(c);
}

/* Those who wait for a reload when one begins have it in common. */
static void share(struct reload_task *t)
{
	for (t = is_reload_alone(t) ? t->next : NULL; t && is_reload_alone(t); t = t->next)
		t->is_shared = true;
}

/* False: it is over already. */
static bool begin(struct supd_control *c)
{
	const struct reload_report none = { 0 };
	struct reload_task *t = c->reloads.first;
	int r = write_first(c, t);

	if (r > 0) {
		share(t);
		return true;
	}
	if (r == 0) {
		answer_first(c, false, 0, &none);
	} else {
		c->reloads.first = t->next;
		task_free(t);
	}
	return false;
}

static void advance(struct supd_control *c)
{
	while (c->reloads.first && !c->reloads.is_looking) {
		if (!begin(c))
			continue;
		c->reloads.is_looking = world_linux_look_ahead(c->outside, on_looked, c) >= 0;
		if (!c->reloads.is_looking)
			reload(c);
	}
}

static struct reload_task *task_new(const struct control_request *q)
{
	struct reload_task *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->unit = q->unit ? strdup(q->unit) : NULL;
	if (q->unit && !t->unit) {
		free(t);
		return NULL;
	}
	t->request = (struct control_request){
		.id = q->id, .verb = q->verb, .runtime = q->runtime, .unit = t->unit
	};
	return t;
}

void reloads_ask(struct supd_control *c, const struct control_request *q)
{
	struct reload_task **last = &c->reloads.first, *t = task_new(q);

	if (!t) {
		log_error(-ENOMEM, "the units are not reloaded");
		control_done(c->server, q->id, CONTROL_FAILED, "out of memory");
		return;
	}
	while (*last)
		last = &(*last)->next;
	*last = t;
	advance(c);
}

void reloads_hup(struct supd_control *c)
{
	const struct reload_task *t = c->reloads.is_looking ? c->reloads.first->next
							    : c->reloads.first;

	/* One that has not begun serves for this, too. */
	for (; t; t = t->next)
		if (t->request.id == 0 && !t->is_shared)
			return;
	reloads_ask(c, &(struct control_request) { .verb = CONTROL_RELOAD });
}

void reloads_done(struct reloads *r)
{
	struct reload_task *t;

	while ((t = r->first)) {
		r->first = t->next;
		task_free(t);
	}
}
