/* SPDX-License-Identifier: MIT */
#include "cli/cli_calendar.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "timer/calendar.h"
#include "timer/timestamp.h"
#include "timer/zone.h"
#include "timer/zone_load.h"

#define EXIT_BAD 1
#define EXIT_USAGE 2
#define ITERATION_MAX 1000000
#define JSON_MODE_NONE SIZE_MAX

/* What a verb was asked for, and what the machine says. */
struct request {
	const char *verb, *usage;
	const char *base_time; /* NULL: now */
	uint64_t iterations;
	size_t json;           /* flags for jansson, or JSON_MODE_NONE */
	usec_t now, base;
	struct zone_cache *zones;
	const struct zone *local;
	json_t *answers;       /* an array, if the answer is to be JSON */
};

/* One line on stderr, or with --json one object on stdout; returns @status. User text in @fmt's
 * arguments may hold anything, so it is made printable. */
static int fail(const struct request *request, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct request *request, int status, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL, *printable = NULL;
	json_t *object;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0) {
		text = NULL;
		return status;
	}
	printable = text_printable(text);
	if (request->json == JSON_MODE_NONE) {
		fprintf(stderr, "supctl %s: %s\n", request->verb, printable ? printable : fmt);
		return status;
	}
	object = json_pack("{s:b, s:s, s:i}", "error", 1, "message", printable ? printable : fmt,
			   "exitcode", status);
	if (object)
		(void) json_dumpf(object, stdout, JSON_COMPACT);
	fputc('\n', stdout);
	json_decref(object);
	return status;
}

