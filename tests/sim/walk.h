/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SIM_WALK_H
#define SUPD_SIM_WALK_H

#include <stdbool.h>
#include <stdint.h>

/* What happened, and how often. */
enum walk_count {
	WALK_EVENTS,
	/* timers */
	WALK_RUNS, WALK_CATCH_UPS, WALK_RETRIES, WALK_INTERRUPTED, WALK_OVERLAPS, WALK_MISSED, WALK_SKIPPED,
	/* services */
	WALK_SUCCEEDED, WALK_FAILED, WALK_KILLED, WALK_HUNG, WALK_NOT_EXECUTED, WALK_CONDITIONS,
	/* machines */
	WALK_CRASHES, WALK_CRASHES_MIDWAY, WALK_SHUTDOWNS, WALK_RESTARTS, WALK_REBOOTS, WALK_MONTHS_OFF, WALK_BOOTS_1970,
	WALK_SUSPENDS,
	/* disks */
	WALK_WRITES_NOT_TOLD, WALK_WRITES_TORN, WALK_WRITES_BOTH_NAMES, WALK_WRITES_LOST, WALK_LINES_CUT, WALK_LINES_LOST,
	WALK_WRITES_FAILED,
	WALK_HELD,
	WALK_HELD_CANCELLED,
	/* clocks */
	WALK_JUMPS_FORWARD, WALK_JUMPS_BACK, WALK_CLOCK_STEPS, WALK_ZONE_CHANGES,
	/* admins */
	WALK_RELOADS, WALK_RELOADS_REFUSED, WALK_PAUSES, WALK_GATES_CLOSED, WALK_STARTS, WALK_STOPS, WALK_TRIGGERS,
	WALK_RESETS, WALK_SKIPS,
};
#define WALK_COUNT (WALK_SKIPS + 1)

struct walk_counts {
	uint64_t n[WALK_COUNT];
};

const char *walk_count_to_string(enum walk_count c);

/* @steps random acts upon a simulated machine, each event judged by the book; aborts with the seed. */
void walk(uint64_t seed, uint64_t steps, bool verbose, struct walk_counts *ret);

#endif
