/* SPDX-License-Identifier: MIT */
#include "core/directories.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "tests/lib/test_main.h"

struct variable {
	const char *name, *value;
};

static const char *look_up(void *userdata, const char *name)
{
	for (const struct variable *v = userdata; v && v->name; v++)
		if (str_equal(v->name, name))
			return v->value;
	return NULL;
}

static struct directories_input input(bool is_user, const struct variable *variables)
{
	return (struct directories_input) {
		.is_user = is_user,
		.uid = 1000,
		.variable = look_up,
		.userdata = (void *) (uintptr_t) variables,
		.home = "/home/database",
		.sysconfdir = "/etc",
		.runstatedir = "/run",
		.localstatedir = "/var",
	};
}

/* The paths in one line. */
static const char *joined(const struct directories *d, struct arena *arena)
{
	const char *all = "";

	for (size_t i = 0; d->unit_path[i]; i++)
		all = arena_printf(arena, "%s%s%s", all, i > 0 ? ":" : "", d->unit_path[i]);
	return all;
}

START_TEST(the_systems_supd_has_the_documented_places)
{
	const struct variable variables[] = { { "XDG_CONFIG_HOME", "/elsewhere" }, { NULL, NULL } };
	struct directories_input in = input(false, variables);
	struct arena arena = { 0 };
	struct directories d;

	ck_assert_int_eq(directories_find(&in, &arena, &d), 0);
	ck_assert_str_eq(joined(&d, &arena), "/etc/supd/units:/run/supd/units:/usr/local/lib/supd/units:/usr/lib/supd/units");
	ck_assert_str_eq(d.config_file, "/etc/supd/supd.conf");
	ck_assert_str_eq(d.config_dropins, "/etc/supd/supd.conf.d");
	ck_assert_str_eq(d.state, "/var/lib/supd");
	ck_assert_str_eq(d.runtime, "/run");
	arena_done(&arena);
}
END_TEST

START_TEST(a_persons_own_follows_xdg)
{
	const struct variable variables[] = {
		{ "XDG_CONFIG_HOME", "/c" }, { "XDG_DATA_HOME", "/d" }, { "XDG_STATE_HOME", "/s" },
		{ "XDG_RUNTIME_DIR", "/r" }, { NULL, NULL },
	};
	struct directories_input in = input(true, variables);
	struct arena arena = { 0 };
	struct directories d;

	ck_assert_int_eq(directories_find(&in, &arena, &d), 0);
	ck_assert_str_eq(joined(&d, &arena), "/c/supd/units:/r/supd/units:/d/supd/units:"
					     "/etc/supd/user:/usr/local/lib/supd/user:/usr/lib/supd/user");
	ck_assert_str_eq(d.config_file, "/c/supd/supd.conf");
	ck_assert_str_eq(d.state, "/s/supd");
	ck_assert_str_eq(d.runtime, "/r");
	arena_done(&arena);
}
END_TEST

START_TEST(without_xdg_it_is_below_home)
{
	const struct variable variables[] = { { "HOME", "/home/me" }, { "XDG_STATE_HOME", "relative" },
					      { "XDG_DATA_HOME", "" }, { NULL, NULL } };
	struct directories_input in = input(true, variables);
	struct arena arena = { 0 };
	struct directories d;

	ck_assert_int_eq(directories_find(&in, &arena, &d), 0);
	ck_assert_str_eq(d.config_file, "/home/me/.config/supd/supd.conf");
	ck_assert_str_eq(d.unit_path[2], "/home/me/.local/share/supd/units");
	ck_assert_str_eq(d.state, "/home/me/.local/state/supd");
	ck_assert_str_eq(d.runtime, "/run/user/1000");
	arena_done(&arena);
}
END_TEST

START_TEST(without_home_the_user_database_counts)
{
	struct directories_input in = input(true, NULL);
	struct arena arena = { 0 };
	struct directories d;

	ck_assert_int_eq(directories_find(&in, &arena, &d), 0);
	ck_assert_str_eq(d.state, "/home/database/.local/state/supd");
	in.home = NULL;
	ck_assert_int_eq(directories_find(&in, &arena, &d), -ENOENT);
	arena_done(&arena);
}
END_TEST

static Suite *directories_suite(void)
{
	Suite *s = suite_create("directories");
	TCase *tc = tcase_create("directories");

	tcase_add_test(tc, the_systems_supd_has_the_documented_places);
	tcase_add_test(tc, a_persons_own_follows_xdg);
	tcase_add_test(tc, without_xdg_it_is_below_home);
	tcase_add_test(tc, without_home_the_user_database_counts);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(directories_suite)
