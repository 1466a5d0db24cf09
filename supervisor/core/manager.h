/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_MANAGER_H
#define SUPD_CORE_MANAGER_H

/* The manager: which units there are, which of them run, and who is told. It reads no clock and
 * touches no file: it calls out through struct world, and each event below carries its time. Events
 * never arrive from inside a call of the world; the manager's own consequences (a plugin's reaction
 * to a run that ended, say) are settled before the event returns.
 *
 * Life of the daemon: manager_new → manager_load → manager_begin (STARTING: the enabled services
 * are started; when the last of them has ended: RUNNING, the gate is judged, plugins start) →
 * manager_shutdown (STOPPING: plugins stop, nothing starts any more, services are stopped) → ENDED,
 * told through world->manager_state(). */

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/usec.h"
#include "supd-plugin.h"
#include "service/condition.h"
#include "world.h"

struct manager;
struct notification;
struct specifiers;
struct unit;

/* What supd.conf and the command line say; lent until manager_free(). */
struct manager_config {
	/* now and running_since are the manager's to fill in. */
	struct supd_start_info info;
	/* [Experimental] Timers= and --experimental=timers, and what `supctl experimental
	 * --runtime` adds. */
	bool gate_configured, gate_forced;
	/* What %u, %h and the like stand for; its unit is each unit's own. */
	const struct specifiers *specifiers;
	/* [Timer] defaults for the plugin, verbatim; NULL: not set. */
	const char *(*setting)(void *userdata, const char *key);
	void *userdata;
};

/* Who wants to know; told after the fact, never from inside a call that it made itself. */
struct manager_observer {
	void *userdata;
	void (*started)(void *userdata, struct unit *u);  /* u->run has begun */
	/* u->run has ended (@run_ended), or the unit has become inactive long after its run. */
	void (*settled)(void *userdata, struct unit *u, bool run_ended);
	/* One of core/events.h, or of a plugin, at the moment when it is decided; @unit NULL: of
	 * supd as a whole. This one may come from inside a call, and asks nothing of the
	 * manager. */
	void (*event)(void *userdata, const char *type, const char *unit,
		      const struct supd_row *fields);
};

/* @world and @config are lent to the end; no unit is loaded yet. 0 or -ENOMEM. */
int manager_new(const struct world *world, const struct manager_config *config,
		struct manager **ret);
struct manager *manager_free(struct manager *m);
/* Copied; whoever observed before does not any more. */
void manager_observe(struct manager *m, const struct manager_observer *observer);

/* The first load: units and their mistakes; @d gets what is wrong with directories. 0 or a negative
 * errno. */
int manager_load(struct manager *m, struct diag *d);
void manager_begin(struct manager *m, const struct supd_now *now);
/* @why: for people, or NULL. */
void manager_shutdown(struct manager *m, const struct supd_now *now, const char *why);
enum supd_manager_state manager_state(const struct manager *m);

/* ---- events of the world ---- */

void manager_wake(struct manager *m, const struct supd_now *now, enum supd_clock clock);
/* @unmet: what is not met, in a sentence, if the conditions do not hold; or NULL; lent. @error: 0,
 * or a positive errno: they could not be looked at. */
void manager_checked(struct manager *m, const struct supd_now *now, world_token token,
		     enum condition_outcome outcome, const char *unmet, int error);
void manager_spawned(struct manager *m, const struct supd_now *now, world_token token, pid_t pid);
void manager_spawn_failed(struct manager *m, const struct supd_now *now, world_token token,
			  enum exec_step step, int error);
void manager_exited(struct manager *m, const struct supd_now *now, world_token token,
		    const struct process_end *end);
/* A process of the run has said this; the caller knows that it was one, and that it may. */
/* Limits on the run that could not be had; their entries are taken. */
void manager_refused(struct manager *m, world_token token, struct diag *refused);
void manager_notified(struct manager *m, const struct supd_now *now, world_token token,
		      const struct notification *said);
void manager_tree_empty(struct manager *m, const struct supd_now *now, world_token token);
void manager_saved(struct manager *m, const struct supd_now *now, const char *plugin,
		   uint64_t ticket, int result);
void manager_clock_jump(struct manager *m, const struct supd_now *now, int64_t delta);
void manager_zone_change(struct manager *m, const struct supd_now *now);

/* ---- what an admin may ask ---- */

enum manager_verdict {
	MANAGER_DONE,           /* begun, or was so already where that is enough */
	MANAGER_ALREADY_ACTIVE, /* start: a run goes on; stop: nothing to stop */
	MANAGER_NO_UNIT,
	MANAGER_INVALID,
	MANAGER_MASKED,
	MANAGER_UNSUPPORTED,    /* not a oneshot service, a template, not a service at all */
	MANAGER_STOPPING,
	MANAGER_NO_MEMORY,
	MANAGER_NO_MANUAL_START, /* RefuseManualStart= */
	MANAGER_NO_MANUAL_STOP,
};
#define MANAGER_VERDICT_COUNT (MANAGER_NO_MANUAL_STOP + 1)

/* The sentence for a verdict other than DONE, into @buf; lends it. */
const char *manager_verdict_words(struct manager *m, const char *unit, enum manager_verdict v,
				  char *buf, size_t n);

