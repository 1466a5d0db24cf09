/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_RUN_LOG_READER_H
#define SUPD_STORE_RUN_LOG_READER_H

/* Reads what store/run_log keeps, also while it is being written, by this process or another. */

#include "store/run_log_record.h"

struct arena;

struct run_log_query {
	uint8_t run_id[16];
	unsigned n_run_digits; /* so many hexadecimal digits of the id count; 0: all runs */
	usec_t since, until;   /* USEC_NEVER: no end */
	uint64_t last;         /* the last so many; 0: all */
	/* without it, what a writer begins meanwhile is not read: there is an end */
	bool follows;
};

struct run_log_reader;

/* @logs_dir: RUN_LOG_DIRECTORY, lent. 0, or a negative errno; -ENOENT: nothing was ever kept of
 * that unit. */
int run_log_reader_new(int logs_dir, const char *unit, const struct run_log_query *query,
		       struct run_log_reader **ret);
struct run_log_reader *run_log_reader_free(struct run_log_reader *r);
/* 1: a record, lent until the next call; 0: there is none now, but may be later; or a negative
 * errno. */
int run_log_reader_next(struct run_log_reader *r, struct run_log_record *ret);

/* The last @max lines of a run, with their texts in @arena. 0 (also where nothing was kept: *ret_n
 * is 0), or a negative errno. */
int run_log_tail(int logs_dir, const char *unit, const uint8_t run_id[16], size_t max,
		 struct arena *arena, struct run_log_record **ret, size_t *ret_n);

/* "RUN", 1 to 32 hexadecimal digits, → the query's run. False: it is something else. */
bool run_log_query_set_run(struct run_log_query *q, const char *digits);

#endif
