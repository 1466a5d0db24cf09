/* SPDX-License-Identifier: MIT */
#include "base/names.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/test_main.h"

#define MANY 200

struct thing {
	unsigned number;
	bool is_there;
	char name[8];
};

static struct names t;
static struct thing thing[MANY];

static void setup(void)
{
	t = (struct names) { .name_at = offsetof(struct thing, name) };
	for (unsigned i = 0; i < MANY; i++) {
		thing[i] = (struct thing) { .number = i };
		(void) snprintf(thing[i].name, sizeof(thing[i].name), "n%03u", i);
	}
}

static void teardown(void)
{
	names_done(&t);
}

static void add(unsigned i)
{
	ck_assert_int_eq(names_add(&t, &thing[i]), 0);
	thing[i].is_there = true;
}

/* Each that is there is found, whatever is asked first, and no other. */
static void check_finds(void)
{
	for (unsigned k = 0; k < MANY; k++) {
		unsigned i = k * 7 % MANY;

		ck_assert_ptr_eq(names_find(&t, thing[i].name), thing[i].is_there ? &thing[i] : NULL);
	}
	for (unsigned i = 0; i < MANY; i++)
		ck_assert_ptr_eq(names_find(&t, thing[i].name), thing[i].is_there ? &thing[i] : NULL);
	ck_assert_ptr_null(names_find(&t, ""));
	ck_assert_ptr_null(names_find(&t, "zzz"));
	ck_assert_ptr_null(names_find(&t, "n01"));
}

static void check_order(void)
{
	size_t n = 0;

	for (unsigned i = 0; i < MANY; i++)
		n += thing[i].is_there;
	ck_assert_uint_eq(t.n, n);
	for (size_t i = 0; i < t.n; i++) {
		const struct thing *x = t.item[i];

		ck_assert(x->is_there);
		ck_assert_str_eq(names_name(&t, i), x->name);
		ck_assert(i == 0 || strcmp(names_name(&t, i - 1), x->name) < 0);
	}
}

START_TEST(nothing_is_found_in_an_empty_one)
{
	check_finds();
	names_remove(&t, "n001");
	names_settle(&t);
	check_order();
}
END_TEST

START_TEST(what_comes_in_order_is_in_order_at_once)
{
	for (unsigned i = 0; i < MANY; i += 3)
		add(i);
	check_order();
	check_finds();
}
END_TEST

START_TEST(what_comes_between_is_found_before_it_is_settled)
{
	for (unsigned i = 0; i < MANY; i += 3)
		add(i);
	for (unsigned i = 1; i < MANY; i += 3) {
		add(i);
		check_finds();
	}
	names_settle(&t);
	check_order();
	check_finds();
}
END_TEST

static bool is_odd(void *item, void *userdata)
{
	struct thing *x = item;

	++*(unsigned *) userdata;
	x->is_there = x->number % 2 == 1;
	return x->is_there;
}

START_TEST(those_that_are_not_kept_go_all_at_once)
{
	unsigned seen = 0;

	for (unsigned i = 50; i < MANY; i++)
		add(i);
	for (unsigned i = 0; i < 50; i++)
		add(i);
	names_keep(&t, is_odd, &seen);
	ck_assert_uint_eq(seen, MANY);
	check_order();
	check_finds();
}
END_TEST

/* Additions and removals in any order agree with a table of what is there. */
START_TEST(a_random_walk_agrees_with_a_table)
{
	uint32_t random = (uint32_t) _i * 2654435761u + 1;

	for (unsigned step = 0; step < 2000; step++) {
		unsigned i;

		random = random * 1664525u + 1013904223u;
		i = random >> 8 & 0xff;
		if (i < MANY && !thing[i].is_there) {
			add(i);
		} else if (i < MANY) {
			names_remove(&t, thing[i].name);
			thing[i].is_there = false;
		} else if (random >> 30 == 0) {
			names_settle(&t);
			check_order();
		}
		if (step % 50 == 0)
			check_finds();
	}
	names_settle(&t);
	check_order();
	check_finds();
}
END_TEST

static Suite *names_suite(void)
{
	Suite *s = suite_create("names");
	TCase *tc = tcase_create("names");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nothing_is_found_in_an_empty_one);
	tcase_add_test(tc, what_comes_in_order_is_in_order_at_once);
	tcase_add_test(tc, what_comes_between_is_found_before_it_is_settled);
	tcase_add_test(tc, those_that_are_not_kept_go_all_at_once);
	tcase_add_loop_test(tc, a_random_walk_agrees_with_a_table, 0, 8);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(names_suite)
