/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_MAKING_H
#define SUPD_TIMER_MAKING_H

/* A row in the making, in the caller's frame: what it points to must live until it is given
 * away. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "supd-plugin.h"

#define MAKING_MAX 48

struct making {
	struct supd_field field[MAKING_MAX];
	size_t n;
};

struct supd_field *making_add(struct making *m, const char *key, enum supd_type type);
void making_null(struct making *m, const char *key);
/* NULL: a null. */
void making_string(struct making *m, const char *key, const char *value);
void making_bool(struct making *m, const char *key, bool value);
void making_number(struct making *m, const char *key, uint64_t value);
/* @none is the value that stands for unknown: 0 or USEC_NEVER. */
void making_time(struct making *m, const char *key, enum supd_type type, usec_t value, usec_t none);
/* @row becomes what is lent of @of. */
void making_row(struct making *m, const char *key, struct supd_row *row, const struct making *of);
void making_rows(struct making *m, const char *key, const struct supd_row *rows, size_t n);
void making_strings(struct making *m, const char *key, const char *const *list, size_t n);
int making_give(const struct making *m, supd_row_fn *row, void *userdata);

#endif
