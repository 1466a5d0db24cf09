/* SPDX-License-Identifier: MIT */
#include "cli/cli_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "cli/cli.h"
#include "cli/cli_logs.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

#define LAST_LINES 10
#define LABEL_WIDTH 12 /* "Triggered by", the longest */

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void label(const char *text)
{
	printf("%*s: ", LABEL_WIDTH, text);
}

static void line(const char *name, const char *text)
{
	if (!text)
		return;
	label(name);
	cli_print_text(text);
	putchar('\n');
}

static void styled(const struct cli *c, enum table_style style, const char *text)
{
	fputs(table_style_begin(style, c->has_color), stdout);
	cli_print_text(text);
	fputs(table_style_end(style, c->has_color), stdout);
}

/* ---- the lines of a unit ---- */

static enum table_style state_style(const char *load, const char *active)
{
	if (str_equal(active, "failed") || str_equal(load, "invalid"))
		return TABLE_BAD;
	return str_equal(active, "active") || str_equal(active, "activating") ? TABLE_GOOD
									      : TABLE_PLAIN;
}

static void print_title(const struct cli *c, const struct supd_row *row)
{
	const char *description = row_string(row, "description");

	styled(c,
	       state_style(or_empty(row_string(row, "load_state")),
			   or_empty(row_string(row, "active_state"))),
	       c->is_utf8 ? "●" : "*");
	putchar(' ');
	cli_print_text(or_empty(row_string(row, "unit")));
	if (description && *description) {
		fputs(" - ", stdout);
		cli_print_text(description);
	}
	putchar('\n');
}

static void print_loaded(const struct cli *c, const struct supd_row *row)
{
	const char *load = or_empty(row_string(row, "load_state")),
		   *fragment = row_string(row, "fragment");
	bool is_loaded = str_equal(load, "loaded");
	const struct supd_field *enabled = row_field(row, "enabled");

	label("Loaded");
	styled(c, is_loaded ? TABLE_PLAIN : state_style(load, ""), load);
	if (!fragment && !is_loaded) {
		putchar('\n');
		return;
	}
	fputs(" (", stdout);
	cli_print_text(or_empty(fragment));
	if (enabled && enabled->type == SUPD_BOOL && is_loaded)
		printf("%s%s", fragment ? "; " : "",
		       enabled->value.boolean ? "enabled" : "disabled");
	fputs(")\n", stdout);
}

static void print_list(const char *name, const struct supd_row *row, const char *key)
{
	size_t n;
	const char *const *list = row_strings(row, key, &n);

	for (size_t i = 0; i < n; i++) {
		if (i == 0)
			label(name);
		else
			printf("%*s", LABEL_WIDTH + 2, "");
		cli_print_text(list[i]);
		putchar('\n');
	}
}

/* "since Sat …; 6s ago": running since it started, at rest since it ended. */
static void print_since(const struct cli *c, const struct supd_row *row, const char *active)
{
	usec_t ended = row_usec(row, "ended"), started = row_usec(row, "started");
	bool is_going = str_equal(active, "active") || str_equal(active, "activating");
	usec_t since = is_going || ended == USEC_NEVER ? started : ended;
	char buf[FORMAT_TIME_MAX];

	if (since == USEC_NEVER || since == 0)
		return;
	printf(" since %s", format_timestamp(buf, sizeof(buf), since));
	printf("; %s", format_ago(buf, sizeof(buf), usec_sub(c->now, since)));
}

static void print_active(const struct cli *c, const struct supd_row *row)
{
	const char *active = or_empty(row_string(row, "active_state")),
		   *sub = row_string(row, "sub_state");

	label("Active");
	styled(c, state_style("", active), active);
	if (sub) {
		fputs(" (", stdout);
		cli_print_text(sub);
		putchar(')');
	}
	print_since(c, row, active);
	putchar('\n');
}

/* ---- the lines of a timer ---- */

