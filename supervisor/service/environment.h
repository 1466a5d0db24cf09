/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_ENVIRONMENT_H
#define SUPD_SERVICE_ENVIRONMENT_H

/* What a service's process gets: its environment, built from nothing, and its argument vector with
 * variables substituted. Pure: who the user is, what stands in environment files and what the
 * daemon passes on are handed in. systemd.exec(5) "ENVIRONMENT VARIABLES IN SPAWNED PROCESSES",
 * systemd.service(5) "COMMAND LINES". */

#include "service/run_record.h"
#include "service/spec.h"

/* PATH of a service that says nothing else, and where a command without a slash is searched. */
#define ENVIRONMENT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct environment_input {
	const struct service_spec *spec;
	const struct run *run;
	enum exec_phase phase;
	const char *unit;
	/* of the user it runs as; NULL: unknown */
	const char *user_name, *home, *shell;
	bool is_user_set; /* User= was given */
	const char *notify_socket; /* NULL: there is none */
	pid_t manager_pid;         /* of the daemon; goes with it */
	/* no: --user, where services inherit what makes a person's session; see supd.service(5) */
	bool is_system;
	/* the daemon's own environment, NULL-terminated; NULL: empty */
	const char *const *daemon;
	const char *const
		*file_assignment; /* "NAME=value" from all EnvironmentFile=, in order; NULL: none */
};

/* Gives a NULL-terminated array in @arena, without doubles (the last assignment counts). Its
 * strings live in @arena or are those of @in. 0 or -ENOMEM. */
int environment_build(const struct environment_input *in, struct arena *arena, char ***ret);

/* Is this the NAME, or the NAME=value, of a variable? */
bool environment_name_is_valid(const char *name);
bool environment_assignment_is_valid(const char *assignment);

/* The bytes of an environment file → "NAME=value" strings appended to *array (grown with
 * arena_grow(), *n_array of them, NULL-terminated after each call). systemd.exec(5),
 * EnvironmentFile=: quotes, backslashes, comments. Lines that make no sense are skipped and noted
 * in @d as warnings. 0, -ENOMEM, or -EBADMSG: a NUL byte, or an assignment that is not UTF-8 (noted
 * in @d as an error; systemd refuses such a file, too). */
int environment_file_parse(const char *path, const char *bytes, size_t n, struct arena *arena,
			   const char ***array, size_t *n_array, struct diag *d);

/* argv with $VAR and ${VAR} substituted as systemd does ("$VAR" alone: split into words; "$$": a
 * dollar). Never empty: argv[0] is the path if nothing else is left. 0, -ENOMEM, or -E2BIG if no
 * process could be given as much. */
int exec_command_expand(const struct exec_command *c, char *const *environment, struct arena *arena,
			char ***ret);

#endif
