/* SPDX-License-Identifier: MIT */
/* Asking the history: what is listed, newest first, and what it comes to. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/names.h"
#include "store/history_private.h"

/* So many units are looked up by the index of each; with more, the whole history is gone through in its order. */
#define UNITS_BY_INDEX 64

#define COLUMNS                                                                                         \
	"e.class, u.name, t.name, e.at, e.scheduled, e.run_id, e.cause, e.attempt, e.ended, e.duration,"   \
	" e.lateness, e.result, e.status, e.words, e.cpu, e.peak_memory, e.reason, e.first, e.count, e.id"
#define NAMES " LEFT JOIN unit u ON u.id = e.unit LEFT JOIN unit t ON t.id = e.\"trigger\""

/* ---- text, grown ---- */

struct text {
	FILE *f;
	char *s;
	size_t n;
};

static int text_open(struct text *t)
{
	*t = (struct text) { 0 };
	t->f = open_memstream(&t->s, &t->n);
	return t->f ? 0 : -ENOMEM;
}

/* 0 or -ENOMEM. */
static int text_close(struct text *t)
{
	bool failed = ferror(t->f) != 0;

	failed |= fclose(t->f) != 0;
	t->f = NULL;
	return failed ? -ENOMEM : 0;
}

static void text_done(struct text *t)
{
	if (t->f)
		(void) fclose(t->f);
	free(t->s);
}

/* ---- which units ---- */

struct ids {
	sqlite3_int64 *item;
	size_t n;
};

static void ids_done(struct ids *ids)
{
	free(ids->item);
}

static int ids_add(struct ids *ids, sqlite3_int64 id)
{
	sqlite3_int64 *grown;

	for (size_t i = 0; i < ids->n; i++)
		if (ids->item[i] == id)
			return 0;
	grown = reallocarray(ids->item, ids->n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ids->item = grown;
	ids->item[ids->n++] = id;
	return 0;
}

static int ids_match(struct history *h, const char *pattern, struct ids *ids)
{
	sqlite3_stmt *s = NULL;
	int code, r = 0;

	code = sqlite3_prepare_v2(h->db,
				  strpbrk(pattern, "*?[") ? "SELECT id FROM unit WHERE name GLOB ?1"
							  : "SELECT id FROM unit WHERE name = ?1",
				  -1, &s, NULL);
	if (code == SQLITE_OK)
		(void) sqlite3_bind_text(s, 1, pattern, -1, SQLITE_STATIC);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(s);
		if (code != SQLITE_ROW)
			break;
		r = ids_add(ids, sqlite3_column_int64(s, 0));
		if (r < 0)
			break;
	}
	(void) sqlite3_finalize(s);
	return r < 0 ? r : history_errno(code);
}

static int ids_of(struct history *h, const struct history_filter *f, struct ids *ids)
{
	int r = 0;

	for (size_t i = 0; i < f->n_units && r >= 0; i++)
		r = ids_match(h, f->unit[i], ids);
	return r;
}

static void put_ids(FILE *f, const char *column, const struct ids *ids)
{
	(void) fprintf(f, "%s IN (", column);
	for (size_t i = 0; i < ids->n; i++)
		(void) fprintf(f, "%s%lld", i > 0 ? "," : "", (long long) ids->item[i]);
	(void) fputc(')', f);
}

/* ---- the question as SQL: numbers are written out, texts are bound ---- */

static long long number(usec_t value)
{
	return (long long) usec_min(value, INT64_MAX);
}

/* Classes are a list, with the condition of their index where successes are not among them. */
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
		(void) fputs(" AND e.class != 1", f);
}

static void put_conditions(FILE *out, const struct history_filter *f)
{
	(void) fprintf(out, " WHERE e.at >= %lld AND e.at < %lld", number(f->since), number(f->until));
	put_classes(out, f->classes);
	if (f->cause)
		(void) fputs(" AND e.cause = ?1", out);
	if (f->run_first)
		(void) fputs(" AND e.run_id >= ?2 AND e.run_id <= ?3", out);
}

#define ORDER " ORDER BY e.at DESC, e.id DESC"

static void put_limit(FILE *out, uint64_t limit, uint64_t offset)
{
	if (limit != UINT64_MAX || offset > 0)
		(void) fprintf(out, " LIMIT %lld OFFSET %lld", number(limit), number(offset));
}

static void put_newest(FILE *out, const struct history_filter *f, const char *column, sqlite3_int64 id,
		       const struct ids *except)
{
	(void) fputs("SELECT * FROM (SELECT e.* FROM entry e", out);
	put_conditions(out, f);
	(void) fprintf(out, " AND e.%s = %lld AND e.%s != 0", column, (long long) id, column);
	if (except)
		put_ids(out, " AND e.unit NOT", except);
	(void) fputs(ORDER, out);
	put_limit(out, usec_add(f->limit, f->offset), 0);
	(void) fputc(')', out);
}

