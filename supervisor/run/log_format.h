/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_LOG_FORMAT_H
#define SUPD_RUN_LOG_FORMAT_H

/* A log line as bytes, always exactly one line, whatever it says. Pure. */

#include <stddef.h>

#include "base/usec.h"

struct log_line;

enum log_format {
	LOG_TEXT,   /* 2026-07-01T10:00:00.123456Z warning backup.service[1a2b3c4d]: message */
	LOG_PREFIX, /* <4>backup.service[1a2b3c4d]: message; for a journal that reads our stderr */
	LOG_JSON, /* {"time":…,"level":…,"unit":…,"run_id":…,"stream":…,"event":…,"fields":{…},"message":…}
		   */
	LOG_JOURNAL, /* fields of systemd's native protocol, one datagram */
};
#define LOG_FORMAT_COUNT (LOG_JOURNAL + 1)

/* Gives the bytes, newline included (LOG_JOURNAL: as many as the protocol needs). @now: real time.
 * 0 or -ENOMEM.
 *
 * Text is escaped for a terminal. JSON is valid UTF-8 and leaves a message as it is, unless it is
 * not UTF-8: then it is escaped (\xNN), and "escaped" is true. Unit, run id, stream, event and its
 * fields are left out where there is none. */
int log_format(enum log_format format, usec_t now, const struct log_line *line, char **ret,
	       size_t *ret_n);

#endif
