/* SPDX-License-Identifier: MIT */
#include "control/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "control/rows_json.h"

char *format_timestamp(char *buf, size_t size, usec_t when)
{
	time_t seconds = (time_t) (when / USEC_PER_SEC);
	struct tm tm;

	if (when == 0 || when == USEC_NEVER || !localtime_r(&seconds, &tm) ||
	    strftime(buf, size, "%a %Y-%m-%d %H:%M:%S %Z", &tm) == 0)
		(void) snprintf(buf, size, "-");
	return buf;
}

char *format_log_time(char *buf, size_t size, usec_t when, usec_t now)
{
	time_t seconds = (time_t) (when / USEC_PER_SEC), present = (time_t) (now / USEC_PER_SEC);
	struct tm tm, today;

	if (when == USEC_NEVER || !localtime_r(&seconds, &tm) || !localtime_r(&present, &today) ||
	    strftime(buf, size,
		     tm.tm_year == today.tm_year ? "%b %d %H:%M:%S" : "%Y %b %d %H:%M:%S",
		     &tm) == 0)
		(void) snprintf(buf, size, "-");
	return buf;
}

static char *format_distance(char *buf, size_t size, usec_t span, const char *suffix)
{
	size_t n;

	if (span == USEC_NEVER) {
		(void) snprintf(buf, size, "-");
		return buf;
	}
	timespan_print_rough(buf, size, span);
	n = strlen(buf);
	if (span > 0)
		(void) snprintf(buf + n, size - n, " %s", suffix);
	return buf;
}

char *format_left(char *buf, size_t size, usec_t span)
{
	return format_distance(buf, size, span, "left");
}

char *format_ago(char *buf, size_t size, usec_t span)
{
	return format_distance(buf, size, span, "ago");
}

char *format_cell(const char *text)
{
	return text && *text ? text_printable(text) : strdup("-");
}

/* ---- values ---- */

static char *format_number(int64_t number)
{
	char *text;

	return asprintf(&text, "%" PRId64, number) < 0 ? NULL : text;
}

/* As many digits as say which number it is, to those who count in decimals. */
static char *format_real(double real)
{
	char *text;

	return asprintf(&text, "%.15g", real) < 0 ? NULL : text;
}

static char *format_strings(const struct supd_field *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < f->value.strings.n; i++) {
		_cleanup_free_ char *word = text_printable(f->value.strings.item[i]);

		fprintf(out, "%s%s", i > 0 ? " " : "", word ? word : "");
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static char *format_rows(const struct supd_field *f)
{
	json_t *json = rows_json_value(f);
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(json);
	return text;
}

char *format_value(const struct supd_field *f)
{
	char buf[FORMAT_TIME_MAX > TIMESPAN_MAX ? FORMAT_TIME_MAX : TIMESPAN_MAX];

	switch (f->type) {
	case SUPD_NULL:
		return strdup("");
	case SUPD_BOOL:
		return strdup(f->value.boolean ? "yes" : "no");
	case SUPD_NUMBER:
		return format_number(f->value.number);
	case SUPD_STRING:
		return text_printable(f->value.string);
	case SUPD_TIMESTAMP:
		return strdup(format_timestamp(buf, sizeof(buf), f->value.usec));
	case SUPD_SPAN:
		return strdup(timespan_print(buf, sizeof(buf), f->value.usec, 1));
	case SUPD_ROW:
	case SUPD_ROWS:
		return format_rows(f);
	case SUPD_STRINGS:
		return format_strings(f);
	case SUPD_REAL:
		return format_real(f->value.real);
	}
	return strdup("");
}

/* ---- cells ---- */

/* The character at @p, valid UTF-8 being given; *ret_n its bytes. */
static wchar_t decode(const char *p, size_t *ret_n)
{
	const unsigned char *s = (const unsigned char *) p;

	*ret_n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	switch (*ret_n) {
	case 1:
		return s[0];
	case 2:
		return (s[0] & 0x1f) << 6 | (s[1] & 0x3f);
	case 3:
		return (s[0] & 0x0f) << 12 | (s[1] & 0x3f) << 6 | (s[2] & 0x3f);
	default:
		return (s[0] & 0x07) << 18 | (s[1] & 0x3f) << 12 | (s[2] & 0x3f) << 6 |
		       (s[3] & 0x3f);
	}
}

/* Cells of one character; 1 for one that the locale knows nothing of. Control characters have been
 * escaped. */
static size_t cells_of(wchar_t c)
{
	int n = c < 0x80 ? 1 : wcwidth(c);

	return n < 0 ? 1 : (size_t) n;
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char) *text > 0x7f)
			return false;
	return true;
}

size_t format_fit(const char *text, size_t width, size_t *ret_cells)
{
	size_t length = strlen(text), i = 0, cells = 0, n;

	if (text_utf8_valid(text, length) < length) {
		*ret_cells = width < length ? width : length;
		return *ret_cells;
	}
	for (; i < length; i += n) {
		size_t more = cells_of(decode(text + i, &n));

		if (cells + more > width)
			break;
		cells += more;
	}
	*ret_cells = cells;
	return i;
}

size_t format_width(const char *text)
{
	size_t cells;

	if (is_ascii(text))
		return strlen(text);
	(void) format_fit(text, SIZE_MAX, &cells);
	return cells;
}
