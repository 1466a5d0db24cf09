/* SPDX-License-Identifier: MIT */
/* What the history comes to: tallies of hours and days, and the rows of the hours that are not
 * whole, added up for each service. */
#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "store/history_private.h"

/* What has been added up for one service. */
struct sum {
	sqlite3_int64 unit;
	struct tally tally;
	char *name; /* once all is added up; NULL is "" */
};

struct sums {
	struct history *h;
	struct history_ids ids;
	struct sum *item;
	size_t n, allocated;
	/* n_places, a power of two, by the hash of the unit: 1 + where it is in item; 0: none */
	size_t *place;
	size_t n_places;
	bool has_metrics; /* does anything in the file have some? */
};

static void sums_done(struct sums *sums)
{
	for (size_t i = 0; i < sums->n; i++) {
		tally_done(&sums->item[i].tally);
		free(sums->item[i].name);
	}
	free(sums->item);
	free(sums->place);
	history_ids_done(&sums->ids);
}

/* ---- each service's ---- */

static size_t *place_of(struct sums *sums, sqlite3_int64 unit)
{
	size_t i = (size_t) ((uint64_t) unit * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
		   (sums->n_places - 1);

	while (sums->place[i] > 0 && sums->item[sums->place[i] - 1].unit != unit)
		i = (i + 1) & (sums->n_places - 1);
	return &sums->place[i];
}

/* At most half of the places are taken. */
static int grow(struct sums *sums)
{
	size_t allocated = sums->allocated > 0 ? 2 * sums->allocated : 32;
	struct sum *item = reallocarray(sums->item, allocated, sizeof(*item));
	size_t *place;

	if (!item)
		return -ENOMEM;
	sums->item = item;
	place = calloc(2 * allocated, sizeof(*place));
	if (!place)
		return -ENOMEM;
	free(sums->place);
	sums->place = place;
	sums->n_places = 2 * allocated;
	sums->allocated = allocated;
	for (size_t i = 0; i < sums->n; i++)
		*place_of(sums, item[i].unit) = i + 1;
	return 0;
}

static struct tally *sum_of(struct sums *sums, sqlite3_int64 unit)
{
	size_t *place;

	if (sums->n == sums->allocated && grow(sums) < 0)
		return NULL;
	place = place_of(sums, unit);
	if (*place == 0) {
		sums->item[sums->n] = (struct sum) { .unit = unit };
		*place = ++sums->n;
	}
	return &sums->item[*place - 1].tally;
}

/* ---- questions ---- */

/* Is this row of a question about all about one of those that are asked for? */
static bool is_wanted(const struct sums *sums, sqlite3_stmt *s)
{
	return sums->ids.n == 0 || history_ids_have(&sums->ids, sqlite3_column_int64(s, 0)) ||
	       history_ids_have(&sums->ids, sqlite3_column_int64(s, 1));
}

typedef int row_fn(struct sums *sums, sqlite3_stmt *s, struct tally *sum);

/* SQL of which the first two columns are a unit and its trigger. */
static int each_row(struct sums *sums, const char *text, row_fn *fn)
{
	_cleanup_(history_finalize) sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(sums->h->db, text, -1, &s, NULL), r = history_errno(code);

	while (r >= 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
		struct tally *sum;

		if (!is_wanted(sums, s))
			continue;
		sum = sum_of(sums, sqlite3_column_int64(s, 0));
		r = sum ? fn(sums, s, sum) : -ENOMEM;
	}
	return r < 0 ? r : history_errno(code);
}

/* What is asked of a table, of units by the index of each and of what they start; of all, or of
 * very many, in order. */
struct question {
	const char *columns, *table, *order;
	char conditions[128];
};

static void put_select(const struct question *q, FILE *f)
{
	(void) fprintf(f, "SELECT unit, \"trigger\", %s FROM %s WHERE %s", q->columns, q->table,
		       q->conditions);
}

/* A unit's own, and what it starts, each once; one by one: SQLite takes another index where there
 * is a list. */
static void put_unit(const struct question *q, const struct history_ids *ids, size_t i, FILE *f)
{
	if (i > 0)
		(void) fputs(" UNION ALL ", f);
	put_select(q, f);
	(void) fprintf(f, " AND unit = %lld UNION ALL ", (long long) ids->item[i]);
	put_select(q, f);
	(void) fprintf(f, " AND \"trigger\" = %lld AND \"trigger\" != 0", (long long) ids->item[i]);
	history_put_ids(f, " AND unit NOT", ids);
}

static int put_question(const struct question *q, const struct history_ids *ids,
			struct history_text *ret)
{
	int r = history_text_open(ret);

	if (r < 0)
		return r;
	if (ids->n > 0 && ids->n <= HISTORY_UNITS_BY_INDEX)
		for (size_t i = 0; i < ids->n; i++)
			put_unit(q, ids, i, ret->f);
	else
		put_select(q, ret->f);
	(void) fprintf(ret->f, " ORDER BY %s", q->order);
	return history_text_close(ret);
}

static int add_answer(struct sums *sums, const struct question *q, row_fn *fn)
{
	_cleanup_(history_text_done) struct history_text text = { 0 };
	int r = put_question(q, &sums->ids, &text);

	return r < 0 ? r : each_row(sums, text.s, fn);
}

/* ---- tallies ---- */

static int add_slot(struct sums *sums, sqlite3_stmt *s, struct tally *sum)
{
	(void) sums;
	return tally_merge_bytes(sum, sqlite3_column_blob(s, 3),
				 (size_t) sqlite3_column_bytes(s, 3));
}

/* Whole slots in [from, to). */
static int add_slots(struct sums *sums, enum history_level level, usec_t from, usec_t to)
{
	struct question q = { .columns = "slot, bytes", .table = "tally", .order = "slot" };

	if (from >= to)
		return 0;
	(void) snprintf(q.conditions, sizeof(q.conditions),
			"level = %d AND slot >= %lld AND slot < %lld", (int) level,
			history_number(from), history_number(to));
	return add_answer(sums, &q, add_slot);
}

/* ---- rows ---- */

/* Of each class what it has: columns that nobody reads cost as much as those that count. */
static struct history_record record_of(sqlite3_stmt *s)
{
	struct history_record r = {
		.class = (enum history_class) sqlite3_column_int(s, 3),
		.at = history_column_usec(s, 4),
	};

	if (r.class == HISTORY_MISSED || r.class == HISTORY_GAP) {
		r.reason = (const char *) sqlite3_column_text(s, 12);
		r.first = (usec_t) sqlite3_column_int64(s, 13);
		r.count = (uint64_t) sqlite3_column_int64(s, 14);
		return r;
	}
	r.cause = (const char *) sqlite3_column_text(s, 5);
	r.attempt = (uint32_t) sqlite3_column_int64(s, 6);
	r.ended = (usec_t) sqlite3_column_int64(s, 7);
	r.duration = history_column_usec(s, 8);
	r.lateness = history_column_usec(s, 9);
	r.cpu = (usec_t) sqlite3_column_int64(s, 10);
	r.peak_memory = (uint64_t) sqlite3_column_int64(s, 11);
	return r;
}

static int add_metric(struct tally *sum, const char *name, double value)
{
	/* It is only looked at. */
	const struct tally_metric one = {
		.name = (char *) (uintptr_t) name,
		.count = 1,
		.sum = value,
		.most = value,
		.last = value,
	};

	return name ? tally_add_metric(sum, &one, true) : -EBADMSG;
}

static int add_metrics(struct history *h, sqlite3_int64 entry, struct tally *sum)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(h, HISTORY_METRICS, &s), code = SQLITE_DONE;

	if (r >= 0)
		(void) sqlite3_bind_int64(s, 1, entry);
	while (r >= 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
		r = add_metric(sum, (const char *) sqlite3_column_text(s, 0),
			       sqlite3_column_double(s, 1));
	}
	return r < 0 ? r : history_errno(code);
}

