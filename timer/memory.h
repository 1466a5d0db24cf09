/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_MEMORY_H
#define SUPD_TIMER_MEMORY_H

/* What is remembered of one timer, over restarts, too: state_file.h writes and reads exactly
 * this. */

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "supd-plugin.h"

/* Why a scheduled moment led to no run. */
enum miss_reason {
	MISS_NONE,
	MISS_OVERLAP,     /* the target was active */
	MISS_DOWNTIME,    /* supd did not run, or the gate was closed, or it was paused */
	MISS_INTERRUPTED, /* a run had begun, and supd died */
	/* supd could not act in time: the machine slept, the process was stopped */
	MISS_LATE,
	MISS_CLOCK_JUMP,  /* somebody set the clock past it */
	MISS_DISABLED,    /* the target says Enabled=no */
	MISS_MASKED,      /* the target is masked */
	MISS_TARGET,      /* the target is missing, invalid, or not a oneshot service */
	MISS_SHUTDOWN,    /* supd was stopping */
	MISS_RESOURCES,   /* supd lacked something */
	MISS_SKIPPED,     /* an admin had said so beforehand; no miss that anybody need look at */
};
#define MISS_REASON_COUNT (MISS_SKIPPED + 1)

const char *miss_reason_to_string(enum miss_reason r); /* "overlap", "clock-jump" … */
bool miss_reason_from_string(const char *s, enum miss_reason *ret);

/* A moment on both clocks. @boot may be negative: before this boot. Zero @real: never. */
struct stamp {
	usec_t real;
	int64_t boot;
};

/* Calendar moments in (from, to] have been accounted for: they do not come again when the clock is
 * set back. */
struct spent {
	usec_t from, to;
};
#define TIMER_SPENT_MAX 8

/* The run that a start was asked for and that has not ended. */
struct open_run {
	uint8_t run_id[SUPD_RUN_ID_BYTES]; /* all zero: there is none */
	char cause[16];
	uint32_t attempt;
	usec_t scheduled; /* real time */
	struct stamp taken; /* when its moment was acted on */
};

/* A moment that went by and that a catch-up is to make up for; it is not on record yet, unless it
 * was interrupted. */
struct waiting {
	enum miss_reason reason; /* NONE: there is none */
	usec_t scheduled;        /* real time */
};

/* A coming moment that an admin has skipped. */
struct skip {
	usec_t real;      /* the moment; of an interval, as the clock was when it was skipped */
	int64_t boot;     /* not @is_calendar */
	bool is_calendar;
	bool is_vague;    /* from before this boot: @boot is right to a minute */
	bool is_told;     /* it came, and is on record */
};
#define TIMER_SKIPS_MAX 32
struct skips {
	unsigned n;
	struct skip item[TIMER_SKIPS_MAX]; /* in the order of @real */
};

struct timer_memory {
	/* calendar moments up to here are accounted for; 0: never was active */
	usec_t accounted_real;
	/* from here to accounted_real no moment was passed over by a jump or in downtime */
	usec_t normal_since;
	/* the line to go back to when the clock can be believed again; 0: it can */
	usec_t kept_real;
	struct stamp accounted;        /* moments on the boot-time clock, likewise */
	struct stamp activated;        /* the timer became active, in this life of the daemon */
	struct stamp anchor_active;    /* OnUnitActiveSec= counts from here */
	struct stamp anchor_inactive;  /* OnUnitInactiveSec= */
	struct stamp last_trigger;     /* a run began */
	usec_t last_scheduled;         /* for this moment; real time */
	struct stamp last_end;         /* of a run of this timer */
	enum supd_result last_result;  /* NONE: none, or interrupted (is_interrupted) */
	int32_t last_status;
	struct stamp last_success, last_failure;
	enum miss_reason miss_reason;  /* of the last miss */
	bool has_run_since_miss;
	bool is_interrupted;           /* the last run's end was never seen */
	usec_t miss_at;                /* the scheduled moment, real time */
	/* of that reason, one after the other, with no run between */
	uint64_t miss_in_row;
	uint64_t miss_count;           /* all, since the record began */
	struct open_run open;
	struct waiting waiting;
	/* room for TIMER_SPENT_MAX, owned; NULL: none yet. Few timers ever have one */
	struct spent *spent;
	unsigned n_spent;
	struct skips *skips; /* owned; NULL: none */
};

/* What it owns; it is all zero then. */
void memory_done(struct timer_memory *m);
/* 0 or -ENOMEM; @ret is all zero then. */
int memory_copy(const struct timer_memory *m, struct timer_memory *ret);
/* Owns what @m did; @m owns nothing then. */
struct timer_memory memory_take(struct timer_memory *m);
/* One more stretch. False: there are TIMER_SPENT_MAX, or memory ran out. */
bool memory_add_spent(struct timer_memory *m, usec_t from, usec_t to);

/* In its place. False: there are TIMER_SKIPS_MAX, or memory ran out. */
bool memory_add_skip(struct timer_memory *m, const struct skip *skip);
void memory_remove_skip(struct timer_memory *m, unsigned i);
/* Is this moment of a calendar skipped? */
bool memory_is_skipped(const struct timer_memory *m, usec_t real);

#endif
