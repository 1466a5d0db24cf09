/* SPDX-License-Identifier: MIT */
#include "control/table.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "control/format.h"

#define ELASTIC_MIN 10

static const char *const sequence[] = {
	[TABLE_PLAIN] = "",
	[TABLE_HEADER] = "\x1b[4m",
	[TABLE_GOOD] = "\x1b[1;32m",
	[TABLE_BAD] = "\x1b[1;31m",
	[TABLE_WARNING] = "\x1b[1;33m",
	[TABLE_DIM] = "\x1b[2m",
};
_Static_assert(ELEMENTS(sequence) == TABLE_STYLE_COUNT, "a sequence for each style");

const char *table_style_begin(enum table_style style, bool has_color)
{
	return has_color ? sequence[style] : "";
}

const char *table_style_end(enum table_style style, bool has_color)
{
	return has_color && style != TABLE_PLAIN ? "\x1b[0m" : "";
}

void table_init(struct table *t, const struct table_column *column, size_t n_columns)
{
	assert(n_columns <= TABLE_COLUMNS_MAX);
	*t = (struct table){ .column = column, .n_columns = n_columns };
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cell[i].text);
	free(t->cell);
	*t = (struct table){ 0 };
}

static bool grow(struct table *t)
{
	size_t more = t->allocated ? 2 * t->allocated : 64;
	struct table_cell *cell;

	if (t->n_cells < t->allocated)
		return true;
	cell = reallocarray(t->cell, more, sizeof(*cell));
	if (!cell)
		return false;
	t->cell = cell;
	t->allocated = more;
	return true;
}

void table_add(struct table *t, const char *text, enum table_style style)
{
	char *cell = format_cell(text);

	if (!cell || !grow(t)) {
		free(cell);
		t->is_failed = true;
		return;
	}
	t->cell[t->n_cells++] = (struct table_cell){ cell, format_width(cell), style };
}

size_t table_rows(const struct table *t)
{
	return t->n_cells / t->n_columns;
}

/* ---- printing ---- */

static void measure(const struct table *t, bool has_header, size_t width[])
{
	for (size_t c = 0; c < t->n_columns; c++)
		width[c] = has_header ? format_width(t->column[c].header) : 0;
	for (size_t i = 0; i < t->n_cells; i++)
		if (t->cell[i].width > width[i % t->n_columns])
			width[i % t->n_columns] = t->cell[i].width;
}

/* The widest column that can still give; n_columns if none can. */
static size_t widest_elastic(const struct table *t, const size_t width[])
{
	size_t widest = t->n_columns;

	for (size_t c = 0; c < t->n_columns; c++)
		if (t->column[c].is_elastic && width[c] > ELASTIC_MIN &&
		    (widest == t->n_columns || width[c] >= width[widest]))
			widest = c;
	return widest;
}

static void squeeze(const struct table *t, size_t limit, size_t width[])
{
	size_t total = t->n_columns - 1, c;

	for (c = 0; c < t->n_columns; c++)
		total += width[c];
	for (; limit > 0 && total > limit; total--) {
		c = widest_elastic(t, width);
		if (c == t->n_columns)
			return;
		width[c]--;
	}
}

static void print_blanks(size_t n, FILE *f)
{
	static const char blanks[] = "                                ";
	size_t some;

	for (; n > 0; n -= some) {
		some = n < sizeof(blanks) - 1 ? n : sizeof(blanks) - 1;
		fwrite(blanks, 1, some, f);
	}
}

/* In @width cells; cut with an ellipsis if it is wider. */
static void print_cell(const struct table_cell *cell, size_t width, bool is_last,
		       const struct table_look *look, FILE *f)
{
	const size_t ellipsis = look->is_ascii ? strlen("...") : 1;
	size_t cells = cell->width;

	fputs(table_style_begin(cell->style, look->has_color), f);
	if (cells > width) {
		fwrite(cell->text, 1, format_fit(cell->text, width - ellipsis, &cells), f);
		fputs(look->is_ascii ? "..." : "…", f);
		cells += ellipsis;
	} else {
		fputs(cell->text, f);
	}
	fputs(table_style_end(cell->style, look->has_color), f);
	if (is_last)
		fputc('\n', f);
	else
		print_blanks(width - cells + 1, f);
}

static void print_header(const struct table *t, const size_t width[], const struct table_look *look,
			 FILE *f)
{
	for (size_t c = 0; c < t->n_columns; c++) {
		const char *header = t->column[c].header;
		const struct table_cell cell = { (char *) (uintptr_t) header, format_width(header),
						 TABLE_HEADER };

		print_cell(&cell, width[c], c + 1 == t->n_columns, look, f);
	}
}

int table_print(const struct table *t, const struct table_look *look, FILE *f)
{
	size_t width[TABLE_COLUMNS_MAX], n = t->n_columns;

	if (t->is_failed)
		return -ENOMEM;
	measure(t, look->has_header, width);
	squeeze(t, look->width, width);
	if (look->has_header)
		print_header(t, width, look, f);
	for (size_t i = 0; i < t->n_cells; i++)
		print_cell(&t->cell[i], width[i % n], i % n + 1 == n, look, f);
	return 0;
}
