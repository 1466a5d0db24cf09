/* SPDX-License-Identifier: MIT */
/* Units with dependencies, in the real manager: when they start, stop, and fail without having
 * begun. */
#include "core/turns.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/core/fake_world.h"

#define EXIT(code) ((code) << 8)
#define JOB "[Service]\nExecStart=/bin/job\n"
#define STAYS "[Service]\nRemainAfterExit=yes\nExecStart=/bin/job\nExecStop=/bin/stop\n"
#define UNIT(lines) "[Unit]\n" lines "\n" JOB
#define UNIT_STAYS(lines) "[Unit]\n" lines "\n" STAYS

static struct fake_world world;
static struct specifiers specifiers;
static struct manager_config config;
static struct manager *m;
static unsigned n_ended;

static void note_settled(void *userdata _unused_, struct unit *u _unused_, bool run_ended)
{
	n_ended += run_ended;
}

static void set_up(void)
{
	n_ended = 0;
	config = (struct manager_config) { .specifiers = &specifiers };
	fake_world_init(&world);
	m = NULL;
}

static void tear_down(void)
{
	m = manager_free(m);
}

static void begin(void)
{
	const struct manager_observer observer = { .settled = note_settled };
	struct diag d = { 0 };

	ck_assert_int_eq(manager_new(&world.world, &config, &m), 0);
	manager_observe(m, &observer);
	ck_assert_int_eq(manager_load(m, &d), 0);
	manager_begin(m, &world.now);
}

static enum manager_verdict start(const char *unit)
{
	const struct supd_cause cause = { .size = sizeof(cause), .kind = "manual", .attempt = 1 };

	return manager_start_unit(m, &world.now, unit, &cause);
}

static enum manager_verdict restart(const char *unit)
{
	const struct supd_cause cause = { .size = sizeof(cause), .kind = "manual", .attempt = 1 };

	return manager_restart_unit(m, &world.now, unit, &cause);
}

static void stop(const char *unit)
{
	ck_assert_int_eq(manager_stop_unit(m, &world.now, unit), MANAGER_DONE);
}

static const struct unit *unit(const char *name)
{
	return manager_unit(m, name);
}

static void finish(const char *name, int status)
{
	fake_finish(&world, m, name, EXIT(status));
}

static bool has_run(const char *name)
{
	return fake_process(&world, name);
}

static const char *state(const char *name)
{
	return service_state_to_string(unit(name)->service.state);
}

static const char *words(const char *name)
{
	static char buf[512];

	return run_result_words(unit(name)->run, buf, sizeof(buf));
}

/* ---- starting ---- */

START_TEST(what_it_requires_and_comes_after_runs_first)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", JOB);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert(has_run("b.service"));
	ck_assert(!has_run("a.service"));
	ck_assert(unit_is_active(unit("a.service")));
	ck_assert(unit_is_waiting(unit("a.service")));
	ck_assert_int_eq(start("a.service"), MANAGER_ALREADY_ACTIVE);
	ck_assert_str_eq(unit("b.service")->run->cause, "dependency");
	ck_assert_str_eq(unit("b.service")->run->trigger_unit, "a.service");
	finish("b.service", 0);
	ck_assert(has_run("a.service"));
	ck_assert_str_eq(unit("a.service")->run->cause, "manual");
	finish("a.service", 0);
	ck_assert_int_eq(unit("a.service")->run->result, RUN_RESULT_SUCCESS);
}
END_TEST

START_TEST(a_failure_of_what_is_required_is_ones_own)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", UNIT("Requires=c.service\nAfter=c.service"));
	fake_unit(&world, "c.service", JOB);
	begin();
	start("a.service");
	finish("c.service", 3);
	ck_assert(!has_run("a.service") && !has_run("b.service"));
	ck_assert_uint_eq(n_ended, 3);
	ck_assert_str_eq(words("b.service"), "dependency failed: c.service (failed exit 3)");
	ck_assert_str_eq(words("a.service"),
			 "dependency failed: b.service (dependency failed: c.service (failed exit 3))");
	ck_assert_str_eq(state("a.service"), "failed");
	ck_assert(!unit_is_active(unit("a.service")));
}
END_TEST

