/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_LISTENER_H
#define SUPD_CONTROL_LISTENER_H

/* The socket file of the daemon: made with the right mode from the first moment on, removed at the
 * end if it is still ours. */

#include <sys/types.h>

#include "control/server.h"

#define LISTENER_NAME "private"

struct listener {
	int fd;        /* non-blocking, listening; -1: closed */
	int directory; /* -1: closed */
	dev_t dev;     /* of the file */
	ino_t ino;
};

/* A socket file left by a daemon that is gone is replaced; anything else of that name is not:
 * -EEXIST. The directory must be ours and ours alone to write in: -EPERM. */
int listener_open(const struct control_config *config, struct listener *ret);
void listener_close(struct listener *l);

#endif
