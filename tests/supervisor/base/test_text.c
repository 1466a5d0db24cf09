/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

static const struct {
	const char *text;
	size_t n, valid;
} utf8[] = {
	{"", 0, 0},
	{"plain ascii, long enough for a word at a time", 45, 45},
	{"a\0b", 3, 3},
	{"é€😀", 9, 9},
	{"\x7f\xc2\x80\xdf\xbf", 5, 5},
	{"\xe0\xa0\x80\xef\xbf\xbf", 6, 6},
	{"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 8, 8},
	{"\x80", 1, 0},                 /* begins with a continuation byte */
	{"ab\xff", 3, 2},
	{"12345678\xc3", 9, 8},         /* cut short */
	{"1234567\xc3\xa9 1234567\xe2\x82", 19, 17},
	{"\xc0\xaf", 2, 0},             /* overlong */
	{"\xc1\xbf", 2, 0},
	{"\xe0\x9f\xbf", 3, 0},
	{"\xf0\x8f\xbf\xbf", 4, 0},
	{"x\xed\xa0\x80", 4, 1},        /* surrogate */
	{"\xed\x9f\xbf", 3, 3},
	{"\xf4\x90\x80\x80", 4, 0},     /* above U+10FFFF */
	{"\xf5\x80\x80\x80", 4, 0},
	{"\xe2\x28\xa1", 3, 0},
	{"\xe2\x82\x28", 3, 0},
};

START_TEST(utf8_is_judged_to_its_first_bad_byte)
{
	size_t n = utf8[_i].n, valid = utf8[_i].valid;

	/* in a buffer of its very size, so that the sanitizer sees a byte too far */
	char *copy = malloc(n);

	memcpy(copy, utf8[_i].text, n);
	ck_assert_uint_eq(text_utf8_valid(copy, n), valid);
	free(copy);
}
END_TEST

static const struct {
	const char *text;
	size_t n;
	const char *escaped, *printable;
} escapes[] = {
	{"plain é€😀 text", 20, "plain é€😀 text", "plain é€😀 text"},
	{"a\nb\tc\\d", 7, "a\\nb\\tc\\\\d", "a\\nb\\tc\\d"},
	{"\x1b[31m\x7f\r", 7, "\\x1b[31m\\x7f\\x0d", "\\x1b[31m\\x7f\\x0d"},
	{"\xff" "a\xc3", 3, "\\xffa\\xc3", "\\xffa\\xc3"},
	{"\xc2\x9b" "31m", 5, "\\xc2\\x9b31m", "\\xc2\\x9b31m"},
	{"\xc2\xa0", 2, "\xc2\xa0", "\xc2\xa0"},
	{"", 0, "", ""},
};

START_TEST(text_is_shown_without_harm)
{
	char *escaped = text_escape(escapes[_i].text, escapes[_i].n);
	char *printable = text_printable(escapes[_i].text);

	ck_assert_str_eq(escaped, escapes[_i].escaped);
	ck_assert_str_eq(printable, escapes[_i].printable);
	free(escaped);
	free(printable);
}
END_TEST

START_TEST(a_nul_byte_is_shown)
{
	char *escaped = text_escape("a\0b", 3);

	ck_assert_str_eq(escaped, "a\\x00b");
	free(escaped);
}
END_TEST

static const struct {
	const char *text;
	size_t size;
	const char *expected;
} cuts[] = {
	{"12345", 6, "12345"},        {"123456", 6, "12…"},       {"12345678901", 12, "12345678901"},
	{"123456789012", 12, "12345678…"}, {"12345678\033", 12, "12345678…"}, {"1234567\033", 12, "1234567\\x1b"},
	{"1234567\0338", 12, "1234567…"}, {"abcdef", 4, "…"},      {"abcdef", 3, ""},
	{"ab", 3, "ab"},              {"€€€", 10, "€€€"},         {"€€€€", 10, "€€…"},
	{"x€€€", 10, "x€…"},          {"", 1, ""},                {"a", 1, ""},
};

START_TEST(what_does_not_fit_is_cut_visibly)
{
	char *buf = malloc(cuts[_i].size);

	ck_assert_ptr_eq(text_escape_to(buf, cuts[_i].size, cuts[_i].text), buf);
	ck_assert_str_eq(buf, cuts[_i].expected);
	free(buf);
}
END_TEST

static const char *const vocabulary[] = {
	"ExecStart",    "ExecStartPre", "ExecStartPost", "ExecStop",   "User",       "Group",
	"OnCalendar",   "OnBootSec",    "OnActiveSec",   "Unit",       "Persistent", "RemainAfterExit",
	"WorkingDirectory", "Nice",     "UMask",         "Environment", "EnvironmentFile", "cond.timer", "backup.timer",
	NULL,
};

static const char *next_word(void *userdata, size_t i)
{
	(void) userdata;
	return vocabulary[i];
}

static const struct {
	const char *word, *expected;
} suggestions[] = {
	{"OnCallendar", "OnCalendar"},  {"ExecStrat", "ExecStart"},      {"Usr", "User"},
	{"execstart", "ExecStart"},     {"EXECSTART", "ExecStart"},      {"Gruop", "Group"},
	{"Nicee", "Nice"},              {"Persistant", "Persistent"},    {"WorkDirectory", "WorkingDirectory"},
	{"WorkingDir", NULL},           {"RemainsAfterExit", "RemainAfterExit"},
	{"EnvironmentFiles", "EnvironmentFile"},                         {"Enviroment", "Environment"},
	{"ExecStartPr", "ExecStartPre"}, {"OnBotSec", "OnBootSec"},      {"Frobnicate", NULL},
	{"X", NULL},                    {"", NULL},                      {"Foo", NULL},
	{"Restart", NULL},              {"Type", NULL},
	/* A suffix that both have is no likeness. */
	{"nope.timer", NULL},           {"con.timer", "cond.timer"},     {"bakcup.timer", "backup.timer"},
	{"backup.service", NULL},
};

START_TEST(near_words_are_suggested_and_far_ones_not)
{
	const char *got = text_suggest(suggestions[_i].word, next_word, NULL);

	ck_assert_pstr_eq(got, suggestions[_i].expected);
}
END_TEST

START_TEST(a_very_long_word_has_no_suggestion)
{
	char word[5000];

	memset(word, 'E', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	ck_assert_ptr_null(text_suggest(word, next_word, NULL));
}
END_TEST

START_TEST(ids_go_to_hex_and_back)
{
	const uint8_t id[16] = {0, 1, 0x7f, 0x80, 0xff, 0xab, 0xcd, 0xef, 9, 10, 11, 12, 13, 14, 15, 16};
	uint8_t back[16];
	char hex[33];

	text_hex16(id, hex);
	ck_assert_str_eq(hex, "00017f80ffabcdef090a0b0c0d0e0f10");
	ck_assert(text_unhex16(hex, back));
	ck_assert_mem_eq(id, back, 16);
	ck_assert(text_unhex16("00017F80FFABCDEF090A0B0C0D0E0F10", back));
	ck_assert_mem_eq(id, back, 16);
	memset(back, 7, sizeof(back));
	ck_assert(!text_unhex16("00017f80ffabcdef090a0b0c0d0e0f1", back));
	ck_assert(!text_unhex16("00017f80ffabcdef090a0b0c0d0e0f100", back));
	ck_assert(!text_unhex16("00017f80ffabcdef090a0b0c0d0e0f1g", back));
	ck_assert(!text_unhex16("", back));
	ck_assert_uint_eq(back[0], 7);
}
END_TEST

START_TEST(the_hash_is_fnv_1a_and_chains)
{
	uint64_t whole = text_hash(TEXT_HASH_INIT, "foobar", 6);

	ck_assert_uint_eq(whole, UINT64_C(0x85944171f73967e8));
	ck_assert_uint_eq(text_hash(text_hash(TEXT_HASH_INIT, "foo", 3), "bar", 3), whole);
	ck_assert_uint_eq(text_hash(TEXT_HASH_INIT, "", 0), TEXT_HASH_INIT);
}
END_TEST

static Suite *text_suite(void)
{
	Suite *s = suite_create("text");
	TCase *t = tcase_create("text");

	tcase_add_loop_test(t, utf8_is_judged_to_its_first_bad_byte, 0, ELEMENTS(utf8));
	tcase_add_loop_test(t, text_is_shown_without_harm, 0, ELEMENTS(escapes));
	tcase_add_test(t, a_nul_byte_is_shown);
	tcase_add_loop_test(t, what_does_not_fit_is_cut_visibly, 0, ELEMENTS(cuts));
	tcase_add_loop_test(t, near_words_are_suggested_and_far_ones_not, 0, ELEMENTS(suggestions));
	tcase_add_test(t, a_very_long_word_has_no_suggestion);
	tcase_add_test(t, ids_go_to_hex_and_back);
	tcase_add_test(t, the_hash_is_fnv_1a_and_chains);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(text_suite)
