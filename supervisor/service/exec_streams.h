/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_EXEC_STREAMS_H
#define SUPD_SERVICE_EXEC_STREAMS_H

/* What a service's processes get as standard input, output and error, and how what they print is
 * recorded: supd.exec(5), "Input and output". */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

struct key_context;
struct service_spec;

enum stream_kind {
	STREAM_INHERIT,  /* what the one before has: error from output, output from input */
	STREAM_NULL,
	STREAM_JOURNAL,  /* captured */
	STREAM_TTY,
	STREAM_DATA,     /* input: the bytes of the unit file */
	STREAM_FILE,     /* as it stands, from its beginning */
	STREAM_APPEND,
	STREAM_TRUNCATE,
};

struct exec_stream {
	enum stream_kind kind;
	bool has_console; /* JOURNAL: passed on to the log, whatever supd.conf says */
	const char *path; /* FILE, APPEND, TRUNCATE: absolute */
};

/* How the terminal becomes that of the process's session. */
enum terminal_claim {
	TERMINAL_NONE,
	TERMINAL_CLAIM, /* if it is nobody else's */
	TERMINAL_FORCE, /* even if it is */
};

#define EXEC_STREAMS_IDENTIFIER_MAX 64

struct exec_streams {
	struct exec_stream in, out, err;
	bool has_input;             /* StandardInput= was written */
	enum terminal_claim claim;  /* in: TTY */
	const char *tty_path;       /* absolute */
	const char *data;           /* in: DATA */
	size_t n_data;
	const char *identifier;     /* SyslogIdentifier=; NULL: the unit's name */
	int level;                  /* of lines that name none */
	int level_max;              /* lines above it are dropped */
	int facility;               /* as syslog(3) has it, LOG_DAEMON by default */
	bool level_prefix;          /* "<3>" at the beginning of a line is its level */
	/* what is passed on to the log: at most rate_burst lines in this time; 0: no limit */
	usec_t rate_interval;
	unsigned rate_burst;        /* 0: no limit */
};

/* Those of a service; of one that says nothing of them, the defaults. Never NULL. */
const struct exec_streams *exec_streams_of(const struct service_spec *spec);

/* Is what it prints there read by supd? */
bool exec_streams_captures_out(const struct exec_streams *s);
bool exec_streams_captures_err(const struct exec_streams *s);
/* Is one of them a terminal? */
bool exec_streams_has_terminal(const struct exec_streams *s);

/* Rows of the key table. */
int exec_streams_parse_input(const struct key_context *c);
/* row->parameter: STDOUT_FILENO, STDERR_FILENO */
int exec_streams_parse_output(const struct key_context *c);
int exec_streams_parse_text(const struct key_context *c);
int exec_streams_parse_data(const struct key_context *c);
int exec_streams_parse_tty_path(const struct key_context *c);
int exec_streams_parse_identifier(const struct key_context *c);
enum { EXEC_STREAMS_LEVEL, EXEC_STREAMS_LEVEL_MAX };
int exec_streams_parse_level(const struct key_context *c); /* row->parameter: which of these */
int exec_streams_parse_facility(const struct key_context *c);
int exec_streams_parse_level_prefix(const struct key_context *c);
int exec_streams_parse_rate_interval(const struct key_context *c);
int exec_streams_parse_rate_burst(const struct key_context *c);

#endif
