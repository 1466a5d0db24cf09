/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_CONDITION_H
#define SUPD_SERVICE_CONDITION_H

/* Condition*= and Assert*= of [Unit]: what may be written behind them, and whether they are met.
 * The rules are those of systemd.unit(5), "Conditions and Asserts"; supd.service(5) says where they
 * differ. Pure: what the system is like is asked of struct condition_facts.
 *
 * '|' makes a condition a trigger: one trigger that is met is enough for all. All the others must
 * be met. '!' turns the answer round; where there is no answer (the system would not tell), the
 * condition is not met, with or without '!'. Conditions are judged before asserts, and asserts only
 * if the conditions hold. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum condition_kind {
	CONDITION_AC_POWER,
	CONDITION_ARCHITECTURE,
	CONDITION_CAPABILITY,
	CONDITION_CONTROL_GROUP_CONTROLLER,
	CONDITION_CPU_FEATURE,
	CONDITION_CPU_PRESSURE,
	CONDITION_CPUS,
	CONDITION_CREDENTIAL,
	CONDITION_DIRECTORY_NOT_EMPTY,
	CONDITION_ENVIRONMENT,
	CONDITION_FILE_IS_EXECUTABLE,
	CONDITION_FILE_NOT_EMPTY,
	CONDITION_FIRMWARE,
	CONDITION_FIRST_BOOT,
	CONDITION_GROUP,
	CONDITION_HOST,
	CONDITION_IO_PRESSURE,
	CONDITION_KERNEL_COMMAND_LINE,
	CONDITION_KERNEL_MODULE_LOADED,
	CONDITION_KERNEL_VERSION,
	CONDITION_MEMORY,
	CONDITION_MEMORY_PRESSURE,
	CONDITION_NEEDS_UPDATE,
	CONDITION_OS_RELEASE,
	CONDITION_PATH_EXISTS,
	CONDITION_PATH_EXISTS_GLOB,
	CONDITION_PATH_IS_DIRECTORY,
	CONDITION_PATH_IS_ENCRYPTED,
	CONDITION_PATH_IS_MOUNT_POINT,
	CONDITION_PATH_IS_READ_WRITE,
	CONDITION_PATH_IS_SOCKET,
	CONDITION_PATH_IS_SYMBOLIC_LINK,
	CONDITION_SECURITY,
	CONDITION_USER,
	CONDITION_VERSION,
	CONDITION_VIRTUALIZATION,
};
#define CONDITION_KIND_COUNT (CONDITION_VIRTUALIZATION + 1)

struct condition {
	/* what stands behind '|' and '!', specifiers replaced; never empty */
	const char *parameter;
	uint8_t kind;
	bool is_trigger; /* '|' */
	bool is_negated; /* '!' */
};

struct condition_list {
	struct condition *item;
	size_t n;
};

/* Of a service that has any. */
struct conditions {
	/* RequiresMountsFor=: absolute paths, NULL-terminated, or NULL */
	const char *const *mounts;
	struct condition_list condition, assert;
};

/* ---- understanding ---- */

/* What condition_parse() has to say of a value that is no mistake. */
enum condition_remark {
	CONDITION_FINE,
	CONDITION_IS_UNKNOWN,    /* a name that is not known here: never met, or with '!' always */
	CONDITION_IS_PASSED_OVER, /* it names nothing that is known here: always met */
};

/* @value is lent as long as @ret is used, and changed: paths lose slashes that say nothing. 0 or
 * -EINVAL, with what is wanted ("an absolute path"). */
int condition_parse(enum condition_kind kind, char *value, struct condition *ret,
		    enum condition_remark *ret_remark, const char **reterr_wanted);
/* "PathExists" */
const char *condition_kind_to_string(enum condition_kind kind);
/* An absolute path, as conditions take them; changed likewise. */
bool condition_path_read(char *s);
/* A copy that shares nothing, in @arena. NULL when memory ran out. */
struct conditions *conditions_copy(const struct conditions *c, struct arena *arena);

/* ---- judging ---- */

enum condition_text {
	CONDITION_TEXT_KERNEL_RELEASE,
	CONDITION_TEXT_GLIBC_VERSION,
	CONDITION_TEXT_HOST_NAME,
	CONDITION_TEXT_MACHINE_ID,          /* 32 hexadecimal digits */
	CONDITION_TEXT_ARCHITECTURE,        /* systemd's name, of the kernel */
	CONDITION_TEXT_NATIVE_ARCHITECTURE, /* … and of this program */
	/* of the kernel; in a container, of its first process */
	CONDITION_TEXT_COMMAND_LINE,
	CONDITION_TEXT_VIRTUAL_MACHINE,     /* "kvm" …; not there: none */
	CONDITION_TEXT_CONTAINER,           /* "docker" …; not there: none */
	CONDITION_TEXT_CPU_FEATURES,        /* words, as in /proc/cpuinfo */
	/* words: of control groups; not there: control groups v1, or none */
	CONDITION_TEXT_CONTROLLERS,
	CONDITION_TEXT_CONTROLLERS_V1,      /* words; not there: control groups v2 alone */
	/* @name: cpu, io, memory: a file of /proc/pressure; not there: not measured */
	CONDITION_TEXT_PRESSURE,
	CONDITION_TEXT_OS_RELEASE,          /* @name: a field */
	CONDITION_TEXT_ENVIRONMENT,         /* @name: a variable of the daemon */
	CONDITION_TEXT_SMBIOS,              /* @name: a field of /sys/class/dmi/id */
	/* @name: a path; a mount point on the way to it that is to be, and is not */
	CONDITION_TEXT_MISSING_MOUNT,
};

enum condition_number {
	CONDITION_NUMBER_MEMORY,       /* bytes */
	CONDITION_NUMBER_CPUS,
	CONDITION_NUMBER_CAPABILITIES, /* the bounding set */
};

/* How the system is looked at; each returns a negative errno where that cannot be told. */
struct condition_facts {
	void *userdata;
	/* 1: *@ret, lent until the judging is over; 0: there is none. @name: see above, else
	 * NULL. */
	int (*text)(void *userdata, enum condition_text what, const char *name, const char **ret);
	int (*number)(void *userdata, enum condition_number what, uint64_t *ret);
	/* Is it so? 1 or 0. Of paths, users, groups, credentials, modules, security, firmware, as
	 * they were written; power and first boot (@parameter NULL); virtualization:
	 * "private-users". */
	int (*test)(void *userdata, enum condition_kind kind, const char *parameter);
};

enum condition_outcome {
	CONDITIONS_HOLD,
	CONDITIONS_SKIP, /* a condition is not met */
	CONDITIONS_FAIL, /* an assert is not met */
	CONDITIONS_UNMOUNTED, /* what is required to be mounted is not; nothing else was judged */
};

/* *@ret_unmet: if they do not hold, a sentence that names what is not met, in @arena, NULL when
 * memory ran out. */
enum condition_outcome conditions_judge(const struct conditions *c,
					const struct condition_facts *facts, struct arena *arena,
					const char **ret_unmet);
/* One condition: 1 or 0, '!' taken into account; or a negative errno, which counts as 0. */
int condition_judge(const struct condition *c, const struct condition_facts *facts,
		    struct arena *arena);

#endif
