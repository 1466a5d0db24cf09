/* SPDX-License-Identifier: MIT */
#include "run/runs.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/log.h"
#include "run/admission.h"
#include "run/cgroup_control.h"
#include "run/guard.h"
#include "run/keeper.h"
#include "run/launch.h"
#include "run/notify.h"
#include "run/output.h"
#include "run/process_tree.h"
#include "run/runtime_directories.h"
#include "service/exec_directories.h"
#include "service/exec_streams.h"
#include "service/notify.h"

/* Starts that may hang at the same time (on a name service, a network file system) before others
 * wait for them. */
#define SPAWN_THREADS 8
/* Starts that the threads have, or will soon have: the others wait without descriptors. */
#define LAUNCHING_MAX 64u
/* Of the threads, as many may be about to execute something and wait for a disk: the others start
 * what has not to wait, however long that disk takes. */
#define EARLY_MAX 4u
/* So many descriptors, and at most a quarter, are no run's: clients, state and what a start needs
 * for a moment. */
#define RESERVE ((rlim_t) 64)
/* How long a start is tried again that lacks what no run of ours holds. */
#define LACK_PATIENCE (10 * USEC_PER_SEC)

struct entry {
	UT_hash_handle hh;
	world_token token;
	struct runs *all;
	struct process_tree *tree;
	struct keeper_run *kept; /* what all its processes print; or NULL */
	struct output *output;  /* of the process of the last spawn, until its end is told */
	struct spawn *spawn;    /* the last */
	struct spawn *asked;    /* one that waits to be begun, or NULL */
	struct admission_wait wait;
	struct entry *held_prev, *held_next;
	bool is_held;           /* waits for a disk, and is not begun before that is done */
	bool is_early;          /* was begun before that was done */
	bool is_cancelled;      /* is not to be begun any more, which is to be told */
	bool has_begun;         /* has a process, had one, or was about to */
	bool is_launching;      /* a thread has it */
	bool is_released;       /* meanwhile: goes when the thread is done */
	bool has_told_mistake;  /* of what it says: once a run */
	uint64_t n_oom_kills;   /* in its cgroup, as far as they were told */
	bool restarts;          /* after the release, another run follows */
	bool is_empty_untold;   /* the tree was empty before the end of its main process was told */
};

/* How long the daemon's end waits for them. */
#define PATIENCE_MS 5000

/* A unit of which it was said that a limit cannot be had: once is enough. */
struct warned {
	UT_hash_handle hh;
	char unit[];
};

struct runs {
	struct runs_config config;
	struct runs_listener listener;
	struct reaper *reaper;
	struct worker *worker;
	struct admission *admission;
	unsigned n_launching, n_early;
	struct entry *held;  /* in the order of asking */
	bool is_lacking;     /* starts wait for what there is too little of, and that was told */
	struct guard *guard; /* NULL: none */
	struct process_forest *forest;
	struct outputs *outputs;
	struct keeper *keeper; /* NULL: none */
	struct notify *notify; /* NULL: none */
	struct entry *entries; /* uthash */
	struct warned *warned; /* uthash */
};

static struct entry *entry_find(struct runs *all, world_token token)
{
	struct entry *e;

	HASH_FIND(hh, all->entries, &token, sizeof(token), e);
	return e;
}

static void discard_runtime_directories(const struct entry *e)
{
	const struct spawn *s = e->spawn ? e->spawn : e->asked;
	const struct exec_directories *d = s ? s->spec.exec->directories : NULL;

	if (!d || d->preserve == EXEC_PRESERVE_YES ||
	    (d->preserve == EXEC_PRESERVE_RESTART && e->restarts))
		return;
	runtime_directories_discard(e->all->worker, d);
}

static void unhold(struct entry *e)
{
	if (e->is_held)
		DL_DELETE2(e->all->held, e, held_prev, held_next);
	e->is_held = false;
}

static struct entry *entry_free(struct entry *e)
{
	if (!e)
		return NULL;
	discard_runtime_directories(e);
	unhold(e);
	admission_leave(e->all->admission, &e->wait);
	if (e->output)
		output_finish(e->output);
	outputs_leave(e->all->outputs, e->token);
	if (e->spawn)
		reaper_forget(e->all->reaper, &e->spawn->child);
	spawn_free(e->spawn);
	spawn_free(e->asked);
	process_tree_free(e->tree);
	keeper_run_unref(e->kept);
	admission_look(e->all->admission);
	free(e);
	return NULL;
}

