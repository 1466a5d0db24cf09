/* SPDX-License-Identifier: MIT */
#include "store/history.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/file.h"
#include "store/history_private.h"

/* The version of the schema; a file that says more is of a newer supd. */
#define SCHEMA_VERSION 2
/* From this one on a file is read as it is; what came later makes it faster. */
#define SCHEMA_READABLE 1
/* For who reads while a daemon starts, and the other way round. */
#define BUSY_MS 2000
/* Instructions of SQLite's machine between two looks at the clock. */
#define PATIENCE_STEPS 10000

/* One script a version: from the one before to it. Numbers in unit and trigger are units' ids, 0 is
 * nobody's. Times are microseconds since the epoch. */
static const char *const schema[] = {
	"CREATE TABLE unit (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, n_entries INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE entry (id INTEGER PRIMARY KEY, class INTEGER NOT NULL, unit INTEGER NOT NULL,"
	" \"trigger\" INTEGER NOT NULL, at INTEGER NOT NULL, scheduled INTEGER, run_id BLOB, cause TEXT,"
	" attempt INTEGER, ended INTEGER, duration INTEGER, lateness INTEGER, result TEXT, status INTEGER,"
	" words TEXT, cpu INTEGER, peak_memory INTEGER, reason TEXT, first INTEGER, count INTEGER);"
	"CREATE INDEX entry_at ON entry (at);"
	"CREATE INDEX entry_unit ON entry (unit, at);"
	"CREATE INDEX entry_trigger ON entry (\"trigger\", at) WHERE \"trigger\" != 0;"
	/* Successes are found by their time; what is rarer, by what it is. */
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
	" DELETE FROM output WHERE entry = OLD.id; DELETE FROM metric WHERE entry = OLD.id; END;",

	/* What a timer started and missed is asked for as often as what a service did. */
	"CREATE INDEX tally_trigger ON tally (\"trigger\", level, slot) WHERE \"trigger\" != 0;"
	/* Nor are a unit's few failures looked for among its many successes. */
	"CREATE INDEX entry_unit_class ON entry (unit, class, at) WHERE class > 1;"
	"CREATE INDEX entry_trigger_class ON entry (\"trigger\", class, at) WHERE class > 1 AND \"trigger\" != 0;"
	"CREATE INDEX entry_cause ON entry (cause, at) WHERE " HISTORY_IS_RARE ";",
};
static_assert(ELEMENTS(schema) == SCHEMA_VERSION, "a script for each version");

static const char *const sql[] = {
	[HISTORY_BEGIN] = "BEGIN IMMEDIATE",
	[HISTORY_COMMIT] = "COMMIT",
	[HISTORY_ROLLBACK] = "ROLLBACK",
	[HISTORY_UNIT_ADD] = "INSERT INTO unit (name) VALUES (?1)",
	[HISTORY_UNIT_ID] = "SELECT id FROM unit WHERE name = ?1",
	[HISTORY_UNIT_NAME] = "SELECT name FROM unit WHERE id = ?1",
	[HISTORY_RUN_END] =
		"UPDATE entry SET class = ?1, at = ?4, ended = ?9, duration = ?10, lateness = ?11,"
		" result = ?12, status = ?13, words = ?14, cpu = ?15, peak_memory = ?16"
		" WHERE run_id = ?6 AND class = 0",
	[HISTORY_ENTRY_ADD] =
		"INSERT OR IGNORE INTO entry (class, unit, \"trigger\", at, scheduled, run_id, cause, attempt,"
		" ended, duration, lateness, result, status, words, cpu, peak_memory, reason, first, count)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
	[HISTORY_ENTRY_ID] = "SELECT id FROM entry WHERE run_id = ?1",
	[HISTORY_OUTPUT_ADD] = "INSERT OR REPLACE INTO output (entry, bytes) VALUES (?1, ?2)",
	[HISTORY_METRIC_ADD] =
		"INSERT OR REPLACE INTO metric (entry, name, value) VALUES (?1, ?2, ?3)",
	[HISTORY_METRICS] = "SELECT name, value FROM metric WHERE entry = ?1 ORDER BY name",
	[HISTORY_ANY_METRIC] = "SELECT 1 FROM metric LIMIT 1",
	[HISTORY_TALLY_GET] =
		"SELECT bytes FROM tally WHERE unit = ?1 AND level = ?2 AND slot = ?3 AND \"trigger\" = ?4",
	[HISTORY_TALLY_SET] =
		"INSERT INTO tally (unit, level, slot, \"trigger\", bytes) VALUES (?1, ?2, ?3, ?4, ?5)"
		" ON CONFLICT (unit, level, slot, \"trigger\") DO UPDATE SET bytes = ?5",
	[HISTORY_OPEN_RUNS] =
		"SELECT u.name, t.name, e.at, e.scheduled, e.run_id, e.cause, e.attempt FROM entry e"
		" JOIN unit u ON u.id = e.unit LEFT JOIN unit t ON t.id = e.\"trigger\""
		" WHERE e.class = 0 AND e.class != 1 LIMIT ?1",
	[HISTORY_PRUNE_AGE] =
		"DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE at < ?1 AND class != 0"
		" ORDER BY at LIMIT ?2)",
	[HISTORY_PRUNE_UNIT] =
		"DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE unit = ?1 AND class != 0"
		" ORDER BY at LIMIT ?2)",
	[HISTORY_PRUNE_OLDEST] =
		"DELETE FROM entry WHERE id IN (SELECT id FROM entry WHERE class != 0 ORDER BY at LIMIT ?1)",
	[HISTORY_PRUNE_TALLIES] =
		"DELETE FROM tally WHERE id IN (SELECT id FROM tally WHERE level = ?1 AND slot < ?2 LIMIT ?3)",
	[HISTORY_PRUNE_EVER] =
		"DELETE FROM tally WHERE id IN (SELECT t.id FROM tally t JOIN unit u ON u.id = t.unit"
		" WHERE t.level = 2 AND u.n_entries = 0 AND NOT EXISTS"
		" (SELECT 1 FROM tally d WHERE d.unit = t.unit AND d.level = 1) LIMIT ?1)",
	[HISTORY_PRUNE_NAMES] =
		"DELETE FROM unit WHERE id IN (SELECT u.id FROM unit u WHERE u.n_entries = 0"
		" AND NOT EXISTS (SELECT 1 FROM tally t WHERE t.unit = u.id)"
		" AND NOT EXISTS (SELECT 1 FROM entry e WHERE e.\"trigger\" = u.id AND e.\"trigger\" != 0)"
		" AND NOT EXISTS (SELECT 1 FROM tally t WHERE t.\"trigger\" = u.id) LIMIT ?1)",
	[HISTORY_UNIT_OVER] = "SELECT id, n_entries FROM unit WHERE n_entries > ?1 LIMIT 1",
	[HISTORY_SIZE] = "SELECT (page_count - freelist_count) * page_size"
			 " FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
	[HISTORY_VACUUM] = "PRAGMA incremental_vacuum(64)",
};
static_assert(ELEMENTS(sql) == HISTORY_STATEMENT_COUNT, "a text for each statement");

