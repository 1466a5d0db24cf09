/* SPDX-License-Identifier: MIT */
#include "timer/state_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

#define HEADER_FORMAT "{\"version\":%u,\"checksum\":\"%016" PRIx64 "\",\"state\":"
#define HEADER_MAX 80
#define TRAILER "}\n"

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}
#define _cleanup_json_ _cleanup_(cleanup_json)

/* ---- records ---- */

/* The fields, each once: encoding and decoding both walk this table. */
enum field_type {
	FIELD_USEC,
	FIELD_STAMP,
	FIELD_COUNT64,
	FIELD_BOOL,
	FIELD_INT,
	FIELD_RESULT,
	FIELD_REASON
};

static const struct {
	const char *key;
	enum field_type type;
	size_t offset;
} fields[] = {
#define MEMORY(member) offsetof(struct timer_memory, member)
	{ "accounted_calendar", FIELD_USEC, MEMORY(accounted_real) },
	{ "normal_since", FIELD_USEC, MEMORY(normal_since) },
	{ "kept_calendar", FIELD_USEC, MEMORY(kept_real) },
	{ "accounted", FIELD_STAMP, MEMORY(accounted) },
	{ "activated", FIELD_STAMP, MEMORY(activated) },
	{ "anchor_active", FIELD_STAMP, MEMORY(anchor_active) },
	{ "anchor_inactive", FIELD_STAMP, MEMORY(anchor_inactive) },
	{ "last_trigger", FIELD_STAMP, MEMORY(last_trigger) },
	{ "last_scheduled", FIELD_USEC, MEMORY(last_scheduled) },
	{ "last_end", FIELD_STAMP, MEMORY(last_end) },
	{ "last_result", FIELD_RESULT, MEMORY(last_result) },
	{ "last_status", FIELD_INT, MEMORY(last_status) },
	{ "interrupted", FIELD_BOOL, MEMORY(is_interrupted) },
	{ "last_success", FIELD_STAMP, MEMORY(last_success) },
	{ "last_failure", FIELD_STAMP, MEMORY(last_failure) },
	{ "miss_reason", FIELD_REASON, MEMORY(miss_reason) },
	{ "miss_at", FIELD_USEC, MEMORY(miss_at) },
	{ "miss_in_row", FIELD_COUNT64, MEMORY(miss_in_row) },
	{ "run_since_miss", FIELD_BOOL, MEMORY(has_run_since_miss) },
	{ "miss_count", FIELD_COUNT64, MEMORY(miss_count) },
};

static const void *field_at(const struct timer_memory *m, size_t i)
{
	return (const char *) m + fields[i].offset;
}

/* ---- writing ---- */

/* By hand, as it is done for every timer before a due one starts: words and numbers of ours. What
 * others may have named is left to jansson. */
struct buffer {
	char *at;
	size_t n, allocated;
	bool failed;
};

static void put(struct buffer *b, const char *s, size_t n)
{
	if (b->failed)
		return;
	if (b->n + n > b->allocated) {
		size_t want = (b->n + n) * 2 + 4096;
		char *at = realloc(b->at, want);

		if (!at) {
			b->failed = true;
			return;
		}
		b->at = at;
		b->allocated = want;
	}
	memcpy(b->at + b->n, s, n);
	b->n += n;
}

static void put_text(struct buffer *b, const char *s)
{
	put(b, s, strlen(s));
}

static bool is_plain(const char *s)
{
	for (; *s; s++)
		if (*s < ' ' || *s > '~' || *s == '"' || *s == '\\')
			return false;
	return true;
}

static void put_string(struct buffer *b, const char *s)
{
	_cleanup_json_ json_t *string = NULL;
	_cleanup_free_ char *text = NULL;

	if (is_plain(s)) {
		put(b, "\"", 1);
		put_text(b, s);
		put(b, "\"", 1);
		return;
	}
	string = json_string(s);
	text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	if (text)
		put_text(b, text);
	else
		b->failed = true;
}

