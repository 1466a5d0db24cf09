/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_RUN_H
#define SUPD_CLI_CLI_RUN_H

/* run: a command as a transient service, now or on a schedule. Parses its options itself: what
 * follows the command is the command's. */

int cli_run(int argc, char **argv);

#endif
