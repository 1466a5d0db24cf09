/* SPDX-License-Identifier: MIT */
#include "run/world_linux.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "run/cgroup_control.h"
#include "run/checks.h"
#include "run/clock_watch.h"
#include "run/keeper.h"
#include "run/plugin_loader.h"
#include "run/runs.h"
#include "run/saver.h"
#include "run/scanner.h"
#include "run/zone_watch.h"
#include "store/atomic_file.h"
#include "store/unit_files.h"
#include "store/unit_links.h"

/* What comes first where several things have happened: that the clock was set, before an alarm that
 * it made due; what a job has printed, after its loop has done all else. */
#define PRIORITY_CLOCK (SD_EVENT_PRIORITY_IMPORTANT - 50)
#define PRIORITY_CHILD (SD_EVENT_PRIORITY_NORMAL - 10)
#define PRIORITY_SAVED (SD_EVENT_PRIORITY_NORMAL - 5)
#define PRIORITY_NOTIFY (SD_EVENT_PRIORITY_NORMAL + 20)
#define PRIORITY_OUTPUT (SD_EVENT_PRIORITY_IDLE)

#define OUTPUT_GRACE (10 * USEC_PER_SEC)
/* An alarm this late may be due only because the clock was set; the kernel says so within LATE_WAIT
 * ms. */
#define LATE (500 * USEC_PER_MSEC)
#define LATE_WAIT 10
#define GATE_FILE_MAX 16

struct alarm {
	struct world_linux *world;
	enum supd_clock clock;
	usec_t when;
	sd_event_source *source;
};

struct world_linux {
	sd_event *event;
	struct world_linux_config config;
	struct world_events events;
	struct world world;
	struct alarm alarm[SUPD_CLOCK_COUNT];
	struct clock_watch *clock_watch;
	struct zone_watch *zone_watch;
	struct keeper *keeper;
	struct checks *checks; /* made when the first is asked for */
	struct runs *runs;
	struct saver *saver;
	struct unit_files *unit_files;
	unsigned kinds; /* of the last scan that was asked for */
	struct scanner *scanner; /* made when the first is asked for */
	struct plugin_loader *plugins;
};

struct supd_now world_linux_now(struct world_linux *w)
{
	struct supd_now now = { 0 };

	(void) sd_event_now(w->event, CLOCK_REALTIME, &now.real);
	(void) sd_event_now(w->event, CLOCK_BOOTTIME, &now.boot);
	return now;
}

/* ---- clocks ---- */

static int on_alarm(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct alarm *a = userdata;
	struct world_linux *w = a->world;
	struct supd_now now = world_linux_now(w);

	(void) source;
	if (a->clock == SUPD_CLOCK_REALTIME && now.real > usec_add(usec, LATE) && w->clock_watch)
		clock_watch_check(w->clock_watch, LATE_WAIT);
	a->when = USEC_NEVER;
	/* Somebody may have asked for more time, and in time. */
	runs_listen(w->runs);
	w->events.wake(w->events.userdata, &now, a->clock);
	return 0;
}

static int world_arm(void *ctx, enum supd_clock clock, usec_t when)
{
	struct world_linux *w = ctx;
	struct alarm *a = &w->alarm[clock];
	int r;

	if (a->when == when)
		return 0;
	a->when = when;
	if (when == USEC_NEVER)
		return sd_event_source_set_enabled(a->source, SD_EVENT_OFF);
	r = sd_event_source_set_time(a->source, when);
	return r < 0 ? r : sd_event_source_set_enabled(a->source, SD_EVENT_ONESHOT);
}

static int alarm_init(struct world_linux *w, enum supd_clock clock)
{
	static const clockid_t id[] = {
		[SUPD_CLOCK_REALTIME] = CLOCK_REALTIME, [SUPD_CLOCK_BOOTTIME] = CLOCK_BOOTTIME
	};
	struct alarm *a = &w->alarm[clock];
	int r;

	_Static_assert(ELEMENTS(id) == SUPD_CLOCK_COUNT, "a clock without its number");
	*a = (struct alarm) { .world = w, .clock = clock, .when = USEC_NEVER };
	r = sd_event_add_time(w->event, &a->source, id[clock], 0, 1, on_alarm, a);
	return r < 0 ? r : sd_event_source_set_enabled(a->source, SD_EVENT_OFF);
}

