/* SPDX-License-Identifier: MIT */
#include "service/condition.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"
#include "service/condition_private.h"
#include "service/environment.h"

/* False: the parameter makes no sense. */
typedef bool check_fn(const char *parameter, enum condition_remark *remark);

/* ---- each kind's values ---- */

static bool is_among(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_equal(word, list[i]))
			return true;
	return false;
}

static bool check_text(const char *s _unused_, enum condition_remark *remark _unused_)
{
	return true;
}

static bool is_normal_component(const char *s, size_t n)
{
	return !(n == 2 && s[0] == '.' && s[1] == '.');
}

/* As in systemd: absolute, and without "..", which would mean another file after each link. */
static bool check_path(const char *s, enum condition_remark *remark _unused_)
{
	if (*s != '/' || strlen(s) >= PATH_MAX)
		return false;
	while (*s) {
		size_t n = strcspn(s, "/");

		if (!is_normal_component(s, n))
			return false;
		s += n + (s[n] == '/');
	}
	return true;
}

static bool check_bool(const char *s, enum condition_remark *remark _unused_)
{
	bool value;

	return value_bool(s, &value) >= 0;
}

static bool check_architecture(const char *s, enum condition_remark *remark)
{
	static const char *const names[] = {
		"native", "x86", "x86-64", "ppc", "ppc-le", "ppc64", "ppc64-le", "ia64", "parisc", "parisc64", "s390",
		"s390x", "sparc", "sparc64", "mips", "mips-le", "mips64", "mips64-le", "alpha", "arm", "arm-be",
		"arm64", "arm64-be", "sh", "sh64", "m68k", "tilegx", "cris", "arc", "arc-be", "nios2", "riscv32",
		"riscv64", "loongarch64",
	};

	if (!is_among(s, names, ELEMENTS(names)))
		*remark = CONDITION_IS_UNKNOWN;
	return true;
}

static bool check_capability(const char *s, enum condition_remark *remark _unused_)
{
	unsigned number;

	return capability_read(s, &number);
}

static bool check_controllers(const char *s, enum condition_remark *remark)
{
	if (str_equal(s, "v1") || str_equal(s, "v2"))
		return true;
	*remark = CONDITION_IS_PASSED_OVER;
	for (size_t n; *s; s += n) {
		s += strspn(s, " \t");
		n = strcspn(s, " \t");
		if (controller_is_known(s, n))
			*remark = CONDITION_FINE;
	}
	return true;
}

static bool check_cpus(const char *s, enum condition_remark *remark _unused_)
{
	struct number_test test;

	return cpus_test_read(s, &test);
}

static bool check_memory(const char *s, enum condition_remark *remark _unused_)
{
	struct number_test test;

	return memory_test_read(s, &test);
}

static bool check_pressure(const char *s, enum condition_remark *remark)
{
	struct pressure_test test;

	if (!pressure_test_read(s, &test))
		return false;
	if (test.has_slice)
		*remark = CONDITION_IS_PASSED_OVER;
	return true;
}

static bool check_credential(const char *s, enum condition_remark *remark _unused_)
{
	return !strchr(s, '/') && !str_equal(s, ".") && !str_equal(s, "..") &&
	       strlen(s) <= NAME_MAX;
}

static bool check_module(const char *s, enum condition_remark *remark)
{
	return check_credential(s, remark);
}

static bool check_environment(const char *s, enum condition_remark *remark _unused_)
{
	return environment_name_is_valid(s) || environment_assignment_is_valid(s);
}

static bool check_firmware(const char *s, enum condition_remark *remark)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct field_test test;
	size_t n = strlen(s);

	if (str_equal(s, "uefi") || str_equal(s, "device-tree"))
		return true;
	if (str_starts(s, "device-tree-compatible("))
		return s[n - 1] == ')' && n > strlen("device-tree-compatible()");
	if (str_starts(s, "smbios-field("))
		return smbios_test_read(s, &scratch, &test) >= 0;
	*remark = CONDITION_IS_UNKNOWN;
	return true;
}

static bool check_versions(const char *s, enum condition_remark *remark _unused_)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct version_test test;
	bool is_first = true;
	int r;

	while ((r = version_test_next(&s, is_first, &scratch, &test)) > 0)
		is_first = false;
	return r == 0 && !is_first;
}

static bool check_version(const char *s, enum condition_remark *remark)
{
	if (version_of_read(&s) == VERSION_OF_SYSTEMD)
		*remark = CONDITION_IS_UNKNOWN;
	return check_versions(s, remark);
}

