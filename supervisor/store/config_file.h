/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_CONFIG_FILE_H
#define SUPD_STORE_CONFIG_FILE_H

/* supd.conf and its drop-ins as bytes, read as carefully as unit files: no blocking, a size limit,
 * and when @trusted_only (supd run by root) only what root alone may write. */

#include <stdbool.h>

struct unit_source;

/* @path: the file; *.conf of @dropins (a directory, may be NULL or missing) follow in the order of
 * their names. @is_required: that the file is missing is a problem. 0: problems are in
 * ret->problems; else a negative errno that is no fault of the files. Gives; the caller frees with
 * unit_source_done(). */
int config_file_read(const char *path, const char *dropins, bool is_required, bool trusted_only,
		     struct unit_source *ret);

#endif
