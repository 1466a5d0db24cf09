/* SPDX-License-Identifier: MIT */

/* Where the local clock meets real time. The eras of a zone (zone.h) are walked in order; within
 * one, local and real time differ by a constant, so that the next matching local time is the next
 * elapse, if it still lies in the era. What overlaps at the borders of eras is settled by asking
 * the eras around: a clock jumps by less than NEAR at a time, so only those nearer than that can
 * show the same local time. */

#include "timer/calendar_private.h"
#include "timer/zone.h"

/* More than two offsets can differ by; in microseconds. */
#define NEAR ((int64_t) 2 * ZONE_OFFSET_LIMIT * SECOND_UNIT)

/* Where the first era starts. */
#define BEGIN (-(INT64_MAX / SECOND_UNIT / 4) * SECOND_UNIT)

/* No elapse is later: the last local day and the largest offset. */
#define LAST_MOMENT (INT64_C(84008) * LOCAL_DAY)

/* An era in microseconds. */
struct stretch {
	int64_t start, end;
	int64_t offset;
	bool is_dst;
};

static int64_t usec_of(int64_t seconds)
{
	const int64_t limit = -BEGIN / SECOND_UNIT;

	return (seconds < -limit ? -limit : seconds > limit ? limit : seconds) * SECOND_UNIT;
}

static void stretch_at(const struct zone *zone, int64_t when, struct stretch *ret)
{
	struct zone_era era;

	zone_era_at(zone, when >= 0 ? when / SECOND_UNIT : floor_div(when, SECOND_UNIT), &era);
	*ret = (struct stretch) { usec_of(era.start), usec_of(era.end),
				  (int64_t) era.offset * SECOND_UNIT, era.is_dst };
}

static bool shows(const struct stretch *s, int64_t local)
{
	return local >= s->start + s->offset && local < s->end + s->offset;
}

/* Until which local time an era before @now shows @local as well; @local itself if none does. */
static int64_t shown_before(const struct zone *zone, const struct stretch *now, int64_t local)
{
	struct stretch s;

	for (int64_t edge = now->start; edge > local - now->offset - NEAR && edge > BEGIN;
	     edge = s.start) {
		stretch_at(zone, edge - 1, &s);
		if (shows(&s, local))
			return s.end + s.offset;
	}
	return local;
}

/* The same for the eras after @now. */
static int64_t shown_after(const struct zone *zone, const struct stretch *now, int64_t local)
{
	struct stretch s;

	for (int64_t edge = now->end; edge < local - now->offset + NEAR; edge = s.end) {
		stretch_at(zone, edge, &s);
		if (shows(&s, local))
			return s.end + s.offset;
	}
	return local;
}

/* How far the local clock had got before @now began. */
static int64_t reached_before(const struct zone *zone, const struct stretch *now)
{
	int64_t reached = now->start + now->offset - NEAR;
	struct stretch s;

	if (now->start <= BEGIN)
		return now->start + now->offset;
	for (int64_t edge = now->start; edge > now->start - NEAR && edge > BEGIN; edge = s.start) {
		stretch_at(zone, edge - 1, &s);
		if (s.end + s.offset > reached)
			reached = s.end + s.offset;
	}
	return reached;
}

/* Does a matching local time lie in the gap before @now? One that a later fold makes up for does
 * not count: it exists. */
static bool ends_gap(const struct calendar *c, const struct zone *zone, const struct stretch *now)
{
	int64_t until = reached_before(zone, now), end = now->start + now->offset, local;

	while (until < end) {
		local = calendar_local_next(c, until);
		if (local >= end)
			return false;
		until = shown_after(zone, now, local);
		if (until == local)
			return true;
	}
	return false;
}

/* What an expression asks of the eras. */
struct policy {
	bool runs_once; /* and not on real time */
	bool is_bound;  /* to eras of one kind: */
	bool is_dst;
};

static struct policy policy_of(const struct calendar *c)
{
	bool is_bound = !c->is_utc && (c->zone_kind == CALENDAR_ZONE_STD ||
				       c->zone_kind == CALENDAR_ZONE_DST);

	return (struct policy) {
		.runs_once = !is_bound && !c->runs_on_real_time,
		.is_bound = is_bound,
		.is_dst = c->zone_kind == CALENDAR_ZONE_DST,
	};
}

/* The first matching local time of @s from moment @t on that is an elapse there; one outside of
 * @s, or LOCAL_NEVER, if there is none. */
static int64_t next_in_stretch(const struct calendar *c, const struct zone *zone,
			       const struct stretch *s, int64_t t, bool runs_once)
{
	int64_t local = calendar_local_next(c, t + s->offset), until;

	while (runs_once && local < s->end + s->offset) {
		until = shown_before(zone, s, local);
		if (until == local)
			break;
		local = calendar_local_next(c, until);
	}
	return local;
}

