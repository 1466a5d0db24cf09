/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_WORLD_OFFLINE_H
#define SUPD_CLI_WORLD_OFFLINE_H

/* A world for a manager that only reads units: files are what they are, but nothing runs, nothing is written, no alarm
 * ever comes. So that units are judged by the code that runs them, without a daemon. */

#include "world.h"

struct unit_files;
struct world_offline;

/* @files is lent until world_offline_free(). -ENOMEM. */
int world_offline_new(struct unit_files *files, struct world_offline **ret);
struct world_offline *world_offline_free(struct world_offline *w);
/* Lent. */
const struct world *world_offline_world(struct world_offline *w);

#endif
