/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_CGROUP_LIMITS_H
#define SUPD_SERVICE_CGROUP_LIMITS_H

/* What all processes of a service get together: systemd.resource-control(5), as far as the
 * controllers memory, pids, cpu, cpuset and io of cgroup v2 do it. Few services say anything of
 * this, so it lies beside their spec. */

#include <stdbool.h>
#include <stdint.h>

#include "base/keys.h"
#include "base/usec.h"
#include "service/exec_limits.h"

#define CGROUP_INFINITY UINT64_MAX
#define CGROUP_WEIGHT_IDLE 0 /* of CPUWeight=idle */
#define CGROUP_PERIOD_DEFAULT (100 * USEC_PER_MSEC)

enum cgroup_limit {
	CGROUP_MEMORY_MAX,
	CGROUP_MEMORY_HIGH,
	CGROUP_MEMORY_LOW,
	CGROUP_MEMORY_MIN,
	CGROUP_MEMORY_SWAP_MAX,
	CGROUP_MEMORY_ZSWAP_MAX,
	CGROUP_TASKS_MAX,
	CGROUP_CPU_QUOTA, /* always relative: to the time of one CPU */
	CGROUP_CPU_WEIGHT,
	CGROUP_IO_WEIGHT,
	/* Of the CPUs and memory nodes that there are, these. */
	CGROUP_CPUS,
	CGROUP_NODES,
	/* Each of one device. */
	CGROUP_IO_READ_BANDWIDTH,
	CGROUP_IO_WRITE_BANDWIDTH,
	CGROUP_IO_READ_IOPS,
	CGROUP_IO_WRITE_IOPS,
	CGROUP_IO_DEVICE_WEIGHT,
	CGROUP_IO_LATENCY,
};
#define CGROUP_LIMIT_COUNT (CGROUP_IO_LATENCY + 1)
/* The first so many are one amount. */
#define CGROUP_AMOUNT_COUNT (CGROUP_IO_WEIGHT + 1)

/* What it means that the kernel killed a process of the service for the memory it used. */
enum cgroup_oom_policy {
	CGROUP_OOM_STOP,     /* the run has failed */
	CGROUP_OOM_CONTINUE, /* nothing */
	CGROUP_OOM_KILL,     /* it kills all of them, and the run has failed */
};

struct cgroup_amount {
	bool is_set;
	bool is_relative; /* value: hundredths of a percent, of what the machine has */
	uint64_t value;
};

struct cgroup_device {
	enum cgroup_limit limit; /* from CGROUP_IO_READ_BANDWIDTH on */
	const char *path;        /* a block device, or a file on one */
	uint64_t value;          /* bytes a second, operations a second, weight, µs */
};

struct cgroup_limits {
	struct cgroup_amount limit[CGROUP_AMOUNT_COUNT];
	struct exec_mask cpus, nodes; /* empty: not set */
	struct cgroup_device *device;
	size_t n_devices;
	usec_t cpu_period;
	enum cgroup_oom_policy oom_policy;
};

/* Is anything of this kind asked for? */
bool cgroup_limits_has(const struct cgroup_limits *l, enum cgroup_limit limit);
/* "MemoryMax" … */
const char *cgroup_limit_key(enum cgroup_limit limit);
/* "memory", the controller that does it. */
const char *cgroup_limit_controller(enum cgroup_limit limit);
/* "memory.max", its file. */
const char *cgroup_limit_file(enum cgroup_limit limit);
/* What is to be written to that file, of an amount. @whole: what relative amounts are relative to,
 * in bytes or tasks. */
void cgroup_limit_text(const struct cgroup_limits *l, enum cgroup_limit limit, uint64_t whole,
		       char buf[64]);

/* The same of one for a device, "8:0 rbps=1000". */
void cgroup_device_text(const struct cgroup_device *d, unsigned major, unsigned minor,
			char buf[64]);
/* The same of CPUs or nodes, "0-3,8". Gives; NULL: no memory. */
char *cgroup_mask_text(const struct exec_mask *mask);

/* Parsers; row->parameter is the limit. */
int cgroup_limits_parse_memory(const struct key_context *c);
int cgroup_limits_parse_tasks(const struct key_context *c);
int cgroup_limits_parse_quota(const struct key_context *c);
int cgroup_limits_parse_period(const struct key_context *c);
int cgroup_limits_parse_weight(const struct key_context *c);
int cgroup_limits_parse_mask(const struct key_context *c);
int cgroup_limits_parse_device(const struct key_context *c);
int cgroup_limits_parse_oom_policy(const struct key_context *c);

#endif