START_TEST(a_failure_of_what_is_wanted_is_not)
{
	fake_unit(&world, "a.service", UNIT("Wants=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", JOB);
	begin();
	start("a.service");
	ck_assert(!has_run("a.service"));
	finish("b.service", 1);
	ck_assert(has_run("a.service"));
}
END_TEST

START_TEST(a_skip_is_no_failure)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", "[Service]\nExecCondition=/bin/no\nExecStart=/bin/job\n");
	begin();
	start("a.service");
	finish("b.service", 1);
	ck_assert_int_eq(unit("b.service")->run->result, RUN_RESULT_SKIPPED);
	ck_assert(has_run("a.service"));
}
END_TEST

START_TEST(what_is_missing_is_named)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service"));
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_int_eq(unit("a.service")->run->result, RUN_RESULT_DEPENDENCY);
	ck_assert_str_eq(words("a.service"), "dependency failed: b.service does not exist");
	ck_assert_uint_eq(world.n_processes, 0);
}
END_TEST

static const char *const there[] = {
	"Requires=network-online.target\nAfter=network-online.target",
	"Requires=x.mount -.slice dev-sda.device y.socket\nAfter=x.mount",
	"Wants=missing.service\nAfter=missing.service",
	"Requires=daemon.service\nAfter=daemon.service",
	"Wants=a.service\nAfter=a.service",
};

START_TEST(what_only_systemd_has_is_taken_as_there)
{
	char text[256];

	(void) snprintf(text, sizeof(text), "[Unit]\n%s\n" JOB, there[_i]);
	fake_unit(&world, "a.service", text);
	fake_unit(&world, "daemon.service", "[Service]\nType=simple\nExecStart=/bin/job\n");
	begin();
	ck_assert_ptr_null(unit("a.service")->node);
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert(has_run("a.service"));
}
END_TEST

START_TEST(what_remains_active_is_not_run_again)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", STAYS);
	begin();
	start("a.service");
	finish("b.service", 0);
	finish("a.service", 0);
	start("a.service");
	ck_assert_uint_eq(world.n_processes, 3);
}
END_TEST

START_TEST(what_runs_is_waited_for_without_being_pulled_in)
{
	fake_unit(&world, "a.service", UNIT("After=b.service"));
	fake_unit(&world, "b.service", JOB);
	begin();
	start("b.service");
	start("a.service");
	ck_assert(!has_run("a.service"));
	finish("b.service", 1);
	ck_assert(has_run("a.service"));
}
END_TEST

START_TEST(what_conflicts_is_stopped_first)
{
	fake_unit(&world, "a.service", UNIT("Conflicts=b.service"));
	fake_unit(&world, "b.service", STAYS);
	begin();
	start("b.service");
	finish("b.service", 0);
	start("a.service");
	ck_assert(!has_run("a.service"));
	ck_assert_int_eq(fake_process(&world, "b.service")->phase, EXEC_STOP);
	finish("b.service", 0);
	ck_assert_str_eq(state("b.service"), "dead");
	ck_assert(has_run("a.service"));
}
END_TEST

START_TEST(a_restart_of_what_is_required_is_waited_for)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", "[Service]\nExecStart=/bin/job\nRestart=on-failure\nRestartSec=1\n");
	begin();
	start("a.service");
	finish("b.service", 1);
	ck_assert(unit_is_waiting(unit("a.service")));
	world.now.boot += USEC_PER_SEC;
	manager_wake(m, &world.now, SUPD_CLOCK_BOOTTIME);
	finish("b.service", 0);
	ck_assert(has_run("a.service"));
}
END_TEST

