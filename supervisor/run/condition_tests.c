/* SPDX-License-Identifier: MIT */
/* What of conditions is a plain question to the system: is there such a file, such a user, such a
 * power supply? */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <linux/netlink.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "run/condition_facts.h"
#include "store/file.h"

#define SYSTEM_ID_MAX 999 /* the last of the system's users, as Linux distributions have it */
#define NAME_BUFFER_MAX ((size_t) 1024 * 1024)
#define GROUPS_MAX 65536
#define NESTING_MAX 16
#ifndef GLOB_BRACE
#define GLOB_BRACE 0 /* not of POSIX; libraries without it take braces as they are */
#endif
#ifndef STATX_ATTR_MOUNT_ROOT
#define STATX_ATTR_MOUNT_ROOT 0x2000
#endif
#define EFI_GLOBAL "8be4df61-93ca-11d2-aa0d-00e098032b8c"

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}
#define _cleanup_dir_ _cleanup_(close_dir)

static bool is_dot(const char *name)
{
	return str_equal(name, ".") || str_equal(name, "..");
}

/* ---- paths ---- */

static bool is_of_type(const char *path, mode_t type)
{
	struct stat st;

	return stat(path, &st) >= 0 && (st.st_mode & S_IFMT) == type;
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) >= 0 && S_ISLNK(st.st_mode);
}

static bool matches_something(const char *pattern)
{
	glob_t found = { 0 };
	bool is_found = glob(pattern, GLOB_NOSORT | GLOB_BRACE, NULL, &found) == 0 &&
			found.gl_pathc > 0;

	globfree(&found);
	return is_found;
}

/* The kernel says so since 5.8; before, another device than above. */
bool facts_is_mount_point(const char *path)
{
	_cleanup_free_ char *above = NULL;
	struct statx sx;
	struct stat here, there;

	if (statx(AT_FDCWD, path, AT_NO_AUTOMOUNT, STATX_TYPE, &sx) >= 0 &&
	    sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return sx.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	if (asprintf(&above, "%s/..", path) < 0) {
		above = NULL;
		return false;
	}
	if (stat(path, &here) < 0 || !S_ISDIR(here.st_mode) || stat(above, &there) < 0)
		return false;
	return here.st_dev != there.st_dev || here.st_ino == there.st_ino;
}

static bool is_writable_file_system(const char *path)
{
	struct statvfs s;

	return statvfs(path, &s) >= 0 && !(s.f_flag & ST_RDONLY);
}

static bool has_entries(const char *path)
{
	_cleanup_dir_ DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!is_dot(e->d_name))
			return true;
	return false;
}

