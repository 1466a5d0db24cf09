/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_TIMERS_H
#define SUPD_CLI_CLI_TIMERS_H

/* supctl timers: which timer elapses when, and what became of the last time. */

struct cli;

int cli_timers(struct cli *c, int argc, char **argv);

#endif
