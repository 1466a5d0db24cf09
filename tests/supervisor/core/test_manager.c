/* SPDX-License-Identifier: MIT */
#include "core/manager.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/unit.h"
#include "service/run_said.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/core/fake_world.h"

#define JOB "[Service]\nExecStart=/bin/job\n"
#define EXIT(code) ((code) << 8)

/* What the observer heard. */
static struct {
	unsigned n_started, n_settled, n_ended, n_enabled;
	uint8_t last_run[RUN_ID_BYTES];
	enum run_result last_result;
	char events[512]; /* type, its unit, and of its fields texts and what is true */
} heard;

/* What the fake plugin heard. */
static struct {
	unsigned n_starts, n_stops, n_runs, n_prepared, n_committed, n_aborted;
	unsigned n_units; /* read at its start */
	bool is_failing;
	const char *target; /* asked for whenever units are read */
	int target_found;
	char value[64]; /* of the first assignment of the last unit */
	const struct supd_host *host;
	struct supd_run_event last;
} plugged;

static struct fake_world world;
static struct specifiers specifiers;
static struct manager_config config;
static struct manager *m;

/* ---- the plugin ---- */

static void on_wake(void *userdata _unused_, const struct supd_now *now _unused_, enum supd_clock clock _unused_)
{
}

static void on_jump(void *userdata _unused_, const struct supd_now *now _unused_, int64_t delta _unused_)
{
}

static void on_zone(void *userdata _unused_, const struct supd_now *now _unused_)
{
}

static void on_run(void *userdata _unused_, const struct supd_now *now _unused_,
		   const struct supd_run_event *run)
{
	plugged.n_runs++;
	plugged.last = *run;
}

static void on_saved(void *userdata _unused_, const struct supd_now *now _unused_, uint64_t ticket _unused_,
		     int result _unused_)
{
}

static bool want(void *userdata _unused_, const char *name _unused_, uint64_t fingerprint _unused_)
{
	return true;
}

static int take_unit(void *userdata _unused_, const struct supd_unit_file *file)
{
	plugged.n_units++;
	if (file->n_assignments > 0)
		(void) snprintf(plugged.value, sizeof(plugged.value), "%s", file->assignment[0].value);
	return 0;
}

static int read_units(void)
{
	const struct supd_unit_reader reader = { .size = sizeof(reader), .want = want, .unit = take_unit };

	struct supd_unit_state state = { .size = sizeof(state) };

	if (plugged.target)
		plugged.target_found = plugged.host->unit_state(plugged.host->ctx, plugged.target, &state);
	return plugged.host->read_units(plugged.host->ctx, &reader);
}

static int on_prepare(void *userdata _unused_, const struct supd_now *now _unused_)
{
	plugged.n_prepared++;
	return read_units();
}

static void on_commit(void *userdata _unused_, const struct supd_now *now _unused_)
{
	plugged.n_committed++;
}

static void on_abort(void *userdata _unused_)
{
	plugged.n_aborted++;
}

static int on_command(void *userdata _unused_, const struct supd_now *now _unused_,
		      const struct supd_command_request *request _unused_,
		      struct supd_command_reply *reply _unused_)
{
	return -ENOENT;
}

static const struct supd_listener listener = {
	.abi = SUPD_ABI, .size = sizeof(listener), .wake = on_wake, .clock_jump = on_jump, .zone_change = on_zone,
	.run = on_run, .saved = on_saved, .prepare = on_prepare, .commit = on_commit, .abort = on_abort,
	.command = on_command,
};

static int plugin_start(const struct supd_host *host, const struct supd_start_info *info _unused_,
			struct supd_instance **ret)
{
	plugged.n_starts++;
	plugged.host = host;
	if (plugged.is_failing)
		return -EIO;
	ck_assert_int_eq(host->subscribe(host->ctx, &listener, NULL), 0);
	*ret = (struct supd_instance *) &plugged;
	return read_units();
}

static void plugin_stop(struct supd_instance *self _unused_, const struct supd_now *now _unused_)
{
	plugged.n_stops++;
}

static int plugin_list(struct supd_instance *self _unused_, const struct supd_query *query _unused_,
		       supd_row_fn *row _unused_, void *userdata _unused_)
{
	return 0;
}

static const char *const expanded[] = { "Unit", NULL };

static const struct supd_plugin plugin = {
	.abi = SUPD_ABI, .size = sizeof(plugin), .name = "timer", .suffix = ".timer", .start = plugin_start,
	.stop = plugin_stop, .list = plugin_list, .expanded = expanded,
};

static const struct supd_plugin foreign_plugin = { .abi = SUPD_ABI + 1, .size = sizeof(foreign_plugin) };

/* ---- set up ---- */

static void note_started(void *userdata _unused_, struct unit *u _unused_)
{
	heard.n_started++;
}

static void note_settled(void *userdata _unused_, struct unit *u, bool run_ended)
{
	heard.n_settled++;
	heard.n_ended += run_ended;
	if (u->run) {
		memcpy(heard.last_run, u->run->id, RUN_ID_BYTES);
		heard.last_result = u->run->result;
	}
}

static void note_event(void *userdata _unused_, const char *type, const char *unit, const struct supd_row *fields)
{
	char *to = heard.events;

	(void) snprintf(to + strlen(to), sizeof(heard.events) - strlen(to), "%s(%s", type, unit ? unit : "");
	for (size_t i = 0; i < fields->n; i++) {
		const struct supd_field *f = &fields->field[i];
		const char *value = f->type == SUPD_STRING ? f->value.string : f->key;

		if (!str_equal(f->key, "run_id") && (f->type != SUPD_BOOL || f->value.boolean) && f->type != SUPD_NULL)
			(void) snprintf(to + strlen(to), sizeof(heard.events) - strlen(to), " %s", value);
	}
	(void) snprintf(to + strlen(to), sizeof(heard.events) - strlen(to), ") ");
}

static void note_enabled(void *userdata _unused_, const char *unit _unused_, bool has_changed _unused_)
{
	heard.n_enabled++;
}

static void expect_events(const char *events)
{
	ck_assert_str_eq(heard.events, events);
	heard.events[0] = '\0';
}

static void set_up(void)
{
	memset(&heard, 0, sizeof(heard));
	memset(&plugged, 0, sizeof(plugged));
	config = (struct manager_config) { .specifiers = &specifiers };
	fake_world_init(&world);
	world.plugin = &plugin;
	m = NULL;
}

static void tear_down(void)
{
	m = manager_free(m);
}

static void load_only(void)
{
	const struct manager_observer observer = { .started = note_started, .settled = note_settled, .event = note_event };
	struct diag d = { 0 };

	ck_assert_int_eq(manager_new(&world.world, &config, &m), 0);
	manager_observe(m, &observer);
	ck_assert_int_eq(manager_load(m, &d), 0);
	ck_assert_uint_eq(d.n, 0);
}

static void begin(void)
{
	load_only();
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

static bool was_told(enum supd_manager_state state)
{
	for (size_t i = 0; i < world.n_states; i++)
		if (world.states[i] == state)
			return true;
	return false;
}

/* ---- starting and stopping ---- */

START_TEST(a_run_is_told_from_start_to_end)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_uint_eq(heard.n_started, 1);
	ck_assert_uint_eq(heard.n_settled, 0);
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_uint_eq(heard.n_ended, 1);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_SUCCESS);
	ck_assert_mem_eq(heard.last_run, world.process[0].run_id, RUN_ID_BYTES);
	ck_assert(!unit_is_active(manager_unit(m, "a.service")));
}
END_TEST

START_TEST(a_run_that_cannot_begin_ends_before_start_returns)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	world.spawn_error = -ENOMEM;
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_uint_eq(heard.n_ended, 1);
	ck_assert_int_ne(heard.last_result, RUN_RESULT_SUCCESS);
}
END_TEST

#define GUARDED "[Unit]\nConditionPathExists=/x\nAssertPathExists=/y\n" JOB

START_TEST(a_condition_that_is_not_met_is_a_run_without_a_process)
{
	struct unit *u;

	fake_unit(&world, "a.service", GUARDED);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_uint_ne(world.checked, 0);
	ck_assert_uint_eq(world.n_processes, 0);
	manager_checked(m, &world.now, world.checked, CONDITIONS_SKIP, "it was not met", 0);
	u = manager_unit(m, "a.service");
	ck_assert_int_eq(heard.last_result, RUN_RESULT_SKIPPED);
	ck_assert_str_eq(run_unmet(u->run), "it was not met");
	ck_assert_uint_eq(world.n_processes, 0);
	/* The next run knows nothing of it. */
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_ptr_null(u->run->detail);
	manager_checked(m, &world.now, world.checked, CONDITIONS_HOLD, NULL, 0);
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_int_eq(heard.last_result, RUN_RESULT_SUCCESS);
	ck_assert_uint_eq(heard.n_ended, 2);
}
END_TEST

