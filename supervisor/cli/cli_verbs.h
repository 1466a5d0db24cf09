/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_CLI_VERBS_H
#define SUPD_CLI_CLI_VERBS_H

/* The one table of supctl's verbs: parsing, --help, completion and the check of the manual page
 * read it. */

#include <stddef.h>

struct cli_verb;

/* In the order of --help; NULL past the end. */
const struct cli_verb *cli_verb_at(size_t i);

#endif
