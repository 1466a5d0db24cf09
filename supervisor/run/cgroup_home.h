/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CGROUP_HOME_H
#define SUPD_RUN_CGROUP_HOME_H

/* The daemon's own folder of cgroups, supd-PID-xxxxxxxx below the cgroup that it runs in: made,
 * locked, swept and removed. */

#include <systemd/sd-event.h>

struct cgroup;
struct cgroup_home;

/* Also kills and removes what daemons that are dead left in theirs. Negative errno: there can be
 * none here. */
int cgroup_home_new(sd_event *event, struct cgroup_home **ret);
struct cgroup_home *cgroup_home_free(struct cgroup_home *h);
const struct cgroup *cgroup_home_group(const struct cgroup_home *h);
/* For the guard: kills the runs of the home at this path, whose daemon is dead, and removes it.
 * -EBUSY: not empty yet. */
int cgroup_home_end(const char *path);
/* Takes @g, of a run that is over, and removes it; what still lives in it moves to "left". */
void cgroup_home_retire(struct cgroup_home *h, struct cgroup *g);

#endif