static void on_clock_jump(void *userdata, int64_t delta)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.clock_jump(w->events.userdata, &now, delta);
}

static void on_zone_change(void *userdata)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.zone_change(w->events.userdata, &now);
}

/* ---- processes ---- */

static void on_checked(void *userdata, world_token token, enum condition_outcome outcome,
		       const char *unmet, int error)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.checked(w->events.userdata, &now, token, outcome, unmet, error);
}

static void on_spawned(void *userdata, world_token token, pid_t pid)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.spawned(w->events.userdata, &now, token, pid);
}

static void on_spawn_failed(void *userdata, world_token token, enum exec_step step, int error)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.spawn_failed(w->events.userdata, &now, token, step, error);
}

static usec_t cpu_time(const struct rusage *usage)
{
	return (usec_t) (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * USEC_PER_SEC +
	       (usec_t) (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* A child begins in the daemon's memory (vfork), and the kernel counts that peak as its own: only
 * what lies above the daemon's is known to be the child's. */
static uint64_t peak_memory(const struct rusage *child)
{
	struct rusage own;

	if (getrusage(RUSAGE_SELF, &own) < 0 || child->ru_maxrss <= own.ru_maxrss)
		return 0;
	return (uint64_t) child->ru_maxrss * 1024;
}

static void on_exited(void *userdata, world_token token, const struct child *child,
		      const struct cgroup_usage *usage)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);
	const struct process_end end = {
		.wstatus = child->wstatus,
		.cpu = cpu_time(&child->usage),
		/* What all had together, where that is known. */
		.peak_memory = usage->peak > 0 ? usage->peak : peak_memory(&child->usage),
		.oom_killed = usage->n_oom_kills > 0,
	};
	w->events.exited(w->events.userdata, &now, token, &end);
}

static void on_refused(void *userdata, world_token token, struct diag *refused)
{
	struct world_linux *w = userdata;

	if (w->events.refused)
		w->events.refused(w->events.userdata, token, refused);
}

static void on_notified(void *userdata, world_token token, const struct notification *said)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.notified(w->events.userdata, &now, token, said);
}

static void on_tree_empty(void *userdata, world_token token)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	w->events.tree_empty(w->events.userdata, &now, token);
}

static int world_check(void *ctx, world_token token, const char *unit,
		       const struct service_spec *spec)
{
	struct world_linux *w = ctx;
	const struct checks_listener listener = { .userdata = w, .checked = on_checked };
	int r = 0;

	(void) unit;
	/* Most daemons have no unit with conditions, and need no thread for them. */
	if (!w->checks)
		r = checks_new(w->event, PRIORITY_CHILD, w->config.environment, &listener,
			       &w->checks);
	return r < 0 ? r : checks_begin(w->checks, token, spec);
}

static int world_spawn(void *ctx, const struct spawn_request *request)
{
	struct world_linux *w = ctx;
	const struct barrier_wait after = saver_wait(w->saver, request->run->after);

	return runs_spawn(w->runs, request, &after);
}

static void world_cancel(void *ctx, world_token token)
{
	struct world_linux *w = ctx;

	runs_cancel(w->runs, token);
}

static int world_kill_main(void *ctx, world_token token, int signal)
{
	struct world_linux *w = ctx;

	return runs_kill_main(w->runs, token, signal);
}

static int world_kill_tree(void *ctx, world_token token, int signal, bool spare_main)
{
	struct world_linux *w = ctx;

	return runs_kill_tree(w->runs, token, signal, spare_main);
}

static int world_watch_tree(void *ctx, world_token token)
{
	struct world_linux *w = ctx;

	return runs_watch_tree(w->runs, token);
}

static char *world_last_words(void *ctx, world_token token, size_t *ret_n)
{
	struct world_linux *w = ctx;

	return runs_last_words(w->runs, token, ret_n);
}

static void world_release(void *ctx, world_token token, bool restarts)
{
	struct world_linux *w = ctx;

	if (w->checks)
		checks_release(w->checks, token);
	runs_release(w->runs, token, restarts);
}

/* ---- units ---- */

static int world_scan_units(void *ctx, unsigned kinds, struct diag *d)
{
	struct world_linux *w = ctx;

	w->kinds = kinds;
	return unit_files_scan(w->unit_files, kinds, d);
}

