/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_WORLD_OFFLINE_H
#define SUPD_CLI_WORLD_OFFLINE_H

/* A world for a manager that only reads units: files are what they are, but nothing runs, nothing
 * is written, no alarm ever comes. So that units are judged by the code that runs them, without a
 * daemon. Worlds in which more happens begin with it and put their own calls in its table. */

#include <stdint.h>

#include "world.h"

struct unit_files;

struct world_offline {
	struct world world; /* its ctx is this struct */
	struct unit_files *files;
	uint64_t random;
};

/* @files is lent, as long as the world is used. */
void world_offline_init(struct world_offline *w, struct unit_files *files);

#endif
