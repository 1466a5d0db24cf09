/* SPDX-License-Identifier: MIT */
#include "unit/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "unit/source.h"

static struct arena arena;
static struct diag diag;
static struct assignments merged;
static struct unit_source source;

static void setup(void)
{
	source.name = strdup("a.service");
}

static void teardown(void)
{
	unit_source_done(&source);
	arena_done(&arena);
	diag_done(&diag);
	merged = (struct assignments) {0};
}

static void add_piece(const char *path, const char *bytes)
{
	source.piece = reallocarray(source.piece, source.n_pieces + 1, sizeof(*source.piece));
	source.piece[source.n_pieces++] = (struct unit_piece) {
		.path = strdup(path), .bytes = strdup(bytes), .n = strlen(bytes),
	};
}

static void assert_item(size_t i, const char *file, const char *key, const char *value)
{
	ck_assert_uint_lt(i, merged.n);
	ck_assert_str_eq(merged.item[i].file, file);
	ck_assert_str_eq(merged.item[i].key, key);
	ck_assert_str_eq(merged.item[i].value, value);
}

START_TEST(pieces_apply_in_their_order)
{
	add_piece("/u/a.service", "[Service]\nUser=a\nNice=1\n");
	add_piece("/u/a.service.d/10.conf", "");
	add_piece("/u/a.service.d/20.conf", "[Service]\nUser=\nUser=b\n");
	ck_assert_int_eq(unit_merge(&source, &arena, &merged, &diag), 0);
	unit_source_done(&source); /* nothing refers to it any more */
	ck_assert_uint_eq(merged.n, 4);
	assert_item(0, "/u/a.service", "User", "a");
	assert_item(1, "/u/a.service", "Nice", "1");
	assert_item(2, "/u/a.service.d/20.conf", "User", "");
	assert_item(3, "/u/a.service.d/20.conf", "User", "b");
	ck_assert_uint_eq(diag.n, 0);
}
END_TEST

START_TEST(problems_of_source_and_text_are_told_together)
{
	diag_add(&source.problems, DIAG_ERROR, "/u/a.service", 0, "k", "is writable by others (mode 0666)");
	diag_add(&source.problems, DIAG_WARNING, NULL, 0, NULL, "100%% odd");
	add_piece("/u/a.service", "nonsense\n[Service]\nNice=1\n");
	ck_assert_int_eq(unit_merge(&source, &arena, &merged, &diag), 0);
	ck_assert_uint_eq(merged.n, 1);
	ck_assert_uint_eq(diag.n, 3);
	ck_assert_uint_eq(diag.n_errors, 2);
	ck_assert_uint_eq(diag.n_warnings, 1);
	ck_assert_str_eq(diag.entry[0].message, "is writable by others (mode 0666)");
	ck_assert_str_eq(diag.entry[0].key, "k");
	ck_assert_str_eq(diag.entry[1].message, "100% odd");
	ck_assert_uint_eq(diag.entry[2].line, 1);
	ck_assert_uint_eq(source.problems.n, 2); /* the source keeps its own */
}
END_TEST

START_TEST(what_links_pull_in_comes_last_as_if_it_were_written)
{
	add_piece("/u/a.service", "[Unit]\nWants=b.service\n[Service]\nExecStart=x\nExecStart=y\n");
	source.pull = calloc(2, sizeof(*source.pull));
	source.n_pulls = 2;
	source.pull[0] = (struct unit_pull) { strdup("c.service"), strdup("/u/a.service.wants/c.service"), false };
	source.pull[1] = (struct unit_pull) { strdup("d.service"), strdup("/u/a.service.requires/d.service"), true };
	ck_assert_int_eq(unit_merge(&source, &arena, &merged, &diag), 0);
	unit_source_done(&source);
	ck_assert_uint_eq(merged.n, 5);
	ck_assert_str_eq(merged.item[0].value, "b.service");
	ck_assert_str_eq(merged.item[2].value, "y");
	ck_assert_str_eq(merged.item[3].key, "Wants");
	ck_assert_str_eq(merged.item[3].value, "c.service");
	ck_assert_str_eq(merged.item[4].key, "Requires");
	ck_assert_str_eq(merged.item[4].value, "d.service");
	ck_assert_str_eq(merged.item[4].file, "/u/a.service.requires/d.service");
}
END_TEST

START_TEST(nothing_makes_nothing)
{
	ck_assert_int_eq(unit_merge(&source, &arena, &merged, &diag), 0);
	ck_assert_uint_eq(merged.n, 0);
	ck_assert_uint_eq(diag.n, 0);
}
END_TEST

static Suite *merge_suite(void)
{
	Suite *s = suite_create("merge");
	TCase *t = tcase_create("merge");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, pieces_apply_in_their_order);
	tcase_add_test(t, what_links_pull_in_comes_last_as_if_it_were_written);
	tcase_add_test(t, problems_of_source_and_text_are_told_together);
	tcase_add_test(t, nothing_makes_nothing);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(merge_suite)
