/* SPDX-License-Identifier: MIT */
#include "core/plugin_verdict.h"

#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "supd-plugin.h"
#include "tests/lib/test_main.h"

static int start(const struct supd_host *host, const struct supd_start_info *info, struct supd_instance **ret)
{
	(void) host;
	(void) info;
	(void) ret;
	ck_abort_msg("code of a plugin ran before the verdict");
}

static void stop(struct supd_instance *self, const struct supd_now *now)
{
	(void) self;
	(void) now;
	ck_abort_msg("code of a plugin ran before the verdict");
}

static int list(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row, void *userdata)
{
	(void) self;
	(void) query;
	(void) row;
	(void) userdata;
	ck_abort_msg("code of a plugin ran before the verdict");
}

/* In order. */
#define FIT .abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .start = start, .stop = stop, .list = list

/* Not to be looked at. */
#define POISON ((const char *) 1)

static const struct row {
	struct supd_plugin plugin;
	enum plugin_verdict verdict;
	const char *words;
} rows[] = {
	{ { FIT, .name = "timer", .suffix = ".timer" }, PLUGIN_FIT, NULL },
	{ { FIT, .name = "a-1", .suffix = ".a-1" }, PLUGIN_FIT, NULL },
	/* the order: each of these has all the faults that are judged later, too */
	{ { .abi = SUPD_ABI + 1, .size = 8, .name = POISON, .suffix = POISON }, PLUGIN_ABI_DIFFERS,
	  "plugin /lib/x.so was made for version 2 of the plugin interface, this supd has version 1" },
	{ { .abi = 0, .size = sizeof(struct supd_plugin), .name = POISON, .suffix = POISON }, PLUGIN_ABI_DIFFERS,
	  "plugin /lib/x.so was made for version 0 of the plugin interface, this supd has version 1" },
	{ { .abi = SUPD_ABI, .size = 8, .name = POISON, .suffix = POISON }, PLUGIN_TOO_SMALL,
	  "plugin /lib/x.so describes itself in 8 bytes, version 1 of the interface needs 48" },
	{ { .abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .suffix = ".service" }, PLUGIN_INCOMPLETE,
	  "plugin /lib/x.so has no name" },
	{ { FIT, .name = "timer" }, PLUGIN_INCOMPLETE, "plugin /lib/x.so has no suffix" },
	{ { .abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .name = "t", .suffix = ".t", .stop = stop, .list = list },
	  PLUGIN_INCOMPLETE, "plugin /lib/x.so has no start" },
	{ { .abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .name = "t", .suffix = ".t", .start = start, .list = list },
	  PLUGIN_INCOMPLETE, "plugin /lib/x.so has no stop" },
	{ { .abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .name = "t", .suffix = ".t", .start = start, .stop = stop },
	  PLUGIN_INCOMPLETE, "plugin /lib/x.so has no list" },
	{ { FIT, .name = "Ti\nmer", .suffix = ".timer" }, PLUGIN_INCOMPLETE,
	  "plugin /lib/x.so has the name 'Ti\\nmer', which is not of the form 'timer'" },
	{ { FIT, .name = "", .suffix = ".timer" }, PLUGIN_INCOMPLETE,
	  "plugin /lib/x.so has the name '', which is not of the form 'timer'" },
	{ { FIT, .name = "timer", .suffix = "timer" }, PLUGIN_INCOMPLETE,
	  "plugin /lib/x.so has the suffix 'timer', which is not of the form '.timer'" },
	{ { FIT, .name = "timer", .suffix = "." }, PLUGIN_INCOMPLETE,
	  "plugin /lib/x.so has the suffix '.', which is not of the form '.timer'" },
	{ { FIT, .name = "timer", .suffix = "./../x" }, PLUGIN_INCOMPLETE,
	  "plugin /lib/x.so has the suffix './../x', which is not of the form '.timer'" },
	{ { FIT, .name = "timer", .suffix = ".service" }, PLUGIN_SUFFIX_TAKEN,
	  "plugin /lib/x.so wants units named *.service, which are taken" },
	{ { FIT, .name = "timer", .suffix = ".watch" }, PLUGIN_SUFFIX_TAKEN,
	  "plugin /lib/x.so wants units named *.watch, which are taken" },
};

static const char *watch_is_taken(void *userdata, const char *suffix)
{
	(void) userdata;
	return str_equal(suffix, ".watch") ? "watcher" : NULL;
}

START_TEST(plugin_is_judged_in_order_and_told_why)
{
	const struct row *row = &rows[_i];
	enum plugin_verdict v = plugin_judge(&row->plugin, watch_is_taken, NULL);
	char buf[512];

	ck_assert_int_eq(v, row->verdict);
	if (row->words && sizeof(void *) == 8)
		ck_assert_str_eq(plugin_verdict_words(v, &row->plugin, "/lib/x.so", buf, sizeof(buf)), row->words);
}
END_TEST

START_TEST(later_version_that_has_grown_is_fit)
{
	struct supd_plugin plugin = { FIT, .name = "timer", .suffix = ".timer" };

	plugin.size += 400;
	ck_assert_int_eq(plugin_judge(&plugin, NULL, NULL), PLUGIN_FIT);
}
END_TEST

static const struct supd_listener *whole_listener(void)
{
	static struct supd_listener l = { .abi = SUPD_ABI, .size = sizeof(l) };

	/* Any pointer: none is called. */
	for (void **slot = (void **) &l.wake; (char *) slot < (char *) (&l + 1); slot++)
		*slot = (void *) &l;
	return &l;
}

START_TEST(listener_without_a_gap_is_complete)
{
	ck_assert(plugin_listener_is_complete(whole_listener()));
}
END_TEST

START_TEST(listener_with_a_gap_is_not)
{
	struct supd_listener l = *whole_listener();
	void **slot = (void **) &l.wake + _i;

	*slot = NULL;
	ck_assert(!plugin_listener_is_complete(&l));
}
END_TEST

START_TEST(listener_of_another_kind_is_not)
{
	struct supd_listener l = *whole_listener();

	ck_assert(!plugin_listener_is_complete(NULL));
	l.abi++;
	ck_assert(!plugin_listener_is_complete(&l));
	l.abi--;
	l.size--;
	ck_assert(!plugin_listener_is_complete(&l));
}
END_TEST

static Suite *plugin_verdict_suite(void)
{
	Suite *s = suite_create("plugin_verdict");
	TCase *tc = tcase_create("plugin_verdict");
	size_t members = (sizeof(struct supd_listener) - offsetof(struct supd_listener, wake)) / sizeof(void *);

	tcase_add_loop_test(tc, plugin_is_judged_in_order_and_told_why, 0, ELEMENTS(rows));
	tcase_add_test(tc, later_version_that_has_grown_is_fit);
	tcase_add_test(tc, listener_without_a_gap_is_complete);
	tcase_add_loop_test(tc, listener_with_a_gap_is_not, 0, (int) members);
	tcase_add_test(tc, listener_of_another_kind_is_not);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(plugin_verdict_suite)
