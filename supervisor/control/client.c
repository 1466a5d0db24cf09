/* SPDX-License-Identifier: MIT */
#include "control/client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "control/methods.h"
#include "control/wire.h"

#define CONNECT_SECONDS 10

struct control_question {
	struct control_question *prev, *next;
	struct control_client *client;
	sd_bus_slot *slot;
	uint64_t serial;
	const char *path; /* the client's */
	bool is_answered;
	control_take_fn *take; /* NULL: rows are kept */
	void *userdata;
	struct control_reply reply;
};

struct control_client {
	char *path;
	sd_bus *bus;
	struct control_question *questions;
	unsigned n_unanswered, n_unanswered_max;
	int watched; /* meaningful with on_watched */
	void (*on_watched)(void *userdata, int fd); /* NULL: nothing is watched */
	void *watch_userdata;
};

/* ---- replies ---- */

void control_reply_done(struct control_reply *r)
{
	for (size_t i = 0; i < r->n_held; i++)
		sd_bus_message_unref(r->held[i]);
	free(r->held);
	arena_done(&r->arena);
	*r = (struct control_reply){ 0 };
}

_printf_(3, 4) static void say(struct control_reply *r, enum control_status status, const char *fmt,
			       ...)
{
	_cleanup_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	r->status = status;
	r->message = text ? arena_strdup(&r->arena, text) : NULL;
	if (!r->message)
		r->message = "out of memory";
}

static int hold(struct control_reply *r, sd_bus_message *m)
{
	sd_bus_message **held = reallocarray(r->held, r->n_held + 1, sizeof(*held));

	if (!held)
		return -ENOMEM;
	r->held = held;
	held[r->n_held++] = sd_bus_message_ref(m);
	return 0;
}

static int add_rows(struct control_reply *r, sd_bus_message *m)
{
	struct supd_row *more, *all;
	size_t n;
	int k = hold(r, m);

	if (k >= 0)
		k = wire_read(m, &r->arena, &more, &n);
	if (k < 0 || n == 0)
		return k;
	if (r->n == 0) {
		r->row = more;
		r->n = n;
		return 0;
	}
	all = arena_alloc(&r->arena, (r->n + n) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all, r->row, r->n * sizeof(*all));
	memcpy(all + r->n, more, n * sizeof(*all));
	r->row = all;
	r->n += n;
	return 0;
}

static int read_answer(struct control_reply *r, sd_bus_message *m)
{
	int32_t status = CONTROL_FAILED;
	const char *message;
	int k;

	if (!sd_bus_message_has_signature(m, METHODS_ANSWER))
		return -EBADMSG;
	k = add_rows(r, m);
	if (k >= 0)
		k = sd_bus_message_read(m, "is", &status, &message);
	if (k < 0)
		return k;
	r->status = status;
	r->message = *message ? message : NULL;
	return 0;
}

static void read_error(struct control_reply *r, const sd_bus_error *e, const char *path)
{
	static const struct {
		const char *name;
		enum control_status status;
	} known[] = {
		{ SD_BUS_ERROR_INVALID_ARGS, CONTROL_USAGE },
		{ SD_BUS_ERROR_ACCESS_DENIED, CONTROL_FAILED },
		{ SD_BUS_ERROR_LIMITS_EXCEEDED, CONTROL_FAILED },
	};

	for (size_t i = 0; i < ELEMENTS(known); i++)
		if (sd_bus_error_has_name(e, known[i].name)) {
			say(r, known[i].status, "%s", e->message ? e->message : e->name);
			return;
		}
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) ||
	    sd_bus_error_get_errno(e) == ESHUTDOWN)
		say(r, CONTROL_NO_DAEMON, "the supd at %s ended before it answered", path);
	else if (sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_METHOD))
		say(r, CONTROL_FAILED,
		    "the supd at %s is of another version and does not know this verb", path);
	else
		say(r, CONTROL_FAILED, "%s", e->message ? e->message : e->name);
}

/* ---- connecting ---- */

static const char *named_directory(const struct control_place *place)
{
	const char *env = secure_getenv("SUPD_RUNTIME_DIR");

	return place->runtime_dir ? place->runtime_dir : env && *env ? env : NULL;
}

char *control_place_runtime_dir(const struct control_place *place)
{
	const char *named = named_directory(place), *xdg = secure_getenv("XDG_RUNTIME_DIR");
	char *dir;

	if (named)
		return strdup(named);
	if (!place->is_user)
		return strdup(RUNSTATEDIR);
	if (xdg && *xdg == '/')
		return strdup(xdg);
	return asprintf(&dir, "/run/user/%u", (unsigned) getuid()) < 0 ? NULL : dir;
}

/* As the listener does: a path too long for an address is reached through its directory. */
static int address_of(const char *path, int *directory, struct sockaddr_un *ret)
{
	_cleanup_free_ char *parent = NULL;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) < sizeof(ret->sun_path)) {
		memcpy(ret->sun_path, path, strlen(path) + 1);
		return 0;
	}
	parent = strdup(path);
	if (!parent)
		return -ENOMEM;
	*strrchr(parent, '/') = '\0';
	*directory = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*directory < 0)
		return -errno;
	(void) snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", *directory,
			strrchr(path, '/') + 1);
	return 0;
}

