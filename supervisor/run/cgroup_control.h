/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CGROUP_CONTROL_H
#define SUPD_RUN_CGROUP_CONTROL_H

/* MemoryMax= and its like: limits on a run's cgroup, where its controllers can be had.
 *
 * A controller works in a cgroup if it is enabled in all above it, and cgroup v2 enables the usual
 * ones only where no process lives (the root of all apart). So the first limit moves the daemon,
 * with what it keeps running beside the services, from its own cgroup into a leaf,
 * supd-PID-…/daemon, if nobody else lives there; who else does is not moved. */

#include <stdint.h>

#include "service/cgroup_limits.h"

/* @r: why this limit is not applied, a negative errno; -ENODEV: the device that it is about is
 * none. */
typedef void cgroup_problem_fn(void *userdata, enum cgroup_limit limit, int r);

/* Sets what is set in @l on the cgroup of a run, its directory @run below that of the daemon.
 * Whatever does not work is told; the rest is done all the same. May block: for a worker's
 * thread. */
void cgroup_control_apply(int run, const struct cgroup_limits *l, cgroup_problem_fn *tell,
			  void *userdata);
/* Makes @controller work in the cgroup @run. -ENOENT: it is not to be had; -EBUSY: others live
 * beside the daemon. */
int cgroup_control_enable(int run, const char *controller);
/* At the end: from the leaf of @home back to where it was, so that the folder can be removed. */
void cgroup_control_leave(int home);

struct cgroup_usage {
	uint64_t peak;        /* the most memory that all had together, in bytes; 0: not known */
	uint64_t n_oom_kills; /* processes that the kernel killed for it */
};

/* Of a run, so far; as far as its controllers tell. */
struct cgroup_usage cgroup_control_usage(int run);

#endif
