/* SPDX-License-Identifier: MIT */
#include "unit/reader.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* inih as distributions build it splits lines at 200 bytes, cuts values at " ;", section names at
 * 49 characters and everything at a NUL byte, and has rules of its own for indented lines
 * (tests/contract/ test_inih.c shows each). So it never sees what people wrote: this reader makes
 * logical lines, takes them apart, and hands inih a token in the place of each part,
 *
 *	[Service]                       [1]
 *	ExecStart=/bin/sh -c \          1=1
 *	        'a ; b'
 *	User=backup                     2=2
 *
 * and the handler puts the verbatim text back in the place of the token. inih keeps what it is good
 * at: which section an assignment belongs to, and calling for each one in its order. A token that
 * does not come back as it was sent fails the file. */

#define TOKEN_LINE_MAX 32

/* A file with more mistakes than this is no unit file. */
#define MISTAKES_MAX 100

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* A part of the file, or of a joined line. */
struct slice {
	const char *s;
	size_t n;
};

struct reading {
	const char *file;
	struct slice rest;  /* not yet looked at */
	uint32_t line;      /* number of the physical line read last */
	uint32_t first_line; /* of the logical line at hand */
	bool line_is_bad;   /* it has a mistake that was told already */

	char *joined; /* of a continued line; a buffer used over and over */
	size_t joined_n, joined_size;

	uint32_t n_sections, n_sent, n_taken; /* tokens */
	/* its header was mistaken: that is told, what is below it is not */
	bool skips_section;
	const char *section;     /* in the arena */
	uint32_t section_line;
	struct assignment pending;

	struct assignment *item; /* malloc'ed; to the arena when their number is known */
	size_t n_items, items_size;

	struct arena *arena;
	struct diag *diag;
	unsigned n_mistakes;
	int error;
};

static void mistake(struct reading *x, uint32_t line, const char *fmt, ...) _printf_(3, 4);
static void mistake(struct reading *x, uint32_t line, const char *fmt, ...)
{
	char sentence[512];
	va_list ap;

	x->n_mistakes++;
	if (x->n_mistakes > MISTAKES_MAX)
		return;
	va_start(ap, fmt);
	(void) vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	diag_add(x->diag, DIAG_ERROR, x->file, line, NULL, "%s", sentence);
	if (x->n_mistakes == MISTAKES_MAX) {
		diag_add(x->diag, DIAG_ERROR, x->file, line, NULL,
			 "too many mistakes, what follows is not looked at");
		x->rest.n = 0;
	}
}

/* For a sentence: cut and escaped. The copy is longer than the result, which so shows where it was
 * cut. */
static const char *shown(char buf[128], struct slice text)
{
	char copy[160];
	size_t n = text.n < sizeof(copy) - 1 ? text.n : sizeof(copy) - 1;

	memcpy(copy, text.s, n);
	copy[n] = '\0';
	return text_escape_to(buf, 128, copy);
}

/* ---- physical lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct slice trim(struct slice text)
{
	while (text.n && is_blank(text.s[0])) {
		text.s++;
		text.n--;
	}
	while (text.n && is_blank(text.s[text.n - 1]))
		text.n--;
	return text;
}

static void drop(struct slice *text, size_t n)
{
	text->s += n;
	text->n -= n;
}

/* A line ends at "\n" or "\r", or at both, in either order, as for systemd. */
static bool next_physical_line(struct reading *x, struct slice *ret)
{
	size_t n = 0;
	char end;

	if (x->rest.n == 0)
		return false;
	while (n < x->rest.n && x->rest.s[n] != '\n' && x->rest.s[n] != '\r')
		n++;
	*ret = (struct slice) {x->rest.s, n};
	drop(&x->rest, n);
	x->line++;
	if (x->rest.n == 0)
		return true;
	end = x->rest.s[0];
	drop(&x->rest, 1);
	if (x->rest.n && x->rest.s[0] == (end == '\n' ? '\r' : '\n'))
		drop(&x->rest, 1);
	return true;
}

static bool is_comment(struct slice line)
{
	line = trim(line);
	return line.n && (line.s[0] == '#' || line.s[0] == ';');
}

