/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_IDENTITY_H
#define SUPD_RUN_IDENTITY_H

/* Who a process becomes: User=, Group= and SupplementaryGroups= looked up, in the parent, before
 * the fork. May block on a name service: called from a worker's thread. */

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "service/run_record.h"

struct service_spec;

/* What stays as it is has no set_ member. Strings and groups live in the arena. */
struct identity {
	bool set_user, set_group, set_groups;
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n_groups;
	/* of the user: the one named, else (if it was asked for) the daemon's own; NULL: unknown or
	 * no use */
	const char *name, *home, *shell;
};

/* @want_home: name and home are needed even if no User= is given. 0, or a negative errno and the
 * step that it counts as; -ESRCH: there is no such user or group. A daemon without rights can
 * become nobody else: -EPERM. */
int identity_lookup(const struct service_spec *spec, bool want_home, struct arena *arena,
		    struct identity *ret, enum exec_step *reterr_step);

/* Decimal, without sign or leading blanks; neither 65535 nor 4294967295, which mean "none" to some
 * calls. */
bool identity_number(const char *s, uint32_t *ret);

#endif
