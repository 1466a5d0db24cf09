/* SPDX-License-Identifier: MIT */
#include "service/condition_private.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/values.h"

static const char *skip_blanks(const char *s)
{
	return s + strspn(s, " \t");
}

/* ---- versions and fields ---- */

int version_test_next(const char **p, bool is_first, struct arena *arena, struct version_test *ret)
{
	char *word;
	int r = value_word(p, VALUE_WORD_RAW, arena, &word);
	const char *s = word;

	if (r <= 0)
		return r;
	ret->comparison = comparison_read(&s);
	s = skip_blanks(s);
	if (ret->comparison == COMPARISON_NONE)
		ret->comparison = COMPARISON_GLOB;
	else if (!*s && is_first) {
		r = value_word(p, VALUE_WORD_RAW, arena, &word);
		if (r < 0)
			return r;
		s = r > 0 ? word : "";
	}
	if (!*s)
		return -EINVAL;
	ret->version = s;
	return 1;
}

static bool is_field_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static size_t field_length(const char *s)
{
	size_t n = 0;

	while (is_field_char(s[n]))
		n++;
	return n;
}

int field_test_next(const char **p, struct arena *arena, struct field_test *ret)
{
	char *word, *field;
	const char *s;
	size_t n;
	int r = value_word(p, VALUE_WORD_RAW, arena, &word);

	if (r <= 0)
		return r;
	n = field_length(word);
	s = word + n;
	ret->comparison = comparison_read(&s);
	if (n == 0 || ret->comparison == COMPARISON_NONE || !*s || *s == ' ' || *s == '\t')
		return -EINVAL;
	field = arena_strndup(arena, word, n);
	if (!field)
		return -ENOMEM;
	ret->field = field;
	ret->value = s;
	return 1;
}

int smbios_test_read(const char *s, struct arena *arena, struct field_test *ret)
{
	size_t n;
	const char *end;

	if (!str_starts(s, "smbios-field("))
		return -EINVAL;
	s = skip_blanks(s + strlen("smbios-field("));
	n = field_length(s);
	ret->field = arena_strndup(arena, s, n);
	s = skip_blanks(s + n);
	ret->comparison = comparison_read(&s);
	s = skip_blanks(s);
	end = strrchr(s, ')');
	if (n == 0 || ret->comparison == COMPARISON_NONE || !end || end == s || end[1])
		return -EINVAL;
	ret->value = arena_strndup(arena, s, (size_t) (end - s));
	return ret->field && ret->value ? 0 : -ENOMEM;
}

enum version_of version_of_read(const char **p)
{
	static const char *const names[] = {
		[VERSION_OF_KERNEL] = "kernel",
		[VERSION_OF_SYSTEMD] = "systemd",
		[VERSION_OF_GLIBC] = "glibc",
	};

	for (size_t i = 0; i < ELEMENTS(names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(*p, names[i], n) == 0 && (!(*p)[n] || strchr(" \t<>=!$", (*p)[n]))) {
			*p = skip_blanks(*p + n);
			return (enum version_of) i;
		}
	}
	return VERSION_OF_KERNEL;
}

/* ---- numbers ---- */

/* The operator; false for patterns. */
static bool operator_of_numbers(const char **p, enum comparison *ret)
{
	*ret = comparison_read(p);
	*p = skip_blanks(*p);
	if (*ret == COMPARISON_NONE)
		*ret = COMPARISON_GREATER_OR_SAME;
	return *ret != COMPARISON_GLOB && *ret != COMPARISON_NO_GLOB;
}

bool cpus_test_read(const char *s, struct number_test *ret)
{
	return operator_of_numbers(&s, &ret->comparison) &&
	       value_unsigned(s, UINT32_MAX, &ret->number) >= 0;
}

static bool read_digits(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t x = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(x, 10, &x) ||
		    __builtin_add_overflow(x, (uint64_t) (*s - '0'), &x))
			return false;
	if (s == *p)
		return false;
	*p = s;
	*ret = x;
	return true;
}

/* Behind a point: millionths, more digits than that do not count. */
static bool read_fraction(const char **p, uint64_t *ret)
{
	uint64_t x = 0, unit = 100000;
	const char *s = *p;

	for (; *s >= '0' && *s <= '9'; s++, unit /= 10)
		x += (uint64_t) (*s - '0') * unit;
	if (s == *p)
		return false;
	*p = s;
	*ret = x;
	return true;
}

