/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_HISTORY_PRIVATE_H
#define SUPD_STORE_HISTORY_PRIVATE_H

/* Inside the history: history.c (the file, its schema, errors), history_write.c, history_count.c
 * (its tallies), history_query.c, history_sums.c (of tallies). */

#include <sqlite3.h>
#include <stdio.h>

#include "store/history.h"

/* Statements that are prepared once, when first needed. */
enum history_statement {
	HISTORY_BEGIN,
	HISTORY_COMMIT,
	HISTORY_ROLLBACK,
	HISTORY_UNIT_ADD,
	HISTORY_UNIT_ID,
	HISTORY_UNIT_NAME,
	HISTORY_RUN_END,
	HISTORY_ENTRY_ADD,
	HISTORY_ENTRY_ID,
	HISTORY_OUTPUT_ADD,
	HISTORY_METRIC_ADD,
	HISTORY_METRICS,
	HISTORY_ANY_METRIC,
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

struct history_tallies;

struct history {
	sqlite3 *db;
	struct history_tallies *tallies; /* that the batch has open; NULL: none */
	sqlite3_stmt *statement[HISTORY_STATEMENT_COUNT];
	/* of the question that is asked, on the monotonic clock; USEC_NEVER: none */
	usec_t deadline;
};

/* Tallies are kept of these lengths of time. EVER outlives the rows it came from: counters must not
 * go back. */
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

/* Adds what was written to the tallies of its moment. 0 or an error: the batch is to be taken
 * back. */
int history_count(struct history *h, const struct history_record *record, sqlite3_int64 unit,
		  sqlite3_int64 trigger);
/* The end of a batch: writes them, if it has gone well so far: if @r is no error. @r or its own
 * error. */
int history_count_end(struct history *h, int r);

/* USEC_NEVER is NULL; what is too large for a signed number is cut. */
void history_bind_usec(sqlite3_stmt *s, int i, usec_t value);
usec_t history_column_usec(sqlite3_stmt *s, int i);

/* A question may take so long from now on; until h->deadline is USEC_NEVER again. */
void history_be_patient(struct history *h, usec_t longest);

/* Which units a question is about: their numbers in the file, in order. */
struct history_ids {
	sqlite3_int64 *item;
	size_t n, allocated;
};
/* So many are looked up by their indices; what is about more is picked out of all, in its order. */
#define HISTORY_UNITS_BY_INDEX 64

/* @ret is all zero before, and is to be done with after an error, too. */
int history_ids_of(struct history *h, const struct history_filter *f, struct history_ids *ret);
void history_ids_done(struct history_ids *ids);
bool history_ids_have(const struct history_ids *ids, sqlite3_int64 id);
/* "COLUMN IN (1,2)" */
void history_put_ids(FILE *f, const char *column, const struct history_ids *ids);

/* Most runs have one of these causes; others are found by an index of their own, of which this is
 * the condition. */
#define HISTORY_USUAL_CAUSES "'calendar', 'unit-active', 'unit-inactive'"
#define HISTORY_IS_RARE "cause NOT IN (" HISTORY_USUAL_CAUSES ")"

/* SQL that is put together: numbers are written out, what users say is bound. */
struct history_text {
	FILE *f;
	char *s;
	size_t n;
};
/* 0 or -ENOMEM; of closing: @s is the text then. */
int history_text_open(struct history_text *t);
int history_text_close(struct history_text *t);
void history_text_done(struct history_text *t);

static inline long long history_number(usec_t value)
{
	return (long long) usec_min(value, INT64_MAX);
}

static inline void history_finalize(sqlite3_stmt **s)
{
	(void) sqlite3_finalize(*s);
}

static inline void history_reset(sqlite3_stmt **s)
{
	if (*s)
		(void) sqlite3_reset(*s);
}
#define _cleanup_reset_ __attribute__((cleanup(history_reset)))

#endif
