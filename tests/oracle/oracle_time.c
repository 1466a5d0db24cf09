/* SPDX-License-Identifier: MIT */

/* Random time spans and timestamps put to systemd-analyze and to supd: the same verdict, the same
 * value, the same normal form.
 *
 * ORACLE_COUNT: how many of each (300); ORACLE_SEED: which ones (1). */

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/timespan.h"
#include "tests/oracle/expressions.h"
#include "tests/oracle/systemd_analyze.h"
#include "timer/timestamp.h"
#include "timer/zone.h"

#define TEXT_MAX 512

struct answer {
	bool is_valid;
	char value[64];  /* microseconds of a span, "@SECONDS" of a timestamp */
	char normal[128];
};

/* One kind of text: how it is made, asked and read. */
struct kind {
	const char *verb, *value_label, *normal_label;
	void (*make)(struct chance *chance, char *buf, size_t size);
	void (*read)(const char *text, struct answer *ret);
};

static int failures;
static int valid;

static void read_timespan(const char *text, struct answer *ret)
{
	usec_t span;

	if (timespan_parse(text, &span, NULL) < 0)
		return;
	ret->is_valid = true;
	(void) snprintf(ret->value, sizeof(ret->value), "%" PRIu64, span);
	timespan_print(ret->normal, sizeof(ret->normal), span, 0);
}

static void read_timestamp(const char *text, struct answer *ret)
{
	struct timestamp_context context = { .local = zone_utc() };
	struct timespec now;
	usec_t when;

	(void) clock_gettime(CLOCK_REALTIME, &now);
	context.now = (usec_t) now.tv_sec * USEC_PER_SEC;
	if (timestamp_parse(text, &context, &when, NULL) < 0)
		return;
	ret->is_valid = true;
	(void) snprintf(ret->value, sizeof(ret->value), "@%" PRIu64, when / USEC_PER_SEC);
	if (when % USEC_PER_SEC > 0)
		(void) snprintf(ret->value + strlen(ret->value), 16, ".%06" PRIu64,
				when % USEC_PER_SEC);
	timestamp_print(ret->normal, sizeof(ret->normal), when, zone_utc(), false);
}

static const struct kind kinds[] = {
	{ "timespan", "us", "Human", expression_timespan, read_timespan },
	{ "timestamp", "UNIX seconds", "Normalized form", expression_timestamp, read_timestamp },
};

/* One process each: a batch ends at its first mistake. */
static void ask(const struct kind *kind, const char *text, struct answer *ret)
{
	char verb[16], copy[TEXT_MAX], *line = NULL;
	char *argv[] = { (char[]) { "systemd-analyze" }, verb, (char[]) { "--" }, copy, NULL };
	const char *label, *value;
	size_t size = 0;
	pid_t pid;
	FILE *out;

	(void) snprintf(verb, sizeof(verb), "%s", kind->verb);
	(void) snprintf(copy, sizeof(copy), "%.*s", TEXT_MAX - 1, text);
	out = analyze_start(argv, "UTC", &pid);
	while (getline(&line, &size, out) > 0) {
		if (!analyze_split(line, &label, &value))
			continue;
		if (strcmp(label, kind->value_label) == 0) {
			ret->is_valid = true;
			(void) snprintf(ret->value, sizeof(ret->value), "%s", value);
		} else if (strcmp(label, kind->normal_label) == 0) {
			(void) snprintf(ret->normal, sizeof(ret->normal), "%s", value);
		}
	}
	free(line);
	analyze_finish(out, pid);
}

static void compare(const struct kind *kind, const char *text)
{
	struct answer ours = { .is_valid = false }, theirs = { .is_valid = false };

	kind->read(text, &ours);
	ask(kind, text, &theirs);
	valid += ours.is_valid;
	if (ours.is_valid == theirs.is_valid && strcmp(ours.value, theirs.value) == 0 &&
	    strcmp(ours.normal, theirs.normal) == 0)
		return;
	failures++;
	printf("# %s '%s': %s %s '%s' here, %s %s '%s' by systemd\n", kind->verb, text,
	       ours.is_valid ? "taken" : "refused", ours.value, ours.normal,
	       theirs.is_valid ? "taken" : "refused", theirs.value, theirs.normal);
}

int main(void)
{
	unsigned long count = analyze_number("ORACLE_COUNT", 300);
	unsigned long seed = analyze_number("ORACLE_SEED", 1);
	struct chance chance = { seed * UINT64_C(0x9e3779b97f4a7c15) | 1 };
	int kind_count = sizeof(kinds) / sizeof(kinds[0]), status = 0;

	if (!analyze_is_reference())
		return 0;
	printf("1..%d\n", kind_count);
	for (int k = 0; k < kind_count; k++) {
		failures = valid = 0;
		for (unsigned long i = 0; i < count; i++) {
			char text[TEXT_MAX];

			kinds[k].make(&chance, text, sizeof(text));
			compare(&kinds[k], text);
		}
		if ((unsigned long) valid < count / 4) {
			printf("# only %d are valid\n", valid);
			failures++;
		}
		printf("%s %d - systemd-analyze agrees on %lu %ss, %d of them valid (seed %lu)\n",
		       failures == 0 ? "ok" : "not ok", k + 1, count, kinds[k].verb, valid, seed);
		status |= failures != 0;
	}
	return status;
}
