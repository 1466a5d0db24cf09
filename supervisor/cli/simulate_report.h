/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_SIMULATE_REPORT_H
#define SUPD_CLI_SIMULATE_REPORT_H

/* What happens in a simulation: noted as the manager tells it, shown at the end, as a table or as
 * JSON. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/usec.h"
#include "service/run_record.h"
#include "supd-plugin.h"

struct cli;
struct unit;

enum simulate_event { SIMULATE_RUN, SIMULATE_MISSED, SIMULATE_CLOCK_JUMP, SIMULATE_CUT };
#define SIMULATE_EVENT_COUNT (SIMULATE_CUT + 1)

struct simulate_row {
	enum simulate_event event;
	usec_t time, scheduled; /* real time; USEC_NEVER: unknown */
	const char *timer, *service; /* NULL: none, or not known yet */
	const char *dst;        /* "gap", "fold" or NULL */
	bool is_hidden;
	/* RUN */
	struct run run;         /* ended_real 0: it goes on */
	uint32_t retry, retries; /* 0: no retry follows */
	usec_t retry_at;
	usec_t restart_in;      /* USEC_NEVER: its service does not restart it */
	/* MISSED */
	const char *reason;
	/* MISSED: moments; CUT: rows */
	uint64_t count;
	/* CLOCK_JUMP */
	int64_t delta;
};

/* A timer, as far as rows of it must be known again. */
struct simulate_timer {
	UT_hash_handle hh;
	const char *name, *target;
	const char *dst;       /* of the moment that was taken last */
	size_t last;           /* index + 1 of the row of its last run */
	bool is_hidden;
};

struct simulate_service {
	UT_hash_handle hh;
	const char *name;
	size_t open;           /* index + 1 of the row of the run that goes on */
};

/* All zero is an empty one. */
struct simulate_report {
	struct simulate_row *row;
	size_t n, allocated;
	struct simulate_timer *timer;
	struct simulate_service *service;
	struct arena arena;
	const struct supd_now *now; /* lent: the clocks */
	bool is_failed;        /* memory ran out */
	/* of services that no timer started */
	bool (*is_shown)(void *userdata, const char *service);
	void *userdata;
};

void simulate_report_done(struct simulate_report *r);

/* The manager's observer. */
void simulate_started(struct simulate_report *r, const struct unit *u);
void simulate_ended(struct simulate_report *r, const struct unit *u);
void simulate_told(struct simulate_report *r, const char *type, const char *timer,
		   const struct supd_row *fields);

/* What a timer starts, and whether it is shown; then, after all of them: rows that were noted
 * before follow. */
void simulate_learn(struct simulate_report *r, const char *timer, const char *target,
		    bool is_hidden);
void simulate_learned(struct simulate_report *r);
void simulate_jumped(struct simulate_report *r, int64_t delta);
/* That the end of the list is not the end of what would happen: what is beyond @max lines is
 * dropped. */
void simulate_cut(struct simulate_report *r, size_t max);

/* Each returns the exit status. */
int simulate_print_table(const struct simulate_report *r, struct cli *c);
int simulate_print_json(const struct simulate_report *r, const struct cli *c);

#endif