static void put_number(struct buffer *b, int64_t x)
{
	uint64_t rest = x < 0 ? -(uint64_t) x : (uint64_t) x;
	char digits[20], *at = digits + sizeof(digits);

	do
		*--at = (char) ('0' + rest % 10);
	while ((rest /= 10) > 0);
	if (x < 0)
		*--at = '-';
	put(b, at, (size_t) (digits + sizeof(digits) - at));
}

/* A comma, unless what it would part from has just been opened. */
static void put_comma(struct buffer *b)
{
	if (b->n > 0 && b->at[b->n - 1] != '{' && b->at[b->n - 1] != '[')
		put(b, ",", 1);
}

static void put_key(struct buffer *b, const char *key)
{
	put_comma(b);
	put(b, "\"", 1);
	put_text(b, key);
	put(b, "\":", 2);
}

static void put_field(struct buffer *b, const char *key, int64_t x)
{
	put_key(b, key);
	put_number(b, x);
}

static void put_stamp(struct buffer *b, const char *key, const struct stamp *stamp)
{
	put_key(b, key);
	put(b, "{", 1);
	put_field(b, "real", (int64_t) stamp->real);
	put_field(b, "boot", stamp->boot);
	put(b, "}", 1);
}

/* Nothing for a field at its default: a record says only what there is to say. */
static void put_member(struct buffer *b, const struct timer_memory *m, size_t i)
{
	const char *key = fields[i].key;
	const void *at = field_at(m, i);
	int64_t number = 0;

	switch (fields[i].type) {
	case FIELD_USEC:
	case FIELD_COUNT64:
		number = (int64_t) *(const uint64_t *) at;
		break;
	case FIELD_INT:
		number = *(const int32_t *) at;
		break;
	case FIELD_RESULT:
		number = (int64_t) *(const enum supd_result *) at;
		break;
	case FIELD_STAMP:
		if (((const struct stamp *) at)->real)
			put_stamp(b, key, at);
		return;
	case FIELD_BOOL:
		if (!*(const bool *) at)
			return;
		put_key(b, key);
		put_text(b, "true");
		return;
	case FIELD_REASON:
		if (*(const enum miss_reason *) at == MISS_NONE)
			return;
		put_key(b, key);
		put_string(b, miss_reason_to_string(*(const enum miss_reason *) at));
		return;
	}
	if (number)
		put_field(b, key, number);
}

static void put_open(struct buffer *b, const struct open_run *open)
{
	static const uint8_t none[SUPD_RUN_ID_BYTES];
	char id[33];

	if (memcmp(open->run_id, none, sizeof(none)) == 0)
		return;
	text_hex16(open->run_id, id);
	put_key(b, "open_run");
	put(b, "{", 1);
	put_key(b, "id");
	put_string(b, id);
	put_key(b, "cause");
	put_string(b, open->cause);
	put_field(b, "attempt", open->attempt);
	put_field(b, "scheduled", (int64_t) open->scheduled);
	put_stamp(b, "taken", &open->taken);
	put(b, "}", 1);
}

static void put_waiting(struct buffer *b, const struct waiting *w)
{
	if (w->reason == MISS_NONE)
		return;
	put_key(b, "waiting");
	put(b, "{", 1);
	put_key(b, "reason");
	put_string(b, miss_reason_to_string(w->reason));
	put_field(b, "scheduled", (int64_t) w->scheduled);
	put(b, "}", 1);
}

static void put_spent(struct buffer *b, const struct timer_memory *m)
{
	if (m->n_spent == 0)
		return;
	put_key(b, "spent");
	put(b, "[", 1);
	for (unsigned i = 0; i < m->n_spent; i++) {
		put_comma(b);
		put(b, "[", 1);
		put_number(b, (int64_t) m->spent[i].from);
		put(b, ",", 1);
		put_number(b, (int64_t) m->spent[i].to);
		put(b, "]", 1);
	}
	put(b, "]", 1);
}

