/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_EXEC_DIRECTORIES_H
#define SUPD_SERVICE_EXEC_DIRECTORIES_H

/* The folders that a service has made for it: RuntimeDirectory=, StateDirectory= and the others of
 * systemd.exec(5), "SANDBOXING". Few services have any, so they lie beside their spec. */

#include <stddef.h>
#include <sys/types.h>

#include "base/keys.h"

enum exec_directory_kind {
	EXEC_DIRECTORY_RUNTIME,
	EXEC_DIRECTORY_STATE,
	EXEC_DIRECTORY_CACHE,
	EXEC_DIRECTORY_LOGS,
	EXEC_DIRECTORY_CONFIGURATION,
};
#define EXEC_DIRECTORY_COUNT (EXEC_DIRECTORY_CONFIGURATION + 1)

/* What becomes of RuntimeDirectory= at the end. */
enum exec_preserve { EXEC_PRESERVE_NO, EXEC_PRESERVE_YES, EXEC_PRESERVE_RESTART };

struct exec_directory_set {
	const char *root;         /* absolute; NULL: there are none of this kind */
	const char *const *path;  /* below it, normalized; NULL-terminated, or NULL */
	mode_t mode;
};

struct exec_directories {
	struct exec_directory_set set[EXEC_DIRECTORY_COUNT];
	enum exec_preserve preserve;
};

/* "RUNTIME_DIRECTORY" … */
const char *exec_directory_variable(enum exec_directory_kind kind);

/* Parsers; row->parameter is the kind. */
int exec_directories_parse(const struct key_context *c);
int exec_directories_parse_mode(const struct key_context *c);
int exec_directories_parse_preserve(const struct key_context *c);

#endif
