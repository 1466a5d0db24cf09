/* SPDX-License-Identifier: MIT */
#include "cli/cli_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "cli/cli.h"
#include "cli/cli_time.h"
#include "cli/cli_timers.h"
#include "cli/past.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

#define KEY_MAX (CLI_UNIT_MAX + 24)
/* Nobody reads more; what is left out is said. */
#define PAST_MAX 20000

/* One line of the table. Strings live in the plan's arena, or in the answer of the daemon. */
struct item {
	usec_t moment;      /* by which it is sorted; USEC_NEVER: a note */
	usec_t key;         /* the scheduled time */
	const char *state;
	const char *unit;   /* the timer, or what ran without one */
	const char *activates;
	const char *cause;
	const char *note;
	int64_t attempt;
	size_t nth;         /* in the order of the answers */
	json_t *json;       /* owned; NULL: for people */
};

struct plan {
	struct cli *cli;
	usec_t from, to;
	int n_patterns;
	char **patterns;
	struct arena arena;
	struct item *item;
	size_t n;
	size_t n_past;
	bool is_failed; /* memory ran out */
};

static void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		json_decref(p->item[i].json);
	arena_done(&p->arena);
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* ---- the stretch of time ---- */

/* Midnight of the local day of @when, and of the day @days later. A day is as long as it is: 23
 * hours, or 25. */
static usec_t midnight(usec_t when, int days)
{
	time_t seconds = (time_t) (when / USEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return when;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday += days;
	tm.tm_isdst = -1;
	seconds = mktime(&tm);
	return seconds < 0 ? 0 : (usec_t) seconds * USEC_PER_SEC;
}

static int read_stretch(const struct cli *c, struct plan *p)
{
	usec_t day = c->now, from = USEC_NEVER, to = USEC_NEVER;
	int status;

	if (c->day && (c->from || c->to))
		return cli_fail(c, CONTROL_USAGE,
				"--day= is a whole day; --from= and --to= are another");
	status = cli_time(c, "day", c->day, &day);
	if (status == CONTROL_OK)
		status = cli_time(c, "from", c->from, &from);
	if (status == CONTROL_OK)
		status = cli_time(c, "to", c->to, &to);
	if (status != CONTROL_OK)
		return status;
	if (!c->from && !c->to) {
		p->from = midnight(day, 0);
		p->to = midnight(day, 1);
		return CONTROL_OK;
	}
	p->from = c->from ? from : c->now;
	p->to = c->to ? to : usec_add(from, USEC_PER_DAY);
	if (p->from >= p->to)
		return cli_fail(c, CONTROL_USAGE, "--to= does not lie behind --from=");
	return CONTROL_OK;
}

/* ---- lines ---- */

static const char *keep(struct plan *p, const char *text)
{
	const char *copy = text ? arena_strdup(&p->arena, text) : NULL;

	p->is_failed |= text && !copy;
	return copy;
}

static bool is_wanted(const struct plan *p, const char *unit, const char *activates)
{
	return p->n_patterns == 0 || (unit && cli_matches(unit, p->n_patterns, p->patterns)) ||
	       (activates && cli_matches(activates, p->n_patterns, p->patterns));
}

static struct item *add_item(struct plan *p, const struct item *from)
{
	struct item *grown = arena_grow(&p->arena, p->item, p->n, sizeof(*grown));

	if (!grown) {
		p->is_failed = true;
		return NULL;
	}
	p->item = grown;
	grown[p->n] = *from;
	grown[p->n].nth = p->n;
	return &grown[p->n++];
}

static json_t *json_time(usec_t when)
{
	return when == USEC_NEVER ? json_null() : json_integer((json_int_t) when);
}

/* Our own keys first; then what else the row has. */
static json_t *item_json(const struct item *i, const struct supd_row *row)
{
	char key[KEY_MAX];
	json_t *object, *rest = rows_json_object(row);

	(void) snprintf(key, sizeof(key), "%s@%" PRIu64, or_empty(i->unit), i->key);
	object = json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o}", "key",
			   i->key == USEC_NEVER ? json_null() : rows_json_string(key), "moment",
			   json_time(i->moment), "state", i->state, "unit",
			   i->unit ? rows_json_string(i->unit) : json_null(), "activates",
			   i->activates ? rows_json_string(i->activates) : json_null(), "cause",
			   i->cause ? rows_json_string(i->cause) : json_null(), "note",
			   i->note ? rows_json_string(i->note) : json_null());
	if (object && rest)
		(void) json_object_update_missing(object, rest);
	json_decref(rest);
	return object;
}

