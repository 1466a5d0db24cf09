/* SPDX-License-Identifier: MIT */
#include "cli/cli_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/cli_time.h"
#include "cli/past.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "service/history_record.h"

#define LINES_DEFAULT 50
#define RUN_SHOWN 8 /* digits of the run's id, as in the log of supd */

/* ---- the command line ---- */

static int read_number(const struct cli *c, const char *option, const char *text, uint64_t *ret)
{
	if (!text || value_unsigned(text, INT64_MAX, ret) >= 0)
		return CONTROL_OK;
	return cli_fail(c, CONTROL_USAGE, "--%s= wants a number, not '%s'", option, text);
}

static int read_lines(const struct cli *c, uint64_t *ret)
{
	if (c->lines && str_equal(c->lines, "all")) {
		*ret = UINT64_MAX;
		return CONTROL_OK;
	}
	*ret = LINES_DEFAULT;
	if (!c->lines || (value_unsigned(c->lines, INT64_MAX, ret) >= 0 && *ret > 0))
		return CONTROL_OK;
	return cli_fail(c, CONTROL_USAGE, "--lines= wants a number of runs or all, not '%s'",
			c->lines);
}

static const char *cause_at(void *userdata _unused_, size_t i)
{
	static const char *const known[] = {
		"calendar", "startup", "active", "unit-active", "unit-inactive", "boot", "clock-change", "timezone-change",
		"retry", "restart", "catch-up", "manual", "start-up", "dependency",
	};

	return i < ELEMENTS(known) ? known[i] : NULL;
}

static int check_words(const struct cli *c)
{
	uint8_t first[RUN_ID_BYTES], last[RUN_ID_BYTES];
	unsigned classes;

	if (c->result && !history_classes_from_string(c->result, &classes))
		return cli_fail(c, CONTROL_USAGE,
				"--result= wants words parted by commas (success, failed, skipped, stopped, interrupted,"
				" running, missed, gap), not '%s'",
				c->result);
	if (c->run && !history_run_range(c->run, first, last))
		return cli_fail(c, CONTROL_USAGE,
				"--run= wants a run's id or its first digits, not '%s'", c->run);
	if (c->cause && strchr(c->cause, ','))
		return cli_fail(c, CONTROL_USAGE, "--cause= wants one word, not '%s'", c->cause);
	if (c->cause)
		past_doubt_words("cause", c->cause, cause_at);
	return CONTROL_OK;
}

static int read_question(const struct cli *c, struct past_question *q)
{
	int status;

	*q = (struct past_question){
		.outcomes = c->result, .cause = c->cause, .run = c->run, .until = USEC_NEVER
	};
	status = read_lines(c, &q->lines);
	if (status == CONTROL_OK)
		status = read_number(c, "offset", c->offset, &q->offset);
	if (status == CONTROL_OK)
		status = check_words(c);
	if (status == CONTROL_OK)
		status = cli_time(c, "since", c->since, &q->since);
	return status != CONTROL_OK ? status : cli_time(c, "until", c->until, &q->until);
}

/* ---- the table ---- */

struct output {
	struct cli *cli;
	struct table table;
	json_t *array; /* NULL: for people */
	bool is_failed;
	size_t n;
};

static const char *span_text(char *buf, size_t n, usec_t span)
{
	usec_t accuracy = span < USEC_PER_SEC      ? USEC_PER_MSEC
			  : span < USEC_PER_MINUTE ? 10 * USEC_PER_MSEC
						   : USEC_PER_SEC;

	if (span == USEC_NEVER)
		return "-";
	return span < USEC_PER_MSEC ? "0" : timespan_print(buf, n, span, accuracy);
}

static const char *memory_text(char *buf, size_t n, int64_t bytes)
{
	static const char unit[] = "KMGT";
	double value = (double) bytes / 1024;
	size_t i = 0;

	if (bytes <= 0)
		return "-";
	for (; value >= 1024 && i + 2 < sizeof(unit); i++)
		value /= 1024;
	(void) snprintf(buf, n, "%.1f%c", value, unit[i]);
	return buf;
}

static enum table_style style_of(const char *outcome)
{
	if (!outcome)
		return TABLE_PLAIN;
	if (str_equal(outcome, "failed") || str_equal(outcome, "interrupted"))
		return TABLE_BAD;
	if (str_equal(outcome, "missed") || str_equal(outcome, "gap"))
		return TABLE_WARNING;
	return str_equal(outcome, "success") ? TABLE_GOOD : TABLE_PLAIN;
}

/* "retry 2", "missed: overlap", "missed 7: downtime". */
static void add_result(struct table *t, const struct supd_row *row)
{
	const char *outcome = row_string(row, "outcome"), *words = row_string(row, "words");
	int64_t count = row_number(row, "count", 1);
	char text[256];

	if (!row_string(row, "reason"))
		(void) snprintf(text, sizeof(text), "%s", words ? words : "");
	else if (count == 1)
		(void) snprintf(text, sizeof(text), "%s: %s", outcome ? outcome : "",
				words ? words : "");
	else
		(void) snprintf(text, sizeof(text), "%s %" PRId64 ": %s", outcome ? outcome : "",
				count, words ? words : "");
	table_add(t, text, style_of(outcome));
}

static void add_cause(struct table *t, const struct supd_row *row)
{
	const char *cause = row_string(row, "cause");
	int64_t attempt = row_number(row, "attempt", 1);
	char text[64];

	if (attempt <= 1) {
		table_add(t, cause, TABLE_PLAIN);
		return;
	}
	(void) snprintf(text, sizeof(text), "%s %" PRId64, cause ? cause : "", attempt - 1);
	table_add(t, text, TABLE_PLAIN);
}