/* [moment], or of an interval [moment, boot-time]. */
static void put_skips(struct buffer *b, const struct skips *all)
{
	if (!all)
		return;
	put_key(b, "skipped");
	put(b, "[", 1);
	for (unsigned i = 0; i < all->n; i++) {
		put_comma(b);
		put(b, "[", 1);
		put_number(b, (int64_t) all->item[i].real);
		if (!all->item[i].is_calendar) {
			put(b, ",", 1);
			put_number(b, all->item[i].boot);
		}
		put(b, "]", 1);
	}
	put(b, "]", 1);
}

static void put_record(struct buffer *b, const struct timer_memory *m, usec_t gone_since)
{
	put(b, "{", 1);
	for (size_t i = 0; i < ELEMENTS(fields); i++)
		put_member(b, m, i);
	put_open(b, &m->open);
	put_waiting(b, &m->waiting);
	put_spent(b, m);
	put_skips(b, m->skips);
	if (gone_since)
		put_field(b, "gone_since", (int64_t) gone_since);
	put(b, "}", 1);
}

static void put_body(struct buffer *b, const struct state_life *life, usec_t now_real,
		     state_next_fn *next, void *userdata)
{
	struct state_record record;
	char daemon_id[33];
	bool is_first = true;

	text_hex16(life->daemon_id, daemon_id);
	put(b, "{", 1);
	put_key(b, "boot_id");
	put_string(b, life->boot_id);
	put_key(b, "daemon_id");
	put_string(b, daemon_id);
	put_field(b, "written", (int64_t) now_real);
	put_key(b, "timers");
	put(b, "{", 1);
	while (next(userdata, &record)) {
		put_text(b, is_first ? "" : ",\n");
		is_first = false;
		put_string(b, record.name);
		put(b, ":", 1);
		put_record(b, record.memory, record.gone_since);
	}
	put_text(b, "}}");
}

/* FNV-1a, seeded by the version: every change of a single byte changes it. */
static uint64_t checksum(unsigned version, const char *body, size_t n)
{
	char digits[16];
	int length = snprintf(digits, sizeof(digits), "%u", version);

	return text_hash(text_hash(TEXT_HASH_INIT, digits, (size_t) length), body, n);
}

int state_encode(const struct state_life *life, usec_t now_real, state_next_fn *next,
		 void *userdata, char **ret, size_t *ret_n)
{
	struct buffer b = { 0 };
	char header[HEADER_MAX];
	uint64_t sum;
	int n;

	/* The header is as long for every sum: room first, the sum when the body is known. */
	n = snprintf(header, sizeof(header), HEADER_FORMAT, (unsigned) STATE_VERSION, UINT64_C(0));
	put(&b, header, (size_t) n);
	put_body(&b, life, now_real, next, userdata);
	if (!b.failed) {
		sum = checksum(STATE_VERSION, b.at + n, b.n - (size_t) n);
		snprintf(header, sizeof(header), HEADER_FORMAT, (unsigned) STATE_VERSION, sum);
		memcpy(b.at, header, (size_t) n);
	}
	put_text(&b, TRAILER);
	if (b.failed) {
		free(b.at);
		return -ENOMEM;
	}
	*ret = b.at;
	*ret_n = b.n;
	return 0;
}

#define ADDED_FORMAT "+%016" PRIx64 " "
#define ADDED_HEADER 18

int state_encode_added(state_next_fn *next, void *userdata, char **ret, size_t *ret_n)
{
	char header[ADDED_HEADER + 1];
	struct state_record record;
	struct buffer b = { 0 };

	snprintf(header, sizeof(header), ADDED_FORMAT, UINT64_C(0));
	put_text(&b, header);
	put(&b, "{", 1);
	while (next(userdata, &record)) {
		put_comma(&b);
		put_string(&b, record.name);
		put(&b, ":", 1);
		put_record(&b, record.memory, record.gone_since);
	}
	put(&b, "}", 1);
	if (!b.failed) {
		snprintf(header, sizeof(header), ADDED_FORMAT,
			 checksum(STATE_VERSION, b.at + ADDED_HEADER, b.n - ADDED_HEADER));
		memcpy(b.at, header, ADDED_HEADER);
	}
	put(&b, "\n", 1);
	if (b.failed) {
		free(b.at);
		return -ENOMEM;
	}
	*ret = b.at;
	*ret_n = b.n;
	return 0;
}

