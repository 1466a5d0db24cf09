/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_WORLD_VIRTUAL_H
#define SUPD_CLI_WORLD_VIRTUAL_H

/* A world in which time passes as fast as it can be computed: alarms come, processes are made and
 * end, all of it in name only. Unit files are what they are; state is kept nowhere (a save is
 * answered at once). Things that happen at one moment happen in a fixed order: saves are answered,
 * processes begin and end in the order of their units' names, then alarms. */

#include "base/heap.h"
#include "cli/world_offline.h"

struct manager;
struct virtual_process;

/* How a process will go. */
struct virtual_fate {
	usec_t take; /* USEC_NEVER: until a signal ends it */
	int exit;
};

struct world_virtual {
	struct world_offline base; /* the manager's world is base.world */
	struct supd_now now;
	struct manager *manager; /* lent, set by the caller before anything happens */
	/* Asked for each process that begins; @ret is zero: it ends at once, and well. */
	void (*fate)(void *userdata, const char *unit, enum exec_phase phase,
		     struct virtual_fate *ret);
	void *userdata;
	/* private */
	usec_t alarm[SUPD_CLOCK_COUNT];
	struct virtual_process *process; /* by token */
	struct heap due;                 /* processes about to tell something, boot-time clock */
	uint64_t saved, told;            /* tickets: of the last save, of the last answer */
	char plugin[32];
	pid_t last_pid;
};

/* @files is lent, as long as the world is used. */
void world_virtual_init(struct world_virtual *w, struct unit_files *files,
			const struct supd_now *now);
void world_virtual_done(struct world_virtual *w);

/* The one next thing that happens, if it does so by @until on the boot-time clock; else false, and
 * it is @until. */
bool world_virtual_step(struct world_virtual *w, usec_t until);

#endif
