/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_TIMESPAN_H
#define SUPD_BASE_TIMESPAN_H

/* Time spans as people write them: "1h 30min", "2.5s", "infinity". The grammar, the units and the
 * printed form are those of systemd.time(7). Pure; allocates nothing. */

#include <stddef.h>

#include "base/usec.h"

struct parse_error;

/* Room for any printed span, its NUL included. */
#define TIMESPAN_MAX 64

/* A number without a unit counts seconds; "infinity" is USEC_NEVER. Returns 0, or -EBADMSG with
 * *reterr (may be NULL) filled: no number, unknown unit, or a sum that does not fit. */
int timespan_parse(const char *text, usec_t *ret, struct parse_error *reterr);

/* The same with another default unit, USEC_PER_MINUTE say. */
int timespan_parse_unit(const char *text, usec_t unit, usec_t *ret, struct parse_error *reterr);

/* The same in nanoseconds, for keys like TimerSlackNSec=: knows "ns" and "nsec" besides, a number
 * without a unit counts nanoseconds, UINT64_MAX is infinity. */
int timespan_parse_nsec(const char *text, uint64_t *ret, struct parse_error *reterr);

/* Writes the normal form into @buf ("1h 30min"), cutting what is finer than @accuracy; returns
 * @buf. An accuracy of 0 or 1 cuts nothing. Never writes more than @size bytes. */
char *timespan_print(char *buf, size_t size, usec_t span, usec_t accuracy);

/* A distance in time as systemctl words it, two units at most: "2h 5min", "3 days", "now" for 0.
 * The caller adds "left" or "ago". */
char *timespan_print_rough(char *buf, size_t size, usec_t span);

#endif
