/* SPDX-License-Identifier: MIT */
#include "service/exec_streams.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/values.h"
#include "service/spec_values.h"

#define TTY_PATH "/dev/console"
/* journald's own limit of what a service may say */
#define RATE_INTERVAL (30 * USEC_PER_SEC)
#define RATE_BURST 10000

static const struct exec_streams defaults = {
	.in.kind = STREAM_NULL,
	.out.kind = STREAM_JOURNAL,
	.err.kind = STREAM_INHERIT,
	.tty_path = TTY_PATH,
	.level = LOG_INFO,
	.level_max = LOG_DEBUG,
	.facility = LOG_DAEMON,
	.level_prefix = true,
	.rate_interval = RATE_INTERVAL,
	.rate_burst = RATE_BURST,
};

const struct exec_streams *exec_streams_of(const struct service_spec *spec)
{
	return spec->exec->streams ? spec->exec->streams : &defaults;
}

bool exec_streams_captures_out(const struct exec_streams *s)
{
	return s->out.kind == STREAM_JOURNAL;
}

bool exec_streams_captures_err(const struct exec_streams *s)
{
	return s->err.kind == STREAM_JOURNAL ||
	       (s->err.kind == STREAM_INHERIT && s->out.kind == STREAM_JOURNAL);
}

bool exec_streams_has_terminal(const struct exec_streams *s)
{
	return s->in.kind == STREAM_TTY || s->out.kind == STREAM_TTY || s->err.kind == STREAM_TTY;
}

/* Those of the draft, made when the first key asks for them. */
static struct exec_streams *streams_of(const struct key_context *c)
{
	struct exec_context *exec = &spec_draft_of(c)->exec;
	struct exec_streams *s = (struct exec_streams *) (uintptr_t) exec->streams;

	if (s)
		return s;
	s = arena_alloc(c->arena, sizeof(*s));
	if (s)
		*s = defaults;
	exec->streams = s;
	return s;
}

/* ---- where they lead ---- */

/* file:PATH and its like. 1: *ret is set; 0: it is none of them, or a mistake that was told (then
 * *ret_told). */
static int parse_path(const struct key_context *c, bool is_input, struct exec_stream *ret,
		      bool *ret_told)
{
	static const struct {
		const char *prefix;
		enum stream_kind kind;
	} forms[] = { { "file:", STREAM_FILE },
		      { "append:", STREAM_APPEND },
		      { "truncate:", STREAM_TRUNCATE } };
	const char *value = c->assignment->value;
	char *path;
	int r;

	for (size_t i = 0; i < (is_input ? 1 : ELEMENTS(forms)); i++) {
		if (!str_starts(value, forms[i].prefix))
			continue;
		r = spec_expand(c, value + strlen(forms[i].prefix), &path);
		*ret_told = r == -EBADMSG;
		if (r < 0)
			return spec_reported(r);
		if (*path != '/' || strlen(path) >= PATH_MAX) {
			spec_refuse(c, "wants an absolute path", path);
			*ret_told = true;
			return 0;
		}
		*ret = (struct exec_stream) { .kind = forms[i].kind, .path = path };
		return 1;
	}
	return 0;
}

/* What a socket unit would bring along. */
static bool refuse_socket(const struct key_context *c)
{
	const char *value = c->assignment->value;

	if (!str_equal(value, "socket") && !str_equal(value, "fd") && !str_starts(value, "fd:"))
		return false;
	key_error(c, "%s=%s needs a socket unit, and there are none here", c->assignment->key,
		  str_equal(value, "socket") ? "socket" : "fd");
	return true;
}

/* Without a word of its own, input is what StandardInputText= and StandardInputData= say. */
static void settle_input(struct exec_streams *s)
{
	if (!s->has_input)
		s->in = (struct exec_stream) { .kind = s->n_data > 0 ? STREAM_DATA : STREAM_NULL };
}