START_TEST(an_assert_that_is_not_met_fails_the_run)
{
	fake_unit(&world, "a.service", GUARDED);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	manager_checked(m, &world.now, world.checked, CONDITIONS_FAIL, "it was not met", 0);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_ASSERT);
	ck_assert_uint_eq(world.n_processes, 0);
}
END_TEST

START_TEST(a_look_that_hangs_holds_up_neither_a_stop_nor_the_end)
{
	world_token hanging;

	fake_unit(&world, "a.service", GUARDED);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	hanging = world.checked;
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "a.service"), MANAGER_DONE);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_STOPPED);
	manager_checked(m, &world.now, hanging, CONDITIONS_SKIP, "too late", 0);
	ck_assert_uint_eq(heard.n_ended, 1);
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	manager_shutdown(m, &world.now, NULL);
	ck_assert(was_told(SUPD_MANAGER_ENDED));
}
END_TEST

START_TEST(conditions_that_cannot_be_looked_at_fail_the_run)
{
	fake_unit(&world, "a.service", GUARDED);
	begin();
	world.check_error = -ENOMEM;
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_RESOURCES);
}
END_TEST

START_TEST(each_run_has_an_id_of_its_own)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(start("a.service"), MANAGER_DONE);
		fake_finish(&world, m, "a.service", EXIT(0));
	}
	ck_assert_int_ne(memcmp(world.process[0].run_id, world.process[1].run_id, RUN_ID_BYTES), 0);
	ck_assert_uint_ne(world.process[0].token, world.process[1].token);
}
END_TEST

static const struct {
	const char *unit;
	enum manager_verdict verdict;
	const char *words;
} refusals[] = {
	{ "bad.service", MANAGER_INVALID, "bad.service is invalid and not run: unknown key 'Exec'" },
	{ "masked.service", MANAGER_MASKED, "masked.service is masked" },
	{ "simple.service", MANAGER_UNSUPPORTED, "simple.service is unsupported" },
	{ "t@.service", MANAGER_UNSUPPORTED, "t@.service is a template" },
	{ "goood.service", MANAGER_NO_UNIT, "no such unit: goood.service (did you mean good.service?)" },
	{ "gxyd.service", MANAGER_NO_UNIT, "no such unit: gxyd.service" },
};

START_TEST(what_cannot_be_started_is_refused_in_words)
{
	char words[512];
	enum manager_verdict v;

	fake_unit(&world, "good.service", JOB);
	fake_unit(&world, "bad.service", "[Service]\nExec=/bin/job\nExecStart=/bin/job\n");
	fake_unit(&world, "masked.service", "")->is_masked = true;
	fake_unit(&world, "simple.service", "[Service]\nType=simple\nExecStart=/bin/job\n");
	fake_unit(&world, "t@.service", JOB);
	begin();
	v = start(refusals[_i].unit);
	ck_assert_int_eq(v, refusals[_i].verdict);
	manager_verdict_words(m, refusals[_i].unit, v, words, sizeof(words));
	ck_assert_msg(strncmp(words, refusals[_i].words, strlen(refusals[_i].words)) == 0, "%s", words);
	ck_assert_msg(!strstr(words, "did you mean") == !strstr(refusals[_i].words, "did you mean"), "%s", words);
	ck_assert_uint_eq(world.n_processes, 0);
}
END_TEST

START_TEST(an_active_unit_is_not_started_twice)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_int_eq(start("a.service"), MANAGER_ALREADY_ACTIVE);
	ck_assert_uint_eq(world.n_processes, 1);
}
END_TEST

START_TEST(an_alias_is_the_unit_it_stands_for)
{
	fake_unit(&world, "a.service", JOB);
	fake_unit(&world, "b.service", JOB)->alias_of = "a.service";
	begin();
	ck_assert_ptr_nonnull(manager_unit_at(m, 0));
	ck_assert_ptr_null(manager_unit_at(m, 1));
	ck_assert_ptr_eq(manager_unit(m, "b.service"), manager_unit(m, "a.service"));
	ck_assert_int_eq(start("b.service"), MANAGER_DONE);
	ck_assert_int_eq(start("a.service"), MANAGER_ALREADY_ACTIVE);
	ck_assert_str_eq(world.process[0].unit, "a.service");
}
END_TEST

START_TEST(a_timer_is_read_by_its_own_name_alone)
{
	config.gate_configured = true;
	fake_unit(&world, "a.timer", "[Timer]\n");
	fake_unit(&world, "b.timer", "[Timer]\n")->alias_of = "a.timer";
	begin();
	ck_assert_uint_eq(plugged.n_starts, 1);
	ck_assert_uint_eq(plugged.n_units, 1);
}
END_TEST

START_TEST(a_stop_kills_and_the_run_counts_as_stopped)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "a.service"), MANAGER_DONE);
	ck_assert_uint_ge(world.n_killed, 1);
	ck_assert_int_eq(world.kill_signal[0], SIGTERM);
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_STOPPED);
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "a.service"), MANAGER_ALREADY_ACTIVE);
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "x.service"), MANAGER_NO_UNIT);
}
END_TEST

START_TEST(a_restart_stops_first_and_runs_with_the_new_id)
{
	const struct supd_cause cause = { .size = sizeof(cause), .kind = "manual", .attempt = 1, .run_id = { 1, 2, 3 } };

	fake_unit(&world, "a.service", JOB);
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	ck_assert_int_eq(manager_restart_unit(m, &world.now, "a.service", &cause), MANAGER_DONE);
	ck_assert_uint_eq(world.n_processes, 1);
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	ck_assert_uint_eq(world.n_processes, 2);
	ck_assert_mem_eq(world.process[1].run_id, cause.run_id, RUN_ID_BYTES);
}
END_TEST

START_TEST(a_stop_after_a_restart_leaves_it_stopped)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	ck_assert_int_eq(restart("a.service"), MANAGER_DONE);
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "a.service"), MANAGER_DONE);
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	ck_assert_uint_eq(world.n_processes, 1);
	ck_assert(!manager_unit(m, "a.service")->restart_wanted);
}
END_TEST

START_TEST(who_waits_for_a_restart_that_a_reload_made_impossible_is_told)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "a.service", JOB);
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	ck_assert_int_eq(restart("a.service"), MANAGER_DONE);
	fake_unit(&world, "a.service", "")->is_masked = true;
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	ck_assert_uint_eq(heard.n_ended, 1);
	ck_assert_uint_eq(heard.n_settled, 2);
	ck_assert_uint_eq(world.n_processes, 1);
	reload_report_done(&report);
}
END_TEST

START_TEST(a_time_limit_is_an_alarm_that_ends_the_run)
{
	fake_unit(&world, "a.service", "[Service]\nExecStart=/bin/job\nTimeoutStartSec=5s\n");
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	ck_assert_uint_ne(world.alarm[SUPD_CLOCK_BOOTTIME], USEC_NEVER);
	world.now.boot += 6 * USEC_PER_SEC;
	manager_wake(m, &world.now, SUPD_CLOCK_BOOTTIME);
	ck_assert_uint_ge(world.n_killed, 1);
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_TIMEOUT);
	ck_assert_uint_eq(world.alarm[SUPD_CLOCK_BOOTTIME], USEC_NEVER);
}
END_TEST

/* ---- the life of the daemon ---- */

