/* SPDX-License-Identifier: MIT */
/* The stream of events, with a control server that only takes notes. */
#include "daemon/supd_events.h"

#include <stdio.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "control/server.h"
#include "core/report.h"
#include "daemon/supd_control.h"
#include "tests/lib/test_main.h"

#define N 2500

static struct {
	uint64_t seq[N];
	size_t n;            /* rows that are no "lost" */
	uint64_t n_lost;     /* what all of these say */
	unsigned n_lost_rows;
	char last_type[32], last_level[16];
	int status;
	bool is_done, is_gone;
	bool is_behind;      /* nothing more goes out */
	size_t n_sent;       /* since it was set */
} heard;

static struct supd_control control;

/* ---- the server ---- */

static const struct supd_field *field(const struct report *r, const char *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_equal(r->field[i].key, key))
			return &r->field[i];
	ck_abort_msg("no field %s", key);
}

void supd_control_row(struct supd_control *c, uint64_t id, const struct report *r)
{
	const char *type = field(r, "type")->value.string;

	ck_assert_ptr_eq(c, &control);
	ck_assert_uint_eq(id, 7);
	(void) snprintf(heard.last_type, sizeof(heard.last_type), "%s", type);
	(void) snprintf(heard.last_level, sizeof(heard.last_level), "%s", field(r, "level")->value.string);
	heard.n_sent++;
	if (str_equal(type, "lost")) {
		heard.n_lost += (uint64_t) field(r, "count")->value.number;
		heard.n_lost_rows++;
		return;
	}
	ck_assert_uint_lt(heard.n, N);
	heard.seq[heard.n++] = (uint64_t) field(r, "seq")->value.number;
}

void control_done(struct control_server *server _unused_, uint64_t id _unused_, int status, const char *message _unused_)
{
	heard.status = status;
	heard.is_done = true;
}

void control_flush(struct control_server *server _unused_, uint64_t id _unused_)
{
}

bool control_is_awaited(struct control_server *server _unused_, uint64_t id _unused_)
{
	return !heard.is_gone;
}

bool control_is_behind(struct control_server *server _unused_, uint64_t id _unused_)
{
	return heard.is_behind;
}

/* ---- set up ---- */

static struct supd_now now(void *userdata _unused_)
{
	return (struct supd_now) { .real = 1000, .boot = 1000 };
}

static void no_log(void *userdata _unused_, const struct log_line *line _unused_)
{
}

static void set_up(void)
{
	memset(&heard, 0, sizeof(heard));
	control = (struct supd_control) { .now = now };
	log_set_sink(no_log, NULL);
	ck_assert_int_ge(sd_event_new(&control.event), 0);
}

static void tear_down(void)
{
	events_done(&control.events);
	control.event = sd_event_unref(control.event);
	log_set_sink(NULL, NULL);
}

static void happen(const char *type, const char *unit, size_t n)
{
	for (size_t i = 0; i < n; i++)
		events_tell(&control, &(struct happening) { .type = type, .unit = unit });
}

static void follow(const char *types)
{
	events_read(&control, &(struct control_request) {
				      .verb = CONTROL_EVENTS, .id = 7, .lines = 1, .follow = true, .types = types });
}

/* Its pause is over when it has read what it was sent. */
static void catch_up(void)
{
	heard.is_behind = false;
	heard.n_sent = 0;
	while (heard.n_sent == 0)
		ck_assert_int_ge(sd_event_run(control.event, UINT64_MAX), 0);
}

/* ---- tests ---- */

START_TEST(who_is_too_slow_loses_the_oldest_and_is_told)
{
	follow(NULL);
	happen("paused", NULL, 1);
	ck_assert_uint_eq(heard.n, 1);
	heard.is_behind = true;
	happen("resumed", NULL, 1); /* goes out, and fills what it reads from */
	ck_assert_uint_eq(heard.n, 2);
	happen("paused", NULL, 1500);
	ck_assert_uint_eq(heard.n, 2);
	catch_up();
	ck_assert_uint_eq(heard.n_lost_rows, 1);
	ck_assert_uint_eq(heard.n_lost, 500);
	ck_assert_uint_eq(heard.n, 2 + 1000);
	ck_assert_uint_eq(heard.seq[2], heard.seq[1] + 501);
	for (size_t i = 3; i < heard.n; i++)
		ck_assert_uint_eq(heard.seq[i], heard.seq[i - 1] + 1);
	happen("paused", NULL, 1); /* and it goes on */
	ck_assert_uint_eq(heard.seq[heard.n - 1], heard.seq[heard.n - 2] + 1);
}
END_TEST

START_TEST(what_is_lost_is_told_whatever_types_are_wanted)
{
	follow("gate");
	happen("gate", NULL, 1);
	heard.is_behind = true;
	happen("gate", NULL, 1);
	happen("paused", NULL, 1200);
	heard.is_behind = false;
	heard.n_sent = 0;
	while (heard.n_sent == 0)
		ck_assert_int_ge(sd_event_run(control.event, UINT64_MAX), 0);
	ck_assert_uint_eq(heard.n, 2);
	ck_assert_str_eq(heard.last_type, "lost");
	ck_assert_str_eq(heard.last_level, "warning");
}
END_TEST

START_TEST(what_is_kept_is_bounded_in_bytes)
{
	static char text[500];
	const struct supd_field field = { .key = "words", .type = SUPD_STRING, .value.string = text };
	const struct supd_row fields = { &field, 1 };

	memset(text, 'x', sizeof(text) - 1);
	for (unsigned i = 0; i < 900; i++)
		events_tell(&control, &(struct happening) { .type = "finished", .unit = "a.service", .fields = &fields });
	ck_assert_uint_le(control.events.bytes, 256 * 1024);
	ck_assert_uint_gt(control.events.first, 100);
	events_read(&control, &(struct control_request) { .verb = CONTROL_EVENTS, .id = 7 });
	ck_assert(heard.is_done);
	ck_assert_uint_eq(heard.n, control.events.next - control.events.first);
}
END_TEST

START_TEST(who_has_gone_is_forgotten)
{
	follow(NULL);
	heard.is_gone = true;
	happen("paused", NULL, 3);
	ck_assert_uint_eq(heard.n, 0);
	ck_assert_ptr_null(control.events.reader);
}
END_TEST

static Suite *supd_events_suite(void)
{
	Suite *s = suite_create("supd_events");
	TCase *tc = tcase_create("supd_events");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, who_is_too_slow_loses_the_oldest_and_is_told);
	tcase_add_test(tc, what_is_lost_is_told_whatever_types_are_wanted);
	tcase_add_test(tc, what_is_kept_is_bounded_in_bytes);
	tcase_add_test(tc, who_has_gone_is_forgotten);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(supd_events_suite)