/* Tells where a line has bytes that no text has. Comments may be in any encoding, as for
 * systemd. */
static void vet_bytes(struct reading *x, struct slice line)
{
	const char *nul = memchr(line.s, '\0', line.n);
	const bool comment = is_comment(line);
	size_t bad = comment ? line.n : text_utf8_valid(line.s, line.n);

	if (nul)
		mistake(x, x->line, "NUL byte in column %zu", (size_t) (nul - line.s) + 1);
	else if (bad < line.n)
		mistake(x, x->line, "byte 0x%02x in column %zu is not valid UTF-8",
			(unsigned char) line.s[bad], bad + 1);
	else
		return;
	if (!comment)
		x->line_is_bad = true;
}

/* ---- logical lines ---- */

/* Ends in a backslash that is not itself behind a backslash. */
static bool is_continued(struct slice line)
{
	size_t n = 0;

	while (n < line.n && line.s[line.n - 1 - n] == '\\')
		n++;
	return n % 2;
}

static bool join(struct reading *x, struct slice line)
{
	if (line.n > x->joined_size - x->joined_n) {
		size_t size = 2 * (x->joined_n + line.n);
		char *bigger = realloc(x->joined, size);

		if (!bigger) {
			x->error = -ENOMEM;
			return false;
		}
		x->joined = bigger;
		x->joined_size = size;
	}
	memcpy(x->joined + x->joined_n, line.s, line.n);
	x->joined_n += line.n;
	return true;
}

/* Continued lines joined, a blank in the place of the backslash. False at the end, or on
 * x->error. */
static bool next_logical_line(struct reading *x, struct slice *ret)
{
	struct slice line;
	bool continued = false;

	x->joined_n = 0;
	x->line_is_bad = false;
	while (next_physical_line(x, &line)) {
		vet_bytes(x, line);
		if (is_comment(line))
			continue;
		if (!continued)
			x->first_line = x->line;
		if (!continued && !is_continued(line)) {
			*ret = line;
			return true;
		}
		continued = is_continued(line);
		if (!join(x, line))
			return false;
		if (continued)
			x->joined[x->joined_n - 1] = ' ';
		else
			break;
	}
	*ret = (struct slice) {x->joined, x->joined_n};
	return x->joined_n > 0;
}

/* ---- what a line says ---- */

static bool is_key(struct slice key)
{
	for (size_t i = 0; i < key.n; i++) {
		char c = key.s[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    c != '-' && c != '_')
			return false;
	}
	return true;
}

static const char *keep(struct reading *x, struct slice text)
{
	const char *copy = arena_strndup(x->arena, text.s, text.n);

	if (!copy)
		x->error = -ENOMEM;
	return copy;
}

static bool parse_header(struct reading *x, struct slice line)
{
	char buf[128];

	x->skips_section = true;
	if (line.n < 3 || line.s[line.n - 1] != ']' || memchr(line.s + 1, ']', line.n - 2) ||
	    memchr(line.s + 1, '[', line.n - 2)) {
		mistake(x, x->first_line, "'%s' is no section header such as [Service]",
			shown(buf, line));
		return false;
	}
	x->section = keep(x, (struct slice) {line.s + 1, line.n - 2});
	x->section_line = x->first_line;
	x->skips_section = false;
	return x->section;
}

static bool parse_assignment(struct reading *x, struct slice line)
{
	const char *equals = memchr(line.s, '=', line.n);
	struct slice key, value;
	char buf[128];

	if (!equals) {
		mistake(x, x->first_line, "'%s' is neither Key=Value nor a section header",
			shown(buf, line));
		return false;
	}
	key = trim((struct slice) {line.s, (size_t) (equals - line.s)});
	value = trim((struct slice) {equals + 1, line.n - (size_t) (equals + 1 - line.s)});
	if (key.n == 0 || !is_key(key)) {
		mistake(x, x->first_line,
			key.n ? "'%s' is no key: only letters, digits, '-' and '_' stand before '='"
			      : "no key before '=' in '%s'",
			shown(buf, key.n ? key : line));
		return false;
	}
	if (x->skips_section)
		return false;
	x->pending = (struct assignment) {
		.key = keep(x, key),
		.value = keep(x, value),
		.file = x->file,
		.line = x->first_line,
	};
	return x->pending.key && x->pending.value;
}