START_TEST(what_a_run_says_is_kept_with_it_and_moves_its_alarm)
{
	struct notification said = { .status = "half", .extend = 60 * USEC_PER_SEC, .n_metrics = 1 };
	const struct fake_process *p;
	struct unit *u;

	said.metric[0] = (struct metric) { "files", 42 };
	fake_unit(&world, "a.service", "[Service]\nExecStart=/bin/job\nTimeoutStartSec=5s\n");
	begin();
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	p = fake_process(&world, "a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	manager_notified(m, &world.now, p->token + 1, &said);
	u = manager_unit(m, "a.service");
	ck_assert_ptr_null(u->run->said);
	manager_notified(m, &world.now, p->token, &said);
	ck_assert_str_eq(u->run->said->status, "half");
	ck_assert_uint_eq(u->run->said->n_metrics, 1);
	ck_assert_uint_eq(world.alarm[SUPD_CLOCK_BOOTTIME], world.now.boot + 60 * USEC_PER_SEC);
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_str_eq(u->run->said->status, "half");
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_ptr_null(u->run->said);
}
END_TEST

START_TEST(enabled_services_run_at_the_start_and_running_comes_after_the_last)
{
	fake_unit(&world, "b.service", JOB)->is_wanted = true;
	fake_unit(&world, "a.service", JOB)->is_wanted = true;
	fake_unit(&world, "c.service", JOB);
	fake_unit(&world, "no.service", "[Service]\nExecStart=/bin/job\nEnabled=no\n")->is_wanted = true;
	fake_unit(&world, "wrong.service", "[Service]\n")->is_wanted = true;
	config.gate_configured = true;
	begin();
	ck_assert_uint_eq(world.n_processes, 2);
	ck_assert_str_eq(world.process[0].unit, "a.service");
	ck_assert_str_eq(world.process[1].unit, "b.service");
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_STARTING);
	ck_assert_uint_eq(plugged.n_starts, 0);
	fake_finish(&world, m, "b.service", EXIT(1));
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_RUNNING);
	ck_assert(was_told(SUPD_MANAGER_RUNNING));
	ck_assert_uint_eq(plugged.n_starts, 1);
}
END_TEST

