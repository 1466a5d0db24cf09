/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_VERIFY_H
#define SUPD_CLI_CLI_VERIFY_H

/* supctl verify: units judged without a daemon, by the code that would run them. Nothing is
 * executed or written. @argv[0] is the verb; options are its own: --json --unit-path=
 * --systemd-unit-path= --config= --user --system. Returns the exit status: 0, 1 a file could not be
 * read, 2 wrong usage, 4 a unit is invalid. */

int cli_verify(int argc, char **argv);

#endif
