/* SPDX-License-Identifier: MIT */
/* Simulated years with a history beside them, a real file. At the end the file's lines, its tallies, the state file and the
 * book (which the walk judges everything by) must say the same of every scheduled moment. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/history_batch.h"
#include "store/history.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "tests/sim/book.h"
#include "timer/state_file.h"

#define MINUTE USEC_PER_MINUTE
#define HOUR USEC_PER_HOUR
#define DAY USEC_PER_DAY
#define YEARS 1
#define TIMERS 7
/* As in run/history_keeper.c: what is not older when the power goes is lost. */
#define GATHER (500 * USEC_PER_MSEC)
/* Written at once, as each write is synced. */
#define WRITE_RECORDS 2048

/* ---- keeping ---- */

/* What stood in a record that the power took: this timer, from here to there. */
struct loss {
	char trigger[16];
	usec_t from, to;
};

static struct sim sim;
static struct book book;
static struct history *history;
static char *dir;
static struct {
	struct history_batch durable, fresh; /* as good as written; not yet */
	usec_t fresh_since;                  /* boot-time clock */
	struct loss loss[1024], told[1024];  /* told: interrupted */
	size_t n_losses, n_told;
} past;

static void write_out(void)
{
	if (past.durable.n > 0)
		ck_assert_int_eq(history_write(history, past.durable.record, past.durable.n), 0);
	history_batch_done(&past.durable);
}

static void gathered_long_enough(void)
{
	for (size_t i = 0; i < past.fresh.n; i++)
		ck_assert_int_eq(history_batch_add(&past.durable, &past.fresh.record[i]), 0);
	history_batch_done(&past.fresh);
	if (past.durable.n >= WRITE_RECORDS)
		write_out();
}

static void note(struct loss *list, size_t *n, const struct history_record *r)
{
	struct loss *l = &list[*n];

	if (!r->trigger)
		return;
	ck_assert_uint_lt(++*n, ELEMENTS(past.loss));
	*l = (struct loss) { .from = r->class == HISTORY_MISSED ? r->first : r->scheduled, .to = r->scheduled };
	snprintf(l->trigger, sizeof(l->trigger), "%s", r->trigger);
}

static void on_line(void *data, const struct history_record *r)
{
	(void) data;
	if (past.fresh.n > 0 && sim.boot - past.fresh_since >= GATHER)
		gathered_long_enough();
	if (past.fresh.n == 0)
		past.fresh_since = sim.boot;
	ck_assert_int_eq(history_batch_add(&past.fresh, r), 0);
	if (r->class == HISTORY_INTERRUPTED)
		note(past.told, &past.n_told, r);
}

static void on_over(void *data, bool is_crash)
{
	(void) data;
	if (!is_crash || (past.fresh.n > 0 && sim.boot - past.fresh_since >= GATHER))
		gathered_long_enough();
	for (size_t i = 0; i < past.fresh.n; i++)
		note(past.loss, &past.n_losses, &past.fresh.record[i]);
	history_batch_done(&past.fresh);
}

static void on_begins(void *data)
{
	(void) data;
	write_out();
	ck_assert_int_ge(history_interrupt(history), 0);
}

/* ---- the years ---- */

static uint64_t pick(uint64_t below)
{
	return sim_random(&sim, below);
}

static struct sim_job job(struct sim *s, const char *unit, enum exec_phase phase)
{
	struct sim_job j = { .takes = 1000 + sim_random(s, 40 * USEC_PER_SEC) };

	(void) unit;
	switch (sim_random(s, phase == EXEC_CONDITION ? 4 : 24)) {
	case 0: case 1: case 2:
		j.wstatus = (int) (1 + sim_random(s, 3)) << 8;
		break;
	case 4:
		j.wstatus = SIGSEGV;
		break;
	case 5: /* outlasts the next moment */
		j.takes = sim_random(s, 110 * MINUTE);
		break;
	case 6:
		j.fails_to_spawn = true;
		break;
	case 7:
		j.takes = 10 * HOUR; /* into its timeout */
		break;
	default:
		break;
	}
	return j;
}

static const struct plan plans[TIMERS] = {
	{ .expression = 1, .is_persistent = true, .n_ladder = 3, .ladder = { 30 * USEC_PER_SEC, 2 * MINUTE, 10 * MINUTE } },
	{ .expression = 5, .is_persistent = true, .n_ladder = 1, .ladder = { 5 * MINUTE }, .service = 1 },
	{ .expression = 2, .service = 2 },
	{ .expression = 3, .is_persistent = true, .service = 3 },
	{ .expression = 4, .is_persistent = true, .service = 4, .retries_signals = true, .n_ladder = 1, .ladder = { HOUR } },
	{ .expression = -1, .startup = 10 * MINUTE, .unit_active = 7 * HOUR, .is_persistent = true, .service = 1 },
	{ .expression = -1, .unit_inactive = 11 * HOUR, .startup = HOUR, .service = 2, .is_persistent = true },
};

