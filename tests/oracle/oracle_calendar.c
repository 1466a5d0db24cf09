/* SPDX-License-Identifier: MIT */

/* Random expressions put to systemd-analyze and to supd: the same verdict, the same normal form
 * and, in UTC and away from changes of the clock, the same elapses.
 *
 * ORACLE_COUNT: how many expressions (2000); ORACLE_SEED: which ones (1). */

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/parse_error.h"
#include "tests/oracle/expressions.h"
#include "tests/oracle/systemd_analyze.h"
#include "timer/calendar.h"
#include "timer/zone.h"
#include "timer/zone_load.h"

#define BATCH 100
#define ITERATIONS 4
#define TEXT_MAX 512
#define ANSWER_MAX 8192

/* What either side says of one expression. */
struct answer {
	bool is_valid;
	char normal[ANSWER_MAX];
	int count;
	int64_t elapses[ITERATIONS]; /* seconds; systemd prints no fractions */
	usec_t exact[ITERATIONS];    /* here alone */
};

/* A local zone and a moment after which its clock does not jump for long. */
static const struct place {
	const char *tz;
	int64_t base;
} places[] = {
	{ "UTC", 1767225600 },
	{ "UTC", 951782399 },                /* the day before February 29th, 2000 */
	{ "UTC", 4107542399 },               /* 2100-02-28, no leap year */
	{ "Asia/Tokyo", 1772323200 },
	{ "Asia/Kolkata", 1785542400 },
	{ "America/New_York", 1773532800 },  /* a week after its change */
	{ "Europe/Berlin", 1780272000 },
	{ "Australia/Lord_Howe", 1764547200 },
	{ "Asia/Kathmandu", 1767225600 },
};

static int failures;
static int valid, compared, missed, given_up;

