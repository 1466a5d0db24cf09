/* SPDX-License-Identifier: MIT */
/* The tallies of what is written. Those that a batch touches stay open until its end: a batch is of
 * few units and of few hours, and reading and writing a tally costs more than a row does. */
#include <errno.h>

#include "base/cleanup.h"
#include "store/history_private.h"

/* So many are open at most, in a table twice as large. */
#define OPEN_MAX 1024
#define TABLE_SIZE (2 * OPEN_MAX)

struct slot {
	sqlite3_int64 unit, trigger, start;
	enum history_level level;
};

struct open_tally {
	struct slot slot;
	struct tally tally;
};

struct history_tallies {
	/* by the hash of its slot, or the next free place behind it */
	struct open_tally *item[TABLE_SIZE];
	size_t n;
};

/* ---- in the file ---- */

static int statement_of(struct history *h, enum history_statement which, const struct slot *slot,
			sqlite3_stmt **ret)
{
	int r = history_prepare(h, which, ret);

	if (r < 0)
		return r;
	(void) sqlite3_bind_int64(*ret, 1, slot->unit);
	(void) sqlite3_bind_int(*ret, 2, (int) slot->level);
	(void) sqlite3_bind_int64(*ret, 3, slot->start);
	(void) sqlite3_bind_int64(*ret, 4, slot->trigger);
	return 0;
}

static int read_tally(struct history *h, const struct slot *slot, struct tally *ret)
{
	_cleanup_reset_ sqlite3_stmt *s = NULL;
	int r = statement_of(h, HISTORY_TALLY_GET, slot, &s), code;

	if (r < 0)
		return r;
	code = sqlite3_step(s);
	if (code == SQLITE_DONE)
		return 0;
	if (code != SQLITE_ROW)
		return history_errno(code);
	return tally_decode(sqlite3_column_blob(s, 0), (size_t) sqlite3_column_bytes(s, 0), ret);
}

static int write_tally(struct history *h, const struct slot *slot, const struct tally *t)
{
	_cleanup_free_ void *bytes = NULL;
	sqlite3_stmt *s;
	size_t n = 0;
	int r = tally_encode(t, &bytes, &n);

	if (r >= 0)
		r = statement_of(h, HISTORY_TALLY_SET, slot, &s);
	if (r < 0)
		return r;
	(void) sqlite3_bind_blob64(s, 5, bytes, n, SQLITE_STATIC);
	return history_run(s);
}

/* ---- open ones ---- */

static struct open_tally *open_tally_free(struct open_tally *t)
{
	if (t)
		tally_done(&t->tally);
	free(t);
	return NULL;
}

static size_t hash_of(const struct slot *s)
{
	uint64_t n = (uint64_t) s->unit;

	n = (n ^ n >> 31) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) s->trigger;
	n = (n ^ n >> 31) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) s->start;
	n = (n ^ n >> 31) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) s->level;
	return (size_t) ((n ^ n >> 31) % TABLE_SIZE);
}

static bool is_same(const struct slot *a, const struct slot *b)
{
	return a->unit == b->unit && a->trigger == b->trigger && a->start == b->start &&
	       a->level == b->level;
}

/* Where it is, or where it belongs. */
static struct open_tally **place_of(struct history_tallies *all, const struct slot *slot)
{
	size_t i = hash_of(slot);

	while (all->item[i] && !is_same(&all->item[i]->slot, slot))
		i = (i + 1) % TABLE_SIZE;
	return &all->item[i];
}

/* Writes them if @r is no error, and closes them. */
static int end_all(struct history *h, int r)
{
	struct history_tallies *all = h->tallies;

	for (size_t i = 0; i < TABLE_SIZE && all->n > 0; i++) {
		if (!all->item[i])
			continue;
		if (r >= 0)
			r = write_tally(h, &all->item[i]->slot, &all->item[i]->tally);
		all->item[i] = open_tally_free(all->item[i]);
		all->n--;
	}
	return r;
}

static int open_slot(struct history *h, const struct slot *slot, struct tally **ret)
{
	struct open_tally **place, *t;
	int r = h->tallies->n == OPEN_MAX ? end_all(h, 0) : 0;

	if (r < 0)
		return r;
	place = place_of(h->tallies, slot);
	if (!*place) {
		t = calloc(1, sizeof(*t));
		if (!t)
			return -ENOMEM;
		t->slot = *slot;
		r = read_tally(h, slot, &t->tally);
		if (r < 0) {
			open_tally_free(t);
			return r;
		}
		*place = t;
		h->tallies->n++;
	}
	*ret = &(*place)->tally;
	return 0;
}

static int count_in(struct history *h, const struct slot *slot, const struct history_record *record)
{
	struct tally *t;
	int r = open_slot(h, slot, &t);

	return r < 0 ? r : tally_add(t, record);
}

int history_count(struct history *h, const struct history_record *record, sqlite3_int64 unit,
		  sqlite3_int64 trigger)
{
	int r = 0;

	if (!h->tallies)
		h->tallies = calloc(1, sizeof(*h->tallies));
	if (!h->tallies)
		return -ENOMEM;
	for (int level = 0; level < HISTORY_LEVEL_COUNT && r >= 0; level++) {
		usec_t length = history_slot_length((enum history_level) level);
		const struct slot slot = {
			.unit = unit,
			.trigger = trigger,
			.level = (enum history_level) level,
			.start =
				(sqlite3_int64) (usec_min(record->at, INT64_MAX) / length * length),
		};

		r = count_in(h, &slot, record);
	}
	return r;
}

int history_count_end(struct history *h, int r)
{
	if (!h->tallies)
		return r;
	r = end_all(h, r);
	free(h->tallies);
	h->tallies = NULL;
	return r;
}
