/* SPDX-License-Identifier: MIT */
#include "core/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/text.h"
#include "base/values.h"
#include "core/unit.h"
#include "service/not_applied.h"
#include "service/run_said.h"

/* ---- fields ---- */

static struct supd_field *add(struct report *r, const char *key, enum supd_type type)
{
	struct supd_field *grown;

	if (r->is_failed)
		return NULL;
	grown = arena_grow(r->arena, r->field, r->n, sizeof(*grown));
	if (!grown) {
		r->is_failed = true;
		return NULL;
	}
	r->field = grown;
	r->field[r->n] = (struct supd_field) { .key = key, .type = type };
	return &r->field[r->n++];
}

void report_null(struct report *r, const char *key)
{
	(void) add(r, key, SUPD_NULL);
}

void report_fields(struct report *r, const struct supd_row *row)
{
	for (size_t i = 0; i < row->n; i++) {
		struct supd_field *f = add(r, row->field[i].key, row->field[i].type);

		if (f)
			*f = row->field[i];
	}
}

void report_real(struct report *r, const char *key, double value)
{
	struct supd_field *f = add(r, key, isfinite(value) ? SUPD_REAL : SUPD_NULL);

	if (f && f->type == SUPD_REAL)
		f->value.real = value;
}

void report_row(struct report *r, const char *key, const struct report *row)
{
	struct supd_row *copy = arena_alloc(r->arena, sizeof(*copy));
	struct supd_field *f = add(r, key, SUPD_ROW);

	if (f && copy && report_end(row, copy) >= 0)
		f->value.row = copy;
	else
		r->is_failed = true;
}

void report_metrics(struct report *r, const char *key, const struct metric *metric, size_t n)
{
	struct report metrics = { .arena = r->arena };

	if (n == 0) {
		report_null(r, key);
		return;
	}
	for (size_t i = 0; i < n; i++)
		report_real(&metrics, metric[i].name, metric[i].value);
	report_row(r, key, &metrics);
}

void report_string(struct report *r, const char *key, const char *value)
{
	struct supd_field *f = add(r, key, value ? SUPD_STRING : SUPD_NULL);

	if (f && value)
		f->value.string = value;
}

void report_bool(struct report *r, const char *key, bool value)
{
	struct supd_field *f = add(r, key, SUPD_BOOL);

	if (f)
		f->value.boolean = value;
}

void report_number(struct report *r, const char *key, int64_t value)
{
	struct supd_field *f = add(r, key, SUPD_NUMBER);

	if (f)
		f->value.number = value;
}

void report_time(struct report *r, const char *key, usec_t when)
{
	bool is_known = when != 0 && when != USEC_NEVER;
	struct supd_field *f = add(r, key, is_known ? SUPD_TIMESTAMP : SUPD_NULL);

	if (f && is_known)
		f->value.usec = when;
}

void report_span(struct report *r, const char *key, usec_t span)
{
	struct supd_field *f = add(r, key, span != USEC_NEVER ? SUPD_SPAN : SUPD_NULL);

	if (f && span != USEC_NEVER)
		f->value.usec = span;
}

void report_strings(struct report *r, const char *key, const char *const *list)
{
	struct supd_field *f = add(r, key, SUPD_STRINGS);

	if (!f)
		return;
	f->value.strings.item = list;
	for (size_t n = 0; list && list[n]; n++)
		f->value.strings.n = n + 1;
}

int report_end(const struct report *r, struct supd_row *ret)
{
	if (r->is_failed)
		return -ENOMEM;
	*ret = (struct supd_row) { .field = r->field, .n = r->n };
	return 0;
}

/* ---- mistakes ---- */

const char *report_severity(const struct diag_entry *e)
{
	static const char *const name[] = {
		[DIAG_ERROR] = "error",
		[DIAG_WARNING] = "warning",
		[DIAG_NOT_APPLIED] = "not-applied",
	};
	_Static_assert(ELEMENTS(name) == DIAG_SEVERITY_COUNT, "a name for each severity");

	return name[e->severity];
}

