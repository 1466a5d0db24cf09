/* SPDX-License-Identifier: MIT */
/* What an admin or a plugin may ask of a unit, and of the manager as a whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "core/report.h"
#include "core/turns.h"
#include "service/dependencies.h"

/* Causes of runs that another unit's end began. */
#define CAUSE_ON "on-"

static const uint8_t no_id[RUN_ID_BYTES];

static void run_id_draw(struct manager *m, uint8_t id[RUN_ID_BYTES])
{
	for (unsigned i = 0; i < RUN_ID_BYTES; i += sizeof(uint64_t)) {
		uint64_t x = m->world->random(m->world->ctx);

		memcpy(id + i, &x, sizeof(x));
	}
	/* A version 4 UUID, as sd-id128 makes them. */
	id[6] = (uint8_t) ((id[6] & 0x0f) | 0x40);
	id[8] = (uint8_t) ((id[8] & 0x3f) | 0x80);
}

static struct run_monitor *monitor_new(const struct unit *u)
{
	size_t n = strlen(u->name) + 1;
	struct run_monitor *monitor = calloc(1, sizeof(*monitor) + n);

	if (!monitor)
		return NULL;
	memcpy(monitor->unit, u->name, n);
	memcpy(monitor->id, u->run->id, RUN_ID_BYTES);
	monitor->result = u->run->result;
	monitor->main_exited = u->run->main_exited;
	monitor->main_wstatus = u->run->main_wstatus;
	return monitor;
}

uint64_t manager_start_as(struct manager *m, uint64_t after)
{
	uint64_t before = m->start_after;

	m->start_after = after;
	return before;
}

int run_begin(struct manager *m, const struct supd_now *now, const struct supd_cause *cause,
	      struct run **run)
{
	struct run_monitor *monitor = NULL;
	char *trigger = NULL;

	if (m->monitored && str_starts(cause->kind, CAUSE_ON)) {
		monitor = monitor_new(m->monitored);
		if (!monitor)
			return -ENOMEM;
	}
	if (cause->trigger_unit) {
		trigger = strdup(cause->trigger_unit);
		if (!trigger) {
			free(monitor);
			return -ENOMEM;
		}
	}
	if (!*run)
		*run = calloc(1, sizeof(**run));
	if (!*run) {
		free(trigger);
		free(monitor);
		return -ENOMEM;
	}
	run_clear(*run);
	**run = (struct run) {
		.trigger_unit = trigger,
		.monitor = monitor,
		.attempt = cause->attempt,
		.after = m->start_after,
		.scheduled_real = cause->scheduled_real,
		.scheduled_boot = cause->scheduled_boot,
		.triggered_real = now->real,
		.triggered_boot = now->boot,
	};
	snprintf((*run)->cause, sizeof((*run)->cause), "%s", cause->kind);
	memcpy((*run)->id, cause->run_id, RUN_ID_BYTES);
	if (memcmp((*run)->id, no_id, RUN_ID_BYTES) == 0)
		run_id_draw(m, (*run)->id);
	return 0;
}

enum manager_verdict unit_judge(struct manager *m, const struct unit *u)
{
	if (m->state == SUPD_MANAGER_STOPPING || m->state == SUPD_MANAGER_ENDED)
		return MANAGER_STOPPING;
	if (!u || u->is_gone)
		return MANAGER_NO_UNIT;
	switch ((u->next ? u->next : u->config)->load) {
	case UNIT_MASKED:
		return MANAGER_MASKED;
	case UNIT_INVALID:
		return MANAGER_INVALID;
	case UNIT_UNSUPPORTED:
		return MANAGER_UNSUPPORTED;
	case UNIT_LOADED:
		break;
	}
	return unit_name_is_template(u->name) ? MANAGER_UNSUPPORTED : MANAGER_DONE;
}

/* Is one more start allowed? Without StartLimit*= only restarts are counted, each time anew. */
static enum run_result judge_start(struct unit *u, const struct supd_now *now)
{
	const struct restart_policy *p = u->config->spec->restart;

