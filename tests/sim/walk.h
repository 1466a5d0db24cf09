/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SIM_WALK_H
#define SUPD_SIM_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct walk_counts {
	uint64_t events, crashes, boots, jumps, reloads, runs, missed, days;
};

/* @steps random acts upon a simulated machine, each event judged by the book; aborts with the seed. */
void walk(uint64_t seed, uint64_t steps, bool verbose, struct walk_counts *ret);

#endif
