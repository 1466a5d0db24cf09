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
	w->counts->reloads++;
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
	usec_t off = is_other_kernel ? span(w, 10 * USEC_PER_SEC, 60 * DAY) : span(w, USEC_PER_SEC, 20 * MINUTE), real;
	usec_t truth = sim_real(&w->sim) + off;

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
	w->counts->boots++;
	if (!is_other_kernel)
		real = sim_real(&w->sim);
	sim_boot(&w->sim, is_other_kernel, real);
	if (sim_is_on(&w->sim) && real < SIM_EPOCH && chance(w, 80) && sim_run(&w->sim, span(w, USEC_PER_SEC, HOUR)))
		(void) sim_set_clock(&w->sim, truth + MINUTE);
}

static void crash(struct walker *w)
{
	w->counts->crashes++;
	if (chance(w, 30)) {
		sim_crash(&w->sim);
		return;
	}
	sim_crash_at(&w->sim, 1 + pick(w, chance(w, 50) ? 10 : 200));
	for (unsigned hours = 0; hours < 30; hours++)
		if (!sim_run(&w->sim, HOUR))
			return;
	sim_crash(&w->sim);
}

static void jump(struct walker *w)
{
	usec_t now = sim_real(&w->sim), to = now;

	w->counts->jumps++;
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
	(void) sim_set_clock(&w->sim, to);
}

/* ---- the walk ---- */

static void admin(struct walker *w)
{
	unsigned i = (unsigned) pick(w, BOOK_TIMERS);
	const char *service = w->book.service[pick(w, BOOK_SERVICES)].name;

	snprintf(w->book.command_timer, sizeof(w->book.command_timer), "%s", w->book.timer[i].name);
	switch (pick(w, 6)) {
	case 0: case 1:
		(void) sim_start(&w->sim, service);
		break;
	case 2: case 3:
		(void) sim_stop(&w->sim, service);
		break;
	case 4:
		(void) sim_command(&w->sim, SUPD_COMMAND_TRIGGER, w->book.command_timer);
		break;
	case 5:
		(void) sim_command(&w->sim, SUPD_COMMAND_RESET, w->book.command_timer);
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
		sim_shutdown(&w->sim);
		break;
	case 6: case 7:
		jump(w);
		break;
	case 8:
		if (chance(w, 20))
			(void) sim_set_zone(&w->sim, (enum sim_zone) pick(w, SIM_ZONE_COUNT));
		break;
	case 9:
		(void) sim_suspend(&w->sim, span(w, USEC_PER_SEC, 5 * DAY));
		break;
	case 10:
		w->sim.is_disk_full = chance(w, 25);
		break;
	case 11:
		(void) sim_pause(&w->sim, true);
		break;
	case 12: case 13:
		(void) sim_pause(&w->sim, false);
		break;
	case 14:
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
	ret->events += w.sim.n_events;
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		ret->runs += w.book.timer[i].n_runs;
		ret->missed += w.book.timer[i].n_missed;
	}
	sim_done(&w.sim);
	book_close(&w.book);
}
