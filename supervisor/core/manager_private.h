/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_MANAGER_PRIVATE_H
#define SUPD_CORE_MANAGER_PRIVATE_H

/* The manager's inside, shared by the files of core/ that make it up: manager.c (life and
 * settling), effects.c (doing what a service's step asks), requests.c (what admins ask), reload.c;
 * and plugin_host.h. */

#include "base/hash.h"
#include "base/heap.h"
#include "base/names.h"
#include "core/gate.h"
#include "core/graph.h"
#include "core/manager.h"
#include "core/plugin_host.h"
#include "core/unit.h"

/* Causes of runs that the manager makes by itself: the daemon's own start, and Restart=. */
#define CAUSE_START_UP "start-up"
#define CAUSE_RESTART "restart"

/* A run that has processes, or will: finds the unit of a token. */
struct active {
	UT_hash_handle hh;
	world_token token;
	struct unit *unit;
};

/* A changed or new service in a reload that is not yet applied. */
struct candidate {
	UT_hash_handle hh; /* by name */
	char *name;
	struct unit_config *config; /* NULL: removed */
	bool is_named, is_needed;   /* as in struct unit */
};

struct report;

struct manager {
	const struct world *world;
	const struct manager_config *config;
	struct manager_observer observer;
	enum supd_manager_state state;
	struct supd_now running_since;
	struct names units; /* struct unit */
	/* the world's revision of the units that these are; UINT64_MAX: of none */
	uint64_t applied;
	struct active *active;
	world_token last_token;
	struct heap deadlines; /* of services, boot-time clock */
	struct unit *notice_first, *notice_last;
	bool is_settling;
	bool has_begun;
	size_t n_starting;    /* units of the start-up of which the run has not ended */
	struct graph graph;   /* of those with dependencies */
	bool is_graph_stale;  /* a unit came since it was made */
	/* the save that runs which begin now have to wait for; 0: none */
	uint64_t start_after;
	const struct unit *monitored; /* whose end is what starts the next unit; NULL: none */
	struct gate gate;
	struct plugin_host host;
	bool has_instances;          /* some unit was loaded because it was asked for */
	struct candidate *candidate; /* while a reload is prepared */
	/* likewise: where those of units go that are found to be needed meanwhile */
	struct diag *mistakes;
	usec_t armed[SUPD_CLOCK_COUNT];
};

/* Something has happened that people may want to follow: a type of core/events.h. @fields may be
 * NULL. */
void manager_tell(struct manager *m, const char *type, const char *unit,
		  const struct report *fields);

/* manager.c */
unsigned manager_kinds(const struct manager *m); /* of units whose files may be opened now */
/* Is there such a unit? An alias is none, but one more name of another. */
bool manager_is_unit(const struct manager *m, const char *name);
/* In the order of names; NULL past the end. */
struct unit *manager_unit_nth(const struct manager *m, size_t i);
/* manager_load_unit() for whoever counts on the unit: a dependency, a target of a timer. It stays
 * until a reload in which nobody asks any more. */
struct unit *manager_need_unit(struct manager *m, const char *name);
void manager_forget(struct manager *m, struct unit *u); /* frees it */
/* All that are gone and of which no run goes on any more. */
void manager_forget_gone(struct manager *m);
/* To be called at the end of every event and question: consequences, transitions, alarms. */
void manager_settle(struct manager *m, const struct supd_now *now);
void manager_notice(struct manager *m, struct unit *u);

/* effects.c: one event for a unit's machine, and all that follows from it at once. */
void unit_event(struct manager *m, const struct supd_now *now, struct unit *u,
		const struct service_event *ev);
struct unit *unit_of_token(struct manager *m, world_token token);
/* Gives the unit a token of its own. 0 or -ENOMEM. */
int unit_token_new(struct manager *m, struct unit *u);

/* requests.c */
/* May it be started; NULL: no such unit. */
enum manager_verdict unit_judge(struct manager *m, const struct unit *u);
/* Runs that begin from now on wait for this save, as the run because of which they begin does; 0:
 * for none. Returns what it was before. */
uint64_t manager_start_as(struct manager *m, uint64_t after);
/* Fills *run, made if need be. 0 or -ENOMEM: the old run is as it was. */
int run_begin(struct manager *m, const struct supd_now *now, const struct supd_cause *cause,
	      struct run **run);
/* u->run begins; or ends at once with @refusal, if that is not NONE. */
void unit_begin(struct manager *m, const struct supd_now *now, struct unit *u,
		enum run_result refusal);
/* While the start-up is being asked for: it waits for this unit. */
void unit_await(struct manager *m, struct unit *u);
enum manager_verdict unit_start(struct manager *m, const struct supd_now *now, const char *name,
				const struct supd_cause *cause);

/* reload.c */
/* While a reload is prepared (m->mistakes): the service @name as it will be, read if it is an
 * instance that only the caller names; it is needed from then on. NULL: there will be none. */
const struct unit_config *reload_need_unit(struct manager *m, const char *name);
void reload_report_add(struct reload_report *r, const char *unit, const char *what);

#endif
