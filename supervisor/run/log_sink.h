/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_LOG_SINK_H
#define SUPD_RUN_LOG_SINK_H

/* Where log lines go: the journal, when our stderr is its stream; else stderr. Nothing here waits:
 * what a full or blocked target does not take is kept up to a limit, then dropped and counted, and
 * the count is told as soon as there is room. */

#include <systemd/sd-event.h>

#include "base/log.h"
#include "run/log_format.h"

struct log_sink;

struct log_sink_config {
	int fd;              /* stderr; lent */
	/* LOG_TEXT or LOG_JSON, as asked for; the journal goes before LOG_TEXT */
	enum log_format format;
	/* of the daemon's environment; NULL: not set */
	const char *journal_stream; /* $JOURNAL_STREAM */
	const char *journal_socket; /* NULL: systemd's */
};

int log_sink_new(const struct log_sink_config *config, struct log_sink **ret);
/* Tries once more to get rid of what is kept, for a moment at most. */
struct log_sink *log_sink_free(struct log_sink *s);
/* From now on, what is kept is written as soon as the target takes it. */
int log_sink_attach(struct log_sink *s, sd_event *event);
void log_sink_detach(struct log_sink *s);

/* A log_sink_fn; @userdata is the sink. */
void log_sink_write(void *userdata, const struct log_line *line);

#endif
