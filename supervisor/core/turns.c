/* SPDX-License-Identifier: MIT */
#include "core/turns.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define CAUSE_DEPENDENCY "dependency"
#define CAUSE_ON_SUCCESS "on-success"
#define CAUSE_ON_FAILURE "on-failure"

#define DETAIL_MAX 256

/* ---- how units are ---- */

static bool waits_to(const struct graph_node *n, enum job_kind kind)
{
	return n->job && n->job->kind == kind;
}

static bool is_resting_state(const struct unit *u)
{
	return u->service.state == SERVICE_EXITED || u->service.state == SERVICE_AUTO_RESTART;
}

static bool has_open_run(const struct unit *u)
{
	return u->run && u->run->ended_boot == 0;
}

static bool is_coming(const struct graph_node *n)
{
	const struct unit *u = n->unit;

	if (!u)
		return false;
	return waits_to(n, JOB_START) || u->restart_wanted || u->notice_ended ||
	       u->service.state == SERVICE_AUTO_RESTART ||
	       (service_is_active(&u->service) && has_open_run(u));
}

static bool is_going(const struct graph_node *n)
{
	const struct unit *u = n->unit;

	if (!u || !service_is_active(&u->service))
		return false;
	return waits_to(n, JOB_STOP) ||
	       (!is_resting_state(u) && (u->service.no_restart || !has_open_run(u)));
}

static bool is_busy(const struct graph_node *n)
{
	return n->unit && service_is_active(&n->unit->service);
}

static enum node_state load_state(const struct unit *u)
{
	const struct unit_config *c = u->next ? u->next : u->config;

	switch (c->load) {
	case UNIT_MASKED:
		return NODE_MASKED;
	case UNIT_INVALID:
		return NODE_INVALID;
	case UNIT_UNSUPPORTED:
		return NODE_FOREIGN;
	case UNIT_LOADED:
		break;
	}
	return c->spec->is_enabled ? NODE_DOWN : NODE_DISABLED;
}

static enum node_state state_of(void *userdata, const struct graph_node *n)
{
	(void) userdata;
	if (!n->unit || n->unit->is_gone)
		return NODE_ABSENT;
	if (is_coming(n))
		return NODE_COMING;
	if (n->unit->service.state == SERVICE_EXITED && !is_going(n))
		return NODE_UP;
	return load_state(n->unit);
}

/* For a stop, whatever is active can be stopped. */
static enum node_state activity_of(void *userdata, const struct graph_node *n)
{
	(void) userdata;
	if (!n->unit)
		return NODE_ABSENT;
	return is_busy(n) ? NODE_UP : is_coming(n) ? NODE_COMING : NODE_DOWN;
}

static bool holds_up_start(const struct graph_edge *e)
{
	return (e->kind == EDGE_AFTER && (is_coming(e->to) || is_going(e->to))) ||
	       (e->kind == EDGE_BEFORE && is_going(e->to)) ||
	       (e->kind == EDGE_CONFLICTS && is_busy(e->to));
}

static bool holds_up_stop(const struct graph_edge *e)
{
	return e->kind == EDGE_BEFORE && is_going(e->to);
}

static bool is_start_due(const struct graph_node *n)
{
	for (size_t i = 0; i < n->n_edges; i++)
		if (holds_up_start(&n->edge[i]))
			return false;
	return true;
}

static bool is_stop_due(const struct graph_node *n)
{
	for (size_t i = 0; i < n->n_edges; i++)
		if (holds_up_stop(&n->edge[i]))
			return false;
	return true;
}

bool turns_is_held_up(const struct graph_node *n, const struct graph_edge *e)
{
	return n->job && (n->job->kind == JOB_START ? holds_up_start(e) : holds_up_stop(e));
}

/* ---- one job ---- */

static struct run *job_take(struct graph_node *n)
{
	struct run *run = n->job->run;

	free(n->job);
	n->job = NULL;
	return run;
}

/* The run that waited begins, or ends at once as @refusal; NONE: it begins. */
static void begin(struct manager *m, const struct supd_now *now, struct graph_node *n,
		  enum run_result refusal, const char *detail)
{
	struct unit *u = n->unit;

	run_free(u->run);
	u->run = job_take(n);
	if (detail)
		u->run->detail = strdup(detail);
	unit_begin(m, now, u, refusal);
}

static void run_start(struct manager *m, const struct supd_now *now, struct graph_node *n)
{
	struct unit *u = n->unit;

	unit_take_config(u);
	if (u->is_gone || u->config->load != UNIT_LOADED)
		begin(m, now, n, RUN_RESULT_STOPPED, "its file was changed meanwhile");
	else
		begin(m, now, n, RUN_RESULT_NONE, NULL);
}

static void run_stop(struct manager *m, const struct supd_now *now, struct unit *u)
{
	const struct service_event ev = { .kind = SVC_STOP_REQUEST, .boot = now->boot };

	if (unit_is_active(u))
		unit_event(m, now, u, &ev);
}

