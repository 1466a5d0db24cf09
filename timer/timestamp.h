/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_TIMESTAMP_H
#define SUPD_TIMER_TIMESTAMP_H

/* Points in time as people write them: the timestamps of systemd.time(7). Pure: the present, the
 * local zone and where other zones are found are arguments. */

#include <stdbool.h>
#include <stddef.h>

#include "base/usec.h"

struct parse_error;
struct zone;

/* Room for any printed timestamp, its NUL included. */
#define TIMESTAMP_MAX 96

/* What the words of a timestamp refer to. */
struct timestamp_context {
	usec_t now;
	const struct zone *local;
	/* The zone of that name, or NULL; may be NULL itself. zone_cache_find() is one. */
	const struct zone *(*find_zone)(void *userdata, const char *name);
	void *userdata;
};

/* Returns 0, or -EBADMSG with *reterr (may be NULL) filled. A local time that exists twice is the
 * first unless an abbreviation says otherwise; one that does not exist is as far behind the gap as
 * it lies behind the gap's begin. */
int timestamp_parse(const char *text, const struct timestamp_context *context, usec_t *ret,
		    struct parse_error *reterr);

/* "Sat 2026-11-21 09:17:37 CET"; @has_fraction adds the microseconds. "-" for 0 and USEC_NEVER,
 * which stand for "none". Returns @buf. */
char *timestamp_print(char *buf, size_t size, usec_t when, const struct zone *zone,
		      bool has_fraction);

#endif