static int world_scan_only(void *ctx, unsigned kinds, const char *const *names, struct diag *d)
{
	struct world_linux *w = ctx;

	w->kinds = kinds;
	return unit_files_scan_only(w->unit_files, kinds, names, d);
}

int world_linux_look_ahead(struct world_linux *w, void (*done)(void *userdata), void *userdata)
{
	int r = w->scanner ? 0 : scanner_new(w->event, PRIORITY_SAVED, w->unit_files, &w->scanner);

	return r < 0 ? r : scanner_begin(w->scanner, w->kinds, done, userdata);
}

static uint64_t world_units_revision(void *ctx)
{
	struct world_linux *w = ctx;

	return unit_files_revision(w->unit_files);
}

static const char *world_unit_name(void *ctx, size_t i)
{
	struct world_linux *w = ctx;

	return unit_files_name(w->unit_files, i);
}

static uint64_t world_unit_fingerprint(void *ctx, const char *name)
{
	struct world_linux *w = ctx;

	return unit_files_fingerprint(w->unit_files, name);
}

static const char *world_unit_resolve(void *ctx, const char *name)
{
	struct world_linux *w = ctx;

	return unit_files_resolve(w->unit_files, name);
}

static int world_read_unit(void *ctx, const char *name, struct unit_source *ret)
{
	struct world_linux *w = ctx;

	return unit_files_read(w->unit_files, name, ret);
}

/* Where an admin's word is written; NULL, with a sentence, if there is no such place. */
static const char *admin_dir(struct world_linux *w, bool runtime, char *reterr, size_t n)
{
	const char *const *dir = w->config.unit_dirs;

	if (!runtime)
		return dir[0];
	for (; *dir; dir++)
		if (str_starts(*dir, "/run/") ||
		    (w->config.runtime_unit_dir && str_equal(*dir, w->config.runtime_unit_dir)))
			return *dir;
	(void) snprintf(reterr, n, "%s is not in the unit path, so there is no place for --runtime",
			w->config.runtime_unit_dir ? w->config.runtime_unit_dir
						   : "a runtime directory");
	return NULL;
}

/* Does a directory below the first one want it all the same? */
static bool is_still_wanted(struct world_linux *w, const char *name)
{
	struct unit_source source = { 0 };
	struct diag d = { 0 };
	bool wanted = false;

	if (unit_files_scan(w->unit_files, w->kinds | 1u << UNIT_SERVICE, &d) >= 0 &&
	    unit_files_read(w->unit_files, name, &source) >= 0)
		wanted = source.is_wanted;
	unit_source_done(&source);
	diag_done(&d);
	return wanted;
}

static int disable_unit(struct world_linux *w, const char *dir, const struct unit_change *c)
{
	int r, changed = unit_links_remove(dir, c->unit);

	if (changed < 0)
		return changed;
	r = c->section ? unit_links_dropin(dir, c->unit, c->section, false)
		       : unit_links_no_dropin(dir, c->unit);
	if (r < 0)
		return r;
	changed |= r;
	if (!c->runtime && c->off_dir && is_still_wanted(w, c->unit)) {
		r = unit_links_off(dir, c->off_dir, c->unit);
		changed |= r;
	}
	return r < 0 ? r : changed;
}

static int make_links(const char *dir, const struct unit_change *c, char *reterr, size_t n)
{
	int changed = 0;

	for (size_t i = 0; i < c->n_links; i++) {
		const struct unit_link *link = &c->link[i];
		int r = unit_links_put(dir, link->dir, link->name, link->target);

		if (r == -EEXIST)
			(void) snprintf(reterr, n, "%s%s%s/%s is in the way", dir,
					*link->dir ? "/" : "", link->dir, link->name);
		if (r < 0)
			return r;
		changed |= r;
	}
	return changed;
}

static int enable_unit(const char *dir, const struct unit_change *c, char *reterr, size_t n)
{
	int r, changed = make_links(dir, c, reterr, n);

	if (changed < 0)
		return changed;
	if (c->off_dir) {
		r = unit_links_no_longer_off(dir, c->off_dir, c->unit);
		if (r < 0)
			return r;
		changed |= r;
	}
	r = c->section ? unit_links_dropin(dir, c->unit, c->section, true)
		       : unit_links_no_dropin(dir, c->unit);
	return r < 0 ? r : changed | r;
}

