/* SPDX-License-Identifier: MIT */
#include "run/plugin_loader.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "supd-plugin.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

static char *dir;
static struct plugin_loader *loader;
static char sentence[1024];

static void set_up(void)
{
	dir = test_dir_new();
	ck_assert_int_eq(plugin_loader_new(dir, &loader), 0);
}

static void tear_down(void)
{
	loader = plugin_loader_free(loader);
	dir = test_dir_free(dir);
}

/* A fixture, where only we may write. */
static char *install(const char *name)
{
	_cleanup_free_ char *built = NULL, *bytes = NULL;
	char path[128];
	size_t n;

	snprintf(path, sizeof(path), "tests/plugins/.libs/%s.so", name);
	built = test_build_path(path);
	bytes = test_dir_read("/", built + 1, &n);
	snprintf(path, sizeof(path), "%s.so", name);
	test_dir_write(dir, path, bytes, n);
	return test_dir_path(dir, path);
}

static int open_plugin(const char *name, const struct supd_plugin **ret)
{
	sentence[0] = '\0';
	return plugin_loader_open(loader, name, ret, sentence, sizeof(sentence));
}

START_TEST(plugin_in_order_is_opened_and_its_path_told)
{
	_cleanup_free_ char *path = install("recorder");
	const struct supd_plugin *plugin = NULL;

	ck_assert_int_eq(open_plugin("recorder", &plugin), 0);
	ck_assert_ptr_nonnull(plugin);
	ck_assert_uint_eq(plugin->abi, SUPD_ABI);
	ck_assert_str_eq(plugin->name, "recorder");
	ck_assert_str_eq(sentence, path);
}
END_TEST

START_TEST(plugin_is_opened_once)
{
	_cleanup_free_ char *path = install("recorder");
	const struct supd_plugin *first = NULL, *second = NULL;

	ck_assert_int_eq(open_plugin("recorder", &first), 0);
	/* A new file under its name waits for the next start of the daemon. */
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(open_plugin("recorder", &second), 0);
	ck_assert_ptr_eq(first, second);
}
END_TEST

START_TEST(unfit_plugins_are_opened_for_the_verdict)
{
	static const char *const names[] = { "other-abi", "too-small", "no-start", "bad-suffix", "taken-suffix", "larger" };

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		const struct supd_plugin *plugin = NULL;

		free(install(names[i]));
		ck_assert_msg(open_plugin(names[i], &plugin) == 0, "%s: %s", names[i], sentence);
		ck_assert_ptr_nonnull(plugin);
	}
}
END_TEST

START_TEST(missing_file_is_refused_with_its_path)
{
	const struct supd_plugin *plugin = NULL;

	ck_assert_int_eq(open_plugin("timer", &plugin), -ENOENT);
	ck_assert_ptr_null(plugin);
	ck_assert_ptr_nonnull(strstr(sentence, dir));
	ck_assert_ptr_nonnull(strstr(sentence, "/timer.so"));
}
END_TEST

static const struct {
	const char *name, *words;
} faults[] = {
	{ "no-symbol", "exports no supd_plugin_1" },
	{ "unresolved", "nobody_has_this" },
};

START_TEST(faulty_object_is_refused_with_its_path)
{
	_cleanup_free_ char *path = install(faults[_i].name);
	const struct supd_plugin *plugin = NULL;

	ck_assert_int_eq(open_plugin(faults[_i].name, &plugin), -ENOEXEC);
	ck_assert_ptr_null(plugin);
	ck_assert_msg(strstr(sentence, faults[_i].words), "%s", sentence);
	ck_assert_msg(strstr(sentence, path), "%s", sentence);
}
END_TEST

START_TEST(text_file_is_refused)
{
	const struct supd_plugin *plugin = NULL;

	test_dir_write_text(dir, "text.so", "not a shared object\n");
	ck_assert_int_eq(open_plugin("text", &plugin), -ENOEXEC);
	ck_assert_ptr_nonnull(strstr(sentence, "text.so"));
}
END_TEST

