/* SPDX-License-Identifier: MIT */
#include "store/history.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define DAY0 (UINT64_C(20000) * USEC_PER_DAY)

static char *dir, *path;
static struct history *h;

static void set_up(void)
{
	dir = test_dir_new();
	path = test_dir_path(dir, "history.db");
	ck_assert_int_eq(history_open(path, false, &h), 0);
}

static void tear_down(void)
{
	h = history_close(h);
	free(path);
	dir = test_dir_free(dir);
}

/* ---- records ---- */

static struct history_record run_of(const char *unit, const char *trigger, unsigned id, enum history_class class, usec_t at)
{
	struct history_record r = {
		.class = class, .unit = unit, .trigger = trigger, .at = at, .scheduled = at - 5, .cause = "calendar",
		.attempt = 1, .duration = USEC_NEVER, .lateness = USEC_NEVER,
	};

	memcpy(r.run_id, &id, sizeof(id));
	r.run_id[15] = 1;
	if (class == HISTORY_RUNNING)
		return r;
	r.ended = at + 1000;
	r.duration = 1000;
	r.lateness = 5;
	r.result = class == HISTORY_SUCCESS ? RUN_RESULT_SUCCESS : RUN_RESULT_EXIT_CODE;
	r.status = class == HISTORY_SUCCESS ? 0 : 3;
	r.words = class == HISTORY_SUCCESS ? "success" : "failed exit 3";
	r.cpu = 10;
	return r;
}

static struct history_record miss_of(const char *trigger, const char *unit, usec_t first, usec_t last, uint64_t count)
{
	return (struct history_record) {
		.class = HISTORY_MISSED, .unit = unit, .trigger = trigger, .at = last, .first = first, .count = count,
		.scheduled = last, .reason = "downtime",
	};
}

static void write_one(struct history_record r)
{
	ck_assert_int_eq(history_write(h, &r, 1), 0);
}

/* ---- answers ---- */

struct answer {
	char text[4096];
	size_t n;
};

static int tell(void *userdata, const struct history_record *r)
{
	struct answer *a = userdata;
	size_t at = strlen(a->text);

	(void) snprintf(a->text + at, sizeof(a->text) - at, "%s %s@%llu ", r->unit ? r->unit : "-",
			history_class_to_string(r->class), (unsigned long long) (r->at - DAY0));
	a->n++;
	return 0;
}

static const char *find(const struct history_filter *f)
{
	static struct answer a;

	a = (struct answer) { 0 };
	ck_assert_int_eq(history_find(h, f, tell, &a), 0);
	return a.text;
}

static struct history_filter no_filter(void)
{
	return (struct history_filter) { .until = USEC_NEVER, .limit = UINT64_MAX, .patience = USEC_NEVER };
}

/* With what its arguments set of the filter f. */
#define FIND(...)                                     \
	({                                             \
		struct history_filter f = no_filter(); \
		__VA_ARGS__;                           \
		find(&f);                              \
	})
#define UNITS(...)                                       \
	f.unit = (const char *const[]) { __VA_ARGS__ }, \
	f.n_units = ELEMENTS(((const char *const[]) { __VA_ARGS__ }))

static void some(void)
{
	write_one(run_of("a.service", "a.timer", 1, HISTORY_SUCCESS, DAY0 + 1));
	write_one(run_of("b.service", "b.timer", 2, HISTORY_FAILED, DAY0 + 2));
	write_one(run_of("a.service", NULL, 3, HISTORY_FAILED, DAY0 + 3));
	write_one(miss_of("a.timer", "a.service", DAY0 + 3, DAY0 + 4, 2));
	write_one(run_of("b.service", "b.timer", 5, HISTORY_RUNNING, DAY0 + 5));
}

START_TEST(the_newest_comes_first)
{
	some();
	ck_assert_str_eq(FIND(f.offset = 0),
			 "b.service running@5 a.service missed@4 a.service failed@3 b.service failed@2 a.service success@1 ");
	ck_assert_str_eq(FIND(f.limit = 2), "b.service running@5 a.service missed@4 ");
	ck_assert_str_eq(FIND(f.limit = 2, f.offset = 3), "b.service failed@2 a.service success@1 ");
}
END_TEST