void report_problem(struct report *r, const struct diag_entry *e)
{
	bool is_applied = e->severity != DIAG_NOT_APPLIED;

	report_string(r, "file", e->file);
	if (e->line > 0)
		report_number(r, "line", e->line);
	else
		report_null(r, "line");
	report_string(r, "key", e->key);
	report_string(r, "message", e->message);
	report_string(r, "severity", report_severity(e));
	report_string(r, "reason",
		      is_applied ? NULL : not_applied_reason_to_string(not_applied_reason(e->key)));
	report_string(r, "explanation", is_applied ? NULL : not_applied_explanation(e->key));
}

void report_problems(struct report *r, const char *key, const struct diag *d)
{
	struct supd_row *row = arena_alloc(r->arena, (d->n + 1) * sizeof(*row));
	struct supd_field *f;

	r->is_failed |= !row;
	for (size_t i = 0; i < d->n && !r->is_failed; i++) {
		struct report one = { .arena = r->arena };

		report_problem(&one, &d->entry[i]);
		if (report_end(&one, &row[i]) < 0)
			r->is_failed = true;
	}
	f = add(r, key, SUPD_ROWS);
	if (f) {
		f->value.rows.item = row;
		f->value.rows.n = d->n;
	}
}

/* ---- runs ---- */

static const char *run_id(struct report *r, const struct run *run)
{
	char hex[33];
	char *copy;

	text_hex16(run->id, hex);
	copy = arena_strdup(r->arena, hex);
	r->is_failed |= !copy;
	return copy;
}

static const char *run_words(struct report *r, const struct run *run)
{
	char buf[512];
	char *copy = arena_strdup(r->arena, run_result_words(run, buf, sizeof(buf)));

	r->is_failed |= !copy;
	return copy;
}

/* What the main process left to say, as its parent would see it; else what the step that failed
 * stands for. */
static void report_exit(struct report *r, const char *key, const struct run *run)
{
	if (run && run->result == RUN_RESULT_EXEC)
		report_number(r, key, exec_step_status(run->step));
	else if (run && (run->result == RUN_RESULT_EXIT_CODE || run->result == RUN_RESULT_SUCCESS))
		report_number(r, key, run->result == RUN_RESULT_SUCCESS ? 0 : run->status);
	else
		report_null(r, key);
}

static void report_signal(struct report *r, const char *key, const struct run *run)
{
	bool is_signal = run &&
			 (run->result == RUN_RESULT_SIGNAL || run->result == RUN_RESULT_CORE_DUMP);
	char buf[16];
	char *copy;

	if (!is_signal) {
		report_null(r, key);
		return;
	}
	copy = arena_strdup(r->arena, value_signal_name(run->status, buf));
	r->is_failed |= !copy;
	report_string(r, key, copy);
}

static usec_t run_duration(const struct run *run)
{
	if (!run || run->started_boot == 0 || run->ended_boot == 0)
		return USEC_NEVER;
	return usec_sub(run->ended_boot, run->started_boot);
}

static void report_said(struct report *r, const struct run_said *said)
{
	report_string(r, "status_text", said ? said->status : NULL);
	report_metrics(r, "metrics", said ? said->metric : NULL, said ? said->n_metrics : 0);
	if (said && said->n_ignored > 0)
		report_number(r, "metrics_ignored", (int64_t) said->n_ignored);
}

/* How a run goes or went, for whoever looks at its unit. */
static void report_last_run(struct report *r, const struct run *run)
{
	bool has_ended = run && run->ended_boot != 0;

	report_string(r, "result", has_ended ? run_words(r, run) : NULL);
	report_string(r, "run_id", run ? run_id(r, run) : NULL);
	report_string(r, "cause", run ? run->cause : NULL);
	report_string(r, "trigger", run ? run->trigger_unit : NULL);
	if (run)
		report_number(r, "attempt", run->attempt);
	else
		report_null(r, "attempt");
	report_time(r, "scheduled", run ? run->scheduled_real : 0);
	report_time(r, "started", run ? run->started_real : 0);
	report_time(r, "ended", has_ended ? run->ended_real : 0);
	report_span(r, "duration", run_duration(run));
	report_exit(r, "exit_status", has_ended ? run : NULL);
	report_signal(r, "exit_signal", has_ended ? run : NULL);
	report_span(r, "cpu", has_ended && run->cpu > 0 ? run->cpu : USEC_NEVER);
	if (has_ended && run->peak_memory > 0)
		report_number(r, "peak_memory", (int64_t) run->peak_memory);
	else
		report_null(r, "peak_memory");
	report_said(r, run ? run->said : NULL);
	if (run && run->refused)
		report_problems(r, "refused", run->refused);
}

