/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_ZONE_RULE_H
#define SUPD_TIMER_ZONE_RULE_H

/* The rule of a TZ variable or a TZif footer, "CET-1CEST,M3.5.0,M10.5.0/3": parsed, and asked what
 * holds at a moment. Private to the zone's sources. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parse_error;

#define ZONE_ABBREVIATION_MAX 32

enum rule_day_kind {
	RULE_DAY_JULIAN, /* Jn: 1..365, February 29th is never counted */
	RULE_DAY_ZERO,   /* n: 0..365, it is */
	RULE_DAY_MONTH,  /* Mm.w.d: the wth weekday d of month m, 5 is the last */
};

struct rule_day {
	enum rule_day_kind kind;
	int month, week; /* of RULE_DAY_MONTH */
	int day;         /* of RULE_DAY_MONTH: 0 is Sunday */
	int32_t time;    /* seconds after midnight, may be negative or more than a day */
};

struct zone_rule {
	char std_name[ZONE_ABBREVIATION_MAX], dst_name[ZONE_ABBREVIATION_MAX];
	int32_t std_offset, dst_offset; /* seconds east of Greenwich */
	bool has_dst;
	struct rule_day dst_start, dst_end;
};

/* A stretch of time with one offset under a rule. */
struct rule_span {
	int64_t start, end;
	bool is_dst;
};

/* 0, or -EINVAL with the place and what is wrong there. */
int zone_rule_parse(const char *text, struct zone_rule *ret, struct parse_error *reterr);

/* The stretch that second @when (since the epoch) lies in. */
void zone_rule_span_at(const struct zone_rule *rule, int64_t when, struct rule_span *ret);

#endif
