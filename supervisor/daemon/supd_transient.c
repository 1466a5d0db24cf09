/* SPDX-License-Identifier: MIT */
#include "daemon/supd_transient.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "control/client.h"
#include "core/report.h"
#include "core/unit.h"
#include "daemon/supd_control.h"
#include "store/atomic_file.h"

#define DIRECTORY "transient"

/* A service, and its timer or "". */
struct transient {
	struct transient *prev, *next;
	char service[UNIT_NAME_MAX + 1];
	char timer[UNIT_NAME_MAX + 1];
};

struct transients {
	int dir; /* -1: none */
	char *path;
	struct transient *list;
	struct supd_control *control;
	sd_event_source *sweep; /* off while nothing may be over */
};

/* ---- the list ---- */

static struct transient *find(const struct transients *all, const char *unit)
{
	struct transient *t;

	DL_FOREACH(all->list, t)
		if (str_equal(t->service, unit) || str_equal(t->timer, unit))
			return t;
	return NULL;
}

static struct transient *add(struct transients *all, const char *service, const char *timer)
{
	struct transient *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	(void) snprintf(t->service, sizeof(t->service), "%s", service);
	(void) snprintf(t->timer, sizeof(t->timer), "%s", timer);
	DL_APPEND(all->list, t);
	return t;
}

static void forget(struct transients *all, struct transient *t)
{
	DL_DELETE(all->list, t);
	free(t);
}

/* "a.service" → "a.timer"; -ENAMETOOLONG. */
static int timer_of(const char *service, char ret[UNIT_NAME_MAX + 1])
{
	int stem = (int) (strlen(service) - strlen(".service"));

	return snprintf(ret, UNIT_NAME_MAX + 1, "%.*s.timer", stem, service) > UNIT_NAME_MAX
		       ? -ENAMETOOLONG
		       : 0;
}

static void unlink_files(struct transients *all, const struct transient *t)
{
	(void) unlinkat(all->dir, t->service, 0);
	if (*t->timer)
		(void) unlinkat(all->dir, t->timer, 0);
}

/* ---- what an earlier daemon left ---- */

