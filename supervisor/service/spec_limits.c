/* SPDX-License-Identifier: MIT */
#include "service/spec_limits.h"

#include <errno.h>
#include <limits.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "base/usec.h"
#include "base/values.h"
#include "service/exec_limits.h"
#include "service/spec_values.h"

/* More than any kernel's NR_CPUS and MAX_NUMNODES. */
#define BITS_MAX 8192
#define BITS_PER_WORD (sizeof(unsigned long) * CHAR_BIT)
/* RLIMIT_NICE counts from 0 (nice 20, which there is not) to 40 (nice -20) */
#define NICE_LEVELS 40
#define NICE_ZERO 20

/* The limits of the spec, made at the first key; NULL: no memory. */
static struct exec_limits *limits_of(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;

	if (!exec->limits)
		exec->limits = arena_alloc(c->arena, sizeof(*exec->limits));
	return (struct exec_limits *) (uintptr_t) exec->limits;
}

/* A row of words, each standing for a number. */
struct word {
	const char *word;
	int value;
};

/* By its word, or, if @max is not negative, as a number up to that. */
static bool find_word(const struct word *list, size_t n, const char *text, int max, int *ret)
{
	uint64_t number;

	for (size_t i = 0; i < n; i++)
		if (str_equal(text, list[i].word)) {
			*ret = list[i].value;
			return true;
		}
	if (max < 0 || value_unsigned(text, (uint64_t) max, &number) < 0)
		return false;
	*ret = (int) number;
	return true;
}

/* ---- Limit…= ---- */

typedef int limit_fn(const char *s, uint64_t *ret);

static int limit_number(const char *s, uint64_t *ret)
{
	return value_unsigned(s, UINT64_MAX, ret);
}

static int limit_seconds(const char *s, uint64_t *ret)
{
	usec_t span;

	if (timespan_parse(s, &span, NULL) < 0)
		return -EINVAL;
	/* The kernel counts whole seconds; less than one is not none. */
	*ret = span / USEC_PER_SEC + (span % USEC_PER_SEC > 0);
	return 0;
}

static int limit_usec(const char *s, uint64_t *ret)
{
	return timespan_parse_unit(s, 1, ret, NULL);
}

/* With a sign, a nice level; else the limit as the kernel counts it. */
static int limit_nice(const char *s, uint64_t *ret)
{
	uint64_t n;
	int r;

	if (*s != '+' && *s != '-')
		return value_unsigned(s, NICE_LEVELS, ret);
	r = value_unsigned(s + 1, *s == '+' ? NICE_ZERO - 1 : NICE_ZERO, &n);
	if (r < 0)
		return r;
	*ret = *s == '+' ? NICE_ZERO - n : NICE_ZERO + n;
	return 0;
}

static int one_limit(const char *s, limit_fn *parse, uint64_t *ret)
{
	if (!str_equal(s, "infinity"))
		return parse(s, ret);
	*ret = RLIM_INFINITY;
	return 0;
}

/* "soft:hard", or one value for both. */
static int parse_pair(const char *value, limit_fn *parse, struct arena *scratch, uint64_t *ret_soft,
		      uint64_t *ret_hard)
{
	const char *colon = strchr(value, ':');
	char *soft;
	int r;

	if (!colon) {
		r = one_limit(value, parse, ret_soft);
		if (r >= 0)
			*ret_hard = *ret_soft;
		return r;
	}
	soft = arena_strndup(scratch, value, (size_t) (colon - value));
	if (!soft)
		return -ENOMEM;
	r = one_limit(soft, parse, ret_soft);
	if (r >= 0)
		r = one_limit(colon + 1, parse, ret_hard);
	return r;
}

static void drop_limit(struct exec_limits *l, int resource)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_rlimits; i++)
		if (l->rlimit[i].resource != resource)
			l->rlimit[kept++] = l->rlimit[i];
	l->n_rlimits = kept;
}

