/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SURROUNDINGS_H
#define SUPD_SURROUNDINGS_H

/* Who we are and on what we run, asked once at the start. */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/usec.h"
#include "core/directories.h"
#include "service/specifier.h"

/* 2026-01-01: a clock that shows less has not been set since it lost power. */
#define CLOCK_EPOCH ((usec_t) 1767225600 * USEC_PER_SEC)

struct surroundings {
	bool is_container;
	uint8_t machine_id[16]; /* zero: unknown */
	uint8_t daemon_id[16];  /* drawn */
	char boot_id[37];       /* "" unknown */
	struct specifiers specifiers; /* its strings live in @arena */
	struct arena arena;
};

/* 0 or -ENOMEM; what cannot be found out is left unknown. */
int surroundings_look(bool is_user, struct surroundings *ret);
void surroundings_done(struct surroundings *s);

/* Where things are by default, from our environment. As directories_find(). */
int surroundings_directories(bool is_user, struct arena *arena, struct directories *ret);

#endif
