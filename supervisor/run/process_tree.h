/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_PROCESS_TREE_H
#define SUPD_RUN_PROCESS_TREE_H

/* All processes of one run, whatever they do: fork, detach, change session.
 *
 * Where we may, a cgroup holds them: <own cgroup>/supd-PID-xxxxxxxx/run-TOKEN-UNIT. The folder
 * above the runs is locked for as long as its daemon lives; one that is found unlocked belonged to
 * a daemon that died, and what still runs in it is killed and swept away. Processes that a service
 * was allowed to leave (KillMode=none) move to …/left, which is not.
 *
 * Elsewhere the daemon is a child subreaper, so that all of them stay its descendants, and a walk
 * through /proc tells them by session, by ancestors, and by INVOCATION_ID= in the environment that
 * they were executed with (where there is no /proc, by the process groups of the main processes
 * alone). That a tree has emptied is seen when something is reaped, and by looking again after a
 * moment while something is left. Only a process that detaches completely and also drops its
 * environment escapes that. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct guard;
struct process_tree;
struct process_forest;

/* @without_cgroup: do not even try. @guard is lent, or NULL: it is told what there is. */
int process_forest_new(sd_event *event, bool without_cgroup, struct guard *guard,
		       struct process_forest **ret);
/* Removes what cgroups it made, as far as nothing lives in them. */
struct process_forest *process_forest_free(struct process_forest *f);
bool process_forest_has_cgroup(const struct process_forest *f);
/* Something was reaped: trees may have emptied. */
void process_forest_reaped(struct process_forest *f);

/* The token of the tree that this process belongs to, or 0. It may have ended, and another have its
 * number, as soon as it is looked at: the caller makes sure of that. */
uint64_t process_forest_find(struct process_forest *f, pid_t pid);

typedef void process_tree_empty_fn(void *userdata);

int process_tree_new(struct process_forest *f, uint64_t token, const char *unit,
		     const uint8_t run_id[16], process_tree_empty_fn *empty, void *userdata,
		     struct process_tree **ret);
/* Whatever is left in it goes on, unwatched. */
struct process_tree *process_tree_free(struct process_tree *t);

/* A process is about to be started in it. The directory of its cgroup; lent, -1: it has none. */
int process_tree_enter(struct process_tree *t);
/* Has the cgroup been killed? Since Linux 6.14 (and 6.1.129, 6.6.78, 6.12.14 …) a process that is
 * cloned right into it afterwards dies at birth, as if it were late; one that enters it by itself
 * lives. */
bool process_tree_must_be_joined(const struct process_tree *t);
/* A process of ours was started, which leads a session of its own. */
void process_tree_add(struct process_tree *t, pid_t pid);
/* To every process but @spare (0: none). Where what it takes to find them lacks (descriptors,
 * memory), soon. */
int process_tree_signal(struct process_tree *t, int signal, pid_t spare);
/* False, too, where that would take long to find out. */
bool process_tree_is_known_empty(struct process_tree *t);
/* empty() is called from the loop, once, as soon as no process is left. */
int process_tree_watch(struct process_tree *t);

#endif
