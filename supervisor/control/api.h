/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_API_H
#define SUPD_CONTROL_API_H

/* What may be asked of the daemon over its socket: a fixed table of verbs that take unit names and
 * enumerations, never a path or a command. The server (control/server) knows sockets, callers and
 * rights; who answers (supd.c, with the manager) knows none of that. Questions go out through
 * ask(); answers come back as rows, then one control_done(), in the same call or much later
 * ("start", which waits). */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "supd-plugin.h"

struct control_server;

enum control_verb {
	CONTROL_VERSION, /* one row: version, state, pid, started */
	CONTROL_LIST,    /* one row a unit */
	/* one row, everything known of a unit (all units when unit is NULL), for people */
	CONTROL_STATUS,
	CONTROL_SHOW,  /* one row: properties */
	CONTROL_CAT,   /* one row a file: path, text */
	CONTROL_START, /* one row: how the run ended (wait), or its run id */
	CONTROL_STOP,
	CONTROL_RESTART,
	/* runtime; one row for the unit and each of its Also=: unit, changed, message */
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_MASK, /* runtime; one row: unit, changed, message */
	CONTROL_UNMASK,
	CONTROL_TRIGGER, /* as START, for a timer */
	CONTROL_RESET,
	CONTROL_RELOAD, /* rows: unit, change ("added", "changed", "removed"), or a mistake (file,
			   line, message) */
	CONTROL_TABLE,  /* rows of a plugin: subsystem "timer", table "units"; first row: the
			   subsystem's state */
	CONTROL_EXPERIMENTAL, /* subsystem, on, runtime; without a subsystem: one row a feature */
	CONTROL_PAUSE,
	CONTROL_RESUME,
	/* one row a variable: name, value; before them the mistakes of environment files */
	CONTROL_ENVIRONMENT,
	/* one row a line that a service printed; with follow, those to come as well, without end */
	CONTROL_LOGS,
	/* one row a run or a miss, newest first; where no history is kept: failed */
	CONTROL_HISTORY,
	CONTROL_STATISTICS, /* one row a service */
	/* transient units, of owners alone: mistakes, then one row as START, or: unit, activates */
	CONTROL_RUN,
	CONTROL_SKIP, /* one row: unit, moment, changed, next */
	CONTROL_UNSKIP,
	/* one row an event, the oldest first; with follow, those to come as well, without end */
	CONTROL_EVENTS,
	/* the subsystem's row; then one row a coming moment of a timer in [since, until) */
	CONTROL_PLAN,
};
#define CONTROL_VERB_COUNT (CONTROL_PLAN + 1)

/* Keys that supctl shows to people; whatever else a row carries appears in show and in JSON as it
 * is.
 *	unit (LIST, STATUS): unit, description, load_state ("loaded" "invalid" "masked"
 *		"unsupported" "not-found"), active_state, sub_state, enabled, result (words),
 *		main_pid, run_id, cause, started, ended, exit_status, status_text, metrics (a row of
 *		numbers), fragment, dropins, problems (rows: file, line, key, message, severity) and
 *		in STATUS triggered_by, triggers, and of one unit unit_file_state (systemctl
 *		is-enabled's word)
 *	run (START, STOP, RESTART, TRIGGER): unit, run_id, result (systemd's word), words,
 *		exit_status, duration, cause, unmet (the condition or assert that was not met, in a
 *		sentence)
 *	RELOAD: unit, change; or file, line, key, message, severity
 *	ENABLE, DISABLE, MASK, UNMASK: unit, changed, message
 *	EXPERIMENTAL: feature, enabled, state, reason
 *	LOGS: time, unit, run_id, stream ("stdout" "stderr"), level, message, or message_base64
 *		where that is not UTF-8 without NULs; where it applies: identifier, continued,
 *		unfinished, missing (a number of lines)
 *	EVENTS: seq, time, type, level, unit, message, and the event's fields: supd-events(7)
 *	TABLE: first the subsystem: subsystem, state ("enabled" "disabled" "starting" "paused"
 *		"stopping" "failed"), reason, not_persisted_since; then rows of which kind is
 *		"timer": next, left, last, passed, unit, activates, result, enabled …; or "invalid":
 *		unit, problems or message */

#define CONTROL_UNITS_MAX 64

/* Lent during ask(). */
struct control_request {
	uint64_t id; /* names this request in the answer */
	enum control_verb verb;
	const char *unit;      /* a valid unit name, or NULL */
	const char *subsystem; /* "timer" as in the plugin's name; [a-z]+, or NULL */
	const char *table;     /* [a-z]+, or NULL */
	/* 1 to 32 hexadecimal digits, the beginning of a run's id, or NULL */
	const char *run;
	uint64_t since, until; /* µs since the epoch */
	uint64_t lines;        /* the last so many; 0: all */
	uint64_t moment;       /* real time; 0: the next */
	uint64_t offset;       /* of these, so many are left out */
	const char *types;     /* words parted by commas, or NULL */
	const char *outcomes;  /* words parted by commas, or NULL */
	const char *cause;     /* a word, or NULL */
	const char *units[CONTROL_UNITS_MAX]; /* names and patterns; none: all */
	size_t n_units;
	bool follow;
	const char *service_text, *timer_text; /* CONTROL_RUN: files; "": no timer */
	bool wait;
	bool on;
	bool runtime;
	uid_t uid;             /* who asks; allowed to, that is settled */
	/* root or our own user: may also see what only they could read from disk */
	bool is_owner;
};

typedef void control_ask_fn(void *userdata, const struct control_request *request);

/* Answers; an id whose caller has gone meanwhile is ignored. @status: supctl's exit status (0 done,
 * 1 failed, 3 not active, 4 no such unit or invalid unit); @message may be NULL when it is 0. */
void control_row(struct control_server *s, uint64_t id, const struct supd_row *row);
void control_done(struct control_server *s, uint64_t id, int status, const char *message);

/* For answers that take long, or never end: the rows so far go out now, ahead of the answer. */
void control_flush(struct control_server *s, uint64_t id);
/* Is somebody still waiting for it? */
bool control_is_awaited(struct control_server *s, uint64_t id);
/* Has what was sent not all been read yet? Whoever has much to say waits then. */
bool control_is_behind(struct control_server *s, uint64_t id);

#endif
