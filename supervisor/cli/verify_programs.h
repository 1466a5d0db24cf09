/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_VERIFY_PROGRAMS_H
#define SUPD_CLI_VERIFY_PROGRAMS_H

/* What a unit needs of this machine and does not find: programs, a user, a group. Warnings, because
 * the machine that runs the unit may be another one. */

struct diag;
struct service_spec;
struct unit_source;

/* @source: its files, for the line to name. */
void verify_programs(const struct service_spec *spec, const struct unit_source *source,
		     struct diag *d);

#endif
