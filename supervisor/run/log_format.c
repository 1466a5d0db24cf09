/* SPDX-License-Identifier: MIT */
#include "run/log_format.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"

#define RUN_SHOWN 8 /* digits of the run id that people see */

/* In UTC: a line says when, whatever zone its reader lives in and whatever clock is put back for
 * the winter. */
static void time_words(usec_t now, char *buf, size_t n)
{
	time_t seconds = (time_t) (now / USEC_PER_SEC);
	struct tm tm = { 0 };
	size_t end;

	gmtime_r(&seconds, &tm);
	end = strftime(buf, n, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + end, n - end, ".%06uZ", (unsigned) (now % USEC_PER_SEC));
}

static char *text_line(const struct log_line *line, const char *prefix)
{
	_cleanup_free_ char *unit = line->unit ? text_escape(line->unit, strlen(line->unit)) : NULL;
	_cleanup_free_ char *message = NULL;
	char hex[33] = "", *text;

	/* Our own sentences have their quoted parts escaped already; what a service printed is
	 * raw. */
	message = line->stream ? text_escape(line->message, strlen(line->message))
			       : text_printable(line->message);
	if (!message || (line->unit && !unit))
		return NULL;
	if (line->run_id)
		text_hex16(line->run_id, hex);
	if (asprintf(&text, "%s%s%s%.*s%s%s%s\n", prefix, unit ? unit : "", line->run_id ? "[" : "",
		     RUN_SHOWN, hex, line->run_id ? "]" : "", unit ? ": " : "", message) < 0)
		return NULL;
	return text;
}

static char *text_timed(usec_t now, const struct log_line *line)
{
	char when[64], prefix[96];

	time_words(now, when, sizeof(when));
	snprintf(prefix, sizeof(prefix), "%s %s ", when, log_level_to_string(line->level));
	return text_line(line, prefix);
}

static char *text_prefixed(const struct log_line *line)
{
	char prefix[8];

	snprintf(prefix, sizeof(prefix), "<%d>", line->level & 7);
	return text_line(line, prefix);
}

/* Sets @key to @text, which may be any bytes. */
static int json_set_text(json_t *object, const char *key, const char *text)
{
	_cleanup_free_ char *escaped = NULL;
	size_t n = strlen(text);

	if (text_utf8_valid(text, n) == n)
		return json_object_set_new(object, key, json_stringn(text, n));
	escaped = text_escape(text, n);
	if (!escaped || json_object_set_new(object, key, json_string(escaped)) < 0)
		return -1;
	return json_object_set_new(object, "escaped", json_true());
}

static int json_set_event(json_t *object, const struct log_line *line)
{
	json_t *fields = json_object();

	for (size_t i = 0; fields && i < line->n_fields; i++)
		if (json_set_text(fields, line->field[i].name, line->field[i].value) < 0) {
			json_decref(fields);
			return -1;
		}
	if (!fields || json_object_set_new(object, "fields", fields) < 0)
		return -1;
	return json_object_set_new(object, "event", json_string(line->event));
}

static int json_fill(json_t *object, usec_t now, const struct log_line *line)
{
	char when[64], hex[33];

	time_words(now, when, sizeof(when));
	if (json_object_set_new(object, "time", json_string(when)) < 0 ||
	    json_object_set_new(object, "level", json_string(log_level_to_string(line->level))) < 0)
		return -1;
	if (line->unit && json_set_text(object, "unit", line->unit) < 0)
		return -1;
	if (line->run_id) {
		text_hex16(line->run_id, hex);
		if (json_object_set_new(object, "run_id", json_string(hex)) < 0)
			return -1;
	}
	if (line->stream && json_object_set_new(object, "stream", json_string(line->stream)) < 0)
		return -1;
	if (line->event && json_set_event(object, line) < 0)
		return -1;
	return json_set_text(object, "message", line->message);
}

static char *json_line(usec_t now, const struct log_line *line)
{
	json_t *object = json_object();
	char *text = NULL, *whole = NULL;

	if (object && json_fill(object, now, line) >= 0)
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text && asprintf(&whole, "%s\n", text) < 0)
		whole = NULL;
	free(text);
	return whole;
}

/* One field: NAME=value, or, where the value has newlines, NAME, its length in 64 bits, and the
 * bytes. */
static void journal_field(FILE *f, const char *name, const char *value)
{
	uint64_t n = strlen(value);
	unsigned char length[8];

	if (!strchr(value, '\n')) {
		fprintf(f, "%s=%s\n", name, value);
		return;
	}
	for (unsigned i = 0; i < sizeof(length); i++)
		length[i] = (unsigned char) (n >> (8 * i));
	fprintf(f, "%s\n", name);
	fwrite(length, 1, sizeof(length), f);
	fprintf(f, "%s\n", value);
}

/* SUPD_EVENT=missed, SUPD_REASON=overlap. */
static void journal_event(FILE *f, const struct log_line *line)
{
	journal_field(f, "SUPD_EVENT", line->event);
	for (size_t i = 0; i < line->n_fields; i++) {
		char name[64] = "SUPD_";
		size_t n = strlen(name);

		for (const char *p = line->field[i].name; *p && n < sizeof(name) - 1; p++)
			name[n++] = *p >= 'a' && *p <= 'z' ? (char) (*p - 'a' + 'A') : *p;
		name[n] = '\0';
		journal_field(f, name, line->field[i].value);
	}
}

static int journal_datagram(const struct log_line *line, char **ret, size_t *ret_n)
{
	char *bytes = NULL, hex[33];
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);
	bool failed;

	if (!f)
		return -ENOMEM;
	journal_field(f, "SYSLOG_IDENTIFIER", line->identifier ? line->identifier : "supd");
	fprintf(f, "PRIORITY=%d\n", line->level & 7);
	if (line->facility != 0)
		fprintf(f, "SYSLOG_FACILITY=%d\n", line->facility >> 3);
	if (line->unit)
		journal_field(f, "SUPD_UNIT", line->unit);
	if (line->run_id) {
		text_hex16(line->run_id, hex);
		journal_field(f, "INVOCATION_ID", hex);
	}
	if (line->stream)
		journal_field(f, "SUPD_STREAM", line->stream);
	if (line->event)
		journal_event(f, line);
	journal_field(f, "MESSAGE", line->message);
	failed = ferror(f);
	if (fclose(f) != 0 || failed) {
		free(bytes);
		return -ENOMEM;
	}
	*ret = bytes;
	*ret_n = n;
	return 0;
}

int log_format(enum log_format format, usec_t now, const struct log_line *line, char **ret,
	       size_t *ret_n)
{
	char *text = NULL;

	switch (format) {
	case LOG_TEXT:
		text = text_timed(now, line);
		break;
	case LOG_PREFIX:
		text = text_prefixed(line);
		break;
	case LOG_JSON:
		text = json_line(now, line);
		break;
	case LOG_JOURNAL:
		return journal_datagram(line, ret, ret_n);
	}
	if (!text)
		return -ENOMEM;
	*ret = text;
	*ret_n = strlen(text);
	return 0;
}
