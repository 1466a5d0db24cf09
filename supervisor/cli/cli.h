/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_H
#define SUPD_CLI_CLI_H

/* What all verbs of supctl share: what was asked for on the command line, where the answer goes,
 * and the connection to the daemon. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "control/client.h"
#include "control/table.h"

/* A set of options, a bit for each: without a value, or with one in its member of struct cli. */
typedef uint64_t cli_options;

#define CLI_HELP (UINT64_C(1) << 0)
#define CLI_VERSION (UINT64_C(1) << 1)
#define CLI_USER (UINT64_C(1) << 2)
#define CLI_SYSTEM (UINT64_C(1) << 3)
#define CLI_RUNTIME_DIR (UINT64_C(1) << 4)
#define CLI_JSON (UINT64_C(1) << 5)
#define CLI_NO_LEGEND (UINT64_C(1) << 6)
#define CLI_FULL (UINT64_C(1) << 7)
#define CLI_ALL (UINT64_C(1) << 8)
#define CLI_FAILED (UINT64_C(1) << 9)
#define CLI_NO_BLOCK (UINT64_C(1) << 10)
#define CLI_QUIET (UINT64_C(1) << 11)
#define CLI_PROPERTY (UINT64_C(1) << 12)
#define CLI_VALUE (UINT64_C(1) << 13)
#define CLI_RUNTIME (UINT64_C(1) << 14)
#define CLI_NULL (UINT64_C(1) << 15)
#define CLI_LINES (UINT64_C(1) << 16)
#define CLI_FOLLOW (UINT64_C(1) << 17)
#define CLI_RUN (UINT64_C(1) << 18)
#define CLI_SINCE (UINT64_C(1) << 19)
#define CLI_UNTIL (UINT64_C(1) << 20)
#define CLI_STATE_DIR (UINT64_C(1) << 21)
#define CLI_NOW (UINT64_C(1) << 22)
#define CLI_RESULT (UINT64_C(1) << 23)
#define CLI_CAUSE (UINT64_C(1) << 24)
#define CLI_OFFSET (UINT64_C(1) << 25)
#define CLI_OPENMETRICS (UINT64_C(1) << 26)
#define CLI_TYPE (UINT64_C(1) << 27)
#define CLI_DAY (UINT64_C(1) << 28)
#define CLI_FROM (UINT64_C(1) << 29)
#define CLI_TO (UINT64_C(1) << 30)
#define CLI_UNIT (UINT64_C(1) << 31)
/* In a verb's options alone, and no option: what follows the verb is all its own, whatever it looks
 * like. */
#define CLI_VERBATIM (UINT64_C(1) << 32)

enum cli_json { CLI_JSON_OFF, CLI_JSON_SHORT, CLI_JSON_PRETTY };

struct cli_verb;

struct cli {
	const struct cli_verb *verb; /* NULL: not known yet */
	cli_options given;
	const char *runtime_dir;
	const char *property;
	/* of logs and history, as they stand; NULL: not given */
	const char *lines, *run, *since, *until, *state_dir;
	const char *type, *unit;                               /* of events, likewise */
	const char *day, *from, *to;                           /* of plan, likewise */
	const char *result, *cause, *offset;                   /* of history, likewise */
	enum cli_json json;
	bool is_terminal; /* stdout */
	bool is_utf8;
	bool has_color;
	size_t width; /* of the terminal; 0: no limit */
	usec_t now;
	struct control_client *client;
};

/* argv[0] is the verb; returns the exit status */
typedef int cli_verb_fn(struct cli *c, int argc, char **argv);
typedef int cli_raw_fn(int argc, char **argv);                 /* parses its options by itself */

struct cli_verb {
	const char *group; /* heading in --help */
	const char *name;
	const char *alias;     /* systemctl's word for it, or NULL */
	const char *arguments; /* "UNIT…" */
	const char *summary;   /* one line */
	cli_options options;   /* those it takes besides the global ones */
	int min, max;          /* number of arguments; max -1: any */
	cli_verb_fn *run;
	cli_raw_fn *raw;
};

/* What is known without the command line: terminal, locale, time. */
void cli_init(struct cli *c);
void cli_done(struct cli *c);

static inline bool cli_has(const struct cli *c, cli_options option)
{
	return (c->given & option) != 0;
}

/* ---- output ---- */

/* One line on stderr, "supctl: …"; with --json the error object on stdout. Returns @status. */
int cli_fail(const struct cli *c, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The message of a reply without rows, if it has one; returns its status. */
int cli_fail_reply(const struct cli *c, const struct control_reply *reply);
/* Prints and takes @json; returns @status, or 1 if that is impossible. */
int cli_print_json(const struct cli *c, json_t *json, int status);
/* Prints the table with or without its header; returns 0 or 1. */
int cli_print_table(const struct cli *c, const struct table *t);
/* A line of the legend below a table, unless there is to be none. */
void cli_print_legend(const struct cli *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints what came from outside, with control characters escaped. */
void cli_print_text(const char *text);
/* "file:line: message" of a row of problems. Gives; the caller frees. */
char *cli_problem(const struct supd_row *row);
/* Writes out what is buffered: 0, or 1 after telling that stdout is broken. */
int cli_flush(int status);

/* ---- asking ---- */

/* The connection, made when first asked for; NULL, with *reterr telling why. */
struct control_client *cli_client(struct cli *c, struct control_reply *reterr);
/* Asks and waits: what control_client_ask() takes. @ret is the caller's to end. Returns its
 * status. */
#define cli_ask(c, ret, ...)                                                                   \
	({                                                                                     \
		struct control_client *_client = cli_client((c), (ret));                       \
		if (_client)                                                                   \
			control_client_wait(_client, control_client_ask(_client, __VA_ARGS__), \
				(ret));                                                        \
		(ret)->status;                                                                 \
	})
/* The same for control_client_ask_keys(): what people see needs @keys alone, JSON has all. */
#define cli_ask_keys(c, ret, method, keys, ...)                                               \
	({                                                                                    \
		struct control_client *_client = cli_client((c), (ret));                      \
		const char *const *_keys = (c)->json == CLI_JSON_OFF ? (keys) : NULL;         \
		if (_client)                                                                  \
			control_client_wait(_client,                                          \
					    control_client_ask_keys(_client, (method), _keys, \
					    	__VA_ARGS__), (ret));                         \
		(ret)->status;                                                                \
	})

/* Sets *ret to the whole name of a unit that was typed with or without its suffix. 0, or the exit
 * status, told. */
#define CLI_UNIT_MAX 256
int cli_unit_name(const struct cli *c, const char *typed, const char *suffix,
		  char ret[CLI_UNIT_MAX]);
bool cli_is_pattern(const char *typed);
/* Does @unit match one of the patterns? Without patterns, all do; the suffix may be left out. */
bool cli_matches(const char *unit, int n, char **patterns);

/* The worse of two statuses, for answers about several units. */
int cli_worse(int a, int b);

#endif
