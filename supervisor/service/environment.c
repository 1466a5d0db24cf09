/* SPDX-License-Identifier: MIT */
#include "service/environment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"
#include "service/exec_directories.h"
#include "service/exec_streams.h"

bool environment_name_is_valid(const char *name)
{
	if (!*name || (*name >= '0' && *name <= '9'))
		return false;
	for (; *name; name++)
		if (!((*name >= 'A' && *name <= 'Z') || (*name >= 'a' && *name <= 'z') ||
		      (*name >= '0' && *name <= '9') || *name == '_'))
			return false;
	return true;
}

static size_t name_length(const char *assignment)
{
	return strcspn(assignment, "=");
}

bool environment_assignment_is_valid(const char *assignment)
{
	size_t n = name_length(assignment), length = strlen(assignment);

	if (n == 0 || n == length || (*assignment >= '0' && *assignment <= '9'))
		return false;
	for (const char *p = assignment; p < assignment + n; p++)
		if (!((*p >= 'A' && *p <= 'Z') || (*p >= 'a' && *p <= 'z') ||
		      (*p >= '0' && *p <= '9') || *p == '_'))
			return false;
	return text_utf8_valid(assignment, length) == length;
}

/* ---- a set of assignments, the last one of a name counting ---- */

struct block {
	struct arena *arena;
	char **item; /* in the order in which names came up; NULL: unset again */
	size_t n;
	uint32_t *slot; /* by the hash of a name: number of the item plus one */
	size_t n_slots; /* a power of two, more than twice the names there can be */
	int error;      /* the first -ENOMEM; checked once, at the end */
};

static bool is_same_name(const char *a, const char *b, size_t n)
{
	return strncmp(a, b, n) == 0 && b[n] == '=';
}

/* The slot of the name that is the first @n bytes of @name; an empty one if it is not there. */
static uint32_t *find_slot(const struct block *b, const char *name, size_t n)
{
	size_t at = text_hash(TEXT_HASH_INIT, name, n) & (b->n_slots - 1);

	for (;; at = (at + 1) & (b->n_slots - 1)) {
		uint32_t i = b->slot[at];

		if (i == 0 || (b->item[i - 1] && is_same_name(name, b->item[i - 1], n)))
			return &b->slot[at];
	}
}

static int block_init(struct block *b, struct arena *arena, size_t most)
{
	*b = (struct block) { .arena = arena, .n_slots = 64 };
	while (b->n_slots < 2 * most)
		b->n_slots *= 2;
	b->item = arena_alloc(arena, (most + 1) * sizeof(*b->item));
	b->slot = arena_alloc(arena, b->n_slots * sizeof(*b->slot));
	return b->item && b->slot ? 0 : -ENOMEM;
}

/* Takes the string as it is; it must live as long as the arena. */
static void put(struct block *b, const char *assignment)
{
	uint32_t *slot = find_slot(b, assignment, name_length(assignment));
	char *s = (char *) (uintptr_t) assignment;

	if (*slot)
		b->item[*slot - 1] = s;
	else {
		b->item[b->n++] = s;
		*slot = (uint32_t) b->n;
	}
}

static void set(struct block *b, const char *name, const char *value)
{
	char *s;

	if (!value)
		return;
	s = arena_printf(b->arena, "%s=%s", name, value);
	if (s)
		put(b, s);
	else
		b->error = -ENOMEM;
}

static void set_usec(struct block *b, const char *name, usec_t value)
{
	char digits[24];

	(void) snprintf(digits, sizeof(digits), "%" PRIu64, value);
	set(b, name, digits);
}

static void put_all(struct block *b, const char *const *list)
{
	for (; list && *list; list++)
		if (environment_assignment_is_valid(*list))
			put(b, *list);
}

static char **finish(struct block *b)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++)
		if (b->item[i])
			b->item[n++] = b->item[i];
	b->item[n] = NULL;
	return b->item;
}

/* ---- what goes into it ---- */

