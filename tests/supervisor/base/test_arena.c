/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/test_main.h"

static struct arena arena;

static void teardown(void)
{
	arena_done(&arena);
}

START_TEST(memory_is_zero_and_aligned)
{
	for (size_t size = 1; size < 400; size += 7) {
		unsigned char *p = arena_alloc(&arena, size);

		ck_assert_ptr_nonnull(p);
		if (size >= alignof(max_align_t))
			ck_assert_uint_eq((uintptr_t) p % alignof(max_align_t), 0);
		ck_assert_uint_eq((uintptr_t) p % alignof(uint64_t), 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, 0xff, size);
	}
}
END_TEST

START_TEST(pieces_do_not_overlap)
{
	char *piece[300];

	for (int i = 0; i < 300; i++) {
		piece[i] = i % 2 ? arena_printf(&arena, "%d", i) : arena_alloc(&arena, 8);
		ck_assert_ptr_nonnull(piece[i]);
		if (i % 2 == 0)
			memset(piece[i], i, 8);
	}
	for (int i = 0; i < 300; i++) {
		char expected[16];

		if (i % 2)
			snprintf(expected, sizeof(expected), "%d", i);
		else
			memset(expected, i, 8);
		ck_assert_mem_eq(piece[i], expected, i % 2 ? strlen(expected) + 1 : 8);
	}
}
END_TEST

START_TEST(strings_are_copied_to_their_end)
{
	char text[] = "backup.service";
	char *whole = arena_strdup(&arena, text), *part = arena_strndup(&arena, text, 6);

	memset(text, 'x', sizeof(text) - 1);
	ck_assert_str_eq(whole, "backup.service");
	ck_assert_str_eq(part, "backup");
	ck_assert_str_eq(arena_strndup(&arena, "ab", 100), "ab");
	ck_assert_str_eq(arena_strdup(&arena, ""), "");
	ck_assert_str_eq(arena_printf(&arena, "%s:%d", part, 7), "backup:7");
}
END_TEST

START_TEST(what_exceeds_a_chunk_gets_its_own)
{
	char *large = arena_alloc(&arena, 100000), *small = arena_alloc(&arena, 10);

	ck_assert_ptr_nonnull(large);
	ck_assert_ptr_nonnull(small);
	large[99999] = 'x';
	small[9] = 'y';
	ck_assert_uint_ge(arena_size(&arena), 100010);
	ck_assert_uint_le(arena_size(&arena), 150000);
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
	ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX));
	ck_assert_ptr_null(arena_alloc(&arena, SIZE_MAX - 64));
	ck_assert_ptr_null(arena_grow(&arena, NULL, (SIZE_MAX >> 1) + 1, 8));
	ck_assert_ptr_null(arena_grow(&arena, &arena, (size_t) 1 << 40, (size_t) 1 << 40));
	ck_assert_ptr_nonnull(arena_alloc(&arena, 1));
}
END_TEST

START_TEST(a_growing_array_keeps_its_elements)
{
	uint64_t *a = NULL, *other = NULL;

	for (uint64_t i = 0; i < 1000; i++) {
		a = arena_grow(&arena, a, i, sizeof(*a));
		ck_assert_ptr_nonnull(a);
		a[i] = i * i;
		if (i % 3 == 0) { /* something else in between */
			other = arena_alloc(&arena, 24);
			other[0] = other[1] = other[2] = UINT64_MAX;
		}
	}
	for (uint64_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(a[i], i * i);
}
END_TEST

START_TEST(an_array_alone_grows_where_it_is)
{
	uint32_t *a = NULL, *first = NULL;

	for (uint32_t i = 0; i < 16; i++) {
		a = arena_grow(&arena, a, i, sizeof(*a));
		first = first ? first : a;
		ck_assert_ptr_nonnull(a);
		ck_assert_ptr_eq(a, first);
		ck_assert_uint_eq(a[i], 0);
		a[i] = i;
	}
}
END_TEST

START_TEST(a_small_unit_needs_little)
{
	ck_assert_uint_eq(arena_size(&arena), 0);
	arena_strdup(&arena, "daily");
	ck_assert_uint_le(arena_size(&arena), 256);
	for (int i = 0; i < 40; i++)
		arena_strdup(&arena, "/usr/bin/some-program");
	ck_assert_uint_le(arena_size(&arena), 40 * 22 * 3 / 2 + 256);
}
END_TEST

START_TEST(an_arena_is_empty_after_done)
{
	arena_strdup(&arena, "x");
	arena_done(&arena);
	ck_assert_uint_eq(arena_size(&arena), 0);
	arena_done(&arena);
	ck_assert_str_eq(arena_strdup(&arena, "y"), "y");
}
END_TEST

START_TEST(a_reserve_holds_what_a_draft_held)
{
	struct arena draft = { 0 };
	size_t room = 0;

	for (int pass = 0; pass < 2; pass++) {
		struct arena *a = pass ? &arena : &draft;
		int *list = NULL;

		for (size_t i = 0; i < 40; i++) {
			ck_assert_ptr_nonnull(arena_alloc(a, i));
			ck_assert_ptr_nonnull(arena_strdup(a, "odd"));
			list = arena_grow(a, list, i, sizeof(*list));
		}
		if (pass == 0) {
			room = arena_used(&draft);
			ck_assert(arena_reserve(&arena, room));
		}
	}
	ck_assert_uint_lt(arena_size(&arena), room + 64);
	arena_done(&draft);
}
END_TEST

static Suite *arena_suite(void)
{
	Suite *s = suite_create("arena");
	TCase *t = tcase_create("arena");

	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_test(t, memory_is_zero_and_aligned);
	tcase_add_test(t, pieces_do_not_overlap);
	tcase_add_test(t, strings_are_copied_to_their_end);
	tcase_add_test(t, what_exceeds_a_chunk_gets_its_own);
	tcase_add_test(t, impossible_sizes_are_refused);
	tcase_add_test(t, a_growing_array_keeps_its_elements);
	tcase_add_test(t, an_array_alone_grows_where_it_is);
	tcase_add_test(t, a_small_unit_needs_little);
	tcase_add_test(t, a_reserve_holds_what_a_draft_held);
	tcase_add_test(t, an_arena_is_empty_after_done);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(arena_suite)
