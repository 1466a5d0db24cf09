/* SPDX-License-Identifier: MIT */

/* Any text as a calendar expression, in a zone with changes: what parses prints, its normal form
 * parses to the same, and its elapses ascend, are counted and found again. */

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_error.h"
#include "timer/calendar.h"
#include "timer/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())
#define CHRISTMAS (UINT64_C(1766620800) * USEC_PER_SEC)

static void check_elapses(const struct calendar *c, const struct zone *zone, usec_t t)
{
	usec_t from = t, next;

	for (int i = 0; i < 4; i++) {
		enum calendar_note note;

		next = calendar_next(c, zone, t, &note);
		if (next == USEC_NEVER)
			break;
		CHECK(next > t);
		CHECK(calendar_next(c, zone, next - 1, NULL) == next);
		t = next;
	}
	CHECK(calendar_is_possible(c) || t == from);
	CHECK((calendar_count(c, zone, from, t) == 0) == (t == from));
	CHECK(calendar_last(c, zone, from, t) == (t == from ? USEC_NEVER : t));
}

static void check_normal_form(const struct calendar *c)
{
	size_t size = calendar_print(c, NULL, NULL, 0) + 1;
	char *normal = malloc(size), *again = malloc(size);
	struct calendar other;

	CHECK(normal && again);
	CHECK(calendar_print(c, NULL, normal, size) == size - 1 && strlen(normal) == size - 1);
	CHECK(calendar_parse(normal, &other, NULL) == 0);
	CHECK(calendar_print(&other, NULL, again, size) == size - 1);
	CHECK(strcmp(normal, again) == 0);
	CHECK(memcmp(other.years, c->years, sizeof(c->years)) == 0);
	CHECK(other.hours == c->hours && other.minutes == c->minutes);
	/* "0/1" among others is written "*", as by systemd, though others have fractions */
	CHECK(other.seconds == c->seconds || other.seconds == (UINT64_C(1) << 60) - 1);
	free(normal);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct zone *zone;
	char *text = strndup((const char *) data, size);
	struct parse_error error = { .column = 0 };
	struct calendar calendar;

	CHECK(text);
	if (!zone)
		CHECK(zone_from_posix("CET-1CEST,M3.5.0,M10.5.0/3", &zone, NULL) == 0);
	if (calendar_parse(text, &calendar, &error) == 0) {
		check_normal_form(&calendar);
		check_elapses(&calendar, zone, 0);
		check_elapses(&calendar, zone, CHRISTMAS);
		check_elapses(&calendar, zone_utc(), CHRISTMAS);
	} else {
		CHECK(error.column > 0 && error.sentence[0] != '\0');
	}
	free(text);
	return 0;
}
