/* SPDX-License-Identifier: MIT */
#include "store/run_log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "store/file.h"
#include "store/run_log.h"

#define SEGMENT_READ_MAX ((size_t) 64 * 1024 * 1024)
#define RUNS_FOLLOWED 4

/* The number that the next record of a run should have. */
struct expected {
	uint8_t run_id[16];
	uint64_t number;
};

struct run_log_reader {
	int dir;
	char *unit;
	struct run_log_query query;
	bool is_whole;    /* read from the beginning: what is missing there is told, too */
	uint64_t skip;    /* so many matches come before the first that is wanted */
	uint64_t end;     /* the last segment that is read */
	uint64_t number;  /* of the segment, or before the first */
	bool is_loaded;   /* its bytes, from base on, are these */
	char *bytes;
	size_t base, n, at;
	struct expected run[RUNS_FOLLOWED];
	size_t n_runs;
};

/* ---- segments ---- */

/* What stands in the segment from @base on. 0; 1: it has gone; or a negative errno. */
static int load(struct run_log_reader *r, uint64_t number, size_t base)
{
	char path[RUN_LOG_PATH_SIZE], *bytes;
	_cleanup_close_ int fd = -1;
	size_t n;
	int k = run_log_path(r->unit, number, path);

	if (k < 0)
		return k;
	fd = openat(r->dir, path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 1 : -errno;
	if (lseek(fd, (off_t) base, SEEK_SET) < 0)
		return -errno;
	k = file_read_all(fd, 65536, SEGMENT_READ_MAX, &bytes, &n);
	if (k < 0)
		return k;
	free(r->bytes);
	r->bytes = bytes;
	r->base = base;
	r->n = n;
	r->at = 0;
	r->number = number;
	r->is_loaded = true;
	return 0;
}

/* Whatever comes behind it is next. */
static void stand_behind(struct run_log_reader *r, uint64_t number)
{
	r->number = number;
	r->is_loaded = false;
	r->n = r->at = 0;
}

/* The first segment behind @number; 0: there is none. */
static int next_number(struct run_log_reader *r, uint64_t number, uint64_t *ret)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n = 0;
	int k = run_log_list(r->dir, r->unit, &list, &n);

	*ret = 0;
	if (k < 0)
		return k == -ENOENT ? 0 : k;
	for (size_t i = 0; i < n; i++)
		if (list[i] > number) {
			*ret = list[i] <= r->end ? list[i] : 0;
			return 0;
		}
	return 0;
}

static int find_end(struct run_log_reader *r)
{
	_cleanup_free_ uint64_t *list = NULL;
	size_t n = 0;
	int k = run_log_list(r->dir, r->unit, &list, &n);

	r->end = r->query.follows ? UINT64_MAX : n > 0 ? list[n - 1] : 0;
	return k;
}

static int load_segment(struct run_log_reader *r, uint64_t number)
{
	struct run_log_segment header;
	int k = load(r, number, 0);

	if (k != 0)
		return k;
	if (run_log_segment_decode((const uint8_t *) r->bytes, r->n, &header) == -EPROTONOSUPPORT)
		return -EPROTONOSUPPORT;
	/* A header that is damaged, or half written, is passed over like any damage. */
	r->at = r->n < RUN_LOG_SEGMENT_HEADER ? 0 : RUN_LOG_SEGMENT_HEADER;
	return 0;
}

static bool next_in_bytes(struct run_log_reader *r, struct run_log_record *ret)
{
	return run_log_record_next((const uint8_t *) r->bytes, r->n, &r->at, ret);
}

/* 1: there is a record; 0: none; or a negative errno. */
static int next_record(struct run_log_reader *r, struct run_log_record *ret)
{
	for (;;) {
		uint64_t number;
		int k = 0;

		if (r->is_loaded && next_in_bytes(r, ret))
			return 1;
		k = next_number(r, r->number, &number);
		if (k < 0)
			return k;
		/* More may have been written since it was read; then, if there is a later one, that
		 * is the end of it. */
		if (r->is_loaded) {
			k = load(r, r->number, r->base + r->at);
			if (k < 0)
				return k;
			if (k == 0 && next_in_bytes(r, ret))
				return 1;
		}
		if (number == 0)
			return 0;
		k = load_segment(r, number);
		if (k < 0 && k != -EPROTONOSUPPORT)
			return k;
		if (k != 0)
			stand_behind(r, number);
	}
}

/* ---- what is asked for ---- */

static bool is_run(const struct run_log_query *q, const uint8_t run_id[16])
{
	unsigned n = q->n_run_digits / 2;

	if (memcmp(run_id, q->run_id, n) != 0)
		return false;
	return q->n_run_digits % 2 == 0 || run_id[n] >> 4 == q->run_id[n] >> 4;
}

