/* SPDX-License-Identifier: MIT */
#include "run/zone_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/cleanup.h"

#define ZONEINFO "/usr/share/zoneinfo"
#define STEPS_MAX 8

/* One file or link on the way: its folder is watched for its name. */
struct step {
	struct zone_watch *watch;
	char *name;
	sd_event_source *source;
};

struct zone_watch {
	sd_event *event;
	char *path;
	zone_watch_fn *fn;
	void *userdata;
	sd_event_source *changed; /* deferred: many events are one change */
	struct step step[STEPS_MAX];
	size_t n;
};

static int on_event(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
	struct step *step = userdata;
	struct zone_watch *w = step->watch;

	(void) source;
	/* Without a name it is the folder itself, or events were lost. */
	if (event->len > 0 && !str_equal(event->name, step->name))
		return 0;
	return sd_event_source_set_enabled(w->changed, SD_EVENT_ONESHOT);
}

/* A folder that is not there cannot be watched, and need not be. */
static int step_add(struct zone_watch *w, const char *dir, const char *name)
{
	struct step *step = &w->step[w->n];
	int r;

	step->watch = w;
	step->name = strdup(name);
	if (!step->name)
		return -ENOMEM;
	w->n++;
	r = sd_event_add_inotify(w->event, &step->source, dir,
				 IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
					 IN_CLOSE_WRITE | IN_ATTRIB | IN_ONLYDIR,
				 on_event, step);
	return r == -ENOENT || r == -ENOTDIR || r == -EACCES ? 0 : r;
}

static void steps_done(struct zone_watch *w)
{
	while (w->n > 0) {
		struct step *step = &w->step[--w->n];

		sd_event_source_disable_unref(step->source);
		free(step->name);
		*step = (struct step) { 0 };
	}
}

/* From link to link; a chain longer than STEPS_MAX is a loop. */
static int follow(struct zone_watch *w)
{
	char path[PATH_MAX], target[PATH_MAX], joined[2 * PATH_MAX];
	int r;

	if (snprintf(path, sizeof(path), "%s", w->path) >= (int) sizeof(path))
		return -ENAMETOOLONG;
	while (w->n < STEPS_MAX) {
		char *slash = strrchr(path, '/');
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		*slash = '\0';
		r = step_add(w, slash == path ? "/" : path, slash + 1);
		if (r < 0 || n <= 0)
			return r;
		target[n] = '\0';
		if (target[0] == '/')
			snprintf(joined, sizeof(joined), "%s", target);
		else
			snprintf(joined, sizeof(joined), "%s/%s", path, target);
		if (snprintf(path, sizeof(path), "%s", joined) >= (int) sizeof(path))
			return -ENAMETOOLONG;
	}
	return 0;
}

static int on_changed(sd_event_source *source, void *userdata)
{
	struct zone_watch *w = userdata;

	(void) source;
	steps_done(w);
	(void) follow(w);
	w->fn(w->userdata);
	return 0;
}

/* What a TZ like ":/etc/zone" or "Europe/Berlin" names. A rule like "CET-1CEST" names no file:
 * nothing is found under it, and nothing comes to be there. */
static char *path_of(const char *tz, const char *localtime)
{
	char *path;

	if (!tz)
		return strdup(localtime ? localtime : "/etc/localtime");
	if (tz[0] == ':')
		tz++;
	if (tz[0] == '/')
		return strdup(tz);
	return asprintf(&path, "%s/%s", ZONEINFO, tz) < 0 ? NULL : path;
}

int zone_watch_new(sd_event *event, const char *tz, const char *localtime, zone_watch_fn *fn,
		   void *userdata, struct zone_watch **ret)
{
	struct zone_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->event = event;
	w->fn = fn;
	w->userdata = userdata;
	w->path = path_of(tz, localtime);
	r = w->path ? sd_event_add_defer(event, &w->changed, on_changed, w) : -ENOMEM;
	if (r >= 0)
		r = sd_event_source_set_enabled(w->changed, SD_EVENT_OFF);
	if (r >= 0)
		r = follow(w);
	if (r < 0) {
		zone_watch_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

struct zone_watch *zone_watch_free(struct zone_watch *w)
{
	if (!w)
		return NULL;
	steps_done(w);
	sd_event_source_disable_unref(w->changed);
	free(w->path);
	free(w);
	return NULL;
}
