/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_FORMAT_H
#define SUPD_CONTROL_FORMAT_H

/* Values in words, as systemctl words them. */

#include <stddef.h>

#include "base/usec.h"
#include "supd-plugin.h"

#define FORMAT_TIME_MAX 64

/* "Sat 2026-11-21 06:23:29 UTC" in the local zone (tzset() is the caller's); "-" for 0 and never.
 * Returns @buf. */
char *format_timestamp(char *buf, size_t size, usec_t when);
/* "Nov 21 06:23:29", as journalctl has it; "2025 Nov 21 06:23:29" where that is not the year of
 * @now. "-" for never. Returns @buf. */
char *format_log_time(char *buf, size_t size, usec_t when, usec_t now);
/* "14s left", "6s ago", "now"; "-" for never. */
char *format_left(char *buf, size_t size, usec_t span);
char *format_ago(char *buf, size_t size, usec_t span);

/* Any value on one line, escaped: yes and no, lists separated by blanks, rows as JSON. Gives; the
 * caller frees. NULL when memory ran out. */
char *format_value(const struct supd_field *f);

/* Text without control characters, for a terminal; NULL and "" are "-". Gives; the caller frees. */
char *format_cell(const char *text);

/* How many cells of a terminal a printable text takes. */
size_t format_width(const char *text);
/* Bytes of the longest beginning of @text that takes at most @width cells, and the cells it
 * takes. */
size_t format_fit(const char *text, size_t width, size_t *ret_cells);

#endif
