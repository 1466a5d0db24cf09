/* SPDX-License-Identifier: MIT */
/* Doing what a service's step asks: the one place where decisions become calls of the world. */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "core/manager_private.h"
#include "core/report.h"

int unit_token_new(struct manager *m, struct unit *u)
{
	struct active *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->token = ++m->last_token;
	a->unit = u;
	HASH_ADD(hh, m->active, token, sizeof(a->token), a);
	if (!HASH_IS_IN(a)) {
		free(a);
		return -ENOMEM;
	}
	u->token = a->token;
	return 0;
}

struct unit *unit_of_token(struct manager *m, world_token token)
{
	struct active *a;

	HASH_FIND(hh, m->active, &token, sizeof(token), a);
	return a ? a->unit : NULL;
}

static void token_release(struct manager *m, struct unit *u)
{
	struct active *a;

	if (u->token == 0)
		return;
	HASH_FIND(hh, m->active, &u->token, sizeof(u->token), a);
	if (a) {
		HASH_DEL(m->active, a);
		free(a);
	}
	m->world->release(m->world->ctx, u->token, u->service.state == SERVICE_AUTO_RESTART);
	u->token = 0;
	u->main_pid = 0;
}

/* What the machine knows of the run, copied to its record: the commands after the main one are told
 * of it. */
static void run_follow(struct unit *u)
{
	u->run->result = u->service.result;
	u->run->status = u->service.status;
	u->run->step = u->service.step;
	u->run->main_exited = u->service.main_exited;
	u->run->main_wstatus = u->service.main_wstatus;
}

static int spawn(struct manager *m, const struct supd_now *now, struct unit *u,
		 const struct service_effect *fx)
{
	const struct service_spec *spec = u->config->spec;
	struct spawn_request request;
	int r;

	if (u->token == 0) {
		r = unit_token_new(m, u);
		if (r < 0)
			return r;
	}
	request = (struct spawn_request) {
		.token = u->token,
		.unit = u->name,
		.spec = spec,
		.run = u->run,
		.phase = fx->phase,
		.command = &spec->command[fx->phase].item[fx->index],
	};
	u->spawn_asked = *now;
	return m->world->spawn(m->world->ctx, &request);
}

/* Before the world forgets the run. */
static void keep_last_words(struct manager *m, struct unit *u)
{
	const struct world *w = m->world;

	if (u->run->ended_boot == 0 && u->token != 0 && w->last_words)
		u->run->last_words = w->last_words(w->ctx, u->token, &u->run->n_last_words);
}

/* The run is over; or, for a unit that remained active after it, the stop is. */
static void ended(struct manager *m, const struct supd_now *now, struct unit *u)
{
	keep_last_words(m, u);
	/* What a service that remains active left running stays its own until it is stopped. */
	if (u->service.state != SERVICE_EXITED)
		token_release(m, u);
	if (u->run->ended_boot == 0) {
		u->run->ended_real = now->real;
		u->run->ended_boot = now->boot;
		u->notice_ended = true;
	}
	manager_notice(m, u);
}

/* Another run of a service that failed; @ret_answer begins it, or says that it is not to be. */
static void restart(struct manager *m, const struct supd_now *now, struct unit *u,
		    struct service_event *ret_answer)
{
	const struct supd_cause cause = {
		.size = sizeof(cause), .kind = CAUSE_RESTART, .attempt = u->run->attempt + 1,
		.trigger_unit = u->run->trigger_unit,
		.scheduled_real = u->run->scheduled_real, .scheduled_boot = u->run->scheduled_boot,
	};
	uint64_t outer;
	int r;

	*ret_answer = (struct service_event){ .kind = SVC_REFUSED,
					      .boot = now->boot,
					      .result = RUN_RESULT_START_LIMIT };
	if (m->state == SUPD_MANAGER_STOPPING ||
	    !start_limit_take(&u->chain->limit, u->config->spec->restart, now->boot))
		return;
	outer = manager_start_as(m, u->run->after);
	r = run_begin(m, now, &cause, &u->run);
	(void) manager_start_as(m, outer);
	if (r < 0 || unit_token_new(m, u) < 0)
		return;
	u->chain->n_restarts++;
	u->notice_started = true;
	manager_notice(m, u);
	*ret_answer = (struct service_event) { .kind = SVC_START_REQUEST, .boot = now->boot };
}

