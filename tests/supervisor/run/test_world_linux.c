/* SPDX-License-Identifier: MIT */
/* Clocks, zone, state and gate of the real world; its processes are in test_runs and test_spawn. */
#include "run/world_linux.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/run/scene.h"
#include "unit/name.h"

static struct scene *scene;
static char *zone_dir, *localtime_path;

static void set_up(void)
{
	struct scene_options options = { 0 };

	zone_dir = test_dir_new();
	test_dir_write_text(zone_dir, "zones/one", "1");
	test_dir_write_text(zone_dir, "zones/two", "2");
	localtime_path = test_dir_path(zone_dir, "localtime");
	ck_assert_int_eq(symlink("zones/one", localtime_path), 0);
	ck_assert_int_eq(unsetenv("TZ"), 0);
	options.localtime = localtime_path;
	scene = scene_new(&options);
}

static void tear_down(void)
{
	scene = scene_free(scene);
	free(localtime_path);
	zone_dir = test_dir_free(zone_dir);
}

static usec_t clock_now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

static int arm(enum supd_clock clock, usec_t when)
{
	return scene->world->arm(scene->world->ctx, clock, when);
}

static const struct {
	enum supd_clock clock;
	clockid_t id;
} clocks[] = { { SUPD_CLOCK_REALTIME, CLOCK_REALTIME }, { SUPD_CLOCK_BOOTTIME, CLOCK_BOOTTIME } };

static usec_t told_time(const struct answer *a)
{
	return a->clock == SUPD_CLOCK_REALTIME ? a->now.real : a->now.boot;
}

START_TEST(alarm_comes_not_before_its_time)
{
	usec_t when = clock_now(clocks[_i].id) + 30 * USEC_PER_MSEC;
	struct answer a;

	ck_assert_int_ge(arm(clocks[_i].clock, when), 0);
	a = scene_expect(scene, ANSWER_WAKE);
	ck_assert_int_eq(a.clock, clocks[_i].clock);
	ck_assert_uint_ge(told_time(&a), when);
	ck_assert_uint_ge(clock_now(clocks[_i].id), when);
}
END_TEST

