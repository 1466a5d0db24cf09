/* SPDX-License-Identifier: MIT */
#include "service/condition.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

/* ---- a machine ---- */

static const struct {
	const char *name, *text;
} named[] = {
	{ "ID", "debian" }, { "VERSION_ID", "12" }, { "PRETTY_NAME", "Debian GNU/Linux 12" },
	{ "PATH", "/bin" }, { "EMPTY", "" }, { "product_name", "Box 3000" },
	{ "memory", "some avg10=9.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=3.25 avg60=0.10 avg300=12.00 total=1\n" },
	{ "/mnt/backup/home", "/mnt/backup" }, { "/a b", "/a b" },
	{ "cpu", "some avg10=50.00 avg60=100.00 avg300=0.00 total=5\n" },
};

static const char *const texts[] = {
	[CONDITION_TEXT_KERNEL_RELEASE] = "6.1.0-13-amd64",
	[CONDITION_TEXT_GLIBC_VERSION] = "2.36",
	[CONDITION_TEXT_HOST_NAME] = "Box",
	[CONDITION_TEXT_MACHINE_ID] = "0123456789abcdef0123456789abcdef",
	[CONDITION_TEXT_ARCHITECTURE] = "arm64",
	[CONDITION_TEXT_NATIVE_ARCHITECTURE] = "arm64",
	[CONDITION_TEXT_COMMAND_LINE] = "quiet root=/dev/sda1 x.y=\"a b\" systemd.condition-first-boot=yes",
	[CONDITION_TEXT_VIRTUAL_MACHINE] = "kvm",
	[CONDITION_TEXT_CPU_FEATURES] = "fpu sse2 pclmulqdq fma xsave",
	[CONDITION_TEXT_CONTROLLERS] = "cpu memory pids",
	[CONDITION_TEXT_SMBIOS] = NULL,
};

static const char *container; /* NULL: none */
static bool is_broken;        /* nothing can be told */
static unsigned n_tests;

static int find_text(void *userdata _unused_, enum condition_text what, const char *name, const char **ret)
{
	if (is_broken)
		return -EIO;
	*ret = what < ELEMENTS(texts) ? texts[what] : NULL;
	if (what == CONDITION_TEXT_CONTAINER)
		*ret = container;
	for (size_t i = 0; name && i < ELEMENTS(named); i++)
		if (str_equal(named[i].name, name))
			*ret = named[i].text;
	return *ret != NULL;
}

static int find_number(void *userdata _unused_, enum condition_number what, uint64_t *ret)
{
	static const uint64_t numbers[] = {
		[CONDITION_NUMBER_MEMORY] = UINT64_C(2) << 30, [CONDITION_NUMBER_CPUS] = 4,
		[CONDITION_NUMBER_CAPABILITIES] = 1 << 21,
	};

	*ret = numbers[what];
	return is_broken ? -EIO : 0;
}

/* Whatever has "yes" in it; and no power, and no first boot. */
static int test(void *userdata _unused_, enum condition_kind kind _unused_, const char *parameter)
{
	n_tests++;
	if (is_broken || (parameter && strstr(parameter, "broken")))
		return -EIO;
	return parameter && strstr(parameter, "yes");
}

static const struct condition_facts machine = { .text = find_text, .number = find_number, .test = test };

static void reset(void)
{
	container = NULL;
	is_broken = false;
	n_tests = 0;
}

/* ---- one ---- */

