/* SPDX-License-Identifier: MIT */
/* The keys behind struct exec_limits: a row a value. What systemd-analyze 252 takes is taken, and
 * the other way. */
#include "service/exec_limits.h"

#include <limits.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

#define NONE RLIM_INFINITY

static struct spec_text t;

static void teardown(void)
{
	spec_text_done(&t);
}

static const struct exec_limits *parse(const char *lines)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_ge(asprintf(&text, "ExecStart=/bin/true\n%s", lines), 0);
	spec_text_init_good(&t, text);
	ck_assert_ptr_nonnull(t.spec.exec->limits);
	return t.spec.exec->limits;
}

START_TEST(who_uses_none_of_them_has_none)
{
	spec_text_init_good(&t, "ExecStart=/bin/true\nNice=3");
	ck_assert_ptr_null(t.spec.exec->limits);
	ck_assert(t.spec.exec->ignore_sigpipe);
}
END_TEST

static const struct limit_row {
	const char *line;
	int resource;
	rlim_t soft, hard;
} limit_rows[] = {
	{ "LimitNOFILE=1024", RLIMIT_NOFILE, 1024, 1024 },
	{ "LimitNOFILE=1024:524288", RLIMIT_NOFILE, 1024, 524288 },
	{ "LimitNOFILE=infinity", RLIMIT_NOFILE, NONE, NONE },
	{ "LimitNOFILE=7:infinity", RLIMIT_NOFILE, 7, NONE },
	{ "LimitNPROC=0", RLIMIT_NPROC, 0, 0 },
	{ "LimitLOCKS=5", RLIMIT_LOCKS, 5, 5 },
	{ "LimitSIGPENDING=6", RLIMIT_SIGPENDING, 6, 6 },
	{ "LimitRTPRIO=7", RLIMIT_RTPRIO, 7, 7 },
	{ "LimitCPU=30", RLIMIT_CPU, 30, 30 },
	{ "LimitCPU=1min", RLIMIT_CPU, 60, 60 },
	{ "LimitCPU=10ms:1h", RLIMIT_CPU, 1, 3600 },
	{ "LimitCPU=1500ms", RLIMIT_CPU, 2, 2 },
	{ "LimitRTTIME=500", RLIMIT_RTTIME, 500, 500 },
	{ "LimitRTTIME=1s", RLIMIT_RTTIME, 1000000, 1000000 },
	{ "LimitFSIZE=1K", RLIMIT_FSIZE, 1024, 1024 },
	{ "LimitDATA=1M:1G", RLIMIT_DATA, 1 << 20, 1 << 30 },
	{ "LimitSTACK=8M", RLIMIT_STACK, 8 << 20, 8 << 20 },
	{ "LimitCORE=0:infinity", RLIMIT_CORE, 0, NONE },
	{ "LimitRSS=4096", RLIMIT_RSS, 4096, 4096 },
	{ "LimitAS=1.5G", RLIMIT_AS, 3ULL << 29, 3ULL << 29 },
	{ "LimitMEMLOCK=64K", RLIMIT_MEMLOCK, 65536, 65536 },
	{ "LimitMSGQUEUE=800K", RLIMIT_MSGQUEUE, 819200, 819200 },
	{ "LimitNICE=40", RLIMIT_NICE, 40, 40 },
	{ "LimitNICE=0", RLIMIT_NICE, 0, 0 },
	{ "LimitNICE=-20", RLIMIT_NICE, 40, 40 },
	{ "LimitNICE=+19", RLIMIT_NICE, 1, 1 },
	{ "LimitNICE=+0:-5", RLIMIT_NICE, 20, 25 },
	{ "LimitNOFILE=5\nLimitCPU=3\nLimitNOFILE=9", RLIMIT_NOFILE, 9, 9 },
};

START_TEST(limits_are_understood)
{
	const struct limit_row *row = &limit_rows[_i];
	const struct exec_limits *l = parse(row->line);
	const struct exec_rlimit *last = &l->rlimit[l->n_rlimits - 1];

	ck_assert_uint_ge(l->n_rlimits, 1);
	ck_assert_int_eq(last->resource, row->resource);
	ck_assert_uint_eq(last->soft, row->soft);
	ck_assert_uint_eq(last->hard, row->hard);
}
END_TEST