START_TEST(a_shutdown_stops_plugins_then_services_then_ends)
{
	fake_unit(&world, "a.service", JOB);
	fake_unit(&world, "b.service", JOB);
	config.gate_forced = true;
	begin();
	start("a.service");
	start("b.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	fake_spawned(&world, m, fake_process(&world, "b.service"));
	manager_shutdown(m, &world.now, NULL);
	ck_assert_uint_eq(plugged.n_stops, 1);
	ck_assert_uint_eq(world.killed[0], fake_process(&world, "b.service")->token);
	ck_assert_int_eq(manager_state(m), SUPD_MANAGER_STOPPING);
	ck_assert_int_eq(start("a.service"), MANAGER_STOPPING);
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	ck_assert(!was_told(SUPD_MANAGER_ENDED));
	fake_exited(&world, m, fake_process(&world, "b.service"), SIGTERM);
	ck_assert(was_told(SUPD_MANAGER_ENDED));
}
END_TEST

START_TEST(a_shutdown_with_nothing_to_stop_ends_at_once)
{
	begin();
	manager_shutdown(m, &world.now, NULL);
	ck_assert(was_told(SUPD_MANAGER_ENDED));
}
END_TEST

/* ---- what is told ---- */

START_TEST(what_supd_does_is_told)
{
	char error[512];
	struct reload_report report = { 0 };

	config.gate_forced = false;
	begin();
	expect_events("starting() running() ");
	ck_assert_int_eq(manager_pause(m, &world.now), 1);
	ck_assert_int_eq(manager_pause(m, &world.now), 0);
	ck_assert_int_eq(manager_resume(m, &world.now), 1);
	expect_events("paused() resumed() ");
	ck_assert_int_eq(manager_experimental(m, &world.now, true, true, error, sizeof(error)), 1);
	ck_assert_int_eq(manager_experimental(m, &world.now, true, true, error, sizeof(error)), 0);
	ck_assert_int_eq(manager_experimental(m, &world.now, false, false, error, sizeof(error)), 1);
	expect_events("gate( timers enabled runtime) gate( timers disabled) ");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	reload_report_done(&report);
	expect_events("reloaded( changed) ");
	manager_shutdown(m, &world.now, "SIGTERM");
	manager_shutdown(m, &world.now, NULL);
	expect_events("shutdown( SIGTERM) ended() ");
}
END_TEST

START_TEST(why_a_run_is_stopped_is_told)
{
	fake_unit(&world, "a.service", JOB "TimeoutStartSec=5\n");
	fake_unit(&world, "b.service", JOB);
	begin();
	heard.events[0] = '\0';
	start("a.service");
	manager_stop_unit(m, &world.now, "a.service");
	expect_events(""); /* there is no process yet */
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	expect_events("stopping(a.service request) ");
	fake_exited(&world, m, fake_process(&world, "a.service"), SIGTERM);
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	world.now.boot += 6 * USEC_PER_SEC;
	manager_wake(m, &world.now, SUPD_CLOCK_BOOTTIME);
	expect_events("stopping(a.service timeout) ");
	start("b.service");
	fake_finish(&world, m, "b.service", EXIT(0));
	expect_events("");
	start("b.service");
	fake_spawned(&world, m, fake_process(&world, "b.service"));
	manager_shutdown(m, &world.now, NULL);
	expect_events("shutdown() stopping(b.service shutdown) ");
}
END_TEST

START_TEST(what_is_enabled_and_masked_is_told)
{
	const struct manager_enabling on = { .unit = "a.service", .enable = true }, off = { .unit = "a.service" };
	char said[512];

	world.enable_answer = 1;
	fake_unit(&world, "a.service", JOB "[Install]\nWantedBy=default.target\n");
	begin();
	heard.events[0] = '\0';
	ck_assert_int_ge(manager_enable_unit(m, &on, note_enabled, NULL, said, sizeof(said)), 0);
	ck_assert_int_ge(manager_enable_unit(m, &off, note_enabled, NULL, said, sizeof(said)), 0);
	ck_assert_int_ge(manager_mask_unit(m, "a.service", true, true, said, sizeof(said)), 0);
	ck_assert_int_ge(manager_mask_unit(m, "a.service", false, true, said, sizeof(said)), 0);
	expect_events("enabled(a.service) disabled(a.service) masked(a.service runtime) unmasked(a.service runtime) ");
}
END_TEST

/* ---- the gate ---- */

START_TEST(a_closed_gate_leaves_plugins_and_timers_alone)
{
	const char *reason;

	fake_unit(&world, "x.timer", "[Timer]\nOnCalendar=daily\n");
	begin();
	ck_assert_uint_eq(world.n_opened, 0);
	ck_assert_uint_eq(world.kinds & 1U << UNIT_TIMER, 0);
	ck_assert_str_eq(manager_gate_state(m, &reason), "disabled");
	ck_assert_ptr_nonnull(reason);
}
END_TEST

START_TEST(the_gate_opens_and_closes_at_run_time)
{
	const char *reason;
	char error[256];

	fake_unit(&world, "x.timer", "[Timer]\nOnCalendar=daily\n");
	begin();
	ck_assert_int_eq(manager_experimental(m, &world.now, true, false, error, sizeof(error)), 1);
	ck_assert_str_eq(manager_gate_state(m, &reason), "enabled");
	ck_assert_uint_eq(plugged.n_units, 1);
	ck_assert(world.has_kept && world.kept);
	ck_assert_int_eq(manager_experimental(m, &world.now, true, false, error, sizeof(error)), 0);
	ck_assert_uint_eq(plugged.n_starts, 1);
	ck_assert_int_eq(manager_experimental(m, &world.now, false, false, error, sizeof(error)), 1);
	ck_assert_uint_eq(plugged.n_stops, 1);
	ck_assert(!world.kept);
}
END_TEST

START_TEST(for_this_run_alone_nothing_is_kept)
{
	char error[256];

	begin();
	ck_assert_int_eq(manager_experimental(m, &world.now, true, true, error, sizeof(error)), 1);
	ck_assert_uint_eq(plugged.n_starts, 1);
	ck_assert(!world.has_kept);
}
END_TEST

START_TEST(what_was_kept_outweighs_the_configuration)
{
	const char *reason;

	world.has_kept = true;
	world.kept = false;
	config.gate_configured = true;
	begin();
	ck_assert_str_eq(manager_gate_state(m, &reason), "disabled");
	ck_assert_uint_eq(world.n_opened, 0);
}
END_TEST

START_TEST(what_was_kept_and_cannot_be_read_is_off_and_says_so)
{
	const char *reason;
	char error[256];

	world.kept_error = -EBADMSG;
	config.gate_configured = true;
	begin();
	ck_assert_str_eq(manager_gate_state(m, &reason), "disabled");
	ck_assert_ptr_nonnull(strstr(reason, "experimental-timers in the state directory"));
	ck_assert_uint_eq(world.n_opened, 0);
	world.kept_error = 0;
	ck_assert_int_eq(manager_experimental(m, &world.now, true, false, error, sizeof(error)), 1);
	ck_assert_str_eq(manager_gate_state(m, &reason), "enabled");
}
END_TEST

START_TEST(the_command_line_outweighs_what_was_kept)
{
	const char *reason;

	world.has_kept = true;
	world.kept = false;
	config.gate_forced = true;
	begin();
	ck_assert_str_eq(manager_gate_state(m, &reason), "enabled");
}
END_TEST

START_TEST(a_plugin_that_is_missing_leaves_a_reason)
{
	const char *reason;
	char error[256];

	world.plugin = NULL;
	config.gate_configured = true;
	begin();
	ck_assert_str_eq(manager_gate_state(m, &reason), "failed");
	ck_assert_str_eq(reason, "/plugins/timer.so is missing");
	ck_assert_int_lt(manager_experimental(m, &world.now, true, true, error, sizeof(error)), 0);
	ck_assert_str_eq(error, "/plugins/timer.so is missing");
}
END_TEST

START_TEST(turning_on_what_cannot_run_keeps_nothing)
{
	const char *reason;
	char error[256];

	world.plugin = NULL;
	begin();
	ck_assert_int_lt(manager_experimental(m, &world.now, true, false, error, sizeof(error)), 0);
	ck_assert_str_eq(manager_gate_state(m, &reason), "disabled");
	ck_assert(!world.has_kept);
}
END_TEST

START_TEST(a_plugin_that_is_unfit_is_never_called)
{
	const char *reason;

	world.plugin = &foreign_plugin;
	config.gate_forced = true;
	begin();
	ck_assert_str_eq(manager_gate_state(m, &reason), "failed");
	ck_assert_ptr_nonnull(strstr(reason, "/plugins/timer.so was made for version 2"));
	ck_assert_uint_eq(plugged.n_starts, 0);
}
END_TEST

START_TEST(a_plugin_that_fails_is_tried_again_only_when_asked_anew)
{
	char error[256];

	plugged.is_failing = true;
	config.gate_forced = true;
	begin();
	ck_assert_uint_eq(plugged.n_starts, 1);
	manager_wake(m, &world.now, SUPD_CLOCK_BOOTTIME);
	ck_assert_uint_eq(plugged.n_starts, 1);
	plugged.is_failing = false;
	ck_assert_int_ge(manager_experimental(m, &world.now, true, true, error, sizeof(error)), 0);
	ck_assert_uint_eq(plugged.n_starts, 2);
}
END_TEST

START_TEST(a_pause_stops_the_plugin_and_a_resume_starts_it_anew)
{
	const char *reason;

	config.gate_forced = true;
	begin();
	ck_assert_int_eq(manager_pause(m, &world.now), 1);
	ck_assert_int_eq(manager_pause(m, &world.now), 0);
	ck_assert_uint_eq(plugged.n_stops, 1);
	ck_assert_str_eq(manager_gate_state(m, &reason), "paused");
	ck_assert_int_eq(manager_resume(m, &world.now), 1);
	ck_assert_uint_eq(plugged.n_starts, 2);
}
END_TEST

START_TEST(the_plugin_hears_of_runs)
{
	fake_unit(&world, "a.service", JOB);
	config.gate_forced = true;
	begin();
	start("a.service");
	ck_assert_uint_eq(plugged.n_runs, 1);
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_uint_eq(plugged.n_runs, 2);
}
END_TEST

static char said[512];

static int enable(const char *unit, bool on)
{
	const struct manager_enabling what = { .unit = unit, .enable = on };

	world.changes[0] = '\0';
	return manager_enable_unit(m, &what, note_enabled, NULL, said, sizeof(said));
}

START_TEST(what_cannot_run_cannot_be_enabled)
{
	fake_unit(&world, "wrong.service", "[Service]\nPrivateTmp=yes\nExecStart=/bin/job\nNoSuchKey=1\n");
	fake_unit(&world, "masked.service", "")->is_masked = true;
	begin();
	ck_assert_int_eq(enable("wrong.service", true), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(said, "unknown key 'NoSuchKey'")); /* and not the warning before it */
	ck_assert_int_eq(enable("masked.service", true), -EBADMSG);
	ck_assert(strstr(said, "supctl unmask masked.service"));
	ck_assert_int_eq(enable("none.service", true), -ENOENT);
	ck_assert(strstr(said, "no such unit"));
	ck_assert_int_eq(enable("none.socket", true), -EBADMSG);
	ck_assert_str_eq(world.changes, "");
}
END_TEST

#define U "/units/"
static const struct {
	const char *unit, *install;
	bool is_systemd;
	const char *changes; /* of enabling it */
} installs[] = {
	{ "a.service", "", false, "+a.service default.target.wants/a.service>" U "a.service\n" },
	{ "a.service", "", true, "+a.service default.target.wants/a.service>" U "a.service\n" },
	{ "a.service", "WantedBy=multi-user.target x.target\n", false,
	  "+a.service default.target.wants/a.service>" U "a.service x.target.wants/a.service>" U "a.service\n" },
	{ "a.service", "WantedBy=x.target\nWantedBy=\nRequiredBy=y.target\nUpheldBy=z.service\n", false,
	  "+a.service y.target.requires/a.service>" U "a.service z.service.upholds/a.service>" U "a.service\n" },
	{ "a.service", "Alias=b.service %p-%H.service\n", false,
	  "+a.service /b.service>" U "a.service /a-box.service>" U "a.service\n" },
	{ "a@x.service", "WantedBy=%i.target\nAlias=plain.service b@%i.service\n", false,
	  "+a@x.service x.target.wants/a@x.service>" U "a@.service /plain.service>a@x.service "
	  "/b@x.service>" U "a@.service\n" },
	{ "a@.service", "WantedBy=default.target\nDefaultInstance=d\n", false,
	  "+a@d.service default.target.wants/a@d.service>" U "a@.service\n" },
	{ "a.timer", "WantedBy=timers.target\n", false, "+a.timer [Timer]\n" },
	{ "a.timer", "WantedBy=x.target\n", false, "+a.timer [Timer] x.target.wants/a.timer>" U "a.timer\n" },
	{ "a.timer", "WantedBy=timers.target\n", true, "+a.timer timers.target.wants/a.timer>" U "a.timer\n" },
	{ "a@x.timer", "", false, "+a@x.timer timers.target.wants/a@x.timer>" U "a@.timer\n" },
};

static void fake_install(const char *name, const char *install, bool is_systemd)
{
	static char text[512];
	static char file[UNIT_NAME_MAX + 1];

	if (unit_name_template(name, file) < 0)
		(void) snprintf(file, sizeof(file), "%s", name);
	(void) snprintf(text, sizeof(text), "%s[Install]\n%s", str_ends(name, ".timer") ? "[Timer]\n" : JOB, install);
	fake_unit(&world, file, text)->is_systemd = is_systemd;
}

START_TEST(install_says_which_links_there_are)
{
	config.gate_configured = true;
	specifiers.host_name = "box";
	fake_install(installs[_i].unit, installs[_i].install, installs[_i].is_systemd);
	begin();
	world.enable_answer = 1;
	ck_assert_msg(enable(installs[_i].unit, true) == 1, "%s", said);
	ck_assert_str_eq(world.changes, installs[_i].changes);
	ck_assert_uint_eq(heard.n_enabled, 1);
	world.enable_answer = 0;
	ck_assert_int_eq(enable(installs[_i].unit, false), 0);
	ck_assert_int_eq(world.changes[0], '-');
	ck_assert(strstr(world.changes, strstr(installs[_i].changes, "[Timer]") ? "[Timer]" : ".target.wants"));
}
END_TEST

static const struct {
	const char *unit, *install, *words;
} bad_installs[] = {
	{ "a.service", "WantedBy=nonsense\n", "WantedBy= names 'nonsense', which is no unit" },
	{ "a.service", "WantedBy=%0.target\n", "WantedBy= asks for %0, which is not known here" },
	{ "a.service", "Alias=a.timer\n", "Alias=a.timer is of another kind" },
	{ "a.service", "WantdBy=a.target\n", "unknown key 'WantdBy' in section [Install] (did you mean WantedBy=?)" },
	{ "a.service", "Also=b.service\n", "Also= names b.service, and there is no such unit" },
	{ "a@.service", "WantedBy=a.target\n", "name an instance of it: a@NAME.service" },
};

START_TEST(mistakes_of_install_are_told_and_nothing_is_written)
{
	fake_install(bad_installs[_i].unit, bad_installs[_i].install, false);
	begin();
	ck_assert_int_lt(enable(bad_installs[_i].unit, true), 0);
	ck_assert_msg(strstr(said, bad_installs[_i].words), "%s", said);
	ck_assert_str_eq(world.changes, "");
}
END_TEST

START_TEST(also_is_followed_once)
{
	fake_unit(&world, "a.service", JOB "[Install]\nAlso=b.service a.service\n");
	fake_unit(&world, "b.service", JOB "[Install]\nAlso=a.service c.service\n");
	fake_unit(&world, "c.service", JOB);
	begin();
	ck_assert_int_eq(enable("a.service", true), 0);
	ck_assert_uint_eq(heard.n_enabled, 3);
	ck_assert_str_eq(world.changes, "+a.service\n+b.service\n+c.service default.target.wants/c.service>/units/c.service\n");
}
END_TEST

static const struct {
	struct fake_unit unit;
	bool is_enabled;
	const char *word;
} words_of_state[] = {
	{ { .name = "a.service", .text = JOB }, false, "disabled" },
	{ { .name = "a.service", .text = JOB, .is_systemd = true }, false, "static" },
	{ { .name = "a.service", .text = JOB "[Install]\nWantedBy=a.target\n", .is_systemd = true }, false, "disabled" },
	{ { .name = "a.service", .text = JOB "[Install]\nAlso=b.service\n" }, false, "indirect" },
	{ { .name = "a.service", .text = JOB, .is_linked = true, .is_linked_for_good = true }, false, "enabled" },
	{ { .name = "a.service", .text = JOB, .is_linked = true }, true, "enabled-runtime" },
	{ { .name = "a.service", .text = JOB, .is_outside = true }, false, "linked" },
	{ { .name = "a.service", .text = JOB, .is_outside = true, .is_runtime = true }, false, "linked-runtime" },
	{ { .name = "a.service", .text = "", .is_masked = true }, false, "masked" },
	{ { .name = "a.service", .text = "", .is_masked = true, .is_runtime = true }, false, "masked-runtime" },
	{ { .name = "a.timer", .text = "[Timer]\n" }, true, "enabled" },
	{ { .name = "a.timer", .text = "[Timer]\n", .is_linked = true, .is_linked_for_good = true }, false, "disabled" },
};

START_TEST(is_enabled_has_systemds_words)
{
	const struct fake_unit *u = &words_of_state[_i].unit;

	fake_unit(&world, "other.service", "")->alias_of = u->name;
	*fake_unit(&world, u->name, u->text) = *u;
	begin();
	ck_assert_str_eq(manager_unit_file_state(m, u->name, words_of_state[_i].is_enabled), words_of_state[_i].word);
	ck_assert_str_eq(manager_unit_file_state(m, "other.service", false), "alias");
	ck_assert_ptr_null(manager_unit_file_state(m, "none.service", false));
}
END_TEST

START_TEST(masks_are_for_units_by_their_own_names)
{
	fake_unit(&world, "a.service", JOB);
	fake_unit(&world, "other.service", "")->alias_of = "a.service";
	begin();
	ck_assert_int_eq(manager_mask_unit(m, "other.service", true, false, said, sizeof(said)), -EBADMSG);
	ck_assert_str_eq(said, "other.service is another name of a.service; mask that");
	ck_assert_int_eq(manager_mask_unit(m, "a.service", true, true, said, sizeof(said)), 0);
	ck_assert_str_eq(said, "");
	ck_assert_int_eq(manager_mask_unit(m, "none.service", true, false, said, sizeof(said)), 0);
	ck_assert_str_eq(said, "there is no such unit, masked all the same");
	ck_assert_int_eq(manager_mask_unit(m, "none.service", false, false, said, sizeof(said)), 0);
	ck_assert_str_eq(world.changes, "mask a.service runtime\nmask none.service\nunmask none.service\n");
}
END_TEST

START_TEST(a_run_begins_when_its_process_was_asked_for)
{
	struct fake_process *p;
	usec_t asked;

	fake_unit(&world, "a.service", JOB);
	begin();
	asked = world.now.boot;
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	p = fake_process(&world, "a.service");
	world.now.boot += 7;
	world.now.real += 7;
	fake_spawned(&world, m, p);
	fake_exited(&world, m, p, EXIT(0));
	ck_assert_uint_eq(manager_unit(m, "a.service")->run->started_boot, asked);
	ck_assert_uint_ge(manager_unit(m, "a.service")->run->ended_boot, asked + 7);
}
END_TEST

/* ---- reload ---- */

START_TEST(a_reload_tells_what_was_added_changed_and_removed)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "changed.service", JOB);
	fake_unit(&world, "gone.service", JOB);
	fake_unit(&world, "same.service", JOB);
	begin();
	fake_unit(&world, "added.service", JOB);
	fake_unit(&world, "changed.service", "[Service]\nExecStart=/bin/other\n");
	fake_unit_remove(&world, "gone.service");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_uint_eq(report.n, 3);
	ck_assert_str_eq(report.change[0].unit, "added.service");
	ck_assert_str_eq(report.change[0].what, "added");
	ck_assert_str_eq(report.change[1].what, "changed");
	ck_assert_str_eq(report.change[2].what, "removed");
	ck_assert_ptr_null(manager_unit(m, "gone.service"));
	ck_assert_str_eq(manager_unit(m, "changed.service")->config->spec->command[EXEC_START].item[0].path, "/bin/other");
	reload_report_done(&report);
}
END_TEST

