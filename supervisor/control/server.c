/* SPDX-License-Identifier: MIT */
#include "control/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <utlist.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "base/usec.h"
#include "control/access.h"
#include "control/connection.h"
#include "control/listener.h"
#include "control/methods.h"
#include "control/peer.h"
#include "control/wire.h"

#define CONNECTIONS_MAX 64 /* of owners; and as many of all others together */
#define CONNECTIONS_PER_UID 8
#define FDS_PER_CONNECTION 4
#define ACCEPTS_AT_ONCE 16
#define PATIENCE (5 * USEC_PER_SEC)
#define PAUSE (200 * USEC_PER_MSEC)
#define CHUNK_BYTES (16u * 1024 * 1024)       /* an array may have 64 MiB */
#define OWED_TO_OTHERS_MAX (128u * 1024 * 1024) /* all connections together */
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

/* A call that waits for its answer. */
struct call {
	uint64_t id;
	struct connection *connection;
	sd_bus_message *question;
	struct method_keys keys; /* lent by the question */
	/* those that are not sent yet: the answer, or a signal if it is a long one; or NULL */
	sd_bus_message *rows;
	size_t bytes;            /* of these */
	bool is_long;            /* some rows have gone ahead */
	int error;               /* why no answer can be given */
	UT_hash_handle hh;
};

struct control_server {
	sd_event *event;
	struct access_policy policy;
	control_ask_fn *ask;
	void *userdata;
	struct listener listener;
	sd_event_source *accepting;
	sd_event_source *pause; /* on while accepting is off */
	int spare;              /* given up to be able to turn somebody away */
	unsigned max_connections;
	struct connection_terms terms;
	struct connection *connections;
	uint64_t last_connection;
	struct call *calls;
	uint64_t last_call;
};

/* ---- calls ---- */

static struct call *call_free(struct control_server *s, struct call *call)
{
	HASH_DEL(s->calls, call);
	call->connection->n_calls--;
	sd_bus_message_unref(call->rows);
	sd_bus_message_unref(call->question);
	free(call);
	return NULL;
}

static struct call *call_find(struct control_server *s, uint64_t id)
{
	struct call *call;

	HASH_FIND(hh, s->calls, &id, sizeof(id), call);
	return call;
}

static struct call *call_new(struct control_server *s, struct connection *c,
			     sd_bus_message *question, const struct method_keys *keys)
{
	struct call *call = calloc(1, sizeof(*call));

	if (!call)
		return NULL;
	call->id = ++s->last_call;
	HASH_ADD(hh, s->calls, id, sizeof(call->id), call);
	if (!HASH_IS_IN(call)) {
		free(call);
		return NULL;
	}
	call->connection = c;
	call->question = sd_bus_message_ref(question);
	call->keys = *keys;
	c->n_calls++;
	return call;
}

/* ---- connections ---- */

static void drop(struct control_server *s, struct connection *c)
{
	struct call *call, *next;

	HASH_ITER(hh, s->calls, call, next)
		if (call->connection == c)
			call_free(s, call);
	DL_DELETE(s->connections, c);
	connection_free(c);
}

static void on_gone(void *userdata, struct connection *c)
{
	drop(userdata, c);
}

static bool is_owner(const struct connection *c)
{
	return c->right == RIGHT_OWN;
}

/* Owners have places of their own: no number of others can keep them out. */
static bool has_room(const struct control_server *s, const struct peer *peer, enum right right)
{
	unsigned n = 0, of_uid = 0;
	const struct connection *c;

	DL_FOREACH(s->connections, c) {
		if ((c->right == RIGHT_OWN) != (right == RIGHT_OWN))
			continue;
		n++;
		of_uid += c->peer.uid == peer->uid;
	}
	return n < s->max_connections && (right == RIGHT_OWN || of_uid < CONNECTIONS_PER_UID);
}

