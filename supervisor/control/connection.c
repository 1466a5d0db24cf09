/* SPDX-License-Identifier: MIT */
#include "control/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "control/peer.h"
#include "control/pump.h"
#include "control/wire.h"

#define MESSAGE_MAX (64 * 1024)
#define OFFER_ROOM (64 * 1024)
#define READING_PATIENCE 6
#define SEND_BUFFER (512 * 1024)
/* Messages that wait to be read, beyond that buffer. */
#define BEHIND_MAX (2 * WIRE_CALLS_MAX)
#define BEHIND_MAX_OTHERS (4 * WIRE_CALLS_MAX_OTHERS)
/* Behind the services and their alarms. */
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

#define BUS_NAME "org.freedesktop.DBus"

static void gone(struct connection *c)
{
	c->terms->gone(c->terms->userdata, c);
}

/* ---- what a message bus would answer, so that tools made for one work here: busctl says Hello
 * ---- */

static int on_hello(sd_bus_message *m, void *userdata, sd_bus_error *reterr _unused_)
{
	const struct connection *c = userdata;
	char name[32];

	(void) snprintf(name, sizeof(name), ":1.%" PRIu64, c->number);
	return sd_bus_reply_method_return(m, "s", name);
}

static int on_list_names(sd_bus_message *m, void *userdata _unused_, sd_bus_error *reterr _unused_)
{
	return sd_bus_reply_method_return(m, "as", 2, BUS_NAME, METHODS_INTERFACE);
}

static int on_get_name_owner(sd_bus_message *m, void *userdata _unused_, sd_bus_error *reterr)
{
	const char *name;

	if (sd_bus_message_read_basic(m, 's', &name) <= 0)
		return -EINVAL;
	if (!str_equal(name, BUS_NAME) && !str_equal(name, METHODS_INTERFACE))
		return sd_bus_error_set(reterr, SD_BUS_ERROR_NAME_HAS_NO_OWNER,
					"there is nobody here but " METHODS_INTERFACE);
	return sd_bus_reply_method_return(m, "s", name);
}

static int on_match(sd_bus_message *m, void *userdata _unused_, sd_bus_error *reterr _unused_)
{
	return sd_bus_reply_method_return(m, NULL);
}

