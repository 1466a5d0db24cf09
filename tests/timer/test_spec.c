/* SPDX-License-Identifier: MIT */
/* A .timer file in rows: what is written, what is said about it, and what it means. */
#include "timer/spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/timespan.h"
#include "tests/lib/test_main.h"
#include "timer/zone_load.h"

/* ---- a text, understood ---- */

struct reading {
	struct timer_spec spec;
	struct diag diag;
	struct arena arena;
	struct zone_cache *zones;
	int r;
};

/* Lines of @text: "[Section]" and "Key=value". Before the first section it is [Timer]. */
static size_t split(char *text, struct assignment *ret, size_t max)
{
	const char *section = "Timer";
	uint32_t number = 0, section_line = 0;
	size_t n = 0;
	char *line;

	while ((line = strsep(&text, "\n"))) {
		char *value = strchr(line, '=');

		number++;
		if (*line == '[') {
			line[strcspn(line, "]")] = '\0';
			section = line + 1;
			section_line = number;
			continue;
		}
		if (!value)
			continue;
		*value++ = '\0';
		ck_assert_uint_lt(n, max);
		ret[n++] = (struct assignment) { section, line, value, "x.timer", number, section_line };
	}
	return n;
}

static void understand_with(struct reading *r, const char *text, const struct timer_defaults *defaults)
{
	const struct zone_source source = { .tz = "CET-1CEST,M3.5.0,M10.5.0/3" };
	struct assignment *assignment = calloc(300, sizeof(*assignment));
	_cleanup_free_ char *copy = strdup(text);
	size_t n;

	ck_assert_ptr_nonnull(assignment);
	*r = (struct reading) { 0 };
	ck_assert_int_eq(zone_cache_new(&source, &r->zones), 0);
	n = split(copy, assignment, 300);
	r->r = timer_spec_parse("x.timer", "/etc/supd/x.timer", assignment, n, defaults,
				 r->zones, &r->arena, &r->diag, &r->spec);
	free(assignment);
}

static void understand(struct reading *r, const char *text)
{
	understand_with(r, text, &timer_defaults_builtin);
}

static void reading_done(struct reading *r)
{
	diag_done(&r->diag);
	arena_done(&r->arena);
	zone_cache_free(r->zones);
}

/* ---- the same in words ---- */

struct words {
	char text[2048];
	size_t n;
};

static void say(struct words *w, const char *between, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct words *w, const char *between, const char *fmt, ...)
{
	va_list ap;

	w->n += (size_t) snprintf(w->text + w->n, sizeof(w->text) - w->n, "%s", w->n ? between : "");
	va_start(ap, fmt);
	w->n += (size_t) vsnprintf(w->text + w->n, sizeof(w->text) - w->n, fmt, ap);
	va_end(ap);
	ck_assert_uint_lt(w->n, sizeof(w->text));
}

/* "LINE error: sentence", one a line; line 0 is the file as a whole. */
static const char *said(const struct reading *r, struct words *w)
{
	static const char *const kinds[DIAG_SEVERITY_COUNT] = {
		[DIAG_ERROR] = "error", [DIAG_WARNING] = "warning", [DIAG_NOT_APPLIED] = "not applied",
	};

	*w = (struct words) { 0 };
	for (size_t i = 0; i < r->diag.n; i++) {
		const struct diag_entry *e = &r->diag.entry[i];

		ck_assert_str_eq(e->file, e->line > 0 ? "x.timer" : "/etc/supd/x.timer");
		say(w, "\n", "%u %s: %s", (unsigned) e->line, kinds[e->severity], e->message);
	}
	return w->text;
}

static void say_span(struct words *w, const char *name, usec_t span)
{
	char shown[TIMESPAN_MAX];

	if (span != 0)
		say(w, ", ", "%s %s", name, timespan_print(shown, sizeof(shown), span, 0));
}

