/* SPDX-License-Identifier: MIT */
/* The daemon: puts the layers together, and takes them apart again. */
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/values.h"
#include "control/server.h"
#include "core/manager.h"
#include "core/unit.h"
#include "run/daemon.h"
#include "run/history_keeper.h"
#include "run/log_sink.h"
#include "run/world_linux.h"
#include "daemon/settings.h"
#include "daemon/supd_control.h"
#include "daemon/supd_history.h"
#include "daemon/supd_log.h"
#include "daemon/supd_options.h"
#include "daemon/supd_places.h"
#include "daemon/supd_transient.h"
#include "daemon/supd_wire.h"
#include "daemon/surroundings.h"

struct supd {
	struct options options;
	struct settings settings;
	struct surroundings surroundings;
	struct daemon_inheritance inheritance;
	struct log_sink *sink;
	gid_t read_group;
	struct places places;
	struct transients *transients;
	const char *const *unit_dirs; /* the unit path, and the transient ones last */
	sd_event *event;
	struct history_keeper *history;
	struct world_linux *outside;
	struct world world;
	struct manager_config manager_config;
	struct manager *manager;
	struct supd_wire wire;
	struct supd_control control;
	struct daemon_signals *signals;
};

/* ---- supd.conf and the log ---- */

/* @plainly: to somebody who sits there and asked. */
static void say_mistakes(const struct diag *d, bool plainly)
{
	for (size_t i = 0; i < d->n; i++) {
		_cleanup_free_ char *line = diag_format(&d->entry[i]);

		if (plainly)
			(void) fprintf(stderr, "%s\n", line ? line : d->entry[i].message);
		else
			log_unit(NULL, d->entry[i].severity == DIAG_ERROR ? LOG_ERR : LOG_WARNING,
				 0, "%s", line ? line : d->entry[i].message);
	}
}

/* A group that is misspelt must not open the door to anybody. */
static void find_read_group(struct supd *s, struct diag *d)
{
	const char *name = s->settings.config.read_group;
	const struct group *g;

	if (s->settings.config.read_access != CONFIG_READ_GROUP)
		return;
	g = getgrnam(name);
	if (g)
		s->read_group = g->gr_gid;
	else
		diag_add(d, DIAG_ERROR, NULL, 0, "ReadAccess",
			 "ReadAccess=group:%s: there is no such group", name);
}

static int open_log(struct supd *s)
{
	int format = s->options.log_format >= 0 ? s->options.log_format
						: (int) s->settings.config.log_format;
	const struct log_sink_config config = {
		.fd = STDERR_FILENO,
		.format = format == CONFIG_LOG_JSON ? LOG_JSON : LOG_TEXT,
		.journal_stream = format == CONFIG_LOG_AUTO ? getenv("JOURNAL_STREAM") : NULL,
	};
	int r = log_sink_new(&config, &s->sink);

	if (r < 0)
		return r;
	log_set_sink(log_sink_write, s->sink);
	log_set_level(s->options.log_level >= 0 ? s->options.log_level
						: s->settings.config.log_level);
	return 0;
}

static int read_settings(struct supd *s)
{
	struct diag d = { 0 };
	int r = settings_load(&s->options.settings, &s->settings, &d);

	if (r >= 0)
		find_read_group(s, &d);
	if (open_log(s) < 0)
		return -ENOMEM;
	say_mistakes(&d, s->options.is_check);
	if (r == -ENOENT)
		log_error(0, "your home directory is not known: set HOME");
	else if (r < 0)
		log_error(r, "supd.conf cannot be read");
	else if (d.n_errors > 0) {
		r = -EBADMSG;
		if (!s->options.is_check)
			log_error(0, "supd.conf has %u mistake%s; nothing is started", d.n_errors,
				  d.n_errors == 1 ? "" : "s");
	}
	diag_done(&d);
	return r;
}

/* ---- plugins ---- */

#if !ENABLE_TIMER
static int no_plugin(void *ctx, const char *name, const struct supd_plugin **ret, char *reterr,
		     size_t n)
{
	(void) ctx;
	(void) ret;
	(void) snprintf(reterr, n, "this supd was built without the plugin '%s'", name);
	return -ENOENT;
}
#endif

static struct supd_now now_of(void *userdata)
{
	struct supd *s = userdata;

	return world_linux_now(s->outside);
}

/* ---- signals ---- */

static void kill_everything(struct supd *s)
{
	struct unit *u;

	for (size_t i = 0; (u = manager_unit_at(s->manager, i)); i++)
		if (u->token != 0)
			(void) s->world.kill_tree(s->world.ctx, u->token, SIGKILL, false);
}

