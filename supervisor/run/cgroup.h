/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CGROUP_H
#define SUPD_RUN_CGROUP_H

/* One cgroup of the v2 hierarchy, as a folder. It is there to hold processes together, whatever
 * they do about sessions and parents; its controllers are the matter of cgroup_control.h. */

#include <stdbool.h>
#include <sys/types.h>

struct cgroup {
	int fd;       /* of the folder; -1: none */
	char *path;   /* of the folder */
	char *inside; /* as /proc/PID/cgroup shows it, "/supd-17/run-1" */
};

void cgroup_done(struct cgroup *g);
/* The one this process is in. -ENOENT: there is no v2 hierarchy to be seen; -EXDEV: its mount shows
 * another part. */
int cgroup_open_own(struct cgroup *ret);
/* Where a process is, as "/proc/PID/cgroup" shows it; gives. -ESRCH: there is none. */
int cgroup_of_process(pid_t pid, char **ret);
/* Makes @name below @parent, unless it is there. */
int cgroup_make(const struct cgroup *parent, const char *name, struct cgroup *ret);
int cgroup_open(const struct cgroup *parent, const char *name, struct cgroup *ret);
/* May processes be put into it and into new ones below it? */
bool cgroup_is_usable(const struct cgroup *g);
/* For a child to write "0" to. */
int cgroup_open_procs(const struct cgroup *g);

/* Is a living process in it or below? Negative errno: cannot be told; -ENODEV or -ENOENT: it is
 * gone. */
int cgroup_is_populated(const struct cgroup *g);
/* Every process in it and below, but @spare (0: none); those that are forked meanwhile, too. */
int cgroup_signal(const struct cgroup *g, int signal, pid_t spare);
/* Moves every process to @to. */
void cgroup_evacuate(const struct cgroup *g, const struct cgroup *to);
/* Removes it with all below it; -EBUSY: something lives in it. */
int cgroup_remove(const struct cgroup *g);

#endif
