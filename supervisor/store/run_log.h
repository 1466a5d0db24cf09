/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_RUN_LOG_H
#define SUPD_STORE_RUN_LOG_H

/* The files of what services printed: <state dir>/logs/UNIT/<number, 16 hexadecimal digits>.log,
 * segments that are only ever appended to (store/run_log_record.h has the format). The names count
 * up; the highest is written to.
 *
 * Bounds. Of a run, the first half of per_run is kept, and of what comes after that the last
 * quarter at least: it goes to segments of its own, of which the eldest is removed for a new one.
 * Other runs are not touched by it. Of a unit, the oldest segments are removed as soon as all of
 * them together take more than per_unit, and any that was written to max_age ago.
 *
 * One writer, which is one thread. What was written outlives the writer; a power cut may take the
 * last of it, for nothing is fsynced. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

#define RUN_LOG_DIRECTORY "logs"
#define RUN_LOG_NAME_SIZE 32
/* Less than this is not worth its segments. */
#define RUN_LOG_PER_RUN_MIN ((uint64_t) 64 * 1024)

struct run_log_limits {
	uint64_t per_run, per_unit; /* bytes on the disk */
	usec_t max_age;
};

struct run_logs;

/* Makes the directory. The state directory is lent. */
int run_logs_new(int state_dir, const struct run_log_limits *limits, struct run_logs **ret);
struct run_logs *run_logs_free(struct run_logs *logs);

/* Whole records of one run, encoded. 0; 1: dropped, the run is not the unit's newest and has had
 * its share; or a negative errno: none of it is there. */
int run_logs_append(struct run_logs *logs, const char *unit, const uint8_t run_id[16],
		    const void *bytes, size_t n, usec_t now);
/* Removes what is too old, of all units. */
void run_logs_sweep(struct run_logs *logs, usec_t now);

/* ---- for readers, too ---- */

/* The numbers of a unit's segments, ascending. Gives; the caller frees. -ENOENT: nothing was ever
 * kept. */
int run_log_list(int logs_dir, const char *unit, uint64_t **ret, size_t *ret_n);
/* "UNIT/NUMBER.log" below the directory. */
#define RUN_LOG_PATH_SIZE (256 + RUN_LOG_NAME_SIZE)
int run_log_path(const char *unit, uint64_t number, char ret[RUN_LOG_PATH_SIZE]);

#endif
