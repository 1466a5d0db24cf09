/* SPDX-License-Identifier: MIT */
#include "base/keys.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/usec.h"
#include "tests/lib/test_main.h"

struct thing {
	bool enabled;
	usec_t delay;
	const char *name;
	mode_t mode;
	int signal, level;
};

#define ROW(section, key, field, type, parameter) \
	{section, key, KEY_KNOWN, key_parse_##type, offsetof(struct thing, field), parameter}

static const struct key_row rows[] = {
	ROW("Thing", "Enabled", enabled, bool, true),
	ROW("Thing", "DelaySec", delay, span, 5 * USEC_PER_SEC),
	ROW("Thing", "Name", name, string, 0),
	ROW("Thing", "Mode", mode, mode, 0022),
	ROW("Thing", "Signal", signal, signal, SIGTERM),
	ROW("Thing", "Level", level, int, -3),
	{"Thing", "Sandbox", KEY_NOT_APPLIED, NULL, 0, 0},
	{"Unit", "Description", KEY_HARMLESS, NULL, 0, 0},
	{"Unit", "After", KEY_HARMLESS, NULL, 0, 0},
};
static const char *const ignored[] = {"Install", NULL};
static const struct key_table table = {.row = rows, .n = ELEMENTS(rows), .ignored_sections = ignored};

static struct arena arena;
static struct diag diag;
static struct thing thing;

static void setup(void)
{
	thing = (struct thing) {.enabled = false, .delay = 1, .name = "unset", .mode = 1, .signal = 1, .level = 1};
}

static void teardown(void)
{
	arena_done(&arena);
	diag_done(&diag);
}

static void apply(const char *section, const char *key, const char *value)
{
	struct assignment a = {section, key, value, "x.thing", 7, 3};

	ck_assert_int_eq(keys_apply(&table, &a, 1, &arena, &diag, &thing), 0);
}

static void assert_told(size_t i, enum diag_severity severity, const char *line)
{
	char *told;

	ck_assert_uint_lt(i, diag.n);
	told = diag_format(&diag.entry[i]);
	ck_assert_str_eq(told, line);
	ck_assert_int_eq(diag.entry[i].severity, severity);
	free(told);
}

START_TEST(values_reach_their_fields)
{
	char name[] = "night";

	apply("Thing", "Enabled", "yes");
	apply("Thing", "DelaySec", "2min");
	apply("Thing", "Name", name);
	apply("Thing", "Mode", "0700");
	apply("Thing", "Signal", "HUP");
	apply("Thing", "Level", "-12");
	name[0] = 'x';
	ck_assert_uint_eq(diag.n, 0);
	ck_assert(thing.enabled);
	ck_assert_uint_eq(thing.delay, 2 * USEC_PER_MINUTE);
	ck_assert_str_eq(thing.name, "night");
	ck_assert_uint_eq(thing.mode, 0700);
	ck_assert_int_eq(thing.signal, SIGHUP);
	ck_assert_int_eq(thing.level, -12);
}
END_TEST

START_TEST(an_empty_value_resets)
{
	for (size_t i = 0; i < 6; i++)
		apply("Thing", rows[i].key, "");
	ck_assert_uint_eq(diag.n, 0);
	ck_assert(thing.enabled);
	ck_assert_uint_eq(thing.delay, 5 * USEC_PER_SEC);
	ck_assert_ptr_null(thing.name);
	ck_assert_uint_eq(thing.mode, 0022);
	ck_assert_int_eq(thing.signal, SIGTERM);
	ck_assert_int_eq(thing.level, -3);
}
END_TEST

static const struct {
	const char *key, *value, *told;
} bad_values[] = {
	{"Enabled", "maybe", "x.thing:7: Enabled= wants yes or no, not 'maybe'"},
	{"X-Enabled", "maybe", "x.thing:7: X-Enabled= wants yes or no, not 'maybe'"},
	{"Mode", "rwx", "x.thing:7: Mode= wants an octal mode such as 0022, not 'rwx'"},
	{"Signal", "SIGFOO\033", "x.thing:7: Signal= wants a signal such as SIGTERM, not 'SIGFOO\\x1b'"},
	{"Level", "4294967296", "x.thing:7: Level= wants a whole number, not '4294967296'"},
};

START_TEST(a_bad_value_is_an_error_and_changes_nothing)
{
	struct thing before = thing;

	apply("Thing", bad_values[_i].key, bad_values[_i].value);
	assert_told(0, DIAG_ERROR, bad_values[_i].told);
	ck_assert_str_eq(diag.entry[0].key, bad_values[_i].key);
	ck_assert_mem_eq(&thing, &before, sizeof(thing));
}
END_TEST

START_TEST(a_bad_span_is_explained)
{
	apply("Thing", "DelaySec", "5 parsecs");
	ck_assert_uint_eq(diag.n_errors, 1);
	ck_assert_ptr_nonnull(strstr(diag.entry[0].message, "DelaySec= is no time span: "));
	ck_assert_ptr_nonnull(strstr(diag.entry[0].message, "parsecs"));
	ck_assert_uint_eq(thing.delay, 1);
}
END_TEST

static const struct {
	const char *section, *key, *told;
} unknown[] = {
	{"Thing", "DelaySce", "x.thing:7: unknown key 'DelaySce' in section [Thing] (did you mean DelaySec=?)"},
	{"Thing", "enabled", "x.thing:7: unknown key 'enabled' in section [Thing] (did you mean Enabled=?)"},
	{"Thing", "Sandbx", "x.thing:7: unknown key 'Sandbx' in section [Thing] (did you mean Sandbox=?)"},
	{"Thing", "After", "x.thing:7: unknown key 'After' in section [Thing] (it belongs into [Unit])"},
	{"Unit", "DelaySec", "x.thing:7: unknown key 'DelaySec' in section [Unit] (it belongs into [Thing])"},
	{"Unit", "Nam", "x.thing:7: unknown key 'Nam' in section [Unit] (did you mean Name= in [Thing]?)"},
	{"Thnig", "X-Name", "x.thing:3: unknown section [Thnig] (did you mean [Thing]?)"},
	{"Thing", "Frobnicate", "x.thing:7: unknown key 'Frobnicate' in section [Thing]"},
	{"Thnig", "Name", "x.thing:3: unknown section [Thnig] (did you mean [Thing]?)"},
	{"Instal", "Name", "x.thing:3: unknown section [Instal] (did you mean [Install]?)"},
	{"Service", "Name", "x.thing:3: unknown section [Service]"},
	{"thing", "Name", "x.thing:3: unknown section [thing] (did you mean [Thing]?)"},
};

START_TEST(what_is_unknown_is_an_error_with_a_hint)
{
	apply(unknown[_i].section, unknown[_i].key, "1");
	ck_assert_uint_eq(diag.n, 1);
	assert_told(0, DIAG_ERROR, unknown[_i].told);
}
END_TEST

START_TEST(a_mistaken_section_is_told_once)
{
	struct assignment a[] = {
		{"Thnig", "A", "1", "f", 2, 1}, {"Thnig", "B", "1", "f", 3, 1}, {"Thing", "Level", "5", "f", 5, 4},
		{"Thnig", "C", "1", "f", 7, 6},
	};

	ck_assert_int_eq(keys_apply(&table, a, ELEMENTS(a), &arena, &diag, &thing), 0);
	ck_assert_uint_eq(diag.n, 2);
	ck_assert_uint_eq(diag.entry[0].line, 1);
	ck_assert_uint_eq(diag.entry[1].line, 6);
	ck_assert_int_eq(thing.level, 5);
}
END_TEST

START_TEST(x_keys_of_ours_count_and_others_are_passed_over)
{
	apply("Thing", "X-Level", "9");
	apply("Thing", "X-Frobnicate", "1");
	apply("Thing", "X-Sandbox", "1");
	apply("Thing", "X-Description", "1");
	apply("Unit", "X-Level", "10");
	apply("X-Thing", "Level", "11");
	apply("Install", "Anything", "1");
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_int_eq(thing.level, 9);
}
END_TEST

START_TEST(later_assignments_win)
{
	apply("Thing", "Level", "1");
	apply("Thing", "X-Level", "2");
	ck_assert_int_eq(thing.level, 2);
	apply("Thing", "Level", "3");
	ck_assert_int_eq(thing.level, 3);
}
END_TEST

START_TEST(what_is_not_applied_is_a_warning_of_its_own)
{
	apply("Thing", "Sandbox", "strict");
	apply("Thing", "Sandbox", "");
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_uint_eq(diag.n_warnings, 0);
	apply("Thing", "Sandbox", "strict");
	apply("Unit", "Description", "x");
	ck_assert_uint_eq(diag.n, 1);
	ck_assert_uint_eq(diag.n_errors, 0);
	assert_told(0, DIAG_NOT_APPLIED, "x.thing:7: Sandbox= is not applied, ignored");
}
END_TEST

START_TEST(all_mistakes_are_collected_up_to_a_bound)
{
	static struct assignment a[1000];

	for (size_t i = 0; i < ELEMENTS(a); i++)
		a[i] = (struct assignment) {"Thing", "Wrong", "1", "f", (uint32_t) i + 1, 1};
	ck_assert_int_eq(keys_apply(&table, a, 99, &arena, &diag, &thing), 0);
	ck_assert_uint_eq(diag.n_errors, 99);
	diag_done(&diag);
	ck_assert_int_eq(keys_apply(&table, a, ELEMENTS(a), &arena, &diag, &thing), 0);
	ck_assert_uint_eq(diag.n_errors, 101);
	assert_told(100, DIAG_ERROR, "f:101: too many mistakes, what follows is not looked at");
}
END_TEST

static int parse_failing(const struct key_context *c)
{
	(void) c;
	return -ENOMEM;
}

static int parse_warning(const struct key_context *c)
{
	key_warning(c, "%s=%s is odd", c->assignment->key, c->assignment->value);
	*(int *) key_field(c) = (int) c->row->parameter;
	return 0;
}

START_TEST(own_parsers_are_heard)
{
	static const struct key_row own[] = {
		{"Thing", "Warn", KEY_KNOWN, parse_warning, offsetof(struct thing, level), 77},
		{"Thing", "Fail", KEY_KNOWN, parse_failing, 0, 0},
	};
	const struct key_table t = {.row = own, .n = ELEMENTS(own)};
	const struct assignment a[] = {
		{"Thing", "Warn", "v", "f", 1, 0}, {"Thing", "Fail", "v", "f", 2, 0}, {"Thing", "Warn", "w", "f", 3, 0},
		{"Other", "Warn", "w", "f", 9, 0},
	};

	ck_assert_int_eq(keys_apply(&t, a, 3, &arena, &diag, &thing), -ENOMEM);
	ck_assert_uint_eq(diag.n, 1);
	assert_told(0, DIAG_WARNING, "f:1: Warn=v is odd");
	ck_assert_int_eq(thing.level, 77);
	ck_assert_int_eq(keys_apply(&t, a + 3, 1, &arena, &diag, &thing), 0);
	assert_told(1, DIAG_ERROR, "f:9: unknown section [Other]");
}
END_TEST

/* The index of rows is kept by address; a table that took the place of another must not suffer. */
START_TEST(tables_may_come_and_go)
{
	static char key[1000][48];
	static struct key_row many[1000];

	for (size_t round = 0; round < 4; round++) {
		const size_t n = round == 3 ? 1000 : 700;
		const struct key_table t = {.row = many, .n = n};

		for (size_t i = 0; i < 1000; i++) {
			snprintf(key[i], sizeof(key[i]), "K%zuR%zu", i, round);
			many[i] = (struct key_row) {"Thing", key[i], KEY_KNOWN, key_parse_int,
						    offsetof(struct thing, level), 0};
		}
		for (size_t i = 0; i < n; i += 13) {
			char value[24];
			struct assignment a = {"Thing", key[i], value, "f", 1, 1};

			snprintf(value, sizeof(value), "%zu", i);
			ck_assert_int_eq(keys_apply(&t, &a, 1, &arena, &diag, &thing), 0);
			ck_assert_int_eq(thing.level, (int) i);
		}
	}
	ck_assert_uint_eq(diag.n, 0);
}
END_TEST

static Suite *keys_suite(void)
{
	Suite *s = suite_create("keys");
	TCase *t = tcase_create("keys");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, values_reach_their_fields);
	tcase_add_test(t, an_empty_value_resets);
	tcase_add_loop_test(t, a_bad_value_is_an_error_and_changes_nothing, 0, ELEMENTS(bad_values));
	tcase_add_test(t, a_bad_span_is_explained);
	tcase_add_loop_test(t, what_is_unknown_is_an_error_with_a_hint, 0, ELEMENTS(unknown));
	tcase_add_test(t, a_mistaken_section_is_told_once);
	tcase_add_test(t, x_keys_of_ours_count_and_others_are_passed_over);
	tcase_add_test(t, later_assignments_win);
	tcase_add_test(t, what_is_not_applied_is_a_warning_of_its_own);
	tcase_add_test(t, all_mistakes_are_collected_up_to_a_bound);
	tcase_add_test(t, own_parsers_are_heard);
	tcase_add_test(t, tables_may_come_and_go);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(keys_suite)