static void begin(uint64_t seed)
{
	sim_init(&sim, seed);
	sim.verbose = getenv("SIM_VERBOSE");
	sim.job = job;
	sim.zone = (enum sim_zone) pick(SIM_ZONE_COUNT);
	book_open(&book, &sim);
	sim.history = (struct sim_history) { .record = on_line, .over = on_over, .begins = on_begins };
	for (unsigned i = 0; i < BOOK_SERVICES; i++)
		book_write_service(&book, i);
	for (unsigned i = 0; i < TIMERS; i++) {
		struct plan *p = &book.timer[i].file;

		*p = plans[i];
		p->exists = p->is_enabled = true;
		p->catch_up = DAY;
		book_write_timer(&book, i);
	}
	sim_boot(&sim, true, sim_real(&sim));
}

static void boot_after(usec_t off, bool is_other_kernel)
{
	book_crashed(&book);
	sim.boot += off;
	sim_boot(&sim, is_other_kernel, sim_real(&sim));
}

static void admin(void)
{
	unsigned timer = (unsigned) pick(TIMERS);

	snprintf(book.command_timer, sizeof(book.command_timer), "%s", book.timer[timer].name);
	switch (pick(4)) {
	case 0:
		(void) sim_start(&sim, book.service[pick(BOOK_SERVICES)].name);
		break;
	case 1: case 2:
		(void) sim_stop(&sim, book.service[pick(BOOK_SERVICES)].name);
		break;
	case 3:
		(void) sim_command(&sim, SUPD_COMMAND_TRIGGER, book.command_timer);
		break;
	}
}

static void act(void)
{
	usec_t hours = pick(10) == 0 ? 14 * 24 : 24;

	switch (pick(48)) {
	case 0:
		sim_crash(&sim);
		break;
	case 1:
		sim_crash_at(&sim, 1 + pick(60));
		break;
	case 2:
		sim_shutdown(&sim);
		break;
	case 3: case 4:
		(void) sim_suspend(&sim, pick(hours * HOUR));
		break;
	case 5:
		(void) sim_set_clock(&sim, sim_real(&sim) + pick(3 * HOUR));
		break;
	case 6:
		(void) sim_pause(&sim, true);
		(void) (sim_is_on(&sim) && sim_run(&sim, pick(5 * HOUR)) && sim_pause(&sim, false));
		break;
	case 7: case 8: case 9:
		admin();
		break;
	default:
		(void) sim_run(&sim, pick(20 * HOUR));
		break;
	}
}

static void live(uint64_t seed)
{
	usec_t end;

	begin(seed);
	end = sim_real(&sim) + YEARS * 365 * DAY;
	while (sim_real(&sim) < end) {
		if (sim_is_on(&sim))
			act();
		else
			boot_after(1 + pick(pick(6) == 0 ? 9 * DAY : 20 * MINUTE), pick(3) > 0);
	}
	sim.die_at = 0;
	if (!sim_is_on(&sim))
		boot_after(MINUTE, false);
	if (manager_state(sim.manager) == SUPD_MANAGER_PAUSED)
		ck_assert_int_eq(sim_pause(&sim, false), 0);
	ck_assert(sim_run(&sim, HOUR));
	sim_shutdown(&sim);
	write_out();
}

/* ---- what the file says, counted plainly ---- */

static struct line {
	enum history_class class;
	char unit[16], trigger[16], cause[16], reason[16];
	usec_t at, scheduled, first, ended, duration;
	uint64_t count;
	uint32_t attempt;
	enum run_result result;
} *line;
static size_t n_lines, lines_allocated;

static void copy(char to[16], const char *from)
{
	snprintf(to, 16, "%s", from ? from : "");
}

/* Newest first. */
static int keep_line(void *userdata, const struct history_record *r)
{
	struct line *l;

	(void) userdata;
	if (n_lines == lines_allocated) {
		lines_allocated = lines_allocated * 2 + 4096;
		line = reallocarray(line, lines_allocated, sizeof(*line));
	}
	l = &line[n_lines++];
	*l = (struct line) {
		.class = r->class, .at = r->at, .scheduled = r->scheduled, .first = r->first, .count = r->count,
		.attempt = r->attempt, .ended = r->ended, .duration = r->duration, .result = r->result,
	};
	copy(l->unit, r->unit);
	copy(l->trigger, r->trigger);
	copy(l->cause, r->cause);
	copy(l->reason, r->reason);
	return 0;
}