static bool is_begun(const struct entry *e)
{
	return e->spawn && (e->is_launching || child_is_alive(&e->spawn->child));
}

/* … or will have one. */
static bool has_process(const struct entry *e)
{
	return e->asked || is_begun(e);
}

/* ---- what is told ---- */

static void on_tree_empty(void *userdata)
{
	struct entry *e = userdata;

	if (has_process(e))
		e->is_empty_untold = true;
	else
		e->all->listener.tree_empty(e->all->listener.userdata, e->token);
}

/* The answer is out: if nothing but it stood in the way, the tree is looked at again. */
static void settle(struct runs *all, world_token token)
{
	struct entry *e = entry_find(all, token);

	if (!e || !e->is_empty_untold || has_process(e))
		return;
	e->is_empty_untold = false;
	(void) process_tree_watch(e->tree);
}

static struct cgroup_usage usage_of(struct entry *e)
{
	const struct spawn *s = e->spawn;
	const struct cgroup_limits *l = s->spec.exec->cgroup;
	struct cgroup_usage usage = { 0 };
	uint64_t seen = e->n_oom_kills;

	/* Few have limits, and for the others the controllers are not even asked. */
	if (!l || s->cgroup < 0)
		return usage;
	usage = cgroup_control_usage(s->cgroup);
	/* The commands that come after are not blamed for it once more. */
	e->n_oom_kills = usage.n_oom_kills;
	usage.n_oom_kills = l->oom_policy == CGROUP_OOM_CONTINUE || usage.n_oom_kills < seen
				    ? 0
				    : usage.n_oom_kills - seen;
	return usage;
}

static void tell_exited(struct entry *e)
{
	struct runs *all = e->all;
	world_token token = e->token;
	const struct cgroup_usage usage = usage_of(e);

	output_finish(TAKE_PTR(e->output));
	process_forest_reaped(all->forest);
	admission_look(all->admission);
	all->listener.exited(all->listener.userdata, token, &e->spawn->child, &usage);
	settle(all, token);
}

/* One that ended while its thread still had it is told by on_launched(). */
static void on_child(void *userdata, struct child *c)
{
	struct spawn *s = (struct spawn *) (void *) ((char *) c - offsetof(struct spawn, child));
	struct entry *e = s->userdata;

	(void) userdata;
	if (!e->is_launching)
		tell_exited(e);
}

static void on_orphan(void *userdata)
{
	struct runs *all = userdata;

	process_forest_reaped(all->forest);
}

static void tell_launched(struct entry *e)
{
	struct runs *all = e->all;
	struct spawn *s = e->spawn;
	world_token token = e->token;

	process_tree_add(e->tree, s->child.pid);
	all->listener.spawned(all->listener.userdata, token, s->child.pid);
	e = entry_find(all, token);
	if (e && e->spawn == s && s->child.has_ended)
		tell_exited(e);
}

static void tell_failed(struct entry *e)
{
	struct runs *all = e->all;
	world_token token = e->token;

	reaper_collect(all->reaper, &e->spawn->child);
	output_finish(TAKE_PTR(e->output));
	all->listener.spawn_failed(all->listener.userdata, token, e->spawn->step, e->spawn->error);
	settle(all, token);
}

static void log_mistakes(const struct spawn *s)
{
	for (size_t i = 0; i < s->mistakes.n; i++) {
		_cleanup_free_ char *sentence = diag_format(&s->mistakes.entry[i]);

		if (sentence)
			log_unit(s->request.unit, LOG_WARNING, 0, "%s", sentence);
	}
}

static void log_refused(struct runs *all, const struct spawn *s)
{
	size_t n = strlen(s->request.unit);
	struct warned *w;

	if (s->refused.n == 0)
		return;
	HASH_FIND(hh, all->warned, s->request.unit, n, w);
	if (w)
		return;
	for (size_t i = 0; i < s->refused.n; i++)
		log_unit(s->request.unit, LOG_WARNING, 0, "%s", s->refused.entry[i].message);
	w = calloc(1, sizeof(*w) + n + 1);
	if (!w)
		return;
	memcpy(w->unit, s->request.unit, n);
	HASH_ADD_KEYPTR(hh, all->warned, w->unit, n, w);
	if (!HASH_IS_IN(w))
		free(w); /* said again the next time */
}

/* ---- who waits ---- */

static bool is_another_begun(const struct entry *e)
{
	struct entry *other, *next;

	HASH_ITER(hh, e->all->entries, other, next)
		if (other != e && is_begun(other))
			return true;
	return false;
}

