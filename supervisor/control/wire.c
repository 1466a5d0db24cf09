/* SPDX-License-Identifier: MIT */
#include "control/wire.h"

#include <errno.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"

/* Variant of each type. */
static const char *const signature_of[] = {
	[SUPD_NULL] = "b",
	[SUPD_BOOL] = "b",
	[SUPD_NUMBER] = "x",
	[SUPD_STRING] = "s",
	[SUPD_TIMESTAMP] = "t",
	[SUPD_SPAN] = "t",
	[SUPD_ROW] = WIRE_ROW,
	[SUPD_ROWS] = WIRE_ROWS,
	[SUPD_STRINGS] = "as",
	[SUPD_REAL] = "d",
};
_Static_assert(ELEMENTS(signature_of) == SUPD_TYPE_COUNT, "a type without its variant");

/* ---- writing ---- */

#define FIELD_BYTES 24 /* what surrounds a key and a value */

static int append_row(sd_bus_message *m, const struct supd_row *row, unsigned depth, size_t *bytes);

static int append_string(sd_bus_message *m, const char *s, size_t *bytes)
{
	_cleanup_free_ char *escaped = NULL;
	size_t n = strlen(s);

	*bytes += n + 8;
	if (text_utf8_valid(s, n) == n)
		return sd_bus_message_append_basic(m, 's', s);
	escaped = text_escape(s, n);
	if (!escaped)
		return -ENOMEM;
	*bytes += strlen(escaped) - n;
	return sd_bus_message_append_basic(m, 's', escaped);
}

