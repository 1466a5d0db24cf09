/* SPDX-License-Identifier: MIT */
#include "core/events.h"

#include <string.h>
#include <syslog.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

#define STRING(k, v) { .key = k, .type = SUPD_STRING, .value.string = v }
#define NUMBER(k, v) { .key = k, .type = SUPD_NUMBER, .value.number = v }
#define SPAN(k, v) { .key = k, .type = SUPD_SPAN, .value.usec = v }
#define TRUTH(k, v) { .key = k, .type = SUPD_BOOL, .value.boolean = v }
#define NOTHING(k) { .key = k, .type = SUPD_NULL }

static const struct {
	const char *type;
	struct supd_field field[6];
	const char *words;
	int level;
} rows[] = {
	{ "missed", { STRING("reason", "overlap"), NUMBER("count", 1) }, "missed: overlap", LOG_NOTICE },
	{ "missed", { STRING("reason", "downtime"), NUMBER("count", 7) }, "missed 7 moments: downtime", LOG_NOTICE },
	{ "retry", { NUMBER("attempt", 1), NUMBER("of", 1), SPAN("in", 1500000) }, "retry 1 of 1 in 1.500s",
	  LOG_NOTICE },
	{ "started", { STRING("cause", "manual"), NUMBER("attempt", 1), NOTHING("trigger") }, "started (manual)",
	  LOG_INFO },
	{ "started", { STRING("cause", "retry"), NUMBER("attempt", 2), STRING("trigger", "a.timer") },
	  "started by a.timer (retry, attempt 2)", LOG_INFO },
	{ "finished", { STRING("words", "success"), SPAN("duration", 2000000), TRUTH("failed", false), NOTHING("unmet") },
	  "success after 2s", LOG_INFO },
	{ "finished",
	  { STRING("words", "failed exit 3"), SPAN("duration", 0), TRUTH("failed", true), SPAN("restart_in", 100000) },
	  "failed exit 3 after 0, restart in 100ms", LOG_NOTICE },
	{ "finished", { STRING("words", "skipped"), STRING("unmet", "no [such] {file}") }, "skipped: no [such] {file}",
	  LOG_INFO },
	{ "reloaded", { NUMBER("changed", 1) }, "reloaded: 1 unit changed", LOG_NOTICE },
	{ "reloaded", { NUMBER("changed", 0) }, "reloaded: 0 units changed", LOG_NOTICE },
	{ "gate", { STRING("feature", "timers"), STRING("state", "enabled"), TRUTH("runtime", true) },
	  "experimental timers enabled by an admin, for this run of supd alone", LOG_NOTICE },
	{ "gate", { STRING("feature", "timers"), STRING("state", "disabled"), TRUTH("runtime", false) },
	  "experimental timers disabled by an admin", LOG_NOTICE },
	{ "a-new-one", { STRING("reason", "x") }, "a-new-one", LOG_INFO },
};

START_TEST(an_event_has_its_sentence_and_level)
{
	struct supd_row fields = { .field = rows[_i].field };
	char buf[EVENT_WORDS_MAX];

	while (fields.n < ELEMENTS(rows[_i].field) && rows[_i].field[fields.n].key)
		fields.n++;
	ck_assert_str_eq(event_words(rows[_i].type, &fields, buf, sizeof(buf)), rows[_i].words);
	ck_assert_int_eq(event_level(rows[_i].type, &fields), rows[_i].level);
	for (size_t n = 1; n < strlen(rows[_i].words); n++) {
		(void) event_words(rows[_i].type, &fields, buf, n);
		ck_assert_uint_eq(strlen(buf), n - 1);
	}
}
END_TEST

/* {key}, {key?} and {key|one|many} are keys of the type, and brackets close. */
START_TEST(sentences_name_fields_that_there_are)
{
	const struct event_type *t;

	for (size_t i = 0; (t = event_type_at(i)); i++) {
		int depth = 0;

		ck_assert_ptr_eq(event_type_find(t->name), t);
		for (const char *p = t->words; *p; p++) {
			bool is_known = *p != '{';

			depth += (*p == '[') - (*p == ']');
			ck_assert(depth == 0 || depth == 1);
			for (size_t f = 0; f < t->n_fields; f++) {
				size_t n = strlen(t->field[f].key);

				is_known |= strncmp(p + 1, t->field[f].key, n) == 0 && strchr("}|?", p[1 + n]);
			}
			ck_assert_msg(is_known, "%s: %s", t->name, p);
		}
		ck_assert_int_eq(depth, 0);
	}
}
END_TEST

START_TEST(without_fields_there_are_words_still)
{
	char buf[EVENT_WORDS_MAX];

	ck_assert_str_eq(event_words("paused", NULL, buf, sizeof(buf)), "paused by an admin");
	ck_assert_str_eq(event_words("missed", NULL, buf, sizeof(buf)), "missed: ");
}
END_TEST

static Suite *events_suite(void)
{
	Suite *suite = suite_create("events");
	TCase *words = tcase_create("words");

	tcase_add_loop_test(words, an_event_has_its_sentence_and_level, 0, ELEMENTS(rows));
	tcase_add_test(words, sentences_name_fields_that_there_are);
	tcase_add_test(words, without_fields_there_are_words_still);
	suite_add_tcase(suite, words);
	return suite;
}

TEST_MAIN(events_suite)