static void say_triggers(struct words *w, const struct timer_spec *s)
{
	for (unsigned i = 0; i < s->n_triggers; i++) {
		const struct trigger *t = &s->trigger[i];
		char shown[256];

		if (t->kind == TRIGGER_CALENDAR)
			(void) calendar_print(t->calendar, NULL, shown, sizeof(shown));
		else
			timespan_print(shown, sizeof(shown), t->span, 0);
		say(w, ", ", "%s %s", trigger_kind_to_string(t->kind), shown);
	}
}

static void say_retry(struct words *w, const struct timer_spec *s)
{
	char shown[TIMESPAN_MAX];

	if (s->has_retry) {
		say(w, ", ", "retry");
		for (unsigned i = 0; i < s->n_retries; i++)
			say(w, "", " %s", timespan_print(shown, sizeof(shown), s->retry[i], 0));
	}
	if (s->retry_on == RETRY_ON_EXIT)
		return;
	say(w, ", ", "on%s%s%s%s", s->retry_on & RETRY_ON_EXIT ? " exit" : "",
	    s->retry_on & RETRY_ON_SIGNAL ? " signal" : "", s->retry_on & RETRY_ON_TIMEOUT ? " timeout" : "",
	    s->retry_on & RETRY_ON_EXEC ? " exec" : "");
}

static void say_flags(struct words *w, const struct timer_spec *s)
{
	if (s->is_enabled_said)
		say(w, ", ", "%s", s->is_enabled ? "enabled" : "disabled");
	if (!s->persistent)
		say(w, ", ", "not persistent");
	if (s->fixed_random_delay)
		say(w, ", ", "fixed");
	if (!s->remain_after_elapse)
		say(w, ", ", "does not remain");
	if (s->wake_system)
		say(w, ", ", "wakes");
	if (s->on_clock_change)
		say(w, ", ", "clock change");
	if (s->on_timezone_change)
		say(w, ", ", "zone change");
}

/* All that differs from the default. */
static const char *meaning(const struct timer_spec *s, struct words *w)
{
	*w = (struct words) { 0 };
	if (s->description)
		say(w, ", ", "'%s'", s->description);
	if (!s->unit)
		say(w, ", ", "no unit");
	else if (!str_equal(s->unit, "x.service"))
		say(w, ", ", "%s", s->unit);
	say_triggers(w, s);
	say_retry(w, s);
	if (s->has_catch_up)
		say(w, ", ", "catch up%s", s->catch_up == 0 ? " nothing" : "");
	if (s->has_catch_up)
		say_span(w, "of", s->catch_up);
	say_span(w, "accuracy", s->accuracy);
	say_span(w, "delay", s->randomized_delay);
	say_flags(w, s);
	return w->text;
}

/* ---- the rows ---- */

#define BOOT "OnBootSec=1min\n"
#define NO_TRIGGER \
	"no trigger: set at least one of OnCalendar=, OnStartupSec=, OnActiveSec=, OnBootSec=, " \
	"OnUnitActiveSec=, OnUnitInactiveSec=, OnClockChange=, OnTimezoneChange="

