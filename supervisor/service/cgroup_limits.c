/* SPDX-License-Identifier: MIT */
#include "service/cgroup_limits.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "service/spec_values.h"

#define PERMYRIAD 10000 /* 100 % */
#define WEIGHT_MAX 10000
/* The kernel's least. */
#define QUOTA_MIN (1 * USEC_PER_MSEC)
#define PERIOD_MIN (1 * USEC_PER_MSEC)
#define PERIOD_MAX (1 * USEC_PER_SEC)

static const struct {
	const char *key, *controller, *file;
} limits[] = {
	[CGROUP_MEMORY_MAX] = { "MemoryMax", "memory", "memory.max" },
	[CGROUP_MEMORY_HIGH] = { "MemoryHigh", "memory", "memory.high" },
	[CGROUP_MEMORY_LOW] = { "MemoryLow", "memory", "memory.low" },
	[CGROUP_MEMORY_MIN] = { "MemoryMin", "memory", "memory.min" },
	[CGROUP_MEMORY_SWAP_MAX] = { "MemorySwapMax", "memory", "memory.swap.max" },
	[CGROUP_MEMORY_ZSWAP_MAX] = { "MemoryZSwapMax", "memory", "memory.zswap.max" },
	[CGROUP_TASKS_MAX] = { "TasksMax", "pids", "pids.max" },
	[CGROUP_CPU_QUOTA] = { "CPUQuota", "cpu", "cpu.max" },
	[CGROUP_CPU_WEIGHT] = { "CPUWeight", "cpu", "cpu.weight" },
	[CGROUP_IO_WEIGHT] = { "IOWeight", "io", "io.weight" },
};
static_assert(ELEMENTS(limits) == CGROUP_LIMIT_COUNT, "a row for each limit");

const char *cgroup_limit_key(enum cgroup_limit limit)
{
	return limits[limit].key;
}

const char *cgroup_limit_controller(enum cgroup_limit limit)
{
	return limits[limit].controller;
}

const char *cgroup_limit_file(enum cgroup_limit limit)
{
	return limits[limit].file;
}

static uint64_t permyriad_of(uint64_t whole, uint64_t permyriad)
{
	return whole / PERMYRIAD * permyriad + whole % PERMYRIAD * permyriad / PERMYRIAD;
}

/* "QUOTA PERIOD", in microseconds. */
static void quota_text(const struct cgroup_limits *l, char buf[64])
{
	uint64_t quota = permyriad_of(l->cpu_period, l->limit[CGROUP_CPU_QUOTA].value);

	(void) snprintf(buf, 64, "%" PRIu64 " %" PRIu64, quota < QUOTA_MIN ? QUOTA_MIN : quota, l->cpu_period);
}

void cgroup_limit_text(const struct cgroup_limits *l, enum cgroup_limit limit, uint64_t whole, char buf[64])
{
	const struct cgroup_amount *a = &l->limit[limit];
	uint64_t value = a->is_relative ? permyriad_of(whole, a->value) : a->value;

	if (limit == CGROUP_CPU_QUOTA)
		quota_text(l, buf);
	else if (limit == CGROUP_IO_WEIGHT)
		(void) snprintf(buf, 64, "default %" PRIu64, value);
	else if (limit == CGROUP_CPU_WEIGHT && value == CGROUP_WEIGHT_IDLE)
		(void) snprintf(buf, 64, "idle");
	else if (value == CGROUP_INFINITY)
		(void) snprintf(buf, 64, "max");
	else
		/* relative to next to nothing, it is still something */
		(void) snprintf(buf, 64, "%" PRIu64, a->is_relative && value == 0 ? 1 : value);
}

/* ---- parsing ---- */

/* Made at the first key; NULL: no memory. */
static struct cgroup_limits *limits_of(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;
	struct cgroup_limits *made;

	if (!exec->cgroup) {
		made = arena_alloc(c->arena, sizeof(*made));
		if (made)
			made->cpu_period = CGROUP_PERIOD_DEFAULT;
		exec->cgroup = made;
	}
	return (struct cgroup_limits *) (uintptr_t) exec->cgroup;
}

/* "12%", "12.5%", "0.25%" → hundredths of a percent; 0: it is none, -ERANGE. */
static int parse_percent(const char *s, uint64_t *ret)
{
	uint64_t whole = 0, fraction = 0, scale = 100;
	size_t n = strspn(s, "0123456789");

	if (n == 0 || n > 12)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		whole = whole * 10 + (uint64_t) (s[i] - '0');
	s += n;
	if (*s == '.')
		for (s++; *s >= '0' && *s <= '9'; s++) {
			scale /= 10;
			if (scale == 0)
				return -EINVAL;
			fraction += (uint64_t) (*s - '0') * scale;
		}
	if (!str_equal(s, "%"))
		return -EINVAL;
	*ret = whole * 100 + fraction;
	return 0;
}

