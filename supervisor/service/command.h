/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_COMMAND_H
#define SUPD_SERVICE_COMMAND_H

/* The value of an Exec…= key → commands. systemd.service(5), "COMMAND LINES": quoting, escapes, ';'
 * between commands, prefixes - @ : + ! !!. No shell, ever. */

#include "base/keys.h"
#include "service/spec.h"

/* Appends the commands of c->assignment's value to @list; "" empties it. Mistakes are reported
 * through @c, and then nothing is appended. 0 or -ENOMEM. */
int exec_command_parse(const struct key_context *c, const struct specifiers *specifiers,
		       struct exec_commands *list);

#endif
