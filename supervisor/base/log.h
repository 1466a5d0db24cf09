/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_LOG_H
#define SUPD_BASE_LOG_H

/* One log line to wherever lines go: the sink is a pointer that the program (or the test) sets.
 * Levels are syslog's. error: an operation asked for did not happen; warning: it did, but something
 * was set aside; notice: state changes a person waits for; info: the rest; debug: any. */

#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

/* What a line says, once more for programs. */
struct log_field {
	const char *name; /* [a-z][a-z0-9_]* */
	const char *value;
};

struct log_line {
	int level;
	const char *unit;      /* or NULL */
	const uint8_t *run_id; /* 16 bytes, or NULL */
	const char *stream;    /* "stdout", "stderr" for what a service printed, else NULL */
	const char *message;   /* not escaped: the sink escapes for its medium */
	const char *identifier; /* under which a journal files it; NULL: supd's */
	int facility;          /* for a journal; 0: supd's */
	const char *event;     /* the type, where the line tells an event; or NULL */
	const struct log_field *field; /* of the event */
	size_t n_fields;
};

/* @line is lent during the call. */
typedef void log_sink_fn(void *userdata, const struct log_line *line);

void log_set_sink(log_sink_fn *sink, void *userdata);
void log_set_level(int level); /* lines above it are dropped; LOG_INFO at first */
int log_level(void);
/* "error", "warning", "notice", "info", "debug" ↔ number; -EINVAL. */
int log_level_from_string(const char *s);
const char *log_level_to_string(int level);

void log_write(const struct log_line *line);
/* @r: a negative errno, its text is added; 0: none. */
void log_unit(const char *unit, int level, int r, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define log_error(r, ...) log_unit(NULL, LOG_ERR, (r), __VA_ARGS__)
#define log_warning(r, ...) log_unit(NULL, LOG_WARNING, (r), __VA_ARGS__)
#define log_notice(...) log_unit(NULL, LOG_NOTICE, 0, __VA_ARGS__)
#define log_info(...) log_unit(NULL, LOG_INFO, 0, __VA_ARGS__)
#define log_debug(...) log_unit(NULL, LOG_DEBUG, 0, __VA_ARGS__)

#endif
