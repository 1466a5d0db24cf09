/* SPDX-License-Identifier: MIT */
#include "cli/cli_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "cli/cli.h"
#include "cli/cli_time.h"
#include "cli/openmetrics.h"
#include "cli/past.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

struct output {
	struct cli *cli;
	struct table table;
	json_t *array;              /* with --json */
	struct openmetrics metrics; /* with --openmetrics */
	bool is_failed;
	size_t n;
};

/* ---- for people ---- */

static void add_count(struct table *t, const struct supd_row *row, const char *key,
		      enum table_style style)
{
	int64_t n = row_number(row, key, 0);
	char text[32];

	(void) snprintf(text, sizeof(text), "%" PRId64, n);
	table_add(t, text, n > 0 ? style : TABLE_DIM);
}

static void add_span(struct table *t, const struct supd_row *row, const char *key)
{
	usec_t span = row ? row_usec(row, key) : USEC_NEVER;
	char buf[TIMESPAN_MAX];

	if (span == USEC_NEVER)
		table_add(t, "-", TABLE_PLAIN);
	else if (span < USEC_PER_MSEC)
		table_add(t, "0", TABLE_PLAIN);
	else
		table_add(t,
			  timespan_print(buf, sizeof(buf), span,
					 span < USEC_PER_MINUTE ? USEC_PER_MSEC : USEC_PER_SEC),
			  TABLE_PLAIN);
}

static const struct supd_row *part(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = row_field(row, key);

	return f && f->type == SUPD_ROW ? f->value.row : NULL;
}

static void add_row(struct table *t, const struct supd_row *row)
{
	const struct supd_row *duration = part(row, "duration"), *lateness = part(row, "lateness");
	char buf[FORMAT_TIME_MAX];

	table_add(t, row_string(row, "unit"), TABLE_PLAIN);
	add_count(t, row, "runs", TABLE_PLAIN);
	add_count(t, row, "success", TABLE_GOOD);
	add_count(t, row, "failed", TABLE_BAD);
	add_count(t, row, "missed", TABLE_WARNING);
	add_count(t, row, "healed", TABLE_PLAIN);
	add_span(t, duration, "average");
	add_span(t, duration, "p50");
	add_span(t, duration, "p95");
	add_span(t, duration, "p99");
	add_span(t, duration, "max");
	add_span(t, lateness, "p95");
	add_span(t, row, "cpu");
	table_add(t, format_timestamp(buf, sizeof(buf), row_usec(row, "last_success")),
		  TABLE_PLAIN);
}

/* What would make the table too wide: one line each, below it. */
static void print_more(const struct supd_row *row, const char *key, const char *heading,
		       const char *sum)
{
	const struct supd_row *all = part(row, key);

	for (size_t i = 0; all && i < all->n; i++) {
		const struct supd_field *f = &all->field[i];
		const struct supd_field *shown = f->type == SUPD_ROW ? row_field(f->value.row, sum)
								     : f;
		_cleanup_free_ char *value = shown ? format_value(shown) : NULL;

		cli_print_text(row_string(row, "unit") ? row_string(row, "unit") : "");
		printf(": %s ", heading);
		cli_print_text(f->key);
		printf(": %s\n", value ? value : "-");
	}
}

/* ---- the verb ---- */

static void on_row(void *userdata, const struct supd_row *row)
{
	struct output *o = userdata;

	o->n++;
	if (cli_has(o->cli, CLI_OPENMETRICS))
		o->is_failed |= openmetrics_add(&o->metrics, row) < 0;
	else if (o->array)
		o->is_failed |= json_array_append_new(o->array, rows_json_object(row)) < 0;
	else
		add_row(&o->table, row);
}

static void on_row_again(void *userdata, const struct supd_row *row)
{
	(void) userdata;
	print_more(row, "misses", "missed for", "count");
	print_more(row, "metrics", "sum of metric", "sum");
}

static int show_people(struct output *o, const struct past_question *q)
{
	int status = cli_print_table(o->cli, &o->table);

	cli_print_legend(o->cli, "\n%zu services.\n", o->n);
	return status == CONTROL_OK ? past_sum(o->cli, q, on_row_again, o) : status;
}

static int show(struct output *o, const struct past_question *q)
{
	struct cli *c = o->cli;

	if (o->is_failed)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	if (cli_has(c, CLI_OPENMETRICS))
		return openmetrics_print(c, &o->metrics, stdout);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, TAKE_PTR(o->array), CONTROL_OK);
	return show_people(o, q);
}

static int sum(struct cli *c, const struct past_question *q)
{
	static const struct table_column columns[] = {
		{ "UNIT", true },    { "RUNS", false },         { "OK", false },
		{ "FAILED", false }, { "MISSED", false },       { "HEALED", false },
		{ "AVG", false },    { "P50", false },          { "P95", false },
		{ "P99", false },    { "MAX", false },          { "LATE P95", false },
		{ "CPU", false },    { "LAST SUCCESS", false },
	};
	struct output o = { .cli = c, .array = c->json != CLI_JSON_OFF ? json_array() : NULL };
	int status;

	table_init(&o.table, columns, ELEMENTS(columns));
	status = past_sum(c, q, on_row, &o);
	if (status == CONTROL_OK)
		status = show(&o, q);
	table_done(&o.table);
	openmetrics_done(&o.metrics);
	json_decref(o.array);
	return status;
}

int cli_stats(struct cli *c, int argc, char **argv)
{
	_cleanup_(past_units_free) const char *const *unit = NULL;
	struct past_question q = { .until = USEC_NEVER };
	int status = cli_time(c, "since", c->since, &q.since);

	if (status == CONTROL_OK)
		status = cli_time(c, "until", c->until, &q.until);
	if (status == CONTROL_OK && cli_has(c, CLI_OPENMETRICS) && (c->since || c->until))
		status = cli_fail(
			c, CONTROL_USAGE,
			"--openmetrics counts all there ever was: it takes neither --since= nor --until=");
	if (status == CONTROL_OK)
		status = past_units(c, argc - 1, argv + 1, &unit);
	q.unit = unit;
	return status != CONTROL_OK ? status : sum(c, &q);
}
