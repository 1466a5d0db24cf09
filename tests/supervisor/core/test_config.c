/* SPDX-License-Identifier: MIT */
#include "core/config.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/diag.h"
#include "base/log.h"
#include "tests/lib/test_main.h"
#include "unit/reader.h"

static struct arena arena;
static struct diag mistakes;
static struct config config;

static void set_up(void)
{
	config_init(&config);
}

static void tear_down(void)
{
	arena_done(&arena);
	diag_done(&mistakes);
	arena = (struct arena) { 0 };
}

static void read_config(const char *text)
{
	struct assignments all = { 0 };

	ck_assert_int_eq(unit_read("supd.conf", text, strlen(text), &arena, &all, &mistakes), 0);
	ck_assert_int_eq(config_parse(all.item, all.n, &arena, &mistakes, &config), 0);
}

START_TEST(nothing_said_leaves_the_defaults)
{
	read_config("");
	ck_assert_uint_eq(mistakes.n, 0);
	ck_assert_uint_eq(config.unit_path.n, 0);
	ck_assert_ptr_null(config.state_dir);
	ck_assert_int_eq(config.log_level, LOG_INFO);
	ck_assert_int_eq(config.read_access, CONFIG_READ_ALL);
	ck_assert(!config.timers);
	ck_assert_uint_eq(config.output_max_per_run, 1024 * 1024);
	ck_assert(config.forward_output);
	ck_assert_ptr_null(config_setting(&config, "RetrySec"));
}
END_TEST

START_TEST(all_keys_are_understood)
{
	read_config("[Manager]\nUnitPath=/a:/b/\nUnitPath=/c\nSystemdUnitPath=/d\nStateDirectory=/s/\n"
		    "RuntimeDirectory=/r\nLogLevel=debug\nLogFormat=json\nReadAccess=group:adm\n"
		    "OutputMaxPerRun=512K\nOutputMaxPerUnit=0\nOutputMaxAgeSec=2w\nForwardOutput=no\n"
		    "[Experimental]\nTimers=yes\n[Timer]\nRetrySec=1s 2min\nCatchUpSec=2h\nCatchUpSpreadSec=10s\n");
	ck_assert_uint_eq(mistakes.n, 0);
	ck_assert_uint_eq(config.unit_path.n, 3);
	ck_assert_str_eq(config.unit_path.item[0], "/a");
	ck_assert_str_eq(config.unit_path.item[1], "/b");
	ck_assert_str_eq(config.unit_path.item[2], "/c");
	ck_assert_str_eq(config.systemd_unit_path.item[0], "/d");
	ck_assert_uint_eq(config.output_max_per_run, 512 * 1024);
	ck_assert_uint_eq(config.output_max_per_unit, 0);
	ck_assert_uint_eq(config.output_max_age, 2 * USEC_PER_WEEK);
	ck_assert(!config.forward_output);
	ck_assert_str_eq(config.state_dir, "/s");
	ck_assert_str_eq(config.runtime_dir, "/r");
	ck_assert_int_eq(config.log_level, LOG_DEBUG);
	ck_assert_int_eq(config.log_format, CONFIG_LOG_JSON);
	ck_assert_int_eq(config.read_access, CONFIG_READ_GROUP);
	ck_assert_str_eq(config.read_group, "adm");
	ck_assert(config.timers);
	ck_assert_str_eq(config_setting(&config, "RetrySec"), "1s 2min");
	ck_assert_str_eq(config_setting(&config, "CatchUpSec"), "2h");
	ck_assert_str_eq(config_setting(&config, "CatchUpSpreadSec"), "10s");
	ck_assert_ptr_null(config_setting(&config, "OnCalendar"));
}
END_TEST

START_TEST(an_empty_value_resets)
{
	read_config("[Manager]\nUnitPath=/a\nUnitPath=\nLogLevel=debug\nLogLevel=\nStateDirectory=/s\nStateDirectory=\n"
		    "ReadAccess=none\nReadAccess=\n[Timer]\nCatchUpSec=1h\nCatchUpSec=\n");
	ck_assert_uint_eq(mistakes.n, 0);
	ck_assert_uint_eq(config.unit_path.n, 0);
	ck_assert_int_eq(config.log_level, LOG_INFO);
	ck_assert_ptr_null(config.state_dir);
	ck_assert_int_eq(config.read_access, CONFIG_READ_ALL);
	ck_assert_ptr_null(config_setting(&config, "CatchUpSec"));
}
END_TEST

