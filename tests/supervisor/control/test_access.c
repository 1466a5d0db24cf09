/* SPDX-License-Identifier: MIT */
#include "control/access.h"

#include "base/cleanup.h"
#include "control/methods.h"
#include "tests/lib/test_main.h"

#define OWN 1000
#define READERS 500

static gid_t readers_group[] = { 20, READERS };
static gid_t nobody_group[] = { OVERFLOW_ID };

enum who { ROOT, OWNER, MEMBER, OTHER, NOBODY, UNKNOWN, NOBODYS_GROUP };
static const struct peer peers[] = {
	[ROOT] = { .uid = 0 },
	[OWNER] = { .uid = OWN, .gid = OWN },
	[MEMBER] = { .uid = 1001, .gid = 1001, .group = readers_group, .n_groups = ELEMENTS(readers_group) },
	[OTHER] = { .uid = 1002, .gid = 1002 },
	[NOBODY] = { .uid = OVERFLOW_ID, .gid = READERS },
	[UNKNOWN] = { .uid = (uid_t) -1, .gid = READERS },
	[NOBODYS_GROUP] = { .uid = 1003, .gid = OVERFLOW_ID, .group = nobody_group, .n_groups = 1 },
};

/* Who × what supd.conf says. */
static const struct {
	enum who who;
	enum right all, group, none;
} judgements[] = {
	{ ROOT, RIGHT_OWN, RIGHT_OWN, RIGHT_OWN },
	{ OWNER, RIGHT_OWN, RIGHT_OWN, RIGHT_OWN },
	{ MEMBER, RIGHT_LOOK, RIGHT_LOOK, RIGHT_NONE },
	{ OTHER, RIGHT_LOOK, RIGHT_NONE, RIGHT_NONE },
	{ NOBODY, RIGHT_LOOK, RIGHT_NONE, RIGHT_NONE },
	{ UNKNOWN, RIGHT_LOOK, RIGHT_NONE, RIGHT_NONE },
	{ NOBODYS_GROUP, RIGHT_LOOK, RIGHT_NONE, RIGHT_NONE },
};

static enum right judge(enum control_access read, uid_t own, enum who who)
{
	const struct access_policy policy = { own, read, READERS };

	return access_judge(&policy, &peers[who]);
}

START_TEST(credentials_give_the_right_that_the_configuration_says)
{
	enum who who = judgements[_i].who;

	ck_assert_int_eq(judge(CONTROL_READ_ALL, OWN, who), judgements[_i].all);
	ck_assert_int_eq(judge(CONTROL_READ_GROUP, OWN, who), judgements[_i].group);
	ck_assert_int_eq(judge(CONTROL_READ_NONE, OWN, who), judgements[_i].none);
}
END_TEST

START_TEST(nobody_is_no_owner_even_of_a_daemon_that_runs_as_nobody)
{
	ck_assert_int_eq(judge(CONTROL_READ_NONE, OVERFLOW_ID, NOBODY), RIGHT_NONE);
	ck_assert_int_eq(judge(CONTROL_READ_ALL, OVERFLOW_ID, NOBODY), RIGHT_LOOK);
	ck_assert_int_eq(judge(CONTROL_READ_ALL, (uid_t) -1, UNKNOWN), RIGHT_LOOK);
}
END_TEST

START_TEST(the_group_of_nobody_lets_nobody_in)
{
	const struct access_policy policy = { OWN, CONTROL_READ_GROUP, OVERFLOW_ID };

	ck_assert_int_eq(access_judge(&policy, &peers[NOBODYS_GROUP]), RIGHT_NONE);
}
END_TEST

START_TEST(the_primary_group_counts_as_well)
{
	const struct access_policy policy = { OWN, CONTROL_READ_GROUP, 1002 };

	ck_assert_int_eq(access_judge(&policy, &peers[OTHER]), RIGHT_LOOK);
}
END_TEST

