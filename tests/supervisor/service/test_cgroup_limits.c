/* SPDX-License-Identifier: MIT */
#include "service/cgroup_limits.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static struct spec_text t;

static void teardown(void)
{
	spec_text_done(&t);
}

static const struct cgroup_limits *parse(const char *lines)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_ge(asprintf(&text, "ExecStart=/bin/true\n%s", lines), 0);
	spec_text_init(&t, text);
	return t.spec.exec->cgroup;
}

static const struct row {
	const char *lines;
	enum cgroup_limit limit;
	const char *text; /* with 1000 of it in the machine; NULL: not set */
} rows[] = {
	{ "MemoryMax=1G", CGROUP_MEMORY_MAX, "1073741824" },
	{ "MemoryMax=infinity", CGROUP_MEMORY_MAX, "max" },
	{ "MemoryMax=10%", CGROUP_MEMORY_MAX, "100" },
	{ "MemoryMax=12.5%", CGROUP_MEMORY_MAX, "125" },
	{ "MemoryMax=0.01%", CGROUP_MEMORY_MAX, "1" },
	{ "MemoryLimit=5K", CGROUP_MEMORY_MAX, "5120" },
	{ "MemoryMax=1G\nMemoryMax=", CGROUP_MEMORY_MAX, NULL },
	{ "MemoryHigh=512M", CGROUP_MEMORY_HIGH, "536870912" },
	{ "MemoryLow=0", CGROUP_MEMORY_LOW, "0" },
	{ "MemoryMin=1K", CGROUP_MEMORY_MIN, "1024" },
	{ "MemorySwapMax=0", CGROUP_MEMORY_SWAP_MAX, "0" },
	{ "MemoryZSwapMax=1M", CGROUP_MEMORY_ZSWAP_MAX, "1048576" },
	{ "TasksMax=15", CGROUP_TASKS_MAX, "15" },
	{ "TasksMax=50%", CGROUP_TASKS_MAX, "500" },
	{ "TasksMax=infinity", CGROUP_TASKS_MAX, "max" },
	{ "CPUQuota=20%", CGROUP_CPU_QUOTA, "20000 100000" },
	{ "CPUQuota=250%", CGROUP_CPU_QUOTA, "250000 100000" },
	{ "CPUQuota=0.1%", CGROUP_CPU_QUOTA, "1000 100000" },
	{ "CPUQuota=50%\nCPUQuotaPeriodSec=10ms", CGROUP_CPU_QUOTA, "5000 10000" },
	{ "CPUQuota=50%\nCPUQuotaPeriodSec=10ms\nCPUQuotaPeriodSec=", CGROUP_CPU_QUOTA, "50000 100000" },
	{ "CPUQuota=50%\nCPUQuota=", CGROUP_CPU_QUOTA, NULL },
	{ "CPUWeight=100", CGROUP_CPU_WEIGHT, "100" },
	{ "CPUWeight=idle", CGROUP_CPU_WEIGHT, "idle" },
	{ "IOWeight=1000", CGROUP_IO_WEIGHT, "default 1000" },
};

START_TEST(limits_are_understood)
{
	const struct row *row = &rows[_i];
	const struct cgroup_limits *l = parse(row->lines);
	char buf[64];

	ck_assert_uint_eq(t.diag.n, 0);
	ck_assert_int_eq(l->limit[row->limit].is_set, row->text != NULL);
	if (!row->text)
		return;
	cgroup_limit_text(l, row->limit, 1000, buf);
	ck_assert_str_eq(buf, row->text);
}
END_TEST

/* Lines, and what is written for each device of the kind, as if it were 8:0. */
static const struct device_row {
	const char *lines;
	enum cgroup_limit limit;
	const char *text; /* "PATH: TEXT", one a line */
} devices[] = {
	{ "IOReadBandwidthMax=/dev/sda 5M", CGROUP_IO_READ_BANDWIDTH, "/dev/sda: 8:0 rbps=5000000\n" },
	{ "IOWriteBandwidthMax=\"/var/a b\" 1.5K", CGROUP_IO_WRITE_BANDWIDTH, "/var/a b: 8:0 wbps=1500\n" },
	{ "IOReadIOPSMax=/dev/sda  1K", CGROUP_IO_READ_IOPS, "/dev/sda: 8:0 riops=1000\n" },
	{ "IOWriteIOPSMax=/dev/%i infinity", CGROUP_IO_WRITE_IOPS, "/dev/home: 8:0 wiops=max\n" },
	{ "IODeviceWeight=/dev/sda 500", CGROUP_IO_DEVICE_WEIGHT, "/dev/sda: 8:0 500\n" },
	{ "IODeviceLatencyTargetSec=/dev/sda 25ms", CGROUP_IO_LATENCY, "/dev/sda: 8:0 target=25000\n" },
	{ "IODeviceWeight=/dev/sda 5\nIODeviceWeight=/dev/sdb 7\nIODeviceWeight=/dev//sda 6", CGROUP_IO_DEVICE_WEIGHT,
	  "/dev/sdb: 8:0 7\n/dev/sda: 8:0 6\n" },
	{ "IODeviceWeight=/dev/sda 5\nIOReadIOPSMax=/dev/sda 1\nIODeviceWeight=", CGROUP_IO_DEVICE_WEIGHT, "" },
};

