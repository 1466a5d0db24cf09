/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_RUN_LOG_RECORD_H
#define SUPD_STORE_RUN_LOG_RECORD_H

/* What services printed, as bytes of a file. Pure.
 *
 * A segment is a header and records behind it, nothing else; numbers are little endian.
 *
 *	header, 40 bytes: "supd-log" · version (4) · kind (4: 0 ordinary, 1 the tail of one run) ·
 *		run id (16, of a tail's run, else zeros) · when it was begun (8: µs since 1970)
 *	record, 48 bytes and its text: mark f5 'r' 'l' 1a · size (4: of identifier and text) · check
 *		(4) · stream (1) · flags (1) · level (1) · length of the identifier (1) · number (8)
 *		· time (8: µs since 1970) · run id (16) · identifier · text
 *
 * The check is the 64-bit FNV-1a of all that stands behind it in the record, its halves xored. So a
 * record that was not written to its end is seen, and behind damage the next mark with a check that
 * fits is where it goes on. The number counts the records of a run from 0, those included that were
 * never written or are gone: where it jumps, so many are missing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

#define RUN_LOG_SEGMENT_HEADER 40
#define RUN_LOG_RECORD_HEADER 48
#define RUN_LOG_TEXT_MAX 16384
#define RUN_LOG_IDENTIFIER_MAX 255

enum run_log_stream {
	RUN_LOG_STDOUT,
	RUN_LOG_STDERR,
};

/* Of a record. */
#define RUN_LOG_CONTINUED 1u  /* the line was too long: it goes on in the stream's next record */
#define RUN_LOG_UNFINISHED 2u /* the stream ended without a newline */

struct run_log_record {
	usec_t time; /* real, when the line was read */
	uint64_t number;
	enum run_log_stream stream;
	uint8_t flags;
	uint8_t level; /* syslog's */
	uint8_t run_id[16];
	const char *identifier; /* not ended by NUL; lent */
	size_t n_identifier;    /* 0: none */
	const char *text;       /* any bytes, without the newline; lent */
	size_t n;
	uint64_t n_missing;     /* for readers: so many of its run stood before it and are gone */
};

struct run_log_segment {
	bool is_tail;
	uint8_t run_id[16];
	usec_t begun;
};

void run_log_segment_encode(const struct run_log_segment *s, uint8_t ret[RUN_LOG_SEGMENT_HEADER]);
/* 0, or -EBADMSG; -EPROTONOSUPPORT: of a newer version. */
int run_log_segment_decode(const uint8_t *bytes, size_t n, struct run_log_segment *ret);

/* Bytes that the record takes; what is longer than the limits is cut. */
size_t run_log_record_size(const struct run_log_record *r);
void run_log_record_encode(const struct run_log_record *r, uint8_t *ret);
/* Reads a record from bytes that begin with it: how many it took. 0: it goes beyond @n; -EBADMSG:
 * here is none. @ret is lent by @bytes. */
int run_log_record_decode(const uint8_t *bytes, size_t n, struct run_log_record *ret);

/* The next record at or behind *@at, which moves behind it. False: there is none; *@at is where it
 * would begin once it is whole. */
bool run_log_record_next(const uint8_t *bytes, size_t n, size_t *at, struct run_log_record *ret);

#endif