static usec_t present(void)
{
	struct timespec ts;

	(void) clock_gettime(CLOCK_REALTIME, &ts);
	return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

/* Text of the user as JSON: what is not UTF-8 is escaped. */
static json_t *json_text(const char *text)
{
	_cleanup_free_ char *escaped = NULL;
	size_t n = strlen(text);

	if (text_utf8_valid(text, n) == n)
		return json_string(text);
	escaped = text_escape(text, n);
	return escaped ? json_string(escaped) : NULL;
}

static void print_text(const char *label, int width, const char *text)
{
	_cleanup_free_ char *printable = text_printable(text);

	printf("%*s: %s\n", width, label, printable ? printable : "");
}

/* The bad expression on stderr, or in the array in its place. */
static void answer_error(struct request *request, const char *text, const struct parse_error *error)
{
	if (request->answers) {
		json_array_append_new(request->answers, json_pack(
			"{s:o, s:o, s:i}", "expression", json_text(text), "error",
			json_text(error->sentence), "column", (int) error->column));
		return;
	}
	if (error->column > 0)
		(void) fail(request, 0, "'%s': column %u: %s", text, error->column,
			    error->sentence);
	else
		(void) fail(request, 0, "'%s': %s", text, error->sentence);
}

/* As systemd words it: "2h 5min left", "3 days ago", "now". */
static const char *print_distance(char *buf, size_t size, usec_t when, usec_t now)
{
	usec_t span = when > now ? when - now : now - when;

	timespan_print_rough(buf, size, span);
	if (span > 0)
		strcat(buf, when > now ? " left" : " ago");
	return buf;
}

static const char *note_name(enum calendar_note note)
{
	switch (note) {
	case CALENDAR_PLAIN:
		break;
	case CALENDAR_GAP:
		return "gap";
	case CALENDAR_FOLD:
		return "fold";
	}
	return NULL;
}

static const char *note_sentence(enum calendar_note note)
{
	switch (note) {
	case CALENDAR_PLAIN:
		break;
	case CALENDAR_GAP:
		return " (moved: the local time does not exist that day)";
	case CALENDAR_FOLD:
		return " (the local time occurs twice that day)";
	}
	return "";
}

/* Longest of "Normalized form" and the others. */
#define LABEL_WIDTH 15

static void print_elapse(const struct request *request, const struct zone *local, uint64_t i,
			 usec_t when, enum calendar_note note)
{
	char label[32] = "Next elapse", buf[TIMESTAMP_MAX + 8];
	bool has_fraction = when % USEC_PER_SEC != 0;

	if (i > 0)
		(void) snprintf(label, sizeof(label), "Iter. #%" PRIu64, i + 1);
	timestamp_print(buf, sizeof(buf), when, local, has_fraction);
	printf("%*s: %s%s\n", LABEL_WIDTH, label, buf, note_sentence(note));
	if (!zone_is_utc(local)) {
		timestamp_print(buf, sizeof(buf), when, zone_utc(), has_fraction);
		printf("%*s: %s\n", LABEL_WIDTH, "(in UTC)", buf);
	}
	printf("%*s: %s\n", LABEL_WIDTH, "From now",
	       print_distance(buf, sizeof(buf), when, request->now));
}

static void print_calendar(const struct request *request, const struct calendar *calendar,
			   const char *normal)
{
	enum calendar_note note;
	usec_t when = request->base;

	if (!str_equal(normal, calendar->text))
		print_text("Original form", LABEL_WIDTH, calendar->text);
	print_text("Normalized form", LABEL_WIDTH, normal);
	for (uint64_t i = 0; i < request->iterations; i++) {
		when = calendar_next(calendar, request->local, when, &note);
		if (when == USEC_NEVER && i == 0)
			printf("%*s: never\n", LABEL_WIDTH, "Next elapse");
		if (when == USEC_NEVER)
			break;
		print_elapse(request, request->local, i, when, note);
	}
}

static json_t *elapse_as_json(const struct request *request, usec_t when, enum calendar_note note)
{
	char local[TIMESTAMP_MAX], utc[TIMESTAMP_MAX];
	bool has_fraction = when % USEC_PER_SEC != 0;

	timestamp_print(local, sizeof(local), when, request->local, has_fraction);
	timestamp_print(utc, sizeof(utc), when, zone_utc(), has_fraction);
	return json_pack("{s:I, s:s, s:s, s:s?}", "realtime_usec", (json_int_t) when, "local",
			 local, "utc", utc, "note", note_name(note));
}

static void answer_calendar(struct request *request, const struct calendar *calendar,
			    const char *normal)
{
	json_t *elapses = json_array();
	enum calendar_note note;
	usec_t when = request->base;

	for (uint64_t i = 0; i < request->iterations; i++) {
		when = calendar_next(calendar, request->local, when, &note);
		if (when == USEC_NEVER)
			break;
		json_array_append_new(elapses, elapse_as_json(request, when, note));
	}
	json_array_append_new(request->answers, json_pack(
		"{s:o, s:o, s:o}", "expression", json_text(calendar->text), "normalized",
		json_text(normal), "elapses", elapses));
}

static int do_calendar(struct request *request, const char *text)
{
	_cleanup_free_ char *normal = NULL;
	struct calendar calendar;
	struct parse_error error;
	size_t size;
	int r;

	r = zone_cache_parse(request->zones, text, &calendar, &error);
	if (r == -EBADMSG)
		answer_error(request, text, &error);
	if (r < 0)
		return r;
	size = calendar_print(&calendar, request->local, NULL, 0) + 1;
	normal = malloc(size);
	if (!normal)
		return -ENOMEM;
	(void) calendar_print(&calendar, request->local, normal, size);
	if (request->answers)
		answer_calendar(request, &calendar, normal);
	else
		print_calendar(request, &calendar, normal);
	return 0;
}

static int do_timespan(struct request *request, const char *text)
{
	char human[TIMESPAN_MAX];
	struct parse_error error;
	usec_t span;
	int r = timespan_parse(text, &span, &error);

	if (r < 0) {
		answer_error(request, text, &error);
		return r;
	}
	timespan_print(human, sizeof(human), span, 1);
	if (request->answers) {
		/* what JSON's integers cannot hold is as good as infinite */
		json_t *usec = span <= INT64_MAX ? json_integer((json_int_t) span) : json_null();

		json_array_append_new(request->answers, json_pack(
			"{s:o, s:o, s:s}", "expression", json_text(text), "usec", usec, "human",
			human));
		return 0;
	}
	print_text("Original", 8, text);
	printf("      %ss: %" PRIu64 "\n   Human: %s\n",
	       str_equal(nl_langinfo(CODESET), "UTF-8") ? "\316\274" : "u", span, human);
	return 0;
}

static int parse_time(const struct request *request, const char *text, usec_t *ret,
		      struct parse_error *reterr)
{
	const struct timestamp_context context = {
		.now = request->now, .local = request->local,
		.find_zone = zone_cache_find, .userdata = request->zones,
	};

	return timestamp_parse(text, &context, ret, reterr);
}

static void print_timestamp(const struct request *request, const char *text, usec_t when)
{
	char buf[TIMESTAMP_MAX + 8];
	bool is_none = when == 0 || when == USEC_NEVER;

	print_text("Original form", LABEL_WIDTH, text);
	printf("%*s: %s\n", LABEL_WIDTH, "Normalized form",
	       timestamp_print(buf, sizeof(buf), when, request->local, false));
	if (!zone_is_utc(request->local))
		printf("%*s: %s\n", LABEL_WIDTH, "(in UTC)",
		       timestamp_print(buf, sizeof(buf), when, zone_utc(), false));
	printf("%*s: @%" PRIu64, LABEL_WIDTH, "UNIX seconds", when / USEC_PER_SEC);
	if (when % USEC_PER_SEC > 0)
		printf(".%06" PRIu64, when % USEC_PER_SEC);
	printf("\n%*s: %s\n", LABEL_WIDTH, "From now",
	       is_none ? "-" : print_distance(buf, sizeof(buf), when, request->now));
}

static int do_timestamp(struct request *request, const char *text)
{
	char local[TIMESTAMP_MAX], utc[TIMESTAMP_MAX];
	struct parse_error error;
	bool has_fraction;
	usec_t when;
	int r = parse_time(request, text, &when, &error);

	if (r < 0) {
		answer_error(request, text, &error);
		return r;
	}
	if (!request->answers) {
		print_timestamp(request, text, when);
		return 0;
	}
	has_fraction = when % USEC_PER_SEC > 0;
	timestamp_print(local, sizeof(local), when, request->local, has_fraction);
	timestamp_print(utc, sizeof(utc), when, zone_utc(), has_fraction);
	json_array_append_new(request->answers, json_pack(
		"{s:o, s:o, s:s, s:s}", "expression", json_text(text), "realtime_usec",
		when <= INT64_MAX ? json_integer((json_int_t) when) : json_null(), "local", local,
		"utc", utc));
	return 0;
}

/* Takes --json's mode; a terminal gets what can be read. */
static bool set_json(struct request *request, const char *mode)
{
	if (!mode || str_equal(mode, "short"))
		request->json = JSON_COMPACT;
	else if (str_equal(mode, "pretty"))
		request->json = JSON_INDENT(2);
	else if (str_equal(mode, "off"))
		request->json = JSON_MODE_NONE;
	else
		return false;
	return true;
}

enum { OPTION_BASE_TIME = 256, OPTION_ITERATIONS, OPTION_JSON };

static const struct option calendar_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "json", optional_argument, NULL, OPTION_JSON },
	{ "base-time", required_argument, NULL, OPTION_BASE_TIME },
	{ "iterations", required_argument, NULL, OPTION_ITERATIONS },
	{ NULL, 0, NULL, 0 },
};
static const struct option plain_options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ "json", optional_argument, NULL, OPTION_JSON },
	{ NULL, 0, NULL, 0 },
};

