/* SPDX-License-Identifier: MIT */
#include "run/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/child_code.h"
#include "run/clone_into.h"
#include "run/identity.h"
#include "run/low_descriptors.h"

#define CHILD_STACK_SIZE ((size_t) 32 * 1024)
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2U
#endif
/* No kernel's struct sigaction is larger. */
#define KERNEL_SIGACTION_MAX 160

/* The bare calls where libc's wrapper would do more than call: it tells all threads of a change of
 * identity, and keeps two signals to itself. */
#ifdef SYS_setresuid32
#define SYS_SETRESUID SYS_setresuid32
#define SYS_SETRESGID SYS_setresgid32
#define SYS_SETGROUPS SYS_setgroups32
#define SYS_GETGROUPS SYS_getgroups32
#else
#define SYS_SETRESUID SYS_setresuid
#define SYS_SETRESGID SYS_setresgid
#define SYS_SETGROUPS SYS_setgroups
#define SYS_GETGROUPS SYS_getgroups
#endif

CHILD_CODE static int fail(struct launch *l, enum exec_step step)
{
	l->error = errno;
	l->step = step;
	return -1;
}

/* What exec would leave ignored, since this process does, what a handler of this process waits for
 * (a library's, say: it would run in the child, in our memory), and those that libc does not let
 * us ask for. Nobody here changes what becomes of a signal after the start, so it is found out
 * once. */
static int inherited[_NSIG];
static size_t n_inherited;

static void find_inherited(void)
{
	struct sigaction action;

	for (int sig = 1; sig < _NSIG; sig++)
		if (sigaction(sig, NULL, &action) < 0 || action.sa_handler != SIG_DFL)
			inherited[n_inherited++] = sig;
}

/* By hand: exec leaves ignored what was ignored, and resets handlers too late for a child that
 * waits before it. */
CHILD_CODE static int reset_signals(struct launch *l)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	static const char zero[KERNEL_SIGACTION_MAX];

	for (size_t i = 0; i < n_inherited; i++)
		(void) syscall(SYS_rt_sigaction, inherited[i], zero, NULL, (size_t) _NSIG / 8);
	if (l->ignore_sigpipe && sigaction(SIGPIPE, &ignore, NULL) < 0)
		return fail(l, EXEC_STEP_SIGNAL_MASK);
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, zero, NULL, (size_t) _NSIG / 8) < 0)
		return fail(l, EXEC_STEP_SIGNAL_MASK);
	return 0;
}

static int highest_wanted(const struct launch *l)
{
	int cgroup = l->must_join ? l->cgroup : -1;
	int fds[] = { STDERR_FILENO, l->in, l->out, l->err, cgroup }, highest = -1;

	for (size_t i = 0; i < ELEMENTS(fds); i++)
		highest = fds[i] > highest ? fds[i] : highest;
	return highest;
}

/* Out of the table of descriptors that the daemon's threads and this child share so far: before
 * anything here changes one. What lies above those that are needed is never copied, however many
 * the daemon has. */
CHILD_CODE static int leave_shared_files(struct launch *l)
{
	if (!l->shares_files)
		return 0;
	if (syscall(SYS_close_range, l->highest_fd + 1, UINT_MAX, CLOSE_RANGE_UNSHARE) < 0)
		return fail(l, EXEC_STEP_FDS);
	return 0;
}

CHILD_CODE static int set_up_streams(struct launch *l)
{
	if (dup2(l->in, STDIN_FILENO) < 0)
		return fail(l, EXEC_STEP_STDIN);
	if (dup2(l->out, STDOUT_FILENO) < 0)
		return fail(l, EXEC_STEP_STDOUT);
	if (dup2(l->err, STDERR_FILENO) < 0)
		return fail(l, EXEC_STEP_STDERR);
	if (l->has_terminal && ioctl(STDIN_FILENO, TIOCSCTTY, l->force_terminal) < 0)
		return fail(l, EXEC_STEP_STDIN);
	return 0;
}

CHILD_CODE static int parse_fd(const char *s)
{
	int fd = 0;

	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		fd = fd * 10 + (*s - '0');
	}
	return fd;
}