int history_errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_INTERRUPT:
		return -ETIME;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_ERROR: /* a table or a column that should be there is not */
		return -EBADMSG;
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_AUTH:
		return -EACCES;
	}
	return -EIO;
}

int history_prepare(struct history *h, enum history_statement s, sqlite3_stmt **ret)
{
	int code = SQLITE_OK;

	if (!h->statement[s])
		code = sqlite3_prepare_v3(h->db, sql[s], -1, SQLITE_PREPARE_PERSISTENT,
					  &h->statement[s], NULL);
	*ret = h->statement[s];
	return history_errno(code);
}

int history_run(sqlite3_stmt *s)
{
	int code;

	do
		code = sqlite3_step(s);
	while (code == SQLITE_ROW);
	(void) sqlite3_reset(s);
	return history_errno(code);
}

void history_bind_usec(sqlite3_stmt *s, int i, usec_t value)
{
	if (value == USEC_NEVER)
		(void) sqlite3_bind_null(s, i);
	else
		(void) sqlite3_bind_int64(s, i, (sqlite3_int64) usec_min(value, INT64_MAX));
}

usec_t history_column_usec(sqlite3_stmt *s, int i)
{
	sqlite3_int64 value = sqlite3_column_int64(s, i);

	if (sqlite3_column_type(s, i) == SQLITE_NULL)
		return USEC_NEVER;
	return value < 0 ? 0 : (usec_t) value;
}

void history_be_patient(struct history *h, usec_t longest)
{
	struct timespec now = { 0 };

	h->deadline = USEC_NEVER;
	if (longest != USEC_NEVER && clock_gettime(CLOCK_MONOTONIC, &now) >= 0)
		h->deadline = usec_add((usec_t) now.tv_sec * USEC_PER_SEC +
					       (usec_t) now.tv_nsec / NSEC_PER_USEC,
				       longest);
}

int history_text_open(struct history_text *t)
{
	*t = (struct history_text) { 0 };
	t->f = open_memstream(&t->s, &t->n);
	return t->f ? 0 : -ENOMEM;
}

int history_text_close(struct history_text *t)
{
	bool failed = ferror(t->f) != 0;

	failed |= fclose(t->f) != 0;
	t->f = NULL;
	return failed ? -ENOMEM : 0;
}

void history_text_done(struct history_text *t)
{
	if (t->f)
		(void) fclose(t->f);
	free(t->s);
}