typedef int absolute_fn(const char *s, uint64_t *ret);

/* A number of its kind, a part of what the machine has, or infinity. False: none of them, or less than @least. */
static bool parse_amount(const char *s, absolute_fn *absolute, uint64_t least, struct cgroup_amount *ret)
{
	struct cgroup_amount a = { .is_set = true };

	if (str_equal(s, "infinity"))
		a.value = CGROUP_INFINITY;
	else if (str_ends(s, "%")) {
		a.is_relative = true;
		if (parse_percent(s, &a.value) < 0 || a.value > PERMYRIAD)
			return false;
	} else if (absolute(s, &a.value) < 0)
		return false;
	if (a.value < least)
		return false;
	*ret = a;
	return true;
}

static int absolute_number(const char *s, uint64_t *ret)
{
	return value_unsigned(s, UINT64_MAX - 1, ret);
}

static int parse_into(const struct key_context *c, absolute_fn *absolute, uint64_t least, const char *wanted)
{
	struct cgroup_limits *l = limits_of(c);
	struct cgroup_amount *a;

	if (!l)
		return -ENOMEM;
	a = &l->limit[c->row->parameter];
	if (!*c->assignment->value)
		*a = (struct cgroup_amount) { 0 };
	else if (!parse_amount(c->assignment->value, absolute, least, a))
		spec_refuse(c, wanted, c->assignment->value);
	return 0;
}

int cgroup_limits_parse_memory(const struct key_context *c)
{
	bool may_be_none = c->row->parameter != CGROUP_MEMORY_MAX && c->row->parameter != CGROUP_MEMORY_HIGH;

	return parse_into(c, value_size, may_be_none ? 0 : 1,
			  "wants bytes (suffixes K, M, G, T), a percentage of the machine's memory, or infinity");
}

int cgroup_limits_parse_tasks(const struct key_context *c)
{
	return parse_into(c, absolute_number, 1,
			  "wants a number of tasks from 1, a percentage of what the machine can have, or infinity");
}

int cgroup_limits_parse_quota(const struct key_context *c)
{
	struct cgroup_limits *l = limits_of(c);
	const char *value = c->assignment->value;
	struct cgroup_amount a = { .is_set = *value, .is_relative = true };

	if (!l)
		return -ENOMEM;
	if (*value && (parse_percent(value, &a.value) < 0 || a.value == 0)) {
		spec_refuse(c, "wants a percentage of the time of one CPU, like 20%", value);
		return 0;
	}
	l->limit[CGROUP_CPU_QUOTA] = a;
	return 0;
}

int cgroup_limits_parse_period(const struct key_context *c)
{
	struct cgroup_limits *l = limits_of(c);
	usec_t period = CGROUP_PERIOD_DEFAULT;

	if (!l)
		return -ENOMEM;
	if (*c->assignment->value &&
	    (value_span(c->assignment->value, &period) < 0 || period < PERIOD_MIN || period > PERIOD_MAX)) {
		spec_refuse(c, "wants a time span from 1ms to 1s", c->assignment->value);
		return 0;
	}
	l->cpu_period = period;
	return 0;
}

int cgroup_limits_parse_weight(const struct key_context *c)
{
	struct cgroup_limits *l = limits_of(c);
	const char *value = c->assignment->value;
	struct cgroup_amount a = { .is_set = *value };
	bool is_cpu = c->row->parameter == CGROUP_CPU_WEIGHT;

	if (!l)
		return -ENOMEM;
	if (is_cpu && str_equal(value, "idle"))
		a.value = CGROUP_WEIGHT_IDLE;
	else if (*value && (value_unsigned(value, WEIGHT_MAX, &a.value) < 0 || a.value == 0)) {
		spec_refuse(c, is_cpu ? "wants a number from 1 to 10000, or idle" : "wants a number from 1 to 10000", value);
		return 0;
	}
	l->limit[c->row->parameter] = a;
	return 0;
}

int cgroup_limits_parse_oom_policy(const struct key_context *c)
{
	static const char *const words[] = {
		[CGROUP_OOM_STOP] = "stop",
		[CGROUP_OOM_CONTINUE] = "continue",
		[CGROUP_OOM_KILL] = "kill",
	};
	const char *value = *c->assignment->value ? c->assignment->value : words[CGROUP_OOM_STOP];
	struct cgroup_limits *l = limits_of(c);

	if (!l)
		return -ENOMEM;
	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (str_equal(value, words[i])) {
			l->oom_policy = (enum cgroup_oom_policy) i;
			return 0;
		}
	spec_refuse(c, "wants stop, continue or kill", value);
	return 0;
}