/* For kernels without close_range(2): by the list in /proc. */
CHILD_CODE static int close_listed(void)
{
	_Alignas(struct dirent64) char buf[2048];
	int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (dir < 0)
		return -1;
	while ((n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *entry = (const void *) (buf + at);
			int fd = parse_fd(entry->d_name);

			if (fd > STDERR_FILENO && fd != dir)
				(void) close(fd);
			at += entry->d_reclen;
		}
	(void) close(dir);
	return n < 0 ? -1 : 0;
}

/* Ours are all marked close-on-exec; those that somebody handed us, and a library's, may not be. */
CHILD_CODE static int close_others(struct launch *l)
{
	if (syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0) == 0)
		return 0;
	if ((errno != ENOSYS && errno != EPERM) || close_listed() < 0)
		return fail(l, EXEC_STEP_FDS);
	return 0;
}

/* Where it may not be lowered (in a user namespace, say), it stays as it is, as in systemd. */
CHILD_CODE static int adjust_oom_score(struct launch *l)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC), saved;

	if (fd < 0)
		return fail(l, EXEC_STEP_OOM_ADJUST);
	if (write(fd, l->oom_score_adjust, strlen(l->oom_score_adjust)) < 0 && errno != EPERM &&
	    errno != EACCES) {
		saved = errno;
		(void) close(fd);
		errno = saved;
		return fail(l, EXEC_STEP_OOM_ADJUST);
	}
	(void) close(fd);
	return 0;
}

/* The nearest level that we may have, as in systemd: RLIMIT_NICE counts from 0 (20) to 40 (-20). */
CHILD_CODE static int set_nice(struct launch *l)
{
	int current, nearest, wanted_errno;
	struct rlimit limit;

	if (setpriority(PRIO_PROCESS, 0, l->nice) == 0)
		return 0;
	wanted_errno = errno;
	if (errno != EPERM && errno != EACCES)
		return fail(l, EXEC_STEP_NICE);
	errno = 0;
	current = getpriority(PRIO_PROCESS, 0);
	/* To be nicer is always allowed: then it is the call itself that is refused. */
	if (errno != 0 || l->nice > current || getrlimit(RLIMIT_NICE, &limit) < 0) {
		errno = wanted_errno;
		return fail(l, EXEC_STEP_NICE);
	}
	nearest = limit.rlim_cur >= 40 ? -20 : limit.rlim_cur == 0 ? 19 : 20 - (int) limit.rlim_cur;
	if (nearest < current && setpriority(PRIO_PROCESS, 0, nearest) < 0)
		return fail(l, EXEC_STEP_NICE);
	return 0;
}

CHILD_CODE static int set_scheduler(struct launch *l)
{
	const struct exec_limits *x = l->limits;
	bool is_realtime = x->scheduler == SCHED_FIFO || x->scheduler == SCHED_RR;
	int policy = x->scheduler | (x->scheduler_reset_on_fork ? SCHED_RESET_ON_FORK : 0);
	struct sched_param param = { 0 };

	if (is_realtime)
		param.sched_priority = x->scheduler_priority > 0 ? x->scheduler_priority : 1;
	/* musl has no sched_setscheduler(3) */
	if (syscall(SYS_sched_setscheduler, 0, policy, &param) < 0)
		return fail(l, EXEC_STEP_SCHEDULER);
	return 0;
}

/* A kernel without NUMA has one node only, and nothing to choose. */
CHILD_CODE static int set_numa_policy(struct launch *l)
{
	const struct exec_limits *x = l->limits;
	bool has_nodes = x->numa_policy != MPOL_DEFAULT && x->numa_policy != MPOL_LOCAL;
	const unsigned long *nodes = has_nodes ? l->numa_nodes.word : NULL;
	/* One more than there are bits: set_mempolicy(2) takes one off. */
	size_t n_bits = nodes ? l->numa_nodes.n_words * sizeof(*nodes) * CHAR_BIT + 1 : 0;

	if (syscall(SYS_set_mempolicy, x->numa_policy, nodes, n_bits) < 0 && errno != ENOSYS)
		return fail(l, EXEC_STEP_NUMA_POLICY);
	return 0;
}

