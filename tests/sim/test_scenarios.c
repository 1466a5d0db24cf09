/* SPDX-License-Identifier: MIT */
/* Stories with names, in the simulated world: the real manager, the real plugin, no time and no process. */
#include "tests/sim/sim.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "core/manager_private.h"
#include "tests/lib/test_main.h"

#define DAY USEC_PER_DAY
#define HOUR USEC_PER_HOUR
#define MINUTE USEC_PER_MINUTE
#define SECOND USEC_PER_SEC
#define EXIT(code) ((code) << 8)

/* What happened, in order. */
struct note {
	char what[16], unit[32], why[24]; /* "run" with its cause, "missed" with its reason … */
	usec_t at, boot, scheduled;
	uint64_t n;                       /* attempt, count */
};

static struct sim sim;
static struct note note[4096];
static size_t n_notes, n_announced;
static struct sim_job job;

static struct note *add(const char *what, const char *unit, const char *why)
{
	struct note *n = &note[n_notes];

	ck_assert_uint_lt(++n_notes, ELEMENTS(note));
	*n = (struct note) { .at = sim_real(&sim), .boot = sim.boot };
	snprintf(n->what, sizeof(n->what), "%s", what);
	snprintf(n->unit, sizeof(n->unit), "%s", unit);
	snprintf(n->why, sizeof(n->why), "%s", why);
	return n;
}

static void on_record(void *data, const struct sim_record *r)
{
	struct note *n;

	(void) data;
	n_announced += strcmp(r->type, "catch-up") == 0;
	if (strcmp(r->type, "elapsed") == 0 || strcmp(r->type, "catch-up") == 0)
		return; /* its run says so */
	n = add(r->type, r->unit, r->reason);
	n->scheduled = r->scheduled;
	n->n = r->count;
}

static void on_spawned(void *data, const struct spawn_request *r)
{
	struct note *n;

	(void) data;
	if (r->phase != EXEC_START && r->phase != EXEC_CONDITION)
		return;
	n = add("run", r->run->trigger_unit ? r->run->trigger_unit : r->unit, r->run->cause);
	n->scheduled = r->run->scheduled_real;
	n->n = r->run->attempt;
}

static struct sim_job next_job(struct sim *s, const char *unit, enum exec_phase phase)
{
	(void) s, (void) unit, (void) phase;
	return job;
}

static void setup(void)
{
	n_notes = 0;
	n_announced = 0;
	job = (struct sim_job) { .takes = 2 * SECOND };
	sim_init(&sim, 1);
	sim.verbose = getenv("SIM_VERBOSE");
	sim.job = next_job;
	sim.watcher = (struct sim_watcher) { .record = on_record, .spawned = on_spawned };
	sim.zone = SIM_UTC;
}

static void teardown(void)
{
	sim_done(&sim);
}

static void service(const char *name, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "[Service]\nExecStart=/bin/job\n%s", more);
	sim_write(&sim, name, text);
}

static void timer(const char *name, const char *lines)
{
	char text[512];

	snprintf(text, sizeof(text), "[Timer]\n%s", lines);
	sim_write(&sim, name, text);
}

static void pair(const char *lines)
{
	service("a.service", "");
	timer("a.timer", lines);
}

/* Note @i is this; at @at, on the real-time clock. */
static void happened(size_t i, const char *what, const char *why, usec_t at)
{
	if (i >= n_notes)
		ck_abort_msg("note %zu: nothing, and not: %s %s", i, what, why);
	if (strcmp(note[i].what, what) != 0 || strcmp(note[i].why, why) != 0 || note[i].at / SECOND != at / SECOND)
		ck_abort_msg("note %zu: %s %s %s at %.3f, and not: %s %s at %.3f", i, note[i].unit, note[i].what,
			     note[i].why, (double) note[i].at / 1e6, what, why, (double) at / 1e6);
}

static void nothing_more(size_t n)
{
	if (n_notes > n)
		ck_abort_msg("note %zu: %s %s %s at %.3f, and not: nothing", n, note[n].unit, note[n].what, note[n].why,
			     (double) note[n].at / 1e6);
	ck_assert_uint_eq(n_notes, n);
}

START_TEST(a_year_of_a_daily_timer)
{
	const struct sim_expression *half_past_two = &sim_expressions[3];
	usec_t at = SIM_2026;

	sim.zone = SIM_BERLIN;
	pair("OnCalendar=*-*-* 02:30\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 365 * DAY));
	ck_assert_uint_eq(n_notes, 365);
	for (size_t i = 0; i < n_notes; i++) {
		at = moment_next(half_past_two, SIM_BERLIN, at);
		happened(i, "run", "calendar", at);
		ck_assert_uint_eq(note[i].scheduled, at);
	}
	/* March 29th has no 02:30, October 25th has two */
	ck_assert_uint_eq(note[87].at / SECOND, 1774746000);
	ck_assert_uint_eq(note[297].at / SECOND, 1792888200);
	ck_assert_uint_lt(sim.n_wakes, 365 * 3);
}
END_TEST

START_TEST(a_year_of_a_quarter_hourly_timer_through_both_changes)
{
	sim.zone = SIM_BERLIN;
	pair("OnCalendar=*:0/30\n");
	sim_boot(&sim, false, SIM_2026 + 86 * DAY);
	ck_assert(sim_run(&sim, 2 * DAY + MINUTE));
	ck_assert_uint_eq(n_notes, 96); /* an hour is skipped on the wall, none in time */
}
END_TEST

START_TEST(an_overlap)
{
	pair("OnCalendar=hourly\n");
	job.takes = 90 * MINUTE;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 3 * HOUR + MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "missed", "overlap", SIM_2026 + 2 * HOUR);
	happened(2, "run", "calendar", SIM_2026 + 3 * HOUR);
	nothing_more(3);
}
END_TEST

START_TEST(a_stop_in_the_middle_of_a_run)
{
	pair("OnCalendar=hourly\n");
	job.takes = 30 * MINUTE;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	ck_assert_int_eq(sim_stop(&sim, "a.service"), MANAGER_DONE);
	ck_assert(sim_run(&sim, HOUR));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR); /* no ladder: it was stopped on request */
	nothing_more(2);
}
END_TEST

