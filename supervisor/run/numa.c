/* SPDX-License-Identifier: MIT */
#include "run/numa.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "service/exec_limits.h"

#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)
/* More than any kernel's NR_CPUS. */
#define CPUS_MAX 8192

static void end_file(FILE **f)
{
	if (*f)
		(void) fclose(*f);
}

/* "0-3,8" */
static int add_cpus(size_t node, struct exec_mask *cpus)
{
	_cleanup_(end_file) FILE *f = NULL;
	unsigned first, last;
	char path[64];
	int c;

	(void) snprintf(path, sizeof(path), "/sys/devices/system/node/node%zu/cpulist", node);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fscanf(f, "%u", &first) == 1) {
		last = first;
		c = fgetc(f);
		if (c == '-' && fscanf(f, "%u", &last) == 1)
			c = fgetc(f);
		for (; first <= last && first < CPUS_MAX; first++)
			cpus->word[first / WORD_BITS] |= 1UL << first % WORD_BITS;
		if (c != ',')
			break;
	}
	return 0;
}

int numa_cpus(const struct exec_mask *nodes, struct arena *arena, struct exec_mask *ret)
{
	struct exec_mask cpus = { .n_words = CPUS_MAX / WORD_BITS };
	int r = 0;

	cpus.word = arena_alloc(arena, cpus.n_words * sizeof(*cpus.word));
	if (!cpus.word)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < nodes->n_words * WORD_BITS; i++)
		if (nodes->word[i / WORD_BITS] >> i % WORD_BITS & 1)
			r = add_cpus(i, &cpus);
	if (r >= 0)
		*ret = cpus;
	return r;
}
