/* SPDX-License-Identifier: MIT */
#include "core/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "base/cleanup.h"
#include "base/timespan.h"

/* ---- the table ---- */

static const struct event_field elapsed[] = {
	{ "cause", SUPD_STRING, "what made it elapse: calendar, boot, retry, catch-up, manual …" },
	{ "scheduled", SUPD_TIMESTAMP, "the moment that it elapsed for" },
	{ "attempt", SUPD_NUMBER, "the first run of a moment is 1, its retries follow" },
	{ "dst", SUPD_STRING, "gap or fold, if the clock was changed for summer or winter then" },
};

static const struct event_field missed[] = {
	{ "reason", SUPD_STRING, "overlap, downtime, disabled …" },
	{ "scheduled", SUPD_TIMESTAMP, "the moment; of several, the last" },
	{ "first", SUPD_TIMESTAMP, "of several, the first" },
	{ "count", SUPD_NUMBER, "how many moments" },
	{ "dst", SUPD_STRING, "gap or fold, if the clock was changed for summer or winter then" },
	{ "activates", SUPD_STRING, "the service that was not started" },
};

static const struct event_field catch_up[] = {
	{ "scheduled", SUPD_TIMESTAMP, "the moment that is made up for" },
	{ "reason", SUPD_STRING, "why it was missed" },
};

static const struct event_field retry[] = {
	{ "attempt", SUPD_NUMBER, "which retry: 1 is the first" },
	{ "of", SUPD_NUMBER, "how many there are at most" },
	{ "in", SUPD_SPAN, "how long from now" },
};

static const struct event_field interrupted[] = {
	{ "run_id", SUPD_STRING, "of the run" },
	{ "cause", SUPD_STRING, "what made it start" },
	{ "scheduled", SUPD_TIMESTAMP, "the moment that it was scheduled for" },
	{ "attempt", SUPD_NUMBER, "the first run of a moment is 1, its retries follow" },
	{ "taken", SUPD_TIMESTAMP, "when the timer elapsed for it" },
	{ "activates", SUPD_STRING, "the service" },
};

static const struct event_field started[] = {
	{ "run_id", SUPD_STRING, "of the run" },
	{ "trigger", SUPD_STRING, "the timer that started it" },
	{ "cause", SUPD_STRING, "what made it start: calendar, retry, manual …" },
	{ "attempt", SUPD_NUMBER, "the first run of a moment is 1, its retries follow" },
	{ "scheduled", SUPD_TIMESTAMP, "the moment that it was scheduled for" },
};

static const struct event_field finished[] = {
	{ "run_id", SUPD_STRING, "of the run" },
	{ "trigger", SUPD_STRING, "the timer that started it" },
	{ "cause", SUPD_STRING, "what made it start" },
	{ "attempt", SUPD_NUMBER, "the first run of a moment is 1, its retries follow" },
	{ "scheduled", SUPD_TIMESTAMP, "the moment that it was scheduled for" },
	{ "result", SUPD_STRING, "systemd's word: success, exit-code, signal, timeout …" },
	{ "words", SUPD_STRING, "the result in words" },
	{ "failed", SUPD_BOOL, "neither a success, nor skipped, nor stopped" },
	{ "duration", SUPD_SPAN, "from its start to its end" },
	{ "unmet", SUPD_STRING, "the condition that was not met, in words" },
	{ "restart_in", SUPD_SPAN, "Restart= starts it again after this time" },
};

static const struct event_field given_up[] = {
	{ "restarts", SUPD_NUMBER, "how often it was started again" },
};

static const struct event_field stopping[] = {
	{ "run_id", SUPD_STRING, "of the run" },
	{ "reason", SUPD_STRING, "request, timeout or shutdown" },
};

static const struct event_field skip[] = {
	{ "scheduled", SUPD_TIMESTAMP, "the moment" },
	{ "moment", SUPD_STRING, "the same for people" },
};

static const struct event_field changed[] = {
	{ "runtime", SUPD_BOOL, "until the next boot" },
};

static const struct event_field shutdown[] = {
	{ "reason", SUPD_STRING, "the signal" },
};

static const struct event_field reloaded[] = {
	{ "changed", SUPD_NUMBER, "units that were added, changed or removed" },
};

static const struct event_field reload_refused[] = {
	{ "mistakes", SUPD_NUMBER, "in the files of units" },
};

static const struct event_field gate[] = {
	{ "feature", SUPD_STRING, "the experimental feature" },
	{ "state", SUPD_STRING, "enabled or disabled" },
	{ "runtime", SUPD_BOOL, "until supd ends" },
};

static const struct event_field clock_jump[] = {
	{ "by", SUPD_SPAN, "by how much" },
	{ "direction", SUPD_STRING, "forward or back" },
};

