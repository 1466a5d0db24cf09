/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_TIMESTAMP_H
#define SUPD_TIMER_TIMESTAMP_H

/* Points in time as people write them: the timestamps of systemd.time(7). Pure: the present and the
 * local zone are arguments. */

#include <stdbool.h>
#include <stddef.h>

#include "base/usec.h"

struct parse_error;
struct zone;

/* Room for any printed timestamp, its NUL included. */
#define TIMESTAMP_MAX 64

/* @zone is the zone the text names, if the caller found one and took it off the text (see
 * timestamp_zone_word()), else NULL: then @local counts, whose abbreviations are understood.
 * Returns 0, or -EBADMSG with *reterr (may be NULL) filled. */
int timestamp_parse(const char *text, usec_t now, const struct zone *local, usec_t *ret,
		    struct parse_error *reterr);
int timestamp_parse_in(const char *text, size_t length, usec_t now, const struct zone *zone,
		       usec_t *ret, struct parse_error *reterr);

/* The last word of @text if it may be the name of a zone of the database, else NULL. */
const char *timestamp_zone_word(const char *text, const struct zone *local);

/* "Sat 2026-11-21 09:17:37 CET"; @fraction adds the microseconds. Returns @buf. */
char *timestamp_print(char *buf, size_t size, usec_t when, const struct zone *zone, bool fraction);

#endif
