/* SPDX-License-Identifier: MIT */
#include "cli/cli_timers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

/* A row, with what it is sorted by. */
struct entry {
	usec_t next;
	const char *unit;
	const struct supd_row *row;
};

/* The answer, taken apart. The rows stay the reply's. */
struct listing {
	const struct supd_row *subsystem; /* NULL: the answer was empty */
	struct entry *timer;
	size_t n_timers;
	struct entry *invalid;
	size_t n_invalid;
	struct entry *all; /* memory of both */
};

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* Timers that are off are left out unless they are asked for. */
static bool is_off(const struct supd_row *row)
{
	const struct supd_field *enabled = row_field(row, "enabled");

	return (enabled && enabled->type == SUPD_BOOL && !enabled->value.boolean) ||
	       str_equal(or_empty(row_string(row, "state")), "dead");
}

/* By next elapse, those without one last; then by name. */
static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->next != y->next)
		return x->next < y->next ? -1 : 1;
	return strcmp(x->unit, y->unit);
}

static bool take_apart(const struct cli *c, const struct control_reply *reply, int argc,
		       char **argv, struct listing *ret)
{
	struct entry *entry = calloc(2 * reply->n + 1, sizeof(*entry));
	struct listing l = { .timer = entry, .all = entry };

	if (!entry)
		return false;
	l.invalid = entry + reply->n;
	l.subsystem = reply->n > 0 ? &reply->row[0] : NULL;
	for (size_t i = 1; i < reply->n; i++) {
		const struct supd_row *row = &reply->row[i];
		const struct entry e = { row_usec(row, "next"), or_empty(row_string(row, "unit")),
					 row };

		if (!cli_matches(e.unit, argc - 1, argv + 1))
			continue;
		if (str_equal(or_empty(row_string(row, "load_state")), "invalid"))
			l.invalid[l.n_invalid++] = e;
		else if (cli_has(c, CLI_ALL) || !is_off(row))
			l.timer[l.n_timers++] = e;
	}
	qsort(l.timer, l.n_timers, sizeof(*l.timer), compare);
	qsort(l.invalid, l.n_invalid, sizeof(*l.invalid), compare);
	*ret = l;
	return true;
}

static void listing_done(struct listing *l)
{
	free(l->all);
}

/* ---- JSON ---- */

static json_t *object_without_kind(const struct supd_row *row)
{
	json_t *object = rows_json_object(row);

	if (object)
		(void) json_object_del(object, "kind");
	return object;
}

static json_t *array_of(const struct entry *entry, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(array, object_without_kind(entry[i].row)) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

/* "enabled" where the answer does not say. */
static const char *state_of(const struct listing *l)
{
	const char *state = l->subsystem ? row_string(l->subsystem, "state") : NULL;

	return state ? state : "enabled";
}

static json_t *listing_json(const struct listing *l)
{
	static const struct supd_row nothing = { NULL, 0 };

	return json_pack("{s:o, s:o, s:o}", "subsystem",
			 rows_json_object(l->subsystem ? l->subsystem : &nothing), "timers",
			 array_of(l->timer, l->n_timers), "invalid",
			 array_of(l->invalid, l->n_invalid));
}

/* ---- for people ---- */

static enum table_style result_style(const char *result)
{
	if (!result)
		return TABLE_PLAIN;
	if (str_starts(result, "failed"))
		return TABLE_BAD;
	return str_starts(result, "retry") || str_starts(result, "missed") ? TABLE_WARNING
									   : TABLE_PLAIN;
}

static void add_timer(struct table *t, const struct supd_row *row)
{
	const char *result = row_string(row, "result");
	char buf[FORMAT_TIME_MAX];

	if (row_bool(row, "never"))
		table_add(t, "never", TABLE_BAD);
	else
		table_add(t, format_timestamp(buf, sizeof(buf), row_usec(row, "next")),
			  TABLE_PLAIN);
	table_add(t, format_left(buf, sizeof(buf), row_usec(row, "left")), TABLE_PLAIN);
	table_add(t, format_timestamp(buf, sizeof(buf), row_usec(row, "last")), TABLE_PLAIN);
	table_add(t, format_ago(buf, sizeof(buf), row_usec(row, "passed")), TABLE_PLAIN);
	table_add(t, row_string(row, "unit"), TABLE_PLAIN);
	table_add(t, row_string(row, "activates"), TABLE_PLAIN);
	table_add(t, result, result_style(result));
}

/* What is only a warning is not why it is not run; status and verify tell it. */
static bool is_mistake(const struct supd_row *problem)
{
	const char *severity = row_string(problem, "severity");

	return !severity || str_equal(severity, "error");
}

static void print_invalid(const struct supd_row *row)
{
	const char *message = row_string(row, "message"), *unit = or_empty(row_string(row, "unit"));
	size_t n;
	const struct supd_row *problem = row_rows(row, "problems", &n);

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *text = cli_problem(&problem[i]);
		const char *file = row_string(&problem[i], "file");

		if (!is_mistake(&problem[i]))
			continue;
		fputs("  ", stdout);
		/* A problem of no file names the unit, so that every line can be understood by
		 * itself. */
		if (!file) {
			cli_print_text(unit);
			fputs(": ", stdout);
		}
		puts(text ? text : "");
	}
	if (n > 0)
		return;
	fputs("  ", stdout);
	cli_print_text(unit);
	fputs(message ? ": " : "", stdout);
	cli_print_text(or_empty(message));
	putchar('\n');
}

