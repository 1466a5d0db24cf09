/* SPDX-License-Identifier: MIT */
/* make sim: walks until STEPS= are done, from SEED= on; without them, from the seeds that are known to agree. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/walk.h"

#define STEPS_A_WALK 2000
#define SEEDS 60

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

int main(void)
{
	uint64_t seed = setting("SEED", 1), steps = setting("STEPS", SEEDS * STEPS_A_WALK), done = 0;
	struct walk_counts counts = { 0 };

	for (; done < steps; seed++) {
		uint64_t n = steps - done < STEPS_A_WALK ? steps - done : STEPS_A_WALK;

		if (getenv("SHOW"))
			fprintf(stderr, "# SEED=%llu\n", (unsigned long long) seed);
		walk(seed, n, getenv("SIM_VERBOSE") != NULL, &counts);
		done += n;
	}
	printf("%llu steps: %llu events, %llu runs, %llu moments missed, %llu crashes, %llu boots, %llu clock jumps, "
	       "%llu reloads\n",
	       (unsigned long long) done, (unsigned long long) counts.events, (unsigned long long) counts.runs,
	       (unsigned long long) counts.missed, (unsigned long long) counts.crashes,
	       (unsigned long long) counts.boots, (unsigned long long) counts.jumps,
	       (unsigned long long) counts.reloads);
	return 0;
}
