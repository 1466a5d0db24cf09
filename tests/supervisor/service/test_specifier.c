/* SPDX-License-Identifier: MIT */
#include "service/specifier.h"

#include <errno.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct specifiers known = {
	.unit = "unused",
	.user = "ann",
	.user_id = "1000",
	.group = "staff",
	.group_id = "50",
	.home = "/home/ann",
	.shell = "/bin/sh",
	.runtime_dir = "/run",
	.state_dir = "/var/lib",
	.cache_dir = "/var/cache",
	.logs_dir = "/var/log",
	.config_dir = "/etc",
	.tmp_dir = "/tmp",
	.var_tmp_dir = "/var/tmp",
	.host_name = "box.example.org",
	.machine_id = "0123",
	.boot_id = "4567",
	.kernel_release = "6.1",
	.architecture = "x86-64",
	.fragment = "/etc/units/a.service",
	.data_dir = "/usr/share",
	.os_id = "debian",
	.os_version_id = "12",
	.os_variant_id = "server",
	.os_build_id = "b1",
	.os_image_id = "img",
	.os_image_version = "33",
	.pretty_host_name = "Ann's box",
};

static const struct {
	const char *unit, *text, *expected;
} rows[] = {
	{ "a.service", "", "" },
	{ "a.service", "no specifier", "no specifier" },
	{ "a.service", "%n|%N|%p|%i|%I|%j", "a.service|a|a|||a" },
	{ "a-b-c.service", "%p|%j|%P|%J", "a-b-c|c|a/b/c|c" },
	{ "a@b.service", "%n|%N|%p|%i|%I|%j", "a@b.service|a@b|a|b|b|a" },
	{ "a@.service", "%n|%N|%p|%i", "a@.service|a@|a|" },
	{ "a@b@c.service", "%p|%i", "a|b@c" },
	{ "a.b@c.d.service", "%p|%i", "a.b|c.d" },
	{ "m@srv-www\\x2ddata.service", "%i|%I|%f", "srv-www\\x2ddata|srv/www-data|/srv/www-data" },
	{ "home-ann.service", "%f", "/home/ann" },
	{ "m@-.service", "%f|%I", "/|/" },
	{ "m@a-...-b.service", "%f", "/a/.../b" },
	{ "a.service", "%u %U %g %G %h %s", "ann 1000 staff 50 /home/ann /bin/sh" },
	{ "a.service", "%t %S %C %L %E %T %V", "/run /var/lib /var/cache /var/log /etc /tmp /var/tmp" },
	{ "a.service", "%H %l %m %b %v %a", "box.example.org box 0123 4567 6.1 x86-64" },
	{ "a.service", "%A %B %M %o %w %W", "33 b1 img debian 12 server" },
	{ "a.service", "%q|%D|%y|%Y", "Ann's box|/usr/share|/etc/units/a.service|/etc/units" },
	{ "a.service", "%%n %%%n", "%n %a.service" },
	/* what is no letter or digit stands for itself */
	{ "a.service", "100%", "100%" },
	{ "a.service", "% %- %_ %.", "% %- %_ %." },
};

START_TEST(a_text_is_expanded)
{
	struct specifiers s = known;
	struct arena arena = { 0 };
	char *got;

	s.unit = rows[_i].unit;
	ck_assert_int_eq(specifier_expand(&s, rows[_i].text, &arena, &got, NULL), 0);
	ck_assert_str_eq(got, rows[_i].expected);
	arena_done(&arena);
}
END_TEST

static const struct {
	const char *unit, *text;
	char letter;
} refused[] = {
	{ "a.service", "%F", 'F' },
	{ "a.service", "x %n %0", '0' },
	{ "a.service", "%d", 'd' },        /* systemd's credentials: not known here */
	{ "a@\\x.service", "%I", 'I' },    /* no escape */
	{ "a@\\x00.service", "%I", 'I' },  /* a NUL byte */
	{ "a@b--c.service", "%f", 'f' },   /* no path */
	{ "a@-b.service", "%f", 'f' },
	{ "a@b-..-c.service", "%f", 'f' },
	{ "a@\\x2fb.service", "%f", 'f' },
};

START_TEST(what_is_not_known_is_refused_by_its_letter)
{
	struct specifiers s = known;
	struct arena arena = { 0 };
	char *got = NULL, letter = '\0';

	s.unit = refused[_i].unit;
	ck_assert_int_eq(specifier_expand(&s, refused[_i].text, &arena, &got, &letter), -EINVAL);
	ck_assert_int_eq(letter, refused[_i].letter);
	ck_assert_ptr_null(got);
	arena_done(&arena);
}
END_TEST

START_TEST(what_was_not_handed_in_is_refused)
{
	const struct specifiers s = { .unit = "a.service" };
	static const char letters[] = "aAbBCDEgGhHlLmMoqsStTuUvVwWyY";
	struct arena arena = { 0 };

	for (const char *p = letters; *p; p++) {
		char text[] = { '%', *p, '\0' }, letter = '\0', *got;

		ck_assert_int_eq(specifier_expand(&s, text, &arena, &got, &letter), -EINVAL);
		ck_assert_int_eq(letter, *p);
	}
	arena_done(&arena);
}
END_TEST

static Suite *specifier_suite(void)
{
	Suite *s = suite_create("specifier");
	TCase *tc = tcase_create("expand");

	tcase_add_loop_test(tc, a_text_is_expanded, 0, ELEMENTS(rows));
	tcase_add_loop_test(tc, what_is_not_known_is_refused_by_its_letter, 0, ELEMENTS(refused));
	tcase_add_test(tc, what_was_not_handed_in_is_refused);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(specifier_suite)