/* As systemd's ConditionResult= and AssertResult=, of the last run; null before they were
 * judged. */
static void report_conditions(struct report *r, const struct unit *u)
{
	const struct run *run = u->run;
	bool is_judged = run && u->config->spec && u->config->spec->conditions &&
			 u->service.state != SERVICE_CHECK && run->result != RUN_RESULT_DEPENDENCY;
	const char *unmet = run ? run_unmet(run) : NULL;
	bool is_skipped = unmet && run->result == RUN_RESULT_SKIPPED;

	if (is_judged || unmet)
		report_bool(r, "condition_result", !is_skipped);
	else
		report_null(r, "condition_result");
	if ((is_judged || unmet) && !is_skipped)
		report_bool(r, "assert_result", !(unmet && run->result == RUN_RESULT_ASSERT));
	else
		report_null(r, "assert_result");
	report_string(r, "unmet", unmet);
}

void report_run_waiting(struct report *r, const char *unit, const struct run *run,
			const char *words)
{
	bool has_ended = run && run->ended_boot != 0;

	report_string(r, "unit", unit);
	report_string(r, "run_id", run ? run_id(r, run) : NULL);
	report_string(r, "result", has_ended ? run_result_to_string(run->result) : NULL);
	report_string(r, "words", words);
	report_exit(r, "exit_status", has_ended ? run : NULL);
	report_signal(r, "exit_signal", has_ended ? run : NULL);
	report_time(r, "started", run ? run->started_real : 0);
	report_time(r, "ended", has_ended ? run->ended_real : 0);
	report_span(r, "duration", run_duration(run));
	report_string(r, "cause", run ? run->cause : NULL);
	report_string(r, "unmet", run ? run_unmet(run) : NULL);
}

void report_run(struct report *r, const char *unit, const struct run *run)
{
	report_run_waiting(r, unit, run, run ? run_words(r, run) : NULL);
}

/* ---- units ---- */

static void report_fragment(struct report *r, const struct unit *u)
{
	char path[FRAGMENT_PATH_MAX];
	const char *fragment = unit_fragment(u, path);
	char *copy = fragment ? arena_strdup(r->arena, fragment) : NULL;

	if (fragment && !copy)
		r->is_failed = true;
	report_string(r, "fragment", copy);
}

void report_unit(struct report *r, const struct unit *u)
{
	const struct unit_config *c = u->config;

	report_string(r, "unit", u->name);
	report_string(r, "description", c->spec ? c->spec->description : NULL);
	report_string(r, "load_state", unit_load_to_string(c->load));
	report_string(r, "active_state", unit_active_to_string(u));
	report_string(r, "sub_state", unit_sub_to_string(u));
	report_bool(r, "enabled", unit_config_starts_with_supd(c));
	report_last_run(r, u->run);
	report_conditions(r, u);
	if (u->main_pid > 0)
		report_number(r, "main_pid", u->main_pid);
	else
		report_null(r, "main_pid");
	report_fragment(r, u);
	report_strings(r, "dropins", (const char *const *) c->dropin);
	report_problems(r, "problems", &c->problems);
}

void report_unit_missing(struct report *r, const char *name)
{
	static const struct diag none;

	report_string(r, "unit", name);
	report_null(r, "description");
	report_string(r, "load_state", "not-found");
	report_string(r, "active_state", "inactive");
	report_string(r, "sub_state", "dead");
	report_bool(r, "enabled", false);
	report_problems(r, "problems", &none);
}

/* ---- properties ---- */

/* A command as a person could have written it: words with blanks or quotes in double quotes. */
static char *quote(struct arena *arena, const char *word)
{
	char *out = arena_alloc(arena, 2 * strlen(word) + 3), *p = out;

	if (!out)
		return NULL;
	if (*word && !strpbrk(word, " \t\n\"'\\;")) {
		memcpy(out, word, strlen(word) + 1);
		return out;
	}
	*p++ = '"';
	for (; *word; word++) {
		if (strchr("\"\\", *word))
			*p++ = '\\';
		*p++ = *word;
	}
	*p++ = '"';
	*p = '\0';
	return out;
}

