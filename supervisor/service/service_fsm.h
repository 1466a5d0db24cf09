/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_FSM_H
#define SUPD_SERVICE_FSM_H

/* The life of one run of a oneshot service, as a pure state machine. (The essay of states, events and
 * precedence stands here.) */

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "service/run_record.h"
#include "service/spec.h"

enum service_state {
	SERVICE_DEAD,          /* inactive: never ran, or ran and is done */
	SERVICE_CONDITION,     /* ExecCondition= */
	SERVICE_START_PRE,
	SERVICE_START,
	SERVICE_START_POST,
	SERVICE_EXITED,        /* RemainAfterExit=: active, no process */
	SERVICE_STOP,          /* ExecStop= */
	SERVICE_STOP_SIGTERM,  /* KillSignal= was sent to what is left */
	SERVICE_STOP_SIGKILL,
	SERVICE_STOP_POST,     /* ExecStopPost=, always, when anything had been started */
	SERVICE_FINAL_SIGTERM, /* processes left by that */
	SERVICE_FINAL_SIGKILL,
	SERVICE_FAILED,        /* inactive, and the last run failed */
};
#define SERVICE_STATE_COUNT (SERVICE_FAILED + 1)

enum service_event_kind {
	SVC_START_REQUEST,
	SVC_STOP_REQUEST,
	SVC_SPAWNED,      /* answers SVC_FX_SPAWN */
	SVC_SPAWN_FAILED, /* answers SVC_FX_SPAWN: step and error */
	SVC_EXITED,       /* the process of the last spawn: wstatus */
	SVC_TREE_EMPTY,   /* no process of this run is left */
	SVC_DEADLINE,     /* may be stale */
	SVC_SPEC_CHANGED, /* reload, for EXITED: nothing else uses it while a run goes on */
};
#define SERVICE_EVENT_COUNT (SVC_SPEC_CHANGED + 1)

struct service_event {
	enum service_event_kind kind;
	usec_t boot;  /* now, boot-time clock: all deadlines are on it */
	int wstatus;
	enum exec_step step;
	int error;    /* positive errno */
};

enum service_effect_kind {
	SVC_FX_SPAWN,      /* phase, index: the command to start; answered by SPAWNED or SPAWN_FAILED */
	SVC_FX_KILL_MAIN,  /* signal, to the process of the last spawn */
	SVC_FX_KILL_TREE,  /* signal, to every process of the run (KillMode=mixed: SIGKILL for the rest) */
	SVC_FX_WATCH_TREE, /* tell SVC_TREE_EMPTY as soon as (or if already) nothing is left */
	SVC_FX_ENDED,      /* the run is over: result stands in the machine */
};
struct service_effect {
	enum service_effect_kind kind;
	enum exec_phase phase;
	unsigned index;
	int signal;
};
#define SERVICE_EFFECTS_MAX 4

struct service_effects {
	struct service_effect item[SERVICE_EFFECTS_MAX];
	unsigned n;
};

/* The machine. All zero is SERVICE_DEAD. Only service_step() changes it. */
struct service {
	enum service_state state;
	usec_t deadline; /* boot-time clock; the whole truth after each step, USEC_NEVER: none */
	unsigned index;  /* of the command of this phase */
	bool has_process;   /* spawned and not yet exited */
	bool is_spawning;   /* SVC_FX_SPAWN is unanswered */
	bool stop_wanted;
	bool is_tree_watched;
	/* how the run goes, or went */
	enum run_result result;
	int32_t status;
	enum exec_step step;
	bool main_exited;
	int32_t main_wstatus;
};

/* One event; @ret holds what is to be done, in order. A start request while a run goes on is ignored
 * (the caller asks service_is_active() first and refuses). */
void service_step(struct service *s, const struct service_spec *spec, const struct service_event *ev,
		  struct service_effects *ret);

/* Anything but DEAD and FAILED. */
bool service_is_active(const struct service *s);
const char *service_state_to_string(enum service_state s);  /* systemd's SubState: "dead", "start-pre", "exited" … */
const char *service_active_to_string(enum service_state s); /* ActiveState: "inactive", "activating", "active", "deactivating", "failed" */

#endif
