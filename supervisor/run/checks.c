/* SPDX-License-Identifier: MIT */
#include "run/checks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "run/condition_facts.h"
#include "run/worker.h"

/* Looks that may hang at the same time before others wait for them. */
#define CHECK_THREADS 8
/* At the end, for looks that are only slow. */
#define PATIENCE_MS 2000

struct check {
	struct worker_job job; /* first */
	UT_hash_handle hh;     /* by token, until it is released */
	world_token token;
	struct checks *all;
	bool is_released;
	struct arena arena;
	struct conditions *conditions;
	/* what came of it */
	enum condition_outcome outcome;
	const char *unmet;
};

struct checks {
	struct worker *worker;
	const char *const *environment;
	struct checks_listener listener;
	struct check *check; /* uthash */
};

static void check_free(struct check *c)
{
	if (!c->is_released)
		HASH_DEL(c->all->check, c);
	arena_done(&c->arena);
	free(c);
}

static void work(struct worker_job *job)
{
	struct check *c = (struct check *) job;
	struct facts facts = { .arena = &c->arena, .environment = c->all->environment };
	const struct condition_facts table = condition_facts(&facts);

	c->outcome = conditions_judge(c->conditions, &table, &c->arena, &c->unmet);
}

static void drop(struct worker_job *job)
{
	check_free((struct check *) job);
}

static void done(struct worker_job *job)
{
	struct check *c = (struct check *) job;

	if (!c->is_released)
		c->all->listener.checked(c->all->listener.userdata, c->token, c->outcome, c->unmet,
					 0);
	check_free(c);
}

int checks_begin(struct checks *all, world_token token, const struct service_spec *spec)
{
	struct check *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->job = (struct worker_job) { .work = work, .done = done, .drop = drop };
	c->token = token;
	c->all = all;
	c->conditions = conditions_copy(spec->conditions, &c->arena);
	if (c->conditions)
		HASH_ADD(hh, all->check, token, sizeof(c->token), c);
	if (!c->conditions || !HASH_IS_IN(c)) {
		arena_done(&c->arena);
		free(c);
		return -ENOMEM;
	}
	worker_submit(all->worker, &c->job);
	return 0;
}

void checks_release(struct checks *all, world_token token)
{
	struct check *c;

	HASH_FIND(hh, all->check, &token, sizeof(token), c);
	if (!c)
		return;
	/* Its thread may have it for long; what it finds is nobody's any more. */
	HASH_DEL(all->check, c);
	c->is_released = true;
}

int checks_new(sd_event *event, int64_t priority, const char *const *environment,
	       const struct checks_listener *listener, struct checks **ret)
{
	struct checks *all = calloc(1, sizeof(*all));
	int r;

	if (!all)
		return -ENOMEM;
	all->environment = environment;
	all->listener = *listener;
	r = worker_new(event, priority, CHECK_THREADS, &all->worker);
	if (r < 0) {
		free(all);
		return r;
	}
	*ret = all;
	return 0;
}

struct checks *checks_free(struct checks *all)
{
	if (!all)
		return NULL;
	/* A thread that hangs on a dead mount must not keep the daemon from ending; it goes with
	 * the process. */
	if (worker_free_within(all->worker, PATIENCE_MS))
		free(all);
	return NULL;
}
