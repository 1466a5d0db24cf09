/* SPDX-License-Identifier: MIT */
#include "run/identity.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "service/spec.h"

#define LOOKUP_MAX (1U << 20)
#define GROUPS_MAX 65536

bool identity_number(const char *s, uint32_t *ret)
{
	uint64_t n = 0;

	if (!*s || (s[0] == '0' && s[1]))
		return false;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return false;
		n = n * 10 + (uint64_t) (*s - '0');
		if (n >= UINT32_MAX)
			return false;
	}
	if (n == UINT16_MAX)
		return false;
	*ret = (uint32_t) n;
	return true;
}

/* getpwnam_r(3): "not found" has many names. */
static int lookup_error(int r, const void *found)
{
	if (found)
		return 0;
	switch (r) {
	case 0:
	case ENOENT:
	case ESRCH:
	case EBADF:
	case EPERM:
		return -ESRCH;
	default:
		return -r;
	}
}

/* Exactly one of @name and @uid counts. The entry's strings are in *ret_buf, which the caller
 * frees. */
static int passwd_lookup(const char *name, uid_t uid, struct passwd *ret, char **ret_buf)
{
	for (size_t size = 1024; size <= LOOKUP_MAX; size *= 4) {
		_cleanup_free_ char *buf = malloc(size);
		struct passwd *found = NULL;
		int r;

		if (!buf)
			return -ENOMEM;
		r = name ? getpwnam_r(name, ret, buf, size, &found)
			 : getpwuid_r(uid, ret, buf, size, &found);
		if (r == ERANGE)
			continue;
		r = lookup_error(r, found);
		if (r >= 0)
			*ret_buf = TAKE_PTR(buf);
		return r;
	}
	return -ERANGE;
}

/* Exactly one of @name and @gid counts. */
static int group_entry_lookup(const char *name, gid_t gid, gid_t *ret)
{
	for (size_t size = 1024; size <= LOOKUP_MAX; size *= 4) {
		_cleanup_free_ char *buf = malloc(size);
		struct group entry, *found = NULL;
		int r;

		if (!buf)
			return -ENOMEM;
		r = name ? getgrnam_r(name, &entry, buf, size, &found)
			 : getgrgid_r(gid, &entry, buf, size, &found);
		if (r == ERANGE)
			continue;
		r = lookup_error(r, found);
		if (r >= 0)
			*ret = entry.gr_gid;
		return r;
	}
	return -ERANGE;
}

/* As with users, a number must stand in the database too: systemd refuses to guess, and so do
 * we. */
static int group_lookup(const char *group, gid_t *ret)
{
	uint32_t number;
	bool is_number = identity_number(group, &number);
	int r;

	r = group_entry_lookup(is_number ? NULL : group, is_number ? number : 0, ret);
	if (r == -ESRCH && (str_equal(group, "root") || (is_number && number == 0))) {
		*ret = 0;
		return 0;
	}
	return r;
}

static bool is_no_login(const char *shell)
{
	const char *base = strrchr(shell, '/');

	return !base || str_equal(base, "/nologin") || str_equal(base, "/false") ||
	       str_equal(base, "/true");
}

/* Home directories and shells that are none are left out, as systemd does: "/" says nothing of a
 * home. */
static int take_entry(struct identity *id, const struct passwd *entry, struct arena *arena)
{
	const char *home =
		entry->pw_dir && entry->pw_dir[0] == '/' && entry->pw_dir[1] ? entry->pw_dir : NULL;
	const char *shell = entry->pw_shell && !is_no_login(entry->pw_shell) ? entry->pw_shell
									     : NULL;

	id->name = arena_strdup(arena, entry->pw_name);
	id->home = home ? arena_strdup(arena, home) : NULL;
	id->shell = shell ? arena_strdup(arena, shell) : NULL;
	return !id->name || (home && !id->home) || (shell && !id->shell) ? -ENOMEM : 0;
}

/* root is known even where there is no database, as in a small container. */
static int take_root(struct identity *id)
{
	id->name = "root";
	id->home = "/root";
	id->shell = "/bin/sh";
	return 0;
}

static int user_lookup(const char *user, struct arena *arena, struct identity *id)
{
	_cleanup_free_ char *buf = NULL;
	struct passwd entry;
	uint32_t number;
	bool is_number = identity_number(user, &number);
	int r;

	r = passwd_lookup(is_number ? NULL : user, is_number ? number : 0, &entry, &buf);
	if (r == -ESRCH && (str_equal(user, "root") || (is_number && number == 0))) {
		id->uid = 0;
		id->gid = 0;
		return take_root(id);
	}
	if (r < 0)
		return r;
	id->uid = entry.pw_uid;
	id->gid = entry.pw_gid;
	return take_entry(id, &entry, arena);
}

