/* SPDX-License-Identifier: MIT */
#include "run/condition_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <systemd/sd-id128.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"
#include "store/file.h"

#define FILE_MAX ((size_t) 1024 * 1024)
#define CGROUP_ROOT "/sys/fs/cgroup"
#define CGROUP2_MAGIC 0x63677270
#define CPUS_MAX 65536

/* ---- files ---- */

int facts_read(struct facts *f, const char *path, const char **ret, size_t *ret_n)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	_cleanup_free_ char *bytes = NULL;
	char *copy;
	size_t n;
	int r;

	if (fd < 0)
		return -errno;
	r = file_read_all(fd, 4096, FILE_MAX, &bytes, &n);
	if (r < 0)
		return r;
	copy = arena_alloc(f->arena, n + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, n);
	*ret = copy;
	*ret_n = n;
	return 0;
}

int facts_read_line(struct facts *f, const char *path, const char **ret)
{
	const char *text;
	size_t n;
	int r = facts_read(f, path, &text, &n);

	if (r < 0)
		return r;
	*ret = arena_strndup(f->arena, text, strcspn(text, "\n"));
	return *ret ? 0 : -ENOMEM;
}

/* 1; 0: there is no such file. */
static int found(int r)
{
	if (r >= 0)
		return 1;
	return r == -ENOENT || r == -ENOTDIR ? 0 : r;
}

const char *facts_variable(const struct facts *f, const char *name)
{
	size_t n = strlen(name);

	for (const char *const *e = f->environment; e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

/* ---- who this is ---- */

/* As systemd names what uname(2) says. */
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
		{ "aarch64_be", "arm64-be" },
		{ "armv4l", "arm" },
		{ "armv5tel", "arm" },
		{ "armv5tejl", "arm" },
		{ "armv6l", "arm" },
		{ "armv7l", "arm" },
		{ "armv8l", "arm" },
		{ "riscv32", "riscv32" },
		{ "riscv64", "riscv64" },
		{ "ppc", "ppc" },
		{ "ppcle", "ppc-le" },
		{ "ppc64", "ppc64" },
		{ "ppc64le", "ppc64-le" },
		{ "s390", "s390" },
		{ "s390x", "s390x" },
		{ "mips", "mips" },
		{ "mips64", "mips64" },
		{ "loongarch64", "loongarch64" },
		{ "ia64", "ia64" },
		{ "alpha", "alpha" },
		{ "sparc", "sparc" },
		{ "sparc64", "sparc64" },
		{ "parisc", "parisc" },
		{ "parisc64", "parisc64" },
		{ "m68k", "m68k" },
		{ "sh5", "sh64" },
	};

	for (size_t i = 0; i < ELEMENTS(table); i++)
		if (str_equal(machine, table[i].machine))
			return table[i].name;
	return machine;
}

static const char *native_architecture(void)
{
#if defined(__x86_64__)
	return "x86-64";
#elif defined(__i386__)
	return "x86";
#elif defined(__aarch64__)
	return "arm64";
#elif defined(__arm__)
	return "arm";
#elif defined(__riscv) && __riscv_xlen == 64
	return "riscv64";
#elif defined(__riscv)
	return "riscv32";
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return "ppc64-le";
#elif defined(__powerpc64__)
	return "ppc64";
#elif defined(__powerpc__)
	return "ppc";
#elif defined(__s390x__)
	return "s390x";
#elif defined(__loongarch_lp64)
	return "loongarch64";
#else
	return NULL;
#endif
}

static int from_uname(struct facts *f, enum condition_text what, const char **ret)
{
	struct utsname u;

	if (uname(&u) < 0)
		return -errno;
	if (what == CONDITION_TEXT_KERNEL_RELEASE)
		*ret = arena_strdup(f->arena, u.release);
	else if (what == CONDITION_TEXT_HOST_NAME)
		*ret = arena_strdup(f->arena, u.nodename);
	else
		*ret = arena_strdup(f->arena, architecture(u.machine));
	return *ret ? 1 : -ENOMEM;
}

static int machine_id(struct facts *f, const char **ret)
{
	char hex[SD_ID128_STRING_MAX];
	sd_id128_t id;
	int r = sd_id128_get_machine(&id);

	if (r < 0)
		return r;
	*ret = arena_strdup(f->arena, sd_id128_to_string(id, hex));
	return *ret ? 1 : -ENOMEM;
}

/* In a container the kernel's line is somebody else's: what its first process was told counts, as
 * in systemd. */
