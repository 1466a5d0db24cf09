/* SPDX-License-Identifier: MIT */
/* Variables on a command line. Only ${NAME} is known inside a word, and only $NAME as a whole one;
 * there is no syntax for defaults. What makes no sense stays as it stands. */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/environment.h"

/* Well above what execve(2) takes (6 MiB, arguments and environment together): "${A}${A}…" stops
 * here. */
#define EXPANDED_MAX ((size_t) 8 * 1024 * 1024)

struct expansion {
	char *const *environment;
	struct arena *arena;
	char **argv;
	size_t n;
	size_t budget;
};

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

static const char *lookup(const struct expansion *x, const char *name, size_t n)
{
	for (char *const *e = x->environment; n > 0 && e && *e; e++)
		if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
			return *e + n + 1;
	return NULL;
}

static int append(struct expansion *x, char *word)
{
	char **grown = arena_grow(x->arena, x->argv, x->n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	x->argv = grown;
	grown[x->n++] = word;
	return 0;
}

static bool spend(struct expansion *x, size_t n)
{
	if (n > x->budget)
		return false;
	x->budget -= n;
	return true;
}

/* ---- ${NAME} and $$ inside a word ---- */

/* @s begins with "${"; how much of it belongs together is returned. With a ':' (a shell's default
 * value) or without a '}' it is no variable and stays. */
static size_t put_variable(const struct expansion *x, const char *s, struct output *o)
{
	size_t n = strlen("${") + strcspn(s + strlen("${"), ":}");
	const char *value;

	if (s[n] != '}') {
		n += s[n] != '\0';
		put(o, s, n);
		return n;
	}
	value = lookup(x, s + strlen("${"), n - strlen("${"));
	if (value)
		put(o, value, strlen(value));
	return n + 1;
}

static void put_word(const struct expansion *x, const char *word, struct output *o)
{
	while (*word) {
		size_t n;

		if (*word != '$') {
			n = strcspn(word, "$");
			put(o, word, n);
			word += n;
		} else if (word[1] == '$') {
			put(o, "$", 1);
			word += 2;
		} else if (word[1] == '{') {
			word += put_variable(x, word, o);
		} else {
			/* What follows the '$' is not looked at again: "$a" stays, "$" before "$$"
			 * does not hide it. */
			n = word[1] ? 2 : 1;
			put(o, word, n);
			word += n;
		}
	}
}

static int append_replaced(struct expansion *x, const char *word)
{
	struct output counted = { 0 }, written = { 0 };

	put_word(x, word, &counted);
	if (!spend(x, counted.n + 1))
		return -E2BIG;
	written.to = arena_alloc(x->arena, counted.n + 1);
	if (!written.to)
		return -ENOMEM;
	put_word(x, word, &written);
	written.to[written.n] = '\0';
	return append(x, written.to);
}

/* ---- $NAME as a word ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One word of a value. Quotes are taken off and may be left open; a backslash takes the next
 * character as it is. The word is never longer than its text. */
static const char *take_word(const char *s, char *to, size_t *ret_n)
{
	char quote = '\0';
	size_t n = 0;

	for (; *s && (quote || !is_blank(*s)); s++) {
		if (*s == '\\') {
			s++;
			if (!*s)
				break;
			to[n++] = *s;
		} else if (quote ? *s == quote : (*s == '"' || *s == '\'')) {
			quote = quote ? '\0' : *s;
		} else
			to[n++] = *s;
	}
	*ret_n = n;
	return s;
}

static int append_split(struct expansion *x, const char *value)
{
	size_t size = strlen(value) + 1, n;
	char *to;
	int r;

	if (!spend(x, size))
		return -E2BIG;
	/* One behind the other: each word has at least its text and a blank, or the end, to
	 * give. */
	to = arena_alloc(x->arena, size);
	if (!to)
		return -ENOMEM;
	for (;;) {
		while (is_blank(*value))
			value++;
		if (!*value)
			return 0;
		value = take_word(value, to, &n);
		to[n] = '\0';
		r = append(x, to);
		if (r < 0)
			return r;
		to += n + 1;
	}
}

static int append_word(struct expansion *x, const char *word)
{
	const char *value;

	if (word[0] != '$' || word[1] == '{' || word[1] == '$')
		return append_replaced(x, word);
	value = lookup(x, word + 1, strlen(word + 1));
	return value ? append_split(x, value) : 0;
}

static int append_verbatim(struct expansion *x, const char *word)
{
	char *copy = arena_strdup(x->arena, word);

	return copy ? append(x, copy) : -ENOMEM;
}

int exec_command_expand(const struct exec_command *c, char *const *environment, struct arena *arena,
			char ***ret)
{
	struct expansion x = { .environment = environment, .arena = arena, .budget = EXPANDED_MAX };
	int r;

	for (const char *const *word = c->argv; *word; word++) {
		r = c->no_substitution ? append_verbatim(&x, *word) : append_word(&x, *word);
		if (r < 0)
			return r;
	}
	if (x.n == 0) {
		r = append_verbatim(&x, c->path);
		if (r < 0)
			return r;
	}
	r = append(&x, NULL);
	if (r < 0)
		return r;
	*ret = x.argv;
	return 0;
}