static int reload_only(const char *name, const char *other, size_t n_changes)
{
	const char *const names[] = { name, other, NULL };
	struct reload_report report = { 0 };
	int r = manager_reload_only(m, &world.now, names, &report);

	ck_assert_uint_eq(report.n, n_changes);
	if (r == -EBADMSG)
		ck_assert_uint_eq(report.mistakes.n_errors, 1);
	reload_report_done(&report);
	return r;
}

static const char *path_of(const char *unit)
{
	return manager_unit(m, unit)->config->spec->command[EXEC_START].item[0].path;
}

START_TEST(a_few_units_are_loaded_alone)
{
	config.gate_configured = true;
	fake_unit(&world, "broken.service", JOB);
	fake_unit(&world, "changed.service", JOB);
	fake_unit(&world, "old.timer", "[Timer]\nOnStartupSec=1\n");
	begin();
	ck_assert_uint_eq(plugged.n_units, 1);
	fake_unit(&world, "broken.service", "[Service]\nExecStrat=/bin/job\n");
	fake_unit(&world, "changed.service", "[Service]\nExecStart=/bin/other\n");
	fake_unit(&world, "old.timer", "[Timer]\nOnStartupSec=2\n")->version++;
	fake_unit(&world, "new.service", JOB);
	fake_unit(&world, "new.timer", "[Timer]\nOnStartupSec=1\n");
	ck_assert_int_eq(reload_only("new.service", "new.timer", 2), 0);
	ck_assert_str_eq(path_of("new.service"), "/bin/job");
	ck_assert_str_eq(path_of("broken.service"), "/bin/job");
	ck_assert_str_eq(path_of("changed.service"), "/bin/job");
	ck_assert_uint_eq(plugged.n_units, 2);
	/* What went meanwhile stays as well, but for those that were named. */
	fake_unit_remove(&world, "changed.service");
	fake_unit_remove(&world, "new.service");
	fake_unit_remove(&world, "new.timer");
	ck_assert_int_eq(reload_only("new.service", "new.timer", 2), 0);
	ck_assert_ptr_null(manager_unit(m, "new.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "changed.service"));
}
END_TEST

START_TEST(a_mistake_in_one_of_a_few_leaves_all_as_it_was)
{
	fake_unit(&world, "a.service", JOB);
	begin();
	fake_unit(&world, "a.service", "[Service]\nExecStart=/bin/other\n");
	fake_unit(&world, "bad.service", "[Service]\nExecStart=/bin/job\nExecStrat=x\n");
	ck_assert_int_eq(reload_only("a.service", "bad.service", 0), -EBADMSG);
	ck_assert_str_eq(path_of("a.service"), "/bin/job");
	ck_assert_ptr_null(manager_unit(m, "bad.service"));
}
END_TEST

/* ---- specifiers ---- */

START_TEST(specifiers_are_replaced_where_the_plugin_says_so)
{
	struct reload_report report = { 0 };
	struct manager_plugin_unit u;

	config.gate_configured = true;
	fake_unit(&world, "a@x.timer", "[Timer]\nX-Unit=%i.service\n");
	begin();
	ck_assert_str_eq(plugged.value, "x.service");
	plugged.value[0] = '\0';
	fake_unit(&world, "a@x.timer", "[Timer]\nOther=%i\n");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	reload_report_done(&report);
	ck_assert_str_eq(plugged.value, "%i");
	ck_assert(manager_plugin_unit(m, "a@x.timer", &u));
	ck_assert_uint_eq(u.problems->n, 0);
}
END_TEST

START_TEST(a_specifier_that_is_not_known_is_a_mistake_of_the_file)
{
	struct manager_plugin_unit u;

	config.gate_configured = true;
	fake_unit(&world, "a.timer", "[Timer]\nUnit=x%0.service\n");
	begin();
	ck_assert_uint_eq(plugged.n_units, 0);
	ck_assert(manager_plugin_unit(m, "a.timer", &u));
	ck_assert_uint_eq(u.problems->n_errors, 1);
	ck_assert_uint_eq(u.problems->entry[0].line, 2);
	ck_assert_str_eq(u.problems->entry[0].message,
			 "Unit= asks for %0, which is not known here: 'x%0.service' (a percent sign is written %%)");
}
END_TEST

/* ---- instances ---- */

static size_t count_units(void)
{
	size_t n = 0;

	while (manager_unit_at(m, n))
		n++;
	return n;
}

START_TEST(an_instance_is_loaded_when_it_is_started)
{
	struct unit *u;

	fake_unit(&world, "b@.service", "[Unit]\nDescription=of %i\n" JOB);
	fake_unit(&world, "z.service", JOB);
	begin();
	ck_assert_str_eq(manager_unit(m, "b@.service")->config->spec->description, "of %i");
	ck_assert_ptr_null(manager_unit(m, "b@x.service"));
	ck_assert_int_eq(start("b@x.service"), MANAGER_DONE);
	u = manager_unit(m, "b@x.service");
	ck_assert_str_eq(u->config->spec->description, "of x");
	ck_assert_ptr_eq(manager_unit_at(m, 1), u); /* sorted */
	ck_assert_uint_eq(count_units(), 3);
	fake_finish(&world, m, "b@x.service", EXIT(0));
	ck_assert_int_eq(heard.last_result, RUN_RESULT_SUCCESS);
	ck_assert_int_eq(start("c@x.service"), MANAGER_NO_UNIT);
	ck_assert_int_eq(start("b@.service"), MANAGER_UNSUPPORTED);
}
END_TEST

START_TEST(an_instance_that_was_only_looked_at_goes_again)
{
	struct unit *u;

	fake_unit(&world, "b@.service", JOB);
	fake_unit(&world, "b@own.service", JOB);
	begin();
	u = manager_load_unit(m, "b@x.service");
	ck_assert_ptr_nonnull(u);
	manager_unload_unit(m, u);
	ck_assert_ptr_null(manager_unit(m, "b@x.service"));
	manager_unload_unit(m, manager_load_unit(m, "b@own.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@own.service"));
	ck_assert_int_eq(start("b@x.service"), MANAGER_DONE);
	manager_unload_unit(m, manager_load_unit(m, "b@x.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@x.service"));
	manager_unload_unit(m, NULL);
}
END_TEST

START_TEST(a_reload_drops_instances_that_are_at_rest)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "b@.service", JOB);
	begin();
	ck_assert_int_eq(start("b@done.service"), MANAGER_DONE);
	fake_finish(&world, m, "b@done.service", EXIT(0));
	ck_assert_int_eq(start("b@failed.service"), MANAGER_DONE);
	fake_finish(&world, m, "b@failed.service", EXIT(1));
	ck_assert_int_eq(start("b@runs.service"), MANAGER_DONE);
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_uint_eq(report.n, 1);
	ck_assert_str_eq(report.change[0].unit, "b@done.service");
	ck_assert_ptr_null(manager_unit(m, "b@done.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@failed.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@runs.service"));
	reload_report_done(&report);
	/* with their template they change, and with it they go */
	fake_finish(&world, m, "b@runs.service", EXIT(0));
	fake_unit(&world, "b@.service", "[Unit]\nDescription=new\n" JOB);
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_ptr_null(manager_unit(m, "b@runs.service"));
	ck_assert_str_eq(manager_unit(m, "b@failed.service")->config->spec->description, "new");
	reload_report_done(&report);
	fake_unit_remove(&world, "b@.service");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_uint_eq(count_units(), 0);
	reload_report_done(&report);
}
END_TEST