START_TEST(an_empty_limit_is_none)
{
	const struct exec_limits *l = parse("LimitNOFILE=5\nLimitCPU=3\nLimitNOFILE=");

	ck_assert_uint_eq(l->n_rlimits, 1);
	ck_assert_int_eq(l->rlimit[0].resource, RLIMIT_CPU);
}
END_TEST

static const char *const refused[] = {
	"LimitNOFILE=x", "LimitNOFILE=1K", "LimitNOFILE=-1", "LimitNOFILE=5:4", "LimitNOFILE=infinity:4", "LimitNOFILE=5:",
	"LimitNOFILE=:5", "LimitNOFILE=1:2:3", "LimitFSIZE=1X", "LimitFSIZE=K", "LimitFSIZE=99999999999999E",
	"LimitCPU=5 parsecs", "LimitNICE=41", "LimitNICE=-21", "LimitNICE=+20", "LimitNICE=+-1", "LimitRTTIME=soon",
	"OOMScoreAdjust=1001", "OOMScoreAdjust=-1001", "OOMScoreAdjust=a", "CoredumpFilter=everything",
	"CoredumpFilter=0xg", "CoredumpFilter=123456789", "IOSchedulingClass=fast", "IOSchedulingClass=4",
	"IOSchedulingPriority=8", "IOSchedulingPriority=-1", "CPUSchedulingPolicy=deadline2", "CPUSchedulingPriority=100",
	"CPUSchedulingPriority=-1", "CPUSchedulingResetOnFork=maybe", "CPUAffinity=a", "CPUAffinity=3-1",
	"CPUAffinity=1-", "CPUAffinity=8192", "CPUAffinity=1--2", "NUMAPolicy=near", "NUMAMask=x", "TimerSlackNSec=x",
	"TimerSlackNSec=-1", "Personality=pdp11", "IgnoreSIGPIPE=perhaps",
};

START_TEST(what_makes_no_sense_is_a_mistake)
{
	_cleanup_free_ char *text = NULL;

	ck_assert_int_ge(asprintf(&text, "ExecStart=/bin/true\n%s", refused[_i]), 0);
	spec_text_init(&t, text);
	ck_assert_uint_eq(t.diag.n_errors, 1);
	ck_assert_uint_eq(t.diag.entry[0].line, 3);
}
END_TEST

START_TEST(a_refused_limit_tells_what_is_wanted)
{
	spec_text_init(&t, "ExecStart=/bin/true\nLimitNOFILE=5:4\nCPUAffinity=one");
	ck_assert(spec_text_has(&t, DIAG_ERROR,
				"3: LimitNOFILE= wants a soft limit that is not above the hard one, not '5:4'"));
	ck_assert(spec_text_has(&t, DIAG_ERROR,
				"4: CPUAffinity= wants numbers and ranges like 0-3, up to 8191, not 'one'"));
}
END_TEST

START_TEST(oom_scores_are_understood)
{
	const struct exec_limits *l = parse("OOMScoreAdjust=-1000");

	ck_assert(l->has_oom_score_adjust);
	ck_assert_int_eq(l->oom_score_adjust, -1000);
	spec_text_done(&t);
	ck_assert(!parse("OOMScoreAdjust=5\nOOMScoreAdjust=")->has_oom_score_adjust);
}
END_TEST

static const struct mask_row {
	const char *lines;
	bool has;
	uint32_t mask;
} coredump_rows[] = {
	{ "CoredumpFilter=default", true, 0x33 },
	{ "CoredumpFilter=all", true, 0x1ff },
	{ "CoredumpFilter=private-anonymous shared-dax", true, 0x101 },
	{ "CoredumpFilter=0x33", true, 0x33 },
	{ "CoredumpFilter=7F", true, 0x7f },
	{ "CoredumpFilter=elf-headers\nCoredumpFilter=shared-anonymous", true, 0x12 },
	{ "CoredumpFilter=all\nCoredumpFilter=", false, 0 },
	{ "CoredumpFilter=all\nCoredumpFilter=\nCoredumpFilter=private-huge", true, 0x20 },
};

