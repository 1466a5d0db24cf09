/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- UTF-8 ---- */

/* Length of the valid sequence at @s, 0 if it is none. Bounds of the second byte rule out overlong
 * forms, surrogates and what lies above U+10FFFF (RFC 3629, section 4). */
static size_t sequence_length(const uint8_t *s, size_t n)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (length > n)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static bool is_ascii_word(const char *s)
{
	uint64_t word;

	memcpy(&word, s, sizeof(word));
	return (word & UINT64_C(0x8080808080808080)) == 0;
}

size_t text_utf8_valid(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t length;

		if (n - i >= sizeof(uint64_t) && is_ascii_word(s + i)) {
			i += sizeof(uint64_t);
			continue;
		}
		length = sequence_length((const uint8_t *) s + i, n - i);
		if (!length)
			return i;
		i += length;
	}
	return n;
}

/* ---- escaping ---- */

#define ESCAPED_MAX 8 /* a C1 control: two bytes of "\xNN" each */

static size_t put_hex(uint8_t byte, char *ret)
{
	static const char digits[] = "0123456789abcdef";

	ret[0] = '\\';
	ret[1] = 'x';
	ret[2] = digits[byte >> 4];
	ret[3] = digits[byte & 15];
	return 4;
}

static size_t put_short(char letter, char *ret)
{
	ret[0] = '\\';
	ret[1] = letter;
	return 2;
}

/* Shows the character at @s in @ret; returns how many bytes of @s it took. */
static size_t escape_one(const uint8_t *s, size_t n, bool keep_backslash, char ret[ESCAPED_MAX],
			 size_t *ret_n)
{
	size_t length = sequence_length(s, n);

	if (*s == '\n')
		*ret_n = put_short('n', ret);
	else if (*s == '\t')
		*ret_n = put_short('t', ret);
	else if (*s == '\\' && !keep_backslash)
		*ret_n = put_short('\\', ret);
	else if (length == 0 || *s < 0x20 || *s == 0x7f)
		*ret_n = put_hex(*s, ret);
	else if (s[0] == 0xc2 && s[1] < 0xa0)
		*ret_n = put_hex(s[0], ret) + put_hex(s[1], ret + 4);
	else
		memcpy(ret, s, *ret_n = length);
	return length ? length : 1;
}

/* Nothing in it needs escaping, as in most of what is shown. */
static bool is_plain(const uint8_t *s, size_t n, bool keep_backslash)
{
	for (size_t i = 0; i < n; i++)
		if (s[i] < 0x20 || s[i] > 0x7e || (s[i] == '\\' && !keep_backslash))
			return false;
	return true;
}

static char *escape(const char *s, size_t n, bool keep_backslash)
{
	const uint8_t *p = (const uint8_t *) s;
	char one[ESCAPED_MAX], *text;
	size_t total = 0, one_n;

	if (is_plain(p, n, keep_backslash))
		return strndup(s, n);
	for (size_t i = 0; i < n; total += one_n)
		i += escape_one(p + i, n - i, keep_backslash, one, &one_n);
	text = malloc(total + 1);
	if (!text)
		return NULL;
	total = 0;
	for (size_t i = 0; i < n; total += one_n) {
		i += escape_one(p + i, n - i, keep_backslash, one, &one_n);
		memcpy(text + total, one, one_n);
	}
	text[total] = '\0';
	return text;
}

char *text_escape(const char *s, size_t n)
{
	return escape(s, n, false);
}

char *text_printable(const char *s)
{
	return escape(s, strlen(s), true);
}

char *text_escape_to(char *buf, size_t size, const char *s)
{
	static const char ellipsis[] = "…";
	size_t used = 0, fits = 0, one_n, n = strlen(s);
	char one[ESCAPED_MAX];

	if (size == 0)
		return buf;
	/* fits: the last border after which the ellipsis still has room. */
	for (size_t i = 0; i < n; used += one_n) {
		i += escape_one((const uint8_t *) s + i, n - i, false, one, &one_n);
		if (used + sizeof(ellipsis) <= size)
			fits = used;
		if (used + one_n >= size) {
			used = fits;
			if (size >= sizeof(ellipsis)) {
				memcpy(buf + used, ellipsis, sizeof(ellipsis) - 1);
				used += sizeof(ellipsis) - 1;
			}
			break;
		}
		memcpy(buf + used, one, one_n);
	}
	buf[used] = '\0';
	return buf;
}

/* ---- suggestions ---- */

#define SUGGEST_MAX 64 /* longer words are no typing mistakes */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/* How many slips of the finger still look like the same word. */
static unsigned tolerance(size_t length)
{
	return length < 2 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that lead from @a to @b (optimal
 * string alignment), case ignored. Both at most SUGGEST_MAX. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned row[3][SUGGEST_MAX + 1], *before = row[0], *above = row[1], *here = row[2], *spare;

	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned) j;
	for (size_t i = 1; i <= n; i++) {
		here[0] = (unsigned) i;
		for (size_t j = 1; j <= m; j++) {
			bool differs = lower(a[i - 1]) != lower(b[j - 1]);

			here[j] = min3(above[j] + 1, here[j - 1] + 1, above[j - 1] + differs);
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
			    lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < here[j])
				here[j] = before[j - 2] + 1;
		}
		spare = before;
		before = above;
		above = here;
		here = spare;
	}
	return above[m];
}

/* How much of the end is a suffix that both have, as ".timer": nobody has typed it by mistake. */
static size_t shared_suffix(const char *a, const char *b)
{
	const char *dot = strrchr(a, '.'), *other = strrchr(b, '.');

	return dot && other && strcmp(dot, other) == 0 ? strlen(dot) : 0;
}

const char *text_suggest(const char *word, const char *(*next)(void *userdata, size_t i),
			 void *userdata)
{
	size_t whole = strlen(word);
	const char *candidate, *best = NULL;
	unsigned best_distance = tolerance(whole) + 1;

	if (whole > SUGGEST_MAX)
		return NULL;
	for (size_t i = 0; (candidate = next(userdata, i)); i++) {
		size_t suffix = shared_suffix(word, candidate), n = whole - suffix,
		       m = strlen(candidate) - suffix;
		size_t gap = n > m ? n - m : m - n;
		unsigned d;

		/* Most of what is shown must have been typed. */
		if (m > SUGGEST_MAX || gap >= best_distance || tolerance(m) == 0)
			continue;
		d = distance(word, n, candidate, m);
		if (d < best_distance && d <= tolerance(n) && d < m) {
			best = candidate;
			best_distance = d;
		}
	}
	return best;
}

/* ---- numbers as text ---- */

void text_hex16(const uint8_t id[16], char ret[33])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < 16; i++) {
		ret[2 * i] = digits[id[i] >> 4];
		ret[2 * i + 1] = digits[id[i] & 15];
	}
	ret[32] = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_unhex16(const char *s, uint8_t ret[16])
{
	uint8_t id[16];

	if (strlen(s) != 32)
		return false;
	for (size_t i = 0; i < 16; i++) {
		int high = hex_digit(s[2 * i]), low = hex_digit(s[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		id[i] = (uint8_t) (high << 4 | low);
	}
	memcpy(ret, id, sizeof(id));
	return true;
}

uint64_t text_hash(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}
