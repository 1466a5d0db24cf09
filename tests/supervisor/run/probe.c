/* SPDX-License-Identifier: MIT */
/* A service that tells what it was given: one "key value" line each on stdout. Not a shell, which
 * would put some of it right. With arguments it can also be made to misbehave. */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static void tell_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[64], target[256];
		int fd = atoi(entry->d_name);
		ssize_t n;

		if (entry->d_name[0] == '.' || fd == dirfd(dir))
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		target[strcspn(target, ":")] = '\0';
		printf("fd%d %s %s\n", fd, target, fcntl(fd, F_GETFL) & O_NONBLOCK ? "nonblocking" : "blocking");
	}
	if (dir)
		closedir(dir);
}

static void tell_signals(void)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0 || strncmp(line, "SigCgt:", 7) == 0)
			printf("%.6s %s", line, line + 8);
	if (f)
		fclose(f);
}

static void tell_groups(void)
{
	gid_t list[256];
	int n = getgroups(256, list);

	printf("groups");
	for (int i = 0; i < n; i++)
		printf(" %u", (unsigned) list[i]);
	printf("\n");
}

static void tell_identity(void)
{
	uid_t u[3];
	gid_t g[3];

	if (getresuid(&u[0], &u[1], &u[2]) == 0)
		printf("uid %u %u %u\n", (unsigned) u[0], (unsigned) u[1], (unsigned) u[2]);
	if (getresgid(&g[0], &g[1], &g[2]) == 0)
		printf("gid %u %u %u\n", (unsigned) g[0], (unsigned) g[1], (unsigned) g[2]);
	tell_groups();
}

static void tell_place(void)
{
	char cwd[4096];
	mode_t mask = umask(0);

	printf("cwd %s\n", getcwd(cwd, sizeof(cwd)) ? cwd : "?");
	printf("umask %04o\n", (unsigned) mask);
	printf("nice %d\n", getpriority(PRIO_PROCESS, 0));
	printf("leader %s\n", getsid(0) == getpid() && getpgrp() == getpid() ? "yes" : "no");
}

static void tell_limit(const char *name, int resource)
{
	struct rlimit limit;
	rlim_t value[2];

	if (getrlimit(resource, &limit) < 0)
		return;
	value[0] = limit.rlim_cur;
	value[1] = limit.rlim_max;
	printf("limit-%s", name);
	for (int i = 0; i < 2; i++)
		if (value[i] == RLIM_INFINITY)
			printf(" infinity");
		else
			printf(" %llu", (unsigned long long) value[i]);
	printf("\n");
}

static void tell_limits(void)
{
	static const struct {
		const char *name;
		int resource;
	} limits[] = {
		{ "as", RLIMIT_AS }, { "core", RLIMIT_CORE }, { "cpu", RLIMIT_CPU }, { "data", RLIMIT_DATA },
		{ "fsize", RLIMIT_FSIZE }, { "locks", RLIMIT_LOCKS }, { "memlock", RLIMIT_MEMLOCK },
		{ "msgqueue", RLIMIT_MSGQUEUE }, { "nice", RLIMIT_NICE }, { "nofile", RLIMIT_NOFILE },
		{ "nproc", RLIMIT_NPROC }, { "rss", RLIMIT_RSS }, { "rtprio", RLIMIT_RTPRIO },
		{ "rttime", RLIMIT_RTTIME }, { "sigpending", RLIMIT_SIGPENDING }, { "stack", RLIMIT_STACK },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		tell_limit(limits[i].name, limits[i].resource);
}

/* The first line of a file, under a name. */
static void tell_file(const char *name, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[4096];

	if (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		printf("%s %s\n", name, line);
	}
	if (f)
		fclose(f);
}

/* The last folder of the cgroup v2, which has the unit's name in it: "run-5-x.service" */
static void tell_cgroup(void)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = '\0';
			printf("cgroup %s\n", strrchr(line, '/') + 1);
		}
	if (f)
		fclose(f);
}

