/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_DIRECTORIES_H
#define SUPD_CORE_DIRECTORIES_H

/* Where things are when nobody says otherwise: the system's supd, and a person's own (--user) by
 * the XDG base directory rules. Pure: the environment is handed in. supd(8), "FILES". */

#include <stdbool.h>
#include <sys/types.h>

struct arena;

struct directories {
	const char *const *unit_path; /* high priority first; NULL-terminated */
	const char *config_file;
	const char *config_dropins;   /* a directory */
	const char *state;
	const char *runtime;          /* its socket is in supd/ below; NULL: not to be known */
};

/* Variables that are empty or hold no absolute path count as unset, as the XDG rules say. */
struct directories_input {
	bool is_user;
	uid_t uid;
	const char *(*variable)(void *userdata, const char *name); /* NULL: unset */
	void *userdata;
	const char *home;       /* from the user database, where HOME is unset; or NULL */
	const char *sysconfdir; /* "/etc" */
	const char *runstatedir, *localstatedir;
};

/* Strings live in @arena. 0, -ENOMEM, or -ENOENT: --user without a home directory. */
int directories_find(const struct directories_input *in, struct arena *arena,
		     struct directories *ret);

#endif
