/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_CALENDAR_H
#define SUPD_TIMER_CALENDAR_H

/* Calendar expressions of systemd.time(7): parse, print, and find when they elapse. Pure: no clock,
 * no libc zone state, no allocation.
 *
 * Parsing turns every field into a bit mask. It also works out, for each of the 14 kinds of year
 * there are (leap or not, times the weekday of January 1st), which months hold a matching day, and
 * strikes from the mask of years those with none. So every bit of the year mask stands for a year
 * with an elapse in it, and the next matching date costs at most one step a field: the rest of the
 * month, else the next month of the year's kind, else the next year. That is the bound: there is
 * no search, however rare the date (a Saturday that is February 29th comes every 28 or 40 years),
 * and an impossible date (*-02-30) is known once parsed, by an empty mask of years.
 *
 * Local time meets real time by one rule (DESIGN.md 6.3):
 *  - hour field covers all 24 hours: the expression runs on real time and elapses whenever the
 *    local clock shows a matching time: in both passes of a fold, never for a time in a gap;
 *  - any other: once for each matching local time: in the first pass of a fold, and for a time in
 *    a gap when the clock passes it, at the end of the gap (several such times: one elapse);
 *  - bound to an abbreviation of the local zone ("02:30 CET"): while the clock shows that one. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

struct parse_error;
struct zone;
struct zone_slot;

#define CALENDAR_YEAR_MIN 1970
#define CALENDAR_YEAR_MAX 2199
/* West of Greenwich the first hours of 1970 still belong to 1969: "any year" has it, too. */
#define CALENDAR_YEAR_BASE 1969
#define CALENDAR_YEAR_COUNT (CALENDAR_YEAR_MAX - CALENDAR_YEAR_BASE + 1)
#define CALENDAR_YEAR_KINDS 14
#define CALENDAR_STEP_MAX 2

enum calendar_zone_kind {
	CALENDAR_ZONE_LOCAL, /* none given: the caller's local zone */
	CALENDAR_ZONE_WORD,  /* a word not yet resolved, see zone_cache_bind() */
	CALENDAR_ZONE_NAMED, /* resolved to a zone of the database: slot */
	CALENDAR_ZONE_STD,   /* resolved to an abbreviation of the local zone */
	CALENDAR_ZONE_DST,
};

/* What a change of the local clock did to an elapse. */
enum calendar_note {
	CALENDAR_PLAIN,
	CALENDAR_GAP,  /* moved: it stands for local times that did not exist */
	CALENDAR_FOLD, /* its local time exists twice */
};

/* One item of a seconds field with fractions: microseconds within the minute. */
struct calendar_step {
	uint32_t first, last, by;
};

/* Owns nothing and may be copied, but it borrows the text it was parsed from (for printing, and
 * for seconds fields of more than CALENDAR_STEP_MAX items with fractions): that must live as long.
 * All is private to calendar*.c, except that whoever resolves @zone_word sets @zone_kind, @slot. */
struct calendar {
	const char *text;
	const char *zone_word;        /* into @text, its last word; NULL if there is none */
	const struct zone_slot *slot; /* of CALENDAR_ZONE_NAMED */
	uint64_t years[4];            /* bit 0 is YEAR_BASE; only years that hold a match */
	uint64_t minutes, seconds;    /* seconds: 0 if @steps count instead */
	/* days: bit 0 is the first, or bit 30 the last of the month */
	uint32_t days, hours;
	uint32_t second_first;        /* first match in a minute, in microseconds */
	uint16_t kinds[CALENDAR_YEAR_KINDS]; /* months with a matching day, bit 0 is January */
	uint16_t seconds_at, seconds_length; /* the field in @text, if its items are too many */
	uint8_t weekdays;             /* bit 0 is Monday */
	uint8_t step_count;           /* CALENDAR_STEP_MAX + 1: too many, read them from @text */
	uint8_t zone_kind;            /* enum calendar_zone_kind */
	bool is_utc;                  /* whatever else: "UTC", or "@SECONDS" */
	bool days_from_end;
	bool is_any_date;             /* only the weekday decides */
	bool runs_on_real_time;       /* all 24 hours */
	struct calendar_step steps[CALENDAR_STEP_MAX];
};

_Static_assert(sizeof(struct calendar) <= 256, "a parsed expression fits into 256 bytes");

/* Returns 0, or -EBADMSG with *reterr (may be NULL) filled. A zone word is not looked up here, see
 * zone_cache_bind(), or zone_cache_parse() for both. */
int calendar_parse(const char *text, struct calendar *ret, struct parse_error *reterr);

/* The normal form, byte for byte that of systemd. @local may be NULL; it gives the spelling of a
 * bound abbreviation. Returns the length it needs, like snprintf(). */
size_t calendar_print(const struct calendar *calendar, const struct zone *local, char *buf,
		      size_t size);

/* False for a date that no year has, 02-30: known once parsed, it never elapses. */
bool calendar_is_possible(const struct calendar *calendar);

/* The zone the expression runs in: @local if it names none (or one not yet looked up), UTC if that
 * is NULL. */
const struct zone *calendar_zone(const struct calendar *calendar, const struct zone *local);

/* The first elapse strictly after @after, or USEC_NEVER. @ret_note may be NULL and is written only
 * if there is one. Years end with 2199. */
usec_t calendar_next(const struct calendar *calendar, const struct zone *local, usec_t after,
		     enum calendar_note *ret_note);

/* The last elapse at or before @until and strictly after @after, or USEC_NEVER if there is none.
 * Bounded: at most some 120 evaluations, however many elapses lie between. */
usec_t calendar_last(const struct calendar *calendar, const struct zone *local, usec_t after,
		     usec_t until);

/* How many elapses lie in (@after, @until]. Computed, not stepped through, so exact for any span;
 * but in a list of seconds with more than 4096 moments in a minute, those that two of its items
 * share count twice. */
uint64_t calendar_count(const struct calendar *calendar, const struct zone *local, usec_t after,
			usec_t until);

#endif
