/* SPDX-License-Identifier: MIT */
#include "control/rows_json.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Up to here a double holds each whole number. */
#define WHOLE_MAX 9007199254740992.0
/* As many digits as say which number it is, to those who count in decimals. */
#define REAL_DIGITS 15

json_t *rows_json_string(const char *s)
{
	_cleanup_free_ char *escaped = NULL;
	size_t n = strlen(s);

	if (text_utf8_valid(s, n) == n)
		return json_stringn_nocheck(s, n);
	escaped = text_escape(s, n);
	return escaped ? json_string(escaped) : NULL;
}

static json_t *from_usec(uint64_t usec)
{
	return usec > INT64_MAX ? json_null() : json_integer((json_int_t) usec);
}

/* Puts @item into @array; NULL in either is NULL, with the other gone. */
static json_t *append(json_t *array, json_t *item)
{
	if (array && item && json_array_append_new(array, item) == 0)
		return array;
	if (!array)
		json_decref(item);
	json_decref(array);
	return NULL;
}

static json_t *from_strings(const struct supd_field *f)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < f->value.strings.n; i++)
		array = append(array, rows_json_string(f->value.strings.item[i]));
	return array;
}

/* A whole number looks like one. JSON knows no others than finite ones. */
static json_t *from_real(double real)
{
	if (!isfinite(real))
		return json_null();
	if (fabs(real) < WHOLE_MAX && trunc(real) == real)
		return json_integer((json_int_t) real);
	return json_real(real);
}

json_t *rows_json_value(const struct supd_field *f)
{
	switch (f->type) {
	case SUPD_NULL:
		return json_null();
	case SUPD_BOOL:
		return json_boolean(f->value.boolean);
	case SUPD_NUMBER:
		return json_integer(f->value.number);
	case SUPD_STRING:
		return rows_json_string(f->value.string);
	case SUPD_TIMESTAMP:
	case SUPD_SPAN:
		return from_usec(f->value.usec);
	case SUPD_ROW:
		return rows_json_object(f->value.row);
	case SUPD_ROWS:
		return rows_json_array(f->value.rows.item, f->value.rows.n);
	case SUPD_STRINGS:
		return from_strings(f);
	case SUPD_REAL:
		return from_real(f->value.real);
	}
	return json_null();
}

json_t *rows_json_object(const struct supd_row *row)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < row->n; i++)
		if (json_object_set_new(object, row->field[i].key,
					rows_json_value(&row->field[i])) < 0) {
			json_decref(object);
			return NULL;
		}
	return object;
}

json_t *rows_json_array(const struct supd_row *row, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < n; i++)
		array = append(array, rows_json_object(&row[i]));
	return array;
}

json_t *rows_json_error(const char *message, int status)
{
	return json_pack("{s:b, s:o, s:i}", "error", 1, "message", rows_json_string(message),
			 "exitcode", status);
}

int rows_json_print(json_t *json, bool is_pretty, bool is_terminal, FILE *f)
{
	size_t flags = (is_pretty ? JSON_INDENT(2) : JSON_COMPACT) |
		       (is_terminal ? JSON_ENSURE_ASCII : 0) | JSON_REAL_PRECISION(REAL_DIGITS);
	int r;

	if (!json)
		return -ENOMEM;
	r = json_dumpf(json, f, flags) < 0 || fputc('\n', f) == EOF ? -EIO : 0;
	json_decref(json);
	return r;
}