static int add_limit(struct arena *arena, struct exec_limits *l, const struct exec_rlimit *limit)
{
	struct exec_rlimit *grown;

	drop_limit(l, limit->resource);
	grown = arena_grow(arena, l->rlimit, l->n_rlimits, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[l->n_rlimits++] = *limit;
	l->rlimit = grown;
	return 0;
}

static int parse_limit(const struct key_context *c, limit_fn *parse, const char *wanted)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct exec_rlimit limit = { .resource = (int) c->row->parameter };
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	int r;

	if (!l)
		return -ENOMEM;
	if (!*value) {
		drop_limit(l, limit.resource);
		return 0;
	}
	r = parse_pair(value, parse, &scratch, &limit.soft, &limit.hard);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		spec_refuse(c, wanted, value);
		return 0;
	}
	if (limit.soft > limit.hard) {
		spec_refuse(c, "wants a soft limit that is not above the hard one", value);
		return 0;
	}
	return add_limit(c->arena, l, &limit);
}

int spec_parse_limit_number(const struct key_context *c)
{
	return parse_limit(c, limit_number,
			   "wants a number or infinity, or two of them, SOFT:HARD");
}

int spec_parse_limit_size(const struct key_context *c)
{
	return parse_limit(
		c, value_size,
		"wants bytes (suffixes K, M, G, T) or infinity, or two of them, SOFT:HARD");
}

int spec_parse_limit_seconds(const struct key_context *c)
{
	return parse_limit(c, limit_seconds,
			   "wants a time span or infinity, or two of them, SOFT:HARD");
}

int spec_parse_limit_usec(const struct key_context *c)
{
	return parse_limit(
		c, limit_usec,
		"wants a time span (in microseconds without a unit) or infinity, or SOFT:HARD");
}

int spec_parse_limit_nice(const struct key_context *c)
{
	return parse_limit(
		c, limit_nice,
		"wants a nice level from -20 to +19, signed, or a number up to 40, or SOFT:HARD");
}

/* ---- what the kernel does when memory is short, and when a process crashes ---- */

int spec_parse_oom_score(const struct key_context *c)
{
	struct exec_limits *l = limits_of(c);
	int64_t score = 0;

	if (!l)
		return -ENOMEM;
	if (*c->assignment->value && value_signed(c->assignment->value, -1000, 1000, &score) < 0) {
		spec_refuse(c, "wants a number from -1000 to 1000", c->assignment->value);
		return 0;
	}
	l->oom_score_adjust = (int) score;
	l->has_oom_score_adjust = *c->assignment->value != '\0';
	return 0;
}

/* Hexadecimal, with or without 0x, as core(5) shows it. */
static bool coredump_mask(const char *s, uint32_t *ret)
{
	uint32_t mask = 0;

	if (str_starts(s, "0x") || str_starts(s, "0X"))
		s += 2;
	if (!*s || strlen(s) > 8)
		return false;
	for (; *s; s++) {
		static const char digits[] = "0123456789abcdef";
		const char *at = strchr(digits, *s >= 'A' && *s <= 'F' ? *s - 'A' + 'a' : *s);

		if (!at)
			return false;
		mask = mask << 4 | (uint32_t) (at - digits);
	}
	*ret = mask;
	return true;
}

static bool coredump_bits(const char *word, uint32_t *ret)
{
	static const struct word words[] = {
		{ "private-anonymous", 1 << 0 },
		{ "shared-anonymous", 1 << 1 },
		{ "private-file-backed", 1 << 2 },
		{ "shared-file-backed", 1 << 3 },
		{ "elf-headers", 1 << 4 },
		{ "private-huge", 1 << 5 },
		{ "shared-huge", 1 << 6 },
		{ "private-dax", 1 << 7 },
		{ "shared-dax", 1 << 8 },
		{ "default", 0x33 },
		{ "all", 0x1ff },
	};
	int bits;

	if (!find_word(words, ELEMENTS(words), word, -1, &bits))
		return coredump_mask(word, ret);
	*ret = (uint32_t) bits;
	return true;
}

int spec_parse_coredump_filter(const struct key_context *c)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	const char *at = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	char *word;
	int r;

	if (!l)
		return -ENOMEM;
	l->has_coredump_filter = *at;
	if (!*at)
		l->coredump_filter = 0;
	while ((r = value_word(&at, VALUE_WORD_RAW, &scratch, &word)) > 0) {
		uint32_t bits = 0;

		if (!coredump_bits(word, &bits))
			spec_refuse(
				c,
				"wants types of mappings (private-anonymous …), all, default, or a hexadecimal mask",
				word);
		l->coredump_filter |= bits;
	}
	if (r == -EINVAL)
		spec_refuse(c, "wants balanced quotes", c->assignment->value);
	return r == -ENOMEM ? r : 0;
}

