/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_ADMISSION_H
#define SUPD_RUN_ADMISSION_H

/* The line before a start: who asks for a process waits here until there is room for one, in the
 * order of asking. What may lack is room among those that are being started, and what only others
 * can give back: descriptors, processes, memory. The latter is tried again as soon as something of
 * ours was given back, and now and then.
 *
 * Commands of a run that has begun go before runs that have not: they bring it to its end, and so
 * give back what it holds. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/usec.h"

struct admission;

/* Embedded in what waits. */
struct admission_wait {
	struct admission_wait *prev, *next;
	bool is_waiting, goes_first;
	uint64_t ticket; /* in the order of asking */
	usec_t since;    /* boot time: its first attempt; 0: there was none */
};

enum admission_verdict {
	ADMISSION_DONE, /* it has what it asked for, or was told that it will not get it */
	ADMISSION_FULL, /* there is no room; admission_look() when there is */
	ADMISSION_LACK, /* of what may come back by itself */
};
/* May it begin? It has left the line already, and is put back where it was unless it is done. */
typedef enum admission_verdict admission_fn(void *userdata, struct admission_wait *w);

int admission_new(sd_event *event, int64_t priority, admission_fn *fn, void *userdata,
		  struct admission **ret);
struct admission *admission_free(struct admission *a);
/* Is asked from the loop, never from inside. @goes_first: see above. */
void admission_join(struct admission *a, struct admission_wait *w, bool goes_first);
/* It was done, and only then it turned out that something lacks: to its old place. */
void admission_put_back(struct admission *a, struct admission_wait *w);
/* Before all others, in the next turn: it will not take anything. */
void admission_hurry(struct admission *a, struct admission_wait *w);
/* Since its first attempt, µs. */
usec_t admission_waited(const struct admission *a, const struct admission_wait *w);
void admission_leave(struct admission *a, struct admission_wait *w);
/* There may be room now. */
void admission_look(struct admission *a);
bool admission_is_empty(const struct admission *a);

#endif
