/* SPDX-License-Identifier: MIT */
/* The manager's life, and settling: what follows from an event, in a fixed order, until nothing
 * more does. */
#include "core/manager.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/report.h"
#include "core/turns.h"
#include "service/run_said.h"

/* ---- making and ending ---- */

int manager_new(const struct world *world, const struct manager_config *config,
		struct manager **ret)
{
	struct manager *m = calloc(1, sizeof(*m));
	bool on = false;
	int r;

	if (!m)
		return -ENOMEM;
	m->world = world;
	m->config = config;
	m->state = SUPD_MANAGER_STARTING;
	m->armed[SUPD_CLOCK_REALTIME] = m->armed[SUPD_CLOCK_BOOTTIME] = USEC_NEVER;
	m->gate.configured = config->gate_configured ? GATE_ON : GATE_SILENT;
	m->gate.forced = config->gate_forced ? GATE_ON : GATE_SILENT;
	r = world->gate_load(world->ctx, "timers", &on);
	if (r != -ENOENT)
		m->gate.kept = r < 0 ? GATE_UNREADABLE : on ? GATE_ON : GATE_OFF;
	m->units.name_at = offsetof(struct unit, name);
	m->applied = UINT64_MAX;
	plugin_host_init(&m->host, m, "timer");
	*ret = m;
	return 0;
}

struct manager *manager_free(struct manager *m)
{
	struct active *a, *a_next;

	if (!m)
		return NULL;
	plugin_host_done(&m->host);
	HASH_ITER(hh, m->active, a, a_next) {
		HASH_DEL(m->active, a);
		free(a);
	}
	for (size_t i = 0; i < m->units.n; i++)
		unit_free(m->units.item[i]);
	names_done(&m->units);
	turns_done(m);
	graph_done(&m->graph);
	heap_done(&m->deadlines);
	free(m);
	return NULL;
}

void manager_observe(struct manager *m, const struct manager_observer *observer)
{
	m->observer = *observer;
}

enum supd_manager_state manager_state(const struct manager *m)
{
	return m->state;
}

struct unit *manager_unit_nth(const struct manager *m, size_t i)
{
	return i < m->units.n ? m->units.item[i] : NULL;
}

void manager_forget(struct manager *m, struct unit *u)
{
	heap_set(&m->deadlines, &u->deadline, USEC_NEVER);
	names_remove(&m->units, u->name);
	unit_free(u);
}

static bool stays(void *item, void *userdata)
{
	struct manager *m = userdata;
	struct unit *u = item;

	if (!u->is_gone || unit_is_active(u) || u->is_queued)
		return true;
	heap_set(&m->deadlines, &u->deadline, USEC_NEVER);
	unit_free(u);
	return false;
}

void manager_forget_gone(struct manager *m)
{
	names_keep(&m->units, stays, m);
}

unsigned manager_kinds(const struct manager *m)
{
	unsigned kinds = 1U << UNIT_SERVICE | 1U << UNIT_TARGET;

	/* The gate closed, no .timer file is so much as looked at. */
	if (m->host.instance)
		kinds |= 1U << UNIT_TIMER;
	return kinds;
}

bool manager_is_started(const char *name)
{
	enum unit_kind kind = unit_name_kind(name);

	return kind == UNIT_SERVICE || kind == UNIT_TARGET;
}

bool manager_is_unit(const struct manager *m, const char *name)
{
	const char *real = m->world->unit_resolve(m->world->ctx, name);

	return real && str_equal(real, name);
}

struct unit *manager_unit(struct manager *m, const char *name)
{
	struct unit *u = names_find(&m->units, name);
	const char *real = u ? NULL : m->world->unit_resolve(m->world->ctx, name);

	return real ? names_find(&m->units, real) : u;
}

struct unit *manager_unit_at(struct manager *m, size_t i)
{
	return manager_unit_nth(m, i);
}

/* ---- the first load, and beginning ---- */

