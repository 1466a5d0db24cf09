/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_ENABLE_H
#define SUPD_CLI_CLI_ENABLE_H

/* supctl enable, disable, mask, unmask. */

struct cli;

int cli_enable(struct cli *c, int argc, char **argv);

#endif
