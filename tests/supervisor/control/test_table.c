/* SPDX-License-Identifier: MIT */
#include "control/table.h"

#include <locale.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct table_column columns[] = { { "NAME", true }, { "N", false }, { "TEXT", true } };

static void in_utf8(void)
{
	ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

static char *print(const struct table *t, struct table_look look)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(table_print(t, &look, f), 0);
	fclose(f);
	return text;
}

static void fill(struct table *t)
{
	table_init(t, columns, ELEMENTS(columns));
	table_add(t, "日本.service", TABLE_PLAIN);
	table_add(t, "1", TABLE_PLAIN);
	table_add(t, "a\x1b[31m\nb", TABLE_BAD);
	table_add(t, "x", TABLE_PLAIN);
	table_add(t, "", TABLE_PLAIN);
	table_add(t, NULL, TABLE_PLAIN);
}

static const struct {
	struct table_look look;
	const char *expected;
} looks[] = {
	{ { .has_header = true },
	  "NAME         N TEXT\n"
	  "日本.service 1 a\\x1b[31m\\nb\n"
	  "x            - -\n" },
	{ { .has_header = false },
	  "日本.service 1 a\\x1b[31m\\nb\n"
	  "x            - -\n" },
	{ { .has_header = false, .has_color = true },
	  "日本.service 1 \x1b[1;31ma\\x1b[31m\\nb\x1b[0m\n"
	  "x            - -\n" },
	{ { .has_header = false, .width = 26 },
	  "日本.service 1 a\\x1b[31m\\…\n"
	  "x            - -\n" },
	/* Narrower than it can become: cells keep ten columns, and the terminal wraps. */
	{ { .has_header = false, .width = 3 },
	  "日本.serv… 1 a\\x1b[31m…\n"
	  "x          - -\n" },
	{ { .has_header = false, .is_ascii = true, .width = 3 },
	  "日本.se... 1 a\\x1b[3...\n"
	  "x          - -\n" },
};

START_TEST(cells_are_aligned_escaped_and_cut_where_they_must_be)
{
	_cleanup_free_ char *text = NULL;
	struct table t;

	fill(&t);
	ck_assert_uint_eq(table_rows(&t), 2);
	text = print(&t, looks[_i].look);
	ck_assert_str_eq(text, looks[_i].expected);
	table_done(&t);
}
END_TEST

START_TEST(an_empty_table_is_its_header)
{
	_cleanup_free_ char *text = NULL;
	struct table t;

	table_init(&t, columns, ELEMENTS(columns));
	text = print(&t, (struct table_look){ .has_header = true });
	ck_assert_str_eq(text, "NAME N TEXT\n");
	table_done(&t);
}
END_TEST

static Suite *table_suite(void)
{
	Suite *s = suite_create("control/table");
	TCase *tc = tcase_create("table");

	tcase_add_checked_fixture(tc, in_utf8, NULL);
	tcase_add_loop_test(tc, cells_are_aligned_escaped_and_cut_where_they_must_be, 0, ELEMENTS(looks));
	tcase_add_test(tc, an_empty_table_is_its_header);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(table_suite)
