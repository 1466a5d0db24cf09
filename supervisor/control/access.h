/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_ACCESS_H
#define SUPD_CONTROL_ACCESS_H

/* Who may do what. Pure; the caller's credentials come from the socket (control/peer), never from
 * what it says. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "control/server.h"

/* What the kernel stands for where a user namespace hides who it is; nobody in particular, no
 * rights. */
#define OVERFLOW_ID 65534u

struct peer {
	uid_t uid;
	gid_t gid;
	pid_t pid; /* for the log; nothing is decided by it */
	gid_t *group;
	size_t n_groups;
};

/* What a caller may do, and what a method asks for. */
enum right {
	RIGHT_NONE,
	RIGHT_LOOK,
	RIGHT_OWN,
};
#define RIGHT_COUNT (RIGHT_OWN + 1)

struct access_policy {
	uid_t own_uid;
	enum control_access read;
	gid_t read_group;
};

/* Pure: of what the kernel says of @peer, nothing else. */
enum right access_judge(const struct access_policy *policy, const struct peer *peer);

#endif
