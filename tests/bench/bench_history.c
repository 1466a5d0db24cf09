/* SPDX-License-Identifier: MIT */

/* A history of very many rows: how long the usual questions take, beside plain SQL on the same file, and how much memory
 * the process has taken at the end. Then how long a step of removing what is over a limit takes, and what the history costs
 * the loop: records handed to the keeper with their answers, by the loop thread's own clock, as a share of one second.
 *
 * BENCH_ROWS: runs in the file (200000).
 * BENCH_UNITS: services that they are of (100).
 * BENCH_RUNS: runs that finish in one second (1000).
 * BENCH_DIR: where the file is made (/tmp).
 * BENCH_FILE: a file to use instead, made if it is not there, and left there. */

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/history_keeper.h"
#include "store/history.h"

/* Rows in a transaction while the file is made; the keeper gathers some hundred. */
#define BATCH 200000
#define STEPS 200
#define DAYS 90
#define ROUNDS 9
#define NOW (UINT64_C(1800000000) * USEC_PER_SEC)

static char dir[64], path[128];

__attribute__((noreturn)) static void give_up(const char *what, int r)
{
	fprintf(stderr, "bench_history: %s: %d\n", what, r);
	exit(1);
}

static unsigned setting(const char *name, unsigned otherwise)
{
	const char *value = getenv(name);

	return value && *value ? (unsigned) strtoul(value, NULL, 10) : otherwise;
}

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

/* ---- the file ---- */

static void name_of(unsigned unit, const char *suffix, char ret[32])
{
	snprintf(ret, 32, "job%05u.%s", unit, suffix);
}

/* One in fifty fails. */
static struct history_record run_of(uint64_t i, char unit[32], char trigger[32], usec_t at)
{
	bool is_failure = i % 50 == 0;
	struct history_record r = {
		.class = is_failure ? HISTORY_FAILED : HISTORY_SUCCESS, .unit = unit, .trigger = trigger, .at = at,
		.scheduled = at - 700, .cause = "calendar", .attempt = 1, .ended = at + 20000 + i % 9973,
		.duration = 20000 + i % 9973, .lateness = 700 + i % 311, .status = is_failure ? 3 : 0,
		.result = is_failure ? RUN_RESULT_EXIT_CODE : RUN_RESULT_SUCCESS,
		.words = is_failure ? "failed exit 3" : "success", .cpu = 1500, .peak_memory = 1 << 20,
	};

	memcpy(r.run_id, &i, sizeof(i));
	r.run_id[15] = 1;
	return r;
}

static void fill(struct history *h, unsigned rows, unsigned units)
{
	struct history_record *batch = calloc(BATCH, sizeof(*batch));
	char(*unit)[32] = calloc(units, 32), (*trigger)[32] = calloc(units, 32);
	uint64_t span = DAYS * USEC_PER_DAY;
	unsigned n = 0;
	int r = 0;

	for (unsigned i = 0; i < units; i++) {
		name_of(i, "service", unit[i]);
		name_of(i, "timer", trigger[i]);
	}
	for (uint64_t i = 0; i < rows && r >= 0; i++) {
		unsigned u = (unsigned) (i % units);

		batch[n++] = run_of(i, unit[u], trigger[u], NOW - span + (uint64_t) ((double) i / rows * (double) span));
		if (n == BATCH || i + 1 == rows) {
			r = history_write(h, batch, n);
			n = 0;
		}
	}
	free(batch);
	free(unit);
	free(trigger);
	if (r < 0)
		give_up("writing the rows", r);
}

/* ---- questions ---- */

static int count_record(void *userdata, const struct history_record *r)
{
	(void) r;
	++*(unsigned *) userdata;
	return 0;
}

static int count_tally(void *userdata, const char *unit, const struct tally *t)
{
	(void) unit;
	*(unsigned *) userdata += (unsigned) tally_runs(t);
	return 0;
}

/* The best of some, as of all that follow. */
static double asked(struct history *h, const struct history_filter *f, bool is_list, unsigned *ret_n)
{
	double best = 1e9, begun;
	int r = 0;

	for (unsigned i = 0; i < ROUNDS && r >= 0; i++) {
		*ret_n = 0;
		begun = now_ms(CLOCK_MONOTONIC);
		r = is_list ? history_find(h, f, count_record, ret_n) : history_tally(h, f, count_tally, ret_n);
		begun = now_ms(CLOCK_MONOTONIC) - begun;
		best = begun < best ? begun : best;
	}
	if (r < 0)
		give_up("a question", r);
	return best;
}

