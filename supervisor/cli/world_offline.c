/* SPDX-License-Identifier: MIT */
#include "cli/world_offline.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "store/unit_files.h"

/* ---- what does not happen here ---- */

static int no_arm(void *ctx _unused_, enum supd_clock clock _unused_, usec_t when _unused_)
{
	return 0;
}

static int no_check(void *ctx _unused_, world_token token _unused_, const char *unit _unused_,
		    const struct service_spec *spec _unused_)
{
	return -EPERM;
}

static int no_spawn(void *ctx _unused_, const struct spawn_request *request _unused_)
{
	return -EPERM;
}

static int no_kill_main(void *ctx _unused_, world_token token _unused_, int signal _unused_)
{
	return -ESRCH;
}

static int no_kill_tree(void *ctx _unused_, world_token token _unused_, int signal _unused_,
			bool spare_main _unused_)
{
	return -ESRCH;
}

static int no_watch_tree(void *ctx _unused_, world_token token _unused_)
{
	return -ESRCH;
}

static void no_release(void *ctx _unused_, world_token token _unused_, bool restarts _unused_)
{
}

static int no_enable_unit(void *ctx _unused_, const struct unit_change *change _unused_,
			  char *reterr _unused_, size_t n _unused_)
{
	return -EROFS;
}

static int no_mask_unit(void *ctx _unused_, const char *name _unused_, bool mask _unused_,
			bool runtime _unused_, char *reterr _unused_, size_t n _unused_)
{
	return -EROFS;
}

static int no_save(void *ctx _unused_, const char *plugin _unused_, uint64_t ticket _unused_,
		   const void *bytes _unused_, size_t n _unused_)
{
	return -EROFS;
}

static int no_save_now(void *ctx _unused_, const char *plugin _unused_, const void *bytes _unused_,
		       size_t n _unused_)
{
	return -EROFS;
}

static int no_load(void *ctx _unused_, const char *plugin _unused_, unsigned generation _unused_,
		   void **ret _unused_, size_t *ret_n _unused_)
{
	return -ENOENT;
}

static int no_set_aside(void *ctx _unused_, const char *plugin _unused_, char *ret_name _unused_,
			size_t n _unused_)
{
	return -EROFS;
}

static int no_gate_load(void *ctx _unused_, const char *name _unused_, bool *ret _unused_)
{
	return -ENOENT;
}

static int no_gate_save(void *ctx _unused_, const char *name _unused_, bool on _unused_)
{
	return -EROFS;
}

static void no_manager_state(void *ctx _unused_, enum supd_manager_state state _unused_)
{
}

/* ---- what does ---- */

static int offline_scan_units(void *ctx, unsigned kinds, struct diag *d)
{
	struct world_offline *w = ctx;

	return unit_files_scan(w->files, kinds, d);
}

static const char *offline_unit_name(void *ctx, size_t i)
{
	struct world_offline *w = ctx;

	return unit_files_name(w->files, i);
}

static uint64_t offline_unit_fingerprint(void *ctx, const char *name)
{
	struct world_offline *w = ctx;

	return unit_files_fingerprint(w->files, name);
}

static const char *offline_unit_resolve(void *ctx, const char *name)
{
	struct world_offline *w = ctx;

	return unit_files_resolve(w->files, name);
}

/* Services that start with supd are not asked to here. */
static int offline_read_unit(void *ctx, const char *name, struct unit_source *ret)
{
	struct world_offline *w = ctx;
	int r = unit_files_read(w->files, name, ret);

	if (r >= 0 && unit_name_kind(name) != UNIT_TIMER)
		ret->is_wanted = false;
	return r;
}

/* The plugin is part of this program: its own struct, not a file. */
static int offline_plugin_open(void *ctx _unused_, const char *name _unused_,
			       const struct supd_plugin **ret, char *reterr_or_path, size_t n)
{
#if ENABLE_TIMER
	(void) snprintf(reterr_or_path, n, "timer");
	*ret = &supd_plugin_1;
	return 0;
#else
	(void) ret;
	(void) snprintf(reterr_or_path, n, "this supctl was built without timers");
	return -ENOENT;
#endif
}

/* splitmix64: the same numbers each time, and no moment depends on them here. */
static uint64_t offline_random(void *ctx)
{
	struct world_offline *w = ctx;
	uint64_t x = w->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

void world_offline_init(struct world_offline *w, struct unit_files *files)
{
	*w = (struct world_offline) { .files = files };
	w->world = (struct world) {
		.ctx = w,
		.arm = no_arm,
		.check = no_check,
		.spawn = no_spawn,
		.kill_main = no_kill_main,
		.kill_tree = no_kill_tree,
		.watch_tree = no_watch_tree,
		.release = no_release,
		.scan_units = offline_scan_units,
		.unit_name = offline_unit_name,
		.unit_fingerprint = offline_unit_fingerprint,
		.unit_resolve = offline_unit_resolve,
		.read_unit = offline_read_unit,
		.enable_unit = no_enable_unit,
		.mask_unit = no_mask_unit,
		.save = no_save,
		.save_now = no_save_now,
		.load = no_load,
		.set_aside = no_set_aside,
		.gate_load = no_gate_load,
		.gate_save = no_gate_save,
		.plugin_open = offline_plugin_open,
		.random = offline_random,
		.manager_state = no_manager_state,
	};
}
