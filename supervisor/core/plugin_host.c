/* SPDX-License-Identifier: MIT */
/* The host's side of supd-plugin.h: a plugin's life from the verdict to its stop, its part of a
 * reload, and what is asked of it. What it asks stands in plugin_calls.c, its units in
 * plugin_units.c. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "core/manager_private.h"
#include "core/plugin_verdict.h"

/* ---- its life ---- */

void plugin_host_init(struct plugin_host *h, struct manager *m, const char *name)
{
	*h = (struct plugin_host) {
		.manager = m,
		.name = name,
		.wake = { USEC_NEVER, USEC_NEVER },
		.units.name_at = offsetof(struct plugin_unit, name),
	};
	plugin_calls_init(h);
}

void plugin_host_done(struct plugin_host *h)
{
	plugin_units_forget(h);
	plugin_calls_done(h);
}

static int open_plugin(struct plugin_host *h)
{
	const struct world *w = h->manager->world;
	const struct supd_plugin *plugin;
	char where[sizeof(h->failure)] = "";
	enum plugin_verdict v;
	int r;

	if (h->plugin)
		return 0;
	r = w->plugin_open(w->ctx, h->name, &plugin, where, sizeof(where));
	if (r < 0) {
		snprintf(h->failure, sizeof(h->failure), "%s",
			 where[0] ? where : "the plugin cannot be loaded");
		return r;
	}
	v = plugin_judge(plugin, NULL, NULL);
	if (v != PLUGIN_FIT) {
		plugin_verdict_words(v, plugin, where[0] ? where : h->name, h->failure,
				     sizeof(h->failure));
		return -ENOEXEC;
	}
	h->plugin = plugin;
	return 0;
}

/* Forgets everything of an instance: its alarms at once. */
static void disarm(struct plugin_host *h)
{
	h->instance = NULL;
	h->listener = NULL;
	h->wake[SUPD_CLOCK_REALTIME] = h->wake[SUPD_CLOCK_BOOTTIME] = USEC_NEVER;
	plugin_units_forget(h);
}

static void start(struct plugin_host *h, const struct supd_now *now)
{
	struct manager *m = h->manager;
	struct supd_start_info info = m->config->info;
	struct supd_instance *instance = NULL;
	struct diag d = { 0 };
	int r;

	info.size = sizeof(info);
	info.now = *now;
	info.running_since = m->running_since;
	r = open_plugin(h);
	if (r >= 0) {
		(void) m->world->scan_units(m->world->ctx, manager_kinds(m) | 1U << UNIT_TIMER, &d);
		h->failure[0] = '\0';
		r = h->plugin->start(&h->table, &info, &instance);
		if (r < 0)
			snprintf(h->failure, sizeof(h->failure),
				 "the plugin '%s' did not start: %s", h->name, strerror(-r));
		else if (!h->listener)
			snprintf(h->failure, sizeof(h->failure),
				 "the plugin '%s' did not subscribe", h->name);
	}
	diag_done(&d);
	if (h->failure[0]) {
		log_unit(NULL, LOG_ERR, 0, "%s", h->failure);
		if (instance)
			h->plugin->stop(instance, now);
		disarm(h);
		return;
	}
	h->instance = instance;
	plugin_units_settle(h);
	plugin_units_log(h);
}

void plugin_host_apply(struct plugin_host *h, const struct supd_now *now, bool wanted)
{
	if (wanted == (h->instance != NULL))
		return;
	if (!wanted) {
		h->is_stopping = true;
		h->plugin->stop(h->instance, now);
		h->is_stopping = false;
		disarm(h);
		return;
	}
	/* A failure stands until the gate is opened anew. */
	if (!h->failure[0])
		start(h, now);
}

void plugin_host_run(struct plugin_host *h, const struct supd_now *now, const struct unit *u,
		     enum supd_run_stage stage)
{
	struct supd_run_event ev;

	if (!h->instance)
		return;
	ev = (struct supd_run_event){
		.size = sizeof(ev),
		.unit = u->name,
		.stage = stage,
		.cause_kind = u->run->cause,
		.result = (enum supd_result)(stage == SUPD_RUN_STARTED ? RUN_RESULT_NONE
								       : u->run->result),
		.status = u->run->status,
		.is_unit_active = unit_is_active(u),
	};
	memcpy(ev.run_id, u->run->id, sizeof(ev.run_id));
	if (u->chain && u->chain->is_going_on) {
		ev.cause_kind = u->chain->first_cause;
		memcpy(ev.run_id, u->chain->first_id, sizeof(ev.run_id));
	}
	h->listener->run(h->listener_data, now, &ev);
}

/* ---- reload ---- */

int plugin_host_prepare(struct plugin_host *h, const struct supd_now *now, struct diag *mistakes)
{
	int r;

	if (!h->instance)
		return 0;
	h->is_preparing = true;
	r = h->listener->prepare(h->listener_data, now);
	if (r < 0)
		return r;
	plugin_units_blame(h, mistakes);
	return 0;
}

