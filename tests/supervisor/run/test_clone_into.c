/* SPDX-License-Identifier: MIT */
/* A child in its cgroup from the first moment; and the longer way, where that cannot be. */
#include "run/clone_into.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/cgroup.h"
#include "run/identity.h"
#include "run/launch.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define STACK_SIZE ((size_t) 64 * 1024)
#define FLAGS (CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_CHILD_SETTID)

__attribute__((no_sanitize_address, no_sanitize_thread, noinline)) static int leave_word(void *userdata)
{
	*(volatile int *) userdata = 42;
	(void) syscall(SYS_exit_group, 7);
	return 0;
}

static pid_t clone_one(int cgroup, int *word, pid_t *tid, int *pidfd)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int saved;

	ck_assert_ptr_ne(stack, MAP_FAILED);
	pid = clone_into_cgroup(cgroup, leave_word, word, stack, STACK_SIZE, FLAGS, tid, pidfd);
	saved = errno;
	munmap(stack, STACK_SIZE);
	errno = saved;
	return pid;
}

START_TEST(child_runs_on_its_own_stack)
{
	struct cgroup own = { .fd = -1 };
	int word = 0, pidfd = -1, wstatus = 0;
	pid_t tid = 0, pid;

	if (cgroup_open_own(&own) < 0 || !cgroup_is_usable(&own)) {
		cgroup_done(&own);
		return;
	}
	pid = clone_one(own.fd, &word, &tid, &pidfd);
	cgroup_done(&own);
	if (pid < 0)
		return; /* an old kernel, a filter, or another processor */
	ck_assert_int_eq(pid, tid);
	ck_assert_int_ge(pidfd, 0);
	close(pidfd);
	ck_assert_int_eq(waitpid(pid, &wstatus, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(wstatus), 7);
	ck_assert_int_eq(word, 42);
}
END_TEST

START_TEST(no_cgroup_is_no_child)
{
	int word = 0, pidfd = -1, null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t tid = 0;

	ck_assert_int_lt(clone_one(null, &word, &tid, &pidfd), 0);
	ck_assert_int_ne(errno, 0);
	ck_assert_int_eq(word, 0);
	close(null);
}
END_TEST

static int launch_true(struct launch *l, const char *dir)
{
	static const char *const path[] = { "/bin/true", NULL };
	static char name[] = "true", *const argv[] = { name, NULL }, *const envp[] = { NULL };
	const struct identity nobody_else = { .set_user = false };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), pidfd = -1, r;
	pid_t pid = 0;

	*l = (struct launch) {
		.path = path, .argv = argv, .envp = envp, .identity = &nobody_else, .umask = 0022,
		.in = null, .out = null, .err = null, .cgroup = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
	};
	r = launch(l, &pid, &pidfd);
	close(l->cgroup);
	close(null);
	if (pidfd >= 0)
		close(pidfd);
	if (pid > 0)
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return r;
}

/* A directory that looks like one: clone3() refuses it, and the child writes itself into its list. */
START_TEST(what_cannot_be_cloned_into_is_joined)
{
	char *dir = test_dir_new(), *text;
	struct launch l;

	test_dir_write_text(dir, "cgroup.procs", "");
	ck_assert_int_eq(launch_true(&l, dir), 0);
	text = test_dir_read(dir, "cgroup.procs", NULL);
	ck_assert_str_eq(text, "0");
	free(text);
	test_dir_free(dir);
}
END_TEST

START_TEST(what_cannot_be_joined_is_told)
{
	char *dir = test_dir_new();
	struct launch l;

	ck_assert_int_eq(launch_true(&l, dir), -1);
	ck_assert_int_eq(l.step, EXEC_STEP_CGROUP);
	ck_assert_int_eq(l.error, ENOENT);
	test_dir_free(dir);
}
END_TEST

/* As many processes as there are: the kernel has made a descriptor by then, and written its number, and takes it back. */
#define PIDS "/sys/fs/cgroup/pids"

static bool fill_pids_cgroup(char *dir, size_t n)
{
	_cleanup_free_ char *max = NULL, *procs = NULL;
	FILE *f;

	(void) snprintf(dir, n, PIDS "/supd-test-%d", (int) getpid());
	if (mkdir(dir, 0755) < 0)
		return false;
	ck_assert_int_gt(asprintf(&max, "%s/pids.max", dir), 0);
	ck_assert_int_gt(asprintf(&procs, "%s/cgroup.procs", dir), 0);
	f = fopen(max, "we");
	ck_assert(f && fputs("1", f) >= 0 && fclose(f) == 0);
	f = fopen(procs, "we");
	ck_assert(f && fputs("0", f) >= 0 && fclose(f) == 0);
	return true;
}

static void leave_pids_cgroup(const char *dir)
{
	FILE *f = fopen(PIDS "/cgroup.procs", "we");

	ck_assert(f && fputs("0", f) >= 0 && fclose(f) == 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

START_TEST(refused_child_leaves_no_descriptor)
{
	static const char *const path[] = { "/bin/true", NULL };
	static char name[] = "true", *const argv[] = { name, NULL }, *const envp[] = { NULL };
	const struct identity nobody_else = { .set_user = false };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), pidfd = -1, r;
	struct launch l = {
		.path = path, .argv = argv, .envp = envp, .identity = &nobody_else, .umask = 0022,
		.in = null, .out = null, .err = null, .cgroup = -1,
	};
	char dir[128];
	pid_t pid = 0;

	/* It is a v1 hierarchy, to be had as root; elsewhere there is nothing to be seen. */
	if (!fill_pids_cgroup(dir, sizeof(dir)))
		return;
	r = launch(&l, &pid, &pidfd);
	leave_pids_cgroup(dir);
	ck_assert_int_eq(r, -1);
	ck_assert_int_eq(l.step, EXEC_STEP_FORK);
	ck_assert_int_eq(l.error, EAGAIN);
	ck_assert_int_eq(pid, 0);
	ck_assert_int_eq(pidfd, -1);
	close(null);
}
END_TEST

static Suite *clone_into_suite(void)
{
	Suite *s = suite_create("run/clone_into");
	TCase *t = tcase_create("clone_into");

	tcase_add_test(t, child_runs_on_its_own_stack);
	tcase_add_test(t, no_cgroup_is_no_child);
	tcase_add_test(t, what_cannot_be_cloned_into_is_joined);
	tcase_add_test(t, what_cannot_be_joined_is_told);
	tcase_add_test(t, refused_child_leaves_no_descriptor);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(clone_into_suite)