static const struct {
	const char *text;
	const char *means; /* NULL: not looked at, the file is refused */
	const char *said;
} rows[] = {
	/* triggers */
	{ "OnCalendar=daily", "calendar *-*-* 00:00:00", "" },
	{ "OnCalendar=Mon 9:00 UTC", "calendar Mon *-*-* 09:00:00 UTC", "" },
	{ "OnStartupSec=2", "startup 2s", "" },
	{ "OnActiveSec=1h 30min", "active 1h 30min", "" },
	{ "OnBootSec=0", "boot 0", "" },
	{ "OnUnitActiveSec=7d", "unit-active 1w", "" },
	{ "OnUnitInactiveSec=1.5s", "unit-inactive 1.500000s", "" },
	{ "OnBootSec=1\nOnCalendar=daily\nOnBootSec=1", "boot 1s, calendar *-*-* 00:00:00, boot 1s", "" },
	{ "OnClockChange=yes", "clock change", "" },
	{ "OnTimezoneChange=1", "zone change", "" },
	/* an empty value of any trigger key resets all of them, and not the changes */
	{ "OnBootSec=1\nOnCalendar=daily\nOnActiveSec=\nOnStartupSec=3", "startup 3s", "" },
	{ "OnStartupSec=3\nOnClockChange=yes\nOnCalendar=", "clock change", "" },
	{ "OnClockChange=yes\nOnClockChange=\nOnBootSec=1", "boot 1s", "" },
	/* bad ones; no second sentence about the trigger that is missing for it */
	{ "OnCalendar=25:00", NULL, "1 error: OnCalendar= does not parse: *" },
	{ "OnCalendar=daily Nowhere/Atall", NULL, "1 error: OnCalendar= does not parse: *Nowhere/Atall*" },
	{ "OnBootSec=soon", NULL, "1 error: OnBootSec= is no time span: *'soon'*" },
	{ "OnUnitActiveSec=-1", NULL, "1 error: OnUnitActiveSec= is no time span: *negative*" },
	{ BOOT "OnActiveSec=5 parsecs", NULL, "2 error: OnActiveSec= is no time span: *'parsecs'*" },
	{ "OnClockChange=maybe", NULL, "1 error: OnClockChange= wants yes or no, not 'maybe'" },
	{ "OnBootSec=x\nOnBootSec=y", NULL, "1 error: *'x'*\n2 error: *'y'*" },
	/* what never elapses, or without end */
	{ "OnCalendar=*-02-30", "calendar *-02-30 00:00:00",
	  "1 warning: OnCalendar= names a date that no year has, so it never elapses" },
	{ "OnBootSec=infinity", "boot infinity", "1 warning: OnBootSec=infinity never elapses" },
	{ "OnUnitActiveSec=infinity", "unit-active infinity", "1 warning: OnUnitActiveSec=infinity never elapses" },
	{ "OnUnitActiveSec=0", "unit-active 1s",
	  "1 warning: OnUnitActiveSec= of less than a second is taken as one second" },
	{ "OnUnitInactiveSec=999999us", "unit-inactive 1s",
	  "1 warning: OnUnitInactiveSec= of less than a second is taken as one second" },
	{ "OnUnitInactiveSec=1s\nOnActiveSec=1ms", "unit-inactive 1s, active 1ms", "" },
	/* none */
	{ "", NULL, "0 error: " NO_TRIGGER },
	{ "Unit=x.service", NULL, "0 error: " NO_TRIGGER },
	{ "OnBootSec=1\nOnBootSec=", NULL, "0 error: " NO_TRIGGER },
	{ "OnClockChange=no", NULL, "0 error: " NO_TRIGGER },
	/* Unit= */
	{ BOOT "Unit=backup.service", "backup.service, boot 1min", "" },
	{ BOOT "Unit=backup.service\nUnit=", "boot 1min", "" },
	{ BOOT "Unit=a.service\nUnit=b.service", "b.service, boot 1min", "" },
	{ BOOT "Unit=backup.timer", "no unit, boot 1min",
	  "2 error: Unit= must name a service, such as backup.service, not 'backup.timer'" },
	{ BOOT "Unit=backup", "no unit, boot 1min", "2 error: Unit= must name a service, *, not 'backup'" },
	{ BOOT "Unit=a b.service", "no unit, boot 1min", "2 error: Unit= must name a service, *'a b.service'" },
	{ BOOT "Unit=-a.service", "no unit, boot 1min", "2 error: Unit= must name a service, *'-a.service'" },
	{ BOOT "Unit=.service", "no unit, boot 1min", "2 error: Unit= must name a service, *'.service'" },
	{ BOOT "Unit=../etc/x.service", "no unit, boot 1min", "2 error: Unit= must name a service, *'../etc/x.service'" },
	/* the ladder */
	{ BOOT "RetrySec=5", "boot 1min, retry 5s", "" },
	{ BOOT "RetrySec=1min30s  2min\t3", "boot 1min, retry 1min 30s 2min 3s", "" },
	{ BOOT "RetrySec=30 s 2 min", "boot 1min, retry 30s 2min", "" },
	{ BOOT "RetrySec=5 .5s", "boot 1min, retry 5s 500ms", "" },
	{ BOOT "RetrySec=10 20 30", "boot 1min, retry 10s 20s 30s", "" },
	{ BOOT "RetrySec=0", "boot 1min, retry 0", "" },
	{ BOOT "RetrySec=", "boot 1min, retry", "" },
	{ BOOT "RetrySec=\nRetrySec=7", "boot 1min, retry 7s", "" },
	{ BOOT "RetrySec=7 8\nRetrySec=9", "boot 1min, retry 9s", "" },
	{ BOOT "RetrySec=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
	  "boot 1min, retry 1s 2s 3s 4s 5s 6s 7s 8s 9s 10s 11s 12s 13s 14s 15s 16s", "" },
	{ BOOT "RetrySec=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", NULL,
	  "2 error: RetrySec= is no list of time spans: more than 16 delays" },
	{ BOOT "RetrySec=1s infinity", NULL,
	  "2 error: RetrySec= is no list of time spans: a retry cannot wait for ever; end the list there instead" },
	{ BOOT "RetrySec=1s, 2s", NULL, "2 error: RetrySec= is no list of time spans: *','*" },
	{ BOOT "RetrySec=1s -2s", NULL, "2 error: RetrySec= is no list of time spans: *negative*" },
	{ BOOT "RetrySec=0000000000000000000000000000000000000000000000000000000000000000001", NULL,
	  "2 error: RetrySec= is no list of time spans: a delay is too long a text" },
	/* what it is for */
	{ BOOT "RetryOn=exit", "boot 1min", "" },
	{ BOOT "RetryOn=exec  signal timeout exit", "boot 1min, on exit signal timeout exec", "" },
	{ BOOT "RetryOn=signal signal", "boot 1min, on signal", "" },
	{ BOOT "RetryOn=signal\nRetryOn=timeout", "boot 1min, on timeout", "" },
	{ BOOT "RetryOn=signal\nRetryOn=", "boot 1min", "" },
	{ BOOT "RetryOn=exit always", NULL, "2 error: RetryOn= knows exit, signal, timeout and exec, not 'always'" },
	{ BOOT "RetryOn=Exit", NULL, "2 error: RetryOn= knows *, not 'Exit'" },
	{ BOOT "RetryOn=\"exit", NULL, "2 error: RetryOn= has unbalanced quotes or a bad escape" },
	/* catching up */
	{ BOOT "Persistent=no", "boot 1min, not persistent", "" },
	{ BOOT "Persistent=no\nPersistent=", "boot 1min", "" },
	{ BOOT "Persistent=2", NULL, "2 error: Persistent= wants yes or no, not '2'" },
	{ BOOT "CatchUpSec=2h", "boot 1min, catch up, of 2h", "" },
	{ BOOT "CatchUpSec=0", "boot 1min, catch up nothing", "" },
	{ BOOT "CatchUpSec=infinity", "boot 1min, catch up, of infinity", "" },
	{ BOOT "CatchUpSec=2h\nCatchUpSec=", "boot 1min", "" },
	{ BOOT "CatchUpSec=1 day ago", NULL, "2 error: CatchUpSec= is no time span: *" },
	/* the rest */
	{ BOOT "Enabled=no", "boot 1min, disabled", "" },
	{ BOOT "Enabled=yes", "boot 1min, enabled", "" },
	{ BOOT "Enabled=no\nEnabled=", "boot 1min", "" },
	{ BOOT "Enabled=perhaps", NULL, "2 error: Enabled= wants yes or no, not 'perhaps'" },
	{ BOOT "AccuracySec=1us", "boot 1min, accuracy 1us", "" },
	{ BOOT "AccuracySec=1h\nAccuracySec=", "boot 1min", "" },
	{ BOOT "AccuracySec=fine", NULL, "2 error: AccuracySec= is no time span: *" },
	{ BOOT "RandomizedDelaySec=5min\nFixedRandomDelay=yes", "boot 1min, delay 5min, fixed", "" },
	{ BOOT "RandomizedDelaySec=5min\nRandomizedDelaySec=", "boot 1min", "" },
	{ BOOT "RandomizedDelaySec=some", NULL, "2 error: RandomizedDelaySec= is no time span: *" },
	{ BOOT "FixedRandomDelay=x", NULL, "2 error: FixedRandomDelay= wants yes or no, not 'x'" },
	{ BOOT "RemainAfterElapse=off", "boot 1min, does not remain", "" },
	{ BOOT "RemainAfterElapse=no\nRemainAfterElapse=", "boot 1min", "" },
	{ BOOT "WakeSystem=yes", "boot 1min, wakes", "2 warning: WakeSystem= is not possible here: *" },
	{ BOOT "WakeSystem=yes\nWakeSystem=1", "boot 1min, wakes", "2 warning: WakeSystem= is not possible here: *" },
	{ BOOT "WakeSystem=no", "boot 1min", "" },
	{ "[Unit]\nDescription=A  b\n[Timer]\n" BOOT, "'A  b', boot 1min", "" },
	{ "[Unit]\nDescription=A\nDescription=\n[Timer]\n" BOOT, "boot 1min", "" },
	/* names: ours with X- in front, strangers with and without */
	{ "X-OnBootSec=1min\nX-RetrySec=7\nX-RetryOn=exec\nX-CatchUpSec=1h\nX-Enabled=no",
	  "boot 1min, retry 7s, on exec, catch up, of 1h, disabled", "" },
	{ BOOT "X-RetrySec=never", NULL, "2 error: *is no list of time spans*" },
	{ BOOT "X-Anything=else\nX-DeferReactivation=junk\n[X-Section]\nKey=1", "boot 1min", "" },
	{ BOOT "[Install]\nWantedBy=timers.target\nAlso=b.timer", "boot 1min", "" },
	{ BOOT "OnCallendar=daily", NULL, "2 error: unknown key 'OnCallendar' in section [Timer] (did you mean OnCalendar=?)" },
	{ BOOT "Description=x", NULL, "2 error: unknown key 'Description' in section [Timer] (it belongs into [Unit])" },
	{ BOOT "oncalendar=daily", NULL, "2 error: unknown key 'oncalendar' in section [Timer]*" },
	{ BOOT "Quux=1", NULL, "2 error: unknown key 'Quux' in section [Timer]" },
	{ BOOT "[Timers]\nA=1\nB=2", NULL, "2 error: unknown section [Timers] (did you mean [Timer]?)" },
	{ BOOT "[Service]\nExecStart=x", NULL, "2 error: unknown section [Service]*" },
	{ BOOT "DeferReactivation=junk", "boot 1min", "" },
	{ BOOT "RandomizedOffsetSec=1h", "boot 1min", "2 not applied: RandomizedOffsetSec= is not applied, ignored" },
	{ "[Unit]\nConditionPathExists=/x\n[Timer]\n" BOOT, "boot 1min",
	  "2 not applied: ConditionPathExists= is not applied, ignored" },
};