static void run_if_due(struct manager *m, const struct supd_now *now, struct graph_node *n)
{
	if (waits_to(n, JOB_START) && is_start_due(n)) {
		run_start(m, now, n);
	} else if (waits_to(n, JOB_STOP) && is_stop_due(n)) {
		(void) job_take(n);
		run_stop(m, now, n->unit);
	}
}

void turns_look_around(struct manager *m, const struct supd_now *now, struct graph_node *n)
{
	for (size_t i = 0; i < n->n_edges; i++)
		if (n->edge[i].to->job)
			run_if_due(m, now, n->edge[i].to);
}

void turns_look(struct manager *m, const struct supd_now *now)
{
	for (struct graph_node *n = m->graph.node; n; n = n->hh.next)
		if (n->job)
			run_if_due(m, now, n);
}

void turns_done(struct manager *m)
{
	for (struct graph_node *n = m->graph.node; n; n = n->hh.next)
		if (n->job)
			run_free(job_take(n));
}

/* ---- starting ---- */

static struct supd_cause cause_of(const char *kind, const char *trigger, const struct supd_now *now)
{
	return (struct supd_cause){
		.size = sizeof(struct supd_cause),
		.kind = kind,
		.trigger_unit = trigger,
		.attempt = 1,
		.scheduled_real = now->real,
		.scheduled_boot = now->boot,
	};
}

static struct unit_job *job_new(struct manager *m, const struct supd_now *now,
				const struct transaction_job *t, const struct supd_cause *anchor)
{
	const struct supd_cause pulled =
		cause_of(CAUSE_DEPENDENCY, t->puller ? t->puller->name : NULL, now);
	struct unit_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->kind = JOB_START;
	if (run_begin(m, now, t->puller ? &pulled : anchor, &job->run) >= 0)
		return job;
	free(job);
	return NULL;
}

static void jobs_free(struct unit_job **job, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (job[i])
			run_free(job[i]->run);
		free(job[i]);
	}
	free(job);
}

/* What is still being stopped starts when that is done. */
static void enqueue(struct manager *m, struct graph_node *n, struct unit_job *job)
{
	struct unit *u = n->unit;

	unit_await(m, u);
	if (!service_is_active(&u->service)) {
		n->job = job;
		return;
	}
	run_free(u->restart_run);
	u->restart_run = job->run;
	u->restart_wanted = true;
	free(job);
}

static int enqueue_all(struct manager *m, const struct supd_now *now, const struct transaction *t,
		       const struct supd_cause *cause)
{
	struct unit_job **job = calloc(t->n + 1, sizeof(struct unit_job *));

	for (size_t i = 0; job && i < t->n; i++) {
		if (t->job[i].kind != JOB_START)
			continue;
		job[i] = job_new(m, now, &t->job[i], cause);
		if (!job[i]) {
			jobs_free(job, t->n);
			return -ENOMEM;
		}
	}
	if (!job)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		if (job[i])
			enqueue(m, t->job[i].node, job[i]);
	free(job);
	return 0;
}

static void run_all(struct manager *m, const struct supd_now *now, const struct transaction *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->job[i].kind == JOB_STOP)
			turns_stop(m, now, t->job[i].node->unit);
	/* A start-up looks when all of it has been asked for. */
	for (size_t i = 0; m->has_begun && i < t->n; i++)
		if (t->job[i].node->job)
			run_if_due(m, now, t->job[i].node);
}

/* It cannot be started, for what it requires cannot: a run that ends before it began. */
static enum manager_verdict fail_at_once(struct manager *m, const struct supd_now *now,
					 struct unit *u, const struct supd_cause *cause,
					 const struct transaction *t)
{
	char detail[DETAIL_MAX];

	if (run_begin(m, now, cause, &u->run) < 0)
		return MANAGER_NO_MEMORY;
	(void) snprintf(detail, sizeof(detail), "%s %s", t->culprit->name,
			transaction_fault_words(t->fault));
	u->run->detail = strdup(detail);
	unit_begin(m, now, u, RUN_RESULT_DEPENDENCY);
	return MANAGER_DONE;
}

enum manager_verdict turns_start(struct manager *m, const struct supd_now *now, struct unit *u,
				const struct supd_cause *cause)
{
	struct transaction t;
	enum manager_verdict v = MANAGER_DONE;
	int r = transaction_start(&m->graph, u->node, state_of, m, &t);

	if (r == TRANSACTION_BROKEN)
		v = fail_at_once(m, now, u, cause, &t);
	else if (r < 0 || enqueue_all(m, now, &t, cause) < 0)
		v = MANAGER_NO_MEMORY;
	else
		run_all(m, now, &t);
	transaction_done(&t);
	return v;
}

/* ---- stopping ---- */

static void stop_node(struct manager *m, const struct supd_now *now, struct graph_node *n)
{
	n->unit->restart_wanted = false;
	if (waits_to(n, JOB_START))
		begin(m, now, n, RUN_RESULT_STOPPED, NULL);
	if (!is_busy(n) || n->job)
		return;
	n->job = calloc(1, sizeof(*n->job));
	if (n->job)
		n->job->kind = JOB_STOP;
	else
		run_stop(m, now, n->unit); /* out of order, rather than not at all */
}