	if (!p)
		return RUN_RESULT_NONE;
	if (!u->chain)
		u->chain = calloc(1, sizeof(*u->chain));
	if (!u->chain)
		return RUN_RESULT_RESOURCES;
	u->chain->n_restarts = 0;
	if (!p->has_limit)
		u->chain->limit = (struct start_limit) { 0 };
	return start_limit_take(&u->chain->limit, p, now->boot) ? RUN_RESULT_NONE
								: RUN_RESULT_START_LIMIT;
}

void unit_begin(struct manager *m, const struct supd_now *now, struct unit *u,
		enum run_result refusal)
{
	struct service_event ev = { .kind = SVC_START_REQUEST, .boot = now->boot };

	if (refusal == RUN_RESULT_NONE)
		refusal = judge_start(u, now);
	if (refusal == RUN_RESULT_NONE && unit_token_new(m, u) < 0)
		refusal = RUN_RESULT_RESOURCES;
	if (refusal != RUN_RESULT_NONE) {
		ev.kind = SVC_REFUSED;
		ev.result = refusal;
	}
	u->notice_started = true;
	manager_notice(m, u);
	unit_event(m, now, u, &ev);
}

void unit_await(struct manager *m, struct unit *u)
{
	if (m->has_begun || u->is_awaited)
		return;
	u->is_awaited = true;
	m->n_starting++;
}

enum manager_verdict unit_start(struct manager *m, const struct supd_now *now, const char *name,
				const struct supd_cause *cause)
{
	struct unit *u = manager_load_unit(m, name);
	enum manager_verdict v;

	ordering_settle(m);
	v = unit_judge(m, u);
	if (v != MANAGER_DONE)
		return v;
	if (unit_is_active(u) || u->notice_ended)
		return MANAGER_ALREADY_ACTIVE;
	unit_await(m, u);
	if (u->node)
		v = turns_start(m, now, u, cause);
	else if (run_begin(m, now, cause, &u->run) < 0)
		v = MANAGER_NO_MEMORY;
	else
		unit_begin(m, now, u, RUN_RESULT_NONE);
	if (v != MANAGER_DONE)
		turns_await_no_more(m, u);
	return v;
}

/* RefuseManualStart=, RefuseManualStop= */
static bool dependencies_refuse(const struct unit *u, bool start)
{
	const struct service_spec *spec = u->config->load == UNIT_LOADED ? u->config->spec : NULL;

	if (!spec || !spec->dependencies)
		return false;
	return start ? spec->dependencies->refuse_manual_start
		     : spec->dependencies->refuse_manual_stop;
}

enum manager_verdict manager_start_unit(struct manager *m, const struct supd_now *now,
					const char *unit, const struct supd_cause *cause)
{
	const struct unit *u = manager_load_unit(m, unit);
	enum manager_verdict v = MANAGER_NO_MANUAL_START;

	if (!u || unit_is_active(u) || !dependencies_refuse(u, true))
		v = unit_start(m, now, unit, cause);
	manager_settle(m, now);
	return v;
}

enum manager_verdict manager_stop_unit(struct manager *m, const struct supd_now *now,
				       const char *unit)
{
	struct unit *u = manager_unit(m, unit);

	if (!u)
		return MANAGER_NO_UNIT;
	ordering_settle(m);
	u->restart_wanted = false;
	if (!unit_is_active(u))
		return MANAGER_ALREADY_ACTIVE;
	if (dependencies_refuse(u, false))
		return MANAGER_NO_MANUAL_STOP;
	turns_stop(m, now, u);
	manager_settle(m, now);
	return MANAGER_DONE;
}

