/* SPDX-License-Identifier: MIT */
#include "store/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

#define THREADS_MAX 4

struct part {
	parallel_fn *fn;
	void *userdata;
	size_t first, end;
	pthread_t thread;
	bool has_thread;
};

static void *work(void *userdata)
{
	const struct part *p = userdata;

	p->fn(p->userdata, p->first, p->end);
	return NULL;
}

/* Signals are the loop's business: a thread has them all blocked from its first moment. */
static bool begin(struct part *p)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&p->thread, NULL, work, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r == 0;
}

/* Those that may be used, which may be fewer than there are. */
static size_t processors(void)
{
	cpu_set_t set;
	int n;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	n = CPU_COUNT(&set);
	return n > THREADS_MAX ? THREADS_MAX : (size_t) n;
}

static size_t parts_of(size_t n, size_t least)
{
	size_t most = n / least;

	return most < 2 ? 1 : most < processors() ? most : processors();
}

void parallel_for(size_t n, size_t least, parallel_fn *fn, void *userdata)
{
	size_t parts = parts_of(n, least);
	struct part part[THREADS_MAX];

	for (size_t i = 0; i < parts; i++) {
		part[i] = (struct part) { .fn = fn, .userdata = userdata, .first = n / parts * i,
					  .end = i + 1 < parts ? n / parts * (i + 1) : n };
		part[i].has_thread = i > 0 && begin(&part[i]);
	}
	for (size_t i = 0; i < parts; i++)
		if (!part[i].has_thread)
			fn(userdata, part[i].first, part[i].end);
	for (size_t i = 1; i < parts; i++)
		if (part[i].has_thread)
			(void) pthread_join(part[i].thread, NULL);
}