/* Where it was, unless there is a sentence on it. */
static int fail_in(const char *dir, int r, char *reterr, size_t n)
{
	if (r < 0 && !*reterr)
		(void) snprintf(reterr, n, "%s cannot be changed: %s", dir, strerror(-r));
	return r;
}

static int world_enable_unit(void *ctx, const struct unit_change *change, char *reterr, size_t n)
{
	struct world_linux *w = ctx;
	const char *dir = admin_dir(w, change->runtime, reterr, n);
	int r;

	if (!dir)
		return -ENOTSUP;
	*reterr = '\0';
	r = change->enable ? enable_unit(dir, change, reterr, n) : disable_unit(w, dir, change);
	return fail_in(dir, r, reterr, n);
}

/* A file of that name in a directory above @dir: what is written in @dir counts for nothing
 * then. */
static bool is_outweighed(struct world_linux *w, const char *dir, const char *name, char *reterr,
			  size_t n)
{
	struct stat st;

	for (const char *const *above = w->config.unit_dirs; !str_equal(*above, dir); above++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%s", *above, name) < 0)
			path = NULL;
		if (!path || lstat(path, &st) < 0)
			continue;
		(void) snprintf(reterr, n, "%s would outweigh it", path);
		return true;
	}
	return false;
}

static int world_mask_unit(void *ctx, const char *name, bool mask, bool runtime, char *reterr,
			   size_t n)
{
	struct world_linux *w = ctx;
	const char *dir = admin_dir(w, runtime, reterr, n);
	int r;

	if (!dir)
		return -ENOTSUP;
	*reterr = '\0';
	if (!mask)
		return fail_in(dir, unit_links_unmask(dir, name), reterr, n);
	if (is_outweighed(w, dir, name, reterr, n))
		return -EEXIST;
	r = unit_links_mask(dir, name);
	if (r == -EEXIST)
		(void) snprintf(reterr, n,
				"%s/%s is there, and is not replaced; move it away first", dir,
				name);
	return fail_in(dir, r, reterr, n);
}

/* ---- state ---- */

static void on_saved(void *userdata, const char *plugin, uint64_t ticket, int result)
{
	struct world_linux *w = userdata;
	struct supd_now now = world_linux_now(w);

	runs_look(w->runs);
	w->events.saved(w->events.userdata, &now, plugin, ticket, result);
}

static int world_save(void *ctx, const char *plugin, uint64_t ticket, const void *bytes, size_t n)
{
	struct world_linux *w = ctx;

	return saver_save(w->saver, plugin, ticket, bytes, n);
}

static int world_append(void *ctx, const char *plugin, uint64_t ticket, const void *bytes, size_t n)
{
	struct world_linux *w = ctx;

	return saver_append(w->saver, plugin, ticket, bytes, n);
}

static int world_save_now(void *ctx, const char *plugin, const void *bytes, size_t n)
{
	struct world_linux *w = ctx;
	int r = saver_save_now(w->saver, plugin, bytes, n);

	runs_look(w->runs);
	return r;
}

static int world_load(void *ctx, const char *plugin, unsigned generation, void **ret, size_t *ret_n)
{
	struct world_linux *w = ctx;

	return saver_load(w->saver, plugin, generation, ret, ret_n);
}

static int world_set_aside(void *ctx, const char *plugin, char *ret_name, size_t n)
{
	struct world_linux *w = ctx;

	return saver_set_aside(w->saver, plugin, ret_name, n);
}

/* experimental-timers, "yes" or "no". Whatever else stands there is no word of ours: the gate fails
 * closed. */
static int gate_name(struct world_linux *w, const char *name, char *buf, size_t n)
{
	if (w->config.state_dir < 0)
		return -EROFS;
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz-") != strlen(name))
		return -EINVAL;
	return snprintf(buf, n, "experimental-%s", name) < (int) n ? 0 : -ENAMETOOLONG;
}

/* What was kept and cannot be read is told here once; the gate has a reason of its own. */
static int gate_unreadable(const char *file, int r)
{
	if (r != -ENOENT)
		log_warning(r == -EBADMSG ? 0 : r, "%s in the state directory %s", file,
			    r == -EBADMSG ? "is neither 'yes' nor 'no', and counts as no"
					  : "cannot be read, and counts as no");
	return r;
}