static void print_footer(const struct cli *c, const struct listing *l)
{
	cli_print_legend(c, "\n%zu timers listed.\n", l->n_timers);
	if (!cli_has(c, CLI_ALL))
		cli_print_legend(c, "Pass --all to see loaded but inactive timers, too.\n");
	if (l->n_invalid == 0)
		return;
	printf("\n%s%zu timer%s invalid and not run:%s\n",
	       table_style_begin(TABLE_BAD, c->has_color), l->n_invalid,
	       l->n_invalid == 1 ? " is" : "s are", table_style_end(TABLE_BAD, c->has_color));
	for (size_t i = 0; i < l->n_invalid; i++)
		print_invalid(l->invalid[i].row);
}

static void print_unpersisted(const struct cli *c, const struct supd_row *subsystem)
{
	usec_t since = row_usec(subsystem, "not_persisted_since");
	char buf[FORMAT_TIME_MAX];

	if (since == USEC_NEVER)
		return;
	printf("%snot persisted since %s%s: the state cannot be written, a restart would forget what happened since\n",
	       table_style_begin(TABLE_WARNING, c->has_color),
	       format_timestamp(buf, sizeof(buf), since),
	       table_style_end(TABLE_WARNING, c->has_color));
}

int cli_timers_closed(const struct supd_row *subsystem, const char *state)
{
	static const struct {
		const char *state, *advice;
	} advices[] = {
		{ "disabled", "; 'supctl experimental enable timers' turns them on" },
		{ "paused", "; 'supctl resume' lets them go on" },
	};
	const char *reason = row_string(subsystem, "reason"), *advice = "";
	bool has_failed = str_equal(state, "failed");

	for (size_t i = 0; i < ELEMENTS(advices); i++)
		if (str_equal(state, advices[i].state))
			advice = advices[i].advice;
	fputs(has_failed ? "timers have " : "timers are ", stdout);
	cli_print_text(state);
	if (reason) {
		fputs(": ", stdout);
		cli_print_text(reason);
	}
	/* The daemon's own reason may say what to do, too. */
	puts(reason && strstr(reason, "supctl") ? "" : advice);
	return has_failed ? CONTROL_FAILED : CONTROL_OK;
}

static int print_listing(struct cli *c, const struct listing *l)
{
	static const struct table_column columns[] = {
		{ "NEXT", false }, { "LEFT", false },     { "LAST", false },   { "PASSED", false },
		{ "UNIT", true },  { "ACTIVATES", true }, { "RESULT", true },
	};
	const char *state = state_of(l);
	struct table t;
	int status;

	if (!str_equal(state, "enabled"))
		return cli_timers_closed(l->subsystem, state);
	table_init(&t, columns, ELEMENTS(columns));
	for (size_t i = 0; i < l->n_timers; i++)
		add_timer(&t, l->timer[i].row);
	status = cli_print_table(c, &t);
	table_done(&t);
	print_footer(c, l);
	if (l->subsystem)
		print_unpersisted(c, l->subsystem);
	return status;
}

int cli_timers(struct cli *c, int argc, char **argv)
{
	/* Of the rows of timers that are well, as few as can be: they are many. */
	static const char *const keys[] = {
		"subsystem", "reason",    "not_persisted_since", "load_state", "next",    "left",     "last",    "passed",
		"unit",      "activates", "result",              "state",      "enabled", "problems", "message", "never",
		NULL,
	};
	_cleanup_(control_reply_done) struct control_reply reply;
	_cleanup_(listing_done) struct listing l = { 0 };

	if (cli_ask_keys(c, &reply, "ListTable", keys, "sss", "timer", "units", "") != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (!take_apart(c, &reply, argc, argv, &l))
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, listing_json(&l),
				      str_equal(state_of(&l), "failed") ? CONTROL_FAILED
									: CONTROL_OK);
	return print_listing(c, &l);
}
