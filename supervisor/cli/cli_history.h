/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_HISTORY_H
#define SUPD_CLI_HISTORY_H

/* supctl history: every run and every miss, newest first. */

struct cli;

int cli_history(struct cli *c, int argc, char **argv);

#endif
