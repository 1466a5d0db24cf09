/* SPDX-License-Identifier: MIT */
#include "run/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "service/notify.h"

/* The kernel's numbers since 6.5, which libc may not know yet. */
#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD 4
#endif

/* In a turn of the loop: a job that floods must not keep it from others. And what is read out of
 * turn, because somebody has died or an alarm is due: a queue holds some hundreds at most. */
#define MESSAGES_PER_TURN 32
#define MESSAGES_AHEAD 512
#define MESSAGES_AHEAD_PER_TURN 2048

struct notify {
	sd_event *event;
	notify_fn *fn;
	void *userdata;
	int fd;
	sd_event_source *source;
	char *path; /* NULL: nothing is there yet */
	uint64_t turn;
	unsigned n_ahead; /* in that turn */
	char buf[NOTIFY_BYTES_MAX + 1];
};

bool notify_sender_is_there(const struct notify_sender *from)
{
	/* Of one that waits to be reaped it is true. */
	return from->pidfd < 0 || syscall(SYS_pidfd_send_signal, from->pidfd, 0, NULL, 0) == 0 ||
	       errno != ESRCH;
}

/* ---- receiving ---- */

static void close_descriptors(const struct cmsghdr *c)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < n; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
		close(fd);
	}
}

/* Who sent it; and descriptors that nobody wants. */
static void read_control(struct msghdr *m, struct notify_sender *ret)
{
	struct ucred who;

	*ret = (struct notify_sender) { .pidfd = -1 };
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS) {
			close_descriptors(c);
		} else if (c->cmsg_type == SCM_CREDENTIALS &&
			   c->cmsg_len == CMSG_LEN(sizeof(who))) {
			memcpy(&who, CMSG_DATA(c), sizeof(who));
			ret->pid = who.pid;
		} else if (c->cmsg_type == SCM_PIDFD && c->cmsg_len == CMSG_LEN(sizeof(int)) &&
			   ret->pidfd < 0) {
			memcpy(&ret->pidfd, CMSG_DATA(c), sizeof(int));
		}
	}
}

/* One message. 0: there was none. There is no room for descriptors: the kernel closes those that do
 * not fit. */
static int read_one(struct notify *n)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec piece = { n->buf, NOTIFY_BYTES_MAX };
	struct msghdr m = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct notify_sender from;
	ssize_t got = recvmsg(n->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got < 0)
		return errno == EINTR;
	read_control(&m, &from);
	if (m.msg_flags & MSG_TRUNC)
		log_debug("notify: a message of pid %d is too long, ignored", (int) from.pid);
	else if (from.pid > 0)
		n->fn(n->userdata, &from, n->buf, (size_t) got);
	if (from.pidfd >= 0)
		close(from.pidfd);
	return 1;
}

void notify_read(struct notify *n)
{
	uint64_t turn = 0;

	(void) sd_event_get_iteration(n->event, &turn);
	if (turn != n->turn)
		n->n_ahead = 0;
	n->turn = turn;
	for (unsigned i = 0; i < MESSAGES_AHEAD && n->n_ahead < MESSAGES_AHEAD_PER_TURN;
	     i++, n->n_ahead++)
		if (read_one(n) == 0)
			return;
}

static int on_message(sd_event_source *source _unused_, int fd _unused_, uint32_t events _unused_,
		      void *userdata)
{
	struct notify *n = userdata;

	for (unsigned i = 0; i < MESSAGES_PER_TURN; i++)
		if (read_one(n) == 0)
			break;
	return 0;
}

/* ---- its life ---- */

static int remove_stale(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 ? -errno : 0;
}

/* The folder is ours alone to write to: nobody puts anything in the place of what was just made. */
static int bind_to(struct notify *n, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	r = remove_stale(path);
	if (r < 0)
		return r;
	if (bind(n->fd, (const struct sockaddr *) &address, sizeof(address)) < 0)
		return -errno;
	n->path = strdup(path);
	if (!n->path)
		return -ENOMEM;
	return chmod(path, 0666) < 0 ? -errno : 0;
}

static int open_socket(struct notify *n)
{
	const int on = 1;

	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0 || setsockopt(n->fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0)
		return -errno;
	/* An older kernel has none. */
	(void) setsockopt(n->fd, SOL_SOCKET, SO_PASSPIDFD, &on, sizeof(on));
	return 0;
}

int notify_new(sd_event *event, int64_t priority, const char *path, notify_fn *fn, void *userdata,
	       struct notify **ret)
{
	struct notify *n = calloc(1, sizeof(*n));
	int r;

	if (!n)
		return -ENOMEM;
	n->event = sd_event_ref(event);
	n->fn = fn;
	n->userdata = userdata;
	r = open_socket(n);
	if (r >= 0)
		r = bind_to(n, path);
	if (r >= 0)
		r = sd_event_add_io(event, &n->source, n->fd, EPOLLIN, on_message, n);
	if (r >= 0)
		r = sd_event_source_set_priority(n->source, priority);
	if (r < 0) {
		notify_free(n);
		return r;
	}
	*ret = n;
	return 0;
}

struct notify *notify_free(struct notify *n)
{
	if (!n)
		return NULL;
	sd_event_source_disable_unref(n->source);
	if (n->path)
		(void) unlink(n->path);
	if (n->fd >= 0)
		close(n->fd);
	free(n->path);
	sd_event_unref(n->event);
	free(n);
	return NULL;
}
