/* SPDX-License-Identifier: MIT */
#include "core/ledger.h"

#include "base/cleanup.h"
#include "core/unit.h"
#include "service/run_said.h"

/* Somebody asked for these, or another unit did; a moment that was scheduled there is not. */
static bool is_asked_for(const char *cause)
{
	return str_equal(cause, "manual") || str_equal(cause, "start-up") ||
	       str_equal(cause, "dependency") || str_equal(cause, "on-success") ||
	       str_equal(cause, "on-failure");
}

/* Of a retry the schedule says nothing: it follows the run before it. */
static usec_t lateness(const struct run *run, usec_t scheduled)
{
	if (scheduled == USEC_NEVER || run->started_real == 0 || run->attempt > 1)
		return USEC_NEVER;
	return usec_sub(run->started_real, scheduled);
}

void ledger_run(const struct unit *u, char words[LEDGER_WORDS_MAX], struct history_record *ret)
{
	const struct run *run = u->run;
	bool has_ended = run->ended_boot != 0, has_started = run->started_boot != 0;
	usec_t scheduled = is_asked_for(run->cause) ? USEC_NEVER : run_scheduled_real(run);

	*ret = (struct history_record){
		.class = has_ended ? history_class_of(run->result) : HISTORY_RUNNING,
		.unit = u->name,
		.trigger = run->trigger_unit,
		.at = has_started ? run->started_real : run->triggered_real,
		.scheduled = scheduled,
		.cause = run->cause,
		.attempt = run->attempt,
		.ended = has_ended ? run->ended_real : 0,
		.duration = has_ended && has_started ? usec_sub(run->ended_boot, run->started_boot)
						     : USEC_NEVER,
		.lateness = has_ended ? lateness(run, scheduled) : USEC_NEVER,
		.result = has_ended ? run->result : RUN_RESULT_NONE,
		.status = run->status,
		.words = has_ended ? run_result_words(run, words, LEDGER_WORDS_MAX) : NULL,
		.cpu = run->cpu,
		.peak_memory = run->peak_memory,
	};
	memcpy(ret->run_id, run->id, sizeof(ret->run_id));
	if (has_ended && run->said) {
		ret->metric = run->said->metric;
		ret->n_metrics = run->said->n_metrics;
	}
	ret->output = run->last_words;
	ret->n_output = run->n_last_words;
}

static const struct supd_field *field_of(const struct supd_row *row, const char *key,
					 enum supd_type type)
{
	for (size_t i = 0; row && i < row->n; i++)
		if (row->field[i].type == type && str_equal(row->field[i].key, key))
			return &row->field[i];
	return NULL;
}

/* The run's own line, if the power did not take it with it: one that is there gets its end, else it
 * is made. */
static bool interrupted(const char *unit, const struct supd_row *fields, struct history_record *ret)
{
	const struct supd_field *id = field_of(fields, "run_id", SUPD_STRING);
	const struct supd_field *cause = field_of(fields, "cause", SUPD_STRING);
	const struct supd_field *scheduled = field_of(fields, "scheduled", SUPD_TIMESTAMP);
	const struct supd_field *attempt = field_of(fields, "attempt", SUPD_NUMBER);
	const struct supd_field *taken = field_of(fields, "taken", SUPD_TIMESTAMP);
	const struct supd_field *target = field_of(fields, "activates", SUPD_STRING);
	uint8_t last[RUN_ID_BYTES];

	if (!id || !cause || !scheduled || !attempt || !taken || !target)
		return false;
	*ret = (struct history_record) {
		.class = HISTORY_INTERRUPTED,
		.unit = target->value.string,
		.trigger = unit,
		.at = taken->value.usec,
		.scheduled = is_asked_for(cause->value.string) ? USEC_NEVER : scheduled->value.usec,
		.cause = cause->value.string,
		.attempt = (uint32_t) attempt->value.number,
		.duration = USEC_NEVER,
		.lateness = USEC_NEVER,
		.words = "interrupted",
	};
	return history_run_range(id->value.string, ret->run_id, last);
}

bool ledger_event(const char *type, const char *unit, const struct supd_row *fields,
		  struct history_record *ret)
{
	const struct supd_field *reason = field_of(fields, "reason", SUPD_STRING);
	const struct supd_field *last = field_of(fields, "scheduled", SUPD_TIMESTAMP);
	const struct supd_field *first = field_of(fields, "first", SUPD_TIMESTAMP);
	const struct supd_field *count = field_of(fields, "count", SUPD_NUMBER);
	const struct supd_field *target = field_of(fields, "activates", SUPD_STRING);

	if (unit && str_equal(type, "interrupted"))
		return interrupted(unit, fields, ret);
	/* The run that was interrupted is a line already. */
	if (!str_equal(type, "missed") || !unit || !reason || !last ||
	    str_equal(reason->value.string, "interrupted"))
		return false;
	*ret = (struct history_record) {
		.class = HISTORY_MISSED,
		.unit = target ? target->value.string : unit,
		.trigger = unit,
		.at = last->value.usec,
		.scheduled = last->value.usec,
		.reason = reason->value.string,
		.first = first ? first->value.usec : last->value.usec,
		.count = count ? (uint64_t) count->value.number : 1,
	};
	return true;
}
