/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_LOGS_H
#define SUPD_CLI_CLI_LOGS_H

/* supctl logs: what services printed, from the daemon or, without one, from the disk. */

#include <stdio.h>

struct cli;
struct supd_row;

int cli_logs(struct cli *c, int argc, char **argv);

/* The last @n lines (0: all) of a run that @row is about (its unit and run_id); nothing where there
 * are none, or they are not for the caller to see. */
void cli_logs_tail(struct cli *c, const struct supd_row *row, unsigned n, FILE *f);

#endif
