/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_UNITS_H
#define SUPD_CLI_CLI_UNITS_H

/* Looking at units. */

struct cli;

int cli_list(struct cli *c, int argc, char **argv);
int cli_show(struct cli *c, int argc, char **argv);
int cli_cat(struct cli *c, int argc, char **argv);
/* is-active, is-failed, is-enabled */
int cli_is(struct cli *c, int argc, char **argv);

#endif
