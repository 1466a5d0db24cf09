/* SPDX-License-Identifier: MIT */
#include "cli/world_virtual.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "core/manager.h"
#include "store/unit_files.h"

/* What a run has to tell next. */
enum news { NEWS_CHECKED, NEWS_SPAWNED, NEWS_EXITED, NEWS_TREE_EMPTY };

/* The processes of one run, of which there is one at a time. */
struct virtual_process {
	UT_hash_handle hh; /* by token */
	world_token token;
	char *unit;
	struct heap_item due;
	enum news news; /* while due */
	struct virtual_fate fate;
	pid_t pid;
	int wstatus;
	bool is_alive;
	bool is_tree_watched;
};

static struct virtual_process *process_of(struct world_virtual *w, world_token token)
{
	struct virtual_process *p;

	HASH_FIND(hh, w->process, &token, sizeof(token), p);
	return p;
}

static void expect(struct world_virtual *w, struct virtual_process *p, enum news news, usec_t when)
{
	p->news = news;
	heap_set(&w->due, &p->due, when);
}

static void process_free(struct world_virtual *w, struct virtual_process *p)
{
	heap_set(&w->due, &p->due, USEC_NEVER);
	HASH_DEL(w->process, p);
	free(p->unit);
	free(p);
}

/* ---- the calls of the world ---- */

static int virtual_arm(void *ctx, enum supd_clock clock, usec_t when)
{
	struct world_virtual *w = ctx;

	w->alarm[clock] = when;
	return 0;
}

static struct virtual_process *process_new(struct world_virtual *w, world_token token,
					   const char *unit)
{
	struct virtual_process *p;

	if (heap_reserve(&w->due, HASH_COUNT(w->process) + 1) < 0)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->token = token;
	p->unit = strdup(unit);
	p->due = (struct heap_item) { .when = USEC_NEVER, .name = p->unit };
	if (p->unit)
		HASH_ADD(hh, w->process, token, sizeof(p->token), p);
	if (p->unit && HASH_IS_IN(p))
		return p;
	free(p->unit);
	free(p);
	return NULL;
}

/* What a condition will find some day cannot be known: they all hold. */
static int virtual_check(void *ctx, world_token token, const char *unit,
			 const struct service_spec *spec _unused_)
{
	struct world_virtual *w = ctx;
	struct virtual_process *p = process_new(w, token, unit);

	if (!p)
		return -ENOMEM;
	expect(w, p, NEWS_CHECKED, w->now.boot);
	return 0;
}

static int virtual_spawn(void *ctx, const struct spawn_request *request)
{
	struct world_virtual *w = ctx;
	struct virtual_process *p = process_of(w, request->token);

	if (!p)
		p = process_new(w, request->token, request->unit);
	if (!p)
		return -ENOMEM;
	p->fate = (struct virtual_fate) { 0 };
	if (w->fate)
		w->fate(w->userdata, request->unit, request->phase, &p->fate);
	p->wstatus = (p->fate.exit & 0xff) << 8;
	p->is_alive = true;
	expect(w, p, NEWS_SPAWNED, w->now.boot);
	return 0;
}

static int virtual_kill_main(void *ctx, world_token token, int signal)
{
	struct world_virtual *w = ctx;
	struct virtual_process *p = process_of(w, token);

	if (!p || !p->is_alive)
		return -ESRCH;
	if (signal == 0 || signal == SIGCONT)
		return 0;
	p->wstatus = signal;
	if (p->news == NEWS_EXITED)
		expect(w, p, NEWS_EXITED, w->now.boot);
	else
		p->fate.take = 0;
	return 0;
}

static int virtual_kill_tree(void *ctx, world_token token, int signal, bool spare_main)
{
	return spare_main ? 0 : virtual_kill_main(ctx, token, signal);
}

static int virtual_watch_tree(void *ctx, world_token token)
{
	struct world_virtual *w = ctx;
	struct virtual_process *p = process_of(w, token);

	if (!p)
		return -ESRCH;
	if (p->is_alive)
		p->is_tree_watched = true;
	else
		expect(w, p, NEWS_TREE_EMPTY, w->now.boot);
	return 0;
}

static void virtual_release(void *ctx, world_token token, bool restarts _unused_)
{
	struct world_virtual *w = ctx;
	struct virtual_process *p = process_of(w, token);

	if (p)
		process_free(w, p);
}

/* Here services do start with supd. */
static int virtual_read_unit(void *ctx, const char *name, struct unit_source *ret)
{
	struct world_virtual *w = ctx;

	return unit_files_read(w->base.files, name, ret);
}

/* State that cannot be read is not written either: no time goes into a state that nobody will ever
 * read. */
