/* SPDX-License-Identifier: MIT */
/* What may befall a machine, at random. */
#include "tests/sim/walk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "tests/sim/book.h"

#define MINUTE USEC_PER_MINUTE
#define HOUR USEC_PER_HOUR
#define DAY USEC_PER_DAY

struct walker {
	struct sim sim;
	struct book book;
	struct walk_counts *counts;
	usec_t born;
};

static uint64_t pick(struct walker *w, uint64_t below)
{
	return sim_random(&w->sim, below);
}

static bool chance(struct walker *w, unsigned percent)
{
	return pick(w, 100) < percent;
}

static const char *const count_words[] = {
	[WALK_EVENTS] = "events",
	[WALK_RUNS] = "runs begun by timers",
	[WALK_CATCH_UPS] = "of them to make up for a moment",
	[WALK_RETRIES] = "of them retries",
	[WALK_INTERRUPTED] = "runs interrupted",
	[WALK_OVERLAPS] = "overlaps",
	[WALK_MISSED] = "moments missed",
	[WALK_SKIPPED] = "moments skipped",
	[WALK_SUCCEEDED] = "runs succeeded",
	[WALK_FAILED] = "failed",
	[WALK_KILLED] = "died by a signal",
	[WALK_HUNG] = "hung until their timeout",
	[WALK_NOT_EXECUTED] = "could not be executed",
	[WALK_CONDITIONS] = "were left out for a condition",
	[WALK_CRASHES] = "crashes between events",
	[WALK_CRASHES_MIDWAY] = "crashes in the middle of one",
	[WALK_SHUTDOWNS] = "shutdowns",
	[WALK_RESTARTS] = "restarts of the daemon",
	[WALK_REBOOTS] = "reboots",
	[WALK_MONTHS_OFF] = "of them after a month or more",
	[WALK_BOOTS_1970] = "of them in 1970",
	[WALK_SUSPENDS] = "suspends",
	[WALK_WRITES_NOT_TOLD] = "crashes after a write of which nobody heard",
	[WALK_WRITES_TORN] = "state files torn",
	[WALK_WRITES_BOTH_NAMES] = "renamed halfway",
	[WALK_WRITES_LOST] = "lost",
	[WALK_LINES_CUT] = "lines of a state file cut off",
	[WALK_LINES_LOST] = "lines lost",
	[WALK_WRITES_FAILED] = "writes that failed for a full disk",
	[WALK_HELD] = "processes that waited for a write",
	[WALK_HELD_CANCELLED] = "processes stopped while they waited for a write",
	[WALK_JUMPS_FORWARD] = "clock jumps forward",
	[WALK_JUMPS_BACK] = "clock jumps back",
	[WALK_CLOCK_STEPS] = "steps of the clock by less than a minute",
	[WALK_ZONE_CHANGES] = "zone changes",
	[WALK_RELOADS] = "reloads",
	[WALK_RELOADS_REFUSED] = "of them with a mistake in a timer",
	[WALK_PAUSES] = "pauses",
	[WALK_GATES_CLOSED] = "times that the gate was closed",
	[WALK_STARTS] = "services started by hand",
	[WALK_STOPS] = "stopped by hand",
	[WALK_TRIGGERS] = "timers triggered",
	[WALK_RESETS] = "reset",
	[WALK_SKIPS] = "told to skip a moment",
};
_Static_assert(ELEMENTS(count_words) == WALK_COUNT, "words for each count");

const char *walk_count_to_string(enum walk_count c)
{
	return count_words[c];
}

static void count(struct walker *w, enum walk_count c)
{
	w->counts->n[c]++;
}

/* From @least to @most, small ones more often. */
static usec_t span(struct walker *w, usec_t least, usec_t most)
{
	usec_t x = least ? least : 1;

	while (x < most && chance(w, 70))
		x *= 2;
	return usec_min(most, x + pick(w, x));
}

/* ---- services ---- */

static struct sim_job job(struct sim *s, const char *unit, enum exec_phase phase)
{
	struct sim_job j = { .takes = 1000 + sim_random(s, 20 * USEC_PER_SEC) };

	(void) unit;
	if (phase == EXEC_CONDITION) {
		j.wstatus = sim_random(s, 4) == 0 ? 1 << 8 : 0;
		return j;
	}
	switch (sim_random(s, 20)) {
	case 0: case 1: case 2: case 3: case 4:
		j.wstatus = (int) (1 + sim_random(s, 3)) << 8;
		break;
	case 5:
		j.wstatus = SIGSEGV;
		break;
	case 6: /* hangs into its timeout */
		j.takes = 100 * HOUR;
		j.ignores_term = sim_random(s, 2);
		break;
	case 7: /* outlasts the next moment */
		j.takes = sim_random(s, 110 * MINUTE);
		break;
	case 8:
		j.fails_to_spawn = true;
		break;
	case 9:
		j.takes = 0;
		break;
	default:
		break;
	}
	return j;
}

