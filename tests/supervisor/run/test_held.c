/* SPDX-License-Identifier: MIT */
/* Runs that wait for a write: nothing of them is executed before it is over, they can be called back, and nobody else
 * waits with them. */
#include "run/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/process.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/run/scene.h"
#include "tests/supervisor/run/slow_disk.h"

#define EARLY 4     /* so many have their process while they wait */
#define CROWD 20    /* more than there are threads, too */
#define TICKET 7

static struct scene *scene;
static char *effects; /* a file in it for each run that was executed */

static void begin_scene(bool without_cgroup)
{
	const struct scene_options options = { .without_cgroup = without_cgroup };

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	effects = test_dir_new();
	ck_assert_int_eq(chmod(effects, 0777), 0);
	scene = scene_new(&options);
}

static void set_up_with_cgroup(void)
{
	begin_scene(false);
}

static void set_up_without_cgroup(void)
{
	begin_scene(true);
}

static void set_up_alone(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	effects = test_dir_new();
	ck_assert_int_eq(chmod(effects, 0777), 0);
}

static void tear_down(void)
{
	slow_disk_go();
	if (scene)
		scene = scene_free(scene);
	effects = test_dir_free(effects);
}

static void write_state(uint64_t ticket)
{
	ck_assert_int_eq(scene->world->save(scene->world->ctx, "timer", ticket, "x", 1), 0);
}

/* The write of TICKET begins, and does not end. */
static void hang(void)
{
	slow_disk_hang();
	write_state(TICKET);
	slow_disk_wait();
}

static int ask(world_token token, uint64_t after)
{
	char script[512];

	snprintf(script, sizeof(script), "echo executed >%s/%d", effects, (int) token);
	scene->run.after = after;
	return scene_spawn(scene, token, (const char *const[]) { "/bin/sh", "-c", script, NULL });
}

static bool is_executed(world_token token)
{
	_cleanup_free_ char *path = NULL;
	char name[32];

	snprintf(name, sizeof(name), "%d", (int) token);
	path = test_dir_path(effects, name);
	return access(path, F_OK) == 0;
}

static bool is_same_program(pid_t pid)
{
	char path[64], own[512], its[512];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own)), n_its;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int) pid);
	n_its = readlink(path, its, sizeof(its));
	return n > 0 && n == n_its && memcmp(own, its, (size_t) n) == 0;
}

