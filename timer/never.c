/* SPDX-License-Identifier: MIT */
#include "timer/never.h"

#include "base/diag.h"
#include "timer/calendar.h"
#include "timer/fsm.h"
#include "timer/spec.h"

#define BY_HAND "waits for a first run by hand: no trigger begins it"

static bool is_interval(const struct trigger *t)
{
	return t->kind == TRIGGER_UNIT_ACTIVE || t->kind == TRIGGER_UNIT_INACTIVE;
}

static bool begins_at_changes(const struct timer_spec *spec)
{
	return spec->on_clock_change || spec->on_timezone_change;
}

void never_warn(const struct timer_spec *spec, const struct zone *local, usec_t now, const char *file, struct diag *d)
{
	bool only_intervals = spec->n_triggers > 0 && !begins_at_changes(spec);

	for (unsigned i = 0; i < spec->n_triggers; i++) {
		const struct trigger *t = &spec->trigger[i];

		only_intervals = only_intervals && is_interval(t);
		/* Of an impossible date its parser has told. */
		if (t->kind == TRIGGER_CALENDAR && calendar_is_possible(t->calendar) &&
		    calendar_next(t->calendar, local, now, NULL) == USEC_NEVER)
			diag_add(d, DIAG_WARNING, file, 0, "OnCalendar",
				 "OnCalendar=%s lies in the past, so it never elapses", t->text);
	}
	if (only_intervals)
		diag_add(d, DIAG_WARNING, file, 0, trigger_kind_to_key(spec->trigger[0].kind), "%s= " BY_HAND,
			 trigger_kind_to_key(spec->trigger[0].kind));
}

const char *never_reason(const struct timer *t, const struct timer_spec *spec)
{
	bool has_interval = false, has_calendar = false;

	if (!t->is_active || t->is_target_active || timer_has_open_run(t) || t->wake_real != USEC_NEVER ||
	    t->wake_boot != USEC_NEVER || begins_at_changes(spec))
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
		return BY_HAND;
	return has_calendar ? "its last moment lies in the past" : "its span is infinite";
}