static int load_one(struct manager *m, const char *name, struct unit **ret)
{
	struct unit_source source = { 0 };
	struct unit_config *config;
	struct unit *u;
	int r;

	*ret = NULL;
	r = m->world->read_unit(m->world->ctx, name, &source);
	if (r == -ENOENT)
		return 0; /* gone since the scan */
	if (r < 0)
		return r;
	config = unit_config_load(&source, m->config->specifiers);
	unit_source_done(&source);
	if (!config)
		return -ENOMEM;
	u = unit_new(name, config);
	if (!u) {
		unit_config_free(config);
		return -ENOMEM;
	}
	r = names_add(&m->units, u);
	if (r < 0) {
		unit_free(u);
		return r;
	}
	*ret = u;
	return 0;
}

static struct unit *load_instance(struct manager *m, const char *name)
{
	struct unit *u;

	if (heap_reserve(&m->deadlines, m->units.n + 1) < 0 || load_one(m, name, &u) < 0 || !u)
		return NULL;
	u->is_named = false;
	m->has_instances = true;
	names_settle(&m->units);
	m->is_graph_stale |= u->config->spec && u->config->spec->dependencies;
	return u;
}

struct unit *manager_load_unit(struct manager *m, const char *name)
{
	struct unit *u = manager_unit(m, name);
	char instance[UNIT_NAME_MAX + 1];
	const char *real;

	if (u || unit_name_kind(name) != UNIT_SERVICE)
		return u;
	real = m->world->unit_resolve(m->world->ctx, name);
	/* What else is new on the disk is a reload's. */
	if (!real || !unit_name_is_instance(real))
		return NULL;
	(void) snprintf(instance, sizeof(instance), "%s", real);
	return load_instance(m, instance);
}

struct unit *manager_need_unit(struct manager *m, const char *name)
{
	struct unit *u = manager_load_unit(m, name);

	if (u)
		u->is_needed = true;
	return u;
}

void manager_unload_unit(struct manager *m, struct unit *u)
{
	if (!u || u->is_named || u->is_needed || u->run || u->restart_run || u->is_queued ||
	    unit_is_active(u))
		return;
	manager_forget(m, u);
}

int manager_load(struct manager *m, struct diag *d)
{
	const struct world *w = m->world;
	const char *name;
	struct unit *u;
	int r;

	r = w->scan_units(w->ctx, manager_kinds(m), d);
	if (r < 0)
		return r;
	for (size_t i = 0; (name = w->unit_name(w->ctx, i)); i++) {
		if (!manager_is_started(name) || !manager_is_unit(m, name))
			continue;
		r = load_one(m, name, &u);
		if (r < 0)
			return r;
	}
	names_settle(&m->units);
	r = ordering_build(m);
	return r < 0 ? r : heap_reserve(&m->deadlines, m->units.n);
}

void manager_tell(struct manager *m, const char *type, const char *unit,
		  const struct report *fields)
{
	const struct supd_row none = { 0 },
			      row = fields ? (struct supd_row){ fields->field, fields->n } : none;

	if (m->observer.event && !(fields && fields->is_failed))
		m->observer.event(m->observer.userdata, type, unit, &row);
}

void manager_begin(struct manager *m, const struct supd_now *now)
{
	const struct supd_cause cause = {
		.size = sizeof(cause), .kind = CAUSE_START_UP, .attempt = 1,
		.scheduled_real = now->real, .scheduled_boot = now->boot,
	};
	struct unit *u;

	manager_tell(m, "starting", NULL, NULL);
	for (size_t i = 0; (u = manager_unit_nth(m, i)); i++)
		if (unit_config_starts_with_supd(u->config))
			(void) unit_start(m, now, u->name, &cause);
	m->has_begun = true;
	turns_look(m, now);
	manager_settle(m, now);
}

static bool is_anything_active(struct manager *m)
{
	return HASH_COUNT(m->active) > 0;
}

static void stop_one(struct manager *m, const struct supd_now *now, struct unit *u)
{
	const struct service_event ev = { .kind = SVC_STOP_REQUEST, .boot = now->boot };

	u->restart_wanted = false;
	if (!u->node && unit_is_active(u))
		unit_event(m, now, u, &ev);
}

static void tell_shutdown(struct manager *m, const char *why)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "reason", why);
	manager_tell(m, "shutdown", NULL, &r);
}