static int add_row(struct sums *sums, sqlite3_stmt *s, struct tally *sum)
{
	const struct history_record record = record_of(s);
	int r;

	if ((unsigned) record.class >= HISTORY_CLASS_COUNT ||
	    (record.class == HISTORY_MISSED && !record.reason))
		return -EBADMSG;
	r = tally_add(sum, &record);
	return r < 0 || !sums->has_metrics ? r
					   : add_metrics(sums->h, sqlite3_column_int64(s, 2), sum);
}

static int add_rows(struct sums *sums, usec_t from, usec_t to)
{
	struct question q = {
		.columns =
			"id, class, at, cause, attempt, ended, duration, lateness, cpu, peak_memory, reason, first, count",
		.table = "entry",
		.order = "at, id",
	};

	if (from >= to)
		return 0;
	(void) snprintf(q.conditions, sizeof(q.conditions),
			"at >= %lld AND at < %lld AND class != %d", history_number(from),
			history_number(to), HISTORY_RUNNING);
	return add_answer(sums, &q, add_row);
}

/* ---- all of it ---- */

static usec_t round_up(usec_t when, usec_t length)
{
	return usec_add(when, length - 1) / length * length;
}

/* All that ever was, in one; or rows, hours, days, hours, rows: as much as possible of what was
 * asked for is whole days. In the order of time: of a metric the last counts. */
