/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_REAPER_H
#define SUPD_RUN_REAPER_H

/* Dead children, ours and adopted. Nothing here waits for "any child": each dead one is looked at
 * without being reaped, and then reaped by its pid, ours with status and use told, orphans (we are
 * PID 1 or a subreaper) silently. As every zombie seen is reaped at once, none can stand in the way
 * of the next. */

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct reaper;

/* One of ours; embedded in what it belongs to. Watched before it is started, so that it cannot be
 * taken for an orphan; pid and pidfd may be written by another thread meanwhile. */
struct child {
	pid_t pid;  /* 0: not started */
	int pidfd;  /* -1: not started; the owner closes it */
	bool has_ended;
	int wstatus;
	struct rusage usage;
	struct child *prev, *next;
};

struct reaper_listener {
	void *userdata;
	void (*child)(void *userdata, struct child *c); /* has ended, and is not watched any more */
	void (*orphan)(void *userdata);                 /* one was reaped; may be NULL */
	/* one is about to be, and still has its number; may be NULL */
	void (*dead)(void *userdata);
};

/* SIGCHLD must be blocked in all threads. @listener is copied. */
int reaper_new(sd_event *event, int64_t priority, const struct reaper_listener *listener,
	       struct reaper **ret);
struct reaper *reaper_free(struct reaper *r);

void reaper_watch(struct reaper *r, struct child *c);
/* Nothing is told of it any more; if it runs, it is an orphan from now on. */
void reaper_forget(struct reaper *r, struct child *c);
/* Waits for one that is about to exit; it is not watched any more. */
void reaper_collect(struct reaper *r, struct child *c);
/* Sends through the pidfd. -ESRCH: not started, or has ended. */
int child_kill(const struct child *c, int signal);
bool child_is_alive(const struct child *c);

#endif