void manager_shutdown(struct manager *m, const struct supd_now *now, const char *why)
{
	if (m->state == SUPD_MANAGER_STOPPING || m->state == SUPD_MANAGER_ENDED)
		return;
	m->state = SUPD_MANAGER_STOPPING;
	m->world->manager_state(m->world->ctx, m->state);
	tell_shutdown(m, why);
	plugin_host_apply(&m->host, now, false);
	turns_shutdown(m, now);
	for (size_t i = m->units.n; i > 0; i--)
		stop_one(m, now, m->units.item[i - 1]);
	manager_settle(m, now);
}

/* ---- settling ---- */

void manager_notice(struct manager *m, struct unit *u)
{
	if (u->is_queued)
		return;
	u->is_queued = true;
	u->queue_next = NULL;
	if (m->notice_last)
		m->notice_last->queue_next = u;
	else
		m->notice_first = u;
	m->notice_last = u;
}

static void begin_restart(struct manager *m, const struct supd_now *now, struct unit *u)
{
	struct run *run = u->restart_run;
	struct supd_cause cause = { .size = sizeof(cause) };
	enum manager_verdict v;
	uint64_t outer;

	u->restart_wanted = false;
	cause.kind = run->cause;
	cause.trigger_unit = run->trigger_unit;
	cause.attempt = run->attempt;
	cause.scheduled_real = run->scheduled_real;
	cause.scheduled_boot = run->scheduled_boot;
	memcpy(cause.run_id, run->id, sizeof(cause.run_id));
	outer = manager_start_as(m, run->after);
	v = unit_start(m, now, u->name, &cause);
	(void) manager_start_as(m, outer);
	/* A reload may have made it unfit meanwhile: who waits for the run must hear that none
	 * comes. */
	if (v != MANAGER_DONE && m->observer.settled)
		m->observer.settled(m->observer.userdata, u, false);
}

/* A unit has come to rest: what waited for that. */
static void at_rest(struct manager *m, const struct supd_now *now, struct unit *u)
{
	unit_take_config(u);
	if (u->is_gone) {
		manager_forget(m, u);
		return;
	}
	if (u->restart_wanted)
		begin_restart(m, now, u);
}

static void chain_goes_on(struct unit *u)
{
	struct unit_chain *c = u->chain;

	if (c->is_going_on)
		return;
	c->is_going_on = true;
	memcpy(c->first_id, u->run->id, RUN_ID_BYTES);
	memcpy(c->first_cause, u->run->cause, sizeof(c->first_cause));
}

/* Whoever began the first run of a chain hears of the end of the last. */
static void tell_plugin(struct manager *m, const struct supd_now *now, struct unit *u, bool ended)
{
	bool is_chain = u->chain && u->chain->is_going_on;

	if (ended && u->service.state == SERVICE_AUTO_RESTART) {
		chain_goes_on(u);
	} else if (ended || is_chain) {
		if (!ended && unit_is_active(u))
			return;
		plugin_host_run(&m->host, now, u, SUPD_RUN_ENDED);
	} else if (!unit_is_active(u) && u->run) {
		plugin_host_run(&m->host, now, u, SUPD_RUN_INACTIVE);
	}
}

/* Those around a unit with dependencies hear of what became of it. */
static void tell_neighbours(struct manager *m, const struct supd_now *now, struct unit *u,
			    bool ended, bool rests)
{
	bool is_chain = u->chain && u->chain->is_going_on,
	     waits = u->service.state == SERVICE_AUTO_RESTART;
	bool is_over = (ended && !waits) || (rests && is_chain);
	enum run_result result = u->run ? u->run->result : RUN_RESULT_NONE;

	if (is_over && result != RUN_RESULT_SUCCESS && result != RUN_RESULT_SKIPPED &&
	    !u->restart_wanted)
		turns_failed(m, now, u);
	if (rests && u->run)
		turns_at_rest(m, now, u, ended);
}

static void tell_observer(struct manager *m, struct unit *u, bool started, bool over, bool ended)
{
	if (started && m->observer.started)
		m->observer.started(m->observer.userdata, u);
	if (over && m->observer.settled)
		m->observer.settled(m->observer.userdata, u, ended);
}

/* They have been told, and are not worth the memory. */
static void forget_last_words(struct unit *u)
{
	free(u->run->last_words);
	u->run->last_words = NULL;
	u->run->n_last_words = 0;
}

