/* SPDX-License-Identifier: MIT */
/* Asking the history: what is listed, newest first. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/names.h"
#include "store/history_private.h"

#define NAME_OF(column) "(SELECT name FROM unit WHERE id = e." column ")"
#define COLUMNS                                                                                    \
	"e.class, " NAME_OF("unit") ", " NAME_OF("\"trigger\"") ", e.at, e.scheduled, e.run_id, e.cause, e.attempt," \
	" e.ended, e.duration, e.lateness, e.result, e.status, e.words, e.cpu, e.peak_memory, e.reason, e.first," \
	" e.count, e.id, e.unit, e.\"trigger\""

/* ---- the question as SQL: numbers are written out, texts are bound ---- */

/* Classes are a list, with the conditions of their indices where they hold. */
static void put_classes(FILE *f, unsigned classes)
{
	const char *comma = "";

	if (classes == 0)
		return;
	(void) fputs(" AND e.class IN (", f);
	for (unsigned c = 0; c < HISTORY_CLASS_COUNT; c++)
		if (classes >> c & 1) {
			(void) fprintf(f, "%s%u", comma, c);
			comma = ",";
		}
	(void) fputc(')', f);
	if (!(classes >> HISTORY_SUCCESS & 1))
		(void) fputs(classes >> HISTORY_RUNNING & 1 ? " AND e.class != 1"
							    : " AND e.class != 1 AND e.class > 1",
			     f);
}

static bool is_usual(const char *cause)
{
	static const char all[] = HISTORY_USUAL_CAUSES;
	const char *at = strstr(all, cause);

	return at && at > all && at[-1] == '\'' && at[strlen(cause)] == '\'';
}

static void put_conditions(FILE *out, const struct history_filter *f)
{
	/* The plus: one run is found by its id, not by going through all times in their order. */
	const char *at = f->run_first ? "+e.at" : "e.at";

	(void) fprintf(out, " WHERE %s >= %lld AND %s < %lld", at, history_number(f->since), at,
		       history_number(f->until));
	put_classes(out, f->classes);
	if (f->cause)
		(void) fputs(is_usual(f->cause) ? " AND e.cause = ?1"
						: " AND e.cause = ?1 AND e." HISTORY_IS_RARE,
			     out);
	if (f->run_first)
		(void) fputs(" AND e.run_id >= ?2 AND e.run_id <= ?3", out);
}

static void put_limit(FILE *out, uint64_t limit, uint64_t offset)
{
	if (limit != UINT64_MAX || offset > 0)
		(void) fprintf(out, " LIMIT %lld OFFSET %lld", history_number(limit),
			       history_number(offset));
}

static void put_rows(FILE *out, const struct history_filter *f)
{
	(void) fputs("SELECT " COLUMNS " FROM entry e", out);
	put_conditions(out, f);
}

static void put_rows_of(FILE *out, const struct history_filter *f, const char *column,
			sqlite3_int64 id)
{
	put_rows(out, f);
	(void) fprintf(out, " AND e.%s = %lld AND e.%s != 0", column, (long long) id, column);
}

/* Each unit's own by its index, and what it started: SQLite merges them as they are read. */
static void put_by_index(FILE *out, const struct history_filter *f, const struct history_ids *ids)
{
	for (size_t i = 0; i < ids->n; i++) {
		if (i > 0)
			(void) fputs(" UNION ALL ", out);
		put_rows_of(out, f, "unit", ids->item[i]);
		(void) fputs(" UNION ALL ", out);
		put_rows_of(out, f, "\"trigger\"", ids->item[i]);
	}
}

static int question(const struct history_filter *f, const struct history_ids *ids,
		    struct history_text *ret)
{
	int r = history_text_open(ret);

	if (r < 0)
		return r;
	if (ids->n > 0 && ids->n <= HISTORY_UNITS_BY_INDEX)
		put_by_index(ret->f, f, ids);
	else
		put_rows(ret->f, f);
	(void) fputs(" ORDER BY e.at DESC, e.id DESC", ret->f);
	if (ids->n == 0)
		put_limit(ret->f, f->limit, f->offset);
	return history_text_close(ret);
}

