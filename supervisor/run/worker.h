/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_WORKER_H
#define SUPD_RUN_WORKER_H

/* Work beside the loop: what may block (a disk, a name service, an exec from a slow file system) is
 * done by a few threads; that it is done is told from the loop. Jobs begin in the order in which
 * they were submitted. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct worker;

/* Embedded in what the work is about. */
struct worker_job {
	/* in a thread: touches the job alone, and never logs */
	void (*work)(struct worker_job *job);
	void (*done)(struct worker_job *job); /* in the loop; may free the job */
	/* instead of done(), by worker_free(); work() may not have been called */
	void (*drop)(struct worker_job *job);
	struct worker_job *next;
};

/* The first thread is made here, the others when there is work for them. */
int worker_new(sd_event *event, int64_t priority, unsigned max_threads, struct worker **ret);
/* Waits for what has been begun; the rest is dropped. */
struct worker *worker_free(struct worker *w);

/* For work that may hang for ever: waits at most @ms for what has been begun, and if that is not
 * enough leaves threads and memory to the end of the process. True: all is freed. */
bool worker_free_within(struct worker *w, unsigned ms);

/* Takes @job until done() or drop(). */
void worker_submit(struct worker *w, struct worker_job *job);
/* Returns when nothing is queued or at work. What is done then is still told from the loop. */
void worker_wait(struct worker *w);

#endif