/* Returns -1 to go on, or the exit status. */
static int parse_options(struct request *request, int argc, char **argv,
			 const struct option *options)
{
	int option;

	optind = 0; /* starts anew, whatever was parsed before */
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":h", options, NULL)) >= 0)
		switch (option) {
		case 'h':
			fputs(request->usage, stdout);
			return EXIT_SUCCESS;
		case OPTION_JSON:
			if (set_json(request, optarg))
				break;
			return fail(request, EXIT_USAGE,
				    "--json= is short, pretty or off, not '%s'", optarg);
		case OPTION_BASE_TIME:
			request->base_time = optarg;
			break;
		case OPTION_ITERATIONS:
			if (value_unsigned(optarg, ITERATION_MAX, &request->iterations) == 0)
				break;
			return fail(request, EXIT_USAGE, "--iterations= is a number up to %d, "
				    "not '%s'", ITERATION_MAX, optarg);
		case ':':
			return fail(request, EXIT_USAGE, "%s needs a value", argv[optind - 1]);
		default:
			return fail(request, EXIT_USAGE,
				    "unknown option '%s' (see supctl %s --help)", argv[optind - 1],
				    request->verb);
		}
	if (optind == argc)
		return fail(request, EXIT_USAGE,
			    "nothing to look at was given (see supctl %s --help)", request->verb);
	return -1;
}

