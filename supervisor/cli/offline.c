/* SPDX-License-Identifier: MIT */
#include "cli/offline.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "store/unit_files.h"

void offline_init(struct offline *o)
{
	*o = (struct offline) { .options = { .is_user = geteuid() != 0 } };
}

void offline_done(struct offline *o, const struct supd_now *now)
{
	if (o->manager)
		manager_shutdown(o->manager, now, NULL);
	manager_free(o->manager);
	unit_files_free(o->files);
	surroundings_done(&o->surroundings);
	settings_done(&o->settings);
	arena_done(&o->arena);
}

int offline_option(struct offline *o, int key, const char *value)
{
	int r = 0;

	switch (key) {
	case OFFLINE_CONFIG:
		o->options.config_file = settings_absolute(value, &o->arena);
		r = o->options.config_file ? 0 : -ENOMEM;
		break;
	case OFFLINE_SYSTEM:
		o->options.is_user = false;
		break;
	case OFFLINE_SYSTEMD_UNIT_PATH:
		r = settings_add_paths(value, &o->arena, &o->options.systemd_unit_path);
		break;
	case OFFLINE_UNIT_PATH:
		r = settings_add_paths(value, &o->arena, &o->options.unit_path);
		break;
	case OFFLINE_USER:
		o->options.is_user = true;
		break;
	default:
		return 0;
	}
	return r < 0 ? r : 1;
}

int offline_settings(struct offline *o, struct diag *d)
{
	return settings_load(&o->options, &o->settings, d);
}

int offline_open(struct offline *o, const char *const *dirs, bool trusted_only)
{
	const struct unit_files_config files = {
		.dirs = dirs ? dirs : o->settings.unit_path,
		.systemd_dirs = o->settings.systemd_unit_path,
		.trusted_only = trusted_only,
	};
	int r = surroundings_look(o->options.is_user, &o->surroundings);

	return r < 0 ? r : unit_files_new(&files, &o->files);
}

static const char *setting(void *userdata, const char *key)
{
	const struct offline *o = userdata;

	return config_setting(&o->settings.config, key);
}

int offline_load(struct offline *o, const struct world *world, const struct supd_start_info *info,
		 struct diag *d)
{
	int r;

	o->config = (struct manager_config) {
		.info = *info,
		.gate_forced = ENABLE_TIMER,
		.specifiers = &o->surroundings.specifiers,
		.setting = setting,
		.userdata = o,
	};
	r = manager_new(world, &o->config, &o->manager);
	return r < 0 ? r : manager_load(o->manager, d);
}

struct supd_now offline_clocks(void)
{
	struct timespec real, boot;

	(void) clock_gettime(CLOCK_REALTIME, &real);
	(void) clock_gettime(CLOCK_BOOTTIME, &boot);
	return (struct supd_now) {
		.real = (usec_t) real.tv_sec * USEC_PER_SEC + (usec_t) real.tv_nsec / NSEC_PER_USEC,
		.boot = (usec_t) boot.tv_sec * USEC_PER_SEC + (usec_t) boot.tv_nsec / NSEC_PER_USEC,
	};
}