/* A '*' in @pattern stands for anything. */
static bool is_like(const char *text, const char *pattern)
{
	for (; *pattern != '*'; text++, pattern++) {
		if (*text != *pattern)
			return false;
		if (!*text)
			return true;
	}
	for (;; text++) {
		if (is_like(text, pattern + 1))
			return true;
		if (!*text)
			return false;
	}
}

START_TEST(a_file_means_what_its_row_says)
{
	struct words is, heard;
	struct reading r;

	understand(&r, rows[_i].text);
	ck_assert_msg(r.r == 0, "'%s' gives %d", rows[_i].text, r.r);
	if (!is_like(said(&r, &heard), rows[_i].said))
		ck_abort_msg("'%s' is told '%s'", rows[_i].text, heard.text);
	if (rows[_i].means)
		ck_assert_str_eq(meaning(&r.spec, &is), rows[_i].means);
	else
		ck_assert_uint_gt(r.diag.n_errors, 0);
	reading_done(&r);
}
END_TEST

/* ---- what holds for whole kinds of keys ---- */

static void understand_row(struct reading *r, const struct key_row *row, const char *value)
{
	char text[256];

	(void) snprintf(text, sizeof(text), "[%s]\n%s=%s\n[Timer]\n" BOOT, row->section, row->key, value);
	understand(r, text);
}

