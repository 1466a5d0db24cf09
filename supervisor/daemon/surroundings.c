/* SPDX-License-Identifier: MIT */
#include "daemon/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <systemd/sd-id128.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "service/environment.h"
#include "store/file.h"

#define SMALL_FILE_MAX (64 * 1024)

/* ---- directories ---- */

static const char *variable(void *userdata, const char *name)
{
	(void) userdata;
	return getenv(name);
}

int surroundings_directories(bool is_user, struct arena *arena, struct directories *ret)
{
	const struct passwd *p = is_user ? getpwuid(geteuid()) : NULL;
	const struct directories_input in = {
		.is_user = is_user,
		.uid = geteuid(),
		.variable = variable,
		.home = p && p->pw_dir[0] == '/' ? arena_strdup(arena, p->pw_dir) : NULL,
		.sysconfdir = SYSCONFDIR,
		.runstatedir = RUNSTATEDIR,
		.localstatedir = LOCALSTATEDIR,
	};

	return directories_find(&in, arena, ret);
}

/* ---- a container? ---- */

static int read_small(const char *path, char **ret, size_t *ret_n)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : file_read_all(fd, 4096, SMALL_FILE_MAX, ret, ret_n);
}

/* Container managers set "container" for the first process of what they run. */
static bool first_process_says_so(void)
{
	_cleanup_free_ char *environment = NULL;
	size_t n, i = 0;

	if (read_small("/proc/1/environ", &environment, &n) < 0)
		return false;
	for (; i < n; i += strlen(environment + i) + 1)
		if (str_starts(environment + i, "container=") &&
		    environment[i + strlen("container=")])
			return true;
	return false;
}

static bool is_container(void)
{
	static const char *const mark[] = {
		"/run/.containerenv", "/.dockerenv", "/run/systemd/container", "/run/host/container-manager",
	};
	const char *said = getenv("container");

	if (said && *said)
		return true;
	for (size_t i = 0; i < ELEMENTS(mark); i++)
		if (access(mark[i], F_OK) == 0)
			return true;
	return first_process_says_so();
}

/* ---- what %u, %h and the like stand for ---- */

static const char *from_environment(struct arena *arena, const char *const *names,
				    const char *fallback)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && value[0] == '/')
			return arena_strdup(arena, value);
	}
	return fallback;
}

static const char *below_home(struct arena *arena, const char *name, const char *home,
			      const char *fallback)
{
	const char *value = getenv(name);

	if (value && value[0] == '/')
		return arena_strdup(arena, value);
	return home ? arena_printf(arena, "%s/%s", home, fallback) : NULL;
}

static void name_user(struct arena *arena, struct specifiers *s)
{
	const struct passwd *p = getpwuid(geteuid());
	const struct group *g = getgrgid(getegid());
	const char *home = getenv("HOME");

	s->user_id = arena_printf(arena, "%u", (unsigned) geteuid());
	s->group_id = arena_printf(arena, "%u", (unsigned) getegid());
	s->user = p ? arena_strdup(arena, p->pw_name) : s->user_id;
	s->group = g ? arena_strdup(arena, g->gr_name) : s->group_id;
	s->shell = p && p->pw_shell[0] ? arena_strdup(arena, p->pw_shell) : NULL;
	if (geteuid() != 0 && home && home[0] == '/')
		s->home = arena_strdup(arena, home);
	else
		s->home = p && p->pw_dir[0] == '/' ? arena_strdup(arena, p->pw_dir) : NULL;
}

static void name_directories(bool is_user, struct arena *arena, const struct directories *d,
			     struct specifiers *s)
{
	static const char *const tmp[] = { "TMPDIR", "TEMP", "TMP", NULL };

	s->tmp_dir = from_environment(arena, tmp, "/tmp");
	s->var_tmp_dir = from_environment(arena, tmp, "/var/tmp");
	s->runtime_dir = d->runtime;
	if (!is_user) {
		s->state_dir = LOCALSTATEDIR "/lib";
		s->cache_dir = LOCALSTATEDIR "/cache";
		s->logs_dir = LOCALSTATEDIR "/log";
		s->config_dir = SYSCONFDIR;
		s->data_dir = "/usr/share";
		return;
	}
	s->state_dir = below_home(arena, "XDG_STATE_HOME", s->home, ".local/state");
	s->cache_dir = below_home(arena, "XDG_CACHE_HOME", s->home, ".cache");
	s->logs_dir = s->state_dir ? arena_printf(arena, "%s/log", s->state_dir) : NULL;
	s->config_dir = below_home(arena, "XDG_CONFIG_HOME", s->home, ".config");
	s->data_dir = below_home(arena, "XDG_DATA_HOME", s->home, ".local/share");
}