static void print_elapse(const char *name, usec_t when, const char *distance, const char *cause)
{
	char buf[FORMAT_TIME_MAX];

	label(name);
	printf("%s; %s", format_timestamp(buf, sizeof(buf), when), distance);
	if (cause)
		fputs(", ", stdout);
	cli_print_text(or_empty(cause));
	putchar('\n');
}

/* "OnCalendar=daily, next Sat …" for each. */
static void print_conditions(const struct supd_row *row)
{
	size_t n;
	const struct supd_row *trigger = row_rows(row, "timer_triggers", &n);
	char buf[FORMAT_TIME_MAX];

	for (size_t i = 0; i < n; i++) {
		usec_t next = row_usec(&trigger[i], "next");
		const char *note = row_string(&trigger[i], "note");

		label("Trigger");
		cli_print_text(or_empty(row_string(&trigger[i], "key")));
		putchar('=');
		cli_print_text(or_empty(row_string(&trigger[i], "value")));
		fputs(", ", stdout);
		if (next != USEC_NEVER)
			printf("next %s", format_timestamp(buf, sizeof(buf), next));
		else
			cli_print_text(note ? note : "next never");
		putchar('\n');
	}
}

static const struct supd_row *inner_row(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = row_field(row, key);

	return f && f->type == SUPD_ROW ? f->value.row : NULL;
}

static void print_retry(const struct supd_row *retry)
{
	char buf[FORMAT_TIME_MAX];

	if (!retry)
		return;
	label("Retry");
	printf("%" PRId64 " of %" PRId64 " at %s\n", row_number(retry, "attempt", 0),
	       row_number(retry, "of", 0),
	       format_timestamp(buf, sizeof(buf), row_usec(retry, "at")));
}

static void print_misses(const struct supd_row *row, const struct supd_row *miss)
{
	char buf[FORMAT_TIME_MAX];
	int64_t in_a_row;

	if (!miss)
		return;
	in_a_row = row_number(miss, "count", 1);
	label("Missed");
	printf("%s, ", format_timestamp(buf, sizeof(buf), row_usec(miss, "at")));
	cli_print_text(or_empty(row_string(miss, "reason")));
	if (in_a_row > 1)
		printf(", %" PRId64 " in a row", in_a_row);
	printf("; %" PRId64 " in all\n", row_number(row, "miss_count", in_a_row));
}

static void print_timer(const struct supd_row *row)
{
	char buf[FORMAT_TIME_MAX];

	print_conditions(row);
	if (row_usec(row, "next") == USEC_NEVER)
		line("Next", row_bool(row, "never") ? "never" : "-");
	else
		print_elapse("Next", row_usec(row, "next"),
			     format_left(buf, sizeof(buf), row_usec(row, "left")),
			     row_string(row, "next_cause"));
	line("Activates", row_string(row, "activates"));
	if (row_usec(row, "last") != USEC_NEVER)
		print_elapse("Last", row_usec(row, "last"),
			     format_ago(buf, sizeof(buf), row_usec(row, "passed")), NULL);
	line("Result", row_string(row, "result"));
	print_retry(inner_row(row, "retry"));
	print_misses(row, inner_row(row, "last_miss"));
	print_list("In words", row, "words");
}

/* ---- the lines of a service ---- */

/* As systemctl tells it: when, and below it which. */
static void print_unmet(const struct cli *c, const struct supd_row *row)
{
	const char *unmet = row_string(row, "unmet");
	bool is_assert = row_bool(row, "condition_result");
	char buf[FORMAT_TIME_MAX];
	usec_t ended = row_usec(row, "ended");

	if (!unmet)
		return;
	label(is_assert ? "Assert" : "Condition");
	printf("start %s failed", is_assert ? "assertion" : "condition");
	if (ended != USEC_NEVER) {
		printf(" at %s", format_timestamp(buf, sizeof(buf), ended));
		printf("; %s", format_ago(buf, sizeof(buf), usec_sub(c->now, ended)));
	}
	printf("\n%*s%s ", LABEL_WIDTH + 2, "", c->is_utf8 ? "└─" : "`-");
	cli_print_text(unmet);
	putchar('\n');
}

