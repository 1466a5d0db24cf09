/* SPDX-License-Identifier: MIT */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/values.h"
#include "store/file.h"

static pid_t read_holder(int fd)
{
	char text[32];
	uint64_t pid;
	ssize_t n;

	n = pread(fd, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return value_unsigned(text, INT_MAX, &pid) < 0 ? 0 : (pid_t) pid;
}

/* For people only: the lock holds without it. */
static void write_holder(int fd)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%ld\n", (long) getpid());

	if (ftruncate(fd, 0) == 0)
		(void) file_write_all(fd, text, (size_t) n);
}

int lock_take(int dir_fd, const char *name, pid_t *ret_holder)
{
	/* A lock of the open file, not of the process: nobody loses it by closing another
	 * descriptor. */
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	_cleanup_close_ int fd = -1;
	struct stat st;

	*ret_holder = 0;
	fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
		    0600);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (fcntl(fd, F_OFD_SETLK, &whole) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return -errno;
		*ret_holder = read_holder(fd);
		return -EAGAIN;
	}
	write_holder(fd);
	return TAKE_FD(fd);
}
