/* SPDX-License-Identifier: MIT */
/* Writing the history: batches, their tallies, and keeping it within its limits. */
#include <errno.h>

#include "base/cleanup.h"
#include "store/history_private.h"

/* Rows that one step of pruning removes. */
#define PRUNE_ROWS 256
/* Open runs that are closed in one transaction. */
#define INTERRUPT_ROWS 64

/* ---- rows ---- */

static void bind_text(sqlite3_stmt *s, int i, const char *text)
{
	(void) sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC);
}

/* SQLITE_ROW, and the number; SQLITE_DONE: it has none yet; or an error of SQLite's. */
static int find_unit(sqlite3_stmt *s, const char *name, sqlite3_int64 *ret)
{
	int code;

	bind_text(s, 1, name);
	code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		*ret = sqlite3_column_int64(s, 0);
	(void) sqlite3_reset(s);
	return code;
}

/* The number of a unit's name, made if it is new; nobody's is 0. */
static int unit_id(struct history *h, const char *name, sqlite3_int64 *ret)
{
	sqlite3_stmt *s;
	int r, code;

	*ret = 0;
	if (!name)
		return 0;
	r = history_prepare(h, HISTORY_UNIT_ID, &s);
	if (r < 0)
		return r;
	code = find_unit(s, name, ret);
	if (code != SQLITE_DONE)
		return history_errno(code);
	r = history_prepare(h, HISTORY_UNIT_ADD, &s);
	if (r < 0)
		return r;
	bind_text(s, 1, name);
	r = history_run(s);
	*ret = sqlite3_last_insert_rowid(h->db);
	return r;
}

static bool is_run(const struct history_record *r)
{
	return r->class != HISTORY_MISSED && r->class != HISTORY_GAP;
}

/* The numbers are those of HISTORY_ENTRY_ADD and HISTORY_RUN_END. */
static void bind_record(sqlite3_stmt *s, const struct history_record *r, sqlite3_int64 unit,
			sqlite3_int64 trigger)
{
	(void) sqlite3_clear_bindings(s);
	(void) sqlite3_bind_int(s, 1, (int) r->class);
	(void) sqlite3_bind_int64(s, 2, unit);
	(void) sqlite3_bind_int64(s, 3, trigger);
	history_bind_usec(s, 4, r->at);
	history_bind_usec(s, 5, r->scheduled);
	if (!is_run(r)) {
		bind_text(s, 17, r->reason);
		history_bind_usec(s, 18, r->first);
		history_bind_usec(s, 19, r->count);
		return;
	}
	(void) sqlite3_bind_blob(s, 6, r->run_id, RUN_ID_BYTES, SQLITE_STATIC);
	bind_text(s, 7, r->cause);
	(void) sqlite3_bind_int64(s, 8, r->attempt);
	history_bind_usec(s, 9, r->ended > 0 ? r->ended : USEC_NEVER);
	history_bind_usec(s, 10, r->duration);
	history_bind_usec(s, 11, r->lateness);
	bind_text(s, 12, r->result == RUN_RESULT_NONE ? NULL : run_result_to_string(r->result));
	(void) sqlite3_bind_int(s, 13, r->status);
	bind_text(s, 14, r->words);
	history_bind_usec(s, 15, r->cpu);
	history_bind_usec(s, 16, r->peak_memory);
}

/* 1: a row was added or changed; 0: nothing had to be. */
static int apply(struct history *h, enum history_statement which, const struct history_record *r,
		 sqlite3_int64 unit, sqlite3_int64 trigger)
{
	sqlite3_stmt *s;
	int error = history_prepare(h, which, &s);

	if (error < 0)
		return error;
	bind_record(s, r, unit, trigger);
	error = history_run(s);
	return error < 0 ? error : sqlite3_changes(h->db) > 0;
}

static int entry_of_run(struct history *h, const uint8_t *run_id, sqlite3_int64 *ret)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(h, HISTORY_ENTRY_ID, &s), code;

	if (r < 0)
		return r;
	(void) sqlite3_bind_blob(s, 1, run_id, RUN_ID_BYTES, SQLITE_STATIC);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EBADMSG : history_errno(code);
	*ret = sqlite3_column_int64(s, 0);
	return 0;
}

static int add_output(struct history *h, const struct history_record *r, sqlite3_int64 entry)
{
	sqlite3_stmt *s;
	int error;

	if (r->n_output == 0)
		return 0;
	error = history_prepare(h, HISTORY_OUTPUT_ADD, &s);
	if (error < 0)
		return error;
	(void) sqlite3_bind_int64(s, 1, entry);
	(void) sqlite3_bind_blob64(s, 2, r->output, r->n_output, SQLITE_STATIC);
	return history_run(s);
}

