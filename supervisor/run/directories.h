/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_DIRECTORIES_H
#define SUPD_RUN_DIRECTORIES_H

/* RuntimeDirectory= and the others: made before a process starts, owned by its user; the first of
 * them removed at the end. Below their roots, which only root (or the person) can write to, nothing
 * leads elsewhere: symbolic links are followed only if they are the daemon's own. */

#include <sys/types.h>

#include "service/exec_directories.h"
#include "service/run_record.h"

/* May block: for a worker's thread. @uid, @gid: who shall own them, -1: as it comes. 0, or a
 * negative errno and the step that it counts as. */
int directories_make(const struct exec_directories *d, uid_t uid, gid_t gid,
		     enum exec_step *reterr_step);

/* Gets the runtime directory @path below @root out of the way, at once: another run may make it
 * anew right after. In *ret, which the caller frees, its new path below @root, for
 * directories_remove(). -ENOENT: there is none. */
int directories_set_aside(const char *root, const char *path, char **ret);
/* All of it. May take long. */
int directories_remove(const char *root, const char *path);

#endif
