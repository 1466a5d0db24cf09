/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_ROWS_JSON_H
#define SUPD_CONTROL_ROWS_JSON_H

/* Rows as JSON: a row is an object with its keys in their order, times and spans are whole
 * microseconds, "never" and what is unknown are null. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "supd-plugin.h"

/* Each gives a new value, or NULL when memory ran out. A key that comes twice counts the last
 * time. */
json_t *rows_json_value(const struct supd_field *f);
json_t *rows_json_object(const struct supd_row *row);
json_t *rows_json_array(const struct supd_row *row, size_t n);
/* {"error":true,"message":…,"exitcode":…} */
json_t *rows_json_error(const char *message, int status);

/* Any text as a JSON string; what is not UTF-8 in it is escaped. */
json_t *rows_json_string(const char *s);

/* One document and a newline. For a terminal all that is not ASCII is escaped: who knows what it
 * does. 0, or -ENOMEM, -EIO. Takes @json; NULL is -ENOMEM. */
int rows_json_print(json_t *json, bool is_pretty, bool is_terminal, FILE *f);

#endif