static void many_causes(void)
{
	static const char *const cause[] = { "retry", "unit-active", "calendar", "retry" };

	for (unsigned i = 0; i < ELEMENTS(cause); i++) {
		struct history_record r = run_of("c.service", "c.timer", 20 + i, HISTORY_SUCCESS, DAY0 + 20 + i);

		r.cause = cause[i];
		write_one(r);
	}
}

START_TEST(filters_leave_out)
{
	some();
	ck_assert_str_eq(FIND(UNITS("a.service")), "a.service missed@4 a.service failed@3 a.service success@1 ");
	ck_assert_str_eq(FIND(UNITS("a.timer")), "a.service missed@4 a.service success@1 ");
	ck_assert_str_eq(FIND(UNITS("a.timer"), f.limit = 1), "a.service missed@4 ");
	ck_assert_str_eq(FIND(UNITS("a.service", "b.service"), f.limit = 2, f.offset = 1),
			 "a.service missed@4 a.service failed@3 ");
	ck_assert_str_eq(FIND(UNITS("b*")), "b.service running@5 b.service failed@2 ");
	ck_assert_str_eq(FIND(UNITS("none.service")), "");
	ck_assert_str_eq(FIND(f.classes = 1U << HISTORY_FAILED), "a.service failed@3 b.service failed@2 ");
	ck_assert_str_eq(FIND(f.classes = 1U << HISTORY_SUCCESS | 1U << HISTORY_MISSED),
			 "a.service missed@4 a.service success@1 ");
	ck_assert_str_eq(FIND(f.since = DAY0 + 2, f.until = DAY0 + 4), "a.service failed@3 b.service failed@2 ");
	ck_assert_str_eq(FIND(f.cause = "calendar", f.classes = 1U << HISTORY_SUCCESS), "a.service success@1 ");
	ck_assert_str_eq(FIND(f.cause = "manual"), "");
	ck_assert_str_eq(FIND(f.cause = "active"), "");
	ck_assert_str_eq(FIND(f.cause = "retry"), "");
	many_causes();
	ck_assert_str_eq(FIND(f.cause = "retry"), "c.service success@23 c.service success@20 ");
	ck_assert_str_eq(FIND(f.cause = "retry", UNITS("c*"), f.limit = 1), "c.service success@23 ");
	ck_assert_str_eq(FIND(f.cause = "unit-active"), "c.service success@21 ");
	ck_assert_str_eq(FIND(f.cause = "it's"), "");
}
END_TEST

static int whole(void *userdata, const struct history_record *r)
{
	unsigned *n = userdata;

	++*n;
	ck_assert_str_eq(r->unit, "b.service");
	ck_assert_str_eq(r->trigger, "b.timer");
	ck_assert_int_eq(r->class, HISTORY_FAILED);
	ck_assert_int_eq(r->result, RUN_RESULT_EXIT_CODE);
	ck_assert_int_eq(r->status, 3);
	ck_assert_str_eq(r->words, "failed exit 3");
	ck_assert_uint_eq(r->scheduled, DAY0 + 2);
	ck_assert_uint_eq(r->at, DAY0 + 7);
	ck_assert_uint_eq(r->duration, 1000);
	ck_assert_uint_eq(r->lateness, 5);
	ck_assert_uint_eq(r->cpu, 10);
	ck_assert_uint_eq(r->n_output, 5);
	ck_assert_mem_eq(r->output, "a\0b\n\xff", 5);
	ck_assert_uint_eq(r->n_metrics, 2);
	ck_assert_str_eq(r->metric[0].name, "bytes");
	ck_assert(r->metric[0].value == 1.5);
	ck_assert_str_eq(r->metric[1].name, "rows");
	return 0;
}