static int add_metrics(struct history *h, const struct history_record *r, sqlite3_int64 entry)
{
	sqlite3_stmt *s = NULL;
	int error = 0;

	for (size_t i = 0; i < r->n_metrics && error >= 0; i++) {
		error = history_prepare(h, HISTORY_METRIC_ADD, &s);
		if (error < 0)
			break;
		(void) sqlite3_bind_int64(s, 1, entry);
		bind_text(s, 2, r->metric[i].name);
		(void) sqlite3_bind_double(s, 3, r->metric[i].value);
		error = history_run(s);
	}
	return error;
}

static int add_details(struct history *h, const struct history_record *r)
{
	sqlite3_int64 entry = 0;
	int error;

	if (r->n_output == 0 && r->n_metrics == 0)
		return 0;
	error = entry_of_run(h, r->run_id, &entry);
	if (error >= 0)
		error = add_output(h, r, entry);
	return error < 0 ? error : add_metrics(h, r, entry);
}

/* ---- a batch ---- */

static int write_one(struct history *h, const struct history_record *record)
{
	sqlite3_int64 unit, trigger;
	int r = unit_id(h, record->unit, &unit);

	if (r >= 0)
		r = unit_id(h, record->trigger, &trigger);
	if (r < 0)
		return r;
	if (is_run(record) && record->class != HISTORY_RUNNING) {
		r = apply(h, HISTORY_RUN_END, record, unit, trigger);
		if (r < 0)
			return r;
	}
	if (r == 0)
		r = apply(h, HISTORY_ENTRY_ADD, record, unit, trigger);
	/* It was there: the end of a run that has its end, or the beginning of one that began. */
	if (r <= 0)
		return r;
	r = is_run(record) ? add_details(h, record) : 0;
	if (r >= 0 && record->class != HISTORY_RUNNING)
		r = history_count(h, record, unit, trigger);
	return r;
}

static int run(struct history *h, enum history_statement which)
{
	sqlite3_stmt *s;
	int r = history_prepare(h, which, &s);

	return r < 0 ? r : history_run(s);
}

int history_write(struct history *h, const struct history_record *record, size_t n)
{
	int r = run(h, HISTORY_BEGIN);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n && r >= 0; i++)
		r = write_one(h, &record[i]);
	r = history_count_end(h, r);
	if (r >= 0)
		r = run(h, HISTORY_COMMIT);
	/* SQLite has taken it back already after some errors. */
	if (r < 0 && !sqlite3_get_autocommit(h->db))
		(void) run(h, HISTORY_ROLLBACK);
	return r;
}

/* ---- runs without an end ---- */

struct open_runs {
	struct history_record record[INTERRUPT_ROWS];
	char *text[3 * INTERRUPT_ROWS];
	size_t n, n_texts;
};

static void open_runs_done(struct open_runs *o)
{
	for (size_t i = 0; i < o->n_texts; i++)
		free(o->text[i]);
	*o = (struct open_runs) { 0 };
}

static const char *keep(struct open_runs *o, const unsigned char *text)
{
	return text ? (o->text[o->n_texts++] = strdup((const char *) text)) : NULL;
}

static int open_run(struct open_runs *o, sqlite3_stmt *s)
{
	struct history_record *r = &o->record[o->n];

	if (sqlite3_column_bytes(s, 4) != RUN_ID_BYTES)
		return -EBADMSG;
	*r = (struct history_record) {
		.class = HISTORY_INTERRUPTED,
		.unit = keep(o, sqlite3_column_text(s, 0)),
		.trigger = keep(o, sqlite3_column_text(s, 1)),
		.at = history_column_usec(s, 2),
		.scheduled = history_column_usec(s, 3),
		.cause = keep(o, sqlite3_column_text(s, 5)),
		.attempt = (uint32_t) sqlite3_column_int64(s, 6),
		.duration = USEC_NEVER,
		.lateness = USEC_NEVER,
		.words = "interrupted",
	};
	memcpy(r->run_id, sqlite3_column_blob(s, 4), RUN_ID_BYTES);
	o->n++;
	return r->unit && r->cause ? 0 : -ENOMEM;
}

static int open_runs_read(struct history *h, struct open_runs *o)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(h, HISTORY_OPEN_RUNS, &s), code;

	if (r < 0)
		return r;
	(void) sqlite3_bind_int(s, 1, INTERRUPT_ROWS);
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		r = open_run(o, s);
		if (r < 0)
			return r;
	}
	return history_errno(code);
}

int history_interrupt(struct history *h)
{
	int r, total = 0;

	for (;;) {
		_cleanup_(open_runs_done) struct open_runs open = { 0 };

		r = open_runs_read(h, &open);
		if (r >= 0 && open.n > 0)
			r = history_write(h, open.record, open.n);
		if (r < 0)
			return r;
		if (open.n == 0)
			return total;
		total += (int) open.n;
	}
}

