/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_FILE_H
#define SUPD_STORE_FILE_H

/* Reading, writing and making things of the file system, whole or not at all. */

#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/cleanup.h"

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		(void) close(*fd);
}
#define _cleanup_close_ _cleanup_(cleanup_close)

/* To the end of @fd, of which @expected bytes are thought to be there. More than @max: -EFBIG. A
 * NUL that is not counted follows. Gives; the caller frees. */
int file_read_all(int fd, size_t expected, size_t max, char **ret, size_t *ret_n);
/* Goes on after short writes and interruptions. */
int file_write_all(int fd, const void *bytes, size_t n);
/* A new file @name with these bytes, on the disk when this returns; what was there under that name
 * goes. */
int file_write_new(int dir_fd, const char *name, mode_t mode, const void *bytes, size_t n);
/* Every directory on the way to @path and @path itself. What is made gets @mode, whatever the
 * umask. */
int file_make_dirs(const char *path, mode_t mode);

#endif