/* A value of each kind: met, not met, or no value at all. */
static const struct {
	enum condition_kind kind;
	const char *value;
	char wanted; /* + met, - not met, 0 a mistake */
} values[] = {
	{ CONDITION_PATH_EXISTS, "/yes", '+' },
	{ CONDITION_PATH_EXISTS, "/no", '-' },
	{ CONDITION_PATH_EXISTS, "!/yes", '-' },
	{ CONDITION_PATH_EXISTS, "|!/no", '+' },
	{ CONDITION_PATH_EXISTS, "| ! /no", '+' },
	{ CONDITION_PATH_EXISTS, "!|/no", 0 },
	{ CONDITION_PATH_EXISTS, "||/no", 0 },
	{ CONDITION_PATH_EXISTS, "yes", 0 },
	{ CONDITION_PATH_EXISTS, "/a/../yes", 0 },
	{ CONDITION_PATH_EXISTS, "/a..b/yes", '+' },
	{ CONDITION_PATH_EXISTS, "/broken", '-' },
	{ CONDITION_PATH_EXISTS, "!/broken", '-' },
	{ CONDITION_PATH_EXISTS, "!", 0 },
	{ CONDITION_PATH_EXISTS, "|", 0 },
	{ CONDITION_PATH_EXISTS_GLOB, "/*yes", '+' },
	{ CONDITION_PATH_IS_SOCKET, "/no", '-' },
	{ CONDITION_NEEDS_UPDATE, "/yes", '+' },
	{ CONDITION_NEEDS_UPDATE, "etc", 0 },
	{ CONDITION_USER, "yes", '+' },
	{ CONDITION_GROUP, "no", '-' },
	{ CONDITION_HOST, "box", '+' },
	{ CONDITION_HOST, "B?X", '+' },
	{ CONDITION_HOST, "box.example", '-' },
	{ CONDITION_HOST, "0123456789abcdef0123456789ABCDEF", '+' },
	{ CONDITION_HOST, "01234567-89ab-cdef-0123-456789abcdef", '+' },
	{ CONDITION_HOST, "11234567-89ab-cdef-0123-456789abcdef", '-' },
	{ CONDITION_KERNEL_VERSION, "6.1.0-13-amd64", '+' },
	{ CONDITION_KERNEL_VERSION, "6.1*", '+' },
	{ CONDITION_KERNEL_VERSION, "6.1", '-' },
	{ CONDITION_KERNEL_VERSION, ">= 6", '+' },
	{ CONDITION_KERNEL_VERSION, "\">= 6\" '< 6.2'", '+' },
	{ CONDITION_KERNEL_VERSION, ">=6 <6.1", '-' },
	{ CONDITION_KERNEL_VERSION, "=6.1.0-13-amd64", '+' },
	{ CONDITION_KERNEL_VERSION, "=6.1*", '-' },
	{ CONDITION_KERNEL_VERSION, "!$=6.1*", '-' },
	{ CONDITION_KERNEL_VERSION, ">=6 < 7", 0 },
	{ CONDITION_KERNEL_VERSION, ">=", 0 },
	{ CONDITION_KERNEL_VERSION, "\"6", 0 },
	{ CONDITION_VERSION, ">=6", '+' },
	{ CONDITION_VERSION, "kernel >=6 <7", '+' },
	{ CONDITION_VERSION, "glibc >= 2.36", '+' },
	{ CONDITION_VERSION, "glibc <2.4", '-' },
	{ CONDITION_VERSION, "systemd >=1", '-' },
	{ CONDITION_VERSION, "glibc", 0 },
	{ CONDITION_KERNEL_COMMAND_LINE, "quiet", '+' },
	{ CONDITION_KERNEL_COMMAND_LINE, "quie", '-' },
	{ CONDITION_KERNEL_COMMAND_LINE, "root", '+' },
	{ CONDITION_KERNEL_COMMAND_LINE, "root=/dev/sda1", '+' },
	{ CONDITION_KERNEL_COMMAND_LINE, "root=/dev/sda", '-' },
	{ CONDITION_KERNEL_COMMAND_LINE, "x.y=a b", '+' },
	{ CONDITION_CAPABILITY, "CAP_SYS_ADMIN", '+' },
	{ CONDITION_CAPABILITY, "cap_sys_admin", '+' },
	{ CONDITION_CAPABILITY, "21", '+' },
	{ CONDITION_CAPABILITY, "CAP_CHOWN", '-' },
	{ CONDITION_CAPABILITY, "CAP_NONE", 0 },
	{ CONDITION_CAPABILITY, "SYS_ADMIN", 0 },
	{ CONDITION_ENVIRONMENT, "PATH", '+' },
	{ CONDITION_ENVIRONMENT, "PATH=/bin", '+' },
	{ CONDITION_ENVIRONMENT, "PATH=/bi", '-' },
	{ CONDITION_ENVIRONMENT, "EMPTY=", '+' },
	{ CONDITION_ENVIRONMENT, "NONE=", '-' },
	{ CONDITION_ENVIRONMENT, "A B", 0 },
	{ CONDITION_MEMORY, "2G", '+' },
	{ CONDITION_MEMORY, "2147483648", '+' },
	{ CONDITION_MEMORY, "= 2048M", '+' },
	{ CONDITION_MEMORY, ">2G", '-' },
	{ CONDITION_MEMORY, "<2.5G", '+' },
	{ CONDITION_MEMORY, ">=1.9999999G", '+' },
	{ CONDITION_MEMORY, "15E", '-' },
	{ CONDITION_MEMORY, "16E", 0 },
	{ CONDITION_MEMORY, "99999999999999999999", 0 },
	{ CONDITION_MEMORY, "2.G", 0 },
	{ CONDITION_MEMORY, "2GB", 0 },
	{ CONDITION_MEMORY, "$=2", 0 },
	{ CONDITION_MEMORY, "-1", 0 },
	{ CONDITION_CPUS, "4", '+' },
	{ CONDITION_CPUS, "3", '+' },
	{ CONDITION_CPUS, "5", '-' },
	{ CONDITION_CPUS, "<> 4", '-' },
	{ CONDITION_CPUS, "!=4", '-' },
	{ CONDITION_CPUS, ">x", 0 },
	{ CONDITION_CPUS, ">", 0 },
	{ CONDITION_CPUS, ">=1 <5", 0 },
	{ CONDITION_CPU_FEATURE, "sse2", '+' },
	{ CONDITION_CPU_FEATURE, "sse", '-' },
	{ CONDITION_CPU_FEATURE, "SSE2", '+' },
	{ CONDITION_CPU_FEATURE, "FMA3", '+' },
	{ CONDITION_CPU_FEATURE, "pclmul", '+' },
	{ CONDITION_CPU_FEATURE, "fma3", '+' },
	{ CONDITION_CPU_FEATURE, "osxsave", '+' },
	{ CONDITION_ARCHITECTURE, "arm64", '+' },
	{ CONDITION_ARCHITECTURE, "native", '+' },
	{ CONDITION_ARCHITECTURE, "x86-64", '-' },
	{ CONDITION_ARCHITECTURE, "none", '-' },
	{ CONDITION_AC_POWER, "no", '+' },
	{ CONDITION_AC_POWER, "!yes", '+' },
	{ CONDITION_AC_POWER, "true", '-' },
	{ CONDITION_AC_POWER, "maybe", 0 },
	{ CONDITION_FIRST_BOOT, "yes", '+' }, /* the kernel was told so */
	{ CONDITION_FIRST_BOOT, "no", '-' },
	{ CONDITION_VIRTUALIZATION, "yes", '+' },
	{ CONDITION_VIRTUALIZATION, "vm", '+' },
	{ CONDITION_VIRTUALIZATION, "kvm", '+' },
	{ CONDITION_VIRTUALIZATION, "container", '-' },
	{ CONDITION_VIRTUALIZATION, "no", '-' },
	{ CONDITION_VIRTUALIZATION, "xen", '-' },
	{ CONDITION_OS_RELEASE, "ID=debian", '+' },
	{ CONDITION_OS_RELEASE, "ID=debian VERSION_ID>=11", '+' },
	{ CONDITION_OS_RELEASE, "ID=debian VERSION_ID<9", '-' },
	{ CONDITION_OS_RELEASE, "\"PRETTY_NAME$=Debian GNU*\"", '+' },
	{ CONDITION_OS_RELEASE, "NONE!=x", '+' },
	{ CONDITION_OS_RELEASE, "NONE=", 0 },
	{ CONDITION_OS_RELEASE, "ID = debian", 0 },
	{ CONDITION_SECURITY, "yes", '+' },
	{ CONDITION_CONTROL_GROUP_CONTROLLER, "v2", '+' },
	{ CONDITION_CONTROL_GROUP_CONTROLLER, "v1", '-' },
	{ CONDITION_CONTROL_GROUP_CONTROLLER, "cpu  pids", '+' },
	{ CONDITION_CONTROL_GROUP_CONTROLLER, "cpu io", '-' },
	{ CONDITION_CONTROL_GROUP_CONTROLLER, "cpu unheard-of", '+' },
	{ CONDITION_MEMORY_PRESSURE, "10%", '-' },
	{ CONDITION_MEMORY_PRESSURE, "12%", '+' },
	{ CONDITION_MEMORY_PRESSURE, "3.25%/10s", '+' },
	{ CONDITION_MEMORY_PRESSURE, "3.24%/10s", '-' },
	{ CONDITION_MEMORY_PRESSURE, "1‰ / 1min", '+' },
	{ CONDITION_MEMORY_PRESSURE, "9‱/1min", '-' },
	{ CONDITION_MEMORY_PRESSURE, "a.slice:0%", '+' },
	{ CONDITION_MEMORY_PRESSURE, "10", 0 },
	{ CONDITION_MEMORY_PRESSURE, "101%", 0 },
	{ CONDITION_MEMORY_PRESSURE, "10%/2min", 0 },
	{ CONDITION_MEMORY_PRESSURE, "10%x", 0 },
	{ CONDITION_CPU_PRESSURE, "100%/1min", '+' },
	{ CONDITION_CPU_PRESSURE, "99.99%/1min", '-' },
	{ CONDITION_IO_PRESSURE, "0%", '+' }, /* not measured */
	{ CONDITION_FIRMWARE, "uefi", '-' },
	{ CONDITION_FIRMWARE, "smbios-field(product_name = Box 3000)", '+' },
	{ CONDITION_FIRMWARE, "smbios-field(product_name $= Box*)", '+' },
	{ CONDITION_FIRMWARE, "smbios-field(none $= *)", '-' },
	{ CONDITION_FIRMWARE, "smbios-field(none)", 0 },
	{ CONDITION_FIRMWARE, "device-tree-compatible(yes)", '+' },
	{ CONDITION_FIRMWARE, "device-tree-compatible()", 0 },
	{ CONDITION_CREDENTIAL, "yes", '+' },
	{ CONDITION_CREDENTIAL, "../yes", 0 },
	{ CONDITION_KERNEL_MODULE_LOADED, "yes", '+' },
	{ CONDITION_KERNEL_MODULE_LOADED, "a/b", 0 },
};

