/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_ZONE_H
#define SUPD_TIMER_ZONE_H

/* A time zone as a value: what a wall clock there shows, at any second. Immutable once made; no
 * libc zone state; evaluating allocates nothing and opens nothing.
 *
 * A zone is a row of *eras*, stretches of time with one offset, which border on each other and
 * together cover all time. Between two eras the clock may jump ahead (a gap: local times that never
 * were) or back (a fold: local times that were twice). Offsets are always less than
 * ZONE_OFFSET_LIMIT, so eras that border on each other differ by less than twice that. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct civil;
struct parse_error;
struct zone;

/* Seconds; RFC 9636 asks for more than -25 h and less than 26 h. */
#define ZONE_OFFSET_LIMIT (26 * 3600)

/* Stands for the ends of time; far enough from the ends of int64_t that adding offsets is safe. */
#define ZONE_FOREVER (INT64_C(1) << 60)

struct zone_era {
	int64_t start;  /* seconds since the epoch; -ZONE_FOREVER in the first era */
	int64_t end;    /* the first second after; ZONE_FOREVER in the last */
	int32_t offset; /* seconds east of Greenwich */
	bool is_dst;
	const char *abbreviation; /* lent, lives as long as the zone */
};

/* How often a local time occurs. */
enum zone_fit { ZONE_ONCE, ZONE_GAP, ZONE_FOLD };

/* From the bytes of a TZif file, versions 1 to 4 (RFC 9636). Whatever the bytes are, the answer is
 * a sound zone or a refusal: 0, -ENOMEM, or -EBADMSG with *reterr (may be NULL; column is 0). A
 * file with leap seconds is refused: the clock of this system does not count them. */
int zone_from_tzif(const void *data, size_t size, struct zone **ret, struct parse_error *reterr);

/* From a rule as in TZ= and TZif footers: "CET-1CEST,M3.5.0,M10.5.0/3"; with the extension of
 * RFC 9636 (hours from -167 to 167). A DST name without dates gets those of the US, as in libc. */
int zone_from_posix(const char *rule, struct zone **ret, struct parse_error *reterr);

struct zone *zone_free(struct zone *zone);

/* Never freed (zone_free() passes over it). */
const struct zone *zone_utc(void);
bool zone_is_utc(const struct zone *zone);

/* The era that second @when lies in; @when must be less than ZONE_FOREVER from the epoch. */
void zone_era_at(const struct zone *zone, int64_t when, struct zone_era *ret);

/* The local time of second @when, in the range of zone_era_at(); with its weekday. */
void zone_to_civil(const struct zone *zone, int64_t when, struct civil *ret);

/* The moment of a local time: if it exists twice, the first; if it does not exist, the moment the
 * clock passes it, which is the end of the gap. @civil->weekday is not read; fields must be in
 * range, except the day, which counts on from its month. */
enum zone_fit zone_from_civil(const struct zone *zone, const struct civil *civil, int64_t *ret);

/* The same in seconds of the local clock, as seconds_from_civil() counts them. */
enum zone_fit zone_from_local(const struct zone *zone, int64_t local, int64_t *ret);

/* As tzname[] of libc: the zone's latest names for standard and daylight-saving time; "" if it has
 * no such time. Lent, lives as long as the zone. */
const char *zone_name_of(const struct zone *zone, bool is_dst);

/* Where the current version of a named zone is found. Many expressions point to one slot; the zone
 * in it is replaced when its file changes (zone_load.h), never while an evaluation runs. */
struct zone_slot {
	const struct zone *zone;
};

#endif
