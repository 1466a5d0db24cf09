/* SPDX-License-Identifier: MIT */
/* In folders of plain files what would be written; and where there is a cgroup v2 with any controller to be had, that
 * the daemon steps aside for it, for real. */
#include "run/cgroup_control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/cgroup.h"
#include "run/process.h"
#include "store/file.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

/* ---- plain files ---- */

static char *dir;
static int run_fd;
static struct cgroup_limits limits;
static int refused[CGROUP_LIMIT_COUNT];

static void set_up(void)
{
	_cleanup_free_ char *path = NULL;

	dir = test_dir_new();
	test_dir_write_text(dir, "cgroup.subtree_control", "");
	test_dir_write_text(dir, "home/cgroup.subtree_control", "");
	test_dir_write_text(dir, "home/run/cgroup.procs", "");
	path = test_dir_path(dir, "home/run");
	run_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(run_fd, 0);
	limits = (struct cgroup_limits) { .cpu_period = CGROUP_PERIOD_DEFAULT };
	memset(refused, 0, sizeof(refused));
}

static void tear_down(void)
{
	close(run_fd);
	test_dir_free(dir);
}

static void on_refused(void *userdata, enum cgroup_limit limit, int r)
{
	(void) userdata;
	refused[limit] = r;
}

static void expect(const char *file, const char *wanted)
{
	_cleanup_free_ char *got = test_dir_read(dir, file, NULL);

	ck_assert_str_eq(got, wanted);
}

START_TEST(limits_are_written)
{
	test_dir_write_text(dir, "home/run/memory.max", "");
	test_dir_write_text(dir, "home/run/pids.max", "");
	test_dir_write_text(dir, "home/run/cpu.max", "");
	test_dir_write_text(dir, "home/run/cpu.idle", "");
	limits.limit[CGROUP_MEMORY_MAX] = (struct cgroup_amount) { .is_set = true, .value = 4096 };
	limits.limit[CGROUP_TASKS_MAX] = (struct cgroup_amount) { .is_set = true, .value = CGROUP_INFINITY };
	limits.limit[CGROUP_CPU_QUOTA] = (struct cgroup_amount) { .is_set = true, .is_relative = true, .value = 5000 };
	limits.limit[CGROUP_CPU_WEIGHT] = (struct cgroup_amount) { .is_set = true, .value = CGROUP_WEIGHT_IDLE };
	cgroup_control_apply(run_fd, &limits, on_refused, NULL);
	expect("home/run/memory.max", "4096");
	expect("home/run/pids.max", "max");
	expect("home/run/cpu.max", "50000 100000");
	expect("home/run/cpu.idle", "1");
	expect("home/cgroup.subtree_control", "");
	for (size_t i = 0; i < CGROUP_LIMIT_COUNT; i++)
		ck_assert_int_eq(refused[i], 0);
}
END_TEST

/* A block device, or nothing for a file on a file system without one. */
START_TEST(limits_of_cpus_and_devices_are_written)
{
	unsigned long cpus[] = { 0xf1 };
	struct cgroup_device device[] = {
		{ CGROUP_IO_READ_BANDWIDTH, "/nowhere", 1000 }, { CGROUP_IO_LATENCY, "/proc/self", 1000 },
	};

	test_dir_write_text(dir, "home/run/cpuset.cpus", "");
	limits.cpus = (struct exec_mask) { cpus, 1 };
	limits.device = device;
	limits.n_devices = ELEMENTS(device);
	cgroup_control_apply(run_fd, &limits, on_refused, NULL);
	expect("home/run/cpuset.cpus", "0,4-7");
	ck_assert_int_eq(refused[CGROUP_CPUS], 0);
	ck_assert_int_eq(refused[CGROUP_IO_READ_BANDWIDTH], -ENODEV);
	ck_assert_int_eq(refused[CGROUP_IO_LATENCY], -ENODEV);
	/* Whatever device this file is on, if on any. */
	device[0].path = dir;
	test_dir_write_text(dir, "home/run/io.max", "");
	cgroup_control_apply(run_fd, &limits, on_refused, NULL);
	if (refused[CGROUP_IO_READ_BANDWIDTH] == 0) {
		_cleanup_free_ char *got = test_dir_read(dir, "home/run/io.max", NULL);

		ck_assert_ptr_nonnull(strstr(got, " rbps=1000"));
	}
}
END_TEST

START_TEST(percentages_are_of_this_machine)
{
	_cleanup_free_ char *got = NULL;

	test_dir_write_text(dir, "home/run/memory.max", "");
	limits.limit[CGROUP_MEMORY_MAX] = (struct cgroup_amount) { .is_set = true, .is_relative = true, .value = 5000 };
	cgroup_control_apply(run_fd, &limits, on_refused, NULL);
	got = test_dir_read(dir, "home/run/memory.max", NULL);
	ck_assert_uint_gt(strtoull(got, NULL, 10), 1 << 20);
}
END_TEST