enum manager_verdict manager_restart_unit(struct manager *m, const struct supd_now *now,
					  const char *unit, const struct supd_cause *cause)
{
	struct unit *u = manager_load_unit(m, unit);
	enum manager_verdict v;

	ordering_settle(m);
	v = unit_judge(m, u);
	if (v != MANAGER_DONE)
		return v;
	if (!unit_is_active(u))
		return manager_start_unit(m, now, unit, cause);
	if (dependencies_refuse(u, true) || dependencies_refuse(u, false))
		return dependencies_refuse(u, true) ? MANAGER_NO_MANUAL_START
						    : MANAGER_NO_MANUAL_STOP;
	/* Nothing runs yet that could be restarted. */
	if (unit_is_waiting(u))
		return MANAGER_ALREADY_ACTIVE;
	if (run_begin(m, now, cause, &u->restart_run) < 0)
		return MANAGER_NO_MEMORY;
	turns_restart(m, now, u);
	manager_settle(m, now);
	return MANAGER_DONE;
}

enum manager_verdict manager_reset_unit(struct manager *m, const struct supd_now *now,
					const char *unit)
{
	const struct service_event ev = { .kind = SVC_RESET, .boot = now->boot };
	struct unit *u = manager_unit(m, unit);

	if (!u)
		return MANAGER_NO_UNIT;
	unit_event(m, now, u, &ev);
	if (u->chain)
		u->chain->limit = (struct start_limit) { 0 };
	manager_settle(m, now);
	return MANAGER_DONE;
}

/* Warnings may stand before it, but do not keep a unit from running. */
static const char *first_error(const struct unit *u)
{
	const struct diag *d = u ? &(u->next ? u->next : u->config)->problems : NULL;

	for (size_t i = 0; d && i < d->n; i++)
		if (d->entry[i].severity == DIAG_ERROR)
			return d->entry[i].message;
	return "see supctl status";
}

/* A timer that could be: a template, or an instance that nobody has enabled. */
static bool possible_words(struct manager *m, const char *unit, char *buf, size_t n)
{
	if (unit_name_kind(unit) != UNIT_TIMER || !m->world->unit_resolve(m->world->ctx, unit))
		return false;
	if (unit_name_is_template(unit))
		snprintf(
			buf, n,
			"%s is a template and no timer itself; enable an instance of it: supctl enable %.*sNAME.timer",
			unit, (int) (unit_name_suffix(unit) - unit), unit);
	else if (unit_name_is_instance(unit))
		snprintf(buf, n, "%s is not enabled yet: supctl enable %s makes it of its template",
			 unit, unit);
	else
		return false;
	return true;
}

const char *manager_verdict_words(struct manager *m, const char *unit, enum manager_verdict v,
				  char *buf, size_t n)
{
	const char *near;

	switch (v) {
	case MANAGER_DONE:
		snprintf(buf, n, "%s: done", unit);
		break;
	case MANAGER_ALREADY_ACTIVE:
		snprintf(buf, n, "%s is active already", unit);
		break;
	case MANAGER_NO_UNIT:
		if (possible_words(m, unit, buf, n))
			break;
		near = manager_suggest(m, unit);
		/* One that was removed while it runs still has its name. */
		if (near && !str_equal(near, unit))
			snprintf(buf, n, "no such unit: %s (did you mean %s?)", unit, near);
		else
			snprintf(buf, n, "no such unit: %s", unit);
		break;
	case MANAGER_INVALID:
		snprintf(buf, n, "%s is invalid and not run: %s", unit,
			 first_error(manager_unit(m, unit)));
		break;
	case MANAGER_MASKED:
		snprintf(buf, n, "%s is masked (its file is empty or a link to /dev/null)", unit);
		break;
	case MANAGER_UNSUPPORTED:
		if (unit_name_is_template(unit))
			snprintf(
				buf, n,
				"%s is a template and cannot be started itself; start an instance of it: %.*sNAME%s",
				unit, (int) (unit_name_suffix(unit) - unit), unit,
				unit_name_suffix(unit));
		else
			snprintf(buf, n, "%s is unsupported: only services of Type=oneshot are run",
				 unit);
		break;
	case MANAGER_STOPPING:
		snprintf(buf, n, "supd is shutting down; nothing is started any more");
		break;
	case MANAGER_NO_MEMORY:
		snprintf(buf, n, "%s: out of memory", unit);
		break;
	case MANAGER_NO_MANUAL_START:
		snprintf(buf, n, "%s is not started by hand: it says RefuseManualStart=yes", unit);
		break;
	case MANAGER_NO_MANUAL_STOP:
		snprintf(buf, n, "%s is not stopped by hand: it says RefuseManualStop=yes", unit);
		break;
	}
	return buf;
}

