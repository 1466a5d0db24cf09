/* SPDX-License-Identifier: MIT */
#include "daemon/supd_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-id128.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "control/client.h"
#include "core/report.h"
#include "core/unit.h"
#include "core/unit_wait.h"
#include "daemon/supd_control.h"
#include "daemon/supd_transient.h"

_Static_assert(sizeof(sd_id128_t) == RUN_ID_BYTES, "a run's id is a UUID");

enum waits_for {
	WAITS_FOR_RUN,   /* the end of the run */
	WAITS_FOR_TIMER, /* its beginning, then its end: it may wait for other units first */
	WAITS_FOR_REST,  /* that the unit is inactive */
};

/* A question that is answered when a run or a unit has come so far. */
struct waiter {
	struct waiter *prev, *next;
	uint64_t id;
	enum waits_for what;
	bool wait; /* for the end; else the beginning is enough */
	uint8_t run_id[RUN_ID_BYTES];
	char unit[UNIT_NAME_MAX + 1];
	char timer[UNIT_NAME_MAX + 1]; /* WAITS_FOR_TIMER */
};

void jobs_done(struct jobs *r)
{
	struct waiter *w, *next;

	DL_FOREACH_SAFE(r->waiter, w, next) {
		DL_DELETE(r->waiter, w);
		free(w);
	}
}

static struct waiter *waiter_add(struct supd_control *c, const struct control_request *q,
				 enum waits_for what, const char *unit)
{
	struct waiter *w = calloc(1, sizeof(*w));

	if (!w) {
		supd_control_refuse(c, q->id, unit, MANAGER_NO_MEMORY);
		return NULL;
	}
	w->id = q->id;
	w->what = what;
	w->wait = q->wait;
	(void) snprintf(w->unit, sizeof(w->unit), "%s", unit);
	DL_APPEND(c->jobs.waiter, w);
	return w;
}

static void waiter_remove(struct supd_control *c, struct waiter *w)
{
	DL_DELETE(c->jobs.waiter, w);
	free(w);
}

static bool is_waiting(const struct supd_control *c, uint64_t id)
{
	const struct waiter *w;

	DL_FOREACH(c->jobs.waiter, w)
		if (w->id == id)
			return true;
	return false;
}

/* ---- answers ---- */

static void send_run(struct supd_control *c, uint64_t id, const char *unit, const struct run *run)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_run(&r, unit, run);
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

static bool is_good(enum run_result r)
{
	return r == RUN_RESULT_SUCCESS || r == RUN_RESULT_SKIPPED || r == RUN_RESULT_NONE;
}

/* How the run went, or, if it goes on, that it does. */
static void answer_run(struct supd_control *c, uint64_t id, const char *unit, const struct run *run)
{
	bool has_failed = run->ended_boot != 0 && !is_good(run->result);
	char words[512], message[800];

	(void) snprintf(message, sizeof(message), "%s: %s%s%s", unit,
			run_result_words(run, words, sizeof(words)), run_unmet(run) ? ": " : "",
			run_unmet(run) ? run_unmet(run) : "");
	send_run(c, id, unit, run);
	control_done(c->server, id, has_failed ? CONTROL_FAILED : CONTROL_OK,
		     has_failed ? message : NULL);
}

/* Asked for without waiting, and it has not begun: says what it waits for. */
static bool answer_waiting(struct supd_control *c, uint64_t id, const struct unit *u)
{
	const struct run *coming = unit_coming_run(u);
	const struct supd_now now = c->now(c->userdata);
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	struct unit_wait wait;
	bool is_waiting = (coming || u->service.state == SERVICE_AUTO_RESTART) &&
			  unit_wait_find(u, &arena, &wait);

	if (is_waiting) {
		report_run_waiting(&r, u->name, coming ? coming : u->run, wait.words);
		unit_wait_report(&r, u, &now);
		supd_control_row(c, id, &r);
		control_done(c->server, id, CONTROL_OK, NULL);
	}
	arena_done(&arena);
	return is_waiting;
}

static void answer_none(struct supd_control *c, struct waiter *w, const char *why)
{
	char message[512];

	(void) snprintf(message, sizeof(message), "%s was not started: %s", w->unit, why);
	control_done(c->server, w->id, CONTROL_FAILED, message);
	waiter_remove(c, w);
}

/* ---- what happens ---- */

