/* SPDX-License-Identifier: MIT */
#include "daemon/supd_log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/timespan.h"
#include "core/manager.h"
#include "core/unit.h"

static void say(const struct unit *u, int level, const char *fmt, ...) _printf_(3, 4);
static void say(const struct unit *u, int level, const char *fmt, ...)
{
	char message[512];
	const struct log_line line = {
		.level = level, .unit = u->name, .run_id = u->run ? u->run->id : NULL, .message = message,
	};
	va_list ap;

	va_start(ap, fmt);
	(void) vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	log_write(&line);
}

void supd_log_started(const struct unit *u)
{
	const struct run *run = u->run;
	char attempt[32] = "";

	/* It was not, and its end says why. */
	if (run->result == RUN_RESULT_DEPENDENCY || run->result == RUN_RESULT_START_LIMIT)
		return;
	if (run->attempt > 1)
		(void) snprintf(attempt, sizeof(attempt), ", attempt %u", (unsigned) run->attempt);
	if (run->trigger_unit)
		say(u, LOG_INFO, "started by %s (%s%s)", run->trigger_unit, run->cause, attempt);
	else
		say(u, LOG_INFO, "started (%s%s)", run->cause, attempt);
}

static bool is_failure(enum run_result r)
{
	return r != RUN_RESULT_SUCCESS && r != RUN_RESULT_SKIPPED && r != RUN_RESULT_STOPPED;
}

/* It is over without a run having ended: it was stopped, or is not restarted any more. */
static void say_over(const struct unit *u)
{
	if (u->service.state == SERVICE_FAILED && u->chain && u->chain->n_restarts > 0)
		say(u, LOG_NOTICE, "restarted %u times, and given up: see StartLimitBurst=", u->chain->n_restarts);
	else if (u->run)
		say(u, LOG_INFO, "stopped");
}

void supd_log_settled(const struct unit *u, bool run_ended)
{
	const struct run *run = u->run;
	char words[512], took[TIMESPAN_MAX + sizeof(" after ")] = "", span[TIMESPAN_MAX];
	char again[TIMESPAN_MAX + sizeof(", restart in ")] = "";

	if (!run_ended) {
		say_over(u);
		return;
	}
	if (run->started_boot != 0)
		(void) snprintf(took, sizeof(took), " after %s",
				timespan_print(span, sizeof(span), usec_sub(run->ended_boot, run->started_boot),
					       USEC_PER_MSEC));
	if (u->service.state == SERVICE_AUTO_RESTART)
		(void) snprintf(again, sizeof(again), ", restart in %s",
				timespan_print(span, sizeof(span), u->config->spec->restart->delay, USEC_PER_MSEC));
	say(u, is_failure(run->result) ? LOG_NOTICE : LOG_INFO, "%s%s%s%s%s",
	    run_result_words(run, words, sizeof(words)), took,
	    run_unmet(run) ? ": " : "", run_unmet(run) ? run_unmet(run) : "", again);
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