START_TEST(a_shutdown_in_the_middle_of_a_run_interrupts_it)
{
	pair("OnCalendar=hourly\n");
	job.takes = 30 * MINUTE;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	sim_shutdown(&sim);
	ck_assert(!sim_is_on(&sim));
	sim_boot(&sim, true, SIM_2026 + 90 * MINUTE);
	ck_assert(sim_run(&sim, MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "interrupted", "calendar", SIM_2026 + 90 * MINUTE);
	happened(2, "missed", "interrupted", SIM_2026 + 90 * MINUTE);
	happened(3, "run", "catch-up", SIM_2026 + 90 * MINUTE);
	ck_assert_uint_eq(note[3].scheduled, SIM_2026 + HOUR);
	nothing_more(4);
}
END_TEST

START_TEST(the_ladder_is_exact)
{
	pair("OnCalendar=daily\n");
	job.wstatus = EXIT(3);
	sim.save_takes = 0;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, DAY + 2 * HOUR));
	happened(0, "run", "calendar", SIM_2026 + DAY);
	happened(2, "run", "retry", SIM_2026 + DAY + 32 * SECOND);
	happened(4, "run", "retry", SIM_2026 + DAY + 154 * SECOND);
	happened(6, "run", "retry", SIM_2026 + DAY + 756 * SECOND);
	for (size_t i = 0; i < 6; i += 2) {
		static const usec_t rung[] = { 30 * SECOND, 2 * MINUTE, 10 * MINUTE };

		ck_assert_uint_eq(note[i + 2].n, i / 2 + 2);
		happened(i + 1, "retry", "", note[i].at + 2 * SECOND);
		/* to the microsecond */
		ck_assert_uint_eq(note[i + 2].boot - note[i + 1].boot, rung[i / 2]);
	}
	nothing_more(7);
}
END_TEST

START_TEST(a_night_off)
{
	pair("OnCalendar=*-*-* 02:30\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 20 * HOUR));
	sim_shutdown(&sim);
	sim_boot(&sim, true, SIM_2026 + 32 * HOUR);
	ck_assert(sim_run(&sim, 23 * HOUR));
	happened(0, "run", "calendar", SIM_2026 + 150 * MINUTE);
	happened(1, "run", "catch-up", SIM_2026 + 32 * HOUR);
	ck_assert_uint_eq(note[1].scheduled, SIM_2026 + DAY + 150 * MINUTE);
	happened(2, "run", "calendar", SIM_2026 + 2 * DAY + 150 * MINUTE);
	nothing_more(3);
}
END_TEST

START_TEST(a_week_off_is_on_record_as_missed)
{
	pair("OnCalendar=*-*-* 02:30\nCatchUpSec=1h\n");
	sim_boot(&sim, false, SIM_2026);
	sim_shutdown(&sim);
	sim_boot(&sim, true, SIM_2026 + 7 * DAY + 8 * HOUR);
	ck_assert(sim_run(&sim, HOUR));
	happened(0, "missed", "downtime", SIM_2026 + 7 * DAY + 8 * HOUR);
	ck_assert_uint_eq(note[0].n, 8);
	ck_assert_uint_eq(note[0].scheduled, SIM_2026 + 7 * DAY + 150 * MINUTE);
	nothing_more(1);
}
END_TEST

START_TEST(many_catch_ups_are_spread)
{
	char name[32];

	job.takes = SECOND;
	for (unsigned i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "t%u.service", i);
		service(name, "");
		snprintf(name, sizeof(name), "t%u.timer", i);
		timer(name, "OnCalendar=daily\n");
	}
	sim_boot(&sim, false, SIM_2026 + HOUR);
	sim_shutdown(&sim);
	sim_boot(&sim, true, SIM_2026 + 30 * HOUR);
	/* the power goes again before all have run: none is lost */
	ck_assert(sim_run(&sim, 9 * SECOND));
	ck_assert_uint_eq(n_notes, 5);
	sim_crash(&sim);
	n_notes = 0;
	sim_boot(&sim, true, SIM_2026 + 31 * HOUR);
	ck_assert(sim_run(&sim, MINUTE));
	for (size_t i = 0, run = 0; i < n_notes; i++) {
		if (strcmp(note[i].what, "run") != 0)
			continue;
		ck_assert_str_eq(note[i].why, "catch-up");
		/* t0 to t3 were done, t4 was interrupted */
		snprintf(name, sizeof(name), "t%zu.timer", run++ + 4);
		ck_assert_str_eq(note[i].unit, name);
	}
	ck_assert_uint_eq(n_notes, 6 + 2);
}
END_TEST

