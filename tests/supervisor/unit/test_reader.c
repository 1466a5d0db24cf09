/* SPDX-License-Identifier: MIT */
#include "unit/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static struct arena arena;
static struct diag diag;
static struct assignments read_so_far;

static void setup(void)
{
	read_so_far = (struct assignments) {0};
}

static void teardown(void)
{
	arena_done(&arena);
	diag_done(&diag);
}

/* From a buffer of its very size, so that a sanitizer sees a byte too far. */
static void read_bytes(const char *bytes, size_t n)
{
	char *copy = malloc(n);

	if (n)
		memcpy(copy, bytes, n);
	ck_assert_int_eq(unit_read("f", copy, n, &arena, &read_so_far, &diag), 0);
	if (n)
		memset(copy, 'x', n); /* nothing may refer to it any more */
	free(copy);
}

/* "line [section:header line] key=value" for each assignment, "! mistake" for each mistake. */
static char *summary(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; i < read_so_far.n; i++) {
		const struct assignment *a = &read_so_far.item[i];

		ck_assert_str_eq(a->file, "f");
		fprintf(f, "%u [%s:%u] %s=%s\n", a->line, a->section, a->section_line, a->key, a->value);
	}
	for (size_t i = 0; i < diag.n; i++) {
		char *line = diag_format(&diag.entry[i]);

		ck_assert_int_eq(diag.entry[i].severity, DIAG_ERROR);
		fprintf(f, "! %s\n", line);
		free(line);
	}
	fclose(f);
	return text;
}

#define B(text) (text), sizeof(text) - 1