START_TEST(a_value_is_met_or_not_or_makes_no_sense)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_free_ char *value = strdup(values[_i].value);
	enum condition_remark remark;
	struct condition c;
	const char *wanted = NULL;
	int r = condition_parse(values[_i].kind, value, &c, &remark, &wanted);

	if (values[_i].wanted == 0) {
		ck_assert_msg(r == -EINVAL, "%s is taken", values[_i].value);
		ck_assert_ptr_nonnull(wanted);
		return;
	}
	ck_assert_msg(r == 0, "%s is refused", values[_i].value);
	r = condition_judge(&c, &machine, &arena);
	ck_assert_msg((r > 0) == (values[_i].wanted == '+'), "%s=%s: %d", condition_kind_to_string(values[_i].kind),
		      values[_i].value, r);
}
END_TEST

/* Where the system does not tell, nothing is met, with or without '!'. */
START_TEST(what_cannot_be_told_is_not_met)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	_cleanup_free_ char *value = strdup(values[_i].value);
	enum condition_remark remark;
	struct condition c;
	const char *wanted;

	if (condition_parse(values[_i].kind, value, &c, &remark, &wanted) < 0)
		return;
	is_broken = true;
	if (remark == CONDITION_IS_PASSED_OVER || (values[_i].kind == CONDITION_VERSION && strstr(value, "systemd")))
		return; /* asks for nothing */
	ck_assert_int_le(condition_judge(&c, &machine, &arena), 0);
}
END_TEST

