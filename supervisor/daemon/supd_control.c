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

void supd_control_refuse(struct supd_control *c, uint64_t id, const char *unit, enum manager_verdict v)
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
	control_done(c->server, id, status, manager_verdict_words(c->manager, unit, v, words, sizeof(words)));
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
	(void) snprintf(message, sizeof(message), "timers are %s%s%s", state, reason ? ": " : "", reason ? reason : "");
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
	if (changed)
		events_tell(c, &(struct happening) { .type = on ? "paused" : "resumed" });
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

static void tell_gate(struct supd_control *c, const struct control_request *q)
{
	const struct supd_field field[] = {
		{ .key = "feature", .type = SUPD_STRING, .value.string = FEATURE },
		{ .key = "state", .type = SUPD_STRING, .value.string = q->on ? "enabled" : "disabled" },
		{ .key = "runtime", .type = SUPD_BOOL, .value.boolean = q->runtime },
	};
	const struct supd_row fields = { field, ELEMENTS(field) };

	events_tell(c, &(struct happening) { .type = "gate", .fields = &fields });
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
		(void) snprintf(message, sizeof(message), "no such experimental feature: %s (there is: " FEATURE ")",
				q->subsystem);
		control_done(c->server, q->id, CONTROL_USAGE, message);
		return;
	}
	r = manager_experimental(c->manager, &now, q->on, q->runtime, message, sizeof(message));
	jobs_timers_changed(c);
	if (r > 0)
		tell_gate(c, q);
	send_feature(c, q->id);
	control_done(c->server, q->id, r < 0 ? CONTROL_FAILED : CONTROL_OK, r < 0 ? message : NULL);
}

/* ---- reload ---- */

static void tell_count(struct supd_control *c, const char *type, const char *key, size_t n)
{
	const struct supd_field count = { .key = key, .type = SUPD_NUMBER, .value.number = (int64_t) n };
	const struct supd_row fields = { &count, 1 };

	events_tell(c, &(struct happening) { .type = type, .fields = &fields });
}

static void log_reload(struct supd_control *c, const struct reload_report *report, int r)
{
	for (size_t i = 0; i < report->mistakes.n; i++) {
		_cleanup_free_ char *line = diag_format(&report->mistakes.entry[i]);

		log_warning(0, "%s", line ? line : "out of memory");
	}
	if (r == -EBADMSG)
		tell_count(c, "reload-refused", "mistakes", report->mistakes.n_errors);
	else if (r < 0)
		log_error(r, "reload failed; everything is as it was");
	else
		tell_count(c, "reloaded", "changed", report->n);
}

static int reload(struct supd_control *c, struct reload_report *ret)
{
	const struct supd_now now = c->now(c->userdata);
	int r = manager_reload(c->manager, &now, ret);

	jobs_timers_changed(c);
	log_reload(c, ret, r);
	return r;
}

void supd_control_reload(struct supd_control *c)
{
	struct reload_report report = { 0 };

	(void) reload(c, &report);
	reload_report_done(&report);
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
		(void) snprintf(buf, n, "nothing was changed: %u mistake%s must be corrected first", errors,
				errors == 1 ? "" : "s");
	else
		(void) snprintf(buf, n, "nothing was changed: %s", strerror(-r));
	return buf;
}

static void ask_reload(struct supd_control *c, const struct control_request *q)
{
	struct reload_report report = { 0 };
	char message[256];
	int r = reload(c, &report);

	send_reload(c, q->id, &report);
	if (r < 0)
		control_done(c->server, q->id, r == -EBADMSG ? CONTROL_NO_UNIT : CONTROL_FAILED,
			     reload_words(r, &report, message, sizeof(message)));
	else
		control_done(c->server, q->id, CONTROL_OK, NULL);
	reload_report_done(&report);
}

/* ---- enable, disable, mask, unmask ---- */

static void send_changed(struct supd_control *c, uint64_t id, const char *unit, bool changed, const char *message)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "unit", unit);
	report_bool(&r, "changed", changed);
	report_string(&r, "message", message && *message ? message : NULL);
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

