/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_ENVIRONMENT_H
#define SUPD_CLI_CLI_ENVIRONMENT_H

/* env: the environment that a run of a service gets. */

struct cli;

int cli_environment(struct cli *c, int argc, char **argv);

#endif