static const struct event_field not_persisted[] = {
	{ "error", SUPD_STRING, "why the state cannot be written" },
};

static const struct event_field lost[] = {
	{ "count", SUPD_NUMBER, "how many events its reader was too slow for" },
};

#define FIELDS(f) f, ELEMENTS(f)

static const struct event_type types[] = {
	{ "elapsed", LOG_DEBUG, LOG_DEBUG, "elapsed ({cause}[, attempt {attempt}])",
	  FIELDS(elapsed) },
	{ "missed", LOG_NOTICE, LOG_NOTICE, "missed[ {count} moments]: {reason}", FIELDS(missed) },
	{ "catch-up", LOG_INFO, LOG_INFO, "a moment that was missed ({reason}) is made up for",
	  FIELDS(catch_up) },
	{ "retry", LOG_NOTICE, LOG_NOTICE, "retry {attempt} of {of} in {in}", FIELDS(retry) },
	{ "interrupted", LOG_WARNING, LOG_WARNING,
	  "a run was interrupted: supd ended while it went on", FIELDS(interrupted) },
	{ "started", LOG_INFO, LOG_INFO, "started[ by {trigger}] ({cause}[, attempt {attempt}])",
	  FIELDS(started) },
	{ "finished", LOG_INFO, LOG_NOTICE,
	  "{words}[ after {duration}][: {unmet}][, restart in {restart_in}]", FIELDS(finished) },
	{ "stopping", LOG_INFO, LOG_INFO, "stopping ({reason})", FIELDS(stopping) },
	{ "stopped", LOG_INFO, LOG_INFO, "stopped", NULL, 0 },
	{ "given-up", LOG_NOTICE, LOG_NOTICE,
	  "restarted {restarts|time|times}, and given up: see StartLimitBurst=", FIELDS(given_up) },
	{ "skip", LOG_NOTICE, LOG_NOTICE, "{moment} will be skipped, as an admin asked",
	  FIELDS(skip) },
	{ "unskip", LOG_NOTICE, LOG_NOTICE, "{moment} will not be skipped, as an admin asked",
	  FIELDS(skip) },
	{ "enabled", LOG_NOTICE, LOG_NOTICE, "enabled by an admin[, until the next boot{runtime?}]",
	  FIELDS(changed) },
	{ "disabled", LOG_NOTICE, LOG_NOTICE,
	  "disabled by an admin[, until the next boot{runtime?}]", FIELDS(changed) },
	{ "masked", LOG_NOTICE, LOG_NOTICE, "masked by an admin[, until the next boot{runtime?}]",
	  FIELDS(changed) },
	{ "unmasked", LOG_NOTICE, LOG_NOTICE, "unmasked by an admin", FIELDS(changed) },
	{ "starting", LOG_DEBUG, LOG_DEBUG, "starting: the services that are enabled", NULL, 0 },
	{ "running", LOG_NOTICE, LOG_NOTICE, "running", NULL, 0 },
	{ "shutdown", LOG_NOTICE, LOG_NOTICE, "stopping[: {reason}]", FIELDS(shutdown) },
	{ "ended", LOG_NOTICE, LOG_NOTICE, "ended", NULL, 0 },
	{ "reloaded", LOG_NOTICE, LOG_NOTICE, "reloaded: {changed|unit|units} changed",
	  FIELDS(reloaded) },
	{ "reload-refused", LOG_ERR, LOG_ERR,
	  "reload refused for {mistakes|mistake|mistakes}; everything is as it was",
	  FIELDS(reload_refused) },
	{ "paused", LOG_NOTICE, LOG_NOTICE, "paused by an admin", NULL, 0 },
	{ "resumed", LOG_NOTICE, LOG_NOTICE, "resumed by an admin", NULL, 0 },
	{ "gate", LOG_NOTICE, LOG_NOTICE,
	  "experimental {feature} {state} by an admin[, for this run of supd alone{runtime?}]",
	  FIELDS(gate) },
	{ "clock-jump", LOG_NOTICE, LOG_NOTICE,
	  "the clock was set {direction} by {by}; all timers are computed anew",
	  FIELDS(clock_jump) },
	{ "zone-change", LOG_NOTICE, LOG_NOTICE,
	  "the time zone changed; all timers are computed anew", NULL, 0 },
	{ "not-persisted", LOG_WARNING, LOG_WARNING,
	  "the state cannot be written ({error}); timers go on, and it is tried again",
	  FIELDS(not_persisted) },
	{ "persisted", LOG_NOTICE, LOG_NOTICE, "the state is written again", NULL, 0 },
	{ "lost", LOG_WARNING, LOG_WARNING, "{count|event was|events were} lost here",
	  FIELDS(lost) },
};

const struct event_type *event_type_at(size_t i)
{
	return i < ELEMENTS(types) ? &types[i] : NULL;
}

