/* SPDX-License-Identifier: MIT */
#include "run/log_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define KEPT_MAX ((size_t) 256 * 1024)
#define FAREWELL_MSEC 100

enum target {
	TARGET_FILE,    /* never has us wait */
	TARGET_REOPENED, /* an open file of our own, non-blocking: a pipe, a terminal */
	TARGET_SOCKET,
	TARGET_POLLED,  /* asked before each write */
	TARGET_JOURNAL, /* datagrams */
};

struct log_sink {
	enum log_format format;
	enum target target;
	int fd;
	bool owns_fd;
	sd_event_source *source;
	/* what was not taken yet; n bytes from the beginning */
	char *kept;
	size_t n;
	uint64_t lost;
};

/* ---- choosing the target ---- */

/* systemd.exec(5): device and inode of the stream, so that we see whether stderr still is it. */
static bool is_journal_stream(int fd, const char *journal_stream)
{
	uint64_t dev, ino;
	struct stat st;

	return journal_stream && sscanf(journal_stream, "%" SCNu64 ":%" SCNu64, &dev, &ino) == 2 &&
	       fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

static int connect_journal(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, size = 8 * 1024 * 1024;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *) &address, sizeof(address)) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	(void) setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return fd;
}

/* Making somebody else's stderr non-blocking would make it so for all who share it. A pipe or a
 * terminal can be opened once more, for us alone. */
static void choose_stderr(struct log_sink *s, int fd)
{
	char path[64];
	struct stat st;

	s->fd = fd;
	s->target = TARGET_POLLED;
	if (fstat(fd, &st) < 0)
		return;
	if (S_ISREG(st.st_mode)) {
		s->target = TARGET_FILE;
	} else if (S_ISSOCK(st.st_mode)) {
		s->target = TARGET_SOCKET;
	} else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			return;
		s->fd = fd;
		s->owns_fd = true;
		s->target = TARGET_REOPENED;
	}
}

static void choose_target(struct log_sink *s, const struct log_sink_config *c)
{
	int fd;

	s->format = c->format;
	if (c->format == LOG_TEXT && is_journal_stream(c->fd, c->journal_stream)) {
		fd = connect_journal(c->journal_socket ? c->journal_socket : JOURNAL_SOCKET);
		if (fd >= 0) {
			s->fd = fd;
			s->owns_fd = true;
			s->target = TARGET_JOURNAL;
			s->format = LOG_JOURNAL;
			return;
		}
		s->format = LOG_PREFIX;
	}
	choose_stderr(s, c->fd);
}

int log_sink_new(const struct log_sink_config *config, struct log_sink **ret)
{
	struct log_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->kept = malloc(KEPT_MAX);
	if (!s->kept) {
		free(s);
		return -ENOMEM;
	}
	choose_target(s, config);
	*ret = s;
	return 0;
}

/* ---- writing ---- */

static bool takes_now(const struct log_sink *s, int timeout_msec)
{
	struct pollfd p = { .fd = s->fd, .events = POLLOUT };

	return poll(&p, 1, timeout_msec) > 0 && (p.revents & POLLOUT);
}

