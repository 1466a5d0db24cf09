/* SPDX-License-Identifier: MIT */
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

int file_read_all(int fd, size_t expected, size_t max, char **ret, size_t *ret_n)
{
	/* One byte more than expected, so that the end is seen without asking for more memory. */
	size_t size = (expected < max ? expected : max) + 2, n = 0;
	_cleanup_free_ char *bytes = malloc(size);

	if (!bytes)
		return -ENOMEM;
	for (;;) {
		ssize_t got = read(fd, bytes + n, size - n - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t) got;
		if (n > max)
			return -EFBIG;
		if (n == size - 1) {
			char *bigger = realloc(bytes, 2 * size);

			if (!bigger)
				return -ENOMEM;
			bytes = bigger;
			size *= 2;
		}
	}
	bytes[n] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_n = n;
	return 0;
}

int file_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO;
		p += done;
		n -= (size_t) done;
	}
	return 0;
}

static int write_and_sync(int fd, mode_t mode, const void *bytes, size_t n)
{
	int r;

	if (fchmod(fd, mode) < 0)
		return -errno;
	r = file_write_all(fd, bytes, n);
	if (r < 0)
		return r;
	return fsync(fd) < 0 ? -errno : 0;
}

int file_write_new(int dir_fd, const char *name, mode_t mode, const void *bytes, size_t n)
{
	int fd, r;

	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
		    0600);
	if (fd < 0)
		return -errno;
	r = write_and_sync(fd, mode, bytes, n);
	/* Some file systems tell only now that a byte could not be written. EINTR: it is closed all
	 * the same. */
	if (close(fd) < 0 && r == 0 && errno != EINTR)
		r = -errno;
	if (r < 0)
		(void) unlinkat(dir_fd, name, 0);
	return r;
}

static int make_dir(const char *path, mode_t mode)
{
	if (mkdir(path, mode) == 0)
		return chmod(path, mode) < 0 ? -errno : 0;
	return errno == EEXIST ? 0 : -errno;
}

int file_make_dirs(const char *path, mode_t mode)
{
	_cleanup_free_ char *copy = strdup(path);
	int r;

	if (!copy)
		return -ENOMEM;
	for (char *p = copy + 1; *copy && *p; p++) {
		if (*p != '/' || p[-1] == '/')
			continue;
		*p = '\0';
		/* What stands already may be in a place where nothing can be made: ask only if need
		 * be. */
		if (access(copy, F_OK) < 0) {
			r = make_dir(copy, mode);
			if (r < 0)
				return r;
		}
		*p = '/';
	}
	return make_dir(copy, mode);
}