void jobs_started(struct supd_control *c, const struct unit *u)
{
	struct waiter *w, *next;

	DL_FOREACH_SAFE(c->jobs.waiter, w, next) {
		if (w->what != WAITS_FOR_TIMER || memcmp(w->run_id, u->run->id, RUN_ID_BYTES) != 0)
			continue;
		w->what = WAITS_FOR_RUN;
		if (w->wait)
			continue;
		answer_run(c, w->id, u->name, u->run);
		waiter_remove(c, w);
	}
}

static bool will_run(const struct unit *u, const struct waiter *w)
{
	const struct run *run = unit_coming_run(u);

	return run && memcmp(run->id, w->run_id, RUN_ID_BYTES) == 0;
}

static void settle_one(struct supd_control *c, struct waiter *w, const struct unit *u,
		       bool run_ended)
{
	bool is_ours = unit_run_is(u, w->run_id), is_over = run_ended || !unit_is_active(u);

	switch (w->what) {
	case WAITS_FOR_REST:
		if (unit_is_active(u))
			return;
		send_run(c, w->id, u->name, u->run);
		control_done(c->server, w->id, CONTROL_OK, NULL);
		waiter_remove(c, w);
		return;
	case WAITS_FOR_RUN:
		/* A run that is restarted has not ended for who waits for it. */
		if (is_ours && is_over && u->service.state != SERVICE_AUTO_RESTART) {
			answer_run(c, w->id, u->name, u->run);
			waiter_remove(c, w);
		} else if (!is_ours && !will_run(u, w)) {
			answer_none(c, w, "a stop was asked for in between, or its file changed");
		}
		return;
	case WAITS_FOR_TIMER:
		return;
	}
}

void jobs_settled(struct supd_control *c, const struct unit *u, bool run_ended)
{
	struct waiter *w, *next;

	DL_FOREACH_SAFE(c->jobs.waiter, w, next)
		if (str_equal(w->unit, u->name))
			settle_one(c, w, u, run_ended);
}

static const char *text_of(const struct supd_row *row, const char *key)
{
	for (size_t i = 0; row && i < row->n; i++)
		if (str_equal(row->field[i].key, key) && row->field[i].type == SUPD_STRING)
			return row->field[i].value.string;
	return NULL;
}

/* The reason of a miss, for who waits for the run that it might have been. */
static const char *why_missed(const char *reason)
{
	if (!reason)
		return "missed";
	return str_equal(reason, "overlap") ? "it is active already" : reason;
}

void jobs_event(struct supd_control *c, const char *type, const char *unit,
		const struct supd_row *fields)
{
	const char *reason = why_missed(text_of(fields, "reason"));
	struct waiter *w, *next;

	if (!unit || !str_equal(type, "missed"))
		return;
	DL_FOREACH_SAFE(c->jobs.waiter, w, next)
		if (w->what == WAITS_FOR_TIMER && str_equal(w->timer, unit))
			answer_none(c, w, reason);
}

void jobs_timers_changed(struct supd_control *c)
{
	struct manager_plugin_unit known;
	struct waiter *w, *next;

	DL_FOREACH_SAFE(c->jobs.waiter, w, next)
		if (w->what == WAITS_FOR_TIMER &&
		    !manager_plugin_unit(c->manager, w->timer, &known))
			answer_none(c, w, "its timer is not active any more");
}

/* ---- requests ---- */

/* Timers have verbs of their own. */
static bool refuse_timer(struct supd_control *c, const struct control_request *q)
{
	char message[512];

	if (unit_name_kind(q->unit) != UNIT_TIMER)
		return false;
	(void) snprintf(message, sizeof(message),
			"%s is a timer: enable and disable turn it on and off, trigger starts what it activates",
			q->unit);
	control_done(c->server, q->id, CONTROL_FAILED, message);
	return true;
}

static struct supd_cause manual_cause(const struct supd_now *now)
{
	struct supd_cause cause = {
		.size = sizeof(cause), .kind = "manual", .attempt = 1,
		.scheduled_real = SUPD_NEVER, .scheduled_boot = SUPD_NEVER,
		.triggered_real = now->real, .triggered_boot = now->boot,
	};
	sd_id128_t id;

	/* Zero, if there is no chance to be had: the manager draws one then. */
	if (sd_id128_randomize(&id) >= 0)
		memcpy(cause.run_id, &id, sizeof(cause.run_id));
	return cause;
}