/* Descriptors are waited for as long as runs of ours hold some; all else is others' to give
 * back. */
static bool may_wait(const struct entry *e, int error)
{
	if (e->is_cancelled)
		return false;
	return (error == EMFILE && is_another_begun(e)) ||
	       admission_waited(e->all->admission, &e->wait) < LACK_PATIENCE;
}

static void tell_lack(struct runs *all, int error)
{
	if (all->is_lacking)
		return;
	all->is_lacking = true;
	if (error == EMFILE)
		log_notice(
			"starts wait until others have ended: there are no more descriptors for them (RLIMIT_NOFILE)");
	else
		log_unit(NULL, LOG_NOTICE, -error, "starts wait, and are tried again");
}

static void settle_lack(struct runs *all)
{
	if (all->n_launching == 0 && admission_is_empty(all->admission))
		all->is_lacking = false;
}

static void put_back(struct entry *e)
{
	struct runs *all = e->all;
	struct spawn *s = TAKE_PTR(e->spawn);

	tell_lack(all, s->error);
	reaper_forget(all->reaper, &s->child);
	output_finish(TAKE_PTR(e->output));
	spawn_retry(s);
	e->asked = s;
	admission_put_back(all->admission, &e->wait);
}

/* Released while it was being started: what came of it is nobody's any more. */
static void abandon(struct entry *e)
{
	if (e->spawn->step != EXEC_STEP_NONE)
		reaper_collect(e->all->reaper, &e->spawn->child);
	else
		(void) child_kill(&e->spawn->child, SIGKILL);
	entry_free(e);
}

static void is_launched(struct entry *e)
{
	e->is_launching = false;
	e->all->n_launching--;
	e->all->n_early -= e->is_early;
	e->is_early = false;
}

static void on_launched(struct worker_job *job)
{
	struct spawn *s = (struct spawn *) job; /* its first member */
	struct entry *e = s->userdata;

	is_launched(e);
	spawn_close_outputs(s);
	if (!e->is_released && spawn_lacked(s) && may_wait(e, s->error)) {
		put_back(e);
		return;
	}
	settle_lack(e->all);
	admission_look(e->all->admission);
	log_mistakes(s);
	log_refused(e->all, s);
	if (s->refused.n > 0 && !e->is_released && e->all->listener.refused)
		e->all->listener.refused(e->all->listener.userdata, e->token, &s->refused);
	if (e->is_released)
		abandon(e);
	else if (s->step == EXEC_STEP_NONE)
		tell_launched(e);
	else
		tell_failed(e);
}

/* The daemon ends, and the thread may or may not have begun. */
static void on_dropped(struct worker_job *job)
{
	struct spawn *s = (struct spawn *) job;
	struct entry *e = s->userdata;
	bool has_started = s->child.pid > 0;

	is_launched(e);
	if (has_started && s->step != EXEC_STEP_NONE)
		reaper_collect(e->all->reaper, &s->child);
	else if (has_started)
		(void) child_kill(&s->child, SIGKILL);
	if (e->is_released)
		entry_free(e);
}

/* ---- what they say ---- */

static bool is_main(const struct entry *e, pid_t pid)
{
	return e->spawn && !e->spawn->child.has_ended &&
	       __atomic_load_n(&e->spawn->child.pid, __ATOMIC_ACQUIRE) == pid;
}

static struct entry *entry_of_main(struct runs *all, pid_t pid)
{
	struct entry *e, *next;

	HASH_ITER(hh, all->entries, e, next)
		if (is_main(e, pid))
			return e;
	return NULL;
}

/* The run that the sender is a process of. Its main process has its number until we reap it; of any
 * other that is made sure after the fact. */
static struct entry *entry_of_sender(struct runs *all, const struct notify_sender *from)
{
	struct entry *e = entry_of_main(all, from->pid);

	if (!e)
		e = entry_find(all, process_forest_find(all->forest, from->pid));
	return notify_sender_is_there(from) ? e : NULL;
}

static bool may_notify(const struct entry *e, pid_t pid)
{
	enum notify_access access = e->spawn ? e->spawn->spec.notify_access : NOTIFY_NONE;

	switch (access) {
	case NOTIFY_ALL:
		return true;
	case NOTIFY_EXEC:
	case NOTIFY_MAIN:
		return is_main(e, pid) &&
		       service_spec_may_notify(&e->spawn->spec, e->spawn->request.phase);
	case NOTIFY_NONE:
		break;
	}
	return false;
}