/* ---- reading ---- */

static uint64_t get_u64(const json_t *object, const char *key)
{
	json_int_t x = json_integer_value(json_object_get(object, key));

	return x > 0 ? (uint64_t) x : 0;
}

/* What is known while a file is read. */
struct reading {
	const struct state_now *now;
	bool is_same_boot, is_same_daemon;
	bool is_other_boot; /* for sure; neither: unknown */
};

static int64_t boot_of(usec_t real, const struct reading *r)
{
	const struct supd_now *now = &r->now->now;
	int64_t boot = (int64_t) now->boot - (int64_t) usec_sub(now->real, real);

	/* What was before this boot, was: even if the clock was set back meanwhile. */
	return r->is_other_boot && boot >= 0 ? -1 : boot;
}

static struct stamp get_stamp(const json_t *value, const struct reading *r)
{
	const struct supd_now *now = &r->now->now;
	struct stamp s = { .real = get_u64(value, "real") };

	if (s.real == 0)
		return s;
	if (r->is_same_boot) {
		s.boot = (int64_t) json_integer_value(json_object_get(value, "boot"));
		s.boot = s.boot < (int64_t) now->boot ? s.boot : (int64_t) now->boot;
		return s;
	}
	/* What claims to come later than now is as young as can be believed: it is now. */
	if (s.real > now->real && r->now->is_clock_believed)
		s.real = now->real;
	s.boot = boot_of(s.real, r);
	return s;
}

static void field_decode(const json_t *record, size_t i, const struct reading *r,
			 struct timer_memory *m)
{
	const json_t *value = json_object_get(record, fields[i].key);
	char *at = (char *) m + fields[i].offset;
	json_int_t x;

	if (!value)
		return;
	switch (fields[i].type) {
	case FIELD_USEC:
	case FIELD_COUNT64:
		*(uint64_t *) (void *) at = get_u64(record, fields[i].key);
		break;
	case FIELD_STAMP:
		*(struct stamp *) (void *) at = get_stamp(value, r);
		break;
	case FIELD_BOOL:
		*(bool *) at = json_is_true(value);
		break;
	case FIELD_INT:
		*(int32_t *) (void *) at = (int32_t) json_integer_value(value);
		break;
	case FIELD_RESULT:
		x = json_integer_value(value);
		*(enum supd_result *) (void *) at =
			x > 0 && x < SUPD_RESULT_COUNT ? (enum supd_result) x : 0;
		break;
	case FIELD_REASON:
		(void) miss_reason_from_string(json_is_string(value) ? json_string_value(value)
								     : "",
					       (enum miss_reason *) (void *) at);
		break;
	}
}

static void get_open(const json_t *record, const struct reading *r, struct open_run *ret)
{
	const json_t *open = json_object_get(record, "open_run");
	const char *id = json_string_value(json_object_get(open, "id"));
	const char *cause = json_string_value(json_object_get(open, "cause"));

	if (!id || !cause || !text_unhex16(id, ret->run_id))
		return;
	snprintf(ret->cause, sizeof(ret->cause), "%s", cause);
	ret->attempt = (uint32_t) get_u64(open, "attempt");
	ret->scheduled = get_u64(open, "scheduled");
	ret->taken = get_stamp(json_object_get(open, "taken"), r);
}

