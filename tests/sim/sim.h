/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SIM_H
#define SUPD_SIM_H

/* A machine that is not there: clocks, disk, processes and chance, all from one seed, under the real manager and the
 * real plugin. Nothing here waits, forks or writes.
 *
 * A crash is the world going dead in the middle of an event: from then on no call has an effect. sim_boot() begins
 * another life, with what the disk had kept. */

#include <stdbool.h>
#include <stddef.h>

#include "core/manager.h"
#include "service/history_record.h"
#include "tests/sim/moments.h"
#include "world.h"

#define SIM_UNITS_MAX 48
#define SIM_QUEUE_MAX 128
#define SIM_RUNS_MAX 64

struct sim;

struct sim_file {
	char name[48];
	char *text;             /* NULL: there is no such file */
	bool is_masked;
	uint64_t fingerprint;
	uint64_t indexed;       /* as the last scan saw it; 0: it did not */
};

/* How the next processes of a service go. */
struct sim_job {
	usec_t takes;
	int wstatus;            /* W_EXITCODE */
	bool ignores_term;
	bool fails_to_spawn;
};

enum sim_event_kind { SIM_SPAWNED, SIM_SPAWN_FAILED, SIM_EXITED, SIM_TREE_EMPTY, SIM_SAVED, SIM_CHECKED, SIM_CANCELLED };

struct sim_event {
	usec_t at;              /* boot-time clock */
	uint64_t order;
	enum sim_event_kind kind;
	world_token token;
	int wstatus;
	uint64_t ticket;
	int result;
};

struct sim_process {
	world_token token;      /* 0: free */
	bool is_alive, is_watched, ignores_term;
	bool is_held;           /* until what is being saved is on the disk */
	uint64_t after;
	struct sim_job job;
	uint8_t run_id[16];
	char unit[48];
};

struct sim_blob {
	void *bytes;            /* NULL: none */
	size_t n;
	uint64_t mark;          /* of the observer: how much of its book this state knows */
	bool is_added;  /* behind the newest; else in its place */
	size_t n_first; /* without the lines that were added to it while it waited: its mark knows of them */
	bool is_cut;    /* not all of it reached the disk, or it was damaged */
};

/* What became of the write that was under way when the power went. */
enum sim_loss {
	SIM_LOSS_NONE,       /* nothing was being written */
	SIM_LOSS_NOT_TOLD,   /* nothing is lost, but nobody heard that it was durable */
	SIM_LOSS_TORN,       /* the new file has its name, and a part of its bytes */
	SIM_LOSS_BOTH_NAMES, /* the old file has the name of the one before, too */
	SIM_LOSS_ALL,
	SIM_LOSS_LINE_CUT,   /* of a line that was added, a part */
	SIM_LOSS_LINE,
};
#define SIM_LOSS_COUNT (SIM_LOSS_LINE + 1)

/* What a plugin said: "elapsed", "missed" … */
struct sim_record {
	char type[16], unit[48], reason[24]; /* reason or cause */
	usec_t first, scheduled;
	uint64_t count, attempt;
	usec_t in;
};

/* Told as things happen; all members may be NULL. */
struct sim_watcher {
	void *data;
	void (*record)(void *data, const struct sim_record *r);
	void (*spawned)(void *data, const struct spawn_request *r); /* is asked for */
	void (*executed)(void *data, const char *unit, const uint8_t run_id[16], int written); /* and begins */
	void (*settled)(void *data, struct unit *u, bool run_ended);
	uint64_t (*mark)(void *data);            /* a state is being saved */
	void (*restored)(void *data, uint64_t mark, bool has_state); /* that state is what a new life begins with */
};

/* What the history is made of, as the daemon hands it on. */
struct sim_history {
	void *data;
	void (*record)(void *data, const struct history_record *r); /* NULL: nobody keeps one */
	void (*over)(void *data, bool is_crash); /* this life is; the clock is still its own */
	void (*begins)(void *data);              /* another does */
};

