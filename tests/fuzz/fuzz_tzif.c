/* SPDX-License-Identifier: MIT */

/* Any bytes as a TZif file, and any text as a rule: a refusal with a reason, or a zone whose eras
 * border on each other, with sound offsets and names, and that calendars can be asked in. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_error.h"
#include "timer/calendar.h"
#include "timer/civil.h"
#include "timer/zone.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

static void check_eras(const struct zone *zone)
{
	struct zone_era era, before;
	int64_t at = -INT64_C(5000000000), local;

	for (int i = 0; i < 600 && at < INT64_C(9000000000); i++, at = era.end) {
		zone_era_at(zone, at, &era);
		CHECK(era.start <= at && at < era.end);
		CHECK(era.offset > -ZONE_OFFSET_LIMIT && era.offset < ZONE_OFFSET_LIMIT);
		CHECK(strlen(era.abbreviation) < 32);
		if (era.start > -INT64_C(5000000000)) {
			zone_era_at(zone, era.start - 1, &before);
			CHECK(before.end == era.start);
		}
		if (i < 20) {
			enum zone_fit fit = zone_from_local(zone, at + era.offset, &local);

			CHECK(fit == ZONE_ONCE ? local == at : fit == ZONE_FOLD && local <= at);
		}
	}
}

static void check_calendar(const struct zone *zone)
{
	static const char *const texts[] = { "*:0/30", "2:30", "Mon *-*-1..7 0:0" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct calendar c;
		usec_t t = 0, next;

		CHECK(calendar_parse(texts[i], &c, NULL) == 0);
		for (int k = 0; k < 3; k++, t = next + 100 * USEC_PER_DAY) {
			next = calendar_next(&c, zone, t, NULL);
			if (next == USEC_NEVER)
				break;
			CHECK(next > t && calendar_next(&c, zone, next - 1, NULL) == next);
			CHECK(calendar_count(&c, zone, t, next) == 1);
		}
	}
}

static void check_zone(struct zone *zone)
{
	check_eras(zone);
	check_calendar(zone);
	(void) zone_name_of(zone, false);
	(void) zone_name_of(zone, true);
	zone_free(zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *rule = strndup((const char *) data, size);
	struct parse_error error = { .column = 0 };
	struct zone *zone;

	CHECK(rule);
	error.sentence[0] = '\0';
	if (zone_from_tzif(data, size, &zone, &error) == 0)
		check_zone(zone);
	else
		CHECK(error.sentence[0] != '\0');
	if (zone_from_posix(rule, &zone, &error) == 0)
		check_zone(zone);
	else
		CHECK(error.column > 0);
	free(rule);
	return 0;
}
