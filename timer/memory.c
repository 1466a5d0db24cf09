/* SPDX-License-Identifier: MIT */
#include "timer/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const miss_words[] = {
	[MISS_NONE] = "none",
	[MISS_OVERLAP] = "overlap",
	[MISS_DOWNTIME] = "downtime",
	[MISS_INTERRUPTED] = "interrupted",
	[MISS_LATE] = "late",
	[MISS_CLOCK_JUMP] = "clock-jump",
	[MISS_DISABLED] = "disabled",
	[MISS_MASKED] = "masked",
	[MISS_TARGET] = "target",
	[MISS_SHUTDOWN] = "shutdown",
	[MISS_RESOURCES] = "resources",
};
_Static_assert(ELEMENTS(miss_words) == MISS_REASON_COUNT, "a word for each reason");

const char *miss_reason_to_string(enum miss_reason r)
{
	return miss_words[r];
}

bool miss_reason_from_string(const char *s, enum miss_reason *ret)
{
	for (unsigned i = 0; i < MISS_REASON_COUNT; i++)
		if (str_equal(miss_words[i], s)) {
			*ret = (enum miss_reason) i;
			return true;
		}
	return false;
}

/* ---- what it owns ---- */

void memory_done(struct timer_memory *m)
{
	free(m->spent);
	*m = (struct timer_memory) { 0 };
}

struct timer_memory memory_take(struct timer_memory *m)
{
	struct timer_memory taken = *m;

	m->spent = NULL;
	m->n_spent = 0;
	return taken;
}

static bool make_room(struct timer_memory *m)
{
	if (!m->spent)
		m->spent = calloc(TIMER_SPENT_MAX, sizeof(*m->spent));
	return m->spent;
}

int memory_copy(const struct timer_memory *m, struct timer_memory *ret)
{
	*ret = *m;
	ret->spent = NULL;
	if (m->n_spent == 0)
		return 0;
	if (!make_room(ret)) {
		memory_done(ret);
		return -ENOMEM;
	}
	memcpy(ret->spent, m->spent, m->n_spent * sizeof(*m->spent));
	return 0;
}

bool memory_add_spent(struct timer_memory *m, usec_t from, usec_t to)
{
	if (m->n_spent == TIMER_SPENT_MAX || !make_room(m))
		return false;
	m->spent[m->n_spent++] = (struct spent) { .from = from, .to = to };
	return true;
}
