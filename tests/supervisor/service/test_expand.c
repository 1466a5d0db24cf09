/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/environment.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

static char *const variables[] = {
	(char[]) { "ONE=one" },
	(char[]) { "TWO=two two" },
	(char[]) { "QUOTED='two two' too" },
	(char[]) { "OPEN='two two" },
	(char[]) { "ESCAPED=a\\ b \\'c \\" },
	(char[]) { "EMPTY=" },
	(char[]) { "BLANK= \t " },
	(char[]) { "NOTHING=''" },
	(char[]) { "DOLLAR=$ONE ${ONE}" },
	(char[]) { "a=lower" },
	NULL,
};

/* Each seen to come out so of systemd 252. */
static const struct {
	const char *command, *words;
} rows[] = {
	{ "/bin/a b c", "[/bin/a][b][c]" },
	/* a word of its own: split at blanks, quotes respected */
	{ "/bin/a $ONE", "[/bin/a][one]" },
	{ "/bin/a $TWO", "[/bin/a][two][two]" },
	{ "/bin/a x $QUOTED y", "[/bin/a][x][two two][too][y]" },
	{ "/bin/a $OPEN", "[/bin/a][two two]" },
	{ "/bin/a $ESCAPED", "[/bin/a][a b]['c][]" },
	{ "/bin/a $EMPTY $BLANK $NOTHING x", "[/bin/a][][x]" },
	{ "/bin/a $UNKNOWN x", "[/bin/a][x]" },
	{ "/bin/a '$TWO'", "[/bin/a][two][two]" },
	/* what is found is not looked at again */
	{ "/bin/a $DOLLAR ${DOLLAR}", "[/bin/a][$ONE][${ONE}][$ONE ${ONE}]" },
	/* only whole words */
	{ "/bin/a x$ONE $ONE/x -$ONE", "[/bin/a][x$ONE][-$ONE]" },
	{ "/bin/a $ $5 $-", "[/bin/a]" },
	/* inside words */
	{ "/bin/a ${ONE}", "[/bin/a][one]" },
	{ "/bin/a ${TWO} x${TWO}y", "[/bin/a][two two][xtwo twoy]" },
	{ "/bin/a ${EMPTY} ${UNKNOWN} x${UNKNOWN}y ${}", "[/bin/a][][][xy][]" },
	{ "/bin/a ${ONE}${ONE}", "[/bin/a][oneone]" },
	{ "/bin/a ${a}", "[/bin/a][lower]" },
	/* no syntax of a shell's */
	{ "/bin/a ${UNKNOWN:-x} ${ONE:+y} ${ONE", "[/bin/a][${UNKNOWN:-x}][${ONE:+y}][${ONE]" },
	{ "/bin/a ${A:-${ONE}}", "[/bin/a][${A:-one}]" },
	/* dollars */
	{ "/bin/a $$ $$ONE $${ONE} x$$y $$$$", "[/bin/a][$][$ONE][${ONE}][x$y][$$]" },
	{ "/bin/a x$ x$y$z", "[/bin/a][x$][x$y$z]" },
	{ "/bin/a $$$ONE", "[/bin/a][$$ONE]" },
	/* argv[0], too; the program itself never is a variable */
	{ "@/bin/a $ONE ${ONE}", "[one][one]" },
	{ "@/bin/a $UNKNOWN", "[/bin/a]" },
	{ "$UNKNOWN", "[$UNKNOWN]" },
	/* ':' leaves all as it stands */
	{ ":/bin/a $ONE ${ONE} $$", "[/bin/a][$ONE][${ONE}][$$]" },
};

static struct spec_text t;
static char **argv;

static int expand(const char *command)
{
	char text[256];

	(void) snprintf(text, sizeof(text), "ExecStart=%s", command);
	spec_text_init_good(&t, text);
	return exec_command_expand(&t.spec.command[EXEC_START].item[0], variables, &t.arena, &argv);
}

static void teardown(void)
{
	spec_text_done(&t);
}

START_TEST(a_command_is_expanded_as_systemd_does)
{
	char got[512] = "";

	ck_assert_int_eq(expand(rows[_i].command), 0);
	for (char **word = argv; *word; word++) {
		strcat(got, "[");
		strcat(got, *word);
		strcat(got, "]");
	}
	ck_assert_str_eq(got, rows[_i].words);
}
END_TEST

START_TEST(no_environment_at_all_is_fine)
{
	spec_text_init_good(&t, "ExecStart=/bin/a $A x${A}");
	ck_assert_int_eq(exec_command_expand(&t.spec.command[EXEC_START].item[0], NULL, &t.arena, &argv), 0);
	ck_assert_str_eq(argv[1], "x");
	ck_assert_ptr_null(argv[2]);
}
END_TEST

/* A word many times as long as the unit that asks for it. */
static int expand_long(const char *word, unsigned times)
{
	static char big[1024 * 1024];
	char *const environment[] = { big, NULL };
	static char text[1024];

	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "A=", 2);
	strcpy(text, "ExecStart=/bin/a ");
	while (times-- > 0)
		strcat(text, word);
	spec_text_init_good(&t, text);
	return exec_command_expand(&t.spec.command[EXEC_START].item[0], environment, &t.arena, &argv);
}

START_TEST(more_than_a_process_can_take_is_refused)
{
	static const char *const words[] = { "${A}", "$A ", "${A} " };

	ck_assert_int_eq(expand_long(words[_i], 20), -E2BIG);
}
END_TEST

START_TEST(what_it_can_take_is_not)
{
	ck_assert_int_eq(expand_long("${A} ", 2), 0);
	ck_assert_uint_eq(strlen(argv[2]), 1024 * 1024 - 3);
}
END_TEST

START_TEST(a_value_of_many_words_is_split_in_place)
{
	static char big[200001];
	char *const environment[] = { big, NULL };
	size_t n = 0;

	memcpy(big, "A=", 2);
	for (size_t i = 2; i + 1 < sizeof(big); i++)
		big[i] = i % 2 ? ' ' : 'w';
	spec_text_init_good(&t, "ExecStart=/bin/a $A");
	ck_assert_int_eq(exec_command_expand(&t.spec.command[EXEC_START].item[0], environment, &t.arena, &argv), 0);
	while (argv[n])
		n++;
	ck_assert_uint_eq(n, 1 + 99999);
	ck_assert_uint_le(arena_size(&t.arena), 8 * 1024 * 1024);
}
END_TEST

static Suite *expand_suite(void)
{
	Suite *s = suite_create("expand");
	TCase *tc = tcase_create("expand");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, a_command_is_expanded_as_systemd_does, 0, ELEMENTS(rows));
	tcase_add_test(tc, no_environment_at_all_is_fine);
	tcase_add_loop_test(tc, more_than_a_process_can_take_is_refused, 0, 3);
	tcase_add_test(tc, what_it_can_take_is_not);
	tcase_add_test(tc, a_value_of_many_words_is_split_in_place);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(expand_suite)
