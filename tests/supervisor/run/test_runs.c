/* SPDX-License-Identifier: MIT */
/* Runs with real processes: the order of what is told, trees that end as a whole, orphans, and nothing left behind. */
#include "run/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/cgroup.h"
#include "run/process.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/run/scene.h"

#define WORDS(...) ((const char *const[]) { __VA_ARGS__, NULL })

static struct scene *scene;

static void set_up_with_cgroup(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	scene = scene_new(NULL);
}

static void set_up_without_cgroup(void)
{
	struct scene_options options = { .without_cgroup = true };

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	scene = scene_new(&options);
}

static void set_up_alone(void)
{
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

static void tear_down(void)
{
	if (scene)
		scene = scene_free(scene);
}

static pid_t spawn(world_token token, const char *const *words)
{
	ck_assert_int_eq(scene_spawn(scene, token, words), 0);
	return scene_expect(scene, ANSWER_SPAWNED).pid;
}

/* Until the process has said that it is ready. */
static void wait_ready(void)
{
	while (!scene_has_line(scene, "stdout", "ready")) {
		ck_assert_uint_eq(scene->n_answers, 0);
		ck_assert_int_ge(sd_event_run(scene->event, SCENE_PATIENCE), 0);
	}
}

static int kill_main(world_token token, int sig)
{
	return scene->world->kill_main(scene->world->ctx, token, sig);
}

static int kill_tree(world_token token, int sig, bool spare_main)
{
	return scene->world->kill_tree(scene->world->ctx, token, sig, spare_main);
}

static int watch_tree(world_token token)
{
	return scene->world->watch_tree(scene->world->ctx, token);
}

/* That nothing is left may be known at once. */
static void expect_empty(world_token token)
{
	int r = watch_tree(token);

	ck_assert(r == 0 || r == -ESRCH);
	if (r == 0)
		ck_assert_uint_eq(scene_expect(scene, ANSWER_TREE_EMPTY).token, token);
}

static void release(world_token token)
{
	scene->world->release(scene->world->ctx, token, false);
}

/* ---- one process ---- */

START_TEST(exit_code_is_told)
{
	struct answer a;

	spawn(1, WORDS("exit", "42"));
	a = scene_expect(scene, ANSWER_EXITED);
	ck_assert(WIFEXITED(a.wstatus));
	ck_assert_int_eq(WEXITSTATUS(a.wstatus), 42);
	ck_assert_uint_gt(a.now.boot, 0);
}
END_TEST

START_TEST(memory_of_the_child_is_told_and_not_ours)
{
	struct answer a;

	spawn(1, WORDS("memory", "268435456"));
	a = scene_expect(scene, ANSWER_EXITED);
	ck_assert_int_eq(a.wstatus, 0);
	ck_assert_uint_ge(a.peak_memory, 268435456);
	/* What is smaller than we are cannot be told from us. */
	spawn(1, WORDS("exit", "0"));
	ck_assert_uint_lt(scene_expect(scene, ANSWER_EXITED).peak_memory, 268435456);
}
END_TEST

START_TEST(signal_is_told)
{
	struct answer a;

	spawn(1, WORDS("signal", "9"));
	a = scene_expect(scene, ANSWER_EXITED);
	ck_assert(WIFSIGNALED(a.wstatus));
	ck_assert_int_eq(WTERMSIG(a.wstatus), SIGKILL);
}
END_TEST

START_TEST(nothing_is_told_from_inside_a_call)
{
	ck_assert_int_eq(scene_spawn(scene, 1, WORDS("exit", "0")), 0);
	ck_assert_uint_eq(scene->n_answers, 0);
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_uint_eq(scene->n_answers, 0);
	scene_expect(scene, ANSWER_SPAWNED);
	scene_expect(scene, ANSWER_EXITED);
	scene_expect(scene, ANSWER_TREE_EMPTY);
}
END_TEST

START_TEST(commands_of_a_run_follow_one_another)
{
	for (int i = 0; i < 5; i++) {
		spawn(1, WORDS("exit", "0"));
		ck_assert_int_eq(scene_expect(scene, ANSWER_EXITED).wstatus, 0);
	}
	release(1);
	ck_assert_int_eq(kill_main(1, SIGTERM), -ESRCH);
}
END_TEST

START_TEST(many_runs_at_once_are_each_told_right)
{
	enum { N = 20 };
	bool is_spawned[N] = { false };
	unsigned n_exited = 0;

	for (world_token t = 1; t <= N; t++) {
		char code[16];

		snprintf(code, sizeof(code), "%d", (int) t);
		ck_assert_int_eq(scene_spawn(scene, t, WORDS("exit", code)), 0);
	}
	while (n_exited < N) {
		struct answer a = scene_next(scene);

		if (a.kind == ANSWER_SPAWNED) {
			ck_assert(!is_spawned[a.token - 1]);
			is_spawned[a.token - 1] = true;
			continue;
		}
		ck_assert_int_eq(a.kind, ANSWER_EXITED);
		ck_assert(is_spawned[a.token - 1]);
		ck_assert_int_eq(WEXITSTATUS(a.wstatus), (int) a.token);
		n_exited++;
	}
}
END_TEST

START_TEST(main_process_is_signalled)
{
	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(kill_main(1, SIGTERM), 0);
	ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGTERM);
	ck_assert_int_eq(kill_main(1, SIGTERM), -ESRCH);
	ck_assert_int_eq(kill_main(99, SIGTERM), -ESRCH);
}
END_TEST

