/* SPDX-License-Identifier: MIT */
#include "core/transaction.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "service/dependencies.h"
#include "tests/lib/test_main.h"

/* Units and what they say, as text: "a Requires b, a After b"; names that begin with 'g' are
 * groups. What units are like: "b up, c absent"; all others are down. */

#define DEPENDENCIES_MAX 64

static const char *const state_words[] = {
	[NODE_DOWN] = "down", [NODE_UP] = "up", [NODE_COMING] = "coming", [NODE_FOREIGN] = "foreign",
	[NODE_ABSENT] = "absent", [NODE_MASKED] = "masked", [NODE_INVALID] = "invalid",
	[NODE_DISABLED] = "disabled",
};

static struct graph graph;
static struct dependency said[DEPENDENCIES_MAX];

static enum dependency_kind kind_from_word(const char *word)
{
	for (int i = 0; i < DEPENDENCY_KIND_COUNT; i++)
		if (str_equal(word, dependency_kind_to_string((enum dependency_kind) i)))
			return (enum dependency_kind) i;
	ck_abort_msg("no dependency %s", word);
	return DEPENDENCY_WANTS;
}

static struct graph_node *node(const char *name)
{
	struct graph_node *n = graph_node(&graph, name);

	n->is_group = *name == 'g';
	return n;
}

static void build(const char *text)
{
	char from[16], word[32], to[16];
	size_t n = 0;
	int used;

	for (; sscanf(text, "%15s %31s %15[^, ]%n", from, word, to, &used) == 3; text += used + (text[used] == ',')) {
		struct graph_node *first = node(from);

		ck_assert_uint_lt(n, DEPENDENCIES_MAX);
		said[n].kind = kind_from_word(word);
		ck_assert_int_eq(graph_add(first, node(to), &said[n++]), 0);
	}
}

static enum node_state state_of(void *userdata, const struct graph_node *n)
{
	const char *text = userdata;
	char name[16], word[16];
	int used;

	for (; text && sscanf(text, "%15s %15[^, ]%n", name, word, &used) == 2; text += used + (text[used] == ',')) {
		if (!str_equal(name, n->name))
			continue;
		for (size_t i = 0; i < ELEMENTS(state_words); i++)
			if (str_equal(word, state_words[i]))
				return (enum node_state) i;
		ck_abort_msg("no state %s", word);
	}
	return NODE_DOWN;
}

static void tear_down(void)
{
	graph_done(&graph);
	graph = (struct graph) { 0 };
}

/* "-c b a<b": c stops, b starts, a starts. */
static void jobs_to_text(const struct transaction *t, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (size_t i = 0; i < t->n && n < size; i++)
		n += (size_t) snprintf(buf + n, size - n, "%s%s%s", i > 0 ? " " : "",
				       t->job[i].kind == JOB_STOP ? "-" : "", t->job[i].node->name);
}

/* ---- starting ---- */