static const sd_bus_vtable bus_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_METHOD_WITH_NAMES("Hello", "", "", "s", "name\0", on_hello,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("ListNames", "", "", "as", "names\0", on_list_names,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("GetNameOwner", "s", "name\0", "s", "owner\0", on_get_name_owner,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("AddMatch", "s", "rule\0", "", "", on_match,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_NAMES("RemoveMatch", "s", "rule\0", "", "", on_match,
				 SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_VTABLE_END,
};

/* ---- our own interface ---- */

static int refuse(const struct connection *c, const struct method *method, sd_bus_error *reterr)
{
	return sd_bus_error_setf(reterr, SD_BUS_ERROR_ACCESS_DENIED,
				 "%s is for root and the user that supd runs as; uid %u %s",
				 method->name, (unsigned) c->peer.uid,
				 c->right == RIGHT_LOOK ? "may only look" : "may do nothing here");
}

static int call(struct connection *c, sd_bus_message *m, sd_bus_error *reterr)
{
	const struct method *method = method_find(sd_bus_message_get_member(m));

	if (!method)
		return -ENOSYS;
	if (!method_is_allowed(method, c->right))
		return refuse(c, method, reterr);
	return c->terms->call(c->terms->userdata, c, method, m, reterr);
}

/* Where sd-bus has no memory for an error it sends nothing, and who asked would wait for ever. */
static int on_method(sd_bus_message *m, void *userdata, sd_bus_error *reterr)
{
	struct connection *c = userdata;
	int r = call(c, m, reterr);

	if (r >= 0)
		return r;
	if (sd_bus_error_is_set(reterr))
		r = sd_bus_reply_method_error(m, reterr);
	else
		r = sd_bus_reply_method_errno(m, r, NULL);
	if (r < 0)
		gone(c);
	return 1;
}

/* Rights are ours to judge: UNPRIVILEGED only keeps sd-bus from judging them, which has no bus to
 * ask. */
#define ROW(name, signature, arguments, verb, right)                         \
	SD_BUS_METHOD_WITH_NAMES(name, signature, arguments, METHODS_ANSWER, \
		METHODS_ANSWER_NAMES, on_method,                             \
				 SD_BUS_VTABLE_UNPRIVILEGED),
static const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	METHODS(ROW)
	SD_BUS_SIGNAL_WITH_NAMES("Rows", METHODS_ROWS, METHODS_ROWS_NAMES, 0),
	SD_BUS_VTABLE_END,
};
#undef ROW

/* ---- going ---- */

static int on_disconnected(sd_bus_message *m _unused_, void *userdata,
			   sd_bus_error *reterr _unused_)
{
	gone(userdata);
	return 0;
}

static void on_rules_broken(void *userdata, int error _unused_)
{
	gone(userdata);
}

/* The pump has seen an end of the handshake; whether sd-bus has been convinced by it is another
 * matter. */
static int on_shaking_over(sd_event_source *source _unused_, uint64_t now _unused_, void *userdata)
{
	struct connection *c = userdata;

	if (sd_bus_is_ready(c->bus) <= 0)
		gone(c);
	return 0;
}

/* ---- sending ---- */

static bool is_drained(const struct connection *c)
{
	uint64_t n;

	return sd_bus_get_n_queued_write(c->bus, &n) < 0 || n == 0;
}

static int on_reading_slow(sd_event_source *source _unused_, uint64_t now _unused_, void *userdata)
{
	struct connection *c = userdata;

	if (!is_drained(c))
		gone(c);
	return 0;
}

static int start_patience(struct connection *c)
{
	int r = sd_event_source_set_time_relative(c->reading,
						  READING_PATIENCE * c->terms->patience);

	return r < 0 ? r : sd_event_source_set_enabled(c->reading, SD_EVENT_ONESHOT);
}

int connection_send(struct connection *c, sd_bus_message *m, size_t bytes)
{
	bool was_drained = is_drained(c);
	int r;

	if (was_drained)
		c->owed = 0;
	r = sd_bus_send(c->bus, m, NULL);
	if (r < 0)
		return r;
	if (is_drained(c))
		return sd_event_source_set_enabled(c->reading, SD_EVENT_OFF);
	c->owed += bytes;
	return was_drained ? start_patience(c) : 0;
}

/* Each message passes here first. Much of it sd-bus answers by itself (what does not exist, what
 * has the wrong arguments): its queue alone tells how far somebody is behind who asks on and on and
 * does not read. */
static int on_any_message(sd_bus_message *m _unused_, void *userdata, sd_bus_error *reterr _unused_)
{
	struct connection *c = userdata;
	uint64_t behind = 0;
	int enabled = SD_EVENT_OFF;

	(void) sd_bus_get_n_queued_write(c->bus, &behind);
	if (behind > (c->right == RIGHT_OWN ? BEHIND_MAX : BEHIND_MAX_OTHERS)) {
		gone(c);
		return 1;
	}
	if (behind == 0)
		return sd_event_source_set_enabled(c->reading, SD_EVENT_OFF);
	(void) sd_event_source_get_enabled(c->reading, &enabled);
	return enabled == SD_EVENT_OFF ? start_patience(c) : 0;
}

bool connection_is_behind(const struct connection *c)
{
	return !is_drained(c);
}

/* ---- life ---- */

/* sd-bus asks the kernel for 8 MiB of buffer, which is a lot to keep for one that does not read. */
static void limit_buffer(int fd)
{
	int size = SEND_BUFFER;

	(void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* Credentials are judged already, from the socket: whatever the client claims in the handshake is
 * of no interest, which "anonymous" says. */
static int prepare_bus(struct connection *c)
{
	sd_id128_t id;
	int r = sd_id128_randomize(&id);

	if (r >= 0)
		r = sd_bus_set_server(c->bus, 1, id);
	if (r >= 0)
		r = sd_bus_set_anonymous(c->bus, 1);
	if (r >= 0)
		r = sd_bus_negotiate_fds(c->bus, 0);
	if (r >= 0)
		r = sd_bus_set_exit_on_disconnect(c->bus, 0);
	return r;
}

/* What offer() needs, and more. Where memory runs out in its midst, sd-bus (252) leaves behind what
 * later ends the process: an object without its parents, a table with keys that are freed. So there
 * is room, or nothing is begun. */
static bool has_memory_to_offer(void)
{
	void *room = malloc(OFFER_ROOM);

	free(room);
	return room;
}

static int offer(struct connection *c)
{
	int r = sd_bus_match_signal(c->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
				    "org.freedesktop.DBus.Local", "Disconnected", on_disconnected, c);

	if (r >= 0)
		r = sd_bus_add_filter(c->bus, NULL, on_any_message, c);
	if (r >= 0)
		r = sd_bus_add_object_vtable(c->bus, NULL, "/org/freedesktop/DBus", BUS_NAME,
					     bus_vtable, c);
	if (r >= 0)
		r = sd_bus_add_object_vtable(c->bus, NULL, METHODS_PATH, METHODS_INTERFACE,
					     manager_vtable, c);
	return r;
}

/* The bus object takes both descriptors. */
static int start_bus(struct connection *c, int in, int out)
{
	int r = sd_bus_set_fd(c->bus, in, out);

	if (r < 0) {
		close(in);
		close(out);
		return r;
	}
	r = prepare_bus(c);
	if (r >= 0)
		r = sd_bus_start(c->bus);
	if (r >= 0)
		r = has_memory_to_offer() ? offer(c) : -ENOMEM;
	limit_buffer(out);
	return r;
}

static int connect_pump(struct connection *c, sd_event *event, int fd)
{
	const struct pump_config config = {
		.max_message = MESSAGE_MAX,
		.patience = c->terms->patience,
		.priority = PRIORITY,
		.fail = on_rules_broken,
		.userdata = c,
	};
	int out = fcntl(fd, F_DUPFD_CLOEXEC, 3), in, r;

	if (out < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	r = pump_new(event, fd, &config, &c->pump, &in);
	if (r < 0) {
		close(fd);
		close(out);
		return r;
	}
	return start_bus(c, in, out);
}

static int open_connection(struct connection *c, sd_event *event, int fd)
{
	int r = sd_bus_new(&c->bus);

	if (r < 0) {
		close(fd);
		return r;
	}
	r = connect_pump(c, event, fd);
	if (r >= 0)
		r = sd_bus_attach_event(c->bus, event, PRIORITY);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &c->shaking, CLOCK_BOOTTIME,
					       c->terms->patience, 0, on_shaking_over, c);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &c->reading, CLOCK_BOOTTIME, 0, 0,
					       on_reading_slow, c);
	return r < 0 ? r : sd_event_source_set_enabled(c->reading, SD_EVENT_OFF);
}

int connection_new(sd_event *event, int fd, struct peer *peer, enum right right, uint64_t number,
		   const struct connection_terms *terms, struct connection **ret)
{
	struct connection *c = calloc(1, sizeof(*c));
	int r;

	if (!c) {
		close(fd);
		peer_done(peer);
		return -ENOMEM;
	}
	c->peer = *peer;
	*peer = (struct peer){ 0 };
	c->right = right;
	c->number = number;
	c->terms = terms;
	r = open_connection(c, event, fd);
	if (r < 0) {
		connection_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

struct connection *connection_free(struct connection *c)
{
	if (!c)
		return NULL;
	sd_event_source_disable_unref(c->shaking);
	sd_event_source_disable_unref(c->reading);
	pump_free(c->pump);
	/* Closing comes first: a bus object that is in the middle of a call outlives its last
	 * reference here. */
	sd_bus_close(c->bus);
	sd_bus_unref(c->bus);
	peer_done(&c->peer);
	free(c);
	return NULL;
}
