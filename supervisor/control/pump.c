/* SPDX-License-Identifier: MIT */
#include "control/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "control/frame.h"

#define BUFFER_BYTES 8192

struct pump {
	struct pump_config config;
	int in;
	int out; /* -1: ended */
	sd_event_source *readable;
	sd_event_source *writable; /* on only while the pipe is full */
	sd_event_source *deadline; /* on only while the client owes something */
	struct frame frame;
	bool is_owing;
	bool is_ended;
	size_t begin, end; /* of what still has to go into the pipe */
	bool is_holding;   /* what lies behind the barrier waits until the pipe is empty */
	size_t barrier;
	uint8_t buffer[BUFFER_BYTES];
};

static void stop(struct pump *p)
{
	(void) sd_event_source_set_enabled(p->readable, SD_EVENT_OFF);
	(void) sd_event_source_set_enabled(p->writable, SD_EVENT_OFF);
	(void) sd_event_source_set_enabled(p->deadline, SD_EVENT_OFF);
}

/* Last thing its caller does: @p may be gone afterwards. */
static int fail(struct pump *p, int error)
{
	stop(p);
	p->config.fail(p->config.userdata, error);
	return 0;
}

/* The pipe's reader sees the end once it has read what is in there. */
static int end(struct pump *p)
{
	stop(p);
	p->writable = sd_event_source_disable_unref(p->writable);
	if (p->out >= 0)
		close(p->out);
	p->out = -1;
	return 0;
}

static bool is_temporary(int error)
{
	return error == EAGAIN || error == EINTR;
}

/* Starts the clock when the client begins to owe bytes, stops it when it has sent them. Each
 * message has its own time, however many arrive in one go. */
static int watch_debt(struct pump *p, bool is_message_new)
{
	bool is_owing = !frame_is_idle(&p->frame);
	int r = 0;

	if (is_owing && (!p->is_owing || is_message_new)) {
		r = sd_event_source_set_time_relative(p->deadline, p->config.patience);
		if (r >= 0)
			r = sd_event_source_set_enabled(p->deadline, SD_EVENT_ONESHOT);
	} else if (!is_owing && p->is_owing) {
		r = sd_event_source_set_enabled(p->deadline, SD_EVENT_OFF);
	}
	p->is_owing = is_owing;
	return r;
}

static int on_deadline(sd_event_source *source _unused_, uint64_t now _unused_, void *userdata)
{
	return fail(userdata, -ETIMEDOUT);
}

static bool is_pipe_empty(const struct pump *p)
{
	int n;

	return ioctl(p->out, FIONREAD, &n) < 0 || n == 0;
}

/* How far the pipe may be filled now. While sd-bus reads the handshake it takes in whatever there
 * is, and then does not look at a message in there before more bytes come: so none may come along
 * with the handshake. */
static size_t writable_end(struct pump *p)
{
	if (p->is_holding && p->begin == p->barrier && is_pipe_empty(p))
		p->is_holding = false;
	return p->is_holding ? p->barrier : p->end;
}

/* Moves what was read into the pipe; if that is full, reading waits for it. */
static int push(struct pump *p)
{
	size_t limit = writable_end(p);

	while (p->begin < limit) {
		ssize_t n = write(p->out, p->buffer + p->begin, limit - p->begin);

		if (n < 0 && !is_temporary(errno))
			return fail(p, -errno);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		p->begin += (size_t) n;
	}
	if (p->begin == p->end && p->is_ended)
		return end(p);
	(void) sd_event_source_set_enabled(p->writable,
					   p->begin < p->end ? SD_EVENT_ON : SD_EVENT_OFF);
	(void) sd_event_source_set_enabled(p->readable,
					   p->begin < p->end ? SD_EVENT_OFF : SD_EVENT_ON);
	return 0;
}

static int on_writable(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_,
		       void *userdata)
{
	return push(userdata);
}

static int on_readable(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_,
		       void *userdata)
{
	struct pump *p = userdata;
	uint64_t before = p->frame.n_messages;
	uint32_t handshake = p->frame.handshake;
	bool was_open = p->frame.is_open;
	ssize_t n = recv(p->in, p->buffer, sizeof(p->buffer), MSG_DONTWAIT);
	int r;

	if (n < 0)
		return is_temporary(errno) ? 0 : fail(p, -errno);
	p->is_ended = n == 0;
	p->begin = 0;
	p->end = (size_t) n;
	r = frame_follow(&p->frame, p->buffer, p->end, p->config.max_message);
	if (r >= 0)
		r = watch_debt(p, p->frame.n_messages != before);
	p->barrier = p->frame.handshake - handshake; /* bytes of this handful */
	p->is_holding |= p->frame.is_open && !was_open;
	return r < 0 ? fail(p, r) : push(p);
}

/* ---- life ---- */

static int add_sources(struct pump *p, sd_event *event)
{
	int r = sd_event_add_io(event, &p->readable, p->in, EPOLLIN, on_readable, p);

	if (r >= 0)
		r = sd_event_add_io(event, &p->writable, p->out, EPOLLOUT, on_writable, p);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &p->deadline, CLOCK_BOOTTIME,
					       p->config.patience, 0, on_deadline, p);
	if (r >= 0)
		r = sd_event_source_set_enabled(p->writable, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_priority(p->readable, p->config.priority);
	if (r >= 0)
		r = sd_event_source_set_priority(p->writable, p->config.priority);
	return r;
}

int pump_new(sd_event *event, int fd, const struct pump_config *config, struct pump **ret,
	     int *ret_fd)
{
	struct pump *p = calloc(1, sizeof(*p));
	int pipes[2], r;

	if (!p)
		return -ENOMEM;
	p->config = *config;
	p->is_owing = true; /* the handshake */
	p->out = p->in = -1;
	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK) < 0) {
		r = -errno;
		pump_free(p);
		return r;
	}
	p->in = fd;
	p->out = pipes[1];
	r = add_sources(p, event);
	if (r < 0) {
		p->in = -1; /* still the caller's */
		pump_free(p);
		close(pipes[0]);
		return r;
	}
	*ret = p;
	*ret_fd = pipes[0];
	return 0;
}

struct pump *pump_free(struct pump *p)
{
	if (!p)
		return NULL;
	sd_event_source_disable_unref(p->readable);
	sd_event_source_disable_unref(p->writable);
	sd_event_source_disable_unref(p->deadline);
	if (p->out >= 0)
		close(p->out);
	if (p->in >= 0)
		close(p->in);
	free(p);
	return NULL;
}
