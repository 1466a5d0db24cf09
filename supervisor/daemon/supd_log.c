/* SPDX-License-Identifier: MIT */
#include "daemon/supd_log.h"

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/text.h"
#include "core/manager.h"
#include "core/report.h"
#include "core/unit.h"
#include "daemon/supd_control.h"

static void tell(struct supd_control *c, const char *type, const struct unit *u,
		 const struct report *fields)
{
	const struct supd_row row = { .field = fields->field, .n = fields->n };
	const struct happening h = {
		.type = type, .unit = u->name, .run_id = u->run ? u->run->id : NULL, .fields = &row,
	};

	events_tell(c, &h);
}

static void report_beginning(struct report *r, const struct run *run,
			     char hex[2 * RUN_ID_BYTES + 1])
{
	text_hex16(run->id, hex);
	report_string(r, "run_id", hex);
	report_string(r, "trigger", run->trigger_unit);
	report_string(r, "cause", run->cause);
	report_number(r, "attempt", run->attempt);
	report_time(r, "scheduled", run->trigger_unit ? run_scheduled_real(run) : USEC_NEVER);
}

void supd_log_started(struct supd_control *c, const struct unit *u)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	const struct run *run = u->run;
	char hex[2 * RUN_ID_BYTES + 1];

	/* It was not, and its end says why. */
	if (run->result == RUN_RESULT_DEPENDENCY || run->result == RUN_RESULT_START_LIMIT)
		return;
	report_beginning(&r, run, hex);
	tell(c, "started", u, &r);
}

static bool is_failure(enum run_result r)
{
	return r != RUN_RESULT_SUCCESS && r != RUN_RESULT_SKIPPED && r != RUN_RESULT_STOPPED;
}

/* It is over without a run having ended: it was stopped, or is not restarted any more. */
static void tell_over(struct supd_control *c, const struct unit *u)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	if (u->service.state == SERVICE_FAILED && u->chain && u->chain->n_restarts > 0) {
		report_number(&r, "restarts", u->chain->n_restarts);
		tell(c, "given-up", u, &r);
	} else if (u->run) {
		tell(c, "stopped", u, &r);
	}
}

void supd_log_settled(struct supd_control *c, const struct unit *u, bool run_ended)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	const struct run *run = u->run;
	char words[512], hex[2 * RUN_ID_BYTES + 1];
	bool has_started, is_restarted = u->service.state == SERVICE_AUTO_RESTART;

	if (!run_ended) {
		tell_over(c, u);
		return;
	}
	has_started = run->started_boot != 0;
	report_beginning(&r, run, hex);
	report_string(&r, "result", run_result_to_string(run->result));
	report_string(&r, "words", run_result_words(run, words, sizeof(words)));
	report_bool(&r, "failed", is_failure(run->result));
	report_span(&r, "duration",
		    has_started ? usec_sub(run->ended_boot, run->started_boot) : USEC_NEVER);
	report_string(&r, "unmet", run_unmet(run));
	report_span(&r, "restart_in", is_restarted ? u->config->spec->restart->delay : USEC_NEVER);
	tell(c, "finished", u, &r);
}

void supd_log_problems(const char *unit, const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct diag_entry *e = &d->entry[i];
		_cleanup_free_ char *line = diag_format(e);

		log_unit(unit, e->severity == DIAG_NOT_APPLIED ? LOG_DEBUG : LOG_WARNING, 0, "%s",
			 line ? line : e->message);
	}
}

void supd_log_units(struct manager *m)
{
	size_t n = 0, n_invalid = 0, n_unsupported = 0;
	struct unit *u;

	for (; (u = manager_unit_at(m, n)); n++) {
		n_invalid += u->config->load == UNIT_INVALID;
		n_unsupported += u->config->load == UNIT_UNSUPPORTED;
		supd_log_problems(u->name, &u->config->problems);
	}
	if (n_unsupported > 0)
		log_debug("%zu services are not of a type that is run here", n_unsupported);
	if (n_invalid > 0)
		log_warning(0, "%zu services found, %zu of them invalid and not run", n, n_invalid);
	else
		log_info("%zu services found", n);
}
