/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_UNIT_FILES_H
#define SUPD_STORE_UNIT_FILES_H

/* The unit directories: an index of names made by reading directories once, and safe reading of
 * files.
 *
 * Safe: opened O_NONBLOCK|O_CLOEXEC|O_NOCTTY, then judged by fstat: only regular files up to
 * UNIT_FILE_MAX; when @trusted_only (supd run by root) file and directory must belong to root and
 * be writable by nobody else, else the unit has a problem that says so. Links are followed (a link
 * loop is a problem); to /dev/null they mask.
 *
 * A name in several directories is the first one's. A link whose last part is the name of another
 * unit of the directories, of the same kind, is an alias of it, if it leads into one of the
 * directories, or nowhere; a link to a file elsewhere is a unit of its own. Drop-ins of a-b.service
 * come from a-b.service.d/, a-.service.d/ and service.d/, *.conf only, of all directories: of one
 * file name the higher directory's, within a directory the closer name's, service.d/ last; they
 * apply in the order of their file names.
 *
 * An instance, a@b.service, without a file of its own is made of its template, a@.service, and has
 * the template's drop-ins, too. It is among the names if a link names it, in a .wants/, .requires/
 * or .upholds/ or as an alias; read, resolved and told apart by its fingerprint it can be in any
 * case. Names that are no unit's (backups of editors, README) are passed over.
 *
 * Wanted: a service linked in default.target.wants/; in a directory laid out for systemd also in
 * multi-user.target.wants/ and graphical.target.wants/; and a timer in any .wants/. Of the same
 * link in several directories the first one counts, and to /dev/null it is none. */

#include "unit/name.h"
#include "unit/source.h"

struct unit_files;

struct unit_files_config {
	const char *const *dirs;         /* high priority first; NULL-terminated */
	const char *const *systemd_dirs; /* SystemdUnitPath=, after all of dirs; NULL-terminated */
	/* the one of dirs that is empty after a boot, or NULL; any below /run is, too */
	const char *runtime_dir;
	bool trusted_only;
};

/* copies the config */
int unit_files_new(const struct unit_files_config *config, struct unit_files **ret);
struct unit_files *unit_files_free(struct unit_files *f);

/* Reads the directories again (names and links only, and stat data of the files of @kinds, a mask
 * of 1 << enum unit_kind: nothing at all is stat'ed, opened or read of other kinds). A directory
 * that is missing is not a problem; one that cannot be read is, in @d. 0, or a negative errno where
 * the system failed: then the index is as it was. */
int unit_files_scan(struct unit_files *f, unsigned kinds, struct diag *d);

/* The same for the units of these names (NULL-terminated) alone, whatever else may have changed:
 * with very many units at the price of a few, where their own files are all that there is to
 * them. */
int unit_files_scan_only(struct unit_files *f, unsigned kinds, const char *const *names,
			 struct diag *d);

/* The same beside the loop: begun in the loop, made in a thread, which may take as long as a disk
 * does, while @f is used as ever. Once it has been given back, the next unit_files_scan() has what
 * it found instead of looking itself: if it is asked for the same kinds, and nothing has been
 * scanned since it was begun. */
struct unit_scan;
/* @f lends its directories */
int unit_scan_begin(struct unit_files *f, unsigned kinds, struct unit_scan **ret);
void unit_scan_make(struct unit_scan *scan);
void unit_scan_give(struct unit_files *f, struct unit_scan *scan);               /* takes */
struct unit_scan *unit_scan_free(struct unit_scan *scan);

/* Another number after each scan that found anything else than the one before. */
uint64_t unit_files_revision(const struct unit_files *f);
/* Names found by the last scan, sorted; NULL past the end. Lent until the next scan. */
const char *unit_files_name(const struct unit_files *f, size_t i);
size_t unit_files_count(const struct unit_files *f);
/* 0 if there is no such unit. */
uint64_t unit_files_fingerprint(struct unit_files *f, const char *name);
/* The name a link stands for (dbus-x.service → x.service), or @name itself, or NULL: no such unit.
 * Lent until the next call. */
const char *unit_files_resolve(struct unit_files *f, const char *name);

/* Reads fragment and drop-ins of one unit. 0: problems of the files are in ret->problems; -ENOENT;
 * or another negative errno that is no fault of the files (-ENOMEM, -EMFILE). Gives; the caller
 * frees with unit_source_done(). */
int unit_files_read(struct unit_files *f, const char *name, struct unit_source *ret);

/* One file, without any directory: the name is the last part of @path, there are no drop-ins, and
 * whoever may write it does not matter. For those who look at a file before it is installed. */
int unit_files_read_path(const char *path, struct unit_source *ret);

#endif
