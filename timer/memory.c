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
	[MISS_SKIPPED] = "skipped-by-admin",
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
	free(m->skips);
	*m = (struct timer_memory) { 0 };
}

struct timer_memory memory_take(struct timer_memory *m)
{
	struct timer_memory taken = *m;

	m->spent = NULL;
	m->n_spent = 0;
	m->skips = NULL;
	return taken;
}

static bool make_room(struct timer_memory *m)
{
	if (!m->spent)
		m->spent = calloc(TIMER_SPENT_MAX, sizeof(*m->spent));
	return m->spent;
}

static bool make_skips(struct timer_memory *m)
{
	if (!m->skips)
		m->skips = calloc(1, sizeof(*m->skips));
	return m->skips;
}

int memory_copy(const struct timer_memory *m, struct timer_memory *ret)
{
	*ret = *m;
	ret->spent = NULL;
	ret->skips = NULL;
	if ((m->n_spent > 0 && !make_room(ret)) || (m->skips && !make_skips(ret))) {
		memory_done(ret);
		return -ENOMEM;
	}
	if (m->n_spent > 0)
		memcpy(ret->spent, m->spent, m->n_spent * sizeof(*m->spent));
	if (m->skips)
		*ret->skips = *m->skips;
	return 0;
}

bool memory_add_spent(struct timer_memory *m, usec_t from, usec_t to)
{
	if (m->n_spent == TIMER_SPENT_MAX || !make_room(m))
		return false;
	m->spent[m->n_spent++] = (struct spent) { .from = from, .to = to };
	return true;
}

/* ---- skipped moments ---- */

bool memory_add_skip(struct timer_memory *m, const struct skip *skip)
{
	struct skips *all;
	unsigned i;

	if ((m->skips && m->skips->n == TIMER_SKIPS_MAX) || !make_skips(m))
		return false;
	all = m->skips;
	for (i = all->n++; i > 0 && all->item[i - 1].real > skip->real; i--)
		all->item[i] = all->item[i - 1];
	all->item[i] = *skip;
	return true;
}

void memory_remove_skip(struct timer_memory *m, unsigned i)
{
	struct skips *all = m->skips;

	memmove(&all->item[i], &all->item[i + 1], (--all->n - i) * sizeof(all->item[0]));
	if (all->n > 0)
		return;
	free(all);
	m->skips = NULL;
}

bool memory_is_skipped(const struct timer_memory *m, usec_t real)
{
	for (unsigned i = 0; m->skips && i < m->skips->n; i++)
		if (m->skips->item[i].is_calendar && m->skips->item[i].real == real)
			return true;
	return false;
}