int exec_streams_parse_input(const struct key_context *c)
{
	static const struct {
		const char *word;
		enum stream_kind kind;
		enum terminal_claim claim;
	} words[] = {
		{ "null", STREAM_NULL, TERMINAL_NONE },
		{ "data", STREAM_DATA, TERMINAL_NONE },
		{ "tty", STREAM_TTY, TERMINAL_CLAIM },
		{ "tty-fail", STREAM_TTY, TERMINAL_CLAIM },
		{ "tty-force", STREAM_TTY, TERMINAL_FORCE },
	};
	struct exec_streams *s = streams_of(c);
	const char *value = c->assignment->value;
	bool was_told = false;
	int r;

	if (!s)
		return -ENOMEM;
	s->has_input = *value != '\0';
	settle_input(s);
	if (!*value)
		return 0;
	r = parse_path(c, true, &s->in, &was_told);
	s->claim = TERMINAL_NONE;
	if (r != 0 || was_told)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (str_equal(value, words[i].word)) {
			s->in = (struct exec_stream) { .kind = words[i].kind };
			s->claim = words[i].claim;
			return 0;
		}
	if (!refuse_socket(c))
		spec_refuse(c, "wants null, data, tty, tty-force, tty-fail or file:PATH", value);
	return 0;
}

/* Syslog and the kernel's log have no place of their own here: what goes to one of them is
 * captured. */
static bool parse_captured(const struct key_context *c, struct exec_stream *ret)
{
	static const char *const words[] = { "journal", "syslog", "kmsg" };
	const char *value = c->assignment->value;
	size_t n = strcspn(value, "+");

	if (value[n] && !str_equal(value + n, "+console"))
		return false;
	for (size_t i = 0; i < ELEMENTS(words); i++)
		if (strlen(words[i]) == n && memcmp(value, words[i], n) == 0) {
			*ret = (struct exec_stream){ .kind = STREAM_JOURNAL,
						     .has_console = value[n] != '\0' };
			if (str_equal(words[i], "kmsg"))
				key_warning(
					c, "%s=%s is captured, and not written to the kernel's log",
					c->assignment->key, value);
			return true;
		}
	return false;
}

int exec_streams_parse_output(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);
	bool is_out = c->row->parameter == STDOUT_FILENO, was_told = false;
	const char *value = c->assignment->value;
	struct exec_stream *stream;
	int r;

	if (!s)
		return -ENOMEM;
	stream = is_out ? &s->out : &s->err;
	*stream = is_out ? defaults.out : defaults.err;
	if (!*value)
		return 0;
	r = parse_path(c, false, stream, &was_told);
	if (r != 0 || was_told)
		return r < 0 ? r : 0;
	if (parse_captured(c, stream))
		return 0;
	if (str_equal(value, "inherit"))
		stream->kind = STREAM_INHERIT;
	else if (str_equal(value, "null"))
		stream->kind = STREAM_NULL;
	else if (str_equal(value, "tty"))
		stream->kind = STREAM_TTY;
	else if (!refuse_socket(c))
		spec_refuse(
			c,
			"wants inherit, null, journal, tty, file:PATH, append:PATH or truncate:PATH",
			value);
	return 0;
}

int exec_streams_parse_tty_path(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);
	char *path;
	int r;

	if (!s)
		return -ENOMEM;
	s->tty_path = TTY_PATH;
	if (!*c->assignment->value)
		return 0;
	r = spec_expand(c, c->assignment->value, &path);
	if (r < 0)
		return spec_reported(r);
	if (*path == '/' && strlen(path) < PATH_MAX)
		s->tty_path = path;
	else
		spec_refuse(c, "wants an absolute path", path);
	return 0;
}

/* ---- what is read ---- */

static int add_data(const struct key_context *c, struct exec_streams *s, const char *bytes,
		    size_t n, bool is_line)
{
	char *all = arena_alloc(c->arena, s->n_data + n + 2);

	if (!all)
		return -ENOMEM;
	if (s->n_data > 0)
		memcpy(all, s->data, s->n_data);
	memcpy(all + s->n_data, bytes, n);
	s->n_data += n;
	if (is_line)
		all[s->n_data++] = '\n';
	s->data = all;
	settle_input(s);
	return 0;
}

static void reset_data(struct exec_streams *s)
{
	s->data = NULL;
	s->n_data = 0;
	settle_input(s);
}

int exec_streams_parse_text(const struct key_context *c)
{
	_cleanup_(arena_done) struct arena scratch = { 0 };
	struct exec_streams *s = streams_of(c);
	char *text;
	int r;

	if (!s)
		return -ENOMEM;
	if (!*c->assignment->value) {
		reset_data(s);
		return 0;
	}
	r = value_unescape(c->assignment->value, &scratch, &text);
	if (r == -EINVAL) {
		spec_refuse(c, "wants text with known escapes (a backslash is written \\\\)",
			    c->assignment->value);
		return 0;
	}
	if (r >= 0)
		r = spec_expand(c, text, &text);
	return r < 0 ? spec_reported(r) : add_data(c, s, text, strlen(text), true);
}