static void on_stop(void *userdata, int signal, bool again, bool hurry)
{
	struct supd *s = userdata;
	const struct supd_now now = world_linux_now(s->outside);
	char name[16], why[24];

	if (hurry) {
		log_warning(0, "interrupted once more: what still runs is killed");
		kill_everything(s);
		return;
	}
	if (again) {
		log_notice("stopping already; a second SIGINT kills what still runs");
		return;
	}
	(void) snprintf(why, sizeof(why), "SIG%s", value_signal_name(signal, name));
	manager_shutdown(s->manager, &now, why);
	jobs_timers_changed(&s->control);
}

static void on_reload(void *userdata)
{
	struct supd *s = userdata;

	reloads_hup(&s->control);
}

/* ---- putting it together ---- */

static int make_world(struct supd *s)
{
	const struct world_linux_config config = {
		.is_system = !s->options.settings.is_user,
		.unit_dirs = s->unit_dirs,
		.runtime_unit_dir = s->settings.runtime_unit_dir,
		.systemd_dirs = s->settings.systemd_unit_path,
		.state_dir = s->places.state_dir,
		.plugin_dir = s->places.plugin_dir,
		.output_limits = {
			.per_run = s->settings.config.output_max_per_run,
			.per_unit = s->settings.config.output_max_per_unit,
			.max_age = s->settings.config.output_max_age,
		},
		.forwards_output = s->settings.config.forward_output,
		.notify_socket = s->places.notify_socket,
		.environment = (const char *const *) environ,
		.inheritance = &s->inheritance,
	};
	struct world_events events;
	int r;

	s->wire.control = &s->control;
	supd_wire_events(&s->wire, &events);
	r = world_linux_new(s->event, &config, &events, &s->outside);
	if (r < 0)
		return r;
	s->world = *world_linux_world(s->outside);
#if !ENABLE_TIMER
	s->world.plugin_open = no_plugin;
#endif
	return 0;
}

static const char *setting(void *userdata, const char *key)
{
	const struct supd *s = userdata;

	return config_setting(&s->settings.config, key);
}

static void fill_manager_config(struct supd *s)
{
	struct supd_start_info *info = &s->manager_config.info;

	s->manager_config = (struct manager_config) {
		.gate_configured = s->settings.config.timers,
		.gate_forced = s->options.timers,
		.specifiers = &s->surroundings.specifiers,
		.setting = setting,
		.userdata = s,
	};
	*info = (struct supd_start_info) {
		.size = sizeof(*info),
		.daemon_since = world_linux_now(s->outside),
		.is_container = s->surroundings.is_container,
		.clock_epoch = CLOCK_EPOCH,
	};
	memcpy(info->daemon_id, s->surroundings.daemon_id, sizeof(info->daemon_id));
	memcpy(info->machine_id, s->surroundings.machine_id, sizeof(info->machine_id));
	memcpy(info->boot_id, s->surroundings.boot_id, sizeof(info->boot_id));
}

static int make_manager(struct supd *s)
{
	struct manager_observer observer;
	struct diag d = { 0 };
	int r;

	fill_manager_config(s);
	r = manager_new(&s->world, &s->manager_config, &s->manager);
	if (r < 0)
		return r;
	s->wire.manager = s->manager;
	supd_wire_observer(&s->wire, &observer);
	manager_observe(s->manager, &observer);
	r = manager_load(s->manager, &d);
	say_mistakes(&d, false);
	diag_done(&d);
	if (r >= 0)
		supd_log_units(s->manager);
	return r;
}

static enum control_access read_access(enum config_read_access a)
{
	switch (a) {
	case CONFIG_READ_ALL:
		return CONTROL_READ_ALL;
	case CONFIG_READ_GROUP:
		return CONTROL_READ_GROUP;
	case CONFIG_READ_NONE:
		return CONTROL_READ_NONE;
	}
	return CONTROL_READ_NONE;
}

static int listen_for_questions(struct supd *s)
{
	const struct control_config config = {
		.directory = s->places.socket_dir,
		.read_access = read_access(s->settings.config.read_access),
		.read_group = s->read_group,
		.ask = supd_control_ask,
		.userdata = &s->control,
	};

	int r;

	s->control = (struct supd_control) {
		.manager = s->manager,
		.world = &s->world,
		.outside = s->outside,
		.transients = s->transients,
		.history = s->history,
		.now = now_of,
		.userdata = s,
		.started = s->manager_config.info.daemon_since,
		.keeper = world_linux_keeper(s->outside),
		.event = s->event,
	};
	logs_listen(&s->control);
	r = transients_attach(s->transients, s->event, &s->control);
	return r < 0 ? r : control_server_new(s->event, &config, &s->control.server);
}