START_TEST(what_a_plugin_asks_for_is_there_as_long_as_it_asks)
{
	struct reload_report report = { 0 };

	config.gate_configured = true;
	fake_unit(&world, "b@.service", JOB);
	plugged.target = "b@home.service";
	begin();
	ck_assert_int_eq(plugged.target_found, 0);
	ck_assert_ptr_nonnull(manager_unit(m, "b@home.service"));
	manager_unload_unit(m, manager_unit(m, "b@home.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@home.service"));
	plugged.target = "b@other.service";
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_int_eq(plugged.target_found, 0);
	ck_assert_ptr_null(manager_unit(m, "b@home.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@other.service"));
	ck_assert_uint_eq(report.n, 2);
	reload_report_done(&report);
	plugged.target = "none@other.service";
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_int_eq(plugged.target_found, -ENOENT);
	ck_assert_ptr_null(manager_unit(m, "b@other.service"));
	reload_report_done(&report);
}
END_TEST

START_TEST(a_refused_reload_leaves_instances_as_they_were)
{
	struct reload_report report = { 0 };

	config.gate_configured = true;
	fake_unit(&world, "b@.service", JOB);
	fake_unit(&world, "b@file.service", JOB);
	plugged.target = "b@home.service";
	begin();
	fake_unit(&world, "a.service", "[Service]\nExec=wrong\n");
	fake_unit_remove(&world, "b@file.service");
	plugged.target = "b@other.service";
	ck_assert_int_eq(manager_reload(m, &world.now, &report), -EBADMSG);
	reload_report_done(&report);
	manager_unload_unit(m, manager_unit(m, "b@home.service"));
	manager_unload_unit(m, manager_unit(m, "b@file.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@home.service"));
	ck_assert_ptr_nonnull(manager_unit(m, "b@file.service"));
	ck_assert_ptr_null(manager_unit(m, "b@other.service"));
}
END_TEST

START_TEST(a_mistake_of_an_instance_that_comes_to_be_needed_refuses_the_reload)
{
	struct reload_report report = { 0 };

	config.gate_configured = true;
	fake_unit(&world, "b@.service", "[Service]\nExec=wrong\n");
	begin();
	plugged.target = "b@home.service";
	ck_assert_int_eq(manager_reload(m, &world.now, &report), -EBADMSG);
	ck_assert_uint_eq(report.mistakes.n_errors, 1);
	ck_assert_uint_eq(count_units(), 1);
	reload_report_done(&report);
}
END_TEST

START_TEST(a_unit_that_became_an_alias_is_removed)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "a.service", JOB);
	fake_unit(&world, "b.service", JOB);
	begin();
	fake_unit(&world, "b.service", JOB)->alias_of = "a.service";
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_uint_eq(report.n, 1);
	ck_assert_str_eq(report.change[0].unit, "b.service");
	ck_assert_str_eq(report.change[0].what, "removed");
	ck_assert_ptr_eq(manager_unit(m, "b.service"), manager_unit(m, "a.service"));
	reload_report_done(&report);
}
END_TEST

START_TEST(a_reload_with_a_mistake_changes_nothing)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "a.service", JOB);
	config.gate_forced = true;
	begin();
	fake_unit(&world, "a.service", "[Service]\nExecStart=/bin/other\n");
	fake_unit(&world, "b.service", "[Service]\nExecStrat=/bin/other\n");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), -EBADMSG);
	ck_assert_uint_ge(report.mistakes.n_errors, 1);
	ck_assert_uint_eq(report.n, 0);
	ck_assert_ptr_null(manager_unit(m, "b.service"));
	ck_assert_str_eq(manager_unit(m, "a.service")->config->spec->command[EXEC_START].item[0].path, "/bin/job");
	ck_assert_uint_eq(plugged.n_prepared, plugged.n_aborted);
	ck_assert_uint_eq(plugged.n_committed, 0);
	reload_report_done(&report);
}
END_TEST

START_TEST(an_old_mistake_does_not_stand_in_the_way)
{
	struct reload_report report = { 0 };

	fake_unit(&world, "bad.service", "[Service]\nExecStrat=/bin/other\n");
	begin();
	fake_unit(&world, "a.service", JOB);
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_uint_eq(report.n, 1);
	reload_report_done(&report);
}
END_TEST

START_TEST(a_run_ends_by_the_file_it_began_with)
{
	struct reload_report report = { 0 };
	struct unit *u;

	fake_unit(&world, "a.service", JOB);
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	fake_unit(&world, "a.service", "[Service]\nExecStart=/bin/job\nSuccessExitStatus=7\n");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	u = manager_unit(m, "a.service");
	ck_assert_ptr_null(u->config->spec->success);
	fake_exited(&world, m, fake_process(&world, "a.service"), EXIT(7));
	ck_assert_int_eq(heard.last_result, RUN_RESULT_EXIT_CODE);
	ck_assert_ptr_nonnull(u->config->spec->success);
	reload_report_done(&report);
}
END_TEST

