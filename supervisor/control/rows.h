/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_ROWS_H
#define SUPD_CONTROL_ROWS_H

/* Looking into rows: by key, and forgiving, because the daemon may be of another version. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "supd-plugin.h"

/* NULL if there is none. */
const struct supd_field *row_field(const struct supd_row *row, const char *key);
/* NULL unless it is a string. */
const char *row_string(const struct supd_row *row, const char *key);
/* USEC_NEVER unless it is a timestamp or a span. */
usec_t row_usec(const struct supd_row *row, const char *key);
/* False unless it is a bool and true. */
bool row_bool(const struct supd_row *row, const char *key);
/* @otherwise unless it is a number. */
int64_t row_number(const struct supd_row *row, const char *key, int64_t otherwise);
/* The rows of a list of rows; none unless it is one. Lends. */
const struct supd_row *row_rows(const struct supd_row *row, const char *key, size_t *ret_n);
/* Likewise of a list of strings. */
const char *const *row_strings(const struct supd_row *row, const char *key, size_t *ret_n);

#endif