static void on_notify(void *userdata, const struct notify_sender *from, char *message, size_t n)
{
	struct runs *all = userdata;
	struct entry *e = entry_of_sender(all, from);
	struct notification said;

	if (!e || !may_notify(e, from->pid)) {
		log_debug("notify: pid %d may not speak for a service, ignored", (int) from->pid);
		return;
	}
	notification_parse(message, n, &said);
	if (said.mistake && !e->has_told_mistake) {
		e->has_told_mistake = true;
		log_unit(e->spawn->request.unit, LOG_WARNING, 0, "over $NOTIFY_SOCKET: %s, ignored",
			 said.mistake);
	}
	all->listener.notified(all->listener.userdata, e->token, &said);
}

void runs_listen(struct runs *all)
{
	if (all->notify)
		notify_read(all->notify);
}

static void on_dead(void *userdata)
{
	runs_listen(userdata);
}

/* Without it services run all the same. */
static void open_notify(struct runs *all, sd_event *event)
{
	const char *path = all->config.spawn.notify_socket;
	int r = path ? notify_new(event, all->config.priority_notify, path, on_notify, all,
				  &all->notify)
		     : 0;

	if (r < 0)
		log_warning(r, "services get no $NOTIFY_SOCKET: %s", path);
	if (!all->notify)
		all->config.spawn.notify_socket = NULL;
}

/* ---- what is asked ---- */

static int entry_new(struct runs *all, const struct spawn_request *request, struct entry **ret)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->all = all;
	e->token = request->token;
	HASH_ADD(hh, all->entries, token, sizeof(e->token), e);
	if (!HASH_IS_IN(e)) {
		free(e);
		return -ENOMEM;
	}
	if (all->keeper)
		e->kept = keeper_run_new(all->keeper, request->unit, request->run->id,
					 exec_streams_of(request->spec)->identifier);
	*ret = e;
	return 0;
}

/* Numbers of descriptors are given out from the lowest: so the highest of new ones tells how many
 * there are. The first run may have what it gets, or there might never be any. */
static bool is_room_left(const struct entry *e)
{
	const struct spawn *s = e->asked;
	int highest = s->out > s->err ? s->out : s->err, cgroup = process_tree_enter(e->tree);
	struct rlimit limit;
	rlim_t kept;

	if (highest < cgroup)
		highest = cgroup;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return true;
	kept = limit.rlim_cur / 4 < RESERVE ? limit.rlim_cur / 4 : RESERVE;
	return highest < 0 || (rlim_t) highest < limit.rlim_cur - kept || !is_another_begun(e);
}

/* All descriptors that it will hold until it ends, but the one of its process. */
static int take_descriptors(struct entry *e)
{
	struct runs *all = e->all;
	struct spawn *s = e->asked;
	const struct output_config output = {
		.token = e->token,
		.unit = s->request.unit,
		.run_id = s->run.id,
		.streams = exec_streams_of(&s->spec),
		.kept = e->kept,
	};
	int r = 0;

	if (!e->tree)
		r = process_tree_new(all->forest, e->token, s->request.unit, s->run.id,
				     on_tree_empty, e, &e->tree);
	if (r >= 0)
		r = output_new(all->outputs, &output, &s->out, &s->err, &e->output);
	if (r >= 0 && !is_room_left(e))
		r = -EMFILE;
	return r;
}

static void give_descriptors_back(struct entry *e)
{
	spawn_close_outputs(e->asked);
	output_finish(TAKE_PTR(e->output));
	if (!e->has_begun)
		e->tree = process_tree_free(e->tree);
}

static int begin(struct entry *e)
{
	struct runs *all = e->all;
	int r = take_descriptors(e);

	if (r < 0) {
		give_descriptors_back(e);
		return r;
	}
	spawn_free(e->spawn);
	e->spawn = TAKE_PTR(e->asked);
	e->spawn->cgroup = process_tree_enter(e->tree);
	e->spawn->must_join = process_tree_must_be_joined(e->tree);
	e->has_begun = e->is_launching = true;
	e->is_early = barrier_holds(&e->spawn->after);
	all->n_launching++;
	all->n_early += e->is_early;
	reaper_watch(all->reaper, &e->spawn->child);
	worker_submit(all->worker, &e->spawn->job);
	return 0;
}

/* It never comes to a process. */
static void give_up(struct entry *e, int error)
{
	spawn_free(e->spawn);
	e->spawn = TAKE_PTR(e->asked);
	e->spawn->step = EXEC_STEP_FORK;
	e->spawn->error = error;
	e->spawn->child.has_ended = true;
	settle_lack(e->all);
	tell_failed(e);
}

