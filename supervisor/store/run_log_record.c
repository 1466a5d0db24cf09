/* SPDX-License-Identifier: MIT */
#include "store/run_log_record.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

#define FORMAT_VERSION 1u

static const uint8_t magic[8] = { 's', 'u', 'p', 'd', '-', 'l', 'o', 'g' };
static const uint8_t mark[4] = { 0xf5, 'r', 'l', 0x1a };

/* Where things stand in a record. */
enum {
	AT_SIZE = 4,
	AT_CHECK = 8,
	AT_STREAM = 12,
	AT_FLAGS,
	AT_LEVEL,
	AT_IDENTIFIER,
	AT_NUMBER = 16,
	AT_TIME = 24,
	AT_RUN = 32
};

static void put_number(uint8_t *to, uint64_t number, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (uint8_t) (number >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, size_t n)
{
	uint64_t number = 0;

	for (size_t i = 0; i < n; i++)
		number |= (uint64_t) from[i] << 8 * i;
	return number;
}

/* ---- segments ---- */

void run_log_segment_encode(const struct run_log_segment *s, uint8_t ret[RUN_LOG_SEGMENT_HEADER])
{
	memcpy(ret, magic, sizeof(magic));
	put_number(ret + 8, FORMAT_VERSION, 4);
	put_number(ret + 12, s->is_tail, 4);
	memcpy(ret + 16, s->run_id, sizeof(s->run_id));
	put_number(ret + 32, s->begun, 8);
}

int run_log_segment_decode(const uint8_t *bytes, size_t n, struct run_log_segment *ret)
{
	if (n < RUN_LOG_SEGMENT_HEADER || memcmp(bytes, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	if (get_number(bytes + 8, 4) != FORMAT_VERSION)
		return -EPROTONOSUPPORT;
	ret->is_tail = get_number(bytes + 12, 4) == 1;
	memcpy(ret->run_id, bytes + 16, sizeof(ret->run_id));
	ret->begun = get_number(bytes + 32, 8);
	return 0;
}

/* ---- records ---- */

static size_t limited(size_t n, size_t max)
{
	return n < max ? n : max;
}

static uint32_t check_of(const uint8_t *record, size_t size)
{
	uint64_t hash = text_hash(TEXT_HASH_INIT, record + AT_STREAM,
				  RUN_LOG_RECORD_HEADER - AT_STREAM + size);

	return (uint32_t) (hash ^ hash >> 32);
}

size_t run_log_record_size(const struct run_log_record *r)
{
	return RUN_LOG_RECORD_HEADER + limited(r->n_identifier, RUN_LOG_IDENTIFIER_MAX) +
	       limited(r->n, RUN_LOG_TEXT_MAX);
}

void run_log_record_encode(const struct run_log_record *r, uint8_t *ret)
{
	size_t n_identifier = limited(r->n_identifier, RUN_LOG_IDENTIFIER_MAX),
	       n = limited(r->n, RUN_LOG_TEXT_MAX);

	memcpy(ret, mark, sizeof(mark));
	put_number(ret + AT_SIZE, n_identifier + n, 4);
	ret[AT_STREAM] = (uint8_t) r->stream;
	ret[AT_FLAGS] = r->flags;
	ret[AT_LEVEL] = r->level;
	ret[AT_IDENTIFIER] = (uint8_t) n_identifier;
	put_number(ret + AT_NUMBER, r->number, 8);
	put_number(ret + AT_TIME, r->time, 8);
	memcpy(ret + AT_RUN, r->run_id, sizeof(r->run_id));
	if (n_identifier > 0)
		memcpy(ret + RUN_LOG_RECORD_HEADER, r->identifier, n_identifier);
	if (n > 0)
		memcpy(ret + RUN_LOG_RECORD_HEADER + n_identifier, r->text, n);
	put_number(ret + AT_CHECK, check_of(ret, n_identifier + n), 4);
}

int run_log_record_decode(const uint8_t *bytes, size_t n, struct run_log_record *ret)
{
	size_t size, n_identifier;

	if (memcmp(bytes, mark, limited(n, sizeof(mark))) != 0)
		return -EBADMSG;
	if (n < RUN_LOG_RECORD_HEADER)
		return 0;
	size = get_number(bytes + AT_SIZE, 4);
	n_identifier = bytes[AT_IDENTIFIER];
	if (n_identifier > size || size - n_identifier > RUN_LOG_TEXT_MAX ||
	    bytes[AT_STREAM] > RUN_LOG_STDERR)
		return -EBADMSG;
	if (n < RUN_LOG_RECORD_HEADER + size)
		return 0;
	if (get_number(bytes + AT_CHECK, 4) != check_of(bytes, size))
		return -EBADMSG;
	*ret = (struct run_log_record) {
		.time = get_number(bytes + AT_TIME, 8),
		.number = get_number(bytes + AT_NUMBER, 8),
		.stream = bytes[AT_STREAM],
		.flags = bytes[AT_FLAGS],
		.level = bytes[AT_LEVEL],
		.identifier = (const char *) bytes + RUN_LOG_RECORD_HEADER,
		.n_identifier = n_identifier,
		.text = (const char *) bytes + RUN_LOG_RECORD_HEADER + n_identifier,
		.n = size - n_identifier,
	};
	memcpy(ret->run_id, bytes + AT_RUN, sizeof(ret->run_id));
	return (int) (RUN_LOG_RECORD_HEADER + size);
}

/* The next mark behind @at, or @n. */
static size_t find_mark(const uint8_t *bytes, size_t n, size_t at)
{
	const uint8_t *p = at < n ? memchr(bytes + at, mark[0], n - at) : NULL;

	return p ? (size_t) (p - bytes) : n;
}

bool run_log_record_next(const uint8_t *bytes, size_t n, size_t *at, struct run_log_record *ret)
{
	size_t torn = n;

	/* What looks like the beginning of a record is one only if none follows it. */
	for (size_t i = *at; i < n; i = find_mark(bytes, n, i + 1)) {
		int size = run_log_record_decode(bytes + i, n - i, ret);

		if (size > 0) {
			*at = i + (size_t) size;
			return true;
		}
		if (size == 0 && torn == n)
			torn = i;
	}
	*at = torn;
	return false;
}