static void get_waiting(const json_t *record, struct waiting *ret)
{
	const json_t *waiting = json_object_get(record, "waiting");
	const char *reason = json_string_value(json_object_get(waiting, "reason"));

	if (reason && miss_reason_from_string(reason, &ret->reason))
		ret->scheduled = get_u64(waiting, "scheduled");
}

static void get_spent(const json_t *record, struct timer_memory *m)
{
	const json_t *list = json_object_get(record, "spent"), *pair;
	json_int_t from, to;
	size_t i;

	json_array_foreach(list, i, pair) {
		from = json_integer_value(json_array_get(pair, 0));
		to = json_integer_value(json_array_get(pair, 1));
		if (from >= 0 && from < to && !memory_add_spent(m, (usec_t) from, (usec_t) to))
			return;
	}
}

/* A moment of an interval lies as far from now as its real time says, if its boot-time was that of
 * another boot. */
static struct skip get_skip(const json_t *pair, const struct reading *r)
{
	const struct supd_now *now = &r->now->now;
	json_int_t real = json_integer_value(json_array_get(pair, 0));
	struct skip s = { .real = real > 0 ? (usec_t) real : 0,
			  .is_calendar = json_array_size(pair) == 1 };

	if (s.is_calendar)
		return s;
	if (r->is_same_boot) {
		s.boot = (int64_t) json_integer_value(json_array_get(pair, 1));
	} else {
		s.boot = (int64_t) now->boot + ((int64_t) s.real - (int64_t) now->real);
		s.is_vague = true;
	}
	return s;
}

static void get_skips(const json_t *record, const struct reading *r, struct timer_memory *m)
{
	const json_t *list = json_object_get(record, "skipped"), *pair;
	size_t i;

	json_array_foreach(list, i, pair) {
		const struct skip s = get_skip(pair, r);

		if (s.real > 0 && !memory_add_skip(m, &s))
			return;
	}
}

static void record_decode(const json_t *record, const struct reading *r, struct timer_memory *ret)
{
	*ret = (struct timer_memory) { 0 };
	for (size_t i = 0; i < ELEMENTS(fields); i++)
		field_decode(record, i, r, ret);
	get_open(record, r, &ret->open);
	get_waiting(record, &ret->waiting);
	get_spent(record, ret);
	get_skips(record, r, ret);
	/* The timer becomes active anew in each life of the daemon. */
	if (!r->is_same_daemon)
		ret->activated = (struct stamp) { 0 };
}

/* Takes the envelope off, which is the same for all versions; true if the checksum is that of
 * version and body. */
static bool body_of(const char *bytes, size_t n, unsigned *ret_version, const char **ret,
		    size_t *ret_n)
{
	static const char start[] = "{\"version\":";
	char header[HEADER_MAX];
	unsigned version = 0;
	size_t at = strlen(start), length;

	if (n < at || memcmp(bytes, start, at) != 0)
		return false;
	for (; at < n && bytes[at] >= '0' && bytes[at] <= '9' && version < 100000; at++)
		version = version * 10 + (unsigned) (bytes[at] - '0');
	length = (size_t) snprintf(header, sizeof(header), HEADER_FORMAT, version, UINT64_C(0));
	if (n < length + strlen(TRAILER) ||
	    memcmp(bytes + n - strlen(TRAILER), TRAILER, strlen(TRAILER)) != 0)
		return false;
	n -= length + strlen(TRAILER);
	snprintf(header, sizeof(header), HEADER_FORMAT, version,
		 checksum(version, bytes + length, n));
	if (memcmp(bytes, header, length) != 0)
		return false;
	*ret_version = version;
	*ret = bytes + length;
	*ret_n = n;
	return true;
}

static bool is_same_daemon(const json_t *body, const struct state_life *life)
{
	const char *text = json_string_value(json_object_get(body, "daemon_id"));
	uint8_t id[16];

	return text && text_unhex16(text, id) && memcmp(id, life->daemon_id, sizeof(id)) == 0;
}

static bool is_same_boot(const json_t *body, const struct state_life *life)
{
	const char *text = json_string_value(json_object_get(body, "boot_id"));

	return text && *text && str_equal(text, life->boot_id);
}

