/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_EXEC_LIMITS_H
#define SUPD_SERVICE_EXEC_LIMITS_H

/* What a process is given and denied besides its identity: systemd.exec(5), "PROCESS PROPERTIES"
 * and "SCHEDULING". Few services say anything of this, so it lies beside their spec. All zero says
 * nothing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exec_rlimit {
	int resource;        /* RLIMIT_… */
	uint64_t soft, hard; /* RLIM_INFINITY: none */
};

/* Bits as sched_setaffinity(2) and set_mempolicy(2) take them. */
struct exec_mask {
	unsigned long *word;
	size_t n_words;
};

struct exec_limits {
	struct exec_rlimit *rlimit;
	size_t n_rlimits;
	struct exec_mask cpus;       /* empty: not set */
	struct exec_mask numa_nodes;
	uint64_t timer_slack;        /* nanoseconds */
	unsigned long personality;   /* PER_… of personality(2) */
	int numa_policy;             /* MPOL_… */
	int oom_score_adjust;
	uint32_t coredump_filter;    /* core(5) */
	int io_class, io_priority;   /* ioprio_set(2) */
	int scheduler;               /* SCHED_… */
	int scheduler_priority;      /* counts for SCHED_FIFO and SCHED_RR alone */
	bool scheduler_reset_on_fork;
	bool all_numa_nodes;         /* instead of numa_nodes */
	bool cpus_of_nodes;          /* instead of cpus: those of these nodes */
	bool has_timer_slack, has_personality, has_numa_policy, has_oom_score_adjust,
		has_coredump_filter, has_io, has_scheduler;
};

#endif