static bool must_be_held(const struct entry *e)
{
	return e->all->n_early >= EARLY_MAX && barrier_holds(&e->asked->after);
}

static void hold(struct entry *e)
{
	DL_APPEND2(e->all->held, e, held_prev, held_next);
	e->is_held = true;
}

void runs_look(struct runs *all)
{
	struct entry *e, *next;

	DL_FOREACH_SAFE2(all->held, e, next, held_next) {
		if (must_be_held(e))
			continue;
		unhold(e);
		admission_join(all->admission, &e->wait, e->has_begun);
	}
}

static enum admission_verdict on_turn(void *userdata, struct admission_wait *w)
{
	struct entry *e = (struct entry *) (void *) ((char *) w - offsetof(struct entry, wait));
	struct runs *all = userdata;
	int r;

	if (e->is_cancelled) {
		give_up(e, ECANCELED);
		return ADMISSION_DONE;
	}
	if (must_be_held(e)) {
		hold(e);
		return ADMISSION_DONE;
	}
	if (all->n_launching >= LAUNCHING_MAX)
		return ADMISSION_FULL;
	r = begin(e);
	if (r < 0 && spawn_is_lack(-r) && may_wait(e, -r)) {
		tell_lack(all, -r);
		return ADMISSION_LACK;
	}
	if (r < 0)
		give_up(e, -r);
	return ADMISSION_DONE;
}

static int ask(struct runs *all, struct entry *e, const struct spawn_request *request,
	       const struct barrier_wait *after)
{
	struct spawn *s;
	int r;

	r = spawn_new(request, &all->config.spawn, &s);
	if (r < 0)
		return r;
	s->job.done = on_launched;
	s->job.drop = on_dropped;
	s->userdata = e;
	s->after = *after;
	e->asked = s;
	e->is_cancelled = false;
	/* Mostly nobody waits. */
	if (must_be_held(e))
		hold(e);
	else if (!admission_is_empty(all->admission) || all->n_launching >= LAUNCHING_MAX ||
		 begin(e) < 0)
		admission_join(all->admission, &e->wait, e->has_begun);
	return 0;
}

int runs_spawn(struct runs *all, const struct spawn_request *request,
	       const struct barrier_wait *after)
{
	struct entry *e = entry_find(all, request->token);
	int r = 0;

	if (e && has_process(e))
		return -EBUSY;
	if (!e)
		r = entry_new(all, request, &e);
	return r < 0 ? r : ask(all, e, request, after);
}

void runs_cancel(struct runs *all, world_token token)
{
	struct entry *e = entry_find(all, token);

	if (!e)
		return;
	/* One that the threads have cannot be called back unless it waits for a disk, but it is not
	 * tried again. */
	e->is_cancelled = true;
	if (e->is_launching)
		barrier_withdraw(&e->spawn->after);
	if (!e->asked)
		return;
	unhold(e);
	admission_hurry(all->admission, &e->wait);
}

/* ---- what would be ---- */

struct description {
	runs_described_fn *fn;
	void *userdata;
};

static void on_described(struct worker_job *job)
{
	struct spawn *s = (struct spawn *) job;
	struct description *d = s->userdata;

	d->fn(d->userdata, s->environment, s->step, s->error, &s->mistakes);
	free(d->userdata);
	free(d);
	spawn_free(s);
}

static void on_description_dropped(struct worker_job *job)
{
	struct spawn *s = (struct spawn *) job;
	struct description *d = s->userdata;

	free(d->userdata);
	free(d);
	spawn_free(s);
}

int runs_describe(struct runs *all, const struct spawn_request *request, runs_described_fn *fn,
		  void *userdata)
{
	struct description *d = calloc(1, sizeof(*d));
	struct spawn *s;
	int r;

	if (!d)
		return -ENOMEM;
	r = spawn_new(request, &all->config.spawn, &s);
	if (r < 0) {
		free(d);
		return r;
	}
	*d = (struct description) { fn, userdata };
	spawn_describe(s);
	s->job.done = on_described;
	s->job.drop = on_description_dropped;
	s->userdata = d;
	worker_submit(all->worker, &s->job);
	return 0;
}

/* A process that was stopped is to notice what it was sent. */
static bool needs_continuing(int signal)
{
	return signal != SIGKILL && signal != SIGCONT && signal != SIGSTOP;
}

