/* SPDX-License-Identifier: MIT */
#include "core/directories.h"

#include <errno.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/cleanup.h"

static const char *const system_units[] = {
	"/run/supd/units",
	"/usr/local/lib/supd/units",
	"/usr/lib/supd/units",
};

/* A person's units from packages and from the admin come after their own. */
static const char *const user_units[] = {
	"/etc/supd/user",
	"/usr/local/lib/supd/user",
	"/usr/lib/supd/user",
};

static const char *absolute(const struct directories_input *in, const char *name)
{
	const char *value = in->variable(in->userdata, name);

	return value && value[0] == '/' ? value : NULL;
}

/* What @variable says, or @fallback below the home directory. NULL: neither is known, or memory ran
 * out. */
static const char *base(const struct directories_input *in, struct arena *arena,
			const char *variable, const char *fallback)
{
	const char *value = absolute(in, variable), *home = absolute(in, "HOME");

	if (value)
		return value;
	if (!home)
		home = in->home;
	return home ? arena_printf(arena, "%s/%s", home, fallback) : NULL;
}

static int find_system(const struct directories_input *in, struct arena *arena,
		       struct directories *ret)
{
	const char **path = arena_alloc(arena, (ELEMENTS(system_units) + 2) * sizeof(*path));

	if (!path)
		return -ENOMEM;
	path[0] = arena_printf(arena, "%s/supd/units", in->sysconfdir);
	for (size_t i = 0; i < ELEMENTS(system_units); i++)
		path[i + 1] = system_units[i];
	*ret = (struct directories) {
		.unit_path = path,
		.config_file = arena_printf(arena, "%s/supd/supd.conf", in->sysconfdir),
		.config_dropins = arena_printf(arena, "%s/supd/supd.conf.d", in->sysconfdir),
		.state = arena_printf(arena, "%s/lib/supd", in->localstatedir),
		.runtime = arena_strdup(arena, in->runstatedir),
	};
	return path[0] && ret->config_file && ret->config_dropins && ret->state && ret->runtime
		       ? 0
		       : -ENOMEM;
}

/* $XDG_RUNTIME_DIR; without a session, where one would be; not for root, whose sessions are others'
 * affair. */
static const char *user_runtime(const struct directories_input *in, struct arena *arena)
{
	const char *value = absolute(in, "XDG_RUNTIME_DIR");

	return value ? arena_strdup(arena, value)
		     : arena_printf(arena, "/run/user/%u", (unsigned) in->uid);
}

static int find_user(const struct directories_input *in, struct arena *arena,
		     struct directories *ret)
{
	const char **path = arena_alloc(arena, (ELEMENTS(user_units) + 4) * sizeof(*path));
	const char *config = base(in, arena, "XDG_CONFIG_HOME", ".config");
	const char *data = base(in, arena, "XDG_DATA_HOME", ".local/share");
	const char *state = base(in, arena, "XDG_STATE_HOME", ".local/state");
	const char *runtime = user_runtime(in, arena);
	size_t n = 0;

	if (!config || !data || !state)
		return in->home || absolute(in, "HOME") ? -ENOMEM : -ENOENT;
	if (!path || !runtime)
		return -ENOMEM;
	path[n++] = arena_printf(arena, "%s/supd/units", config);
	path[n++] = arena_printf(arena, "%s/supd/units", runtime);
	path[n++] = arena_printf(arena, "%s/supd/units", data);
	for (size_t i = 0; i < ELEMENTS(user_units); i++)
		path[n++] = user_units[i];
	*ret = (struct directories) {
		.unit_path = path,
		.config_file = arena_printf(arena, "%s/supd/supd.conf", config),
		.config_dropins = arena_printf(arena, "%s/supd/supd.conf.d", config),
		.state = arena_printf(arena, "%s/supd", state),
		.runtime = runtime,
	};
	return path[0] && path[1] && path[2] && ret->config_file && ret->config_dropins &&
			       ret->state
		       ? 0
		       : -ENOMEM;
}

int directories_find(const struct directories_input *in, struct arena *arena,
		     struct directories *ret)
{
	return in->is_user ? find_user(in, arena, ret) : find_system(in, arena, ret);
}