static int listen_for_signals(struct supd *s)
{
	const struct daemon_signals_listener listener = { .userdata = s,
							  .stop = on_stop,
							  .reload = on_reload };

	return daemon_signals_new(s->event, &listener, &s->signals);
}

static int make_loop(struct supd *s)
{
	int r = sd_event_new(&s->event);

	if (r >= 0)
		r = log_sink_attach(s->sink, s->event);
	if (r >= 0)
		r = daemon_watchdog(s->event);
	return r;
}

static int open_places(struct supd *s)
{
	return places_open(&s->settings, s->options.plugin_dir, &s->places);
}

static int open_history(struct supd *s)
{
	return supd_history_open(s->event, &s->settings, &s->places, &s->history);
}

static int open_transients(struct supd *s)
{
	const char *const *path = s->settings.unit_path;
	const char **dirs;
	size_t n = 0;
	int r = transients_new(s->places.socket_dir, &s->transients);

	if (r < 0)
		return r;
	while (path[n])
		n++;
	dirs = arena_alloc(&s->settings.arena, (n + 2) * sizeof(*dirs));
	if (!dirs)
		return -ENOMEM;
	memcpy(dirs, path, n * sizeof(*dirs));
	dirs[n] = transients_directory(s->transients);
	s->unit_dirs = dirs;
	return 0;
}

static int look_around(struct supd *s)
{
	return surroundings_look(s->options.settings.is_user, &s->surroundings);
}

/* In this order; taken back in the opposite one by supd_done(). Those without a name speak for
 * themselves. */
static const struct {
	const char *what;
	int (*step)(struct supd *s);
} steps[] = {
	{ NULL, open_places },
	{ "transient units", open_transients },
	{ "looking around", look_around },
	{ "the event loop", make_loop },
	{ "processes and files", make_world },
	{ "the history", open_history },
	{ "units", make_manager },
	{ "the control socket", listen_for_questions },
	{ "signals", listen_for_signals },
};

static int start(struct supd *s)
{
	for (size_t i = 0; i < ELEMENTS(steps); i++) {
		int r = steps[i].step(s);

		if (r < 0 && steps[i].what)
			log_error(r, "supd cannot start: %s", steps[i].what);
		if (r < 0)
			return r;
	}
	return 0;
}

static int run(struct supd *s)
{
	const struct supd_now now = world_linux_now(s->outside);
	int r;

	log_notice("supd %s started, pid %d", PACKAGE_VERSION, (int) getpid());
	daemon_tell_state(SUPD_MANAGER_STARTING);
	manager_begin(s->manager, &now);
	r = daemon_loop(s->event);
	if (r < 0)
		log_error(r, "the event loop failed");
	return r;
}

static void supd_done(struct supd *s)
{
	daemon_signals_free(s->signals);
	control_server_free(s->control.server);
	jobs_done(&s->control.jobs);
	reloads_done(&s->control.reloads);
	logs_done(&s->control.logs);
	events_done(&s->control.events);
	transients_free(s->transients);
	manager_free(s->manager);
	events_done(&s->control.events); /* what happened meanwhile */
	history_keeper_free(s->history);
	world_linux_free(s->outside);
	if (s->sink)
		log_sink_detach(s->sink);
	sd_event_unref(s->event);
	surroundings_done(&s->surroundings);
	places_done(&s->places);
	settings_done(&s->settings);
	log_set_sink(NULL, NULL);
	log_sink_free(s->sink);
	options_done(&s->options);
}

static int go(struct supd *s)
{
	int r = read_settings(s);

	if (r < 0 || s->options.is_check)
		return r;
	r = start(s);
	return r < 0 ? r : run(s);
}

int main(int argc, char **argv)
{
	struct supd s = { .places = PLACES_NONE };
	enum options_verdict v;
	int r = daemon_prepare(argc, argv, &s.inheritance);

	if (r < 0) {
		(void) fprintf(stderr, "supd cannot start: %s\n", strerror(-r));
		return EXIT_FAILURE;
	}
	v = options_parse(argc, argv, geteuid() == 0, &s.options);
	r = v == OPTIONS_GO_ON ? go(&s) : 0;
	supd_done(&s);
	return v != OPTIONS_GO_ON ? (int) v : r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
