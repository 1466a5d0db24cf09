/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_WHY_H
#define SUPD_CLI_WHY_H

/* supctl why: which rule gives a timer's next elapse, and what became of its last moments. */

struct cli;

int cli_why(struct cli *c, int argc, char **argv);

#endif
