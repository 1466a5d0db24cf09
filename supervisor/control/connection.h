/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_CONNECTION_H
#define SUPD_CONTROL_CONNECTION_H

/* One client: its socket, its rights, its bus object. What it asks goes to the server; what becomes
 * of the answers is limited here. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "base/usec.h"
#include "control/access.h"
#include "control/methods.h"

struct connection;
struct sd_event;

/* What a server and its connections have agreed on; @userdata is the server. */
struct connection_terms {
	/* for the handshake and each message; six times that for reading an answer */
	usec_t patience;
	/* A call it has the right to. Returns as a bus method handler does. */
	int (*call)(void *userdata, struct connection *c, const struct method *method,
		    sd_bus_message *message, sd_bus_error *reterr);
	/* It has gone, or must go; to be freed. */
	void (*gone)(void *userdata, struct connection *c);
	void *userdata;
};

/* Open to those who own them: the list links are the server's. */
struct connection {
	struct connection *prev, *next;
	struct peer peer;
	enum right right;
	unsigned n_calls; /* the server's count of those not answered */
	size_t owed;      /* bytes sent into the queue since it was empty */
	sd_bus *bus;
	uint64_t number;
	const struct connection_terms *terms;
	struct pump *pump;
	sd_event_source *shaking; /* on until the handshake must be over */
	sd_event_source *reading; /* on while answers wait to be read */
};

/* Takes @fd and the content of @peer, whatever comes of it. @terms are lent for as long as the
 * connection lives. */
int connection_new(struct sd_event *event, int fd, struct peer *peer, enum right right,
		   uint64_t number, const struct connection_terms *terms, struct connection **ret);
struct connection *connection_free(struct connection *c);

/* Sends without waiting; @bytes is about the size. Negative: it cannot be sent, the connection is
 * of no use any more. */
int connection_send(struct connection *c, sd_bus_message *m, size_t bytes);
/* Is something of it still queued here? */
bool connection_is_behind(const struct connection *c);

#endif
