/* SPDX-License-Identifier: MIT */
#include "daemon/supd_control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "control/client.h"
#include "core/report.h"
#include "daemon/supd_environment.h"
#include "daemon/supd_history.h"
#include "daemon/supd_files.h"
#include "daemon/supd_transient.h"
#include "daemon/supd_units.h"
#include "unit/name.h"

/* The one feature there is so far. */
#define FEATURE "timers"

void supd_control_row(struct supd_control *c, uint64_t id, const struct report *r)
{
	struct supd_row row;

	if (report_end(r, &row) >= 0)
		control_row(c->server, id, &row);
}

void supd_control_refuse(struct supd_control *c, uint64_t id, const char *unit,
			 enum manager_verdict v)
{
	char words[1024];
	int status = CONTROL_FAILED;

	switch (v) {
	case MANAGER_NO_UNIT:
	case MANAGER_INVALID:
	case MANAGER_MASKED:
	case MANAGER_UNSUPPORTED:
		status = CONTROL_NO_UNIT;
		break;
	case MANAGER_DONE:
	case MANAGER_ALREADY_ACTIVE:
	case MANAGER_STOPPING:
	case MANAGER_NO_MEMORY:
	case MANAGER_NO_MANUAL_START:
	case MANAGER_NO_MANUAL_STOP:
		break;
	}
	control_done(c->server, id, status,
		     manager_verdict_words(c->manager, unit, v, words, sizeof(words)));
}

void supd_control_no_unit(struct supd_control *c, uint64_t id, const char *unit)
{
	supd_control_refuse(c, id, unit, MANAGER_NO_UNIT);
}

bool supd_control_no_timers(struct supd_control *c, uint64_t id)
{
	const char *reason, *state = manager_gate_state(c->manager, &reason);
	char message[700];

	if (str_equal(state, "enabled"))
		return false;
	(void) snprintf(message, sizeof(message), "timers %s %s%s%s",
			str_equal(state, "failed") ? "have" : "are", state, reason ? ": " : "",
			reason ? reason : "");
	control_done(c->server, id, CONTROL_NOT_ACTIVE, message);
	return true;
}

/* ---- the daemon as a whole ---- */

static const char *state_name(enum supd_manager_state s)
{
	static const char *const name[] = {
		[SUPD_MANAGER_STARTING] = "starting",
		[SUPD_MANAGER_RUNNING] = "running",
		[SUPD_MANAGER_PAUSED] = "paused",
		[SUPD_MANAGER_STOPPING] = "stopping",
		[SUPD_MANAGER_ENDED] = "ended",
	};
	_Static_assert(ELEMENTS(name) == SUPD_MANAGER_STATE_COUNT, "a name for each state");

	return name[s];
}

static void ask_version(struct supd_control *c, const struct control_request *q)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "version", PACKAGE_VERSION);
	report_string(&r, "state", state_name(manager_state(c->manager)));
	report_number(&r, "pid", getpid());
	report_time(&r, "started", c->started.real);
	supd_control_row(c, q->id, &r);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	arena_done(&arena);
}

static void ask_pause(struct supd_control *c, const struct control_request *q)
{
	const struct supd_now now = c->now(c->userdata);
	bool on = q->verb == CONTROL_PAUSE;
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	char message[128];
	int changed;

	changed = on ? manager_pause(c->manager, &now) : manager_resume(c->manager, &now);
	jobs_timers_changed(c);
	if (changed < 0) {
		(void) snprintf(message, sizeof(message), "supd is %s and cannot be %s now",
				state_name(manager_state(c->manager)), on ? "paused" : "resumed");
		control_done(c->server, q->id, CONTROL_FAILED, message);
		return;
	}
	report_string(&r, "state", state_name(manager_state(c->manager)));
	report_bool(&r, "changed", changed > 0);
	supd_control_row(c, q->id, &r);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	arena_done(&arena);
}

/* ---- experimental features ---- */

static void send_feature(struct supd_control *c, uint64_t id)
{
	const char *reason, *state = manager_gate_state(c->manager, &reason);
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "feature", FEATURE);
	report_bool(&r, "enabled", !str_equal(state, "disabled"));
	report_string(&r, "state", state);
	report_string(&r, "reason", reason);
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

static void ask_experimental(struct supd_control *c, const struct control_request *q)
{
	const struct supd_now now = c->now(c->userdata);
	char message[600];
	int r;

	if (!q->subsystem) {
		send_feature(c, q->id);
		control_done(c->server, q->id, CONTROL_OK, NULL);
		return;
	}
	if (!str_equal(q->subsystem, FEATURE)) {
		(void) snprintf(message, sizeof(message),
				"no such experimental feature: %s (there is: " FEATURE ")",
				q->subsystem);
		control_done(c->server, q->id, CONTROL_USAGE, message);
		return;
	}
	r = manager_experimental(c->manager, &now, q->on, q->runtime, message, sizeof(message));
	jobs_timers_changed(c);
	send_feature(c, q->id);
	control_done(c->server, q->id, r < 0 ? CONTROL_FAILED : CONTROL_OK, r < 0 ? message : NULL);
}

/* ---- who answers what ---- */

void supd_control_ask(void *userdata, const struct control_request *q)
{
	static void (*const answer[])(struct supd_control *c, const struct control_request *q) = {
		[CONTROL_VERSION] = ask_version,
		[CONTROL_LIST] = units_list,
		[CONTROL_STATUS] = units_status,
		[CONTROL_SHOW] = units_show,
		[CONTROL_CAT] = units_cat,
		[CONTROL_START] = jobs_start,
		[CONTROL_STOP] = jobs_stop,
		[CONTROL_RESTART] = jobs_restart,
		[CONTROL_ENABLE] = reloads_ask,
		[CONTROL_DISABLE] = reloads_ask,
		[CONTROL_MASK] = reloads_ask,
		[CONTROL_UNMASK] = reloads_ask,
		[CONTROL_TRIGGER] = jobs_trigger,
		[CONTROL_RESET] = jobs_reset,
		[CONTROL_SKIP] = jobs_skip,
		[CONTROL_UNSKIP] = jobs_skip,
		[CONTROL_PLAN] = units_plan,
		[CONTROL_RELOAD] = reloads_ask,
		[CONTROL_TABLE] = units_table,
		[CONTROL_EXPERIMENTAL] = ask_experimental,
		[CONTROL_PAUSE] = ask_pause,
		[CONTROL_RESUME] = ask_pause,
		[CONTROL_LOGS] = logs_read,
		[CONTROL_EVENTS] = events_read,
		[CONTROL_ENVIRONMENT] = environment_ask,
		[CONTROL_HISTORY] = history_ask,
		[CONTROL_STATISTICS] = history_ask,
		[CONTROL_RUN] = transients_run,
	};
	_Static_assert(ELEMENTS(answer) == CONTROL_VERB_COUNT, "an answer to each verb");

	answer[q->verb](userdata, q);
}