/* ---- within the limits ---- */

/* Runs a statement of which the last parameters are bound already. 1: rows went. */
static int prune_with(struct history *h, sqlite3_stmt *s)
{
	int r = history_run(s);

	return r < 0 ? r : sqlite3_changes(h->db) > 0;
}

static int prune_age(struct history *h, usec_t before)
{
	sqlite3_stmt *s;
	int r = history_prepare(h, HISTORY_PRUNE_AGE, &s);

	if (r < 0)
		return r;
	history_bind_usec(s, 1, before);
	(void) sqlite3_bind_int(s, 2, PRUNE_ROWS);
	return prune_with(h, s);
}

static int prune_tallies(struct history *h, usec_t before)
{
	sqlite3_stmt *s;
	int r = 0;

	for (int level = HISTORY_HOUR; level <= HISTORY_DAY && r == 0; level++) {
		r = history_prepare(h, HISTORY_PRUNE_TALLIES, &s);
		if (r < 0)
			break;
		(void) sqlite3_bind_int(s, 1, level);
		history_bind_usec(
			s, 2, usec_sub(before, history_slot_length((enum history_level) level)));
		(void) sqlite3_bind_int(s, 3, PRUNE_ROWS);
		r = prune_with(h, s);
	}
	return r;
}

static int unit_over(struct history *h, uint64_t most, sqlite3_int64 *ret_unit,
		     sqlite3_int64 *ret_n)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(h, HISTORY_UNIT_OVER, &s), code;

	if (r < 0)
		return r;
	history_bind_usec(s, 1, most);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return history_errno(code);
	*ret_unit = sqlite3_column_int64(s, 0);
	*ret_n = sqlite3_column_int64(s, 1) - (sqlite3_int64) most;
	return 1;
}

static int prune_unit(struct history *h, uint64_t most)
{
	sqlite3_int64 unit = 0, n = 0;
	sqlite3_stmt *s;
	int r = unit_over(h, usec_min(most, INT64_MAX), &unit, &n);

	if (r <= 0)
		return r;
	r = history_prepare(h, HISTORY_PRUNE_UNIT, &s);
	if (r < 0)
		return r;
	(void) sqlite3_bind_int64(s, 1, unit);
	(void) sqlite3_bind_int64(s, 2, n < PRUNE_ROWS ? n : PRUNE_ROWS);
	return prune_with(h, s);
}

static int size_used(struct history *h, uint64_t *ret)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(h, HISTORY_SIZE, &s), code;

	if (r < 0)
		return r;
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return code == SQLITE_DONE ? -EBADMSG : history_errno(code);
	*ret = (uint64_t) sqlite3_column_int64(s, 0);
	return 0;
}

static int prune_size(struct history *h, uint64_t most)
{
	uint64_t used = 0;
	sqlite3_stmt *s;
	int r = size_used(h, &used);

	if (r < 0 || used <= most)
		return r;
	r = history_prepare(h, HISTORY_PRUNE_OLDEST, &s);
	if (r < 0)
		return r;
	(void) sqlite3_bind_int(s, 1, PRUNE_ROWS);
	return prune_with(h, s);
}

/* Of units of which nothing else is left. */
static int prune_some(struct history *h, enum history_statement which)
{
	sqlite3_stmt *s;
	int r = history_prepare(h, which, &s);

	if (r < 0)
		return r;
	(void) sqlite3_bind_int(s, 1, PRUNE_ROWS);
	return prune_with(h, s);
}

static int prune_rows(struct history *h, const struct history_limits *limits, usec_t now)
{
	usec_t before = limits->age == USEC_NEVER ? 0 : usec_sub(now, limits->age);
	int r = 0;

	if (before > 0)
		r = prune_age(h, before);
	if (r == 0 && before > 0)
		r = prune_tallies(h, before);
	if (r == 0 && limits->per_unit != USEC_NEVER)
		r = prune_unit(h, limits->per_unit);
	if (r == 0 && limits->size != USEC_NEVER)
		r = prune_size(h, limits->size);
	if (r == 0)
		r = prune_some(h, HISTORY_PRUNE_EVER);
	return r != 0 ? r : prune_some(h, HISTORY_PRUNE_NAMES);
}

/* What has become free goes back to the file system bit by bit, too. */
int history_prune(struct history *h, const struct history_limits *limits, usec_t now)
{
	int r = run(h, HISTORY_BEGIN), more = 0;

	if (r < 0)
		return r;
	r = more = prune_rows(h, limits, now);
	if (r >= 0)
		r = run(h, HISTORY_VACUUM);
	if (r >= 0)
		r = run(h, HISTORY_COMMIT);
	if (r < 0 && !sqlite3_get_autocommit(h->db))
		(void) run(h, HISTORY_ROLLBACK);
	return r < 0 ? r : more;
}