static void tell(struct manager *m, const struct supd_now *now, struct unit *u)
{
	bool started = u->notice_started, ended = u->notice_ended, rests = !unit_is_active(u);
	struct graph_node *node;

	ordering_settle(m);
	node = u->node;
	u->notice_started = u->notice_ended = false;
	if (started && (!u->chain || !u->chain->is_going_on))
		plugin_host_run(&m->host, now, u, SUPD_RUN_STARTED);
	tell_observer(m, u, started, false, false);
	if (ended)
		turns_await_no_more(m, u);
	tell_plugin(m, now, u, ended);
	tell_observer(m, u, false, ended || rests, ended);
	if (ended)
		forget_last_words(u);
	if (node)
		tell_neighbours(m, now, u, ended, rests);
	if ((ended || rests) && u->chain && u->service.state != SERVICE_AUTO_RESTART)
		u->chain->is_going_on = false;
	if (rests)
		at_rest(m, now, u);
	if (node)
		turns_look_around(m, now, node);
}

static void enter(struct manager *m, enum supd_manager_state state)
{
	m->state = state;
	manager_tell(m, state == SUPD_MANAGER_RUNNING ? "running" : "ended", NULL, NULL);
	m->world->manager_state(m->world->ctx, state);
}

static void transitions(struct manager *m, const struct supd_now *now)
{
	if (m->state == SUPD_MANAGER_STARTING && m->has_begun && m->n_starting == 0) {
		m->running_since = *now;
		enter(m, SUPD_MANAGER_RUNNING);
	}
	if (m->state == SUPD_MANAGER_STOPPING && !is_anything_active(m))
		enter(m, SUPD_MANAGER_ENDED);
	plugin_host_apply(&m->host, now,
			  m->state == SUPD_MANAGER_RUNNING && gate_is_open(&m->gate));
}

static void arm(struct manager *m, enum supd_clock clock, usec_t when)
{
	if (m->armed[clock] == when)
		return;
	if (m->world->arm(m->world->ctx, clock, when) >= 0)
		m->armed[clock] = when;
}

void manager_settle(struct manager *m, const struct supd_now *now)
{
	if (m->is_settling)
		return;
	m->is_settling = true;
	do {
		while (m->notice_first) {
			struct unit *u = m->notice_first;

			m->notice_first = u->queue_next;
			if (!m->notice_first)
				m->notice_last = NULL;
			u->is_queued = false;
			tell(m, now, u);
		}
		transitions(m, now);
	} while (m->notice_first);
	m->is_settling = false;
	arm(m, SUPD_CLOCK_REALTIME, m->host.wake[SUPD_CLOCK_REALTIME]);
	arm(m, SUPD_CLOCK_BOOTTIME,
	    usec_min(heap_when(&m->deadlines), m->host.wake[SUPD_CLOCK_BOOTTIME]));
}

/* ---- events of the world ---- */

static void service_deadlines(struct manager *m, const struct supd_now *now)
{
	const struct service_event ev = { .kind = SVC_DEADLINE, .boot = now->boot };

	while (heap_when(&m->deadlines) <= now->boot) {
		struct heap_item *i = heap_first(&m->deadlines);
		struct unit *u =
			(struct unit *) (void *) ((char *) i - offsetof(struct unit, deadline));

		heap_set(&m->deadlines, i, USEC_NEVER);
		unit_event(m, now, u, &ev);
		if (heap_first(&m->deadlines) == i && i->when <= now->boot)
			break; /* a deadline that does not move on is a bug, not a reason to spin */
	}
}

void manager_wake(struct manager *m, const struct supd_now *now, enum supd_clock clock)
{
	struct plugin_host *h = &m->host;
	usec_t at = clock == SUPD_CLOCK_REALTIME ? now->real : now->boot;

	m->armed[clock] = USEC_NEVER;
	if (clock == SUPD_CLOCK_BOOTTIME)
		service_deadlines(m, now);
	if (h->instance && h->wake[clock] <= at) {
		h->wake[clock] = USEC_NEVER;
		h->listener->wake(h->listener_data, now, clock);
	}
	manager_settle(m, now);
}