START_TEST(a_run_is_found_whole_by_its_id)
{
	static const struct metric metric[] = { { "rows", 7 }, { "bytes", 1.5 } };
	struct history_record begun = run_of("b.service", "b.timer", 9, HISTORY_RUNNING, DAY0 + 7);
	struct history_record ended = run_of("b.service", "b.timer", 9, HISTORY_FAILED, DAY0 + 7);
	unsigned n = 0;

	ended.output = "a\0b\n\xff";
	ended.n_output = 5;
	ended.metric = metric;
	ended.n_metrics = 2;
	some();
	write_one(begun);
	write_one(ended);
	ck_assert_int_eq(history_find(h,
				      &(struct history_filter) { .run_first = ended.run_id, .run_last = ended.run_id, .until = USEC_NEVER,
								 .limit = UINT64_MAX, .patience = USEC_NEVER },
				      whole, &n),
			 0);
	ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(names_are_matched_as_everywhere)
{
	write_one(run_of("a1.service", NULL, 1, HISTORY_SUCCESS, DAY0 + 1));
	write_one(run_of("a2.service", NULL, 2, HISTORY_SUCCESS, DAY0 + 2));
	write_one(run_of("a\\x2d3.service", NULL, 3, HISTORY_SUCCESS, DAY0 + 3));
	ck_assert_str_eq(FIND(UNITS("a[!1].service")), "a2.service success@2 ");
	ck_assert_str_eq(FIND(UNITS("a\\x2d*")), "a\\x2d3.service success@3 ");
	ck_assert_str_eq(FIND(UNITS("a\\x2d3.service")), "a\\x2d3.service success@3 ");
	ck_assert_str_eq(FIND(UNITS("A*")), "");
}
END_TEST

static int sum_runs(void *userdata, const char *unit, const struct tally *t)
{
	(void) unit;
	*(uint64_t *) userdata += tally_runs(t);
	return 0;
}

START_TEST(very_many_units_can_be_asked_for)
{
	enum { N = 200 };
	static char name[N][32], timer[N][32];
	struct history_record r[N];
	const struct history_filter sums = {
		.unit = (const char *const[]) { "even*.timer" }, .n_units = 1, .until = USEC_NEVER, .patience = USEC_NEVER,
	};
	uint64_t n = 0;

	for (unsigned i = 0; i < N; i++) {
		(void) snprintf(name[i], sizeof(name[i]), "%u.service", i);
		(void) snprintf(timer[i], sizeof(timer[i]), "%s%u.timer", i % 2 ? "odd" : "even", i);
		r[i] = run_of(name[i], timer[i], i, HISTORY_SUCCESS, DAY0 + i);
	}
	ck_assert_int_eq(history_write(h, r, N), 0);
	ck_assert_str_eq(FIND(UNITS("even*"), f.limit = 2, f.offset = 3), "192.service success@192 190.service success@190 ");
	ck_assert_str_eq(FIND(UNITS("even*", "1.service"), f.until = DAY0 + 3),
			 "2.service success@2 1.service success@1 0.service success@0 ");
	ck_assert_int_eq(history_tally(h, &sums, sum_runs, &n), 0);
	ck_assert_uint_eq(n, N / 2);
}
END_TEST

/* ---- tallies against plain counting ---- */

static uint64_t chance = 88172645463325252;

static uint64_t draw(uint64_t n)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return chance % n;
}

#define N_RECORDS 3000
static struct history_record all[N_RECORDS];
static struct metric metrics[N_RECORDS];

static void fill_all(void)
{
	static const char *const unit[] = { "a.service", "b.service", "c.service" };
	static const char *const timer[] = { "a.timer", "b.timer", NULL };

	for (unsigned i = 0; i < N_RECORDS; i++) {
		size_t u = draw(3);
		usec_t at = DAY0 + draw(9 * USEC_PER_DAY);

		if (draw(4) == 0)
			all[i] = miss_of(timer[u % 2], unit[u % 2], at - draw(1000), at, 1 + draw(5));
		else
			all[i] = run_of(unit[u], timer[u], i, draw(3) ? HISTORY_SUCCESS : HISTORY_FAILED, at);
		all[i].attempt = 1 + (uint32_t) draw(3);
		metrics[i] = (struct metric) { "rows", (double) draw(100) };
		all[i].metric = &metrics[i];
		all[i].n_metrics = all[i].class != HISTORY_MISSED && draw(2);
	}
	ck_assert_int_eq(history_write(h, all, N_RECORDS), 0);
}