int runs_kill_main(struct runs *all, world_token token, int signal)
{
	struct entry *e = entry_find(all, token);
	int r;

	if (!e || !e->spawn)
		return -ESRCH;
	r = child_kill(&e->spawn->child, signal);
	if (r >= 0 && needs_continuing(signal))
		(void) child_kill(&e->spawn->child, SIGCONT);
	return r;
}

int runs_kill_tree(struct runs *all, world_token token, int signal, bool spare_main)
{
	struct entry *e = entry_find(all, token);
	pid_t spare = 0;
	int r;

	if (!e || !e->tree)
		return -ESRCH;
	if (spare_main && e->spawn && child_is_alive(&e->spawn->child))
		spare = e->spawn->child.pid;
	r = process_tree_signal(e->tree, signal, spare);
	if (r >= 0 && needs_continuing(signal))
		(void) process_tree_signal(e->tree, SIGCONT, spare);
	/* It may not have joined the others yet. */
	if (e->is_launching && !spare_main)
		(void) child_kill(&e->spawn->child, signal);
	return r;
}

int runs_watch_tree(struct runs *all, world_token token)
{
	struct entry *e = entry_find(all, token);

	if (!e || !e->tree || (!has_process(e) && process_tree_is_known_empty(e->tree)))
		return -ESRCH;
	return process_tree_watch(e->tree);
}

char *runs_last_words(struct runs *all, world_token token, size_t *ret_n)
{
	const struct entry *e = entry_find(all, token);

	return e ? keeper_run_tail(e->kept, ret_n) : NULL;
}

void runs_release(struct runs *all, world_token token, bool restarts)
{
	struct entry *e = entry_find(all, token);

	if (!e)
		return;
	HASH_DEL(all->entries, e);
	e->restarts = restarts;
	e->is_released = e->is_launching;
	if (e->is_launching)
		barrier_withdraw(&e->spawn->after);
	else
		entry_free(e);
}

/* ---- its life ---- */

int runs_new(sd_event *event, const struct runs_config *config,
	     const struct runs_listener *listener, struct runs **ret)
{
	struct reaper_listener reaped = { .child = on_child, .orphan = on_orphan, .dead = on_dead };
	struct runs *all = calloc(1, sizeof(*all));
	int r;

	if (!all)
		return -ENOMEM;
	all->config = *config;
	all->listener = *listener;
	reaped.userdata = all;
	/* Without it we are no worse than others. */
	if (!config->without_guard) {
		r = guard_new(config->title, config->title_size, &all->guard);
		if (r < 0)
			log_warning(r, "if this process is killed, nobody will end its services");
	}
	r = process_forest_new(event, config->without_cgroup, all->guard, &all->forest);
	if (r >= 0)
		r = outputs_new(event, config->priority_output, config->output_grace,
				config->forwards_output, &all->outputs);
	if (r >= 0)
		open_notify(all, event);
	if (r >= 0)
		r = reaper_new(event, config->priority_child, &reaped, &all->reaper);
	if (r >= 0)
		r = admission_new(event, config->priority_child, on_turn, all, &all->admission);
	if (r >= 0)
		r = worker_new(event, config->priority_child, SPAWN_THREADS, &all->worker);
	if (r < 0) {
		runs_free(all);
		return r;
	}
	launch_prepare();
	*ret = all;
	return 0;
}

void runs_call_back(struct runs *all)
{
	struct entry *e, *next;

	HASH_ITER(hh, all->entries, e, next)
		if (e->is_launching)
			barrier_withdraw(&e->spawn->after);
}

void runs_keep(struct runs *all, struct keeper *keeper)
{
	all->keeper = keeper;
}

struct runs *runs_free(struct runs *all)
{
	struct entry *e, *next;
	struct warned *w, *next_warned;

	if (!all)
		return NULL;
	runs_call_back(all);
	/* A thread that hangs on a dead mount must not keep the daemon from ending; it, and what it
	 * uses, goes with the process. */
	if (!worker_free_within(all->worker, PATIENCE_MS)) {
		notify_free(all->notify);
		guard_free(all->guard);
		return NULL;
	}
	HASH_ITER(hh, all->entries, e, next) {
		HASH_DEL(all->entries, e);
		entry_free(e);
	}
	notify_free(all->notify);
	HASH_ITER(hh, all->warned, w, next_warned) {
		HASH_DEL(all->warned, w);
		free(w);
	}
	outputs_free(all->outputs);
	process_forest_free(all->forest);
	admission_free(all->admission);
	reaper_free(all->reaper);
	guard_free(all->guard);
	free(all);
	return NULL;
}