START_TEST(alarm_of_the_past_comes_at_once_but_not_from_inside)
{
	ck_assert_int_ge(arm(clocks[_i].clock, 1), 0);
	ck_assert_uint_eq(scene->n_answers, 0);
	ck_assert_int_eq(scene_expect(scene, ANSWER_WAKE).clock, clocks[_i].clock);
	/* once */
	for (int i = 0; i < 5; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
}
END_TEST

START_TEST(alarm_can_be_moved_and_taken_back)
{
	usec_t now = clock_now(clocks[_i].id);

	ck_assert_int_ge(arm(clocks[_i].clock, now + USEC_PER_HOUR), 0);
	ck_assert_int_ge(arm(clocks[_i].clock, now), 0);
	scene_expect(scene, ANSWER_WAKE);
	ck_assert_int_ge(arm(clocks[_i].clock, now), 0);
	ck_assert_int_ge(arm(clocks[_i].clock, USEC_NEVER), 0);
	/* The other clock's alarm is another. */
	ck_assert_int_ge(arm(clocks[!_i].clock, 1), 0);
	ck_assert_int_eq(scene_expect(scene, ANSWER_WAKE).clock, clocks[!_i].clock);
	for (int i = 0; i < 5; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
	/* The same moment once more, after it has come. */
	ck_assert_int_ge(arm(clocks[!_i].clock, 1), 0);
	scene_expect(scene, ANSWER_WAKE);
}
END_TEST

START_TEST(far_alarms_are_taken)
{
	ck_assert_int_ge(arm(clocks[_i].clock, USEC_NEVER - 1), 0);
	for (int i = 0; i < 5; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
}
END_TEST

/* By one nanosecond, there and back: that is a change, too, and does the machine no harm. False: we may not. */
static bool touch_clock(void)
{
	struct timex there = { .modes = ADJ_SETOFFSET | ADJ_NANO, .time.tv_usec = 1 };
	struct timex back = { .modes = ADJ_SETOFFSET | ADJ_NANO, .time = { .tv_sec = -1, .tv_usec = 999999999 } };
	static bool is_moved;

	if (adjtimex(is_moved ? &back : &there) < 0) {
		ck_assert_int_eq(errno, EPERM);
		return false;
	}
	is_moved = !is_moved;
	return true;
}

START_TEST(setting_the_clock_is_told_each_time)
{
	scene->wants_jumps = true;
	for (int i = 0; i < 4 && touch_clock(); i++)
		scene_expect(scene, ANSWER_CLOCK_JUMP);
}
END_TEST

START_TEST(jump_is_told_before_the_alarm_that_it_made_due)
{
	scene->wants_jumps = true;
	if (!touch_clock())
		return;
	ck_assert_int_ge(arm(SUPD_CLOCK_REALTIME, clock_now(CLOCK_REALTIME) - USEC_PER_HOUR), 0);
	scene_expect(scene, ANSWER_CLOCK_JUMP);
	ck_assert(touch_clock());
	while (scene_next(scene).kind != ANSWER_WAKE)
		;
}
END_TEST

static void replace_link(const char *target)
{
	_cleanup_free_ char *temporary = test_dir_path(zone_dir, "new");

	ck_assert_int_eq(symlink(target, temporary), 0);
	ck_assert_int_eq(rename(temporary, localtime_path), 0);
}

START_TEST(moved_link_is_told_as_one_zone_change)
{
	replace_link("zones/two");
	scene_expect(scene, ANSWER_ZONE_CHANGE);
	for (int i = 0; i < 10; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
	/* and the new target is watched */
	test_dir_write_text(zone_dir, "zones/two", "22");
	scene_expect(scene, ANSWER_ZONE_CHANGE);
}
END_TEST

START_TEST(replaced_zone_file_is_told)
{
	_cleanup_free_ char *from = test_dir_path(zone_dir, "zones/two"), *to = test_dir_path(zone_dir, "zones/one");

	ck_assert_int_eq(rename(from, to), 0);
	scene_expect(scene, ANSWER_ZONE_CHANGE);
}
END_TEST

START_TEST(removed_and_restored_link_is_told)
{
	ck_assert_int_eq(unlink(localtime_path), 0);
	scene_expect(scene, ANSWER_ZONE_CHANGE);
	ck_assert_int_eq(symlink("zones/one", localtime_path), 0);
	scene_expect(scene, ANSWER_ZONE_CHANGE);
}
END_TEST

START_TEST(other_files_are_none_of_our_business)
{
	test_dir_write_text(zone_dir, "hosts", "x");
	test_dir_write_text(zone_dir, "zones/three", "3");
	for (int i = 0; i < 10; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
}
END_TEST

START_TEST(saves_are_answered_with_their_tickets)
{
	const struct world *w = scene->world;
	struct answer a;

	ck_assert_int_eq(w->save(w->ctx, "timer", 7, "x", 1), 0);
	a = scene_expect(scene, ANSWER_SAVED);
	ck_assert_uint_eq(a.ticket, 7);
	ck_assert_int_eq(a.result, 0);
}
END_TEST

START_TEST(gate_is_kept_and_silent_at_first)
{
	const struct world *w = scene->world;
	bool on = false;

	ck_assert_int_eq(w->gate_load(w->ctx, "timers", &on), -ENOENT);
	ck_assert_int_eq(w->gate_save(w->ctx, "timers", true), 0);
	ck_assert_int_eq(w->gate_load(w->ctx, "timers", &on), 0);
	ck_assert(on);
	ck_assert_int_eq(w->gate_save(w->ctx, "timers", false), 0);
	ck_assert_int_eq(w->gate_load(w->ctx, "timers", &on), 0);
	ck_assert(!on);
}
END_TEST

static const char *const spoilt[] = { "", "yes", "YES\n", "yes\nno\n", "1\n", "y" };

START_TEST(spoilt_gate_file_opens_nothing)
{
	const struct world *w = scene->world;
	_cleanup_free_ char *path = test_dir_path(scene->dir, "experimental-timers");
	bool on = false;

	test_dir_write_text(scene->dir, "experimental-timers", spoilt[_i]);
	ck_assert_int_eq(chmod(path, 0600), 0);
	ck_assert_int_eq(w->gate_load(w->ctx, "timers", &on), -EBADMSG);
	ck_assert(!on);
}
END_TEST

static void on_looked(void *userdata)
{
	unsigned *n = userdata;

	(*n)++;
}

START_TEST(units_are_looked_at_beside_the_loop)
{
	const struct world *w = scene->world;
	struct diag d = { 0 };
	unsigned n = 0;

	for (unsigned i = 1; i <= 2; i++) {
		ck_assert_int_eq(world_linux_look_ahead(scene->linux_world, on_looked, &n), 0);
		ck_assert_int_eq(world_linux_look_ahead(scene->linux_world, on_looked, &n), -EBUSY);
		ck_assert_uint_eq(n, i - 1);
		while (n < i)
			scene_turn(scene);
		ck_assert_int_eq(w->scan_units(w->ctx, 1U << UNIT_SERVICE, &d), 0);
	}
	/* Nobody is told any more. */
	ck_assert_int_eq(world_linux_look_ahead(scene->linux_world, on_looked, &n), 0);
	diag_done(&d);
}
END_TEST

START_TEST(chance_differs)
{
	const struct world *w = scene->world;
	uint64_t a = w->random(w->ctx), b = w->random(w->ctx), c = w->random(w->ctx);

	ck_assert(a != b || b != c);
}
END_TEST

START_TEST(end_of_the_manager_ends_the_loop)
{
	const struct world *w = scene->world;

	w->manager_state(w->ctx, SUPD_MANAGER_RUNNING);
	ck_assert_int_ne(sd_event_get_state(scene->event), SD_EVENT_FINISHED);
	w->manager_state(w->ctx, SUPD_MANAGER_ENDED);
	ck_assert_int_eq(sd_event_loop(scene->event), 0);
}
END_TEST

START_TEST(idle_loop_sleeps)
{
	unsigned n_jumps;
	int r;

	/* Whatever there is to settle at first. */
	while (sd_event_run(scene->event, 0) > 0)
		;
	do {
		n_jumps = scene->n_jumps;
		r = sd_event_run(scene->event, 50 * USEC_PER_MSEC);
	} while (scene->n_jumps > n_jumps);
	ck_assert_int_eq(r, 0);
}
END_TEST

static Suite *world_linux_suite(void)
{
	Suite *s = suite_create("world_linux");
	TCase *tc = tcase_create("world_linux");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, alarm_comes_not_before_its_time, 0, ELEMENTS(clocks));
	tcase_add_loop_test(tc, alarm_of_the_past_comes_at_once_but_not_from_inside, 0, ELEMENTS(clocks));
	tcase_add_loop_test(tc, alarm_can_be_moved_and_taken_back, 0, ELEMENTS(clocks));
	tcase_add_loop_test(tc, far_alarms_are_taken, 0, ELEMENTS(clocks));
	tcase_add_test(tc, setting_the_clock_is_told_each_time);
	tcase_add_test(tc, jump_is_told_before_the_alarm_that_it_made_due);
	tcase_add_test(tc, moved_link_is_told_as_one_zone_change);
	tcase_add_test(tc, replaced_zone_file_is_told);
	tcase_add_test(tc, removed_and_restored_link_is_told);
	tcase_add_test(tc, other_files_are_none_of_our_business);
	tcase_add_test(tc, saves_are_answered_with_their_tickets);
	tcase_add_test(tc, units_are_looked_at_beside_the_loop);
	tcase_add_test(tc, gate_is_kept_and_silent_at_first);
	tcase_add_loop_test(tc, spoilt_gate_file_opens_nothing, 0, ELEMENTS(spoilt));
	tcase_add_test(tc, chance_differs);
	tcase_add_test(tc, end_of_the_manager_ends_the_loop);
	tcase_add_test(tc, idle_loop_sleeps);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(world_linux_suite)