START_TEST(an_empty_value_is_the_default_for_every_key)
{
	const struct key_table *table = timer_keys();
	unsigned n_known = 0;

	for (size_t i = 0; i < table->n; i++) {
		struct words is, heard;
		struct reading r;

		if (table->row[i].kind != KEY_KNOWN)
			continue;
		n_known++;
		understand_row(&r, &table->row[i], "");
		ck_assert_str_eq(said(&r, &heard), "");
		ck_assert_str_eq(meaning(&r.spec, &is),
				 str_equal(table->row[i].key, "RetrySec") ? "boot 1min, retry" : "boot 1min");
		reading_done(&r);
	}
	ck_assert_uint_eq(n_known, 20);
}
END_TEST

START_TEST(what_is_not_ours_changes_nothing_and_only_what_is_wanted_is_told)
{
	const struct key_table *table = timer_keys();

	for (size_t i = 0; i < table->n; i++) {
		const struct key_row *row = &table->row[i];
		struct words is;
		struct reading r;

		if (row->kind == KEY_KNOWN)
			continue;
		understand_row(&r, row, "junk");
		ck_assert_str_eq(meaning(&r.spec, &is), "boot 1min");
		ck_assert_uint_eq(r.diag.n, row->kind == KEY_NOT_APPLIED);
		ck_assert_uint_eq(r.diag.n_errors, 0);
		if (r.diag.n > 0) {
			ck_assert_int_eq(r.diag.entry[0].severity, DIAG_NOT_APPLIED);
			ck_assert_str_eq(r.diag.entry[0].key, row->key);
		}
		reading_done(&r);
	}
}
END_TEST

