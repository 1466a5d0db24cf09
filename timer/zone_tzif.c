/* SPDX-License-Identifier: MIT */

/* TZif files, RFC 9636. Every count is checked against the size before it is used, every index
 * against its table; nothing is read outside the given bytes. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse_error.h"
#include "timer/zone_private.h"

#define HEADER_SIZE 44
#define TYPE_SIZE 6
#define RULE_MAX 256      /* bytes of a footer */
#define TYPE_MAX 256      /* what one byte can count */
#define CHANGE_MAX 4096   /* some 310 is the most there is; bounds the work of a lookup */
#define TIME_LIMIT (INT64_C(1) << 59) /* the RFC's own limit downwards */

struct reader {
	const uint8_t *at, *end;
	struct parse_error *error;
};

/* The six counts of a header, in the order of the file, and what follows from the version. */
struct block {
	uint32_t ut_count, std_count, leap_count, time_count, type_count, char_count;
	unsigned time_size; /* 4, or 8 in the second block */
	const uint8_t *times, *indexes, *types, *chars;
};

static int tzif_error(struct parse_error *reterr, const char *why)
{
	return parse_error_at(reterr, 0, "not a sound TZif file: %s", why);
}

static uint32_t load32(const uint8_t *p)
{
	return (uint32_t) p[0] << 24 | (uint32_t) p[1] << 16 | (uint32_t) p[2] << 8 | p[3];
}

static int64_t load_time(const uint8_t *p, unsigned size)
{
	if (size == 4)
		return (int32_t) load32(p);
	return (int64_t) ((uint64_t) load32(p) << 32 | load32(p + 4));
}

/* The next @size bytes, or NULL if there are not so many. */
static const uint8_t *take(struct reader *r, uint64_t size)
{
	const uint8_t *p = r->at;

	if (size > (uint64_t) (r->end - r->at))
		return NULL;
	r->at += size;
	return p;
}

/* One header and the data it counts. */
static int read_block(struct reader *r, unsigned time_size, struct block *ret)
{
	const uint8_t *h = take(r, HEADER_SIZE);
	struct block b = { .time_size = time_size };

	if (!h || memcmp(h, "TZif", 4) != 0)
		return tzif_error(r->error, h ? "it does not begin with 'TZif'" : "too short");
	b.ut_count = load32(h + 20);
	b.std_count = load32(h + 24);
	b.leap_count = load32(h + 28);
	b.time_count = load32(h + 32);
	b.type_count = load32(h + 36);
	b.char_count = load32(h + 40);
	b.times = take(r, (uint64_t) b.time_count * time_size);
	b.indexes = b.times ? take(r, b.time_count) : NULL;
	b.types = b.indexes ? take(r, (uint64_t) b.type_count * TYPE_SIZE) : NULL;
	b.chars = b.types ? take(r, b.char_count) : NULL;
	if (!b.chars || !take(r, (uint64_t) b.leap_count * (time_size + 4)) ||
	    !take(r, b.std_count) || !take(r, b.ut_count))
		return tzif_error(r->error, "it ends before its data does");
	*ret = b;
	return 0;
}

static int check_block(const struct block *b, struct parse_error *reterr)
{
	if (b->leap_count > 0)
		return parse_error_at(reterr, 0, "it counts leap seconds, which the system's "
				      "clock does not (leave out 'right/')");
	if (b->type_count == 0 || b->type_count > TYPE_MAX || b->char_count == 0)
		return tzif_error(reterr, "it has no type of local time");
	if (b->time_count > CHANGE_MAX || b->char_count > INT16_MAX)
		return tzif_error(reterr, "too many changes or names");
	if ((b->std_count != 0 && b->std_count != b->type_count) ||
	    (b->ut_count != 0 && b->ut_count != b->type_count))
		return tzif_error(reterr, "its counts contradict each other");
	return 0;
}

/* A name is shown on terminals: visible ASCII, and not long. */
static bool name_is_sound(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *start = p;

	while (p < end && *p > ' ' && *p < 0x7f)
		p++;
	return p < end && *p == 0 && p > start && p - start < ZONE_ABBREVIATION_MAX;
}

/* Local time type @i as an era without a start. */
static int read_type(const struct block *b, uint32_t i, struct zone_draft *draft, struct era *ret,
		     struct parse_error *reterr)
{
	const uint8_t *type = b->types + (size_t) i * TYPE_SIZE;
	const uint8_t *name = b->chars + type[5];
	int32_t offset = (int32_t) load32(type);