static void finish(struct plan *p, struct item *i, const struct supd_row *row)
{
	if (!i || p->cli->json == CLI_JSON_OFF)
		return;
	i->json = item_json(i, row);
	p->is_failed |= !i->json;
}

/* ---- what was ---- */

static const char *state_of(const char *outcome)
{
	static const struct {
		const char *outcome, *state;
	} states[] = {
		{ "success", "done" },    { "failed", "failed" },   { "interrupted", "failed" },
		{ "skipped", "skipped" }, { "stopped", "stopped" }, { "running", "running" },
		{ "missed", "missed" },   { "gap", "gap" },
	};

	for (size_t i = 0; i < ELEMENTS(states); i++)
		if (str_equal(outcome, states[i].outcome))
			return states[i].state;
	return "done";
}

static const char *span_text(char *buf, usec_t span)
{
	return timespan_print(buf, TIMESPAN_MAX, span,
			      span < USEC_PER_SEC ? USEC_PER_MSEC : USEC_PER_SEC);
}

static void past_note(const struct supd_row *row, char *buf, size_t size)
{
	usec_t late = row_usec(row, "lateness"), took = row_usec(row, "duration");
	const char *words = or_empty(row_string(row, "words"));
	int64_t count = row_number(row, "count", 1);
	char span[TIMESPAN_MAX];
	size_t n;

	(void) snprintf(buf, size, "%s", str_equal(words, "running") ? "" : words);
	n = strlen(buf);
	if (count > 1 && n < size)
		(void) snprintf(buf + n, size - n, ", %" PRId64 " moments", count);
	n = strlen(buf);
	if (took != USEC_NEVER && n < size)
		(void) snprintf(buf + n, size - n, "%stook %s", n > 0 ? ", " : "",
				span_text(span, took));
	n = strlen(buf);
	if (late != USEC_NEVER && late >= USEC_PER_SEC && n < size)
		(void) snprintf(buf + n, size - n, ", %s late", span_text(span, late));
}

static void on_past(void *userdata, const struct supd_row *row)
{
	struct plan *p = userdata;
	const char *unit = row_string(row, "unit"), *trigger = row_string(row, "trigger");
	usec_t time = row_usec(row, "time"), scheduled = row_usec(row, "scheduled"),
	       first = row_usec(row, "first");
	char note[256];
	struct item i = {
		.moment = first != USEC_NEVER ? first : scheduled != USEC_NEVER ? scheduled : time,
		.key = scheduled != USEC_NEVER ? scheduled : time,
		.state = state_of(or_empty(row_string(row, "outcome"))),
		.attempt = row_number(row, "attempt", 1),
	};

	if (p->n_past++ >= PAST_MAX || !is_wanted(p, unit, trigger))
		return;
	past_note(row, note, sizeof(note));
	i.unit = keep(p, trigger ? trigger : unit);
	i.activates = keep(p, trigger && unit && !str_equal(trigger, unit) ? unit : NULL);
	i.cause = keep(p, row_string(row, "cause"));
	i.note = *note ? keep(p, note) : NULL;
	finish(p, add_item(p, &i), row);
}