START_TEST(no_key_stands_twice_in_the_table)
{
	const struct key_table *table = timer_keys();

	for (size_t i = 0; i < table->n; i++)
		for (size_t k = i + 1; k < table->n; k++)
			ck_assert_msg(!str_equal(table->row[i].section, table->row[k].section) ||
				      !str_equal(table->row[i].key, table->row[k].key), "%s=", table->row[i].key);
}
END_TEST

/* 255 of them have their number in a byte. */
START_TEST(triggers_are_bounded)
{
	char text[257 * sizeof("OnBootSec=1\n")] = "";
	struct words heard;
	struct reading r;

	for (unsigned i = 0; i < 255; i++)
		strcat(text, "OnBootSec=1\n");
	understand(&r, text);
	ck_assert_str_eq(said(&r, &heard), "");
	ck_assert_uint_eq(r.spec.n_triggers, 255);
	reading_done(&r);

	strcat(text, "OnBootSec=1\n");
	understand(&r, text);
	ck_assert_str_eq(said(&r, &heard), "256 error: more than 255 triggers");
	reading_done(&r);
}
END_TEST

START_TEST(the_text_of_a_trigger_is_kept_as_written)
{
	struct reading r;

	understand(&r, "OnCalendar=Mon..Fri 9:00\nOnBootSec=90");
	ck_assert_uint_eq(r.spec.n_triggers, 2);
	ck_assert_str_eq(r.spec.trigger[0].text, "Mon..Fri 9:00");
	ck_assert_str_eq(r.spec.trigger[1].text, "90");
	reading_done(&r);
}
END_TEST

START_TEST(words_and_keys_of_the_triggers_are_what_users_see)
{
	static const struct {
		const char *word, *key;
		bool is_once;
	} wanted[TRIGGER_KIND_COUNT] = {
		[TRIGGER_CALENDAR] = { "calendar", "OnCalendar", false },
		[TRIGGER_STARTUP] = { "startup", "OnStartupSec", true },
		[TRIGGER_ACTIVE] = { "active", "OnActiveSec", true },
		[TRIGGER_BOOT] = { "boot", "OnBootSec", true },
		[TRIGGER_UNIT_ACTIVE] = { "unit-active", "OnUnitActiveSec", false },
		[TRIGGER_UNIT_INACTIVE] = { "unit-inactive", "OnUnitInactiveSec", false },
	};

	for (enum trigger_kind k = TRIGGER_CALENDAR; k < TRIGGER_KIND_COUNT; k++) {
		const struct trigger t = { .kind = k };

		ck_assert_str_eq(trigger_kind_to_string(k), wanted[k].word);
		ck_assert_str_eq(trigger_kind_to_key(k), wanted[k].key);
		ck_assert_int_eq(trigger_is_once(&t), wanted[k].is_once);
	}
}
END_TEST

