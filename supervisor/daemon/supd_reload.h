/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_RELOAD_H
#define SUPD_SUPD_RELOAD_H

/* The verbs that end with a reload: reload itself; enable and disable, mask and unmask, of which
 * what they write counts at once. They are done one after the other, in the order in which they
 * were asked for: first what is to be written; then the unit directories are looked at, beside the
 * loop, which has time for everybody else meanwhile; then what has changed is read, judged and
 * applied. Reloads that are waiting when one begins have it in common. */

#include <stdbool.h>

struct control_request;
struct reload_task;
struct supd_control;

/* All zero: nothing is asked for. */
struct reloads {
	struct reload_task *first;
	bool is_looking; /* for the first */
};

void reloads_done(struct reloads *r); /* nobody is answered any more */

void reloads_ask(struct supd_control *c, const struct control_request *q);
/* For SIGHUP: what came of it is said in the log alone. */
void reloads_hup(struct supd_control *c);

#endif
