/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_SPEC_H
#define SUPD_SERVICE_SPEC_H

/* A .service file, understood: assignments → one struct. supd.service(5) and supd.exec(5) are its
 * manual. */

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/keys.h"
#include "base/usec.h"
#include "service/specifier.h"

struct cgroup_limits;
struct exec_directories;
struct exec_limits;
struct dependencies;
struct restart_policy;
struct conditions;

enum service_type {
	SERVICE_ONESHOT,
	SERVICE_UNSUPPORTED, /* simple, forking, notify, dbus …: listed, never started */
};

/* The commands of a run, in the order in which they come. */
enum exec_phase {
	EXEC_CONDITION,
	EXEC_START_PRE,
	EXEC_START,
	EXEC_START_POST,
	EXEC_STOP,
	EXEC_STOP_POST,
};
#define EXEC_PHASE_COUNT (EXEC_STOP_POST + 1)

struct exec_command {
	const char *path;         /* absolute, or a bare name to be searched in ENVIRONMENT_PATH */
	const char *const *argv;  /* NULL-terminated, never empty; variables not yet substituted */
	bool ignore_failure;      /* '-' */
	bool no_substitution;     /* ':' */
	bool keeps_user;          /* '!' and '+': User= and its like are not for this one */
	bool is_unlimited;        /* '+': nor is what a service is denied */
};

struct exec_commands {
	struct exec_command *item;
	size_t n;
};

enum kill_mode { KILL_CONTROL_GROUP, KILL_MIXED, KILL_PROCESS, KILL_NONE };

/* Whose word over $NOTIFY_SOCKET counts. */
enum notify_access {
	NOTIFY_ALL,  /* each process of the run: the default here */
	NOTIFY_EXEC, /* those that supd has started itself */
	NOTIFY_MAIN, /* those of ExecStart= of them */
	NOTIFY_NONE,
};

/* Exit codes and signals that count as success besides 0. */
struct exit_status_set {
	uint64_t code[4];   /* bits 0–255 */
	uint64_t signal[2]; /* bit n: signal n */
};

struct environment_file {
	const char *path; /* absolute; may be a glob(7) pattern, as in systemd */
	bool is_optional; /* '-' */
};

struct exec_streams;

/* How processes are made: who and where they are, and what they find. Most services leave all of it
 * as it is. */
struct exec_context {
	const char *user, *group;             /* names or numbers, NULL: unchanged */
	const char *const *supplementary_groups; /* NULL-terminated or NULL */
	const char *working_directory; /* "~": the user's home; NULL: / for the system, $HOME for
					  --user */
	/* the environment: "NAME=value", NULL-terminated or NULL */
	const char *const *environment;
	const struct environment_file *environment_file;
	size_t n_environment_files;
	const char *const *pass_environment;
	const char *const *unset_environment;
	const struct exec_streams *streams;   /* NULL: the defaults; exec_streams_of() */
	mode_t umask;                         /* 0022 */
	int nice;
	bool has_nice;
	bool working_directory_optional;      /* '-' */
	bool ignore_sigpipe;                  /* true by default, as in systemd */
	/* NULL: none of their keys is used */
	const struct cgroup_limits *cgroup;
	const struct exec_directories *directories;
	const struct exec_limits *limits;
};

/* There are very many of these: what few services say stands in structs of its own. */
struct service_spec {
	const char *description;
	const char *type_name;    /* as written; "oneshot" when it was not */
	/* Type= was written; systemd takes a service without for a long-running one */
	bool has_type;
	enum service_type type;
	struct exec_commands command[EXEC_PHASE_COUNT];
	bool is_enabled;          /* Enabled=, ours: no means that nothing but a person starts it */
	bool remain_after_exit;
	/* Condition*= and Assert*=, service/condition.h; NULL: none */
	const struct conditions *conditions;
	const struct exit_status_set *success; /* NULL: only 0 */
	const struct restart_policy *restart;  /* NULL: never, and no limit on starts */
	const struct dependencies *dependencies; /* NULL: none */
	/* for each command of the start-up; USEC_NEVER: none, the default of a oneshot */
	usec_t timeout_start;
	/* for each command and each wait of the stop; 90 s by default, USEC_NEVER: none */
	usec_t timeout_stop;
	enum kill_mode kill_mode;
	enum notify_access notify_access;
	int kill_signal;
	bool send_sigkill;
	bool send_sighup;
	bool permissions_start_only; /* commands that are not of ExecStart= have '+' */
	/* never NULL; in the arena, or one for all that say nothing */
	const struct exec_context *exec;
};

/* All keys of [Unit] and [Service], known, harmless and not applied. */
const struct key_table *service_keys(void);

/* Understands @n assignments. Mistakes go to @d (the caller looks at d->n_errors; those of reading
 * may be there already). @file, lent, is where it is told what is missing in them; or NULL. Strings
 * live in @arena. A service of another type is no mistake: type is SERVICE_UNSUPPORTED then,
 * quietly, and nothing else is judged. 0 or -ENOMEM. */
int service_spec_parse(const struct specifiers *specifiers, const char *file,
		       const struct assignment *assignment, size_t n, struct arena *arena,
		       struct diag *d, struct service_spec *ret);

/* Do the commands of this phase get $NOTIFY_SOCKET? */
bool service_spec_may_notify(const struct service_spec *spec, enum exec_phase phase);
/* The same for a target: a service without commands that remains active. */
int target_spec_parse(const struct specifiers *specifiers, const struct assignment *assignment,
		      size_t n, struct arena *arena, struct diag *d, struct service_spec *ret);

/* Does this wait status count as success? 0 and what SuccessExitStatus= says. */
bool service_spec_is_success(const struct service_spec *spec, int wstatus);

#endif
