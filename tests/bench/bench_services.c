/* SPDX-License-Identifier: MIT */

/* How many services that do nothing come and go, from the request to the recorded end, one at a time and all at once:
 * beside a bare loop of vfork(), exec() and wait() of the same static program in the same run, under a small daemon and
 * under one that holds very many units. Output is captured, as it is by default.
 *
 * BENCH_SERVICES: how many are started ("1000").
 * BENCH_UNITS: how many units the daemon holds besides ("0 100000").
 * BENCH_ROUNDS: how often each is measured, one at a time in SLICES parts; the best counts, of both sides (5).
 * With fewer descriptors than all of them take: prlimit --nofile=1024:1024 tests/bench/bench_services. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "control/client.h"
#include "tests/bench/bench_tools.h"

/* So many may wait for their answers on one connection, and there may be so many connections. */
#define CALLS 250u
#define CLIENTS_MAX 32u
/* On a machine that has other things to do, a short part may be left alone where a long one is not. */
#define SLICES 10u

static void make_units(unsigned n_services, unsigned n_others)
{
	char path[PATH_SIZE];

	units_new();
	for (unsigned i = 0; i < n_services; i++) {
		(void) snprintf(path, sizeof(path), "%s/units/noop%06u.service", dir, i);
		write_file(path, "[Service]\nType=oneshot\nExecStart=%s\n", probe);
	}
	for (unsigned i = 0; i < n_others; i++) {
		(void) snprintf(path, sizeof(path), "%s/units/other%06u.service", dir, i);
		write_file(path, "[Unit]\nDescription=Another, %u\n[Service]\nType=oneshot\nExecStart=/usr/bin/true\n", i);
	}
}

/* ---- bare ---- */

static pid_t bare_start(void)
{
	char *argv[] = { probe, NULL }, *envp[] = { NULL };
	pid_t pid = vfork();

	if (pid == 0) {
		execve(argv[0], argv, envp);
		_exit(127);
	}
	if (pid < 0)
		give_up("vfork");
	return pid;
}

/* ns for each */
static double bare(unsigned n, bool at_once)
{
	pid_t *pid = calloc(n, sizeof(*pid));
	double start = now_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; pid && i < n; i++) {
		pid[i] = bare_start();
		if (!at_once)
			(void) waitpid(pid[i], NULL, 0);
	}
	for (unsigned i = 0; at_once && pid && i < n; i++)
		(void) waitpid(pid[i], NULL, 0);
	free(pid);
	return (now_ns(CLOCK_MONOTONIC) - start) / n;
}

/* ---- supd ---- */

static struct control_question *ask_start(struct control_client *c, unsigned i)
{
	char unit[64];

	(void) snprintf(unit, sizeof(unit), "noop%06u.service", i);
	return control_client_ask(c, "StartUnit", "sb", unit, true);
}

static void wait_for_end(struct control_client *c, struct control_question *q)
{
	struct control_reply reply = { 0 };

	control_client_wait(c, q, &reply);
	if (reply.status != CONTROL_OK)
		give_up("a service failed: %s", reply.message ? reply.message : "");
	control_reply_done(&reply);
}

static double supervised(struct control_client **c, unsigned n, bool at_once)
{
	struct control_question **q = calloc(n, sizeof(struct control_question *));
	double start = now_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; q && i < n; i++) {
		q[i] = ask_start(c[i / CALLS], i);
		if (!at_once)
			wait_for_end(c[i / CALLS], q[i]);
	}
	for (unsigned i = 0; at_once && q && i < n; i++)
		wait_for_end(c[i / CALLS], q[i]);
	free(q);
	return (now_ns(CLOCK_MONOTONIC) - start) / n;
}

static struct control_client *connect_to(const char *runtime)
{
	const struct control_place place = { .runtime_dir = runtime };
	struct control_reply reply = { 0 };
	struct control_client *c;

	if (control_client_new(&place, &c, &reply) < 0)
		give_up("%s", reply.message);
	return c;
}

/* The two take turns, so that whatever else the machine does meets both. */
static void measure(struct control_client **c, unsigned n_others, unsigned n, bool at_once, unsigned rounds)
{
	double best = 0, best_bare = 0, ns;

	for (unsigned i = 0; i < (at_once ? rounds : rounds * SLICES); i++) {
		ns = bare(at_once ? n : n / SLICES, at_once);
		best_bare = i == 0 || ns < best_bare ? ns : best_bare;
		ns = supervised(c, at_once ? n : n / SLICES, at_once);
		best = i == 0 || ns < best ? ns : best;
	}
	(void) printf("%8u %-14s %8.0f/s %8.0f/s %8.2f\n", n_others, at_once ? "all at once" : "one at a time", 1e9 / best_bare,
		      1e9 / best, best_bare / best);
}

static void bench_with(unsigned n_services, unsigned n_others, unsigned rounds)
{
	char state[PATH_SIZE], runtime[PATH_SIZE];
	struct control_client *c[CLIENTS_MAX];
	struct bench_daemon d;

	(void) snprintf(state, sizeof(state), "%s/state", dir);
	(void) snprintf(runtime, sizeof(runtime), "%s/run", dir);
	make_units(n_services, n_others);
	d = daemon_start(state, false);
	for (unsigned i = 0; i < CLIENTS_MAX; i++)
		c[i] = connect_to(runtime);
	measure(c, n_others, n_services, false, rounds);
	measure(c, n_others, n_services, true, rounds);
	for (unsigned i = 0; i < CLIENTS_MAX; i++)
		control_client_free(c[i]);
	daemon_stop(&d);
}

int main(int argc, char **argv)
{
	unsigned services[LIST_MAX], others[LIST_MAX], rounds[LIST_MAX];
	size_t n = numbers("BENCH_UNITS", "0 100000", others);

	if (argc > 1 || numbers("BENCH_SERVICES", "1000", services) < 1 || numbers("BENCH_ROUNDS", "5", rounds) < 1) {
		(void) fprintf(stderr, "usage: bench_services, and see the top of its source\n");
		return 2;
	}
	if (services[0] > CALLS * CLIENTS_MAX)
		services[0] = CALLS * CLIENTS_MAX;
	bench_begin(argv[0]);
	(void) printf("\n%8s %-14s %10s %10s %8s\n", "units", "services", "bare", "supd", "/bare");
	for (size_t i = 0; i < n; i++)
		bench_with(services[0], others[i], rounds[0]);
	remove_tree(dir);
	return 0;
}
