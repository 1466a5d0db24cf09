/* SPDX-License-Identifier: MIT */
#include "cli/past.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/text.h"
#include "cli/cli.h"
#include "core/history_report.h"
#include "daemon/settings.h"
#include "store/history.h"

/* Rows that are asked for at once; the daemon tells no more than this. */
#define PAGE 10000

/* ---- units ---- */

void past_units_free(const char *const **unit)
{
	if (!*unit)
		return;
	for (size_t i = 0; (*unit)[i]; i++)
		free((char *) (uintptr_t) (*unit)[i]);
	free((void *) (uintptr_t) *unit);
	*unit = NULL;
}

static int whole_name(const struct cli *c, const char *typed, const char **ret)
{
	char name[CLI_UNIT_MAX];
	int status = CONTROL_OK;

	if (cli_is_pattern(typed))
		*ret = strdup(typed);
	else
		status = cli_unit_name(c, typed, ".service", name);
	if (status == CONTROL_OK && !*ret)
		*ret = strdup(name);
	if (status == CONTROL_OK && !*ret)
		status = cli_fail(c, CONTROL_FAILED, "out of memory");
	return status;
}

int past_units(const struct cli *c, int n, char **typed, const char *const **ret)
{
	const char **unit = n > 0 ? calloc((size_t) n + 1, sizeof(*unit)) : NULL;
	int status = CONTROL_OK;

	*ret = unit;
	if (n > 0 && !unit)
		return cli_fail(c, CONTROL_FAILED, "out of memory");
	for (int i = 0; i < n && status == CONTROL_OK; i++)
		status = whole_name(c, typed[i], &unit[i]);
	if (status != CONTROL_OK)
		past_units_free(ret);
	return status;
}

/* ---- from the daemon ---- */

static int tell_reply(struct cli *c, const struct control_reply *reply, past_row_fn *fn,
		      void *userdata)
{
	for (size_t i = 0; i < reply->n; i++)
		fn(userdata, &reply->row[i]);
	return reply->status == CONTROL_OK ? CONTROL_OK : cli_fail_reply(c, reply);
}

static int list_page(struct cli *c, struct control_client *client, const struct past_question *q,
		     uint64_t lines, uint64_t offset, past_row_fn *fn, void *userdata,
		     size_t *ret_n)
{
	_cleanup_(control_reply_done) struct control_reply reply;
	struct control_question *question = control_client_ask_keys(
		client, "ListHistory", q->unit, "ssstttt", q->outcomes ? q->outcomes : "",
		q->cause ? q->cause : "", q->run ? q->run : "", q->since, q->until, lines, offset);

	control_client_wait(client, question, &reply);
	*ret_n = reply.n;
	return tell_reply(c, &reply, fn, userdata);
}

static int list_asked(struct cli *c, struct control_client *client, const struct past_question *q,
		      past_row_fn *fn, void *userdata)
{
	uint64_t left = q->lines, offset = q->offset;
	int status = CONTROL_OK;
	size_t n = PAGE;

	while (left > 0 && n == PAGE && status == CONTROL_OK) {
		status = list_page(c, client, q, left < PAGE ? left : PAGE, offset, fn, userdata,
				   &n);
		offset += n;
		left -= n;
	}
	return status;
}

static int sum_asked(struct cli *c, struct control_client *client, const struct past_question *q,
		     past_row_fn *fn, void *userdata)
{
	_cleanup_(control_reply_done) struct control_reply reply;

	control_client_wait(client,
			    control_client_ask_keys(client, "GetStatistics", q->unit, "tt",
						    q->since, q->until),
			    &reply);
	return tell_reply(c, &reply, fn, userdata);
}

/* ---- from the file ---- */

struct reading {
	past_row_fn *fn;
	void *userdata;
};

static int tell_row(const struct reading *reading, const struct report *r)
{
	struct supd_row row;
	int error = report_end(r, &row);

	if (error >= 0)
		reading->fn(reading->userdata, &row);
	return error;
}

static int on_record(void *userdata, const struct history_record *record)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	history_report_record(&r, record, true);
	return tell_row(userdata, &r);
}

static int on_tally(void *userdata, const char *unit, const struct tally *t)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	history_report_tally(&r, unit, t);
	return tell_row(userdata, &r);
}

