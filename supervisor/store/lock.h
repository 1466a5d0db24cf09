/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_LOCK_H
#define SUPD_STORE_LOCK_H

/* One daemon a directory. */

#include <sys/types.h>

/* Locks the file @name, made 0600 where missing, and writes our pid into it. Held as long as the
 * descriptor that is returned stays open (O_CLOEXEC; children do not hold it); the file is never
 * removed. -EAGAIN: another process holds it, *ret_holder is its pid, 0 if not known. */
int lock_take(int dir_fd, const char *name, pid_t *ret_holder);

#endif