START_TEST(a_crash_in_a_run_is_made_up_for)
{
	pair("OnCalendar=hourly\n");
	job.takes = 10 * MINUTE;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	sim_crash(&sim);
	sim_boot(&sim, false, SIM_2026 + HOUR + 2 * MINUTE);
	ck_assert(sim_run(&sim, 30 * MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "interrupted", "calendar", SIM_2026 + HOUR + 2 * MINUTE);
	happened(2, "missed", "interrupted", SIM_2026 + HOUR + 2 * MINUTE);
	happened(3, "run", "catch-up", SIM_2026 + HOUR + 2 * MINUTE);
	nothing_more(4);
}
END_TEST

/* The intent of a short run is written just before its end; that the end waits for no interval between the writes. */
START_TEST(a_crash_just_after_a_short_run_runs_nothing_twice)
{
	pair("OnCalendar=hourly\n");
	job.takes = SECOND / 100;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + SECOND / 4));
	sim_crash(&sim);
	sim_boot(&sim, false, SIM_2026 + HOUR + 2 * MINUTE);
	ck_assert(sim_run(&sim, 30 * MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	nothing_more(1);
}
END_TEST

START_TEST(an_interval_of_seven_days_counts_over_restarts)
{
	pair("OnUnitActiveSec=7d\nOnStartupSec=1min\n");
	sim_boot(&sim, false, SIM_2026);
	for (usec_t day = 1; day <= 7; day++) {
		ck_assert(sim_run(&sim, 12 * HOUR));
		sim_shutdown(&sim);
		timer("a.timer", "OnUnitActiveSec=7d\n");
		sim_boot(&sim, true, SIM_2026 + day * DAY);
	}
	happened(0, "run", "startup", SIM_2026 + MINUTE);
	nothing_more(1);
	ck_assert(sim_run(&sim, HOUR));
	happened(1, "run", "unit-active", SIM_2026 + 7 * DAY + MINUTE + 2 * SECOND);
	nothing_more(2);
}
END_TEST

START_TEST(a_reload_keeps_anchors_and_runs)
{
	pair("OnStartupSec=10min\nOnUnitActiveSec=1h\n");
	job.takes = MINUTE;
	sim_boot(&sim, false, SIM_2026);
	for (int i = 0; i < 130; i++) {
		service("b.service", i % 2 ? "Nice=1\n" : "");
		ck_assert_int_eq(sim_reload(&sim), 0);
		ck_assert(sim_run(&sim, MINUTE));
	}
	happened(0, "run", "startup", SIM_2026 + 10 * MINUTE);
	happened(1, "run", "unit-active", SIM_2026 + 71 * MINUTE);
	nothing_more(2);
}
END_TEST

START_TEST(what_is_only_written_otherwise_changes_nothing_at_a_reload)
{
	static const char *const ways[] = {
		"OnActiveSec=10min\nRetrySec=1h\n",
		"# for the night\nOnActiveSec=10min\nRetrySec=1h\n",
		"RetrySec=60min\nOnActiveSec=1\nOnActiveSec=\nOnActiveSec=10min\n[Unit]\nDescription=x\n",
		"OnActiveSec=10min\nRetrySec=1h\nEnabled=yes\nPersistent=yes\n",
	};

	pair(ways[0]);
	job = (struct sim_job) { .takes = SECOND, .wstatus = W_EXITCODE(1, 0) };
	sim_boot(&sim, false, SIM_2026);
	for (unsigned i = 0; i < 70; i++) {
		timer("a.timer", ways[i % ELEMENTS(ways)]);
		ck_assert_int_eq(sim_reload(&sim), 0);
		ck_assert(sim_run(&sim, MINUTE));
	}
	ck_assert(sim_run(&sim, 10 * MINUTE));
	happened(0, "run", "active", SIM_2026 + 10 * MINUTE);
	happened(1, "retry", "", SIM_2026 + 10 * MINUTE + SECOND);
	happened(2, "run", "retry", SIM_2026 + 70 * MINUTE + SECOND);
	nothing_more(3);
}
END_TEST

START_TEST(a_reload_with_a_mistake_changes_nothing)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	timer("a.timer", "OnCalendar=daily\nOnCalender=hourly\n");
	service("b.service", "");
	ck_assert_int_lt(sim_reload(&sim), 0);
	ck_assert_ptr_null(manager_unit(sim.manager, "b.service"));
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	timer("a.timer", "OnCalendar=*:30\n");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, HOUR));
	happened(1, "run", "calendar", SIM_2026 + 90 * MINUTE);
	nothing_more(2);
}
END_TEST

START_TEST(a_reload_that_takes_the_target_from_a_running_timer)
{
	pair("OnCalendar=hourly\n");
	service("b.service", "");
	job.takes = 10 * MINUTE;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	timer("a.timer", "OnCalendar=hourly\nUnit=b.service\n");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, 2 * HOUR));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	happened(2, "run", "calendar", SIM_2026 + 3 * HOUR);
	nothing_more(3);
}
END_TEST

START_TEST(two_timers_on_one_target)
{
	service("a.service", "");
	timer("a.timer", "OnCalendar=hourly\n");
	timer("b.timer", "OnCalendar=*:0/20\nUnit=a.service\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	happened(0, "run", "calendar", SIM_2026 + 20 * MINUTE);
	happened(1, "run", "calendar", SIM_2026 + 40 * MINUTE);
	happened(2, "run", "calendar", SIM_2026 + HOUR);
	happened(3, "missed", "overlap", SIM_2026 + HOUR);
	ck_assert_str_eq(note[2].unit, "a.timer");
	ck_assert_str_eq(note[3].unit, "b.timer");
	nothing_more(4);
}
END_TEST

START_TEST(what_is_due_at_once_comes_in_the_order_of_names)
{
	static const char *const names[] = { "z", "c", "m", "a", "k", "b" };
	static const char *const sorted[] = { "a.timer", "b.timer", "c.timer", "k.timer", "m.timer", "z.timer" };
	char name[32];

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		snprintf(name, sizeof(name), "%s.service", names[i]);
		service(name, "");
		snprintf(name, sizeof(name), "%s.timer", names[i]);
		timer(name, "OnCalendar=hourly\n");
	}
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	ck_assert_uint_eq(n_notes, ELEMENTS(names));
	for (size_t i = 0; i < n_notes; i++)
		ck_assert_str_eq(note[i].unit, sorted[i]);
}
END_TEST

START_TEST(the_clock_forward_and_back)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 150 * MINUTE));
	ck_assert(sim_set_clock(&sim, SIM_2026 + 270 * MINUTE)); /* over 03:00 and 04:00 */
	ck_assert(sim_run(&sim, MINUTE));
	happened(2, "missed", "clock-jump", SIM_2026 + 270 * MINUTE);
	happened(3, "run", "catch-up", SIM_2026 + 270 * MINUTE);
	ck_assert_uint_eq(note[3].scheduled, SIM_2026 + 4 * HOUR);
	nothing_more(4);
	/* back over what ran: 01:00, 02:00 and 04:00 do not come again, 03:00 does */
	ck_assert(sim_set_clock(&sim, SIM_2026 + 30 * MINUTE));
	ck_assert(sim_run(&sim, 5 * HOUR));
	happened(4, "run", "calendar", SIM_2026 + 3 * HOUR);
	happened(5, "run", "calendar", SIM_2026 + 5 * HOUR);
	nothing_more(6);
}
END_TEST

START_TEST(a_board_that_boots_in_1970)
{
	pair("OnCalendar=daily\n");
	timer("w.timer", "OnUnitActiveSec=3d\nOnStartupSec=1h\n");
	service("w.service", "");
	sim_boot(&sim, false, SIM_2026 - 2 * HOUR);
	ck_assert(sim_run(&sim, 3 * HOUR));
	sim_shutdown(&sim);
	happened(0, "run", "startup", SIM_2026 - HOUR);
	happened(1, "run", "calendar", SIM_2026);
	nothing_more(2);
	sim_boot(&sim, true, 20 * SECOND);
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(2);
	/* the time service answers */
	ck_assert(sim_set_clock(&sim, SIM_2026 + 26 * HOUR));
	ck_assert(sim_run(&sim, 2 * HOUR));
	happened(2, "run", "catch-up", SIM_2026 + 26 * HOUR);
	ck_assert_uint_eq(note[2].scheduled, SIM_2026 + DAY);
	happened(3, "run", "startup", SIM_2026 + 26 * HOUR + 59 * MINUTE);
	nothing_more(4);
}
END_TEST

