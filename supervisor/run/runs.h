/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_RUNS_H
#define SUPD_RUN_RUNS_H

/* The runs that have processes, or had: for each the tree of its processes, the process of its last
 * spawn, and its output, from the first spawn to the release. Keeps the promises of world.h about
 * order: spawned before exited, exited before tree_empty, and what a process had printed is logged,
 * and on its way to the disk, before its end is told. */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "run/daemon.h"
#include "run/spawn.h"
#include "world.h"

struct keeper;
struct notification;
struct cgroup_usage;
struct runs;

struct runs_config {
	struct spawn_config spawn;
	int64_t priority_child, priority_output, priority_notify;
	usec_t output_grace;
	bool forwards_output;    /* what they print goes to the log */
	bool without_cgroup;
	bool without_guard;
	char *title;             /* for the guard, see there; or NULL */
	size_t title_size;
};

/* Called from the loop; each may call back into here. */
struct runs_listener {
	void *userdata;
	void (*spawned)(void *userdata, world_token token, pid_t pid);
	void (*spawn_failed)(void *userdata, world_token token, enum exec_step step, int error);
	void (*exited)(void *userdata, world_token token, const struct child *child,
		       const struct cgroup_usage *usage);
	/* Limits that could not be had, before spawned; the entries may be taken. May be
	 * missing. */
	void (*refused)(void *userdata, world_token token, struct diag *refused);
	void (*notified)(void *userdata, world_token token, const struct notification *said);
	void (*tree_empty)(void *userdata, world_token token);
};

/* Forks a guard: to be called while there is one thread. */
int runs_new(sd_event *event, const struct runs_config *config,
	     const struct runs_listener *listener, struct runs **ret);
struct runs *runs_free(struct runs *all);
/* From now on what they print is kept; lent until runs_free(). It has a thread, so it comes after
 * the guard. */
void runs_keep(struct runs *all, struct keeper *keeper);

/* What a process of this kind would get, found out in a thread: @request as for a spawn, without a
 * token. @environment is lent during the call; NULL: @step failed with @error (an errno). */
typedef void runs_described_fn(void *userdata, char *const *environment, enum exec_step step,
			       int error, const struct diag *mistakes);
/* fn() is called from the loop, once, unless the daemon ends before. Takes @userdata, which free()
 * frees after that. */
int runs_describe(struct runs *all, const struct spawn_request *request, runs_described_fn *fn,
		  void *userdata);

/* Tells at once what processes have said up to now: before anything is decided that would come out
 * differently. */
void runs_listen(struct runs *all);

/* As in world.h. Whatever @after stands for is over before anything is executed. */
int runs_spawn(struct runs *all, const struct spawn_request *request,
	       const struct barrier_wait *after);
/* Some of what is waited for may be over. */
void runs_look(struct runs *all);
void runs_cancel(struct runs *all, world_token token);
/* The daemon is about to end: whose process waits for a disk is not executed any more, whatever
 * becomes of the disk meanwhile. */
void runs_call_back(struct runs *all);
int runs_kill_main(struct runs *all, world_token token, int signal);
int runs_kill_tree(struct runs *all, world_token token, int signal, bool spare_main);
int runs_watch_tree(struct runs *all, world_token token);
char *runs_last_words(struct runs *all, world_token token, size_t *ret_n);
void runs_release(struct runs *all, world_token token, bool restarts);

#endif
