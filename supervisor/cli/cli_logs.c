/* SPDX-License-Identifier: MIT */
#include "cli/cli_logs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/cli_time.h"
#include "cli/log_lines.h"
#include "control/rows.h"
#include "daemon/settings.h"
#include "store/file.h"
#include "store/run_log.h"
#include "store/run_log_reader.h"

#define LINES_DEFAULT 100
#define LINES_FOLLOW 10
#define LINES_MAX UINT32_MAX

/* What is asked for, the same for all units. */
struct request {
	const char *run;
	usec_t since, until;
	uint64_t lines; /* 0: all */
	bool follow;
};

/* ---- the command line ---- */

static int read_request(const struct cli *c, struct request *r)
{
	struct run_log_query query;
	bool is_narrowed = c->run || c->since || c->until;
	int status;

	*r = (struct request){ .run = c->run,
			       .until = USEC_NEVER,
			       .follow = cli_has(c, CLI_FOLLOW) };
	r->lines = r->follow ? LINES_FOLLOW : is_narrowed ? 0 : LINES_DEFAULT;
	if (c->lines && str_equal(c->lines, "all"))
		r->lines = 0;
	else if (c->lines && (value_unsigned(c->lines, LINES_MAX, &r->lines) < 0 || r->lines == 0))
		return cli_fail(c, CONTROL_USAGE,
				"--lines= wants a number of lines or all, not '%s'", c->lines);
	if (c->run && !run_log_query_set_run(&query, c->run))
		return cli_fail(c, CONTROL_USAGE,
				"--run= wants a run's id or its first digits, not '%s'", c->run);
	status = cli_time(c, "since", c->since, &r->since);
	return status != CONTROL_OK ? status : cli_time(c, "until", c->until, &r->until);
}

/* ---- from the daemon ---- */

static struct control_question *ask(struct control_client *client, const char *unit,
				    const struct request *r)
{
	return control_client_ask(client, "ReadOutput", "sstttb", unit, r->run ? r->run : "",
				  r->since, r->until, r->lines, (int) r->follow);
}

static int collect_rows(struct log_lines *lines, const struct supd_row *row, size_t n)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = log_lines_add_row(lines, &row[i]);
	return r;
}

static int collect_unit(struct cli *c, struct control_client *client, const char *unit,
			const struct request *r, struct log_lines *lines)
{
	_cleanup_(control_reply_done) struct control_reply reply;

	control_client_wait(client, ask(client, unit, r), &reply);
	if (collect_rows(lines, reply.row, reply.n) < 0)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	return cli_fail_reply(c, &reply);
}

/* What comes is shown at once, and whoever reads it does not wait for a full buffer. */
static void on_rows(void *userdata, const struct supd_row *row, size_t n)
{
	_cleanup_(log_lines_done) struct log_lines lines = { 0 };
	struct cli *c = userdata;

	(void) collect_rows(&lines, row, n);
	log_lines_print(c, &lines, stdout);
	/* Nobody reads any more: nothing more is to be said. */
	if (fflush(stdout) != 0)
		_exit(CONTROL_OK);
}

static int follow(struct cli *c, struct control_client *client, char (*unit)[CLI_UNIT_MAX], int n,
		  const struct request *r)
{
	_cleanup_free_ struct control_question **question =
		calloc((size_t) n + 1, sizeof(struct control_question *));
	int status = CONTROL_OK;

	if (!question)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	for (int i = 0; i < n; i++) {
		question[i] = ask(client, unit[i], r);
		control_client_take_rows(question[i], on_rows, c);
	}
	for (int i = 0; i < n; i++) {
		_cleanup_(control_reply_done) struct control_reply reply;

		control_client_wait(client, question[i], &reply);
		status = cli_worse(status, cli_fail_reply(c, &reply));
	}
	return status;
}

/* ---- from the disk ---- */

