/* SPDX-License-Identifier: MIT */
#include "store/unit_links.h"

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

#define WANTS_DIR "default.target.wants"
#define DROPIN "50-enabled.conf"

/* Opens @dir/@name, made if @make, else -ENOENT. A directory made is on the disk with its name. */
static int open_subdir(const char *dir, const char *name, bool make)
{
	_cleanup_close_ int parent = -1;
	int fd, r;

	if (make) {
		r = file_make_dirs(dir, 0755);
		if (r < 0)
			return r;
	}
	parent = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (parent < 0)
		return -errno;
	if (make && mkdirat(parent, name, 0755) == 0) {
		if (fchmodat(parent, name, 0755, 0) < 0 || fsync(parent) < 0)
			return -errno;
	} else if (make && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

/* ---- services ---- */

static bool is_link_to(int dir_fd, const char *name, const char *target)
{
	char there[PATH_MAX];
	ssize_t n = readlinkat(dir_fd, name, there, sizeof(there) - 1);

	if (n < 0)
		return false;
	there[n] = '\0';
	return str_equal(there, target);
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

static int remove_link(int dir_fd, const char *name)
{
	if (unlinkat(dir_fd, name, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	return fsync(dir_fd) < 0 ? -errno : 1;
}

int unit_links_service(const char *dir, const char *unit, const char *fragment_path, bool enable)
{
	_cleanup_close_ int fd = -1;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	fd = open_subdir(dir, WANTS_DIR, enable);
	if (fd < 0)
		return fd == -ENOENT && !enable ? 0 : fd;
	if (!enable)
		return remove_link(fd, unit);
	return is_link_to(fd, unit, fragment_path) ? 0 : put_link(fd, unit, fragment_path);
}

int unit_links_service_off(const char *dir, const char *unit)
{
	_cleanup_close_ int fd = -1;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	fd = open_subdir(dir, WANTS_DIR, true);
	if (fd < 0)
		return fd;
	return is_link_to(fd, unit, "/dev/null") ? 0 : put_link(fd, unit, "/dev/null");
}

/* ---- units of plugins ---- */

static bool has_content(int dir_fd, const char *name, const char *content)
{
	_cleanup_close_ int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	size_t n;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	return file_read_all(fd, (size_t) st.st_size, 4096, &bytes, &n) == 0 && str_equal(bytes, content);
}

int unit_links_dropin(const char *dir, const char *unit, const char *section, bool enable)
{
	char subdir[UNIT_NAME_MAX + sizeof(".d")], content[256];
	_cleanup_close_ int fd = -1;
	int r;

	if (!unit_name_is_valid(unit))
		return -EINVAL;
	(void) snprintf(subdir, sizeof(subdir), "%s.d", unit);
	r = snprintf(content, sizeof(content), "# written by supctl enable and disable\n[%s]\nEnabled=%s\n", section,
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