static void read_lines(void)
{
	const struct history_filter all = { .until = USEC_NEVER, .limit = UINT64_MAX, .patience = USEC_NEVER };

	n_lines = 0;
	ck_assert_int_eq(history_find(history, &all, keep_line, NULL), 0);
	for (size_t i = 1; i < n_lines; i++)
		ck_assert_uint_ge(line[i - 1].at, line[i].at);
}

/* ---- every moment is on record, once ---- */

static bool is_among(const struct loss *l, size_t n, const char *trigger, usec_t moment)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(l[i].trigger, trigger) == 0 && l[i].from <= moment && moment <= l[i].to)
			return true;
	return false;
}

struct found {
	unsigned runs, made_up, interrupted, misses; /* lines */
};

static int by_timer_and_moment(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = strcmp(x->trigger, y->trigger);

	return order != 0 ? order : (x->scheduled > y->scheduled) - (x->scheduled < y->scheduled);
}

static void count_line(struct found *f, const struct line *l)
{
	if (l->class == HISTORY_INTERRUPTED)
		f->interrupted++;
	else if (l->attempt == 1 && strcmp(l->cause, "catch-up") == 0)
		f->made_up++;
	else
		f->runs += l->attempt == 1;
}

/* Of sorted lines: misses are where their last moment is. */
static struct found find_lines(const char *trigger, usec_t moment)
{
	struct line key = { .scheduled = moment };
	size_t low = 0, high = n_lines;
	struct found f = { 0 };

