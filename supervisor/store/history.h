/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_HISTORY_H
#define SUPD_STORE_HISTORY_H

/* What ran and what did not, in a file: an SQLite database in WAL mode with one row for each run
 * and each miss, and tallies of each hour and each day, so that sums over months need not look at
 * runs.
 *
 * One connection in one process, used by one thread at a time, writes: it holds the file's lock for
 * as long as it is open (SQLite up to 3.51.2 can damage a WAL that two connections write or
 * checkpoint at once). Others open it for reading while nobody writes, and get -EBUSY else.
 *
 * A batch is one transaction, synced to the disk: all of it is written, or none.
 *
 * Errors: -ENOSPC the disk is full, -EIO, -ENOMEM, -EBUSY, -EACCES; -EBADMSG: the file is damaged,
 * or no such database: it is to be closed and set aside; -EPROTONOSUPPORT: a newer version wrote
 * it: it is to be left alone; -ETIME: a question took longer than it may. */

#include <stdbool.h>
#include <stddef.h>

#include "service/history_record.h"
#include "service/tally.h"

struct history;

/* The file's name in the state directory. */
#define HISTORY_FILE "history.db"

/* @path must lie in a directory that only its owner writes to (store/atomic_file.h:
 * state_dir_open()). -ENOENT: only if @is_read_only. */
int history_open(const char *path, bool is_read_only, struct history **ret);
struct history *history_close(struct history *h);
/* What the library said of the last error; lent until the next call. */
const char *history_error(const struct history *h);
/* Renames the closed file and what belongs to it to PATH.bad-STAMP; the new path to @ret_name. */
int history_set_aside(const char *path, const char *stamp, char *ret_name, size_t n);

/* ---- writing ---- */

/* A batch. A run comes once as RUNNING and once as how it ended, in either order; a second end of
 * the same run id changes nothing. 0 or an error, and nothing was written. */
int history_write(struct history *h, const struct history_record *record, size_t n);
/* At the start: runs that nobody saw end become INTERRUPTED. 0 or more: how many; or an error. */
int history_interrupt(struct history *h);

/* How much is kept. */
struct history_limits {
	usec_t age;          /* USEC_NEVER: no limit, as for the others */
	uint64_t per_unit;   /* rows */
	uint64_t size;       /* bytes of the file that are in use */
};
/* Removes some of what is over the limits, oldest first: a step that takes no longer than a few
 * milliseconds. 1: there may be more; 0: all is within; or an error. */
int history_prune(struct history *h, const struct history_limits *limits, usec_t now);

/* ---- asking ---- */

struct history_filter {
	const char *const *unit; /* services, or what triggers them; may be glob(7) patterns */
	size_t n_units;          /* 0: all */
	unsigned classes;        /* 1 << enum history_class; 0: all */
	const char *cause;       /* NULL: any */
	/* ids of runs from here to @run_last, with their output and metrics; NULL: any */
	const uint8_t *run_first;
	const uint8_t *run_last;
	/* [since, until) of where records stand; 0, USEC_NEVER: no bound */
	usec_t since, until;
	uint64_t limit, offset;  /* of the records that match; UINT64_MAX: no limit */
	usec_t patience;         /* the longest that the question may take; USEC_NEVER: no limit */
};

/* Negative: ends the question, and is its answer. The record is lent during the call. */
typedef int history_record_fn(void *userdata, const struct history_record *r);
typedef int history_tally_fn(void *userdata, const char *unit, const struct tally *t);

/* Newest first. */
int history_find(struct history *h, const struct history_filter *f, history_record_fn *fn,
		 void *userdata);
/* One tally a service, in the order of names. Of the filter only units, times and patience count.
 * Without bounds of time, of all that ever was written, though its rows be gone. */
int history_tally(struct history *h, const struct history_filter *f, history_tally_fn *fn,
		  void *userdata);

#endif
