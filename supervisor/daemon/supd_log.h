/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_LOG_H
#define SUPD_SUPD_LOG_H

/* What the daemon says of units, for people. */

#include <stdbool.h>

struct diag;
struct manager;
struct unit;

void supd_log_started(const struct unit *u);
/* The end of its run, or of what remained after it. */
void supd_log_settled(const struct unit *u, bool run_ended);

/* Mistakes and warnings, each with its place; what is merely not applied is for those who ask. */
void supd_log_problems(const char *unit, const struct diag *d);
/* Those of all services, and how many there are. */
void supd_log_units(struct manager *m);

#endif