static int append_strings(sd_bus_message *m, const struct supd_field *f, size_t *bytes)
{
	int r = sd_bus_message_open_container(m, 'a', "s");

	for (size_t i = 0; r >= 0 && i < f->value.strings.n; i++)
		r = append_string(m, f->value.strings.item[i], bytes);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_rows(sd_bus_message *m, const struct supd_field *f, unsigned depth, size_t *bytes)
{
	int r = sd_bus_message_open_container(m, 'a', WIRE_ROW);

	for (size_t i = 0; r >= 0 && i < f->value.rows.n; i++)
		r = append_row(m, &f->value.rows.item[i], depth, bytes);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_value(sd_bus_message *m, const struct supd_field *f, unsigned depth,
			size_t *bytes)
{
	int truth = f->type == SUPD_BOOL && f->value.boolean;

	switch (f->type) {
	case SUPD_NULL:
	case SUPD_BOOL:
		return sd_bus_message_append_basic(m, 'b', &truth);
	case SUPD_NUMBER:
		return sd_bus_message_append_basic(m, 'x', &f->value.number);
	case SUPD_STRING:
		return append_string(m, f->value.string, bytes);
	case SUPD_TIMESTAMP:
	case SUPD_SPAN:
		return sd_bus_message_append_basic(m, 't', &f->value.usec);
	case SUPD_ROW:
		return append_row(m, f->value.row, depth, bytes);
	case SUPD_ROWS:
		return append_rows(m, f, depth, bytes);
	case SUPD_STRINGS:
		return append_strings(m, f, bytes);
	case SUPD_REAL:
		return sd_bus_message_append_basic(m, 'd', &f->value.real);
	}
	return -EINVAL;
}

/* A plugin built later may know types that this program does not. */
static bool is_known(enum supd_type type)
{
	return (unsigned) type < SUPD_TYPE_COUNT;
}

static int append_field(sd_bus_message *m, const struct supd_field *f, unsigned depth,
			size_t *bytes)
{
	const struct supd_field unknown = { .key = f->key, .type = SUPD_NULL };
	uint8_t tag;
	int r;

	if (!is_known(f->type))
		f = &unknown;
	tag = (uint8_t) f->type;
	r = sd_bus_message_open_container(m, 'r', "syv");
	if (r >= 0)
		r = append_string(m, f->key, bytes);
	if (r >= 0)
		r = sd_bus_message_append_basic(m, 'y', &tag);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', signature_of[f->type]);
	if (r >= 0)
		r = append_value(m, f, depth, bytes);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	*bytes += FIELD_BYTES;
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_row(sd_bus_message *m, const struct supd_row *row, unsigned depth, size_t *bytes)
{
	int r;

	if (depth == 0)
		return -EINVAL;
	r = sd_bus_message_open_container(m, 'a', "(syv)");
	for (size_t i = 0; r >= 0 && i < row->n; i++)
		r = append_field(m, &row->field[i], depth - 1, bytes);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int wire_append(sd_bus_message *m, const struct supd_row *row, size_t *bytes)
{
	return append_row(m, row, WIRE_DEPTH_MAX, bytes);
}

/* ---- reading ---- */

struct reading {
	sd_bus_message *m;
	struct arena *arena;
};

static int read_row(const struct reading *in, unsigned depth, struct supd_row *ret);
static int read_rows(const struct reading *in, unsigned depth, struct supd_row **ret,
		     size_t *ret_n);

static int read_strings(const struct reading *in, struct supd_field *ret)
{
	const char **list = NULL;
	size_t n = 0;
	int r = sd_bus_message_enter_container(in->m, 'a', "s");

	while (r >= 0) {
		const char *s, **grown;

		r = sd_bus_message_read_basic(in->m, 's', &s);
		if (r <= 0)
			break;
		grown = arena_grow(in->arena, list, n, sizeof(*list));
		if (!grown)
			return -ENOMEM;
		list = grown;
		list[n++] = s;
	}
	ret->value.strings.item = list;
	ret->value.strings.n = n;
	return r < 0 ? r : sd_bus_message_exit_container(in->m);
}

static int read_inner_row(const struct reading *in, unsigned depth, struct supd_field *ret)
{
	struct supd_row *row = arena_alloc(in->arena, sizeof(*row));

	if (!row)
		return -ENOMEM;
	ret->value.row = row;
	return read_row(in, depth, row);
}

static int read_inner_rows(const struct reading *in, unsigned depth, struct supd_field *ret)
{
	struct supd_row *row;
	int r = read_rows(in, depth, &row, &ret->value.rows.n);

	if (r >= 0)
		ret->value.rows.item = row;
	return r;
}

static int read_value(const struct reading *in, unsigned depth, struct supd_field *ret)
{
	int truth, r;

	switch (ret->type) {
	case SUPD_NULL:
		return sd_bus_message_skip(in->m, "b");
	case SUPD_BOOL:
		r = sd_bus_message_read_basic(in->m, 'b', &truth);
		ret->value.boolean = r > 0 && truth;
		return r;
	case SUPD_NUMBER:
		return sd_bus_message_read_basic(in->m, 'x', &ret->value.number);
	case SUPD_STRING:
		return sd_bus_message_read_basic(in->m, 's', &ret->value.string);
	case SUPD_TIMESTAMP:
	case SUPD_SPAN:
		return sd_bus_message_read_basic(in->m, 't', &ret->value.usec);
	case SUPD_ROW:
		return read_inner_row(in, depth, ret);
	case SUPD_ROWS:
		return read_inner_rows(in, depth, ret);
	case SUPD_STRINGS:
		return read_strings(in, ret);
	case SUPD_REAL:
		return sd_bus_message_read_basic(in->m, 'd', &ret->value.real);
	}
	return -EBADMSG;
}

static int read_variant(const struct reading *in, unsigned depth, struct supd_field *ret)
{
	int r;

	if (!is_known(ret->type)) {
		ret->type = SUPD_NULL;
		return sd_bus_message_skip(in->m, "v");
	}
	r = sd_bus_message_enter_container(in->m, 'v', signature_of[ret->type]);
	if (r >= 0)
		r = read_value(in, depth, ret);
	return r < 0 ? r : sd_bus_message_exit_container(in->m);
}

/* 1: a field; 0: the end of the row. */
static int read_field(const struct reading *in, unsigned depth, struct supd_field *ret)
{
	uint8_t tag;
	int r = sd_bus_message_enter_container(in->m, 'r', "syv");

	if (r <= 0)
		return r;
	r = sd_bus_message_read_basic(in->m, 's', &ret->key);
	if (r >= 0)
		r = sd_bus_message_read_basic(in->m, 'y', &tag);
	if (r < 0)
		return r;
	ret->type = (enum supd_type) tag;
	r = read_variant(in, depth, ret);
	if (r >= 0)
		r = sd_bus_message_exit_container(in->m);
	return r < 0 ? r : 1;
}

static int read_fields(const struct reading *in, unsigned depth, struct supd_row *ret)
{
	struct supd_field *list = NULL;
	size_t n = 0;

	for (;;) {
		struct supd_field field = { 0 }, *grown;
		int r = read_field(in, depth, &field);

		if (r < 0)
			return r;
		if (r == 0)
			break;
		grown = arena_grow(in->arena, list, n, sizeof(*list));
		if (!grown)
			return -ENOMEM;
		list = grown;
		list[n++] = field;
	}
	ret->field = list;
	ret->n = n;
	return 0;
}

/* 1: a row; 0: the end of the array around it. */
static int read_row(const struct reading *in, unsigned depth, struct supd_row *ret)
{
	int r;

	if (depth == 0)
		return -EBADMSG;
	r = sd_bus_message_enter_container(in->m, 'a', "(syv)");
	if (r <= 0)
		return r;
	r = read_fields(in, depth - 1, ret);
	if (r >= 0)
		r = sd_bus_message_exit_container(in->m);
	return r < 0 ? r : 1;
}

static int read_rows(const struct reading *in, unsigned depth, struct supd_row **ret, size_t *ret_n)
{
	struct supd_row *list = NULL;
	size_t n = 0;
	int r = sd_bus_message_enter_container(in->m, 'a', WIRE_ROW);

	while (r >= 0) {
		struct supd_row row = { 0 }, *grown;

		r = read_row(in, depth, &row);
		if (r <= 0)
			break;
		grown = arena_grow(in->arena, list, n, sizeof(*list));
		if (!grown)
			return -ENOMEM;
		list = grown;
		list[n++] = row;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(in->m);
	if (r < 0)
		return r;
	*ret = list;
	*ret_n = n;
	return 0;
}

int wire_read(sd_bus_message *m, struct arena *arena, struct supd_row **ret, size_t *ret_n)
{
	const struct reading in = { m, arena };
	int r = read_rows(&in, WIRE_DEPTH_MAX, ret, ret_n);

	return r == -ENXIO ? -EBADMSG : r;
}