START_TEST(a_unit_removed_while_it_runs_goes_when_its_run_ends)
{
	struct reload_report report = { 0 };
	char words[256];

	fake_unit(&world, "a.service", JOB);
	begin();
	start("a.service");
	fake_spawned(&world, m, fake_process(&world, "a.service"));
	fake_unit_remove(&world, "a.service");
	ck_assert_int_eq(manager_reload(m, &world.now, &report), 0);
	ck_assert_int_eq(start("a.service"), MANAGER_NO_UNIT);
	ck_assert_str_eq(manager_verdict_words(m, "a.service", MANAGER_NO_UNIT, words, sizeof(words)),
			 "no such unit: a.service"); /* and not: did you mean a.service? */
	fake_exited(&world, m, fake_process(&world, "a.service"), EXIT(0));
	ck_assert_uint_eq(heard.n_ended, 1);
	ck_assert_ptr_null(manager_unit(m, "a.service"));
	reload_report_done(&report);
}
END_TEST

/* ---- Restart= ---- */

#define AGAIN "[Service]\nExecStart=/bin/job\nRestart=on-failure\nRestartSec=1\n"

static void pass_time(usec_t span)
{
	world.now.boot += span;
	world.now.real += span;
	manager_wake(m, &world.now, SUPD_CLOCK_BOOTTIME);
}

START_TEST(a_failed_run_is_restarted_as_a_run_of_its_own)
{
	fake_unit(&world, "a.service", AGAIN);
	begin();
	start("a.service");
	fake_finish(&world, m, "a.service", EXIT(1));
	ck_assert_uint_eq(heard.n_ended, 1);
	ck_assert(unit_is_active(manager_unit(m, "a.service")));
	ck_assert_int_eq(start("a.service"), MANAGER_ALREADY_ACTIVE);
	pass_time(USEC_PER_SEC);
	ck_assert_uint_eq(world.n_processes, 2);
	ck_assert_str_eq(manager_unit(m, "a.service")->run->cause, "restart");
	ck_assert_uint_eq(manager_unit(m, "a.service")->run->attempt, 2);
	ck_assert_mem_ne(world.process[0].run_id, world.process[1].run_id, RUN_ID_BYTES);
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_uint_eq(heard.n_ended, 2);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_SUCCESS);
	ck_assert(!unit_is_active(manager_unit(m, "a.service")));
}
END_TEST

START_TEST(the_plugin_hears_of_a_chain_of_restarts_as_of_one_run)
{
	const struct supd_cause cause = { .size = sizeof(cause), .kind = "calendar", .attempt = 1, .run_id = { 7 } };

	config.gate_configured = true;
	fake_unit(&world, "a.service", AGAIN);
	begin();
	ck_assert_int_eq(plugged.host->start_unit(plugged.host->ctx, "a.service", &cause), 0);
	manager_zone_change(m, &world.now); /* any event settles */
	fake_finish(&world, m, "a.service", EXIT(1));
	ck_assert_uint_eq(plugged.n_runs, 1);
	pass_time(USEC_PER_SEC);
	ck_assert_uint_eq(plugged.n_runs, 1);
	fake_finish(&world, m, "a.service", EXIT(4));
	pass_time(USEC_PER_SEC);
	fake_finish(&world, m, "a.service", EXIT(0));
	ck_assert_uint_eq(plugged.n_runs, 2);
	ck_assert_int_eq(plugged.last.stage, SUPD_RUN_ENDED);
	ck_assert_int_eq(plugged.last.result, SUPD_RESULT_SUCCESS);
	ck_assert_mem_eq(plugged.last.run_id, cause.run_id, RUN_ID_BYTES);
}
END_TEST

/* ---- what waits for a save of the plugin's ---- */

#define TICKET 7

static int start_after(const char *unit)
{
	const struct supd_cause cause = { .size = sizeof(cause), .kind = "calendar", .attempt = 1 };
	int r = plugged.host->start_after(plugged.host->ctx, unit, &cause, TICKET);

	manager_zone_change(m, &world.now); /* any event settles */
	return r;
}

static uint64_t waits_for(const char *unit)
{
	const struct fake_process *p = fake_process(&world, unit);

	ck_assert_ptr_nonnull(p);
	return p->after;
}

static void fail_to_spawn(const char *unit)
{
	struct fake_process *p = fake_process(&world, unit);

	p->is_answered = p->has_ended = true;
	manager_spawn_failed(m, &world.now, p->token, EXEC_STEP_FORK, EAGAIN);
}

START_TEST(all_of_a_transaction_waits_for_the_save)
{
	config.gate_configured = true;
	fake_unit(&world, "a.service", "[Unit]\nRequires=b.service\nAfter=b.service\n" JOB);
	fake_unit(&world, "b.service", JOB);
	begin();
	ck_assert_int_eq(start_after("a.service"), 0);
	ck_assert_uint_eq(waits_for("b.service"), TICKET);
	ck_assert_int_eq(start_after("a.service"), -EALREADY);
	fake_finish(&world, m, "b.service", 0);
	ck_assert_uint_eq(waits_for("a.service"), TICKET);
	fake_finish(&world, m, "a.service", 0);
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_uint_eq(waits_for("b.service"), 0);
}
END_TEST

START_TEST(what_is_refused_leaves_nobody_waiting)
{
	config.gate_configured = true;
	fake_unit(&world, "a.service", "[Service]\nEnabled=no\nExecStart=/bin/job\n");
	fake_unit(&world, "b.service", JOB);
	fake_unit(&world, "masked.service", JOB)->is_masked = true;
	begin();
	ck_assert_int_eq(start_after("a.service"), -EACCES);
	ck_assert_int_eq(start_after("masked.service"), -EPERM);
	ck_assert_int_eq(start_after("none.service"), -ENOENT);
	ck_assert_int_eq(start("b.service"), MANAGER_DONE);
	ck_assert_uint_eq(waits_for("b.service"), 0);
}
END_TEST

START_TEST(a_restart_before_the_save_waits_for_it_too)
{
	config.gate_configured = true;
	fake_unit(&world, "a.service", AGAIN);
	begin();
	ck_assert_int_eq(start_after("a.service"), 0);
	fail_to_spawn("a.service");
	pass_time(USEC_PER_SEC);
	ck_assert_uint_eq(world.n_processes, 2);
	ck_assert_uint_eq(waits_for("a.service"), TICKET);
}
END_TEST

START_TEST(what_a_failure_before_the_save_starts_waits_for_it_too)
{
	config.gate_configured = true;
	fake_unit(&world, "a.service", "[Unit]\nOnFailure=b.service\n" JOB);
	fake_unit(&world, "b.service", "[Unit]\nWants=c.service\n" JOB);
	fake_unit(&world, "c.service", JOB);
	begin();
	ck_assert_int_eq(start_after("a.service"), 0);
	fail_to_spawn("a.service");
	ck_assert_str_eq(manager_unit(m, "b.service")->run->cause, "on-failure");
	ck_assert_uint_eq(waits_for("b.service"), TICKET);
	ck_assert_uint_eq(waits_for("c.service"), TICKET);
}
END_TEST

START_TEST(what_is_still_being_stopped_waits_for_the_save_when_it_starts_anew)
{
	config.gate_configured = true;
	fake_unit(&world, "a.service", "[Unit]\nRequires=b.service\nAfter=b.service\n" JOB);
	fake_unit(&world, "b.service", "[Service]\nRemainAfterExit=yes\nExecStart=/bin/job\nExecStop=/bin/stop\n");
	begin();
	start("b.service");
	fake_exited(&world, m, fake_process(&world, "b.service"), 0);
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "b.service"), MANAGER_DONE);
	ck_assert_int_eq(start_after("a.service"), 0);
	ck_assert_uint_eq(waits_for("b.service"), 0);
	fake_exited(&world, m, fake_process(&world, "b.service"), 0);
	ck_assert_str_eq(manager_unit(m, "b.service")->run->cause, "dependency");
	ck_assert_uint_eq(waits_for("b.service"), TICKET);
	ck_assert_ptr_null(fake_process(&world, "a.service"));
}
END_TEST

