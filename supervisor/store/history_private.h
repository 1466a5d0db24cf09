/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_HISTORY_PRIVATE_H
#define SUPD_STORE_HISTORY_PRIVATE_H

/* Inside the history: history.c (the file, its schema, errors), history_write.c, history_query.c. */

#include <sqlite3.h>

#include "store/history.h"

/* Statements that are prepared once, when first needed. */
enum history_statement {
	HISTORY_BEGIN,
	HISTORY_COMMIT,
	HISTORY_ROLLBACK,
	HISTORY_UNIT_ADD,
	HISTORY_UNIT_ID,
	HISTORY_RUN_END,
	HISTORY_ENTRY_ADD,
	HISTORY_ENTRY_ID,
	HISTORY_OUTPUT_ADD,
	HISTORY_METRIC_ADD,
	HISTORY_TALLY_GET,
	HISTORY_TALLY_SET,
	HISTORY_OPEN_RUNS,
	HISTORY_PRUNE_AGE,
	HISTORY_PRUNE_UNIT,
	HISTORY_PRUNE_OLDEST,
	HISTORY_PRUNE_TALLIES,
	HISTORY_PRUNE_EVER,
	HISTORY_PRUNE_NAMES,
	HISTORY_UNIT_OVER,
	HISTORY_SIZE,
	HISTORY_VACUUM,
};
#define HISTORY_STATEMENT_COUNT (HISTORY_VACUUM + 1)

struct history {
	sqlite3 *db;
	sqlite3_stmt *statement[HISTORY_STATEMENT_COUNT];
	usec_t deadline; /* of the question that is asked, on the monotonic clock; USEC_NEVER: none */
};

/* Tallies are kept of these lengths of time. EVER outlives the rows it came from: counters must not go back. */
enum history_level { HISTORY_HOUR, HISTORY_DAY, HISTORY_EVER };
#define HISTORY_LEVEL_COUNT (HISTORY_EVER + 1)
/* USEC_NEVER: there is one slot, 0. */
usec_t history_slot_length(enum history_level level);

/* What SQLite's code is among ours; 0 for OK, ROW and DONE. */
int history_errno(int code);

/* Ready to be bound; NULL with the error. Of one's own statements: reset when done with. */
int history_prepare(struct history *h, enum history_statement s, sqlite3_stmt **ret);
/* Runs one that yields no rows, and resets it. */
int history_run(sqlite3_stmt *s);

/* USEC_NEVER is NULL; what is too large for a signed number is cut. */
void history_bind_usec(sqlite3_stmt *s, int i, usec_t value);
usec_t history_column_usec(sqlite3_stmt *s, int i);

static inline void history_reset(sqlite3_stmt **s)
{
	if (*s)
		(void) sqlite3_reset(*s);
}
#define _cleanup_reset_ __attribute__((cleanup(history_reset)))

#endif