/* ---- rows ---- */

static const char *column_text(sqlite3_stmt *s, int i)
{
	return (const char *) sqlite3_column_text(s, i);
}

static int record_of(sqlite3_stmt *s, struct history_record *ret)
{
	const char *result = column_text(s, 11);

	*ret = (struct history_record) {
		.class = (enum history_class) sqlite3_column_int(s, 0),
		.unit = column_text(s, 1),
		.trigger = column_text(s, 2),
		.at = history_column_usec(s, 3),
		.scheduled = history_column_usec(s, 4),
		.cause = column_text(s, 6),
		.attempt = (uint32_t) sqlite3_column_int64(s, 7),
		.ended = (usec_t) sqlite3_column_int64(s, 8),
		.duration = history_column_usec(s, 9),
		.lateness = history_column_usec(s, 10),
		.status = sqlite3_column_int(s, 12),
		.words = column_text(s, 13),
		.cpu = (usec_t) sqlite3_column_int64(s, 14),
		.peak_memory = (uint64_t) sqlite3_column_int64(s, 15),
		.reason = column_text(s, 16),
		.first = (usec_t) sqlite3_column_int64(s, 17),
		.count = (uint64_t) sqlite3_column_int64(s, 18),
	};
	if ((unsigned) ret->class >= HISTORY_CLASS_COUNT)
		return -EBADMSG;
	if (result && !run_result_from_string(result, &ret->result))
		return -EBADMSG;
	if (sqlite3_column_bytes(s, 5) == RUN_ID_BYTES)
		memcpy(ret->run_id, sqlite3_column_blob(s, 5), RUN_ID_BYTES);
	return 0;
}

/* The output and the metrics of one run, read into memory of their own. */
struct details {
	char *output;
	struct metric *metric;
	char **name;
	size_t n_output, n_metrics;
};

static void details_done(struct details *d)
{
	for (size_t i = 0; i < d->n_metrics; i++)
		free(d->name[i]);
	free(d->name);
	free(d->metric);
	free(d->output);
}

static int output_row(sqlite3_stmt *s, struct details *d)
{
	d->n_output = (size_t) sqlite3_column_bytes(s, 0);
	d->output = malloc(d->n_output + 1);
	if (!d->output)
		return -ENOMEM;
	if (d->n_output > 0)
		memcpy(d->output, sqlite3_column_blob(s, 0), d->n_output);
	return 0;
}

static int metric_row(sqlite3_stmt *s, struct details *d)
{
	struct metric *metric = reallocarray(d->metric, d->n_metrics + 1, sizeof(*metric));
	char **name = reallocarray(d->name, d->n_metrics + 1, sizeof(*name));

	if (metric)
		d->metric = metric;
	if (name)
		d->name = name;
	if (!metric || !name)
		return -ENOMEM;
	name[d->n_metrics] = strdup(column_text(s, 0) ? column_text(s, 0) : "");
	if (!name[d->n_metrics])
		return -ENOMEM;
	metric[d->n_metrics] = (struct metric) {
		.name = name[d->n_metrics], .value = sqlite3_column_double(s, 1),
	};
	d->n_metrics++;
	return 0;
}

static int each(struct history *h, const char *text, sqlite3_int64 id,
		int (*row)(sqlite3_stmt *s, struct details *d), struct details *d)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(h->db, text, -1, &s, NULL), r = 0;

	if (code == SQLITE_OK)
		(void) sqlite3_bind_int64(s, 1, id);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(s);
		if (code != SQLITE_ROW)
			break;
		r = row(s, d);
		if (r < 0)
			break;
	}
	(void) sqlite3_finalize(s);
	return r < 0 ? r : history_errno(code);
}

