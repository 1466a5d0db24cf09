/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <errno.h>
#include <fnmatch.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "unit/name.h"

_Static_assert(CLI_UNIT_MAX == UNIT_NAME_MAX + 1, "room for a unit's name");

/* ---- surroundings ---- */

static bool wants_color(void)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return (!no_color || !*no_color) && term && *term && !str_equal(term, "dumb");
}

static size_t terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 ? 0 : size.ws_col;
}

/* Widths of characters are those of Unicode, whatever the locale; signs beyond ASCII of our own are
 * not printed where it does not know them. */
static bool init_locale(void)
{
	bool is_utf8 = setlocale(LC_CTYPE, "") && str_equal(nl_langinfo(CODESET), "UTF-8");

	if (!is_utf8)
		(void) setlocale(LC_CTYPE, "C.UTF-8");
	return is_utf8;
}

static usec_t real_time(void)
{
	struct timespec ts;

	(void) clock_gettime(CLOCK_REALTIME, &ts);
	return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

void cli_init(struct cli *c)
{
	tzset();
	*c = (struct cli){
		.is_terminal = isatty(STDOUT_FILENO),
		.is_utf8 = init_locale(),
		.now = real_time(),
	};
	c->has_color = c->is_terminal && wants_color();
	c->width = c->is_terminal ? terminal_width() : 0;
}

void cli_done(struct cli *c)
{
	c->client = control_client_free(c->client);
}

/* ---- output ---- */

static int print_error(const struct cli *c, int status, const char *message)
{
	_cleanup_free_ char *printable = text_printable(message);

	if (c->json != CLI_JSON_OFF)
		return cli_print_json(c, rows_json_error(message, status), status);
	fprintf(stderr, "supctl: %s\n", printable ? printable : "out of memory");
	return status;
}

int cli_fail(const struct cli *c, int status, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	return print_error(c, status, text ? text : "out of memory");
}

int cli_fail_reply(const struct cli *c, const struct control_reply *reply)
{
	if (reply->status != CONTROL_OK && reply->message)
		return print_error(c, reply->status, reply->message);
	return reply->status;
}

int cli_print_json(const struct cli *c, json_t *json, int status)
{
	int r = rows_json_print(json, c->json == CLI_JSON_PRETTY, c->is_terminal, stdout);

	if (r == -ENOMEM)
		fputs("supctl: out of memory\n", stderr);
	/* A stdout that is broken is told at the end. */
	return r == -ENOMEM ? CONTROL_FAILED : status;
}

int cli_print_table(const struct cli *c, const struct table *t)
{
	const struct table_look look = {
		.has_header = !cli_has(c, CLI_NO_LEGEND),
		.has_color = c->has_color,
		.is_ascii = !c->is_utf8,
		.width = cli_has(c, CLI_FULL) ? 0 : c->width,
	};

	return table_print(t, &look, stdout) < 0 ? cli_fail(c, CONTROL_FAILED, "out of memory")
						 : CONTROL_OK;
}

void cli_print_legend(const struct cli *c, const char *fmt, ...)
{
	va_list args;

	if (cli_has(c, CLI_NO_LEGEND))
		return;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
}

void cli_print_text(const char *text)
{
	_cleanup_free_ char *printable = text_printable(text);

	fputs(printable ? printable : "", stdout);
}

char *cli_problem(const struct supd_row *row)
{
	const char *file = row_string(row, "file"), *message = row_string(row, "message");
	const char *reason = row_string(row, "reason"); /* why it is not applied */
	long long line = row_number(row, "line", 0);
	char why[64] = "";
	_cleanup_free_ char *text = NULL;
	int n;

	message = message ? message : "";
	if (reason)
		(void) snprintf(why, sizeof(why), " (%s)", reason);
	if (file && line > 0)
		n = asprintf(&text, "%s:%lld: %s%s", file, line, message, why);
	else
		n = asprintf(&text, "%s%s%s%s", file ? file : "", file ? ": " : "", message, why);
	if (n < 0) {
		text = NULL;
		return NULL;
	}
	return text_printable(text);
}

int cli_flush(int status)
{
	bool was_broken = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !was_broken)
		return status;
	fprintf(stderr, "supctl: cannot write the output: %s\n",
		errno ? strerror(errno) : "an error occurred");
	return CONTROL_FAILED;
}

/* ---- asking ---- */

struct control_client *cli_client(struct cli *c, struct control_reply *reterr)
{
	const struct control_place place = {
		.runtime_dir = c->runtime_dir,
		.is_user = cli_has(c, CLI_USER) || (!cli_has(c, CLI_SYSTEM) && geteuid() != 0),
	};

	*reterr = (struct control_reply){ 0 };
	if (!c->client)
		(void) control_client_new(&place, &c->client, reterr);
	return c->client;
}

bool cli_is_pattern(const char *typed)
{
	return strpbrk(typed, "*?[");
}

int cli_unit_name(const struct cli *c, const char *typed, const char *suffix,
		  char ret[CLI_UNIT_MAX])
{
	if (cli_is_pattern(typed))
		return cli_fail(
			c, CONTROL_NO_UNIT,
			"'%s' is a pattern, and the name of a unit is wanted here (supctl list "
			"'%s' shows which there are)",
			typed, typed);
	if (unit_name_complete(typed, suffix, ret) < 0 || !unit_name_is_valid(ret))
		return cli_fail(c, CONTROL_NO_UNIT, "'%s' cannot be the name of a unit", typed);
	return CONTROL_OK;
}

static bool matches_one(const char *unit, const char *pattern)
{
	const char *dot = strrchr(unit, '.');
	char stem[CLI_UNIT_MAX];

	if (fnmatch(pattern, unit, FNM_NOESCAPE) == 0)
		return true;
	if (!dot || (size_t) (dot - unit) >= sizeof(stem))
		return false;
	memcpy(stem, unit, (size_t) (dot - unit));
	stem[dot - unit] = '\0';
	return fnmatch(pattern, stem, FNM_NOESCAPE) == 0;
}

bool cli_matches(const char *unit, int n, char **patterns)
{
	for (int i = 0; i < n; i++)
		if (matches_one(unit, patterns[i]))
			return true;
	return n == 0;
}

int cli_worse(int a, int b)
{
	return a > b ? a : b;
}
