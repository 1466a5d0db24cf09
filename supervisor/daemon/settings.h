/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SETTINGS_H
#define SUPD_SETTINGS_H

/* What counts in the end, of the defaults, supd.conf and the command line, each outweighing the one
 * before; for supd and for whatever of supctl does without a daemon. */

#include <stdbool.h>

#include "base/arena.h"
#include "core/config.h"
#include "core/directories.h"

struct diag;

/* The command line. All zero: nothing was said. */
struct settings_options {
	bool is_user;
	const char *config_file;
	struct config_paths unit_path, systemd_unit_path;
	const char *state_dir, *runtime_dir;
};

struct settings {
	struct config config;
	struct directories defaults;
	const char *const *unit_path, *const *systemd_unit_path; /* NULL-terminated */
	const char *state_dir, *runtime_dir;
	const char *runtime_unit_dir; /* where --runtime writes, if it is in the unit path */
	struct arena arena;
};

/* Paths of a command line: parted by colons, appended, relative ones made absolute. 0 or -ENOMEM,
 * or another negative errno when there is no current directory. */
int settings_add_paths(const char *text, struct arena *arena, struct config_paths *paths);
/* One path likewise; NULL when that cannot be done. */
const char *settings_absolute(const char *path, struct arena *arena);

/* Reads supd.conf. Mistakes in it are in @d, all of them (d->n_errors: then nobody should start by
 * it). 0; -ENOMEM; -ENOENT: a person's own supd, and that person has no home; or another errno of
 * the system. */
int settings_load(const struct settings_options *options, struct settings *ret, struct diag *d);
void settings_done(struct settings *s);

#endif