/* ---- files ---- */

static void plan_triggers(struct walker *w, struct plan *p)
{
	p->expression = -1;
	if (chance(w, 65)) {
		p->expression = chance(w, 10) ? 7 : (int) pick(w, SIM_EXPRESSION_COUNT - 1);
		if (chance(w, 85))
			return;
	}
	if (chance(w, 60))
		p->startup = span(w, USEC_PER_SEC, DAY);
	if (chance(w, 20))
		p->boot = span(w, USEC_PER_SEC, DAY);
	if (chance(w, 20))
		p->active = span(w, USEC_PER_SEC, DAY);
	if (chance(w, 50))
		p->unit_active = span(w, 10 * USEC_PER_SEC, 10 * DAY);
	if (chance(w, 30) || (!p->startup && !p->boot && !p->active && !p->unit_active))
		p->unit_inactive = span(w, 10 * USEC_PER_SEC, 10 * DAY);
}

static usec_t whole(usec_t x)
{
	return x / USEC_PER_SEC * USEC_PER_SEC;
}

static void plan_timer(struct walker *w, unsigned i)
{
	struct plan *p = &w->book.timer[i].file;

	*p = (struct plan) {
		.exists = chance(w, 85), .is_enabled = chance(w, 90), .is_persistent = chance(w, 80),
		.on_clock_change = chance(w, 5), .service = chance(w, 60) ? i % BOOK_SERVICES : (unsigned) pick(w, BOOK_SERVICES),
		.catch_up = chance(w, 70) ? DAY : whole(span(w, HOUR, 20 * DAY)),
		.n_ladder = (unsigned) pick(w, BOOK_LADDER_MAX + 1), .retries_signals = chance(w, 20),
	};
	plan_triggers(w, p);
	p->startup = whole(p->startup);
	p->boot = whole(p->boot);
	p->active = whole(p->active);
	p->unit_active = whole(p->unit_active);
	p->unit_inactive = whole(p->unit_inactive);
	for (unsigned k = 0; k < p->n_ladder; k++)
		p->ladder[k] = whole(span(w, USEC_PER_SEC, 2 * HOUR));
	if (chance(w, 8))
		p->delay = whole(span(w, USEC_PER_SEC, 10 * MINUTE));
	book_write_timer(&w->book, i);
}

static void plan_service(struct walker *w, unsigned i)
{
	struct book_service *s = &w->book.service[i];

	s->is_masked = chance(w, 10);
	s->is_disabled = chance(w, 5);
	book_write_service(&w->book, i);
}

static void edit(struct walker *w)
{
	unsigned i = (unsigned) pick(w, BOOK_TIMERS), bad = BOOK_TIMERS;

	plan_timer(w, i);
	if (chance(w, 20))
		plan_service(w, (unsigned) pick(w, BOOK_SERVICES));
	if (chance(w, 15)) {
		bad = (unsigned) pick(w, BOOK_TIMERS);
		w->book.timer[bad].file.is_bad = true;
		book_write_timer(&w->book, bad);
	}
	count(w, WALK_RELOADS);
	if (bad != BOOK_TIMERS)
		count(w, WALK_RELOADS_REFUSED);
	(void) sim_reload(&w->sim);
	if (bad == BOOK_TIMERS || !sim_is_on(&w->sim))
		return;
	w->book.timer[bad].file.is_bad = false;
	book_write_timer(&w->book, bad);
	(void) sim_reload(&w->sim);
}

/* ---- off and on ---- */

static void boot(struct walker *w)
{
	bool is_other_kernel = chance(w, 60);
	usec_t off = is_other_kernel ? span(w, 10 * USEC_PER_SEC, 60 * DAY) : span(w, USEC_PER_SEC, 20 * MINUTE), truth, real;

	if (is_other_kernel && chance(w, 4))
		off = 30 * DAY + span(w, DAY, 370 * DAY);
	truth = sim_real(&w->sim) + off;
	w->sim.boot += off;
	real = truth;
	if (real > SIM_2026 + 300 * 365 * DAY / 2 || chance(w, 2))
		real = SIM_2026;
	if (is_other_kernel && chance(w, 8))
		real = (10 + pick(w, 100)) * USEC_PER_SEC; /* no battery */
	else if (is_other_kernel && chance(w, 5))
		real += span(w, MINUTE, 60 * DAY);
	else if (is_other_kernel && chance(w, 5) && real > SIM_EPOCH)
		real -= span(w, MINUTE, 12 * HOUR);
	if (chance(w, 3))
		w->sim.zone = (enum sim_zone) pick(w, SIM_ZONE_COUNT);
	count(w, is_other_kernel ? WALK_REBOOTS : WALK_RESTARTS);
	w->counts->n[WALK_MONTHS_OFF] += off >= 30 * DAY;
	w->counts->n[WALK_BOOTS_1970] += is_other_kernel && real < DAY;
	if (!is_other_kernel)
		real = sim_real(&w->sim);
	sim_boot(&w->sim, is_other_kernel, real);
	if (sim_is_on(&w->sim) && real < SIM_EPOCH && chance(w, 80) && sim_run(&w->sim, span(w, USEC_PER_SEC, HOUR)))
		(void) sim_set_clock(&w->sim, truth + MINUTE);
}

