/* SPDX-License-Identifier: MIT */
#include "run/process_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "base/usec.h"
#include "run/cgroup.h"
#include "run/cgroup_home.h"
#include "run/guard.h"
#include "run/process.h"

#define SIGNAL_ROUNDS_MAX 16
#define LOOK_AGAIN_FIRST (50 * USEC_PER_MSEC)
#define LOOK_AGAIN_MAX (1 * USEC_PER_SEC)

struct process_tree {
	struct process_forest *forest;
	uint64_t token;
	uint8_t run_id[16];
	process_tree_empty_fn *empty;
	void *userdata;
	bool is_watched;
	struct process_tree *prev, *next;
	struct process_tree *prev_watched, *next_watched;
	uint64_t unsent; /* signals that could not be sent: a bit each, the lowest is that of 1 */
	pid_t unsent_spare;
	/* with a cgroup */
	struct cgroup group; /* fd -1: without */
	bool was_killed;     /* by cgroup.kill */
	bool is_known_empty; /* nobody is in it who could fork, and nobody was put into it since */
	sd_event_source *populated;
	/* without */
	pid_t *session;
	size_t n_sessions;
	char invocation[sizeof("INVOCATION_ID=") + 32];
};

struct process_forest {
	sd_event *event;
	struct guard *guard; /* NULL: none */
	struct cgroup_home *home; /* NULL: no cgroups */
	struct process_tree *trees, *watched;
	sd_event_source *check, *look_again;
	usec_t pause; /* until the next look; grows */
};

/* ---- without a cgroup: who belongs to a tree ---- */

/* Without /proc (in a bare chroot, say) there are only the process groups that the main processes
 * lead. */
static int signal_groups(struct process_tree *t, int signal, pid_t spare)
{
	for (size_t i = 0; i < t->n_sessions; i++)
		if (t->session[i] != spare)
			(void) kill(-t->session[i], signal);
	return 0;
}

static bool is_any_group_left(struct process_tree *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_sessions; i++)
		if (kill(-t->session[i], 0) == 0 || errno == EPERM)
			t->session[kept++] = t->session[i];
	t->n_sessions = kept;
	return kept > 0;
}

/* A process and what was found out about it in this walk. */
struct walk {
	struct process *p;
	bool *is_ours; /* descends from this daemon */
	bool *is_member;
	size_t n;
};

static bool has_session(const struct process_tree *t, pid_t session)
{
	for (size_t i = 0; i < t->n_sessions; i++)
		if (t->session[i] == session)
			return true;
	return false;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *p = a, *q = b;

	return (p->pid > q->pid) - (p->pid < q->pid);
}

/* Marks whose parent is marked, until nothing changes: a number may be lower than its parent's. */
static void mark_descendants(const struct walk *w, bool *mark)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < w->n; i++) {
			struct process key = { .pid = w->p[i].parent };
			const struct process *parent = NULL;

			if (!mark[i])
				parent = bsearch(&key, w->p, w->n, sizeof(key), by_pid);
			if (parent && mark[parent - w->p])
				changed = mark[i] = true;
		}
	}
}

static void mark_members(const struct walk *w, const struct process_tree *t)
{
	for (size_t i = 0; i < w->n; i++)
		w->is_ours[i] = w->p[i].parent == getpid();
	mark_descendants(w, w->is_ours);
	for (size_t i = 0; i < w->n; i++)
		w->is_member[i] = w->is_ours[i] && !w->p[i].is_dead &&
				  (has_session(t, w->p[i].session) ||
				   process_has_environment(w->p[i].pid, t->invocation));
	mark_descendants(w, w->is_member);
}

/* Sessions that have emptied are forgotten, as their number may come back as a stranger's. */
static void forget_sessions(const struct walk *w, struct process_tree *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_sessions; i++) {
		bool is_used = false;

		for (size_t k = 0; k < w->n; k++)
			is_used |= w->p[k].session == t->session[i];
		if (is_used)
			t->session[kept++] = t->session[i];
	}
	t->n_sessions = kept;
}