/* One with a timer goes on; another's run is over. */
static int adopt_one(struct transients *all, const char *name)
{
	char timer[UNIT_NAME_MAX + 1];

	if (!unit_name_is_valid(name) || unit_name_kind(name) != UNIT_SERVICE ||
	    timer_of(name, timer) < 0)
		return 0;
	if (faccessat(all->dir, timer, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return add(all, name, timer) ? 0 : -ENOMEM;
	(void) unlinkat(all->dir, name, 0);
	return 0;
}

static int adopt(struct transients *all)
{
	DIR *dir = opendir(all->path);
	struct dirent *e;
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (e = readdir(dir)))
		r = adopt_one(all, e->d_name);
	closedir(dir);
	return r;
}

int transients_new(const char *socket_dir, struct transients **ret)
{
	struct transients *all = calloc(1, sizeof(*all));
	char sentence[512];
	int r;

	if (!all)
		return -ENOMEM;
	if (asprintf(&all->path, "%s/" DIRECTORY, socket_dir) < 0) {
		free(all);
		return -ENOMEM;
	}
	all->dir = state_dir_open(all->path, sentence, sizeof(sentence));
	if (all->dir < 0)
		log_warning(0, "no transient units: %s", sentence);
	r = all->dir < 0 ? 0 : adopt(all);
	if (r == -ENOMEM) {
		transients_free(all);
		return r;
	}
	*ret = all;
	return 0;
}

struct transients *transients_free(struct transients *all)
{
	if (!all)
		return NULL;
	sd_event_source_disable_unref(all->sweep);
	while (all->list)
		forget(all, all->list);
	if (all->dir >= 0)
		close(all->dir);
	free(all->path);
	free(all);
	return NULL;
}

const char *transients_directory(const struct transients *all)
{
	return all->dir < 0 ? NULL : all->path;
}

/* ---- removing those that are over ---- */

static int reload(struct transients *all, const char *const *names, struct reload_report *report)
{
	const struct supd_now now = all->control->now(all->control->userdata);

	return manager_reload_only(all->control->manager, &now, names, report);
}

static void remove_one(struct transients *all, struct transient *t)
{
	const char *const names[] = { t->service, *t->timer ? t->timer : NULL, NULL };
	struct reload_report report = { 0 };
	int r;

	unlink_files(all, t);
	r = reload(all, names, &report);
	if (r < 0)
		log_unit(t->service, LOG_WARNING, r, "is over, and goes with the next reload");
	reload_report_done(&report);
	forget(all, t);
}

/* The row of a timer: will it never elapse again? */
static int note_over(void *userdata, const struct supd_row *row)
{
	bool *is_over = userdata;

	for (size_t i = 0; i < row->n; i++) {
		const struct supd_field *f = &row->field[i];

		if (str_equal(f->key, "state") && f->type == SUPD_STRING)
			*is_over = str_equal(f->value.string, "elapsed");
		if (str_equal(f->key, "retry") && f->type != SUPD_NULL) {
			*is_over = false;
			return 0;
		}
	}
	return 0;
}

static bool timer_is_over(struct transients *all, const struct transient *t)
{
	const struct supd_now now = all->control->now(all->control->userdata);
	bool is_over = false;

	(void) manager_table(all->control->manager, &now, "units", t->timer, note_over, &is_over);
	return is_over;
}

static bool is_over(struct transients *all, const struct transient *t)
{
	const struct unit *u = manager_unit(all->control->manager, t->service);

	if (u && (unit_is_active(u) || u->restart_wanted || u->is_queued))
		return false;
	return *t->timer ? timer_is_over(all, t) : !u || u->run;
}

static int on_sweep(sd_event_source *source _unused_, void *userdata)
{
	struct transients *all = userdata;
	struct transient *t, *next;

	if (manager_state(all->control->manager) == SUPD_MANAGER_STOPPING)
		return 0; /* what has a timer goes on with the next daemon */
	DL_FOREACH_SAFE(all->list, t, next)
		if (is_over(all, t))
			remove_one(all, t);
	return 0;
}

int transients_attach(struct transients *all, sd_event *event, struct supd_control *c)
{
	int r = sd_event_add_defer(event, &all->sweep, on_sweep, all);

	all->control = c;
	return r < 0 ? r : sd_event_source_set_enabled(all->sweep, SD_EVENT_OFF);
}

/* In a turn of its own, when everybody has been told. */
void transients_settled(struct supd_control *c, const struct unit *u)
{
	if (find(c->transients, u->name))
		(void) sd_event_source_set_enabled(c->transients->sweep, SD_EVENT_ONESHOT);
}

/* ---- making ---- */

static void refuse(struct supd_control *c, const struct control_request *q, int status,
		   const char *sentence)
{
	char message[512];

	(void) snprintf(message, sizeof(message), "%s: %s", q->unit, sentence);
	control_done(c->server, q->id, status, message);
}

static bool is_taken(struct supd_control *c, const char *unit)
{
	struct manager_plugin_unit known;

	return manager_unit(c->manager, unit) || manager_plugin_unit(c->manager, unit, &known) ||
	       c->world->unit_resolve(c->world->ctx, unit);
}

/* True: it is well so far, and *ret_timer the timer's name or "". */
static bool judge(struct supd_control *c, const struct control_request *q,
		  char ret_timer[UNIT_NAME_MAX + 1])
{
	bool has_timer = *q->timer_text != '\0';

	*ret_timer = '\0';
	if (unit_name_kind(q->unit) != UNIT_SERVICE || unit_name_is_template(q->unit) ||
	    unit_name_is_instance(q->unit)) {
		refuse(c, q, CONTROL_FAILED,
		       "that is not the name of a service that could be transient");
		return false;
	}
	if (has_timer && supd_control_no_timers(c, q->id))
		return false;
	if (has_timer && timer_of(q->unit, ret_timer) < 0) {
		refuse(c, q, CONTROL_FAILED, "the name is too long");
		return false;
	}
	if (is_taken(c, q->unit) || (has_timer && is_taken(c, ret_timer))) {
		refuse(c, q, CONTROL_FAILED,
		       "there is a unit of this name already (--unit= gives another)");
		return false;
	}
	if (c->transients->dir < 0)
		refuse(c, q, CONTROL_FAILED,
		       "supd has no directory for transient units; its log says why");
	return c->transients->dir >= 0;
}

static int write_files(struct transients *all, const struct transient *t,
		       const struct control_request *q)
{
	int r = atomic_file_write(all->dir, t->service, q->service_text, strlen(q->service_text));

	if (r >= 0 && *t->timer)
		r = atomic_file_write(all->dir, t->timer, q->timer_text, strlen(q->timer_text));
	return r;
}

static void send_problems(struct supd_control *c, uint64_t id, const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct arena arena = { 0 };
		struct report r = { .arena = &arena };

		report_problem(&r, &d->entry[i]);
		supd_control_row(c, id, &r);
		arena_done(&arena);
	}
}