static enum calendar_note note_on(const struct zone *zone, const struct stretch *s, int64_t local)
{
	return shown_before(zone, s, local) != local || shown_after(zone, s, local) != local
		? CALENDAR_FOLD : CALENDAR_PLAIN;
}

/* Where to go on when nothing elapses from @t to the end of @s, and @local is the next matching
 * time of the clock: eras that are over before any clock can show @local are passed over, unless
 * one begins so near that it may show again what lies before @t. */
static int64_t go_on(const struct stretch *s, int64_t t, int64_t local)
{
	if (s->end - t < NEAR)
		return s->end;
	if (local == LOCAL_NEVER)
		return LAST_MOMENT;
	return local - NEAR / 2 > s->end ? local - NEAR / 2 : s->end;
}

static int64_t next_moment(const struct calendar *c, const struct zone *zone, int64_t t,
			   enum calendar_note *ret_note)
{
	const struct policy policy = policy_of(c);

	while (t < LAST_MOMENT) {
		struct stretch s;
		int64_t local;

		stretch_at(zone, t, &s);
		if (policy.is_bound && s.is_dst != policy.is_dst) {
			t = s.end;
			continue;
		}
		if (policy.runs_once && t == s.start && ends_gap(c, zone, &s)) {
			if (ret_note)
				*ret_note = CALENDAR_GAP;
			return t;
		}
		local = next_in_stretch(c, zone, &s, t, policy.runs_once);
		if (local < s.end + s.offset) {
			if (ret_note)
				*ret_note = note_on(zone, &s, local);
			return local - s.offset;
		}
		t = go_on(&s, t, local);
	}
	return LOCAL_NEVER;
}

const struct zone *calendar_zone(const struct calendar *c, const struct zone *local)
{
	if (c->is_utc)
		return zone_utc();
	if (c->zone_kind == CALENDAR_ZONE_NAMED)
		return c->slot->zone;
	return local ? local : zone_utc();
}

usec_t calendar_next(const struct calendar *c, const struct zone *local, usec_t after,
		     enum calendar_note *ret_note)
{
	int64_t next;

	if (after >= (usec_t) LAST_MOMENT || !calendar_is_possible(c))
		return USEC_NEVER;
	next = next_moment(c, calendar_zone(c, local), (int64_t) after + 1, ret_note);
	return next == LOCAL_NEVER ? USEC_NEVER : (usec_t) next;
}

usec_t calendar_last(const struct calendar *c, const struct zone *local, usec_t after, usec_t until)
{
	usec_t last = calendar_next(c, local, after, NULL), high = until;

	if (last > until || last == USEC_NEVER)
		return USEC_NEVER;
	/* @last is an elapse; none lies behind @high */
	while (last < high) {
		usec_t middle = last + (high - last) / 2;
		usec_t next = calendar_next(c, local, middle, NULL);

		if (next <= until && next != USEC_NEVER)
			last = next;
		else
			high = middle;
	}
	return last;
}

/* Of the local times [@from, @to) of @s, those that no era before shows. */
static uint64_t count_new(const struct calendar *c, const struct zone *zone,
			  const struct stretch *s, int64_t from, int64_t to, uint64_t in_minute)
{
	uint64_t count = 0;

	while (from < to) {
		int64_t until = shown_before(zone, s, from), end = to;
		struct stretch before;

		if (until != from) {
			from = until;
			continue;
		}
		/* up to where an era before begins to show it */
		for (int64_t edge = s->start; edge > from - s->offset - NEAR && edge > BEGIN;
		     edge = before.start) {
			stretch_at(zone, edge - 1, &before);
			if (before.start + before.offset > from &&
			    before.start + before.offset < end)
				end = before.start + before.offset;
		}
		count += calendar_local_count(c, from, end, in_minute);
		from = end;
	}
	return count;
}

uint64_t calendar_count(const struct calendar *c, const struct zone *local, usec_t after,
			usec_t until)
{
	const struct policy policy = policy_of(c);
	const struct zone *zone = calendar_zone(c, local);
	int64_t t, end = (int64_t) usec_min(until, LAST_MOMENT) + 1;
	uint64_t count = 0, in_minute;
	struct stretch s;

	if (after >= until || after >= (usec_t) LAST_MOMENT || !calendar_is_possible(c))
		return 0;
	in_minute = calendar_minute_count(c);
	for (t = (int64_t) after + 1; t < end; t = s.end) {
		int64_t from, to;

		stretch_at(zone, t, &s);
		if (policy.is_bound && s.is_dst != policy.is_dst)
			continue;
		from = t + s.offset;
		to = (s.end < end ? s.end : end) + s.offset;
		if (!policy.runs_once) {
			count += calendar_local_count(c, from, to, in_minute);
			continue;
		}
		count += count_new(c, zone, &s, from, to, in_minute);
		/* a gap's elapse, unless it is one that would be anyway */
		if (t == s.start && ends_gap(c, zone, &s) &&
		    count_new(c, zone, &s, from, from + 1, in_minute) == 0)
			count++;
	}
	return count;
}
