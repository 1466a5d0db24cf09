/* SPDX-License-Identifier: MIT */
#include "cli/cli_skip.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/cli_time.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

#define NEXT "next"

static void print_row(const struct supd_row *row, bool on)
{
	const char *unit = row_string(row, "unit"), *words;
	usec_t next = row_usec(row, "next");
	char buf[FORMAT_TIME_MAX];

	if (row_bool(row, "changed"))
		words = on ? "is skipped" : "is not skipped any more";
	else
		words = on ? "was skipped already" : "was not skipped";
	cli_print_text(unit ? unit : "");
	if (row_usec(row, "moment") != USEC_NEVER)
		printf(": %s %s", format_timestamp(buf, sizeof(buf), row_usec(row, "moment")),
		       words);
	else
		printf(": nothing %s", words);
	if (next == USEC_NEVER)
		puts("; nothing else is to come");
	else
		printf("; next: %s\n", format_timestamp(buf, sizeof(buf), next));
}

static int read_moments(const struct cli *c, int n, char **text, usec_t *ret)
{
	int status = CONTROL_OK;

	for (int i = 0; i < n && status == CONTROL_OK; i++) {
		ret[i] = 0;
		if (!str_equal(text[i], NEXT))
			status = cli_time_argument(c, text[i], &ret[i]);
	}
	return status;
}

static void collect(json_t *answers, const struct control_reply *reply)
{
	for (size_t i = 0; i < reply->n; i++)
		(void) json_array_append_new(answers, rows_json_object(&reply->row[i]));
	if (reply->status != CONTROL_OK)
		(void) json_array_append_new(answers,
					     rows_json_error(reply->message ? reply->message : "",
							     reply->status));
}

/* One after the other: "next" is another each time. */
static int skip_all(struct cli *c, const char *unit, const usec_t *moment, int n, json_t *answers)
{
	bool on = str_equal(c->verb->name, "skip");
	int status = CONTROL_OK;

	for (int i = 0; i < n; i++) {
		_cleanup_(control_reply_done) struct control_reply reply = { 0 };

		status = cli_worse(status, cli_ask(c, &reply, on ? "SkipMoment" : "UnskipMoment",
						   "st", unit, moment[i]));
		if (answers) {
			collect(answers, &reply);
			continue;
		}
		(void) cli_fail_reply(c, &reply);
		for (size_t k = 0; k < reply.n && !cli_has(c, CLI_QUIET); k++)
			print_row(&reply.row[k], on);
	}
	return status;
}

int cli_skip(struct cli *c, int argc, char **argv)
{
	_cleanup_free_ usec_t *moment = calloc((size_t) argc, sizeof(*moment));
	json_t *answers = c->json != CLI_JSON_OFF ? json_array() : NULL;
	char unit[CLI_UNIT_MAX];
	int n = argc - 2, status;

	if (!moment || (c->json != CLI_JSON_OFF && !answers)) {
		json_decref(answers);
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	}
	status = cli_unit_name(c, argv[1], ".timer", unit);
	if (status == CONTROL_OK)
		status = read_moments(c, n, argv + 2, moment);
	if (status != CONTROL_OK) {
		json_decref(answers);
		return status;
	}
	status = skip_all(c, unit, moment, n, answers);
	return answers ? cli_print_json(c, answers, status) : status;
}