/* Asked for without waiting: what has begun is told, and that is all. Waiters whose run is over
 * have been answered. */
static void tell_begun(struct supd_control *c, const struct control_request *q, struct waiter *w,
		       const struct unit *u)
{
	const struct run *coming = unit_coming_run(u);

	if (q->wait || !is_waiting(c, q->id))
		return;
	if (!answer_waiting(c, q->id, u))
		answer_run(c, q->id, w->unit, coming ? coming : u->run);
	waiter_remove(c, w);
}

/* Starts it, or restarts it; the waiter stands before that, because a run may end at once. */
static void begin(struct supd_control *c, const struct control_request *q, struct unit *u,
		  bool restart)
{
	const struct supd_now now = c->now(c->userdata);
	const struct supd_cause cause = manual_cause(&now);
	struct waiter *w = waiter_add(c, q, WAITS_FOR_RUN, u->name);
	enum manager_verdict v;

	if (!w)
		return;
	memcpy(w->run_id, cause.run_id, RUN_ID_BYTES);
	v = restart ? manager_restart_unit(c->manager, &now, u->name, &cause)
		    : manager_start_unit(c->manager, &now, u->name, &cause);
	if (v != MANAGER_DONE) {
		waiter_remove(c, w);
		supd_control_refuse(c, q->id, q->unit, v);
		manager_unload_unit(c->manager, u);
		return;
	}
	tell_begun(c, q, w, u);
}

/* Somebody started it already: waits for the same run. */
static void join(struct supd_control *c, const struct control_request *q, const struct unit *u,
		 const struct run *run)
{
	struct waiter *w;

	bool has_ended = run->ended_boot != 0 && u->service.state != SERVICE_AUTO_RESTART;

	if (!q->wait && answer_waiting(c, q->id, u))
		return;
	if (has_ended || !q->wait) {
		answer_run(c, q->id, u->name, run);
		return;
	}
	w = waiter_add(c, q, WAITS_FOR_RUN, u->name);
	if (w)
		memcpy(w->run_id, run->id, RUN_ID_BYTES);
}

static struct unit *find(struct supd_control *c, const struct control_request *q)
{
	struct unit *u;

	if (refuse_timer(c, q))
		return NULL;
	u = manager_load_unit(c->manager, q->unit);
	if (!u)
		supd_control_no_unit(c, q->id, q->unit);
	return u;
}

void jobs_start(struct supd_control *c, const struct control_request *q)
{
	struct unit *u = find(c, q);

	if (!u)
		return;
	/* One that is being stopped starts anew when that is done. */
	if (unit_coming_run(u))
		join(c, q, u, unit_coming_run(u));
	else if (u->is_gone || !unit_is_active(u) || u->service.stop_wanted)
		begin(c, q, u, unit_is_active(u));
	else
		join(c, q, u, u->run);
}

void jobs_restart(struct supd_control *c, const struct control_request *q)
{
	struct unit *u = find(c, q);

	if (!u)
		return;
	if (unit_coming_run(u))
		join(c, q, u, unit_coming_run(u));
	else
		begin(c, q, u, true);
}

void jobs_stop(struct supd_control *c, const struct control_request *q)
{
	const struct supd_now now = c->now(c->userdata);
	enum manager_verdict v;
	struct waiter *w;
	struct unit *u;

	if (transients_stop(c, q))
		return;
	u = find(c, q);
	if (!u)
		return;
	w = waiter_add(c, q, WAITS_FOR_REST, u->name);
	if (!w)
		return;
	v = manager_stop_unit(c->manager, &now, u->name);
	if (v == MANAGER_NO_MANUAL_STOP) {
		waiter_remove(c, w);
		supd_control_refuse(c, q->id, q->unit, v);
	} else if (v != MANAGER_DONE) { /* nothing to stop is stopped */
		settle_one(c, w, u, false);
		manager_unload_unit(c->manager, u);
	} else if (!q->wait && is_waiting(c, q->id)) {
		send_run(c, q->id, u->name, u->run);
		control_done(c->server, q->id, CONTROL_OK, NULL);
		waiter_remove(c, w);
	}
}

/* Which timer somebody may have meant who named a service. */
struct meant {
	const char *service;
	char timer[256];
};

