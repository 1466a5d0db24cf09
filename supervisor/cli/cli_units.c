/* SPDX-License-Identifier: MIT */
#include "cli/cli_units.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/cli.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "unit/name.h"

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

/* ---- list ---- */

static enum table_style load_style(const char *load)
{
	return str_equal(load, "loaded")    ? TABLE_PLAIN
	       : str_equal(load, "invalid") ? TABLE_BAD
					    : TABLE_WARNING;
}

static enum table_style active_style(const char *active)
{
	if (str_equal(active, "failed"))
		return TABLE_BAD;
	return str_equal(active, "active") || str_equal(active, "activating") ? TABLE_GOOD
									      : TABLE_PLAIN;
}

static bool is_listed(const struct cli *c, const struct supd_row *row, int argc, char **argv)
{
	const char *unit = or_empty(row_string(row, "unit"));

	if (cli_has(c, CLI_FAILED) &&
	    !str_equal(or_empty(row_string(row, "active_state")), "failed"))
		return false;
	/* Files to make units of, and no units. */
	if (!cli_has(c, CLI_ALL) && unit_name_is_template(unit))
		return false;
	return cli_matches(unit, argc - 1, argv + 1);
}

/* Leaves those rows that are to be shown, in their order. */
static void keep_listed(const struct cli *c, struct control_reply *reply, int argc, char **argv)
{
	size_t n = 0;

	for (size_t i = 0; i < reply->n; i++)
		if (is_listed(c, &reply->row[i], argc, argv))
			reply->row[n++] = reply->row[i];
	reply->n = n;
}

static int print_list(struct cli *c, const struct control_reply *reply)
{
	static const struct table_column columns[] = {
		{ "UNIT", true }, { "LOAD", false },  { "ACTIVE", false },
		{ "SUB", false }, { "RESULT", true }, { "DESCRIPTION", true }
	};
	struct table t;
	int status;

	table_init(&t, columns, ELEMENTS(columns));
	for (size_t i = 0; i < reply->n; i++) {
		const struct supd_row *row = &reply->row[i];
		const char *load = or_empty(row_string(row, "load_state"));
		const char *active = or_empty(row_string(row, "active_state"));

		table_add(&t, row_string(row, "unit"), TABLE_PLAIN);
		table_add(&t, load, load_style(load));
		table_add(&t, active, active_style(active));
		table_add(&t, row_string(row, "sub_state"), active_style(active));
		table_add(&t, row_string(row, "result"), TABLE_PLAIN);
		table_add(&t, row_string(row, "description"), TABLE_PLAIN);
	}
	status = cli_print_table(c, &t);
	cli_print_legend(c, "\n%zu units listed.\n", reply->n);
	table_done(&t);
	return status;
}

int cli_list(struct cli *c, int argc, char **argv)
{
	static const char *const keys[] = { "unit",      "load_state", "active_state",
					    "sub_state", "result",     "description",
					    NULL };
	_cleanup_(control_reply_done) struct control_reply reply;

	if (cli_ask_keys(c, &reply, "ListUnits", keys, "") != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	keep_listed(c, &reply, argc, argv);
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_array(reply.row, reply.n), CONTROL_OK);
	return print_list(c, &reply);
}

/* ---- show ---- */

/* Is @key in the list KEY,KEY,… that -p names? Everything is, if there is none. */
static bool is_wanted(const struct cli *c, const char *key)
{
	size_t n = strlen(key);

	if (!c->property)
		return true;
	for (const char *p = c->property; *p; p += strspn(p, ",")) {
		size_t word = strcspn(p, ",");

		if (word == n && memcmp(p, key, n) == 0)
			return true;
		p += word;
	}
	return false;
}

/* Leaves the fields that are wanted. */
static size_t keep_wanted(const struct cli *c, const struct supd_row *row, struct supd_field *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < row->n; i++)
		if (is_wanted(c, row->field[i].key))
			ret[n++] = row->field[i];
	return n;
}

static void print_properties(const struct cli *c, const struct supd_row *row)
{
	for (size_t i = 0; i < row->n; i++) {
		_cleanup_free_ char *value = format_value(&row->field[i]);

		if (!cli_has(c, CLI_VALUE)) {
			cli_print_text(row->field[i].key);
			putchar('=');
		}
		puts(value ? value : "");
	}
}

int cli_show(struct cli *c, int argc _unused_, char **argv)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	struct supd_row row = { 0 };
	struct supd_field *field;
	char unit[CLI_UNIT_MAX];
	int r = cli_unit_name(c, argv[1], ".service", unit);

	if (r != 0)
		return r;
	(void) cli_ask(c, &reply, "ShowUnit", "s", unit);
	if (reply.n == 0)
		return cli_fail_reply(c, &reply);
	field = arena_alloc(&reply.arena, (reply.row[0].n + 1) * sizeof(*field));
	if (!field)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	row.n = keep_wanted(c, &reply.row[0], field);
	row.field = field;
	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_object(&row), reply.status);
	print_properties(c, &row);
	return reply.status;
}

/* ---- cat ---- */

/* The file as it is; for a terminal without what could command it. */
static void print_file(const struct cli *c, const char *text)
{
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, "\n\t");
		_cleanup_free_ char *line = c->is_terminal ? strndup(p, n) : NULL;

		if (line)
			cli_print_text(line);
		else
			(void) fwrite(p, 1, n, stdout);
		p += n;
		if (*p)
			putchar(*p++);
	}
	if (*text && text[strlen(text) - 1] != '\n')
		putchar('\n');
}