START_TEST(folder_in_the_place_of_a_plugin_is_refused)
{
	_cleanup_free_ char *path = test_dir_path(dir, "folder.so");
	const struct supd_plugin *plugin = NULL;

	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(open_plugin("folder", &plugin), -ENOEXEC);
	ck_assert_ptr_nonnull(strstr(sentence, "not a regular file"));
}
END_TEST

START_TEST(file_that_others_may_write_is_refused)
{
	static const mode_t modes[] = { 0664, 0646, 0777 };
	_cleanup_free_ char *path = install("recorder");
	const struct supd_plugin *plugin = NULL;

	for (size_t i = 0; i < ELEMENTS(modes); i++) {
		ck_assert_int_eq(chmod(path, modes[i]), 0);
		ck_assert_int_eq(open_plugin("recorder", &plugin), -EPERM);
		ck_assert_ptr_nonnull(strstr(sentence, path));
	}
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(open_plugin("recorder", &plugin), 0);
}
END_TEST

START_TEST(folder_that_others_may_write_is_refused)
{
	const struct supd_plugin *plugin = NULL;

	free(install("recorder"));
	ck_assert_int_eq(chmod(dir, 0775), 0);
	ck_assert_int_eq(open_plugin("recorder", &plugin), -EPERM);
	ck_assert_ptr_nonnull(strstr(sentence, dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	ck_assert_int_eq(open_plugin("recorder", &plugin), 0);
}
END_TEST

START_TEST(link_is_followed_and_what_it_leads_to_is_judged)
{
	_cleanup_free_ char *path = install("recorder"), *link = test_dir_path(dir, "alias.so");
	_cleanup_free_ char *open_folder = test_dir_path(dir, "open"), *moved = test_dir_path(dir, "open/recorder.so");
	const struct supd_plugin *plugin = NULL;

	ck_assert_int_eq(mkdir(open_folder, 0755), 0);
	ck_assert_int_eq(chmod(open_folder, 0777), 0);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(symlink(moved, link), 0);
	ck_assert_int_eq(open_plugin("alias", &plugin), -EPERM);
	ck_assert_ptr_nonnull(strstr(sentence, open_folder));
	ck_assert_int_eq(chmod(open_folder, 0755), 0);
	ck_assert_int_eq(open_plugin("alias", &plugin), 0);
}
END_TEST

START_TEST(file_of_somebody_else_is_refused)
{
	_cleanup_free_ char *path = install("recorder");
	const struct supd_plugin *plugin = NULL;

	if (chown(path, 12345, (gid_t) -1) < 0) {
		ck_assert_int_eq(errno, EPERM);
		return;
	}
	ck_assert_int_eq(open_plugin("recorder", &plugin), -EPERM);
	ck_assert_ptr_nonnull(strstr(sentence, "12345"));
}
END_TEST

static const char *const bad_names[] = { "", "../timer", "/etc/passwd", "Timer", "a b", "-x", "timer.so" };

START_TEST(name_is_never_a_path)
{
	const struct supd_plugin *plugin = NULL;

	ck_assert_int_eq(open_plugin(bad_names[_i], &plugin), -EINVAL);
	ck_assert_str_ne(sentence, "");
}
END_TEST

static Suite *plugin_loader_suite(void)
{
	Suite *s = suite_create("plugin_loader");
	TCase *tc = tcase_create("plugin_loader");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, plugin_in_order_is_opened_and_its_path_told);
	tcase_add_test(tc, plugin_is_opened_once);
	tcase_add_test(tc, unfit_plugins_are_opened_for_the_verdict);
	tcase_add_test(tc, missing_file_is_refused_with_its_path);
	tcase_add_loop_test(tc, faulty_object_is_refused_with_its_path, 0, ELEMENTS(faults));
	tcase_add_test(tc, text_file_is_refused);
	tcase_add_test(tc, folder_in_the_place_of_a_plugin_is_refused);
	tcase_add_test(tc, file_that_others_may_write_is_refused);
	tcase_add_test(tc, folder_that_others_may_write_is_refused);
	tcase_add_test(tc, link_is_followed_and_what_it_leads_to_is_judged);
	tcase_add_test(tc, file_of_somebody_else_is_refused);
	tcase_add_loop_test(tc, name_is_never_a_path, 0, ELEMENTS(bad_names));
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(plugin_loader_suite)