struct sim {
	uint64_t seed, chance, drawn;
	/* clocks */
	usec_t boot;
	int64_t offset;         /* real = boot + offset */
	int64_t last_step;      /* by which the real-time clock was set */
	char boot_id[37];
	uint8_t daemon_id[16];
	bool is_frozen;         /* suspended or stopped: nothing is delivered */
	enum sim_zone zone;
	char *zone_dir;
	/* files */
	struct sim_file file[SIM_UNITS_MAX];
	struct sim_file *index[SIM_UNITS_MAX];
	size_t n_files, n_index;
	uint64_t last_fingerprint;
	/* disk */
	struct sim_blob generation[2], writing, next;
	uint64_t writing_ticket[16], next_ticket[16];
	size_t n_writing, n_next;
	bool is_disk_full;
	bool can_add;           /* the newest was written in this life, and nothing has failed since */
	unsigned long n_added;
	bool has_unsaved;       /* the daemon keeps in memory what was to be saved when timers stopped */
	uint64_t unsaved_mark;
	bool has_gate_kept, gate_kept;
	usec_t save_takes;
	unsigned n_set_aside;
	uint64_t losses[SIM_LOSS_COUNT], n_dead_midway, n_failed_writes;
	uint64_t n_held, n_cancelled; /* processes that waited for a write; of those, not begun */
	/* processes */
	struct sim_process process[SIM_RUNS_MAX];
	struct sim_event queue[SIM_QUEUE_MAX];
	size_t n_queue;
	uint64_t order;
	struct sim_job (*job)(struct sim *s, const char *unit, enum exec_phase phase); /* NULL: a second, success */
	void *job_data;
	/* life */
	struct world world;
	struct manager_config config;
	struct specifiers *specifiers;
	struct manager *manager; /* NULL: off */
	bool is_dead;           /* the power went in the middle of this event */
	uint64_t calls;         /* of the world, in all */
	uint64_t die_at;        /* the call at which it dies; 0: it does not */
	usec_t armed[SUPD_CLOCK_COUNT];
	bool gate_configured;
	bool in_event;
	struct sim_watcher watcher;
	char told[512];         /* types of events, in their order, as many as fit; the test's to clear */
	struct sim_history history;
	void (*after)(struct sim *s, void *data); /* after each event; for invariants */
	void *after_data;
	const char *event;      /* what is being delivered, for messages */
	uint64_t n_wakes, n_events;
	usec_t thawed;          /* the end of the last suspend, boot-time clock */
	int result;             /* of the last reload */
	bool verbose;
};

#define SIM_2026 (UINT64_C(1767225600) * USEC_PER_SEC) /* 2026-01-01 00:00 UTC, a Thursday */
#define SIM_EPOCH (UINT64_C(1700000000) * USEC_PER_SEC)

void sim_init(struct sim *s, uint64_t seed);
void sim_done(struct sim *s);
uint64_t sim_random(struct sim *s, uint64_t below);
__attribute__((noreturn, format(printf, 2, 3))) void sim_fail(struct sim *s, const char *fmt, ...);

struct supd_now sim_now(const struct sim *s);
usec_t sim_real(const struct sim *s);

/* Unit files. @text NULL: removed. */
void sim_write(struct sim *s, const char *name, const char *text);
void sim_mask(struct sim *s, const char *name);

/* Power on with the disk as it is; a reboot, if the kernel is another. */
void sim_boot(struct sim *s, bool is_other_kernel, usec_t real);
/* SIGTERM, until everything has ended. */
void sim_shutdown(struct sim *s);
/* The power goes, or kill -9: now, or in the middle of the event at the nth call of the world from now. */
void sim_crash(struct sim *s);
void sim_crash_at(struct sim *s, uint64_t calls_from_now);
bool sim_is_on(const struct sim *s);
bool sim_is_running(const struct sim *s); /* and timers are */

/* Time goes on, events are delivered. False: it crashed on the way. */
bool sim_run(struct sim *s, usec_t span);
/* The same, for no longer than it takes to deliver about @max events. */
bool sim_run_events(struct sim *s, usec_t span, uint64_t max);
bool sim_run_until(struct sim *s, usec_t real); /* on the real-time clock */
/* Suspend: time goes on and nothing is delivered; then everything is. */
bool sim_suspend(struct sim *s, usec_t span);
bool sim_set_clock(struct sim *s, usec_t real);
bool sim_set_zone(struct sim *s, enum sim_zone z);
/* 0, or the manager's errno. */
int sim_reload(struct sim *s);
int sim_command(struct sim *s, enum supd_command c, const char *timer);
int sim_skip(struct sim *s, const char *timer, uint64_t moment, bool on);
enum manager_verdict sim_start(struct sim *s, const char *service);
enum manager_verdict sim_stop(struct sim *s, const char *service);
int sim_pause(struct sim *s, bool on);
int sim_gate(struct sim *s, bool on);

/* Nothing is due that has not been delivered. */
bool sim_is_settled(struct sim *s);
bool sim_is_unit_active(struct sim *s, const char *service);

#endif