START_TEST(an_interval_on_a_board_that_boots_in_1970_every_day)
{
	service("w.service", "");
	timer("w.timer", "OnUnitActiveSec=3d\nOnStartupSec=1h\n");
	sim_boot(&sim, false, SIM_2026 - 2 * HOUR);
	ck_assert(sim_run(&sim, 2 * HOUR));
	timer("w.timer", "OnUnitActiveSec=3d\n");
	for (usec_t day = 1; day <= 4; day++) {
		sim_shutdown(&sim);
		sim_boot(&sim, true, 30 * SECOND);
		ck_assert(sim_run(&sim, MINUTE));
		ck_assert(sim_set_clock(&sim, SIM_2026 + day * DAY - 12 * HOUR));
		ck_assert(sim_run(&sim, 10 * HOUR));
	}
	happened(0, "run", "startup", SIM_2026 - HOUR);
	/* three days after, at 23:00, it was off; the next morning it is made up for */
	happened(1, "run", "catch-up", SIM_2026 + 3 * DAY + 12 * HOUR);
	nothing_more(2);
}
END_TEST

START_TEST(a_first_boot_in_1970_misses_nothing)
{
	pair("OnCalendar=daily\n");
	sim_boot(&sim, true, 20 * SECOND);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert(sim_set_clock(&sim, SIM_2026));
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(0);
}
END_TEST

START_TEST(a_wrong_clock_at_boot_that_is_put_right)
{
	pair("OnCalendar=daily\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 12 * HOUR));
	sim_shutdown(&sim);
	/* the battery clock is a month ahead; then it is put right: no month of silence */
	sim_boot(&sim, true, SIM_2026 + 31 * DAY);
	ck_assert(sim_run(&sim, MINUTE));
	happened(0, "missed", "downtime", SIM_2026 + 31 * DAY);
	happened(1, "run", "catch-up", SIM_2026 + 31 * DAY);
	ck_assert(sim_set_clock(&sim, SIM_2026 + 13 * HOUR));
	ck_assert(sim_run(&sim, 2 * DAY));
	happened(2, "run", "calendar", SIM_2026 + DAY);
	happened(3, "run", "calendar", SIM_2026 + 2 * DAY);
	nothing_more(4);
}
END_TEST

START_TEST(a_catch_up_is_announced_as_well_if_it_takes_the_place_of_another)
{
	pair("OnCalendar=hourly\n");
	service("b.service", "");
	timer("b.timer", "OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026 + 30 * MINUTE);
	ck_assert(sim_suspend(&sim, 2 * HOUR)); /* b comes two seconds after a */
	ck_assert_uint_eq(n_announced, 2);
	ck_assert(sim_set_clock(&sim, sim_real(&sim) + HOUR));
	ck_assert_uint_eq(n_announced, 4);
	sim_shutdown(&sim); /* nothing is made up for in a life that is over */
	ck_assert_uint_eq(n_announced, 4);
}
END_TEST

START_TEST(an_edit_while_a_moment_waits_out_its_delay)
{
	pair("OnCalendar=hourly\nRandomizedDelaySec=50min\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + SECOND));
	nothing_more(0);
	timer("a.timer", "OnCalendar=daily\n");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, 22 * HOUR));
	happened(0, "run", "calendar", SIM_2026 + HOUR + SECOND);
	nothing_more(1);
}
END_TEST

START_TEST(suspend_over_a_moment)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026 + 2 * MINUTE);
	ck_assert(sim_suspend(&sim, 10 * HOUR));
	ck_assert(sim_run(&sim, MINUTE));
	happened(0, "missed", "late", SIM_2026 + 2 * MINUTE + 10 * HOUR);
	ck_assert_uint_eq(note[0].n, 9);
	happened(1, "run", "catch-up", SIM_2026 + 2 * MINUTE + 10 * HOUR);
	nothing_more(2);
}
END_TEST

START_TEST(a_target_that_remains_after_exit)
{
	service("a.service", "RemainAfterExit=yes\n");
	timer("a.timer", "OnStartupSec=1min\nOnUnitActiveSec=1h\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 3 * HOUR));
	happened(0, "run", "startup", SIM_2026 + MINUTE);
	happened(1, "missed", "overlap", SIM_2026 + HOUR + MINUTE + 2 * SECOND);
	nothing_more(2);
	ck_assert_int_eq(sim_stop(&sim, "a.service"), MANAGER_DONE);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	happened(2, "run", "unit-active", SIM_2026 + 4 * HOUR);
	nothing_more(3);
}
END_TEST

START_TEST(what_no_longer_remains_after_exit_is_stopped_by_a_reload)
{
	service("a.service", "RemainAfterExit=yes\n");
	timer("a.timer", "OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	service("a.service", "");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert(!sim_is_unit_active(&sim, "a.service"));
	ck_assert(sim_run(&sim, HOUR));
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	nothing_more(2);
}
END_TEST

START_TEST(a_condition_that_says_no_is_neither_failure_nor_success)
{
	service("a.service", "ExecCondition=/bin/no\n");
	timer("a.timer", "OnStartupSec=1min\nOnUnitActiveSec=1h\n");
	job.wstatus = EXIT(1);
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 90 * MINUTE));
	happened(0, "run", "startup", SIM_2026 + MINUTE);
	happened(1, "run", "unit-active", SIM_2026 + HOUR + MINUTE + 2 * SECOND);
	nothing_more(2);
}
END_TEST

START_TEST(a_masked_target_misses_and_the_interval_goes_on)
{
	sim_mask(&sim, "a.service");
	timer("a.timer", "OnStartupSec=1min\nOnUnitActiveSec=1h\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 90 * MINUTE));
	happened(0, "missed", "masked", SIM_2026 + MINUTE);
	happened(1, "missed", "masked", SIM_2026 + HOUR + MINUTE);
	nothing_more(2);
	service("a.service", "");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, HOUR));
	happened(2, "run", "unit-active", SIM_2026 + 2 * HOUR + MINUTE);
}
END_TEST