bool memory_test_read(const char *s, struct number_test *ret)
{
	static const char suffixes[] = "BKMGTPE";
	uint64_t whole, fraction = 0, unit = 1;
	const char *suffix;

	if (!operator_of_numbers(&s, &ret->comparison) || !read_digits(&s, &whole))
		return false;
	if (*s == '.') {
		s++;
		if (!read_fraction(&s, &fraction))
			return false;
	}
	s = skip_blanks(s);
	suffix = *s ? strchr(suffixes, *s) : suffixes;
	if (!suffix || (*s && s[1]))
		return false;
	unit <<= 10 * (suffix - suffixes);
	if (__builtin_mul_overflow(whole, unit, &whole))
		return false;
	/* A part of the unit, without a product that overflows. */
	fraction = unit / 1000000 * fraction + unit % 1000000 * fraction / 1000000;
	return !__builtin_add_overflow(whole, fraction, &ret->number);
}

static bool read_limit(const char **p, unsigned *ret)
{
	uint64_t whole, fraction = 0;
	uint64_t scale = 100;

	if (!read_digits(p, &whole) || whole > 10000)
		return false;
	if (**p == '.') {
		(*p)++;
		if (!read_fraction(p, &fraction))
			return false;
	}
	if (str_starts(*p, "‰"))
		scale = 10;
	else if (str_starts(*p, "‱"))
		scale = 1;
	else if (**p != '%')
		return false;
	*p += scale == 100 ? 1 : strlen("‰");
	whole = whole * scale + fraction * scale / 1000000;
	*ret = (unsigned) whole;
	return whole <= 10000;
}

bool pressure_test_read(const char *s, struct pressure_test *ret)
{
	const char *colon = strchr(s, ':');
	usec_t window = 5 * 60 * USEC_PER_SEC;

	ret->has_slice = colon != NULL;
	if (colon) {
		if (colon == s || memchr(s, '/', (size_t) (colon - s)))
			return false;
		s = colon + 1;
	}
	s = skip_blanks(s);
	if (!read_limit(&s, &ret->limit))
		return false;
	s = skip_blanks(s);
	if (*s == '/' && value_span(skip_blanks(s + 1), &window) < 0)
		return false;
	if ((*s && *s != '/') || window % USEC_PER_SEC != 0)
		return false;
	ret->seconds = (unsigned) (window / USEC_PER_SEC);
	return window == 10 * USEC_PER_SEC || window == 60 * USEC_PER_SEC ||
	       window == 300 * USEC_PER_SEC;
}

/* ---- names ---- */

/* capabilities(7), in the order of their numbers. */
static const char *const capabilities[] = {
	"chown", "dac_override", "dac_read_search", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap",
	"linux_immutable", "net_bind_service", "net_broadcast", "net_admin", "net_raw", "ipc_lock", "ipc_owner",
	"sys_module", "sys_rawio", "sys_chroot", "sys_ptrace", "sys_pacct", "sys_admin", "sys_boot", "sys_nice",
	"sys_resource", "sys_time", "sys_tty_config", "mknod", "lease", "audit_write", "audit_control", "setfcap",
	"mac_override", "mac_admin", "syslog", "wake_alarm", "block_suspend", "audit_read", "perfmon", "bpf",
	"checkpoint_restore",
};

bool capability_read(const char *s, unsigned *ret)
{
	uint64_t number;

	if (value_unsigned(s, 62, &number) >= 0) {
		*ret = (unsigned) number;
		return true;
	}
	if (strncasecmp(s, "cap_", 4) != 0)
		return false;
	for (unsigned i = 0; i < ELEMENTS(capabilities); i++)
		if (strcasecmp(s + 4, capabilities[i]) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

bool controller_is_known(const char *word, size_t n)
{
	static const char *const names[] = {
		"cpu", "cpuacct", "cpuset", "io", "blkio", "memory", "devices", "pids",
		"bpf-firewall", "bpf-devices", "bpf-foreign", "bpf-socket-bind", "bpf-restrict-network-interfaces",
	};

	for (size_t i = 0; i < ELEMENTS(names); i++)
		if (strlen(names[i]) == n && memcmp(names[i], word, n) == 0)
			return true;
	return false;
}