static bool check_fields(const char *s, enum condition_remark *remark _unused_)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct field_test test;
	unsigned n = 0;
	int r;

	while ((r = field_test_next(&s, &scratch, &test)) > 0)
		n++;
	return r == 0 && n > 0;
}

static bool check_security(const char *s, enum condition_remark *remark)
{
	static const char *const names[] = {
		"selinux", "apparmor", "tomoyo", "ima", "smack", "audit", "uefi-secureboot", "tpm2",
	};

	if (!is_among(s, names, ELEMENTS(names)))
		*remark = CONDITION_IS_UNKNOWN;
	return true;
}

static bool check_virtualization(const char *s, enum condition_remark *remark)
{
	static const char *const names[] = {
		"vm", "container", "private-users",
		/* as systemd-detect-virt(1) names them */
		"qemu", "kvm", "amazon", "zvm", "vmware", "microsoft", "oracle", "powervm", "xen", "bochs", "uml",
		"parallels", "bhyve", "qnx", "acrn", "apple", "sre", "google", "vm-other", "openvz", "lxc",
		"lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch", "container-other",
	};
	bool value;

	if (value_bool(s, &value) < 0 && !is_among(s, names, ELEMENTS(names)))
		*remark = CONDITION_IS_UNKNOWN;
	return true;
}

/* ---- the kinds ---- */

#define PATH "an absolute path without .."
#define BOOLEAN "yes or no"

static const struct {
	const char *name;
	check_fn *check;
	const char *wanted;
} kinds[] = {
	[CONDITION_AC_POWER] = { "ACPower", check_bool, BOOLEAN },
	[CONDITION_ARCHITECTURE] = { "Architecture", check_architecture, "an architecture" },
	[CONDITION_CAPABILITY] = { "Capability", check_capability,
				   "a capability, as CAP_SYS_ADMIN" },
	[CONDITION_CONTROL_GROUP_CONTROLLER] = { "ControlGroupController", check_controllers,
						 "controllers, v1 or v2" },
	[CONDITION_CPU_FEATURE] = { "CPUFeature", check_text, "a feature of the CPU" },
	[CONDITION_CPU_PRESSURE] = { "CPUPressure", check_pressure,
				     "a limit, as 10%/1min (10s, 1min or 5min)" },
	[CONDITION_CPUS] = { "CPUs", check_cpus, "a number of CPUs, as >=2" },
	[CONDITION_CREDENTIAL] = { "Credential", check_credential, "the name of a credential" },
	[CONDITION_DIRECTORY_NOT_EMPTY] = { "DirectoryNotEmpty", check_path, PATH },
	[CONDITION_ENVIRONMENT] = { "Environment", check_environment, "NAME or NAME=value" },
	[CONDITION_FILE_IS_EXECUTABLE] = { "FileIsExecutable", check_path, PATH },
	[CONDITION_FILE_NOT_EMPTY] = { "FileNotEmpty", check_path, PATH },
	[CONDITION_FIRMWARE] = { "Firmware", check_firmware,
				 "uefi, device-tree, device-tree-compatible(…) or smbios-field(NAME = VALUE)" },
	[CONDITION_FIRST_BOOT] = { "FirstBoot", check_bool, BOOLEAN },
	[CONDITION_GROUP] = { "Group", check_text, "a group" },
	[CONDITION_HOST] = { "Host", check_text, "a host name or a machine id" },
	[CONDITION_IO_PRESSURE] = { "IOPressure", check_pressure,
				    "a limit, as 10%/1min (10s, 1min or 5min)" },
	[CONDITION_KERNEL_COMMAND_LINE] = { "KernelCommandLine", check_text,
					    "a word or an assignment" },
	[CONDITION_KERNEL_MODULE_LOADED] = { "KernelModuleLoaded", check_module,
					     "the name of a module" },
	[CONDITION_KERNEL_VERSION] = { "KernelVersion", check_versions,
				       "comparisons, as >=5.10 <6" },
	[CONDITION_MEMORY] = { "Memory", check_memory, "an amount of memory, as >=2G" },
	[CONDITION_MEMORY_PRESSURE] = { "MemoryPressure", check_pressure,
					"a limit, as 10%/1min (10s, 1min or 5min)" },
	[CONDITION_NEEDS_UPDATE] = { "NeedsUpdate", check_path, PATH },
	[CONDITION_OS_RELEASE] = { "OSRelease", check_fields,
				   "comparisons, as ID=debian VERSION_ID>=12" },
	[CONDITION_PATH_EXISTS] = { "PathExists", check_path, PATH },
	[CONDITION_PATH_EXISTS_GLOB] = { "PathExistsGlob", check_path, PATH },
	[CONDITION_PATH_IS_DIRECTORY] = { "PathIsDirectory", check_path, PATH },
	[CONDITION_PATH_IS_ENCRYPTED] = { "PathIsEncrypted", check_path, PATH },
	[CONDITION_PATH_IS_MOUNT_POINT] = { "PathIsMountPoint", check_path, PATH },
	[CONDITION_PATH_IS_READ_WRITE] = { "PathIsReadWrite", check_path, PATH },
	[CONDITION_PATH_IS_SOCKET] = { "PathIsSocket", check_path, PATH },
	[CONDITION_PATH_IS_SYMBOLIC_LINK] = { "PathIsSymbolicLink", check_path, PATH },
	[CONDITION_SECURITY] = { "Security", check_security, "a security technology" },
	[CONDITION_USER] = { "User", check_text, "a user, or @system" },
	[CONDITION_VERSION] = { "Version", check_version,
				"comparisons, as kernel >=5.10 or glibc >=2.36" },
	[CONDITION_VIRTUALIZATION] = { "Virtualization", check_virtualization,
				       "yes, no, vm, container or a name" },
};
static_assert(ELEMENTS(kinds) == CONDITION_KIND_COUNT, "a name and a check for each kind");