struct expected {
	usec_t since, until;
	const char *trigger;
	unsigned n_units;
};

static void expect_metric(const struct tally *t, const struct tally *plain)
{
	ck_assert_uint_eq(t->n_metrics, plain->n_metrics);
	if (t->n_metrics == 0)
		return;
	ck_assert_str_eq(t->metric->name, plain->metric->name);
	ck_assert_uint_eq(t->metric->count, plain->metric->count);
	ck_assert(t->metric->sum == plain->metric->sum && t->metric->most == plain->metric->most);
}

static int check_tally(void *userdata, const char *unit, const struct tally *t)
{
	struct expected *e = userdata;
	struct tally plain = { 0 };

	for (unsigned i = 0; i < N_RECORDS; i++)
		if (str_equal(all[i].unit, unit) && all[i].at >= e->since && all[i].at < e->until &&
		    (!e->trigger || (all[i].trigger && str_equal(all[i].trigger, e->trigger))))
			ck_assert_int_eq(tally_add(&plain, &all[i]), 0);
	ck_assert_mem_eq(t->by_class, plain.by_class, sizeof(plain.by_class));
	ck_assert_uint_eq(t->healed, plain.healed);
	ck_assert_uint_eq(t->cpu, plain.cpu);
	ck_assert_uint_eq(t->first, plain.first);
	ck_assert_uint_eq(t->last, plain.last);
	ck_assert_uint_eq(t->duration.sum, plain.duration.sum);
	ck_assert_uint_eq(t->duration.histogram.total, plain.duration.histogram.total);
	expect_metric(t, &plain);
	tally_done(&plain);
	e->n_units++;
	return 0;
}

START_TEST(tallies_are_what_counting_gives)
{
	fill_all();
	for (unsigned i = 0; i < 200; i++) {
		usec_t length = draw(2) ? draw(3 * USEC_PER_HOUR) : draw(6 * USEC_PER_DAY);
		struct expected e = { .since = DAY0 + draw(4 * USEC_PER_DAY) };
		const char *name = "a.timer";
		struct history_filter f = { .patience = USEC_NEVER };

		e.until = e.since + length;
		e.trigger = draw(3) ? NULL : name;
		f.since = e.since;
		f.until = e.until;
		if (e.trigger) {
			f.unit = &name;
			f.n_units = 1;
		}
		ck_assert_int_eq(history_tally(h, &f, check_tally, &e), 0);
		ck_assert(length < USEC_PER_DAY || e.n_units == (e.trigger ? 1 : 3));
	}
}
END_TEST

static int last_of_metric(void *userdata, const char *unit, const struct tally *t)
{
	(void) unit;
	ck_assert_uint_eq(t->n_metrics, 1);
	*(double *) userdata = t->metric->last;
	return 0;
}

START_TEST(the_last_of_a_metric_is_the_newest)
{
	struct history_filter f = { .patience = USEC_NEVER };
	struct metric m = { "rows", 0 };
	double last = 0;

	for (unsigned i = 0; i < 60; i++) {
		struct history_record r = run_of("a.service", i % 2 ? "a.timer" : NULL, i, HISTORY_SUCCESS,
						 DAY0 + i * USEC_PER_HOUR + i * USEC_PER_MINUTE);

		m.value = i;
		r.metric = &m;
		r.n_metrics = 1;
		write_one(r);
	}
	for (unsigned i = 1; i < 60; i++) {
		f.until = DAY0 + i * USEC_PER_HOUR + i * USEC_PER_MINUTE;
		ck_assert_int_eq(history_tally(h, &f, last_of_metric, &last), 0);
		ck_assert(last == i - 1);
	}
}
END_TEST

