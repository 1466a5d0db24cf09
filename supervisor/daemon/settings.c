/* SPDX-License-Identifier: MIT */
#include "daemon/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/config_file.h"
#include "daemon/surroundings.h"
#include "unit/merge.h"
#include "unit/source.h"

/* ---- the command line ---- */

const char *settings_absolute(const char *path, struct arena *arena)
{
	_cleanup_free_ char *here = NULL;

	if (path[0] == '/')
		return arena_strdup(arena, path);
	here = getcwd(NULL, 0);
	return here ? arena_printf(arena, "%s/%s", str_equal(here, "/") ? "" : here, path) : NULL;
}

int settings_add_paths(const char *text, struct arena *arena, struct config_paths *paths)
{
	const char *bad;

	for (const char *p = text, *end; p; p = *end ? end + 1 : NULL) {
		_cleanup_free_ char *part = NULL;
		const char *path;
		int r;

		end = strchrnul(p, ':');
		if (end == p)
			continue;
		part = strndup(p, (size_t) (end - p));
		path = part ? settings_absolute(part, arena) : NULL;
		if (!path)
			return -errno;
		r = config_paths_parse(path, arena, paths, &bad);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- the file ---- */

static int read_config(const struct settings_options *o, struct settings *s, struct diag *d)
{
	const char *file = o->config_file, *dropins;
	struct assignments all = { 0 };
	struct unit_source source;
	int r;

	dropins = file ? arena_printf(&s->arena, "%s.d", file) : s->defaults.config_dropins;
	if (!file)
		file = s->defaults.config_file;
	if (!dropins)
		return -ENOMEM;
	r = config_file_read(file, dropins, o->config_file, geteuid() == 0, &source);
	if (r < 0)
		return r;
	r = unit_merge(&source, &s->arena, &all, d);
	if (r >= 0)
		r = config_parse(all.item, all.n, &s->arena, d, &s->config);
	unit_source_done(&source);
	return r;
}

/* ---- what counts ---- */

static const char *const none[] = { NULL };

/* The first that was given; @fallback else. NULL when memory ran out. */
static const char *const *choose_paths(struct arena *arena, const struct config_paths *first,
				       const struct config_paths *second,
				       const char *const *fallback)
{
	const struct config_paths *chosen = first->n > 0 ? first : second;
	const char **list;

	if (chosen->n == 0)
		return fallback;
	list = arena_alloc(arena, (chosen->n + 1) * sizeof(*list));
	if (list)
		memcpy(list, chosen->item, chosen->n * sizeof(*list));
	return list;
}

static const char *choose(const char *first, const char *second, const char *fallback)
{
	return first ? first : second ? second : fallback;
}

static int settle(const struct settings_options *o, struct settings *s)
{
	s->unit_path =
		choose_paths(&s->arena, &o->unit_path, &s->config.unit_path, s->defaults.unit_path);
	s->systemd_unit_path =
		choose_paths(&s->arena, &o->systemd_unit_path, &s->config.systemd_unit_path, none);
	s->state_dir = choose(o->state_dir, s->config.state_dir, s->defaults.state);
	s->runtime_dir = choose(o->runtime_dir, s->config.runtime_dir, s->defaults.runtime);
	s->runtime_unit_dir =
		s->runtime_dir ? arena_printf(&s->arena, "%s/supd/units", s->runtime_dir) : NULL;
	return s->unit_path && s->systemd_unit_path ? 0 : -ENOMEM;
}

int settings_load(const struct settings_options *options, struct settings *ret, struct diag *d)
{
	struct settings s = { 0 };
	int r;

	config_init(&s.config);
	r = surroundings_directories(options->is_user, &s.arena, &s.defaults);
	if (r >= 0)
		r = read_config(options, &s, d);
	if (r >= 0)
		r = settle(options, &s);
	if (r < 0) {
		arena_done(&s.arena);
		return r;
	}
	*ret = s;
	return 0;
}

void settings_done(struct settings *s)
{
	arena_done(&s->arena);
}
