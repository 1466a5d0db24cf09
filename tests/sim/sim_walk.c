/* SPDX-License-Identifier: MIT */
/* make sim: walks until STEPS= are done, from SEED= on, each of WALK= steps, and tells what they met. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/walk.h"

#define WALK 2000
#define STEPS (960 * WALK)
/* In so many steps everything happens that can happen. */
#define STEPS_FOR_ALL (100 * WALK)

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

/* Returns how many things never happened. */
static int tell(const struct walk_counts *counts, uint64_t steps)
{
	int n_none = 0;

	for (unsigned i = 0; i < WALK_COUNT; i++) {
		printf("%12llu %s\n", (unsigned long long) counts->n[i], walk_count_to_string((enum walk_count) i));
		n_none += counts->n[i] == 0;
	}
	printf("%12llu steps\n", (unsigned long long) steps);
	return n_none;
}

int main(void)
{
	uint64_t seed = setting("SEED", 1), steps = setting("STEPS", STEPS), length = setting("WALK", WALK), done = 0;
	struct walk_counts counts = { 0 };

	for (; done < steps; seed++) {
		uint64_t n = steps - done < length ? steps - done : length;

		if (getenv("SHOW"))
			fprintf(stderr, "# SEED=%llu\n", (unsigned long long) seed);
		walk(seed, n, getenv("SIM_VERBOSE") != NULL, &counts);
		done += n;
	}
	if (tell(&counts, done) > 0 && done >= STEPS_FOR_ALL) {
		fprintf(stderr, "sim_walk: the walk never met some of these\n");
		return 1;
	}
	return 0;
}
