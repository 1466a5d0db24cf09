/* SPDX-License-Identifier: MIT */
#include "run/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/file.h"

#define STAT_MAX 4096
#define ENVIRONMENT_MAX ((size_t) 4 * 1024 * 1024)

int process_read_text(int dir_fd, const char *path, size_t max, char **ret, size_t *ret_n)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY), r;
	size_t n;

	if (fd < 0)
		return -errno;
	r = file_read_all(fd, 4096, max, ret, ret_n ? ret_n : &n);
	close(fd);
	return r;
}

int process_read(pid_t pid, struct process *ret)
{
	_cleanup_free_ char *text = NULL;
	struct process p = { .pid = pid };
	char path[64], state, *rest;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	r = process_read_text(AT_FDCWD, path, STAT_MAX, &text, NULL);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	/* The name before it may contain anything, parentheses too. */
	rest = strrchr(text, ')');
	if (!rest ||
	    sscanf(rest + 1,
		   " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64,
		   &state, &p.parent, &p.session, &p.started) != 4)
		return -EIO;
	p.is_dead = state == 'Z' || state == 'X' || state == 'x';
	*ret = p;
	return 0;
}

static pid_t pid_from_name(const char *name)
{
	return isdigit((unsigned char) name[0]) ? (pid_t) strtol(name, NULL, 10) : 0;
}

static int list_add(struct process **list, size_t *n, size_t *room, pid_t pid)
{
	if (*n == *room) {
		struct process *grown =
			reallocarray(*list, *room = *room ? *room * 2 : 64, sizeof(**list));

		if (!grown)
			return -ENOMEM;
		*list = grown;
	}
	/* One that is gone already is no failure. */
	if (process_read(pid, &(*list)[*n]) >= 0)
		(*n)++;
	return 0;
}

int process_list(struct process **ret, size_t *ret_n)
{
	_cleanup_free_ struct process *list = NULL;
	size_t n = 0, room = 0;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	int r = 0;

	if (!dir)
		return -errno;
	while (r >= 0 && (entry = readdir(dir))) {
		pid_t pid = pid_from_name(entry->d_name);

		if (pid > 0)
			r = list_add(&list, &n, &room, pid);
	}
	closedir(dir);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

int process_get_environment(pid_t pid, const char *name, char **ret)
{
	_cleanup_free_ char *text = NULL;
	size_t n, length = strlen(name);
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int) pid);
	r = process_read_text(AT_FDCWD, path, ENVIRONMENT_MAX, &text, &n);
	if (r < 0)
		return r;
	for (const char *p = text; p < text + n; p += strlen(p) + 1)
		if (strncmp(p, name, length) == 0 && p[length] == '=') {
			*ret = strdup(p);
			return *ret ? 0 : -ENOMEM;
		}
	return -ENXIO;
}

bool process_has_environment(pid_t pid, const char *assignment)
{
	_cleanup_free_ char *text = NULL;
	char path[64];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int) pid);
	if (process_read_text(AT_FDCWD, path, ENVIRONMENT_MAX, &text, &n) < 0)
		return false;
	for (const char *p = text; p < text + n; p += strlen(p) + 1)
		if (str_equal(p, assignment))
			return true;
	return false;
}

int process_signal(pid_t pid, int signal, process_check_fn *check, const void *userdata)
{
	int fd = (int) syscall(SYS_pidfd_open, pid, 0), r;

	if (fd < 0)
		return -errno;
	if (!check(userdata, pid))
		r = -ESRCH;
	else
		r = syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 ? -errno : 0;
	close(fd);
	return r;
}