static int add_all(struct sums *sums, const struct history_filter *f)
{
	usec_t since = usec_min(f->since, INT64_MAX), until = usec_min(f->until, INT64_MAX);
	usec_t hour = round_up(since, USEC_PER_HOUR),
	       hour_end = until / USEC_PER_HOUR * USEC_PER_HOUR;
	usec_t day = round_up(since, USEC_PER_DAY), day_end = until / USEC_PER_DAY * USEC_PER_DAY;
	int r;

	if (since == 0 && until == INT64_MAX)
		return add_slots(sums, HISTORY_EVER, 0, 1);
	if (hour >= hour_end)
		return add_rows(sums, since, until);
	if (day >= day_end)
		day = day_end = hour_end;
	r = add_rows(sums, since, hour);
	if (r >= 0)
		r = add_slots(sums, HISTORY_HOUR, hour, day);
	if (r >= 0)
		r = add_slots(sums, HISTORY_DAY, day, day_end);
	if (r >= 0)
		r = add_slots(sums, HISTORY_HOUR, day_end, hour_end);
	return r < 0 ? r : add_rows(sums, hour_end, until);
}

static int read_name(struct history *h, struct sum *sum)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(h, HISTORY_UNIT_NAME, &s), code;

	if (r < 0)
		return r;
	(void) sqlite3_bind_int64(s, 1, sum->unit);
	code = sqlite3_step(s);
	if (code != SQLITE_ROW)
		return history_errno(code);
	sum->name = strdup((const char *) sqlite3_column_text(s, 0));
	return sum->name ? 0 : -ENOMEM;
}

static const char *name_of(const struct sum *sum)
{
	return sum->name ? sum->name : "";
}

static int compare(const void *a, const void *b)
{
	return strcmp(name_of(a), name_of(b));
}

static int look_for_metrics(struct sums *sums)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = history_prepare(sums->h, HISTORY_ANY_METRIC, &s), code;

	if (r < 0)
		return r;
	code = sqlite3_step(s);
	sums->has_metrics = code == SQLITE_ROW;
	return history_errno(code);
}

static int sum_up(struct sums *sums, const struct history_filter *f)
{
	int r = history_ids_of(sums->h, f, &sums->ids);

	if (r < 0 || (f->n_units > 0 && sums->ids.n == 0))
		return r;
	r = look_for_metrics(sums);
	if (r >= 0)
		r = add_all(sums, f);
	for (size_t i = 0; i < sums->n && r >= 0; i++)
		r = read_name(sums->h, &sums->item[i]);
	if (r >= 0 && sums->n > 0)
		qsort(sums->item, sums->n, sizeof(*sums->item), compare);
	return r;
}

int history_tally(struct history *h, const struct history_filter *f, history_tally_fn *fn,
		  void *userdata)
{
	_cleanup_(sums_done) struct sums sums = { .h = h };
	int r;

	history_be_patient(h, f->patience);
	r = sum_up(&sums, f);
	h->deadline = USEC_NEVER;
	for (size_t i = 0; i < sums.n && r >= 0; i++)
		r = fn(userdata, name_of(&sums.item[i]), &sums.item[i].tally);
	return r < 0 ? r : 0;
}
