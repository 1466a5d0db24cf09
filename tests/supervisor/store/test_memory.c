/* SPDX-License-Identifier: MIT */

/* Scanning, reading, merging and applying with one allocation after the other failing, and with all from it on:
 * each ends in -ENOMEM or is done, and nothing is lost or left over (the sanitizers see to that). The linker puts the
 * functions below in the place of those of libc. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/keys.h"
#include "base/values.h"
#include "store/unit_files.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"
#include "unit/reader.h"

static struct {
	bool is_armed, is_sticky;
	unsigned at, n;
} memory;

static bool fails(void)
{
	if (!memory.is_armed)
		return false;
	memory.n++;
	if (memory.n != memory.at && !(memory.is_sticky && memory.n > memory.at))
		return false;
	errno = ENOMEM;
	return true;
}

#define WRAP(type, name, parameters, arguments)                        \
	type __real_##name parameters;                                 \
	type __wrap_##name parameters;                                 \
	type __wrap_##name parameters                                  \
	{                                                              \
		return fails() ? NULL : __real_##name arguments;       \
	}

WRAP(void *, malloc, (size_t n), (n))
WRAP(void *, calloc, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, (void *p, size_t n), (p, n))
WRAP(void *, reallocarray, (void *p, size_t n, size_t size), (p, n, size))
WRAP(char *, strdup, (const char *s), (s))
WRAP(char *, strndup, (const char *s, size_t n), (s, n))

int __real_vasprintf(char **ret, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int __wrap_vasprintf(char **ret, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
int __wrap_asprintf(char **ret, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* After a failure *ret is undefined: here it is something nobody may free. */
int __wrap_vasprintf(char **ret, const char *fmt, va_list ap)
{
	static char undefined;

	if (!fails())
		return __real_vasprintf(ret, fmt, ap);
	*ret = &undefined;
	return -1;
}

int __wrap_asprintf(char **ret, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __wrap_vasprintf(ret, fmt, ap);
	va_end(ap);
	return n;
}

/* ---- what is done with so little memory ---- */

struct thing {
	const char *text;
	bool flag;
};

static int parse_words(const struct key_context *c)
{
	const char *p = c->assignment->value;
	char *word;
	int r;

	while ((r = value_word(&p, VALUE_WORD_PLAIN, c->arena, &word)) > 0)
		;
	return r == -ENOMEM ? r : 0;
}

static const struct key_row rows[] = {
	{"Service", "User", KEY_KNOWN, key_parse_string, offsetof(struct thing, text), 0},
	{"Service", "Flag", KEY_KNOWN, key_parse_bool, offsetof(struct thing, flag), 0},
	{"Service", "ExecStart", KEY_KNOWN, parse_words, 0, 0},
	{"Service", "PrivateTmp", KEY_NOT_APPLIED, NULL, 0, 0},
};
static const struct key_table table = {.row = rows, .n = ELEMENTS(rows)};

static char *top;

static int load_unit(struct unit_files *files, const char *name)
{
	struct unit_source source = {0};
	struct assignments assigned = {0};
	struct arena arena = {0};
	struct diag d = {0};
	struct thing thing;
	int r;

	r = unit_files_read(files, name, &source);
	if (r == 0) {
		for (size_t i = 0; r == 0 && i < source.n_pieces; i++)
			r = unit_read(source.piece[i].path, source.piece[i].bytes, source.piece[i].n, &arena,
				      &assigned, &d);
		if (r == 0)
			r = keys_apply(&table, assigned.item, assigned.n, &arena, &d, &thing);
		diag_move(&d, &source.problems);
	}
	for (size_t i = 0; i < d.n; i++)
		free(diag_format(&d.entry[i]));
	diag_done(&d);
	arena_done(&arena);
	unit_source_done(&source);
	return r;
}

static int load_all(void)
{
	struct unit_files *files;
	struct diag d = {0};
	int r, worst;

	r = unit_files_new(&(struct unit_files_config) {.dirs = (const char *const[]) {top, NULL}}, &files);
	if (r < 0)
		return r;
	worst = unit_files_scan(files, ~0u, &d);
	for (size_t i = 0; i < unit_files_count(files); i++) {
		r = load_unit(files, unit_files_name(files, i));
		worst = r < 0 ? r : worst;
	}
	r = worst < 0 ? 0 : load_unit(files, "t@asked.service");
	worst = r < 0 ? r : worst;
	diag_done(&d);
	unit_files_free(files);
	return worst;
}

static void setup(void)
{
	char *link;

	top = test_dir_new();
	test_dir_write_text(top, "a.service",
			    "[Service]\nUser=a\nFlag=maybe\nExecStart=/bin/a \\\n  'b c' \"d\"\nPrivateTmp=yes\n"
			    "Usr=b\nnonsense\n[Servcie]\nA=1\n");
	test_dir_write_text(top, "a.service.d/1.conf", "[Service]\nUser=b\n");
	test_dir_write_text(top, "service.d/1.conf", "[Service]\nUser=c\n");
	test_dir_write_text(top, "b.timer", "");
	test_dir_write_text(top, "default.target.wants/a.service", "");
	link = test_dir_path(top, "alias.service");
	ck_assert_int_eq(symlink("a.service", link), 0);
	free(link);
	test_dir_write_text(top, "t@.service", "[Service]\nUser=%i\n");
	test_dir_write_text(top, "default.target.wants/t@x.service", "");
	link = test_dir_path(top, "other@.service");
	ck_assert_int_eq(symlink("t@.service", link), 0);
	free(link);
	test_dir_write_text(top, "default.target.wants/other@y.service", "");
	link = test_dir_path(top, "loop.service");
	ck_assert_int_eq(symlink("loop.service", link), 0);
	free(link);
}

static void teardown(void)
{
	top = test_dir_free(top);
}

/* _i: from the failure on, every allocation fails */
START_TEST(every_allocation_may_fail)
{
	int r;

	memory.is_sticky = _i;
	for (memory.at = 1;; memory.at++) {
		memory.n = 0;
		memory.is_armed = true;
		r = load_all();
		memory.is_armed = false;
		if (memory.n < memory.at)
			break;
		ck_assert_msg(r == 0 || r == -ENOMEM, "allocation %u: %s", memory.at, strerror(-r));
	}
	ck_assert_int_eq(r, 0);
	ck_assert_uint_gt(memory.at, 50);
}
END_TEST

static Suite *memory_suite(void)
{
	Suite *s = suite_create("memory");
	TCase *t = tcase_create("memory");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_allocation_may_fail, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(memory_suite)
