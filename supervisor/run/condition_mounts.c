/* SPDX-License-Identifier: MIT */
/* What is to be mounted, and is not: where fstab(5) names a mount point on the way to a path, and
 * nothing is mounted there. systemd makes mount units of the same lines, and mounts them; noauto
 * and nofail are about the boot, there and here. */
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "run/condition_facts.h"

#define FSTAB "/etc/fstab"
/* As mount(8) and libmount know it. */
#define FSTAB_VARIABLE "LIBMOUNT_FSTAB"
#define LINE_SIZE 8192

static void end_table(FILE **table)
{
	if (*table)
		(void) endmntent(*table);
}

/* Is @path this directory, or below it? */
static bool is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	while (n > 1 && directory[n - 1] == '/')
		n--;
	return strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* Both may lead through links, as the kernel's list of mounts does not. */
static bool is_on_the_way(const char *path, const char *real_path, const char *directory)
{
	_cleanup_free_ char *real = realpath(directory, NULL);

	return is_below(path, directory) || (real_path && is_below(real_path, directory)) ||
	       (real && is_below(path, real)) || (real && real_path && is_below(real_path, real));
}

/* systemd-fstab-generator(8): in a container, devices are mounted from outside, or not at all. */
static bool is_device(const char *what)
{
	static const char *const tags[] = { "UUID=", "LABEL=", "PARTUUID=", "PARTLABEL=", "ID=" };

	for (size_t i = 0; i < ELEMENTS(tags); i++)
		if (str_starts(what, tags[i]))
			return true;
	return str_starts(what, "/dev/");
}

/* The root is always there; what has no directory (swap) is on nobody's way. */
static bool is_missing(struct facts *f, const struct mntent *entry, const char *path,
		       const char *real_path)
{
	const char *directory = entry->mnt_dir, *container = NULL;

	if (*directory != '/' || str_equal(directory, "/") ||
	    !is_on_the_way(path, real_path, directory) || facts_is_mount_point(directory))
		return false;
	return !is_device(entry->mnt_fsname) || facts_container(f, &container) <= 0;
}

int facts_missing_mount(struct facts *f, const char *path, const char **ret)
{
	const char *fstab = facts_variable(f, FSTAB_VARIABLE);
	_cleanup_free_ char *real_path = realpath(path, NULL);
	_cleanup_(end_table) FILE *table = NULL;
	char line[LINE_SIZE];
	struct mntent entry;

	table = setmntent(fstab && *fstab ? fstab : FSTAB, "re");
	if (!table)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (getmntent_r(table, &entry, line, sizeof(line)))
		if (is_missing(f, &entry, path, real_path)) {
			*ret = arena_strdup(f->arena, entry.mnt_dir);
			return *ret ? 1 : -ENOMEM;
		}
	return 0;
}