static void note_cut(struct plan *p)
{
	static const struct supd_row nothing = { NULL, 0 };
	const struct item note = {
		.moment = USEC_NEVER, .key = USEC_NEVER, .state = "note", .unit = "history",
		.note = "what was before the last 20000 runs and misses of this time is left out",
	};

	_Static_assert(PAST_MAX == 20000, "the note says so");
	if (p->n_past > PAST_MAX)
		finish(p, add_item(p, &note), &nothing);
}

/* What cannot be had is told on stderr, and what comes is shown all the same. */
static void read_past(struct plan *p)
{
	const struct past_question q = { .since = p->from, .until = p->to, .lines = PAST_MAX + 1 };
	struct cli quiet = *p->cli;

	if (p->from > p->cli->now)
		return;
	quiet.json = CLI_JSON_OFF;
	(void) past_list(&quiet, &q, on_past, p);
	note_cut(p);
	if (!p->cli->client)
		p->cli->client = quiet.client;
}

/* ---- what comes ---- */

static void coming_note(const struct supd_row *row, char *buf, size_t size)
{
	const char *note = row_string(row, "note"), *dst = row_string(row, "dst");
	usec_t delay = row_usec(row, "delay"), max = row_usec(row, "delay_max");
	char span[TIMESPAN_MAX];
	const char *parts[4];
	char delayed[TIMESPAN_MAX + 32];
	size_t n = 0, at = 0;

	if (str_equal(or_empty(dst), "gap"))
		parts[n++] = "moved: the local time does not exist that day";
	if (str_equal(or_empty(dst), "fold"))
		parts[n++] = "the local time occurs twice that day";
	if (delay != USEC_NEVER || max != USEC_NEVER) {
		(void) snprintf(delayed, sizeof(delayed), "random delay of %s%s",
				delay != USEC_NEVER ? "" : "up to ",
				span_text(span, delay != USEC_NEVER ? delay : max));
		parts[n++] = delayed;
	}
	if (note)
		parts[n++] = note;
	*buf = '\0';
	for (size_t i = 0; i < n && at < size; i++)
		at += (size_t) snprintf(buf + at, size - at, "%s%s", i > 0 ? "; " : "", parts[i]);
}

/* The history knows of this run, too. */
static bool is_known(const struct plan *p, const struct item *i)
{
	for (size_t k = 0; k < p->n; k++)
		if (p->item[k].key == i->key && p->item[k].attempt == i->attempt &&
		    str_equal(p->item[k].unit, i->unit))
			return true;
	return false;
}

static void add_coming(struct plan *p, const struct supd_row *row)
{
	const char *state = or_empty(row_string(row, "state"));
	char note[512];
	struct item i = {
		.moment = row_usec(row, "moment"),
		.key = row_usec(row, "scheduled"),
		.state = row_bool(row, "skipped")      ? "skipped"
			 : str_equal(state, "running") ? "running"
						       : "to-come",
		.unit = or_empty(row_string(row, "unit")),
		.activates = row_string(row, "activates"),
		.cause = row_string(row, "cause"),
		.attempt = row_number(row, "attempt", 1),
	};

	if (!is_wanted(p, i.unit, i.activates) || (str_equal(state, "running") && is_known(p, &i)))
		return;
	if (str_equal(state, "note"))
		i.state = "note";
	coming_note(row, note, sizeof(note));
	i.note = *note ? keep(p, note) : NULL;
	finish(p, add_item(p, &i), row);
}

/* ---- the answer ---- */

static int compare(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->moment != y->moment)
		return x->moment < y->moment ? -1 : 1;
	if (!str_equal(or_empty(x->unit), or_empty(y->unit)))
		return strcmp(or_empty(x->unit), or_empty(y->unit));
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

static enum table_style style_of(const char *state)
{
	if (str_equal(state, "failed"))
		return TABLE_BAD;
	if (str_equal(state, "missed") || str_equal(state, "gap") || str_equal(state, "skipped"))
		return TABLE_WARNING;
	return str_equal(state, "done") ? TABLE_GOOD : TABLE_PLAIN;
}

