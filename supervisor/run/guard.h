/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_GUARD_H
#define SUPD_RUN_GUARD_H

/* Who ends the services of a daemon that was killed: a small process beside it that sleeps on a
 * socket. If the other end closes without a word of farewell, it kills what still runs, as far as
 * the daemon had told it, and goes. So nothing goes on unsupervised, and nothing runs twice when a
 * new daemon starts. PID 1 needs none. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct guard;

/* Forks: to be called while there is one thread. @title: the memory of our arguments, which the
 * guard overwrites with words of its own for ps(1); or NULL. */
int guard_new(char *title, size_t title_size, struct guard **ret);
/* Says farewell, and waits for it to go. */
struct guard *guard_free(struct guard *g);

/* All of the daemon's runs are below this cgroup. */
void guard_watch_cgroup(struct guard *g, const char *path);
/* Where there is none: a run, before its first process; then each of its sessions (@session 0: none
 * yet); its end. */
void guard_watch_run(struct guard *g, uint64_t token, pid_t session, const uint8_t run_id[16]);
void guard_forget_run(struct guard *g, uint64_t token);

#endif