static int cat_one(struct cli *c, const char *unit, json_t *files, bool *is_first)
{
	_cleanup_(control_reply_done) struct control_reply reply;

	if (cli_ask(c, &reply, "CatUnit", "s", unit) != CONTROL_OK)
		return cli_fail_reply(c, &reply);
	for (size_t i = 0; i < reply.n; i++) {
		if (files) {
			(void) json_array_append_new(files, rows_json_object(&reply.row[i]));
			continue;
		}
		fputs(*is_first ? "# " : "\n# ", stdout);
		*is_first = false;
		cli_print_text(or_empty(row_string(&reply.row[i], "path")));
		putchar('\n');
		print_file(c, or_empty(row_string(&reply.row[i], "text")));
	}
	return CONTROL_OK;
}

int cli_cat(struct cli *c, int argc, char **argv)
{
	json_t *files = c->json != CLI_JSON_OFF ? json_array() : NULL;
	bool is_first = true;
	int status = CONTROL_OK;

	for (int i = 1; i < argc && (!files || status == CONTROL_OK); i++) {
		char unit[CLI_UNIT_MAX];
		int r = cli_unit_name(c, argv[i], ".service", unit);

		status = cli_worse(status, r != 0 ? r : cat_one(c, unit, files, &is_first));
	}
	if (files && status == CONTROL_OK)
		return cli_print_json(c, files, status);
	json_decref(files);
	return status;
}

/* ---- is-active, is-failed, is-enabled: systemctl's words and exit statuses ---- */

enum question { IS_ACTIVE, IS_FAILED, IS_ENABLED };

static enum question question_of(const char *verb)
{
	return str_equal(verb, "is-active")   ? IS_ACTIVE
	       : str_equal(verb, "is-failed") ? IS_FAILED
					      : IS_ENABLED;
}

static const char *enabled_word(const struct supd_row *row)
{
	const char *load = or_empty(row_string(row, "load_state")),
		   *state = row_string(row, "unit_file_state");

	if (str_equal(load, "invalid") || str_equal(load, "unsupported"))
		return load;
	if (state)
		return state;
	return row_bool(row, "enabled") ? "enabled" : "disabled";
}

/* The word for one unit. An answer without rows is about a unit that is not there. */
static const char *word_for(enum question q, const struct control_reply *reply)
{
	const char *active;

	if (reply->n == 0)
		return q == IS_ENABLED ? "not-found" : "inactive";
	if (q == IS_ENABLED)
		return enabled_word(&reply->row[0]);
	active = row_string(&reply->row[0], "active_state");
	return active ? active : "unknown";
}

/* systemctl(1), is-enabled: what there is nothing to enable of counts as well. */
static bool is_yes(enum question q, const char *word)
{
	static const char *const yes[] = { "enabled", "enabled-runtime", "static", "alias",
					   "indirect" };

	switch (q) {
	case IS_ACTIVE:
		return str_equal(word, "active");
	case IS_FAILED:
		return str_equal(word, "failed");
	case IS_ENABLED:
		for (size_t i = 0; i < ELEMENTS(yes); i++)
			if (str_equal(word, yes[i]))
				return true;
		return false;
	}
	return false;
}

/* What is known of the answers so far. */
struct verdicts {
	bool is_any_yes, is_any_known;
};

static int ask_one(struct cli *c, enum question q, const char *typed, struct verdicts *v,
		   json_t *answers)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	char unit[CLI_UNIT_MAX];
	const char *word;
	int r = cli_unit_name(c, typed, ".service", unit);

	if (r != 0)
		return r;
	r = cli_ask(c, &reply, "GetUnit", "s", unit);
	if (reply.n == 0 && r != CONTROL_NO_UNIT && (r != CONTROL_NOT_ACTIVE || q == IS_ENABLED))
		return cli_fail_reply(c, &reply);
	word = word_for(q, &reply);
	v->is_any_yes |= is_yes(q, word);
	v->is_any_known |= reply.n > 0 || r == CONTROL_NOT_ACTIVE;
	if (answers) {
		(void) json_array_append_new(answers,
					     json_pack("{s:o, s:o}", "unit", rows_json_string(unit),
						       "state", rows_json_string(word)));
	} else if (!cli_has(c, CLI_QUIET)) {
		cli_print_text(word);
		putchar('\n');
	}
	return CONTROL_OK;
}

/* 0 if one of them is; else 3 not active, 1 not failed or not enabled, 4 if there is none of
 * them. */
static int verdict(enum question q, const struct verdicts *v)
{
	if (v->is_any_yes)
		return CONTROL_OK;
	if (!v->is_any_known)
		return CONTROL_NO_UNIT;
	return q == IS_ACTIVE ? CONTROL_NOT_ACTIVE : CONTROL_FAILED;
}

int cli_is(struct cli *c, int argc, char **argv)
{
	enum question q = question_of(c->verb->name);
	json_t *answers = c->json != CLI_JSON_OFF ? json_array() : NULL;
	struct verdicts v = { 0 };

	for (int i = 1; i < argc; i++) {
		int r = ask_one(c, q, argv[i], &v, answers);

		if (r == CONTROL_OK)
			continue;
		json_decref(answers);
		return r;
	}
	if (answers)
		return cli_print_json(c, answers, verdict(q, &v));
	return verdict(q, &v);
}
