/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_HISTORY_H
#define SUPD_SUPD_HISTORY_H

/* The daemon's history: what the manager's observer hears is written down, and who asks gets it
 * told. */

#include <stdbool.h>
#include <systemd/sd-event.h>

struct control_request;
struct history_keeper;
struct places;
struct settings;
struct supd_control;
struct supd_row;
struct unit;

/* *ret is NULL where there is to be none: History=no, or nothing can be kept. 0 or a negative
 * errno. */
int supd_history_open(sd_event *event, const struct settings *settings, const struct places *places,
		      struct history_keeper **ret);

/* ListHistory and GetStatistics. */
void history_ask(struct supd_control *c, const struct control_request *q);

/* What the manager's observer hears; @k may be NULL. */
void supd_history_run(struct history_keeper *k, const struct unit *u);
void supd_history_event(struct history_keeper *k, const char *type, const char *unit,
			const struct supd_row *fields);

#endif
