/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_PLAN_H
#define SUPD_CLI_PLAN_H

/* supctl plan: a day as it was, from the history, and as it will be, from the schedule. */

struct cli;

int cli_plan(struct cli *c, int argc, char **argv);

#endif
