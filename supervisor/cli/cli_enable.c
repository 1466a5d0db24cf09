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

/* Several units were named; with --json what is answered about them, or NULL. */
struct answers {
	json_t *array;
	bool has_several;
};

/* An error about one unit of several stands in its place in the array. */
static int fail(const struct cli *c, const struct answers *a, const char *unit,
		const struct control_reply *reply)
{
	json_t *error;

	if (!a->array || !a->has_several)
		return cli_fail_reply(c, reply);
	error = rows_json_error(reply->message ? reply->message : "", reply->status);
	if (error)
		(void) json_object_set_new(error, "unit", rows_json_string(unit));
	(void) json_array_append_new(a->array, error);
	return reply->status;
}

/* A timer is active as soon as it is enabled, and not any more when it is not. */
static int do_now(struct cli *c, const struct enable_verb *verb, const char *unit,
		  const struct answers *a)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };

	if (!str_ends(unit, ".service"))
		return CONTROL_OK;
	if (cli_ask(c, &reply, verb->now, "sb", unit, (int) !cli_has(c, CLI_NO_BLOCK)) ==
	    CONTROL_OK)
		return CONTROL_OK;
	return fail(c, a, unit, &reply);
}

static int one(struct cli *c, const struct enable_verb *verb, const char *unit,
	       const struct answers *a)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	int status = cli_ask(c, &reply, verb->method, "sb", unit, (int) cli_has(c, CLI_RUNTIME));

	if (status != CONTROL_OK)
		return fail(c, a, unit, &reply);
	for (size_t i = 0; i < reply.n; i++) {
		if (a->array)
			(void) json_array_append_new(a->array, rows_json_object(&reply.row[i]));
		else if (!cli_has(c, CLI_QUIET))
			print_row(verb, &reply.row[i], unit);
	}
	(void) fflush(stdout);
	for (size_t i = 0; verb->now && cli_has(c, CLI_NOW) && i < reply.n; i++) {
		const char *named = row_string(&reply.row[i], "unit");

		status = cli_worse(status, do_now(c, verb, named ? named : unit, a));
	}
	return status;
}

int cli_enable(struct cli *c, int argc, char **argv)
{
	const struct enable_verb *verb = find_verb(c->verb->name);
	struct answers a = { .has_several = argc > 2 };
	char unit[CLI_UNIT_MAX];
	int status = CONTROL_OK;

	/* What cannot be a name is no use of the verb: nothing is done. */
	for (int i = 1; i < argc && status == CONTROL_OK; i++)
		status = cli_unit_name(c, argv[i], ".service", unit);
	if (status != CONTROL_OK)
		return status;
	a.array = c->json != CLI_JSON_OFF ? json_array() : NULL;
	for (int i = 1; i < argc; i++)
		if (cli_unit_name(c, argv[i], ".service", unit) == CONTROL_OK)
			status = cli_worse(status, one(c, verb, unit, &a));
	if (a.array && (status == CONTROL_OK || a.has_several))
		return cli_print_json(c, a.array, status);
	json_decref(a.array);
	return status;
}