static bool is_filled(const char *path)
{
	struct stat st;

	return stat(path, &st) >= 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

static bool is_executable(const char *path)
{
	struct stat st;

	return stat(path, &st) >= 0 && S_ISREG(st.st_mode) && st.st_mode & 0111;
}

/* @device: its folder in /sys. dm-crypt, or made of nothing but what is. */
static bool is_encrypted_device(struct facts *f, const char *device, unsigned depth)
{
	const char *path = arena_printf(f->arena, "%s/dm/uuid", device), *line;
	_cleanup_dir_ DIR *dir = NULL;
	const struct dirent *e;
	unsigned n = 0;

	if (!path || depth > NESTING_MAX)
		return false;
	if (facts_read_line(f, path, &line) >= 0 && str_starts(line, "CRYPT-"))
		return true;
	path = arena_printf(f->arena, "%s/partition", device);
	if (path && exists(path)) {
		path = arena_printf(f->arena, "%s/..", device);
		return path && is_encrypted_device(f, path, depth + 1);
	}
	path = arena_printf(f->arena, "%s/slaves", device);
	dir = path ? opendir(path) : NULL;
	while (dir && (e = readdir(dir))) {
		const char *below;

		if (is_dot(e->d_name))
			continue;
		below = arena_printf(f->arena, "%s/%s", path, e->d_name);
		if (!below || !is_encrypted_device(f, below, depth + 1))
			return false;
		n++;
	}
	return n > 0;
}

/* A block device itself, or the one that the file is on. */
static bool is_encrypted(struct facts *f, const char *path)
{
	struct stat st;
	const char *device;
	dev_t number;

	if (stat(path, &st) < 0)
		return false;
	number = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	device = arena_printf(f->arena, "/sys/dev/block/%u:%u", major(number), minor(number));
	return device && is_encrypted_device(f, device, 0);
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* systemd.unit(5): in doubt, rather once too often. */
static bool needs_update(struct facts *f, const char *path)
{
	const char *stamp = arena_printf(f->arena, "%s/.updated", path);
	struct statvfs s;
	struct stat usr, updated;

	if (statvfs(path, &s) >= 0 && s.f_flag & ST_RDONLY)
		return false;
	if (!stamp || lstat(stamp, &updated) < 0 || lstat("/usr/", &usr) < 0)
		return true;
	return is_newer(&usr.st_mtim, &updated.st_mtim);
}

/* ---- who ---- */

/* 1 and the id, 0: nobody of that name, or -errno. */
static int id_of(const char *name, bool is_group, uint64_t *ret)
{
	struct passwd user, *u = NULL;
	struct group group, *g = NULL;
	int r = ERANGE;

	if (value_unsigned(name, UINT32_MAX, ret) >= 0)
		return *ret != UINT32_MAX && *ret != UINT16_MAX;
	for (size_t size = 4096; r == ERANGE && size <= NAME_BUFFER_MAX; size *= 4) {
		_cleanup_free_ char *buffer = malloc(size);

		if (!buffer)
			return -ENOMEM;
		r = is_group ? getgrnam_r(name, &group, buffer, size, &g)
			     : getpwnam_r(name, &user, buffer, size, &u);
		if (r == 0 && (u || g))
			*ret = is_group ? group.gr_gid : user.pw_uid;
	}
	if (r == 0)
		return u || g;
	return r == ENOENT || r == ESRCH || r == EBADF || r == EPERM ? 0 : -r;
}

static int is_user(const char *name)
{
	uint64_t id;
	int r;

	if (str_equal(name, "@system"))
		return getuid() <= SYSTEM_ID_MAX || geteuid() <= SYSTEM_ID_MAX;
	r = id_of(name, false, &id);
	return r <= 0 ? r : id == getuid() || id == geteuid();
}

static int is_in_group(const char *name)
{
	_cleanup_free_ gid_t *list = NULL;
	uint64_t id;
	int n, r = id_of(name, true, &id);

	if (r <= 0)
		return r;
	if (id == getgid() || id == getegid())
		return 1;
	list = calloc(GROUPS_MAX, sizeof(*list));
	n = list ? getgroups(GROUPS_MAX, list) : -1;
	if (n < 0)
		return list ? -errno : -ENOMEM;
	for (int i = 0; i < n; i++)
		if (id == list[i])
			return 1;
	return 0;
}

static bool has_private_users(struct facts *f)
{
	const char *line;
	unsigned inside, outside, n;

	if (facts_read_line(f, "/proc/self/uid_map", &line) < 0)
		return false;
	return sscanf(line, "%u %u %u", &inside, &outside, &n) == 3 &&
	       (inside != 0 || outside != 0 || n != UINT32_MAX);
}

/* As they were handed to the daemon, in the clear or not. */
static bool has_credential(struct facts *f, const char *name)
{
	static const char *const variables[] = { "CREDENTIALS_DIRECTORY",
						 "ENCRYPTED_CREDENTIALS_DIRECTORY" };

	for (size_t i = 0; i < ELEMENTS(variables); i++) {
		const char *dir = facts_variable(f, variables[i]);
		const char *path = dir && *dir == '/' ? arena_printf(f->arena, "%s/%s", dir, name)
						      : NULL;

		if (path && exists(path))
			return true;
	}
	return false;
}

/* ---- the machine ---- */

static bool supply_says(struct facts *f, const char *name, const char *what, const char *wanted)
{
	const char *path = arena_printf(f->arena, "/sys/class/power_supply/%s/%s", name, what),
		   *line;

	return path && facts_read_line(f, path, &line) >= 0 && str_equal(line, wanted);
}

/* At least one line is connected, or none is known and no battery is being emptied. */
static bool is_on_ac_power(struct facts *f)
{
	_cleanup_dir_ DIR *dir = opendir("/sys/class/power_supply");
	bool has_line = false, is_discharging = false;
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		if (is_dot(e->d_name) || supply_says(f, e->d_name, "scope", "Device"))
			continue;
		if (supply_says(f, e->d_name, "type", "Battery")) {
			is_discharging |= supply_says(f, e->d_name, "status", "Discharging");
			continue;
		}
		if (supply_says(f, e->d_name, "online", "1"))
			return true;
		has_line |= supply_says(f, e->d_name, "type", "Mains");
	}
	return !has_line && !is_discharging;
}

/* machine-id(5), "First Boot Semantics"; under a systemd that is in charge, its own word. */
static bool is_first_boot(struct facts *f)
{
	const char *line;
	int r;

	if (exists("/run/systemd/system"))
		return exists("/run/systemd/first-boot");
	r = facts_read_line(f, "/etc/machine-id", &line);
	return r == -ENOENT || (r >= 0 && (!*line || str_equal(line, "uninitialized")));
}

/* The last of five bytes: the first four are attributes. */
static bool is_secure_boot(struct facts *f)
{
	const char *bytes;
	size_t n;

	return facts_read(f, "/sys/firmware/efi/efivars/SecureBoot-" EFI_GLOBAL, &bytes, &n) >= 0 &&
	       n == 5 && bytes[4] == 1;
}

static bool has_audit(void)
{
	_cleanup_close_ int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_AUDIT);

	return fd >= 0 || (errno != EAFNOSUPPORT && errno != EPROTONOSUPPORT && errno != EPERM);
}

