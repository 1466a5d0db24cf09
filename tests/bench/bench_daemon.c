/* SPDX-License-Identifier: MIT */

/* What the daemon costs: loading and reloading many pairs of a timer and its service, the memory
 * they take, a list of them, how often it wakes up with nothing to do; and how late the child of a
 * timer begins, beside a bare loop of vfork() and exec() of the same program in the same run.
 *
 * BENCH_PAIRS: how many pairs are loaded ("1000 10000 100000"). BENCH_DUE: how many timers are due
 * at one moment ("1 100 1000"). BENCH_ROUNDS: how many moments there are of the smallest of these, a
 * second apart, since one child says little (20). BENCH_IDLE: for how many seconds it is watched while idle (60). */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench_tools.h"

#define MS 1e6
#define BARE_WRITES 7

/* ---- the daemon ---- */

static double ask_best(const char *verb)
{
	double best = ask(verb), again;

	for (int i = 0; i < 4; i++) {
		again = ask(verb);
		best = again < best ? again : best;
	}
	return best;
}

/* In KiB. */
static double resident(const struct bench_daemon *d)
{
	char path[64], line[256];
	double kib = 0;
	FILE *f;

	(void) snprintf(path, sizeof(path), "/proc/%d/status", (int) d->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lf", &kib) == 1)
			break;
	if (f)
		(void) fclose(f);
	return kib;
}

/* How often its threads have been put to work so far. */
static long wake_ups(const struct bench_daemon *d)
{
	char path[PATH_SIZE], line[256];
	struct dirent *task;
	long sum = 0, n;
	DIR *tasks;
	FILE *f;

	(void) snprintf(path, sizeof(path), "/proc/%d/task", (int) d->pid);
	tasks = opendir(path);
	while (tasks && (task = readdir(tasks))) {
		(void) snprintf(path, sizeof(path), "/proc/%d/task/%.32s/status", (int) d->pid, task->d_name);
		f = task->d_name[0] == '.' ? NULL : fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "voluntary_ctxt_switches: %ld", &n) == 1 ||
			    sscanf(line, "nonvoluntary_ctxt_switches: %ld", &n) == 1)
				sum += n;
		if (f)
			(void) fclose(f);
	}
	if (tasks)
		(void) closedir(tasks);
	return sum;
}

/* ---- many units ---- */

static void make_pairs(unsigned n)
{
	char path[PATH_SIZE];

	units_new();
	for (unsigned i = 0; i < n; i++) {
		(void) snprintf(path, sizeof(path), "%s/units/job%06u.service", dir, i);
		write_file(path, "[Unit]\nDescription=Job number %u\n\n[Service]\nType=oneshot\n"
				 "ExecStart=/usr/bin/true --number %u\n", i, i);
		(void) snprintf(path, sizeof(path), "%s/units/job%06u.timer", dir, i);
		write_file(path, "[Unit]\nDescription=Runs job number %u\n\n[Timer]\nOnCalendar=*-1/3-1 %02u:%02u:00\n"
				 "Persistent=yes\n\n[Install]\nWantedBy=timers.target\n", i, i % 24, i % 60);
	}
}

/* What nobody who loads them can do without: each file opened, read, closed. */
static double read_bare(void)
{
	double start = now_ns(CLOCK_MONOTONIC);
	char path[PATH_SIZE], buf[4096];
	struct dirent *e;
	DIR *units;
	int fd;

	(void) snprintf(path, sizeof(path), "%s/units", dir);
	units = opendir(path);
	while (units && (e = readdir(units))) {
		fd = openat(dirfd(units), e->d_name, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, buf, sizeof(buf)) >= 0)
			(void) close(fd);
	}
	if (units)
		(void) closedir(units);
	return now_ns(CLOCK_MONOTONIC) - start;
}

static void idle(const struct bench_daemon *d, unsigned seconds)
{
	double start = now_ns(CLOCK_MONOTONIC);
	long before;

	sleep_until(CLOCK_MONOTONIC, start + 2e9); /* what follows the load has settled */
	before = wake_ups(d);
	sleep_until(CLOCK_MONOTONIC, start + 2e9 + seconds * 1e9);
	(void) printf("idle for %u s: %ld wake-ups\n", seconds, wake_ups(d) - before);
}

