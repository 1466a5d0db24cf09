/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timer/zone_private.h"

/* The years until the table ends, from 1901 on, with two changes each, and the eras at both
 * ends. */
#define RULE_ERA_MAX (2 * (2243 - 1901) + 2)

/* Where a rule begins to be written out, however long it has held: that bounds the eras. */
#define RULE_FROM (-(INT64_C(1) << 31))

int zone_draft_init(struct zone_draft *draft, size_t era_max, size_t name_bytes)
{
	size_t eras = (era_max + RULE_ERA_MAX) * sizeof(struct era);
	size_t names = 1 + name_bytes + 2 * ZONE_ABBREVIATION_MAX;
	struct zone *zone = calloc(1, sizeof(*zone) + eras + names);

	if (!zone)
		return -ENOMEM;
	draft->zone = zone;
	draft->era_max = era_max + RULE_ERA_MAX;
	draft->eras = (struct era *) (zone + 1);
	draft->names = (char *) (zone + 1) + eras;
	zone->eras = draft->eras;
	zone->names = draft->names;
	zone->names_used = 1;
	return 0;
}

uint16_t zone_draft_name(struct zone_draft *draft, const char *name)
{
	struct zone *zone = draft->zone;
	size_t at = 0;

	while (at < zone->names_used && strcmp(zone->names + at, name) != 0)
		at += strlen(zone->names + at) + 1;
	if (at == zone->names_used) {
		strcpy(draft->names + at, name);
		zone->names_used += strlen(name) + 1;
	}
	return (uint16_t) at;
}

void zone_draft_add(struct zone_draft *draft, const struct era *era)
{
	struct zone *zone = draft->zone;
	const struct era *last = zone->era_count > 0 ? &zone->eras[zone->era_count - 1] : NULL;

	zone->latest_name[era->is_dst] = era->name;
	if (last && last->offset == era->offset && last->name == era->name &&
	    last->is_dst == era->is_dst)
		return;
	assert(zone->era_count < draft->era_max);
	draft->eras[zone->era_count++] = *era;
}

void zone_draft_add_rule(struct zone_draft *draft, const struct zone_rule *rule, int64_t from)
{
	struct zone *zone = draft->zone;
	struct rule_span span;

	zone->rule = *rule;
	zone->has_rule = rule->has_dst;
	zone->rule_name[0] = zone_draft_name(draft, rule->std_name);
	if (rule->has_dst)
		zone->rule_name[1] = zone_draft_name(draft, rule->dst_name);
	for (int64_t at = from; at < ZONE_TABLE_END; at = span.end) {
		zone_rule_span_at(rule, at < RULE_FROM ? RULE_FROM : at, &span);
		zone_draft_add(draft, &(struct era) {
			.start = at,
			.offset = span.is_dst ? rule->dst_offset : rule->std_offset,
			.name = zone->rule_name[span.is_dst],
			.is_dst = span.is_dst,
		});
	}
}

struct zone *zone_draft_finish(struct zone_draft *draft)
{
	struct zone *zone = draft->zone;
	size_t era = 0;

	for (size_t i = 0; i < ZONE_STRETCH_COUNT; i++) {
		while (era + 1 < zone->era_count &&
		       zone->eras[era + 1].start <= (int64_t) i << ZONE_STRETCH_BITS)
			era++;
		zone->stretches[i] = (uint16_t) era;
	}
	*draft = (struct zone_draft) { .zone = NULL };
	return zone;
}

int zone_from_posix(const char *text, struct zone **ret, struct parse_error *reterr)
{
	struct zone_draft draft;
	struct zone_rule rule;
	int r;

	r = zone_rule_parse(text, &rule, reterr);
	if (r < 0)
		return r;
	r = zone_draft_init(&draft, 0, 0);
	if (r < 0)
		return r;
	zone_draft_add_rule(&draft, &rule, -ZONE_FOREVER);
	*ret = zone_draft_finish(&draft);
	return 0;
}
