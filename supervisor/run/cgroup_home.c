/* SPDX-License-Identifier: MIT */
#include "run/cgroup_home.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "run/cgroup.h"
#include "run/cgroup_control.h"

#define PREFIX "supd-"
#define LEFT "left"
#define ATTEMPTS_MAX 8

/* A cgroup that goes as soon as what lives in it has ended. */
struct leaving {
	struct cgroup_home *home;
	struct cgroup group;
	sd_event_source *source;
	struct leaving *prev, *next;
};

struct cgroup_home {
	sd_event *event;
	struct cgroup parent, group;
	struct leaving *leaving;
};

static void leaving_free(struct leaving *l)
{
	DL_DELETE(l->home->leaving, l);
	sd_event_source_disable_unref(l->source);
	cgroup_done(&l->group);
	free(l);
}

static int on_emptied(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct leaving *l = userdata;

	(void) source;
	(void) event;
	if (cgroup_remove(&l->group) != -EBUSY)
		leaving_free(l);
	return 0;
}

/* Takes @g. What cannot be watched is tried once more at the end. */
static void remove_when_empty(struct cgroup_home *h, struct cgroup *g)
{
	_cleanup_free_ char *path = NULL;
	struct leaving *l;

	if (cgroup_remove(g) != -EBUSY || !(l = calloc(1, sizeof(*l)))) {
		cgroup_done(g);
		return;
	}
	l->home = h;
	l->group = *g;
	DL_APPEND(h->leaving, l);
	if (asprintf(&path, "%s/cgroup.events", g->path) < 0)
		path = NULL;
	else
		(void) sd_event_add_inotify(h->event, &l->source, path, IN_MODIFY, on_emptied, l);
	/* It may have emptied before it was watched. */
	if (cgroup_remove(&l->group) != -EBUSY)
		leaving_free(l);
}

/* ---- what dead daemons left ---- */

static bool is_locked(const struct cgroup *g)
{
	return flock(g->fd, LOCK_EX | LOCK_NB) < 0;
}

/* All runs of a dead daemon are killed, but what its services had left behind on purpose is not. */
static void kill_runs(const struct cgroup *home, bool log_it)
{
	int fd = openat(home->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir))) {
		struct cgroup run;

		if (entry->d_type != DT_DIR || !str_starts(entry->d_name, "run-") ||
		    cgroup_open(home, entry->d_name, &run) < 0)
			continue;
		if (cgroup_is_populated(&run) > 0) {
			if (log_it)
				log_warning(
					0,
					"%s was left by a supd that died, its processes are killed",
					run.path);
			(void) cgroup_signal(&run, SIGKILL, 0);
		}
		cgroup_done(&run);
	}
	closedir(dir);
}

/* The guard is no daemon: nobody waits for it, and it has no log. */
int cgroup_home_end(const char *path)
{
	struct cgroup home = { .fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	int r;

	if (home.fd < 0)
		return -errno;
	home.path = strdup(path);
	home.inside = strdup("");
	r = home.path && home.inside ? 0 : -ENOMEM;
	if (r >= 0) {
		kill_runs(&home, false);
		cgroup_control_leave(home.fd);
		r = cgroup_remove(&home);
	}
	cgroup_done(&home);
	return r;
}

static void sweep_one(struct cgroup_home *h, const char *name)
{
	struct cgroup dead;

	if (cgroup_open(&h->parent, name, &dead) < 0)
		return;
	if (is_locked(&dead)) {
		cgroup_done(&dead);
		return;
	}
	kill_runs(&dead, true);
	remove_when_empty(h, &dead);
}

static void sweep(struct cgroup_home *h)
{
	int fd = openat(h->parent.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)))
		if (entry->d_type == DT_DIR && str_starts(entry->d_name, PREFIX))
			sweep_one(h, entry->d_name);
	closedir(dir);
}

/* ---- our own ---- */

/* Another daemon's sweep may take the new folder, which is not locked yet, for a dead one's: then
 * it is the sweep that has it locked, or has removed it already, and we make another. */
static int make_locked(const struct cgroup *parent, struct cgroup *ret)
{
	for (unsigned attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
		struct cgroup g;
		uint32_t chance = 0;
		char name[64];
		int r;

		(void) getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
		snprintf(name, sizeof(name), PREFIX "%d-%08x", (int) getpid(), (unsigned) chance);
		r = cgroup_make(parent, name, &g);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		if (is_locked(&g) || cgroup_is_populated(&g) < 0) {
			cgroup_done(&g);
			continue;
		}
		if (cgroup_is_usable(&g)) {
			*ret = g;
			return 0;
		}
		(void) cgroup_remove(&g);
		cgroup_done(&g);
		return -EACCES;
	}
	return -EAGAIN;
}

int cgroup_home_new(sd_event *event, struct cgroup_home **ret)
{
	struct cgroup_home *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	*h = (struct cgroup_home) { .event = event, .parent.fd = -1, .group.fd = -1 };
	r = cgroup_open_own(&h->parent);
	if (r >= 0 && !cgroup_is_usable(&h->parent))
		r = -EACCES;
	if (r >= 0)
		r = make_locked(&h->parent, &h->group);
	if (r < 0) {
		cgroup_home_free(h);
		return r;
	}
	sweep(h);
	*ret = h;
	return 0;
}

struct cgroup_home *cgroup_home_free(struct cgroup_home *h)
{
	struct leaving *l, *next;

	if (!h)
		return NULL;
	DL_FOREACH_SAFE(h->leaving, l, next) {
		(void) cgroup_remove(&l->group);
		leaving_free(l);
	}
	if (h->group.fd >= 0) {
		cgroup_control_leave(h->group.fd);
		(void) cgroup_remove(&h->group);
	}
	cgroup_done(&h->group);
	cgroup_done(&h->parent);
	free(h);
	return NULL;
}

const struct cgroup *cgroup_home_group(const struct cgroup_home *h)
{
	return &h->group;
}

void cgroup_home_retire(struct cgroup_home *h, struct cgroup *g)
{
	struct cgroup left;

	if (cgroup_remove(g) >= 0) {
		cgroup_done(g);
		return;
	}
	if (cgroup_is_populated(g) > 0 && cgroup_make(&h->group, LEFT, &left) >= 0) {
		cgroup_evacuate(g, &left);
		cgroup_done(&left);
	}
	remove_when_empty(h, g);
	*g = (struct cgroup) { .fd = -1 };
}