static void service_answer(struct manager *m, const struct supd_now *now, world_token token,
			   const struct service_event *ev)
{
	struct unit *u = unit_of_token(m, token);

	if (u)
		unit_event(m, now, u, ev);
	manager_settle(m, now);
}

void manager_checked(struct manager *m, const struct supd_now *now, world_token token,
		     enum condition_outcome outcome, const char *unmet, int error)
{
	const struct service_event ev = {
		.kind = SVC_CHECKED, .boot = now->boot, .outcome = outcome, .error = error,
	};
	struct unit *u = unit_of_token(m, token);

	/* Without the memory for it, the result has to do. */
	if (u && u->service.state == SERVICE_CHECK && unmet && !u->run->detail)
		u->run->detail = strdup(unmet);
	service_answer(m, now, token, &ev);
}

void manager_spawned(struct manager *m, const struct supd_now *now, world_token token, pid_t pid)
{
	const struct service_event ev = { .kind = SVC_SPAWNED, .boot = now->boot };
	struct unit *u = unit_of_token(m, token);

	if (u) {
		u->main_pid = pid;
		if (u->run->started_boot == 0) {
			u->run->started_real = u->spawn_asked.real;
			u->run->started_boot = u->spawn_asked.boot;
		}
	}
	service_answer(m, now, token, &ev);
}

void manager_spawn_failed(struct manager *m, const struct supd_now *now, world_token token,
			  enum exec_step step, int error)
{
	const struct service_event ev = {
		.kind = SVC_SPAWN_FAILED, .boot = now->boot, .step = step, .error = error,
	};

	service_answer(m, now, token, &ev);
}

void manager_exited(struct manager *m, const struct supd_now *now, world_token token,
		    const struct process_end *end)
{
	const struct service_event ev = {
		.kind = SVC_EXITED,
		.boot = now->boot,
		.wstatus = end->wstatus,
		.oom_killed = end->oom_killed,
	};
	struct unit *u = unit_of_token(m, token);

	if (u) {
		u->main_pid = 0;
		u->run->cpu = usec_add(u->run->cpu, end->cpu);
		if (end->peak_memory > u->run->peak_memory)
			u->run->peak_memory = end->peak_memory;
	}
	service_answer(m, now, token, &ev);
}

/* Each process of a run meets the same refusals: the first tells. Without memory the log has to
 * do. */
void manager_refused(struct manager *m, world_token token, struct diag *refused)
{
	struct unit *u = unit_of_token(m, token);

	if (!u || !u->run || u->run->refused)
		return;
	u->run->refused = calloc(1, sizeof(*u->run->refused));
	if (u->run->refused)
		diag_move(u->run->refused, refused);
}

void manager_notified(struct manager *m, const struct supd_now *now, world_token token,
		      const struct notification *said)
{
	const struct service_event ev = { .kind = SVC_EXTEND,
					  .boot = now->boot,
					  .extend = said->extend };
	struct unit *u = unit_of_token(m, token);

	if (u && u->run) {
		/* What memory does not suffice for is lost. */
		(void) run_said_add(&u->run->said, said);
		if (said->extend > 0)
			unit_event(m, now, u, &ev);
	}
	manager_settle(m, now);
}

void manager_tree_empty(struct manager *m, const struct supd_now *now, world_token token)
{
	const struct service_event ev = { .kind = SVC_TREE_EMPTY, .boot = now->boot };

	service_answer(m, now, token, &ev);
}

void manager_saved(struct manager *m, const struct supd_now *now, const char *plugin,
		   uint64_t ticket, int result)
{
	struct plugin_host *h = &m->host;

	if (h->instance && str_equal(plugin, h->name))
		h->listener->saved(h->listener_data, now, ticket, result);
	manager_settle(m, now);
}

void manager_clock_jump(struct manager *m, const struct supd_now *now, int64_t delta)
{
	if (m->host.instance)
		m->host.listener->clock_jump(m->host.listener_data, now, delta);
	manager_settle(m, now);
}

void manager_zone_change(struct manager *m, const struct supd_now *now)
{
	if (m->host.instance)
		m->host.listener->zone_change(m->host.listener_data, now);
	manager_settle(m, now);
}
