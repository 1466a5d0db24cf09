/* SPDX-License-Identifier: MIT */
#include "cli/cli_environment.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "control/rows.h"
#include "control/rows_json.h"

/* Mistakes of environment files, which do not keep the service from being run. */
static void tell_mistakes(const struct control_reply *reply)
{
	for (size_t i = 0; i < reply->n; i++) {
		_cleanup_free_ char *text =
			row_string(&reply->row[i], "name") ? NULL : cli_problem(&reply->row[i]);

		if (text)
			(void) fprintf(stderr, "supctl: %s\n", text);
	}
}

static json_t *to_json(const struct control_reply *reply)
{
	json_t *json = json_object();

	for (size_t i = 0; i < reply->n; i++) {
		const char *name = row_string(&reply->row[i], "name"),
			   *value = row_string(&reply->row[i], "value");

		if (name && value && json_object_set_new(json, name, rows_json_string(value)) < 0) {
			json_decref(json);
			return NULL;
		}
	}
	return json;
}

static void print_variable(const struct cli *c, const char *name, const char *value)
{
	if (cli_has(c, CLI_NULL)) {
		(void) printf("%s=%s", name, value);
		(void) putchar('\0');
		return;
	}
	cli_print_text(name);
	(void) putchar('=');
	cli_print_text(value);
	(void) putchar('\n');
}

int cli_environment(struct cli *c, int argc _unused_, char **argv)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	char unit[CLI_UNIT_MAX];
	int r = cli_unit_name(c, argv[1], ".service", unit);

	if (r != 0)
		return r;
	r = cli_ask(c, &reply, "GetEnvironment", "s", unit);
	tell_mistakes(&reply);
	if (r != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, to_json(&reply), CONTROL_OK);
	for (size_t i = 0; i < reply.n; i++) {
		const char *name = row_string(&reply.row[i], "name"),
			   *value = row_string(&reply.row[i], "value");

		if (name && value)
			print_variable(c, name, value);
	}
	return CONTROL_OK;
}