static const struct {
	const char *bytes;
	size_t n;
	const char *expected;
} files[] = {
	{B(""), ""},
	{B("\n\n  \n\t\n"), ""},
	{B("# only\n; comments"), ""},
	{B("[Unit]\nDescription=x\n"), "2 [Unit:1] Description=x\n"},
	{B("[Unit]\nDescription=no newline at the end"), "2 [Unit:1] Description=no newline at the end\n"},
	{B("[Service]\n  ExecStart \t= \t/bin/true  a \t\n"), "2 [Service:1] ExecStart=/bin/true  a\n"},
	{B("[A]\nK=\nK= \n"), "2 [A:1] K=\n3 [A:1] K=\n"},
	{B("[A]\nK=a=b=c\n"), "2 [A:1] K=a=b=c\n"},
	{B("[A]\nK=1\n\n[B]\nK=2\n[A]\nK=3\n"), "2 [A:1] K=1\n5 [B:4] K=2\n7 [A:6] K=3\n"},
	/* indented lines stand for themselves */
	{B(" [A] \n K=1\n  L=2\n"), "2 [A:1] K=1\n3 [A:1] L=2\n"},
	{B("[X-My Section]\nX-K_1=1\n"), "2 [X-My Section:1] X-K_1=1\n"},

	/* comments: only as the first character of a line that is not blank */
	{B("[A]\n#K=1\n ; K=2\n\t# K=3\nK=4 # not one\nL=5 ; nor this\nM=;\nN=#\n"),
	 "5 [A:1] K=4 # not one\n6 [A:1] L=5 ; nor this\n7 [A:1] M=;\n8 [A:1] N=#\n"},
	{B("[A]\n# goes on? \\\nK=1\n"), "3 [A:1] K=1\n"},
	{B("[A]\n# latin-1: \xe9\nK=1\n"), "3 [A:1] K=1\n"},

	/* continuation */
	{B("[A]\nK=a\\\nb\nL=1\n"), "2 [A:1] K=a b\n4 [A:1] L=1\n"},
	{B("[A]\nK=a \\\n   b \\\n\tc\nL=1\n"), "2 [A:1] K=a     b  \tc\n5 [A:1] L=1\n"},
	{B("[A]\nK=a\\\n# between\n  ; and this \\\nb\nL=1\n"), "2 [A:1] K=a b\n6 [A:1] L=1\n"},
	{B("[A]\nK=a\\\n\nL=1\n"), "2 [A:1] K=a\n4 [A:1] L=1\n"},
	{B("[A]\nK=a\\\\\nL=1\n"), "2 [A:1] K=a\\\\\n3 [A:1] L=1\n"},
	{B("[A]\nK=a\\\\\\\nb\n"), "2 [A:1] K=a\\\\ b\n"},
	{B("[A]\nK=a\\ \nL=1\n"), "2 [A:1] K=a\\\n3 [A:1] L=1\n"},
	{B("[A]\nK=a\\"), "2 [A:1] K=a\n"},
	{B("[A]\nK=a\\\n"), "2 [A:1] K=a\n"},
	{B("[A]\nK\\\n=\\\nv\n"), "2 [A:1] K=v\n"},
	{B("[A]\nK=1\n\\\n"), "2 [A:1] K=1\n"},
	{B("[A]\n\\\nK=1\n"), "2 [A:1] K=1\n"},
	{B("[A]\nK=a\\\n[B]\n"), "2 [A:1] K=a [B]\n"},

	/* ends of lines as for systemd; a byte order mark */
	{B("[A]\r\nK=1\r\nL=a\\\r\nb\r\n\r\nM=2"), "2 [A:1] K=1\n3 [A:1] L=a b\n6 [A:1] M=2\n"},
	{B("[A]\rK=1\rL=2\r"), "2 [A:1] K=1\n3 [A:1] L=2\n"},
	{B("[A]\n\rK=1\n\r\n\rL=2"), "2 [A:1] K=1\n4 [A:1] L=2\n"},
	{B("\xef\xbb\xbf[A]\nK=1\n"), "2 [A:1] K=1\n"},
	{B("\xef\xbb\xbf"), ""},
	{B("\xef\xbb\xbf# comment\n[A]\nK=1\n"), "3 [A:2] K=1\n"},

	/* UTF-8 is verbatim, and so is what looks special elsewhere */
	{B("[A]\nK=gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x98\x80\n"), "2 [A:1] K=grüß dich 😀\n"},
	{B("[A]\nK=%n $HOME ${X} \"q\" 'r' \\x20 a:b [c]\n"),
	 "2 [A:1] K=%n $HOME ${X} \"q\" 'r' \\x20 a:b [c]\n"},

	/* mistakes, each with its line, and everything else is read */
	{B("K=1\n[A]\nL=2\n"), "3 [A:2] L=2\n! f:1: K= stands before the first section header\n"},
	{B("[A]\nnonsense\nK=1\n"), "3 [A:1] K=1\n! f:2: 'nonsense' is neither Key=Value nor a section header\n"},
	{B("[A]\nK: 1\nK=1\n"), "3 [A:1] K=1\n! f:2: 'K: 1' is neither Key=Value nor a section header\n"},
	{B("[A]\n = 1\nK=1\n"), "3 [A:1] K=1\n! f:2: no key before '=' in '= 1'\n"},
	{B("[A]\nK L=1\nM=1\n"),
	 "3 [A:1] M=1\n! f:2: 'K L' is no key: only letters, digits, '-' and '_' stand before '='\n"},
	{B("[A\nK=1\n[B]\nL=1\n"), "4 [B:3] L=1\n! f:1: '[A' is no section header such as [Service]\n"},
	{B("[]\nK=1\n[B]\nL=1\n"), "4 [B:3] L=1\n! f:1: '[]' is no section header such as [Service]\n"},
	{B("[A] # comment\n[B]\nL=1\n"),
	 "3 [B:2] L=1\n! f:1: '[A] # comment' is no section header such as [Service]\n"},
	{B("[A]]\n[B]\nL=1\n"), "3 [B:2] L=1\n! f:1: '[A]]' is no section header such as [Service]\n"},
	{B("[A]\nK=1\n[B\nnonsense\nL=1\n"),
	 "2 [A:1] K=1\n! f:3: '[B' is no section header such as [Service]\n"
	 "! f:4: 'nonsense' is neither Key=Value nor a section header\n"},
	{B("[A]\nK=a\0b\nL=1\n"), "3 [A:1] L=1\n! f:2: NUL byte in column 4\n"},
	{B("[A]\n# a\0b\nL=1\n"), "3 [A:1] L=1\n! f:2: NUL byte in column 4\n"},
	{B("\0\0\0"), "! f:1: NUL byte in column 1\n"},
	{B("[A]\nK=\xff\nL=1\n"), "3 [A:1] L=1\n! f:2: byte 0xff in column 3 is not valid UTF-8\n"},
	{B("[A]\nK=a\xc3"), "! f:2: byte 0xc3 in column 4 is not valid UTF-8\n"},
	{B("[A]\nK=a\\\nb\xed\xa0\x80\\\nc\nL=1\n"),
	 "5 [A:1] L=1\n! f:3: byte 0xed in column 2 is not valid UTF-8\n"},
	{B("[\xe9]\nK=1\n"), "! f:1: byte 0xe9 in column 2 is not valid UTF-8\n"
			     "! f:2: K= stands before the first section header\n"},
	{B("[A]\n\033[31mK=1\n"),
	 "! f:2: '\\x1b[31mK' is no key: only letters, digits, '-' and '_' stand before '='\n"},
};

