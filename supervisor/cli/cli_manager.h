/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_MANAGER_H
#define SUPD_CLI_CLI_MANAGER_H

/* The daemon as a whole. */

struct cli;

int cli_reload(struct cli *c, int argc, char **argv);
int cli_experimental(struct cli *c, int argc, char **argv);
/* pause, resume */
int cli_pause(struct cli *c, int argc, char **argv);
int cli_version(struct cli *c, int argc, char **argv);

#endif