/* The living members of a tree; gives. */
static int members(struct process_tree *t, struct process **ret, size_t *ret_n)
{
	_cleanup_free_ struct process *list = NULL;
	_cleanup_free_ bool *marks = NULL;
	struct walk w = { 0 };
	size_t kept = 0;
	int r;

	r = process_list(&list, &w.n);
	if (r < 0)
		return r;
	/* Not even us: nothing is mounted there. */
	if (w.n == 0)
		return -ENOENT;
	marks = calloc(2 * w.n + 1, sizeof(*marks));
	if (!marks)
		return -ENOMEM;
	qsort(list, w.n, sizeof(*list), by_pid);
	w.p = list;
	w.is_ours = marks;
	w.is_member = marks + w.n;
	mark_members(&w, t);
	forget_sessions(&w, t);
	for (size_t i = 0; i < w.n; i++)
		if (w.is_member[i] && !list[i].is_dead)
			list[kept++] = list[i];
	*ret = TAKE_PTR(list);
	*ret_n = kept;
	return 0;
}

static bool is_same_process(const void *userdata, pid_t pid)
{
	const struct process *meant = userdata;
	struct process now;

	return process_read(pid, &now) >= 0 && now.started == meant->started && !now.is_dead;
}

static bool was_sent(const struct process *sent, size_t n, const struct process *p)
{
	for (size_t i = 0; i < n; i++)
		if (sent[i].pid == p->pid && sent[i].started == p->started)
			return true;
	return false;
}

/* Those that are forked while we signal are found in the next round. */
static int signal_members(struct process_tree *t, int signal, pid_t spare)
{
	_cleanup_free_ struct process *sent = NULL;
	size_t n_sent = 0;

	for (unsigned round = 0; round < SIGNAL_ROUNDS_MAX; round++) {
		_cleanup_free_ struct process *list = NULL;
		struct process *grown;
		size_t n, before = n_sent;
		int r;

		r = members(t, &list, &n);
		if (r == -ENOENT)
			return signal_groups(t, signal, spare);
		if (r < 0)
			return r;
		grown = reallocarray(sent, n_sent + n + 1, sizeof(*sent));
		if (!grown)
			return -ENOMEM;
		sent = grown;
		for (size_t i = 0; i < n; i++) {
			if (list[i].pid == spare || was_sent(sent, before, &list[i]))
				continue;
			(void) process_signal(list[i].pid, signal, is_same_process, &list[i]);
			sent[n_sent++] = list[i];
		}
		if (n_sent == before)
			break;
	}
	return 0;
}

/* ---- either way ---- */

/* 0 or 1; negative: it cannot be told now (no memory, no descriptor). */
static int is_populated(struct process_tree *t)
{
	_cleanup_free_ struct process *list = NULL;
	size_t n = 0;
	int r;

	if (t->group.fd >= 0) {
		if (t->is_known_empty)
			return 0;
		r = cgroup_is_populated(&t->group);
		t->is_known_empty = r == 0 || r == -ENODEV || r == -ENOENT;
		return t->is_known_empty ? 0 : r;
	}
	r = members(t, &list, &n);
	return r == -ENOENT ? is_any_group_left(t) : r < 0 ? r : n > 0;
}

static int check_soon(struct process_forest *f)
{
	return sd_event_source_set_enabled(f->check, SD_EVENT_ONESHOT);
}

/* Without a cgroup no event tells that a process which is no child of ours has ended; and one that
 * told so will not tell again, if nobody could look just then. */
static void look_again_later(struct process_forest *f)
{
	uint64_t now = 0;

	(void) sd_event_now(f->event, CLOCK_BOOTTIME, &now);
	(void) sd_event_source_set_time(f->look_again, now + f->pause);
	(void) sd_event_source_set_enabled(f->look_again, SD_EVENT_ONESHOT);
	f->pause = usec_min(f->pause * 2, LOOK_AGAIN_MAX);
}

static void unwatch(struct process_tree *t)
{
	if (t->is_watched)
		DL_DELETE2(t->forest->watched, t, prev_watched, next_watched);
	t->is_watched = false;
}

/* A watched tree that is empty; its watch is over. *ret_is_left: of the others, one must be looked
 * at again. */
static struct process_tree *take_empty(struct process_forest *f, bool *ret_is_left)
{
	struct process_tree *t;
	int r;

	DL_FOREACH2(f->watched, t, next_watched) {
		r = is_populated(t);
		if (r == 0) {
			unwatch(t);
			return t;
		}
		*ret_is_left |= r < 0 || !t->populated;
	}
	return NULL;
}