START_TEST(coredump_filters_add_up)
{
	const struct exec_limits *l = parse(coredump_rows[_i].lines);

	ck_assert_int_eq(l->has_coredump_filter, coredump_rows[_i].has);
	ck_assert_uint_eq(l->coredump_filter, coredump_rows[_i].mask);
}
END_TEST

static const struct io_row {
	const char *lines;
	bool has;
	int class, priority;
} io_rows[] = {
	{ "IOSchedulingClass=idle", true, IOPRIO_CLASS_IDLE, 4 },
	{ "IOSchedulingClass=best-effort", true, IOPRIO_CLASS_BE, 4 },
	{ "IOSchedulingClass=realtime\nIOSchedulingPriority=0", true, IOPRIO_CLASS_RT, 0 },
	{ "IOSchedulingClass=1", true, IOPRIO_CLASS_RT, 4 },
	{ "IOSchedulingPriority=7", true, IOPRIO_CLASS_BE, 7 },
	{ "IOSchedulingPriority=7\nIOSchedulingClass=none", true, IOPRIO_CLASS_NONE, 7 },
	{ "IOSchedulingPriority=7\nIOSchedulingClass=", false, IOPRIO_CLASS_BE, 7 },
	{ "IOSchedulingPriority=7\nIOSchedulingPriority=\nIOSchedulingClass=2", true, IOPRIO_CLASS_BE, 4 },
};

START_TEST(io_priorities_are_understood)
{
	const struct exec_limits *l = parse(io_rows[_i].lines);

	ck_assert_int_eq(l->has_io, io_rows[_i].has);
	ck_assert_int_eq(l->io_class, io_rows[_i].class);
	ck_assert_int_eq(l->io_priority, io_rows[_i].priority);
}
END_TEST

static const struct scheduler_row {
	const char *lines;
	bool has;
	int policy, priority;
	bool reset;
} scheduler_rows[] = {
	{ "CPUSchedulingPolicy=batch", true, SCHED_BATCH, 0, false },
	{ "CPUSchedulingPolicy=idle", true, SCHED_IDLE, 0, false },
	{ "CPUSchedulingPolicy=other", true, SCHED_OTHER, 0, false },
	{ "CPUSchedulingPolicy=fifo\nCPUSchedulingPriority=50", true, SCHED_FIFO, 50, false },
	{ "CPUSchedulingPriority=99\nCPUSchedulingPolicy=rr", true, SCHED_RR, 99, false },
	{ "CPUSchedulingResetOnFork=yes", true, SCHED_OTHER, 0, true },
	{ "CPUSchedulingPolicy=rr\nCPUSchedulingPolicy=", false, SCHED_OTHER, 0, false },
};

START_TEST(schedulers_are_understood)
{
	const struct scheduler_row *row = &scheduler_rows[_i];
	const struct exec_limits *l = parse(row->lines);

	ck_assert_int_eq(l->has_scheduler, row->has);
	ck_assert_int_eq(l->scheduler, row->policy);
	ck_assert_int_eq(l->scheduler_priority, row->priority);
	ck_assert_int_eq(l->scheduler_reset_on_fork, row->reset);
}
END_TEST

static const struct cpus_row {
	const char *lines, *cpus;
} cpus_rows[] = {
	{ "CPUAffinity=0", "0 " },
	{ "CPUAffinity=0-3", "0 1 2 3 " },
	{ "CPUAffinity=1,3 5-6", "1 3 5 6 " },
	{ "CPUAffinity=0\nCPUAffinity=64-65", "0 64 65 " },
	{ "CPUAffinity=0-63\nCPUAffinity=\nCPUAffinity=2", "2 " },
	{ "CPUAffinity=2\nCPUAffinity=", "" },
	{ "CPUAffinity=8191", "8191 " },
};

START_TEST(cpus_add_up)
{
	const struct exec_mask *cpus = &parse(cpus_rows[_i].lines)->cpus;
	char got[256] = "";
	size_t n = 0;

	for (size_t i = 0; i < cpus->n_words * sizeof(unsigned long) * CHAR_BIT; i++)
		if (cpus->word[i / (sizeof(unsigned long) * CHAR_BIT)] >> i % (sizeof(unsigned long) * CHAR_BIT) & 1)
			n += (size_t) snprintf(got + n, sizeof(got) - n, "%zu ", i);
	ck_assert_str_eq(got, cpus_rows[_i].cpus);
}
END_TEST

