/* SPDX-License-Identifier: MIT */
/* The history's file: what was written by versions before is read by this one, and the usual questions are answered by
 * indices, however many rows there are. */
#include <sqlite3.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/history_private.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define DAY0 (UINT64_C(20000) * USEC_PER_DAY)

static char *dir, *path;
static struct history *h;

static void set_up(void)
{
	dir = test_dir_new();
	path = test_dir_path(dir, "history.db");
}

static void tear_down(void)
{
	h = history_close(h);
	free(path);
	dir = test_dir_free(dir);
}

/* ---- a file of version 1, as the releases before 21 November 2026 made it ---- */

static const char version_1[] =
	"PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; BEGIN;"
	"CREATE TABLE unit (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n_entries INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE entry (id INTEGER PRIMARY KEY, class INTEGER NOT NULL, unit INTEGER NOT NULL,"
	" \"trigger\" INTEGER NOT NULL, at INTEGER NOT NULL, scheduled INTEGER, run_id BLOB, cause TEXT,"
	" attempt INTEGER, ended INTEGER, duration INTEGER, lateness INTEGER, result TEXT, status INTEGER,"
	" words TEXT, cpu INTEGER, peak_memory INTEGER, reason TEXT, first INTEGER, count INTEGER);"
	"CREATE INDEX entry_at ON entry (at);"
	"CREATE INDEX entry_unit ON entry (unit, at);"
	"CREATE INDEX entry_trigger ON entry (\"trigger\", at) WHERE \"trigger\" != 0;"
	"CREATE INDEX entry_class ON entry (class, at) WHERE class != 1;"
	"CREATE UNIQUE INDEX entry_run ON entry (run_id) WHERE run_id IS NOT NULL;"
	"CREATE TABLE output (entry INTEGER PRIMARY KEY, bytes BLOB NOT NULL);"
	"CREATE TABLE metric (entry INTEGER NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,"
	" PRIMARY KEY (entry, name)) WITHOUT ROWID;"
	"CREATE TABLE tally (id INTEGER PRIMARY KEY, unit INTEGER NOT NULL, \"trigger\" INTEGER NOT NULL,"
	" level INTEGER NOT NULL, slot INTEGER NOT NULL, bytes BLOB NOT NULL);"
	"CREATE UNIQUE INDEX tally_unit ON tally (unit, level, slot, \"trigger\");"
	"CREATE INDEX tally_slot ON tally (level, slot);"
	"CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN"
	" UPDATE unit SET n_entries = n_entries + 1 WHERE id = NEW.unit; END;"
	"CREATE TRIGGER entry_gone AFTER DELETE ON entry BEGIN"
	" UPDATE unit SET n_entries = n_entries - 1 WHERE id = OLD.unit;"
	" DELETE FROM output WHERE entry = OLD.id; DELETE FROM metric WHERE entry = OLD.id; END;"
	"PRAGMA user_version = 1; COMMIT;"
	"INSERT INTO unit (id, name) VALUES (1, 'a.service'), (2, 'a.timer');"
	"INSERT INTO entry (id, class, unit, \"trigger\", at, scheduled, run_id, cause, attempt, ended, duration, lateness,"
	" result, status, words, cpu, peak_memory) VALUES"
	" (1, 1, 1, 2, 1728000000000001, 1728000000000000, x'0102030405060708090a0b0c0d0e0f10', 'calendar', 1,"
	" 1728000000001001, 1000, 1, 'success', 0, 'success', 10, 4096),"
	" (2, 0, 1, 2, 1728003600000001, 1728003600000000, x'1102030405060708090a0b0c0d0e0f10', 'calendar', 1,"
	" NULL, NULL, NULL, NULL, 0, NULL, 0, 0);"
	"INSERT INTO output VALUES (1, x'6869');"
	"INSERT INTO metric VALUES (1, 'rows', 7.0);";

static void execute(sqlite3 *db, const char *sql)
{
	char *error = NULL;

	(void) sqlite3_exec(db, sql, NULL, NULL, &error);
	ck_assert_msg(!error, "%s", error);
}

static void insert_tally(sqlite3 *db, enum history_level level)
{
	const struct history_record r = {
		.class = HISTORY_SUCCESS, .at = DAY0 + 1, .cause = "calendar", .attempt = 1, .ended = DAY0 + 1001,
		.duration = 1000, .lateness = 1, .cpu = 10,
	};
	struct tally t = { 0 };
	sqlite3_stmt *s = NULL;
	void *bytes = NULL;
	size_t n = 0;

	ck_assert_int_eq(tally_add(&t, &r), 0);
	ck_assert_int_eq(tally_encode(&t, &bytes, &n), 0);
	tally_done(&t);
	ck_assert_int_eq(sqlite3_prepare_v2(db, "INSERT INTO tally (unit, \"trigger\", level, slot, bytes) VALUES (1, 2, ?1,"
					    " ?2, ?3)", -1, &s, NULL), SQLITE_OK);
	(void) sqlite3_bind_int(s, 1, (int) level);
	(void) sqlite3_bind_int64(s, 2, level == HISTORY_EVER ? 0 : (sqlite3_int64) DAY0);
	(void) sqlite3_bind_blob(s, 3, bytes, (int) n, SQLITE_STATIC);
	ck_assert_int_eq(sqlite3_step(s), SQLITE_DONE);
	(void) sqlite3_finalize(s);
	free(bytes);
}