int exec_streams_parse_data(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);
	_cleanup_free_ void *bytes = NULL;
	size_t n;
	int r;

	if (!s)
		return -ENOMEM;
	if (!*c->assignment->value) {
		reset_data(s);
		return 0;
	}
	r = base64_decode(c->assignment->value, &bytes, &n);
	if (r == -EINVAL) {
		spec_refuse(c, "wants base64", c->assignment->value);
		return 0;
	}
	return r < 0 ? r : add_data(c, s, bytes, n, false);
}

/* ---- how it is recorded ---- */

int exec_streams_parse_identifier(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);
	char *text;
	int r;

	if (!s)
		return -ENOMEM;
	s->identifier = NULL;
	if (!*c->assignment->value)
		return 0;
	r = spec_expand(c, c->assignment->value, &text);
	if (r < 0)
		return spec_reported(r);
	if (strlen(text) > EXEC_STREAMS_IDENTIFIER_MAX)
		spec_refuse(c, "wants at most 64 bytes", text);
	else
		s->identifier = text;
	return 0;
}

static int word_index(const char *word, const char *const *words, size_t n)
{
	uint64_t number;

	for (size_t i = 0; i < n; i++)
		if (words[i] && str_equal(word, words[i]))
			return (int) i;
	return value_unsigned(word, n - 1, &number) == 0 ? (int) number : -EINVAL;
}

int exec_streams_parse_level(const struct key_context *c)
{
	static const char *const words[] = {
		[LOG_EMERG] = "emerg", [LOG_ALERT] = "alert",     [LOG_CRIT] = "crit",
		[LOG_ERR] = "err",     [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice",
		[LOG_INFO] = "info",   [LOG_DEBUG] = "debug",
	};
	bool is_max = c->row->parameter == EXEC_STREAMS_LEVEL_MAX;
	struct exec_streams *s = streams_of(c);
	int level = is_max ? defaults.level_max : defaults.level;

	if (!s)
		return -ENOMEM;
	if (*c->assignment->value)
		level = word_index(c->assignment->value, words, ELEMENTS(words));
	if (level < 0)
		spec_refuse(c, "wants emerg, alert, crit, err, warning, notice, info or debug",
			    c->assignment->value);
	else
		*(is_max ? &s->level_max : &s->level) = level;
	return 0;
}

int exec_streams_parse_facility(const struct key_context *c)
{
	static const char *const words[] = {
		"kern",   "user",   "mail",   "daemon",   "auth",   "syslog",        "lpr",
		"news",   "uucp",   "cron",   "authpriv", "ftp",    [16] = "local0", "local1",
		"local2", "local3", "local4", "local5",   "local6", "local7",
	};
	struct exec_streams *s = streams_of(c);
	int facility = LOG_DAEMON >> 3;

	if (!s)
		return -ENOMEM;
	if (*c->assignment->value)
		facility = word_index(c->assignment->value, words, ELEMENTS(words));
	if (facility < 0)
		spec_refuse(c, "wants one of syslog's facilities, such as daemon, cron or local0",
			    c->assignment->value);
	else
		s->facility = facility << 3;
	return 0;
}

int exec_streams_parse_level_prefix(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);

	if (!s)
		return -ENOMEM;
	if (!*c->assignment->value)
		s->level_prefix = true;
	else if (value_bool(c->assignment->value, &s->level_prefix) < 0)
		spec_refuse(c, "wants yes or no", c->assignment->value);
	return 0;
}

int exec_streams_parse_rate_interval(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);

	if (!s)
		return -ENOMEM;
	if (!*c->assignment->value)
		s->rate_interval = RATE_INTERVAL;
	else if (value_span(c->assignment->value, &s->rate_interval) < 0)
		spec_refuse(c, "wants a time span such as 30s", c->assignment->value);
	return 0;
}

int exec_streams_parse_rate_burst(const struct key_context *c)
{
	struct exec_streams *s = streams_of(c);
	uint64_t burst = RATE_BURST;

	if (!s)
		return -ENOMEM;
	if (*c->assignment->value && value_unsigned(c->assignment->value, UINT_MAX, &burst) < 0)
		spec_refuse(c, "wants a number of lines", c->assignment->value);
	else
		s->rate_burst = (unsigned) burst;
	return 0;
}
