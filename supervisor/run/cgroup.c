/* SPDX-License-Identifier: MIT */
#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/process.h"

#define FILE_MAX ((size_t) 16 * 1024 * 1024)
/* Whoever forks faster than this many rounds is left to the next signal, or to cgroup.kill. */
#define SIGNAL_ROUNDS_MAX 16
#define DEPTH_MAX 16

void cgroup_done(struct cgroup *g)
{
	if (g->fd >= 0)
		close(g->fd);
	free(g->path);
	free(g->inside);
	*g = (struct cgroup) { .fd = -1 };
}

/* ---- finding our own ---- */

/* mountinfo writes blanks, tabs, newlines and backslashes as \ooo. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++)
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char) ((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	*to = '\0';
}

/* "0::/where", the line of the v2 hierarchy. */
static int read_inside(const char *path, char **ret)
{
	_cleanup_free_ char *text = NULL;
	char *line, *state = NULL;
	int r;

	r = process_read_text(AT_FDCWD, path, FILE_MAX, &text, NULL);
	if (r < 0)
		return r;
	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		if (str_starts(line, "0::/")) {
			*ret = strdup(line + strlen("0::"));
			return *ret ? 0 : -ENOMEM;
		}
	return -ENOENT;
}

int cgroup_of_process(pid_t pid, char **ret)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
	r = read_inside(path, ret);
	return r == -ENOENT ? -ESRCH : r;
}

/* The part of @inside below @root, "" or "/…"; NULL if it is elsewhere. */
static const char *below(const char *inside, const char *root)
{
	size_t n = strlen(root);

	if (str_starts(inside, "/.."))
		return NULL;
	if (str_equal(root, "/"))
		return str_equal(inside, "/") ? "" : inside;
	if (!str_starts(inside, root) || (inside[n] != '/' && inside[n] != '\0'))
		return NULL;
	return inside + n;
}

/* One line of mountinfo(5): "31 23 0:28 ROOT POINT options … - TYPE source …". 1: it is a usable
 * cgroup2 mount. */
static int mount_line(char *line, const char *inside, char **ret_path)
{
	char *type = strstr(line, " - "), *field, *state = NULL, *root = NULL, *point = NULL;
	const char *rest;
	unsigned i = 0;

	if (!type || !str_starts(type + 3, "cgroup2 "))
		return 0;
	for (field = strtok_r(line, " ", &state); field && i < 5;
	     field = strtok_r(NULL, " ", &state), i++) {
		if (i == 3)
			root = field;
		if (i == 4)
			point = field;
	}
	if (!root || !point)
		return 0;
	unescape(root);
	unescape(point);
	rest = below(inside, root);
	if (!rest)
		return 0;
	return asprintf(ret_path, "%s%s", point, rest) < 0 ? -ENOMEM : 1;
}

static int own_path(const char *inside, char **ret)
{
	_cleanup_free_ char *text = NULL;
	char *line, *state = NULL;
	int r;

	r = process_read_text(AT_FDCWD, "/proc/self/mountinfo", FILE_MAX, &text, NULL);
	if (r < 0)
		return r;
	r = strstr(text, " - cgroup2 ") ? -EXDEV : -ENOENT;
	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state)) {
		int found = mount_line(line, inside, ret);

		if (found != 0)
			return found < 0 ? found : 0;
	}
	return r;
}

