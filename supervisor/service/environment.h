/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_ENVIRONMENT_H
#define SUPD_SERVICE_ENVIRONMENT_H

/* What a service's process gets: its environment, built from nothing, and its argument vector with variables
 * substituted. Pure: who the user is, what stands in environment files and what the daemon passes on are handed in.
 * systemd.exec(5) "ENVIRONMENT VARIABLES IN SPAWNED PROCESSES", systemd.service(5) "COMMAND LINES". */

#include "service/run_record.h"
#include "service/spec.h"

struct environment_input {
	const struct service_spec *spec;
	const struct run *run;
	enum exec_phase phase;
	const char *unit;
	/* of the user it runs as; NULL: unknown. is_user_set: User= was given (HOME, LOGNAME, SHELL are set then) */
	const char *user_name, *home, *shell;
	bool is_user_set;
	bool is_system; /* PATH differs for --user, which also inherits HOME, USER, XDG_RUNTIME_DIR … through @daemon */
	const char *const *daemon;         /* the daemon's own environment, for PassEnvironment= */
	const char *const *file_assignment; /* "NAME=value" from all EnvironmentFile=, in order; NULL-terminated */
};

/* Gives a NULL-terminated array in @arena, without doubles (the last assignment counts). */
int environment_build(const struct environment_input *in, struct arena *arena, char ***ret);

/* The bytes of an environment file → "NAME=value" strings appended to a NULL-terminated array. systemd.exec(5),
 * EnvironmentFile=: quotes, backslashes, comments; lines that make no sense are skipped and noted in @d. */
int environment_file_parse(const char *path, const char *bytes, size_t n, struct arena *arena,
			   const char ***array, size_t *n_array, struct diag *d);

/* argv with $VAR and ${VAR} substituted as systemd does ("$VAR" alone: split into words; "$$": a dollar). */
int exec_command_expand(const struct exec_command *c, char *const *environment, struct arena *arena, char ***ret);

#endif