/* How many bytes it took; a negative errno. */
static ssize_t write_some(struct log_sink *s, const char *bytes, size_t n)
{
	ssize_t done = -1;

	switch (s->target) {
	case TARGET_FILE:
	case TARGET_REOPENED:
		done = write(s->fd, bytes, n);
		break;
	case TARGET_SOCKET:
	case TARGET_JOURNAL:
		done = send(s->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case TARGET_POLLED:
		/* A pipe that is ready takes this much without blocking, and at once. */
		if (!takes_now(s, 0))
			return -EAGAIN;
		done = write(s->fd, bytes, n < 4096 ? n : 4096);
		break;
	}
	return done < 0 ? -errno : done;
}

/* Writes until all is taken or the target has enough; how much was. */
static size_t write_what_goes(struct log_sink *s, const char *bytes, size_t n, int *ret_error)
{
	size_t at = 0;

	*ret_error = 0;
	while (at < n) {
		ssize_t done = write_some(s, bytes + at, n - at);

		if (done == -EINTR)
			continue;
		if (done <= 0) {
			*ret_error = done == 0 ? EIO : (int) -done;
			break;
		}
		at += (size_t) done;
	}
	return at;
}

static void watch(struct log_sink *s)
{
	if (s->source)
		(void) sd_event_source_set_enabled(s->source,
						   s->n > 0 ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Room again is no news by itself: a line of ours stands in the kept bytes, which are whole lines
 * but the first. */
static void drop_kept(struct log_sink *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->lost += s->kept[i] == '\n';
	s->n = 0;
}

static void write_kept(struct log_sink *s)
{
	size_t done;
	int error;

	if (s->n == 0)
		return;
	done = write_what_goes(s, s->kept, s->n, &error);
	s->n -= done;
	memmove(s->kept, s->kept + done, s->n);
	if (error != 0 && error != EAGAIN)
		drop_kept(s);
}

static usec_t now_real(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

/* A whole line: taken, kept, or (false) lost. Nothing of it is kept where it would not fit. */
static bool put(struct log_sink *s, const char *bytes, size_t n)
{
	size_t done;
	int error = EAGAIN;

	write_kept(s);
	done = s->n > 0 ? 0 : write_what_goes(s, bytes, n, &error);
	if (done == n)
		return true;
	/* Datagrams are whole or not at all, and nobody keeps them for a journal that is gone. */
	if (error != EAGAIN || s->target == TARGET_JOURNAL || s->n + n - done > KEPT_MAX)
		return false;
	memcpy(s->kept + s->n, bytes + done, n - done);
	s->n += n - done;
	return true;
}

static bool put_line(struct log_sink *s, const struct log_line *line)
{
	_cleanup_free_ char *bytes = NULL;
	size_t n;

	return log_format(s->format, now_real(), line, &bytes, &n) >= 0 && put(s, bytes, n);
}

static bool tell_lost(struct log_sink *s)
{
	char message[96];
	struct log_line line = { .level = LOG_WARNING, .message = message };

	snprintf(message, sizeof(message),
		 "%" PRIu64 " log lines were lost, nobody took them in time", s->lost);
	if (!put_line(s, &line))
		return false;
	s->lost = 0;
	return true;
}

void log_sink_write(void *userdata, const struct log_line *line)
{
	struct log_sink *s = userdata;
	int saved = errno;

	/* A line beyond the gap comes only after the gap has been told. */
	if ((s->lost > 0 && !tell_lost(s)) || !put_line(s, line))
		s->lost++;
	watch(s);
	errno = saved;
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct log_sink *s = userdata;

	(void) source;
	(void) fd;
	(void) revents;
	write_kept(s);
	if (s->n == 0 && s->lost > 0)
		(void) tell_lost(s);
	watch(s);
	return 0;
}

int log_sink_attach(struct log_sink *s, sd_event *event)
{
	int r;

	if (s->target == TARGET_FILE || s->target == TARGET_JOURNAL)
		return 0;
	r = sd_event_add_io(event, &s->source, s->fd, EPOLLOUT, on_writable, s);
	if (r == -EPERM) /* a device that is always ready */
		return 0;
	if (r < 0)
		return r;
	watch(s);
	return 0;
}

void log_sink_detach(struct log_sink *s)
{
	s->source = sd_event_source_disable_unref(s->source);
}

struct log_sink *log_sink_free(struct log_sink *s)
{
	if (!s)
		return NULL;
	log_sink_detach(s);
	if (s->n > 0 && takes_now(s, FAREWELL_MSEC))
		write_kept(s);
	if (s->owns_fd)
		close(s->fd);
	free(s->kept);
	free(s);
	return NULL;
}