static void reading_init(struct reading *r, const json_t *body, const struct state_now *now)
{
	const char *boot_id = json_string_value(json_object_get(body, "boot_id"));

	r->now = now;
	r->is_same_daemon = is_same_daemon(body, &now->life);
	r->is_same_boot = r->is_same_daemon || is_same_boot(body, &now->life);
	r->is_other_boot = !r->is_same_boot && boot_id && *boot_id && now->life.boot_id[0];
}

struct receiver {
	state_record_fn *record;
	void *userdata;
};

static int records_decode(const json_t *timers, const struct reading *r, const struct receiver *to)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *) (uintptr_t) timers, name, value) {
		struct timer_memory m;
		int taken;

		record_decode(value, r, &m);
		taken = to->record(to->userdata, name, &m, get_u64(value, "gone_since"));
		memory_done(&m);
		if (taken < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- lines that were added ---- */

/* The sound line that @bytes begin with: its length, or 0. */
static size_t added_length(const char *bytes, size_t n)
{
	const char *end = n > ADDED_HEADER && bytes[0] == '+' ? memchr(bytes, '\n', n) : NULL;
	size_t length = end ? (size_t) (end - bytes) : 0;
	char header[ADDED_HEADER + 1];

	if (length <= ADDED_HEADER)
		return 0;
	snprintf(header, sizeof(header), ADDED_FORMAT,
		 checksum(STATE_VERSION, bytes + ADDED_HEADER, length - ADDED_HEADER));
	return memcmp(bytes, header, ADDED_HEADER) == 0 ? length + 1 : 0;
}

/* Does a sound line begin anywhere behind this one? Then it was not cut off by a crash. */
static bool has_added(const char *bytes, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (bytes[i] == '+' && added_length(bytes + i, n - i) > 0)
			return true;
	return false;
}

static enum state_verdict added_decode(const char *bytes, size_t n, const struct reading *r,
				       const struct receiver *to)
{
	size_t length;

	for (; n > 0; bytes += length, n -= length) {
		_cleanup_json_ json_t *timers = NULL;

		length = added_length(bytes, n);
		if (length == 0)
			return has_added(bytes, n) ? STATE_CORRUPT : STATE_SOUND;
		timers = json_loadb(bytes + ADDED_HEADER, length - ADDED_HEADER - 1,
				    JSON_REJECT_DUPLICATES, NULL);
		if (!json_is_object(timers))
			return STATE_CORRUPT;
		if (records_decode(timers, r, to) < 0)
			return STATE_NO_MEMORY;
	}
	return STATE_SOUND;
}

/* The whole ends with its trailer, which stands nowhere else: a line end within is behind a
 * comma. */
static size_t whole_length(const char *bytes, size_t n)
{
	const char *end = memmem(bytes, n, TRAILER, strlen(TRAILER));

	return end ? (size_t) (end - bytes) + strlen(TRAILER) : n;
}

enum state_verdict state_decode(const void *bytes, size_t n, const struct state_now *now,
				state_record_fn *record, void *userdata)
{
	const struct receiver to = { record, userdata };
	size_t whole = whole_length(bytes, n);
	_cleanup_json_ json_t *body = NULL;
	const char *text;
	json_t *timers;
	struct reading r;
	unsigned version;
	size_t length;

	if (!body_of(bytes, whole, &version, &text, &length))
		return STATE_CORRUPT;
	if (version != STATE_VERSION)
		return version > STATE_VERSION ? STATE_NEWER : STATE_CORRUPT;
	body = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	timers = json_object_get(body, "timers");
	if (!json_is_object(timers))
		return STATE_CORRUPT;
	reading_init(&r, body, now);
	if (records_decode(timers, &r, &to) < 0)
		return STATE_NO_MEMORY;
	return added_decode((const char *) bytes + whole, n - whole, &r, &to);
}