/* @cause->run_id may be zero: one is drawn. */
enum manager_verdict manager_start_unit(struct manager *m, const struct supd_now *now,
					const char *unit, const struct supd_cause *cause);
enum manager_verdict manager_stop_unit(struct manager *m, const struct supd_now *now,
				       const char *unit);
/* Stops it if it is active, then starts it. */
enum manager_verdict manager_restart_unit(struct manager *m, const struct supd_now *now,
					  const char *unit, const struct supd_cause *cause);

/* A failure is forgotten, and starts are counted anew. NO_UNIT or DONE. */
enum manager_verdict manager_reset_unit(struct manager *m, const struct supd_now *now,
					const char *unit);

/* What a reload found and did. */
struct reload_change {
	char *unit;
	const char *what; /* "added", "changed", "removed" */
};
struct reload_report {
	struct reload_change *change;
	size_t n, allocated;
	struct diag mistakes; /* in units that are new or changed; any error: nothing was applied */
};
void reload_report_done(struct reload_report *r);
/* Reads what has changed and applies all of it, or, if any changed unit has an error, none:
 * -EBADMSG. Units that were invalid before and have not changed do not stand in the way. */
int manager_reload(struct manager *m, const struct supd_now *now, struct reload_report *ret);

/* The same for these units alone: what else has changed on the disk stays for a reload. @names:
 * NULL-terminated. */
int manager_reload_only(struct manager *m, const struct supd_now *now, const char *const *names,
			struct reload_report *ret);

/* supctl pause, resume: 1 changed, 0 was so, -EBUSY not in a state for it (starting, stopping). */
int manager_pause(struct manager *m, const struct supd_now *now);
int manager_resume(struct manager *m, const struct supd_now *now);
/* supctl experimental: the gate. @runtime: for this life of the daemon only. 1 changed, 0 was so,
 * or a negative errno with a sentence. */
int manager_experimental(struct manager *m, const struct supd_now *now, bool on, bool runtime,
			 char *reterr, size_t n);

/* Enable and disable, by the unit's [Install] section, with the units of its Also=. Each that was
 * looked after is told; what was written counts after a reload. 1 something changed, 0 all was so,
 * -ENOENT, -EBADMSG it cannot be (invalid, masked, a template), or another negative errno; with a
 * sentence. */
struct manager_enabling {
	const char *unit;
	bool enable;
	bool runtime; /* until the next boot */
};
typedef void manager_enabled_fn(void *userdata, const char *unit, bool has_changed);
int manager_enable_unit(struct manager *m, const struct manager_enabling *what,
			manager_enabled_fn *fn, void *userdata, char *reterr, size_t n);
/* The same of masking, with a sentence in any case ("": nothing to say). */
int manager_mask_unit(struct manager *m, const char *unit, bool mask, bool runtime, char *reterr,
		      size_t n);
/* systemctl is-enabled's word for a unit that is (or is not) @is_enabled; NULL: no such unit. */
const char *manager_unit_file_state(struct manager *m, const char *unit, bool is_enabled);

/* A command for a plugin's unit. -ENOENT, -EHOSTDOWN: the gate is closed, or the plugin's errno;
 * message in @reply. */
int manager_command(struct manager *m, const struct supd_now *now,
		    const struct supd_command_request *request, struct supd_command_reply *reply);
/* A plugin's table; the gate closed: no rows, 0. */
int manager_table(struct manager *m, const struct supd_now *now, const char *table,
		  const char *unit, supd_row_fn *row, void *userdata);
int manager_query(struct manager *m, const struct supd_query *query, supd_row_fn *row,
		  void *userdata);

/* The subsystem's state in one word ("enabled", "disabled", "starting", "paused", "stopping",
 * "failed") and why, in a sentence, or NULL. */
const char *manager_gate_state(const struct manager *m, const char **ret_reason);

/* ---- looking ---- */

/* Is it of a kind that is started here: a service or a target? */
bool manager_is_started(const char *name);
/* NULL: no such unit that is loaded */
struct unit *manager_unit(struct manager *m, const char *name);
/* The same; but an instance (backup@home.service) that nothing names yet is loaded from its
 * template. NULL: no such unit, or out of memory. */
struct unit *manager_load_unit(struct manager *m, const char *name);
/* What was loaded only to be looked at goes again: an instance that nothing names, and that never
 * ran. @u may be NULL. */
void manager_unload_unit(struct manager *m, struct unit *u);
/* sorted by name; NULL past the end */
struct unit *manager_unit_at(struct manager *m, size_t i);
/* A unit of the plugin that runs, as far as the host knows: what its files are, and what is wrong
 * with them. Lent until the next event, the fragment until the next one is asked for. */
struct manager_plugin_unit {
	const char *name, *fragment;
	bool is_masked;
	const struct diag *problems;
};
/* False: no such unit (that is known while the gate is closed: none is). */
bool manager_plugin_unit(struct manager *m, const char *name, struct manager_plugin_unit *ret);
/* Each, in the order of names. */
void manager_plugin_units(struct manager *m,
			  void (*fn)(void *userdata, const struct manager_plugin_unit *u),
			  void *userdata);
/* The known name nearest to @name, or NULL. Lends. */
const char *manager_suggest(struct manager *m, const char *name);

#endif