/* ---- inih ---- */

/* ini_reader: the next line worth a token, as one. */
static char *give_token(char *buf, int size, void *userdata)
{
	struct reading *x = userdata;
	struct slice line;

	if (size < TOKEN_LINE_MAX)
		x->error = -EIO;
	while (!x->error && next_logical_line(x, &line)) {
		line = trim(line);
		if (line.n == 0 || x->line_is_bad)
			continue;
		if (line.s[0] == '[') {
			if (!parse_header(x, line))
				continue;
			(void) snprintf(buf, (size_t) size, "[%u]\n", ++x->n_sections);
		} else {
			if (!parse_assignment(x, line))
				continue;
			x->n_sent++;
			(void) snprintf(buf, (size_t) size, "%u=%u\n", x->n_sent, x->n_sent);
		}
		return buf;
	}
	return NULL;
}

static bool is_token(const char *s, uint32_t number)
{
	char expected[TOKEN_LINE_MAX];

	(void) snprintf(expected, sizeof(expected), "%u", number);
	return str_equal(s, expected);
}

static bool append(struct reading *x)
{
	if (x->n_items == x->items_size) {
		size_t size = x->items_size ? 2 * x->items_size : 16;
		struct assignment *bigger = reallocarray(x->item, size, sizeof(*bigger));

		if (!bigger) {
			x->error = -ENOMEM;
			return false;
		}
		x->item = bigger;
		x->items_size = size;
	}
	x->item[x->n_items++] = x->pending;
	return true;
}

/* ini_handler: 1 is good, 0 a mistake. */
static int take_token(void *userdata, const char *section, const char *name, const char *value)
{
	struct reading *x = userdata;

	if (!is_token(name, x->n_sent) || !is_token(value, x->n_sent) ||
	    x->n_taken + 1 != x->n_sent)
		return 0;
	x->n_taken++;
	if (!*section) {
		mistake(x, x->pending.line, "%s= stands before the first section header",
			x->pending.key);
		return 1;
	}
	if (!is_token(section, x->n_sections))
		return 0;
	x->pending.section = x->section;
	x->pending.section_line = x->section_line;
	return append(x);
}

/* ---- the whole ---- */

/* Behind what @ret holds already, from earlier files of the same unit. */
static int hand_over(struct reading *x, struct assignments *ret)
{
	struct assignment *all;

	if (x->n_items == 0)
		return 0;
	all = arena_alloc(x->arena, (ret->n + x->n_items) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	if (ret->n)
		memcpy(all, ret->item, ret->n * sizeof(*all));
	memcpy(all + ret->n, x->item, x->n_items * sizeof(*all));
	ret->item = all;
	ret->n += x->n_items;
	return 0;
}

int unit_read(const char *file, const char *bytes, size_t n, struct arena *arena,
	      struct assignments *ret, struct diag *d)
{
	struct reading x = {.file = file, .rest = {bytes, n}, .arena = arena, .diag = d};
	int r;

	if (n > UNIT_FILE_MAX) {
		diag_add(d, DIAG_ERROR, file, 0, NULL, "larger than %d KiB", UNIT_FILE_MAX / 1024);
		return 0;
	}
	if (n >= strlen(byte_order_mark) &&
	    memcmp(bytes, byte_order_mark, strlen(byte_order_mark)) == 0)
		drop(&x.rest, strlen(byte_order_mark));
	r = ini_parse_stream(give_token, &x, take_token, &x);
	if (r == -2)
		x.error = -ENOMEM;
	if (x.error == 0 && (r != 0 || x.n_taken != x.n_sent))
		diag_add(d, DIAG_ERROR, file, 0, NULL,
			 "cannot be read: the INI library lost a line");
	if (x.error == 0)
		x.error = hand_over(&x, ret);
	free(x.joined);
	free(x.item);
	return x.error;
}
