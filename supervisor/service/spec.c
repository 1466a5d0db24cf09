/* SPDX-License-Identifier: MIT */
#include "service/spec.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "service/spec_values.h"

static const struct exec_context exec_defaults = { .umask = SPEC_UMASK, .ignore_sigpipe = true };

static const struct service_spec defaults = {
	.type_name = "oneshot",
	.type = SERVICE_ONESHOT,
	.is_enabled = true,
	.timeout_start = USEC_NEVER,
	.timeout_stop = SPEC_TIMEOUT_STOP,
	.kill_mode = KILL_CONTROL_GROUP,
	.kill_signal = SIGTERM,
	.send_sigkill = true,
	.exec = &exec_defaults,
};

static const char *const target_sections[] = { "Target", NULL };

static const struct restart_policy again_defaults = {
	.mode = RESTART_NO,
	.limit_burst = SPEC_START_LIMIT_BURST,
	.limit_interval = SPEC_START_LIMIT_INTERVAL,
	.delay = SPEC_RESTART_DELAY,
};

/* The value that counts of a key, "X-" spelling included; NULL: none, or it was reset. */
static const char *last_value(const struct assignment *assignment, size_t n, const char *section,
			      const char *key)
{
	while (n-- > 0) {
		const struct assignment *a = &assignment[n];
		const char *name = str_starts(a->key, "X-") ? a->key + strlen("X-") : a->key;

		if (str_equal(a->section, section) && str_equal(name, key))
			return *a->value ? a->value : NULL;
	}
	return NULL;
}

/* systemd-poweroff.service and its like: no command at all, what they do is to end the system. */
static bool is_action_alone(const struct assignment *assignment, size_t n)
{
	return last_value(assignment, n, "Unit", "SuccessAction") &&
	       !last_value(assignment, n, "Service", "ExecStart") &&
	       !last_value(assignment, n, "Service", "ExecStop");
}

/* Such a service is one connection's, handed over by a socket unit. */
static bool is_for_socket(const struct assignment *assignment, size_t n)
{
	const char *input = last_value(assignment, n, "Service", "StandardInput");

	return input && str_equal(input, "socket");
}

/* What systemd makes of a service: its type decides whether anything else of it is looked at.
 * Without Type= it is oneshot here, unless it says that it cannot be. Returns the type's name, not
 * yet copied. */
static const char *find_type(const struct assignment *assignment, size_t n,
			     struct service_spec *spec)
{
	const char *type = last_value(assignment, n, "Service", "Type");
	const char *restart = last_value(assignment, n, "Service", "Restart");

	spec->has_type = type != NULL;
	if (!type && last_value(assignment, n, "Service", "BusName"))
		type = "dbus";
	else if (!type && ((restart && spec_restart_is_for_daemons(restart)) ||
			   is_for_socket(assignment, n)))
		type = "simple";
	/* A misspelt one is reported with its line later. */
	if (!type || spec_type_from_string(type, &spec->type) < 0)
		type = defaults.type_name;
	if (is_action_alone(assignment, n))
		spec->type = SERVICE_UNSUPPORTED;
	return type;
}

/* Of a service of another type only its name for people is taken. */
static int parse_foreign(const struct assignment *assignment, size_t n, struct arena *arena,
			 struct spec_draft *draft)
{
	const struct key_row row = {
		.section = "Unit",
		.key = "Description",
		.offset = offsetof(struct spec_draft, spec.description),
	};
	int r;

	for (size_t i = 0; i < n; i++) {
		struct key_context c = {
			.row = &row, .assignment = &assignment[i], .arena = arena, .object = draft,
		};

		if (!str_equal(assignment[i].section, row.section) ||
		    !str_equal(assignment[i].key, row.key))
			continue;
		r = spec_parse_description(&c);
		if (r < 0)
			return r;
	}
	return 0;
}

static void check_restart(const struct spec_draft *draft, struct diag *d)
{
	const struct assignment *a = draft->restart;

	if (a && spec_restart_is_for_daemons(a->value))
		diag_add(d, DIAG_ERROR, a->file, a->line, a->key,
			 "Restart=%s is not for Type=oneshot", a->value);
}

/* The rule of systemd: a oneshot service without ExecStart= makes sense if it remains and does
 * something at its stop. */
static void check_commands(const struct service_spec *spec, const char *file, struct diag *d)
{
	if (spec->command[EXEC_START].n > 0)
		return;
	if (spec->command[EXEC_STOP].n == 0)
		diag_add(d, DIAG_ERROR, file, 0, NULL, "the service has no ExecStart=");
	else if (!spec->remain_after_exit)
		diag_add(d, DIAG_ERROR, file, 0, NULL,
			 "the service has neither ExecStart= nor RemainAfterExit=yes");
}

