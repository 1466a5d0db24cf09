/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_HISTORY_KEEPER_H
#define SUPD_RUN_HISTORY_KEEPER_H

/* Keeps the history (store/history.h) beside the loop: a thread of its own has the only connection.
 * What happens is gathered and written half a second later, or sooner where it is much, in one
 * transaction; what a power cut takes is at most that half second. No start ever waits for it.
 *
 * Where the file cannot be written, runs go on: what happens is kept in memory, at most 16 MiB of
 * it, and tried again; what services printed is left out of it from 4 MiB on; what is over the
 * bound is lost, and a gap in the history says how much. A damaged file is set aside, and a new one
 * begun, with a gap that says so. A file of a newer supd is left alone: there is no history
 * then. */

#include <systemd/sd-event.h>

#include "store/history.h"

struct history_keeper;

struct history_keeper_config {
	const char *path; /* in a directory of ours; lent during the call */
	struct history_limits limits;
	int64_t priority;
};

int history_keeper_new(sd_event *event, const struct history_keeper_config *config,
		       struct history_keeper **ret);
/* Writes what is still to be written. Questions without an answer are dropped. */
struct history_keeper *history_keeper_free(struct history_keeper *k);

/* Copies. What cannot be kept is counted. */
void history_keeper_add(struct history_keeper *k, const struct history_record *r);

/* How it is going. */
struct history_keeper_state {
	const char *failure; /* why nothing is written at present; NULL: all is well */
	usec_t since;        /* real time */
	uint64_t lost;       /* records, since then */
};
struct history_keeper_state history_keeper_state(const struct history_keeper *k);

/* An answer comes later, from the loop: rows, in order, then done() once with 0 or an error of
 * store/history.h, and a sentence for that. Lent during the calls. */
struct history_answer {
	void *userdata;
	history_record_fn *record; /* one of the two says what is asked for */
	history_tally_fn *tally;
	void (*done)(void *userdata, int result, const char *message);
	void (*drop)(void *userdata); /* instead of done(), by history_keeper_free() */
};
/* More rows than this are not told at once: ask on with an offset. */
#define HISTORY_ANSWER_ROWS 10000
/* Of runs with all that they printed, these. */
#define HISTORY_ANSWER_WHOLE 16
/* What was added before is in the answer. 0 or -ENOMEM: no answer comes. */
int history_keeper_ask(struct history_keeper *k, const struct history_filter *f,
		       const struct history_answer *answer);

#endif
