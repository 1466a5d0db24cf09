/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_STATUS_H
#define SUPD_CLI_CLI_STATUS_H

/* supctl status: one unit, or all, explained. */

struct cli;

int cli_status(struct cli *c, int argc, char **argv);

#endif