static void stop_all(struct manager *m, const struct supd_now *now, const struct transaction *t)
{
	for (size_t i = 0; i < t->n; i++)
		stop_node(m, now, t->job[i].node);
	for (size_t i = 0; i < t->n; i++)
		if (t->job[i].node->job)
			run_if_due(m, now, t->job[i].node);
}

void turns_stop(struct manager *m, const struct supd_now *now, struct unit *u)
{
	struct transaction t;

	if (!u->node || transaction_stop(&m->graph, u->node, false, activity_of, m, &t) < 0) {
		u->restart_wanted = false;
		run_stop(m, now, u);
		return;
	}
	stop_all(m, now, &t);
	transaction_done(&t);
}

static void want_restart(struct manager *m, const struct supd_now *now, struct unit *u,
			 const char *because)
{
	const struct supd_cause cause = cause_of(CAUSE_DEPENDENCY, because, now);

	if (run_begin(m, now, &cause, &u->restart_run) >= 0)
		u->restart_wanted = true;
}

void turns_restart(struct manager *m, const struct supd_now *now, struct unit *u)
{
	struct transaction t;
	size_t n = 0;

	if (!u->node || transaction_stop(&m->graph, u->node, true, activity_of, m, &t) < 0) {
		run_stop(m, now, u);
		u->restart_wanted = true;
		return;
	}
	/* What merely waits comes after all of this anyway. */
	for (size_t i = 0; i < t.n; i++)
		if (!waits_to(t.job[i].node, JOB_START))
			t.job[n++] = t.job[i];
	t.n = n;
	stop_all(m, now, &t);
	for (size_t i = 0; i < t.n; i++)
		if (t.job[i].node->unit != u && is_busy(t.job[i].node))
			want_restart(m, now, t.job[i].node->unit, u->name);
	u->restart_wanted = true;
	transaction_done(&t);
}

void turns_shutdown(struct manager *m, const struct supd_now *now)
{
	for (struct graph_node *n = m->graph.node; n; n = n->hh.next)
		if (n->unit)
			stop_node(m, now, n);
	turns_look(m, now);
}

/* ---- what follows from an end ---- */

void turns_failed(struct manager *m, const struct supd_now *now, struct unit *u)
{
	char words[DETAIL_MAX], detail[DETAIL_MAX];

	(void) snprintf(detail, sizeof(detail), "%s (%s)", u->name,
			run_result_words(u->run, words, sizeof(words) / 2));
	for (size_t i = 0; i < u->node->n_edges; i++) {
		struct graph_edge *e = &u->node->edge[i];

		if (e->kind == EDGE_REQUIRED_BY && waits_to(e->to, JOB_START))
			begin(m, now, e->to, RUN_RESULT_DEPENDENCY, detail);
	}
}

static void start_others(struct manager *m, const struct supd_now *now, struct unit *u,
			 enum graph_edge_kind kind)
{
	const struct supd_cause cause = cause_of(
		kind == EDGE_ON_FAILURE ? CAUSE_ON_FAILURE : CAUSE_ON_SUCCESS, u->name, now);
	/* It may have failed before anything of it was executed. */
	uint64_t outer = manager_start_as(m, u->run ? u->run->after : 0);

	for (size_t i = 0; i < u->node->n_edges; i++) {
		const struct graph_edge *e = &u->node->edge[i];

		if (e->kind == kind && e->to->unit && load_state(e->to->unit) == NODE_DOWN) {
			m->monitored = u;
			(void) unit_start(m, now, e->to->name, &cause);
			m->monitored = NULL;
		}
	}
	(void) manager_start_as(m, outer);
}

void turns_at_rest(struct manager *m, const struct supd_now *now, struct unit *u, bool ended)
{
	bool has_failed = u->service.state == SERVICE_FAILED;

	if (has_failed)
		start_others(m, now, u, EDGE_ON_FAILURE);
	else if (u->run && u->run->result == RUN_RESULT_SUCCESS)
		start_others(m, now, u, EDGE_ON_SUCCESS);
	/* A oneshot that has done its work is not gone. */
	for (size_t i = 0; (has_failed || !ended) && i < u->node->n_edges; i++)
		if (u->node->edge[i].kind == EDGE_BOUND && u->node->edge[i].to->unit)
			turns_stop(m, now, u->node->edge[i].to->unit);
}

/* ---- the start-up ---- */

void turns_await_no_more(struct manager *m, struct unit *u)
{
	if (u->is_awaited) {
		u->is_awaited = false;
		m->n_starting--;
	}
	/* What comes after it has its turn now; but not as long as it is restarted, which may take
	 * for ever. */
	if (u->service.state != SERVICE_AUTO_RESTART && !unit_is_waiting(u))
		return;
	for (size_t i = 0; u->node && i < u->node->n_edges; i++) {
		const struct graph_edge *e = &u->node->edge[i];

		if (e->kind == EDGE_BEFORE && waits_to(e->to, JOB_START) && e->to->unit->is_awaited)
			turns_await_no_more(m, e->to->unit);
	}
}