static int virtual_load(void *ctx _unused_, const char *plugin _unused_,
			unsigned generation _unused_, void **ret _unused_, size_t *ret_n _unused_)
{
	return -EOPNOTSUPP;
}

static int virtual_save(void *ctx, const char *plugin, uint64_t ticket, const void *bytes _unused_,
			size_t n _unused_)
{
	struct world_virtual *w = ctx;

	(void) snprintf(w->plugin, sizeof(w->plugin), "%s", plugin);
	w->saved = ticket;
	return 0;
}

static int virtual_save_now(void *ctx _unused_, const char *plugin _unused_,
			    const void *bytes _unused_, size_t n _unused_)
{
	return 0;
}

void world_virtual_init(struct world_virtual *w, struct unit_files *files,
			const struct supd_now *now)
{
	*w = (struct world_virtual) { .now = *now, .alarm = { USEC_NEVER, USEC_NEVER } };
	world_offline_init(&w->base, files);
	w->base.world.arm = virtual_arm;
	w->base.world.check = virtual_check;
	w->base.world.spawn = virtual_spawn;
	w->base.world.kill_main = virtual_kill_main;
	w->base.world.kill_tree = virtual_kill_tree;
	w->base.world.watch_tree = virtual_watch_tree;
	w->base.world.release = virtual_release;
	w->base.world.read_unit = virtual_read_unit;
	w->base.world.load = virtual_load;
	w->base.world.save = virtual_save;
	w->base.world.save_now = virtual_save_now;
}

void world_virtual_done(struct world_virtual *w)
{
	struct virtual_process *p, *next;

	HASH_ITER(hh, w->process, p, next)
		process_free(w, p);
	heap_done(&w->due);
}

/* ---- time ---- */

static void pass(struct world_virtual *w, usec_t boot)
{
	w->now.real = usec_add(w->now.real, usec_sub(boot, w->now.boot));
	w->now.boot = usec_max(boot, w->now.boot);
}

/* When the alarm of a clock comes, on the boot-time clock. */
static usec_t alarm_at(const struct world_virtual *w, enum supd_clock clock)
{
	usec_t when = w->alarm[clock],
	       now = clock == SUPD_CLOCK_REALTIME ? w->now.real : w->now.boot;

	return when == USEC_NEVER ? USEC_NEVER : usec_add(w->now.boot, usec_sub(when, now));
}

/* The manager may forget the process while it is told: what comes next is set before. */
static void tell_process(struct world_virtual *w)
{
	struct heap_item *first = heap_first(&w->due);
	struct virtual_process *p =
		(struct virtual_process *) (void *) ((char *) first -
						     offsetof(struct virtual_process, due));

	switch (p->news) {
	case NEWS_CHECKED:
		expect(w, p, NEWS_CHECKED, USEC_NEVER);
		manager_checked(w->manager, &w->now, p->token, CONDITIONS_HOLD, NULL, 0);
		break;
	case NEWS_SPAWNED:
		p->pid = ++w->last_pid;
		expect(w, p, NEWS_EXITED, usec_add(w->now.boot, p->fate.take));
		manager_spawned(w->manager, &w->now, p->token, p->pid);
		break;
	case NEWS_EXITED:
		p->is_alive = false;
		expect(w, p, NEWS_TREE_EMPTY, p->is_tree_watched ? w->now.boot : USEC_NEVER);
		p->is_tree_watched = false;
		manager_exited(w->manager, &w->now, p->token,
			       &(struct process_end){ .wstatus = p->wstatus });
		break;
	case NEWS_TREE_EMPTY:
		expect(w, p, NEWS_TREE_EMPTY, USEC_NEVER);
		manager_tree_empty(w->manager, &w->now, p->token);
		break;
	}
}

static void tell_saved(struct world_virtual *w)
{
	w->told = w->saved;
	manager_saved(w->manager, &w->now, w->plugin, w->saved, 0);
}

static void tell_alarm(struct world_virtual *w, enum supd_clock clock)
{
	w->alarm[clock] = USEC_NEVER;
	manager_wake(w->manager, &w->now, clock);
}

bool world_virtual_step(struct world_virtual *w, usec_t until)
{
	usec_t process = heap_when(&w->due), boot = alarm_at(w, SUPD_CLOCK_BOOTTIME);
	usec_t real = alarm_at(w, SUPD_CLOCK_REALTIME),
	       next = usec_min(process, usec_min(boot, real));

	if (w->saved != w->told) {
		tell_saved(w);
		return true;
	}
	pass(w, usec_min(next, until));
	if (next > until || next == USEC_NEVER)
		return false;
	if (process == next)
		tell_process(w);
	else if (boot == next)
		tell_alarm(w, SUPD_CLOCK_BOOTTIME);
	else
		tell_alarm(w, SUPD_CLOCK_REALTIME);
	return true;
}