/* As systemd names them. */
static const char *architecture(const char *machine)
{
	static const struct {
		const char *machine, *name;
	} table[] = {
		{ "x86_64", "x86-64" },
		{ "i386", "x86" },
		{ "i486", "x86" },
		{ "i586", "x86" },
		{ "i686", "x86" },
		{ "aarch64", "arm64" },
		{ "armv6l", "arm" },
		{ "armv7l", "arm" },
		{ "armv8l", "arm" },
		{ "riscv32", "riscv32" },
		{ "riscv64", "riscv64" },
		{ "ppc64le", "ppc64-le" },
		{ "ppc64", "ppc64" },
		{ "s390x", "s390x" },
		{ "loongarch64", "loongarch64" },
	};

	for (size_t i = 0; i < ELEMENTS(table); i++)
		if (str_equal(machine, table[i].machine))
			return table[i].name;
	return NULL;
}

/* NAME="value" lines, as of os-release(5); NULL-terminated, or NULL: there is no such file. */
static const char **read_assignments(struct arena *arena, const char *path)
{
	_cleanup_free_ char *bytes = NULL;
	const char **all = NULL;
	struct diag d = { 0 };
	size_t n, n_all = 0;
	int r = read_small(path, &bytes, &n);

	if (r >= 0)
		r = environment_file_parse(path, bytes, n, arena, &all, &n_all, &d);
	diag_done(&d);
	if (r >= 0 && !all)
		all = arena_alloc(arena, sizeof(*all));
	return r < 0 ? NULL : all;
}

/* What is not said is empty, as for systemd; without a file nothing is known. */
static const char *assigned(const char **all, const char *name)
{
	size_t n = strlen(name);
	const char *value = "";

	if (!all)
		return NULL;
	for (; *all; all++)
		if (strncmp(*all, name, n) == 0 && (*all)[n] == '=')
			value = *all + n + 1;
	return value;
}

static void name_os(struct arena *arena, struct specifiers *s)
{
	const char **all = read_assignments(arena, "/etc/os-release");

	if (!all)
		all = read_assignments(arena, "/usr/lib/os-release");
	s->os_id = assigned(all, "ID");
	s->os_version_id = assigned(all, "VERSION_ID");
	s->os_variant_id = assigned(all, "VARIANT_ID");
	s->os_build_id = assigned(all, "BUILD_ID");
	s->os_image_id = assigned(all, "IMAGE_ID");
	s->os_image_version = assigned(all, "IMAGE_VERSION");
}

/* machine-info(5); where that says nothing, the host's name without its domain. */
static const char *pretty_host_name(struct arena *arena, const char *host_name)
{
	const char *pretty =
		assigned(read_assignments(arena, "/etc/machine-info"), "PRETTY_HOSTNAME");

	if (pretty && *pretty)
		return pretty;
	return host_name ? arena_strndup(arena, host_name, strcspn(host_name, ".")) : NULL;
}

/* 8-4-4-4-12 digits. */
static void uuid_print(const char hex[33], char ret[37])
{
	(void) snprintf(ret, 37, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
			hex + 20);
}

static void name_machine(struct surroundings *s)
{
	struct specifiers *x = &s->specifiers;
	struct utsname u;
	char hex[33];
	sd_id128_t id;

	if (uname(&u) >= 0) {
		x->host_name = arena_strdup(&s->arena, u.nodename);
		x->kernel_release = arena_strdup(&s->arena, u.release);
		x->architecture = architecture(u.machine);
	}
	x->pretty_host_name = pretty_host_name(&s->arena, x->host_name);
	if (sd_id128_get_machine(&id) >= 0) {
		memcpy(s->machine_id, &id, sizeof(s->machine_id));
		text_hex16(s->machine_id, hex);
		x->machine_id = arena_strdup(&s->arena, hex);
	}
	if (sd_id128_get_boot(&id) >= 0) {
		x->boot_id = arena_strdup(&s->arena, sd_id128_to_string(id, hex));
		uuid_print(hex, s->boot_id);
	}
}

int surroundings_look(bool is_user, struct surroundings *ret)
{
	struct surroundings s = { .is_container = is_container() };
	struct directories d = { 0 };
	sd_id128_t id;
	int r;

	r = surroundings_directories(is_user, &s.arena, &d);
	if (r == -ENOMEM) {
		arena_done(&s.arena);
		return r;
	}
	name_user(&s.arena, &s.specifiers);
	name_directories(is_user, &s.arena, &d, &s.specifiers);
	name_machine(&s);
	name_os(&s.arena, &s.specifiers);
	if (sd_id128_randomize(&id) >= 0)
		memcpy(s.daemon_id, &id, sizeof(s.daemon_id));
	*ret = s;
	return 0;
}

void surroundings_done(struct surroundings *s)
{
	arena_done(&s->arena);
}