/* ---- scheduling ---- */

/* A class alone has the middle priority, a priority alone is of the class best-effort. */
static void note_io(struct exec_limits *l)
{
	if (!l->has_io) {
		l->io_class = IOPRIO_CLASS_BE;
		l->io_priority = 4;
	}
	l->has_io = true;
}

int spec_parse_io_class(const struct key_context *c)
{
	static const struct word words[] = {
		{ "none", IOPRIO_CLASS_NONE },
		{ "realtime", IOPRIO_CLASS_RT },
		{ "best-effort", IOPRIO_CLASS_BE },
		{ "idle", IOPRIO_CLASS_IDLE },
	};
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	int class;

	if (!l)
		return -ENOMEM;
	if (!*value)
		l->has_io = false;
	else if (!find_word(words, ELEMENTS(words), value, IOPRIO_CLASS_IDLE, &class))
		spec_refuse(c, "wants none, realtime, best-effort or idle", value);
	else {
		note_io(l);
		l->io_class = class;
	}
	return 0;
}

int spec_parse_io_priority(const struct key_context *c)
{
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	uint64_t priority;

	if (!l)
		return -ENOMEM;
	if (!*value)
		l->has_io = false;
	else if (value_unsigned(value, 7, &priority) < 0)
		spec_refuse(c, "wants a number from 0 (the highest) to 7", value);
	else {
		note_io(l);
		l->io_priority = (int) priority;
	}
	return 0;
}

int spec_parse_scheduler(const struct key_context *c)
{
	static const struct word words[] = {
		{ "other", SCHED_OTHER }, { "batch", SCHED_BATCH }, { "idle", SCHED_IDLE },
		{ "fifo", SCHED_FIFO },   { "rr", SCHED_RR },
	};
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);

	if (!l)
		return -ENOMEM;
	l->scheduler = SCHED_OTHER;
	l->has_scheduler = *value;
	if (*value && !find_word(words, ELEMENTS(words), value, -1, &l->scheduler))
		spec_refuse(c, "wants other, batch, idle, fifo or rr", value);
	return 0;
}

int spec_parse_scheduler_priority(const struct key_context *c)
{
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	uint64_t priority = 0;

	if (!l)
		return -ENOMEM;
	if (*value && value_unsigned(value, 99, &priority) < 0)
		spec_refuse(c, "wants a number from 1 to 99 (the highest)", value);
	l->scheduler_priority = (int) priority;
	l->has_scheduler |= *value != '\0';
	return 0;
}

int spec_parse_scheduler_reset(const struct key_context *c)
{
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	bool reset = false;

	if (!l)
		return -ENOMEM;
	if (*value && value_bool(value, &reset) < 0)
		spec_refuse(c, "wants yes or no", value);
	l->scheduler_reset_on_fork = reset;
	l->has_scheduler |= *value != '\0';
	return 0;
}

/* ---- CPUs and memory nodes ---- */

static int mask_add(struct arena *arena, struct exec_mask *mask, uint64_t first, uint64_t last)
{
	size_t n = last / BITS_PER_WORD + 1;

	if (n > mask->n_words) {
		unsigned long *grown = arena_alloc(arena, n * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		if (mask->n_words > 0)
			memcpy(grown, mask->word, mask->n_words * sizeof(*grown));
		*mask = (struct exec_mask) { grown, n };
	}
	for (uint64_t i = first; i <= last; i++)
		mask->word[i / BITS_PER_WORD] |= 1UL << i % BITS_PER_WORD;
	return 0;
}

/* "3" or "1-4". */
static bool parse_range(char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	char *dash = strchr(text, '-');

	if (!dash) {
		if (value_unsigned(text, BITS_MAX - 1, ret_first) < 0)
			return false;
		*ret_last = *ret_first;
		return true;
	}
	*dash = '\0';
	return value_unsigned(text, BITS_MAX - 1, ret_first) == 0 &&
	       value_unsigned(dash + 1, BITS_MAX - 1, ret_last) == 0 && *ret_first <= *ret_last;
}

static int parse_mask(const struct key_context *c, struct exec_mask *mask)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	char *text = arena_strdup(&scratch, c->assignment->value), *item, *state = NULL;

	if (!text)
		return -ENOMEM;
	for (item = strtok_r(text, " \t\r\n,", &state); item;
	     item = strtok_r(NULL, " \t\r\n,", &state)) {
		uint64_t first, last;

		if (!parse_range(item, &first, &last)) {
			spec_refuse(c, "wants numbers and ranges like 0-3, up to 8191",
				    c->assignment->value);
			return 0;
		}
		if (mask_add(c->arena, mask, first, last) < 0)
			return -ENOMEM;
	}
	return 0;
}

