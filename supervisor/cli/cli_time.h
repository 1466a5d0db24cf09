/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_TIME_H
#define SUPD_CLI_TIME_H

/* Times on a command line: supd.time(7), "TIMESTAMPS". */

#include "base/usec.h"

struct cli;

/* @text, as it was given for --@option=; NULL: it was not, and @ret stays as it is. CONTROL_OK, or
 * the exit status, told. */
int cli_time(const struct cli *c, const char *option, const char *text, usec_t *ret);
/* Likewise of a word that is no option. */
int cli_time_argument(const struct cli *c, const char *text, usec_t *ret);

#endif