static bool is_asleep(pid_t pid)
{
	_cleanup_free_ char *text = NULL;
	const char *end;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	if (process_read_text(AT_FDCWD, path, 4096, &text, NULL) < 0)
		return false;
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/* Children that are not another program yet, and sleep: on that way there is nothing else to sleep on. */
static unsigned count_held(void)
{
	_cleanup_free_ struct process *list = NULL;
	unsigned n_held = 0;
	size_t n;

	ck_assert_int_ge(process_list(&list, &n), 0);
	for (size_t i = 0; i < n; i++)
		n_held += list[i].parent == getpid() && !list[i].is_dead && is_asleep(list[i].pid) &&
			  is_same_program(list[i].pid);
	return n_held;
}

static void wait_held(unsigned n)
{
	while (count_held() != n)
		ck_assert_int_ge(sd_event_run(scene->event, 10 * USEC_PER_MSEC), 0);
}

static void expect_silence(void)
{
	for (int i = 0; i < 20; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
}

/* The answers of runs, in between those of saves. */
static struct answer next_of_runs(void)
{
	struct answer a;

	do
		a = scene_next(scene);
	while (a.kind == ANSWER_SAVED);
	return a;
}

/* It is executed, and ends well. */
static void expect_run(world_token token)
{
	struct answer a = next_of_runs();

	ck_assert_int_eq(a.kind, ANSWER_SPAWNED);
	ck_assert_uint_eq(a.token, token);
	a = next_of_runs();
	ck_assert_int_eq(a.kind, ANSWER_EXITED);
	ck_assert_uint_eq(a.token, token);
	ck_assert_int_eq(a.wstatus, 0);
	ck_assert(is_executed(token));
}

static void expect_runs(unsigned n)
{
	for (unsigned n_exited = 0; n_exited < n;) {
		struct answer a = next_of_runs();

		ck_assert(a.kind == ANSWER_SPAWNED || a.kind == ANSWER_EXITED);
		if (a.kind != ANSWER_EXITED)
			continue;
		ck_assert_int_eq(a.wstatus, 0);
		ck_assert(is_executed(a.token));
		n_exited++;
	}
}

static void expect_cancelled(world_token token)
{
	struct answer a = scene_expect(scene, ANSWER_SPAWN_FAILED);

	ck_assert_uint_eq(a.token, token);
	ck_assert_int_eq(a.step, EXEC_STEP_FORK);
	ck_assert_int_eq(a.error, ECANCELED);
}

static void cancel(world_token token)
{
	scene->world->cancel(scene->world->ctx, token);
}

static void release(world_token token)
{
	scene->world->release(scene->world->ctx, token, false);
}

static bool has_children(void)
{
	return waitid(P_ALL, 0, &(siginfo_t) { 0 }, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static void wait_childless(void)
{
	while (has_children())
		ck_assert_int_ge(sd_event_run(scene->event, 10 * USEC_PER_MSEC), 0);
}

/* ---- until the write is over ---- */

START_TEST(nothing_is_executed_before_the_write_is_over)
{
	hang();
	ck_assert_int_eq(ask(1, TICKET), 0);
	wait_held(1);
	expect_silence();
	/* Meanwhile another goes all its way. */
	ck_assert_int_eq(ask(2, 0), 0);
	expect_run(2);
	ck_assert_uint_eq(count_held(), 1);
	ck_assert(!is_executed(1));
	slow_disk_go();
	expect_run(1);
}
END_TEST

START_TEST(what_is_written_is_not_waited_for)
{
	write_state(1);
	scene_expect(scene, ANSWER_SAVED);
	hang();
	ck_assert_int_eq(ask(1, 1), 0);
	expect_run(1);
	ck_assert_int_eq(ask(2, 99), 0); /* nobody knows it */
	expect_run(2);
}
END_TEST

START_TEST(a_write_that_fails_is_over_too)
{
	struct answer a;

	test_dir_write_text(scene->dir, "timers.state/in-the-way", "");
	hang();
	ck_assert_int_eq(ask(1, TICKET), 0);
	wait_held(1);
	slow_disk_go();
	do
		a = scene_next(scene);
	while (a.kind != ANSWER_SAVED);
	ck_assert_int_lt(a.result, 0);
	while (!is_executed(1))
		ck_assert_int_ge(sd_event_run(scene->event, 10 * USEC_PER_MSEC), 0);
}
END_TEST

START_TEST(what_waits_for_a_queued_write_waits_for_that)
{
	hang();
	write_state(TICKET + 1);
	ck_assert_int_eq(ask(1, TICKET), 0);
	ck_assert_int_eq(ask(2, TICKET + 1), 0);
	wait_held(2);
	expect_silence();
	slow_disk_go();
	expect_runs(2);
}
END_TEST

/* The daemon's end writes at once, and what that replaced is over with it. */
START_TEST(a_write_at_once_lets_go_what_it_replaced)
{
	write_state(TICKET);
	write_state(TICKET + 1); /* waits for the loop */
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert_int_eq(ask(t, TICKET + 1), 0);
	ck_assert_int_eq(scene->world->save_now(scene->world->ctx, "timer", "y", 1), 0);
	expect_runs(CROWD);
}
END_TEST

START_TEST(who_has_not_to_wait_goes_before_a_crowd_that_has)
{
	hang();
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	for (world_token t = CROWD + 1; t <= 2 * CROWD; t++) {
		ck_assert_int_eq(ask(t, 0), 0);
		expect_run(t);
	}
	ck_assert_uint_eq(count_held(), EARLY);
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert(!is_executed(t));
	slow_disk_go();
	expect_runs(CROWD);
}
END_TEST

START_TEST(commands_of_a_run_that_was_held_follow_one_another)
{
	hang();
	ck_assert_int_eq(ask(1, TICKET), 0);
	wait_held(1);
	ck_assert_int_eq(ask(1, TICKET), -EBUSY);
	slow_disk_go();
	expect_run(1);
	ck_assert_int_eq(ask(1, TICKET), 0);
	expect_run(1);
	release(1);
}
END_TEST

/* ---- called back ---- */

START_TEST(who_is_cancelled_executes_nothing)
{
	hang();
	ck_assert_int_eq(ask(1, TICKET), 0);
	wait_held(1);
	cancel(1);
	ck_assert_uint_eq(scene->n_answers, 0);
	expect_cancelled(1);
	ck_assert(!has_children());
	release(1);
	slow_disk_go();
	scene_expect(scene, ANSWER_SAVED);
	ck_assert(!is_executed(1));
}
END_TEST

/* Whether its process waits already or not. */
START_TEST(who_is_cancelled_at_once_executes_nothing)
{
	hang();
	for (world_token t = 1; t <= 50; t++) {
		ck_assert_int_eq(ask(t, TICKET), 0);
		cancel(t);
		expect_cancelled(t);
		release(t);
		ck_assert(!is_executed(t));
	}
	ck_assert(!has_children());
}
END_TEST

START_TEST(who_is_cancelled_without_a_process_gets_none)
{
	hang();
	for (world_token t = 1; t <= EARLY + 3; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	cancel(EARLY + 2);
	expect_cancelled(EARLY + 2);
	release(EARLY + 2);
	release(EARLY + 3);
	expect_silence();
	ck_assert_uint_eq(count_held(), EARLY);
	slow_disk_go();
	expect_runs(EARLY + 1);
	expect_silence();
	ck_assert(!is_executed(EARLY + 2));
	ck_assert(!is_executed(EARLY + 3));
}
END_TEST

START_TEST(room_of_the_cancelled_is_for_others)
{
	hang();
	for (world_token t = 1; t <= EARLY; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	for (world_token t = 1; t <= EARLY; t++) {
		cancel(t);
		expect_cancelled(t);
	}
	for (world_token t = EARLY + 1; t <= 2 * EARLY; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	slow_disk_go();
	expect_runs(EARLY);
}
END_TEST

START_TEST(who_is_released_leaves_no_process)
{
	hang();
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	for (world_token t = 1; t <= CROWD; t++)
		release(t);
	wait_childless();
	expect_silence();
	slow_disk_go();
	scene_expect(scene, ANSWER_SAVED);
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert(!is_executed(t));
}
END_TEST

/* Even if the disk goes on before they are stopped. */
START_TEST(who_waits_when_the_daemon_begins_to_end_executes_nothing)
{
	hang();
	for (world_token t = 1; t <= EARLY; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	scene->world->manager_state(scene->world->ctx, SUPD_MANAGER_STOPPING);
	ck_assert_uint_eq(scene->n_answers, 0);
	slow_disk_go();
	for (unsigned i = 0; i < EARLY; i++) {
		struct answer a = next_of_runs();

		ck_assert_int_eq(a.kind, ANSWER_SPAWN_FAILED);
		ck_assert_int_eq(a.error, ECANCELED);
		ck_assert(!is_executed(a.token));
	}
	/* What is run on the way out is. */
	ck_assert_int_eq(ask(EARLY + 1, TICKET), 0);
	expect_run(EARLY + 1);
}
END_TEST

/* Its memory is ours yet, but its signals are not. */
START_TEST(a_signal_ends_who_waits)
{
	struct answer a;

	hang();
	ck_assert_int_eq(ask(1, TICKET), 0);
	wait_held(1);
	ck_assert_int_eq(scene->world->kill_tree(scene->world->ctx, 1, SIGTERM, false), 0);
	scene_expect(scene, ANSWER_SPAWNED);
	a = scene_expect(scene, ANSWER_EXITED);
	ck_assert(WIFSIGNALED(a.wstatus));
	ck_assert_int_eq(WTERMSIG(a.wstatus), SIGTERM);
	slow_disk_go();
	scene_expect(scene, ANSWER_SAVED);
	ck_assert(!is_executed(1));
	/* And we go on. */
	ck_assert_int_eq(ask(2, 0), 0);
	expect_run(2);
}
END_TEST

/* ---- the end ---- */

/* The disk goes on when all processes are gone, and not before. */
static void *go_without_children(void *userdata)
{
	while (has_children())
		(void) poll(NULL, 0, 1);
	slow_disk_go();
	return userdata;
}

START_TEST(the_end_of_the_world_waits_for_nobody_who_waits)
{
	pthread_t thread;

	hang();
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert_int_eq(ask(t, TICKET), 0);
	wait_held(EARLY);
	ck_assert_int_eq(pthread_create(&thread, NULL, go_without_children, NULL), 0);
	scene = scene_free(scene);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	for (world_token t = 1; t <= CROWD; t++)
		ck_assert(!is_executed(t));
}
END_TEST

/* Nobody would wake them. */
START_TEST(who_waits_dies_with_a_daemon_that_is_killed)
{
	const char *user = _i % 2 && geteuid() == 0 ? "nobody" : NULL;
	pid_t daemon_pid = fork();
	int status;

	if (daemon_pid == 0) {
		scene = scene_new(&(struct scene_options) { .without_cgroup = _i / 2 });
		scene->exec.user = user;
		hang();
		for (world_token t = 1; t <= EARLY + 1; t++)
			if (ask(t, TICKET) < 0)
				_exit(1);
		wait_held(EARLY);
		(void) kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(daemon_pid, &status, 0), daemon_pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the daemon ended with %x", (unsigned) status);
	/* They come to us, the subreaper. */
	for (unsigned i = 0; i < EARLY; i++) {
		ck_assert_int_gt(waitpid(-1, &status, 0), 0);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	ck_assert_int_eq(waitpid(-1, &status, 0), -1);
	ck_assert_int_eq(errno, ECHILD);
	for (world_token t = 1; t <= EARLY + 1; t++)
		ck_assert(!is_executed(t));
}
END_TEST

static Suite *held_suite(void)
{
	Suite *s = suite_create("held");
	TCase *with = tcase_create("with cgroup"), *without = tcase_create("without cgroup"), *killed = tcase_create("killed");
	TCase *both[] = { with, without };

	tcase_add_checked_fixture(with, set_up_with_cgroup, tear_down);
	tcase_add_checked_fixture(without, set_up_without_cgroup, tear_down);
	for (size_t i = 0; i < ELEMENTS(both); i++) {
		tcase_set_timeout(both[i], 60);
		tcase_add_test(both[i], nothing_is_executed_before_the_write_is_over);
		tcase_add_test(both[i], what_is_written_is_not_waited_for);
		tcase_add_test(both[i], a_write_that_fails_is_over_too);
		tcase_add_test(both[i], what_waits_for_a_queued_write_waits_for_that);
		tcase_add_test(both[i], a_write_at_once_lets_go_what_it_replaced);
		tcase_add_test(both[i], who_has_not_to_wait_goes_before_a_crowd_that_has);
		tcase_add_test(both[i], commands_of_a_run_that_was_held_follow_one_another);
		tcase_add_test(both[i], who_is_cancelled_executes_nothing);
		tcase_add_test(both[i], who_is_cancelled_at_once_executes_nothing);
		tcase_add_test(both[i], who_is_cancelled_without_a_process_gets_none);
		tcase_add_test(both[i], room_of_the_cancelled_is_for_others);
		tcase_add_test(both[i], who_is_released_leaves_no_process);
		tcase_add_test(both[i], who_waits_when_the_daemon_begins_to_end_executes_nothing);
		tcase_add_test(both[i], a_signal_ends_who_waits);
		tcase_add_test(both[i], the_end_of_the_world_waits_for_nobody_who_waits);
		suite_add_tcase(s, both[i]);
	}
	tcase_add_checked_fixture(killed, set_up_alone, tear_down);
	tcase_set_timeout(killed, 60);
	tcase_add_loop_test(killed, who_waits_dies_with_a_daemon_that_is_killed, 0, 4);
	suite_add_tcase(s, killed);
	return s;
}

TEST_MAIN(held_suite)
