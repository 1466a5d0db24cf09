/* SPDX-License-Identifier: MIT */
#include "base/values.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

/* Where the bytes of a word go. Run twice: to count (to is NULL), then to write, so that a word
 * takes from the arena just what it needs. */
struct output {
	char *to;
	size_t n;
};

static void put(struct output *o, const char *bytes, size_t n)
{
	if (o->to)
		memcpy(o->to + o->n, bytes, n);
	o->n += n;
}

static void put_char(struct output *o, char c)
{
	put(o, &c, 1);
}

static void put_code_point(struct output *o, uint32_t c)
{
	char utf8[4];
	size_t n;

	if (c < 0x80) {
		n = 1;
		utf8[0] = (char) c;
	} else if (c < 0x800) {
		n = 2;
		utf8[0] = (char) (0xc0 | c >> 6);
	} else if (c < 0x10000) {
		n = 3;
		utf8[0] = (char) (0xe0 | c >> 12);
	} else {
		n = 4;
		utf8[0] = (char) (0xf0 | c >> 18);
	}
	for (size_t i = 1; i < n; i++)
		utf8[i] = (char) (0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
	put(o, utf8, n);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* Exactly @n digits; false for anything else, and for zero: a NUL cannot be part of a word. */
static bool parse_code(const char *s, size_t n, uint32_t base, uint32_t max, uint32_t *ret)
{
	uint64_t code = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t digit = (uint32_t) digit_of(s[i]);

		if (digit >= base)
			return false;
		code = code * base + digit;
	}
	*ret = (uint32_t) code;
	return code > 0 && code <= max;
}

/* What stands behind the backslash at @s[-1]; returns how many bytes of @s belong to it, 0 if it is
 * no escape. systemd.syntax(7), "Supported escapes". */
static size_t put_escape(const char *s, struct output *o)
{
	static const char letters[] = "abfnrtv\\\"'s", meanings[] = "\a\b\f\n\r\t\v\\\"' ";
	const char *letter = *s ? strchr(letters, *s) : NULL;
	uint32_t code;

	if (letter) {
		put_char(o, meanings[letter - letters]);
		return 1;
	}
	if (*s == 'x' && parse_code(s + 1, 2, 16, 0xff, &code)) {
		put_char(o, (char) code);
		return 3;
	}
	if ((*s == 'u' && parse_code(s + 1, 4, 16, 0xffff, &code)) ||
	    (*s == 'U' && parse_code(s + 1, 8, 16, 0x10ffff, &code))) {
		if (code >= 0xd800 && code <= 0xdfff)
			return 0;
		put_code_point(o, code);
		return *s == 'u' ? 5 : 9;
	}
	if (parse_code(s, 3, 8, 0xff, &code)) {
		put_char(o, (char) code);
		return 3;
	}
	return 0;
}

/* The word that begins at @s, which is not blank. Quotes may open and close anywhere in it. */
static int scan_word(const char *s, enum value_word_flags flags, struct output *o,
		     const char **ret_end)
{
	char quote = '\0';
	size_t n;

	for (; *s && (quote || !is_blank(*s)); s++) {
		if (quote ? *s == quote : (*s == '"' || *s == '\'')) {
			quote = quote ? '\0' : *s;
			continue;
		}
		if (*s != '\\' || (flags & VALUE_WORD_RAW)) {
			put_char(o, *s);
			continue;
		}
		n = put_escape(s + 1, o);
		if (n == 0) {
			if (!(flags & VALUE_WORD_KEEP_BACKSLASH))
				return -EINVAL;
			/* The character behind it stands for itself, too, even a quote. */
			n = s[1] ? 1 : 0;
			put(o, s, n + 1);
		}
		s += n;
	}
	*ret_end = s;
	return quote ? -EINVAL : 0;
}

int value_word(const char **p, enum value_word_flags flags, struct arena *arena, char **ret)
{
	struct output counted = {0}, written = {0};
	const char *start = *p, *end;
	int r;

	while (is_blank(*start))
		start++;
	if (!*start) {
		*p = start;
		return 0;
	}
	r = scan_word(start, flags, &counted, &end);
	if (r < 0)
		return r;
	written.to = arena_alloc(arena, counted.n + 1);
	if (!written.to)
		return -ENOMEM;
	(void) scan_word(start, flags, &written, &end);
	written.to[written.n] = '\0';
	while (is_blank(*end))
		end++;
	*ret = written.to;
	*p = end;
	return 1;
}

static int put_unescaped(const char *s, struct output *o)
{
	while (*s) {
		size_t n;

		if (*s != '\\') {
			put_char(o, *s++);
			continue;
		}
		n = put_escape(s + 1, o);
		if (n == 0)
			return -EINVAL;
		s += 1 + n;
	}
	return 0;
}

int value_unescape(const char *s, struct arena *arena, char **ret)
{
	struct output o = { 0 };
	int r = put_unescaped(s, &o);

	if (r < 0)
		return r;
	o.to = arena_alloc(arena, o.n + 1);
	if (!o.to)
		return -ENOMEM;
	o.n = 0;
	(void) put_unescaped(s, &o);
	*ret = o.to;
	return 0;
}
