/* SPDX-License-Identifier: MIT */
/* Environment files, byte for byte as systemd 252 reads them: nearly a shell's assignments, and not
 * quite. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "service/environment.h"

struct reader {
	const char *path;
	const char *at, *end;
	uint32_t line;
	bool is_open; /* the file ended within quotes */
	struct arena *arena;
	struct diag *d;
};

static bool is_newline(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || is_newline(c);
}

static bool at_end(const struct reader *r)
{
	return r->at == r->end;
}

static char take(struct reader *r)
{
	char c = *r->at++;

	if (c == '\n')
		r->line++;
	return c;
}

/* A backslash takes the sense of whatever follows, of a newline, too. */
static void skip_comment(struct reader *r)
{
	while (!at_end(r)) {
		char c = take(r);

		if (is_newline(c))
			return;
		if (c == '\\' && !at_end(r))
			(void) take(r);
	}
}

/* Up to the '='; false: the line has none. */
static bool read_name(struct reader *r, char *buf, size_t *ret_n)
{
	size_t n = 0;

	while (!at_end(r)) {
		char c = take(r);

		/* The first character belongs to the name, whatever it is. */
		if (c == '=' && n > 0) {
			while (n > 0 && is_blank(buf[n - 1]))
				n--;
			*ret_n = n;
			return true;
		}
		if (is_newline(c))
			return false;
		buf[n++] = c;
	}
	return false;
}

static size_t read_single_quoted(struct reader *r, char *buf, size_t n)
{
	while (!at_end(r)) {
		char c = take(r);

		if (c == '\'')
			return n;
		buf[n++] = c;
	}
	r->is_open = true;
	return n;
}

static size_t read_double_quoted(struct reader *r, char *buf, size_t n)
{
	while (!at_end(r)) {
		char c = take(r);

		if (c == '"')
			return n;
		if (c != '\\') {
			buf[n++] = c;
			continue;
		}
		if (at_end(r))
			break;
		c = take(r);
		if (c == '\n')
			continue;
		if (!strchr("\"\\`$", c))
			buf[n++] = '\\';
		buf[n++] = c;
	}
	r->is_open = true;
	return n;
}

/* The rest of a line that began without a quote; quotes in it are nothing special. Blanks at its
 * end go, unless a backslash made them belong to it. @c is the first character, already taken. */
static size_t read_plain(struct reader *r, char c, char *buf, size_t n)
{
	size_t keep = n;

	for (;;) {
		if (is_newline(c))
			return keep;
		if (c == '\\') {
			keep = n;
			if (at_end(r))
				return keep;
			c = take(r);
			if (!is_newline(c))
				buf[n++] = c;
			keep = n;
		} else {
			buf[n++] = c;
			if (!is_blank(c))
				keep = n;
		}
		if (at_end(r))
			return keep;
		c = take(r);
	}
}

/* Behind the '='. Quoted pieces may be followed by more, until something unquoted or the newline
 * ends them. */
static size_t read_value(struct reader *r, char *buf)
{
	size_t n = 0;

	while (!at_end(r)) {
		char c = take(r);

		if (is_newline(c))
			return n;
		if (c == '\'')
			n = read_single_quoted(r, buf, n);
		else if (c == '"')
			n = read_double_quoted(r, buf, n);
		else if (!is_blank(c))
			return read_plain(r, c, buf, n);
	}
	return n;
}

static int append(struct reader *r, const char *assignment, const char ***array, size_t *n)
{
	const char **grown = *array;

	/* One more than counted: the NULL at the end. */
	if (!grown) {
		grown = arena_grow(r->arena, NULL, 0, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
	}
	grown = arena_grow(r->arena, grown, *n + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	grown[(*n)++] = assignment;
	grown[*n] = NULL;
	*array = grown;
	return 0;
}

/* Reads one assignment into @buf, which holds as much as is left. */
static int read_assignment(struct reader *r, char *buf, const char ***array, size_t *n_array)
{
	uint32_t line = r->line;
	size_t name_n, n;
	char shown[128];
	char *s;

	if (!read_name(r, buf, &name_n)) {
		diag_add(r->d, DIAG_WARNING, r->path, line, NULL, "a line without '=', ignored");
		return 0;
	}
	buf[name_n] = '=';
	n = name_n + 1;
	n += read_value(r, buf + n);
	if (r->is_open)
		diag_add(r->d, DIAG_WARNING, r->path, line, NULL, "quotes that are never closed");
	if (text_utf8_valid(buf, n) < n) {
		diag_add(r->d, DIAG_ERROR, r->path, line, NULL, "an assignment that is not UTF-8");
		return -EBADMSG;
	}
	s = arena_strndup(r->arena, buf, n);
	if (!s)
		return -ENOMEM;
	if (environment_assignment_is_valid(s))
		return append(r, s, array, n_array);
	s[name_n] = '\0';
	diag_add(r->d, DIAG_WARNING, r->path, line, NULL, "'%s' is no name of a variable, ignored",
		 text_escape_to(shown, sizeof(shown), s));
	return 0;
}

static int read_all(struct reader *r, char *buf, const char ***array, size_t *n_array)
{
	int error;

	while (!at_end(r)) {
		char c = *r->at;

		if (is_blank(c)) {
			(void) take(r);
		} else if (c == '#' || c == ';') {
			skip_comment(r);
		} else {
			error = read_assignment(r, buf, array, n_array);
			if (error < 0)
				return error;
		}
	}
	return 0;
}

int environment_file_parse(const char *path, const char *bytes, size_t n, struct arena *arena,
			   const char ***array, size_t *n_array, struct diag *d)
{
	_cleanup_free_ char *buf = NULL;
	struct reader r = {
		.path = path, .at = bytes, .end = bytes + n, .line = 1, .arena = arena, .d = d
	};

	if (memchr(bytes, '\0', n)) {
		diag_add(d, DIAG_ERROR, path, 0, NULL, "a NUL byte");
		return -EBADMSG;
	}
	/* No assignment is longer than the file; the '=' is always one of its bytes. */
	buf = malloc(n + 1);
	if (!buf)
		return -ENOMEM;
	return read_all(&r, buf, array, n_array);
}