static int open_logs(const struct cli *c, int *ret)
{
	const struct settings_options options = {
		.is_user = cli_has(c, CLI_USER) || (!cli_has(c, CLI_SYSTEM) && geteuid() != 0),
		.state_dir = c->state_dir,
	};
	_cleanup_(diag_done) struct diag d = { 0 };
	_cleanup_close_ int state = -1;
	struct settings settings;
	int r = settings_load(&options, &settings, &d);

	if (r < 0)
		return r;
	state = open(settings.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = state < 0 ? -errno : 0;
	settings_done(&settings);
	if (r >= 0)
		*ret = openat(state, RUN_LOG_DIRECTORY,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return r < 0 ? r : *ret < 0 ? -errno : 0;
}

static int read_unit(int dir, const char *unit, const struct request *request,
		     struct log_lines *lines)
{
	struct run_log_query query = { .since = request->since,
				       .until = request->until,
				       .last = request->lines };
	struct run_log_record record;
	struct run_log_reader *reader;
	int r;

	if (request->run)
		(void) run_log_query_set_run(&query, request->run);
	r = run_log_reader_new(dir, unit, &query, &reader);
	if (r < 0)
		return r;
	while ((r = run_log_reader_next(reader, &record)) > 0) {
		r = log_lines_add(lines, unit, &record);
		if (r < 0)
			break;
	}
	run_log_reader_free(reader);
	return r;
}

static int collect_from_disk(struct cli *c, char (*unit)[CLI_UNIT_MAX], int n,
			     const struct request *request, struct log_lines *lines)
{
	_cleanup_close_ int dir = -1;
	int status = CONTROL_OK, r = open_logs(c, &dir);

	if (r < 0 && r != -ENOENT)
		return cli_fail(c, CONTROL_FAILED,
				"no supd answers, and what it kept cannot be read: %s",
				strerror(-r));
	for (int i = 0; i < n; i++) {
		r = dir < 0 ? -ENOENT : read_unit(dir, unit[i], request, lines);
		if (r == -ENOENT)
			status = cli_worse(status, cli_fail(c, CONTROL_NO_UNIT,
							    "nothing is kept of %s", unit[i]));
		else if (r < 0)
			status = cli_worse(status, cli_fail(c, CONTROL_FAILED, "%s: %s", unit[i],
							    strerror(-r)));
	}
	return status;
}

/* ---- the verb ---- */

static int show(struct cli *c, struct log_lines *lines, const struct request *r, int status)
{
	log_lines_sort(lines, r->lines);
	log_lines_print(c, lines, stdout);
	if (lines->n == 0 && status == CONTROL_OK && c->json == CLI_JSON_OFF)
		cli_print_legend(c, "-- no lines --\n");
	return status;
}

/* With --state-dir=, or where no daemon answers, the files themselves are read. */
static int logs(struct cli *c, char (*unit)[CLI_UNIT_MAX], int n, const struct request *r)
{
	_cleanup_(control_reply_done) struct control_reply reterr = { 0 };
	_cleanup_(log_lines_done) struct log_lines lines = { 0 };
	struct control_client *client = c->state_dir ? NULL : cli_client(c, &reterr);
	int status = CONTROL_OK;

	if (!client && reterr.status != CONTROL_OK &&
	    (r->follow || reterr.status != CONTROL_NO_DAEMON))
		return cli_fail_reply(c, &reterr);
	if (!client && r->follow)
		return cli_fail(c, CONTROL_USAGE,
				"--follow takes a supd to be asked, not --state-dir=");
	if (!client)
		return show(c, &lines, r, collect_from_disk(c, unit, n, r, &lines));
	if (r->follow)
		return follow(c, client, unit, n, r);
	for (int i = 0; i < n; i++)
		status = cli_worse(status, collect_unit(c, client, unit[i], r, &lines));
	return show(c, &lines, r, status);
}

int cli_logs(struct cli *c, int argc, char **argv)
{
	_cleanup_free_ char (*unit)[CLI_UNIT_MAX] = calloc((size_t) argc, sizeof(*unit));
	struct request request;
	int status = read_request(c, &request);

	if (!unit)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	for (int i = 1; status == CONTROL_OK && i < argc; i++)
		status = cli_unit_name(c, argv[i], ".service", unit[i - 1]);
	return status != CONTROL_OK ? status : logs(c, unit, argc - 1, &request);
}

/* ---- for other verbs ---- */

void cli_logs_tail(struct cli *c, const struct supd_row *row, unsigned n, FILE *f)
{
	const struct request request = { .run = row_string(row, "run_id"),
					 .until = USEC_NEVER,
					 .lines = n };
	_cleanup_(control_reply_done) struct control_reply reterr = { 0 }, reply = { 0 };
	_cleanup_(log_lines_done) struct log_lines lines = { 0 };
	struct control_client *client = cli_client(c, &reterr);
	const char *unit = row_string(row, "unit");

	if (!client || !unit || !request.run)
		return;
	control_client_wait(client, ask(client, unit, &request), &reply);
	if (reply.status == CONTROL_OK && collect_rows(&lines, reply.row, reply.n) >= 0)
		log_lines_print(c, &lines, f);
}