START_TEST(a_controller_that_is_missing_is_asked_for_and_told)
{
	test_dir_write_text(dir, "home/run/memory.max", "");
	limits.limit[CGROUP_MEMORY_MAX] = (struct cgroup_amount) { .is_set = true, .value = 4096 };
	limits.limit[CGROUP_TASKS_MAX] = (struct cgroup_amount) { .is_set = true, .value = 7 };
	cgroup_control_apply(run_fd, &limits, on_refused, NULL);
	expect("home/cgroup.subtree_control", "+pids");
	ck_assert_int_eq(refused[CGROUP_TASKS_MAX], -ENOENT);
	ck_assert_int_eq(refused[CGROUP_MEMORY_MAX], 0);
	expect("home/run/memory.max", "4096");
}
END_TEST

START_TEST(usage_is_read)
{
	struct cgroup_usage usage = cgroup_control_usage(run_fd);

	ck_assert_uint_eq(usage.peak, 0);
	ck_assert_uint_eq(usage.n_oom_kills, 0);
	test_dir_write_text(dir, "home/run/memory.peak", "123456\n");
	test_dir_write_text(dir, "home/run/memory.events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n");
	usage = cgroup_control_usage(run_fd);
	ck_assert_uint_eq(usage.peak, 123456);
	ck_assert_uint_eq(usage.n_oom_kills, 5);
	/* Older kernels know no group kills, and none of this is for sure. */
	test_dir_write_text(dir, "home/run/memory.events", "oom 4\noom_kill 12");
	ck_assert_uint_eq(cgroup_control_usage(run_fd).n_oom_kills, 12);
	test_dir_write_text(dir, "home/run/memory.events", "oom 4\noom_group_kill 6\n");
	ck_assert_uint_eq(cgroup_control_usage(run_fd).n_oom_kills, 0);
	test_dir_write_text(dir, "home/run/memory.events", "oom_kill many\n");
	ck_assert_uint_eq(cgroup_control_usage(run_fd).n_oom_kills, 0);
}
END_TEST

START_TEST(oom_policy_kill_is_of_the_whole_group)
{
	test_dir_write_text(dir, "home/run/memory.oom.group", "0");
	limits.oom_policy = CGROUP_OOM_KILL;
	cgroup_control_apply(run_fd, &limits, on_refused, NULL);
	expect("home/run/memory.oom.group", "1");
}
END_TEST

/* ---- a real one ---- */

struct stage {
	struct cgroup own, parent, home, run;
	char controller[64];
	bool was_enabled;
};

static int put(int fd, const char *file, const char *text)
{
	_cleanup_close_ int out = openat(fd, file, O_WRONLY | O_CLOEXEC);

	return out >= 0 && write(out, text, strlen(text)) >= 0 ? 0 : -1;
}

static size_t count_lines(int fd, const char *file)
{
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	ck_assert_int_ge(process_read_text(fd, file, 4096, &text, NULL), 0);
	for (const char *p = text; *p; p++)
		n += *p == '\n';
	return n;
}

static bool has_word(int fd, const char *file, const char *word)
{
	_cleanup_free_ char *text = NULL;

	return process_read_text(fd, file, 4096, &text, NULL) >= 0 && strstr(text, word);
}

/* False: there is nothing here to try it with. */
static bool stage_new(struct stage *s)
{
	_cleanup_free_ char *controllers = NULL;
	char name[64], word[80];

	memset(s, 0, sizeof(*s));
	if (cgroup_open_own(&s->own) < 0)
		return false;
	/* One such test at a time, until the folder is closed: it switches a controller of all on and off. */
	ck_assert_int_eq(flock(s->own.fd, LOCK_EX), 0);
	if (process_read_text(s->own.fd, "cgroup.controllers", 4096, &controllers, NULL) < 0 ||
	    sscanf(controllers, "%63s", s->controller) != 1)
		return false;
	snprintf(word, sizeof(word), "+%s", s->controller);
	snprintf(name, sizeof(name), "supd-test-%d", (int) getpid());
	s->was_enabled = has_word(s->own.fd, "cgroup.subtree_control", s->controller);
	if (put(s->own.fd, "cgroup.subtree_control", word) < 0 || cgroup_make(&s->own, name, &s->parent) < 0)
		return false;
	ck_assert_int_eq(cgroup_make(&s->parent, "home", &s->home), 0);
	ck_assert_int_eq(cgroup_make(&s->home, "run", &s->run), 0);
	return true;
}

/* A process that was waited for may stay in its group for a moment. */
static void wait_until_empty(const struct cgroup *g)
{
	struct pollfd p = { .fd = openat(g->fd, "cgroup.events", O_RDONLY | O_CLOEXEC), .events = POLLPRI };

	while (cgroup_is_populated(g) > 0)
		(void) poll(&p, 1, 1000);
	close(p.fd);
}