/* The whole table of the socket: what each method takes. A method that is not here fails the test
 * below. */
static const struct {
	const char *name;
	bool is_for_all;
} methods[] = {
	{ "GetVersion", true },      { "ListUnits", true },        { "GetUnit", true },
	{ "ShowUnit", true },        { "CatUnit", true },          { "ListTable", true },
	{ "ListExperimental", true }, { "StartUnit", false },      { "StopUnit", false },
	{ "RestartUnit", false },    { "EnableUnit", false },      { "DisableUnit", false },
	{ "TriggerUnit", false },    { "ResetUnit", false },       { "Reload", false },
	{ "SetExperimental", false }, { "Pause", false },          { "Resume", false },
	{ "GetEnvironment", false }, { "MaskUnit", false },        { "UnmaskUnit", false },
	{ "ReadOutput", false },     { "RunTransient", false },
	{ "ListHistory", true },     { "GetStatistics", true },
	{ "ReadEvents", true },
	{ "SkipMoment", false },     { "UnskipMoment", false },    { "GetPlan", true },
};

START_TEST(each_method_takes_its_right_from_each_caller)
{
	const struct method *m = method_find(methods[_i].name);

	ck_assert_ptr_nonnull(m);
	for (size_t i = 0; i < ELEMENTS(peers); i++)
		for (int read = CONTROL_READ_ALL; read <= CONTROL_READ_NONE; read++) {
			enum right right = judge((enum control_access) read, OWN, (enum who) i);
			bool expected = methods[_i].is_for_all ? right != RIGHT_NONE : right == RIGHT_OWN;

			ck_assert_int_eq(method_is_allowed(m, right), expected);
		}
}
END_TEST

START_TEST(no_method_is_missing_from_the_table_above)
{
	size_t n = 0;

	for (const struct method *m; (m = method_at(n)); n++) {
		bool is_known = false;

		for (size_t i = 0; i < ELEMENTS(methods); i++)
			is_known |= str_equal(methods[i].name, m->name);
		ck_assert_msg(is_known, "%s has no row in this test", m->name);
	}
	ck_assert_uint_eq(n, ELEMENTS(methods));
}
END_TEST

START_TEST(what_is_not_in_the_table_is_denied_to_all)
{
	const struct method forgotten = { "Forgotten", "", "", CONTROL_VERSION, RIGHT_NONE };

	for (int right = RIGHT_NONE; right <= RIGHT_OWN; right++) {
		ck_assert(!method_is_allowed(method_find("NoSuchMethod"), (enum right) right));
		ck_assert(!method_is_allowed(&forgotten, (enum right) right));
	}
}
END_TEST

START_TEST(each_verb_has_a_method)
{
	for (int verb = 0; verb < CONTROL_VERB_COUNT; verb++) {
		bool is_there = false;

		for (size_t i = 0; method_at(i); i++)
			is_there |= method_at(i)->verb == (enum control_verb) verb;
		ck_assert_msg(is_there, "verb %d cannot be asked", verb);
	}
}
END_TEST

static Suite *access_suite(void)
{
	Suite *s = suite_create("control/access");
	TCase *tc = tcase_create("access");

	tcase_add_loop_test(tc, credentials_give_the_right_that_the_configuration_says, 0,
			    ELEMENTS(judgements));
	tcase_add_test(tc, nobody_is_no_owner_even_of_a_daemon_that_runs_as_nobody);
	tcase_add_test(tc, the_group_of_nobody_lets_nobody_in);
	tcase_add_test(tc, the_primary_group_counts_as_well);
	tcase_add_loop_test(tc, each_method_takes_its_right_from_each_caller, 0, ELEMENTS(methods));
	tcase_add_test(tc, no_method_is_missing_from_the_table_above);
	tcase_add_test(tc, what_is_not_in_the_table_is_denied_to_all);
	tcase_add_test(tc, each_verb_has_a_method);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(access_suite)
