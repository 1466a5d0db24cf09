/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_JOBS_H
#define SUPD_CLI_CLI_JOBS_H

/* Doing something with units: all are asked for at once, then waited for in the order given. */

struct cli;

/* start, stop, restart, trigger, reset, enable, disable */
int cli_job(struct cli *c, int argc, char **argv);

#endif
