/* SPDX-License-Identifier: MIT */

/* How long the next elapse takes: ns and instructions per elapse, over a fixed set of expressions,
 * beside systemd-analyze (its start-up subtracted; it prints what it finds, which is in its time)
 * and a loop of libc's mktime(), in one run.
 *
 * BENCH_ELAPSES: how many elapses are measured per expression (200000). */

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/parse_error.h"
#include "timer/calendar.h"
#include "timer/zone_load.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof((array)[0])))
#define BASE (UINT64_C(1767225600) * USEC_PER_SEC) /* 2026-01-01 */

static const struct row {
	const char *text;
	bool has_zone;
} rows[] = {
	{ "hourly", false },
	{ "*:0/15", false },
	{ "*:*:0/10", false },
	{ "daily", false },
	{ "Mon..Fri 09:00", false },
	{ "Sat,Sun 10..18:30", false },
	{ "weekly", false },
	{ "monthly", false },
	{ "quarterly", false },
	{ "*-*~1", false },
	{ "Mon *-*-1..7", false },
	{ "Mon *-05~07/1", false },
	{ "*-02-29", false },
	{ "Sat *-02-29", false },
	{ "Fri *-*-13", false },
	{ "*-*-* 1,7,13,19:05,35", false },
	{ "2026..2150/2-03,06,09-1..15/7 04:00", false },
	{ "*:*:0/0.25", false },
	{ "*:*:0.1,7.5/3.25", false },
	{ "*-02-30", false },
	{ "hourly Europe/Berlin", true },
	{ "Mon..Fri 09:00 America/New_York", true },
	{ "*-*-* 02:30 Europe/Berlin", true },
	{ "*-*~1 00:00 Australia/Lord_Howe", true },
	{ "Fri *-*-13 03:00 Asia/Tokyo", true },
};
_Static_assert(COUNT(rows) == 25, "the set is fixed");

struct measure {
	double ns, instructions; /* per elapse; instructions < 0: no counter */
};

static int counter = -1;

static void counter_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_kernel = 1, .exclude_hv = 1,
	};

	counter = (int) syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static uint64_t counter_read(void)
{
	uint64_t value = 0;

	if (counter < 0 || read(counter, &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double) ts.tv_sec * 1e9 + (double) ts.tv_nsec;
}

static struct measure measure_since(double start, uint64_t instructions, long count)
{
	double ns = (now_ns() - start) / (double) count;

	return (struct measure) {
		ns, counter < 0 ? -1 : (double) (counter_read() - instructions) / (double) count };
}

/* Elapse after elapse; when there is none any more, from the beginning. Not inlined, so that
 * callgrind finds it. */
__attribute__((noinline))
static usec_t step_through(const struct calendar *calendar, const struct zone *local, long count)
{
	usec_t t = BASE;

	for (long i = 0; i < count; i++) {
		t = calendar_next(calendar, local, t, NULL);
		if (t == USEC_NEVER)
			t = BASE;
	}
	return t;
}

/* Where the machine has no counter for us, callgrind counts: this program runs itself under it, for
 * one row. */
#define CALLGRIND_COUNT 5000

static double count_by_callgrind(const char *self, int row)
{
	char command[1024], line[256];
	uint64_t collected = 0;
	FILE *out;

	(void) snprintf(command, sizeof(command), "valgrind --tool=callgrind --callgrind-out-file="
			"/dev/null --toggle-collect=step_through '%s' %d 2>&1", self, row);
	out = popen(command, "r");
	if (!out)
		return -1;
	while (fgets(line, sizeof(line), out)) {
		const char *at = strstr(line, "Collected : ");

		if (at)
			collected = strtoull(at + 12, NULL, 10);
	}
	pclose(out);
	return collected == 0 ? -1 : (double) collected / CALLGRIND_COUNT;
}

/* The best of many short rounds: on a busy machine some fall between the others' work. */
#define ROUNDS 40

static void keep_best(struct measure *best, struct measure here)
{
	if (best->ns <= 0 || here.ns < best->ns)
		*best = here;
}

static struct measure measure_supd(const struct calendar *calendar, const struct zone *local,
				   long count)
{
	struct measure best = { 0, -1 };

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t instructions = counter_read();
		double start = now_ns();

		(void) step_through(calendar, local, count / ROUNDS);
		keep_best(&best, measure_since(start, instructions, count / ROUNDS));
	}
	return best;
}

static struct measure measure_parse(const char *text, long count)
{
	struct measure best = { 0, -1 };
	struct calendar calendar;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t instructions = counter_read();
		double start = now_ns();

		for (long i = 0; i < count / ROUNDS; i++)
			if (calendar_parse(text, &calendar, NULL) < 0)
				abort();
		keep_best(&best, measure_since(start, instructions, count / ROUNDS));
	}
	return best;
}

/* The least a libc without masks can do: one broken-down time there and back. */
static struct measure measure_mktime(const char *tz, long count)
{
	struct measure best = { 0, -1 };
	time_t t = 1767225600;

	setenv("TZ", tz, 1);
	tzset();
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t instructions = counter_read();
		double start = now_ns();

		for (long i = 0; i < count / ROUNDS; i++) {
			struct tm tm;

			localtime_r(&t, &tm);
			tm.tm_mday++;
			tm.tm_isdst = -1;
			t = mktime(&tm);
			if (t > 4000000000)
				t = 1767225600;
		}
		keep_best(&best, measure_since(start, instructions, count / ROUNDS));
	}
	return best;
}