START_TEST(too_many_restarts_are_given_up)
{
	fake_unit(&world, "a.service",
		  "[Service]\nExecStart=/bin/job\nRestart=on-failure\nRestartSec=100ms\n");
	begin();
	start("a.service");
	for (int i = 0; i < 9; i++) {
		fake_finish(&world, m, "a.service", EXIT(1));
		pass_time(100 * USEC_PER_MSEC);
	}
	ck_assert_uint_eq(world.n_processes, 5);
	ck_assert_int_eq(manager_unit(m, "a.service")->service.state, SERVICE_FAILED);
	ck_assert_int_eq(manager_unit(m, "a.service")->run->result, RUN_RESULT_EXIT_CODE);
	/* Whoever starts it anew has as many again. */
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	fake_finish(&world, m, "a.service", EXIT(1));
	ck_assert_int_eq(manager_unit(m, "a.service")->service.state, SERVICE_AUTO_RESTART);
}
END_TEST

START_TEST(a_limit_that_is_written_holds_for_every_start)
{
	fake_unit(&world, "a.service", "[Unit]\nStartLimitBurst=2\n[Service]\nExecStart=/bin/job\n");
	begin();
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(start("a.service"), MANAGER_DONE);
		fake_finish(&world, m, "a.service", EXIT(0));
	}
	ck_assert_uint_eq(world.n_processes, 2);
	ck_assert_uint_eq(heard.n_ended, 3);
	ck_assert_int_eq(heard.last_result, RUN_RESULT_START_LIMIT);
	world.now.boot += 11 * USEC_PER_SEC;
	ck_assert_int_eq(start("a.service"), MANAGER_DONE);
	ck_assert_uint_eq(world.n_processes, 3);
}
END_TEST

START_TEST(a_stop_ends_a_chain_of_restarts)
{
	fake_unit(&world, "a.service", AGAIN);
	begin();
	start("a.service");
	fake_finish(&world, m, "a.service", EXIT(1));
	ck_assert_int_eq(manager_stop_unit(m, &world.now, "a.service"), MANAGER_DONE);
	ck_assert(!unit_is_active(manager_unit(m, "a.service")));
	pass_time(USEC_PER_SEC);
	ck_assert_uint_eq(world.n_processes, 1);
}
END_TEST

START_TEST(a_start_up_does_not_wait_for_restarts)
{
	fake_unit(&world, "a.service", AGAIN)->is_wanted = true;
	begin();
	ck_assert(!was_told(SUPD_MANAGER_RUNNING));
	fake_finish(&world, m, "a.service", EXIT(1));
	ck_assert(was_told(SUPD_MANAGER_RUNNING));
	manager_shutdown(m, &world.now, NULL);
	ck_assert(was_told(SUPD_MANAGER_ENDED));
}
END_TEST

static Suite *manager_suite(void)
{
	Suite *s = suite_create("manager");
	TCase *tc = tcase_create("manager");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a_run_is_told_from_start_to_end);
	tcase_add_test(tc, a_run_that_cannot_begin_ends_before_start_returns);
	tcase_add_test(tc, a_condition_that_is_not_met_is_a_run_without_a_process);
	tcase_add_test(tc, an_assert_that_is_not_met_fails_the_run);
	tcase_add_test(tc, a_look_that_hangs_holds_up_neither_a_stop_nor_the_end);
	tcase_add_test(tc, conditions_that_cannot_be_looked_at_fail_the_run);
	tcase_add_test(tc, each_run_has_an_id_of_its_own);
	tcase_add_loop_test(tc, what_cannot_be_started_is_refused_in_words, 0, (int) ELEMENTS(refusals));
	tcase_add_test(tc, an_active_unit_is_not_started_twice);
	tcase_add_test(tc, an_alias_is_the_unit_it_stands_for);
	tcase_add_test(tc, a_timer_is_read_by_its_own_name_alone);
	tcase_add_test(tc, a_stop_kills_and_the_run_counts_as_stopped);
	tcase_add_test(tc, a_restart_stops_first_and_runs_with_the_new_id);
	tcase_add_test(tc, a_stop_after_a_restart_leaves_it_stopped);
	tcase_add_test(tc, who_waits_for_a_restart_that_a_reload_made_impossible_is_told);
	tcase_add_test(tc, a_time_limit_is_an_alarm_that_ends_the_run);
	tcase_add_test(tc, what_a_run_says_is_kept_with_it_and_moves_its_alarm);
	tcase_add_test(tc, enabled_services_run_at_the_start_and_running_comes_after_the_last);
	tcase_add_test(tc, a_shutdown_stops_plugins_then_services_then_ends);
	tcase_add_test(tc, a_shutdown_with_nothing_to_stop_ends_at_once);
	tcase_add_test(tc, what_supd_does_is_told);
	tcase_add_test(tc, why_a_run_is_stopped_is_told);
	tcase_add_test(tc, what_is_enabled_and_masked_is_told);
	tcase_add_test(tc, a_closed_gate_leaves_plugins_and_timers_alone);
	tcase_add_test(tc, the_gate_opens_and_closes_at_run_time);
	tcase_add_test(tc, for_this_run_alone_nothing_is_kept);
	tcase_add_test(tc, what_was_kept_outweighs_the_configuration);
	tcase_add_test(tc, what_was_kept_and_cannot_be_read_is_off_and_says_so);
	tcase_add_test(tc, the_command_line_outweighs_what_was_kept);
	tcase_add_test(tc, a_plugin_that_is_missing_leaves_a_reason);
	tcase_add_test(tc, turning_on_what_cannot_run_keeps_nothing);
	tcase_add_test(tc, a_plugin_that_is_unfit_is_never_called);
	tcase_add_test(tc, a_plugin_that_fails_is_tried_again_only_when_asked_anew);
	tcase_add_test(tc, a_pause_stops_the_plugin_and_a_resume_starts_it_anew);
	tcase_add_test(tc, the_plugin_hears_of_runs);
	tcase_add_test(tc, a_reload_tells_what_was_added_changed_and_removed);
	tcase_add_test(tc, a_few_units_are_loaded_alone);
	tcase_add_test(tc, a_mistake_in_one_of_a_few_leaves_all_as_it_was);
	tcase_add_test(tc, what_cannot_run_cannot_be_enabled);
	tcase_add_loop_test(tc, install_says_which_links_there_are, 0, ELEMENTS(installs));
	tcase_add_loop_test(tc, mistakes_of_install_are_told_and_nothing_is_written, 0, ELEMENTS(bad_installs));
	tcase_add_test(tc, also_is_followed_once);
	tcase_add_loop_test(tc, is_enabled_has_systemds_words, 0, ELEMENTS(words_of_state));
	tcase_add_test(tc, masks_are_for_units_by_their_own_names);
	tcase_add_test(tc, a_run_begins_when_its_process_was_asked_for);
	tcase_add_test(tc, specifiers_are_replaced_where_the_plugin_says_so);
	tcase_add_test(tc, a_specifier_that_is_not_known_is_a_mistake_of_the_file);
	tcase_add_test(tc, an_instance_is_loaded_when_it_is_started);
	tcase_add_test(tc, an_instance_that_was_only_looked_at_goes_again);
	tcase_add_test(tc, a_reload_drops_instances_that_are_at_rest);
	tcase_add_test(tc, what_a_plugin_asks_for_is_there_as_long_as_it_asks);
	tcase_add_test(tc, a_refused_reload_leaves_instances_as_they_were);
	tcase_add_test(tc, a_mistake_of_an_instance_that_comes_to_be_needed_refuses_the_reload);
	tcase_add_test(tc, a_unit_that_became_an_alias_is_removed);
	tcase_add_test(tc, a_reload_with_a_mistake_changes_nothing);
	tcase_add_test(tc, an_old_mistake_does_not_stand_in_the_way);
	tcase_add_test(tc, a_run_ends_by_the_file_it_began_with);
	tcase_add_test(tc, a_unit_removed_while_it_runs_goes_when_its_run_ends);
	tcase_add_test(tc, a_failed_run_is_restarted_as_a_run_of_its_own);
	tcase_add_test(tc, the_plugin_hears_of_a_chain_of_restarts_as_of_one_run);
	tcase_add_test(tc, all_of_a_transaction_waits_for_the_save);
	tcase_add_test(tc, what_is_refused_leaves_nobody_waiting);
	tcase_add_test(tc, a_restart_before_the_save_waits_for_it_too);
	tcase_add_test(tc, what_a_failure_before_the_save_starts_waits_for_it_too);
	tcase_add_test(tc, what_is_still_being_stopped_waits_for_the_save_when_it_starts_anew);
	tcase_add_test(tc, too_many_restarts_are_given_up);
	tcase_add_test(tc, a_limit_that_is_written_holds_for_every_start);
	tcase_add_test(tc, a_stop_ends_a_chain_of_restarts);
	tcase_add_test(tc, a_start_up_does_not_wait_for_restarts);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(manager_suite)
