/* SPDX-License-Identifier: MIT */
#include "control/rows.h"

#include "base/cleanup.h"

const struct supd_field *row_field(const struct supd_row *row, const char *key)
{
	for (size_t i = 0; i < row->n; i++)
		if (str_equal(row->field[i].key, key))
			return &row->field[i];
	return NULL;
}

static const struct supd_field *field_of_type(const struct supd_row *row, const char *key,
					      enum supd_type type)
{
	const struct supd_field *f = row_field(row, key);

	return f && f->type == type ? f : NULL;
}

const char *row_string(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = field_of_type(row, key, SUPD_STRING);

	return f ? f->value.string : NULL;
}

usec_t row_usec(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = row_field(row, key);

	return f && (f->type == SUPD_TIMESTAMP || f->type == SUPD_SPAN) ? f->value.usec
									: USEC_NEVER;
}

bool row_bool(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = field_of_type(row, key, SUPD_BOOL);

	return f && f->value.boolean;
}

int64_t row_number(const struct supd_row *row, const char *key, int64_t otherwise)
{
	const struct supd_field *f = field_of_type(row, key, SUPD_NUMBER);

	return f ? f->value.number : otherwise;
}

const struct supd_row *row_rows(const struct supd_row *row, const char *key, size_t *ret_n)
{
	const struct supd_field *f = field_of_type(row, key, SUPD_ROWS);

	*ret_n = f ? f->value.rows.n : 0;
	return f ? f->value.rows.item : NULL;
}

const char *const *row_strings(const struct supd_row *row, const char *key, size_t *ret_n)
{
	const struct supd_field *f = field_of_type(row, key, SUPD_STRINGS);

	*ret_n = f ? f->value.strings.n : 0;
	return f ? f->value.strings.item : NULL;
}