__attribute__((format(printf, 1, 2)))
static void report(const char *fmt, ...)
{
	va_list args;

	failures++;
	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

/* "Sat 2026-11-21 10:00:00 UTC" */
static int64_t parse_utc(const char *text)
{
	struct tm tm = { 0 };

	if (sscanf(text, "%*3s %d-%d-%d %d:%d:%d UTC", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

/* One line of the table "Label: value". */
static void read_line(struct answer *a, char *line)
{
	const char *label, *value;

	if (!analyze_split(line, &label, &value))
		return;
	if (strcmp(label, "Normalized form") == 0) {
		a->is_valid = true;
		snprintf(a->normal, sizeof(a->normal), "%s", value);
	} else if (strcmp(label, "Next elapse") == 0 || strncmp(label, "Iter", 4) == 0) {
		if (strcmp(value, "never") != 0 && a->count < ITERATIONS)
			a->elapses[a->count++] = parse_utc(value);
	} else if (strcmp(label, "(in UTC)") == 0 && a->count > 0) {
		a->elapses[a->count - 1] = parse_utc(value);
	}
}

static void ask_systemd(char texts[][TEXT_MAX], int count, const struct place *place,
			struct answer *answers)
{
	static char iterations[32], base[64];
	char *argv[BATCH + 8] = { (char[]) { "systemd-analyze" }, (char[]) { "calendar" },
				  iterations, base, (char[]) { "--" } };
	size_t size = 0;
	char *line = NULL;
	int i = 0, argc = 5;
	pid_t pid;
	FILE *out;

	snprintf(iterations, sizeof(iterations), "--iterations=%d", ITERATIONS);
	snprintf(base, sizeof(base), "--base-time=@%" PRIi64, place->base);
	for (int k = 0; k < count; k++) {
		argv[argc++] = texts[k];
		memset(&answers[k], 0, sizeof(answers[k]));
	}
	out = analyze_start(argv, place->tz, &pid);
	while (i < count && getline(&line, &size, out) > 0)
		if (line[0] == '\n')
			i++;
		else
			read_line(&answers[i], line);
	free(line);
	analyze_finish(out, pid);
}

static void ask_supd(struct zone_cache *zones, const char *text, const struct place *place,
		     struct answer *ret, struct calendar *calendar)
{
	const struct zone *local = zone_cache_local(zones);
	usec_t when = (usec_t) place->base * USEC_PER_SEC;

	memset(ret, 0, sizeof(*ret));
	if (zone_cache_parse(zones, text, calendar, NULL) < 0)
		return;
	ret->is_valid = true;
	(void) calendar_print(calendar, local, ret->normal, sizeof(ret->normal));
	while (ret->count < ITERATIONS) {
		when = calendar_next(calendar, local, when, NULL);
		if (when == USEC_NEVER)
			break;
		ret->exact[ret->count] = when;
		ret->elapses[ret->count++] = (int64_t) (when / USEC_PER_SEC);
	}
}

/* Until when the expression's clock does not jump, with a margin; from then on the rules differ. */
static int64_t calm_until(const struct calendar *calendar, struct zone_cache *zones,
			  const struct place *place)
{
	struct zone_era era;
	int64_t at = place->base;

	zone_era_at(calendar_zone(calendar, zone_cache_local(zones)), at, &era);
	return at < era.start + 3 * 86400 ? at : era.end - 3 * 86400;
}

/* Asks systemd once more, about one expression and from another moment. */
static FILE *ask_again(const char *text, const char *tz, const char *option, usec_t base, pid_t *ret)
{
	char copy[TEXT_MAX], base_time[64], iterations[32];
	char *argv[] = { (char[]) { "systemd-analyze" }, (char[]) { "calendar" }, iterations,
			 base_time, (char[]) { "--" }, copy, NULL };

	(void) snprintf(copy, sizeof(copy), "%.*s", TEXT_MAX - 1, text);
	(void) snprintf(iterations, sizeof(iterations), "%s", option);
	(void) snprintf(base_time, sizeof(base_time), "--base-time=@%" PRIu64 ".%06" PRIu64,
			base / USEC_PER_SEC, base % USEC_PER_SEC);
	return analyze_start(argv, tz, ret);
}

/* The safety valve of systemd's search ends it after 1000 steps; it then prints nothing at all,
 * though it takes the expression. */
static bool gives_up(const char *text, const struct place *place)
{
	char line[64];
	pid_t pid;
	FILE *out = ask_again(text, place->tz, "--iterations=0", 0, &pid);
	bool answers = fgets(line, sizeof(line), out) != NULL;

	analyze_finish(out, pid);
	return answers;
}

/* When a step without an end ("*:3/16") runs over the end of the day, month or year, systemd goes
 * on from where the overflow lands and so misses elapses before it: after 23:52 comes 00:19. Asked
 * from just before such an elapse it knows it. */
static bool misses(const char *text, const struct place *place, usec_t elapse)
{
	struct answer answer = { .count = 0 };
	char *line = NULL;
	size_t size = 0;
	pid_t pid;
	FILE *out = ask_again(text, place->tz, "--iterations=1", elapse - 1, &pid);

	while (getline(&line, &size, out) > 0)
		read_line(&answer, line);
	free(line);
	analyze_finish(out, pid);
	return answer.count == 1 && answer.elapses[0] == (int64_t) (elapse / USEC_PER_SEC);
}

static void compare(const char *text, const struct place *place, struct zone_cache *zones,
		    const struct answer *theirs)
{
	static struct answer ours;
	struct calendar calendar;
	int64_t calm;

	ask_supd(zones, text, place, &ours, &calendar);
	if (ours.is_valid != theirs->is_valid) {
		if (ours.is_valid && gives_up(text, place))
			given_up++;
		else
			report("'%s' (TZ=%s): %s here, %s by systemd", text, place->tz,
			       ours.is_valid ? "taken" : "refused",
			       theirs->is_valid ? "taken" : "refused");
		return;
	}
	if (!ours.is_valid)
		return;
	if (strcmp(ours.normal, theirs->normal) != 0)
		report("'%s' (TZ=%s): '%s' here, '%s' by systemd", text, place->tz, ours.normal,
		       theirs->normal);
	valid++;
	calm = calm_until(&calendar, zones, place);
	for (int i = 0; i < ITERATIONS; i++) {
		int64_t here = i < ours.count ? ours.elapses[i] : INT64_MAX;
		int64_t there = i < theirs->count ? theirs->elapses[i] : INT64_MAX;

		if (here > calm && there > calm)
			break;
		compared++;
		if (here == there)
			continue;
		if (here < there && misses(text, place, ours.exact[i]))
			missed++;
		else
			report("'%s' (TZ=%s, after @%" PRIi64 "): elapse %d is @%" PRIi64
			       " here, @%" PRIi64 " by systemd", text, place->tz, place->base, i + 1,
			       here, there);
		break;
	}
}

static void run_batch(struct chance *chance, int count)
{
	static char texts[BATCH][TEXT_MAX];
	static struct answer theirs[BATCH];
	const struct place *place = &places[chance_below(chance, sizeof(places) / sizeof(places[0]))];
	const struct zone_source source = { .tz = place->tz };
	struct zone_cache *zones;

	if (zone_cache_new(&source, &zones) < 0)
		abort();
	for (int i = 0; i < count; i++)
		expression_calendar(chance, texts[i], sizeof(texts[i]));
	ask_systemd(texts, count, place, theirs);
	for (int i = 0; i < count; i++)
		compare(texts[i], place, zones, &theirs[i]);
	zone_cache_free(zones);
}

int main(void)
{
	unsigned long count = analyze_number("ORACLE_COUNT", 2000), seed = analyze_number("ORACLE_SEED", 1);
	struct chance chance = { seed * UINT64_C(0x9e3779b97f4a7c15) | 1 };

	if (!analyze_is_reference())
		return 0;
	printf("1..1\n");
	for (unsigned long done = 0; done < count; done += BATCH)
		run_batch(&chance, (int) (count - done < BATCH ? count - done : BATCH));
	printf("# %d valid, %d elapses compared; systemd missed %d of its own and gave up on %d\n",
	       valid, compared, missed, given_up);
	if (valid < (int) count / 3)
		report("too few of the expressions are valid");
	printf("%s 1 - systemd-analyze agrees on %lu expressions (seed %lu)\n",
	       failures == 0 ? "ok" : "not ok", count, seed);
	return failures != 0;
}