static int world_gate_load(void *ctx, const char *name, bool *ret)
{
	struct world_linux *w = ctx;
	_cleanup_free_ void *bytes = NULL;
	char file[64];
	size_t n;
	int r;

	r = gate_name(w, name, file, sizeof(file));
	if (r == -EROFS)
		return -ENOENT;
	if (r >= 0)
		r = atomic_file_read(w->config.state_dir, file, 0, GATE_FILE_MAX, &bytes, &n);
	if (r < 0)
		return gate_unreadable(file, r);
	if (n == strlen("yes\n") && memcmp(bytes, "yes\n", n) == 0)
		*ret = true;
	else if (n == strlen("no\n") && memcmp(bytes, "no\n", n) == 0)
		*ret = false;
	else
		return gate_unreadable(file, -EBADMSG);
	return 0;
}

static int world_gate_save(void *ctx, const char *name, bool on)
{
	struct world_linux *w = ctx;
	const char *word = on ? "yes\n" : "no\n";
	char file[64];
	int r;

	r = gate_name(w, name, file, sizeof(file));
	if (r < 0)
		return r;
	saver_settle(w->saver);
	return atomic_file_write(w->config.state_dir, file, word, strlen(word));
}

/* ---- the rest ---- */

static int world_plugin_open(void *ctx, const char *name, const struct supd_plugin **ret,
			     char *reterr, size_t n)
{
	struct world_linux *w = ctx;

	return plugin_loader_open(w->plugins, name, ret, reterr, n);
}

static uint64_t world_random(void *ctx)
{
	uint64_t x = 0;

	(void) ctx;
	/* Early in a machine's life it may be less than random, but never waits. */
	if (getrandom(&x, sizeof(x), 0) != sizeof(x))
		(void) getrandom(&x, sizeof(x), GRND_INSECURE);
	return x;
}

static void world_manager_state(void *ctx, enum supd_manager_state state)
{
	struct world_linux *w = ctx;

	/* The last save is waited for, and would let them go just to be ended again. */
	if (state == SUPD_MANAGER_STOPPING)
		runs_call_back(w->runs);
	daemon_tell_state(state);
	if (state == SUPD_MANAGER_ENDED)
		(void) sd_event_exit(w->event, 0);
}

/* ---- its life ---- */

static void fill_table(struct world_linux *w)
{
	w->world = (struct world) {
		.ctx = w,
		.arm = world_arm,
		.check = world_check,
		.spawn = world_spawn,
		.cancel = world_cancel,
		.kill_main = world_kill_main,
		.kill_tree = world_kill_tree,
		.watch_tree = world_watch_tree,
		.last_words = world_last_words,
		.release = world_release,
		.scan_units = world_scan_units,
		.scan_only = world_scan_only,
		.units_revision = world_units_revision,
		.unit_name = world_unit_name,
		.unit_fingerprint = world_unit_fingerprint,
		.unit_resolve = world_unit_resolve,
		.read_unit = world_read_unit,
		.enable_unit = world_enable_unit,
		.mask_unit = world_mask_unit,
		.save = world_save,
		.save_now = world_save_now,
		.append = world_append,
		.load = world_load,
		.set_aside = world_set_aside,
		.gate_load = world_gate_load,
		.gate_save = world_gate_save,
		.plugin_open = world_plugin_open,
		.random = world_random,
		.manager_state = world_manager_state,
	};
}

static int open_runs(struct world_linux *w)
{
	const struct daemon_inheritance *i = w->config.inheritance;
	struct runs_config config = {
		.spawn = {
			.is_system = w->config.is_system,
			.environment = w->config.environment,
			.notify_socket = w->config.notify_socket,
			.parent_death_signal = SIGKILL,
		},
		.priority_child = PRIORITY_CHILD,
		.priority_output = PRIORITY_OUTPUT,
		.priority_notify = PRIORITY_NOTIFY,
		.output_grace = w->config.output_grace ? w->config.output_grace : OUTPUT_GRACE,
		.forwards_output = w->config.forwards_output,
		.without_cgroup = w->config.without_cgroup,
		/* With PID 1 everything goes. */
		.without_guard = w->config.without_guard || getpid() == 1,
	};
	struct runs_listener listener = {
		.userdata = w,
		.spawned = on_spawned,
		.spawn_failed = on_spawn_failed,
		.exited = on_exited,
		.refused = on_refused,
		.notified = on_notified,
		.tree_empty = on_tree_empty,
	};

	if (i) {
		config.spawn.has_nofile = i->has_nofile;
		config.spawn.nofile = i->nofile;
		config.title = i->title;
		config.title_size = i->title_size;
	}
	return runs_new(w->event, &config, &listener, &w->runs);
}

