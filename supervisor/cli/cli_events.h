/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_EVENTS_H
#define SUPD_CLI_EVENTS_H

/* supctl events */

struct cli;

int cli_events(struct cli *c, int argc, char **argv);

#endif
