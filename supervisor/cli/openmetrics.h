/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_OPENMETRICS_H
#define SUPD_CLI_OPENMETRICS_H

/* Statistics as OpenMetrics text, version 1.0: counters of all that ever was, summaries of
 * durations and lateness, gauges of the timers and of the daemon. A family's samples stand
 * together, so rows are gathered first. */

#include <stdio.h>

#include "base/arena.h"
#include "supd-plugin.h"

struct cli;

/* All zero is empty. */
struct openmetrics {
	struct arena arena;
	struct openmetrics_row *row;
	size_t n;
};

void openmetrics_done(struct openmetrics *m);
/* A row of GetStatistics; copies. 0 or -ENOMEM. */
int openmetrics_add(struct openmetrics *m, const struct supd_row *row);
/* With what the daemon says now, if one answers. CONTROL_OK, or the exit status, told. */
int openmetrics_print(struct cli *c, const struct openmetrics *m, FILE *f);

#endif