/* Services run without it, too. */
static void open_keeper(struct world_linux *w)
{
	const struct run_log_limits *limits = &w->config.output_limits;
	int r;

	if (limits->per_run == 0 || limits->per_unit == 0 || w->config.state_dir < 0)
		return;
	r = keeper_new(w->event, PRIORITY_SAVED, w->config.state_dir, limits, &w->keeper);
	if (r < 0)
		log_warning(r, "what services print cannot be kept");
	else
		runs_keep(w->runs, w->keeper);
}

static int open_unit_files(struct world_linux *w)
{
	static const char *const none[] = { NULL };
	struct unit_files_config config = {
		.dirs = w->config.unit_dirs,
		.systemd_dirs = w->config.systemd_dirs ? w->config.systemd_dirs : none,
		.runtime_dir = w->config.runtime_unit_dir,
		.trusted_only = geteuid() == 0,
	};

	return unit_files_new(&config, &w->unit_files);
}

static const char *environment_get(const char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; environment && *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

/* Both are a convenience: a daemon that sees neither still runs. */
static void open_watches(struct world_linux *w)
{
	int r;

	r = clock_watch_new(w->event, PRIORITY_CLOCK, on_clock_jump, w, &w->clock_watch);
	if (r < 0)
		log_warning(r, "changes of the clock are not seen");
	r = zone_watch_new(w->event, environment_get(w->config.environment, "TZ"),
			   w->config.localtime, on_zone_change, w, &w->zone_watch);
	if (r < 0)
		log_warning(r, "changes of the time zone are not seen");
}

int world_linux_new(sd_event *event, const struct world_linux_config *config,
		    const struct world_events *events, struct world_linux **ret)
{
	struct world_linux *w = calloc(1, sizeof(*w));
	int r = 0;

	if (!w)
		return -ENOMEM;
	w->event = sd_event_ref(event);
	w->config = *config;
	w->events = *events;
	fill_table(w);
	for (unsigned clock = 0; r >= 0 && clock < SUPD_CLOCK_COUNT; clock++)
		r = alarm_init(w, (enum supd_clock) clock);
	if (r >= 0)
		r = open_runs(w);
	if (r >= 0)
		r = saver_new(event, PRIORITY_SAVED, config->state_dir, on_saved, w, &w->saver);
	if (r >= 0)
		r = open_unit_files(w);
	if (r >= 0)
		r = plugin_loader_new(config->plugin_dir, &w->plugins);
	if (r < 0) {
		world_linux_free(w);
		return r;
	}
	open_keeper(w);
	open_watches(w);
	*ret = w;
	return 0;
}

struct world_linux *world_linux_free(struct world_linux *w)
{
	if (!w)
		return NULL;
	zone_watch_free(w->zone_watch);
	clock_watch_free(w->clock_watch);
	for (size_t i = 0; i < ELEMENTS(w->alarm); i++)
		sd_event_source_disable_unref(w->alarm[i].source);
	checks_free(w->checks);
	runs_free(w->runs);
	keeper_free(w->keeper);
	saver_free(w->saver);
	/* A thread that hangs on a dead mount still looks at them. */
	if (scanner_free(w->scanner))
		unit_files_free(w->unit_files);
	plugin_loader_free(w->plugins);
	sd_event_unref(w->event);
	free(w);
	return NULL;
}

const struct world *world_linux_world(struct world_linux *w)
{
	return &w->world;
}

struct unit_files *world_linux_unit_files(struct world_linux *w)
{
	return w->unit_files;
}

struct keeper *world_linux_keeper(struct world_linux *w)
{
	return w->keeper;
}

int world_linux_describe(struct world_linux *w, const struct spawn_request *request,
			 runs_described_fn *fn, void *userdata)
{
	return runs_describe(w->runs, request, fn, userdata);
}
