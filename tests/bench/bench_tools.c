/* SPDX-License-Identifier: MIT */
#include "tests/bench/bench_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[PATH_SIZE - 64]; /* of the build */
char dir[64], probe[PATH_SIZE];

__attribute__((format(printf, 1, 2), noreturn))
void give_up(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void) vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void) fprintf(stderr, ": %s\n", strerror(errno));
	exit(EXIT_FAILURE);
}

double now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double) ts.tv_sec * 1e9 + (double) ts.tv_nsec;
}

void sleep_until(clockid_t clock, double ns)
{
	struct timespec ts = { .tv_sec = (time_t) (ns / 1e9) };

	ts.tv_nsec = (long) (ns - (double) ts.tv_sec * 1e9);
	while (clock_nanosleep(clock, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

__attribute__((format(printf, 2, 3)))
void write_file(const char *path, const char *fmt, ...)
{
	FILE *f = fopen(path, "we");
	va_list ap;

	if (!f)
		give_up("%s", path);
	va_start(ap, fmt);
	(void) vfprintf(f, fmt, ap);
	va_end(ap);
	if (fclose(f) != 0)
		give_up("%s", path);
}

void remove_tree(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", path, (char *) NULL);
		_exit(EXIT_FAILURE);
	}
	(void) waitpid(pid, NULL, 0);
}

size_t numbers(const char *variable, const char *otherwise, unsigned ret[LIST_MAX])
{
	const char *text = getenv(variable);
	size_t n = 0;
	char *end;

	for (text = text ? text : otherwise; n < LIST_MAX; text = end) {
		ret[n] = (unsigned) strtoul(text, &end, 10);
		if (end == text)
			break;
		n++;
	}
	return n;
}

static int notify_socket(struct sockaddr_un *ret)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*ret = (struct sockaddr_un) { .sun_family = AF_UNIX };
	(void) snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/notify", dir);
	(void) unlink(ret->sun_path);
	if (fd < 0 || bind(fd, (const struct sockaddr *) ret, sizeof(*ret)) < 0)
		give_up("%s", ret->sun_path);
	return fd;
}

static void wait_until_ready(int fd)
{
	struct timeval patience = { .tv_sec = 120 };
	char message[512];
	ssize_t n;

	(void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	do {
		n = recv(fd, message, sizeof(message) - 1, 0);
		if (n < 0)
			give_up("supd does not become ready, see %s/log", dir);
		message[n] = '\0';
	} while (!strstr(message, "READY=1"));
}

/* Time until it has answered. */
double ask(const char *verb)
{
	char program[PATH_SIZE], run[PATH_SIZE];
	double start = now_ns(CLOCK_MONOTONIC);
	int wstatus, null;
	pid_t pid;

	(void) snprintf(program, sizeof(program), "%s/supctl", top);
	(void) snprintf(run, sizeof(run), "--runtime-dir=%s/run", dir);
	pid = fork();
	if (pid == 0) {
		null = open("/dev/null", O_WRONLY);
		(void) dup2(null, STDOUT_FILENO);
		execl(program, program, run, verb, (char *) NULL);
		_exit(127);
	}
	if (waitpid(pid, &wstatus, 0) < 0 || wstatus != 0)
		give_up("supctl %s failed (%d)", verb, wstatus);
	return now_ns(CLOCK_MONOTONIC) - start;
}

static void run_supd(const char *state, bool with_timers)
{
	char program[PATH_SIZE], arg[3][PATH_SIZE], log[PATH_SIZE];
	int fd;

	(void) snprintf(program, sizeof(program), "%s/supd", top);
	(void) snprintf(arg[0], sizeof(arg[0]), "--unit-path=%s/units", dir);
	(void) snprintf(arg[1], sizeof(arg[1]), "--runtime-dir=%s/run", dir);
	(void) snprintf(arg[2], sizeof(arg[2]), "--state-dir=%s", state);
	(void) snprintf(log, sizeof(log), "%s/log", dir);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	(void) dup2(fd, STDOUT_FILENO);
	(void) dup2(fd, STDERR_FILENO);
	execl(program, program, arg[0], arg[1], arg[2], with_timers ? "--experimental=timers" : NULL, (char *) NULL);
	_exit(127);
}

struct bench_daemon daemon_start(const char *state, bool with_timers)
{
	struct sockaddr_un address;
	int fd = notify_socket(&address);
	double start = now_ns(CLOCK_MONOTONIC);
	struct bench_daemon d;

	d.pid = fork();
	if (d.pid == 0) {
		setenv("NOTIFY_SOCKET", address.sun_path, 1);
		run_supd(state, with_timers);
	}
	wait_until_ready(fd);
	(void) close(fd);
	(void) ask("version");
	d.load_ns = now_ns(CLOCK_MONOTONIC) - start;
	return d;
}

void daemon_stop(struct bench_daemon *d)
{
	(void) kill(d->pid, SIGTERM);
	(void) waitpid(d->pid, NULL, 0);
}

static void find_programs(const char *self)
{
	char *real = realpath(self, NULL), *slash;

	/* TOP/tests/bench/bench_daemon */
	for (int i = 0; real && i < 3; i++)
		if ((slash = strrchr(real, '/')))
			*slash = '\0';
	if (!real || strlen(real) >= sizeof(top))
		give_up("%s", self);
	(void) snprintf(top, sizeof(top), "%s", real);
	(void) snprintf(probe, sizeof(probe), "%s/tests/bench/probe", top);
	free(real);
}

void units_new(void)
{
	char path[PATH_SIZE];

	(void) snprintf(path, sizeof(path), "%s/units", dir);
	remove_tree(path);
	if (mkdir(path, 0755) < 0)
		give_up("%s", path);
}

void bench_begin(const char *self)
{
	(void) setvbuf(stdout, NULL, _IOLBF, 0);
	find_programs(self);
	(void) snprintf(dir, sizeof(dir), "/tmp/supd-bench-XXXXXX");
	if (!mkdtemp(dir))
		give_up("%s", dir);
}