int plugin_host_prepare_only(struct plugin_host *h, const struct supd_now *now,
			     const char *const *only, struct diag *mistakes)
{
	int r;

	h->only = only;
	r = plugin_host_prepare(h, now, mistakes);
	h->only = NULL;
	return r;
}

void plugin_host_commit(struct plugin_host *h, const struct supd_now *now,
			struct reload_report *report)
{
	if (!h->is_preparing)
		return;
	h->is_preparing = false;
	plugin_units_report(h, report);
	plugin_units_settle(h);
	h->listener->commit(h->listener_data, now);
}

void plugin_host_abort(struct plugin_host *h)
{
	if (!h->is_preparing)
		return;
	h->is_preparing = false;
	plugin_units_abort(h);
	h->listener->abort(h->listener_data);
}

/* ---- questions ---- */

static struct manager_plugin_unit plugin_unit_shown(struct plugin_host *h,
						    const struct plugin_unit *pu)
{
	return (struct manager_plugin_unit) {
		.name = pu->name,
		.fragment = plugin_unit_fragment(h, pu),
		.is_masked = pu->files.is_masked,
		.problems = &pu->files.problems,
	};
}

bool manager_plugin_unit(struct manager *m, const char *name, struct manager_plugin_unit *ret)
{
	const struct plugin_unit *pu = plugin_unit_find(&m->host, name);

	if (!pu)
		return false;
	*ret = plugin_unit_shown(&m->host, pu);
	return true;
}

void manager_plugin_units(struct manager *m,
			  void (*fn)(void *userdata, const struct manager_plugin_unit *u),
			  void *userdata)
{
	struct manager_plugin_unit shown;

	for (size_t i = 0; i < m->host.units.n; i++) {
		shown = plugin_unit_shown(&m->host, m->host.units.item[i]);
		fn(userdata, &shown);
	}
}

int manager_command(struct manager *m, const struct supd_now *now,
		    const struct supd_command_request *request, struct supd_command_reply *reply)
{
	struct plugin_host *h = &m->host;
	const char *state, *reason;
	int r;

	reply->size = sizeof(*reply);
	if (!h->instance) {
		state = manager_gate_state(m, &reason);
		snprintf(reply->message, sizeof(reply->message), "timers %s %s: %s",
			 str_equal(state, "failed") ? "have" : "are", state, reason ? reason : "");
		return -EHOSTDOWN;
	}
	r = h->listener->command(h->listener_data, now, request, reply);
	if (r == -ENOENT && !reply->message[0])
		manager_verdict_words(m, request->unit, MANAGER_NO_UNIT, reply->message,
				      sizeof(reply->message));
	manager_settle(m, now);
	return r;
}

int manager_query(struct manager *m, const struct supd_query *query, supd_row_fn *row,
		  void *userdata)
{
	struct plugin_host *h = &m->host;

	return h->instance ? h->plugin->list(h->instance, query, row, userdata) : 0;
}

int manager_table(struct manager *m, const struct supd_now *now, const char *table,
		  const char *unit, supd_row_fn *row, void *userdata)
{
	const struct supd_query query = {
		.size = sizeof(query), .table = table, .unit = unit, .now = *now
	};

	return manager_query(m, &query, row, userdata);
}

static const char *gate_off_reason(const struct gate *g)
{
	if (g->runtime == GATE_OFF || (g->forced == GATE_SILENT && g->kept == GATE_OFF))
		return "experimental, and turned off by an admin; turn on with: supctl experimental enable timers";
	if (g->forced == GATE_SILENT && g->kept == GATE_UNREADABLE)
		return "experimental, and whether an admin turned them on cannot be read (experimental-timers in the state "
		       "directory); say it anew with: supctl experimental enable timers, or disable";
	return "experimental, and off by default; turn on with: supctl experimental enable timers";
}

const char *manager_gate_state(const struct manager *m, const char **ret_reason)
{
	*ret_reason = NULL;
	if (!gate_is_open(&m->gate)) {
		*ret_reason = gate_off_reason(&m->gate);
		return "disabled";
	}
	switch (m->state) {
	case SUPD_MANAGER_STARTING:
		*ret_reason = "timers begin when the enabled services have ended";
		return "starting";
	case SUPD_MANAGER_PAUSED:
		*ret_reason = "paused by an admin; go on with: supctl resume";
		return "paused";
	case SUPD_MANAGER_STOPPING:
	case SUPD_MANAGER_ENDED:
		*ret_reason = "supd is shutting down";
		return "stopping";
	case SUPD_MANAGER_RUNNING:
		break;
	}
	if (m->host.instance)
		return "enabled";
	*ret_reason = m->host.failure;
	return "failed";
}