START_TEST(a_file_reads_as_systemd_syntax)
{
	char *got;

	read_bytes(files[_i].bytes, files[_i].n);
	got = summary();
	ck_assert_str_eq(got, files[_i].expected);
	free(got);
}
END_TEST

/* inih as it is cuts this line at 199 bytes and takes what follows for a key of its own. */
START_TEST(a_long_line_is_not_split)
{
	char text[400], expected[400];
	char padding[190];

	memset(padding, 'a', sizeof(padding) - 1);
	padding[sizeof(padding) - 1] = '\0';
	for (size_t cut = 160; cut < sizeof(padding); cut++) {
		int n = snprintf(text, sizeof(text), "[Service]\nExecStart=/bin/echo %sUser=root\n",
				 padding + sizeof(padding) - 1 - cut);
		char *got;

		read_bytes(text, (size_t) n);
		snprintf(expected, sizeof(expected), "2 [Service:1] ExecStart=/bin/echo %sUser=root\n",
			 padding + sizeof(padding) - 1 - cut);
		got = summary();
		ck_assert_str_eq(got, expected);
		free(got);
		setup();
	}
}
END_TEST

START_TEST(names_of_any_length_arrive_whole)
{
	char *text = NULL, *section = malloc(5001), *key = malloc(5001), *value = malloc(500001);
	int n;

	memset(section, 's', 5000);
	section[5000] = '\0';
	memset(key, 'k', 5000);
	key[5000] = '\0';
	memset(value, 'v', 500000);
	value[500000] = '\0';
	n = asprintf(&text, "[%s]\n%s=%s\n", section, key, value);
	ck_assert_int_gt(n, 0);
	read_bytes(text, (size_t) n);
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_uint_eq(read_so_far.n, 1);
	ck_assert_str_eq(read_so_far.item[0].section, section);
	ck_assert_str_eq(read_so_far.item[0].key, key);
	ck_assert_str_eq(read_so_far.item[0].value, value);
	free(text);
	free(section);
	free(key);
	free(value);
}
END_TEST

START_TEST(every_assignment_keeps_its_place)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	for (unsigned i = 0; i < 3000; i++)
		fprintf(f, "%sK%u=v%u\n", i % 100 == 0 ? "[S]\n" : "", i, i);
	fclose(f);
	read_bytes(text, size);
	free(text);
	ck_assert_uint_eq(diag.n, 0);
	ck_assert_uint_eq(read_so_far.n, 3000);
	for (unsigned i = 0; i < 3000; i++) {
		const struct assignment *a = &read_so_far.item[i];

		ck_assert_uint_eq(a->line, i + i / 100 + 2);
		ck_assert_uint_eq(a->section_line, i / 100 * 101 + 1);
		ck_assert_int_eq(atoi(a->key + 1), (int) i);
		ck_assert_int_eq(atoi(a->value + 1), (int) i);
	}
}
END_TEST