START_TEST(stopped_process_is_continued_to_hear)
{
	pid_t pid = spawn(1, WORDS("/bin/sleep", "1000"));

	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	ck_assert_int_eq(kill_main(1, SIGTERM), 0);
	ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGTERM);
}
END_TEST

START_TEST(second_process_of_a_run_waits_for_the_first)
{
	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(scene_spawn(scene, 1, WORDS("exit", "0")), -EBUSY);
	ck_assert_int_eq(kill_main(1, SIGKILL), 0);
	scene_expect(scene, ANSWER_EXITED);
}
END_TEST

START_TEST(run_released_while_it_starts_leaves_no_process)
{
	ck_assert_int_eq(scene_spawn(scene, 1, WORDS("stubborn")), 0);
	release(1);
	while (scene_is_left(scene) || waitpid(-1, NULL, WNOHANG) >= 0)
		ck_assert_int_ge(sd_event_run(scene->event, 10 * USEC_PER_MSEC), 0);
	ck_assert_uint_eq(scene->n_answers, 0);
}
END_TEST

START_TEST(world_that_ends_while_one_starts_leaves_no_process)
{
	ck_assert_int_eq(scene_spawn(scene, 1, WORDS("stubborn")), 0);
}
END_TEST

/* ---- too little of something ---- */

/* So few descriptors that there is no room for a second run. */
static struct rlimit lower_nofile(void)
{
	struct rlimit before, low;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	low.rlim_cur = 0;
	while (fcntl((int) low.rlim_cur, F_GETFD) >= 0)
		low.rlim_cur++;
	low.rlim_cur += 8;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	return before;
}

static void expect_silence(void)
{
	for (int i = 0; i < 20; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
}

static size_t count_descriptors(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static struct rlimit no_descriptors(void)
{
	struct rlimit before, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	return before;
}

START_TEST(start_waits_for_descriptors)
{
	struct rlimit before = no_descriptors();

	ck_assert_int_eq(scene_spawn(scene, 1, WORDS("exit", "0")), 0);
	expect_silence();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_SPAWNED).token, 1);
	ck_assert_int_eq(scene_expect(scene, ANSWER_EXITED).wstatus, 0);
}
END_TEST