START_TEST(a_target_is_the_group_of_what_it_wants)
{
	fake_unit(&world, "all.target", "[Unit]\nWants=a.service b.service\n[Install]\nWantedBy=default.target\n");
	fake_unit(&world, "a.service", JOB);
	fake_unit(&world, "b.service", UNIT("PartOf=all.target"));
	fake_unit(&world, "late.service", UNIT("After=all.target"));
	begin();
	ck_assert_int_eq(start("all.target"), MANAGER_DONE);
	start("late.service");
	ck_assert(has_run("a.service") && has_run("b.service"));
	finish("a.service", 1);
	ck_assert_str_eq(state("all.target"), "dead");
	ck_assert(!has_run("late.service"));
	finish("b.service", 0);
	ck_assert_str_eq(state("all.target"), "exited");
	ck_assert_int_eq(unit("all.target")->run->result, RUN_RESULT_SUCCESS);
	ck_assert(has_run("late.service"));
	start("b.service");
	stop("all.target");
	ck_assert_int_eq(unit("b.service")->service.no_restart, true);
}
END_TEST

/* ---- stopping ---- */

START_TEST(a_stop_takes_along_what_requires_it_and_in_reverse_order)
{
	fake_unit(&world, "a.service", UNIT_STAYS("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", STAYS);
	begin();
	start("a.service");
	finish("b.service", 0);
	finish("a.service", 0);
	stop("b.service");
	ck_assert_int_eq(fake_process(&world, "a.service")->phase, EXEC_STOP);
	ck_assert_str_eq(state("b.service"), "exited");
	finish("a.service", 0);
	ck_assert_int_eq(fake_process(&world, "b.service")->phase, EXEC_STOP);
	finish("b.service", 0);
	ck_assert_str_eq(state("a.service"), "dead");
	ck_assert_str_eq(state("b.service"), "dead");
}
END_TEST

START_TEST(a_stop_ends_what_waits)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", JOB);
	begin();
	start("a.service");
	stop("a.service");
	ck_assert_int_eq(unit("a.service")->run->result, RUN_RESULT_STOPPED);
	ck_assert_str_eq(state("a.service"), "dead");
	finish("b.service", 0);
	ck_assert(!has_run("a.service"));
}
END_TEST

START_TEST(a_restart_carries_those_that_require_it)
{
	fake_unit(&world, "a.service", UNIT_STAYS("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", STAYS);
	begin();
	start("a.service");
	finish("b.service", 0);
	finish("a.service", 0);
	ck_assert_int_eq(restart("b.service"), MANAGER_DONE);
	finish("a.service", 0); /* its ExecStop= */
	ck_assert_str_eq(state("a.service"), "dead");
	finish("b.service", 0); /* stop, and start */
	ck_assert_str_eq(state("b.service"), "exited");
	ck_assert_str_eq(state("a.service"), "start");
	finish("a.service", 0);
	ck_assert_str_eq(state("a.service"), "exited");
	ck_assert_str_eq(unit("a.service")->run->cause, "dependency");
	ck_assert_str_eq(unit("b.service")->run->cause, "manual");
}
END_TEST

START_TEST(a_shutdown_stops_last_things_first)
{
	fake_unit(&world, "a.service", STAYS);
	fake_unit(&world, "b.service", UNIT_STAYS("Before=a.service"));
	fake_unit(&world, "c.service", UNIT("After=a.service"));
	begin();
	start("a.service");
	start("b.service");
	finish("b.service", 0);
	start("c.service");
	ck_assert(unit_is_waiting(unit("c.service")));
	finish("a.service", 0);
	finish("c.service", 0);
	manager_shutdown(m, &world.now, NULL);
	ck_assert_str_eq(state("b.service"), "exited");
	finish("a.service", 0);
	ck_assert_str_eq(state("b.service"), "stop");
	ck_assert_int_ne(manager_state(m), SUPD_MANAGER_ENDED);
	finish("b.service", 0);
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_ENDED);
}
END_TEST

START_TEST(a_shutdown_gives_up_what_waits)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", JOB);
	begin();
	start("a.service");
	manager_shutdown(m, &world.now, NULL);
	ck_assert_int_eq(unit("a.service")->run->result, RUN_RESULT_STOPPED);
	finish("b.service", 0);
	ck_assert(!has_run("a.service"));
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_ENDED);
}
END_TEST

/* ---- the start-up ---- */

