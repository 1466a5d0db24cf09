/* SPDX-License-Identifier: MIT */
#include "cli/cli_events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/past.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "core/events.h"

#define LINES_DEFAULT 100
#define LINES_FOLLOW 10
#define LINES_MAX UINT32_MAX
#define TYPE_CHARACTERS "abcdefghijklmnopqrstuvwxyz-,"

/* ---- one event ---- */

static enum table_style style_of(const char *level)
{
	if (!level || str_equal(level, "info"))
		return TABLE_PLAIN;
	if (str_equal(level, "error"))
		return TABLE_BAD;
	return str_equal(level, "debug") ? TABLE_DIM : TABLE_WARNING;
}

static void print_event(const struct cli *c, const struct supd_row *row)
{
	const char *type = row_string(row, "type"), *unit = row_string(row, "unit"),
		   *message = row_string(row, "message");
	enum table_style style = style_of(row_string(row, "level"));
	_cleanup_free_ char *column = NULL;
	char when[FORMAT_TIME_MAX];

	if (asprintf(&column, "%s %-14s ",
		     format_log_time(when, sizeof(when), row_usec(row, "time"), c->now),
		     type ? type : "-") < 0)
		return;
	cli_print_text(column);
	cli_print_text(unit ? unit : "supd");
	fputs(": ", stdout);
	fputs(table_style_begin(style, c->has_color), stdout);
	cli_print_text(message ? message : "");
	fputs(table_style_end(style, c->has_color), stdout);
	putchar('\n');
}

/* What comes is shown at once, and whoever reads it does not wait for a full buffer. */
static void on_rows(void *userdata, const struct supd_row *row, size_t n)
{
	struct cli *c = userdata;

	for (size_t i = 0; i < n; i++)
		if (c->json != CLI_JSON_OFF)
			(void) rows_json_print(rows_json_object(&row[i]),
					       c->json == CLI_JSON_PRETTY, c->is_terminal, stdout);
		else
			print_event(c, &row[i]);
	/* Nobody reads any more: nothing more is to be said. */
	if (fflush(stdout) != 0)
		_exit(CONTROL_OK);
}

/* ---- the question ---- */

static int read_lines(const struct cli *c, uint64_t *ret)
{
	*ret = cli_has(c, CLI_FOLLOW) ? LINES_FOLLOW : LINES_DEFAULT;
	if (!c->lines)
		return CONTROL_OK;
	if (str_equal(c->lines, "all")) {
		*ret = 0;
		return CONTROL_OK;
	}
	if (value_unsigned(c->lines, LINES_MAX, ret) >= 0 && *ret > 0)
		return CONTROL_OK;
	return cli_fail(c, CONTROL_USAGE, "--lines= wants a number of events or all, not '%s'",
			c->lines);
}

static int ask(struct cli *c, const char *const *unit, uint64_t lines)
{
	static const char *const all[] = { NULL };
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	struct control_client *client = cli_client(c, &reply);
	struct control_question *question;

	if (!client)
		return cli_fail_reply(c, &reply);
	question = control_client_ask_keys(client, "ReadEvents", unit ? unit : all, "stb",
					   c->type ? c->type : "", lines,
					   (int) cli_has(c, CLI_FOLLOW));
	control_client_take_rows(question, on_rows, c);
	control_client_wait(client, question, &reply);
	on_rows(c, reply.row, reply.n);
	return cli_fail_reply(c, &reply);
}

/* The arguments, and what --unit= adds to them. */
static int patterns(const struct cli *c, int argc, char **argv, const char *const **ret)
{
	_cleanup_free_ char **typed = calloc((size_t) argc + 1, sizeof(*typed));
	_cleanup_free_ char *unit = c->unit ? strdup(c->unit) : NULL;
	int n = 0;

	if (!typed || (c->unit && !unit))
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	for (int i = 1; i < argc; i++)
		typed[n++] = argv[i];
	if (unit)
		typed[n++] = unit;
	return past_units(c, n, typed, ret);
}

static const char *type_at(void *userdata _unused_, size_t i)
{
	const struct event_type *type = event_type_at(i);

	return type ? type->name : NULL;
}

int cli_events(struct cli *c, int argc, char **argv)
{
	_cleanup_(past_units_free) const char *const *unit = NULL;
	uint64_t lines;
	int status = read_lines(c, &lines);

	if (status == CONTROL_OK && c->type &&
	    (!*c->type || c->type[strspn(c->type, TYPE_CHARACTERS)]))
		status = cli_fail(c, CONTROL_USAGE,
				  "--type= wants types of events parted by commas, not '%s'",
				  c->type);
	if (status == CONTROL_OK && c->type)
		past_doubt_words("type", c->type, type_at);
	if (status == CONTROL_OK)
		status = patterns(c, argc, argv, &unit);
	return status != CONTROL_OK ? status : ask(c, unit, lines);
}
