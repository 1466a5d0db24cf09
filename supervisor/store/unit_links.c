/* SPDX-License-Identifier: MIT */
#include "store/unit_links.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/file.h"
#include "unit/name.h"

#define MASK "/dev/null"
#define DROPIN "50-enabled.conf"

static int open_dir(const char *dir, bool make)
{
	int fd, r = make ? file_make_dirs(dir, 0755) : 0;

	if (r < 0)
		return r;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* Opens @dir/@name, @dir itself for "", made if @make, else -ENOENT. A directory made is on the
 * disk with its name. */
static int open_subdir(const char *dir, const char *name, bool make)
{
	_cleanup_close_ int parent = open_dir(dir, make);
	int fd;

	if (parent < 0)
		return parent;
	if (!*name)
		return TAKE_FD(parent);
	if (make && mkdirat(parent, name, 0755) == 0) {
		if (fchmodat(parent, name, 0755, 0) < 0 || fsync(parent) < 0)
			return -errno;
	} else if (make && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* ---- links ---- */

/* Where @name leads, into PATH_MAX bytes. -EINVAL: it is no link. */
static int read_link(int dir_fd, const char *name, char *ret)
{
	ssize_t n = readlinkat(dir_fd, name, ret, PATH_MAX - 1);

	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return 0;
}

static bool is_link_to(int dir_fd, const char *name, const char *target)
{
	char there[PATH_MAX];

	return read_link(dir_fd, name, there) == 0 && str_equal(there, target);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int put_link(int dir_fd, const char *name, const char *target)
{
	char temporary[NAME_MAX + 1];
	int n = snprintf(temporary, sizeof(temporary), ".%.200s.%ld.tmp", name, (long) getpid());

	if (n < 0)
		return -EINVAL;
	if (unlinkat(dir_fd, temporary, 0) < 0 && errno != ENOENT)
		return -errno;
	if (symlinkat(target, dir_fd, temporary) < 0)
		return -errno;
	if (renameat(dir_fd, temporary, dir_fd, name) < 0) {
		int r = -errno;

		(void) unlinkat(dir_fd, temporary, 0);
		return r;
	}
	return fsync(dir_fd) < 0 ? -errno : 1;
}

/* Is what stands under that name something that a link may take the place of? */
static int may_replace(int dir_fd, const char *name, const char *target, bool is_alias)
{
	char there[PATH_MAX];
	int r = read_link(dir_fd, name, there);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r == -EINVAL ? -EEXIST : r;
	return is_alias && !str_equal(last_part(there), last_part(target)) ? -EEXIST : 0;
}

static bool is_subdir(const char *name)
{
	static const char *const suffix[] = { ".wants", ".requires", ".upholds" };
	char unit[NAME_MAX + 1];

	for (size_t i = 0; i < ELEMENTS(suffix); i++)
		if (str_ends(name, suffix[i])) {
			(void) snprintf(unit, sizeof(unit), "%.*s",
					(int) (strlen(name) - strlen(suffix[i])), name);
			return unit_name_is_valid(unit);
		}
	return false;
}

int unit_links_put(const char *dir, const char *subdir, const char *name, const char *target)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (!unit_name_is_valid(name) || (*subdir && !is_subdir(subdir)))
		return -EINVAL;
	fd = open_subdir(dir, subdir, true);
	if (fd < 0)
		return fd;
	if (is_link_to(fd, name, target))
		return 0;
	r = may_replace(fd, name, target, !*subdir);
	return r < 0 ? r : put_link(fd, name, target);
}

static int remove_link(int dir_fd, const char *name)
{
	if (unlinkat(dir_fd, name, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	return fsync(dir_fd) < 0 ? -errno : 1;
}

/* The name of @unit in a .wants/ and the like. */
static int remove_wish(int parent, const char *subdir, const char *unit)
{
	_cleanup_close_ int fd =
		openat(parent, subdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	char there[PATH_MAX];

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (read_link(fd, unit, there) < 0 || str_equal(there, MASK))
		return 0;
	return remove_link(fd, unit);
}

static bool is_alias_of(int parent, const char *name, const char *unit)
{
	char there[PATH_MAX], template[UNIT_NAME_MAX + 1], twin[UNIT_NAME_MAX + 1];
	const char *target;

	if (!unit_name_is_valid(name) || str_equal(name, unit) ||
	    read_link(parent, name, there) < 0)
		return false;
	target = last_part(there);
	if (str_equal(target, unit))
		return true;
	/* other@home.service → unit@.service */
	return unit_name_template(unit, template) == 0 && str_equal(target, template) &&
	       unit_name_instance_of(template, name, twin) == 0 && str_equal(twin, unit);
}

static int remove_each(DIR *d, const char *unit)
{
	int changed = 0, r = 0;

	for (;;) {
		struct dirent *e;

		errno = 0;
		e = readdir(d);
		if (!e)
			return errno ? -errno : changed;
		if (is_subdir(e->d_name))
			r = remove_wish(dirfd(d), e->d_name, unit);
		else if (is_alias_of(dirfd(d), e->d_name, unit))
			r = remove_link(dirfd(d), e->d_name);
		else
			continue;
		if (r < 0)
			return r;
		changed |= r;
	}
}

int unit_links_remove(const char *dir, const char *unit)
{
	DIR *d;
	int fd, r;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	fd = open_dir(dir, false);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		(void) close(fd);
		return r;
	}
	r = remove_each(d, unit);
	(void) closedir(d);
	return r;
}

int unit_links_off(const char *dir, const char *subdir, const char *unit)
{
	return unit_links_put(dir, subdir, unit, MASK);
}

int unit_links_no_longer_off(const char *dir, const char *subdir, const char *unit)
{
	_cleanup_close_ int fd = -1;

	if (!unit_name_is_valid(unit) || !is_subdir(subdir))
		return -EINVAL;
	fd = open_subdir(dir, subdir, false);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return is_link_to(fd, unit, MASK) ? remove_link(fd, unit) : 0;
}

/* ---- masks ---- */

int unit_links_mask(const char *dir, const char *name)
{
	_cleanup_close_ int fd = -1;

	if (!unit_name_is_valid(name))
		return -EINVAL;
	fd = open_dir(dir, true);
	if (fd < 0)
		return fd;
	if (is_link_to(fd, name, MASK))
		return 0;
	if (symlinkat(MASK, fd, name) < 0)
		return -errno;
	return fsync(fd) < 0 ? -errno : 1;
}

int unit_links_unmask(const char *dir, const char *name)
{
	_cleanup_close_ int fd = -1;

	if (!unit_name_is_valid(name))
		return -EINVAL;
	fd = open_dir(dir, false);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	return is_link_to(fd, name, MASK) ? remove_link(fd, name) : 0;
}

/* ---- units of plugins ---- */

static bool has_content(int dir_fd, const char *name, const char *content)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	size_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return file_read_all(fd, (size_t) st.st_size, 4096, &bytes, &n) == 0 &&
	       str_equal(bytes, content);
}

int unit_links_dropin(const char *dir, const char *unit, const char *section, bool enable)
{
	char subdir[UNIT_NAME_MAX + sizeof(".d")], content[256];
	_cleanup_close_ int fd = -1;
	int r;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	(void) snprintf(subdir, sizeof(subdir), "%s.d", unit);
	r = snprintf(content, sizeof(content),
		     "# written by supctl enable and disable\n[%s]\nEnabled=%s\n", section,
		     enable ? "yes" : "no");
	if (r < 0 || (size_t) r >= sizeof(content))
		return -EINVAL;
	fd = open_subdir(dir, subdir, true);
	if (fd < 0)
		return fd;
	if (has_content(fd, DROPIN, content))
		return 0;
	r = file_write_new(fd, "." DROPIN ".tmp", 0644, content, strlen(content));
	if (r < 0)
		return r;
	if (renameat(fd, "." DROPIN ".tmp", fd, DROPIN) < 0) {
		r = -errno;
		(void) unlinkat(fd, "." DROPIN ".tmp", 0);
		return r;
	}
	return fsync(fd) < 0 ? -errno : 1;
}

int unit_links_no_dropin(const char *dir, const char *unit)
{
	char subdir[UNIT_NAME_MAX + sizeof(".d")];
	_cleanup_close_ int fd = -1;
	int r;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	(void) snprintf(subdir, sizeof(subdir), "%s.d", unit);
	fd = open_subdir(dir, subdir, false);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = remove_link(fd, DROPIN);
	if (r > 0) {
		/* Empty, it is of no use to anybody; with something of others in it, it stays. */
		_cleanup_close_ int parent = open_dir(dir, false);

		if (parent >= 0)
			(void) unlinkat(parent, subdir, AT_REMOVEDIR);
	}
	return r;
}
