/* SPDX-License-Identifier: MIT */
#include "cli/cli_jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "cli/cli.h"
#include "cli/cli_logs.h"
#include "control/format.h"
#include "control/rows.h"
#include "control/rows_json.h"

#define LAST_WORDS 10 /* lines */

struct job_verb {
	const char *verb;
	const char *method;
	const char *suffix;
	bool waits;
	const char *done; /* what is said if the answer says nothing */
};

static const struct job_verb job_verbs[] = {
	{ "start", "StartUnit", ".service", true, "started" },
	{ "stop", "StopUnit", ".service", true, "stopped" },
	{ "restart", "RestartUnit", ".service", true, "restarted" },
	{ "trigger", "TriggerUnit", ".timer", true, "triggered" },
	{ "reset", "ResetUnit", ".timer", false, "reset" },
};

static const struct job_verb *find_job(const char *verb)
{
	for (size_t i = 0; i < ELEMENTS(job_verbs); i++)
		if (str_equal(job_verbs[i].verb, verb))
			return &job_verbs[i];
	return NULL;
}

struct job {
	char unit[CLI_UNIT_MAX];
	struct control_question *question;
};

/* ---- results in words ---- */

/* "success, took 1.2s" */
static void print_run(const struct supd_row *row, const char *words)
{
	usec_t duration = row_usec(row, "duration");
	char buf[TIMESPAN_MAX];

	cli_print_text(words);
	/* That was the run before. */
	if (duration != USEC_NEVER && !row_string(row, "waiting"))
		printf(", took %s", timespan_print(buf, sizeof(buf), duration, USEC_PER_MSEC));
}

static const char *words_of(const struct job_verb *verb, const struct supd_row *row)
{
	const char *words = row_string(row, "words");

	return words ? words : verb->done;
}

static void print_row(const struct job_verb *verb, const struct supd_row *row, const char *unit)
{
	const char *named = row_string(row, "unit"), *message = row_string(row, "message");
	const char *unmet = row_string(row, "unmet");

	cli_print_text(named ? named : unit);
	fputs(": ", stdout);
	/* What was stopped has a run as well, but the news is that it is stopped. */
	if (str_equal(verb->verb, "stop"))
		fputs(verb->done, stdout);
	else
		print_run(row, words_of(verb, row));
	if (unmet && !str_equal(verb->verb, "stop")) {
		fputs(": ", stdout);
		cli_print_text(unmet);
	}
	if (message) {
		fputs("; ", stdout);
		cli_print_text(message);
	}
	putchar('\n');
}

/* Why it failed, in its own words. */
static void show_last_words(struct cli *c, const struct control_reply *reply)
{
	if (reply->n == 1 && c->json == CLI_JSON_OFF && !cli_has(c, CLI_QUIET))
		cli_logs_tail(c, &reply->row[0], LAST_WORDS, stderr);
}

static int report(struct cli *c, const struct job_verb *verb, const struct job *job,
		  const struct control_reply *reply)
{
	static const struct supd_row nothing = { NULL, 0 };

	if (reply->status != CONTROL_OK) {
		(void) cli_fail_reply(c, reply);
		show_last_words(c, reply);
		return reply->status;
	}
	if (cli_has(c, CLI_QUIET))
		return CONTROL_OK;
	for (size_t i = 0; i < reply->n; i++)
		print_row(verb, &reply->row[i], job->unit);
	if (reply->n == 0)
		print_row(verb, &nothing, job->unit);
	return CONTROL_OK;
}

/* Rows stand for themselves, their run may have failed; an answer without rows that is no success
 * is an error, in its place in the array. */
static void collect(json_t *answers, const struct job *job, const struct control_reply *reply)
{
	json_t *error;

	for (size_t i = 0; i < reply->n; i++)
		(void) json_array_append_new(answers, rows_json_object(&reply->row[i]));
	if (reply->n > 0)
		return;
	if (reply->status == CONTROL_OK) {
		(void) json_array_append_new(answers, json_pack("{s:o}", "unit",
								rows_json_string(job->unit)));
		return;
	}
	error = rows_json_error(reply->message ? reply->message : "", reply->status);
	if (error)
		(void) json_object_set_new(error, "unit", rows_json_string(job->unit));
	(void) json_array_append_new(answers, error);
}

/* ---- doing ---- */

static struct control_question *ask(struct cli *c, struct control_client *client,
				    const struct job_verb *verb, const char *unit)
{
	if (verb->waits)
		return control_client_ask(client, verb->method, "sb", unit,
					  (int) !cli_has(c, CLI_NO_BLOCK));
	return control_client_ask(client, verb->method, "s", unit);
}

static int wait_for_all(struct cli *c, struct control_client *client, const struct job_verb *verb,
			struct job *job, int n)
{
	json_t *answers = c->json != CLI_JSON_OFF ? json_array() : NULL;
	int status = CONTROL_OK;

	for (int i = 0; i < n; i++) {
		_cleanup_(control_reply_done) struct control_reply reply;

		control_client_wait(client, job[i].question, &reply);
		status = cli_worse(status, reply.status);
		if (answers && n == 1 && reply.n == 0 && reply.status != CONTROL_OK) {
			json_decref(answers);
			return cli_fail_reply(c, &reply);
		}
		if (answers)
			collect(answers, &job[i], &reply);
		else
			(void) report(c, verb, &job[i], &reply);
		(void) fflush(stdout);
	}
	return answers ? cli_print_json(c, answers, status) : status;
}

int cli_job(struct cli *c, int argc, char **argv)
{
	const struct job_verb *verb = find_job(c->verb->name);
	_cleanup_free_ struct job *job = calloc((size_t) argc, sizeof(*job));
	_cleanup_(control_reply_done) struct control_reply reterr = { 0 };
	struct control_client *client;
	int n = argc - 1;

	if (!verb || !job)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	for (int i = 0; i < n; i++) {
		int r = cli_unit_name(c, argv[i + 1], verb->suffix, job[i].unit);

		if (r != 0)
			return r;
	}
	client = cli_client(c, &reterr);
	if (!client)
		return cli_fail_reply(c, &reterr);
	for (int i = 0; i < n; i++)
		job[i].question = ask(c, client, verb, job[i].unit);
	return wait_for_all(c, client, verb, job, n);
}