CHILD_CODE static int set_io_priority(struct launch *l)
{
	/* idle and none have no levels */
	bool has_level = l->limits->io_class == IOPRIO_CLASS_RT ||
			 l->limits->io_class == IOPRIO_CLASS_BE;
	int priority =
		IOPRIO_PRIO_VALUE(l->limits->io_class, has_level ? l->limits->io_priority : 0);

	if (syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, priority) < 0)
		return fail(l, EXEC_STEP_IO_PRIORITY);
	return 0;
}

/* What it is to the kernel's schedulers; all of it while we still have all rights. */
CHILD_CODE static int set_scheduling(struct launch *l)
{
	const struct exec_limits *x = l->limits;

	if (x && x->has_oom_score_adjust && adjust_oom_score(l) < 0)
		return -1;
	if (l->has_nice && set_nice(l) < 0)
		return -1;
	if (!x)
		return 0;
	if (x->has_scheduler && set_scheduler(l) < 0)
		return -1;
	if (x->cpus.n_words > 0 &&
	    syscall(SYS_sched_setaffinity, 0, x->cpus.n_words * sizeof(*x->cpus.word),
		    x->cpus.word) < 0)
		return fail(l, EXEC_STEP_CPU_AFFINITY);
	if (x->has_numa_policy && set_numa_policy(l) < 0)
		return -1;
	if (x->has_io && set_io_priority(l) < 0)
		return -1;
	if (x->has_timer_slack &&
	    prctl(PR_SET_TIMERSLACK, (unsigned long) x->timer_slack, 0, 0, 0) < 0)
		return fail(l, EXEC_STEP_TIMER_SLACK);
	if (x->has_personality && personality(x->personality) < 0)
		return fail(l, EXEC_STEP_PERSONALITY);
	return 0;
}

/* As near as we may come to it, as in systemd: without rights a hard limit cannot be raised. */
CHILD_CODE static int set_limit(struct launch *l, const struct exec_rlimit *wanted)
{
	struct rlimit limit = { .rlim_cur = wanted->soft, .rlim_max = wanted->hard }, highest;

	if (setrlimit(wanted->resource, &limit) == 0)
		return 0;
	if (errno != EPERM || getrlimit(wanted->resource, &highest) < 0)
		return fail(l, EXEC_STEP_LIMITS);
	if (limit.rlim_cur > highest.rlim_max)
		limit.rlim_cur = highest.rlim_max;
	if (limit.rlim_max > highest.rlim_max)
		limit.rlim_max = highest.rlim_max;
	return setrlimit(wanted->resource, &limit) < 0 ? fail(l, EXEC_STEP_LIMITS) : 0;
}

CHILD_CODE static int set_limits(struct launch *l)
{
	if (l->has_nofile && setrlimit(RLIMIT_NOFILE, &l->nofile) < 0)
		return fail(l, EXEC_STEP_LIMITS);
	if (!l->limits || l->is_unlimited)
		return 0;
	for (size_t i = 0; i < l->limits->n_rlimits; i++)
		if (set_limit(l, &l->limits->rlimit[i]) < 0)
			return -1;
	return 0;
}

CHILD_CODE static bool has_group(const gid_t *list, size_t n, gid_t gid)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == gid)
			return true;
	return false;
}

CHILD_CODE static bool groups_are_set(struct launch *l)
{
	const struct identity *id = l->identity;
	long n = syscall(SYS_GETGROUPS, id->n_groups, l->groups_check);

	if (n < 0 || (size_t) n != id->n_groups)
		return false;
	for (size_t i = 0; i < id->n_groups; i++)
		if (!has_group(l->groups_check, id->n_groups, id->groups[i]))
			return false;
	return true;
}

/* A zero count makes getgroups(2) tell the number instead, which is right as well: none are
 * expected. */
CHILD_CODE static int set_groups(struct launch *l)
{
	const struct identity *id = l->identity;

	if (!id->set_groups || groups_are_set(l))
		return 0;
	if (syscall(SYS_SETGROUPS, id->n_groups, id->groups) < 0)
		return fail(l, EXEC_STEP_GROUP);
	errno = EPERM;
	return groups_are_set(l) ? 0 : fail(l, EXEC_STEP_GROUP);
}

