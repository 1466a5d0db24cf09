/* SPDX-License-Identifier: MIT */
#include "service/version.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"

/* ---- versions ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *skip_foreign(const char *s)
{
	while (*s && !is_digit(*s) && !is_letter(*s) && !strchr("~-^.", *s))
		s++;
	return s;
}

static int order(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static size_t span(const char *s, bool (*is)(char c))
{
	size_t n = 0;

	while (is(s[n]))
		n++;
	return n;
}

/* A stretch of digits or of letters on each side; digits are newer than letters, or than none. */
static int compare_stretch(const char **a, const char **b)
{
	bool has_digits = is_digit(**a) || is_digit(**b);
	size_t n = span(*a, has_digits ? is_digit : is_letter),
	       m = span(*b, has_digits ? is_digit : is_letter);
	const char *x = *a, *y = *b;
	int r;

	*a += n;
	*b += m;
	if (!has_digits) {
		r = strncmp(x, y, n < m ? n : m);
		return r ? r : order(n, m);
	}
	if (n == 0 || m == 0)
		return order(n, m);
	for (; n > 0 && *x == '0'; n--)
		x++;
	for (; m > 0 && *y == '0'; m--)
		y++;
	return n != m ? order(n, m) : strncmp(x, y, n);
}

/* What stands before @separator is older than whatever else may stand there. */
static int compare_separator(const char **a, const char **b, char separator)
{
	bool x = **a == separator, y = **b == separator;

	if (x != y)
		return x ? -1 : 1;
	*a += x;
	*b += y;
	return 0;
}

int version_compare(const char *a, const char *b)
{
	static const char separators[] = "-^.";
	int r = 0;

	while (r == 0) {
		a = skip_foreign(a);
		b = skip_foreign(b);
		r = compare_separator(&a, &b, '~');
		if (r != 0)
			break;
		/* More of it is newer; only '~' is older than nothing at all. */
		if (!*a || !*b)
			return order(*a != '\0', *b != '\0');
		for (const char *s = separators; r == 0 && *s; s++)
			r = compare_separator(&a, &b, *s);
		if (r == 0)
			r = compare_stretch(&a, &b);
	}
	return r;
}

/* ---- operators ---- */

enum comparison comparison_read(const char **p)
{
	static const struct {
		const char *word;
		enum comparison comparison;
	} operators[] = {
		/* the longer ones first */
		{ "!$=", COMPARISON_NO_GLOB },     { "$=", COMPARISON_GLOB },
		{ "<=", COMPARISON_LESS_OR_SAME }, { ">=", COMPARISON_GREATER_OR_SAME },
		{ "!=", COMPARISON_UNEQUAL },      { "<>", COMPARISON_OTHER },
		{ "==", COMPARISON_SAME },         { "<", COMPARISON_LESS },
		{ ">", COMPARISON_GREATER },       { "=", COMPARISON_EQUAL },
	};

	for (size_t i = 0; i < ELEMENTS(operators); i++)
		if (str_starts(*p, operators[i].word)) {
			*p += strlen(operators[i].word);
			return operators[i].comparison;
		}
	return COMPARISON_NONE;
}

static bool holds(enum comparison c, int r)
{
	switch (c) {
	case COMPARISON_LESS:
		return r < 0;
	case COMPARISON_LESS_OR_SAME:
		return r <= 0;
	case COMPARISON_SAME:
	case COMPARISON_EQUAL:
		return r == 0;
	case COMPARISON_OTHER:
	case COMPARISON_UNEQUAL:
		return r != 0;
	case COMPARISON_GREATER_OR_SAME:
		return r >= 0;
	case COMPARISON_GREATER:
		return r > 0;
	case COMPARISON_NONE:
	case COMPARISON_GLOB:
	case COMPARISON_NO_GLOB:
		break;
	}
	return false;
}

bool comparison_of_texts(enum comparison c, const char *is, const char *wanted)
{
	if (c == COMPARISON_EQUAL || c == COMPARISON_UNEQUAL)
		return str_equal(is, wanted) == (c == COMPARISON_EQUAL);
	if (c == COMPARISON_GLOB || c == COMPARISON_NO_GLOB)
		return (fnmatch(wanted, is, 0) == 0) == (c == COMPARISON_GLOB);
	return holds(c, version_compare(is, wanted));
}

bool comparison_of_numbers(enum comparison c, uint64_t is, uint64_t wanted)
{
	return holds(c, (is > wanted) - (is < wanted));
}
