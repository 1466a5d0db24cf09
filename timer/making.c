/* SPDX-License-Identifier: MIT */
#include "timer/making.h"

struct supd_field *making_add(struct making *m, const char *key, enum supd_type type)
{
	struct supd_field *f = &m->field[m->n < MAKING_MAX ? m->n++ : MAKING_MAX - 1];

	*f = (struct supd_field) { .key = key, .type = type };
	return f;
}

void making_null(struct making *m, const char *key)
{
	(void) making_add(m, key, SUPD_NULL);
}

void making_string(struct making *m, const char *key, const char *value)
{
	making_add(m, key, value ? SUPD_STRING : SUPD_NULL)->value.string = value;
}

void making_bool(struct making *m, const char *key, bool value)
{
	making_add(m, key, SUPD_BOOL)->value.boolean = value;
}

void making_number(struct making *m, const char *key, uint64_t value)
{
	making_add(m, key, SUPD_NUMBER)->value.number = value > INT64_MAX ? INT64_MAX
									  : (int64_t) value;
}

void making_time(struct making *m, const char *key, enum supd_type type, usec_t value, usec_t none)
{
	making_add(m, key, value == none ? SUPD_NULL : type)->value.usec = value;
}

void making_row(struct making *m, const char *key, struct supd_row *row, const struct making *of)
{
	*row = (struct supd_row) { .field = of->field, .n = of->n };
	making_add(m, key, SUPD_ROW)->value.row = row;
}

void making_rows(struct making *m, const char *key, const struct supd_row *rows, size_t n)
{
	struct supd_field *f = making_add(m, key, SUPD_ROWS);

	f->value.rows.item = rows;
	f->value.rows.n = n;
}

void making_strings(struct making *m, const char *key, const char *const *list, size_t n)
{
	struct supd_field *f = making_add(m, key, SUPD_STRINGS);

	f->value.strings.item = list;
	f->value.strings.n = n;
}

int making_give(const struct making *m, supd_row_fn *row, void *userdata)
{
	const struct supd_row r = { .field = m->field, .n = m->n };

	return row(userdata, &r);
}
