/* SPDX-License-Identifier: MIT */
#include "store/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "store/file.h"

/* NAME, NAME.1 (the generation before), and their temporary names, one each: the directory has one
 * writer, who holds its lock, so that what a crash left is found again by name. */
struct names {
	char current[NAME_MAX + 1], before[NAME_MAX + 1];
	char new_current[NAME_MAX + 1], new_before[NAME_MAX + 1];
};

static int compose(char ret[NAME_MAX + 1], const char *prefix, const char *name, const char *suffix)
{
	int n = snprintf(ret, NAME_MAX + 1, "%s%s%s", prefix, name, suffix);

	return n < 0 || n > NAME_MAX ? -ENAMETOOLONG : 0;
}

static int names_for(const char *name, struct names *ret)
{
	if (!*name || strchr(name, '/'))
		return -EINVAL;
	if (compose(ret->current, "", name, "") < 0 || compose(ret->before, "", name, ".1") < 0 ||
	    compose(ret->new_current, ".", name, ".tmp") < 0 ||
	    compose(ret->new_before, ".", name, ".1.tmp") < 0)
		return -ENAMETOOLONG;
	return 0;
}

static void sweep(int dir_fd, const struct names *n)
{
	(void) unlinkat(dir_fd, n->new_current, 0);
	(void) unlinkat(dir_fd, n->new_before, 0);
}

/* Gives the file that stands its second name. A link first and a rename then, so that at any moment
 * there is a generation before. Not every file system has links; then there is none. */
static int keep_generation(int dir_fd, const struct names *n)
{
	if (unlinkat(dir_fd, n->new_before, 0) < 0 && errno != ENOENT)
		return -errno;
	if (linkat(dir_fd, n->current, dir_fd, n->new_before, 0) < 0) {
		if (errno == ENOENT || errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS ||
		    errno == EMLINK)
			return 0;
		return -errno;
	}
	if (renameat(dir_fd, n->new_before, dir_fd, n->before) < 0)
		return -errno;
	/* Both names were the same file already (a crash came between here and the end): rename()
	 * then does nothing, and leaves the temporary name. */
	(void) unlinkat(dir_fd, n->new_before, 0);
	return 0;
}

static int replace(int dir_fd, const struct names *n)
{
	int r;

	r = keep_generation(dir_fd, n);
	if (r < 0)
		return r;
	if (renameat(dir_fd, n->new_current, dir_fd, n->current) < 0)
		return -errno;
	return fsync(dir_fd) < 0 ? -errno : 0;
}

int atomic_file_write(int dir_fd, const char *name, const void *bytes, size_t n)
{
	struct names names;
	int r;

	r = names_for(name, &names);
	if (r < 0)
		return r;
	r = file_write_new(dir_fd, names.new_current, 0600, bytes, n);
	if (r == 0)
		r = replace(dir_fd, &names);
	if (r < 0)
		sweep(dir_fd, &names);
	return r;
}

/* Ours: a regular file that belongs to us and that nobody else may write. */
static int vet(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	if (st->st_uid != geteuid() || (st->st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	return 0;
}

int atomic_file_append(int dir_fd, const char *name, const void *bytes, size_t n)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = vet(&st);
	if (r >= 0)
		r = file_write_all(fd, bytes, n);
	if (r < 0)
		return r;
	return fdatasync(fd) < 0 ? -errno : 0;
}

int atomic_file_read(int dir_fd, const char *name, unsigned generation, size_t max, void **ret,
		     size_t *ret_n)
{
	_cleanup_close_ int fd = -1;
	struct names names;
	struct stat st;
	char *bytes;
	int r;

	r = names_for(name, &names);
	if (r < 0)
		return r;
	if (generation > 1)
		return -ENOENT;
	fd = openat(dir_fd, generation ? names.before : names.current,
		    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	r = vet(&st);
	if (r < 0)
		return r;
	if ((uintmax_t) st.st_size > max)
		return -EFBIG;
	r = file_read_all(fd, (size_t) st.st_size, max, &bytes, ret_n);
	if (r < 0)
		return r;
	*ret = bytes;
	return 0;
}

/* rename() that replaces nothing, where the file system can do that. */
static int rename_to_free_name(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (faccessat(dir_fd, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dir_fd, from, dir_fd, to) < 0 ? -errno : 0;
}

int atomic_file_set_aside(int dir_fd, const char *name, const char *stamp, char *ret_name, size_t n)
{
	char aside[NAME_MAX + 1], suffix[128];
	struct names names;
	int r;

	r = names_for(name, &names);
	if (r < 0)
		return r;
	if (strchr(stamp, '/'))
		return -EINVAL;
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		if (attempt == 0)
			(void) snprintf(suffix, sizeof(suffix), ".bad-%s", stamp);
		else
			(void) snprintf(suffix, sizeof(suffix), ".bad-%.100s-%u", stamp, attempt);
		r = compose(aside, "", name, suffix);
		if (r < 0)
			return r;
		r = rename_to_free_name(dir_fd, name, aside);
		if (r != -EEXIST)
			break;
	}
	if (r < 0)
		return r;
	(void) snprintf(ret_name, n, "%s", aside);
	return fsync(dir_fd) < 0 ? -errno : 0;
}

void atomic_file_sweep(int dir_fd, const char *name)
{
	struct names names;

	if (names_for(name, &names) == 0)
		sweep(dir_fd, &names);
}

/* ---- the directory ---- */

/* A path that ends in a slash would be followed even where it is a link. */
static char *without_trailing_slashes(const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

static int make_state_dir(const char *path)
{
	_cleanup_free_ char *parent = strdup(path);
	char *slash = parent ? strrchr(parent, '/') : NULL;
	int r = 0;

	if (!parent)
		return -ENOMEM;
	if (slash && slash != parent) {
		*slash = '\0';
		r = file_make_dirs(parent, geteuid() == 0 ? 0755 : 0700);
	}
	if (r < 0)
		return r;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	return 0;
}

static int refuse(char *reterr, size_t n, const char *path, const char *why)
{
	_cleanup_free_ char *shown = text_escape(path, strlen(path));

	(void) snprintf(reterr, n, "%s %s", shown ? shown : "the directory", why);
	return -EPERM;
}

static int vet_state_dir(int fd, const char *path, char *reterr, size_t n)
{
	char why[96];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid()) {
		(void) snprintf(why, sizeof(why),
				"belongs to uid %lu, not to uid %lu that supd runs as",
				(unsigned long) st.st_uid, (unsigned long) geteuid());
		return refuse(reterr, n, path, why);
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		(void) snprintf(why, sizeof(why),
				"is writable by others (mode %04o); chmod go-w it",
				(unsigned) st.st_mode & 07777);
		return refuse(reterr, n, path, why);
	}
	return 0;
}

static int open_state_dir(const char *path, char *reterr, size_t n)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	r = make_state_dir(path);
	if (r < 0)
		return r;
	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		return refuse(reterr, n, path, "is a link, not a directory");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	r = vet_state_dir(fd, path, reterr, n);
	return r < 0 ? r : TAKE_FD(fd);
}

int state_dir_open(const char *path, char *reterr, size_t n)
{
	_cleanup_free_ char *plain = without_trailing_slashes(path);
	int r;

	if (n > 0)
		*reterr = '\0';
	if (!plain)
		return -ENOMEM;
	r = open_state_dir(plain, reterr, n);
	if (r < 0 && n > 0 && !*reterr) {
		char shown[256];

		(void) snprintf(reterr, n, "%s cannot be used: %s",
				text_escape_to(shown, sizeof(shown), plain), strerror(-r));
	}
	return r;
}