static void apply_start_only(struct service_spec *spec)
{
	for (int phase = 0; spec->permissions_start_only && phase < EXEC_PHASE_COUNT; phase++)
		for (size_t i = 0; phase != EXEC_START && i < spec->command[phase].n; i++)
			spec->command[phase].item[i].keeps_user =
				spec->command[phase].item[i].is_unlimited = true;
}

/* Should padding differ, that costs memory and nothing else. */
static int keep_exec(struct spec_draft *draft, struct arena *arena)
{
	struct exec_context *own;

	if (memcmp(&draft->exec, &exec_defaults, sizeof(exec_defaults)) == 0)
		return 0;
	own = arena_alloc(arena, sizeof(*own));
	if (!own)
		return -ENOMEM;
	*own = draft->exec;
	draft->spec.exec = own;
	return 0;
}

static int keep_restart(struct spec_draft *draft, struct arena *arena)
{
	struct restart_policy *own;

	if (draft->again.mode == RESTART_NO && !draft->again.has_limit && !draft->again.force)
		return 0;
	own = arena_alloc(arena, sizeof(*own));
	if (!own)
		return -ENOMEM;
	*own = draft->again;
	draft->spec.restart = own;
	return 0;
}

int service_spec_parse(const struct specifiers *specifiers, const char *file,
		       const struct assignment *assignment, size_t n, struct arena *arena,
		       struct diag *d, struct service_spec *ret)
{
	struct spec_draft draft = {
		.spec = defaults,
		.exec = exec_defaults,
		.again = again_defaults,
		.specifiers = specifiers,
		.dependencies.has_defaults = true,
	};
	const char *type = find_type(assignment, n, &draft.spec);
	int r;

	if (draft.spec.type == SERVICE_UNSUPPORTED) {
		draft.spec.type_name = arena_strdup(arena, type);
		if (!draft.spec.type_name)
			return -ENOMEM;
		r = parse_foreign(assignment, n, arena, &draft);
	} else {
		r = keys_apply(service_keys(), assignment, n, arena, d, &draft);
		apply_start_only(&draft.spec);
		check_restart(&draft, d);
		/* A command that made no sense, or could not even be read, was told of already. */
		if (d->n_errors == 0)
			check_commands(&draft.spec, file, d);
	}
	if (r >= 0)
		r = spec_require_directory(&draft, arena);
	if (r >= 0)
		r = keep_exec(&draft, arena);
	if (r >= 0)
		r = keep_restart(&draft, arena);
	if (r >= 0)
		r = spec_keep_dependencies(&draft, arena);
	if (r < 0)
		return r;
	*ret = draft.spec;
	return 0;
}

int target_spec_parse(const struct specifiers *specifiers, const struct assignment *assignment,
		      size_t n, struct arena *arena, struct diag *d, struct service_spec *ret)
{
	struct key_table keys = *service_keys();
	struct spec_draft draft = {
		.spec = defaults,
		.exec = exec_defaults,
		.again = again_defaults,
		.specifiers = specifiers,
		.dependencies.has_defaults = true,
	};
	int r;

	keys.ignored_sections = target_sections;
	draft.spec.type_name = "target";
	draft.spec.has_type = draft.spec.remain_after_exit = true;
	for (size_t i = 0; i < n; i++)
		if (str_equal(assignment[i].section, "Service")) {
			diag_add(d, DIAG_ERROR, assignment[i].file, assignment[i].line,
				 assignment[i].key, "a target has no section [Service]");
			break;
		}
	r = keys_apply(&keys, assignment, n, arena, d, &draft);
	if (r >= 0)
		r = spec_keep_dependencies(&draft, arena);
	if (r < 0)
		return r;
	*ret = draft.spec;
	return 0;
}

bool service_spec_may_notify(const struct service_spec *spec, enum exec_phase phase)
{
	switch (spec->notify_access) {
	case NOTIFY_ALL:
	case NOTIFY_EXEC:
		return true;
	case NOTIFY_MAIN:
		return phase == EXEC_START;
	case NOTIFY_NONE:
		break;
	}
	return false;
}

bool service_spec_is_success(const struct service_spec *spec, int wstatus)
{
	const struct exit_status_set *set = spec->success;

	if (WIFEXITED(wstatus)) {
		unsigned code = (unsigned) WEXITSTATUS(wstatus);

		return code == 0 || (set && set->code[code / 64] >> code % 64 & 1);
	}
	if (WIFSIGNALED(wstatus) && !WCOREDUMP(wstatus)) {
		unsigned signal = (unsigned) WTERMSIG(wstatus);

		return set && set->signal[signal / 64] >> signal % 64 & 1;
	}
	return false;
}