START_TEST(a_disabled_target_misses_but_a_person_may_trigger_it)
{
	service("a.service", "Enabled=no\n");
	timer("a.timer", "OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	happened(0, "missed", "disabled", SIM_2026 + HOUR);
	ck_assert_int_eq(sim_command(&sim, SUPD_COMMAND_TRIGGER, "a.timer"), 0);
	ck_assert(sim_run(&sim, MINUTE));
	happened(1, "run", "manual", SIM_2026 + HOUR + MINUTE);
	nothing_more(2);
}
END_TEST

START_TEST(a_skipped_moment_is_on_record_and_over_a_crash_too)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert_int_lt(sim_skip(&sim, "a.timer", SIM_2026 + 90 * MINUTE, true), 0); /* no such moment */
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + HOUR, true), 0);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + 3 * HOUR, true), 0);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + 4 * HOUR, true), 0);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + 4 * HOUR, false), 0);
	ck_assert(sim_run(&sim, 150 * MINUTE));
	happened(0, "missed", "skipped-by-admin", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	sim_crash(&sim);
	sim_boot(&sim, false, SIM_2026 + 190 * MINUTE);
	ck_assert(sim_run(&sim, 60 * MINUTE));
	happened(2, "missed", "skipped-by-admin", SIM_2026 + 190 * MINUTE); /* told when supd is there again */
	happened(3, "run", "calendar", SIM_2026 + 4 * HOUR);
	nothing_more(4);
}
END_TEST

START_TEST(a_full_disk_stops_no_job)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	sim.is_disk_full = true;
	ck_assert(sim_run(&sim, 150 * MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	sim.is_disk_full = false;
	ck_assert(sim_run(&sim, MINUTE));
	sim_crash(&sim);
	sim_boot(&sim, false, SIM_2026 + 152 * MINUTE);
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(2); /* it was written as soon as there was room */
}
END_TEST

START_TEST(the_gate_and_a_pause_stop_everything_and_nothing_is_lost)
{
	uint64_t calls;

	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert_int_eq(sim_pause(&sim, true), 1);
	calls = sim.calls;
	ck_assert(sim_run(&sim, 90 * MINUTE));
	ck_assert_uint_eq(sim.calls, calls);
	ck_assert_int_eq(sim_pause(&sim, false), 1);
	ck_assert(sim_run(&sim, MINUTE));
	happened(0, "run", "catch-up", SIM_2026 + 90 * MINUTE);
	ck_assert_int_eq(sim_gate(&sim, false), 1);
	calls = sim.calls;
	ck_assert(sim_run(&sim, 90 * MINUTE));
	ck_assert_uint_eq(sim.calls, calls);
	ck_assert_int_eq(sim_gate(&sim, true), 1);
	ck_assert(sim_run(&sim, MINUTE));
	happened(1, "missed", "downtime", SIM_2026 + 181 * MINUTE);
	happened(2, "run", "catch-up", SIM_2026 + 181 * MINUTE);
	nothing_more(3);
}
END_TEST

/* What was told since the last time; elapses are told all the time. */
static void told(const char *types)
{
	char *elapsed;

	while ((elapsed = strstr(sim.told, "elapsed ")))
		memmove(elapsed, elapsed + strlen("elapsed "), strlen(elapsed + strlen("elapsed ")) + 1);
	ck_assert_str_eq(sim.told, types);
	sim.told[0] = '\0';
}

START_TEST(what_an_admin_does_is_told)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, MINUTE));
	told("starting running ");
	ck_assert_int_eq(sim_pause(&sim, true), 1);
	ck_assert_int_eq(sim_pause(&sim, true), 0);
	ck_assert_int_eq(sim_pause(&sim, false), 1);
	told("paused resumed ");
	ck_assert_int_eq(sim_gate(&sim, false), 1);
	ck_assert_int_eq(sim_gate(&sim, false), 0);
	ck_assert_int_eq(sim_gate(&sim, true), 1);
	told("gate gate ");
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + HOUR, true), 0);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + HOUR, true), 0);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + HOUR, false), 0);
	told("skip unskip ");
	ck_assert_int_eq(sim_reload(&sim), 0);
	told("reloaded ");
	timer("a.timer", "OnCallendar=hourly\n");
	ck_assert_int_lt(sim_reload(&sim), 0);
	told("reload-refused ");
	job.takes = HOUR;
	ck_assert_int_eq(sim_start(&sim, "a.service"), MANAGER_DONE);
	ck_assert(sim_run(&sim, MINUTE));
	told("");
	ck_assert_int_eq(sim_stop(&sim, "a.service"), MANAGER_DONE);
	ck_assert(sim_run(&sim, MINUTE));
	told("stopping ");
	sim_shutdown(&sim);
	told("shutdown ended ");
}
END_TEST

START_TEST(what_becomes_of_time_and_of_the_disk_is_told)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, MINUTE));
	told("starting running ");
	ck_assert(sim_set_clock(&sim, SIM_2026 + 150 * MINUTE));
	ck_assert(sim_run(&sim, MINUTE));
	told("clock-jump missed catch-up ");
	ck_assert(sim_set_zone(&sim, SIM_NEW_YORK));
	ck_assert(sim_run(&sim, MINUTE));
	told("zone-change ");
	sim.is_disk_full = true;
	ck_assert(sim_run(&sim, 2 * HOUR));
	told("not-persisted ");
	sim.is_disk_full = false;
	ck_assert(sim_run(&sim, HOUR));
	told("persisted ");
	job.takes = HOUR;
	ck_assert(sim_run(&sim, HOUR));
	sim_crash(&sim);
	sim_boot(&sim, false, sim_real(&sim) + MINUTE);
	ck_assert(sim_run(&sim, MINUTE));
	told("starting running interrupted missed catch-up ");
}
END_TEST

START_TEST(a_skip_is_kept_over_a_zone_change_a_restart_and_a_reload)
{
	pair("OnCalendar=*-*-* 12:00:00 UTC\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + 12 * HOUR, true), 0);
	ck_assert(sim_set_zone(&sim, SIM_NEW_YORK));
	ck_assert(sim_run(&sim, HOUR));
	sim_shutdown(&sim);
	sim_boot(&sim, false, SIM_2026 + 2 * HOUR);
	ck_assert(sim_set_zone(&sim, SIM_UTC));
	timer("a.timer", "OnCalendar=*-*-* 12:00:00 UTC\nAccuracySec=1s\n");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run_until(&sim, SIM_2026 + 13 * HOUR));
	happened(0, "missed", "skipped-by-admin", SIM_2026 + 12 * HOUR);
	nothing_more(1);
}
END_TEST