static int on_check(sd_event_source *source, void *userdata)
{
	struct process_forest *f = userdata;
	struct process_tree *t;
	bool is_left = false;

	(void) source;
	t = take_empty(f, &is_left);
	if (t) {
		/* The others in the next turn: what is told may free any of them. */
		(void) check_soon(f);
		t->empty(t->userdata);
	} else if (is_left) {
		look_again_later(f);
	}
	return 0;
}

static int signal_now(struct process_tree *t, int signal, pid_t spare)
{
	if (t->group.fd < 0)
		return signal_members(t, signal, spare);
	if (!is_populated(t))
		return 0;
	t->was_killed |= signal == SIGKILL;
	return cgroup_signal(&t->group, signal, spare);
}

static void send_unsent(struct process_tree *t)
{
	const uint64_t unsent = t->unsent;

	t->unsent = 0;
	for (int signal = 1; signal <= 64; signal++)
		if (unsent & UINT64_C(1) << (signal - 1))
			(void) process_tree_signal(t, signal, t->unsent_spare);
}

static int on_look_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct process_forest *f = userdata;
	struct process_tree *t;

	(void) source;
	(void) usec;
	DL_FOREACH(f->trees, t)
		send_unsent(t);
	return check_soon(f);
}

static int on_populated(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct process_tree *t = userdata;

	(void) source;
	(void) event;
	return check_soon(t->forest);
}

int process_forest_new(sd_event *event, bool without_cgroup, struct guard *guard,
		       struct process_forest **ret)
{
	struct process_forest *f = calloc(1, sizeof(*f));
	int r = 0;

