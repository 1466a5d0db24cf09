/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CLOCK_WATCH_H
#define SUPD_RUN_CLOCK_WATCH_H

/* Tells when somebody sets the real-time clock, or the machine wakes from suspend: a timer that the
 * kernel cancels then. What is told is by how much real time has moved against boot time since it
 * was told last. */

#include <stdint.h>
#include <systemd/sd-event.h>

struct clock_watch;

typedef void clock_watch_fn(void *userdata, int64_t delta);

int clock_watch_new(sd_event *event, int64_t priority, clock_watch_fn *fn, void *userdata,
		    struct clock_watch **ret);
struct clock_watch *clock_watch_free(struct clock_watch *w);
/* Waits up to @timeout ms for a jump that the kernel is just about to report, and tells it: for a
 * real-time alarm that came late and may be the jump's doing. */
void clock_watch_check(struct clock_watch *w, int timeout);

#endif