/* Noon in New York is another moment. */
START_TEST(a_skip_is_forgotten_where_it_is_no_moment_any_more)
{
	pair("OnCalendar=*-*-* 12:00:00\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert_int_eq(sim_skip(&sim, "a.timer", SIM_2026 + 12 * HOUR, true), 0);
	ck_assert(sim_set_zone(&sim, SIM_NEW_YORK));
	ck_assert(sim_set_zone(&sim, SIM_UTC));
	ck_assert(sim_run_until(&sim, SIM_2026 + 13 * HOUR));
	happened(0, "run", "calendar", SIM_2026 + 12 * HOUR);
	nothing_more(1);
}
END_TEST

START_TEST(timers_wait_for_the_start_up)
{
	pair("OnStartupSec=0\n");
	job.takes = 5 * MINUTE;
	service("boot.service", "Enabled=yes\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_is_running(&sim)); /* nothing was linked: it does not wait */
	ck_assert(sim_run(&sim, MINUTE));
	happened(0, "run", "startup", SIM_2026);
}
END_TEST

/* b.service fails, a.service does not. */
static struct sim_job dependency_fails(struct sim *s, const char *unit, enum exec_phase phase)
{
	(void) s, (void) phase;
	return (struct sim_job) { .takes = 2 * SECOND, .wstatus = strcmp(unit, "b.service") == 0 ? EXIT(1) : 0 };
}

static void pair_with_dependency(const char *lines)
{
	pair(lines);
	sim_write(&sim, "a.service",
		  "[Unit]\nRequires=b.service\nAfter=b.service\n[Service]\nExecStart=/bin/job\n");
	service("b.service", "");
}

START_TEST(a_target_that_waits_for_another_service_is_active)
{
	pair_with_dependency("OnCalendar=hourly\n");
	job.takes = 40 * MINUTE;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 3 * HOUR - MINUTE));
	happened(0, "run", "dependency", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + HOUR + 40 * MINUTE);
	ck_assert_uint_eq(note[1].scheduled, SIM_2026 + HOUR);
	happened(2, "missed", "overlap", SIM_2026 + 2 * HOUR);
	nothing_more(3);
}
END_TEST

START_TEST(a_run_that_fails_for_what_it_requires_is_not_retried)
{
	pair_with_dependency("OnCalendar=hourly\nRetrySec=1min\n");
	sim.job = dependency_fails;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 2 * HOUR + MINUTE));
	happened(0, "run", "dependency", SIM_2026 + HOUR);
	happened(1, "run", "dependency", SIM_2026 + 2 * HOUR);
	nothing_more(2);
}
END_TEST

START_TEST(a_service_that_gives_up_is_retried_by_its_timer)
{
	pair("OnCalendar=daily\nRetrySec=1h\n");
	sim_write(&sim, "a.service", "[Unit]\nStartLimitIntervalSec=1min\nStartLimitBurst=2\n"
				     "[Service]\nExecStart=/bin/job\nRestart=on-failure\nRestartSec=10\n");
	job.wstatus = EXIT(1);
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, DAY + 70 * MINUTE));
	happened(0, "run", "calendar", SIM_2026 + DAY);
	happened(1, "run", "restart", SIM_2026 + DAY + 12 * SECOND);
	happened(2, "retry", "", SIM_2026 + DAY + 24 * SECOND);
	happened(3, "run", "retry", SIM_2026 + DAY + HOUR + 24 * SECOND);
	happened(4, "run", "restart", SIM_2026 + DAY + HOUR + 36 * SECOND);
	nothing_more(5);
}
END_TEST

static void damage(struct sim_blob *b, size_t at)
{
	((char *) b->bytes)[at] ^= 4;
	b->is_cut = true;
}

START_TEST(a_damaged_state_file_is_set_aside_and_the_one_before_is_read)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 150 * MINUTE));
	sim_shutdown(&sim);
	damage(&sim.generation[0], sim.generation[0].n / 2);
	sim_boot(&sim, true, SIM_2026 + 10 * HOUR);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert_uint_eq(sim.n_set_aside, 1);
	happened(2, "missed", "downtime", SIM_2026 + 10 * HOUR);
	happened(3, "run", "catch-up", SIM_2026 + 10 * HOUR);
	nothing_more(4);
}
END_TEST

START_TEST(without_a_sound_state_file_there_is_no_storm)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 150 * MINUTE));
	sim_shutdown(&sim);
	damage(&sim.generation[0], 30);
	damage(&sim.generation[1], 30);
	sim_boot(&sim, true, SIM_2026 + 10 * HOUR + MINUTE);
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(2);
}
END_TEST

/* The one before is read again, should supd die before it has written another. */
START_TEST(a_state_file_that_was_set_aside_is_missed_by_nobody)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 150 * MINUTE));
	sim_shutdown(&sim);
	damage(&sim.generation[0], sim.generation[0].n / 2);
	sim.is_disk_full = true;
	sim_boot(&sim, true, SIM_2026 + 10 * HOUR);
	happened(2, "missed", "downtime", SIM_2026 + 10 * HOUR);
	nothing_more(3);
	sim_crash(&sim);
	ck_assert(!sim.generation[0].bytes);
	sim_boot(&sim, true, SIM_2026 + 11 * HOUR);
	ck_assert(sim_run(&sim, MINUTE));
	happened(3, "missed", "downtime", SIM_2026 + 11 * HOUR);
	happened(4, "run", "catch-up", SIM_2026 + 11 * HOUR);
	nothing_more(5);
}
END_TEST

START_TEST(a_timer_that_was_gone_for_two_hours_is_remembered)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 90 * MINUTE));
	sim_write(&sim, "a.timer", NULL);
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, 2 * HOUR));
	nothing_more(1);
	timer("a.timer", "OnCalendar=hourly\n");
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, MINUTE));
	happened(1, "missed", "downtime", SIM_2026 + 210 * MINUTE);
	happened(2, "run", "catch-up", SIM_2026 + 210 * MINUTE);
	nothing_more(3);
}
END_TEST

START_TEST(a_pause_on_a_full_disk_forgets_nothing)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, MINUTE));
	sim.is_disk_full = true;
	ck_assert(sim_run(&sim, HOUR));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	ck_assert_int_eq(sim_pause(&sim, true), 1);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert_int_eq(sim_pause(&sim, false), 1);
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(1);
}
END_TEST

START_TEST(a_catch_up_that_sleeps_until_it_is_too_old_is_missed)
{
	pair("OnCalendar=daily\nCatchUpSec=2h\n");
	sim_boot(&sim, false, SIM_2026 + 22 * HOUR);
	ck_assert(sim_run(&sim, HOUR));
	sim_shutdown(&sim);
	sim_boot(&sim, true, SIM_2026 + DAY + 30 * MINUTE);
	nothing_more(0);
	ck_assert(sim_suspend(&sim, 5 * HOUR));
	happened(0, "missed", "downtime", SIM_2026 + DAY + 5 * HOUR + 30 * MINUTE);
	nothing_more(1);
}
END_TEST