static void crash_now(struct walker *w)
{
	count(w, WALK_CRASHES);
	sim_crash(&w->sim);
}

/* While the state is being written, if it will be. */
static void crash_in_write(struct walker *w)
{
	for (unsigned i = 0; i < 50 && !w->sim.writing.bytes; i++)
		(void) sim_run_events(&w->sim, 30 * MINUTE, 1);
	crash_now(w);
}

static void crash(struct walker *w)
{
	switch (pick(w, 4)) {
	case 0:
		crash_now(w);
		return;
	case 1:
		crash_in_write(w);
		return;
	default:
		break;
	}
	sim_crash_at(&w->sim, 1 + pick(w, chance(w, 50) ? 10 : 200));
	for (unsigned hours = 0; hours < 30; hours++)
		if (!sim_run(&w->sim, HOUR))
			return;
	crash_now(w);
}

static void jump(struct walker *w)
{
	usec_t now = sim_real(&w->sim), to = now;

	switch (pick(w, 8)) {
	case 0:
		to = now + span(w, USEC_PER_SEC, 50 * USEC_PER_SEC);
		break;
	case 1:
		to = now - span(w, USEC_PER_SEC, 50 * USEC_PER_SEC);
		break;
	case 2: case 3:
		to = now + span(w, 70 * USEC_PER_SEC, 12 * HOUR);
		break;
	case 4: case 5:
		to = now - span(w, 70 * USEC_PER_SEC, 12 * HOUR);
		break;
	case 6:
		to = now + span(w, DAY, 400 * DAY);
		break;
	case 7:
		to = now - span(w, DAY, 400 * DAY);
		break;
	}
	if (to > SIM_2026 + 150 * 365 * DAY || (to < SIM_2026 - 20 * 365 * DAY && to > SIM_EPOCH))
		to = SIM_2026;
	if ((to > now ? to - now : now - to) <= MINUTE)
		count(w, WALK_CLOCK_STEPS);
	else
		count(w, to > now ? WALK_JUMPS_FORWARD : WALK_JUMPS_BACK);
	(void) sim_set_clock(&w->sim, to);
}

/* ---- the walk ---- */

/* One of the calendar's next moments. */
static void skip(struct walker *w, const struct book_timer *t)
{
	usec_t moment = sim_real(&w->sim);

	if (t->plan.expression < 0)
		return;
	count(w, WALK_SKIPS);
	for (uint64_t n = 1 + pick(w, 3); n > 0; n--)
		moment = moment_next(&sim_expressions[t->plan.expression], w->book.zone, moment);
	w->book.command_moment = moment;
	(void) sim_skip(&w->sim, t->name, moment, chance(w, 80));
}

static void admin(struct walker *w)
{
	unsigned i = (unsigned) pick(w, BOOK_TIMERS);
	const char *service = w->book.service[pick(w, BOOK_SERVICES)].name;

	snprintf(w->book.command_timer, sizeof(w->book.command_timer), "%s", w->book.timer[i].name);
	switch (pick(w, 8)) {
	case 0: case 1:
		count(w, WALK_STARTS);
		(void) sim_start(&w->sim, service);
		break;
	case 2: case 3:
		count(w, WALK_STOPS);
		(void) sim_stop(&w->sim, service);
		break;
	case 4:
		count(w, WALK_TRIGGERS);
		(void) sim_command(&w->sim, SUPD_COMMAND_TRIGGER, w->book.command_timer);
		break;
	case 5:
		count(w, WALK_RESETS);
		(void) sim_command(&w->sim, SUPD_COMMAND_RESET, w->book.command_timer);
		break;
	case 6: case 7:
		skip(w, &w->book.timer[i]);
		break;
	}
}