const char *condition_kind_to_string(enum condition_kind kind)
{
	return kinds[kind].name;
}

static bool take_mark(char **s, char mark)
{
	if (**s != mark)
		return false;
	(*s)++;
	*s += strspn(*s, " \t");
	return true;
}

/* As in systemd: no slash twice, none at the end. */
static void simplify_path(char *s)
{
	char *to = s;

	for (const char *from = s; *from; from++)
		if (*from != '/' || to == s || to[-1] != '/')
			*to++ = *from;
	if (to > s + 1 && to[-1] == '/')
		to--;
	*to = '\0';
}

bool condition_path_read(char *s)
{
	enum condition_remark none;

	if (!check_path(s, &none))
		return false;
	simplify_path(s);
	return true;
}

int condition_parse(enum condition_kind kind, char *value, struct condition *ret,
		    enum condition_remark *ret_remark, const char **reterr_wanted)
{
	struct condition c = { .kind = (uint8_t) kind };
	enum condition_remark remark = CONDITION_FINE;

	c.is_trigger = take_mark(&value, '|');
	c.is_negated = take_mark(&value, '!');
	c.parameter = value;
	if (!*value || !kinds[kind].check(value, &remark)) {
		*reterr_wanted = kinds[kind].wanted;
		return -EINVAL;
	}
	if (kinds[kind].check == check_path)
		simplify_path(value);
	*ret = c;
	*ret_remark = remark;
	return 0;
}

/* ---- copies ---- */

static bool list_copy(const struct condition_list *from, struct arena *arena,
		      struct condition_list *to)
{
	to->n = from->n;
	to->item = arena_alloc(arena, (from->n + 1) * sizeof(*to->item));
	if (!to->item)
		return false;
	for (size_t i = 0; i < from->n; i++) {
		to->item[i] = from->item[i];
		to->item[i].parameter = arena_strdup(arena, from->item[i].parameter);
		if (!to->item[i].parameter)
			return false;
	}
	return true;
}

static bool strings_copy(const char *const *from, struct arena *arena, const char *const **to)
{
	const char **copy;
	size_t n = 0;

	*to = NULL;
	while (from && from[n])
		n++;
	if (n == 0)
		return true;
	copy = arena_alloc(arena, (n + 1) * sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		copy[i] = arena_strdup(arena, from[i]);
		if (!copy[i])
			return false;
	}
	*to = copy;
	return copy != NULL;
}

struct conditions *conditions_copy(const struct conditions *c, struct arena *arena)
{
	struct conditions *copy = arena_alloc(arena, sizeof(*copy));

	if (!copy || !strings_copy(c->mounts, arena, &copy->mounts) ||
	    !list_copy(&c->condition, arena, &copy->condition) ||
	    !list_copy(&c->assert, arena, &copy->assert))
		return NULL;
	return copy;
}
