/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_BENCH_TOOLS_H
#define SUPD_TEST_BENCH_TOOLS_H

/* What the benches of the daemon share: a folder, a daemon in it, and the clock. Whatever goes
 * wrong ends the program. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#define PATH_SIZE 512
#define LIST_MAX 16

extern char dir[64];         /* of this run; units/, run/ and log are in it */
extern char probe[PATH_SIZE]; /* the static program; with _bare, the one without libc */

struct bench_daemon {
	pid_t pid;
	double load_ns; /* from its start until it answers a question */
};

/* @self: argv[0], by which the programs are found. */
void bench_begin(const char *self);
void give_up(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
double now_ns(clockid_t clock);
void sleep_until(clockid_t clock, double ns);
void write_file(const char *path, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void remove_tree(const char *path);
void units_new(void); /* an empty folder for them */
/* The numbers in an environment variable, parted by blanks. */
size_t numbers(const char *variable, const char *otherwise, unsigned ret[LIST_MAX]);
/* @state: the state directory. Returns when it is ready and has answered. */
struct bench_daemon daemon_start(const char *state, bool with_timers);
void daemon_stop(struct bench_daemon *d);
/* ns until supctl VERB has been answered. */
double ask(const char *verb);

#endif
