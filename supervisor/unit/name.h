/* SPDX-License-Identifier: MIT */
#ifndef SUPD_UNIT_NAME_H
#define SUPD_UNIT_NAME_H

/* Unit names: systemd.unit(5), section "Unit names". At most 255 bytes of [A-Za-z0-9:_.\-@], a
 * known suffix, at most one '@' that matters; never a leading '.' or '-' and never a slash, so that
 * no name is ever a path. */

#include <stdbool.h>
#include <stddef.h>

#define UNIT_NAME_MAX 255

enum unit_kind {
	UNIT_SERVICE,
	UNIT_TIMER,
	UNIT_TARGET,
	UNIT_OTHER, /* a suffix that only systemd has: .socket, .mount, .path, .slice … */
};

bool unit_name_is_valid(const char *name);
/* foo@.service: cannot be started itself. */
bool unit_name_is_template(const char *name);
/* foo@bar.service */
bool unit_name_is_instance(const char *name);
enum unit_kind unit_name_kind(const char *name);
/* With the dot; NULL if there is none. Lends a part of @name. */
const char *unit_name_suffix(const char *name);
/* "foo" + ".service", or "foo.timer" as it is: what people type. 0, or -EINVAL. */
int unit_name_complete(const char *typed, const char *default_suffix, char ret[UNIT_NAME_MAX + 1]);
/* foo.timer → foo.service; -EINVAL when too long. */
int unit_name_change_suffix(const char *name, const char *suffix, char ret[UNIT_NAME_MAX + 1]);
/* foo@bar.service → foo@.service. -EINVAL if not an instance. */
int unit_name_template(const char *name, char ret[UNIT_NAME_MAX + 1]);
/* foo@.service, "home" → foo@home.service. -EINVAL if that is no template, or no name. */
int unit_name_add_instance(const char *template, const char *instance, char ret[UNIT_NAME_MAX + 1]);
/* The instance of @template of which @instance is the twin: foo@.timer, bar@home.service →
 * foo@home.timer. -EINVAL if they are not that, or the name were too long. */
int unit_name_instance_of(const char *template, const char *instance, char ret[UNIT_NAME_MAX + 1]);

#endif
