/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_WORLD_LINUX_H
#define SUPD_RUN_WORLD_LINUX_H

/* The world as it is: fulfils world.h with processes, files and clocks of Linux, on an sd-event
 * loop. */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "run/daemon.h"
#include "store/run_log.h"
#include "run/runs.h"
#include "service/condition.h"
#include "world.h"

/* What happens; each is called from the loop, and may call the world. The manager's events, wired
 * by who knows both. */
struct world_events {
	void *userdata;
	void (*wake)(void *userdata, const struct supd_now *now, enum supd_clock clock);
	void (*checked)(void *userdata, const struct supd_now *now, world_token token,
			enum condition_outcome outcome, const char *unmet, int error);
	void (*spawned)(void *userdata, const struct supd_now *now, world_token token, pid_t pid);
	void (*spawn_failed)(void *userdata, const struct supd_now *now, world_token token,
			     enum exec_step step, int error);
	void (*exited)(void *userdata, const struct supd_now *now, world_token token,
		       const struct process_end *end);
	/* may be missing */
	void (*refused)(void *userdata, world_token token, struct diag *refused);
	void (*notified)(void *userdata, const struct supd_now *now, world_token token,
			 const struct notification *said);
	void (*tree_empty)(void *userdata, const struct supd_now *now, world_token token);
	void (*saved)(void *userdata, const struct supd_now *now, const char *plugin,
		      uint64_t ticket, int result);
	void (*clock_jump)(void *userdata, const struct supd_now *now, int64_t delta);
	void (*zone_change)(void *userdata, const struct supd_now *now);
};

/* All lent until world_linux_free(). */
struct world_linux_config {
	bool is_system;                   /* else --user */
	/* high priority first; NULL-terminated; enable writes to the first */
	const char *const *unit_dirs;
	/* the one of unit_dirs that --runtime writes to, if it is among them; or NULL. Any below
	 * /run is one */
	const char *runtime_unit_dir;
	const char *const *systemd_dirs;  /* SystemdUnitPath=; NULL-terminated, or NULL */
	int state_dir;                    /* descriptor, or -1: nothing is kept */
	const char *plugin_dir;
	const char *const *environment;   /* the daemon's own; NULL-terminated */
	const char *notify_socket;        /* its path; NULL: none */
	const struct daemon_inheritance *inheritance; /* or NULL */
	bool without_cgroup;
	bool without_guard;               /* for tests: nobody ends our services if we are killed */
	usec_t output_grace;              /* 0: the default */
	struct run_log_limits output_limits; /* of what services print and is kept; 0: nothing is */
	bool forwards_output;             /* what services print goes to the log */
	const char *localtime;            /* NULL: /etc/localtime */
};

struct keeper;
struct world_linux;

/* SIGCHLD must be blocked (daemon_prepare()), and there must be one thread: a guard is forked. */
int world_linux_new(sd_event *event, const struct world_linux_config *config,
		    const struct world_events *events, struct world_linux **ret);
/* Main processes that still run are killed, as they are when the daemon dies; what others still run
 * goes on, unwatched. */
struct world_linux *world_linux_free(struct world_linux *w);
/* Lent. */
const struct world *world_linux_world(struct world_linux *w);
struct unit_files *world_linux_unit_files(struct world_linux *w);
/* NULL: nothing is kept of what services print. */
struct keeper *world_linux_keeper(struct world_linux *w);
/* Looks at the unit directories beside the loop; @done, called from the loop, may then have the
 * manager reload, which finds at once what was found. One at a time. A negative errno: there is no
 * looking ahead, and a reload looks itself. */
int world_linux_look_ahead(struct world_linux *w, void (*done)(void *userdata), void *userdata);
/* What a process of this kind would get: runs_describe(). */
int world_linux_describe(struct world_linux *w, const struct spawn_request *request,
			 runs_described_fn *fn, void *userdata);
/* The time of this turn of the loop. */
struct supd_now world_linux_now(struct world_linux *w);

#endif
