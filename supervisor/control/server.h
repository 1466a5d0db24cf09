/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_SERVER_H
#define SUPD_CONTROL_SERVER_H

/* The private socket: sd-bus, peer to peer, no broker. Interface org.supd.Manager1 at /org/supd/Manager1; supd-control(7). */

#include <sys/types.h>

#include "control/api.h"

struct sd_event;

enum control_access { CONTROL_READ_ALL, CONTROL_READ_GROUP, CONTROL_READ_NONE };

struct control_config {
	const char *directory; /* <runtime dir>/supd; exists, ours */
	enum control_access read_access;
	gid_t read_group;      /* CONTROL_READ_GROUP */
	control_ask_fn *ask;
	void *userdata;
};

int control_server_new(struct sd_event *event, const struct control_config *config, struct control_server **ret);
struct control_server *control_server_free(struct control_server *s);

#endif