static const char *command_line(struct report *r, const struct exec_command *c)
{
	char *line = arena_printf(r->arena, "%s%s%s", c->ignore_failure ? "-" : "",
				  c->no_substitution ? ":" : "", c->path);

	for (size_t i = 1; line && c->argv[0] && c->argv[i]; i++) {
		char *word = quote(r->arena, c->argv[i]);

		line = word ? arena_printf(r->arena, "%s %s", line, word) : NULL;
	}
	r->is_failed |= !line;
	return line;
}

static void report_commands(struct report *r, const char *key, const struct exec_commands *list)
{
	const char **line = arena_alloc(r->arena, (list->n + 1) * sizeof(*line));

	r->is_failed |= !line;
	for (size_t i = 0; i < list->n && !r->is_failed; i++)
		line[i] = command_line(r, &list->item[i]);
	if (!r->is_failed)
		report_strings(r, key, line);
}

static void report_all_commands(struct report *r, const struct service_spec *spec)
{
	static const char *const key[] = {
		[EXEC_CONDITION] = "exec_condition",
		[EXEC_START_PRE] = "exec_start_pre",
		[EXEC_START] = "exec_start",
		[EXEC_START_POST] = "exec_start_post",
		[EXEC_STOP] = "exec_stop",
		[EXEC_STOP_POST] = "exec_stop_post",
	};
	_Static_assert(ELEMENTS(key) == EXEC_PHASE_COUNT, "a key for each phase");

	for (size_t i = 0; i < ELEMENTS(key); i++)
		report_commands(r, key[i], &spec->command[i]);
}

static void report_environment(struct report *r, const struct service_spec *spec)
{
	const char **file =
		arena_alloc(r->arena, (spec->exec->n_environment_files + 1) * sizeof(*file));

	r->is_failed |= !file;
	for (size_t i = 0; i < spec->exec->n_environment_files && !r->is_failed; i++) {
		file[i] = arena_printf(r->arena, "%s%s",
				       spec->exec->environment_file[i].is_optional ? "-" : "",
				       spec->exec->environment_file[i].path);
		r->is_failed |= !file[i];
	}
	if (r->is_failed)
		return;
	report_strings(r, "environment", spec->exec->environment);
	report_strings(r, "environment_file", file);
	report_strings(r, "pass_environment", spec->exec->pass_environment);
	report_strings(r, "unset_environment", spec->exec->unset_environment);
}

static const char *kill_mode_to_string(enum kill_mode m)
{
	static const char *const name[] = {
		[KILL_CONTROL_GROUP] = "control-group",
		[KILL_MIXED] = "mixed",
		[KILL_PROCESS] = "process",
		[KILL_NONE] = "none",
	};
	return name[m];
}

static void report_kill(struct report *r, const struct service_spec *spec)
{
	char buf[16];
	char *signal = arena_printf(r->arena, "SIG%s", value_signal_name(spec->kill_signal, buf));

	r->is_failed |= !signal;
	report_string(r, "kill_mode", kill_mode_to_string(spec->kill_mode));
	report_string(r, "kill_signal", signal);
	report_bool(r, "send_sigkill", spec->send_sigkill);
	report_bool(r, "send_sighup", spec->send_sighup);
}

static void report_identity(struct report *r, const struct service_spec *spec)
{
	char *mask = arena_printf(r->arena, "%04o", (unsigned) spec->exec->umask);

	r->is_failed |= !mask;
	report_string(r, "user", spec->exec->user);
	report_string(r, "group", spec->exec->group);
	report_strings(r, "supplementary_groups", spec->exec->supplementary_groups);
	report_string(r, "working_directory", spec->exec->working_directory);
	report_string(r, "umask", mask);
	if (spec->exec->has_nice)
		report_number(r, "nice", spec->exec->nice);
	else
		report_null(r, "nice");
}

void report_unit_properties(struct report *r, const struct unit_config *c, bool with_commands)
{
	const struct service_spec *spec = c->spec;

	if (!spec || c->load == UNIT_INVALID)
		return;
	report_string(r, "type", spec->type_name);
	if (c->load != UNIT_LOADED)
		return;
	report_bool(r, "remain_after_exit", spec->remain_after_exit);
	report_span(r, "timeout_start", spec->timeout_start);
	report_span(r, "timeout_stop", spec->timeout_stop);
	report_kill(r, spec);
	report_identity(r, spec);
	if (!with_commands)
		return;
	report_all_commands(r, spec);
	report_environment(r, spec);
}
