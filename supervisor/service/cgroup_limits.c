/* SPDX-License-Identifier: MIT */
#include "service/cgroup_limits.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "service/condition.h"
#include "service/spec_values.h"

#define PERMYRIAD 10000 /* 100 % */
#define WEIGHT_MAX 10000
/* The kernel's least. */
#define QUOTA_MIN (1 * USEC_PER_MSEC)
#define PERIOD_MIN (1 * USEC_PER_MSEC)
#define PERIOD_MAX (1 * USEC_PER_SEC)

static const struct {
	const char *key, *controller, *file;
	const char *word; /* before the value, in the line of a device */
} limits[] = {
	[CGROUP_MEMORY_MAX] = { "MemoryMax", "memory", "memory.max", NULL },
	[CGROUP_MEMORY_HIGH] = { "MemoryHigh", "memory", "memory.high", NULL },
	[CGROUP_MEMORY_LOW] = { "MemoryLow", "memory", "memory.low", NULL },
	[CGROUP_MEMORY_MIN] = { "MemoryMin", "memory", "memory.min", NULL },
	[CGROUP_MEMORY_SWAP_MAX] = { "MemorySwapMax", "memory", "memory.swap.max", NULL },
	[CGROUP_MEMORY_ZSWAP_MAX] = { "MemoryZSwapMax", "memory", "memory.zswap.max", NULL },
	[CGROUP_TASKS_MAX] = { "TasksMax", "pids", "pids.max", NULL },
	[CGROUP_CPU_QUOTA] = { "CPUQuota", "cpu", "cpu.max", NULL },
	[CGROUP_CPU_WEIGHT] = { "CPUWeight", "cpu", "cpu.weight", NULL },
	[CGROUP_IO_WEIGHT] = { "IOWeight", "io", "io.weight", NULL },
	[CGROUP_CPUS] = { "AllowedCPUs", "cpuset", "cpuset.cpus", NULL },
	[CGROUP_NODES] = { "AllowedMemoryNodes", "cpuset", "cpuset.mems", NULL },
	[CGROUP_IO_READ_BANDWIDTH] = { "IOReadBandwidthMax", "io", "io.max", "rbps=" },
	[CGROUP_IO_WRITE_BANDWIDTH] = { "IOWriteBandwidthMax", "io", "io.max", "wbps=" },
	[CGROUP_IO_READ_IOPS] = { "IOReadIOPSMax", "io", "io.max", "riops=" },
	[CGROUP_IO_WRITE_IOPS] = { "IOWriteIOPSMax", "io", "io.max", "wiops=" },
	[CGROUP_IO_DEVICE_WEIGHT] = { "IODeviceWeight", "io", "io.weight", "" },
	[CGROUP_IO_LATENCY] = { "IODeviceLatencyTargetSec", "io", "io.latency", "target=" },
};
static_assert(ELEMENTS(limits) == CGROUP_LIMIT_COUNT, "a row for each limit");

bool cgroup_limits_has(const struct cgroup_limits *l, enum cgroup_limit limit)
{
	if (limit < CGROUP_AMOUNT_COUNT)
		return l->limit[limit].is_set;
	if (limit == CGROUP_CPUS || limit == CGROUP_NODES)
		return (limit == CGROUP_CPUS ? l->cpus : l->nodes).n_words > 0;
	for (size_t i = 0; i < l->n_devices; i++)
		if (l->device[i].limit == limit)
			return true;
	return false;
}

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

	(void) snprintf(buf, 64, "%" PRIu64 " %" PRIu64, quota < QUOTA_MIN ? QUOTA_MIN : quota,
			l->cpu_period);
}

void cgroup_limit_text(const struct cgroup_limits *l, enum cgroup_limit limit, uint64_t whole,
		       char buf[64])
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

void cgroup_device_text(const struct cgroup_device *d, unsigned major, unsigned minor, char buf[64])
{
	const char *word = limits[d->limit].word;

	if (d->value == CGROUP_INFINITY)
		(void) snprintf(buf, 64, "%u:%u %smax", major, minor, word);
	else
		(void) snprintf(buf, 64, "%u:%u %s%" PRIu64, major, minor, word, d->value);
}

static bool has_bit(const struct exec_mask *mask, size_t i)
{
	const size_t n = sizeof(*mask->word) * CHAR_BIT;

	return i / n < mask->n_words && mask->word[i / n] >> i % n & 1;
}