/* ---- defaults ---- */

START_TEST(the_built_in_defaults_are_those_of_the_manual)
{
	const struct timer_defaults *d = &timer_defaults_builtin;
	struct reading r;

	understand(&r, BOOT);
	ck_assert_uint_eq(r.spec.n_retries, 3);
	ck_assert_uint_eq(r.spec.retry[0], 30 * USEC_PER_SEC);
	ck_assert_uint_eq(r.spec.retry[1], 2 * USEC_PER_MINUTE);
	ck_assert_uint_eq(r.spec.retry[2], 10 * USEC_PER_MINUTE);
	ck_assert_uint_eq(r.spec.catch_up, 24 * USEC_PER_HOUR);
	ck_assert_uint_eq(d->catch_up_spread, 5 * USEC_PER_MINUTE);
	ck_assert(r.spec.is_enabled && r.spec.persistent && r.spec.remain_after_elapse);
	ck_assert(!r.spec.has_retry && !r.spec.has_catch_up && !r.spec.is_enabled_said);
	reading_done(&r);
}
END_TEST

START_TEST(other_defaults_count_where_the_file_is_silent)
{
	const struct timer_defaults d = { .retry = { 7 * USEC_PER_SEC }, .n_retries = 1, .catch_up = USEC_PER_HOUR };
	struct reading r;

	understand_with(&r, BOOT, &d);
	ck_assert_uint_eq(r.spec.n_retries, 1);
	ck_assert_uint_eq(r.spec.retry[0], 7 * USEC_PER_SEC);
	ck_assert_uint_eq(r.spec.catch_up, USEC_PER_HOUR);
	reading_done(&r);

	understand_with(&r, BOOT "RetrySec=\nCatchUpSec=0\n", &d);
	ck_assert_uint_eq(r.spec.n_retries, 0);
	ck_assert_uint_eq(r.spec.catch_up, 0);
	reading_done(&r);

	/* taken back: the default again, not nothing */
	understand_with(&r, BOOT "CatchUpSec=2h\nCatchUpSec=\n", &d);
	ck_assert_uint_eq(r.spec.catch_up, USEC_PER_HOUR);
	reading_done(&r);
}
END_TEST

static const struct {
	const char *one, *other;
	bool is_same;
} pairs[] = {
	{ BOOT, BOOT, true },
	{ BOOT, BOOT "[Unit]\nDescription=x\n", true },
	{ BOOT, BOOT "RetrySec=30 120s 600\n", true },
	{ BOOT, BOOT "Enabled=yes\nCatchUpSec=1d\n", true },
	{ BOOT, BOOT "Enabled=no\n", false },
	{ BOOT, BOOT "RetrySec=\n", false },
	{ BOOT, BOOT "RetrySec=30 120s 601\n", false },
	{ BOOT, BOOT "RetryOn=signal\n", false },
	{ BOOT, BOOT "CatchUpSec=2d\n", false },
	{ BOOT, BOOT "Persistent=no\n", false },
	{ BOOT, BOOT "OnClockChange=yes\n", false },
	{ BOOT, BOOT "OnTimezoneChange=yes\n", false },
	{ BOOT, BOOT "RandomizedDelaySec=1\n", false },
	{ BOOT, BOOT "FixedRandomDelay=yes\n", false },
	{ BOOT, BOOT "RemainAfterElapse=no\n", false },
	{ BOOT, BOOT "WakeSystem=yes\n", false },
	{ BOOT, BOOT "AccuracySec=5\n", false },
	{ BOOT, BOOT "Unit=y.service\n", false },
	{ BOOT, BOOT BOOT, false },
	{ "OnBootSec=1h\n", "OnStartupSec=1h\n", false },
	{ "OnBootSec=1h\n", "OnBootSec=2h\n", false },
	{ "OnCalendar=daily\n", "OnCalendar=weekly\n", false },
};