/* Room for all connections in half of the descriptors we may have. */
static unsigned connections_max(void)
{
	struct rlimit limit;
	rlim_t fit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return CONNECTIONS_MAX;
	fit = limit.rlim_cur / (4 * FDS_PER_CONNECTION);
	return fit < 2 ? 2 : fit > CONNECTIONS_MAX ? CONNECTIONS_MAX : (unsigned) fit;
}

/* ---- accepting ---- */

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void take_spare(struct control_server *s)
{
	if (s->spare < 0)
		s->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int on_pause_over(sd_event_source *source _unused_, uint64_t now _unused_, void *userdata)
{
	struct control_server *s = userdata;

	take_spare(s);
	if (sd_event_source_set_enabled(s->accepting, SD_EVENT_ON) >= 0)
		return 0;
	/* The kernel has no memory for that now (epoll_ctl): nobody else would try it again. */
	(void) sd_event_source_set_time_relative(s->pause, PAUSE);
	(void) sd_event_source_set_enabled(s->pause, SD_EVENT_ONESHOT);
	return 0;
}

/* The first in the queue, so that somebody at least gets an answer. */
static void turn_away(struct control_server *s)
{
	int fd;

	if (s->spare >= 0)
		close(s->spare);
	s->spare = -1;
	fd = accept4(s->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	take_spare(s);
}

/* Looks again later. Without that the loop would find the same queue at once, and again, for
 * ever. */
static void pause_accepting(struct control_server *s)
{
	if (sd_event_source_set_time_relative(s->pause, PAUSE) >= 0 &&
	    sd_event_source_set_enabled(s->pause, SD_EVENT_ONESHOT) >= 0)
		(void) sd_event_source_set_enabled(s->accepting, SD_EVENT_OFF);
}

/* Takes @fd. */
static int welcome(struct control_server *s, int fd)
{
	struct connection *c = NULL;
	struct peer peer;
	enum right right;
	int r = peer_read(fd, &peer);

	if (r < 0) {
		close(fd);
		return r;
	}
	right = access_judge(&s->policy, &peer);
	if (right == RIGHT_NONE || !has_room(s, &peer, right)) {
		log_debug("control: uid %u turned away: %s", (unsigned) peer.uid,
			  right == RIGHT_NONE ? "no access" : "too many connections");
		peer_done(&peer);
		close(fd);
		return 0;
	}
	r = connection_new(s->event, fd, &peer, right, ++s->last_connection, &s->terms, &c);
	if (r >= 0)
		DL_APPEND(s->connections, c);
	return r;
}

/* Of accept(2), and over with that one connection. What else it may say (EPERM, from a sandbox) it
 * will say again. */
static bool is_passing(int error)
{
	return error == EINTR || error == ECONNABORTED || error == EPROTO;
}

static int on_accept(sd_event_source *source _unused_, int listening, uint32_t events _unused_,
		     void *userdata)
{
	struct control_server *s = userdata;

	for (unsigned i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		int r = fd < 0 ? -errno : welcome(s, fd);

		if (r == -EAGAIN)
			break;
		if (is_shortage(-r) || (fd < 0 && !is_passing(-r))) {
			if (fd < 0)
				turn_away(s);
			pause_accepting(s);
			break;
		}
	}
	return 0;
}

/* ---- questions ---- */

static int on_call(void *userdata, struct connection *c, const struct method *method,
		   sd_bus_message *m, sd_bus_error *reterr)
{
	struct control_server *s = userdata;
	struct control_request request;
	struct method_keys keys;
	const char *sentence;
	struct call *call;

	if (c->n_calls >= (is_owner(c) ? WIRE_CALLS_MAX : WIRE_CALLS_MAX_OTHERS))
		return sd_bus_error_set(reterr, SD_BUS_ERROR_LIMITS_EXCEEDED,
					"too many calls at once; wait for the answers");
	if (method_read(method, m, &request, &keys, &sentence) < 0)
		return sd_bus_error_set(reterr, SD_BUS_ERROR_INVALID_ARGS, sentence);
	call = call_new(s, c, m, &keys);
	if (!call)
		return -ENOMEM;
	request.id = call->id;
	request.uid = c->peer.uid;
	request.is_owner = is_owner(c);
	s->ask(s->userdata, &request);
	return 1;
}

/* ---- answers ---- */

static int new_signal(struct call *call, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	uint64_t serial;
	int r = sd_bus_message_get_cookie(call->question, &serial);

	if (r >= 0)
		r = sd_bus_message_new_signal(call->connection->bus, &m, METHODS_PATH,
					      METHODS_INTERFACE, "Rows");
	if (r >= 0)
		r = sd_bus_message_append_basic(m, 't', &serial);
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

static int begin_rows(struct call *call)
{
	int r;

	if (call->rows)
		return 0;
	r = call->is_long ? new_signal(call, &call->rows) :
			    sd_bus_message_new_method_return(call->question, &call->rows);
	return r < 0 ? r : sd_bus_message_open_container(call->rows, 'a', WIRE_ROW);
}

static int end_answer(struct call *call, int32_t status, const char *message)
{
	int r = sd_bus_message_close_container(call->rows);

	return r < 0 ? r : sd_bus_message_append(call->rows, "is", status, message);
}

static size_t owed_to_others(const struct control_server *s)
{
	const struct connection *c;
	size_t sum = 0;

	DL_FOREACH(s->connections, c)
		if (!is_owner(c))
			sum += c->owed;
	return sum;
}

static int send_to(struct control_server *s, struct connection *c, sd_bus_message *m, size_t bytes)
{
	if (!is_owner(c) && owed_to_others(s) + bytes > OWED_TO_OTHERS_MAX)
		return -ENOBUFS;
	return connection_send(c, m, bytes);
}

/* What was to be the answer turns out to be the beginning of a long one: its rows are copied into a
 * signal. */
static int turn_into_signal(struct call *call)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = end_answer(call, 0, ""); /* sd-bus seals nothing that is not whole */

	if (r >= 0)
		r = sd_bus_message_seal(call->rows, UINT32_MAX, 0);
	if (r >= 0)
		r = sd_bus_message_rewind(call->rows, 1);
	if (r >= 0)
		r = new_signal(call, &m);
	if (r >= 0)
		r = sd_bus_message_copy(m, call->rows, 0);
	if (r < 0)
		return r;
	sd_bus_message_unref(call->rows);
	call->rows = TAKE_PTR(m);
	return 0;
}

static int send_rows_ahead(struct control_server *s, struct call *call)
{
	int r = call->is_long ? sd_bus_message_close_container(call->rows) : turn_into_signal(call);

	if (r >= 0)
		r = send_to(s, call->connection, call->rows, call->bytes);
	call->rows = sd_bus_message_unref(call->rows);
	call->bytes = 0;
	call->is_long = true;
	return r;
}

/* Only those fields that the caller wants. */
static int append_wanted(struct call *call, const struct supd_row *row)
{
	struct supd_field field[METHOD_KEYS_MAX];
	struct supd_row wanted = { .field = field };

	if (call->keys.n == 0)
		return wire_append(call->rows, row, &call->bytes);
	for (size_t i = 0; i < row->n && wanted.n < ELEMENTS(field); i++)
		if (method_keys_want(&call->keys, row->field[i].key))
			field[wanted.n++] = row->field[i];
	return wire_append(call->rows, &wanted, &call->bytes);
}

void control_row(struct control_server *s, uint64_t id, const struct supd_row *row)
{
	struct call *call = call_find(s, id);

	if (!call || call->error < 0)
		return;
	call->error = begin_rows(call);
	if (call->error >= 0)
		call->error = append_wanted(call, row);
	if (call->error >= 0 && call->bytes >= CHUNK_BYTES)
		call->error = send_rows_ahead(s, call);
}

/* Of a long answer the last rows go ahead as well, and the answer has none. */
static int finish_answer(struct control_server *s, struct call *call, int status,
			 const char *message)
{
	_cleanup_free_ char *text = text_printable(message ? message : "");
	int r = text ? 0 : -ENOMEM;

	if (r >= 0 && call->is_long && call->rows)
		r = send_rows_ahead(s, call);
	call->is_long = false;
	if (r >= 0)
		r = begin_rows(call);
	return r < 0 ? r : end_answer(call, status, text);
}

/* In place of an answer; as small as it is, it goes through if anything does. */
static int send_error(struct call *call, int error)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_errnof(call->question, &m, error,
						 "supd could not answer: %s", strerror(-error));

	return r < 0 ? r : connection_send(call->connection, m, 0);
}

void control_done(struct control_server *s, uint64_t id, int status, const char *message)
{
	struct call *call = call_find(s, id);
	struct connection *c;
	int r;

	if (!call)
		return;
	c = call->connection;
	if (call->error >= 0)
		call->error = finish_answer(s, call, status, message);
	if (call->error >= 0)
		call->error = send_to(s, c, call->rows, call->bytes);
	r = call->error < 0 ? send_error(call, call->error) : 0;
	call_free(s, call);
	if (r < 0)
		drop(s, c);
}

void control_flush(struct control_server *s, uint64_t id)
{
	struct call *call = call_find(s, id);

	if (call && call->error >= 0 && call->rows)
		call->error = send_rows_ahead(s, call);
}

bool control_is_awaited(struct control_server *s, uint64_t id)
{
	const struct call *call = call_find(s, id);

	return call && call->error >= 0;
}

bool control_is_behind(struct control_server *s, uint64_t id)
{
	const struct call *call = call_find(s, id);

	return call && connection_is_behind(call->connection);
}

/* ---- life ---- */

static int start_accepting(struct control_server *s)
{
	int r = sd_event_add_io(s->event, &s->accepting, s->listener.fd, EPOLLIN, on_accept, s);

	if (r >= 0)
		r = sd_event_source_set_priority(s->accepting, PRIORITY);
	if (r >= 0)
		r = sd_event_add_time_relative(s->event, &s->pause, CLOCK_BOOTTIME, PAUSE, 0,
					       on_pause_over, s);
	return r < 0 ? r : sd_event_source_set_enabled(s->pause, SD_EVENT_OFF);
}

int control_server_new(sd_event *event, const struct control_config *config,
		       struct control_server **ret)
{
	struct control_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->event = sd_event_ref(event);
	s->policy = (struct access_policy){ geteuid(), config->read_access, config->read_group };
	s->ask = config->ask;
	s->userdata = config->userdata;
	s->listener = (struct listener){ .fd = -1, .directory = -1 };
	s->spare = -1;
	s->max_connections = connections_max();
	s->terms = (struct connection_terms){
		.patience = config->patience ? config->patience : PATIENCE,
		.call = on_call,
		.gone = on_gone,
		.userdata = s,
	};
	take_spare(s);
	r = listener_open(config, &s->listener);
	if (r >= 0)
		r = start_accepting(s);
	if (r < 0) {
		control_server_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct control_server *control_server_free(struct control_server *s)
{
	struct call *call, *next;
	struct connection *c, *after;

	if (!s)
		return NULL;
	HASH_ITER(hh, s->calls, call, next) {
		(void) send_error(call, -ESHUTDOWN);
		call_free(s, call);
	}
	DL_FOREACH_SAFE(s->connections, c, after)
		drop(s, c);
	sd_event_source_disable_unref(s->accepting);
	sd_event_source_disable_unref(s->pause);
	listener_close(&s->listener);
	if (s->spare >= 0)
		close(s->spare);
	sd_event_unref(s->event);
	free(s);
	return NULL;
}