static void stage_done(struct stage *s)
{
	char word[80];

	(void) cgroup_signal(&s->parent, SIGKILL, 0);
	while (wait(NULL) > 0)
		;
	wait_until_empty(&s->parent);
	ck_assert_int_eq(cgroup_remove(&s->parent), 0);
	snprintf(word, sizeof(word), "-%s", s->controller);
	if (!s->was_enabled)
		(void) put(s->own.fd, "cgroup.subtree_control", word);
	cgroup_done(&s->run);
	cgroup_done(&s->home);
	cgroup_done(&s->parent);
	cgroup_done(&s->own);
}

/* A child in the cgroup @s->parent that does nothing; returns when it is there. */
static void enter_and_wait(const struct stage *s)
{
	int ready[2];
	char byte;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	if (fork() == 0) {
		if (put(s->parent.fd, "cgroup.procs", "0") == 0)
			(void)!write(ready[1], "x", 1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
}

/* Runs @fn in a process that lives in @s->parent, as a daemon does; its checks are this test's. */
static void as_daemon(const struct stage *s, void (*fn)(const struct stage *s))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ck_assert_int_eq(put(s->parent.fd, "cgroup.procs", "0"), 0);
		fn(s);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

static void step_aside_and_back(const struct stage *s)
{
	enter_and_wait(s);
	ck_assert_uint_eq(count_lines(s->parent.fd, "cgroup.procs"), 2);
	ck_assert_int_eq(cgroup_control_enable(s->run.fd, s->controller), 0);
	ck_assert(has_word(s->run.fd, "cgroup.controllers", s->controller));
	ck_assert_uint_eq(count_lines(s->parent.fd, "cgroup.procs"), 0);
	ck_assert_uint_eq(count_lines(s->home.fd, "daemon/cgroup.procs"), 2);
	/* once more is no more */
	ck_assert_int_eq(cgroup_control_enable(s->run.fd, s->controller), 0);
	cgroup_control_leave(s->home.fd);
	ck_assert_uint_eq(count_lines(s->parent.fd, "cgroup.procs"), 2);
	ck_assert(!has_word(s->parent.fd, "cgroup.subtree_control", s->controller));
	ck_assert_int_lt(faccessat(s->home.fd, "daemon", F_OK, 0), 0);
	ck_assert_int_eq(cgroup_signal(&s->parent, SIGKILL, getpid()), 0);
}

START_TEST(a_daemon_steps_aside_for_its_controllers)
{
	struct stage s;

	if (!stage_new(&s))
		return;
	as_daemon(&s, step_aside_and_back);
	stage_done(&s);
}
END_TEST

static void be_refused(const struct stage *s)
{
	ck_assert_int_eq(cgroup_control_enable(s->run.fd, s->controller), -EBUSY);
	ck_assert_int_lt(faccessat(s->home.fd, "daemon", F_OK, 0), 0);
	ck_assert_uint_eq(count_lines(s->parent.fd, "cgroup.procs"), 2);
}

START_TEST(strangers_are_not_moved)
{
	struct stage s;

	if (!stage_new(&s))
		return;
	enter_and_wait(&s);
	as_daemon(&s, be_refused);
	stage_done(&s);
}
END_TEST

static void be_told_of_none(const struct stage *s)
{
	ck_assert_int_lt(cgroup_control_enable(s->run.fd, "no-such-controller"), 0);
}

START_TEST(a_controller_that_there_is_not_is_told)
{
	struct stage s;

	if (!stage_new(&s))
		return;
	as_daemon(&s, be_told_of_none);
	stage_done(&s);
}
END_TEST

static Suite *cgroup_control_suite(void)
{
	Suite *s = suite_create("cgroup_control");
	TCase *files = tcase_create("files"), *real = tcase_create("real");

	tcase_add_checked_fixture(files, set_up, tear_down);
	tcase_add_test(files, limits_are_written);
	tcase_add_test(files, limits_of_cpus_and_devices_are_written);
	tcase_add_test(files, percentages_are_of_this_machine);
	tcase_add_test(files, a_controller_that_is_missing_is_asked_for_and_told);
	tcase_add_test(files, usage_is_read);
	tcase_add_test(files, oom_policy_kill_is_of_the_whole_group);
	suite_add_tcase(s, files);
	tcase_set_timeout(real, 60);
	tcase_add_test(real, a_daemon_steps_aside_for_its_controllers);
	tcase_add_test(real, strangers_are_not_moved);
	tcase_add_test(real, a_controller_that_there_is_not_is_told);
	suite_add_tcase(s, real);
	return s;
}

TEST_MAIN(cgroup_control_suite)