/* Rows of units that were enabled, kept until it is known that this counts. */
struct enabled {
	struct arena arena;
	struct {
		const char *unit;
		bool has_changed;
	} *item;
	size_t n;
};

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
static void take_back(struct supd_control *c, const struct control_request *q, const struct reload_report *report,
		      struct enabled *e)
{
	const struct manager_enabling back = { .unit = q->unit, .runtime = q->runtime };
	const char *first = "the reload was refused";
	char message[700], ignored[700];

	for (size_t i = 0; i < report->mistakes.n; i++)
		if (report->mistakes.entry[i].severity == DIAG_ERROR) {
			first = report->mistakes.entry[i].message;
			break;
		}
	(void) snprintf(message, sizeof(message), "%s was not enabled, as units could not be reloaded: %.400s%s", q->unit,
			first, report->mistakes.n_errors > 1 ? " (and more; see supctl reload)" : "");
	(void) manager_enable_unit(c->manager, &back, note_enabled, e, ignored, sizeof(ignored));
	control_done(c->server, q->id, CONTROL_FAILED, message);
}

static void answer_enabled(struct supd_control *c, const struct control_request *q, const struct enabled *e, int r,
			   const struct reload_report *report)
{
	char message[700], words[256];

	for (size_t i = 0; i < e->n; i++)
		send_changed(c, q->id, e->item[i].unit, e->item[i].has_changed, NULL);
	(void) snprintf(message, sizeof(message), "%s is %s on disk, but the reload was refused: %s", q->unit,
			q->verb == CONTROL_ENABLE ? "enabled" : "disabled",
			reload_words(r, report, words, sizeof(words)));
	control_done(c->server, q->id, r < 0 ? CONTROL_FAILED : CONTROL_OK, r < 0 ? message : NULL);
}

static void ask_enable(struct supd_control *c, const struct control_request *q)
{
	const struct manager_enabling what = {
		.unit = q->unit, .enable = q->verb == CONTROL_ENABLE, .runtime = q->runtime,
	};
	struct reload_report report = { 0 };
	struct enabled e = { 0 };
	char message[700] = "";
	int changed, r = 0;

	if (unit_name_kind(q->unit) == UNIT_TIMER && supd_control_no_timers(c, q->id))
		return;
	changed = manager_enable_unit(c->manager, &what, note_enabled, &e, message, sizeof(message));
	/* What was written counts at once. */
	if (changed > 0)
		r = reload(c, &report);
	if (changed < 0)
		control_done(c->server, q->id, status_of(changed), message);
	else if (r < 0 && what.enable && unit_name_is_instance(q->unit))
		take_back(c, q, &report, &e);
	else
		answer_enabled(c, q, &e, r, &report);
	reload_report_done(&report);
	arena_done(&e.arena);
}

static void ask_mask(struct supd_control *c, const struct control_request *q)
{
	bool mask = q->verb == CONTROL_MASK;
	struct reload_report report = { 0 };
	char message[700], words[256];
	int changed, r = 0;

	changed = manager_mask_unit(c->manager, q->unit, mask, q->runtime, message, sizeof(message));
	if (changed < 0) {
		control_done(c->server, q->id, status_of(changed), message);
		return;
	}
	if (changed > 0)
		r = reload(c, &report);
	if (r < 0)
		(void) snprintf(message, sizeof(message), "%s is %s on disk, but the reload was refused: %s", q->unit,
				mask ? "masked" : "unmasked", reload_words(r, &report, words, sizeof(words)));
	send_changed(c, q->id, q->unit, changed > 0, message);
	control_done(c->server, q->id, r < 0 ? CONTROL_FAILED : CONTROL_OK, r < 0 ? message : NULL);
	reload_report_done(&report);
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
		[CONTROL_ENABLE] = ask_enable,
		[CONTROL_DISABLE] = ask_enable,
		[CONTROL_MASK] = ask_mask,
		[CONTROL_UNMASK] = ask_mask,
		[CONTROL_TRIGGER] = jobs_trigger,
		[CONTROL_RESET] = jobs_reset,
		[CONTROL_SKIP] = jobs_skip,
		[CONTROL_UNSKIP] = jobs_skip,
		[CONTROL_PLAN] = units_plan,
		[CONTROL_RELOAD] = ask_reload,
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