START_TEST(the_start_up_obeys_the_order)
{
	fake_unit(&world, "a.service", UNIT("After=z.service"))->is_wanted = true;
	fake_unit(&world, "b.service", UNIT("Requires=bad.service\nAfter=bad.service"))->is_wanted = true;
	fake_unit(&world, "bad.service", JOB);
	fake_unit(&world, "z.service", JOB)->is_wanted = true;
	begin();
	ck_assert(!has_run("a.service"));
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_STARTING);
	finish("bad.service", 1);
	ck_assert_int_eq(unit("b.service")->run->result, RUN_RESULT_DEPENDENCY);
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_STARTING);
	finish("z.service", 0);
	ck_assert(has_run("a.service"));
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_STARTING);
	finish("a.service", 0);
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_RUNNING);
}
END_TEST

START_TEST(the_start_up_does_not_wait_for_who_waits_for_restarts)
{
	fake_unit(&world, "a.service", UNIT("After=z.service"))->is_wanted = true;
	fake_unit(&world, "z.service", "[Service]\nExecStart=/bin/job\nRestart=on-failure\nRestartSec=1h\n")->is_wanted =
		true;
	begin();
	finish("z.service", 1);
	ck_assert(unit_is_waiting(unit("a.service")));
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_RUNNING);
}
END_TEST

/* ---- what follows ---- */

START_TEST(a_failure_starts_what_it_names_and_tells_it)
{
	const struct run_monitor *monitor;

	fake_unit(&world, "a.service", UNIT("OnFailure=mail.service\nOnSuccess=good.service"));
	fake_unit(&world, "good.service", JOB);
	fake_unit(&world, "mail.service", JOB);
	begin();
	start("a.service");
	finish("a.service", 7);
	ck_assert(has_run("mail.service"));
	ck_assert(!has_run("good.service"));
	ck_assert_str_eq(unit("mail.service")->run->cause, "on-failure");
	ck_assert_str_eq(unit("mail.service")->run->trigger_unit, "a.service");
	monitor = unit("mail.service")->run->monitor;
	ck_assert_ptr_nonnull(monitor);
	ck_assert_str_eq(monitor->unit, "a.service");
	ck_assert_int_eq(monitor->result, RUN_RESULT_EXIT_CODE);
	ck_assert_int_eq(monitor->main_wstatus, EXIT(7));
	ck_assert_mem_eq(monitor->id, unit("a.service")->run->id, RUN_ID_BYTES);
	finish("mail.service", 0);
	start("a.service");
	finish("a.service", 0);
	ck_assert_str_eq(unit("good.service")->run->cause, "on-success");
}
END_TEST

START_TEST(what_is_bound_to_it_stops_with_it)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "a.service", UNIT_STAYS("BindsTo=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", STAYS);
	begin();
	start("a.service");
	finish("b.service", 0);
	finish("a.service", 0);
	/* A reload makes it end by itself. */
	fake_unit(&world, "b.service", JOB);
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	reload_report_done(&report);
	manager_tree_empty(m, &world.now, unit("b.service")->token);
	ck_assert_str_eq(state("a.service"), "stop");
}
END_TEST

START_TEST(some_are_not_started_or_stopped_by_hand)
{
	fake_unit(&world, "a.service", UNIT("Requires=b.service"));
	fake_unit(&world, "b.service", UNIT_STAYS("RefuseManualStart=yes\nRefuseManualStop=yes"));
	begin();
	ck_assert_int_eq(start("b.service"), MANAGER_NO_MANUAL_START);
	start("a.service");
	ck_assert(has_run("b.service"));
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "b.service"), MANAGER_NO_MANUAL_STOP);
}
END_TEST

/* ---- circles, and reloads ---- */

START_TEST(a_circle_makes_its_units_invalid_and_is_named)
{
	const struct diag *d;

	fake_unit(&world, "a.service", UNIT("After=b.service"));
	fake_unit(&world, "b.service", UNIT("Requires=a.service\nAfter=a.service"));
	fake_unit(&world, "c.service", UNIT("Wants=a.service\nAfter=a.service"));
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_INVALID);
	ck_assert_int_eq(start("b.service"), MANAGER_INVALID);
	d = &unit("a.service")->config->problems;
	ck_assert_uint_eq(d->n, 1);
	ck_assert_str_eq(d->entry[0].message, "the order goes in a circle: a.service → b.service → a.service");
	ck_assert_str_eq(d->entry[0].file, "/units/a.service");
	ck_assert_uint_eq(d->entry[0].line, 2);
	ck_assert_uint_eq(unit("b.service")->config->problems.entry[0].line, 3);
	ck_assert_int_eq(start("c.service"), MANAGER_DONE);
	ck_assert(has_run("c.service"));
}
END_TEST

