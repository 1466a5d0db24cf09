/* SPDX-License-Identifier: MIT */
#include "control/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"

#define BACKLOG 64

/* The path of the file itself, or, where that is too long for a socket's address, a shorter way
 * there. */
static int address_of(const char *path, int directory, struct sockaddr_un *ret)
{
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/" LISTENER_NAME, path);
	if (n >= (int) sizeof(ret->sun_path))
		n = snprintf(ret->sun_path, sizeof(ret->sun_path),
			     "/proc/self/fd/%d/" LISTENER_NAME, directory);
	return n > 0 && n < (int) sizeof(ret->sun_path) ? 0 : -ENAMETOOLONG;
}

static mode_t socket_mode(enum control_access access)
{
	switch (access) {
	case CONTROL_READ_ALL:
		return 0666;
	case CONTROL_READ_GROUP:
		return 0660;
	case CONTROL_READ_NONE:
		return 0600;
	}
	return 0600;
}

/* Others must be able to pass through, and must not be able to put another socket in our place. */
static int open_directory(const char *path, int *ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || (st.st_uid == geteuid() && fchmod(fd, 0755) < 0)) {
		int r = -errno;

		close(fd);
		return r;
	}
	if (st.st_uid != geteuid()) {
		close(fd);
		return -EPERM;
	}
	*ret = fd;
	return 0;
}

static int remove_stale(int directory)
{
	struct stat st;

	if (fstatat(directory, LISTENER_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	return unlinkat(directory, LISTENER_NAME, 0) < 0 ? -errno : 0;
}

/* From bind() on the file has at most the mode it will have; before listen() nobody can connect. */
static int bind_with_mode(int fd, const struct sockaddr_un *address, mode_t mode)
{
	mode_t before = umask(0777 & ~mode);
	int r = bind(fd, (const struct sockaddr *) address, sizeof(*address)) < 0 ? -errno : 0;

	umask(before);
	return r;
}

static int give_to_group(int directory, gid_t group)
{
	if (fchownat(directory, LISTENER_NAME, (uid_t) -1, group, AT_SYMLINK_NOFOLLOW) < 0 ||
	    fchmodat(directory, LISTENER_NAME, 0660, 0) < 0)
		return -errno;
	return 0;
}

static int bind_and_listen(struct listener *l, const struct control_config *config)
{
	bool is_grouped = config->read_access == CONTROL_READ_GROUP;
	struct sockaddr_un address;
	struct stat st;
	int r = address_of(config->directory, l->directory, &address);

	if (r < 0)
		return r;
	r = remove_stale(l->directory);
	if (r < 0)
		return r;
	r = bind_with_mode(l->fd, &address, is_grouped ? 0600 : socket_mode(config->read_access));
	if (r >= 0 && fstatat(l->directory, LISTENER_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	if (r < 0)
		return r;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	if (is_grouped)
		r = give_to_group(l->directory, config->read_group);
	if (r >= 0 && listen(l->fd, BACKLOG) < 0)
		r = -errno;
	return r;
}

int listener_open(const struct control_config *config, struct listener *ret)
{
	struct listener l = { .fd = -1, .directory = -1 };
	int r = open_directory(config->directory, &l.directory);

	if (r < 0)
		return r;
	l.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	r = l.fd < 0 ? -errno : bind_and_listen(&l, config);
	if (r < 0) {
		listener_close(&l);
		return r;
	}
	*ret = l;
	return 0;
}

void listener_close(struct listener *l)
{
	struct stat st;

	if (l->ino && fstatat(l->directory, LISTENER_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == l->dev && st.st_ino == l->ino)
		(void) unlinkat(l->directory, LISTENER_NAME, 0);
	if (l->fd >= 0)
		close(l->fd);
	if (l->directory >= 0)
		close(l->directory);
	*l = (struct listener){ .fd = -1, .directory = -1 };
}