	if (!f)
		return -ENOMEM;
	f->event = event;
	f->guard = guard;
	f->pause = LOOK_AGAIN_FIRST;
	if (!without_cgroup) {
		r = cgroup_home_new(event, &f->home);
		if (r < 0 && r != -ENOMEM) {
			log_unit(NULL, LOG_INFO, r,
				 "no cgroups of our own, processes are found through /proc");
			r = 0;
		}
	}
	if (f->home && guard)
		guard_watch_cgroup(guard, cgroup_home_group(f->home)->path);
	if (r >= 0)
		r = sd_event_add_defer(event, &f->check, on_check, f);
	if (r >= 0)
		r = sd_event_source_set_enabled(f->check, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(event, &f->look_again, CLOCK_BOOTTIME, 0, 10 * USEC_PER_MSEC,
				      on_look_again, f);
	if (r >= 0)
		r = sd_event_source_set_enabled(f->look_again, SD_EVENT_OFF);
	if (r < 0) {
		process_forest_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

struct process_forest *process_forest_free(struct process_forest *f)
{
	if (!f)
		return NULL;
	sd_event_source_disable_unref(f->check);
	sd_event_source_disable_unref(f->look_again);
	cgroup_home_free(f->home);
	free(f);
	return NULL;
}

bool process_forest_has_cgroup(const struct process_forest *f)
{
	return f->home;
}

void process_forest_reaped(struct process_forest *f)
{
	f->pause = LOOK_AGAIN_FIRST;
	if (f->watched)
		(void) check_soon(f);
}

/* ---- whose a process is ---- */

#define ANCESTORS_MAX 256

static uint64_t find_by_cgroup(const struct process_forest *f, pid_t pid)
{
	_cleanup_free_ char *inside = NULL;
	const struct process_tree *t;

	if (cgroup_of_process(pid, &inside) < 0)
		return 0;
	DL_FOREACH(f->trees, t) {
		size_t n = t->group.inside ? strlen(t->group.inside) : 0;

		if (n > 0 && strncmp(inside, t->group.inside, n) == 0 &&
		    (inside[n] == '/' || inside[n] == '\0'))
			return t->token;
	}
	return 0;
}

static const struct process_tree *tree_of(const struct process_forest *f, const struct process *p)
{
	_cleanup_free_ char *invocation = NULL;
	const struct process_tree *t;

	DL_FOREACH(f->trees, t)
		if (has_session(t, p->session))
			return t;
	if (process_get_environment(p->pid, "INVOCATION_ID", &invocation) < 0)
		return NULL;
	DL_FOREACH(f->trees, t)
		if (str_equal(t->invocation, invocation))
			return t;
	return NULL;
}

/* The nearest ancestor of which it can be told; and there has to be a way from it to this daemon,
 * so that nobody else gets in by taking over a variable. */
static uint64_t find_by_ancestors(const struct process_forest *f, pid_t pid)
{
	const struct process_tree *t = NULL;
	struct process p;

	for (unsigned i = 0; i < ANCESTORS_MAX && pid != getpid(); i++, pid = p.parent) {
		if (pid <= 1 || process_read(pid, &p) < 0)
			return 0;
		if (!t)
			t = tree_of(f, &p);
	}
	return t ? t->token : 0;
}

uint64_t process_forest_find(struct process_forest *f, pid_t pid)
{
	return f->home ? find_by_cgroup(f, pid) : find_by_ancestors(f, pid);
}

/* ---- trees ---- */

int process_tree_new(struct process_forest *f, uint64_t token, const char *unit,
		     const uint8_t run_id[16], process_tree_empty_fn *empty, void *userdata,
		     struct process_tree **ret)
{
	struct process_tree *t = calloc(1, sizeof(*t));
	char name[256], hex[33];
	int r = 0;

	if (!t)
		return -ENOMEM;
	*t = (struct process_tree){
		.forest = f, .empty = empty, .userdata = userdata, .group.fd = -1
	};
	t->token = token;
	memcpy(t->run_id, run_id, sizeof(t->run_id));
	text_hex16(run_id, hex);
	snprintf(t->invocation, sizeof(t->invocation), "INVOCATION_ID=%s", hex);
	DL_APPEND(f->trees, t);
	if (f->home) {
		snprintf(name, sizeof(name), "run-%" PRIu64 "-%.200s", token, unit);
		r = cgroup_make(cgroup_home_group(f->home), name, &t->group);
	} else if (f->guard) {
		guard_watch_run(f->guard, token, 0, run_id);
	}
	if (r < 0) {
		process_tree_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

struct process_tree *process_tree_free(struct process_tree *t)
{
	if (!t)
		return NULL;
	unwatch(t);
	DL_DELETE(t->forest->trees, t);
	sd_event_source_disable_unref(t->populated);
	if (t->group.fd >= 0)
		cgroup_home_retire(t->forest->home, &t->group);
	else if (t->forest->guard)
		guard_forget_run(t->forest->guard, t->token);
	free(t->session);
	free(t);
	return NULL;
}

int process_tree_enter(struct process_tree *t)
{
	t->is_known_empty = false;
	return t->group.fd;
}

bool process_tree_must_be_joined(const struct process_tree *t)
{
	return t->was_killed;
}

/* A number that was just given out is nobody's session any more. */
static void drop_session(struct process_tree *t, pid_t session)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_sessions; i++)
		if (t->session[i] != session)
			t->session[kept++] = t->session[i];
	t->n_sessions = kept;
}

void process_tree_add(struct process_tree *t, pid_t pid)
{
	struct process_tree *other;
	pid_t *grown;

	t->is_known_empty = false;
	if (t->group.fd >= 0)
		return;
	if (t->forest->guard)
		guard_watch_run(t->forest->guard, t->token, pid, t->run_id);
	DL_FOREACH(t->forest->trees, other)
		drop_session(other, pid);
	grown = reallocarray(t->session, t->n_sessions + 1, sizeof(*grown));
	if (!grown) /* INVOCATION_ID= still tells it */
		return;
	t->session = grown;
	t->session[t->n_sessions++] = pid;
}

int process_tree_signal(struct process_tree *t, int signal, pid_t spare)
{
	int r = signal_now(t, signal, spare);

	if (r >= 0 || r == -ENOENT || r == -ENODEV || r == -EPERM)
		return r;
	t->unsent |= UINT64_C(1) << (signal - 1);
	t->unsent_spare = spare;
	look_again_later(t->forest);
	return 0;
}

bool process_tree_is_known_empty(struct process_tree *t)
{
	return t->group.fd >= 0 && !is_populated(t);
}

int process_tree_watch(struct process_tree *t)
{
	_cleanup_free_ char *path = NULL;

	/* If there is nothing to watch with, it is looked at again and again. */
	if (t->group.fd >= 0 && !t->populated && is_populated(t) &&
	    asprintf(&path, "%s/cgroup.events", t->group.path) > 0)
		(void) sd_event_add_inotify(t->forest->event, &t->populated, path, IN_MODIFY,
					    on_populated, t);
	if (!t->is_watched)
		DL_APPEND2(t->forest->watched, t, prev_watched, next_watched);
	t->is_watched = true;
	t->forest->pause = LOOK_AGAIN_FIRST;
	return check_soon(t->forest);
}