static bool has_security(struct facts *f, const char *name)
{
	const char *line;

	if (str_equal(name, "selinux"))
		return exists("/sys/fs/selinux/enforce");
	if (str_equal(name, "smack"))
		return exists("/sys/fs/smackfs/");
	if (str_equal(name, "apparmor"))
		return facts_read_line(f, "/sys/module/apparmor/parameters/enabled", &line) >= 0 &&
		       *line == 'Y';
	if (str_equal(name, "tomoyo"))
		return exists("/sys/kernel/security/tomoyo/version");
	if (str_equal(name, "ima"))
		return exists("/sys/kernel/security/ima/");
	if (str_equal(name, "audit"))
		return has_audit();
	if (str_equal(name, "uefi-secureboot"))
		return is_secure_boot(f);
	return str_equal(name, "tpm2") && has_entries("/sys/class/tpmrm");
}

static bool is_compatible(struct facts *f, const char *wanted, size_t n)
{
	const char *text;
	size_t size, i = 0;

	if (facts_read(f, "/proc/device-tree/compatible", &text, &size) < 0)
		return false;
	for (; i < size; i += strlen(text + i) + 1)
		if (strlen(text + i) == n && memcmp(text + i, wanted, n) == 0)
			return true;
	return false;
}

static bool has_firmware(struct facts *f, const char *s)
{
	const char *inside = s + strlen("device-tree-compatible(");

	if (str_equal(s, "uefi"))
		return exists("/sys/firmware/efi/");
	if (str_equal(s, "device-tree"))
		return exists("/sys/firmware/devicetree/");
	return str_starts(s, "device-tree-compatible(") &&
	       is_compatible(f, inside, strlen(inside) - 1);
}

/* A module that is being loaded, or goes, is not there; one that is part of the kernel has no
 * state. */
static bool has_module(struct facts *f, const char *name)
{
	char *path = arena_printf(f->arena, "/sys/module/%s", name);
	const char *state, *line;

	for (char *p = path; p && *p; p++)
		*p = *p == '-' ? '_' : *p;
	state = path ? arena_printf(f->arena, "%s/initstate", path) : NULL;
	if (!state || !exists(path))
		return false;
	return facts_read_line(f, state, &line) < 0 || str_equal(line, "live");
}

int facts_test(void *userdata, enum condition_kind kind, const char *parameter)
{
	struct facts *f = userdata;

	switch (kind) {
	case CONDITION_PATH_EXISTS:
		return exists(parameter);
	case CONDITION_PATH_EXISTS_GLOB:
		return matches_something(parameter);
	case CONDITION_PATH_IS_DIRECTORY:
		return is_of_type(parameter, S_IFDIR);
	case CONDITION_PATH_IS_SOCKET:
		return is_of_type(parameter, S_IFSOCK);
	case CONDITION_PATH_IS_SYMBOLIC_LINK:
		return is_link(parameter);
	case CONDITION_PATH_IS_MOUNT_POINT:
		return facts_is_mount_point(parameter);
	case CONDITION_PATH_IS_READ_WRITE:
		return is_writable_file_system(parameter);
	case CONDITION_PATH_IS_ENCRYPTED:
		return is_encrypted(f, parameter);
	case CONDITION_DIRECTORY_NOT_EMPTY:
		return has_entries(parameter);
	case CONDITION_FILE_NOT_EMPTY:
		return is_filled(parameter);
	case CONDITION_FILE_IS_EXECUTABLE:
		return is_executable(parameter);
	case CONDITION_NEEDS_UPDATE:
		return needs_update(f, parameter);
	case CONDITION_USER:
		return is_user(parameter);
	case CONDITION_GROUP:
		return is_in_group(parameter);
	case CONDITION_VIRTUALIZATION:
		return has_private_users(f);
	case CONDITION_CREDENTIAL:
		return has_credential(f, parameter);
	case CONDITION_AC_POWER:
		return is_on_ac_power(f);
	case CONDITION_FIRST_BOOT:
		return is_first_boot(f);
	case CONDITION_SECURITY:
		return has_security(f, parameter);
	case CONDITION_FIRMWARE:
		return has_firmware(f, parameter);
	case CONDITION_KERNEL_MODULE_LOADED:
		return has_module(f, parameter);
	case CONDITION_ARCHITECTURE:
	case CONDITION_CAPABILITY:
	case CONDITION_CONTROL_GROUP_CONTROLLER:
	case CONDITION_CPU_FEATURE:
	case CONDITION_CPU_PRESSURE:
	case CONDITION_CPUS:
	case CONDITION_ENVIRONMENT:
	case CONDITION_HOST:
	case CONDITION_IO_PRESSURE:
	case CONDITION_KERNEL_COMMAND_LINE:
	case CONDITION_KERNEL_VERSION:
	case CONDITION_MEMORY:
	case CONDITION_MEMORY_PRESSURE:
	case CONDITION_OS_RELEASE:
	case CONDITION_VERSION:
		break;
	}
	return -EINVAL;
}