CHILD_CODE static int set_group(struct launch *l)
{
	gid_t gid = l->identity->gid, real = (gid_t) -1, effective = (gid_t) -1, saved = (gid_t) -1;

	if (!l->identity->set_group)
		return 0;
	if (syscall(SYS_SETRESGID, gid, gid, gid) < 0)
		return fail(l, EXEC_STEP_GROUP);
	errno = EPERM;
	if (getresgid(&real, &effective, &saved) < 0 || real != gid || effective != gid ||
	    saved != gid)
		return fail(l, EXEC_STEP_GROUP);
	return 0;
}

CHILD_CODE static int set_user(struct launch *l)
{
	uid_t uid = l->identity->uid, real = (uid_t) -1, effective = (uid_t) -1, saved = (uid_t) -1;

	if (!l->identity->set_user)
		return 0;
	if (syscall(SYS_SETRESUID, uid, uid, uid) < 0)
		return fail(l, EXEC_STEP_USER);
	errno = EPERM;
	if (getresuid(&real, &effective, &saved) < 0 || real != uid || effective != uid ||
	    saved != uid)
		return fail(l, EXEC_STEP_USER);
	return 0;
}

/* As the user, and after the change, as systemd does: the directory may be one (on a network, say)
 * that root may not enter but the user may, and one that the user may not enter must not be handed
 * over by root. */
CHILD_CODE static int enter_directory(struct launch *l)
{
	if (!l->directory || chdir(l->directory) == 0 || l->directory_optional)
		return 0;
	return fail(l, EXEC_STEP_CHDIR);
}

/* If supd dies, its services do not outlive it unsupervised. It may have died before this call. */
CHILD_CODE static void die_with_parent(struct launch *l, int signal)
{
	if (signal == 0)
		return;
	(void) prctl(PR_SET_PDEATHSIG, signal);
	if (getppid() != l->parent)
		(void) syscall(SYS_exit_group, EXIT_FAILURE);
}

/* For what has to be on disk before anything is executed. If supd dies meanwhile, nobody would ever
 * wake us. */
CHILD_CODE static int await(struct launch *l)
{
	if (!l->after || !barrier_holds(l->after))
		return 0;
	die_with_parent(l, SIGKILL);
	if (!barrier_await(l->after)) {
		errno = ECANCELED;
		return fail(l, EXEC_STEP_FORK);
	}
	(void) prctl(PR_SET_PDEATHSIG, l->parent_death_signal);
	return 0;
}

/* Like execvp(3): a file that may not be executed is passed over, but remembered. */
CHILD_CODE static int become(struct launch *l)
{
	int error = ENOENT;

	for (const char *const *path = l->path; *path; path++) {
		(void) syscall(SYS_execve, *path, l->argv, l->envp);
		if (error != EACCES)
			error = errno;
		if (errno != EACCES && errno != ENOENT && errno != ENOTDIR)
			break;
	}
	errno = error;
	return fail(l, EXEC_STEP_EXEC);
}

CHILD_CODE static int join_cgroup(struct launch *l)
{
	int fd = openat(l->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) < 0)
		return fail(l, EXEC_STEP_CGROUP);
	(void) close(fd);
	return 0;
}

/* The order is systemd's. What a sandbox consists of is not done yet; it has its place where it is
 * told. */
CHILD_CODE static int child_steps(struct launch *l)
{
	if (leave_shared_files(l) < 0)
		return -1;
	if (l->must_join && join_cgroup(l) < 0)
		return -1;
	if (setsid() < 0)
		return fail(l, EXEC_STEP_SETSID);
	if (reset_signals(l) < 0 || set_up_streams(l) < 0 || close_others(l) < 0)
		return -1;
	if (chdir("/") < 0)
		return fail(l, EXEC_STEP_CHDIR);
	if (set_scheduling(l) < 0)
		return -1;
	(void) umask(l->umask);
	if (set_limits(l) < 0)
		return -1;
	/* Sandbox: namespaces, mounts and the root directory, while everything is allowed yet. */
	if (set_groups(l) < 0 || set_group(l) < 0)
		return -1;
	/* Sandbox: capabilities, secure bits and security labels, before the user's rights are all
	 * there are. */
	if (set_user(l) < 0 || enter_directory(l) < 0)
		return -1;
	/* Sandbox: no new privileges, and filters of system calls at last: they deny what is done
	 * above. */
	die_with_parent(l, l->parent_death_signal);
	if (await(l) < 0)
		return -1;
	return become(l);
}