/* Each unit's own newest by its index, and the newest of these; each once, though its trigger is asked for, too. */
static void put_by_index(FILE *out, const struct history_filter *f, const struct ids *ids)
{
	(void) fputs("SELECT " COLUMNS " FROM (", out);
	for (size_t i = 0; i < ids->n; i++) {
		if (i > 0)
			(void) fputs(" UNION ALL ", out);
		put_newest(out, f, "unit", ids->item[i], NULL);
		(void) fputs(" UNION ALL ", out);
		put_newest(out, f, "\"trigger\"", ids->item[i], ids);
	}
	(void) fputs(") e" NAMES ORDER, out);
}

static void put_in_order(FILE *out, const struct history_filter *f, const struct ids *ids)
{
	(void) fputs("SELECT " COLUMNS " FROM entry e" NAMES, out);
	put_conditions(out, f);
	if (ids->n > 0) {
		put_ids(out, " AND (e.unit", ids);
		put_ids(out, " OR e.\"trigger\"", ids);
		(void) fputc(')', out);
	}
	(void) fputs(ORDER, out);
}

static int question(const struct history_filter *f, const struct ids *ids, struct text *ret)
{
	int r = text_open(ret);

	if (r < 0)
		return r;
	if (ids->n > 0 && ids->n <= UNITS_BY_INDEX)
		put_by_index(ret->f, f, ids);
	else
		put_in_order(ret->f, f, ids);
	put_limit(ret->f, f->limit, f->offset);
	return text_close(ret);
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

static int each(struct history *h, const char *text, sqlite3_int64 id, int (*row)(sqlite3_stmt *s, struct details *d),
		struct details *d)
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

static int tell_whole(struct history *h, struct history_record *record, sqlite3_int64 id, history_record_fn *fn,
		      void *userdata)
{
	_cleanup_(details_done) struct details d = { 0 };
	int r = each(h, "SELECT bytes FROM output WHERE entry = ?1", id, output_row, &d);

	if (r >= 0)
		r = each(h, "SELECT name, value FROM metric WHERE entry = ?1 ORDER BY name", id, metric_row, &d);
	if (r < 0)
		return r;
	record->output = d.output;
	record->n_output = d.n_output;
	record->metric = d.metric;
	record->n_metrics = d.n_metrics;
	return fn(userdata, record);
}

static int tell(struct history *h, sqlite3_stmt *s, bool is_whole, history_record_fn *fn, void *userdata)
{
	struct history_record record;
	int r = record_of(s, &record);

	if (r < 0)
		return r;
	if (is_whole)
		return tell_whole(h, &record, sqlite3_column_int64(s, 19), fn, userdata);
	return fn(userdata, &record);
}

static void patience(struct history *h, usec_t longest)
{
	struct timespec now = { 0 };

	h->deadline = USEC_NEVER;
	if (longest != USEC_NEVER && clock_gettime(CLOCK_MONOTONIC, &now) >= 0)
		h->deadline = usec_add((usec_t) now.tv_sec * USEC_PER_SEC + (usec_t) now.tv_nsec / NSEC_PER_USEC, longest);
}

static int ask(struct history *h, const char *text, const struct history_filter *f, sqlite3_stmt **ret)
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

static void finalize(sqlite3_stmt **s)
{
	(void) sqlite3_finalize(*s);
}

static int find(struct history *h, const struct history_filter *f, history_record_fn *fn, void *userdata)
{
	_cleanup_(text_done) struct text text = { 0 };
	_cleanup_(ids_done) struct ids ids = { 0 };
	_cleanup_(finalize) sqlite3_stmt *s = NULL;
	int r = ids_of(h, f, &ids), code;

	if (r < 0 || (f->n_units > 0 && ids.n == 0))
		return r;
	r = question(f, &ids, &text);
	if (r >= 0)
		r = ask(h, text.s, f, &s);
	if (r < 0)
		return r;
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		r = tell(h, s, f->run_first != NULL, fn, userdata);
		if (r < 0)
			return r;
	}
	return history_errno(code);
}

int history_find(struct history *h, const struct history_filter *f, history_record_fn *fn, void *userdata)
{
	int r;

	patience(h, f->patience);
	r = find(h, f, fn, userdata);
	h->deadline = USEC_NEVER;
	return r;
}

/* ---- tallies ---- */

/* What has been added up for one service. */
struct sum {
	struct tally tally;
	char name[];
};

struct sums {
	struct names names;
	const struct ids *ids;
};

static void sums_done(struct sums *sums)
{
	for (size_t i = 0; i < sums->names.n; i++) {
		struct sum *s = sums->names.item[i];

		tally_done(&s->tally);
		free(s);
	}
	names_done(&sums->names);
}

static struct sum *sum_of(struct sums *sums, const char *name)
{
	struct sum *s = names_find(&sums->names, name);
	size_t n = strlen(name);