START_TEST(limits_of_devices_are_understood)
{
	const struct cgroup_limits *l = parse(devices[_i].lines);
	_cleanup_free_ char *all = strdup("");

	ck_assert_uint_eq(t.diag.n, 0);
	ck_assert_int_eq(cgroup_limits_has(l, devices[_i].limit), *devices[_i].text != '\0');
	for (size_t i = 0; i < l->n_devices; i++) {
		char buf[64], *more;

		if (l->device[i].limit != devices[_i].limit)
			continue;
		cgroup_device_text(&l->device[i], 8, 0, buf);
		ck_assert_int_gt(asprintf(&more, "%s%s: %s\n", all, l->device[i].path, buf), 0);
		free(all);
		all = more;
	}
	ck_assert_str_eq(all, devices[_i].text);
}
END_TEST

START_TEST(cpus_and_nodes_are_lists_of_ranges)
{
	static const char *const cases[][2] = {
		{ "AllowedCPUs=3", "3" }, { "AllowedCPUs=0-3,8 10-11", "0-3,8,10-11" },
		{ "AllowedCPUs=1\nAllowedCPUs=0 64", "0-1,64" }, { "AllowedCPUs=0-8191", "0-8191" },
	};

	for (size_t i = 0; i < ELEMENTS(cases); i++) {
		const struct cgroup_limits *l = parse(cases[i][0]);
		_cleanup_free_ char *text = cgroup_mask_text(&l->cpus);

		ck_assert_str_eq(text, cases[i][1]);
		ck_assert(cgroup_limits_has(l, CGROUP_CPUS) && !cgroup_limits_has(l, CGROUP_NODES));
		spec_text_done(&t);
	}
	ck_assert(!cgroup_limits_has(parse("AllowedMemoryNodes=1\nAllowedMemoryNodes="), CGROUP_NODES));
}
END_TEST

static const char *const refused[] = {
	"IOReadBandwidthMax=5M", "IOReadBandwidthMax=/dev/sda", "IOReadBandwidthMax=sda 5M", "IOReadIOPSMax=/dev/sda 0",
	"IODeviceWeight=/dev/sda 0", "IODeviceWeight=/dev/sda 5 6", "IODeviceLatencyTargetSec=/dev/sda soon",
	"IOReadBandwidthMax=/dev/../sda 1", "IOReadBandwidthMax=/dev/sda 1Q", "IOReadBandwidthMax=\"/dev/sda 1",
	"AllowedCPUs=x", "AllowedCPUs=3-1", "AllowedMemoryNodes=0-9999",
	"MemoryMax=0", "MemoryMax=0%", "MemoryMax=101%", "MemoryMax=-1", "MemoryMax=much", "MemoryMax=1.5.5%",
	"MemoryHigh=0", "MemorySwapMax=1X", "TasksMax=0", "TasksMax=1K", "TasksMax=%", "CPUQuota=0%", "CPUQuota=20",
	"CPUQuota=infinity", "CPUQuota=-5%", "CPUQuotaPeriodSec=2s", "CPUQuotaPeriodSec=1us", "CPUWeight=0",
	"OOMPolicy=never", "CPUWeight=10001", "CPUWeight=max", "IOWeight=0", "IOWeight=idle",
};

START_TEST(what_makes_no_sense_is_a_mistake)
{
	(void) parse(refused[_i]);
	ck_assert_uint_eq(t.diag.n_errors, 1);
	ck_assert_uint_eq(t.diag.entry[0].line, 3);
}
END_TEST

START_TEST(relative_amounts_do_not_overflow)
{
	char buf[64];

	cgroup_limit_text(parse("MemoryMax=100%"), CGROUP_MEMORY_MAX, UINT64_MAX - 1, buf);
	ck_assert_str_eq(buf, "18446744073709551614");
}
END_TEST

static Suite *cgroup_limits_suite(void)
{
	Suite *s = suite_create("cgroup_limits");
	TCase *tc = tcase_create("parse");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, limits_are_understood, 0, ELEMENTS(rows));
	tcase_add_loop_test(tc, limits_of_devices_are_understood, 0, ELEMENTS(devices));
	tcase_add_test(tc, cpus_and_nodes_are_lists_of_ranges);
	tcase_add_loop_test(tc, what_makes_no_sense_is_a_mistake, 0, ELEMENTS(refused));
	tcase_add_test(tc, relative_amounts_do_not_overflow);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(cgroup_limits_suite)