static const struct {
	const char *name, *graph, *states, *jobs;
} starts[] = {
	{ "a unit alone", "a After b", "", "a" },
	{ "what is wanted comes with it", "a Wants b", "", "a b" },
	{ "and, ordered, before it", "a Wants b, a After b", "", "b a" },
	{ "Before= is After= the other way", "a Requires b, b Before a", "", "b a" },
	{ "a chain", "a Requires b, a After b, b Requires c, b After c", "", "c b a" },
	{ "a diamond, each once", "a Requires b, a Requires c, a After b, a After c, b Requires d, b After d, c Requires d, "
	  "c After d", "", "d b c a" },
	{ "order without pulling pulls nothing", "a After b, a Wants c, c After b", "", "a c" },
	{ "order through what is not there counts for nothing", "a Wants c, a After b, b After c", "", "a c" },
	{ "two that require each other", "a Requires b, b Requires a", "", "a b" },
	{ "what is up is left alone", "a Requires b, a After b", "b up", "a" },
	{ "with all that it requires", "a Requires b, b Requires c", "b up", "a" },
	{ "what runs is waited for", "a Requires b, a After b", "b coming", "a" },
	{ "what only systemd has is there", "a Requires b", "b foreign", "a" },
	{ "a wanted unit that is missing", "a Wants b", "b absent", "a" },
	{ "that is masked, invalid, disabled", "a Wants b, a Wants c, a Wants d", "b masked, c invalid, d disabled", "a" },
	{ "a required unit that is missing", "a Requires b", "b absent", "!b does not exist" },
	{ "that is masked", "a Requires b", "b masked", "!b is masked" },
	{ "that is invalid", "a BindsTo b", "b invalid", "!b is invalid" },
	{ "that is disabled", "a Requires b", "b disabled", "!b is disabled (Enabled=no)" },
	{ "missing further down", "a Requires b, b Requires c", "c absent", "!c does not exist" },
	{ "missing below what is only wanted", "a Wants b, b Requires c, b Wants d", "c absent", "a" },
	{ "wanted here, required there", "a Wants b, a Requires c, c Requires b", "b absent", "!b does not exist" },
	{ "what a broken unit alone pulled in", "a Wants b, b Requires c, b Requires d, a Wants d", "c absent", "a d" },
	{ "Requisite= of what is up", "a Requisite b", "b up", "a" },
	{ "of what is coming", "a Requisite b", "b coming", "a" },
	{ "of what is down", "a Requisite b", "", "!b is not active" },
	{ "of what is started with it", "a Requisite b, a Wants b", "", "a b" },
	{ "Upholds= is Wants= at the start", "a Upholds b", "", "a b" },
	{ "what conflicts is stopped first", "a Conflicts b", "b up", "-b a" },
	{ "whoever says it", "b Conflicts a", "b coming", "-b a" },
	{ "what is down need not be stopped", "a Conflicts b", "", "a" },
	{ "of two that conflict the wanted one goes", "a Requires b, a Wants c, b Conflicts c", "", "a b" },
	{ "with what requires it", "a Requires b, a Wants c, c Requires d, b Conflicts d", "", "a b" },
	{ "two required ones that conflict", "a Requires b, a Requires c, b Conflicts c", "",
	  "!c conflicts with what is required" },
	{ "of two wanted ones one stays", "a Wants b, a Wants c, b Conflicts c", "", "a b" },
	{ "a group comes after its members", "g Wants a, g Requires b", "", "a b g" },
	{ "unless a member comes after it", "g Wants a, g Wants b, a After g", "", "b g a" },
	{ "be it by way of others", "g Wants a, a After c, c After g, g Wants c", "", "g c a" },
	{ "groups of groups", "g1 Wants g2, g2 Wants a", "", "a g2 g1" },
};

START_TEST(a_start_pulls_in_what_it_takes)
{
	char text[128], states[128];
	struct graph_node *anchor;
	struct transaction t;
	int r;

	build(starts[_i].graph);
	anchor = *starts[_i].graph == 'g' ? graph.node : graph_find(&graph, "a");
	ck_assert_ptr_null(graph_cycle(&graph));
	ck_assert_int_eq(graph_order_groups(&graph), 0);
	(void) snprintf(states, sizeof(states), "%s", starts[_i].states);
	r = transaction_start(&graph, anchor, state_of, states, &t);
	if (r == TRANSACTION_BROKEN)
		(void) snprintf(text, sizeof(text), "!%s %s", t.culprit->name, transaction_fault_words(t.fault));
	else
		jobs_to_text(&t, text, sizeof(text));
	ck_assert_msg(str_equal(text, starts[_i].jobs), "%s: '%s', not '%s'", starts[_i].name, text, starts[_i].jobs);
	ck_assert(r == 0 || r == TRANSACTION_BROKEN);
	transaction_done(&t);
	ck_assert_ptr_null(graph_cycle(&graph));
}
END_TEST

START_TEST(who_pulled_is_told)
{
	struct transaction t;
	char none[] = "";

	build("a Wants b, b Requires c");
	ck_assert_int_eq(transaction_start(&graph, graph.node, state_of, none, &t), 0);
	ck_assert_uint_eq(t.n, 3);
	ck_assert_ptr_null(t.job[0].puller);
	ck_assert_str_eq(t.job[1].puller->name, "a");
	ck_assert_str_eq(t.job[2].puller->name, "b");
	transaction_done(&t);
}
END_TEST

/* ---- stopping ---- */