static void make_version_1(void)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	execute(db, version_1);
	for (int level = 0; level < HISTORY_LEVEL_COUNT; level++)
		insert_tally(db, (enum history_level) level);
	ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static int number_of(const char *sql)
{
	sqlite3_stmt *s = NULL;
	int n;

	ck_assert_int_eq(sqlite3_prepare_v2(h->db, sql, -1, &s, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
	n = sqlite3_column_int(s, 0);
	(void) sqlite3_finalize(s);
	return n;
}

static int keep_class(void *userdata, const struct history_record *r)
{
	char *text = userdata;

	(void) snprintf(text + strlen(text), 128 - strlen(text), "%s %s %zu %zu ", r->unit,
			history_class_to_string(r->class), r->n_output, r->n_metrics);
	return 0;
}

static int keep_runs(void *userdata, const char *unit, const struct tally *t)
{
	ck_assert_str_eq(unit, "a.service");
	*(uint64_t *) userdata += tally_runs(t);
	return 0;
}

static uint64_t runs_of(const char *unit, usec_t since)
{
	const struct history_filter f = {
		.unit = &unit, .n_units = 1, .since = since, .until = USEC_NEVER, .patience = USEC_NEVER,
	};
	uint64_t n = 0;

	ck_assert_int_eq(history_tally(h, &f, keep_runs, &n), 0);
	return n;
}

START_TEST(what_version_1_wrote_is_kept)
{
	const struct history_filter f = {
		.run_first = (const uint8_t[RUN_ID_BYTES]) { 0 }, .run_last = (const uint8_t[RUN_ID_BYTES]) { 0xff },
		.until = USEC_NEVER, .limit = UINT64_MAX, .patience = USEC_NEVER,
	};
	struct history_record more = {
		.class = HISTORY_SUCCESS, .unit = "a.service", .trigger = "a.timer", .at = DAY0 + 2 * USEC_PER_HOUR,
		.scheduled = USEC_NEVER, .cause = "calendar", .attempt = 1, .run_id = { 7 }, .duration = 5,
		.lateness = USEC_NEVER, .result = RUN_RESULT_SUCCESS, .words = "success",
	};
	char text[128] = "";

	make_version_1();
	ck_assert_int_eq(history_open(path, false, &h), 0);
	ck_assert_int_eq(number_of("PRAGMA user_version"), 2);
	ck_assert_int_eq(number_of("SELECT count(*) FROM sqlite_schema WHERE name = 'tally_trigger'"), 1);
	ck_assert_int_eq(history_interrupt(h), 1);
	ck_assert_int_eq(history_find(h, &f, keep_class, text), 0);
	ck_assert_str_eq(text, "a.service interrupted 0 0 a.service success 2 1 ");
	ck_assert_int_eq(history_write(h, &more, 1), 0);
	ck_assert_uint_eq(runs_of("a.service", 0), 3);
	ck_assert_uint_eq(runs_of("a.timer", 0), 3);
	ck_assert_uint_eq(runs_of("a.timer", DAY0 + USEC_PER_HOUR), 2);
	ck_assert_int_eq(number_of("SELECT n_entries FROM unit WHERE id = 1"), 3);
}
END_TEST

/* While no daemon runs nobody can bring it up to date, and it is read as it is. */
START_TEST(version_1_is_read_as_it_is)
{
	make_version_1();
	ck_assert_int_eq(history_open(path, true, &h), 0);
	ck_assert_int_eq(number_of("PRAGMA user_version"), 1);
	ck_assert_uint_eq(runs_of("a.service", 0), 1);
	ck_assert_uint_eq(runs_of("a.timer", 0), 1);
	h = history_close(h);
	ck_assert_int_eq(history_open(path, false, &h), 0);
	ck_assert_int_eq(number_of("PRAGMA user_version"), 2);
}
END_TEST

/* ---- plans ---- */

#define EXPLAIN "EXPLAIN QUERY PLAN "
static char asked[8][16384];
static size_t n_asked;

static int on_statement(unsigned what, void *userdata, void *s, void *text)
{
	(void) what;
	(void) userdata;
	(void) s;
	for (size_t i = 0; i < n_asked; i++)
		if (str_equal(asked[i] + strlen(EXPLAIN), text))
			return 0;
	ck_assert_uint_lt(n_asked, ELEMENTS(asked));
	(void) snprintf(asked[n_asked++], sizeof(asked[0]), EXPLAIN "%s", (const char *) text);
	return 0;
}

/* A look whether there is any row is none. What some times or some outcomes have is too much where units are asked for. */
static bool reads_too_much(const char *text, const char *step, bool is_of_units)
{
	if (str_starts(step, "SCAN"))
		return !strstr(text, "LIMIT 1");
	return is_of_units && (strstr(step, "entry_at") || strstr(step, "entry_class ") || strstr(step, "tally_slot"));
}

static void expect_no_scan(const char *text, bool is_of_units)
{
	sqlite3_stmt *s = NULL;

	ck_assert_msg(sqlite3_prepare_v2(h->db, text, -1, &s, NULL) == SQLITE_OK, "%s: %s", text, sqlite3_errmsg(h->db));
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *step = (const char *) sqlite3_column_text(s, 3);

		ck_assert_msg(!reads_too_much(text, step, is_of_units), "%s: %s", step, text);
	}
	(void) sqlite3_finalize(s);
}

static int ignore_record(void *userdata, const struct history_record *r)
{
	(void) userdata;
	(void) r;
	return 0;
}

static int ignore_tally(void *userdata, const char *unit, const struct tally *t)
{
	(void) userdata;
	(void) unit;
	(void) t;
	return 0;
}

static void some(void)
{
	static const char *const unit[] = { "a.service", "b.service", "c.service" };
	static const char *const timer[] = { "a.timer", "b.timer", NULL };

	for (unsigned i = 0; i < 300; i++) {
		const struct history_record r = {
			.class = i % 5 ? HISTORY_SUCCESS : HISTORY_FAILED, .unit = unit[i % 3], .trigger = timer[i % 3],
			.at = DAY0 + i * USEC_PER_HOUR / 4, .scheduled = USEC_NEVER, .cause = "calendar", .attempt = 1,
			.run_id = { (uint8_t) i, (uint8_t) (i >> 8), 1 }, .duration = 5, .lateness = USEC_NEVER,
			.result = RUN_RESULT_SUCCESS, .words = "success",
		};

		ck_assert_int_eq(history_write(h, &r, 1), 0);
	}
}

struct question {
	struct history_filter f;
	bool is_sum;
};

static const char *const one[] = { "a.service" };
static const char *const its_timer[] = { "a.timer" };
static const char *const three[] = { "a.timer", "a.service", "b.service" };
static const uint8_t run_id[RUN_ID_BYTES] = { 1, 0, 1 };
#define MONTH .since = DAY0 + 1234567, .until = DAY0 + 3 * USEC_PER_DAY - 7

static const struct question questions[] = {
	{ { .unit = one, .n_units = 1, .until = USEC_NEVER, .limit = 50 }, false },
	{ { .unit = its_timer, .n_units = 1, .until = USEC_NEVER, .limit = 50, .offset = 50 }, false },
	{ { .unit = three, .n_units = 3, MONTH, .limit = 50 }, false },
	{ { .unit = one, .n_units = 1, .until = USEC_NEVER, .limit = 50, .classes = 1U << HISTORY_FAILED }, false },
	{ { .unit = its_timer, .n_units = 1, .until = USEC_NEVER, .limit = 50, .classes = 1U << HISTORY_FAILED |
	    1U << HISTORY_MISSED }, false },
	{ { .classes = 1U << HISTORY_FAILED | 1U << HISTORY_MISSED, .until = USEC_NEVER, .limit = 50 }, false },
	{ { .run_first = run_id, .run_last = run_id, .until = USEC_NEVER, .limit = 50 }, false },
	{ { .unit = one, .n_units = 1, MONTH }, true },
	{ { .unit = its_timer, .n_units = 1, MONTH }, true },
	{ { .unit = three, .n_units = 3, MONTH }, true },
	{ { .unit = one, .n_units = 1, .until = USEC_NEVER }, true },
	{ { MONTH }, true },
	{ { .cause = "manual", .until = USEC_NEVER, .limit = 50 }, false },
	{ { .unit = one, .n_units = 1, .cause = "calendar", .until = USEC_NEVER, .limit = 50 }, false },
};

START_TEST(usual_questions_are_answered_by_indices)
{
	struct question q = questions[_i];

	q.f.patience = USEC_NEVER;
	n_asked = 0;
	ck_assert_int_eq(history_open(path, false, &h), 0);
	some();
	(void) sqlite3_trace_v2(h->db, SQLITE_TRACE_STMT, on_statement, NULL);
	ck_assert_int_eq(q.is_sum ? history_tally(h, &q.f, ignore_tally, NULL) : history_find(h, &q.f, ignore_record, NULL),
			 0);
	(void) sqlite3_trace_v2(h->db, 0, NULL, NULL);
	ck_assert_uint_gt(n_asked, 0);
	for (size_t i = 0; i < n_asked; i++)
		expect_no_scan(asked[i], q.f.n_units > 0 || q.f.run_first || q.f.cause);
}
END_TEST

static Suite *history_schema_suite(void)
{
	Suite *s = suite_create("history_schema");
	TCase *tc = tcase_create("history_schema");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, what_version_1_wrote_is_kept);
	tcase_add_test(tc, version_1_is_read_as_it_is);
	tcase_add_loop_test(tc, usual_questions_are_answered_by_indices, 0, (int) ELEMENTS(questions));
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(history_schema_suite)