CHILD_CODE static int child_main(void *userdata)
{
	(void) child_steps(userdata);
	(void) syscall(SYS_exit_group, EXIT_FAILURE);
	return EXIT_FAILURE;
}

/* ---- may a child share our descriptors, and leave them again? ---- */

static bool can_share_files;

CHILD_CODE static int probe_main(void *userdata)
{
	bool *can = userdata;

	*can = syscall(SYS_close_range, UINT_MAX, UINT_MAX, CLOSE_RANGE_UNSHARE) == 0;
	(void) syscall(SYS_exit_group, EXIT_SUCCESS);
	return EXIT_SUCCESS;
}

/* Kernels before 5.9 and some sandboxes say no. Asked once, by a child that nobody else hears of:
 * it ends without a signal. */
static void probe_files(void)
{
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES;
	_Alignas(16) char stack[CHILD_STACK_SIZE];
	pid_t pid;

	pid = clone(probe_main, stack + sizeof(stack), flags, &can_share_files);
	if (pid > 0)
		(void) waitpid(pid, NULL, __WCLONE);
}

static void find_out(void)
{
	find_inherited();
	probe_files();
	if (can_share_files)
		low_descriptors_prepare();
}

static int refuse(struct launch *l, int error)
{
	l->step = EXEC_STEP_FORK;
	l->error = error;
	return -1;
}

/* The child's stack lies in this frame, whose thread does not go on before the child has left it
 * (CLONE_VFORK). */
static pid_t start_child(struct launch *l, pid_t *pid, int *pidfd)
{
	_Alignas(16) char stack[CHILD_STACK_SIZE];
	const unsigned flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | CLONE_CHILD_SETTID |
			       (l->shares_files ? CLONE_FILES : 0);
	pid_t r = -1;

	if (l->cgroup >= 0 && !l->must_join)
		r = clone_into_cgroup(l->cgroup, child_main, l, stack, CHILD_STACK_SIZE, flags, pid,
				      pidfd);
	if (r >= 0)
		return r;
	/* Whatever is wrong, this either can do without it, or fails where it can be told. */
	l->must_join = l->cgroup >= 0;
	l->highest_fd = highest_wanted(l);
	return clone(child_main, stack + sizeof(stack), (int) flags | SIGCHLD, l, pidfd, NULL, pid);
}

void launch_prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void) pthread_once(&once, find_out);
}

int launch(struct launch *l, pid_t *pid, int *pidfd)
{
	_cleanup_free_ gid_t *groups = calloc(l->identity->n_groups + 1, sizeof(*groups));
	int stream[] = { l->in, l->out, l->err };
	int r, saved, set;

	_Static_assert(ELEMENTS(stream) == LOW_DESCRIPTORS, "a stream without its place");
	if (!groups)
		return refuse(l, ENOMEM);
	launch_prepare();
	l->shares_files = can_share_files;
	set = low_descriptors_take(stream);
	l->in = stream[0];
	l->out = stream[1];
	l->err = stream[2];
	l->highest_fd = highest_wanted(l);
	l->groups_check = groups;
	if (l->limits)
		(void) snprintf(l->oom_score_adjust, sizeof(l->oom_score_adjust), "%d",
				l->limits->oom_score_adjust);
	l->parent = getpid();
	l->step = EXEC_STEP_NONE;
	l->error = 0;
	r = start_child(l, pid, pidfd);
	saved = errno;
	low_descriptors_give(set);
	l->groups_check = NULL;
	if (r < 0) {
		/* The kernel may have told a descriptor before it changed its mind (pids.max), and
		 * it is closed again. */
		*pidfd = -1;
		return refuse(l, saved);
	}
	return l->step == EXEC_STEP_NONE ? 0 : -1;
}
