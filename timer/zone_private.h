/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_ZONE_PRIVATE_H
#define SUPD_TIMER_ZONE_PRIVATE_H

/* How a zone is laid out and put together; for the zone's own sources. */

#include "timer/zone.h"
#include "timer/zone_rule.h"

/* Eras are looked up through a table of equal stretches of time, from the epoch on: it says which
 * era holds where a stretch begins, and few have more than one change. Until the table's end a
 * rule's changes are written out as eras, too; only moments after 2242 ask the rule itself. */
#define ZONE_STRETCH_BITS 24 /* 194 days */
#define ZONE_STRETCH_COUNT 512
#define ZONE_TABLE_END ((int64_t) ZONE_STRETCH_COUNT << ZONE_STRETCH_BITS)

struct era {
	int64_t start;
	int32_t offset;
	uint16_t name; /* where it stands in names */
	bool is_dst;
};

/* One block of memory; @eras and @names lie behind. */
struct zone {
	bool has_rule;                          /* with DST: a rule without is one era */
	struct zone_rule rule;
	uint16_t rule_name[2];                  /* of standard time and DST, in names */
	uint16_t latest_name[2];                /* what tzname[] would be */
	uint16_t stretches[ZONE_STRETCH_COUNT];
	size_t era_count;                       /* at least one */
	size_t names_used;
	const struct era *eras;
	const char *names;                      /* each ends with NUL; the first is "" */
};

/* A zone in the making: memory for @era_max eras besides the rule's, and for names of that many
 * bytes in all, NULs included. */
struct zone_draft {
	struct zone *zone;
	size_t era_max;
	struct era *eras;
	char *names;
};

int zone_draft_init(struct zone_draft *draft, size_t era_max, size_t name_bytes);
uint16_t zone_draft_name(struct zone_draft *draft, const char *name);
/* In ascending order of @era->start. One that changes nothing is passed over. */
void zone_draft_add(struct zone_draft *draft, const struct era *era);
/* What holds from @from on if a rule goes on after the last change; -ZONE_FOREVER: always. */
void zone_draft_add_rule(struct zone_draft *draft, const struct zone_rule *rule, int64_t from);
struct zone *zone_draft_finish(struct zone_draft *draft);

#endif
