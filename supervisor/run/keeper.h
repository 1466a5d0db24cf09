/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_KEEPER_H
#define SUPD_RUN_KEEPER_H

/* Keeps what services print: lines go into a queue at once and to the disk (store/run_log) by a
 * thread of its own, so that no disk ever holds up the loop. The queue is bounded: where the disk
 * is slower than a service prints, the oldest of that service's lines that are still queued are
 * dropped; their numbers tell readers how many. The last ones stay. */

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "run/worker.h"
#include "store/run_log.h"
#include "store/run_log_record.h"

struct keeper;
struct keeper_run;

/* Of one run, and of all together: bytes that wait for the disk. */
#define KEEPER_RUN_MAX ((size_t) 1024 * 1024)
#define KEEPER_ALL_MAX ((size_t) 16 * 1024 * 1024)

struct keeper_listener {
	void *userdata;
	/* There is more to read of this unit. From the loop. */
	void (*written)(void *userdata, const char *unit);
};

/* @state_dir: lent. */
int keeper_new(sd_event *event, int64_t priority, int state_dir,
	       const struct run_log_limits *limits, struct keeper **ret);
/* What is queued is written first. All runs must have been given back. */
struct keeper *keeper_free(struct keeper *k);
void keeper_listen(struct keeper *k, const struct keeper_listener *listener);

/* A run, whose records are counted from here on. @identifier: "" or NULL for none. NULL when memory
 * ran out: nothing is kept of it then. */
struct keeper_run *keeper_run_new(struct keeper *k, const char *unit, const uint8_t run_id[16],
				  const char *identifier);
struct keeper_run *keeper_run_ref(struct keeper_run *r);   /* NULL is fine */
struct keeper_run *keeper_run_unref(struct keeper_run *r); /* NULL is fine */

/* One line or part of one: time, stream, flags, level, text and n of @line count. Copies. NULL:
 * nothing. */
void keeper_put(struct keeper_run *r, const struct run_log_record *line);

/* The last lines that were put, whole ones: at most KEEPER_TAIL_MAX bytes. NULL: none, or no
 * memory. Gives. */
#define KEEPER_TAIL_MAX ((size_t) 2048)
char *keeper_run_tail(const struct keeper_run *r, size_t *ret_n);

/* A job for the thread, behind all that has been put before. It may read with keeper_dir(). */
void keeper_submit(struct keeper *k, struct worker_job *job);
/* The directory of logs, lent; for jobs. */
int keeper_dir(const struct keeper *k);

#endif