static void print_run(const struct supd_row *row)
{
	const char *result = row_string(row, "result"), *cause = row_string(row, "cause");
	const char *trigger = row_string(row, "trigger");
	usec_t duration = row_usec(row, "duration");
	int64_t attempt = row_number(row, "attempt", 1);
	char buf[TIMESPAN_MAX];

	if (!result && !cause)
		return;
	label(result ? "Last run" : "Run");
	cli_print_text(or_empty(result));
	if (duration != USEC_NEVER)
		printf("%stook %s", result ? ", " : "",
		       timespan_print(buf, sizeof(buf), duration, USEC_PER_MSEC));
	if (cause) {
		fputs(result || duration != USEC_NEVER ? ", cause " : "cause ", stdout);
		cli_print_text(cause);
	}
	if (trigger) {
		fputs(" of ", stdout);
		cli_print_text(trigger);
	}
	if (attempt > 1)
		printf(", attempt %" PRId64, attempt);
	putchar('\n');
	line("Run ID", row_string(row, "run_id"));
}

/* What the job itself says: of its state only while there is one. */
static void print_said(const struct supd_row *row)
{
	const struct supd_row *metrics = inner_row(row, "metrics");
	const char *active = or_empty(row_string(row, "active_state")),
		   *status = row_string(row, "status_text");
	int64_t ignored = row_number(row, "metrics_ignored", 0);

	if (status && (str_equal(active, "active") || str_ends(active, "activating"))) {
		label("Status");
		fputs("\"", stdout);
		cli_print_text(status);
		fputs("\"\n", stdout);
	}
	if (!metrics)
		return;
	label("Metrics");
	for (size_t i = 0; i < metrics->n; i++) {
		_cleanup_free_ char *value = format_value(&metrics->field[i]);

		fputs(i > 0 ? " " : "", stdout);
		cli_print_text(metrics->field[i].key);
		printf("=%s", or_empty(value));
	}
	if (ignored > 0)
		printf(" (%" PRId64 " of further names ignored)", ignored);
	putchar('\n');
}

static void print_resources(const struct supd_row *row)
{
	int64_t pid = row_number(row, "main_pid", 0), memory = row_number(row, "peak_memory", 0);
	usec_t cpu = row_usec(row, "cpu");
	char buf[TIMESPAN_MAX];

	if (pid > 0) {
		label("Main PID");
		printf("%" PRId64 "\n", pid);
	}
	if (cpu != USEC_NEVER) {
		label("CPU");
		puts(timespan_print(buf, sizeof(buf), cpu, USEC_PER_MSEC));
	}
	if (memory > 0) {
		label("Memory");
		printf("%.1fM at most\n", (double) memory / (1024 * 1024));
	}
}

static void print_problems(const struct cli *c, const struct supd_row *row, const char *key)
{
	size_t n;
	const struct supd_row *problem = row_rows(row, key, &n);

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = cli_problem(&problem[i]);
		bool is_error = str_equal(or_empty(row_string(&problem[i], "severity")), "error");

		label(is_error ? "Error" : "Warning");
		styled(c, is_error ? TABLE_BAD : TABLE_PLAIN, text ? text : "");
		putchar('\n');
	}
}

/* "to start, for a.service; until Sat … at most" */
static void print_waiting(const struct cli *c, const struct supd_row *row)
{
	const char *words = row_string(row, "waiting");
	usec_t until = row_usec(row, "waits_until");
	char buf[FORMAT_TIME_MAX];

	if (!words)
		return;
	label("Waiting");
	cli_print_text(str_starts(words, "waits ") ? words + strlen("waits ") : words);
	if (until != USEC_NEVER) {
		printf(", until %s%s", format_timestamp(buf, sizeof(buf), until),
		       str_equal(or_empty(row_string(row, "sub_state")), "auto-restart")
			       ? ""
			       : " at most");
		printf("; %s", format_left(buf, sizeof(buf), usec_sub(until, c->now)));
	}
	putchar('\n');
}

