/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CONTROL_TABLE_H
#define SUPD_CONTROL_TABLE_H

/* A table for people: columns aligned by what a terminal shows, not by bytes. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 16

enum table_style {
	TABLE_PLAIN,
	TABLE_HEADER,
	TABLE_GOOD,
	TABLE_BAD,
	TABLE_WARNING,
	TABLE_DIM,
};
#define TABLE_STYLE_COUNT (TABLE_DIM + 1)

struct table_column {
	const char *header;
	bool is_elastic; /* may be cut where the terminal is too narrow */
};

struct table_cell {
	char *text;
	size_t width;
	enum table_style style;
};

struct table {
	const struct table_column *column;
	size_t n_columns;
	struct table_cell *cell;
	size_t n_cells, allocated;
	bool is_failed; /* out of memory */
};

/* How it is to be shown. */
struct table_look {
	bool has_header;
	bool has_color;
	bool is_ascii; /* the terminal knows no ellipsis */
	size_t width; /* of the terminal; 0: whatever it takes */
};

/* @column is lent to the table. */
void table_init(struct table *t, const struct table_column *column, size_t n_columns);
void table_done(struct table *t);

/* The next cell, row by row. @text is made printable; NULL and "" are shown as "-". */
void table_add(struct table *t, const char *text, enum table_style style);
size_t table_rows(const struct table *t);

/* The sequences around text of a style; "" where there is no colour. */
const char *table_style_begin(enum table_style style, bool has_color);
const char *table_style_end(enum table_style style, bool has_color);

/* 0 or -ENOMEM; errors of @f stay with it. */
int table_print(const struct table *t, const struct table_look *look, FILE *f);

#endif