static int command_line(struct facts *f, const char **ret)
{
	const char *container, *text;
	bool is_contained = facts_container(f, &container) > 0;
	size_t n;
	int r = facts_read(f, is_contained ? "/proc/1/cmdline" : "/proc/cmdline", &text, &n);

	if (r < 0)
		return r;
	*ret = text;
	for (size_t i = 0; i + 1 < n; i++)
		if (text[i] == '\0')
			((char *) (uintptr_t) text)[i] = ' ';
	return 1;
}

/* ---- what it has ---- */

static int cpu_features(struct facts *f, const char **ret)
{
#if defined(__x86_64__) || defined(__i386__)
	const char *text, *line;
	size_t n;
	int r = facts_read(f, "/proc/cpuinfo", &text, &n);

	if (r < 0)
		return found(r);
	line = strstr(text, "\nflags");
	line = line ? strchr(line, ':') : NULL;
	if (!line)
		return 0;
	*ret = arena_strndup(f->arena, line + 1, strcspn(line + 1, "\n"));
	return *ret ? 1 : -ENOMEM;
#else
	(void) f;
	(void) ret;
	return 0;
#endif
}

static bool is_cgroup2(const char *path)
{
	struct statfs s;

	return statfs(path, &s) >= 0 && s.f_type == CGROUP2_MAGIC;
}

/* Those that the daemon's own control group has; a container's root is that of the container. */
static int controllers(struct facts *f, const char **ret)
{
	const char *own = NULL;
	char *path;

	if (!is_cgroup2(CGROUP_ROOT))
		return 0;
	if (facts_read_line(f, "/proc/self/cgroup", &own) >= 0 && str_starts(own, "0::/")) {
		path = arena_printf(f->arena, CGROUP_ROOT "%s/cgroup.controllers",
				    own + strlen("0::"));
		if (!path)
			return -ENOMEM;
		if (facts_read_line(f, path, ret) >= 0)
			return 1;
	}
	return found(facts_read_line(f, CGROUP_ROOT "/cgroup.controllers", ret));
}