static int first_tally(void *userdata, const char *unit, const struct tally *t)
{
	uint64_t *ret = userdata;

	(void) unit;
	for (size_t i = 0; i < HISTORY_CLASS_COUNT; i++)
		ret[i] = t->by_class[i];
	return 0;
}

static uint64_t count_of(const char *unit, enum history_class class)
{
	uint64_t by_class[HISTORY_CLASS_COUNT] = { 0 };
	const struct history_filter f = {
		.unit = &unit, .n_units = 1, .until = USEC_NEVER, .patience = USEC_NEVER,
	};

	ck_assert_int_eq(history_tally(h, &f, first_tally, by_class), 0);
	return by_class[class];
}

START_TEST(an_end_counts_once)
{
	write_one(run_of("a.service", NULL, 1, HISTORY_RUNNING, DAY0));
	ck_assert_uint_eq(count_of("a.service", HISTORY_SUCCESS), 0);
	write_one(run_of("a.service", NULL, 1, HISTORY_SUCCESS, DAY0));
	write_one(run_of("a.service", NULL, 1, HISTORY_SUCCESS, DAY0));
	write_one(run_of("a.service", NULL, 1, HISTORY_RUNNING, DAY0));
	ck_assert_uint_eq(count_of("a.service", HISTORY_SUCCESS), 1);
	ck_assert_str_eq(FIND(f.offset = 0), "a.service success@0 ");
}
END_TEST

START_TEST(runs_without_an_end_were_interrupted)
{
	struct history_record r[150];

	for (unsigned i = 0; i < 150; i++)
		r[i] = run_of("a.service", "a.timer", i, HISTORY_RUNNING, DAY0 + i);
	ck_assert_int_eq(history_write(h, r, 150), 0);
	write_one(run_of("a.service", "a.timer", 200, HISTORY_SUCCESS, DAY0 + 200));
	h = history_close(h);
	ck_assert_int_eq(history_open(path, false, &h), 0);
	ck_assert_int_eq(history_interrupt(h), 150);
	ck_assert_int_eq(history_interrupt(h), 0);
	ck_assert_uint_eq(count_of("a.service", HISTORY_INTERRUPTED), 150);
	ck_assert_str_eq(FIND(f.limit = 2), "a.service success@200 a.service interrupted@149 ");
}
END_TEST

/* ---- limits ---- */

static void prune(const struct history_limits *l, usec_t now)
{
	int r;

	while ((r = history_prune(h, l, now)) > 0)
		;
	ck_assert_int_eq(r, 0);
}

static void many(const char *unit, unsigned from, unsigned n)
{
	struct history_record *r = calloc(n, sizeof(*r));

	for (unsigned i = 0; i < n; i++)
		r[i] = run_of(unit, NULL, from + i, HISTORY_SUCCESS, DAY0 + (from + i) * USEC_PER_MINUTE);
	ck_assert_int_eq(history_write(h, r, n), 0);
	free(r);
}

static int count_rows(void *userdata, const struct history_record *r)
{
	(void) r;
	++*(unsigned *) userdata;
	return 0;
}

static unsigned rows_of(const char *unit)
{
	const struct history_filter f = {
		.unit = &unit, .n_units = unit ? 1 : 0, .until = USEC_NEVER, .limit = UINT64_MAX, .patience = USEC_NEVER,
	};
	unsigned n = 0;

	ck_assert_int_eq(history_find(h, &f, count_rows, &n), 0);
	return n;
}

START_TEST(what_is_too_old_goes)
{
	const struct history_limits l = { .age = 1000 * USEC_PER_MINUTE, .per_unit = USEC_NEVER, .size = USEC_NEVER };

	many("old.service", 0, 1500);
	many("new.service", 1500, 600);
	write_one(run_of("old.service", NULL, 9999, HISTORY_RUNNING, DAY0));
	prune(&l, DAY0 + 2000 * USEC_PER_MINUTE);
	ck_assert_uint_eq(rows_of("new.service"), 600);
	ck_assert_uint_eq(rows_of("old.service"), 500 + 1);
	prune(&l, DAY0 + 100 * USEC_PER_DAY);
	ck_assert_str_eq(FIND(f.offset = 0), "old.service running@0 ");
	ck_assert_uint_eq(count_of("new.service", HISTORY_SUCCESS), 0);
}
END_TEST

