/* SPDX-License-Identifier: MIT */
#include "run/directories.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/file.h"

#define DEPTH_MAX 256
#define PARENT_MODE 0755
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* A link that somebody else made could lead what is done as root anywhere. One of ours leads where
 * an admin wants it. */
static bool is_own_link(int parent, const char *name)
{
	struct stat st;

	return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

static int open_below(int parent, const char *name)
{
	int fd = openat(parent, name, OPEN_FLAGS | O_NOFOLLOW);

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR) && is_own_link(parent, name))
		fd = openat(parent, name, OPEN_FLAGS);
	return fd < 0 ? -errno : fd;
}

/* Opens @name in @parent, made if it is not there. */
static int make_below(int parent, const char *name, mode_t mode, bool *ret_is_new)
{
	int fd;

	*ret_is_new = mkdirat(parent, name, mode) == 0;
	if (!*ret_is_new && errno != EEXIST)
		return -errno;
	fd = open_below(parent, name);
	/* whatever the umask took away */
	if (fd >= 0 && *ret_is_new && fchmod(fd, mode) < 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

/* Walks down @path, making what is missing; the last folder has @mode. */
static int make_path(int root, const char *path, mode_t mode, bool *ret_is_new)
{
	int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	char name[NAME_MAX + 1];

	if (at < 0)
		return -errno;
	while (*path) {
		size_t n = strcspn(path, "/");
		int next;

		memcpy(name, path, n);
		name[n] = '\0';
		path += n;
		path += *path == '/';
		next = make_below(at, name, *path ? PARENT_MODE : mode, ret_is_new);
		close(at);
		if (next < 0)
			return next;
		at = next;
	}
	return at;
}

static int open_root(const char *root)
{
	char path[PATH_MAX];
	bool is_new;
	int slash, r;

	if (*root != '/' || strlen(root) >= sizeof(path))
		return -EINVAL;
	/* A person's ~/.local/state may not be there yet. */
	slash = open("/", OPEN_FLAGS);
	if (slash < 0)
		return -errno;
	r = open(root, OPEN_FLAGS);
	if (r < 0 && errno == ENOENT)
		r = make_path(slash, root + strspn(root, "/"), PARENT_MODE, &is_new);
	else if (r < 0)
		r = -errno;
	close(slash);
	return r;
}

typedef int entry_fn(int parent, const char *name, const struct stat *st, void *userdata);

/* Calls @fn for everything in the folder that @fd is, what is in folders first. Takes @fd. */
static int walk(int fd, entry_fn *fn, void *userdata, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r >= 0 && (entry = readdir(dir))) {
		struct stat st;
		int below;

		if (str_equal(entry->d_name, ".") || str_equal(entry->d_name, ".."))
			continue;
		/* What goes away meanwhile, or is another one's mount, is none of ours. */
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
			below = openat(dirfd(dir), entry->d_name, OPEN_FLAGS | O_NOFOLLOW);
			r = below < 0 ? -errno : walk(below, fn, userdata, depth + 1);
		}
		if (r >= 0)
			r = fn(dirfd(dir), entry->d_name, &st, userdata);
	}
	closedir(dir);
	return r;
}

struct owner {
	uid_t uid;
	gid_t gid;
};

/* A second name of a file that lies elsewhere is not given away. */
static int give(int parent, const char *name, const struct stat *st, void *userdata)
{
	const struct owner *o = userdata;

	if (!S_ISDIR(st->st_mode) && st->st_nlink > 1 && st->st_uid != o->uid)
		return 0;
	return fchownat(parent, name, o->uid, o->gid, AT_SYMLINK_NOFOLLOW) < 0 && errno != ENOENT
		       ? -errno
		       : 0;
}

/* The whole tree, but only if the folder is not theirs already: as systemd, so that it costs
 * nothing as a rule. */
static int own(int fd, uid_t uid, gid_t gid)
{
	struct owner o = { uid, gid };
	struct stat st;
	int copy, r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uid == (uid_t) -1 || st.st_uid == uid) && (gid == (gid_t) -1 || st.st_gid == gid))
		return 0;
	copy = openat(fd, ".", OPEN_FLAGS);
	if (copy < 0)
		return -errno;
	r = walk(copy, give, &o, 0);
	if (r >= 0 && fchown(fd, uid, gid) < 0)
		r = -errno;
	return r;
}