static int connect_to(const char *path, int *ret)
{
	const struct timeval patience = { .tv_sec = CONNECT_SECONDS };
	struct sockaddr_un address;
	int directory = -1, r = address_of(path, &directory, &address), fd = -1;

	if (r >= 0) {
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		r = fd < 0 ? -errno : 0;
	}
	/* For the case that nobody accepts. */
	if (r >= 0)
		(void) setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (r >= 0 && connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
		r = -errno;
	if (directory >= 0)
		close(directory);
	if (r >= 0) {
		*ret = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return r;
}

static void explain(struct control_reply *r, const struct control_place *place, const char *path,
		    int error)
{
	const char *named = named_directory(place);

	switch (-error) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
		say(r, CONTROL_NO_DAEMON, "no supd answers at %s; start it with 'supd%s%s%s'", path,
		    place->is_user && !named ? " --user" : "", named ? " --runtime-dir=" : "",
		    named ? named : "");
		break;
	case EACCES:
	case EPERM:
		say(r, CONTROL_FAILED,
		    "no access to the supd at %s; ReadAccess= in its supd.conf can give it", path);
		break;
	case EAGAIN:
		say(r, CONTROL_NO_DAEMON, "the supd at %s is there, but does not answer", path);
		break;
	default:
		say(r, CONTROL_NO_DAEMON, "cannot connect to %s: %s", path, strerror(-error));
	}
}

static struct control_question *find_serial(struct control_client *c, uint64_t serial)
{
	struct control_question *q;

	DL_FOREACH(c->questions, q)
		if (q->serial == serial)
			return q;
	return NULL;
}

static int give_rows(struct control_question *q, sd_bus_message *m)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct supd_row *row;
	size_t n;
	int r = wire_read(m, &arena, &row, &n);

	if (r >= 0)
		q->take(q->userdata, row, n);
	return r;
}

static int on_rows_ahead(sd_bus_message *m, void *userdata, sd_bus_error *reterr _unused_)
{
	struct control_question *q;
	uint64_t serial;

	if (!sd_bus_message_has_signature(m, METHODS_ROWS) ||
	    sd_bus_message_read_basic(m, 't', &serial) <= 0)
		return 0;
	q = find_serial(userdata, serial);
	if (q && (q->take ? give_rows(q, m) : add_rows(&q->reply, m)) < 0)
		say(&q->reply, CONTROL_FAILED, "the answer of supd cannot be read");
	return 0;
}

/* The daemon's limit for the likes of us. */
static unsigned calls_max(int fd)
{
	struct ucred daemon;
	socklen_t n = sizeof(daemon);
	bool is_owner = geteuid() == 0 ||
			(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &daemon, &n) == 0 &&
			 daemon.uid == geteuid());

	return is_owner ? WIRE_CALLS_MAX : WIRE_CALLS_MAX_OTHERS;
}