static int note_timer(void *userdata, const struct supd_row *row)
{
	struct meant *m = userdata;
	const char *unit = NULL;
	bool is_it = false;

	for (size_t i = 0; i < row->n; i++) {
		const struct supd_field *f = &row->field[i];

		if (f->type != SUPD_STRING)
			continue;
		if (str_equal(f->key, "unit"))
			unit = f->value.string;
		is_it |= str_equal(f->key, "activates") && str_equal(f->value.string, m->service);
	}
	if (is_it && unit && !m->timer[0])
		(void) snprintf(m->timer, sizeof(m->timer), "; %.240s activates it", unit);
	return 0;
}

static bool refuse_no_timer(struct supd_control *c, const struct control_request *q)
{
	struct meant meant = { .service = q->unit };
	const struct supd_now now = c->now(c->userdata);
	char message[600];

	if (unit_name_kind(q->unit) == UNIT_TIMER)
		return false;
	if (q->verb == CONTROL_SKIP || q->verb == CONTROL_UNSKIP)
		(void) manager_table(c->manager, &now, "units", NULL, note_timer, &meant);
	(void) snprintf(message, sizeof(message), "%s is no timer%s", q->unit,
			q->verb == CONTROL_TRIGGER ? "; supctl start starts a service"
						   : meant.timer);
	control_done(c->server, q->id, CONTROL_NO_UNIT, message);
	return true;
}

/* True if the plugin did it; else the answer is given. */
static bool command(struct supd_control *c, const struct control_request *q,
		    enum supd_command command, struct supd_command_reply *reply)
{
	const struct supd_now now = c->now(c->userdata);
	const struct supd_command_request request = {
		.size = sizeof(request), .command = command, .unit = q->unit, .moment = q->moment,
	};
	char message[600];
	int r;

	*reply = (struct supd_command_reply) { .size = sizeof(*reply) };
	if (refuse_no_timer(c, q) || supd_control_no_timers(c, q->id))
		return false;
	r = manager_command(c->manager, &now, &request, reply);
	if (r >= 0)
		return true;
	if (reply->message[0])
		(void) snprintf(message, sizeof(message), "%s", reply->message);
	else
		(void) snprintf(message, sizeof(message), "%s: %s", q->unit, strerror(-r));
	control_done(c->server, q->id,
		     r == -ENOENT || r == -ENOEXEC ? CONTROL_NO_UNIT : CONTROL_FAILED, message);
	return false;
}

void jobs_trigger(struct supd_control *c, const struct control_request *q)
{
	struct supd_command_reply reply;
	struct waiter *w;
	struct unit *u;

	if (!command(c, q, SUPD_COMMAND_TRIGGER, &reply))
		return;
	reply.target[sizeof(reply.target) - 1] = '\0';
	u = manager_unit(c->manager, reply.target);
	w = waiter_add(c, q, WAITS_FOR_TIMER, u ? u->name : reply.target);
	if (!w)
		return;
	memcpy(w->run_id, reply.run_id, RUN_ID_BYTES);
	(void) snprintf(w->timer, sizeof(w->timer), "%s", q->unit);
	/* It may have begun, even ended, before the command returned. */
	if (u && u->run && memcmp(u->run->id, reply.run_id, RUN_ID_BYTES) == 0) {
		jobs_started(c, u);
		if (u->run->ended_boot != 0)
			jobs_settled(c, u, true);
	}
}

static void reset_service(struct supd_control *c, const struct control_request *q)
{
	const struct supd_now now = c->now(c->userdata);
	struct unit *u = find(c, q);

	if (!u)
		return;
	(void) manager_reset_unit(c->manager, &now, u->name);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	manager_unload_unit(c->manager, u);
}

void jobs_reset(struct supd_control *c, const struct control_request *q)
{
	struct supd_command_reply reply;

	if (manager_is_started(q->unit)) {
		reset_service(c, q);
		return;
	}
	if (command(c, q, SUPD_COMMAND_RESET, &reply))
		control_done(c->server, q->id, CONTROL_OK, NULL);
}

void jobs_skip(struct supd_control *c, const struct control_request *q)
{
	bool on = q->verb == CONTROL_SKIP;
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	struct supd_command_reply reply;

	if (!command(c, q, on ? SUPD_COMMAND_SKIP : SUPD_COMMAND_UNSKIP, &reply))
		return;
	report_string(&r, "unit", q->unit);
	report_time(&r, "moment", reply.moment);
	report_bool(&r, "changed", reply.is_changed);
	report_time(&r, "next", reply.next);
	supd_control_row(c, q->id, &r);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	arena_done(&arena);
}
