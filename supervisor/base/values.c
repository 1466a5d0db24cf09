/* SPDX-License-Identifier: MIT */
#include "base/values.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/timespan.h"

int value_bool(const char *s, bool *ret)
{
	static const char *const words[2][6] = {
		{"0", "no", "n", "false", "f", "off"},
		{"1", "yes", "y", "true", "t", "on"},
	};

	for (size_t i = 0; i < ELEMENTS(words[0]); i++)
		for (int value = 0; value < 2; value++)
			if (strcasecmp(s, words[value][i]) == 0) {
				*ret = value;
				return 0;
			}
	return -EINVAL;
}

/* Digits of @base and nothing else. A number too large still has to be a number. */
static int parse_digits(const char *s, unsigned base, uint64_t max, uint64_t *ret)
{
	uint64_t value = 0;
	bool too_large = false;

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		uint64_t digit = (uint64_t) (unsigned char) *s - '0';

		if (digit >= base)
			return -EINVAL;
		if (value > (UINT64_MAX - digit) / base)
			too_large = true;
		else
			value = value * base + digit;
	}
	if (too_large || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int value_unsigned(const char *s, uint64_t max, uint64_t *ret)
{
	return parse_digits(s, 10, max, ret);
}

int value_signed(const char *s, int64_t min, int64_t max, int64_t *ret)
{
	bool negative = *s == '-';
	uint64_t magnitude;
	int64_t value;
	int r;

	if (*s == '-' || *s == '+')
		s++;
	r = parse_digits(s, 10, negative ? (uint64_t) INT64_MAX + 1 : (uint64_t) INT64_MAX,
			 &magnitude);
	if (r < 0)
		return r;
	value = (int64_t) (negative ? -magnitude : magnitude);
	if (value < min || value > max)
		return -ERANGE;
	*ret = value;
	return 0;
}

int value_mode(const char *s, mode_t *ret)
{
	uint64_t mode;
	int r;

	r = parse_digits(s, 8, 07777, &mode);
	if (r < 0)
		return r;
	*ret = (mode_t) mode;
	return 0;
}

/* The suffix at *@s, as a shift; -1: none that is known. */
static int take_suffix(const char **s)
{
	static const char suffixes[] = "BKMGTPE";
	const char *at;

	if (!**s || **s == ' ')
		return 0;
	at = strchr(suffixes, **s);
	if (!at)
		return -1;
	(*s)++;
	return 10 * (int) (at - suffixes);
}

/* "12" or "1.5" at *@s, shifted left by the suffix that follows; of a fraction what makes whole
 * bytes. */
static int take_size(const char **s, int *shift, uint64_t *ret)
{
	uint64_t whole = 0, fraction = 0, scale = 1;
	const char *begin = *s;

	for (; **s >= '0' && **s <= '9'; (*s)++) {
		uint64_t digit = (uint64_t) (**s - '0');

		if (whole > (UINT64_MAX - digit) / 10)
			return -ERANGE;
		whole = whole * 10 + digit;
	}
	if (*s == begin)
		return -EINVAL;
	if (**s == '.')
		for ((*s)++; **s >= '0' && **s <= '9'; (*s)++)
			if (scale <= 1000000) {
				fraction = fraction * 10 + (uint64_t) (**s - '0');
				scale *= 10;
			}
	*s += strspn(*s, " ");
	*shift = take_suffix(s);
	if (*shift < 0)
		return -EINVAL;
	if (whole > UINT64_MAX >> *shift)
		return -ERANGE;
	/* Below 2^24 each, the product fits up to 2^40; larger units lose what is finer. */
	*ret = whole << *shift;
	if (*shift <= 40)
		*ret += (fraction << *shift) / scale;
	else
		*ret += ((fraction << 40) / scale) << (*shift - 40);
	return 0;
}

int value_size(const char *s, uint64_t *ret)
{
	uint64_t sum = 0, part;
	int shift, before = INT_MAX, r;

	s += strspn(s, " ");
	do {
		r = take_size(&s, &shift, &part);
		if (r < 0)
			return r;
		/* "1G 512M", from the largest down */
		if (shift >= before)
			return -EINVAL;
		if (sum > UINT64_MAX - part)
			return -ERANGE;
		before = shift;
		sum += part;
		s += strspn(s, " ");
	} while (*s);
	*ret = sum;
	return 0;
}

static bool take_thousands(const char *s, uint64_t *ret)
{
	static const char suffixes[] = "KMGTPE";
	const char *at = *s ? strchr(suffixes, *s) : NULL;

	*ret = 1;
	if (!*s || str_equal(s, "B"))
		return true;
	for (const char *p = suffixes; at && p <= at; p++)
		*ret *= 1000;
	return at && s[1] == '\0';
}

int value_size_1000(const char *s, uint64_t *ret)
{
	size_t n = strspn(s, "0123456789"), m = s[n] == '.' ? strspn(s + n + 1, "0123456789") : 0;
	const char *digit = s + n + 1;
	uint64_t whole = 0, unit, fraction = 0;
	char number[24];

	if (n == 0 || n >= sizeof(number) || (s[n] == '.' && m == 0) ||
	    !take_thousands(s + n + (m > 0 ? m + 1 : 0), &unit))
		return -EINVAL;
	memcpy(number, s, n);
	number[n] = '\0';
	if (value_unsigned(number, UINT64_MAX / unit, &whole) < 0)
		return -ERANGE;
	for (uint64_t part = unit / 10; m > 0 && part > 0; m--, part /= 10)
		fraction += (uint64_t) (*digit++ - '0') * part;
	if (fraction > UINT64_MAX - whole * unit)
		return -ERANGE;
	*ret = whole * unit + fraction;
	return 0;
}

int value_span(const char *s, usec_t *ret)
{
	return timespan_parse(s, ret, NULL) < 0 ? -EINVAL : 0;
}

/* ---- signals ---- */

static const struct {
	int number;
	const char *name;
} signals[] = {
	{ SIGHUP, "HUP" },       { SIGINT, "INT" },   { SIGQUIT, "QUIT" },
	{ SIGILL, "ILL" },       { SIGTRAP, "TRAP" }, { SIGABRT, "ABRT" },
	{ SIGBUS, "BUS" },       { SIGFPE, "FPE" },   { SIGKILL, "KILL" },
	{ SIGUSR1, "USR1" },     { SIGSEGV, "SEGV" }, { SIGUSR2, "USR2" },
	{ SIGPIPE, "PIPE" },     { SIGALRM, "ALRM" }, { SIGTERM, "TERM" },
#ifdef SIGSTKFLT
	{ SIGSTKFLT, "STKFLT" },
#endif
	{ SIGCHLD, "CHLD" },     { SIGCONT, "CONT" }, { SIGSTOP, "STOP" },
	{ SIGTSTP, "TSTP" },     { SIGTTIN, "TTIN" }, { SIGTTOU, "TTOU" },
	{ SIGURG, "URG" },       { SIGXCPU, "XCPU" }, { SIGXFSZ, "XFSZ" },
	{ SIGVTALRM, "VTALRM" }, { SIGPROF, "PROF" }, { SIGWINCH, "WINCH" },
	{ SIGIO, "IO" },         { SIGPWR, "PWR" },   { SIGSYS, "SYS" },
};

/* "RTMIN", "RTMIN+3", "RTMAX-2" */
static int parse_realtime_signal(const char *s, int *ret)
{
	const int last = SIGRTMAX - SIGRTMIN;
	bool from_max = str_starts(s, "RTMAX");
	uint64_t offset = 0;
	int r;

	if (!from_max && !str_starts(s, "RTMIN"))
		return -EINVAL;
	s += strlen("RTMIN");
	if (*s) {
		if (*s != (from_max ? '-' : '+'))
			return -EINVAL;
		r = value_unsigned(s + 1, (uint64_t) last, &offset);
		if (r < 0)
			return r;
	}
	*ret = from_max ? SIGRTMAX - (int) offset : SIGRTMIN + (int) offset;
	return 0;
}

int value_signal(const char *s, int *ret)
{
	uint64_t number;
	int r;

	r = value_unsigned(s, (uint64_t) SIGRTMAX, &number);
	if (r == 0 && number == 0)
		return -ERANGE;
	if (r == 0)
		*ret = (int) number;
	if (r != -EINVAL)
		return r;

	if (str_starts(s, "SIG"))
		s += strlen("SIG");
	for (size_t i = 0; i < ELEMENTS(signals); i++)
		if (str_equal(s, signals[i].name)) {
			*ret = signals[i].number;
			return 0;
		}
	return parse_realtime_signal(s, ret);
}

const char *value_signal_name(int signal, char buf[16])
{
	for (size_t i = 0; i < ELEMENTS(signals); i++)
		if (signal == signals[i].number)
			return signals[i].name;
	if (signal >= SIGRTMIN && signal <= SIGRTMAX)
		(void) snprintf(buf, 16, "RTMIN+%d", signal - SIGRTMIN);
	else
		(void) snprintf(buf, 16, "%d", signal);
	return buf;
}
