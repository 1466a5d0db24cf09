/* SPDX-License-Identifier: MIT */

/* Any bytes as a unit file: read, checked, written back and read again; each value as a list of words, each
 * assignment through a table of keys. */

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/keys.h"
#include "base/text.h"
#include "base/usec.h"
#include "base/values.h"
#include "unit/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct thing {
	bool flag;
	usec_t span;
	const char *text;
	mode_t mode;
	int signal, number;
};

#define ROW(key, type, field) {"Service", key, KEY_KNOWN, key_parse_##type, offsetof(struct thing, field), 0}

static const struct key_row rows[] = {
	ROW("Flag", bool, flag),     ROW("TimeoutSec", span, span),     ROW("User", string, text),
	ROW("UMask", mode, mode),    ROW("KillSignal", signal, signal), ROW("Nice", int, number),
	{"Service", "PrivateTmp", KEY_NOT_APPLIED, NULL, 0, 0},
	{"Unit", "Description", KEY_HARMLESS, NULL, 0, 0},
};
static const char *const ignored[] = {"Install", NULL};
static const struct key_table table = {.row = rows, .n = ELEMENTS(rows), .ignored_sections = ignored};

static void check_text(const char *s, const char *forbidden)
{
	assert(s);
	assert(text_utf8_valid(s, strlen(s)) == strlen(s));
	assert(!s[strcspn(s, forbidden)]);
}

static void check_assignments(const struct assignments *a)
{
	uint32_t line = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct assignment *x = &a->item[i];
		size_t n = strlen(x->value);

		check_text(x->section, "\r\n[]");
		check_text(x->key, "\r\n= \t");
		check_text(x->value, "\r\n");
		assert(*x->section && *x->key);
		assert(n == 0 || (!strchr(" \t", x->value[0]) && !strchr(" \t", x->value[n - 1])));
		assert(x->line > line && x->section_line < x->line);
		line = x->line;
	}
}

static void check_diag(const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++) {
		char *line = diag_format(&d->entry[i]);

		check_text(line, "\r\n\033\a\b\t\x7f");
		free(line);
	}
	assert(d->n == d->n_errors + d->n_warnings);
}

/* Written in the plainest form it must read as the same. */
static void check_round_trip(const struct assignments *a, struct arena *arena)
{
	struct assignments again = {0};
	struct diag d = {0};
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	for (size_t i = 0; i < a->n; i++)
		fprintf(f, "[%s]\n%s = %s \n", a->item[i].section, a->item[i].key, a->item[i].value);
	fclose(f);
	if (n <= UNIT_FILE_MAX) {
		assert(unit_read("again", text, n, arena, &again, &d) == 0);
		assert(d.n == 0 && again.n == a->n);
		for (size_t i = 0; i < a->n; i++) {
			assert(str_equal(again.item[i].section, a->item[i].section));
			assert(str_equal(again.item[i].key, a->item[i].key));
			assert(str_equal(again.item[i].value, a->item[i].value));
		}
	}
	free(text);
	diag_done(&d);
}

static void check_words(const char *value, struct arena *arena)
{
	for (unsigned flags = 0; flags < 4; flags++) {
		const char *p = value, *before = p;
		size_t total = 0;
		char *word;
		int r;

		while ((r = value_word(&p, flags, arena, &word)) > 0) {
			assert(p > before);
			before = p;
			total += strlen(word);
		}
		assert(total <= strlen(value));
		assert(r == -EINVAL || (r == 0 && !*p));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assignments read = {0};
	struct arena arena = {0};
	struct diag d = {0};
	struct thing thing = {0};
	int r;

	r = unit_read("f", (const char *) data, size, &arena, &read, &d);
	assert(r == 0);
	check_assignments(&read);
	check_round_trip(&read, &arena);
	for (size_t i = 0; i < read.n; i++)
		check_words(read.item[i].value, &arena);
	r = keys_apply(&table, read.item, read.n, &arena, &d, &thing);
	assert(r == 0);
	check_diag(&d);
	diag_done(&d);
	arena_done(&arena);
	return 0;
}
