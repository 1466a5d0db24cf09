/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_SKIP_H
#define SUPD_CLI_SKIP_H

/* supctl skip, unskip: dropping coming moments of a timer, and taking that back. */

struct cli;

int cli_skip(struct cli *c, int argc, char **argv);

#endif
