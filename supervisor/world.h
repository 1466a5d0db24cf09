/* SPDX-License-Identifier: MIT */
#ifndef SUPD_WORLD_H
#define SUPD_WORLD_H

/* The border between the manager and the system. The manager calls out through struct world; what
 * happens comes back as the manager's events (core/manager.h), never from inside a call.
 * run/world_linux fulfils it with processes, files and clocks; tests/sim/ with none of them.
 *
 * Calls return 0 or a negative errno. Time is no call: every event carries it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/usec.h"
#include "service/run_record.h"
#include "service/spec.h"
#include "supd-plugin.h"
#include "unit/source.h"

/* Names one run's processes, from the first check() or spawn() to release(); never 0, never used
 * again. */
typedef uint64_t world_token;

/* Lent during the call. */
struct spawn_request {
	world_token token;
	const char *unit;
	const struct service_spec *spec;
	const struct run *run;
	enum exec_phase phase;
	const struct exec_command *command;
};

/* A symbolic link below the directory of units that is an admin's, or that of this boot. */
struct unit_link {
	const char *dir; /* "default.target.wants"; "": none, an alias beside the unit */
	const char *name, *target;
};

/* What enabling or disabling a unit means. Lent during the call. */
struct unit_change {
	const char *unit;
	bool enable, runtime;
	const struct unit_link *link; /* enable: made. disable: whatever links to the unit goes */
	size_t n_links;
	/* disable: if directories below still want it, a link to /dev/null stands here; or NULL */
	const char *off_dir;
	/* a drop-in says Enabled= in this section; NULL: ours, if there is one, goes */
	const char *section;
};

/* How a process ended. */
struct process_end {
	int wstatus;
	usec_t cpu;           /* user and system time, µs */
	uint64_t peak_memory; /* bytes; 0: unknown */
	/* the run has lost a process to the want of memory, and OOMPolicy= makes that a failure */
	bool oom_killed;
};

struct world {
	void *ctx;

	/* One alarm a clock; USEC_NEVER disarms. Answer: manager_wake(). */
	int (*arm)(void *ctx, enum supd_clock clock, usec_t when);

	/* Judges the conditions and asserts of @spec, which may take as long as a disk hangs.
	 * Answer: manager_checked(), unless the token is released before. An error returned here
	 * means: no answer comes. */
	int (*check)(void *ctx, world_token token, const char *unit,
		     const struct service_spec *spec);
	/* Starts a process of this run, or has it wait for what there is too little of, in the
	 * order of asking. Nothing is executed before the write of the save() or append() with the
	 * ticket run->after is over, whether it was answered yet or not. Answer: manager_spawned()
	 * or manager_spawn_failed(), later manager_exited(), exactly one of each; a process that
	 * ended while its answer was awaited is answered in that order all the same. An error
	 * returned here means: no answer comes. */
	int (*spawn)(void *ctx, const struct spawn_request *request);
	/* The process whose answer is awaited is not wanted any more: if it waits, the answer is
	 * manager_spawn_failed(), soon. May be missing. */
	void (*cancel)(void *ctx, world_token token);
	/* The process of the last spawn. -ESRCH: it has ended. */
	int (*kill_main)(void *ctx, world_token token, int signal);
	/* Every process of the run but, if @spare_main, that one. */
	int (*kill_tree)(void *ctx, world_token token, int signal, bool spare_main);
	/* Answer: manager_tree_empty(), once, as soon as no process of the run is left. -ESRCH:
	 * none is, and no answer comes. */
	int (*watch_tree)(void *ctx, world_token token);
	/* The last lines of what the run printed, as they are; NULL: nothing, or it is not known.
	 * Gives. May be missing. */
	char *(*last_words)(void *ctx, world_token token, size_t *ret_n);
	/* The run is over. @restarts: another follows by itself (Restart=). */
	void (*release)(void *ctx, world_token token, bool restarts);

	/* Unit files: an index (names, fingerprints) and reading. @kinds: a mask of 1 << enum
	 * unit_kind; nothing of other kinds is opened. */
	int (*scan_units)(void *ctx, unsigned kinds, struct diag *d);
	/* The same, where only the units of these names (NULL-terminated) are of interest; NULL:
	 * scan_units() serves. */
	int (*scan_only)(void *ctx, unsigned kinds, const char *const *names, struct diag *d);
	/* Another number after each scan that found anything else than the one before, of whatever
	 * kinds; NULL: not known. */
	uint64_t (*units_revision)(void *ctx);
	/* sorted, NULL past the end; until the next scan */
	const char *(*unit_name)(void *ctx, size_t i);
	uint64_t (*unit_fingerprint)(void *ctx, const char *name); /* 0: no such unit */
	const char *(*unit_resolve)(void *ctx, const char *name);  /* aliases; NULL: no such unit */
	int (*read_unit)(void *ctx, const char *name, struct unit_source *ret);
	/* supctl enable and disable, mask and unmask; 1 changed, 0 was so; on failure a sentence,
	 * or "". -EEXIST: something else has the name. -ENOTSUP: there is no directory for
	 * @runtime. */
	int (*enable_unit)(void *ctx, const struct unit_change *change, char *reterr, size_t n);
	int (*mask_unit)(void *ctx, const char *name, bool mask, bool runtime, char *reterr,
			 size_t n);

	/* One blob a plugin, generations 0 (newest) and 1. No two saves of this life have the same
	 * ticket. save() copies and returns at once;
	 * answer: manager_saved() with the ticket. save_now() returns when it is durable (at
	 * stop). */
	int (*save)(void *ctx, const char *plugin, uint64_t ticket, const void *bytes, size_t n);
	int (*save_now)(void *ctx, const char *plugin, const void *bytes, size_t n);
	/* As struct supd_host's, answered as save(); NULL: this world cannot. */
	int (*append)(void *ctx, const char *plugin, uint64_t ticket, const void *bytes, size_t n);
	/* gives */
	int (*load)(void *ctx, const char *plugin, unsigned generation, void **ret, size_t *ret_n);
	int (*set_aside)(void *ctx, const char *plugin, char *ret_name, size_t n);

	/* The gate's setting that outlives restarts: experimental enable, disable. -ENOENT: none
	 * was kept. Of any other errno the world has told. */
	int (*gate_load)(void *ctx, const char *name, bool *ret);
	int (*gate_save)(void *ctx, const char *name, bool on);
	/* Maps a plugin (once) and returns its struct, not yet judged, and where it came from (or
	 * "") in @reterr_or_path; on failure a sentence in it. */
	int (*plugin_open)(void *ctx, const char *name, const struct supd_plugin **ret,
			   char *reterr_or_path, size_t n);

	uint64_t (*random)(void *ctx);
	/* The manager has become running, is stopping (all runs are about to be stopped: of those
	 * that wait for a save nothing is executed any more), or has ended (nothing goes on any
	 * more). For readiness and exit. */
	void (*manager_state)(void *ctx, enum supd_manager_state state);
};

#endif