START_TEST(a_reload_refuses_a_circle_and_forgets_one_that_is_gone)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "a.service", UNIT("After=b.service"));
	fake_unit(&world, "b.service", JOB);
	begin();
	fake_unit(&world, "b.service", UNIT("After=a.service"));
	ck_assert_int_eq(manager_reload(m, &world.now, &report), -EBADMSG);
	ck_assert_uint_ge(report.mistakes.n, 1);
	reload_report_done(&report);
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	finish("a.service", 0);
	m = manager_free(m);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_INVALID);
	/* An old circle does not stand in the way, and ends when either file says so. */
	fake_unit(&world, "c.service", JOB);
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	reload_report_done(&report);
	ck_assert_int_eq(start("a.service"), MANAGER_INVALID);
	fake_unit(&world, "b.service", JOB);
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	reload_report_done(&report);
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_uint_eq(unit("a.service")->config->problems.n, 0);
}
END_TEST

START_TEST(who_waits_lives_through_a_reload)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "a.service", UNIT("Requires=b.service\nAfter=b.service"));
	fake_unit(&world, "b.service", JOB);
	fake_unit(&world, "gone.service", UNIT("After=b.service"));
	begin();
	start("a.service");
	start("gone.service");
	fake_unit(&world, "a.service", JOB);
	fake_unit_remove(&world, "gone.service");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	reload_report_done(&report);
	/* Nothing keeps it any more. */
	ck_assert(has_run("a.service"));
	finish("b.service", 0);
	ck_assert(!has_run("gone.service"));
	ck_assert_ptr_null(unit("gone.service"));
}
END_TEST

static Suite *turns_suite(void)
{
	Suite *s = suite_create("turns");
	TCase *tc = tcase_create("turns");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, what_it_requires_and_comes_after_runs_first);
	tcase_add_test(tc, a_failure_of_what_is_required_is_ones_own);
	tcase_add_test(tc, a_failure_of_what_is_wanted_is_not);
	tcase_add_test(tc, a_skip_is_no_failure);
	tcase_add_test(tc, what_is_missing_is_named);
	tcase_add_loop_test(tc, what_only_systemd_has_is_taken_as_there, 0, (int) ELEMENTS(there));
	tcase_add_test(tc, what_remains_active_is_not_run_again);
	tcase_add_test(tc, what_runs_is_waited_for_without_being_pulled_in);
	tcase_add_test(tc, what_conflicts_is_stopped_first);
	tcase_add_test(tc, a_restart_of_what_is_required_is_waited_for);
	tcase_add_test(tc, a_target_is_the_group_of_what_it_wants);
	tcase_add_test(tc, a_stop_takes_along_what_requires_it_and_in_reverse_order);
	tcase_add_test(tc, a_stop_ends_what_waits);
	tcase_add_test(tc, a_restart_carries_those_that_require_it);
	tcase_add_test(tc, a_shutdown_stops_last_things_first);
	tcase_add_test(tc, a_shutdown_gives_up_what_waits);
	tcase_add_test(tc, the_start_up_obeys_the_order);
	tcase_add_test(tc, the_start_up_does_not_wait_for_who_waits_for_restarts);
	tcase_add_test(tc, a_failure_starts_what_it_names_and_tells_it);
	tcase_add_test(tc, what_is_bound_to_it_stops_with_it);
	tcase_add_test(tc, some_are_not_started_or_stopped_by_hand);
	tcase_add_test(tc, a_circle_makes_its_units_invalid_and_is_named);
	tcase_add_test(tc, a_reload_refuses_a_circle_and_forgets_one_that_is_gone);
	tcase_add_test(tc, who_waits_lives_through_a_reload);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(turns_suite)