START_TEST(no_unit_has_more_than_its_share)
{
	const struct history_limits l = { .age = USEC_NEVER, .per_unit = 700, .size = USEC_NEVER };

	many("few.service", 0, 100);
	many("many.service", 100, 2000);
	prune(&l, DAY0);
	ck_assert_uint_eq(rows_of("few.service"), 100);
	ck_assert_uint_eq(rows_of("many.service"), 700);
	/* What it came to stays known. */
	ck_assert_uint_eq(count_of("many.service", HISTORY_SUCCESS), 2000);
}
END_TEST

START_TEST(the_file_stays_small)
{
	const struct history_limits l = { .age = USEC_NEVER, .per_unit = USEC_NEVER, .size = 400000 };
	struct stat st;

	for (unsigned i = 0; i < 20; i++)
		many("a.service", i * 500, 500);
	prune(&l, DAY0);
	ck_assert_uint_gt(rows_of("a.service"), 500);
	h = history_close(h);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_lt(st.st_size, 600000);
	ck_assert_int_eq(history_open(path, false, &h), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
}
END_TEST

/* ---- faults ---- */

START_TEST(one_writes_and_nobody_reads_meanwhile)
{
	struct history *other;

	some();
	ck_assert_int_eq(history_open(path, true, &other), -EBUSY);
	h = history_close(h);
	ck_assert_int_eq(history_open(path, true, &other), 0);
	h = other;
	ck_assert_str_eq(FIND(f.limit = 1), "b.service running@5 ");
	ck_assert_int_lt(history_write(h, all, 1), 0);
}
END_TEST

START_TEST(what_is_no_database_is_set_aside)
{
	char name[4096];
	char *text;

	h = history_close(h);
	test_dir_write_text(dir, "history.db", "this has never been a database, however long one looks at it");
	ck_assert_int_eq(history_open(path, false, &h), -EBADMSG);
	ck_assert_int_eq(history_set_aside(path, "1", name, sizeof(name)), 0);
	ck_assert_int_eq(history_open(path, false, &h), 0);
	text = test_dir_read(dir, "history.db.bad-1", NULL);
	ck_assert(str_starts(text, "this has never"));
	free(text);
	some();
	ck_assert_uint_eq(rows_of(NULL), 5);
}
END_TEST

START_TEST(damage_is_noticed)
{
	size_t n;
	char *bytes;
	int r;

	many("a.service", 0, 2000);
	h = history_close(h);
	bytes = test_dir_read(dir, "history.db", &n);
	for (size_t i = 8192; i < n; i++)
		bytes[i] = (char) (bytes[i] ^ 0x5a);
	test_dir_write(dir, "history.db", bytes, n);
	free(bytes);
	r = history_open(path, false, &h);
	if (r >= 0) {
		struct history_record record = run_of("a.service", NULL, 5000, HISTORY_SUCCESS, DAY0);

		r = history_write(h, &record, 1);
	}
	ck_assert_int_eq(r, -EBADMSG);
}
END_TEST

START_TEST(a_newer_file_is_left_alone)
{
	size_t n;
	char *bytes;

	some();
	h = history_close(h);
	/* Bytes 60 to 63 of the file are user_version: SQLite's file format, section 1.3. */
	bytes = test_dir_read(dir, "history.db", &n);
	bytes[63] = 99;
	test_dir_write(dir, "history.db", bytes, n);
	free(bytes);
	ck_assert_int_eq(history_open(path, false, &h), -EPROTONOSUPPORT);
	ck_assert_int_eq(history_open(path, true, &h), -EPROTONOSUPPORT);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
	char *link = test_dir_path(dir, "link.db");
	struct history *other;

	ck_assert_int_eq(symlink(path, link), 0);
	ck_assert_int_lt(history_open(link, false, &other), 0);
	free(link);
}
END_TEST

START_TEST(a_full_disk_leaves_what_was)
{
	struct rlimit before, none;
	struct history_record *r = calloc(20000, sizeof(*r));

	some();
	for (unsigned i = 0; i < 20000; i++)
		r[i] = run_of("big.service", NULL, 100 + i, HISTORY_SUCCESS, DAY0 + i);
	(void) signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 200000;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_lt(history_write(h, r, 20000), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_uint_eq(rows_of(NULL), 5);
	ck_assert_int_eq(history_write(h, r, 20000), 0);
	ck_assert_uint_eq(rows_of("big.service"), 20000);
	ck_assert_uint_eq(count_of("big.service", HISTORY_SUCCESS), 20000);
	free(r);
}
END_TEST

/* Killed in the middle: what was answered for is there, and the file is sound. */
START_TEST(a_kill_loses_nothing_that_was_answered_for)
{
	unsigned answered = 0;
	int fd[2], status;
	pid_t pid;

	h = history_close(h);
	ck_assert_int_eq(pipe(fd), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void) history_open(path, false, &h);
		for (unsigned i = 0;; i++) {
			struct history_record r = run_of("a.service", NULL, i, HISTORY_SUCCESS, DAY0 + i);

			if (history_write(h, &r, 1) < 0 || write(fd[1], "x", 1) != 1)
				_exit(1);
		}
	}
	(void) close(fd[1]);
	while (answered < 50) {
		char x;

		ck_assert_int_eq(read(fd[0], &x, 1), 1);
		answered++;
	}
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	for (char x; read(fd[0], &x, 1) == 1;)
		answered++;
	(void) close(fd[0]);
	ck_assert_int_eq(history_open(path, false, &h), 0);
	ck_assert_uint_ge(rows_of("a.service"), answered);
	ck_assert_uint_eq(count_of("a.service", HISTORY_SUCCESS), rows_of("a.service"));
}
END_TEST

START_TEST(a_question_that_takes_too_long_is_ended)
{
	unsigned n = 0;

	many("a.service", 0, 20000);
	ck_assert_int_eq(history_find(h, &(struct history_filter) { .cause = "unit-active", .until = USEC_NEVER, .limit = 1 },
				      count_rows, &n),
			 -ETIME);
	ck_assert_uint_eq(rows_of("a.service"), 20000);
}
END_TEST

static Suite *history_suite(void)
{
	Suite *s = suite_create("history");
	TCase *tc = tcase_create("history");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, the_newest_comes_first);
	tcase_add_test(tc, filters_leave_out);
	tcase_add_test(tc, a_run_is_found_whole_by_its_id);
	tcase_add_test(tc, names_are_matched_as_everywhere);
	tcase_add_test(tc, very_many_units_can_be_asked_for);
	tcase_add_test(tc, the_last_of_a_metric_is_the_newest);
	tcase_add_test(tc, tallies_are_what_counting_gives);
	tcase_add_test(tc, an_end_counts_once);
	tcase_add_test(tc, runs_without_an_end_were_interrupted);
	tcase_add_test(tc, what_is_too_old_goes);
	tcase_add_test(tc, no_unit_has_more_than_its_share);
	tcase_add_test(tc, the_file_stays_small);
	tcase_add_test(tc, one_writes_and_nobody_reads_meanwhile);
	tcase_add_test(tc, what_is_no_database_is_set_aside);
	tcase_add_test(tc, damage_is_noticed);
	tcase_add_test(tc, a_newer_file_is_left_alone);
	tcase_add_test(tc, a_link_is_not_followed);
	tcase_add_test(tc, a_full_disk_leaves_what_was);
	tcase_add_test(tc, a_kill_loses_nothing_that_was_answered_for);
	tcase_add_test(tc, a_question_that_takes_too_long_is_ended);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(history_suite)