START_TEST(files_of_a_unit_append)
{
	char *got;

	read_bytes(B("[A]\nK=1\nK=2\n"));
	read_bytes(B("# nothing\n"));
	read_bytes(B("[A]\nK=3\n"));
	got = summary();
	ck_assert_str_eq(got, "2 [A:1] K=1\n3 [A:1] K=2\n2 [A:1] K=3\n");
	free(got);
}
END_TEST

START_TEST(a_section_ends_with_its_file)
{
	char *got;

	read_bytes(B("[A]\nK=1\n"));
	read_bytes(B("K=2\n"));
	got = summary();
	ck_assert_str_eq(got, "2 [A:1] K=1\n! f:1: K= stands before the first section header\n");
	free(got);
}
END_TEST

START_TEST(a_file_that_is_too_large_is_refused)
{
	char *text = malloc(UNIT_FILE_MAX + 1);

	memset(text, '\n', UNIT_FILE_MAX + 1);
	memcpy(text, "[A]\nK=1\n", 8);
	read_bytes(text, UNIT_FILE_MAX);
	ck_assert_uint_eq(read_so_far.n, 1);
	ck_assert_uint_eq(diag.n, 0);
	read_bytes(text, UNIT_FILE_MAX + 1);
	ck_assert_uint_eq(read_so_far.n, 1);
	ck_assert_uint_eq(diag.n_errors, 1);
	ck_assert_str_eq(diag.entry[0].message, "larger than 1024 KiB");
	free(text);
}
END_TEST

START_TEST(mistakes_are_collected_up_to_a_bound)
{
	char *text = malloc(20000);

	for (size_t i = 0; i < 20000; i += 2)
		memcpy(text + i, "x\n", 2);
	read_bytes(text, 20000);
	free(text);
	ck_assert_uint_eq(diag.n, 101);
	ck_assert_uint_eq(diag.entry[99].line, 100);
	ck_assert_str_eq(diag.entry[100].message, "too many mistakes, what follows is not looked at");
}
END_TEST

START_TEST(a_long_mistake_is_cut)
{
	char text[2000];

	memset(text, 'x', sizeof(text));
	read_bytes(text, sizeof(text));
	ck_assert_uint_eq(diag.n, 1);
	ck_assert_uint_lt(strlen(diag.entry[0].message), 200);
	ck_assert_ptr_nonnull(strstr(diag.entry[0].message, "xxx…' is neither"));
}
END_TEST

/* What a usual service takes, so that a change shows. */
START_TEST(a_usual_unit_takes_little_memory)
{
	read_bytes(B("[Unit]\nDescription=Daily backup\n\n[Service]\nType=oneshot\n"
		     "ExecStart=/usr/bin/backup --all\nUser=backup\nNice=10\n"));
	ck_assert_uint_eq(read_so_far.n, 5);
	ck_assert_uint_le(arena_size(&arena), 768);
}
END_TEST

static Suite *reader_suite(void)
{
	Suite *s = suite_create("reader");
	TCase *t = tcase_create("reader");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, a_file_reads_as_systemd_syntax, 0, ELEMENTS(files));
	tcase_add_test(t, a_long_line_is_not_split);
	tcase_add_test(t, names_of_any_length_arrive_whole);
	tcase_add_test(t, every_assignment_keeps_its_place);
	tcase_add_test(t, files_of_a_unit_append);
	tcase_add_test(t, a_section_ends_with_its_file);
	tcase_add_test(t, a_file_that_is_too_large_is_refused);
	tcase_add_test(t, mistakes_are_collected_up_to_a_bound);
	tcase_add_test(t, a_long_mistake_is_cut);
	tcase_add_test(t, a_usual_unit_takes_little_memory);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(reader_suite)
