/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_FSM_H
#define SUPD_SERVICE_FSM_H

/* The life of one run of a oneshot service, as a pure state machine.
 *
 * States. A run goes down this list, skipping what has no commands:
 *
 *	CHECK         Condition*= and Assert*=: looked at by others, no process yet
 *	CONDITION     ExecCondition=, one after the other    \
 *	START_PRE     ExecStartPre=                           | the start-up: TimeoutStartSec=
 *	START         ExecStart=                              | for each command
 *	START_POST    ExecStartPost=                         /
 *	EXITED        only with RemainAfterExit=: active without a process, until a stop
 *	STOP          ExecStop=: only after a start-up that succeeded
 *	STOP_SIGTERM  what is left was told to end            \  KillMode= says who is told
 *	STOP_SIGKILL  … and did not                           /  and who is waited for
 *	STOP_POST     ExecStopPost=: always, once anything had been started
 *	FINAL_SIGTERM, FINAL_SIGKILL   what that left
 *	DEAD, FAILED  nothing; FAILED if the run failed
 *	AUTO_RESTART  the run failed, and Restart= asks for another: RestartSec= is waited for
 *
 * Where the unit has conditions, nothing runs before they are judged. While they are,
 * TimeoutStartSec= goes by; a deadline and a stop request end the run at once, since there is
 * nothing to be ended, and an answer that comes later says nothing: whoever looks at a dead network
 * mount may never come back. A false condition skips the run, a false assert fails it, and where
 * something is not mounted that RequiresMountsFor= is about, a dependency has failed.
 *
 * A command that fails, a condition that says no, a deadline and a stop request leave the start-up
 * for STOP_SIGTERM. From there on the order is always the same, so that ExecStopPost= sees each
 * end. Each command of STOP and STOP_POST and each wait for processes has TimeoutStopSec= of its
 * own. (That TimeoutStartSec= begins anew with each command is what systemd does, whatever its
 * manual seems to say.)
 *
 * The tree. When the last command is done, processes of the run may be left. With
 * KillMode=control-group all get KillSignal= and are waited for: then, and not before, goes the run
 * on to STOP_POST, and again to its end. With mixed only the main process gets it, the rest SIGKILL
 * as soon as that has ended. With process nobody is waited for but the command that runs, with none
 * not even that. SendSIGKILL=no leaves out the SIGKILL states.
 *
 * Events. A SPAWN effect is answered by SPAWNED or SPAWN_FAILED, and until then nothing else can be
 * decided: a stop request or a deadline that comes in between is kept (stop_wanted) and done with
 * the answer; CANCEL tells that the process is not wanted any more, for one that waits for its
 * turn. After SPAWNED comes EXITED, once. WATCH_TREE is answered by TREE_EMPTY, once. Deadlines may
 * be stale, and then say nothing.
 *
 * More time. EXTEND_TIMEOUT_USEC= (SVC_EXTEND) moves the deadline that counts at the moment, of
 * whatever state, to so long after its receipt; never nearer, and where there is no deadline it
 * makes none. The next command, or the next wait, has its own again.
 *
 * Precedence. The first thing that goes wrong is the result; nothing after it changes that. A stop
 * request that comes before the start-up is done makes the run STOPPED, and however the processes
 * end upon our signals is no failure: a main process that dies of our SIGTERM is not killed by a
 * signal in that sense. After EXITED the start-up stands as a success; an ExecStop= that fails then
 * makes the unit FAILED all the same. '-' before a command passes over each failure of it, a
 * failure to execute it included. A failure to execute is told apart from the job's own exit: a
 * condition that cannot be run is a failure, not a "no".
 *
 * Out of memory. Where the kernel killed any process of the run for the memory it used, the end of
 * the command that runs is its failure, OOM_KILL, however it ended.
 *
 * Restarting. A run that ends without a stop having been asked for at any time is judged by
 * Restart= (service/restart.h). In AUTO_RESTART its result stands, and there are no processes. When
 * RestartSec= is over, SVC_FX_RESTART asks for the next run; its answer is a START_REQUEST, with
 * which all begins anew, or REFUSED (too many starts): FAILED. A stop request in between: DEAD. So
 * a failure is final, for whoever started the service, when the machine is in FAILED, and not
 * before.
 *
 * REFUSED, while there is nothing: the run ends before it began, in FAILED, with the result that
 * the event says.
 *
 * Giving up. A process that is still there when even the last wait is over (SendSIGKILL=no, or it
 * cannot be killed) is left behind: the run ends with it alive, as TIMEOUT if it was well until
 * then, and without ExecStopPost=, which must not meet it. With KillMode=none the same happens at a
 * stop, in silence. SVC_FX_ENDED may thus come while has_process was true. */

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "service/condition.h"
#include "service/run_record.h"
#include "service/spec.h"

