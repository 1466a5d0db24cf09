/* SPDX-License-Identifier: MIT */
#include "unit/name.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct {
	const char *name;
	bool valid;
	enum unit_kind kind;
} names[] = {
	{"a.service", true, UNIT_SERVICE},
	{"backup.timer", true, UNIT_TIMER},
	{"timers.target", true, UNIT_TARGET},
	{"dbus.socket", true, UNIT_OTHER},
	{"home-me.mount", true, UNIT_OTHER},
	{"system-getty.slice", true, UNIT_OTHER},
	{"a.b.c.service", true, UNIT_SERVICE},
	{"A-Z_0:9\\x2d@x.service", true, UNIT_SERVICE},
	{"getty@.service", true, UNIT_SERVICE},
	{"getty@tty1.service", true, UNIT_SERVICE},
	{"a@b@c.timer", true, UNIT_TIMER},
	{"", false, UNIT_OTHER},
	{"a", false, UNIT_OTHER},
	{".service", false, UNIT_SERVICE},
	{"..service", false, UNIT_SERVICE},
	{"-a.service", false, UNIT_SERVICE},
	{"@a.service", false, UNIT_SERVICE},
	{"a.service~", false, UNIT_OTHER},
	{"a.service.bak", false, UNIT_OTHER},
	{"#a.service#", false, UNIT_OTHER},
	{".a.service.swp", false, UNIT_OTHER},
	{"README", false, UNIT_OTHER},
	{"a.conf", false, UNIT_OTHER},
	{"a.Service", false, UNIT_OTHER},
	{"a.service.", false, UNIT_OTHER},
	{"a b.service", false, UNIT_SERVICE},
	{"a/b.service", false, UNIT_SERVICE},
	{"../a.service", false, UNIT_SERVICE},
	{"a\n.service", false, UNIT_SERVICE},
	{"a\033.service", false, UNIT_SERVICE},
	{"\xc3\xa9.service", false, UNIT_SERVICE},
	{"a.service@b", false, UNIT_OTHER},
};

START_TEST(names_are_judged_and_sorted)
{
	ck_assert(unit_name_is_valid(names[_i].name) == names[_i].valid);
	ck_assert_int_eq(unit_name_kind(names[_i].name), names[_i].kind);
}
END_TEST

START_TEST(a_name_has_at_most_255_bytes)
{
	char name[300], ret[UNIT_NAME_MAX + 1] = "kept";

	memset(name, 'a', sizeof(name));
	strcpy(name + 255 - strlen(".service"), ".service");
	ck_assert(unit_name_is_valid(name));
	ck_assert_int_eq(unit_name_change_suffix(name, ".timer", ret), 0);
	ck_assert_uint_eq(strlen(ret), 253);
	ck_assert_int_eq(unit_name_change_suffix(name, ".automount", ret), -EINVAL);
	ck_assert_uint_eq(strlen(ret), 253);
	memset(name, 'a', sizeof(name));
	strcpy(name + 256 - strlen(".service"), ".service");
	ck_assert(!unit_name_is_valid(name));
	ck_assert_int_eq(unit_name_complete(name, ".service", ret), -EINVAL);
}
END_TEST

START_TEST(templates_and_instances_are_told_apart)
{
	ck_assert(unit_name_is_template("foo@.service"));
	ck_assert(!unit_name_is_instance("foo@.service"));
	ck_assert(unit_name_is_instance("foo@bar.service"));
	ck_assert(!unit_name_is_template("foo@bar.service"));
	ck_assert(unit_name_is_instance("foo@b@.service"));
	ck_assert(!unit_name_is_template("foo.service"));
	ck_assert(!unit_name_is_instance("foo.service"));
	ck_assert(!unit_name_is_instance("foo"));
	ck_assert(!unit_name_is_instance("foo@bar"));
}
END_TEST

START_TEST(a_suffix_is_lent_from_the_name)
{
	const char *name = "a.b.service";

	ck_assert_ptr_eq(unit_name_suffix(name), name + 3);
	ck_assert_ptr_null(unit_name_suffix("README"));
}
END_TEST

static const struct {
	const char *typed;
	int r;
	const char *name;
} typed_rows[] = {
	{"foo", 0, "foo.service"},
	{"foo.timer", 0, "foo.timer"},
	{"foo.service", 0, "foo.service"},
	{"foo.bar", 0, "foo.bar.service"},
	{"foo@x", 0, "foo@x.service"},
	{"", -EINVAL, NULL},
	{"../foo", -EINVAL, NULL},
	{"foo bar", -EINVAL, NULL},
	{"-foo", -EINVAL, NULL},
	{".timer", -EINVAL, NULL},
	{"*", -EINVAL, NULL},
};

START_TEST(what_people_type_is_completed)
{
	char name[UNIT_NAME_MAX + 1] = "kept";

	ck_assert_int_eq(unit_name_complete(typed_rows[_i].typed, ".service", name), typed_rows[_i].r);
	ck_assert_str_eq(name, typed_rows[_i].r == 0 ? typed_rows[_i].name : "kept");
}
END_TEST

START_TEST(suffix_and_instance_are_exchanged)
{
	char name[UNIT_NAME_MAX + 1];

	ck_assert_int_eq(unit_name_change_suffix("foo.timer", ".service", name), 0);
	ck_assert_str_eq(name, "foo.service");
	ck_assert_int_eq(unit_name_change_suffix("a.b@c.timer", ".service", name), 0);
	ck_assert_str_eq(name, "a.b@c.service");
	ck_assert_int_eq(unit_name_change_suffix("foo.timer", ".nonsense", name), -EINVAL);
	ck_assert_int_eq(unit_name_template("foo@bar.service", name), 0);
	ck_assert_str_eq(name, "foo@.service");
	ck_assert_int_eq(unit_name_template("foo@b@r.timer", name), 0);
	ck_assert_str_eq(name, "foo@.timer");
	ck_assert_int_eq(unit_name_template("foo.service", name), -EINVAL);
	ck_assert_int_eq(unit_name_template("foo@.service", name), -EINVAL);
}
END_TEST

static Suite *name_suite(void)
{
	Suite *s = suite_create("name");
	TCase *t = tcase_create("name");

	tcase_add_loop_test(t, names_are_judged_and_sorted, 0, ELEMENTS(names));
	tcase_add_test(t, a_name_has_at_most_255_bytes);
	tcase_add_test(t, templates_and_instances_are_told_apart);
	tcase_add_test(t, a_suffix_is_lent_from_the_name);
	tcase_add_loop_test(t, what_people_type_is_completed, 0, ELEMENTS(typed_rows));
	tcase_add_test(t, suffix_and_instance_are_exchanged);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(name_suite)