START_TEST(the_innermost_virtualization_counts)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct condition c = { .kind = CONDITION_VIRTUALIZATION, .parameter = "docker" };

	container = "docker";
	ck_assert_int_eq(condition_judge(&c, &machine, &arena), 1);
	c.parameter = "container";
	ck_assert_int_eq(condition_judge(&c, &machine, &arena), 1);
	c.parameter = "vm";
	ck_assert_int_eq(condition_judge(&c, &machine, &arena), 0);
	c.parameter = "kvm";
	ck_assert_int_eq(condition_judge(&c, &machine, &arena), 0);
}
END_TEST

/* ---- all ---- */

static const struct {
	const char *unit;
	enum condition_outcome outcome;
	const char *unmet;
	unsigned n_tests;
} lists[] = {
	{ "ConditionPathExists=/yes\nConditionPathExists=/yes/too", CONDITIONS_HOLD, NULL, 2 },
	{ "ConditionPathExists=/yes\nConditionPathExists=/no\nConditionPathExists=/yes", CONDITIONS_SKIP,
	  "ConditionPathExists=/no was not met", 2 },
	{ "ConditionPathExists=!/yes", CONDITIONS_SKIP, "ConditionPathExists=!/yes was not met", 1 },
	{ "ConditionPathExists=|/no\nConditionPathExists=|/yes\nConditionPathExists=|/a", CONDITIONS_HOLD, NULL, 2 },
	{ "ConditionPathExists=|/no", CONDITIONS_SKIP, "ConditionPathExists=|/no was not met", 1 },
	{ "ConditionPathExists=|/no\nConditionUser=|!yes", CONDITIONS_SKIP,
	  "none of ConditionPathExists=|/no, ConditionUser=|!yes was met", 2 },
	{ "ConditionPathExists=|/yes\nConditionPathExists=/no", CONDITIONS_SKIP, "ConditionPathExists=/no was not met", 2 },
	{ "ConditionPathExists=/broken", CONDITIONS_SKIP,
	  "ConditionPathExists=/broken could not be judged (Input/output error), and counts as not met", 1 },
	{ "AssertPathExists=/no", CONDITIONS_FAIL, "AssertPathExists=/no was not met", 1 },
	{ "AssertPathExists=|/no\nAssertPathExists=|/yes", CONDITIONS_HOLD, NULL, 2 },
	{ "AssertPathExists=/no\nConditionPathExists=/no", CONDITIONS_SKIP, "ConditionPathExists=/no was not met", 1 },
	{ "AssertPathExists=/no\nConditionPathExists=/yes", CONDITIONS_FAIL, "AssertPathExists=/no was not met", 2 },
	{ "ConditionPathExists=/no\nConditionUser=\nAssertUser=yes", CONDITIONS_HOLD, NULL, 1 },
	{ "AssertUser=no\nConditionUser=yes\nConditionUser=\nAssertHost=box", CONDITIONS_FAIL, "AssertUser=no was not met", 1 },
	{ "ConditionPathExists=//yes//%i/", CONDITIONS_HOLD, NULL, 1 },
	{ "RequiresMountsFor=/mnt//backup/%i/\nConditionPathExists=/no", CONDITIONS_UNMOUNTED, "/mnt/backup is not mounted", 0 },
	{ "RequiresMountsFor=/var '/a b'\nAssertPathExists=/yes", CONDITIONS_UNMOUNTED, "/a b is not mounted", 0 },
	{ "RequiresMountsFor=\"/a b\"\nRequiresMountsFor=\nRequiresMountsFor=/var", CONDITIONS_UNMOUNTED,
	  "/a b is not mounted", 0 },
	{ "ConditionUser=no\nRequiresMountsFor=/var\nConditionUser=", CONDITIONS_HOLD, NULL, 0 },
	{ "ConditionPathExists=/yes\nRequiresMountsFor=/var", CONDITIONS_HOLD, NULL, 1 },
	{ "ConditionPathExists=/no/%i/", CONDITIONS_SKIP, "ConditionPathExists=/no/home was not met", 1 },
};