/* Reads the clock and the local zone. Returns -1 to go on, or the exit status. */
static int look_around(struct request *request)
{
	const struct zone_source source = zone_source_from_environment();
	struct parse_error error;
	const char *problem;

	request->now = present();
	request->base = request->now;
	if (zone_cache_new(&source, &request->zones) < 0)
		return fail(request, EXIT_BAD, "out of memory");
	request->local = zone_cache_local(request->zones);
	problem = zone_cache_local_problem(request->zones);
	if (problem && request->json == JSON_MODE_NONE)
		(void) fail(request, 0, "%s; times are shown in UTC", problem);
	if (!request->base_time)
		return -1;
	if (parse_time(request, request->base_time, &request->base, &error) < 0)
		return fail(request, EXIT_USAGE, "--base-time='%s': %s", request->base_time,
			    error.sentence);
	return -1;
}

static int answer_all(struct request *request, int count, char **texts,
		      int (*answer)(struct request *, const char *))
{
	int status = EXIT_SUCCESS;

	request->answers = request->json != JSON_MODE_NONE ? json_array() : NULL;
	for (int i = 0; i < count; i++) {
		if (answer(request, texts[i]) < 0)
			status = EXIT_BAD;
		if (!request->answers && i + 1 < count)
			putchar('\n');
	}
	if (request->answers) {
		(void) json_dumpf(request->answers, stdout, request->json);
		putchar('\n');
		json_decref(request->answers);
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		return fail(request, EXIT_BAD, "the answer cannot be written: %s", strerror(errno));
	return status;
}

static int run(struct request *request, int argc, char **argv, const struct option *options,
	       int (*answer)(struct request *, const char *))
{
	int status;

	(void) setlocale(LC_CTYPE, "");
	request->json = JSON_MODE_NONE;
	request->iterations = 1;
	status = parse_options(request, argc, argv, options);
	if (status < 0)
		status = look_around(request);
	if (status < 0)
		status = answer_all(request, argc - optind, argv + optind, answer);
	zone_cache_free(request->zones);
	return status;
}

int cli_calendar(int argc, char **argv)
{
	struct request request = { .verb = "calendar", .usage =
		"Usage: supctl calendar [OPTION…] EXPRESSION…\n\n"
		"Checks calendar expressions and shows when they elapse (see supd.time(7)).\n\n"
		"  --base-time=TIME     Count from TIME instead of now\n"
		"  --iterations=N       Show the next N elapses (default: 1)\n"
		"  --json[=MODE]        Answer in JSON: short, pretty or off\n"
		"  -h, --help           Show this text\n" };

	return run(&request, argc, argv, calendar_options, do_calendar);
}

int cli_timespan(int argc, char **argv)
{
	struct request request = { .verb = "timespan", .usage =
		"Usage: supctl timespan [OPTION…] SPAN…\n\n"
		"Shows how a time span is understood (see supd.time(7)).\n\n"
		"  --json[=MODE]        Answer in JSON: short, pretty or off\n"
		"  -h, --help           Show this text\n" };

	return run(&request, argc, argv, plain_options, do_timespan);
}

int cli_timestamp(int argc, char **argv)
{
	struct request request = { .verb = "timestamp", .usage =
		"Usage: supctl timestamp [OPTION…] TIME…\n\n"
		"Shows which moment a timestamp means (see supd.time(7)).\n\n"
		"  --json[=MODE]        Answer in JSON: short, pretty or off\n"
		"  -h, --help           Show this text\n" };

	return run(&request, argc, argv, plain_options, do_timestamp);
}
