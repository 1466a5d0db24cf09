/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_UNIT_H
#define SUPD_CORE_UNIT_H

/* One unit as the manager holds it: what its files say (struct unit_config, replaced whole by a
 * reload) and how it goes (the machine and the run). A run ends under the config with which it
 * began. */

#include <stdbool.h>
#include "base/arena.h"
#include "base/diag.h"
#include "base/heap.h"
#include "service/restart.h"
#include "service/run_record.h"
#include "service/service_fsm.h"
#include "service/spec.h"
#include "unit/fragment.h"
#include "unit/name.h"
#include "unit/source.h"
#include "world.h"

enum unit_load {
	UNIT_LOADED,
	UNIT_INVALID,
	UNIT_MASKED,
	UNIT_UNSUPPORTED, /* systemd's, but nothing that supd runs */
};

/* What the files say. Immutable after unit_config_load(). */
struct unit_config {
	struct arena arena; /* it stands in that itself */
	enum unit_load load;
	uint64_t fingerprint;
	bool is_wanted;  /* starts at start-up */
	bool is_systemd;
	bool is_in_circle; /* invalid for that alone: the last of its problems says it */
	struct fragment fragment;
	const char **dropin;  /* NULL-terminated paths, or NULL */
	struct service_spec *spec; /* of services and targets; LOADED or UNSUPPORTED */
	struct diag problems;
};

/* Of a service with Restart= or StartLimit*=. For whoever began it, and for those who wait for it,
 * its runs from the first to the one that is not restarted are one. */
struct unit_chain {
	struct start_limit limit;
	bool is_going_on;             /* a run of it failed, and another follows */
	uint8_t first_id[RUN_ID_BYTES];
	char first_cause[RUN_CAUSE_MAX + 1];
	unsigned n_restarts;          /* since the first */
};

struct unit {
	enum unit_kind kind;
	bool is_gone;             /* removed by a reload while active; freed when its run ends */
	bool restart_wanted;      /* a restart waits for the stop */
	bool is_queued;           /* in the manager's list of notices */
	bool notice_started, notice_ended;
	bool is_awaited;          /* the start-up waits for its run */
	/* by a file or a link; else an instance that was asked for, loaded from its template */
	bool is_named;
	/* such an instance, and a plugin or another unit counts on it since the last reload */
	bool is_needed;
	bool was_named, was_needed; /* before the reload that is prepared */
	struct unit_config *config;
	struct unit_config *next; /* takes over when the run ends; NULL: none */
	struct unit *queue_next;
	struct heap_item deadline; /* on the boot-time clock */
	struct service service;
	world_token token;        /* of the run that goes on; 0: none */
	pid_t main_pid;           /* of the process that runs; 0: none */
	/* when it was asked for: that it runs is told later, maybe after its end */
	struct supd_now spawn_asked;
	struct run *run;          /* the one that goes on, or the last; NULL: never ran */
	struct run *restart_run;  /* with restart_wanted: what begins then */
	struct unit_chain *chain; /* NULL: never needed */
	struct graph_node *node;  /* NULL: it has no dependencies, and none has it as one */
	char name[];
};

/* Understands @source. NULL when memory ran out. Mistakes are in ->problems and ->load. */
struct unit_config *unit_config_load(const struct unit_source *source,
				     const struct specifiers *specifiers);
struct unit_config *unit_config_free(struct unit_config *c);

/* Is it one of the services that start with the daemon? Enabled=no outweighs a link. Linked where
 * units are systemd's, a service without Type= is what it is there: a daemon. It runs here when
 * asked for, as a oneshot, but start-up would wait for its end for ever. */
bool unit_config_starts_with_supd(const struct unit_config *c);

/* Takes @config. NULL when memory ran out (@config is the caller's then). */
struct unit *unit_new(const char *name, struct unit_config *config);
struct unit *unit_free(struct unit *u);

/* The path of its own file; lends @buf or the config's. NULL: it has none. */
const char *unit_fragment(const struct unit *u, char buf[FRAGMENT_PATH_MAX]);
/* Runs, remains, is to be restarted by Restart=, or waits to start. */
bool unit_is_active(const struct unit *u);
/* Does it wait for others, to start? */
bool unit_is_waiting(const struct unit *u);
/* What begins when its turn has come, or when it has been stopped; NULL: nothing does. */
const struct run *unit_coming_run(const struct unit *u);
/* While it is inactive: the newest config is its config. */
void unit_take_config(struct unit *u);
/* Is this the run that goes on or went last, or the one that it is a restart of? */
bool unit_run_is(const struct unit *u, const uint8_t id[RUN_ID_BYTES]);
void run_free(struct run *r);
/* Frees what it owns, without saying so in it. */
void run_clear(struct run *r);
/* As systemctl has them: those of its service; but a target is just "active", and who waits for
 * others is "activating" and "waiting". */
const char *unit_active_to_string(const struct unit *u);
const char *unit_sub_to_string(const struct unit *u);
/* "loaded", "invalid", "masked", "unsupported" */
const char *unit_load_to_string(enum unit_load l);

#endif