static double plain(sqlite3 *db, const char *sql, unsigned *ret_n)
{
	double best = 1e9, begun;
	sqlite3_stmt *s = NULL;

	for (unsigned i = 0; i < 3; i++) {
		if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
			give_up(sqlite3_errmsg(db), 0);
		begun = now_ms(CLOCK_MONOTONIC);
		for (*ret_n = 0; sqlite3_step(s) == SQLITE_ROW; ++*ret_n)
			continue;
		begun = now_ms(CLOCK_MONOTONIC) - begun;
		best = begun < best ? begun : best;
		sqlite3_finalize(s);
	}
	return best;
}

static long resident_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static void tell(const char *what, double ours, double theirs, unsigned n)
{
	printf("%-34s %9.3f ms, plain SQL %9.3f ms, ratio %7.3f  (%u)\n", what, ours, theirs, ours / theirs, n);
}

#define COLUMNS "class, unit, at, scheduled, cause, ended, duration, lateness, result, words"

static void questions(unsigned units)
{
	char unit[32], newest[256], sums[256], sums_of_one[256];
	const char *name = unit;
	const struct history_filter list = {
		.unit = &name, .n_units = 1, .until = USEC_NEVER, .limit = 50, .patience = USEC_NEVER,
	}, month = {
		.since = NOW - 30 * USEC_PER_DAY + 1234567, .until = USEC_NEVER, .patience = USEC_NEVER,
	}, month_of_one = {
		.unit = &name, .n_units = 1, .since = month.since, .until = USEC_NEVER, .patience = USEC_NEVER,
	};
	double ours[3], theirs[3];
	struct history *h = NULL;
	sqlite3 *db = NULL;
	unsigned n[3], ignored;
	long before;
	int r = history_open(path, true, &h);

	if (r < 0)
		give_up("opening the file to read", r);
	name_of(units / 2, "service", unit);
	before = resident_kib();
	ours[0] = asked(h, &list, true, &n[0]);
	ours[1] = asked(h, &month_of_one, false, &n[1]);
	ours[2] = asked(h, &month, false, &n[2]);
	printf("memory taken by the questions: %ld KiB\n", resident_kib() - before);
	history_close(h);
	snprintf(newest, sizeof(newest), "SELECT " COLUMNS " FROM entry WHERE unit = (SELECT id FROM unit WHERE name = '%s')"
		 " ORDER BY at DESC LIMIT 50", unit);
	snprintf(sums, sizeof(sums), "SELECT unit, class, count(*), avg(duration), max(duration), sum(cpu) FROM entry"
		 " WHERE at >= %llu GROUP BY unit, class", (unsigned long long) month.since);
	snprintf(sums_of_one, sizeof(sums_of_one), "SELECT class, count(*), avg(duration), max(duration), sum(cpu) FROM entry"
		 " WHERE unit = (SELECT id FROM unit WHERE name = '%s') AND at >= %llu GROUP BY class", unit,
		 (unsigned long long) month.since);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		give_up("opening the file", 0);
	theirs[0] = plain(db, newest, &ignored);
	theirs[1] = plain(db, sums_of_one, &ignored);
	theirs[2] = plain(db, sums, &ignored);
	sqlite3_close(db);
	tell("history -n 50 UNIT", ours[0], theirs[0], n[0]);
	tell("stats --since=-30d UNIT", ours[1], theirs[1], n[1]);
	tell("stats --since=-30d", ours[2], theirs[2], n[2]);
}

/* ---- limits ---- */

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void limit(const char *what, struct history *h, const struct history_limits *limits)
{
	double took[STEPS];
	unsigned n = 0;
	int r = 1;

	while (n < STEPS && r > 0) {
		double begun = now_ms(CLOCK_MONOTONIC);

		r = history_prune(h, limits, NOW);
		took[n++] = now_ms(CLOCK_MONOTONIC) - begun;
	}
	if (r < 0)
		give_up("removing rows", r);
	qsort(took, n, sizeof(*took), compare);
	printf("%-34s %u steps, the middle one %.2f ms, the longest %.2f ms; %ld KiB of memory\n", what, n, took[n / 2],
	       took[n - 1], resident_kib());
}