/* Does one effect. True if it failed at once and @ret_answer is the event that says so. */
static bool effect_do(struct manager *m, const struct supd_now *now, struct unit *u,
		      const struct service_effect *fx, struct service_event *ret_answer)
{
	const struct world *w = m->world;
	int r;

	switch (fx->kind) {
	case SVC_FX_CHECK:
		r = w->check(w->ctx, u->token, u->name, u->config->spec);
		if (r >= 0)
			return false;
		*ret_answer = (struct service_event){ .kind = SVC_CHECKED,
						      .boot = now->boot,
						      .error = -r };
		return true;
	case SVC_FX_SPAWN:
		r = spawn(m, now, u, fx);
		if (r >= 0)
			return false;
		*ret_answer = (struct service_event){
			.kind = SVC_SPAWN_FAILED,
			.boot = now->boot,
			.step = EXEC_STEP_FORK,
			.error = -r,
		};
		return true;
	case SVC_FX_CANCEL:
		if (w->cancel)
			w->cancel(w->ctx, u->token);
		return false;
	case SVC_FX_KILL_MAIN:
		/* -ESRCH: its end is already on the way to us. */
		(void) w->kill_main(w->ctx, u->token, fx->signal);
		return false;
	case SVC_FX_KILL_TREE:
		(void) w->kill_tree(w->ctx, u->token, fx->signal, false);
		return false;
	case SVC_FX_WATCH_TREE:
		r = u->token == 0 ? -ESRCH : w->watch_tree(w->ctx, u->token);
		if (r >= 0)
			return false;
		*ret_answer = (struct service_event) { .kind = SVC_TREE_EMPTY, .boot = now->boot };
		return true;
	case SVC_FX_ENDED:
		ended(m, now, u);
		return false;
	case SVC_FX_RESTART:
		restart(m, now, u, ret_answer);
		return true;
	}
	return false;
}

/* Is it made to end: has it been asked to, or has it taken too long? One that ends by itself goes
 * the same way. */
static const char *stopping_reason(const struct manager *m, const struct unit *u,
				   enum service_state before, const struct service_event *ev)
{
	enum service_state after = u->service.state;
	bool was_up = before > SERVICE_DEAD && before < SERVICE_STOP,
	     goes_down = after >= SERVICE_STOP && after < SERVICE_FAILED;

	if (!was_up || !goes_down)
		return NULL;
	if (ev->kind == SVC_DEADLINE)
		return "timeout";
	/* A process that was being made is stopped when it is there. */
	if (ev->kind != SVC_STOP_REQUEST && ev->kind != SVC_SPAWNED)
		return NULL;
	return m->state == SUPD_MANAGER_STOPPING ? "shutdown" : "request";
}

static void tell_stopping(struct manager *m, const struct unit *u, const char *reason)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	char hex[2 * RUN_ID_BYTES + 1];

	text_hex16(u->run->id, hex);
	report_string(&r, "run_id", hex);
	report_string(&r, "reason", reason);
	manager_tell(m, "stopping", u->name, &r);
}

void unit_event(struct manager *m, const struct supd_now *now, struct unit *u,
		const struct service_event *ev)
{
	struct service_event event = *ev, answer;
	struct service_effects fx;
	bool again;

	do {
		enum service_state before = u->service.state;
		const char *stopping;

		again = false;
		service_step(&u->service, u->config->spec, &event, &fx);
		stopping = stopping_reason(m, u, before, &event);
		if (u->run && stopping)
			tell_stopping(m, u, stopping);
		if (u->run)
			run_follow(u);
		heap_set(&m->deadlines, &u->deadline, u->service.deadline);
		for (unsigned i = 0; i < fx.n; i++)
			if (effect_do(m, now, u, &fx.item[i], &answer))
				again = true;
		event = answer;
	} while (again);
}
