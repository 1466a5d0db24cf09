/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_TURNS_H
#define SUPD_CORE_TURNS_H

/* Inside core/: units with dependencies start and stop by jobs, which wait for their turn.
 * core/transaction.h says which; here is when.
 *
 * A unit's start waits while anything that it comes after is coming up (waits itself, runs, is to
 * be restarted) or going down, while anything that comes after it is going down, and while anything
 * that it conflicts with is active. Its stop waits while anything that comes after it is going
 * down. Whenever a unit has come so far, those around it are looked at. The order has no circle
 * (core/graph.h), and stops wait for no start, so each gets its turn.
 *
 * A start that waits counts as active, and as coming. When what it requires fails, it fails,
 * without having begun, as RUN_RESULT_DEPENDENCY: then nothing waits any more. Units without
 * dependencies know nothing of all this. */

#include "core/manager_private.h"
#include "core/transaction.h"

struct unit_job {
	enum job_kind kind;
	struct run *run; /* JOB_START: what begins then */
};

/* @u has a node, and is down. Its run begins, or waits, or has failed already. */
enum manager_verdict turns_start(struct manager *m, const struct supd_now *now, struct unit *u,
				const struct supd_cause *cause);
/* Stops @u and whatever goes with it. */
void turns_stop(struct manager *m, const struct supd_now *now, struct unit *u);
/* Those that are restarted with @u are to be, each after its stop; and all of them stop. */
void turns_restart(struct manager *m, const struct supd_now *now, struct unit *u);
/* All that waits to start is given up; all that is active is stopped, last things first. */
void turns_shutdown(struct manager *m, const struct supd_now *now);

/* @u's run has ended for good, without success: those that wait and require it fail. */
void turns_failed(struct manager *m, const struct supd_now *now, struct unit *u);
/* @u has become inactive: what follows of OnSuccess=, OnFailure= and BindsTo=. @ended: its run with
 * it. */
void turns_at_rest(struct manager *m, const struct supd_now *now, struct unit *u, bool ended);
/* Something about @n's unit has changed: may others take their turn? */
void turns_look_around(struct manager *m, const struct supd_now *now, struct graph_node *n);
/* The same for all that waits. */
void turns_look(struct manager *m, const struct supd_now *now);
/* Does the job of @n wait for what is at the other end of its edge @e? */
bool turns_is_held_up(const struct graph_node *n, const struct graph_edge *e);
/* At the end of the manager. */
void turns_done(struct manager *m);
/* The start-up waits for @u no more, nor for those that wait for it. */
void turns_await_no_more(struct manager *m, struct unit *u);

/* ordering.c */
/* The graph, made anew; units in a circle become invalid, with a problem that names it. 0 or
 * -ENOMEM. */
int ordering_build(struct manager *m);
/* The same, if a unit was loaded since. */
void ordering_settle(struct manager *m);
/* While a reload is prepared: circles that the units as they will be make go to m->mistakes. 0 or
 * -ENOMEM. */
int ordering_judge(struct manager *m);

#endif
