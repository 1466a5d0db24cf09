/* SPDX-License-Identifier: MIT */
#include "daemon/supd_environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-id128.h>

#include "base/cleanup.h"
#include "control/client.h"
#include "core/report.h"
#include "core/unit.h"
#include "daemon/supd_control.h"
#include "run/world_linux.h"

/* A question that waits for a thread to find out. */
struct question {
	struct supd_control *c;
	uint64_t id;
	char unit[UNIT_NAME_MAX + 1];
};

static void send_mistakes(struct question *q, const struct diag *mistakes)
{
	for (size_t i = 0; i < mistakes->n; i++) {
		struct arena arena = { 0 };
		struct report r = { .arena = &arena };

		report_problem(&r, &mistakes->entry[i]);
		supd_control_row(q->c, q->id, &r);
		arena_done(&arena);
	}
}

static void send_variable(struct question *q, const char *assignment)
{
	size_t n = strcspn(assignment, "=");
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	const char *name = arena_strndup(&arena, assignment, n);

	if (name) {
		report_string(&r, "name", name);
		report_string(&r, "value", assignment + n + (assignment[n] == '='));
		supd_control_row(q->c, q->id, &r);
	}
	arena_done(&arena);
}

static void on_described(void *userdata, char *const *environment, enum exec_step step, int error,
			 const struct diag *mistakes)
{
	struct question *q = userdata;
	char message[512];

	send_mistakes(q, mistakes);
	for (char *const *e = environment; e && *e; e++)
		send_variable(q, *e);
	if (environment) {
		control_done(q->c->server, q->id, CONTROL_OK, NULL);
	} else {
		(void) snprintf(message, sizeof(message), "%s could not be run: %s: %s", q->unit,
				exec_step_to_string(step), strerror(error));
		control_done(q->c->server, q->id, CONTROL_FAILED, message);
	}
}

/* What keeps it from being run, as a start would say. */
static enum manager_verdict verdict(const struct unit *u, const struct unit_config *config)
{
	if (!u || u->is_gone)
		return MANAGER_NO_UNIT;
	switch (config->load) {
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

/* The first of ExecStart=, or where there is none, anything. */
static const struct exec_command *main_command(const struct service_spec *spec)
{
	static const char *const words[] = { "true", NULL };
	static const struct exec_command nothing = { .path = "true", .argv = words };

	return spec->command[EXEC_START].n > 0 ? &spec->command[EXEC_START].item[0] : &nothing;
}

/* A run that was begun this moment, and by hand. */
static void imagine_run(const struct supd_now *now, struct run *ret)
{
	sd_id128_t id;

	*ret = (struct run) {
		.cause = "manual",
		.attempt = 1,
		.scheduled_real = USEC_NEVER,
		.scheduled_boot = USEC_NEVER,
		.triggered_real = now->real,
		.triggered_boot = now->boot,
	};
	if (sd_id128_randomize(&id) >= 0)
		memcpy(ret->id, id.bytes, sizeof(ret->id));
}

static int describe(struct supd_control *c, struct question *q, const struct unit *u,
		    const struct unit_config *config)
{
	const struct supd_now now = c->now(c->userdata);
	struct run run;
	const struct spawn_request request = {
		.unit = u->name,
		.spec = config->spec,
		.run = &run,
		.phase = EXEC_START,
		.command = main_command(config->spec),
	};

	imagine_run(&now, &run);
	return world_linux_describe(c->outside, &request, on_described, q);
}

void environment_ask(struct supd_control *c, const struct control_request *request)
{
	const struct unit *u = manager_unit(c->manager, request->unit);
	const struct unit_config *config = u ? (u->next ? u->next : u->config) : NULL;
	enum manager_verdict v = verdict(u, config);
	struct question *q;

	if (v != MANAGER_DONE) {
		supd_control_refuse(c, request->id, request->unit, v);
		return;
	}
	q = calloc(1, sizeof(*q));
	if (q) {
		q->c = c;
		q->id = request->id;
		(void) snprintf(q->unit, sizeof(q->unit), "%s", u->name);
	}
	if (!q || describe(c, q, u, config) < 0) {
		free(q);
		supd_control_refuse(c, request->id, request->unit, MANAGER_NO_MEMORY);
	}
}
