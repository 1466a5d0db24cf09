/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CALENDAR_H
#define SUPD_CLI_CALENDAR_H

/* supctl's verbs about time, which need no daemon. @argv[0] is the verb; output goes to stdout,
 * errors to stderr. Each returns the exit status: 0, 1 if an expression is bad, 2 on wrong
 * usage. */

int cli_calendar(int argc, char **argv);
int cli_timespan(int argc, char **argv);
int cli_timestamp(int argc, char **argv);

#endif
