/* SPDX-License-Identifier: MIT */
#include "service/exec_directories.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/environment.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static struct spec_text t;

static void teardown(void)
{
	spec_text_done(&t);
}

static const struct exec_directories *parse(const char *lines)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_ge(asprintf(&text, "ExecStart=/bin/true\n%s", lines), 0);
	spec_text_init(&t, text);
	return t.spec.exec->directories;
}

static const struct row {
	const char *lines, *joined;
} rows[] = {
	{ "StateDirectory=a", "a " },
	{ "StateDirectory=a b/c", "a b/c " },
	{ "StateDirectory=a\nStateDirectory=b", "a b " },
	{ "StateDirectory=a\nStateDirectory=\nStateDirectory=b", "b " },
	{ "StateDirectory=a//b/./c/", "a/b/c " },
	{ "StateDirectory=%p-%i", "backup-home " },
	{ "StateDirectory=\"with blank\"", "with blank " },
	{ "StateDirectory=a\nStateDirectory=", "" },
};

START_TEST(paths_are_understood)
{
	const struct exec_directory_set *set = &parse(rows[_i].lines)->set[EXEC_DIRECTORY_STATE];
	char got[256] = "";

	ck_assert_uint_eq(t.diag.n, 0);
	for (const char *const *path = set->path; path && *path; path++) {
		strcat(got, *path);
		strcat(got, " ");
	}
	ck_assert_str_eq(got, rows[_i].joined);
	ck_assert_str_eq(set->root, "/var/lib");
	ck_assert_uint_eq(set->mode, 0755);
}
END_TEST

static const char *const refused[] = {
	"RuntimeDirectory=/run/a", "RuntimeDirectory=../a", "RuntimeDirectory=a/../b", "RuntimeDirectory=.",
	"RuntimeDirectory=private", "RuntimeDirectory=private/a", "RuntimeDirectoryMode=999", "RuntimeDirectoryMode=rwx",
	"RuntimeDirectoryPreserve=often", "RuntimeDirectory=\"a", "RuntimeDirectory=%Z", "CacheDirectory=a",
};

START_TEST(what_makes_no_sense_is_a_mistake)
{
	(void) parse(refused[_i]);
	ck_assert_uint_eq(t.diag.n_errors, 1);
	ck_assert_uint_eq(t.diag.entry[0].line, 3);
}
END_TEST

START_TEST(modes_and_preservation_are_understood)
{
	const struct exec_directories *d = parse("RuntimeDirectory=a\nRuntimeDirectoryMode=0700\n"
						 "RuntimeDirectoryPreserve=restart\nLogsDirectoryMode=2750");

	ck_assert_uint_eq(d->set[EXEC_DIRECTORY_RUNTIME].mode, 0700);
	ck_assert_uint_eq(d->set[EXEC_DIRECTORY_LOGS].mode, 02750);
	ck_assert_ptr_null(d->set[EXEC_DIRECTORY_LOGS].path);
	ck_assert_int_eq(d->preserve, EXEC_PRESERVE_RESTART);
	spec_text_done(&t);
	ck_assert_int_eq(parse("RuntimeDirectoryPreserve=yes")->preserve, EXEC_PRESERVE_YES);
	spec_text_done(&t);
	ck_assert_int_eq(parse("RuntimeDirectoryPreserve=yes\nRuntimeDirectoryPreserve=")->preserve, EXEC_PRESERVE_NO);
}
END_TEST

START_TEST(links_are_told_as_not_applied)
{
	const struct exec_directories *d = parse("StateDirectory=a:b");

	ck_assert(spec_text_has(&t, DIAG_NOT_APPLIED, "3: StateDirectory=a:b is not applied, ignored"));
	ck_assert_str_eq(d->set[EXEC_DIRECTORY_STATE].path[0], "a");
}
END_TEST

static const char *find(char *const *environment, const char *name)
{
	size_t n = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
			return *environment + n + 1;
	return NULL;
}

START_TEST(services_are_told_their_directories)
{
	struct run run = { .attempt = 1, .scheduled_real = USEC_NEVER, .scheduled_boot = USEC_NEVER };
	struct environment_input in = { .spec = &t.spec, .run = &run, .phase = EXEC_START, .unit = "x.service" };
	char **environment;

	(void) parse("RuntimeDirectory=a b/c\nLogsDirectory=d\nStateDirectory=e\nStateDirectory=");
	ck_assert_int_eq(environment_build(&in, &t.arena, &environment), 0);
	ck_assert_str_eq(find(environment, "RUNTIME_DIRECTORY"), "/run/a:/run/b/c");
	ck_assert_str_eq(find(environment, "LOGS_DIRECTORY"), "/var/log/d");
	ck_assert_ptr_null(find(environment, "STATE_DIRECTORY"));
	ck_assert_ptr_null(find(environment, "CACHE_DIRECTORY"));
}
END_TEST

static Suite *exec_directories_suite(void)
{
	Suite *s = suite_create("exec_directories");
	TCase *tc = tcase_create("parse");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, paths_are_understood, 0, ELEMENTS(rows));
	tcase_add_loop_test(tc, what_makes_no_sense_is_a_mistake, 0, ELEMENTS(refused));
	tcase_add_test(tc, modes_and_preservation_are_understood);
	tcase_add_test(tc, links_are_told_as_not_applied);
	tcase_add_test(tc, services_are_told_their_directories);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(exec_directories_suite)
