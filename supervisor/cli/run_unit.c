/* SPDX-License-Identifier: MIT */
#include "cli/run_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

/* ---- words ---- */

static bool is_plain_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_./:=,+-@", c));
}

static bool is_plain_word(const char *word)
{
	if (!*word)
		return false;
	for (; *word; word++)
		if (!is_plain_char(*word))
			return false;
	return true;
}

/* Bytes that are not UTF-8 have to be written as escapes, as much as control characters. */
static void put_char(FILE *f, const char *c, bool is_utf8)
{
	unsigned char byte = (unsigned char) *c;

	if (byte == '"' || byte == '\\')
		(void) fprintf(f, "\\%c", byte);
	else if (byte == '%')
		(void) fputs("%%", f);
	else if (byte == '\n')
		(void) fputs("\\n", f);
	else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !is_utf8))
		(void) fprintf(f, "\\x%02x", byte);
	else
		(void) fputc(byte, f);
}

static void put_word(FILE *f, const char *word)
{
	size_t n = strlen(word);
	bool is_utf8 = text_utf8_valid(word, n) == n;

	if (is_plain_word(word)) {
		(void) fputs(word, f);
		return;
	}
	(void) fputc('"', f);
	for (; *word; word++)
		put_char(f, word, is_utf8);
	(void) fputc('"', f);
}

static void put_plain(FILE *f, const char *value)
{
	for (; *value; value++)
		(void) fprintf(f, *value == '%' ? "%%%%" : "%c", *value);
}

static char *to_text(void (*put)(FILE *f, const char *text), const char *text)
{
	char *ret = NULL;
	size_t size;
	FILE *f = open_memstream(&ret, &size);

	if (!f)
		return NULL;
	put(f, text);
	if (fclose(f) == 0)
		return ret;
	free(ret);
	return NULL;
}

char *run_unit_quote(const char *word)
{
	return to_text(put_word, word);
}

char *run_unit_plain(const char *value)
{
	return to_text(put_plain, value);
}

const char *run_unit_fault(const char *value)
{
	size_t n = strlen(value);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char) value[i] < 0x20 && value[i] != '\t')
			return "a line of a unit file holds no control characters";
	if (n > 0 && value[n - 1] == '\\')
		return "a backslash at its end would join the next line to it";
	return text_utf8_valid(value, n) < n ? "that is not UTF-8" : NULL;
}

/* ---- files ---- */

static void put_lines(FILE *f, const char *section, const struct run_line *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_equal(line[i].section, section))
			(void) fprintf(f, "%s=%s\n", line[i].key, line[i].value);
}

static void put_unit(FILE *f, const struct run_unit *u, const struct run_line *line, size_t n)
{
	(void) fputs("# Made by supctl run, and gone when it is over.\n[Unit]\n", f);
	if (u->description) {
		(void) fputs("Description=", f);
		put_plain(f, u->description);
		(void) fputc('\n', f);
	}
	put_lines(f, "Unit", line, n);
}

/* What was typed is what the command gets: the shell has seen to variables, ':' keeps them from
 * being replaced again. */
static void put_command(FILE *f, const char *const *argv)
{
	bool has_dollar = false;

	for (const char *const *word = argv; *word; word++)
		has_dollar |= strchr(*word, '$') != NULL;
	(void) fprintf(f, "ExecStart=%s", has_dollar ? ":" : "");
	for (const char *const *word = argv; *word; word++) {
		if (word != argv)
			(void) fputc(' ', f);
		put_word(f, *word);
	}
	(void) fputc('\n', f);
}

static char *end_text(FILE *f, char **text)
{
	bool is_broken = ferror(f);

	if (fclose(f) == 0 && !is_broken)
		return *text;
	free(*text);
	return NULL;
}

char *run_unit_service(const struct run_unit *u)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	put_unit(f, u, u->line, u->n_lines);
	(void) fputs("\n[Service]\nType=oneshot\n", f);
	put_command(f, u->argv);
	put_lines(f, "Service", u->line, u->n_lines);
	return end_text(f, &text);
}

char *run_unit_timer(const struct run_unit *u)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	put_unit(f, u, u->timer_line, u->n_timer_lines);
	(void) fputs("\n[Timer]\n", f);
	put_lines(f, "Timer", u->timer_line, u->n_timer_lines);
	return end_text(f, &text);
}
