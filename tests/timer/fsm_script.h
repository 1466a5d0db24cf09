/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_FSM_SCRIPT_H
#define SUPD_TEST_FSM_SCRIPT_H

/* Scripts for the timer's machine: a row is an event at a time, and what must follow from it. Times
 * are seconds from T0, which is Monday, 2026-03-02 00:00 UTC on the real-time clock and a day of
 * uptime on the other. */

#include <stdbool.h>
#include <stdint.h>

#include "timer/fsm.h"

#define T0_REAL (UINT64_C(1772409600) * USEC_PER_SEC)
#define T0_BOOT USEC_PER_DAY
#define NEVER INT64_MIN
#define MIN INT64_C(60)
#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

enum who { OURS, OTHER };

struct row {
	int64_t at;
	enum timer_event_kind event;
	/* what must follow */
	enum timer_phase phase;
	int64_t real, boot;  /* the alarms */
	const char *effects; /* "intent", "start", "missed overlap", "missed late 3", "retry" …; but "save" */
	/* more of the event */
	enum supd_result result;
	enum who who;
	bool active;         /* the target, after it */
	enum miss_reason refused;
	/* JUMP, RECOMPUTE: the real-time clock is set by this much just before */
	int64_t jump;
	uint64_t random;
	const char *spec;    /* CHANGED: the new one */
	int64_t skip;        /* this moment is skipped just before; 0: none */
};

struct script {
	const char *name;
	const char *spec; /* "Key=value\n…" of [Timer] */
	const char *zone; /* a POSIX rule; NULL: UTC */
	const struct row *row;
	size_t n;
};
#define ROW(at_, event_, phase_, real_, boot_, effects_, ...) \
	{ .at = (at_), .event = (event_), .phase = (phase_), .real = (real_), .boot = (boot_), \
	  .effects = (effects_), ##__VA_ARGS__ }
#define SCRIPT(name, spec, zone, ...) \
	{ name, spec, zone, (const struct row[]) { __VA_ARGS__ }, \
	  sizeof((const struct row[]) { __VA_ARGS__ }) / sizeof(struct row) }

/* One timer by hand, for what no script can say. */
struct bench {
	struct timer timer;
	struct timer_context context;
	struct timer_effects effects;
	struct timer_spec spec;
	struct timer_defaults defaults;
	struct arena arena;
	struct zone_cache *zones;
	struct zone *zone;
	int64_t skew; /* seconds the real-time clock is ahead of T0_REAL + (boot - T0_BOOT) */
	uint8_t n_runs;
};

void bench_init(struct bench *b, const char *spec, const char *zone);
void bench_done(struct bench *b);
void bench_spec(struct bench *b, const char *spec);
struct supd_now bench_now(const struct bench *b, int64_t at);
/* One event; its effects in words, lent until the next. */
const char *bench_step(struct bench *b, const struct row *row);
int64_t bench_real(const struct bench *b); /* the alarms, as rows say them */
int64_t bench_boot(const struct bench *b);
usec_t real_at(int64_t at);

void script_run(const struct script *s);

#endif
