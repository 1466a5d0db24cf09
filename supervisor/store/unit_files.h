/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_UNIT_FILES_H
#define SUPD_STORE_UNIT_FILES_H

/* The unit directories: an index of names made by reading directories once, and safe reading of files.
 *
 * Safe: opened O_NONBLOCK|O_CLOEXEC|O_NOCTTY, then judged by fstat: only regular files up to UNIT_FILE_MAX;
 * when @trusted_only (supd run by root) file and directory must belong to root and be writable by nobody else, else
 * the unit has a problem that says so. Links are followed (a link loop is a problem); to /dev/null they mask. */

#include "unit/name.h"
#include "unit/source.h"

struct unit_files;

struct unit_files_config {
	const char *const *dirs;         /* high priority first; NULL-terminated */
	const char *const *systemd_dirs; /* SystemdUnitPath=, after all of dirs; NULL-terminated */
	bool trusted_only;
};

int unit_files_new(const struct unit_files_config *config, struct unit_files **ret); /* copies the config */
struct unit_files *unit_files_free(struct unit_files *f);

/* Reads the directories again (names and links only, and stat data of the files of @kinds, a mask of
 * 1 << enum unit_kind: nothing at all is stat'ed, opened or read of other kinds). A directory
 * that is missing is not a problem; one that cannot be read is, in @d. 0 or a negative errno (the index is unchanged). */
int unit_files_scan(struct unit_files *f, unsigned kinds, struct diag *d);

/* Names found by the last scan, sorted; NULL past the end. Lent until the next scan. */
const char *unit_files_name(const struct unit_files *f, size_t i);
size_t unit_files_count(const struct unit_files *f);
/* 0 if there is no such unit. */
uint64_t unit_files_fingerprint(const struct unit_files *f, const char *name);
/* The name a link stands for (dbus-x.service → x.service), or @name itself, or NULL: no such unit. */
const char *unit_files_resolve(const struct unit_files *f, const char *name);

/* Reads fragment and drop-ins of one unit. -ENOENT, -ENOMEM, or 0: problems of the files are in ret->problems.
 * Gives; the caller frees with unit_source_done(). */
int unit_files_read(struct unit_files *f, const char *name, struct unit_source *ret);

#endif
