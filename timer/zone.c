/* SPDX-License-Identifier: MIT */
#include "timer/zone.h"

#include <stdlib.h>

#include "timer/civil.h"
#include "timer/zone_private.h"

static const struct era utc_era = { -ZONE_FOREVER, 0, 1, false };
static const struct zone utc = {
	.latest_name = { 1, 0 }, .era_count = 1, .eras = &utc_era, .names = "\0UTC",
};

const struct zone *zone_utc(void)
{
	return &utc;
}

struct zone *zone_free(struct zone *zone)
{
	if (zone != &utc)
		free(zone);
	return NULL;
}

bool zone_is_utc(const struct zone *zone)
{
	for (size_t i = zone->stretches[0]; i < zone->era_count; i++)
		if (zone->eras[i].offset != 0)
			return false;
	return true;
}

/* The last era that starts at or before @when. */
static size_t find_era(const struct zone *zone, int64_t when)
{
	size_t low = 0, high = zone->era_count;

	if (when >= 0) {
		low = zone->stretches[when < ZONE_TABLE_END ? when >> ZONE_STRETCH_BITS
							     : ZONE_STRETCH_COUNT - 1];
		while (low + 1 < zone->era_count && zone->eras[low + 1].start <= when)
			low++;
		return low;
	}
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (zone->eras[middle].start <= when)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* After the table's end only the rule knows. @start is where the last written era begins. */
static void era_by_rule(const struct zone *zone, int64_t when, int64_t start, struct zone_era *ret)
{
	struct rule_span span;

	zone_rule_span_at(&zone->rule, when, &span);
	*ret = (struct zone_era) {
		.start = span.start > start ? span.start : start,
		.end = span.end,
		.offset = span.is_dst ? zone->rule.dst_offset : zone->rule.std_offset,
		.is_dst = span.is_dst,
		.abbreviation = zone->names + zone->rule_name[span.is_dst],
	};
}

void zone_era_at(const struct zone *zone, int64_t when, struct zone_era *ret)
{
	size_t i = find_era(zone, when);
	const struct era *era = &zone->eras[i];
	bool is_last = i + 1 == zone->era_count;

	if (is_last && zone->has_rule) {
		era_by_rule(zone, when, era->start, ret);
		return;
	}
	ret->start = era->start;
	ret->end = is_last ? ZONE_FOREVER : era[1].start;
	ret->offset = era->offset;
	ret->is_dst = era->is_dst;
	ret->abbreviation = zone->names + era->name;
}

void zone_to_civil(const struct zone *zone, int64_t when, struct civil *ret)
{
	struct zone_era era;

	zone_era_at(zone, when, &era);
	civil_from_seconds(when + era.offset, ret);
}

enum zone_fit zone_from_local(const struct zone *zone, int64_t local, int64_t *ret)
{
	struct zone_era era;
	int64_t when = local - ZONE_OFFSET_LIMIT, passed = when;
	int found = 0;
	bool is_passed = false;

	/* no era that ends before, or begins after, can show this time */
	for (; when <= local + ZONE_OFFSET_LIMIT && found < 2; when = era.end) {
		int64_t here;

		zone_era_at(zone, when, &era);
		here = local - era.offset;
		if (here >= era.start && here < era.end && found++ == 0)
			*ret = here;
		if (here < era.start && !is_passed) {
			is_passed = true;
			passed = era.start;
		}
	}
	if (found == 0)
		*ret = passed;
	return found == 0 ? ZONE_GAP : found == 1 ? ZONE_ONCE : ZONE_FOLD;
}

enum zone_fit zone_from_civil(const struct zone *zone, const struct civil *civil, int64_t *ret)
{
	return zone_from_local(zone, seconds_from_civil(civil), ret);
}

const char *zone_name_of(const struct zone *zone, bool is_dst)
{
	return zone->names + zone->latest_name[is_dst];
}