int cgroup_open_own(struct cgroup *ret)
{
	struct cgroup g = { .fd = -1 };
	int r;

	r = read_inside("/proc/self/cgroup", &g.inside);
	if (r >= 0)
		r = own_path(g.inside, &g.path);
	if (r >= 0) {
		g.fd = open(g.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = g.fd < 0 ? -errno : 0;
	}
	if (r < 0) {
		cgroup_done(&g);
		return r;
	}
	*ret = g;
	return 0;
}

/* ---- folders ---- */

int cgroup_open(const struct cgroup *parent, const char *name, struct cgroup *ret)
{
	struct cgroup g = { .fd = -1 };
	int r = 0;

	if (asprintf(&g.path, "%s/%s", parent->path, name) < 0)
		g.path = NULL;
	if (asprintf(&g.inside, "%s/%s", str_equal(parent->inside, "/") ? "" : parent->inside,
		     name) < 0)
		g.inside = NULL;
	if (!g.path || !g.inside)
		r = -ENOMEM;
	if (r >= 0) {
		g.fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = g.fd < 0 ? -errno : 0;
	}
	if (r < 0) {
		cgroup_done(&g);
		return r;
	}
	*ret = g;
	return 0;
}

int cgroup_make(const struct cgroup *parent, const char *name, struct cgroup *ret)
{
	if (mkdirat(parent->fd, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	return cgroup_open(parent, name, ret);
}

bool cgroup_is_usable(const struct cgroup *g)
{
	_cleanup_free_ char *type = NULL;

	/* The root has no type. */
	if (process_read_text(g->fd, "cgroup.type", FILE_MAX, &type, NULL) >= 0 &&
	    !str_equal(type, "domain\n"))
		return false;
	return faccessat(g->fd, "cgroup.procs", W_OK, AT_EACCESS) == 0;
}

int cgroup_open_procs(const struct cgroup *g)
{
	int fd = openat(g->fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Asked for with each run: the kernel gives such a file in one piece, and it is short. */
int cgroup_is_populated(const struct cgroup *g)
{
	int fd = openat(g->fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int) n;
	text[n] = '\0';
	return strstr(text, "populated 1") != NULL;
}

/* Calls @fn for @g and then for everything below it; a fresh struct each, lent. */
typedef int cgroup_fn(const struct cgroup *g, void *userdata);

static int walk_below(const struct cgroup *g, cgroup_fn *fn, void *userdata, unsigned depth);

static int walk(const struct cgroup *g, cgroup_fn *fn, void *userdata, unsigned depth)
{
	int r = fn(g, userdata);

	return r < 0 || depth >= DEPTH_MAX ? r : walk_below(g, fn, userdata, depth + 1);
}

static int walk_below(const struct cgroup *g, cgroup_fn *fn, void *userdata, unsigned depth)
{
	int fd = openat(g->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r >= 0 && (entry = readdir(dir))) {
		struct cgroup child;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.' ||
		    cgroup_open(g, entry->d_name, &child) < 0)
			continue;
		r = walk(&child, fn, userdata, depth);
		cgroup_done(&child);
	}
	closedir(dir);
	return r;
}

/* ---- signals ---- */

struct signalling {
	const struct cgroup *top;
	int signal;
	pid_t spare;
	pid_t *sent; /* to whom already */
	size_t n, room;
	bool is_new; /* somebody was sent it in this round */
};

/* Whoever has left the cgroup, or is another process with an old number, is none of ours. */
static bool is_inside(const void *userdata, pid_t pid)
{
	const struct cgroup *g = userdata;
	_cleanup_free_ char *text = NULL;
	size_t n = strlen(g->inside);
	char path[64];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int) pid);
	if (process_read_text(AT_FDCWD, path, FILE_MAX, &text, NULL) < 0)
		return false;
	line = str_starts(text, "0::") ? text : strstr(text, "\n0::");
	if (!line)
		return false;
	line += *line == '\n' ? strlen("\n0::") : strlen("0::");
	return strncmp(line, g->inside, n) == 0 && (line[n] == '/' || line[n] == '\n');
}

static int remember(struct signalling *s, pid_t pid)
{
	if (s->n == s->room) {
		pid_t *grown =
			reallocarray(s->sent, s->room = s->room ? s->room * 2 : 64, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->sent = grown;
	}
	s->sent[s->n++] = pid;
	return 0;
}

static int signal_one(struct signalling *s, pid_t pid)
{
	if (pid <= 0 || pid == s->spare)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->sent[i] == pid)
			return 0;
	s->is_new = true;
	/* One that ended meanwhile, or may not be signalled, does not stand before the others. */
	(void) process_signal(pid, s->signal, is_inside, s->top);
	return remember(s, pid);
}

static int signal_group(const struct cgroup *g, void *userdata)
{
	struct signalling *s = userdata;
	_cleanup_free_ char *text = NULL;
	int r;

	r = process_read_text(g->fd, "cgroup.procs", FILE_MAX, &text, NULL);
	if (r < 0)
		return r == -ENODEV || r == -ENOENT || r == -EOPNOTSUPP ? 0 : r;
	for (char *p = text, *end; r >= 0 && *p; p = end) {
		r = signal_one(s, (pid_t) strtol(p, &end, 10));
		if (end == p)
			break;
		end += strspn(end, "\n");
	}
	return r;
}

/* The kernel's own way, which no fork escapes. */
static int kill_all(const struct cgroup *g)
{
	int fd = openat(g->fd, "cgroup.kill", O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "1", 1) < 0)
		r = -errno;
	close(fd);
	return r;
}

int cgroup_signal(const struct cgroup *g, int signal, pid_t spare)
{
	struct signalling s = { .top = g, .signal = signal, .spare = spare };
	int r = 0;

	if (signal == SIGKILL && spare == 0 && kill_all(g) >= 0)
		return 0;
	for (unsigned round = 0; r >= 0 && round < SIGNAL_ROUNDS_MAX; round++) {
		s.is_new = false;
		r = walk(g, signal_group, &s, 0);
		if (!s.is_new)
			break;
	}
	free(s.sent);
	return r;
}

/* ---- emptying and removing ---- */

static int evacuate_group(const struct cgroup *g, void *userdata)
{
	_cleanup_free_ char *text = NULL;
	char *line, *state = NULL;
	const int *to = userdata;

	if (process_read_text(g->fd, "cgroup.procs", FILE_MAX, &text, NULL) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &state); line; line = strtok_r(NULL, "\n", &state))
		(void)!write(*to, line, strlen(line));
	return 0;
}

void cgroup_evacuate(const struct cgroup *g, const struct cgroup *to)
{
	int fd = cgroup_open_procs(to);

	for (unsigned round = 0; fd >= 0 && round < SIGNAL_ROUNDS_MAX && cgroup_is_populated(g) > 0;
	     round++)
		(void) walk(g, evacuate_group, &fd, 0);
	if (fd >= 0)
		close(fd);
}

static int remove_one(const struct cgroup *g, void *userdata);

/* Deepest first: what is below goes before the folder itself. */
static int remove_below(const struct cgroup *g, unsigned depth)
{
	return depth > DEPTH_MAX ? -ELOOP : walk_below(g, remove_one, &depth, DEPTH_MAX);
}

static int remove_one(const struct cgroup *g, void *userdata)
{
	const unsigned *depth = userdata;
	int r;

	/* Mostly there is nothing below. */
	if (rmdir(g->path) == 0 || errno == ENOENT)
		return 0;
	if (errno != EBUSY)
		return -errno;
	r = remove_below(g, *depth + 1);
	if (r < 0)
		return r;
	return rmdir(g->path) < 0 && errno != ENOENT ? -errno : 0;
}

int cgroup_remove(const struct cgroup *g)
{
	unsigned depth = 0;

	return remove_one(g, &depth);
}