int spec_parse_mask(const struct key_context *c, struct exec_mask *mask)
{
	if (*c->assignment->value)
		return parse_mask(c, mask);
	*mask = (struct exec_mask) { 0 };
	return 0;
}

int spec_parse_cpus(const struct key_context *c)
{
	struct exec_limits *l = limits_of(c);

	if (!l)
		return -ENOMEM;
	l->cpus_of_nodes = str_equal(c->assignment->value, "numa");
	if (!l->cpus_of_nodes)
		return spec_parse_mask(c, &l->cpus);
	l->cpus = (struct exec_mask) { 0 };
	return 0;
}

int spec_parse_numa_policy(const struct key_context *c)
{
	static const struct word words[] = {
		{ "default", MPOL_DEFAULT }, { "preferred", MPOL_PREFERRED }, { "bind", MPOL_BIND },
		{ "interleave", MPOL_INTERLEAVE }, { "local", MPOL_LOCAL },
	};
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);

	if (!l)
		return -ENOMEM;
	l->has_numa_policy = *value;
	if (*value && !find_word(words, ELEMENTS(words), value, -1, &l->numa_policy))
		spec_refuse(c, "wants default, preferred, bind, interleave or local", value);
	return 0;
}

int spec_parse_numa_nodes(const struct key_context *c)
{
	struct exec_limits *l = limits_of(c);

	if (!l)
		return -ENOMEM;
	l->all_numa_nodes = str_equal(c->assignment->value, "all");
	if (!l->all_numa_nodes)
		return spec_parse_mask(c, &l->numa_nodes);
	l->numa_nodes = (struct exec_mask) { 0 };
	return 0;
}

/* ---- others ---- */

int spec_parse_timer_slack(const struct key_context *c)
{
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);

	if (!l)
		return -ENOMEM;
	l->has_timer_slack = *value;
	if (*value && timespan_parse_nsec(value, &l->timer_slack, NULL) < 0)
		spec_refuse(c, "wants a time span, in nanoseconds without a unit", value);
	return 0;
}

/* What a machine of this kind can be: itself, and its ancestor of 32 bits. */
int spec_parse_personality(const struct key_context *c)
{
	static const struct word words[] = {
#if defined(__x86_64__)
		{ "x86-64", PER_LINUX }, { "x86", PER_LINUX32 },
#elif defined(__i386__)
		{ "x86", PER_LINUX },
#elif defined(__aarch64__) && defined(__AARCH64EB__)
		{ "arm64-be", PER_LINUX }, { "arm-be", PER_LINUX32 },
#elif defined(__aarch64__)
		{ "arm64", PER_LINUX }, { "arm", PER_LINUX32 },
#elif defined(__s390x__)
		{ "s390x", PER_LINUX }, { "s390", PER_LINUX32 },
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
		{ "ppc64-le", PER_LINUX }, { "ppc-le", PER_LINUX32 },
#elif defined(__powerpc64__)
		{ "ppc64", PER_LINUX }, { "ppc", PER_LINUX32 },
#endif
		{ "", PER_LINUX },
	};
	const char *value = c->assignment->value;
	struct exec_limits *l = limits_of(c);
	int personality;

	if (!l)
		return -ENOMEM;
	if (!find_word(words, ELEMENTS(words), value, -1, &personality)) {
		spec_refuse(c, "wants an architecture that this machine can be, like x86", value);
		return 0;
	}
	l->personality = (unsigned long) personality;
	l->has_personality = *value;
	return 0;
}
