/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_JOBS_H
#define SUPD_SUPD_JOBS_H

/* Starting and stopping on request, and who waits for what comes of it. */

#include <stdbool.h>

struct control_request;
struct supd_control;
struct supd_row;
struct unit;
struct waiter;

/* All zero: nobody waits. */
struct jobs {
	struct waiter *waiter;
};

void jobs_done(struct jobs *r);

void jobs_start(struct supd_control *c, const struct control_request *q);
void jobs_stop(struct supd_control *c, const struct control_request *q);
void jobs_restart(struct supd_control *c, const struct control_request *q);
void jobs_trigger(struct supd_control *c, const struct control_request *q);
void jobs_reset(struct supd_control *c, const struct control_request *q);
void jobs_skip(struct supd_control *c, const struct control_request *q);

/* What the manager's observer hears. */
void jobs_started(struct supd_control *c, const struct unit *u);
void jobs_settled(struct supd_control *c, const struct unit *u, bool run_ended);
void jobs_event(struct supd_control *c, const char *type, const char *unit,
		const struct supd_row *fields);
/* Timers may have been turned off, or taken away: who waits for a timer's run that has not begun is
 * told. */
void jobs_timers_changed(struct supd_control *c);

#endif