static void spec_of(struct spec_text *t, const char *unit)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_gt(asprintf(&text, "[Unit]\n%s\n[Service]\nExecStart=a", unit), 0);
	spec_text_init(t, text);
}

START_TEST(lists_are_judged_as_systemd_does)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct conditions *copy;
	struct spec_text t;
	const char *unmet;

	spec_of(&t, lists[_i].unit);
	ck_assert_uint_eq(t.diag.n_errors, 0);
	copy = conditions_copy(t.spec.conditions, &arena);
	spec_text_done(&t);
	ck_assert_ptr_nonnull(copy);
	ck_assert_int_eq(conditions_judge(copy, &machine, &arena, &unmet), lists[_i].outcome);
	if (lists[_i].unmet)
		ck_assert_str_eq(unmet, lists[_i].unmet);
	else
		ck_assert_ptr_null(unmet);
	ck_assert_uint_eq(n_tests, lists[_i].n_tests);
}
END_TEST

START_TEST(a_unit_without_conditions_has_no_list)
{
	struct spec_text t;

	spec_of(&t, "Description=x");
	ck_assert_ptr_null(t.spec.conditions);
	spec_text_done(&t);
	spec_of(&t, "ConditionPathExists=/x\nAssertPathExists=/y\nConditionHost=\nAssertHost=");
	ck_assert_ptr_null(t.spec.conditions);
	spec_text_done(&t);
}
END_TEST

