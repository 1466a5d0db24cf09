/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_OPTIONS_H
#define SUPD_CLI_CLI_OPTIONS_H

/* The command line: options before or after the verb, one table of options for parsing and for
 * --help. */

#include <stdio.h>

#include "cli/cli.h"

/* Sorts @argv into options, which go into @c, and the verb with its arguments, which go into
 * *ret_argv (a new array of pointers; the caller frees it; NULL-terminated). c->verb is NULL if
 * none was given. A verb that parses for itself keeps its options. Returns 0, or 2 after telling
 * what is wrong. */
int cli_options_parse(struct cli *c, int argc, char **argv, int *ret_argc, char ***ret_argv);

/* All verbs and the options of all. */
void cli_options_help(FILE *f);
/* One verb. */
void cli_options_help_verb(const struct cli_verb *verb, FILE *f);

/* NULL if there is none; aliases count. */
const struct cli_verb *cli_options_verb(const char *name);

#endif