static const char *next_name(void *userdata, size_t i)
{
	const struct manager *m = userdata;

	if (i < m->units.n)
		return names_name(&m->units, i);
	i -= m->units.n;
	return i < m->host.units.n ? names_name(&m->host.units, i) : NULL;
}

static const char *only_one(void *userdata, size_t i)
{
	return i == 0 ? userdata : NULL;
}

/* Letters that are in every name say nothing: without their suffixes they have to be alike, too. */
const char *manager_suggest(struct manager *m, const char *name)
{
	const char *near = text_suggest(name, next_name, m);
	char typed[UNIT_NAME_MAX + 1], meant[UNIT_NAME_MAX + 1];

	if (!near || !unit_name_suffix(name))
		return near;
	(void) snprintf(typed, sizeof(typed), "%.*s", (int) (unit_name_suffix(name) - name), name);
	(void) snprintf(meant, sizeof(meant), "%.*s", (int) (unit_name_suffix(near) - near), near);
	return str_equal(typed, meant) || text_suggest(typed, only_one, meant) ? near : NULL;
}

/* ---- the manager as a whole ---- */

int manager_pause(struct manager *m, const struct supd_now *now)
{
	if (m->state == SUPD_MANAGER_PAUSED)
		return 0;
	if (m->state != SUPD_MANAGER_RUNNING)
		return -EBUSY;
	m->state = SUPD_MANAGER_PAUSED;
	m->world->manager_state(m->world->ctx, m->state);
	manager_tell(m, "paused", NULL, NULL);
	manager_settle(m, now);
	return 1;
}

int manager_resume(struct manager *m, const struct supd_now *now)
{
	if (m->state == SUPD_MANAGER_RUNNING)
		return 0;
	if (m->state != SUPD_MANAGER_PAUSED)
		return -EBUSY;
	m->host.failure[0] = '\0';
	m->state = SUPD_MANAGER_RUNNING;
	m->world->manager_state(m->world->ctx, m->state);
	manager_tell(m, "resumed", NULL, NULL);
	manager_settle(m, now);
	return 1;
}

/* Opens or closes the gate as far as that goes at once. False: it is open, and what it is for does
 * not run. */
static bool gate_turn(struct manager *m, const struct supd_now *now, enum gate_word word)
{
	m->gate.runtime = word;
	m->host.failure[0] = '\0'; /* asked anew, tried anew */
	manager_settle(m, now);
	return word != GATE_ON || m->state != SUPD_MANAGER_RUNNING || !m->host.failure[0];
}

static int tell_gate(struct manager *m, bool on, bool runtime)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "feature", "timers");
	report_string(&r, "state", on ? "enabled" : "disabled");
	report_bool(&r, "runtime", runtime);
	manager_tell(m, "gate", NULL, &r);
	return 1;
}

int manager_experimental(struct manager *m, const struct supd_now *now, bool on, bool runtime,
			 char *reterr, size_t n)
{
	enum gate_word word = on ? GATE_ON : GATE_OFF, before = m->gate.runtime;
	bool was_open = gate_is_open(&m->gate);
	int r;

	if (!gate_turn(m, now, word)) {
		snprintf(reterr, n, "%s", m->host.failure);
		(void) gate_turn(m, now, before); /* what does not run is not kept either */
		return -ENOEXEC;
	}
	if (runtime)
		return was_open != on ? tell_gate(m, on, true) : 0;
	r = m->world->gate_save(m->world->ctx, "timers", on);
	if (r < 0) {
		snprintf(
			reterr, n,
			"the setting could not be kept: %s (--runtime changes it for this run alone)",
			strerror(-r));
		(void) gate_turn(m, now, before);
		return r;
	}
	m->gate.kept = word;
	return was_open != on ? tell_gate(m, on, false) : 0;
}
