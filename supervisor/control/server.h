/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_SERVER_H
#define SUPD_CONTROL_SERVER_H

/* The private socket: sd-bus, peer to peer, no broker; supd-control(7) describes what goes over it.
 *
 * Everybody may knock; the kernel says who it is, and control/access what that means. Nothing here
 * waits: what cannot be sent is queued, and who does not read what is queued, or sends too much,
 * too slowly or to no purpose, is cut off. When descriptors run out, listening pauses; those who
 * are connected already go on.
 *
 * SIGPIPE must be ignored. */

#include <sys/types.h>

#include "base/usec.h"
#include "control/api.h"

struct sd_event;

enum control_access { CONTROL_READ_ALL, CONTROL_READ_GROUP, CONTROL_READ_NONE };

struct control_config {
	const char *directory; /* <runtime dir>/supd; exists, ours; gets mode 0755 */
	enum control_access read_access;
	gid_t read_group; /* CONTROL_READ_GROUP */
	control_ask_fn *ask;
	void *userdata;
	usec_t patience; /* for a handshake, and for each message once begun; 0: 5 s */
};

/* Listens from here on; @config is copied, its directory is needed during the call only. 0 or a
 * negative errno: -EEXIST: a file that is no socket is in the way, -EPERM: the directory is not
 * ours. */
int control_server_new(struct sd_event *event, const struct control_config *config,
		       struct control_server **ret);
/* Tells those who still wait that supd ends. Not from inside ask(). */
struct control_server *control_server_free(struct control_server *s);

#endif
