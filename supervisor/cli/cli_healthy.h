/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_HEALTHY_H
#define SUPD_CLI_HEALTHY_H

/* supctl is-healthy: is there anything that somebody should look at? */

struct cli;

int cli_is_healthy(struct cli *c, int argc, char **argv);

#endif
