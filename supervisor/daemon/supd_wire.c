/* SPDX-License-Identifier: MIT */
#include "daemon/supd_wire.h"

#include "core/manager.h"
#include "run/world_linux.h"
#include "daemon/supd_control.h"
#include "daemon/supd_history.h"
#include "daemon/supd_log.h"
#include "daemon/supd_transient.h"

/* ---- from the world to the manager ---- */

static void on_wake(void *userdata, const struct supd_now *now, enum supd_clock clock)
{
	struct supd_wire *w = userdata;

	manager_wake(w->manager, now, clock);
}

static void on_checked(void *userdata, const struct supd_now *now, world_token token,
		       enum condition_outcome outcome, const char *unmet, int error)
{
	struct supd_wire *w = userdata;

	manager_checked(w->manager, now, token, outcome, unmet, error);
}

static void on_spawned(void *userdata, const struct supd_now *now, world_token token, pid_t pid)
{
	struct supd_wire *w = userdata;

	manager_spawned(w->manager, now, token, pid);
}

static void on_spawn_failed(void *userdata, const struct supd_now *now, world_token token,
			    enum exec_step step, int error)
{
	struct supd_wire *w = userdata;

	manager_spawn_failed(w->manager, now, token, step, error);
}

static void on_exited(void *userdata, const struct supd_now *now, world_token token,
		      const struct process_end *end)
{
	struct supd_wire *w = userdata;

	manager_exited(w->manager, now, token, end);
}

static void on_refused(void *userdata, world_token token, struct diag *refused)
{
	struct supd_wire *w = userdata;

	manager_refused(w->manager, token, refused);
}

static void on_notified(void *userdata, const struct supd_now *now, world_token token,
			const struct notification *said)
{
	struct supd_wire *w = userdata;

	manager_notified(w->manager, now, token, said);
}

static void on_tree_empty(void *userdata, const struct supd_now *now, world_token token)
{
	struct supd_wire *w = userdata;

	manager_tree_empty(w->manager, now, token);
}

static void on_saved(void *userdata, const struct supd_now *now, const char *plugin,
		     uint64_t ticket, int result)
{
	struct supd_wire *w = userdata;

	manager_saved(w->manager, now, plugin, ticket, result);
}

static void on_clock_jump(void *userdata, const struct supd_now *now, int64_t delta)
{
	struct supd_wire *w = userdata;

	manager_clock_jump(w->manager, now, delta);
}

static void on_zone_change(void *userdata, const struct supd_now *now)
{
	struct supd_wire *w = userdata;

	manager_zone_change(w->manager, now);
}

/* ---- from the manager to who watches ---- */

static void on_started(void *userdata, struct unit *u)
{
	struct supd_wire *w = userdata;

	supd_log_started(w->control, u);
	supd_history_run(w->control->history, u);
	jobs_started(w->control, u);
}

static void on_settled(void *userdata, struct unit *u, bool run_ended)
{
	struct supd_wire *w = userdata;

	supd_log_settled(w->control, u, run_ended);
	if (run_ended)
		supd_history_run(w->control->history, u);
	jobs_settled(w->control, u, run_ended);
	transients_settled(w->control, u);
}

static void on_event(void *userdata, const char *type, const char *unit,
		     const struct supd_row *fields)
{
	struct supd_wire *w = userdata;

	events_tell_plugin(w->control, type, unit, fields);
	supd_history_event(w->control->history, type, unit, fields);
	jobs_event(w->control, type, unit, fields);
}

void supd_wire_events(struct supd_wire *w, struct world_events *ret)
{
	*ret = (struct world_events) {
		.userdata = w,
		.wake = on_wake,
		.checked = on_checked,
		.spawned = on_spawned,
		.spawn_failed = on_spawn_failed,
		.exited = on_exited,
		.refused = on_refused,
		.notified = on_notified,
		.tree_empty = on_tree_empty,
		.saved = on_saved,
		.clock_jump = on_clock_jump,
		.zone_change = on_zone_change,
	};
}

void supd_wire_observer(struct supd_wire *w, struct manager_observer *ret)
{
	*ret = (struct manager_observer) {
		.userdata = w,
		.started = on_started,
		.settled = on_settled,
		.event = on_event,
	};
}