static void add_row(struct table *t, const struct supd_row *row)
{
	const char *run = row_string(row, "run_id");
	char buf[FORMAT_TIME_MAX], span[TIMESPAN_MAX], id[RUN_SHOWN + 1] = "";

	table_add(t, format_timestamp(buf, sizeof(buf), row_usec(row, "time")), TABLE_PLAIN);
	table_add(t, span_text(span, sizeof(span), row_usec(row, "lateness")), TABLE_PLAIN);
	table_add(t, span_text(span, sizeof(span), row_usec(row, "duration")), TABLE_PLAIN);
	table_add(t, row_string(row, "unit"), TABLE_PLAIN);
	add_cause(t, row);
	add_result(t, row);
	table_add(t, span_text(span, sizeof(span), row_usec(row, "cpu")), TABLE_PLAIN);
	table_add(t, memory_text(buf, sizeof(buf), row_number(row, "peak_memory", 0)), TABLE_PLAIN);
	if (run)
		(void) snprintf(id, sizeof(id), "%.*s", RUN_SHOWN, run);
	table_add(t, id, TABLE_PLAIN);
}

/* ---- one run, whole ---- */

static void print_line(const char *key, const char *value)
{
	if (!value || str_equal(value, "-"))
		return;
	printf("%13s: ", key);
	cli_print_text(value);
	putchar('\n');
}

static void print_times(const struct supd_row *row)
{
	static const char *const times[] = { "scheduled", "started", "ended" };
	static const char *const spans[] = { "lateness", "duration", "cpu" };
	char buf[FORMAT_TIME_MAX], span[TIMESPAN_MAX];

	for (size_t i = 0; i < ELEMENTS(times); i++)
		print_line(times[i], format_timestamp(buf, sizeof(buf), row_usec(row, times[i])));
	for (size_t i = 0; i < ELEMENTS(spans); i++)
		print_line(spans[i], span_text(span, sizeof(span), row_usec(row, spans[i])));
	print_line("memory", memory_text(buf, sizeof(buf), row_number(row, "peak_memory", 0)));
}

static void print_metrics(const struct supd_row *row)
{
	const struct supd_field *f = row_field(row, "metrics");

	for (size_t i = 0; f && f->type == SUPD_ROW && i < f->value.row->n; i++) {
		_cleanup_free_ char *value = format_value(&f->value.row->field[i]);
		char text[128];

		(void) snprintf(text, sizeof(text), "%s = %s", f->value.row->field[i].key,
				value ? value : "");
		print_line("metric", text);
	}
}

static void print_whole(const struct supd_row *row)
{
	const char *output = row_string(row, "output");
	char attempt[32];

	print_line("run", row_string(row, "run_id"));
	print_line("unit", row_string(row, "unit"));
	print_line("trigger", row_string(row, "trigger"));
	print_line("cause", row_string(row, "cause"));
	(void) snprintf(attempt, sizeof(attempt), "%" PRId64, row_number(row, "attempt", 1));
	print_line("attempt", attempt);
	print_line("result", row_string(row, "words"));
	print_times(row);
	print_metrics(row);
	while (output && *output) {
		size_t n = strcspn(output, "\n");
		_cleanup_free_ char *line = strndup(output, n);

		print_line("output", line ? line : "");
		output += n + (output[n] == '\n');
	}
}

/* ---- the verb ---- */

static void on_row(void *userdata, const struct supd_row *row)
{
	struct output *o = userdata;

	if (o->array) {
		o->is_failed |= json_array_append_new(o->array, rows_json_object(row)) < 0;
	} else if (o->cli->run) {
		if (o->n > 0)
			putchar('\n');
		print_whole(row);
	} else {
		add_row(&o->table, row);
	}
	o->n++;
}

static int show(struct output *o)
{
	struct cli *c = o->cli;
	int status = CONTROL_OK;

	if (c->run && o->n == 0)
		return cli_fail(c, CONTROL_NO_UNIT,
				"no run with an id that begins with '%s' is on record", c->run);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, TAKE_PTR(o->array),
				      o->is_failed ? CONTROL_FAILED : CONTROL_OK);
	if (c->run)
		return CONTROL_OK;
	status = cli_print_table(c, &o->table);
	cli_print_legend(c, "\n%zu on record, newest first.\n", o->n);
	return status;
}

static int list(struct cli *c, const struct past_question *q)
{
	static const struct table_column columns[] = {
		{ "TIME", false }, { "LATE", false },   { "TOOK", false },
		{ "UNIT", true },  { "CAUSE", false },  { "RESULT", true },
		{ "CPU", false },  { "MEMORY", false }, { "RUN", false },
	};
	struct output o = { .cli = c, .array = c->json != CLI_JSON_OFF ? json_array() : NULL };
	int status;

	table_init(&o.table, columns, ELEMENTS(columns));
	status = past_list(c, q, on_row, &o);
	if (status == CONTROL_OK)
		status = show(&o);
	table_done(&o.table);
	json_decref(o.array);
	return status;
}

int cli_history(struct cli *c, int argc, char **argv)
{
	_cleanup_(past_units_free) const char *const *unit = NULL;
	struct past_question q;
	int status = read_question(c, &q);

	if (status == CONTROL_OK)
		status = past_units(c, argc - 1, argv + 1, &unit);
	q.unit = unit;
	return status != CONTROL_OK ? status : list(c, &q);
}