	copy(key.trigger, trigger);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (by_timer_and_moment(&line[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < n_lines && strcmp(line[i].trigger, trigger) == 0; i++)
		if (line[i].class == HISTORY_MISSED)
			f.misses += line[i].first <= moment;
		else if (line[i].scheduled == moment)
			count_line(&f, &line[i]);
		else if (line[i].scheduled > moment + 60 * DAY)
			break; /* nobody is away for longer */
	return f;
}

/* A run that the state file did not know had ended is told as interrupted, and made up for. */
static void moment_is_on_record(const struct book_timer *t, const struct fate_entry *e)
{
	struct found f = find_lines(t->name, e->at);
	bool was_told = is_among(past.told, past.n_told, t->name, e->at);
	unsigned whole = f.runs + f.misses + (was_told ? 0 : f.made_up);
	bool agrees = e->fate == FATE_RAN ? f.runs + f.made_up + f.interrupted > 0 : f.misses == 1;

	if (is_among(past.loss, past.n_losses, t->name, e->at) || (agrees && whole <= 1 && f.made_up <= 1))
		return;
	ck_abort_msg("%s, moment %llu, fate %d: %u runs, %u made up for, %u interrupted, %u misses", t->name,
		     (unsigned long long) (e->at / USEC_PER_SEC), (int) e->fate, f.runs, f.made_up, f.interrupted, f.misses);
}

static void moments_are_on_record(const struct book_timer *t)
{
	size_t n = 0;

	qsort(line, n_lines, sizeof(*line), by_timer_and_moment);
	for (size_t i = 0; i < t->n_fates; i++)
		moment_is_on_record(t, &t->fate[i]);
	for (size_t i = 0; i < n_lines; i++)
		n += line[i].class == HISTORY_MISSED && strcmp(line[i].trigger, t->name) == 0 && line[i].count > 1;
	ck_assert(t->n_fates > 100);
	ck_assert(n > 0);
}

/* ---- the sums are those of the lines ---- */

struct sum {
	uint64_t by_class[HISTORY_CLASS_COUNT], healed, durations;
};

static int add_tally(void *userdata, const char *unit, const struct tally *t)
{
	struct sum *s = userdata;

	(void) unit;
	for (size_t i = 0; i < HISTORY_CLASS_COUNT; i++)
		s->by_class[i] += t->by_class[i];
	s->healed += t->healed;
	s->durations = usec_add(s->durations, t->duration.sum);
	return 0;
}

static void add_line(struct sum *s, const struct line *l)
{
	if (l->class == HISTORY_RUNNING)
		return;
	s->by_class[l->class] += l->class == HISTORY_MISSED ? l->count : 1;
	s->healed += l->class == HISTORY_SUCCESS && l->attempt > 1;
	if (l->class != HISTORY_MISSED && l->duration != USEC_NEVER)
		s->durations += l->duration;
}

/* @unit NULL: of all. */
static void sums_agree(const char *unit, usec_t since, usec_t until)
{
	const struct history_filter f = {
		.unit = &unit, .n_units = unit ? 1 : 0, .since = since, .until = until, .limit = UINT64_MAX,
		.patience = USEC_NEVER,
	};
	struct sum told = { 0 }, counted = { 0 };

	ck_assert_int_eq(history_tally(history, &f, add_tally, &told), 0);
	for (size_t i = 0; i < n_lines; i++)
		if (line[i].at >= since && line[i].at < until &&
		    (!unit || strcmp(line[i].unit, unit) == 0 || strcmp(line[i].trigger, unit) == 0))
			add_line(&counted, &line[i]);
	for (size_t i = 0; i < HISTORY_CLASS_COUNT; i++)
		ck_assert_uint_eq(told.by_class[i], counted.by_class[i]);
	ck_assert_uint_eq(told.healed, counted.healed);
	ck_assert_uint_eq(told.durations, counted.durations);
}

static void all_sums_agree(void)
{
	usec_t first = line[n_lines - 1].at, length = line[0].at - first;

	sums_agree(NULL, 0, USEC_NEVER);
	for (unsigned i = 0; i < BOOK_SERVICES; i++)
		sums_agree(book.service[i].name, 0, USEC_NEVER);
	for (unsigned i = 0; i < 40; i++) {
		usec_t since = first + pick(length), until = since + pick(i % 4 == 0 ? 3 * HOUR : length);
		const char *unit = i % 3 == 0 ? NULL : i % 3 == 1 ? book.timer[pick(5)].name : book.service[pick(5)].name;

		sums_agree(unit, since, until);
	}
}

/* ---- the state file says the same of the last ---- */

static int last_agrees(void *userdata, const char *name, const struct timer_memory *m, usec_t gone_since)
{
	struct timer_memory *memory = userdata;

	(void) gone_since;
	for (unsigned i = 0; i < TIMERS; i++)
		if (strcmp(book.timer[i].name, name) == 0)
			memory[i] = *m;
	return 0;
}

/* Newest first: the first of them. */
static const struct line *newest(const char *trigger, bool is_miss)
{
	for (size_t i = 0; i < n_lines; i++)
		if (strcmp(line[i].trigger, trigger) == 0 && (line[i].class == HISTORY_MISSED) == is_miss)
			return &line[i];
	ck_abort_msg("%s has no such line", trigger);
}

static void timer_agrees(const char *name, const struct timer_memory *m)
{
	const struct line *run = newest(name, false), *miss = newest(name, true);

	/* An end is durable in the state at once; of what the history is told, a crash takes the last second. */
	if (is_among(past.loss, past.n_losses, name, m->last_scheduled))
		return;
	/* The last shutdown stopped it; timers will know it as interrupted when they begin again. */
	if (*m->open.cause) {
		ck_assert_int_eq(run->class, HISTORY_STOPPED);
		return;
	}
	ck_assert_uint_eq(run->scheduled == USEC_NEVER ? m->last_scheduled : run->scheduled, m->last_scheduled);
	ck_assert_int_eq(run->class == HISTORY_INTERRUPTED, m->is_interrupted);
	ck_assert_int_eq(run->class == HISTORY_SUCCESS, m->last_result == SUPD_RESULT_SUCCESS);
	if (m->miss_reason != MISS_INTERRUPTED) {
		ck_assert_uint_eq(miss->at, m->miss_at);
		ck_assert_str_eq(miss->reason, miss_reason_to_string(m->miss_reason));
	}
}

static void state_agrees(void)
{
	struct timer_memory memory[TIMERS] = { 0 };
	const struct state_now now = { .now = sim_now(&sim), .is_clock_believed = true };

	ck_assert_int_eq(state_decode(sim.generation[0].bytes, sim.generation[0].n, &now, last_agrees, memory), STATE_SOUND);
	for (unsigned i = 0; i < TIMERS; i++)
		timer_agrees(book.timer[i].name, &memory[i]);
}

START_TEST(state_book_and_history_agree)
{
	live((uint64_t) _i + 1);
	read_lines();
	ck_assert(n_lines > 2000 && past.n_told > 3);
	all_sums_agree();
	state_agrees();
	for (unsigned i = 0; i < 5; i++)
		moments_are_on_record(&book.timer[i]);
}
END_TEST

static void set_up(void)
{
	_cleanup_free_ char *path = NULL;

	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	dir = test_dir_new();
	path = test_dir_path(dir, HISTORY_FILE);
	memset(&past, 0, sizeof(past));
	ck_assert_int_eq(history_open(path, false, &history), 0);
}

static void tear_down(void)
{
	sim_done(&sim);
	book_close(&book);
	history_batch_done(&past.durable);
	history_batch_done(&past.fresh);
	history = history_close(history);
	free(line);
	line = NULL;
	n_lines = lines_allocated = 0;
	dir = test_dir_free(dir);
}

static Suite *past_suite(void)
{
	Suite *s = suite_create("tests/sim/past");
	TCase *t = tcase_create("years");

	tcase_set_timeout(t, 0);
	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_loop_test(t, state_book_and_history_agree, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(past_suite)