static bool is_wanted(const struct run_log_query *q, const struct run_log_record *record)
{
	return record->time >= q->since && record->time <= q->until && is_run(q, record->run_id);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool run_log_query_set_run(struct run_log_query *q, const char *digits)
{
	size_t n = strlen(digits);

	memset(q->run_id, 0, sizeof(q->run_id));
	q->n_run_digits = 0;
	if (n == 0 || n > 2 * sizeof(q->run_id))
		return false;
	for (size_t i = 0; i < n; i++) {
		int digit = digit_of(digits[i]);

		if (digit < 0)
			return false;
		q->run_id[i / 2] |= (uint8_t) (i % 2 == 0 ? digit << 4 : digit);
	}
	q->n_run_digits = (unsigned) n;
	return true;
}

/* ---- the last lines ---- */

static int count_matches(struct run_log_reader *r, uint64_t number, uint64_t *ret)
{
	struct run_log_record record;
	int k = load_segment(r, number);

	*ret = 0;
	if (k == -EPROTONOSUPPORT)
		return 0;
	while (k == 0 && next_in_bytes(r, &record))
		*ret += is_wanted(&r->query, &record);
	return k < 0 ? k : 0;
}

/* Begins in the segment, so many matches from its beginning, from which as many are left as are
 * wanted. */
static int find_last(struct run_log_reader *r)
{
	_cleanup_free_ uint64_t *list = NULL;
	uint64_t n = 0, sum = 0;
	size_t i = 0;
	int k = run_log_list(r->dir, r->unit, &list, &i);

	if (k < 0)
		return k;
	for (; i > 0 && sum < r->query.last; i--) {
		k = count_matches(r, list[i - 1], &n);
		if (k < 0)
			return k;
		sum += n;
	}
	stand_behind(r, 0);
	if (sum >= r->query.last) {
		stand_behind(r, list[i] - 1);
		r->skip = sum - r->query.last;
		r->is_whole = false;
	}
	return 0;
}

/* ---- what is missing ---- */

static struct expected *find_expected(struct run_log_reader *r, const uint8_t run_id[16])
{
	for (size_t i = 0; i < r->n_runs; i++)
		if (memcmp(r->run[i].run_id, run_id, sizeof(r->run[i].run_id)) == 0)
			return &r->run[i];
	return NULL;
}

static void note_missing(struct run_log_reader *r, struct run_log_record *record)
{
	struct expected *e = find_expected(r, record->run_id);
	uint64_t expected = e ? e->number : r->is_whole ? 0 : record->number;

	if (!e) {
		if (r->n_runs < RUNS_FOLLOWED)
			r->n_runs++;
		memmove(&r->run[1], &r->run[0], (r->n_runs - 1) * sizeof(r->run[0]));
		e = &r->run[0];
		memcpy(e->run_id, record->run_id, sizeof(e->run_id));
	}
	record->n_missing = record->number > expected ? record->number - expected : 0;
	e->number = record->number + 1;
}

/* ---- life ---- */

int run_log_reader_next(struct run_log_reader *r, struct run_log_record *ret)
{
	int k;

	while ((k = next_record(r, ret)) > 0) {
		if (!is_wanted(&r->query, ret))
			continue;
		note_missing(r, ret);
		if (r->skip == 0)
			return 1;
		r->skip--;
	}
	return k;
}

int run_log_reader_new(int logs_dir, const char *unit, const struct run_log_query *query,
		       struct run_log_reader **ret)
{
	struct run_log_reader *r = calloc(1, sizeof(*r));
	int k;

	if (!r)
		return -ENOMEM;
	r->dir = logs_dir;
	r->query = *query;
	r->is_whole = query->since == 0;
	r->unit = strdup(unit);
	k = r->unit ? find_end(r) : -ENOMEM;
	if (k >= 0 && query->last > 0)
		k = find_last(r);
	if (k < 0) {
		run_log_reader_free(r);
		return k;
	}
	*ret = r;
	return 0;
}

struct run_log_reader *run_log_reader_free(struct run_log_reader *r)
{
	if (!r)
		return NULL;
	free(r->bytes);
	free(r->unit);
	free(r);
	return NULL;
}

/* ---- the end of a run ---- */

static int copy_record(struct arena *arena, struct run_log_record *record)
{
	char *text = arena_alloc(arena, record->n + record->n_identifier + 1);

	if (!text)
		return -ENOMEM;
	memcpy(text, record->text, record->n);
	memcpy(text + record->n, record->identifier, record->n_identifier);
	record->text = text;
	record->identifier = text + record->n;
	return 0;
}

static int collect(struct run_log_reader *r, struct arena *arena, struct run_log_record **ret,
		   size_t *ret_n)
{
	struct run_log_record *list = NULL, record;
	size_t n = 0;
	int k;

	while ((k = run_log_reader_next(r, &record)) > 0) {
		struct run_log_record *grown = arena_grow(arena, list, n, sizeof(*grown));

		if (!grown || copy_record(arena, &record) < 0)
			return -ENOMEM;
		list = grown;
		list[n++] = record;
	}
	*ret = list;
	*ret_n = n;
	return k;
}

int run_log_tail(int logs_dir, const char *unit, const uint8_t run_id[16], size_t max,
		 struct arena *arena, struct run_log_record **ret, size_t *ret_n)
{
	struct run_log_query query = { .n_run_digits = 32, .until = USEC_NEVER, .last = max };
	struct run_log_reader *r;
	int k;

	memcpy(query.run_id, run_id, sizeof(query.run_id));
	*ret = NULL;
	*ret_n = 0;
	if (max == 0)
		return 0;
	k = run_log_reader_new(logs_dir, unit, &query, &r);
	if (k < 0)
		return k == -ENOENT ? 0 : k;
	k = collect(r, arena, ret, ret_n);
	run_log_reader_free(r);
	return k;
}
