/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_PUMP_H
#define SUPD_CONTROL_PUMP_H

/* Stands between a client's socket and the bus object that reads it: takes in bytes, and passes on
 * those that belong to messages of a decent size, sent in decent time, through a pipe. Descriptors
 * that a client sends along are never received. */

#include <stdint.h>

#include "base/usec.h"

struct pump;
struct sd_event;

struct pump_config {
	uint64_t max_message; /* bytes */
	usec_t patience;      /* for the handshake, and for each message once begun */
	int64_t priority;     /* in the loop */
	/* The client broke the rules: -EMSGSIZE, -EBADMSG, -ETIMEDOUT; or its socket failed.
	 * Nothing is read any more; the pump may be freed from here. A client that goes away is no
	 * failure: the pipe ends. */
	void (*fail)(void *userdata, int error);
	void *userdata;
};

/* Reads from @fd, which it takes if it succeeds. Gives in *ret_fd the pipe's end to read. */
int pump_new(struct sd_event *event, int fd, const struct pump_config *config, struct pump **ret,
	     int *ret_fd);
struct pump *pump_free(struct pump *p);

#endif
