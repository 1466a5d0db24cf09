/* SPDX-License-Identifier: MIT */
#include "timer/never.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/keys.h"
#include "timer/calendar.h"
#include "timer/fsm.h"
#include "timer/spec.h"

#define FIRST_RUN "waits for a first run, which no trigger of this timer begins"

static bool is_interval(const struct trigger *t)
{
	return t->kind == TRIGGER_UNIT_ACTIVE || t->kind == TRIGGER_UNIT_INACTIVE;
}

static bool begins_at_changes(const struct timer_spec *spec)
{
	return spec->on_clock_change || spec->on_timezone_change;
}

/* Where a trigger was written; NULL: nowhere. What is written twice is found where it counts. */
static const struct assignment *written(const struct trigger *t,
					const struct assignment *assignment, size_t n)
{
	const char *key = trigger_kind_to_key(t->kind);

	while (n-- > 0)
		if (str_equal(assignment[n].section, "Timer") &&
		    str_equal(assignment[n].key, key) && str_equal(assignment[n].value, t->text))
			return &assignment[n];
	return NULL;
}

static void warn(struct diag *d, const struct trigger *t, const struct assignment *a,
		 const char *why)
{
	const char *key = trigger_kind_to_key(t->kind);

	diag_add(d, DIAG_WARNING, a ? a->file : NULL, a ? a->line : 0, key, "%s=%s %s", key,
		 t->text, why);
}

void never_warn(const struct timer_spec *spec, const struct zone *local, usec_t now,
		const struct assignment *assignment, size_t n, struct diag *d)
{
	bool only_intervals = spec->n_triggers > 0 && !begins_at_changes(spec);

	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];

		only_intervals = only_intervals && is_interval(t);
		/* Of an impossible date its parser has told. */
		if (t->kind == TRIGGER_CALENDAR && calendar_is_possible(t->calendar) &&
		    calendar_next(t->calendar, local, now, NULL) == USEC_NEVER)
			warn(d, t, written(t, assignment, n),
			     "lies in the past, so it never elapses");
	}
	if (only_intervals)
		warn(d, &spec->trigger[0], written(&spec->trigger[0], assignment, n),
		     FIRST_RUN "; OnActiveSec= or OnStartupSec= would");
}

const char *never_reason(const struct timer *t, const struct timer_spec *spec)
{
	bool has_interval = false, has_calendar = false;

	if (!t->is_active || t->is_target_active || timer_has_open_run(t) ||
	    t->wake_real != USEC_NEVER || t->wake_boot != USEC_NEVER || begins_at_changes(spec))
		return NULL;
	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *trigger = &spec->trigger[i];

		if (trigger->kind == TRIGGER_CALENDAR)
			has_calendar = true;
		else if (trigger->span == USEC_NEVER)
			continue;
		else if (trigger_is_once(trigger))
			return NULL;
		else
			has_interval = true;
	}
	if (has_interval)
		return FIRST_RUN;
	return has_calendar ? "its last moment lies in the past" : "its span is infinite";
}
