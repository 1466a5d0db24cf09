/* SPDX-License-Identifier: MIT */
#include "cli/cli_enable.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
#include "control/rows.h"
#include "control/rows_json.h"

struct enable_verb {
	const char *verb, *method;
	const char *done, *was_so;
	const char *now; /* the method of --now, or NULL */
};

static const struct enable_verb verbs[] = {
	{ "enable", "EnableUnit", "enabled", "was enabled already", "StartUnit" },
	{ "disable", "DisableUnit", "disabled", "was disabled already", "StopUnit" },
	{ "mask", "MaskUnit", "masked", "was masked already", "StopUnit" },
	{ "unmask", "UnmaskUnit", "unmasked", "was not masked", NULL },
};

static const struct enable_verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ELEMENTS(verbs); i++)
		if (str_equal(verbs[i].verb, name))
			return &verbs[i];
	return NULL;
}

static void print_row(const struct enable_verb *verb, const struct supd_row *row, const char *unit)
{
	const char *named = row_string(row, "unit"), *message = row_string(row, "message");

	cli_print_text(named ? named : unit);
	fputs(": ", stdout);
	fputs(row_bool(row, "changed") ? verb->done : verb->was_so, stdout);
	if (message) {
		fputs("; ", stdout);
		cli_print_text(message);
	}
	putchar('\n');
}

/* A timer is active as soon as it is enabled, and not any more when it is not. */
static int do_now(struct cli *c, const struct enable_verb *verb, const char *unit)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	int status;

	if (!str_ends(unit, ".service"))
		return CONTROL_OK;
	status = cli_ask(c, &reply, verb->now, "sb", unit, (int) !cli_has(c, CLI_NO_BLOCK));
	return status == CONTROL_OK ? status : cli_fail_reply(c, &reply);
}

static int one(struct cli *c, const struct enable_verb *verb, const char *unit, json_t *answers)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	int status = cli_ask(c, &reply, verb->method, "sb", unit, (int) cli_has(c, CLI_RUNTIME));

	if (status != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	for (size_t i = 0; i < reply.n; i++) {
		if (answers)
			(void) json_array_append_new(answers, rows_json_object(&reply.row[i]));
		else if (!cli_has(c, CLI_QUIET))
			print_row(verb, &reply.row[i], unit);
	}
	(void) fflush(stdout);
	for (size_t i = 0; verb->now && cli_has(c, CLI_NOW) && i < reply.n; i++) {
		const char *named = row_string(&reply.row[i], "unit");

		status = cli_worse(status, do_now(c, verb, named ? named : unit));
	}
	return status;
}

int cli_enable(struct cli *c, int argc, char **argv)
{
	const struct enable_verb *verb = find_verb(c->verb->name);
	json_t *answers = c->json != CLI_JSON_OFF ? json_array() : NULL;
	int status = CONTROL_OK;

	for (int i = 1; i < argc && (!answers || status == CONTROL_OK); i++) {
		char unit[CLI_UNIT_MAX];
		int r = cli_unit_name(c, argv[i], ".service", unit);

		status = cli_worse(status, r != 0 ? r : one(c, verb, unit, answers));
	}
	if (answers && status == CONTROL_OK)
		return cli_print_json(c, answers, status);
	json_decref(answers);
	return status;
}