usec_t history_slot_length(enum history_level level)
{
	switch (level) {
	case HISTORY_HOUR:
		return USEC_PER_HOUR;
	case HISTORY_DAY:
		return USEC_PER_DAY;
	case HISTORY_EVER:
		break;
	}
	return USEC_NEVER;
}

const char *history_error(const struct history *h)
{
	return sqlite3_errmsg(h->db);
}

/* ---- the schema ---- */

static int execute(struct history *h, const char *text)
{
	return history_errno(sqlite3_exec(h->db, text, NULL, NULL, NULL));
}

static int version_read(struct history *h, int *ret)
{
	sqlite3_stmt *s = NULL;
	int code = sqlite3_prepare_v2(h->db, "PRAGMA user_version", -1, &s, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_step(s);
	if (code == SQLITE_ROW)
		*ret = sqlite3_column_int(s, 0);
	(void) sqlite3_finalize(s);
	return history_errno(code);
}

static int migrate_one(struct history *h, int version)
{
	char set[64];
	int r = execute(h, "BEGIN IMMEDIATE");

	(void) snprintf(set, sizeof(set), "PRAGMA user_version = %d; COMMIT", version);
	if (r >= 0)
		r = execute(h, schema[version - 1]);
	if (r >= 0)
		r = execute(h, set);
	if (r < 0)
		(void) execute(h, "ROLLBACK");
	return r;
}

static int migrate(struct history *h, bool is_read_only)
{
	int version = 0, r = version_read(h, &version);

	if (r < 0)
		return r;
	if (version > SCHEMA_VERSION)
		return -EPROTONOSUPPORT;
	if (is_read_only) /* 0: a daemon was never there */
		return version < SCHEMA_READABLE ? -ENOENT : 0;
	while (version < SCHEMA_VERSION) {
		r = migrate_one(h, ++version);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- opening ---- */

static int look_at_clock(void *userdata)
{
	const struct history *h = userdata;
	struct timespec now;

	if (h->deadline == USEC_NEVER || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		return 0;
	return (usec_t) now.tv_sec * USEC_PER_SEC + (usec_t) now.tv_nsec / NSEC_PER_USEC >
	       h->deadline;
}

/* Before the library opens it: not a link, and nobody else's to read, whatever the umask; the files
 * beside it get the same mode. */
static int make_file(const char *path)
{
	_cleanup_close_ int fd =
		open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return 0;
}

/* Exclusive first: the index of the WAL is then in memory, and nobody else gets in. */
static int set_up(struct history *h, bool is_read_only)
{
	int r;

	(void) sqlite3_extended_result_codes(h->db, 1);
	(void) sqlite3_busy_timeout(h->db, BUSY_MS);
	sqlite3_progress_handler(h->db, PATIENCE_STEPS, look_at_clock, h);
	(void) sqlite3_db_config(h->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	(void) sqlite3_db_config(h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (is_read_only)
		return migrate(h, true);
	r = execute(h, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL;"
		       "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -4096;"
		       "PRAGMA journal_size_limit = 4194304; PRAGMA temp_store = MEMORY");
	return r < 0 ? r : migrate(h, false);
}

int history_open(const char *path, bool is_read_only, struct history **ret)
{
	int flags = SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX, r = 0;
	struct history *h;

	flags |= is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	if (!is_read_only)
		r = make_file(path);
	else if (access(path, F_OK) < 0)
		r = -errno;
	if (r < 0)
		return r;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->deadline = USEC_NEVER;
	r = history_errno(sqlite3_open_v2(path, &h->db, flags, NULL));
	if (r >= 0)
		r = set_up(h, is_read_only);
	if (r < 0) {
		history_close(h);
		return r;
	}
	*ret = h;
	return 0;
}

struct history *history_close(struct history *h)
{
	if (!h)
		return NULL;
	for (size_t i = 0; i < HISTORY_STATEMENT_COUNT; i++)
		(void) sqlite3_finalize(h->statement[i]);
	(void) sqlite3_close(h->db);
	free(h);
	return NULL;
}

static int rename_with(const char *path, const char *new_path, const char *suffix)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s%s", path, suffix) >= PATH_MAX ||
	    snprintf(to, sizeof(to), "%s%s", new_path, suffix) >= PATH_MAX)
		return -ENAMETOOLONG;
	return rename(from, to) < 0 ? -errno : 0;
}

int history_set_aside(const char *path, const char *stamp, char *ret_name, size_t n)
{
	int r;

	if (snprintf(ret_name, n, "%s.bad-%s", path, stamp) >= (int) n)
		return -ENAMETOOLONG;
	r = rename_with(path, ret_name, "");
	if (r < 0)
		return r;
	/* They are not always there; left behind, they would be taken for the new file's. */
	r = rename_with(path, ret_name, "-wal");
	if (r < 0 && r != -ENOENT)
		return r;
	r = rename_with(path, ret_name, "-shm");
	return r < 0 && r != -ENOENT ? r : 0;
}
