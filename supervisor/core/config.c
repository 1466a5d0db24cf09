/* SPDX-License-Identifier: MIT */
#include "core/config.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "base/values.h"

#define GROUP_NAME_MAX 256
#define SPANS_MAX 16
#define OUTPUT_MAX_PER_RUN (1024 * 1024)
#define OUTPUT_MAX_PER_UNIT (10 * 1024 * 1024)
#define OUTPUT_MAX_AGE (90 * USEC_PER_DAY)
#define HISTORY_MAX_AGE (90 * USEC_PER_DAY)
#define HISTORY_MAX_PER_UNIT 100000
#define HISTORY_MAX_SIZE (1024 * 1024 * 1024)

void config_init(struct config *c)
{
	*c = (struct config) {
		.log_level = LOG_INFO,
		.output_max_per_run = OUTPUT_MAX_PER_RUN,
		.output_max_per_unit = OUTPUT_MAX_PER_UNIT,
		.output_max_age = OUTPUT_MAX_AGE,
		.history = true,
		.history_max_age = HISTORY_MAX_AGE,
		.history_max_per_unit = HISTORY_MAX_PER_UNIT,
		.history_max_size = HISTORY_MAX_SIZE,
		.forward_output = true,
	};
}

/* ---- values that only supd.conf has ---- */

static void wants(const struct key_context *c, const char *what, const char *instead)
{
	char shown[128];

	key_error(c, "%s= wants %s, not '%s'", c->assignment->key, what,
		  text_escape_to(shown, sizeof(shown), instead));
}

static const char *const log_format_name[] = {
	[CONFIG_LOG_AUTO] = "auto",
	[CONFIG_LOG_TEXT] = "text",
	[CONFIG_LOG_JSON] = "json",
};
_Static_assert(ELEMENTS(log_format_name) == CONFIG_LOG_FORMAT_COUNT, "a name for each format");

int config_log_format_from_string(const char *s)
{
	for (unsigned i = 0; i < ELEMENTS(log_format_name); i++)
		if (str_equal(s, log_format_name[i]))
			return (int) i;
	return -EINVAL;
}

static int add_path(struct arena *arena, struct config_paths *paths, const char *part, size_t n,
		    const char **ret)
{
	char *path;
	const char **grown;

	while (n > 1 && part[n - 1] == '/')
		n--;
	path = arena_strndup(arena, part, n);
	grown = arena_grow(arena, paths->item, paths->n, sizeof(*grown));
	if (!path || !grown)
		return -ENOMEM;
	*ret = path;
	if (path[0] != '/')
		return -EINVAL;
	paths->item = grown;
	paths->item[paths->n++] = path;
	return 0;
}

int config_paths_parse(const char *text, struct arena *arena, struct config_paths *paths,
		       const char **reterr)
{
	struct config_paths all = *paths;
	int r;

	if (text[0] == '\0') {
		*paths = (struct config_paths) { 0 };
		return 0;
	}
	for (const char *p = text, *end; p; p = *end ? end + 1 : NULL) {
		end = strchrnul(p, ':');
		if (end == p)
			continue;
		r = add_path(arena, &all, p, (size_t) (end - p), reterr);
		if (r < 0)
			return r;
	}
	*paths = all;
	return 0;
}

static int parse_paths(const struct key_context *c)
{
	const char *bad = NULL;
	int r;

	r = config_paths_parse(c->assignment->value, c->arena, key_field(c), &bad);
	if (r != -EINVAL)
		return r;
	wants(c, "absolute paths parted by colons", bad);
	return 0;
}

static int parse_path(const struct key_context *c)
{
	const char **field = key_field(c);
	struct config_paths one = { 0 };
	const char *value = c->assignment->value, *bad = NULL;

	if (value[0] == '\0') {
		*field = NULL;
		return 0;
	}
	switch (add_path(c->arena, &one, value, strlen(value), &bad)) {
	case 0:
		*field = one.item[0];
		return 0;
	case -EINVAL:
		wants(c, "an absolute path", bad);
		return 0;
	default:
		return -ENOMEM;
	}
}

static int parse_log_level(const struct key_context *c)
{
	int *field = key_field(c), level;

	if (c->assignment->value[0] == '\0') {
		*field = LOG_INFO;
		return 0;
	}
	level = log_level_from_string(c->assignment->value);
	if (level < 0)
		wants(c, "error, warning, notice, info or debug", c->assignment->value);
	else
		*field = level;
	return 0;
}

static int parse_log_format(const struct key_context *c)
{
	enum config_log_format *field = key_field(c);
	int format;

	format = c->assignment->value[0] == '\0'
			 ? CONFIG_LOG_AUTO
			 : config_log_format_from_string(c->assignment->value);
	if (format < 0)
		wants(c, "auto, text or json", c->assignment->value);
	else
		*field = (enum config_log_format) format;
	return 0;
}

/* all, none, group:NAME. Whether there is such a group is not for here to know. */
static int parse_read_access(const struct key_context *c)
{
	struct config *config = c->object;
	const char *value = c->assignment->value;

	if (value[0] == '\0' || str_equal(value, "all")) {
		config->read_access = CONFIG_READ_ALL;
	} else if (str_equal(value, "none")) {
		config->read_access = CONFIG_READ_NONE;
	} else if (str_starts(value, "group:") && value[6] != '\0' &&
		   strlen(value) < GROUP_NAME_MAX) {
		config->read_access = CONFIG_READ_GROUP;
		config->read_group = arena_strdup(c->arena, value + 6);
		return config->read_group ? 0 : -ENOMEM;
	} else {
		wants(c, "all, none or group:NAME", value);
	}
	return 0;
}