static double run_systemd(const char *text, int iterations)
{
	char command[512];
	double start = now_ns();

	(void) snprintf(command, sizeof(command), "SYSTEMD_COLORS=0 systemd-analyze calendar "
			"--base-time='2026-01-01 UTC' --iterations=%d '%s' >/dev/null 2>&1",
			iterations, text);
	if (system(command) != 0)
		return -1;
	return now_ns() - start;
}

static double run_systemd_best(const char *text, int iterations)
{
	double best = run_systemd(text, iterations);

	for (int i = 0; i < 4; i++) {
		double again = run_systemd(text, iterations);

		best = again < best ? again : best;
	}
	return best;
}

/* ns per elapse, or -1. The time for one elapse is taken off the time for @many; what is left is
 * the search and the printing of a line or three. */
static double measure_systemd(const struct row *row, uint64_t there_are)
{
	int many = row->has_zone ? 300 : 3000;
	double one, all;

	if (there_are < (uint64_t) many)
		many = (int) there_are;
	if (many < 2)
		return -1;
	one = run_systemd_best(row->text, 1);
	all = run_systemd_best(row->text, many);
	return one < 0 || all < one ? -1 : (all - one) / (many - 1);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;

	return (x > y) - (x < y);
}

static double median(const double *values, int n)
{
	double sorted[COUNT(rows)];

	memcpy(sorted, values, (size_t) n * sizeof(values[0]));
	qsort(sorted, (size_t) n, sizeof(sorted[0]), compare_doubles);
	return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* Medians without and with a zone, and of parsing. */
struct summary {
	double ns[2][COUNT(rows)], ratio[2][COUNT(rows)], parse[COUNT(rows)];
	int count[2], ratios[2], parses;
	double slowest;
};

static void print_number(double value)
{
	if (value < 0)
		printf(" %12s", "-");
	else
		printf(" %12.0f", value);
}

static void run_row(const char *self, int i, struct zone_cache *zones, long count,
		    struct summary *sum)
{
	const struct zone *local = zone_cache_local(zones);
	const struct row *row = &rows[i];
	struct measure next, parse;
	struct calendar calendar;
	double peer;
	int k = row->has_zone;

	if (zone_cache_parse(zones, row->text, &calendar, NULL) < 0)
		return;
	next = measure_supd(&calendar, local, count);
	if (next.instructions < 0)
		next.instructions = count_by_callgrind(self, i);
	parse = measure_parse(row->text, count / 10);
	peer = measure_systemd(row, calendar_count(&calendar, local, BASE, USEC_NEVER));
	sum->ns[k][sum->count[k]++] = next.ns;
	sum->parse[sum->parses++] = parse.ns;
	if (peer > 0)
		sum->ratio[k][sum->ratios[k]++] = peer / next.ns;
	if (next.ns > sum->slowest)
		sum->slowest = next.ns;
	printf("%-38s %8.1f", row->text, next.ns);
	print_number(next.instructions);
	print_number(parse.ns);
	print_number(peer);
	print_number(peer > 0 ? peer / next.ns : -1);
	printf("\n");
}

static int run_one(struct zone_cache *zones, int row)
{
	struct calendar calendar;

	if (row < 0 || row >= COUNT(rows) ||
	    zone_cache_parse(zones, rows[row].text, &calendar, NULL) < 0)
		return EXIT_FAILURE;
	return step_through(&calendar, zone_cache_local(zones), CALLGRIND_COUNT) == 0;
}

int main(int argc, char **argv)
{
	const char *elapses = getenv("BENCH_ELAPSES");
	long count = elapses ? strtol(elapses, NULL, 10) : 200000;
	const struct zone_source source = { .tz = "UTC" };
	static struct summary sum;
	struct zone_cache *zones;
	struct measure utc, berlin;

	if (count < 20 * ROUNDS || zone_cache_new(&source, &zones) < 0)
		return EXIT_FAILURE;
	if (argc > 1)
		return run_one(zones, atoi(argv[1]));
	counter_open();
	printf("%-38s %8s %12s %12s %12s %12s\n", "expression", "ns", "instructions", "parse ns",
	       "systemd ns", "ratio");
	for (int i = 0; i < COUNT(rows); i++)
		run_row(argv[0], i, zones, count, &sum);
	utc = measure_mktime("UTC", count);
	berlin = measure_mktime(":Europe/Berlin", count);
	printf("\nmedian without a zone: %.1f ns per elapse (aim 50); systemd takes %.0f times as "
	       "long, one mktime() round %.1f times (%.0f ns)\n", median(sum.ns[0], sum.count[0]),
	       median(sum.ratio[0], sum.ratios[0]), utc.ns / median(sum.ns[0], sum.count[0]), utc.ns);
	printf("median with a zone:    %.1f ns per elapse (aim 80); systemd takes %.0f times as "
	       "long, one mktime() round %.1f times (%.0f ns)\n", median(sum.ns[1], sum.count[1]),
	       median(sum.ratio[1], sum.ratios[1]), berlin.ns / median(sum.ns[1], sum.count[1]),
	       berlin.ns);
	printf("slowest: %.1f ns (aim 500); parsing, median: %.0f ns (aim 500); a parsed expression: "
	       "%zu bytes (aim 256)\n", sum.slowest, median(sum.parse, sum.parses),
	       sizeof(struct calendar));
	zone_cache_free(zones);
	return EXIT_SUCCESS;
}
