/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define MESSAGE_MAX 2048

static struct {
	log_sink_fn *sink;
	void *userdata;
	int level;
} target = {.level = LOG_INFO};

static const struct {
	int level;
	const char *name;
} levels[] = {
	{ LOG_ERR, "error" }, { LOG_WARNING, "warning" }, { LOG_NOTICE, "notice" },
	{ LOG_INFO, "info" }, { LOG_DEBUG, "debug" },
};

void log_set_sink(log_sink_fn *sink, void *userdata)
{
	target.sink = sink;
	target.userdata = userdata;
}

void log_set_level(int level)
{
	target.level = level;
}

int log_level(void)
{
	return target.level;
}

int log_level_from_string(const char *s)
{
	for (size_t i = 0; i < ELEMENTS(levels); i++)
		if (str_equal(s, levels[i].name))
			return levels[i].level;
	return -EINVAL;
}

const char *log_level_to_string(int level)
{
	for (size_t i = 0; i < ELEMENTS(levels); i++)
		if (level <= levels[i].level)
			return levels[i].name;
	return "debug";
}

void log_write(const struct log_line *line)
{
	if (target.sink && line->level <= target.level)
		target.sink(target.userdata, line);
}

/* Cuts what did not fit so that it ends in "…", not within a character. */
static void mark_cut(char *buf, size_t size)
{
	static const char ellipsis[] = "…";
	size_t end = size - sizeof(ellipsis);

	while (end > 0 && ((unsigned char) buf[end] & 0xc0) == 0x80)
		end--;
	memcpy(buf + end, ellipsis, sizeof(ellipsis));
}

void log_unit(const char *unit, int level, int r, const char *fmt, ...)
{
	struct log_line line = {.level = level, .unit = unit};
	char message[MESSAGE_MAX];
	int saved = errno, n;
	va_list ap;

	if (level > target.level || !target.sink)
		return;
	va_start(ap, fmt);
	n = vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t) n < sizeof(message) && r < 0)
		n += snprintf(message + n, sizeof(message) - (size_t) n, ": %s", strerror(-r));
	if (n < 0)
		return;
	if ((size_t) n >= sizeof(message))
		mark_cut(message, sizeof(message));
	line.message = message;
	log_write(&line);
	errno = saved; /* so that a caller may log first and look at errno then */
}