static int find_file(const struct cli *c, char path[PATH_MAX])
{
	const struct settings_options options = {
		.is_user = cli_has(c, CLI_USER) || (!cli_has(c, CLI_SYSTEM) && geteuid() != 0),
		.state_dir = c->state_dir,
	};
	_cleanup_(diag_done) struct diag d = { 0 };
	struct settings settings;
	int r = settings_load(&options, &settings, &d);

	if (r < 0)
		return r;
	if (snprintf(path, PATH_MAX, "%s/%s", settings.state_dir, HISTORY_FILE) >= PATH_MAX)
		r = -ENAMETOOLONG;
	settings_done(&settings);
	return r;
}

static int fail_to_read(const struct cli *c, const char *path, int r)
{
	if (r == -ENOENT)
		return cli_fail(c, CONTROL_NO_DAEMON,
				"no supd answers, and there is no history in %s", path);
	if (r == -EBUSY)
		return cli_fail(
			c, CONTROL_FAILED,
			"%s is in use by a supd that does not answer here (--runtime-dir= names another)",
			path);
	if (r == -EBADMSG)
		return cli_fail(c, CONTROL_FAILED,
				"%s is damaged; supd sets it aside when it starts", path);
	if (r == -EPROTONOSUPPORT)
		return cli_fail(c, CONTROL_FAILED, "%s was written by a newer supd", path);
	return cli_fail(c, CONTROL_FAILED, "%s cannot be read: %s", path, strerror(-r));
}

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static int read_file(struct cli *c, const struct past_question *q, bool is_sum,
		     struct reading *reading)
{
	uint8_t first[RUN_ID_BYTES], last[RUN_ID_BYTES];
	struct history_filter f = {
		.unit = q->unit,
		.n_units = count(q->unit),
		.cause = q->cause,
		.since = q->since,
		.until = q->until,
		.limit = q->lines,
		.offset = q->offset,
		.patience = USEC_NEVER,
	};
	struct history *h = NULL;
	char path[PATH_MAX] = "";
	int r = find_file(c, path);

	if (q->run && history_run_range(q->run, first, last)) {
		f.run_first = first;
		f.run_last = last;
	}
	if (q->outcomes)
		(void) history_classes_from_string(q->outcomes, &f.classes);
	if (r >= 0)
		r = history_open(path, true, &h);
	if (r >= 0)
		r = is_sum ? history_tally(h, &f, on_tally, reading)
			   : history_find(h, &f, on_record, reading);
	history_close(h);
	return r < 0 ? fail_to_read(c, path, r) : CONTROL_OK;
}

/* ---- either ---- */

static int ask(struct cli *c, const struct past_question *q, bool is_sum, past_row_fn *fn,
	       void *userdata)
{
	_cleanup_(control_reply_done) struct control_reply reterr = { 0 };
	struct control_client *client = c->state_dir ? NULL : cli_client(c, &reterr);
	struct reading reading = { .fn = fn, .userdata = userdata };

	if (!client && reterr.status != CONTROL_OK && reterr.status != CONTROL_NO_DAEMON)
		return cli_fail_reply(c, &reterr);
	if (!client)
		return read_file(c, q, is_sum, &reading);
	return is_sum ? sum_asked(c, client, q, fn, userdata)
		      : list_asked(c, client, q, fn, userdata);
}

int past_list(struct cli *c, const struct past_question *q, past_row_fn *fn, void *userdata)
{
	return ask(c, q, false, fn, userdata);
}

int past_sum(struct cli *c, const struct past_question *q, past_row_fn *fn, void *userdata)
{
	return ask(c, q, true, fn, userdata);
}

static bool is_listed(const char *word, const char *(*list)(void *userdata, size_t i))
{
	const char *known;

	for (size_t i = 0; (known = list(NULL, i)); i++)
		if (str_equal(word, known))
			return true;
	return false;
}

void past_doubt_words(const char *option, const char *words,
		      const char *(*list)(void *userdata, size_t i))
{
	_cleanup_free_ char *copy = strdup(words);
	char *rest = copy, *word;

	while (rest && (word = strsep(&rest, ","))) {
		_cleanup_free_ char *text = text_printable(word);
		const char *near;

		if (is_listed(word, list) || !text)
			continue;
		near = text_suggest(word, list, NULL);
		(void) fprintf(stderr, "supctl: --%s=: supd itself has no '%s'%s%s%s\n", option,
			       text, near ? " (did you mean " : "", near ? near : "",
			       near ? "?)" : "");
	}
}
