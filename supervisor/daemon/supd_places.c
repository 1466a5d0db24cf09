/* SPDX-License-Identifier: MIT */
#include "daemon/supd_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/settings.h"
#include "store/atomic_file.h"
#include "store/file.h"
#include "store/lock.h"

#define LOCK_NAME "lock"

/* -EROFS goes unsaid: whoever asked knows what that means to them. */
static int lock(int dir, const char *path, const char *what, int *ret)
{
	pid_t holder = 0;
	int r = lock_take(dir, LOCK_NAME, &holder);

	if (r == -EAGAIN && holder > 0)
		log_error(0,
			  "another supd (pid %d) uses the %s directory %s; this one does not start",
			  (int) holder, what, path);
	else if (r == -EAGAIN)
		log_error(0, "another supd uses the %s directory %s; this one does not start", what,
			  path);
	else if (r < 0 && r != -EROFS)
		log_error(r, "the %s directory %s cannot be locked", what, path);
	else
		*ret = r;
	return r < 0 ? r : 0;
}

static int open_runtime_dir(const struct settings *settings, struct places *p)
{
	_cleanup_close_ int fd = -1;
	struct stat st;
	int r;

	if (asprintf(&p->socket_dir, "%s/supd", settings->runtime_dir) < 0) {
		p->socket_dir = NULL;
		return -ENOMEM;
	}
	if (asprintf(&p->notify_socket, "%s/notify", p->socket_dir) < 0) {
		p->notify_socket = NULL;
		return -ENOMEM;
	}
	r = file_make_dirs(p->socket_dir, 0755);
	if (r >= 0) {
		fd = open(p->socket_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = fd < 0 || fstat(fd, &st) < 0 ? -errno : 0;
	}
	if (r < 0) {
		log_error(r,
			  "the runtime directory %s cannot be made (--runtime-dir= names another)",
			  p->socket_dir);
		return r;
	}
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH))) {
		log_error(
			0,
			"the runtime directory %s belongs to somebody else, or others may write to it",
			p->socket_dir);
		return -EPERM;
	}
	return lock(fd, p->socket_dir, "runtime", &p->runtime_lock);
}

/* On a read-only disk supd runs without a memory; whatever else is wrong with the directory is an
 * error. */
static int open_state_dir(const struct settings *settings, struct places *p)
{
	const char *path = settings->state_dir;
	char sentence[512] = "";
	int r = state_dir_open(path, sentence, sizeof(sentence));

	if (r >= 0) {
		p->state_dir = r;
		r = lock(p->state_dir, path, "state", &p->state_lock);
		if (r != -EROFS)
			return r;
		cleanup_close(&p->state_dir);
		p->state_dir = -1;
	}
	if (r == -EROFS) {
		log_warning(
			0,
			"the state directory %s is on a read-only disk; nothing is kept over restarts",
			path);
		return 0;
	}
	log_error(0, "%s", sentence[0] ? sentence : strerror(-r));
	return r;
}

/* ---- plugins ---- */

/* Run from the build tree, supd takes the plugin that was built with it. The plugin itself is not
 * so much as looked at before it is asked for. */
static char *build_plugin_dir(void)
{
	_cleanup_free_ char *self = realpath("/proc/self/exe", NULL), *mark = NULL, *dir = NULL;
	char *slash = self ? strrchr(self, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	if (asprintf(&mark, "%s/config.status", self) < 0)
		mark = NULL;
	if (asprintf(&dir, "%s/.libs", self) < 0)
		dir = NULL;
	if (!mark || !dir || access(mark, F_OK) < 0 || access(dir, F_OK) < 0)
		return NULL;
	return TAKE_PTR(dir);
}

static int find_plugins(const char *given, struct places *p)
{
	p->plugin_dir = given ? strdup(given) : build_plugin_dir();
	if (!p->plugin_dir)
		p->plugin_dir = strdup(PKGLIBDIR);
	return p->plugin_dir ? 0 : -ENOMEM;
}

/* ---- all of them ---- */

int places_open(const struct settings *settings, const char *plugin_dir, struct places *ret)
{
	int r = find_plugins(plugin_dir, ret);

	if (r >= 0)
		r = open_runtime_dir(settings, ret);
	return r < 0 ? r : open_state_dir(settings, ret);
}

void places_done(struct places *p)
{
	/* The locks last: whoever comes next finds all of it at rest. */
	cleanup_close(&p->state_dir);
	cleanup_close(&p->state_lock);
	cleanup_close(&p->runtime_lock);
	free(p->notify_socket);
	free(p->socket_dir);
	free(p->plugin_dir);
}
