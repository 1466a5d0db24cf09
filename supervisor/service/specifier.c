/* SPDX-License-Identifier: MIT */
#include "service/specifier.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/cleanup.h"

/* Written twice: to count (to is NULL), then into a string of just that length. */
struct output {
	char *to;
	size_t n;
};

static void put(struct output *o, const char *s, size_t n)
{
	if (o->to)
		memcpy(o->to + o->n, s, n);
	o->n += n;
}

static void put_char(struct output *o, char c)
{
	put(o, &c, 1);
}

/* ---- parts of the unit's name ---- */

/* A stretch of a string. */
struct part {
	const char *s;
	size_t n;
};

static struct part name_without_suffix(const char *unit)
{
	const char *dot = strrchr(unit, '.');

	return (struct part) { unit, dot ? (size_t) (dot - unit) : strlen(unit) };
}

static const char *find_at(struct part name)
{
	return memchr(name.s, '@', name.n);
}

static struct part name_prefix(const char *unit)
{
	struct part name = name_without_suffix(unit);
	const char *at = find_at(name);

	return (struct part) { name.s, at ? (size_t) (at - name.s) : name.n };
}

/* Empty if the unit is no instance. */
static struct part name_instance(const char *unit)
{
	struct part name = name_without_suffix(unit);
	const char *at = find_at(name), *end = name.s + name.n;

	return at ? (struct part) { at + 1, (size_t) (end - at - 1) } : (struct part) { end, 0 };
}

/* What stands behind the last '-' of the prefix. */
static struct part name_last_component(const char *unit)
{
	struct part prefix = name_prefix(unit);
	const char *dash = memrchr(prefix.s, '-', prefix.n), *end = prefix.s + prefix.n;

