/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_NUMA_H
#define SUPD_RUN_NUMA_H

/* Which CPUs the nodes of this machine have, as the kernel tells it. */

struct arena;
struct exec_mask;

/* In @arena. 0; -ENOMEM; or another negative errno: -ENOENT where there is no such node. */
int numa_cpus(const struct exec_mask *nodes, struct arena *arena, struct exec_mask *ret);

#endif