static size_t length(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static const char *find_assignment(const char *const *list, const char *name)
{
	size_t n = strlen(name);

	for (; list && *list; list++)
		if (is_same_name(name, *list, n))
			return *list;
	return NULL;
}

static void pass(struct block *b, const struct environment_input *in, const char *name)
{
	const char *assignment = find_assignment(in->daemon, name);

	if (assignment && environment_assignment_is_valid(assignment))
		put(b, assignment);
}

/* A person's own supd passes on what makes the session of that person; the system's only the
 * language. */
static void put_daemon(struct block *b, const struct environment_input *in)
{
	static const char *const session[] = {
		"PATH", "HOME", "LOGNAME", "USER", "SHELL", "DBUS_SESSION_BUS_ADDRESS",
		"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
	};

	pass(b, in, "LANG");
	for (size_t i = 0; !in->is_system && i < ELEMENTS(session); i++)
		pass(b, in, session[i]);
}

static void put_user(struct block *b, const struct environment_input *in)
{
	if (!in->is_user_set && in->is_system)
		return;
	set(b, "HOME", in->home);
	set(b, "LOGNAME", in->user_name);
	set(b, "USER", in->user_name);
	set(b, "SHELL", in->shell);
}

static void put_directories(struct block *b, const struct exec_directories *d)
{
	for (size_t kind = 0; d && kind < EXEC_DIRECTORY_COUNT; kind++) {
		const struct exec_directory_set *these = &d->set[kind];
		char *value = NULL;

		for (const char *const *path = these->path; path && *path; path++) {
			value = value ? arena_printf(b->arena, "%s:%s/%s", value, these->root,
						     *path)
				      : arena_printf(b->arena, "%s/%s", these->root, *path);
			if (!value) {
				b->error = -ENOMEM;
				return;
			}
		}
		set(b, exec_directory_variable((enum exec_directory_kind) kind), value);
	}
}

static void put_run(struct block *b, const struct run *run)
{
	char id[2 * RUN_ID_BYTES + 1];
	usec_t scheduled = run_scheduled_real(run);

	text_hex16(run->id, id);
	set(b, "INVOCATION_ID", id);
	/* Of other units systemd says nothing either. */
	if (run->trigger_unit && str_ends(run->trigger_unit, ".timer")) {
		set(b, "TRIGGER_UNIT", run->trigger_unit);
		set_usec(b, "TRIGGER_TIMER_REALTIME_USEC", run->triggered_real);
		set_usec(b, "TRIGGER_TIMER_MONOTONIC_USEC", run->triggered_boot);
	}
	if (*run->cause)
		set(b, "SUPD_CAUSE", run->cause);
	set_usec(b, "SUPD_ATTEMPT", run->attempt);
	if (scheduled != USEC_NEVER)
		set_usec(b, "SUPD_SCHEDULED_USEC", scheduled);
}

/* Only words that systemd has, too. */
static const char *service_result(enum run_result result)
{
	switch (result) {
	case RUN_RESULT_NONE:
	case RUN_RESULT_STOPPED:
		return run_result_to_string(RUN_RESULT_SUCCESS);
	case RUN_RESULT_EXEC:
		return run_result_to_string(RUN_RESULT_EXIT_CODE);
	case RUN_RESULT_SUCCESS:
	case RUN_RESULT_EXIT_CODE:
	case RUN_RESULT_SIGNAL:
	case RUN_RESULT_CORE_DUMP:
	case RUN_RESULT_OOM_KILL:
	case RUN_RESULT_TIMEOUT:
	case RUN_RESULT_ASSERT: /* never told to a process: none was made */
	case RUN_RESULT_SKIPPED:
	case RUN_RESULT_RESOURCES:
	case RUN_RESULT_DEPENDENCY:
	case RUN_RESULT_START_LIMIT:
		break;
	}
	return run_result_to_string(result);
}

static void put_exit(struct block *b, const char *code_name, const char *status_name, int wstatus)
{
	char buf[16];

	if (WIFEXITED(wstatus)) {
		set(b, code_name, "exited");
		set_usec(b, status_name, (usec_t) WEXITSTATUS(wstatus));
	} else {
		set(b, code_name, WCOREDUMP(wstatus) ? "dumped" : "killed");
		set(b, status_name, value_signal_name(WTERMSIG(wstatus), buf));
	}
}

/* What the commands of a stop are told of what came before. */
static void put_result(struct block *b, const struct run *run)
{
	set(b, "SERVICE_RESULT", service_result(run->result));
	if (run->main_exited)
		put_exit(b, "EXIT_CODE", "EXIT_STATUS", run->main_wstatus);
}

/* What a unit that OnFailure= or OnSuccess= began is told of the one that named it. */
static void put_monitor(struct block *b, const struct run_monitor *monitor)
{
	char id[2 * RUN_ID_BYTES + 1];

	text_hex16(monitor->id, id);
	set(b, "MONITOR_UNIT", monitor->unit);
	set(b, "MONITOR_INVOCATION_ID", id);
	set(b, "MONITOR_SERVICE_RESULT", service_result(monitor->result));
	if (monitor->main_exited)
		put_exit(b, "MONITOR_EXIT_CODE", "MONITOR_EXIT_STATUS", monitor->main_wstatus);
}

/* MANAGERPID= is what tells systemd-notify(1) not to speak in our name. */
static void put_notify(struct block *b, const struct environment_input *in)
{
	if (!in->notify_socket || !service_spec_may_notify(in->spec, in->phase))
		return;
	set(b, "NOTIFY_SOCKET", in->notify_socket);
	set_usec(b, "MANAGERPID", (usec_t) in->manager_pid);
}

/* As systemd guesses it: a console of the kernel's is known, and all others understand a vt220. */
static void put_terminal(struct block *b, const struct environment_input *in)
{
	const struct exec_streams *s = exec_streams_of(in->spec);
	bool is_virtual = str_starts(s->tty_path, "/dev/tty") &&
			  strspn(s->tty_path + 8, "0123456789") > 0;

	if (!exec_streams_has_terminal(s))
		return;
	set(b, "TERM", is_virtual ? "linux" : "vt220");
	if (str_equal(s->tty_path, "/dev/console"))
		pass(b, in, "TERM");
}

static void unset(struct block *b, const char *what)
{
	size_t n = name_length(what);
	uint32_t *slot = find_slot(b, what, n);

	if (*slot && (!what[n] || str_equal(what, b->item[*slot - 1])))
		b->item[*slot - 1] = NULL;
}

/* More than all that is set here by name. */
#define OWN_VARIABLES 40

int environment_build(const struct environment_input *in, struct arena *arena, char ***ret)
{
	const struct service_spec *spec = in->spec;
	struct block b;
	int r;

	r = block_init(&b, arena,
		       OWN_VARIABLES + length(spec->exec->pass_environment) +
			       length(spec->exec->environment) + length(in->file_assignment));
	if (r < 0)
		return r;
	set(&b, "PATH", ENVIRONMENT_PATH);
	put_daemon(&b, in);
	put_user(&b, in);
	put_directories(&b, spec->exec->directories);
	put_run(&b, in->run);
	put_notify(&b, in);
	put_terminal(&b, in);
	if (in->phase == EXEC_STOP || in->phase == EXEC_STOP_POST)
		put_result(&b, in->run);
	if (in->run->monitor && (in->phase == EXEC_START_PRE || in->phase == EXEC_START))
		put_monitor(&b, in->run->monitor);
	for (const char *const *name = spec->exec->pass_environment; name && *name; name++)
		pass(&b, in, *name);
	put_all(&b, spec->exec->environment);
	put_all(&b, in->file_assignment);
	for (const char *const *what = spec->exec->unset_environment; what && *what; what++)
		unset(&b, *what);
	if (b.error < 0)
		return b.error;
	*ret = finish(&b);
	return 0;
}
