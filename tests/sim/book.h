/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SIM_BOOK_H
#define SUPD_SIM_BOOK_H

/* The reference: a book with one entry a scheduled moment, kept from what can be seen from outside and judged by
 * the words of DESIGN.md 6.3 and 6.4. It has no line and no stretches: each calendar moment stands in it by itself, with
 * what became of it. What the disk lost in a crash is lost here, too. */

#include "tests/sim/sim.h"

#define BOOK_TIMERS 8
#define BOOK_SERVICES 5
#define BOOK_LADDER_MAX 4
#define BOOK_SKIPS 32

/* A timer as its file says it. */
struct plan {
	bool exists, is_bad, is_enabled, is_persistent, on_clock_change;
	int expression;                              /* into sim_expressions; -1: none */
	usec_t startup, boot, active, unit_active, unit_inactive; /* 0: no such trigger */
	usec_t catch_up, delay;
	usec_t ladder[BOOK_LADDER_MAX];
	unsigned n_ladder, service;
	bool retries_signals;
	uint64_t version;                            /* of the file */
};

/* What became of a moment. */
enum fate {
	FATE_NONE,
	FATE_RAN,
	FATE_MISSED, /* it came, and did not run */
	FATE_PASSED, /* nobody saw it come: downtime, a jump */
};

struct fate_entry {
	usec_t at;
	enum fate fate;
};

/* Kept over restarts, as the state file keeps its memory. */
struct book_memory {
	usec_t since;     /* moments after this are scheduled; 0: unknown, begins with the next beginning */
	usec_t kept;      /* the same, while the clock cannot be believed */
	usec_t kept_line; /* and the line of that time */
	usec_t line;      /* the last time at which something was settled */
	usec_t peak;      /* the latest such */
	usec_t vague;     /* up to here the spec or the zone was another: nothing is known */
	usec_t forgotten; /* up to here the timer may have forgotten what it accounted for */
	usec_t scheduled; /* of the last run */
	usec_t interrupted; /* this moment may run once more */
	usec_t skip[BOOK_SKIPS]; /* these moments are to be left out, as an admin asked; 0: none */
	bool is_open;
	uint64_t begun_up; /* the life of the daemon in which the start-up's moment came */
	usec_t open_scheduled;
	usec_t gone_since; /* there has been no such timer; 0: there is */
	uint64_t version; /* of the file, and the zone, under which all that was so */
	enum sim_zone zone;
};

struct book_timer {
	char name[16];
	struct plan file, plan; /* as it stands on the disk, as it is applied */
	struct book_memory memory;
	struct fate_entry *fate;
	size_t n_fates, allocated;
	/* of this life */
	bool is_active;
	bool is_taken, is_taken_spawned;
	char taken_cause[24];
	usec_t taken_scheduled;
	uint64_t taken_attempt;
	bool has_ladder, ladder_said;
	usec_t ladder_at, ladder_in;
	uint64_t ladder_attempt, said_attempt;
	usec_t waits_for, waits_since; /* this moment is to be made up for, since then (boot-time clock); 0: none */
	char waits_reason[24];
	bool waits_beside_run; /* and the target was active at one time */
	usec_t activated; /* boot-time clock */
	uint64_t activated_life;
	usec_t anchor_active, anchor_inactive; /* boot-time clock; 0: not known here */
	uint64_t n_runs, n_missed;
};

struct book_service {
	char name[16];
	bool is_masked, is_disabled; /* on the disk */
	bool was_masked, was_disabled; /* as applied */
	bool is_up;
	const struct book_timer *timer; /* whose run it is, if it has not been executed yet */
	unsigned n_restored;    /* when it was asked for */
	uint64_t version;       /* of the timer then */
	uint8_t last_run[16], ended_run[16];
};

struct book_undo {
	unsigned timer;
	usec_t at;
	enum fate was;
};

#define BOOK_MARKS 16
struct book_mark {
	uint64_t id;
	size_t undo;
	struct book_memory memory[BOOK_TIMERS];
};

struct book_item {
	int kind;
	struct sim_record record;
	char unit[48], trigger[48], cause[24];
	uint8_t run_id[16];
	uint64_t attempt;
	usec_t scheduled;
	int result;
};

struct book {
	struct sim *sim;
	struct book_timer timer[BOOK_TIMERS];
	struct book_service service[BOOK_SERVICES];
	struct book_undo *undo;
	size_t n_undo, undo_allocated;
	struct book_mark mark[BOOK_MARKS];
	uint64_t last_mark;
	struct book_item item[256];
	bool is_before_write;
	unsigned n_restored;    /* instances of the plugin */
	size_t n_items;
	bool was_running, was_restored, is_prepared, has_begun;
	usec_t born; /* this life, boot-time clock */
	char command_timer[16];
	usec_t command_moment;
	enum sim_zone zone;
	uint64_t hour, hour_wakes, hour_records;
	uint64_t n_records, life;
	uint64_t n_catch_ups, n_retries, n_interrupted, n_overlaps, n_skipped, results[RUN_RESULT_COUNT];
};

void book_open(struct book *b, struct sim *s);
void book_close(struct book *b);
/* The power went. */
void book_crashed(struct book *b);
/* Writes the unit files as they are planned now. */
void book_write_timer(struct book *b, unsigned i);
void book_write_service(struct book *b, unsigned i);

#endif