static const struct {
	const char *name, *graph, *states;
	bool for_restart;
	const char *jobs;
} stops[] = {
	{ "a unit alone", "b Wants a", "a up, b up", false, "a" },
	{ "those that require it, first", "b Requires a, b After a", "a up, b up", false, "b a" },
	{ "only if they are up", "b Requires a, c BindsTo a", "a up, c coming", false, "a c" },
	{ "and so on", "b Requires a, c Requires b, b After a, c After b", "a up, b up, c up", false, "c b a" },
	{ "parts and the like", "b PartOf a, a PropagatesStopTo c, d StopPropagatedFrom a, e Requisite a",
	  "a up, b up, c up, d up, e up", false, "a b c d e" },
	{ "order among those that stop", "b PartOf a, c PartOf a, c After b", "a up, b up, c up", false, "a c b" },
	{ "a restart carries parts, but not stops", "b PartOf a, c Requires a, a PropagatesStopTo d", "a up, b up, c up, d up",
	  true, "a b c" },
};

START_TEST(a_stop_takes_with_it_what_cannot_do_without)
{
	char text[128], states[128];
	struct transaction t;

	build(stops[_i].graph);
	(void) snprintf(states, sizeof(states), "%s", stops[_i].states);
	ck_assert_int_eq(transaction_stop(&graph, graph_find(&graph, "a"), stops[_i].for_restart, state_of, states, &t), 0);
	jobs_to_text(&t, text, sizeof(text));
	for (char *p = text; (p = strchr(p, '-'));)
		memmove(p, p + 1, strlen(p));
	ck_assert_msg(str_equal(text, stops[_i].jobs), "%s: '%s', not '%s'", stops[_i].name, text, stops[_i].jobs);
	transaction_done(&t);
}
END_TEST

/* ---- circles ---- */

static const struct {
	const char *graph, *circle;
} circles[] = {
	{ "a After b, b After a", "a b" },
	{ "a Before b, a After b", "a b" },
	{ "a After b, b After c, c After a", "a b c" },
	{ "x After a, a After b, b After c, c After b", "b c" },
	{ "a Requires b, b Requires a", "" },
	{ "a After b, a After c, b After d, c After d", "" },
	{ "a Wants b, b Wants a, a After b", "" },
};

START_TEST(a_circle_of_order_is_found)
{
	struct graph_node *first, *n;
	char text[64] = "";

	build(circles[_i].graph);
	first = n = graph_cycle(&graph);
	for (bool again = n; again; again = n != first) {
		(void) snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? " " : "", n->name);
		n->is_excluded = true;
		n = graph_cycle_next(n)->to;
	}
	ck_assert_str_eq(text, circles[_i].circle);
	ck_assert_ptr_null(graph_cycle(&graph));
}
END_TEST

START_TEST(a_long_chain_takes_no_deep_stack)
{
	static struct dependency after = { .kind = DEPENDENCY_AFTER }, requires = { .kind = DEPENDENCY_REQUIRES };
	struct graph_node *first = graph_node(&graph, "0"), *last = first;
	struct transaction t;
	char name[16], none[] = "";

	for (int i = 1; i < 50000; i++) {
		struct graph_node *next;

		(void) snprintf(name, sizeof(name), "%d", i);
		next = graph_node(&graph, name);
		ck_assert_int_eq(graph_add(last, next, &after), 0);
		ck_assert_int_eq(graph_add(last, next, &requires), 0);
		last = next;
	}
	ck_assert_ptr_null(graph_cycle(&graph));
	ck_assert_int_eq(transaction_start(&graph, first, state_of, none, &t), 0);
	ck_assert_uint_eq(t.n, 50000);
	ck_assert_ptr_eq(t.job[0].node, last);
	ck_assert_ptr_eq(t.job[49999].node, first);
	transaction_done(&t);
}
END_TEST

static Suite *transaction_suite(void)
{
	Suite *s = suite_create("transaction");
	TCase *tc = tcase_create("transaction");

	tcase_add_checked_fixture(tc, NULL, tear_down);
	tcase_add_loop_test(tc, a_start_pulls_in_what_it_takes, 0, (int) ELEMENTS(starts));
	tcase_add_test(tc, who_pulled_is_told);
	tcase_add_loop_test(tc, a_stop_takes_with_it_what_cannot_do_without, 0, (int) ELEMENTS(stops));
	tcase_add_loop_test(tc, a_circle_of_order_is_found, 0, (int) ELEMENTS(circles));
	tcase_add_test(tc, a_long_chain_takes_no_deep_stack);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(transaction_suite)