static int own_lookup(struct arena *arena, struct identity *id)
{
	_cleanup_free_ char *buf = NULL;
	struct passwd entry;
	int r;

	r = passwd_lookup(NULL, geteuid(), &entry, &buf);
	if (r == -ESRCH)
		return geteuid() == 0 ? take_root(id) : 0;
	return r < 0 ? r : take_entry(id, &entry, arena);
}

static int groups_add(struct arena *arena, gid_t **groups, size_t *n, gid_t gid)
{
	gid_t *grown;

	for (size_t i = 0; i < *n; i++)
		if ((*groups)[i] == gid)
			return 0;
	grown = arena_grow(arena, *groups, *n, sizeof(**groups));
	if (!grown)
		return -ENOMEM;
	grown[(*n)++] = gid;
	*groups = grown;
	return 0;
}

/* The groups that the database lists the user in. */
static int groups_of_user(const struct identity *id, struct arena *arena, gid_t **groups, size_t *n)
{
	for (int size = 32; size <= GROUPS_MAX; size *= 4) {
		_cleanup_free_ gid_t *list = calloc((size_t) size, sizeof(*list));
		int found = size;

		if (!list)
			return -ENOMEM;
		if (getgrouplist(id->name, id->gid, list, &found) < 0)
			continue;
		for (int i = 0; i < found; i++)
			if (groups_add(arena, groups, n, list[i]) < 0)
				return -ENOMEM;
		return 0;
	}
	return -EINVAL;
}

static int groups_lookup(const struct service_spec *spec, struct arena *arena, struct identity *id)
{
	gid_t *groups = NULL;
	size_t n = 0;
	int r = 0;

	if (spec->exec->user && geteuid() == 0 && id->uid != 0)
		r = groups_of_user(id, arena, &groups, &n);
	for (const char *const *g = spec->exec->supplementary_groups; r >= 0 && g && *g; g++) {
		gid_t gid;

		r = group_lookup(*g, &gid);
		if (r >= 0)
			r = groups_add(arena, &groups, &n, gid);
	}
	id->groups = groups;
	id->n_groups = n;
	/* root that remains root keeps its groups: as systemd does, and where no groups may be set
	 * (in a user namespace, say) it works all the same. */
	id->set_groups = n > 0;
	return r;
}

static bool is_own_group(gid_t gid)
{
	_cleanup_free_ gid_t *list = calloc(GROUPS_MAX, sizeof(*list));
	int n = list ? getgroups(GROUPS_MAX, list) : 0;

	if (gid == getegid())
		return true;
	for (int i = 0; i < n; i++)
		if (list[i] == gid)
			return true;
	return false;
}

/* Without rights nothing can be set; what is asked for must be what we are. */
static int settle_without_rights(const struct service_spec *spec, struct identity *id,
				 enum exec_step *reterr_step)
{
	if (spec->exec->user && id->uid != geteuid()) {
		*reterr_step = EXEC_STEP_USER;
		return -EPERM;
	}
	*reterr_step = EXEC_STEP_GROUP;
	if (spec->exec->group && id->gid != getegid())
		return -EPERM;
	for (size_t i = 0; i < id->n_groups; i++)
		if (!is_own_group(id->groups[i]))
			return -EPERM;
	id->set_user = id->set_group = id->set_groups = false;
	return 0;
}

int identity_lookup(const struct service_spec *spec, bool want_home, struct arena *arena,
		    struct identity *ret, enum exec_step *reterr_step)
{
	struct identity id = { .set_user = spec->exec->user,
			       .set_group = spec->exec->user || spec->exec->group };
	int r = 0;

	*reterr_step = EXEC_STEP_USER;
	if (spec->exec->user)
		r = user_lookup(spec->exec->user, arena, &id);
	else if (want_home)
		r = own_lookup(arena, &id);
	if (r < 0)
		return r;
	*reterr_step = EXEC_STEP_GROUP;
	if (spec->exec->group)
		r = group_lookup(spec->exec->group, &id.gid);
	if (r >= 0)
		r = groups_lookup(spec, arena, &id);
	if (r >= 0 && geteuid() != 0)
		r = settle_without_rights(spec, &id, reterr_step);
	if (r < 0)
		return r;
	*ret = id;
	return 0;
}