static void print_service(const struct cli *c, const struct supd_row *row)
{
	print_waiting(c, row);
	print_unmet(c, row);
	print_list("Triggered by", row, "triggered_by");
	print_run(row);
	print_said(row);
	print_resources(row);
}

static void print_unit(const struct cli *c, const struct supd_row *row)
{
	print_title(c, row);
	print_loaded(c, row);
	print_list("Drop-In", row, "dropins");
	print_active(c, row);
	/* An invalid timer has no schedule. */
	if (row_field(row, "activates"))
		print_timer(row);
	else
		print_service(c, row);
	print_problems(c, row, "refused");
	print_problems(c, row, "problems");
}

/* ---- the daemon ---- */

static void print_daemon(const struct cli *c, const struct control_reply *version, size_t n_units)
{
	const struct supd_row *row = &version->row[0];
	const char *state = or_empty(row_string(row, "state"));

	styled(c, str_equal(state, "running") ? TABLE_GOOD : TABLE_WARNING, c->is_utf8 ? "●" : "*");
	fputs(" supd ", stdout);
	cli_print_text(or_empty(row_string(row, "version")));
	fputs(": ", stdout);
	cli_print_text(state);
	print_since(c, row, "active");
	printf(", %zu units\n", n_units);
}

static int status_of_all(struct cli *c)
{
	_cleanup_(control_reply_done) struct control_reply version = { 0 }, reply = { 0 };

	if (cli_ask(c, &version, "GetVersion", "") != CONTROL_OK)
		return cli_fail_reply(c, &version);
	if (cli_ask(c, &reply, "GetUnit", "s", "") != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_array(reply.row, reply.n), CONTROL_OK);
	if (version.n > 0)
		print_daemon(c, &version, reply.n);
	for (size_t i = 0; i < reply.n; i++) {
		putchar('\n');
		print_unit(c, &reply.row[i]);
	}
	return CONTROL_OK;
}

/* ---- some units ---- */

/* Of its last run, as systemctl shows them, for those who may see them. */
static void print_last_lines(struct cli *c, const struct supd_row *row)
{
	_cleanup_free_ char *lines = NULL;
	size_t n = 0;
	FILE *f;

	if (!row_string(row, "run_id") || row_field(row, "activates"))
		return;
	f = open_memstream(&lines, &n);
	if (!f)
		return;
	cli_logs_tail(c, row, LAST_LINES, f);
	if (fclose(f) == 0 && n > 0)
		printf("\n%s", lines);
}

static int status_of_one(struct cli *c, const char *typed, json_t *answers, bool *is_first)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	char unit[CLI_UNIT_MAX];
	int r = cli_unit_name(c, typed, ".service", unit);

	if (r != 0)
		return r;
	(void) cli_ask(c, &reply, "GetUnit", "s", unit);
	if (reply.n == 0)
		return cli_fail_reply(c, &reply);
	for (size_t i = 0; i < reply.n; i++) {
		if (answers) {
			(void) json_array_append_new(answers, rows_json_object(&reply.row[i]));
			continue;
		}
		if (!*is_first)
			putchar('\n');
		*is_first = false;
		print_unit(c, &reply.row[i]);
		print_last_lines(c, &reply.row[i]);
	}
	return reply.status;
}

/* Statuses 3 and 4 can come with rows: about a unit that is not active, or not valid. */
int cli_status(struct cli *c, int argc, char **argv)
{
	json_t *answers;
	bool is_first = true;
	int status = CONTROL_OK;

	if (argc == 1)
		return status_of_all(c);
	answers = c->json != CLI_JSON_OFF ? json_array() : NULL;
	for (int i = 1; i < argc; i++) {
		size_t before = json_array_size(answers);
		int r = status_of_one(c, argv[i], answers, &is_first);

		status = cli_worse(status, r);
		/* The error object has been printed: that is the answer. */
		if (answers && r != CONTROL_OK && json_array_size(answers) == before) {
			json_decref(answers);
			return r;
		}
	}
	return answers ? cli_print_json(c, answers, status) : status;
}