START_TEST(a_directory_to_work_in_is_to_be_mounted)
{
	static const char *const with[] = { "/srv", "/", "~", "-/srv" };

	for (size_t i = 0; i < ELEMENTS(with); i++) {
		_cleanup_free_ char *text = NULL;
		struct spec_text t;

		ck_assert_int_gt(asprintf(&text, "[Service]\nExecStart=a\nWorkingDirectory=%s", with[i]), 0);
		spec_text_init_good(&t, text);
		if (i == 0)
			ck_assert_str_eq(t.spec.conditions->mounts[0], "/srv");
		else
			ck_assert_ptr_null(t.spec.conditions);
		spec_text_done(&t);
	}
}
END_TEST

START_TEST(mistakes_and_remarks_have_their_lines)
{
	struct spec_text t;

	spec_of(&t, "ConditionPathExists=x\nAssertCPUs=|!>x\nConditionVirtualization=!odd\nConditionHost=%Z");
	ck_assert(spec_text_has(&t, DIAG_ERROR,
				"2: ConditionPathExists= wants an absolute path without .., not 'x'"));
	ck_assert(spec_text_has(&t, DIAG_ERROR, "3: AssertCPUs= wants a number of CPUs, as >=2, not '|!>x'"));
	ck_assert(spec_text_has(&t, DIAG_WARNING,
				"4: ConditionVirtualization=!odd names what is not known here, and is never met (but "
				"always with '!')"));
	spec_text_done(&t);
	spec_of(&t, "RequiresMountsFor=/var lib /a/../b\nRequiresMountsFor=/%Z\nRequiresMountsFor='/x\nConditionHost=%Z");
	ck_assert(spec_text_has(&t, DIAG_ERROR, "2: RequiresMountsFor= wants absolute paths without .., not 'lib'"));
	ck_assert(spec_text_has(&t, DIAG_ERROR, "2: RequiresMountsFor= wants absolute paths without .., not '/a/../b'"));
	ck_assert(spec_text_has(&t, DIAG_ERROR, "4: RequiresMountsFor= wants balanced quotes, not ''/x'"));
	ck_assert_uint_eq(t.diag.n_errors, 5);
	ck_assert(spec_text_has(&t, DIAG_ERROR,
				"5: ConditionHost= asks for %Z, which is not known here: '%Z' (a percent sign is written %%)"));
	spec_text_done(&t);
}
END_TEST

static Suite *condition_suite(void)
{
	Suite *s = suite_create("condition");
	TCase *tc = tcase_create("condition");

	tcase_add_checked_fixture(tc, reset, NULL);
	tcase_add_loop_test(tc, a_value_is_met_or_not_or_makes_no_sense, 0, ELEMENTS(values));
	tcase_add_loop_test(tc, what_cannot_be_told_is_not_met, 0, ELEMENTS(values));
	tcase_add_test(tc, the_innermost_virtualization_counts);
	tcase_add_loop_test(tc, lists_are_judged_as_systemd_does, 0, ELEMENTS(lists));
	tcase_add_test(tc, a_unit_without_conditions_has_no_list);
	tcase_add_test(tc, a_directory_to_work_in_is_to_be_mounted);
	tcase_add_test(tc, mistakes_and_remarks_have_their_lines);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(condition_suite)