START_TEST(a_record_from_the_future_is_believed_of_the_past)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 150 * MINUTE));
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	sim_shutdown(&sim);
	sim_boot(&sim, true, SIM_2026 + 10 * DAY + MINUTE);
	ck_assert(sim_run(&sim, 30 * MINUTE));
	happened(2, "missed", "downtime", SIM_2026 + 10 * DAY + MINUTE);
	happened(3, "run", "catch-up", SIM_2026 + 10 * DAY + MINUTE);
	sim_shutdown(&sim);
	sim_boot(&sim, true, SIM_2026 + 3 * HOUR + MINUTE);
	ck_assert(sim_set_clock(&sim, SIM_2026 + 30 * MINUTE));
	ck_assert(sim_run(&sim, 2 * HOUR));
	nothing_more(4);
}
END_TEST

START_TEST(a_crash_at_every_call_of_a_start_loses_nothing)
{
	for (uint64_t call = 1; call < 60; call++) {
		teardown();
		setup();
		pair("OnCalendar=hourly\n");
		sim_boot(&sim, false, SIM_2026);
		ck_assert(sim_run(&sim, 59 * MINUTE));
		sim_crash_at(&sim, call);
		if (sim_run(&sim, 2 * MINUTE))
			sim_crash(&sim);
		sim_boot(&sim, false, SIM_2026 + 62 * MINUTE);
		ck_assert(sim_run(&sim, 10 * MINUTE));
		/* it ran once; or it did not come to an end that is known, and ran as a catch-up */
		for (size_t i = 0, runs = 0; i < n_notes; i++) {
			if (strcmp(note[i].what, "run") != 0)
				continue;
			ck_assert_uint_eq(note[i].scheduled, SIM_2026 + HOUR);
			ck_assert_msg(runs == 0 || strcmp(note[i].why, "catch-up") == 0, "call %llu: a second %s",
				      (unsigned long long) call, note[i].why);
			ck_assert_uint_lt(runs++, 2);
		}
		ck_assert_uint_gt(n_notes, 0);
		ck_assert(!sim_is_unit_active(&sim, "a.service"));
	}
}
END_TEST

/* ---- what waits for the disk ---- */

static unsigned n_executed;

static void on_executed(void *data _unused_, const char *unit _unused_, const uint8_t run_id[16] _unused_,
			int written _unused_)
{
	n_executed++;
}

/* An hourly timer at its moment: its run waits for the intent, which is being written. */
static void wait_for_the_disk(const char *more)
{
	service("a.service", more);
	timer("a.timer", "OnCalendar=hourly\n");
	n_executed = 0;
	sim.watcher.executed = on_executed;
	sim.save_takes = 20 * SECOND;
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, HOUR));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	ck_assert(sim_is_unit_active(&sim, "a.service"));
	ck_assert_uint_eq(n_executed, 0);
	ck_assert_uint_eq(sim.n_writing, 1);
}

START_TEST(what_waits_for_the_disk_runs_when_that_is_done)
{
	wait_for_the_disk("");
	while (sim.n_writing > 0) {
		ck_assert_uint_eq(n_executed, 0);
		ck_assert(sim_run_events(&sim, 20 * SECOND, 1));
	}
	ck_assert_uint_eq(n_executed, 1);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert(!sim_is_unit_active(&sim, "a.service"));
	nothing_more(1);
}
END_TEST

START_TEST(what_is_stopped_while_it_waits_for_the_disk_is_never_executed)
{
	wait_for_the_disk("");
	ck_assert_int_eq(sim_stop(&sim, "a.service"), MANAGER_DONE);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert(!sim_is_unit_active(&sim, "a.service"));
	ck_assert_uint_eq(n_executed, 0);
	/* That it is over was written as well: nothing is made up for. */
	sim_crash(&sim);
	sim_boot(&sim, false, SIM_2026 + HOUR + 5 * MINUTE);
	ck_assert(sim_run(&sim, HOUR));
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	ck_assert_uint_eq(n_executed, 1);
	nothing_more(2);
}
END_TEST

START_TEST(what_waits_for_the_disk_for_too_long_has_failed_and_is_never_executed)
{
	const struct unit *u;

	wait_for_the_disk("TimeoutStartSec=1us\n");
	ck_assert(sim_run(&sim, MINUTE));
	u = manager_unit(sim.manager, "a.service");
	ck_assert(!unit_is_active(u));
	ck_assert_int_eq(u->run->result, RUN_RESULT_TIMEOUT);
	ck_assert_uint_eq(n_executed, 0);
	nothing_more(1); /* a timeout is not retried */
}
END_TEST

START_TEST(timers_that_pause_let_go_what_waits_for_the_disk)
{
	wait_for_the_disk("");
	ck_assert_int_eq(sim_pause(&sim, true), 1);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert_uint_eq(n_executed, 1);
	ck_assert_int_eq(sim_pause(&sim, false), 1);
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(1);
}
END_TEST

START_TEST(a_timer_that_is_removed_lets_go_what_waits_for_the_disk)
{
	wait_for_the_disk("");
	sim_write(&sim, "a.timer", NULL);
	ck_assert_int_eq(sim_reload(&sim), 0);
	ck_assert(sim_run(&sim, MINUTE));
	ck_assert_uint_eq(n_executed, 1);
	ck_assert(!sim_is_unit_active(&sim, "a.service"));
	nothing_more(1);
}
END_TEST

static int save_refused(void *ctx _unused_, const char *plugin _unused_, uint64_t ticket _unused_,
			const void *bytes _unused_, size_t n _unused_)
{
	return -ENOMEM;
}

START_TEST(an_intent_that_cannot_even_be_handed_over_stops_no_job)
{
	sim.world.save = sim.world.append = save_refused;
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 2 * HOUR + MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	nothing_more(2);
	ck_assert_ptr_nonnull(strstr(sim.told, "not-persisted"));
}
END_TEST

static int load_refused(void *ctx _unused_, const char *plugin _unused_, unsigned generation _unused_,
			void **ret _unused_, size_t *ret_n _unused_)
{
	return -EIO;
}

START_TEST(timers_without_a_memory_run)
{
	sim.world.load = load_refused;
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert(sim_run(&sim, 2 * HOUR + MINUTE));
	happened(0, "run", "calendar", SIM_2026 + HOUR);
	happened(1, "run", "calendar", SIM_2026 + 2 * HOUR);
	nothing_more(2);
	ck_assert_ptr_null(sim.generation[0].bytes);
}
END_TEST