enum service_state {
	SERVICE_DEAD,
	SERVICE_CHECK,
	SERVICE_CONDITION,
	SERVICE_START_PRE,
	SERVICE_START,
	SERVICE_START_POST,
	SERVICE_EXITED,
	SERVICE_STOP,
	SERVICE_STOP_SIGTERM,
	SERVICE_STOP_SIGKILL,
	SERVICE_STOP_POST,
	SERVICE_FINAL_SIGTERM,
	SERVICE_FINAL_SIGKILL,
	SERVICE_FAILED,
	SERVICE_AUTO_RESTART,
};
#define SERVICE_STATE_COUNT (SERVICE_AUTO_RESTART + 1)

enum service_event_kind {
	SVC_START_REQUEST,
	SVC_STOP_REQUEST,
	SVC_CHECKED,      /* answers SVC_FX_CHECK: outcome, or error */
	SVC_SPAWNED,      /* answers SVC_FX_SPAWN */
	SVC_SPAWN_FAILED, /* answers SVC_FX_SPAWN: step and error */
	SVC_EXITED,       /* the process of the last spawn: wstatus, oom_killed */
	SVC_TREE_EMPTY,   /* answers SVC_FX_WATCH_TREE: no process of this run is left */
	SVC_DEADLINE,     /* may be stale */
	SVC_EXTEND,       /* a process of the run asks for more time: extend, from now */
	SVC_SPEC_CHANGED, /* reload: EXITED without RemainAfterExit= any more is stopped,
			   * AUTO_RESTART without Restart= is FAILED; nothing else heeds it */
	SVC_REFUSED,      /* not to be begun: result */
	SVC_RESET,        /* FAILED becomes DEAD; nothing else heeds it */
};
#define SERVICE_EVENT_COUNT (SVC_RESET + 1)

struct service_event {
	enum service_event_kind kind;
	usec_t boot;  /* now, boot-time clock: all deadlines are on it */
	int wstatus;
	bool oom_killed;
	enum condition_outcome outcome;
	enum exec_step step;
	int error;    /* positive errno */
	enum run_result result;
	usec_t extend; /* SVC_EXTEND: so long from now */
};

enum service_effect_kind {
	SVC_FX_CHECK, /* judge the conditions; answered by CHECKED */
	/* phase, index: the command to start; answered by SPAWNED or SPAWN_FAILED */
	SVC_FX_SPAWN,
	SVC_FX_CANCEL,     /* the process of the last SPAWN, whose answer is awaited all the same */
	SVC_FX_KILL_MAIN,  /* signal, to the process of the last spawn */
	SVC_FX_KILL_TREE,  /* signal, to every process of the run, that one included */
	SVC_FX_WATCH_TREE, /* tell SVC_TREE_EMPTY as soon as (or if already) nothing is left */
	SVC_FX_ENDED,   /* the run is over, its result stands in the machine: once a run, in EXITED,
			 * DEAD, FAILED or   AUTO_RESTART; and for a service that was EXITED or
			 * AUTO_RESTART once more when it has   become DEAD or FAILED */
	SVC_FX_RESTART, /* answered by START_REQUEST or REFUSED */
};
struct service_effect {
	enum service_effect_kind kind;
	enum exec_phase phase;
	unsigned index;
	int signal;
};
/* KillSignal=, SIGHUP for SendSIGHUP=, SIGCONT so that a stopped process hears them, and the
 * watch */
#define SERVICE_EFFECTS_MAX 4

struct service_effects {
	struct service_effect item[SERVICE_EFFECTS_MAX];
	unsigned n;
};

/* The machine. All zero is SERVICE_DEAD. Only service_step() changes it. */
struct service {
	usec_t deadline; /* boot-time clock; the whole truth after each step, USEC_NEVER: none */
	enum service_state state;
	enum exec_phase phase; /* of the last spawn, and its place there */
	unsigned index;
	bool has_process;      /* spawned and not yet exited */
	bool is_spawning;      /* SVC_FX_SPAWN is unanswered */
	bool stop_wanted;      /* while it is: leave this state with the answer */
	/* a process was made in this run: there may be a tree, and ExecStopPost= runs */
	bool has_started;
	bool is_tree_watched;  /* SVC_FX_WATCH_TREE is unanswered */
	bool no_restart;       /* a stop was asked for */
	/* how the run goes, or went */
	bool main_exited;
	int32_t main_wstatus;
	enum run_result result; /* NONE while it goes on */
	int32_t status;         /* see struct run */
	enum exec_step step;
};

/* One event; @ret holds what is to be done, in order. A start request while a run goes on is
 * ignored (the caller asks service_is_active() first and refuses). @spec is the same from a start
 * to the end; while EXITED it may be replaced. */
void service_step(struct service *s, const struct service_spec *spec,
		  const struct service_event *ev, struct service_effects *ret);

/* Anything but DEAD and FAILED: AUTO_RESTART, too. */
bool service_is_active(const struct service *s);
const char *service_state_to_string(
	enum service_state s); /* systemd's SubState: "dead", "start-pre", "exited" … */
const char *service_active_to_string(
	enum service_state
		s); /* ActiveState: "inactive", "activating", "active", "deactivating", "failed" */

#endif