char *cgroup_mask_text(const struct exec_mask *mask)
{
	size_t n = mask->n_words * sizeof(*mask->word) * CHAR_BIT, size = n * sizeof("8191,") + 1,
	       used = 0;
	char *text = malloc(size);

	if (!text)
		return NULL;
	*text = '\0';
	for (size_t i = 0; i < n; i++) {
		size_t first = i;

		if (!has_bit(mask, i))
			continue;
		while (has_bit(mask, i + 1))
			i++;
		used += (size_t) snprintf(text + used, size - used,
					  first < i ? "%s%zu-%zu" : "%s%zu", used > 0 ? "," : "",
					  first, i);
	}
	return text;
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

/* A number of its kind, a part of what the machine has, or infinity. False: none of them, or less
 * than @least. */
static bool parse_amount(const char *s, absolute_fn *absolute, uint64_t least,
			 struct cgroup_amount *ret)
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

static int parse_into(const struct key_context *c, absolute_fn *absolute, uint64_t least,
		      const char *wanted)
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
	bool may_be_none = c->row->parameter != CGROUP_MEMORY_MAX &&
			   c->row->parameter != CGROUP_MEMORY_HIGH;

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
	if (*c->assignment->value && (value_span(c->assignment->value, &period) < 0 ||
				      period < PERIOD_MIN || period > PERIOD_MAX)) {
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
		spec_refuse(c,
			    is_cpu ? "wants a number from 1 to 10000, or idle"
				   : "wants a number from 1 to 10000",
			    value);
		return 0;
	}
	l->limit[c->row->parameter] = a;
	return 0;
}

int cgroup_limits_parse_mask(const struct key_context *c)
{
	struct cgroup_limits *l = limits_of(c);

	return l ? spec_parse_mask(c, c->row->parameter == CGROUP_CPUS ? &l->cpus : &l->nodes)
		 : -ENOMEM;
}

static void drop_devices(struct cgroup_limits *l, enum cgroup_limit limit, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_devices; i++)
		if (l->device[i].limit != limit || (path && !str_equal(l->device[i].path, path)))
			l->device[kept++] = l->device[i];
	l->n_devices = kept;
}

/* The last word on a device counts. */
static int add_device(const struct key_context *c, const struct cgroup_device *d)
{
	struct cgroup_limits *l = limits_of(c);
	struct cgroup_device *grown;

	if (!l)
		return -ENOMEM;
	drop_devices(l, d->limit, d->path);
	grown = arena_grow(c->arena, l->device, l->n_devices, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->device = grown;
	grown[l->n_devices] = *d;
	grown[l->n_devices].path = arena_strdup(c->arena, d->path);
	return grown[l->n_devices++].path ? 0 : -ENOMEM;
}

/* Of disks one speaks by thousands. */
static bool device_value(enum cgroup_limit limit, const char *s, uint64_t *ret)
{
	if (limit == CGROUP_IO_DEVICE_WEIGHT)
		return value_unsigned(s, WEIGHT_MAX, ret) == 0 && *ret > 0;
	if (limit == CGROUP_IO_LATENCY)
		return value_span(s, ret) == 0 && *ret > 0;
	if (!str_equal(s, "infinity"))
		return value_size_1000(s, ret) == 0 && *ret > 0;
	*ret = CGROUP_INFINITY;
	return true;
}

static const char *device_wanted(enum cgroup_limit limit)
{
	if (limit == CGROUP_IO_DEVICE_WEIGHT)
		return "wants a device and a weight from 1 to 10000";
	return limit == CGROUP_IO_LATENCY
		       ? "wants a device and a time span"
		       : "wants a device and a number (suffixes K, M, G, T by 1000) or infinity";
}

/* "DEVICE VALUE" */
static int parse_device(const struct key_context *c, const char *at, struct arena *scratch,
			struct cgroup_device *d)
{
	char *path, *value;
	int r = value_word(&at, VALUE_WORD_RAW, scratch, &path);

	if (r > 0)
		r = value_word(&at, VALUE_WORD_RAW, scratch, &value);
	if (r > 0)
		r = *at == '\0' && device_value(d->limit, value, &d->value);
	if (r > 0) {
		r = spec_expand(c, path, &path);
		if (r < 0)
			return spec_reported(r);
		d->path = path;
		r = condition_path_read(path);
	}
	if (r == -ENOMEM)
		return r;
	if (r > 0)
		return add_device(c, d);
	spec_refuse(c, device_wanted(d->limit), c->assignment->value);
	return 0;
}

int cgroup_limits_parse_device(const struct key_context *c)
{
	struct cgroup_device d = { .limit = (enum cgroup_limit) c->row->parameter };
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct cgroup_limits *l;

	if (*c->assignment->value)
		return parse_device(c, c->assignment->value, &scratch, &d);
	l = limits_of(c);
	if (l)
		drop_devices(l, d.limit, NULL);
	return l ? 0 : -ENOMEM;
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
