/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>

#include "base/cleanup.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t n)
{
	const uint8_t *in = bytes;
	char *text = malloc((n + 2) / 3 * 4 + 1), *out = text;

	if (!text)
		return NULL;
	for (size_t i = 0; i < n; i += 3) {
		uint32_t b = i + 1 < n ? in[i + 1] : 0, c = i + 2 < n ? in[i + 2] : 0;
		uint32_t three = (uint32_t) in[i] << 16 | b << 8 | c;

		*out++ = digits[three >> 18];
		*out++ = digits[three >> 12 & 63];
		*out++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
		*out++ = i + 2 < n ? digits[three & 63] : '=';
	}
	*out = '\0';
	return text;
}

/* The next character that is no blank. */
static char next(const char **text)
{
	*text += strspn(*text, " \t\r\n");
	return **text ? *(*text)++ : '\0';
}

static int digit_value(char c)
{
	const char *p = c ? strchr(digits, c) : NULL;

	return p ? (int) (p - digits) : -1;
}

/* Four characters → 1 to 3 bytes; 0: the text is at its end; -EINVAL. */
static int decode_four(const char **text, uint8_t ret[3])
{
	uint32_t bits = 0;
	int n_digits = 0;
	char c = next(text);

	if (!c)
		return 0;
	for (int i = 0; i < 4; i++, c = i < 4 ? next(text) : c) {
		int value = digit_value(c);

		if (value < 0 && (c != '=' || i < 2))
			return -EINVAL;
		if (value >= 0 && n_digits < i) /* a digit behind padding */
			return -EINVAL;
		n_digits += value >= 0;
		bits = bits << 6 | (uint32_t) (value >= 0 ? value : 0);
	}
	ret[0] = (uint8_t) (bits >> 16);
	ret[1] = (uint8_t) (bits >> 8);
	ret[2] = (uint8_t) bits;
	return n_digits - 1;
}

int base64_decode(const char *text, void **ret, size_t *ret_n)
{
	_cleanup_free_ uint8_t *bytes = malloc(strlen(text) / 4 * 3 + 4);
	size_t n = 0;
	int got = 3;

	if (!bytes)
		return -ENOMEM;
	while (got == 3) {
		got = decode_four(&text, bytes + n);
		if (got < 0)
			return got;
		n += (size_t) got;
	}
	/* Padding ends it. */
	if (next(&text))
		return -EINVAL;
	bytes[n] = '\0';
	*ret = TAKE_PTR(bytes);
	*ret_n = n;
	return 0;
}
