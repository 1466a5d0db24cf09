/* SPDX-License-Identifier: MIT */
#include "service/command.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/values.h"

/* Enough of a user's text to recognise it by. */
#define SHOWN_MAX 128

/* What the characters before the program ask for. */
struct prefixes {
	bool ignore_failure, no_substitution, separate_argv0;
	bool full_privileges; /* + */
	unsigned n_bangs;     /* ! or !! */
};

/* One value on its way to commands. Words live in @scratch until a whole value made sense. */
struct parser {
	const struct key_context *c;
	const struct specifiers *specifiers;
	struct arena *scratch;
	const char *at;
	struct exec_commands found;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

static int refuse(const struct parser *p, const char *sentence, const char *text)
{
	char shown[SHOWN_MAX];

	key_error(p->c, "%s= %s: '%s'", p->c->assignment->key, sentence,
		  text_escape_to(shown, sizeof(shown), text));
	return -EBADMSG;
}

/* 1 a word, 0 the end, -EBADMSG reported. An unknown escape stays as it stands, as in systemd. */
static int next_word(struct parser *p, char **ret)
{
	char shown[SHOWN_MAX];
	int r;

	r = value_word(&p->at, VALUE_WORD_PLAIN, p->scratch, ret);
	if (r != -EINVAL)
		return r;
	r = value_word(&p->at, VALUE_WORD_KEEP_BACKSLASH, p->scratch, ret);
	if (r == -EINVAL)
		return refuse(p, "has unbalanced quotes", p->c->assignment->value);
	if (r > 0)
		key_warning(p->c, "%s= has an unknown escape in '%s', kept as it stands",
			    p->c->assignment->key, text_escape_to(shown, sizeof(shown), *ret));
	return r;
}

/* A word of a single ';' (or its escaped form) is told from "a;" and from quoted ones before quotes
 * are gone. */
static bool take_token(struct parser *p, const char *token)
{
	size_t n = strlen(token);

	if (!str_starts(p->at, token) || (p->at[n] && !is_blank(p->at[n])))
		return false;
	p->at += n;
	skip_blanks(p);
	return true;
}

static int expand(struct parser *p, const char *word, char **ret)
{
	char letter, shown[SHOWN_MAX];
	int r;

	r = specifier_expand(p->specifiers, word, p->scratch, ret, &letter);
	if (r != -EINVAL)
		return r;
	key_error(
		p->c,
		"%s= asks for %%%c, which is not known here: '%s' (a percent sign is written %%%%)",
		p->c->assignment->key, letter, text_escape_to(shown, sizeof(shown), word));
	return -EBADMSG;
}

/* Each prefix counts once, + and ! exclude each other; what is one too many is taken for the
 * program's name. */
static const char *parse_prefixes(const char *word, struct prefixes *ret)
{
	*ret = (struct prefixes) { 0 };
	for (;; word++) {
		if (*word == '-' && !ret->ignore_failure)
			ret->ignore_failure = true;
		else if (*word == '@' && !ret->separate_argv0)
			ret->separate_argv0 = true;
		else if (*word == ':' && !ret->no_substitution)
			ret->no_substitution = true;
		else if (*word == '+' && !ret->full_privileges && ret->n_bangs == 0)
			ret->full_privileges = true;
		else if (*word == '!' && !ret->full_privileges && ret->n_bangs < 2)
			ret->n_bangs++;
		else
			return word;
	}
}

static bool has_special_character(const char *s)
{
	for (; *s; s++)
		if ((unsigned char) *s < ' ' || strchr("\"'\\\x7f", *s))
			return true;
	return false;
}

static int check_program(const struct parser *p, const char *program)
{
	if (!*program)
		return refuse(p, "names no program", p->c->assignment->value);
	if (has_special_character(program))
		return refuse(p, "names a program with special characters", program);
	if (str_ends(program, "/"))
		return refuse(p, "names a directory, not a program", program);
	if (*program != '/' && (strchr(program, '/') || str_equal(program, ".") ||
				str_equal(program, "..") || strlen(program) > NAME_MAX))
		return refuse(p, "wants an absolute path or the name of a program", program);
	if (strlen(program) >= PATH_MAX)
		return refuse(p, "names a path that is too long", program);
	return 0;
}

/* Appends to a NULL-terminated list of *@n words in the scratch arena. */
static int append_word(struct parser *p, const char ***list, size_t *n, const char *word)
{
	const char **grown = arena_grow(p->scratch, *list, *n, sizeof(**list));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[(*n)++] = word;
	return 0;
}

/* The words behind the program, up to a ';' or the end. */
static int parse_arguments(struct parser *p, const char ***list, size_t *n)
{
	char *word;
	int r;

	while (*p->at) {
		if (take_token(p, ";"))
			return 0;
		if (take_token(p, "\\;")) {
			r = append_word(p, list, n, ";");
			if (r < 0)
				return r;
			continue;
		}
		r = next_word(p, &word);
		if (r <= 0)
			return r;
		r = expand(p, word, &word);
		if (r < 0)
			return r;
		r = append_word(p, list, n, word);
		if (r < 0)
			return r;
	}
	return 0;
}

static int append_command(struct parser *p, const struct exec_command *command)
{
	struct exec_command *grown =
		arena_grow(p->scratch, p->found.item, p->found.n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	p->found.item = grown;
	grown[p->found.n++] = *command;
	return 0;
}

static int parse_command(struct parser *p, const char *first)
{
	struct prefixes prefixes;
	const char **argv = NULL;
	char *program;
	size_t n = 0;
	int r;

	r = expand(p, parse_prefixes(first, &prefixes), &program);
	if (r < 0)
		return r;
	r = check_program(p, program);
	if (r < 0)
		return r;
	if (!prefixes.separate_argv0) {
		r = append_word(p, &argv, &n, program);
		if (r < 0)
			return r;
	}
	r = parse_arguments(p, &argv, &n);
	if (r < 0)
		return r;
	if (n == 0)
		return refuse(p, "wants a word for argv[0] after '@'", first);
	r = append_word(p, &argv, &n, NULL);
	if (r < 0)
		return r;
	return append_command(p, &(struct exec_command) {
		.path = program,
		.argv = argv,
		.ignore_failure = prefixes.ignore_failure,
		.no_substitution = prefixes.no_substitution,
		/* "!!" is "!" where the kernel has no ambient capabilities: nowhere any more. */
		.keeps_user = prefixes.full_privileges || prefixes.n_bangs == 1,
		.is_unlimited = prefixes.full_privileges,
	});
}

static int parse_all(struct parser *p)
{
	char *first;
	int r;

	for (;;) {
		r = next_word(p, &first);
		if (r <= 0)
			return r;
		if (str_equal(first, ";"))
			continue;
		r = parse_command(p, first);
		if (r < 0)
			return r;
	}
}

/* ---- from the scratch arena into the unit's, taking no more than it needs ---- */

static int copy_command(struct arena *arena, const struct exec_command *from,
			struct exec_command *to)
{
	const char **argv;
	size_t n = 0;

	while (from->argv[n])
		n++;
	argv = arena_alloc(arena, (n + 1) * sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		argv[i] = arena_strdup(arena, from->argv[i]);
		if (!argv[i])
			return -ENOMEM;
	}
	*to = *from;
	to->argv = argv;
	to->path = from->argv[0] == from->path ? argv[0] : arena_strdup(arena, from->path);
	return to->path ? 0 : -ENOMEM;
}

static int copy_commands(struct arena *arena, const struct exec_commands *from,
			 struct exec_commands *list)
{
	struct exec_command *grown;
	int r;

	for (size_t i = 0; i < from->n; i++) {
		grown = arena_grow(arena, list->item, list->n, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		list->item = grown;
		r = copy_command(arena, &from->item[i], &grown[list->n]);
		if (r < 0)
			return r;
		list->n++;
	}
	return 0;
}

int exec_command_parse(const struct key_context *c, const struct specifiers *specifiers,
		       struct exec_commands *list)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct parser p = {
		.c = c, .specifiers = specifiers, .scratch = &scratch, .at = c->assignment->value
	};
	int r;

	skip_blanks(&p);
	if (!*p.at) {
		*list = (struct exec_commands) { 0 };
		return 0;
	}
	r = parse_all(&p);
	if (r == -EBADMSG)
		return 0;
	if (r < 0)
		return r;
	return copy_commands(c->arena, &p.found, list);
}
