/* SPDX-License-Identifier: MIT */
#include "run/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/file.h"

#define TERMINAL_MODE 0600

/* ---- opening one ---- */

/* Takes @fd; the process is to find a descriptor that waits, as programs expect. */
static int make_blocking(int fd)
{
	int flags = fcntl(fd, F_GETFL), r;

	if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* A path that is a socket is connected to, as systemd does. */
static int connect_socket(const char *path, int access_mode)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, r;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *) &address, sizeof(address)) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	if (access_mode == O_WRONLY)
		(void) shutdown(fd, SHUT_RD);
	else if (access_mode == O_RDONLY)
		(void) shutdown(fd, SHUT_WR);
	return make_blocking(fd);
}

/* Made with exactly the mode that the service's umask leaves, whatever the daemon's is. */
static int create_file(const char *path, int flags, mode_t umask)
{
	int fd = open(path, flags | O_CREAT | O_EXCL, 0600);

	if (fd >= 0)
		(void) fchmod(fd, 0666 & ~umask);
	return fd;
}

static bool is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static int open_file(const char *path, int flags, mode_t umask)
{
	int access_mode = flags & O_ACCMODE, fd = -1;

	flags |= O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	/* It may come and go in between. */
	for (unsigned i = 0; fd < 0 && i < 8; i++) {
		fd = open(path, flags);
		if (fd >= 0 || errno != ENOENT || access_mode == O_RDONLY)
			break;
		fd = create_file(path, flags, umask);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0 && errno == ENXIO && is_socket(path))
		return connect_socket(path, access_mode);
	return fd < 0 ? -errno : make_blocking(fd);
}

static int open_terminal(const char *path, int access_mode)
{
	int fd = open(path, access_mode | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), r;

	if (fd < 0)
		return -errno;
	if (isatty(fd))
		return make_blocking(fd);
	r = -ENOTTY;
	close(fd);
	return r;
}

static int open_data(const char *data, size_t n)
{
	int fd = memfd_create("stdin", MFD_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = file_write_all(fd, data, n);
	if (r >= 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r >= 0)
		return fd;
	close(fd);
	return r;
}

/* Not every root directory has a /dev: an empty file reads the same. */
static int open_null(int access_mode)
{
	int fd = open("/dev/null", access_mode | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && access_mode == O_RDONLY)
		return open_data("", 0);
	return fd < 0 ? -errno : fd;
}

/* ---- the three of them ---- */

static bool is_same_file(const struct exec_stream *a, const struct exec_stream *b)
{
	return a->kind == b->kind && a->path && b->path && str_equal(a->path, b->path);
}

static int open_input(const struct exec_streams *s, mode_t umask)
{
	bool is_shared = is_same_file(&s->in, &s->out) || is_same_file(&s->in, &s->err);

	switch (s->in.kind) {
	case STREAM_FILE:
		return open_file(s->in.path, is_shared ? O_RDWR : O_RDONLY, umask);
	case STREAM_TTY:
		return open_terminal(s->tty_path, O_RDWR);
	case STREAM_DATA:
		return open_data(s->data, s->n_data);
	case STREAM_NULL:
	case STREAM_INHERIT:
	case STREAM_JOURNAL:
	case STREAM_APPEND:
	case STREAM_TRUNCATE:
		break;
	}
	return open_null(O_RDONLY);
}

/* Is there anything in what input is that could be inherited to write to? A file is open for
 * reading alone. */
static bool has_output(const struct exec_stream *in)
{
	return in->kind == STREAM_TTY;
}

static int open_output(const struct exec_streams *s, const struct exec_stream *o, mode_t umask)
{
	switch (o->kind) {
	case STREAM_FILE:
		return open_file(o->path, O_WRONLY, umask);
	case STREAM_APPEND:
		return open_file(o->path, O_WRONLY | O_APPEND, umask);
	case STREAM_TRUNCATE:
		return open_file(o->path, O_WRONLY | O_TRUNC, umask);
	case STREAM_TTY:
		return open_terminal(s->tty_path, O_WRONLY);
	case STREAM_NULL:
	case STREAM_INHERIT:
	case STREAM_JOURNAL:
	case STREAM_DATA:
		break;
	}
	return open_null(O_WRONLY);
}

/* The descriptor of what was opened before, or -1. */
static int shared_output(const struct exec_streams *s, const struct exec_stream *o,
			 const struct streams *opened)
{
	if (is_same_file(o, &s->in) || (o->kind == STREAM_TTY && has_output(&s->in)))
		return opened->in;
	if (o == &s->out)
		return o->kind == STREAM_INHERIT && has_output(&s->in) ? opened->in : -1;
	return o->kind == STREAM_INHERIT || is_same_file(o, &s->out) ? opened->out : -1;
}

static int take_output(const struct exec_streams *s, const struct exec_stream *o, int captured,
		       mode_t umask, const struct streams *opened, int *owned)
{
	int fd = captured >= 0 ? captured : shared_output(s, o, opened);

	if (fd >= 0)
		return fd;
	return *owned = open_output(s, o, umask);
}

/* As systemd hands it over: the user's, and nobody else's. */
static void give_terminal(const struct streams *s, uid_t uid)
{
	if (uid == (uid_t) -1 || !s->has_terminal)
		return;
	(void) fchmod(s->in, TERMINAL_MODE);
	(void) fchown(s->in, uid, (gid_t) -1);
}

int streams_open(const struct exec_streams *s, int pipe_out, int pipe_err, mode_t umask, uid_t uid,
		 struct streams *ret, enum exec_step *reterr_step)
{
	struct streams o = { .owned = { -1, -1, -1 } };

	*reterr_step = EXEC_STEP_STDIN;
	o.in = o.owned[0] = open_input(s, umask);
	if (o.in < 0)
		return o.in;
	o.has_terminal = s->in.kind == STREAM_TTY && s->claim != TERMINAL_NONE;
	o.force_terminal = s->claim == TERMINAL_FORCE;
	give_terminal(&o, uid);
	*reterr_step = EXEC_STEP_STDOUT;
	o.out = take_output(s, &s->out, exec_streams_captures_out(s) ? pipe_out : -1, umask, &o,
			    &o.owned[1]);
	if (o.out >= 0) {
		*reterr_step = EXEC_STEP_STDERR;
		o.err = take_output(s, &s->err, exec_streams_captures_err(s) ? pipe_err : -1, umask,
				    &o, &o.owned[2]);
	}
	if (o.out < 0 || o.err < 0) {
		streams_close(&o);
		return o.out < 0 ? o.out : o.err;
	}
	*ret = o;
	return 0;
}

void streams_close(struct streams *s)
{
	for (size_t i = 0; i < ELEMENTS(s->owned); i++) {
		if (s->owned[i] >= 0)
			close(s->owned[i]);
		s->owned[i] = -1;
	}
}
