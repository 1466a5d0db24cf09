/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_HISTORY_RECORD_H
#define SUPD_SERVICE_HISTORY_RECORD_H

/* One line of the history: a run, a moment that was missed, or a gap in the history itself. Every
 * scheduled moment of a timer is in exactly one of them: the run of its first attempt, or a miss; a
 * run that was interrupted stands beside what made up for it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "service/notify.h"
#include "service/run_record.h"

/* How it went, as coarsely as people ask: supctl history --result=. Kept in files: only ever
 * append. */
enum history_class {
	HISTORY_RUNNING,
	HISTORY_SUCCESS,
	HISTORY_FAILED,
	HISTORY_SKIPPED,     /* a condition said no */
	HISTORY_STOPPED,     /* on request */
	HISTORY_INTERRUPTED, /* supd ended while it went on */
	HISTORY_MISSED,
	HISTORY_GAP,         /* something happened that could not be written down */
};
#define HISTORY_CLASS_COUNT (HISTORY_GAP + 1)

/* All strings are lent by whoever hands the record over. Moments are on the real-time clock. */
struct history_record {
	enum history_class class;
	const char *unit;      /* the service; of a MISSED, the one that did not run; GAP: NULL */
	const char *trigger;   /* the unit that started it, or should have; NULL: none */
	/* where it stands in the history: a run's start, the last missed moment, a gap's begin */
	usec_t at;
	usec_t scheduled;      /* USEC_NEVER: nothing was scheduled, somebody asked for it */
	/* runs */
	uint8_t run_id[RUN_ID_BYTES];
	const char *cause;
	uint32_t attempt;
	usec_t ended;          /* 0: it goes on, or nobody saw its end */
	/* by the boot-time clock; USEC_NEVER: no process was made, or it goes on */
	usec_t duration;
	/* from the scheduled moment to the start, of the first attempt; USEC_NEVER: does not
	 * apply */
	usec_t lateness;
	enum run_result result;
	int32_t status;
	const char *words;     /* the result for people */
	usec_t cpu;
	uint64_t peak_memory;  /* bytes; 0: unknown */
	const char *output;    /* the last lines, as they were printed; NULL: none */
	size_t n_output;
	const struct metric *metric;
	size_t n_metrics;
	/* MISSED, GAP */
	const char *reason;
	usec_t first;          /* the first of the moments; GAP: as @at */
	uint64_t count;        /* moments missed; GAP: records lost */
};

/* The ids that begin with these hexadecimal digits: from @first to @last. False: that is no
 * beginning of an id. */
bool history_run_range(const char *digits, uint8_t first[RUN_ID_BYTES], uint8_t last[RUN_ID_BYTES]);

/* "running", "success", "failed" … */
const char *history_class_to_string(enum history_class c);
bool history_class_from_string(const char *s, enum history_class *ret);
/* Words parted by commas as 1 << class each; "": none. False: one of them is no such word. */
bool history_classes_from_string(const char *words, unsigned *ret);
/* Of a run that ended so. */
enum history_class history_class_of(enum run_result r);

#endif