START_TEST(starts_that_wait_begin_in_the_order_of_asking)
{
	struct rlimit before = lower_nofile();
	size_t n_before = count_descriptors();

	for (world_token t = 1; t <= 6; t++)
		ck_assert_int_eq(scene_spawn(scene, t, WORDS("exit", "0")), 0);
	for (world_token t = 1; t <= 6; t++) {
		ck_assert_uint_eq(scene_expect(scene, ANSWER_SPAWNED).token, t);
		ck_assert_uint_eq(scene_expect(scene, ANSWER_EXITED).token, t);
		release(t);
	}
	ck_assert_uint_le(count_descriptors(), n_before);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

START_TEST(run_that_has_begun_goes_before_those_that_have_not)
{
	struct rlimit before = lower_nofile();

	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(scene_spawn(scene, 2, WORDS("exit", "0")), 0);
	expect_silence();
	ck_assert_int_eq(kill_main(1, SIGKILL), 0);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_EXITED).token, 1);
	ck_assert_int_eq(scene_spawn(scene, 1, WORDS("exit", "0")), 0);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_SPAWNED).token, 1);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_EXITED).token, 1);
	release(1);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_SPAWNED).token, 2);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_EXITED).token, 2);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

START_TEST(start_that_waits_can_be_cancelled)
{
	struct rlimit before = lower_nofile();
	struct answer a;

	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(scene_spawn(scene, 2, WORDS("exit", "0")), 0);
	ck_assert_int_eq(scene_spawn(scene, 3, WORDS("exit", "0")), 0);
	ck_assert_int_eq(scene_spawn(scene, 2, WORDS("exit", "0")), -EBUSY);
	expect_silence();
	scene->world->cancel(scene->world->ctx, 3);
	ck_assert_uint_eq(scene->n_answers, 0);
	a = scene_expect(scene, ANSWER_SPAWN_FAILED);
	ck_assert_uint_eq(a.token, 3);
	ck_assert_int_eq(a.step, EXEC_STEP_FORK);
	ck_assert_int_eq(a.error, ECANCELED);
	/* Nobody is told of who is released. */
	release(2);
	release(3);
	expect_silence();
	scene->world->cancel(scene->world->ctx, 1); /* has begun */
	expect_silence();
	ck_assert_int_eq(kill_main(1, SIGKILL), 0);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_EXITED).token, 1);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

START_TEST(world_that_ends_while_one_waits_leaves_nothing)
{
	struct rlimit before = lower_nofile();

	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(scene_spawn(scene, 2, WORDS("exit", "0")), 0);
	expect_silence();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

START_TEST(signal_that_cannot_be_sent_now_is_sent_soon)
{
	struct rlimit before;

	spawn(1, WORDS("/bin/sleep", "1000"));
	before = no_descriptors();
	ck_assert_int_eq(kill_tree(1, SIGTERM, false), 0);
	expect_silence();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGTERM);
}
END_TEST

START_TEST(end_of_a_tree_that_cannot_be_seen_now_is_seen_soon)
{
	struct rlimit before;

	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(watch_tree(1), 0);
	scene_turn(scene);
	before = no_descriptors();
	ck_assert_int_eq(kill_main(1, SIGKILL), 0);
	scene_expect(scene, ANSWER_EXITED);
	expect_silence();
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	scene_expect(scene, ANSWER_TREE_EMPTY);
}
END_TEST

/* ---- trees ---- */

START_TEST(tree_is_empty_after_the_main_process)
{
	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_int_eq(kill_tree(1, SIGTERM, false), 0);
	ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGTERM);
	scene_expect(scene, ANSWER_TREE_EMPTY);
}
END_TEST

