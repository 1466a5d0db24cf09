/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_COMMAND_H
#define SUPD_SERVICE_COMMAND_H

/* The value of an Exec…= key → commands. systemd.service(5), "COMMAND LINES": quoting, escapes, ';' between
 * commands, prefixes - @ : + ! (the last two are taken with a warning). No shell, ever. */

#include "base/keys.h"
#include "service/spec.h"

/* Appends the commands of c->assignment to the struct exec_commands at c's offset; "" resets the list.
 * A key_parse_fn. */
int exec_command_parse(const struct key_context *c);

#endif
