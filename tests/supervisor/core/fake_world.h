/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_FAKE_WORLD_H
#define SUPD_TEST_FAKE_WORLD_H

/* A world for one test: units are texts, processes are numbers that end when the test says so, and
 * all that the manager asks for is on record. */

#include "core/manager.h"
#include "core/unit.h"

#define FAKE_MAX 32

struct fake_unit {
	const char *name, *text;
	const char *alias_of;
	bool is_wanted, is_masked, is_systemd, is_linked, is_linked_for_good, is_outside, is_runtime;
	uint64_t version; /* part of the fingerprint */
};

/* A process of a run; asked for, not yet answered until the test does. */
struct fake_process {
	world_token token;
	char unit[64];
	enum exec_phase phase;
	uint8_t run_id[RUN_ID_BYTES];
	uint64_t after; /* the save that it waits for */
	bool is_answered, has_ended;
};

struct fake_world {
	struct world world;
	struct fake_unit unit[FAKE_MAX];
	size_t n_units;
	struct fake_process process[FAKE_MAX];
	size_t n_processes;
	world_token watched[FAKE_MAX];
	size_t n_watched;
	world_token killed[FAKE_MAX];
	int kill_signal[FAKE_MAX];
	size_t n_killed;
	world_token checked;         /* the last check(); 0: none */
	int check_error;             /* what check() answers at once */
	int spawn_error;             /* what spawn() answers at once */
	unsigned kinds;              /* of the last scan */
	usec_t alarm[SUPD_CLOCK_COUNT];
	bool has_kept, kept;         /* the gate's word on disk */
	int kept_error;              /* a negative errno: it cannot be read */
	const struct supd_plugin *plugin; /* NULL: there is none */
	unsigned n_opened;
	enum supd_manager_state states[FAKE_MAX]; /* as they were told */
	size_t n_states;
	char changes[2048]; /* what enable_unit() and mask_unit() were asked for, a line each */
	int enable_answer;
	uint64_t random;
	struct supd_now now;
};

void fake_world_init(struct fake_world *f);
/* Adds the unit, or replaces its text. */
struct fake_unit *fake_unit(struct fake_world *f, const char *name, const char *text);
void fake_unit_remove(struct fake_world *f, const char *name);

/* The one that was asked for last for this unit; NULL: none. */
struct fake_process *fake_process(struct fake_world *f, const char *unit);
void fake_spawned(struct fake_world *f, struct manager *m, struct fake_process *p);
/* The process ends with @wstatus, and nothing of the run is left. */
void fake_exited(struct fake_world *f, struct manager *m, struct fake_process *p, int wstatus);
/* Answers whatever is asked for this unit until nothing more is: each process ends with
 * @wstatus. */
void fake_finish(struct fake_world *f, struct manager *m, const char *unit, int wstatus);

#endif
