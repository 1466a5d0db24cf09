/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_LOG_H
#define SUPD_SUPD_LOG_H

/* What the daemon says of units, in the log and as events. */

#include <stdbool.h>

struct diag;
struct manager;
struct supd_control;
struct unit;

void supd_log_started(struct supd_control *c, const struct unit *u);
/* The end of its run, or of what remained after it. */
void supd_log_settled(struct supd_control *c, const struct unit *u, bool run_ended);

/* Mistakes and warnings, each with its place; what is merely not applied is for those who ask. */
void supd_log_problems(const char *unit, const struct diag *d);
/* Those of all services, and how many there are. */
void supd_log_units(struct manager *m);

#endif