static int print_table(const struct plan *p)
{
	static const struct table_column columns[] = {
		{ "MOMENT", false },   { "STATE", false }, { "UNIT", true },
		{ "ACTIVATES", true }, { "CAUSE", false }, { "NOTE", true },
	};
	char buf[FORMAT_TIME_MAX];
	struct table t;
	int status;

	table_init(&t, columns, ELEMENTS(columns));
	for (size_t k = 0; k < p->n; k++) {
		const struct item *i = &p->item[k];

		if (i->moment == USEC_NEVER)
			continue;
		table_add(&t, format_timestamp(buf, sizeof(buf), i->moment), TABLE_PLAIN);
		table_add(&t, i->state, style_of(i->state));
		table_add(&t, i->unit, TABLE_PLAIN);
		table_add(&t, i->activates, TABLE_PLAIN);
		table_add(&t, i->cause, TABLE_PLAIN);
		table_add(&t, i->note, TABLE_PLAIN);
	}
	status = cli_print_table(p->cli, &t);
	cli_print_legend(p->cli, "\n%zu moments listed.\n", table_rows(&t));
	table_done(&t);
	return status;
}

static void print_notes(const struct plan *p)
{
	for (size_t k = 0; k < p->n; k++) {
		const struct item *i = &p->item[k];

		if (i->moment != USEC_NEVER)
			continue;
		cli_print_text(or_empty(i->unit));
		fputs(": ", stdout);
		cli_print_text(or_empty(i->note));
		putchar('\n');
	}
}

static int print_json(struct plan *p, const struct supd_row *subsystem, int status)
{
	json_t *moments = json_array();

	for (size_t k = 0; k < p->n; k++)
		(void) json_array_append(moments, p->item[k].json);
	return cli_print_json(p->cli,
			      json_pack("{s:o, s:o, s:o, s:o}", "from", json_time(p->from), "to",
					json_time(p->to), "subsystem",
					subsystem ? rows_json_object(subsystem) : json_null(),
					"moments", moments),
			      status);
}

/* Timers may be off: then nothing comes, and that is said. */
static int print_all(struct plan *p, const struct control_reply *reply)
{
	const struct supd_row *subsystem = reply->n > 0 ? &reply->row[0] : NULL;
	const char *state = subsystem ? row_string(subsystem, "state") : NULL;
	int status;

	if (p->n > 0)
		qsort(p->item, p->n, sizeof(*p->item), compare);
	if (p->cli->json != CLI_JSON_OFF)
		return print_json(p, subsystem, reply->status);
	status = print_table(p);
	print_notes(p);
	if (state && !str_equal(state, "enabled"))
		return cli_worse(status, cli_timers_closed(subsystem, state));
	return cli_worse(status, cli_fail_reply(p->cli, reply));
}

/* A single timer is asked for by its name; what is typed otherwise is looked for in all. */
static const char *one_timer(const struct plan *p)
{
	const char *word = p->n_patterns == 1 ? p->patterns[0] : "";

	return str_ends(word, ".timer") && !cli_is_pattern(word) ? word : "";
}

int cli_plan(struct cli *c, int argc, char **argv)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	_cleanup_(plan_done) struct plan p = { .cli = c,
					       .n_patterns = argc - 1,
					       .patterns = argv + 1 };
	int status = read_stretch(c, &p);

	if (status != CONTROL_OK)
		return status;
	status = cli_ask_keys(c, &reply, "GetPlan", NULL, "stt", one_timer(&p), p.from, p.to);
	if (status != CONTROL_OK && status != CONTROL_NO_DAEMON)
		return cli_fail_reply(c, &reply);
	read_past(&p);
	for (size_t i = 1; i < reply.n; i++)
		add_coming(&p, &reply.row[i]);
	if (p.is_failed)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	return print_all(&p, &reply);
}
