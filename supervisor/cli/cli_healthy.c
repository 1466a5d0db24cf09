/* SPDX-License-Identifier: MIT */
#include "cli/cli_healthy.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

struct finding {
	const char *unit; /* NULL: of all of supd */
	const char *what; /* one word */
	const char *message;
};

struct health {
	struct cli *cli;
	int n_patterns;
	char **pattern;
	bool *is_met; /* patterns that stand for some unit */
	struct control_reply timers, units;
	struct finding *finding;
	size_t n;
	struct arena arena;
	bool is_failed; /* memory ran out */
};

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static bool is_wanted(struct health *h, const char *unit)
{
	bool is_wanted = h->n_patterns == 0;

	for (int i = 0; i < h->n_patterns; i++)
		if (cli_matches(unit, 1, &h->pattern[i]))
			is_wanted = h->is_met[i] = true;
	return is_wanted;
}

static void found(struct health *h, const char *unit, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void found(struct health *h, const char *unit, const char *what, const char *fmt, ...)
{
	struct finding *grown = arena_grow(&h->arena, h->finding, h->n, sizeof(*grown));
	char message[1024];
	va_list ap;

	va_start(ap, fmt);
	(void) vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	h->is_failed |= !grown;
	if (!grown)
		return;
	h->finding = grown;
	h->finding[h->n] = (struct finding) { unit, what, arena_strdup(&h->arena, message) };
	h->is_failed |= !h->finding[h->n++].message;
}

/* ---- what counts ---- */

/* The first of its mistakes. */
static void invalid(struct health *h, const struct supd_row *row)
{
	size_t n;
	const struct supd_row *problem = row_rows(row, "problems", &n);
	_cleanup_free_ char *text = NULL;

	for (size_t i = 0; i < n && !text; i++)
		if (str_equal(or_empty(row_string(&problem[i], "severity")), "error"))
			text = cli_problem(&problem[i]);
	found(h, row_string(row, "unit"), "invalid", "invalid%s%s", text ? ": " : "",
	      text ? text : "");
}

static bool is_failure(const char *result)
{
	/* All that is no failure, so that a word yet unknown here is something to look at. */
	static const char *const others[] = { "", "success", "skipped", "stopped", "interrupted" };

	for (size_t i = 0; i < ELEMENTS(others); i++)
		if (str_equal(result, others[i]))
			return false;
	return true;
}

/* A retry waits or goes on: it has not failed for good. */
static bool is_being_retried(const struct supd_row *row)
{
	const struct supd_field *retry = row_field(row, "retry"),
				*open = row_field(row, "open_run");

	if (retry && retry->type == SUPD_ROW)
		return true;
	return open && open->type == SUPD_ROW &&
	       str_equal(or_empty(row_string(open->value.row, "cause")), "retry");
}

static void last_run(struct health *h, const struct supd_row *row, const char *unit)
{
	const char *result = or_empty(row_string(row, "last_result"));
	char buf[FORMAT_TIME_MAX], how[64] = "";
	int64_t status = row_number(row, "last_exit", 0);

	if (str_equal(result, "exit-code"))
		(void) snprintf(how, sizeof(how), " with exit status %lld", (long long) status);
	else if (is_failure(result))
		(void) snprintf(how, sizeof(how), " (%s)", result);
	format_timestamp(buf, sizeof(buf), row_usec(row, "last_end"));
	if (str_equal(result, "interrupted"))
		found(h, unit, "interrupted",
		      "its last run was interrupted: supd ended while it went on");
	else if (is_failure(result) && !is_being_retried(row))
		found(h, unit, "failed", "its last run failed for good%s, %s", how, buf);
}

static void misses(struct health *h, const struct supd_row *row, const char *unit)
{
	const struct supd_field *miss = row_field(row, "last_miss");
	char buf[FORMAT_TIME_MAX];
	const char *reason;

	if (!row_bool(row, "missed_since_run") || !miss || miss->type != SUPD_ROW)
		return;
	reason = or_empty(row_string(miss->value.row, "reason"));
	if (str_equal(reason, "interrupted")) /* which is told of the run */
		return;
	found(h, unit, "missed", "missed since its last run: %s, scheduled %s", reason,
	      format_timestamp(buf, sizeof(buf), row_usec(miss->value.row, "at")));
}

static void judge_timer(struct health *h, const struct supd_row *row)
{
	const char *unit = or_empty(row_string(row, "unit"));

	if (!is_wanted(h, unit))
		return;
	if (str_equal(or_empty(row_string(row, "kind")), "invalid")) {
		invalid(h, row);
		return;
	}
	if (!row_bool(row, "enabled"))
		return;
	if (row_bool(row, "never"))
		found(h, unit, "never", "never elapses again (supctl why %s tells more)", unit);
	last_run(h, row, unit);
	misses(h, row, unit);
}

static bool is_activated_by_timer(const struct health *h, const char *service)
{
	for (size_t i = 1; i < h->timers.n; i++)
		if (str_equal(or_empty(row_string(&h->timers.row[i], "activates")), service))
			return true;
	return false;
}

/* What a timer starts is judged with the timer, which knows whether a retry is to come. */
static void judge_service(struct health *h, const struct supd_row *row)
{
	const char *unit = or_empty(row_string(row, "unit")), *suffix = strrchr(unit, '.');

	if (!suffix || str_equal(suffix, ".timer") || !is_wanted(h, unit))
		return;
	if (str_equal(or_empty(row_string(row, "load_state")), "invalid"))
		invalid(h, row);
	else if (str_equal(or_empty(row_string(row, "active_state")), "failed") &&
		 !is_activated_by_timer(h, unit))
		found(h, unit, "failed", "its last run failed: %s",
		      or_empty(row_string(row, "result")));
}

static bool names_timers(const struct health *h)
{
	for (int i = 0; i < h->n_patterns; i++)
		if (str_ends(h->pattern[i], ".timer"))
			return true;
	return false;
}

/* Timers that are off or paused are so because somebody wants them to be; but a timer that is asked
 * for by name is not well then. */
static void judge_subsystem(struct health *h, const struct supd_row *row)
{
	const char *state = or_empty(row_string(row, "state")), *reason = row_string(row, "reason");
	usec_t since = row_usec(row, "not_persisted_since");
	bool is_on = str_equal(state, "enabled");
	char buf[FORMAT_TIME_MAX];

	if (str_equal(state, "failed") || (!is_on && names_timers(h)))
		found(h, NULL, is_on ? "failed" : state, "timers %s %s%s%s",
		      str_equal(state, "failed") ? "have" : "are", state, reason ? ": " : "",
		      or_empty(reason));
	if (since != USEC_NEVER)
		found(h, NULL, "not-persisted",
		      "not persisted since %s: the state cannot be written",
		      format_timestamp(buf, sizeof(buf), since));
	/* Nothing is known of them. */
	for (int i = 0; i < h->n_patterns && !is_on; i++)
		h->is_met[i] = h->is_met[i] || str_ends(h->pattern[i], ".timer");
}

/* ---- the answer ---- */

static int print_json(const struct health *h, int status)
{
	json_t *list = json_array();

	for (size_t i = 0; i < h->n; i++) {
		const struct finding *f = &h->finding[i];

		(void) json_array_append_new(list, json_pack("{so ss so}", "unit",
							     f->unit ? rows_json_string(f->unit)
								     : json_null(),
							     "finding", f->what, "message",
							     rows_json_string(f->message)));
	}
	return cli_print_json(h->cli, json_pack("{sb so}", "healthy", h->n == 0, "findings", list),
			      status);
}

static int answer(const struct health *h)
{
	int status = h->n == 0 ? CONTROL_OK : CONTROL_FAILED;

	if (h->cli->json != CLI_JSON_OFF)
		return print_json(h, status);
	for (size_t i = 0; i < h->n && !cli_has(h->cli, CLI_QUIET); i++) {
		const struct finding *f = &h->finding[i];

		cli_print_text(f->unit ? f->unit : "supd");
		fputs(": ", stdout);
		cli_print_text(f->message);
		putchar('\n');
	}
	return status;
}

static int judge(struct health *h)
{
	if (h->timers.n > 0)
		judge_subsystem(h, &h->timers.row[0]);
	for (size_t i = 1; i < h->timers.n; i++)
		judge_timer(h, &h->timers.row[i]);
	for (size_t i = 0; i < h->units.n; i++) {
		(void) is_wanted(h, or_empty(row_string(&h->units.row[i], "unit")));
		judge_service(h, &h->units.row[i]);
	}
	if (h->is_failed)
		return cli_fail(h->cli, CONTROL_FAILED, "out of memory");
	for (int i = 0; i < h->n_patterns; i++)
		if (!h->is_met[i])
			return cli_fail(h->cli, CONTROL_NO_UNIT, "no such unit: %s", h->pattern[i]);
	return answer(h);
}

int cli_is_healthy(struct cli *c, int argc, char **argv)
{
	static const char *const timer_keys[] = {
		"state", "reason", "not_persisted_since", "kind", "unit", "activates", "enabled", "never", "problems",
		"last_result", "last_exit", "last_end", "retry", "open_run", "missed_since_run", "last_miss", NULL,
	};
	static const char *const unit_keys[] = { "unit",   "load_state", "active_state",
						 "result", "problems",   NULL };
	struct health h = { .cli = c, .n_patterns = argc - 1, .pattern = argv + 1 };
	int status;

	h.is_met = arena_alloc(&h.arena, (size_t) argc * sizeof(*h.is_met));
	if (!h.is_met)
		status = cli_fail(c, CONTROL_FAILED, "out of memory");
	else if (cli_ask_keys(c, &h.timers, "ListTable", timer_keys, "sss", "timer", "units", "") !=
		 CONTROL_OK)
		status = cli_fail_reply(c, &h.timers);
	else if (cli_ask_keys(c, &h.units, "ListUnits", unit_keys, "") != CONTROL_OK)
		status = cli_fail_reply(c, &h.units);
	else
		status = judge(&h);
	control_reply_done(&h.timers);
	control_reply_done(&h.units);
	arena_done(&h.arena);
	return status;
}