static int make_one(int root, const char *path, const struct exec_directory_set *set,
		    enum exec_directory_kind kind, uid_t uid, gid_t gid)
{
	bool is_new = false;
	int fd = make_path(root, path, set->mode, &is_new), r = 0;

	if (fd < 0)
		return fd;
	/* Configuration is the admin's, not the service's. */
	if (kind != EXEC_DIRECTORY_CONFIGURATION) {
		r = own(fd, uid, gid);
		if (r >= 0 && fchmod(fd, set->mode) < 0)
			r = -errno;
	}
	close(fd);
	return r;
}

int directories_make(const struct exec_directories *d, uid_t uid, gid_t gid,
		     enum exec_step *reterr_step)
{
	static const enum exec_step steps[] = {
		[EXEC_DIRECTORY_RUNTIME] = EXEC_STEP_RUNTIME_DIRECTORY,
		[EXEC_DIRECTORY_STATE] = EXEC_STEP_STATE_DIRECTORY,
		[EXEC_DIRECTORY_CACHE] = EXEC_STEP_CACHE_DIRECTORY,
		[EXEC_DIRECTORY_LOGS] = EXEC_STEP_LOGS_DIRECTORY,
		[EXEC_DIRECTORY_CONFIGURATION] = EXEC_STEP_CONFIGURATION_DIRECTORY,
	};

	for (size_t kind = 0; kind < EXEC_DIRECTORY_COUNT; kind++) {
		const struct exec_directory_set *set = &d->set[kind];
		int root, r = 0;

		if (!set->path)
			continue;
		*reterr_step = steps[kind];
		root = open_root(set->root);
		if (root < 0)
			return root;
		for (const char *const *path = set->path; r >= 0 && *path; path++)
			r = make_one(root, *path, set, (enum exec_directory_kind) kind, uid, gid);
		close(root);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- the end ---- */

/* The folder that the last name of @path is in; @ret_name points into @path. */
static int open_parent(const char *root, const char *path, const char **ret_name)
{
	int at = open(root, OPEN_FLAGS);

	if (at < 0)
		return -errno;
	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		char name[NAME_MAX + 1];
		int next;

		memcpy(name, path, (size_t) (slash - path));
		name[slash - path] = '\0';
		next = open_below(at, name);
		close(at);
		if (next < 0)
			return next;
		at = next;
	}
	*ret_name = path;
	return at;
}

int directories_set_aside(const char *root, const char *path, char **ret)
{
	_cleanup_close_ int parent = -1;
	const char *name;
	char *aside;
	uint64_t chance = 0;

	parent = open_parent(root, path, &name);
	if (parent < 0)
		return parent;
	(void) getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
	if (asprintf(&aside, "%.*s.supd-%016llx", (int) (name - path), path,
		     (unsigned long long) chance) < 0)
		return -ENOMEM;
	if (renameat(parent, name, parent, aside + (name - path)) < 0) {
		int r = -errno;

		free(aside);
		return r;
	}
	*ret = aside;
	return 0;
}

static int remove_entry(int parent, const char *name, const struct stat *st, void *userdata)
{
	(void) userdata;
	if (unlinkat(parent, name, S_ISDIR(st->st_mode) ? AT_REMOVEDIR : 0) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int directories_remove(const char *root, const char *path)
{
	_cleanup_close_ int parent = -1;
	const char *name;
	int fd, r = 0;

	parent = open_parent(root, path, &name);
	if (parent < 0)
		return parent;
	fd = openat(parent, name, OPEN_FLAGS | O_NOFOLLOW);
	if (fd >= 0)
		r = walk(fd, remove_entry, NULL, 0);
	else if (errno != ELOOP && errno != ENOTDIR)
		return -errno;
	/* a link goes, not what it leads to */
	if (r >= 0 && unlinkat(parent, name, fd >= 0 ? AT_REMOVEDIR : 0) < 0)
		r = -errno;
	return r;
}
