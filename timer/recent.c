/* SPDX-License-Identifier: MIT */
#include "timer/recent.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "timer/spec.h"

static const char *const other_causes[] = { "retry", "catch-up", "manual", "clock-change",
					    "timezone-change" };

static const char *cause_at(unsigned i)
{
	if (i < TRIGGER_KIND_COUNT)
		return trigger_kind_to_string((enum trigger_kind) i);
	i -= TRIGGER_KIND_COUNT;
	return i < ELEMENTS(other_causes) ? other_causes[i] : NULL;
}

static uint8_t cause_index(const char *cause)
{
	unsigned i = 0;

	while (cause_at(i) && !str_equal(cause_at(i), cause))
		i++;
	return (uint8_t) i;
}

const char *recent_cause(const struct recent_moment *m)
{
	return m->outcome == RECENT_MISSED ? NULL : cause_at(m->cause);
}

const struct recent_moment *recent_at(const struct recent *r, unsigned i)
{
	return r && i < r->n ? &r->item[(r->first + i) % RECENT_MAX] : NULL;
}

/* The oldest goes when there is no room. */
static struct recent_moment *append(struct recent **r)
{
	if (!*r)
		*r = calloc(1, sizeof(**r));
	if (!*r)
		return NULL;
	if ((*r)->n == RECENT_MAX)
		(*r)->first = (uint8_t) (((*r)->first + 1) % RECENT_MAX);
	else
		(*r)->n++;
	return &(*r)->item[((*r)->first + (*r)->n - 1) % RECENT_MAX];
}

/* The newest of this outcome. */
static struct recent_moment *newest(struct recent *r, enum recent_outcome outcome)
{
	for (unsigned i = r ? r->n : 0; i > 0; i--) {
		struct recent_moment *m = &r->item[(r->first + i - 1) % RECENT_MAX];

		if (m->outcome == outcome)
			return m;
	}
	return NULL;
}

void recent_taken(struct recent **r, const struct open_run *open)
{
	struct recent_moment *m = open->attempt > 1 ? newest(*r, RECENT_ENDED) : NULL;

	if (!m) {
		m = append(r);
		if (!m)
			return;
		*m = (struct recent_moment){ .scheduled = open->scheduled,
					     .cause = cause_index(open->cause) };
	}
	m->outcome = RECENT_RUNNING;
	m->detail = 0;
	m->attempt = (uint16_t) open->attempt;
}

/* The newest of all, if it was missed for that reason. */
static struct recent_moment *last_miss(struct recent *r, enum miss_reason reason)
{
	struct recent_moment *m = r && r->n > 0 ? &r->item[(r->first + r->n - 1) % RECENT_MAX]
						: NULL;

	return m && m->outcome == RECENT_MISSED && m->detail == (uint8_t) reason ? m : NULL;
}

void recent_missed(struct recent **r, enum miss_reason reason, usec_t at, uint64_t count)
{
	struct recent_moment *m = newest(*r, RECENT_RUNNING);

	/* It was taken, and would not start; else misses of one reason in a row are one. */
	if (!m || m->scheduled != at)
		m = last_miss(*r, reason);
	if (m && m->outcome == RECENT_MISSED)
		count += m->count;
	if (!m)
		m = append(r);
	if (!m)
		return;
	*m = (struct recent_moment) {
		.scheduled = at,
		.count = count > UINT32_MAX ? UINT32_MAX : (uint32_t) count,
		.outcome = RECENT_MISSED,
		.detail = (uint8_t) reason,
	};
}

void recent_ended(struct recent *r, const struct timer_memory *memory)
{
	struct recent_moment *m = newest(r, RECENT_RUNNING);

	if (!m)
		return;
	m->outcome = RECENT_ENDED;
	m->detail = (uint8_t) memory->last_result;
	m->status = memory->last_status;
}
