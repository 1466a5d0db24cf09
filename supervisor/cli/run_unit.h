/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_RUN_UNIT_H
#define SUPD_CLI_RUN_UNIT_H

/* The unit files that supctl run makes of its command line: text that, read as any unit file, means
 * what was said. Pure. */

#include <stddef.h>
#include <stdio.h>

/* One line of a file. */
struct run_line {
	const char *section, *key;
	const char *value; /* as it will stand there */
};

/* What was said; all lent. */
struct run_unit {
	const char *description; /* or NULL */
	const char *const *argv; /* NULL-terminated; the first is an absolute path */
	const struct run_line *line; /* of the service, behind these, in their order */
	size_t n_lines;
	const struct run_line *timer_line; /* none: no timer */
	size_t n_timer_lines;
};

/* A word as a line of a file wants it, so that it is read as it is: quotes, escapes, percent signs
 * doubled. Gives; NULL when memory ran out. */
char *run_unit_quote(const char *word);
/* A value that a line takes as a whole. */
char *run_unit_plain(const char *value);
/* NULL, or what keeps this text from being the value of a line: a sentence. */
const char *run_unit_fault(const char *value);

/* Give; NULL when memory ran out. */
char *run_unit_service(const struct run_unit *u);
char *run_unit_timer(const struct run_unit *u); /* with timer lines */

#endif