static void limits(unsigned rows, unsigned units)
{
	const struct history_limits age = { .age = 60 * USEC_PER_DAY, .per_unit = USEC_NEVER, .size = USEC_NEVER };
	const struct history_limits share = { .age = USEC_NEVER, .per_unit = rows / units / 2, .size = USEC_NEVER };
	const struct history_limits size = { .age = USEC_NEVER, .per_unit = USEC_NEVER, .size = 1 };
	const struct history_limits none = { .age = USEC_NEVER, .per_unit = USEC_NEVER, .size = USEC_NEVER };
	struct history *h = NULL;
	int r = history_open(path, false, &h);

	if (r < 0)
		give_up("opening the file", r);
	limit("limit of age", h, &age);
	limit("limit per unit", h, &share);
	limit("limit of size", h, &size);
	limit("nothing over a limit", h, &none);
	history_close(h);
}

/* ---- the loop ---- */

/* CPU of the loop's thread while @runs begin and end within a second, and their answers come. */
static double loop_ms(bool is_on, unsigned runs)
{
	struct history_keeper_config config = {
		.path = path, .limits = { .age = USEC_NEVER, .per_unit = UINT64_MAX, .size = UINT64_MAX },
	};
	struct history_keeper *k = NULL;
	char unit[32], trigger[32];
	sd_event *event = NULL;
	double begun, end, at;
	int r = sd_event_new(&event);

	if (r >= 0 && is_on)
		r = history_keeper_new(event, &config, &k);
	if (r < 0)
		give_up("the keeper", r);
	begun = now_ms(CLOCK_THREAD_CPUTIME_ID);
	at = now_ms(CLOCK_MONOTONIC);
	end = at + 2000;
	for (unsigned i = 0; now_ms(CLOCK_MONOTONIC) < end;) {
		for (; i < runs && now_ms(CLOCK_MONOTONIC) - at >= 1000.0 * i / runs; i++) {
			struct history_record run = run_of(UINT64_C(1) << 40 | i, unit, trigger, NOW + i), begin = run;

			name_of(i % 100, "service", unit);
			name_of(i % 100, "timer", trigger);
			begin.class = HISTORY_RUNNING;
			history_keeper_add(k, &begin);
			history_keeper_add(k, &run);
		}
		(void) sd_event_run(event, 1000);
	}
	begun = now_ms(CLOCK_THREAD_CPUTIME_ID) - begun;
	history_keeper_free(k);
	sd_event_unref(event);
	return begun;
}

static void loop(unsigned runs)
{
	double off = loop_ms(false, runs), on = loop_ms(true, runs);

	printf("%u runs in a second: the loop's thread takes %.1f ms without history, %.1f ms with it: %.2f %% of the second\n",
	       runs, off, on, (on - off) / 10);
}

static void make_file(unsigned rows, unsigned units)
{
	double begun = now_ms(CLOCK_MONOTONIC);
	struct history *h = NULL;
	int r = history_open(path, false, &h);

	if (r < 0)
		give_up("opening the file", r);
	fill(h, rows, units);
	history_close(h);
	printf("%u rows of %u services in %d days, written in %.0f s\n", rows, units, DAYS,
	       (now_ms(CLOCK_MONOTONIC) - begun) / 1e3);
}

int main(void)
{
	unsigned rows = setting("BENCH_ROWS", 200000), units = setting("BENCH_UNITS", 100);
	const char *where = getenv("BENCH_DIR"), *file = getenv("BENCH_FILE");

	if (!file) {
		snprintf(dir, sizeof(dir), "%.40s/bench-history-XXXXXX", where ? where : "/tmp");
		if (!mkdtemp(dir))
			give_up("a folder", 0);
	}
	snprintf(path, sizeof(path), "%.100s%s", file ? file : dir, file ? "" : "/" HISTORY_FILE);
	if (units == 0)
		give_up("services", 0);
	if (access(path, F_OK) < 0)
		make_file(rows, units);
	questions(units);
	limits(rows, units);
	loop(setting("BENCH_RUNS", 1000));
	if (!file) {
		(void) unlink(path);
		(void) unlink(strcat(path, "-shm")); /* of the plain questions */
		(void) rmdir(dir);
	}
	return 0;
}