START_TEST(what_asks_for_the_same_is_the_same)
{
	struct reading a, b;

	understand(&a, pairs[_i].one);
	understand(&b, pairs[_i].other);
	ck_assert(timer_spec_is_same(&a.spec, &b.spec) == pairs[_i].is_same);
	ck_assert(timer_spec_is_same(&b.spec, &a.spec) == pairs[_i].is_same);
	reading_done(&a);
	reading_done(&b);
}
END_TEST

START_TEST(defaults_are_set_from_text)
{
	struct timer_defaults d = timer_defaults_builtin;

	ck_assert(timer_defaults_set(&d, "RetrySec", "1min 1h"));
	ck_assert_uint_eq(d.n_retries, 2);
	ck_assert_uint_eq(d.retry[0], USEC_PER_MINUTE);
	ck_assert_uint_eq(d.retry[1], USEC_PER_HOUR);
	ck_assert(timer_defaults_set(&d, "RetrySec", ""));
	ck_assert_uint_eq(d.n_retries, 0);
	ck_assert(timer_defaults_set(&d, "CatchUpSec", "infinity"));
	ck_assert_uint_eq(d.catch_up, USEC_NEVER);
	ck_assert_uint_eq(d.catch_up_spread, timer_defaults_builtin.catch_up_spread);
	ck_assert(timer_defaults_set(&d, "CatchUpSpreadSec", "0"));
	ck_assert_uint_eq(d.catch_up_spread, 0);
	ck_assert_uint_eq(d.catch_up, USEC_NEVER);
}
END_TEST

START_TEST(a_default_that_makes_no_sense_changes_nothing)
{
	static const char *const bad[][2] = {
		{ "RetrySec", "often" },
		{ "RetrySec", "1s infinity" },
		{ "RetrySec", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17" },
		{ "CatchUpSec", "a day" },
		{ "CatchUpSec", "" },
		{ "CatchUpSpreadSec", "-1" },
	};
	struct timer_defaults d = timer_defaults_builtin;

	for (size_t i = 0; i < ELEMENTS(bad); i++) {
		ck_assert_msg(!timer_defaults_set(&d, bad[i][0], bad[i][1]), "%s=%s", bad[i][0], bad[i][1]);
		ck_assert_mem_eq(&d, &timer_defaults_builtin, sizeof(d));
	}
}
END_TEST

static Suite *spec_suite(void)
{
	Suite *s = suite_create("timer/spec");
	TCase *t = tcase_create("rows");

	tcase_add_loop_test(t, a_file_means_what_its_row_says, 0, ELEMENTS(rows));
	suite_add_tcase(s, t);

	t = tcase_create("keys");
	tcase_add_test(t, an_empty_value_is_the_default_for_every_key);
	tcase_add_test(t, what_is_not_ours_changes_nothing_and_only_what_is_wanted_is_told);
	tcase_add_test(t, no_key_stands_twice_in_the_table);
	tcase_add_test(t, triggers_are_bounded);
	tcase_add_loop_test(t, what_asks_for_the_same_is_the_same, 0, ELEMENTS(pairs));
	tcase_add_test(t, the_text_of_a_trigger_is_kept_as_written);
	tcase_add_test(t, words_and_keys_of_the_triggers_are_what_users_see);
	suite_add_tcase(s, t);

	t = tcase_create("defaults");
	tcase_add_test(t, the_built_in_defaults_are_those_of_the_manual);
	tcase_add_test(t, other_defaults_count_where_the_file_is_silent);
	tcase_add_test(t, defaults_are_set_from_text);
	tcase_add_test(t, a_default_that_makes_no_sense_changes_nothing);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(spec_suite)
