/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CLONE_INTO_H
#define SUPD_RUN_CLONE_INTO_H

/* A process that is in its cgroup from its first moment: clone3(2) with CLONE_INTO_CGROUP, since
 * Linux 5.7. To move one there afterwards, through cgroup.procs, has the kernel wait for all
 * processors to come to rest: some 10 to 30 ms. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls @fn(@userdata), which must not return, on @stack in the child; the rest as clone(2). -1 and
 * errno: there is no child, and the caller may go the longer way; ENOSYS, among others, where the
 * kernel or a container's filter does not know the call, or this code not the processor. */
pid_t clone_into_cgroup(int cgroup, int (*fn)(void *userdata), void *userdata, void *stack,
			size_t stack_size, uint64_t flags, pid_t *child_tid, int *pidfd);

#endif