	return dash ? (struct part) { dash + 1, (size_t) (end - dash - 1) } : prefix;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The next character of an escaped stretch: systemd.unit(5), "STRING ESCAPING FOR INCLUSION IN UNIT
 * NAMES", backwards. NUL: at its end, or it is no escape (then *ret_bad). */
static char next_unescaped(struct part *p, bool *ret_bad)
{
	int high, low;
	char c;

	if (p->n == 0)
		return '\0';
	c = *p->s;
	if (c != '\\') {
		p->s++;
		p->n--;
		return c == '-' ? '/' : c;
	}
	high = p->n >= 4 && p->s[1] == 'x' ? hex_digit(p->s[2]) : -1;
	low = high >= 0 ? hex_digit(p->s[3]) : -1;
	*ret_bad = low < 0 || (high == 0 && low == 0);
	if (*ret_bad)
		return '\0';
	p->s += 4;
	p->n -= 4;
	return (char) (high << 4 | low);
}

static bool put_unescaped(struct output *o, struct part p)
{
	bool is_bad = false;
	char c;

	while ((c = next_unescaped(&p, &is_bad)))
		put_char(o, c);
	return !is_bad;
}

/* No empty part, no "." and no "..". */
static bool is_normal_path(struct part p)
{
	bool is_bad = false;
	size_t n = 0, dots = 0;
	char c;

	do {
		c = next_unescaped(&p, &is_bad);
		if (c && c != '/') {
			n++;
			dots += c == '.';
			continue;
		}
		if (n == 0 || (n == dots && n <= 2))
			return false;
		n = dots = 0;
	} while (c);
	return !is_bad;
}

/* The path a name was made from: "home-user" is /home/user, "-" is /. */
static bool put_path(struct output *o, struct part p)
{
	put_char(o, '/');
	if (p.n == 1 && *p.s == '-')
		return true;
	return is_normal_path(p) && put_unescaped(o, p);
}

/* ---- what is handed in ---- */

static const struct {
	char letter;
	size_t offset;
} given[] = {
	{ 'a', offsetof(struct specifiers, architecture) },
	{ 'A', offsetof(struct specifiers, os_image_version) },
	{ 'b', offsetof(struct specifiers, boot_id) },
	{ 'B', offsetof(struct specifiers, os_build_id) },
	{ 'C', offsetof(struct specifiers, cache_dir) },
	{ 'D', offsetof(struct specifiers, data_dir) },
	{ 'E', offsetof(struct specifiers, config_dir) },
	{ 'g', offsetof(struct specifiers, group) },
	{ 'G', offsetof(struct specifiers, group_id) },
	{ 'h', offsetof(struct specifiers, home) },
	{ 'H', offsetof(struct specifiers, host_name) },
	{ 'L', offsetof(struct specifiers, logs_dir) },
	{ 'm', offsetof(struct specifiers, machine_id) },
	{ 'M', offsetof(struct specifiers, os_image_id) },
	{ 'n', offsetof(struct specifiers, unit) },
	{ 'o', offsetof(struct specifiers, os_id) },
	{ 'q', offsetof(struct specifiers, pretty_host_name) },
	{ 's', offsetof(struct specifiers, shell) },
	{ 'S', offsetof(struct specifiers, state_dir) },
	{ 't', offsetof(struct specifiers, runtime_dir) },
	{ 'T', offsetof(struct specifiers, tmp_dir) },
	{ 'u', offsetof(struct specifiers, user) },
	{ 'U', offsetof(struct specifiers, user_id) },
	{ 'v', offsetof(struct specifiers, kernel_release) },
	{ 'V', offsetof(struct specifiers, var_tmp_dir) },
	{ 'w', offsetof(struct specifiers, os_version_id) },
	{ 'W', offsetof(struct specifiers, os_variant_id) },
	{ 'y', offsetof(struct specifiers, fragment) },
};

static bool put_given(struct output *o, const struct specifiers *s, char letter)
{
	const char *value = NULL;

	for (size_t i = 0; i < ELEMENTS(given); i++)
		if (given[i].letter == letter)
			value = *(const char *const *) ((const char *) s + given[i].offset);
	if (!value)
		return false;
	put(o, value, strlen(value));
	return true;
}

static void put_part(struct output *o, struct part p)
{
	put(o, p.s, p.n);
}

static bool put_directory(struct output *o, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		put(o, path, slash == path ? 1 : (size_t) (slash - path));
	return slash;
}

static bool put_specifier(struct output *o, const struct specifiers *s, char letter)
{
	struct part instance = name_instance(s->unit);

	switch (letter) {
	case '%':
		put_char(o, '%');
		return true;
	case 'N':
		put_part(o, name_without_suffix(s->unit));
		return true;
	case 'p':
		put_part(o, name_prefix(s->unit));
		return true;
	case 'P':
		return put_unescaped(o, name_prefix(s->unit));
	case 'i':
		put_part(o, instance);
		return true;
	case 'I':
		return put_unescaped(o, instance);
	case 'j':
		put_part(o, name_last_component(s->unit));
		return true;
	case 'J':
		return put_unescaped(o, name_last_component(s->unit));
	case 'f':
		return put_path(o, instance.n > 0 ? instance : name_prefix(s->unit));
	case 'l':
		if (!s->host_name)
			return false;
		put(o, s->host_name, strcspn(s->host_name, "."));
		return true;
	case 'Y':
		return put_directory(o, s->fragment);
	default:
		return put_given(o, s, letter);
	}
}

static bool is_letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Returns the letter that could not be replaced, or 0. */
static char expand(const struct specifiers *s, const char *text, struct output *o)
{
	for (; *text; text++) {
		if (*text != '%' || !(text[1] == '%' || is_letter_or_digit(text[1]))) {
			put_char(o, *text);
			continue;
		}
		text++;
		if (!put_specifier(o, s, *text))
			return *text;
	}
	return '\0';
}

int specifier_expand(const struct specifiers *s, const char *text, struct arena *arena, char **ret,
		     char *reterr)
{
	struct output counted = { 0 }, written = { 0 };
	char letter;

	if (!strchr(text, '%')) {
		*ret = arena_strdup(arena, text);
		return *ret ? 0 : -ENOMEM;
	}
	letter = expand(s, text, &counted);
	if (letter) {
		if (reterr)
			*reterr = letter;
		return -EINVAL;
	}
	written.to = arena_alloc(arena, counted.n + 1);
	if (!written.to)
		return -ENOMEM;
	(void) expand(s, text, &written);
	written.to[written.n] = '\0';
	*ret = written.to;
	return 0;
}