static int start_bus(struct control_client *c, int fd)
{
	int r = sd_bus_new(&c->bus);

	c->n_unanswered_max = calls_max(fd);
	if (r >= 0)
		r = sd_bus_set_fd(c->bus, fd, fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = sd_bus_negotiate_fds(c->bus, 0);
	if (r >= 0)
		r = sd_bus_start(c->bus);
	if (r >= 0)
		r = sd_bus_match_signal(c->bus, NULL, NULL, METHODS_PATH, METHODS_INTERFACE, "Rows",
					on_rows_ahead, c);
	return r;
}

int control_client_new(const struct control_place *place, struct control_client **ret,
		       struct control_reply *reterr)
{
	_cleanup_free_ char *dir = control_place_runtime_dir(place);
	struct control_client *c = calloc(1, sizeof(*c));
	int fd, r;

	if (!c || !dir || asprintf(&c->path, "%s/supd/private", dir) < 0) {
		say(reterr, CONTROL_FAILED, "out of memory");
		free(c);
		return -ENOMEM;
	}
	r = connect_to(c->path, &fd);
	if (r >= 0)
		r = start_bus(c, fd);
	if (r < 0) {
		explain(reterr, place, c->path, r);
		control_client_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static void question_free(struct control_client *c, struct control_question *q)
{
	DL_DELETE(c->questions, q);
	if (q->slot && !q->is_answered)
		c->n_unanswered--;
	sd_bus_slot_unref(q->slot);
	control_reply_done(&q->reply);
	free(q);
}

struct control_client *control_client_free(struct control_client *c)
{
	struct control_question *q, *next;

	if (!c)
		return NULL;
	DL_FOREACH_SAFE(c->questions, q, next)
		question_free(c, q);
	sd_bus_close(c->bus);
	sd_bus_unref(c->bus);
	free(c->path);
	free(c);
	return NULL;
}

/* ---- asking ---- */

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *reterr _unused_)
{
	struct control_question *q = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(m);

	q->is_answered = true;
	q->client->n_unanswered--;
	if (q->reply.status != CONTROL_OK) /* its rows were in disorder already */
		return 0;
	if (e)
		read_error(&q->reply, e, q->path);
	else if (read_answer(&q->reply, m) < 0)
		say(&q->reply, CONTROL_FAILED,
		    "the answer of supd cannot be read; is it of another version?");
	return 0;
}

static int append_keys(sd_bus_message *m, const char *const *keys)
{
	int r = sd_bus_message_open_container(m, 'a', "s");

	for (; r >= 0 && keys && *keys; keys++)
		r = sd_bus_message_append_basic(m, 's', *keys);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

void control_client_watch(struct control_client *c, int fd, void (*fn)(void *userdata, int fd),
			  void *userdata)
{
	c->watched = fd;
	c->on_watched = fd < 0 ? NULL : fn;
	c->watch_userdata = userdata;
}

/* Milliseconds until the connection has something to do by itself, for poll(2). */
static int patience(struct control_client *c)
{
	struct timespec now = { 0 };
	uint64_t until = UINT64_MAX, passed;

	if (sd_bus_get_timeout(c->bus, &until) < 0 || until == UINT64_MAX)
		return -1;
	(void) clock_gettime(CLOCK_MONOTONIC, &now);
	passed = (uint64_t) now.tv_sec * USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
	return until <= passed ? 0 : (int) ((until - passed) / USEC_PER_MSEC % INT_MAX) + 1;
}

/* Until the connection or what is watched has something to say. */
static int wait_for_both(struct control_client *c)
{
	struct pollfd wait[] = {
		{ .fd = sd_bus_get_fd(c->bus), .events = (short) sd_bus_get_events(c->bus) },
		{ .fd = c->watched, .events = POLLIN },
	};

	if (poll(wait, ELEMENTS(wait), patience(c)) < 0)
		return -errno;
	if (wait[1].revents)
		c->on_watched(c->watch_userdata, c->watched);
	return 0;
}

/* One step of the connection. */
static int work(struct control_client *c)
{
	int r = sd_bus_process(c->bus, NULL);

	if (r == 0)
		r = c->on_watched ? wait_for_both(c) : sd_bus_wait(c->bus, UINT64_MAX);
	return r == -EINTR ? 0 : r;
}

/* The daemon refuses more than its limit: those beyond are asked as the others are answered. */
static int send_question(struct control_client *c, struct control_question *q, sd_bus_message *m)
{
	int r = 0;

	while (r >= 0 && c->n_unanswered >= c->n_unanswered_max)
		r = work(c);
	if (r >= 0)
		r = sd_bus_call_async(c->bus, &q->slot, m, on_answer, q, UINT64_MAX);
	if (r < 0)
		return r;
	c->n_unanswered++;
	return sd_bus_message_get_cookie(m, &q->serial);
}

/* @error: what went wrong in making @m, or 0. */
static struct control_question *question_new(struct control_client *c, sd_bus_message *m, int error)
{
	struct control_question *q = calloc(1, sizeof(*q));
	int r;

	if (!q)
		return NULL;
	q->client = c;
	q->path = c->path;
	DL_APPEND(c->questions, q);
	r = error < 0 ? error : send_question(c, q, m);
	if (r < 0) {
		say(&q->reply, CONTROL_FAILED, "cannot ask the supd at %s: %s", c->path,
		    strerror(-r));
		q->is_answered = true;
	}
	return q;
}

static int make_question(struct control_client *c, const char *method, const char *types,
			 va_list args, sd_bus_message **ret)
{
	int r = sd_bus_message_new_method_call(c->bus, ret, NULL, METHODS_PATH, METHODS_INTERFACE,
					       method);

	return r >= 0 && *types ? sd_bus_message_appendv(*ret, types, args) : r;
}

struct control_question *control_client_ask(struct control_client *c, const char *method,
					    const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list args;
	int r;

	va_start(args, types);
	r = make_question(c, method, types, args, &m);
	va_end(args);
	return question_new(c, m, r);
}

struct control_question *control_client_ask_keys(struct control_client *c, const char *method,
						 const char *const *keys, const char *types, ...)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	va_list args;
	int r;

	va_start(args, types);
	r = make_question(c, method, types, args, &m);
	va_end(args);
	if (r >= 0)
		r = append_keys(m, keys);
	return question_new(c, m, r);
}

void control_client_take_rows(struct control_question *q, control_take_fn *take, void *userdata)
{
	if (!q)
		return;
	q->take = take;
	q->userdata = userdata;
}

/* Lets the connection do its work until this one is answered. */
static int wait_for(struct control_client *c, const struct control_question *q)
{
	int r = 0;

	while (!q->is_answered && r >= 0)
		r = work(c);
	return r;
}

void control_client_wait(struct control_client *c, struct control_question *q,
			 struct control_reply *ret)
{
	*ret = (struct control_reply){ 0 };
	if (!q) {
		say(ret, CONTROL_FAILED, "out of memory");
		return;
	}
	if (wait_for(c, q) < 0)
		say(&q->reply, CONTROL_NO_DAEMON,
		    "the supd at %s closed the connection; it ended, or it takes none of you at present", c->path);
	*ret = q->reply;
	q->reply = (struct control_reply){ 0 };
	question_free(c, q);
}
