/* SPDX-License-Identifier: MIT */
#include "cli/cli_manager.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* ---- reload ---- */

static json_t *reload_json(const struct control_reply *reply)
{
	json_t *changes = json_array(), *problems = json_array();

	for (size_t i = 0; i < reply->n; i++) {
		bool is_change = row_field(&reply->row[i], "change");

		(void) json_array_append_new(is_change ? changes : problems,
					     rows_json_object(&reply->row[i]));
	}
	return json_pack("{s:b, s:o, s:o}", "reloaded", reply->status == CONTROL_OK, "changes",
			 changes, "problems", problems);
}

static void print_reload(const struct control_reply *reply)
{
	size_t n_changes = 0;

	for (size_t i = 0; i < reply->n; i++) {
		const char *change = row_string(&reply->row[i], "change");
		_cleanup_free_ char *problem = change ? NULL : cli_problem(&reply->row[i]);

		if (problem) {
			fprintf(stderr, "%s\n", problem);
			continue;
		}
		n_changes++;
		cli_print_text(or_empty(change));
		putchar(' ');
		cli_print_text(or_empty(row_string(&reply->row[i], "unit")));
		putchar('\n');
	}
	if (n_changes == 0 && reply->status == CONTROL_OK)
		puts("nothing has changed");
}

int cli_reload(struct cli *c, int argc _unused_, char **argv _unused_)
{
	_cleanup_(control_reply_done) struct control_reply reply;

	(void) cli_ask(c, &reply, "Reload", "");
	if (c->json != CLI_JSON_OFF && (reply.status == CONTROL_OK || reply.n > 0))
		return cli_print_json(c, reload_json(&reply), reply.status);
	print_reload(&reply);
	return cli_fail_reply(c, &reply);
}

/* ---- experimental ---- */

static int print_features(struct cli *c, const struct control_reply *reply)
{
	static const struct table_column columns[] = { { "FEATURE", false },
						       { "STATE", false },
						       { "REASON", true } };
	struct table t;
	int status;

	table_init(&t, columns, ELEMENTS(columns));
	for (size_t i = 0; i < reply->n; i++) {
		const struct supd_row *row = &reply->row[i];
		const char *state = row_string(row, "state");
		bool is_enabled = row_bool(row, "enabled");

		table_add(&t, row_string(row, "feature"), TABLE_PLAIN);
		table_add(&t, state ? state : is_enabled ? "enabled" : "disabled",
			  is_enabled ? TABLE_GOOD : TABLE_PLAIN);
		table_add(&t, row_string(row, "reason"), TABLE_PLAIN);
	}
	status = cli_print_table(c, &t);
	table_done(&t);
	return status;
}

static int list_features(struct cli *c)
{
	_cleanup_(control_reply_done) struct control_reply reply;

	if (cli_ask(c, &reply, "ListExperimental", "") != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_array(reply.row, reply.n), CONTROL_OK);
	return print_features(c, &reply);
}

static int set_feature(struct cli *c, bool is_on, const char *feature)
{
	_cleanup_(control_reply_done) struct control_reply reply;
	const char *state, *reason;

	if (cli_ask(c, &reply, "SetExperimental", "sbb", feature, (int) is_on,
		    (int) cli_has(c, CLI_RUNTIME)) != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_array(reply.row, reply.n), CONTROL_OK);
	state = reply.n > 0 ? row_string(&reply.row[0], "state") : NULL;
	reason = reply.n > 0 ? row_string(&reply.row[0], "reason") : NULL;
	cli_print_text(feature);
	fputs(": ", stdout);
	cli_print_text(state ? state : is_on ? "enabled" : "disabled");
	fputs(reason ? ", " : "", stdout);
	cli_print_text(or_empty(reason));
	putchar('\n');
	return CONTROL_OK;
}

int cli_experimental(struct cli *c, int argc, char **argv)
{
	bool is_on;

	if (argc == 1 && !cli_has(c, CLI_RUNTIME))
		return list_features(c);
	is_on = argc > 1 && str_equal(argv[1], "enable");
	if (argc != 3 || (!is_on && !str_equal(argv[1], "disable")))
		return cli_fail(c, CONTROL_USAGE,
				"experimental takes 'enable FEATURE', 'disable FEATURE' or nothing, to list them");
	return set_feature(c, is_on, argv[2]);
}

/* ---- pause, resume ---- */

int cli_pause(struct cli *c, int argc _unused_, char **argv _unused_)
{
	_cleanup_(control_reply_done) struct control_reply reply;
	bool is_pause = str_equal(c->verb->name, "pause");
	const struct supd_field *changed;
	const char *state;

	if (cli_ask(c, &reply, is_pause ? "Pause" : "Resume", "") != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c,
				      reply.n > 0 ? rows_json_object(&reply.row[0]) : json_object(),
				      CONTROL_OK);
	state = reply.n > 0 ? row_string(&reply.row[0], "state") : NULL;
	changed = reply.n > 0 ? row_field(&reply.row[0], "changed") : NULL;
	cli_print_text(state ? state : is_pause ? "paused" : "running");
	puts(changed && changed->type == SUPD_BOOL && !changed->value.boolean ? " already" : "");
	return CONTROL_OK;
}

/* ---- version ---- */

/* That there is no daemon is worth saying here, but no failure. */
int cli_version(struct cli *c, int argc _unused_, char **argv _unused_)
{
	_cleanup_(control_reply_done) struct control_reply reply;
	int status = cli_ask(c, &reply, "GetVersion", "");
	bool has_daemon = status == CONTROL_OK && reply.n > 0;
	const char *version = has_daemon ? row_string(&reply.row[0], "version") : NULL;

	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c,
				      json_pack("{s:s, s:o}", "supctl", PACKAGE_VERSION, "supd",
						has_daemon ? rows_json_object(&reply.row[0])
							   : json_null()),
				      CONTROL_OK);
	puts("supctl " PACKAGE_VERSION);
	if (has_daemon) {
		fputs("supd ", stdout);
		cli_print_text(or_empty(version));
		fputs(" (", stdout);
		cli_print_text(or_empty(row_string(&reply.row[0], "state")));
		puts(")");
		return CONTROL_OK;
	}
	fputs("supd - (", stdout);
	cli_print_text(or_empty(reply.message));
	puts(")");
	return status == CONTROL_NO_DAEMON ? CONTROL_OK : status;
}
