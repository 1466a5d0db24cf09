/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_LAUNCH_H
#define SUPD_RUN_LAUNCH_H

/* The way from a prepared plan to a process: clone and exec. Everything that may fail, block,
 * allocate or lock has happened before; between the two there are system calls only.
 *
 * The child shares our memory until it has become another program (CLONE_VM), and the calling
 * thread sleeps that long (CLONE_VFORK). So a start costs the same however large the daemon is, and
 * a step that fails is simply written into the plan. The caller is a worker's thread: the loop goes
 * on even if an exec takes long. */

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "run/barrier.h"
#include "service/exec_limits.h"
#include "service/run_record.h"

struct identity;

struct launch {
	/* In: all lent until launch() returns. */
	/* absolute; the first that can be executed is; NULL-terminated */
	const char *const *path;
	char *const *argv, *const *envp;
	const struct identity *identity;
	const char *directory;        /* absolute, entered as the user; NULL: / */
	bool directory_optional;
	int in, out, err;             /* 3 or higher */
	bool has_terminal;            /* in is to be the terminal of its session */
	bool force_terminal;          /* even if it is another session's */
	int cgroup;                   /* the directory of a cgroup to be in, or -1 */
	/* it enters that by itself; set, too, where it cannot be born there */
	bool must_join;
	mode_t umask;
	bool has_nice;
	int nice;
	bool has_nofile;              /* the daemon has raised its own limit */
	struct rlimit nofile;
	bool ignore_sigpipe;
	bool is_unlimited;            /* Limit…= is not for this command */
	const struct exec_limits *limits; /* or NULL */
	struct exec_mask numa_nodes;      /* those of limits, or all there are */
	int parent_death_signal;      /* 0: none */
	/* what the child waits for, all else being ready, before it becomes another program; or
	 * NULL */
	const struct barrier_wait *after;
	/* Out, on failure: where and why. */
	enum exec_step step;
	int error;                    /* positive errno */
	/* private */
	pid_t parent;
	bool shares_files;            /* the daemon's descriptors, until its first step */
	int highest_fd;               /* of those that it needs */
	gid_t *groups_check;
	char oom_score_adjust[8];
};

/* Finds out what every launch() needs to know, in some 200 us, so that the first need not: once it
 * has been settled which signals are ignored. */
void launch_prepare(void);
/* *pid and *pidfd are written by the kernel before the child's first instruction, so that who sees
 * a dead child in another thread can tell whose it is. Returns 0 (it is another program now, or was
 * ended by a signal before), or -1: step and error say why, and a child, if there was one (*pid >
 * 0), is about to exit and still to be reaped. */
int launch(struct launch *l, pid_t *pid, int *pidfd);

#endif