START_TEST(no_retries_is_something_said)
{
	read_config("[Timer]\nRetrySec=\n");
	ck_assert_uint_eq(mistakes.n, 0);
	ck_assert_str_eq(config_setting(&config, "RetrySec"), "");
}
END_TEST

START_TEST(sections_of_others_are_passed_over)
{
	read_config("[X-Ours]\nA=b\n[Manager]\nX-Note=c\n");
	ck_assert_uint_eq(mistakes.n, 0);
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *message;
} wrong[] = {
	{ "[Manager]\nUnitPat=/a\n", 2, "unknown key 'UnitPat' in section [Manager] (did you mean UnitPath=?)" },
	{ "[Manager]\nTimers=yes\n", 2, "unknown key 'Timers' in section [Manager] (it belongs into [Experimental])" },
	{ "[Managr]\nA=b\n", 1, "unknown section [Managr] (did you mean [Manager]?)" },
	{ "[Manager]\nUnitPath=/a:b\n", 2, "UnitPath= wants absolute paths parted by colons, not 'b'" },
	{ "[Manager]\nStateDirectory=s\n", 2, "StateDirectory= wants an absolute path, not 's'" },
	{ "[Manager]\nLogLevel=loud\n", 2, "LogLevel= wants error, warning, notice, info or debug, not 'loud'" },
	{ "[Manager]\nLogFormat=xml\n", 2, "LogFormat= wants auto, text or json, not 'xml'" },
	{ "[Manager]\nReadAccess=group:\n", 2, "ReadAccess= wants all, none or group:NAME, not 'group:'" },
	{ "[Experimental]\nTimers=perhaps\n", 2, "Timers= wants yes or no, not 'perhaps'" },
	{ "[Timer]\nRetrySec=30s x\n", 2, "RetrySec= wants time spans such as 30s 2min 10min, not 'x'" },
	{ "[Timer]\nRetrySec=infinity\n", 2, "RetrySec= wants time spans such as 30s 2min 10min, not 'infinity'" },
	{ "[Timer]\nRetrySec=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", 2,
	  "RetrySec= wants at most 16 time spans, not '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17'" },
	{ "[Timer]\nCatchUpSec=often\n", 2, "CatchUpSec= wants a time span such as 24h, not 'often'" },
};

START_TEST(a_mistake_is_told_with_its_line)
{
	read_config(wrong[_i].text);
	ck_assert_uint_eq(mistakes.n_errors, 1);
	ck_assert_str_eq(mistakes.entry[0].message, wrong[_i].message);
	ck_assert_uint_eq(mistakes.entry[0].line, wrong[_i].line);
}
END_TEST

START_TEST(all_mistakes_are_told)
{
	read_config("[Manager]\nA=1\nLogLevel=x\n[B]\nC=1\n[Timer]\nRetrySec=y\n");
	ck_assert_uint_eq(mistakes.n_errors, 4);
}
END_TEST

START_TEST(a_bad_list_leaves_the_old_one)
{
	const char *bad = NULL;

	ck_assert_int_eq(config_paths_parse("/a", &arena, &config.unit_path, &bad), 0);
	ck_assert_int_eq(config_paths_parse("/b:c", &arena, &config.unit_path, &bad), -EINVAL);
	ck_assert_str_eq(bad, "c");
	ck_assert_uint_eq(config.unit_path.n, 1);
}
END_TEST

static Suite *config_suite(void)
{
	Suite *s = suite_create("config");
	TCase *tc = tcase_create("config");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, nothing_said_leaves_the_defaults);
	tcase_add_test(tc, all_keys_are_understood);
	tcase_add_test(tc, an_empty_value_resets);
	tcase_add_test(tc, no_retries_is_something_said);
	tcase_add_test(tc, sections_of_others_are_passed_over);
	tcase_add_loop_test(tc, a_mistake_is_told_with_its_line, 0, (int) ELEMENTS(wrong));
	tcase_add_test(tc, all_mistakes_are_told);
	tcase_add_test(tc, a_bad_list_leaves_the_old_one);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(config_suite)