static void tell_cpus(void)
{
	cpu_set_t set;

	printf("cpus");
	for (int i = 0; sched_getaffinity(0, sizeof(set), &set) == 0 && i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			printf(" %d", i);
	printf("\n");
}

static void tell_scheduling(void)
{
	static const char *const policies[] = { "other", "fifo", "rr", "batch", "iso", "idle", "deadline", "ext" };
	static const char *const classes[] = { "none", "realtime", "best-effort", "idle" };
	int policy = (int) syscall(SYS_sched_getscheduler, 0), io = (int) syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0);
	int numa = 0, terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct sched_param param = { 0 };

	(void) syscall(SYS_sched_getparam, 0, &param);
	printf("scheduler %s %d%s\n", policies[policy & 7], param.sched_priority,
	       policy & SCHED_RESET_ON_FORK ? " reset" : "");
	printf("io %s %d\n", classes[IOPRIO_PRIO_CLASS(io) & 3], (int) IOPRIO_PRIO_DATA(io));
	printf("timer-slack %d\n", prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0));
	printf("personality %x\n", (unsigned) personality(0xffffffff));
	if (syscall(SYS_get_mempolicy, &numa, NULL, 0, NULL, 0) == 0)
		printf("numa %d\n", numa);
	tell_file("oom-score-adjust", "/proc/self/oom_score_adj");
	tell_file("coredump-filter", "/proc/self/coredump_filter");
	tell_cpus();
	printf("terminal %s\n", terminal < 0 ? "no" : "yes");
	printf("no-new-privileges %d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

static int tell_all(int argc, char **argv)
{
	tell_descriptors();
	tell_signals();
	tell_identity();
	tell_place();
	tell_limits();
	tell_scheduling();
	tell_cgroup();
	for (int i = 0; i < argc; i++)
		printf("arg%d %s\n", i, argv[i]);
	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	return fflush(stdout) == 0 ? 0 : 1;
}

/* So that a test that fails leaves nobody for ever. */
#define LIFETIME 300

static void ignore_signals(void)
{
	for (int sig = 1; sig < NSIG; sig++)
		if (sig != SIGALRM)
			(void) signal(sig, SIG_IGN);
	(void) alarm(LIFETIME);
}

/* Until it is killed; deaf to what can be ignored. */
static _Noreturn void be_stubborn(void)
{
	ignore_signals();
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

/* A process of its own session, whose parent is gone. Its output stays open. */
static int leave_behind(void)
{
	int fd[2];
	char byte;

	if (pipe(fd) < 0)
		return 1;
	if (fork() > 0) {
		/* Not before the other one is where it wants to be. */
		close(fd[1]);
		return read(fd[0], &byte, 1) == 1 ? 0 : 1;
	}
	setsid();
	if (fork() > 0)
		_exit(0);
	ignore_signals();
	if (write(fd[1], "x", 1) != 1)
		_exit(1);
	close(fd[0]);
	close(fd[1]);
	be_stubborn();
}

/* A child that is deaf, and a parent that outlives it. */
static _Noreturn void have_a_child(void)
{
	if (fork() == 0)
		be_stubborn();
	for (;;)
		pause();
}

static int use_memory(long bytes)
{
	char *p = malloc((size_t) bytes);

	if (!p)
		return 1;
	for (long i = 0; i < bytes; i += 4096)
		((volatile char *) p)[i] = 1;
	free(p);
	return 0;
}

static int flood(long bytes)
{
	char line[100];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (long n = 0; n < bytes; n += (long) sizeof(line))
		if (fwrite(line, 1, sizeof(line), stdout) != sizeof(line))
			return 1;
	return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "exit") == 0)
		return atoi(argv[2]);
	if (strcmp(what, "report") == 0 && tell_all(argc, argv) == 0)
		return atoi(argv[2]);
	if (strcmp(what, "signal") == 0)
		return raise(atoi(argv[2]));
	if (strcmp(what, "stubborn") == 0)
		be_stubborn();
	if (strcmp(what, "child") == 0)
		have_a_child();
	if (strcmp(what, "leave") == 0)
		return leave_behind();
	if (strcmp(what, "memory") == 0)
		return use_memory(atol(argv[2]));
	if (strcmp(what, "flood") == 0)
		return flood(atol(argv[2]));
	if (strcmp(what, "say") == 0) {
		fputs(argv[2], stdout);
		fputs(argv[2], stderr);
		return 0;
	}
	return tell_all(argc, argv);
}
