/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CONDITION_FACTS_H
#define SUPD_RUN_CONDITION_FACTS_H

/* The system, as conditions ask about it. To be used in a worker's thread: each look may take as
 * long as a disk, a network mount or a name service does. */

#include "base/arena.h"
#include "service/condition.h"

struct facts {
	struct arena *arena;            /* what was found lives here */
	const char *const *environment; /* of the daemon; lent */
};

/* @facts is lent as long as the result is used. */
struct condition_facts condition_facts(struct facts *facts);

/* Inside: */
/* a small file; 0 or -errno */
int facts_read(struct facts *f, const char *path, const char **ret, size_t *ret_n);
/* its first line */
int facts_read_line(struct facts *f, const char *path, const char **ret);
const char *facts_variable(const struct facts *f, const char *name);

/* condition_tests.c: as struct condition_facts has it */
int facts_test(void *userdata, enum condition_kind kind, const char *parameter);
/* condition_mounts.c: CONDITION_TEXT_MISSING_MOUNT */
int facts_missing_mount(struct facts *f, const char *path, const char **ret);
/* condition_tests.c */
bool facts_is_mount_point(const char *path);
/* condition_virt.c: 1, 0, -errno */
int facts_container(struct facts *f, const char **ret);
int facts_virtual_machine(struct facts *f, const char **ret);

#endif