	if (s)
		return s;
	s = calloc(1, sizeof(*s) + n + 1);
	if (!s)
		return NULL;
	memcpy(s->name, name, n);
	if (names_add(&sums->names, s) < 0) {
		free(s);
		return NULL;
	}
	return s;
}

static int add_slot(struct sums *sums, sqlite3_stmt *s)
{
	_cleanup_(tally_done) struct tally t = { 0 };
	const char *name = column_text(s, 0);
	struct sum *sum = sum_of(sums, name ? name : "");
	int r = sum ? tally_decode(sqlite3_column_blob(s, 1), (size_t) sqlite3_column_bytes(s, 1), &t) : -ENOMEM;

	return r < 0 ? r : tally_merge(&sum->tally, &t);
}

static int slots_question(const struct ids *ids, enum history_level level, usec_t from, usec_t to, struct text *ret)
{
	int r = text_open(ret);

	if (r < 0)
		return r;
	(void) fprintf(ret->f,
		       "SELECT u.name, y.bytes FROM tally y LEFT JOIN unit u ON u.id = y.unit"
		       " WHERE y.level = %d AND y.slot >= %lld AND y.slot < %lld",
		       (int) level, number(from), number(to));
	if (ids->n > 0) {
		put_ids(ret->f, " AND (y.unit", ids);
		put_ids(ret->f, " OR y.\"trigger\"", ids);
		(void) fputc(')', ret->f);
	}
	return text_close(ret);
}

/* Whole slots in [from, to). */
static int add_slots(struct history *h, struct sums *sums, enum history_level level, usec_t from, usec_t to)
{
	_cleanup_(text_done) struct text text = { 0 };
	_cleanup_(finalize) sqlite3_stmt *s = NULL;
	int r, code;

	if (from >= to)
		return 0;
	r = slots_question(sums->ids, level, from, to, &text);
	if (r >= 0)
		r = history_errno(sqlite3_prepare_v2(h->db, text.s, -1, &s, NULL));
	if (r < 0)
		return r;
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		r = add_slot(sums, s);
		if (r < 0)
			return r;
	}
	return history_errno(code);
}

static int add_record(void *userdata, const struct history_record *r)
{
	struct sums *sums = userdata;
	struct sum *sum;

	if (r->class == HISTORY_RUNNING)
		return 0;
	sum = sum_of(sums, r->unit ? r->unit : "");
	return sum ? tally_add(&sum->tally, r) : -ENOMEM;
}

static int add_rows(struct history *h, struct sums *sums, const struct history_filter *f, usec_t from, usec_t to)
{
	const struct history_filter part = {
		.unit = f->unit, .n_units = f->n_units, .since = from, .until = to, .limit = UINT64_MAX,
	};

	return from >= to ? 0 : find(h, &part, add_record, sums);
}

static usec_t round_up(usec_t when, usec_t length)
{
	return usec_add(when, length - 1) / length * length;
}

/* All that ever was, in one; or rows, hours, days, hours, rows: as much as possible of what was asked for is whole days. */
static int add_all(struct history *h, struct sums *sums, const struct history_filter *f)
{
	usec_t since = usec_min(f->since, INT64_MAX), until = usec_min(f->until, INT64_MAX);
	usec_t hour = round_up(since, USEC_PER_HOUR), hour_end = until / USEC_PER_HOUR * USEC_PER_HOUR;
	usec_t day = round_up(since, USEC_PER_DAY), day_end = until / USEC_PER_DAY * USEC_PER_DAY;
	int r;

	if (since == 0 && until == INT64_MAX)
		return add_slots(h, sums, HISTORY_EVER, 0, 1);
	if (hour >= hour_end)
		return add_rows(h, sums, f, since, until);
	if (day >= day_end)
		day = day_end = hour_end;
	r = add_rows(h, sums, f, since, hour);
	if (r >= 0)
		r = add_slots(h, sums, HISTORY_HOUR, hour, day);
	if (r >= 0)
		r = add_slots(h, sums, HISTORY_DAY, day, day_end);
	if (r >= 0)
		r = add_slots(h, sums, HISTORY_HOUR, day_end, hour_end);
	return r < 0 ? r : add_rows(h, sums, f, hour_end, until);
}

int history_tally(struct history *h, const struct history_filter *f, history_tally_fn *fn, void *userdata)
{
	_cleanup_(ids_done) struct ids ids = { 0 };
	_cleanup_(sums_done) struct sums sums = { .names.name_at = offsetof(struct sum, name), .ids = &ids };
	int r;

	patience(h, f->patience);
	r = ids_of(h, f, &ids);
	if (r >= 0 && (f->n_units == 0 || ids.n > 0))
		r = add_all(h, &sums, f);
	h->deadline = USEC_NEVER;
	if (r < 0)
		return r;
	names_settle(&sums.names);
	for (size_t i = 0; i < sums.names.n && r >= 0; i++) {
		const struct sum *sum = sums.names.item[i];

		r = fn(userdata, sum->name, &sum->tally);
	}
	return r < 0 ? r : 0;
}