static int keep(const struct key_context *c)
{
	const char **field = key_field(c);

	*field = arena_strdup(c->arena, c->assignment->value);
	return *field ? 0 : -ENOMEM;
}

static int parse_size(const struct key_context *c)
{
	uint64_t *field = key_field(c);

	if (c->assignment->value[0] == '\0')
		*field = (uint64_t) c->row->parameter;
	else if (value_size(c->assignment->value, field) < 0)
		wants(c, "a number of bytes such as 512K, 10M or 1G", c->assignment->value);
	return 0;
}

static int parse_count(const struct key_context *c)
{
	uint64_t *field = key_field(c);

	if (c->assignment->value[0] == '\0')
		*field = (uint64_t) c->row->parameter;
	else if (value_unsigned(c->assignment->value, INT64_MAX, field) < 0)
		wants(c, "a number", c->assignment->value);
	return 0;
}

/* A time span; kept as it stands. Empty: not set. */
static int check_span(const struct key_context *c)
{
	const char **field = key_field(c);
	usec_t span;

	if (c->assignment->value[0] == '\0') {
		*field = NULL;
		return 0;
	}
	if (value_span(c->assignment->value, &span) >= 0)
		return keep(c);
	wants(c, "a time span such as 24h", c->assignment->value);
	return 0;
}

/* Time spans parted by blanks; kept as they stand. Empty means none, which is something said. */
static int check_spans(const struct key_context *c)
{
	const char *p = c->assignment->value;
	unsigned n = 0;
	char *word;
	usec_t span;
	int r;

	while ((r = value_word(&p, VALUE_WORD_RAW, c->arena, &word)) > 0) {
		if (value_span(word, &span) < 0 || span == USEC_NEVER) {
			wants(c, "time spans such as 30s 2min 10min", word);
			return 0;
		}
		n++;
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0 || n > SPANS_MAX) {
		wants(c, "at most 16 time spans", c->assignment->value);
		return 0;
	}
	return keep(c);
}

/* ---- the keys ---- */

#define FIELD(name) offsetof(struct config, name)

static const struct key_row rows[] = {
	{ "Manager", "UnitPath", KEY_KNOWN, parse_paths, FIELD(unit_path), 0 },
	{ "Manager", "SystemdUnitPath", KEY_KNOWN, parse_paths, FIELD(systemd_unit_path), 0 },
	{ "Manager", "StateDirectory", KEY_KNOWN, parse_path, FIELD(state_dir), 0 },
	{ "Manager", "RuntimeDirectory", KEY_KNOWN, parse_path, FIELD(runtime_dir), 0 },
	{ "Manager", "LogLevel", KEY_KNOWN, parse_log_level, FIELD(log_level), 0 },
	{ "Manager", "LogFormat", KEY_KNOWN, parse_log_format, FIELD(log_format), 0 },
	{ "Manager", "ReadAccess", KEY_KNOWN, parse_read_access, 0, 0 },
	{ "Manager", "OutputMaxPerRun", KEY_KNOWN, parse_size, FIELD(output_max_per_run),
	  OUTPUT_MAX_PER_RUN },
	{ "Manager", "OutputMaxPerUnit", KEY_KNOWN, parse_size, FIELD(output_max_per_unit),
	  OUTPUT_MAX_PER_UNIT },
	{ "Manager", "OutputMaxAgeSec", KEY_KNOWN, key_parse_span, FIELD(output_max_age),
	  OUTPUT_MAX_AGE },
	{ "Manager", "ForwardOutput", KEY_KNOWN, key_parse_bool, FIELD(forward_output), true },
	{ "Manager", "History", KEY_KNOWN, key_parse_bool, FIELD(history), true },
	{ "Manager", "HistoryMaxAgeSec", KEY_KNOWN, key_parse_span, FIELD(history_max_age),
	  HISTORY_MAX_AGE },
	{ "Manager", "HistoryMaxPerUnit", KEY_KNOWN, parse_count, FIELD(history_max_per_unit),
	  HISTORY_MAX_PER_UNIT },
	{ "Manager", "HistoryMaxSize", KEY_KNOWN, parse_size, FIELD(history_max_size),
	  HISTORY_MAX_SIZE },
	{ "Experimental", "Timers", KEY_KNOWN, key_parse_bool, FIELD(timers), 0 },
	{ "Timer", "RetrySec", KEY_KNOWN, check_spans, FIELD(retry), 0 },
	{ "Timer", "CatchUpSec", KEY_KNOWN, check_span, FIELD(catch_up), 0 },
	{ "Timer", "CatchUpSpreadSec", KEY_KNOWN, check_span, FIELD(catch_up_spread), 0 },
};

const struct key_table *config_keys(void)
{
	static const struct key_table table = { .row = rows, .n = ELEMENTS(rows) };

	return &table;
}

int config_parse(const struct assignment *assignment, size_t n, struct arena *arena, struct diag *d,
		 struct config *c)
{
	return keys_apply(config_keys(), assignment, n, arena, d, c);
}

const char *config_setting(const struct config *c, const char *key)
{
	const struct {
		const char *key, *value;
	} setting[] = {
		{ "RetrySec", c->retry },
		{ "CatchUpSec", c->catch_up },
		{ "CatchUpSpreadSec", c->catch_up_spread },
	};

	for (size_t i = 0; i < ELEMENTS(setting); i++)
		if (str_equal(key, setting[i].key))
			return setting[i].value;
	return NULL;
}