static int start_refused(void *ctx _unused_, const char *unit _unused_, const struct supd_cause *cause _unused_,
			 uint64_t ticket _unused_)
{
	return -ENOMEM;
}

START_TEST(what_is_refused_behind_its_intent_is_missed_and_that_is_written)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	sim.manager->host.table.start_after = start_refused;
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	happened(0, "missed", "resources", SIM_2026 + HOUR);
	ck_assert_int_eq(sim_command(&sim, SUPD_COMMAND_TRIGGER, "a.timer"), -EAGAIN);
	happened(1, "missed", "resources", SIM_2026 + HOUR + MINUTE);
	ck_assert(sim_run(&sim, MINUTE));
	/* It was no run that could have been interrupted. */
	sim_crash(&sim);
	sim_boot(&sim, false, SIM_2026 + HOUR + 5 * MINUTE);
	ck_assert(sim_run(&sim, MINUTE));
	nothing_more(2);
}
END_TEST

START_TEST(timers_do_not_begin_with_a_host_that_holds_nothing_back)
{
	pair("OnCalendar=hourly\n");
	sim_boot(&sim, false, SIM_2026);
	ck_assert_int_eq(sim_gate(&sim, false), 1);
	sim.manager->host.table.size = offsetof(struct supd_host, start_after);
	ck_assert_int_lt(sim_gate(&sim, true), 0);
	ck_assert(!sim_is_running(&sim));
	ck_assert(sim_run(&sim, HOUR + MINUTE));
	nothing_more(0);
}
END_TEST

static Suite *scenarios_suite(void)
{
	Suite *s = suite_create("sim/scenarios");
	TCase *t = tcase_create("stories");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_year_of_a_daily_timer);
	tcase_add_test(t, a_year_of_a_quarter_hourly_timer_through_both_changes);
	tcase_add_test(t, an_overlap);
	tcase_add_test(t, a_stop_in_the_middle_of_a_run);
	tcase_add_test(t, a_shutdown_in_the_middle_of_a_run_interrupts_it);
	tcase_add_test(t, the_ladder_is_exact);
	tcase_add_test(t, a_night_off);
	tcase_add_test(t, a_week_off_is_on_record_as_missed);
	tcase_add_test(t, many_catch_ups_are_spread);
	tcase_add_test(t, a_crash_in_a_run_is_made_up_for);
	tcase_add_test(t, a_crash_just_after_a_short_run_runs_nothing_twice);
	tcase_add_test(t, an_interval_of_seven_days_counts_over_restarts);
	tcase_add_test(t, a_reload_keeps_anchors_and_runs);
	tcase_add_test(t, what_is_only_written_otherwise_changes_nothing_at_a_reload);
	tcase_add_test(t, a_reload_with_a_mistake_changes_nothing);
	tcase_add_test(t, a_reload_that_takes_the_target_from_a_running_timer);
	tcase_add_test(t, two_timers_on_one_target);
	tcase_add_test(t, what_is_due_at_once_comes_in_the_order_of_names);
	tcase_add_test(t, the_clock_forward_and_back);
	tcase_add_test(t, a_board_that_boots_in_1970);
	tcase_add_test(t, an_interval_on_a_board_that_boots_in_1970_every_day);
	tcase_add_test(t, a_first_boot_in_1970_misses_nothing);
	tcase_add_test(t, a_wrong_clock_at_boot_that_is_put_right);
	tcase_add_test(t, an_edit_while_a_moment_waits_out_its_delay);
	tcase_add_test(t, suspend_over_a_moment);
	tcase_add_test(t, a_catch_up_is_announced_as_well_if_it_takes_the_place_of_another);
	tcase_add_test(t, a_target_that_remains_after_exit);
	tcase_add_test(t, what_no_longer_remains_after_exit_is_stopped_by_a_reload);
	tcase_add_test(t, a_condition_that_says_no_is_neither_failure_nor_success);
	tcase_add_test(t, a_masked_target_misses_and_the_interval_goes_on);
	tcase_add_test(t, a_disabled_target_misses_but_a_person_may_trigger_it);
	tcase_add_test(t, a_skipped_moment_is_on_record_and_over_a_crash_too);
	tcase_add_test(t, a_full_disk_stops_no_job);
	tcase_add_test(t, the_gate_and_a_pause_stop_everything_and_nothing_is_lost);
	tcase_add_test(t, what_an_admin_does_is_told);
	tcase_add_test(t, what_becomes_of_time_and_of_the_disk_is_told);
	tcase_add_test(t, a_skip_is_kept_over_a_zone_change_a_restart_and_a_reload);
	tcase_add_test(t, a_skip_is_forgotten_where_it_is_no_moment_any_more);
	tcase_add_test(t, timers_wait_for_the_start_up);
	tcase_add_test(t, a_target_that_waits_for_another_service_is_active);
	tcase_add_test(t, a_run_that_fails_for_what_it_requires_is_not_retried);
	tcase_add_test(t, a_service_that_gives_up_is_retried_by_its_timer);
	tcase_add_test(t, a_damaged_state_file_is_set_aside_and_the_one_before_is_read);
	tcase_add_test(t, without_a_sound_state_file_there_is_no_storm);
	tcase_add_test(t, a_state_file_that_was_set_aside_is_missed_by_nobody);
	tcase_add_test(t, a_timer_that_was_gone_for_two_hours_is_remembered);
	tcase_add_test(t, a_pause_on_a_full_disk_forgets_nothing);
	tcase_add_test(t, a_catch_up_that_sleeps_until_it_is_too_old_is_missed);
	tcase_add_test(t, a_record_from_the_future_is_believed_of_the_past);
	tcase_add_test(t, a_crash_at_every_call_of_a_start_loses_nothing);
	tcase_add_test(t, what_waits_for_the_disk_runs_when_that_is_done);
	tcase_add_test(t, what_is_stopped_while_it_waits_for_the_disk_is_never_executed);
	tcase_add_test(t, what_waits_for_the_disk_for_too_long_has_failed_and_is_never_executed);
	tcase_add_test(t, timers_that_pause_let_go_what_waits_for_the_disk);
	tcase_add_test(t, a_timer_that_is_removed_lets_go_what_waits_for_the_disk);
	tcase_add_test(t, an_intent_that_cannot_even_be_handed_over_stops_no_job);
	tcase_add_test(t, timers_without_a_memory_run);
	tcase_add_test(t, what_is_refused_behind_its_intent_is_missed_and_that_is_written);
	tcase_add_test(t, timers_do_not_begin_with_a_host_that_holds_nothing_back);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(scenarios_suite)