const struct event_type *event_type_find(const char *name)
{
	for (size_t i = 0; i < ELEMENTS(types); i++)
		if (str_equal(types[i].name, name))
			return &types[i];
	return NULL;
}

/* ---- fields ---- */

static const struct supd_field *field_of(const struct supd_row *row, const char *key, size_t n)
{
	for (size_t i = 0; row && i < row->n; i++)
		if (strlen(row->field[i].key) == n && memcmp(row->field[i].key, key, n) == 0)
			return &row->field[i];
	return NULL;
}

/* Is it worth a word? */
static bool has_value(const struct supd_field *f)
{
	if (!f)
		return false;
	if (f->type == SUPD_NUMBER)
		return f->value.number > 1;
	if (f->type == SUPD_BOOL)
		return f->value.boolean;
	return f->type != SUPD_NULL;
}

bool event_value(const struct supd_field *f, char *buf, size_t n)
{
	switch (f->type) {
	case SUPD_BOOL:
		(void) snprintf(buf, n, "%s", f->value.boolean ? "true" : "false");
		return true;
	case SUPD_NUMBER:
		(void) snprintf(buf, n, "%" PRId64, f->value.number);
		return true;
	case SUPD_STRING:
		(void) snprintf(buf, n, "%s", f->value.string);
		return true;
	case SUPD_TIMESTAMP:
	case SUPD_SPAN:
		(void) snprintf(buf, n, "%" PRIu64, f->value.usec);
		return f->value.usec != SUPD_NEVER;
	case SUPD_REAL:
		(void) snprintf(buf, n, "%g", f->value.real);
		return true;
	case SUPD_NULL:
	case SUPD_ROW:
	case SUPD_ROWS:
	case SUPD_STRINGS:
		break;
	}
	return false;
}

int event_level(const char *type, const struct supd_row *fields)
{
	const struct event_type *t = event_type_find(type);

	if (!t)
		return LOG_INFO;
	return has_value(field_of(fields, "failed", strlen("failed"))) ? t->failed_level : t->level;
}

/* ---- the sentence ---- */

struct sentence {
	const struct supd_row *fields;
	char *buf;
	size_t n, max;
};

static void put(struct sentence *s, const char *text, size_t n)
{
	if (n > s->max - 1 - s->n)
		n = s->max - 1 - s->n;
	memcpy(s->buf + s->n, text, n);
	s->n += n;
	s->buf[s->n] = '\0';
}

static void put_value(struct sentence *s, const struct supd_field *f)
{
	char value[EVENT_WORDS_MAX], span[TIMESPAN_MAX] = "";

	if (f->type == SUPD_STRING)
		put(s, f->value.string, strlen(f->value.string));
	else if (f->type == SUPD_SPAN &&
		 timespan_print(span, sizeof(span), f->value.usec, USEC_PER_MSEC))
		put(s, span, strlen(span));
	else if (event_value(f, value, sizeof(value)))
		put(s, value, strlen(value));
}

/* "|mistake|mistakes}" */
static void put_noun(struct sentence *s, const struct supd_field *f, const char *nouns)
{
	const char *one = nouns + 1, *many = one + strcspn(one, "|}") + 1;

	put(s, " ", 1);
	if (f->type == SUPD_NUMBER && f->value.number == 1)
		put(s, one, (size_t) (many - 1 - one));
	else
		put(s, many, strcspn(many, "}"));
}

static void put_field(struct sentence *s, const char *name)
{
	size_t n = strcspn(name, "|?}");
	const struct supd_field *f = field_of(s->fields, name, n);

	if (!f || name[n] == '?')
		return;
	put_value(s, f);
	if (name[n] == '|')
		put_noun(s, f, name + n);
}

/* Have all fields up to the ']' something to say? */
static bool is_part_wanted(const struct sentence *s, const char *part)
{
	const char *end = strchr(part, ']');

	for (const char *p = part; p < end; p++)
		if (*p == '{' && !has_value(field_of(s->fields, p + 1, strcspn(p + 1, "|?}"))))
			return false;
	return true;
}

const char *event_words(const char *type, const struct supd_row *fields, char *buf, size_t n)
{
	const struct event_type *t = event_type_find(type);
	struct sentence s = { .fields = fields, .buf = buf, .max = n };

	buf[0] = '\0';
	if (!t)
		put(&s, type, strlen(type));
	for (const char *p = t ? t->words : ""; *p; p++) {
		if (*p == '{') {
			put_field(&s, p + 1);
			p += strcspn(p, "}");
		} else if (*p == '[' && !is_part_wanted(&s, p + 1)) {
			p += strcspn(p, "]");
		} else if (*p != '[' && *p != ']') {
			put(&s, p, 1);
		}
	}
	return buf;
}
