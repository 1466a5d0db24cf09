/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_SPAWN_H
#define SUPD_RUN_SPAWN_H

/* From a request to a process: who it becomes, its environment, its arguments, and the launch. All
 * that in a worker's thread, with a copy of everything: user databases, environment files and the
 * exec itself may take long. */

#include <stdbool.h>
#include <sys/resource.h>

#include "base/arena.h"
#include "base/diag.h"
#include "run/barrier.h"
#include "run/reaper.h"
#include "run/worker.h"
#include "world.h"

/* What is the same for every process. */
struct spawn_config {
	bool is_system;                 /* else --user */
	const char *const *environment; /* the daemon's own, NULL-terminated */
	const char *notify_socket;      /* or NULL */
	/* the limit that services get, if the daemon has changed its own */
	bool has_nofile;
	struct rlimit nofile;
	int parent_death_signal;        /* 0: none */
};

struct spawn {
	struct worker_job job;
	const struct spawn_config *config;
	void *userdata; /* the owner's */
	struct child child;
	/* descriptors: the child's outputs that are captured, owned, or -1; its cgroup's directory,
	 * lent */
	int out, err, cgroup;
	bool must_join; /* the cgroup, by itself: it cannot be born there */
	struct barrier_wait after; /* what nothing is executed before */
	/* how it went: EXEC_STEP_NONE, or the step and its errno */
	enum exec_step step;
	int error;
	struct diag mistakes; /* in environment files */
	struct diag refused;  /* limits on the cgroup that cannot be had here */
	/* after spawn_describe(): lent by the arena; NULL: step and error say why */
	char *const *environment;
	/* private: the copy, and what is made of it */
	struct arena arena, scratch;
	struct spawn_request request;
	struct service_spec spec;
	struct run run;
	struct exec_command command;
};

/* Copies @request; the caller then sets job.done and job.drop, out, err, cgroup, must_join and
 * after. Lends @config. */
int spawn_new(const struct spawn_request *request, const struct spawn_config *config,
	      struct spawn **ret);
/* Before it is submitted: nothing will be started, but it be found out what a process would get. */
void spawn_describe(struct spawn *s);
/* The child has its own. */
void spawn_close_outputs(struct spawn *s);
/* Of a positive errno: does it say that something lacks which may come back by itself? */
bool spawn_is_lack(int error);
/* It failed for such a lack, and there was no child: the same again may succeed. */
bool spawn_lacked(const struct spawn *s);
/* As it was before it was submitted, but for job. */
void spawn_retry(struct spawn *s);
/* Not while a worker has it. Closes what it owns; the child must have been forgotten. */
struct spawn *spawn_free(struct spawn *s);

#endif
