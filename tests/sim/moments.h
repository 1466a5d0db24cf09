/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SIM_MOMENTS_H
#define SUPD_SIM_MOMENTS_H

/* The handful of calendar expressions that the simulation uses, read a second time: day by day and minute by
 * minute, from the words of DESIGN.md 6.3 alone. Shares no code with timer/. */

#include <stddef.h>

#include "base/usec.h"

enum sim_zone { SIM_UTC, SIM_BERLIN, SIM_NEW_YORK };
#define SIM_ZONE_COUNT (SIM_NEW_YORK + 1)

struct sim_expression {
	const char *text;
	/* of the local day: a matching weekday (bit 0 Monday), day of month (0: any), minute; period: in minutes, on
	 * real time */
	unsigned weekdays, day, minute, period;
};
extern const struct sim_expression sim_expressions[];
#define SIM_EXPRESSION_COUNT 8

const char *sim_zone_rule(enum sim_zone z); /* as in TZ= */
/* Seconds east of Greenwich at this second since the epoch. */
int sim_zone_offset(enum sim_zone z, int64_t second);

/* The first moment strictly after @after. */
usec_t moment_next(const struct sim_expression *e, enum sim_zone z, usec_t after);
/* The last moment at or before @until; 0: none since 1970. */
usec_t moment_last(const struct sim_expression *e, enum sim_zone z, usec_t until);

#endif