static void act(struct walker *w)
{
	switch (pick(w, 40)) {
	case 0: case 1:
		edit(w);
		break;
	case 2: case 3: case 4:
		crash(w);
		break;
	case 5:
		count(w, WALK_SHUTDOWNS);
		sim_shutdown(&w->sim);
		break;
	case 6: case 7:
		jump(w);
		break;
	case 8:
		if (!chance(w, 20))
			break;
		count(w, WALK_ZONE_CHANGES);
		(void) sim_set_zone(&w->sim, (enum sim_zone) pick(w, SIM_ZONE_COUNT));
		break;
	case 9:
		count(w, WALK_SUSPENDS);
		(void) sim_suspend(&w->sim, span(w, USEC_PER_SEC, 5 * DAY));
		break;
	case 10:
		w->sim.is_disk_full = chance(w, 12);
		break;
	case 11:
		count(w, WALK_PAUSES);
		(void) sim_pause(&w->sim, true);
		break;
	case 12: case 13:
		(void) sim_pause(&w->sim, false);
		break;
	case 14:
		count(w, WALK_GATES_CLOSED);
		(void) sim_gate(&w->sim, false);
		break;
	case 15: case 16:
		(void) sim_gate(&w->sim, true);
		break;
	case 17: case 18: case 19:
		admin(w);
		break;
	default:
		/* A timer that elapses each minute would fill the walk: time goes on for it in small pieces. */
		(void) sim_run_events(&w->sim, chance(w, 90) ? span(w, 1000, 6 * HOUR) : span(w, HOUR, 4 * DAY),
				      chance(w, 95) ? 60 : 3000);
		break;
	}
}

static void sum_up(struct walker *w)
{
	const uint64_t *results = w->book.results, *losses = w->sim.losses;
	uint64_t *n = w->counts->n;

	n[WALK_EVENTS] += w->sim.n_events;
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		n[WALK_RUNS] += w->book.timer[i].n_runs;
		n[WALK_MISSED] += w->book.timer[i].n_missed;
	}
	n[WALK_CATCH_UPS] += w->book.n_catch_ups;
	n[WALK_RETRIES] += w->book.n_retries;
	n[WALK_INTERRUPTED] += w->book.n_interrupted;
	n[WALK_OVERLAPS] += w->book.n_overlaps;
	n[WALK_SKIPPED] += w->book.n_skipped;
	n[WALK_SUCCEEDED] += results[RUN_RESULT_SUCCESS];
	n[WALK_FAILED] += results[RUN_RESULT_EXIT_CODE];
	n[WALK_KILLED] += results[RUN_RESULT_SIGNAL] + results[RUN_RESULT_CORE_DUMP];
	n[WALK_HUNG] += results[RUN_RESULT_TIMEOUT];
	n[WALK_NOT_EXECUTED] += results[RUN_RESULT_EXEC];
	n[WALK_CONDITIONS] += results[RUN_RESULT_SKIPPED];
	n[WALK_CRASHES_MIDWAY] += w->sim.n_dead_midway;
	n[WALK_WRITES_NOT_TOLD] += losses[SIM_LOSS_NOT_TOLD];
	n[WALK_WRITES_TORN] += losses[SIM_LOSS_TORN];
	n[WALK_WRITES_BOTH_NAMES] += losses[SIM_LOSS_BOTH_NAMES];
	n[WALK_WRITES_LOST] += losses[SIM_LOSS_ALL];
	n[WALK_LINES_CUT] += losses[SIM_LOSS_LINE_CUT];
	n[WALK_LINES_LOST] += losses[SIM_LOSS_LINE];
	n[WALK_WRITES_FAILED] += w->sim.n_failed_writes;
	n[WALK_HELD] += w->sim.n_held;
	n[WALK_HELD_CANCELLED] += w->sim.n_cancelled;
}

void walk(uint64_t seed, uint64_t steps, bool verbose, struct walk_counts *ret)
{
	static struct walker w;

	w.counts = ret;
	sim_init(&w.sim, seed);
	w.sim.verbose = verbose;
	w.sim.job = job;
	w.sim.zone = (enum sim_zone) pick(&w, SIM_ZONE_COUNT);
	w.sim.offset += (int64_t) (pick(&w, 365) * DAY);
	w.sim.save_takes = chance(&w, 20) ? 2 * USEC_PER_SEC : 5 * USEC_PER_MSEC;
	book_open(&w.book, &w.sim);
	for (unsigned i = 0; i < BOOK_SERVICES; i++)
		plan_service(&w, i);
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		plan_timer(&w, i);
	for (uint64_t i = 0; i < steps; i++) {
		if (!sim_is_on(&w.sim)) {
			book_crashed(&w.book);
			boot(&w);
		} else {
			act(&w);
		}
	}
	sum_up(&w);
	sim_done(&w.sim);
	book_close(&w.book);
}