/* /proc/cgroups: name, hierarchy, number, enabled. */
static int controllers_v1(struct facts *f, const char **ret)
{
	const char *text, *all = "";
	size_t n;
	int r;

	if (is_cgroup2(CGROUP_ROOT) || access(CGROUP_ROOT, F_OK) < 0)
		return 0;
	r = facts_read(f, "/proc/cgroups", &text, &n);
	if (r < 0)
		return found(r);
	while (*text) {
		char name[64];
		unsigned hierarchy, groups, enabled;

		if (sscanf(text, "%63s %u %u %u", name, &hierarchy, &groups, &enabled) == 4 &&
		    enabled) {
			all = arena_printf(f->arena, "%s %s%s", all, name,
					   str_equal(name, "blkio") ? " io" : "");
			if (!all)
				return -ENOMEM;
		}
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	*ret = all;
	return 1;
}

/* A kernel that has pressure switched off refuses with -EOPNOTSUPP. */
static int pressure(struct facts *f, const char *name, const char **ret)
{
	char *path = arena_printf(f->arena, "/proc/pressure/%s", name);
	size_t n;
	int r = path ? facts_read(f, path, ret, &n) : -ENOMEM;

	return r == -EOPNOTSUPP ? 0 : found(r);
}

/* os-release(5): shell assignments, one a line. */
static int os_release(struct facts *f, const char *name, const char **ret)
{
	const char *text, *p;
	size_t n, length = strlen(name);
	char *value, *line;
	int r = facts_read(f, "/etc/os-release", &text, &n);

	if (r == -ENOENT)
		r = facts_read(f, "/usr/lib/os-release", &text, &n);
	if (r < 0)
		return found(r);
	for (p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
		if (strncmp(p, name, length) != 0 || p[length] != '=')
			continue;
		line = arena_strndup(f->arena, p + length + 1, strcspn(p + length + 1, "\n"));
		if (!line)
			return -ENOMEM;
		p = line;
		r = value_word(&p, VALUE_WORD_KEEP_BACKSLASH, f->arena, &value);
		*ret = r > 0 ? value : "";
		return r == -ENOMEM ? r : 1;
	}
	return 0;
}

static int smbios(struct facts *f, const char *name, const char **ret)
{
	char *path = arena_printf(f->arena, "/sys/class/dmi/id/%s", name);

	return path ? found(facts_read_line(f, path, ret)) : -ENOMEM;
}

static const char *glibc_version(void)
{
#ifdef __GLIBC__
	return gnu_get_libc_version();
#else
	return NULL;
#endif
}

static int find_text(void *userdata, enum condition_text what, const char *name, const char **ret)
{
	struct facts *f = userdata;

	switch (what) {
	case CONDITION_TEXT_KERNEL_RELEASE:
	case CONDITION_TEXT_HOST_NAME:
	case CONDITION_TEXT_ARCHITECTURE:
		return from_uname(f, what, ret);
	case CONDITION_TEXT_GLIBC_VERSION:
		*ret = glibc_version();
		return *ret != NULL;
	case CONDITION_TEXT_MACHINE_ID:
		return machine_id(f, ret);
	case CONDITION_TEXT_NATIVE_ARCHITECTURE:
		*ret = native_architecture();
		return *ret != NULL;
	case CONDITION_TEXT_COMMAND_LINE:
		return command_line(f, ret);
	case CONDITION_TEXT_VIRTUAL_MACHINE:
		return facts_virtual_machine(f, ret);
	case CONDITION_TEXT_CONTAINER:
		return facts_container(f, ret);
	case CONDITION_TEXT_CPU_FEATURES:
		return cpu_features(f, ret);
	case CONDITION_TEXT_CONTROLLERS:
		return controllers(f, ret);
	case CONDITION_TEXT_CONTROLLERS_V1:
		return controllers_v1(f, ret);
	case CONDITION_TEXT_PRESSURE:
		return pressure(f, name, ret);
	case CONDITION_TEXT_OS_RELEASE:
		return os_release(f, name, ret);
	case CONDITION_TEXT_MISSING_MOUNT:
		return facts_missing_mount(f, name, ret);
	case CONDITION_TEXT_ENVIRONMENT:
		*ret = facts_variable(f, name);
		return *ret != NULL;
	case CONDITION_TEXT_SMBIOS:
		return smbios(f, name, ret);
	}
	return -EINVAL;
}

/* ---- numbers ---- */

/* The machine's, or what the control group leaves of it. */
static uint64_t memory_of_group(struct facts *f)
{
	static const char *const limits[] = {
		CGROUP_ROOT "/memory.max", CGROUP_ROOT "/memory/memory.limit_in_bytes",
	};
	const char *line;
	uint64_t x;

	for (size_t i = 0; i < ELEMENTS(limits); i++)
		if (facts_read_line(f, limits[i], &line) >= 0 &&
		    value_unsigned(line, UINT64_MAX, &x) >= 0)
			return x;
	return UINT64_MAX;
}

static int memory(struct facts *f, uint64_t *ret)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
	uint64_t x, limit = memory_of_group(f);

	if (pages <= 0 || size <= 0)
		return -ENODATA;
	x = (uint64_t) pages * (uint64_t) size;
	*ret = limit < x ? limit : x;
	return 0;
}

static int cpus(uint64_t *ret)
{
	for (size_t n = 1024; n <= CPUS_MAX; n *= 2) {
		cpu_set_t *set = CPU_ALLOC(n);
		int r;

		if (!set)
			return -ENOMEM;
		r = sched_getaffinity(0, CPU_ALLOC_SIZE(n), set) < 0 ? -errno : 0;
		*ret = r < 0 ? 0 : (uint64_t) CPU_COUNT_S(CPU_ALLOC_SIZE(n), set);
		CPU_FREE(set);
		if (r != -EINVAL)
			return r;
	}
	return -EINVAL;
}

static int capabilities(struct facts *f, uint64_t *ret)
{
	const char *text, *line;
	size_t n;
	int r = facts_read(f, "/proc/self/status", &text, &n);

	if (r < 0)
		return r;
	line = strstr(text, "\nCapBnd:");
	if (!line)
		return -ENODATA;
	*ret = strtoull(line + strlen("\nCapBnd:"), NULL, 16);
	return 0;
}

static int find_number(void *userdata, enum condition_number what, uint64_t *ret)
{
	struct facts *f = userdata;

	switch (what) {
	case CONDITION_NUMBER_MEMORY:
		return memory(f, ret);
	case CONDITION_NUMBER_CPUS:
		return cpus(ret);
	case CONDITION_NUMBER_CAPABILITIES:
		return capabilities(f, ret);
	}
	return -EINVAL;
}

struct condition_facts condition_facts(struct facts *facts)
{
	return (struct condition_facts) {
		.userdata = facts, .text = find_text, .number = find_number, .test = facts_test,
	};
}
