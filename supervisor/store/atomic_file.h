/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_ATOMIC_FILE_H
#define SUPD_STORE_ATOMIC_FILE_H

/* A file that is always whole, old or new: temporary file beside it, write, fsync, link the old one
 * as NAME.1 (the generation before), rename, fsync the directory. After a failed fsync nothing is
 * retried on the same file: the caller writes a new one from memory. */

#include <stddef.h>

/* @dir_fd: an open directory of ours, which has one writer at a time. Mode 0600. 0: the new file is
 * on the disk. A negative errno: the old file stands; where only the last step failed, the
 * directory's fsync, the new one stands but may not survive a power cut. */
int atomic_file_write(int dir_fd, const char *name, const void *bytes, size_t n);
/* Behind what NAME holds, which must have been written by atomic_file_write() since the directory
 * was opened (else both generations might be one file); durable when it returns 0. After a failure,
 * and after a crash, a part of it may stand there: nothing is added behind that, the caller writes
 * a new file. */
int atomic_file_append(int dir_fd, const char *name, const void *bytes, size_t n);
/* @generation 0: NAME, 1: NAME.1. At most @max bytes, else -EFBIG; -ENOENT: none. Refuses links and
 * whatever is not a regular file of ours. Gives; the caller frees. */
int atomic_file_read(int dir_fd, const char *name, unsigned generation, size_t max, void **ret,
		     size_t *ret_n);
/* Renames NAME to NAME.bad-<@stamp>, or -1, -2 … behind it where that is taken; the new name to
 * @ret_name. */
int atomic_file_set_aside(int dir_fd, const char *name, const char *stamp, char *ret_name,
			  size_t n);
/* Removes temporary files that a crash left. */
void atomic_file_sweep(int dir_fd, const char *name);
/* Opens a directory of ours, made 0700 if missing (and what leads to it): not a link, owned by us,
 * not writable by others, else -EPERM. Returns the descriptor, or a negative errno and a sentence
 * in @reterr. */
int state_dir_open(const char *path, char *reterr, size_t n);

#endif