	if (offset <= -ZONE_OFFSET_LIMIT || offset >= ZONE_OFFSET_LIMIT)
		return tzif_error(reterr, "an offset of more than 26 hours");
	if (type[4] > 1)
		return tzif_error(reterr, "a DST mark that is neither 0 nor 1");
	if (type[5] >= b->char_count || !name_is_sound(name, b->chars + b->char_count))
		return tzif_error(reterr, "a name that is none");
	ret->offset = offset;
	ret->is_dst = type[4];
	/* visible ASCII up to its NUL, just checked */
	ret->name = zone_draft_name(draft, (const char *) name);
	return 0;
}

/* The changes written out in the file; *ret_last is when the last one is. */
static int add_changes(const struct block *b, const struct era *types, struct zone_draft *draft,
		       int64_t *ret_last, struct parse_error *reterr)
{
	int64_t last = -ZONE_FOREVER;

	for (uint32_t i = 0; i < b->time_count; i++) {
		int64_t when = load_time(b->times + (size_t) i * b->time_size, b->time_size);
		struct era era;

		if (when < -TIME_LIMIT || when > TIME_LIMIT || when <= last)
			return tzif_error(reterr, "its changes are not in order");
		if (b->indexes[i] >= b->type_count)
			return tzif_error(reterr, "a change to a type it does not have");
		era = types[b->indexes[i]];
		era.start = when;
		zone_draft_add(draft, &era);
		last = when;
	}
	*ret_last = last;
	return 0;
}

/* "\nRULE\n"; an empty rule leaves *ret_has false. */
static int read_footer(struct reader *r, struct zone_rule *ret, bool *ret_has)
{
	const uint8_t *start, *end;
	char text[RULE_MAX];
	int res;

	start = take(r, 1);
	if (!start || *start != '\n')
		return tzif_error(r->error, "its footer is missing");
	start++;
	end = memchr(start, '\n', (size_t) (r->end - start));
	if (!end || end - start >= RULE_MAX || memchr(start, '\0', (size_t) (end - start)))
		return tzif_error(r->error, "its footer is not a line of text");
	*ret_has = end > start;
	if (end == start)
		return 0;
	memcpy(text, start, (size_t) (end - start));
	text[end - start] = '\0';
	res = zone_rule_parse(text, ret, r->error);
	if (res < 0 && r->error)
		r->error->column = 0;
	return res;
}

/* Eras from the checked parts. Frees the draft's memory on failure. */
static int build(const struct block *b, const struct zone_rule *rule, struct zone **ret,
		 struct parse_error *reterr)
{
	struct era types[TYPE_MAX];
	struct zone_draft draft;
	int64_t last = -ZONE_FOREVER;
	int r;

	/* names may overlap in the file ("EST" as the end of "BEST"): room for each type's own */
	r = zone_draft_init(&draft, (size_t) b->time_count + 1,
			    (size_t) b->type_count * ZONE_ABBREVIATION_MAX);
	for (uint32_t i = 0; r == 0 && i < b->type_count; i++)
		r = read_type(b, i, &draft, &types[i], reterr);
	if (r == 0) {
		/* the first type holds before the first change; with no change a rule always did */
		types[0].start = -ZONE_FOREVER;
		if (b->time_count > 0 || !rule)
			zone_draft_add(&draft, &types[0]);
		r = add_changes(b, types, &draft, &last, reterr);
	}
	if (r < 0) {
		if (r != -ENOMEM)
			zone_free(draft.zone);
		return r;
	}
	if (rule)
		zone_draft_add_rule(&draft, rule, last);
	*ret = zone_draft_finish(&draft);
	return 0;
}

int zone_from_tzif(const void *data, size_t size, struct zone **ret, struct parse_error *reterr)
{
	const uint8_t *bytes = data;
	struct reader reader = { bytes, bytes + size, reterr };
	struct zone_rule rule;
	struct block block;
	bool has_rule = false;
	int r;

	r = read_block(&reader, 4, &block);
	if (r == 0 && bytes[4] >= '2') {
		/* the first block is for readers of version 1 */
		r = read_block(&reader, 8, &block);
		if (r == 0)
			r = read_footer(&reader, &rule, &has_rule);
	}
	if (r == 0)
		r = check_block(&block, reterr);
	if (r < 0)
		return r;
	return build(&block, has_rule ? &rule : NULL, ret, reterr);
}
