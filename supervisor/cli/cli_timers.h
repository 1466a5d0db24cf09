/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_TIMERS_H
#define SUPD_CLI_CLI_TIMERS_H

/* supctl timers: which timer elapses when, and what became of the last time. */

struct cli;

struct supd_row;

/* The gate is closed: that, why, and what to do. Returns 0; 1 if it should be open, and could not
 * be opened. */
int cli_timers_closed(const struct supd_row *subsystem, const char *state);

int cli_timers(struct cli *c, int argc, char **argv);

#endif