START_TEST(watched_twice_is_told_once)
{
	spawn(1, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_int_eq(kill_main(1, SIGTERM), 0);
	scene_expect(scene, ANSWER_EXITED);
	scene_expect(scene, ANSWER_TREE_EMPTY);
	for (int i = 0; i < 10; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
}
END_TEST

START_TEST(detached_grandchild_that_ignores_signals_is_found_and_killed)
{
	spawn(1, WORDS("leave"));
	ck_assert_int_eq(scene_expect(scene, ANSWER_EXITED).wstatus, 0);
	wait_ready();
	ck_assert(scene_is_left(scene));
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_int_eq(kill_tree(1, SIGTERM, false), 0);
	for (int i = 0; i < 5; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
	ck_assert(scene_is_left(scene));
	ck_assert_int_eq(kill_tree(1, SIGKILL, false), 0);
	scene_expect(scene, ANSWER_TREE_EMPTY);
	ck_assert(!scene_is_left(scene));
}
END_TEST

/* ExecStopPost= after a SIGKILL. Recent kernels end at birth what is cloned into a cgroup that was killed before. */
START_TEST(command_after_a_kill_lives)
{
	for (int i = 0; i < 3; i++) {
		spawn(1, WORDS("/bin/sleep", "1000"));
		ck_assert_int_eq(kill_tree(1, SIGKILL, false), 0);
		ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGKILL);
		expect_empty(1);
	}
	spawn(1, WORDS("exit", "3"));
	ck_assert_int_eq(WEXITSTATUS(scene_expect(scene, ANSWER_EXITED).wstatus), 3);
}
END_TEST

START_TEST(main_process_can_be_spared)
{
	pid_t pid = spawn(1, WORDS("child"));

	struct process main_process;

	wait_ready();
	ck_assert_int_eq(kill_tree(1, SIGKILL, true), 0);
	ck_assert_int_eq(process_read(pid, &main_process), 0);
	ck_assert(!main_process.is_dead);
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_int_eq(kill_tree(1, SIGTERM, false), 0);
	ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGTERM);
	scene_expect(scene, ANSWER_TREE_EMPTY);
	ck_assert(!scene_is_left(scene));
}
END_TEST

START_TEST(trees_do_not_reach_into_one_another)
{
	struct answer a;

	spawn(1, WORDS("/bin/sleep", "1000"));
	scene->run.id[0] ^= 0xff;
	spawn(2, WORDS("/bin/sleep", "1000"));
	ck_assert_int_eq(kill_tree(1, SIGKILL, false), 0);
	ck_assert_uint_eq(scene_expect(scene, ANSWER_EXITED).token, 1);
	for (int i = 0; i < 5; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
	ck_assert_int_eq(kill_tree(2, SIGTERM, false), 0);
	a = scene_expect(scene, ANSWER_EXITED);
	ck_assert_uint_eq(a.token, 2);
	ck_assert_int_eq(WTERMSIG(a.wstatus), SIGTERM);
}
END_TEST

START_TEST(fork_storm_is_killed)
{
	spawn(1, WORDS("/bin/sh", "-c", "storm() { sleep 1000 & [ $1 = 0 ] || storm $(($1 - 1)); }; storm 40; echo ready; wait"));
	wait_ready();
	ck_assert_int_eq(watch_tree(1), 0);
	ck_assert_int_eq(kill_tree(1, SIGKILL, false), 0);
	scene_expect(scene, ANSWER_EXITED);
	scene_expect(scene, ANSWER_TREE_EMPTY);
	ck_assert(!scene_is_left(scene));
}
END_TEST

/* As an admin would. */
static void kill_children(void)
{
	size_t n_killed;

	do {
		_cleanup_free_ struct process *list = NULL;
		size_t n;

		n_killed = 0;
		ck_assert_int_ge(process_list(&list, &n), 0);
		for (size_t i = 0; i < n; i++)
			if (list[i].parent == getpid() && !list[i].is_dead)
				n_killed += kill(list[i].pid, SIGKILL) == 0;
		scene_turn(scene);
	} while (n_killed > 0);
}

START_TEST(survivor_of_a_released_run_goes_on)
{
	spawn(1, WORDS("leave"));
	scene_expect(scene, ANSWER_EXITED);
	wait_ready();
	release(1);
	ck_assert(scene_is_left(scene));
	kill_children();
}
END_TEST

START_TEST(orphans_are_reaped)
{
	spawn(1, WORDS("/bin/sh", "-c", "i=0; while [ $i -lt 50 ]; do (true &) ; i=$((i+1)); done"));
	scene_expect(scene, ANSWER_EXITED);
	expect_empty(1);
	while (waitid(P_ALL, 0, &(siginfo_t) { 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
		ck_assert_int_ge(sd_event_run(scene->event, 10 * USEC_PER_MSEC), 0);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

/* In a chroot without /proc, as it were. */
START_TEST(process_group_ends_even_without_proc)
{
	/* The log's and the loop's files are open by now. */
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		ck_assert(errno == EPERM || errno == EINVAL); /* EINVAL: in a chroot, where / is no mount point */
		return;
	}
	ck_assert_int_eq(mount("none", "/proc", "tmpfs", 0, NULL), 0);
	spawn(1, WORDS("/bin/sh", "-c", "sleep 1000 & echo ready; wait"));
	wait_ready();
	ck_assert_int_eq(watch_tree(1), 0);
	for (int i = 0; i < 5; i++)
		scene_turn(scene);
	ck_assert_uint_eq(scene->n_answers, 0);
	ck_assert_int_eq(kill_tree(1, SIGTERM, false), 0);
	ck_assert_int_eq(WTERMSIG(scene_expect(scene, ANSWER_EXITED).wstatus), SIGTERM);
	scene_expect(scene, ANSWER_TREE_EMPTY);
	ck_assert_int_eq(umount("/proc"), 0);
	ck_assert(!scene_is_left(scene));
}
END_TEST

/* ---- cgroups ---- */

/* Folders of this process below its own cgroup. */
static unsigned count_homes(void)
{
	struct cgroup own = { .fd = -1 };
	char prefix[32];
	unsigned n = 0;
	struct dirent *entry;
	DIR *dir;

	if (cgroup_open_own(&own) < 0)
		return 0;
	snprintf(prefix, sizeof(prefix), "supd-%d-", (int) getpid());
	dir = opendir(own.path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)))
		n += str_starts(entry->d_name, prefix);
	closedir(dir);
	cgroup_done(&own);
	return n;
}

static bool cgroups_can_be_made(void)
{
	struct cgroup own = { .fd = -1 };
	bool can = cgroup_open_own(&own) >= 0 && cgroup_is_usable(&own);

	cgroup_done(&own);
	return can;
}

START_TEST(cgroups_go_with_the_daemon)
{
	struct scene *other = scene_new(NULL);
	unsigned n = count_homes();

	ck_assert_uint_eq(n, cgroups_can_be_made() ? 2 : 0);
	scene_free(other);
	ck_assert_uint_eq(count_homes(), n ? 1 : 0);
}
END_TEST

START_TEST(process_is_in_a_cgroup_of_its_own)
{
	_cleanup_free_ char *text = NULL;
	char path[64], expected[128];
	pid_t pid;

	if (!cgroups_can_be_made())
		return;
	pid = spawn(7, WORDS("/bin/sleep", "1000"));
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
	ck_assert_int_ge(process_read_text(AT_FDCWD, path, 65536, &text, NULL), 0);
	snprintf(expected, sizeof(expected), "/run-7-probe.service\n");
	ck_assert_msg(strstr(text, expected), "%s", text);
	ck_assert_int_eq(kill_tree(7, SIGKILL, false), 0);
	scene_expect(scene, ANSWER_EXITED);
}
END_TEST

/* A daemon that is killed leaves its folder, and a process that nobody else would find. */
START_TEST(what_a_dead_daemon_left_is_swept)
{
	struct cgroup own = { .fd = -1 }, home, run;
	char name[64];
	pid_t pid;
	int status, procs;

	if (!cgroups_can_be_made())
		return;
	/* Made first, so that it does not share the lock. */
	pid = fork();
	if (pid == 0) {
		setsid();
		(void) prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	ck_assert_int_ge(cgroup_open_own(&own), 0);
	snprintf(name, sizeof(name), "supd-%d-dead", (int) getpid());
	/* Alive for now: whoever else sweeps at this moment leaves it alone, once it is locked. */
	for (;;) {
		if (cgroup_make(&own, name, &home) < 0)
			continue;
		if (flock(home.fd, LOCK_EX) == 0 && cgroup_make(&home, "run-1-x.service", &run) >= 0)
			break;
		cgroup_done(&home);
	}
	procs = cgroup_open_procs(&run);
	ck_assert_int_ge(procs, 0);
	ck_assert_int_gt(dprintf(procs, "%d", (int) pid), 0);
	close(procs);
	ck_assert_int_eq(cgroup_is_populated(&run), 1);
	scene_free(scene_new(NULL));
	ck_assert_int_eq(cgroup_is_populated(&run), 1);
	cgroup_done(&run);
	cgroup_done(&home);
	scene_free(scene_new(NULL));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
	while (faccessat(own.fd, name, F_OK, 0) == 0)
		scene_free(scene_new(NULL));
	cgroup_done(&own);
}
END_TEST

/* ---- a daemon that is killed ----
 *
 * Whoever forks has one thread only: no scene of our own before. */

/* A daemon of its own, in another process, that starts @words, waits until "ready" is said, and kills itself. */
static void be_killed(const struct scene_options *options, const char *const *words)
{
	pid_t daemon_pid = fork();
	int status;

	if (daemon_pid == 0) {
		struct scene *s = scene_new(options);

		if (scene_spawn(s, 1, words) < 0)
			_exit(1);
		/* "ready" may be heard before it is told that the process was started. */
		while (!scene_has_line(s, "stdout", "ready")) {
			if (sd_event_run(s->event, SCENE_PATIENCE) < 0)
				_exit(1);
			for (unsigned i = 0; i < s->n_answers; i++)
				if (s->answer[i].kind == ANSWER_SPAWN_FAILED)
					_exit(100 + s->answer[i].error);
		}
		(void) kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(daemon_pid, &status, 0), daemon_pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the daemon ended with %x", (unsigned) status);
	scene = scene_new(NULL);
	/* The run's name is made of the daemon's pid. */
	for (size_t i = 0; i < sizeof(scene->run.id); i++)
		scene->run.id[i] = (uint8_t) (daemon_pid >> (i % 4 * 8)) ^ (uint8_t) i;
}

/* All of its processes come to us, the subreaper, and are dead sooner or later. */
static void expect_all_dead(void)
{
	while (scene_is_left(scene) || waitid(P_ALL, 0, &(siginfo_t) { 0 }, WEXITED | WNOHANG | WNOWAIT) == 0)
		ck_assert_int_ge(sd_event_run(scene->event, 10 * USEC_PER_MSEC), 0);
}

static void main_process_goes(bool without_cgroup)
{
	be_killed(&(struct scene_options) { .without_cgroup = without_cgroup }, WORDS("stubborn"));
	expect_all_dead();
}

static void whole_run_goes(bool without_cgroup)
{
	be_killed(&(struct scene_options) { .without_cgroup = without_cgroup, .with_guard = true }, WORDS("leave"));
	expect_all_dead();
}

START_TEST(main_process_dies_with_the_daemon)
{
	main_process_goes(_i);
}
END_TEST

START_TEST(guard_ends_what_else_a_killed_daemon_left)
{
	whole_run_goes(_i);
}
END_TEST

START_TEST(guard_leaves_alone_what_a_daemon_left_on_purpose)
{
	struct scene *other = scene_new(&(struct scene_options) { .without_cgroup = _i, .with_guard = true });

	ck_assert_int_eq(scene_spawn(other, 1, WORDS("leave")), 0);
	scene_expect(other, ANSWER_SPAWNED);
	scene_expect(other, ANSWER_EXITED);
	other->world->release(other->world->ctx, 1, false);
	ck_assert(scene_is_left(other));
	scene_free(other);
	scene = scene_new(NULL);
	ck_assert(scene_is_left(scene));
	kill_children();
}
END_TEST

static Suite *runs_suite(void)
{
	Suite *s = suite_create("runs");
	TCase *with = tcase_create("with cgroup"), *without = tcase_create("without cgroup"), *only = tcase_create("cgroups");
	TCase *killed = tcase_create("killed");
	TCase *both[] = { with, without };

	tcase_add_checked_fixture(with, set_up_with_cgroup, tear_down);
	tcase_add_checked_fixture(only, set_up_with_cgroup, tear_down);
	tcase_add_checked_fixture(without, set_up_without_cgroup, tear_down);
	for (size_t i = 0; i < ELEMENTS(both); i++) {
		tcase_set_timeout(both[i], 60);
		tcase_add_test(both[i], exit_code_is_told);
		tcase_add_test(both[i], memory_of_the_child_is_told_and_not_ours);
		tcase_add_test(both[i], signal_is_told);
		tcase_add_test(both[i], nothing_is_told_from_inside_a_call);
		tcase_add_test(both[i], commands_of_a_run_follow_one_another);
		tcase_add_test(both[i], many_runs_at_once_are_each_told_right);
		tcase_add_test(both[i], main_process_is_signalled);
		tcase_add_test(both[i], stopped_process_is_continued_to_hear);
		tcase_add_test(both[i], second_process_of_a_run_waits_for_the_first);
		tcase_add_test(both[i], run_released_while_it_starts_leaves_no_process);
		tcase_add_test(both[i], world_that_ends_while_one_starts_leaves_no_process);
		tcase_add_test(both[i], start_waits_for_descriptors);
		tcase_add_test(both[i], starts_that_wait_begin_in_the_order_of_asking);
		tcase_add_test(both[i], run_that_has_begun_goes_before_those_that_have_not);
		tcase_add_test(both[i], start_that_waits_can_be_cancelled);
		tcase_add_test(both[i], world_that_ends_while_one_waits_leaves_nothing);
		tcase_add_test(both[i], signal_that_cannot_be_sent_now_is_sent_soon);
		tcase_add_test(both[i], end_of_a_tree_that_cannot_be_seen_now_is_seen_soon);
		tcase_add_test(both[i], tree_is_empty_after_the_main_process);
		tcase_add_test(both[i], watched_twice_is_told_once);
		tcase_add_test(both[i], detached_grandchild_that_ignores_signals_is_found_and_killed);
		tcase_add_test(both[i], command_after_a_kill_lives);
		tcase_add_test(both[i], main_process_can_be_spared);
		tcase_add_test(both[i], trees_do_not_reach_into_one_another);
		tcase_add_test(both[i], fork_storm_is_killed);
		tcase_add_test(both[i], survivor_of_a_released_run_goes_on);
		tcase_add_test(both[i], orphans_are_reaped);
		suite_add_tcase(s, both[i]);
	}
	tcase_add_test(without, process_group_ends_even_without_proc);
	tcase_set_timeout(only, 60);
	tcase_add_test(only, cgroups_go_with_the_daemon);
	tcase_add_test(only, process_is_in_a_cgroup_of_its_own);
	tcase_add_test(only, what_a_dead_daemon_left_is_swept);
	suite_add_tcase(s, only);
	tcase_add_checked_fixture(killed, set_up_alone, tear_down);
	tcase_set_timeout(killed, 60);
	tcase_add_loop_test(killed, main_process_dies_with_the_daemon, 0, 2);
	tcase_add_loop_test(killed, guard_ends_what_else_a_killed_daemon_left, 0, 2);
	tcase_add_loop_test(killed, guard_leaves_alone_what_a_daemon_left_on_purpose, 0, 2);
	suite_add_tcase(s, killed);
	return s;
}

TEST_MAIN(runs_suite)