static void bench_load(const unsigned *sizes, size_t n, unsigned idle_seconds)
{
	char state[PATH_SIZE];
	double empty, bare, kib;
	struct bench_daemon d;

	(void) snprintf(state, sizeof(state), "%s/state", dir);
	make_pairs(0);
	d = daemon_start(state, true);
	empty = resident(&d);
	daemon_stop(&d);
	(void) printf("without units: ready in %.1f ms, %.0f KiB resident\n", d.load_ns / MS, empty);
	(void) printf("%8s %10s %10s %10s %8s %9s %9s\n", "pairs", "load", "load/read", "reload/load", "reload", "KiB/pair",
		      "timers");
	for (size_t i = 0; i < n; i++) {
		make_pairs(sizes[i]);
		remove_tree(state);
		(void) read_bare();
		bare = read_bare();
		d = daemon_start(state, true);
		/* the first state has been written */
		sleep_until(CLOCK_MONOTONIC, now_ns(CLOCK_MONOTONIC) + 2e9);
		kib = resident(&d) - empty;
		double reload = ask_best("reload");

		(void) printf("%8u %8.0fms %10.1f %11.3f %6.1fms %9.2f %7.1fms\n", sizes[i], d.load_ns / MS,
			      d.load_ns / bare, reload / d.load_ns, reload / MS, kib / sizes[i], ask_best("timers") / MS);
		if (i + 1 == n)
			idle(&d, idle_seconds);
		daemon_stop(&d);
	}
}

/* ---- lateness ---- */

struct stamps {
	double *ns;
	size_t n;
};

static void stamps_path(char ret[PATH_SIZE])
{
	(void) snprintf(ret, PATH_SIZE, "%s/stamps", dir);
}