static int tell_whole(struct history *h, struct history_record *record, sqlite3_int64 id,
		      history_record_fn *fn, void *userdata)
{
	_cleanup_(details_done) struct details d = { 0 };
	int r = each(h, "SELECT bytes FROM output WHERE entry = ?1", id, output_row, &d);

	if (r >= 0)
		r = each(h, "SELECT name, value FROM metric WHERE entry = ?1 ORDER BY name", id,
			 metric_row, &d);
	if (r < 0)
		return r;
	record->output = d.output;
	record->n_output = d.n_output;
	record->metric = d.metric;
	record->n_metrics = d.n_metrics;
	return fn(userdata, record);
}

static int tell(struct history *h, sqlite3_stmt *s, bool is_whole, history_record_fn *fn,
		void *userdata)
{
	struct history_record record;
	int r = record_of(s, &record);

	if (r < 0)
		return r;
	if (is_whole)
		return tell_whole(h, &record, sqlite3_column_int64(s, 19), fn, userdata);
	return fn(userdata, &record);
}

static int ask(struct history *h, const char *text, const struct history_filter *f,
	       sqlite3_stmt **ret)
{
	int code = sqlite3_prepare_v2(h->db, text, -1, ret, NULL);

	if (code != SQLITE_OK)
		return history_errno(code);
	if (f->cause)
		(void) sqlite3_bind_text(*ret, 1, f->cause, -1, SQLITE_STATIC);
	if (f->run_first) {
		(void) sqlite3_bind_blob(*ret, 2, f->run_first, RUN_ID_BYTES, SQLITE_STATIC);
		(void) sqlite3_bind_blob(*ret, 3, f->run_last, RUN_ID_BYTES, SQLITE_STATIC);
	}
	return 0;
}

/* Of very many units what is theirs is picked out of all. */
static bool is_theirs(const struct history_ids *ids, sqlite3_stmt *s)
{
	return ids->n <= HISTORY_UNITS_BY_INDEX ||
	       history_ids_have(ids, sqlite3_column_int64(s, 20)) ||
	       history_ids_have(ids, sqlite3_column_int64(s, 21));
}

/* Where a unit and its trigger are asked for, a row comes twice, one behind the other. */
static int tell_some(struct history *h, const struct history_filter *f,
		     const struct history_ids *ids, sqlite3_stmt *s, history_record_fn *fn,
		     void *userdata)
{
	uint64_t skipped = 0, told = 0;
	sqlite3_int64 before = 0;
	int code = SQLITE_DONE, r;

	while (told < f->limit && (code = sqlite3_step(s)) == SQLITE_ROW) {
		sqlite3_int64 id = sqlite3_column_int64(s, 19);
		bool is_new = id != before && is_theirs(ids, s);

		before = id;
		if (!is_new || skipped++ < f->offset)
			continue;
		r = tell(h, s, f->run_first != NULL, fn, userdata);
		if (r < 0)
			return r;
		told++;
	}
	return history_errno(code);
}

static int tell_all(struct history *h, const struct history_filter *f, sqlite3_stmt *s,
		    history_record_fn *fn, void *userdata)
{
	int code, r;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		r = tell(h, s, f->run_first != NULL, fn, userdata);
		if (r < 0)
			return r;
	}
	return history_errno(code);
}

static int find(struct history *h, const struct history_filter *f, history_record_fn *fn,
		void *userdata)
{
	_cleanup_(history_text_done) struct history_text text = { 0 };
	_cleanup_(history_ids_done) struct history_ids ids = { 0 };
	_cleanup_(history_finalize) sqlite3_stmt *s = NULL;
	int r = history_ids_of(h, f, &ids);

	if (r < 0 || (f->n_units > 0 && ids.n == 0))
		return r;
	r = question(f, &ids, &text);
	if (r >= 0)
		r = ask(h, text.s, f, &s);
	if (r < 0)
		return r;
	return ids.n > 0 ? tell_some(h, f, &ids, s, fn, userdata) : tell_all(h, f, s, fn, userdata);
}

int history_find(struct history *h, const struct history_filter *f, history_record_fn *fn,
		 void *userdata)
{
	int r;

	history_be_patient(h, f->patience);
	r = find(h, f, fn, userdata);
	h->deadline = USEC_NEVER;
	return r;
}
