/* SPDX-License-Identifier: MIT */
#include "cli/cli_why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "unit/name.h"

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static void print_next(const struct cli *c, const struct supd_row *row)
{
	const char *never = row_string(row, "never_reason"), *rule = row_string(row, "next_rule");
	usec_t next = row_usec(row, "next");
	char buf[FORMAT_TIME_MAX];

	cli_print_text(or_empty(row_string(row, "unit")));
	fputs(" activates ", stdout);
	cli_print_text(or_empty(row_string(row, "activates")));
	putchar('\n');
	if (next != USEC_NEVER) {
		printf("Next: %s; ", format_timestamp(buf, sizeof(buf), next));
		printf("%s\n  by: ", format_left(buf, sizeof(buf), row_usec(row, "left")));
		cli_print_text(rule ? rule : or_empty(row_string(row, "next_cause")));
		putchar('\n');
		return;
	}
	printf("Next: %s%s%s", table_style_begin(never ? TABLE_BAD : TABLE_PLAIN, c->has_color),
	       never ? "never" : "-",
	       table_style_end(never ? TABLE_BAD : TABLE_PLAIN, c->has_color));
	fputs(never ? ": " : "", stdout);
	cli_print_text(or_empty(never));
	putchar('\n');
}

static int print_considered(const struct cli *c, const struct supd_row *row)
{
	static const struct table_column columns[] = { { "RULE", true },
						       { "NEXT", false },
						       { "VERDICT", true } };
	size_t n;
	const struct supd_row *rule = row_rows(row, "considered", &n);
	struct table t;
	int status;

	if (n == 0)
		return CONTROL_OK;
	table_init(&t, columns, ELEMENTS(columns));
	for (size_t i = 0; i < n; i++) {
		bool is_chosen = row_bool(&rule[i], "chosen");
		char buf[FORMAT_TIME_MAX];

		table_add(&t, row_string(&rule[i], "rule"), is_chosen ? TABLE_GOOD : TABLE_PLAIN);
		table_add(&t, format_timestamp(buf, sizeof(buf), row_usec(&rule[i], "next")),
			  TABLE_PLAIN);
		table_add(&t, row_string(&rule[i], "note"), TABLE_PLAIN);
	}
	putchar('\n');
	status = cli_print_table(c, &t);
	table_done(&t);
	return status;
}

static enum table_style outcome_style(const char *outcome)
{
	if (strncmp(outcome, "failed", strlen("failed")) == 0)
		return TABLE_BAD;
	return strncmp(outcome, "missed", strlen("missed")) == 0 ? TABLE_WARNING : TABLE_PLAIN;
}

static void add_moment(struct table *t, const struct supd_row *moment)
{
	const char *outcome = or_empty(row_string(moment, "outcome"));
	int64_t attempts = row_number(moment, "attempts", 0),
		count = row_number(moment, "count", 1);
	char time[FORMAT_TIME_MAX], words[256];

	if (count > 1)
		(void) snprintf(words, sizeof(words), "%s, and %" PRId64 " before it", outcome,
				count - 1);
	else if (attempts > 1)
		(void) snprintf(words, sizeof(words), "%s at attempt %" PRId64, outcome, attempts);
	else
		(void) snprintf(words, sizeof(words), "%s", outcome);
	table_add(t, format_timestamp(time, sizeof(time), row_usec(moment, "scheduled")),
		  TABLE_PLAIN);
	table_add(t, row_string(moment, "cause"), TABLE_PLAIN);
	table_add(t, words, outcome_style(outcome));
}

/* The newest first. */
static int print_moments(const struct cli *c, const struct supd_row *row)
{
	static const struct table_column columns[] = { { "SCHEDULED", false },
						       { "CAUSE", false },
						       { "OUTCOME", true } };
	size_t n;
	const struct supd_row *moment = row_rows(row, "moments", &n);
	struct table t;
	int status;

	if (n == 0) {
		cli_print_legend(c,
				 "\nNone of its moments has come since timers were turned on.\n");
		return CONTROL_OK;
	}
	table_init(&t, columns, ELEMENTS(columns));
	for (size_t i = n; i > 0; i--)
		add_moment(&t, &moment[i - 1]);
	putchar('\n');
	status = cli_print_table(c, &t);
	table_done(&t);
	return status;
}

static void print_words(const struct supd_row *row)
{
	size_t n;
	const char *const *words = row_strings(row, "words", &n);

	if (n > 0)
		putchar('\n');
	for (size_t i = 0; i < n; i++) {
		cli_print_text(words[i]);
		putchar('\n');
	}
}

static int print_why(const struct cli *c, const struct supd_row *row)
{
	int status;

	print_next(c, row);
	status = print_considered(c, row);
	if (status == CONTROL_OK)
		status = print_moments(c, row);
	print_words(row);
	return status;
}

int cli_why(struct cli *c, int argc _unused_, char **argv)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	char unit[CLI_UNIT_MAX];
	int r = cli_unit_name(c, argv[1], ".timer", unit);

	if (r != 0)
		return r;
	if (unit_name_kind(unit) != UNIT_TIMER)
		return cli_fail(c, CONTROL_NO_UNIT,
				"%s is no timer; supctl status tells of a service", unit);
	if (cli_ask_keys(c, &reply, "ListTable", NULL, "sss", "timer", "why", unit) != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (reply.n < 2)
		return cli_fail(c, CONTROL_FAILED, "supd has no answer about %s", unit);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_object(&reply.row[1]), CONTROL_OK);
	return print_why(c, &reply.row[1]);
}