static int by_value(const void *one, const void *other)
{
	const double *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

static size_t stamps_count(void)
{
	char path[PATH_SIZE];
	struct stat st;

	stamps_path(path);
	return stat(path, &st) < 0 ? 0 : (size_t) st.st_size / 20;
}

/* Those in the file, after @since, appended to @ret. */
static void stamps_take(struct stamps *ret, double since)
{
	char path[PATH_SIZE];
	unsigned long long ns;
	FILE *f;

	stamps_path(path);
	f = fopen(path, "re");
	ret->ns = realloc(ret->ns, (ret->n + stamps_count()) * sizeof(*ret->ns));
	while (f && fscanf(f, "%llu", &ns) == 1)
		ret->ns[ret->n++] = (double) ns - since;
	if (f)
		(void) fclose(f);
	write_file(path, "%s", "");
	qsort(ret->ns, ret->n, sizeof(*ret->ns), by_value);
}

/* What is started. */
static char program[PATH_SIZE + 8];

static struct stamps loop_bare(unsigned n)
{
	char path[PATH_SIZE];
	char *argv[] = { program, path, NULL }, *envp[] = { NULL };
	double start = now_ns(CLOCK_REALTIME);
	struct stamps s = { 0 };

	stamps_path(path);
	for (unsigned i = 0; i < n; i++)
		if (vfork() == 0) {
			execve(program, argv, envp);
			_exit(127);
		}
	while (wait(NULL) > 0)
		;
	stamps_take(&s, start);
	return s;
}

static void make_due(unsigned n, unsigned rounds, uint64_t at)
{
	char path[PATH_SIZE], stamps[PATH_SIZE];

	stamps_path(stamps);
	for (unsigned i = 0; i < n * rounds; i++) {
		(void) snprintf(path, sizeof(path), "%s/units/due%06u.service", dir, i);
		write_file(path, "[Service]\nType=oneshot\nExecStart=%s %s\n", program, stamps);
		(void) snprintf(path, sizeof(path), "%s/units/due%06u.timer", dir, i);
		write_file(path, "[Timer]\nOnCalendar=@%llu\n", (unsigned long long) at + i / n);
	}
}

static void wait_for(size_t n)
{
	double until = now_ns(CLOCK_MONOTONIC) + 60e9;

	while (stamps_count() < n && now_ns(CLOCK_MONOTONIC) < until)
		sleep_until(CLOCK_MONOTONIC, now_ns(CLOCK_MONOTONIC) + 10 * MS);
}

/* A second is enough for those of which there are rounds: each has come too late by what is left of
 * its own. */
static struct stamps due_at_once(unsigned n, unsigned rounds, const char *state)
{
	struct stamps s = { 0 };
	struct bench_daemon d;
	uint64_t at;

	units_new(); /* which may take long */
	/* all must have begun by then */
	at = (uint64_t) (now_ns(CLOCK_REALTIME) / 1e9) + 3 + n / 250;
	make_due(n, rounds, at);
	d = daemon_start(state, true);
	sleep_until(CLOCK_REALTIME, (double) (at + rounds - 1) * 1e9 + 100 * MS);
	wait_for((size_t) n * rounds);
	daemon_stop(&d);
	stamps_take(&s, (double) at * 1e9);
	for (size_t i = 0; rounds > 1 && i < s.n; i++)
		s.ns[i] -= (double) (uint64_t) (s.ns[i] / 1e9) * 1e9;
	qsort(s.ns, s.n, sizeof(*s.ns), by_value);
	return s;
}

static double quantile(const struct stamps *s, double q)
{
	return s->n == 0 ? 0 : s->ns[(size_t) (q * (double) (s->n - 1))];
}

static void print_lateness(unsigned n, const char *what, const struct stamps *s, const struct stamps *bare)
{
	(void) printf("%8u %-16s %6zu %8.2fms %8.2fms %8.2fms %8.1f\n", n, what, s->n, quantile(s, 0.5) / MS,
		      quantile(s, 0.99) / MS, quantile(s, 1) / MS, quantile(s, 1) / quantile(bare, 1));
}

/* What the state file's way to the disk costs at least, whoever goes it: ms, in the middle of a
 * few, each after a pause as it is between timers. */
static double bare_write(const char *state, size_t size)
{
	struct stamps took = { 0 };
	double middle;
	char *bytes = calloc(1, size);
	int at, fd;

	(void) mkdir(state, 0700);
	at = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	took.ns = calloc(BARE_WRITES, sizeof(*took.ns));
	for (int i = 0; bytes && took.ns && i < BARE_WRITES; i++) {
		double start = now_ns(CLOCK_MONOTONIC) + 1e9;

		sleep_until(CLOCK_MONOTONIC, start);
		fd = openat(at, "bench.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (write(fd, bytes, size) < 0 || fsync(fd) < 0 || close(fd) < 0 ||
		    renameat(at, "bench.new", at, "bench") < 0 || fsync(at) < 0)
			give_up("%s", state);
		took.ns[took.n++] = now_ns(CLOCK_MONOTONIC) - start;
	}
	qsort(took.ns, took.n, sizeof(*took.ns), by_value);
	middle = quantile(&took, 0.5) / MS;
	(void) unlinkat(at, "bench", 0);
	(void) close(at);
	free(bytes);
	free(took.ns);
	return middle;
}

#define SHM "/dev/shm"

static void bench_lateness(const unsigned *due, size_t n, unsigned rounds, const char *disk, const char *memory)
{
	(void) printf("%8s %-16s %6s %10s %10s %10s %8s\n", "due", "state", "ran", "p50", "p99", "last", "/bare");
	for (size_t i = 0; i < n; i++) {
		unsigned times = due[i] < 10 ? rounds : 1;
		struct stamps bare, s;

		free(loop_bare(due[i]).ns); /* the program is in memory then */
		bare = loop_bare(due[i]);

		print_lateness(due[i], "(bare loop)", &bare, &bare);
		remove_tree(disk);
		s = due_at_once(due[i], times, disk);
		print_lateness(due[i], "on disk", &s, &bare);
		free(s.ns);
		if (access(SHM, W_OK) == 0) {
			remove_tree(memory);
			s = due_at_once(due[i], times, memory);
			print_lateness(due[i], "in memory", &s, &bare);
			free(s.ns);
		}
		free(bare.ns);
	}
}

static void bench_due(const unsigned *due, size_t n, unsigned rounds)
{
	char disk[PATH_SIZE], memory[PATH_SIZE];

	(void) snprintf(disk, sizeof(disk), "%s/state", dir);
	(void) snprintf(memory, sizeof(memory), SHM "/supd-bench-%d", (int) getpid());
	(void) printf("\nwrite, fsync, rename, fsync of 1 KiB: %.2f ms on the disk", bare_write(disk, 1024));
	if (access(SHM, W_OK) == 0)
		(void) printf(", %.2f ms in memory", bare_write(memory, 1024));
	(void) printf("\nfrom the moment to the first instruction of the child:\n");
	(void) snprintf(program, sizeof(program), "%s_bare", probe);
	bench_lateness(due, n, rounds, disk, memory);
	(void) printf("… of main(), behind the start of libc:\n");
	(void) snprintf(program, sizeof(program), "%s", probe);
	bench_lateness(due, n, rounds, disk, memory);
	remove_tree(memory);
}

/* ---- all of it ---- */

int main(int argc, char **argv)
{
	unsigned pairs[LIST_MAX], due[LIST_MAX], idle_seconds[LIST_MAX], rounds[LIST_MAX];
	size_t n_pairs = numbers("BENCH_PAIRS", "1000 10000 100000", pairs);
	size_t n_due = numbers("BENCH_DUE", "1 100 1000", due);
	char stamps[PATH_SIZE];

	if (argc > 1 || numbers("BENCH_IDLE", "60", idle_seconds) < 1 || numbers("BENCH_ROUNDS", "20", rounds) < 1) {
		(void) fprintf(stderr, "usage: bench_daemon, and see the top of its source\n");
		return 2;
	}
	bench_begin(argv[0]);
	stamps_path(stamps);
	write_file(stamps, "%s", "");
	bench_load(pairs, n_pairs, idle_seconds[0]);
	bench_due(due, n_due, rounds[0]);
	remove_tree(dir);
	return 0;
}
