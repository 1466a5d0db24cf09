/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_PROCESS_H
#define SUPD_RUN_PROCESS_H

/* What /proc says about processes, and signals that cannot hit a stranger. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid, parent, session;
	bool is_dead;     /* a zombie */
	uint64_t started; /* in ticks since boot; with the pid it names a process */
};

/* All that can be seen, in the order of /proc. Gives an array. */
int process_list(struct process **ret, size_t *ret_n);
int process_read(pid_t pid, struct process *ret);
/* Was it executed with this "NAME=value" in its environment? False, too, if that may not be
 * read. */
/* The assignment of @name in it; gives. -ENXIO: there is none. */
int process_get_environment(pid_t pid, const char *name, char **ret);
bool process_has_environment(pid_t pid, const char *assignment);
/* A whole small file of /proc or /sys as text; gives. @dir_fd: openat(2)'s. */
int process_read_text(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_n);

/* Is the process behind this pid still the one that was meant? */
typedef bool process_check_fn(const void *userdata, pid_t pid);
/* Opens a pidfd, asks @check, and only then sends. 0, -ESRCH: is another or none, or a negative
 * errno. */
int process_signal(pid_t pid, int signal, process_check_fn *check, const void *userdata);

#endif
