/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_CONTROL_H
#define SUPD_SUPD_CONTROL_H

/* Answers what is asked over the socket, with the manager. supd_units says what units there are and
 * how they go, supd_jobs starts and stops them and remembers who waits for that. */

#include "control/api.h"
#include "core/manager.h"
#include "daemon/supd_events.h"
#include "daemon/supd_jobs.h"
#include "daemon/supd_logs.h"
#include "daemon/supd_reload.h"
#include "world.h"

struct keeper;
struct sd_event;

struct supd_control {
	struct manager *manager;
	const struct world *world;
	struct world_linux *outside;
	struct transients *transients;
	struct control_server *server;
	struct history_keeper *history; /* NULL: none is kept */
	struct supd_now (*now)(void *userdata);
	void *userdata;
	struct supd_now started; /* the daemon */
	struct jobs jobs;
	struct reloads reloads;
	struct keeper *keeper;  /* of what services print; NULL: nothing is kept */
	struct sd_event *event;
	struct logs logs;
	struct events events;
};

/* A control_ask_fn; @userdata is a struct supd_control. */
void supd_control_ask(void *userdata, const struct control_request *request);

/* ---- for supd_units and supd_jobs ---- */

/* Sends what was reported, if memory sufficed for it. */
struct report;
void supd_control_row(struct supd_control *c, uint64_t id, const struct report *r);
/* Ends an answer with the sentence for a verdict. */
void supd_control_refuse(struct supd_control *c, uint64_t id, const char *unit,
			 enum manager_verdict v);
void supd_control_no_unit(struct supd_control *c, uint64_t id, const char *unit);
/* The gate is closed, or the manager not running: says so and ends the answer. False: go on. */
bool supd_control_no_timers(struct supd_control *c, uint64_t id);

#endif