/* 0; or it has been said what is wrong, and the files are gone by then. */
static int load(struct supd_control *c, const struct control_request *q, const struct transient *t)
{
	const char *const names[] = { t->service, *t->timer ? t->timer : NULL, NULL };
	struct reload_report report = { 0 };
	int r = reload(c->transients, names, &report);
	const struct unit *u = manager_unit(c->manager, t->service);

	if (r >= 0 && (!u || u->config->load != UNIT_LOADED))
		r = -ENOEXEC;
	if (r < 0)
		unlink_files(c->transients, t);
	send_problems(c, q->id, &report.mistakes);
	if (r == -EBADMSG)
		refuse(c, q, CONTROL_NO_UNIT, "not run, for what stands above");
	else if (r == -ENOEXEC)
		supd_control_refuse(c, q->id, q->unit, u ? MANAGER_UNSUPPORTED : MANAGER_NO_UNIT);
	else if (r < 0)
		refuse(c, q, CONTROL_FAILED, strerror(-r));
	else
		send_problems(c, q->id, &u->config->problems);
	/* Who waits for the end hears of them now. */
	if (r >= 0 && q->wait)
		control_flush(c->server, q->id);
	reload_report_done(&report);
	return r;
}

static void begin(struct supd_control *c, const struct control_request *q,
		  const struct transient *t)
{
	struct control_request start = *q;
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	if (!*t->timer) {
		start.verb = CONTROL_START;
		jobs_start(c, &start);
		return;
	}
	report_string(&r, "unit", t->timer);
	report_string(&r, "activates", t->service);
	supd_control_row(c, q->id, &r);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	arena_done(&arena);
}

void transients_run(struct supd_control *c, const struct control_request *q)
{
	struct transients *all = c->transients;
	char timer[UNIT_NAME_MAX + 1];
	const struct unit *u;
	struct transient *t;
	int r;

	if (!judge(c, q, timer))
		return;
	t = add(all, q->unit, timer);
	r = t ? write_files(all, t, q) : -ENOMEM;
	if (r < 0) {
		refuse(c, q, CONTROL_FAILED, strerror(-r));
		if (t) {
			unlink_files(all, t);
			forget(all, t);
		}
		return;
	}
	if (load(c, q, t) < 0) {
		remove_one(all, t);
		return;
	}
	begin(c, q, t);
	/* It may not have been begun at all. */
	t = find(all, q->unit);
	u = t ? manager_unit(c->manager, t->service) : NULL;
	if (t && !*t->timer && (!u || !u->run))
		remove_one(all, t);
}

bool transients_stop(struct supd_control *c, const struct control_request *q)
{
	struct transient *t = find(c->transients, q->unit);

	if (!t || !str_equal(t->timer, q->unit))
		return false;
	remove_one(c->transients, t);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	return true;
}
