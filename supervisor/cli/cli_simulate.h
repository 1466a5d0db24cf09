/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_SIMULATE_H
#define SUPD_CLI_SIMULATE_H

/* supctl simulate: what would run, be retried and be missed, without a daemon and with nothing
 * run. */

int cli_simulate(int argc, char **argv);

#endif