START_TEST(cpus_may_be_those_of_memory_nodes)
{
	ck_assert(parse("CPUAffinity=0\nCPUAffinity=numa")->cpus_of_nodes);
	ck_assert_uint_eq(t.spec.exec->limits->cpus.n_words, 0);
	spec_text_done(&t);
	ck_assert(!parse("CPUAffinity=numa\nCPUAffinity=0")->cpus_of_nodes);
}
END_TEST

START_TEST(memory_policies_are_understood)
{
	const struct exec_limits *l = parse("NUMAPolicy=bind\nNUMAMask=0-1");

	ck_assert(l->has_numa_policy);
	ck_assert_int_eq(l->numa_policy, MPOL_BIND);
	ck_assert_uint_eq(l->numa_nodes.word[0], 3);
	spec_text_done(&t);
	l = parse("NUMAPolicy=interleave\nNUMAMask=all");
	ck_assert(l->all_numa_nodes);
	spec_text_done(&t);
	ck_assert(!parse("NUMAPolicy=local\nNUMAPolicy=")->has_numa_policy);
}
END_TEST

START_TEST(timer_slack_counts_nanoseconds)
{
	ck_assert_uint_eq(parse("TimerSlackNSec=50")->timer_slack, 50);
	spec_text_done(&t);
	ck_assert_uint_eq(parse("TimerSlackNSec=1us")->timer_slack, 1000);
	spec_text_done(&t);
	ck_assert(!parse("TimerSlackNSec=1ms\nTimerSlackNSec=")->has_timer_slack);
}
END_TEST

START_TEST(personalities_are_this_machines)
{
#ifdef __x86_64__
	ck_assert_uint_eq(parse("Personality=x86")->personality, PER_LINUX32);
	spec_text_done(&t);
	ck_assert_uint_eq(parse("Personality=x86-64")->personality, PER_LINUX);
	spec_text_done(&t);
#endif
	ck_assert(!parse("Personality=")->has_personality);
}
END_TEST

START_TEST(sigpipe_can_be_had_back)
{
	spec_text_init_good(&t, "ExecStart=/bin/true\nIgnoreSIGPIPE=no");
	ck_assert(!t.spec.exec->ignore_sigpipe);
	spec_text_done(&t);
	spec_text_init_good(&t, "ExecStart=/bin/true\nIgnoreSIGPIPE=no\nIgnoreSIGPIPE=");
	ck_assert(t.spec.exec->ignore_sigpipe);
}
END_TEST

static Suite *spec_limits_suite(void)
{
	Suite *s = suite_create("spec_limits");
	TCase *tc = tcase_create("parse");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_test(tc, who_uses_none_of_them_has_none);
	tcase_add_loop_test(tc, limits_are_understood, 0, ELEMENTS(limit_rows));
	tcase_add_test(tc, an_empty_limit_is_none);
	tcase_add_loop_test(tc, what_makes_no_sense_is_a_mistake, 0, ELEMENTS(refused));
	tcase_add_test(tc, a_refused_limit_tells_what_is_wanted);
	tcase_add_test(tc, oom_scores_are_understood);
	tcase_add_loop_test(tc, coredump_filters_add_up, 0, ELEMENTS(coredump_rows));
	tcase_add_loop_test(tc, io_priorities_are_understood, 0, ELEMENTS(io_rows));
	tcase_add_loop_test(tc, schedulers_are_understood, 0, ELEMENTS(scheduler_rows));
	tcase_add_loop_test(tc, cpus_add_up, 0, ELEMENTS(cpus_rows));
	tcase_add_test(tc, cpus_may_be_those_of_memory_nodes);
	tcase_add_test(tc, memory_policies_are_understood);
	tcase_add_test(tc, timer_slack_counts_nanoseconds);
	tcase_add_test(tc, personalities_are_this_machines);
	tcase_add_test(tc, sigpipe_can_be_had_back);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(spec_limits_suite)
