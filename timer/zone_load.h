/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_ZONE_LOAD_H
#define SUPD_TIMER_ZONE_LOAD_H

/* Zones from the system's database; the only file of timer/ that opens files. One cache a program:
 * each zone is read once, however many expressions name it. Not for use from several threads. */

#include <stdbool.h>

struct calendar;
struct parse_error;
struct zone;
struct zone_cache;
struct zone_slot;

/* Where to look; a NULL takes the default. All strings are copied. */
struct zone_source {
	const char *tz; /* TZ: a name, ":path" or a rule; "" is UTC; NULL: @localtime is read */
	const char *dir;       /* TZDIR, searched before /usr/share/zoneinfo; NULL: only that */
	const char *localtime; /* NULL: /etc/localtime */
};

/* What TZ and TZDIR say in the environment of this process. */
struct zone_source zone_source_from_environment(void);

/* Returns 0 or -ENOMEM. Reads the local zone at once; what went wrong with it is no failure, the
 * local zone then is UTC and zone_cache_local_problem() says why. */
int zone_cache_new(const struct zone_source *source, struct zone_cache **ret);
struct zone_cache *zone_cache_free(struct zone_cache *cache);

/* The local zone, never NULL; valid until the next refresh. */
const struct zone *zone_cache_local(const struct zone_cache *cache);

/* A sentence, or NULL if the local zone is what was asked for. */
const char *zone_cache_local_problem(const struct zone_cache *cache);

/* The slot of a named zone, valid until the cache is freed. Returns 0, -ENOMEM, or -EBADMSG with
 * *reterr (may be NULL): not a name (it may not leave the database's directory), no such zone (the
 * sentence names tzdata), or a file that is not sound. */
int zone_cache_get(struct zone_cache *cache, const char *name, const struct zone_slot **ret,
		   struct parse_error *reterr);

/* The same for timestamp_parse(): the zone, valid until the next refresh, or NULL. @cache is a
 * struct zone_cache. */
const struct zone *zone_cache_find(void *cache, const char *name);

/* Resolves the zone word of a parsed expression, if it has one: the local zone's own abbreviations
 * come first, then the database. After it calendar_next() knows the zone. Errors as above, with
 * the word's column. */
int zone_cache_bind(struct zone_cache *cache, struct calendar *calendar,
		    struct parse_error *reterr);

/* calendar_parse() and zone_cache_bind() in one. */
int zone_cache_parse(struct zone_cache *cache, const char *text, struct calendar *ret,
		     struct parse_error *reterr);

/* Looks whether files have changed (device, inode, time of change, size) and reads those again; one
 * that is gone or not sound leaves the zone as it was. Returns true if a zone changed: then every
 * next elapse must be computed anew, and expressions bound to an abbreviation of the local zone be
 * parsed anew, for the new local zone may know other names. */
bool zone_cache_refresh(struct zone_cache *cache);

#endif
