/* SPDX-License-Identifier: MIT */
/* Any bytes as a segment of what services printed: reading ends, what comes out lies within the
 * bytes and is written again as it was read, and a record that follows is found whatever stands
 * before it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/run_log_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition) ((condition) ? (void) 0 : abort())

static void check_record(const struct run_log_record *r, const uint8_t *begin, const uint8_t *end)
{
	uint8_t again[RUN_LOG_RECORD_HEADER + RUN_LOG_TEXT_MAX + RUN_LOG_IDENTIFIER_MAX];
	size_t size = run_log_record_size(r);

	CHECK(size <= (size_t) (end - begin));
	CHECK((const uint8_t *) r->text + r->n == end);
	run_log_record_encode(r, again);
	if (r->n <= RUN_LOG_TEXT_MAX)
		CHECK(memcmp(again, end - size, size) == 0);
}

/* Returns how many there are. */
static size_t read_all(const uint8_t *data, size_t size, struct run_log_record *ret_last)
{
	struct run_log_record record;
	size_t at = 0, n = 0;

	for (size_t before = 0; run_log_record_next(data, size, &at, &record); before = at, n++) {
		CHECK(at > before && at <= size);
		check_record(&record, data + before, data + at);
		*ret_last = record;
	}
	CHECK(at <= size);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct run_log_record added = { .time = 1, .number = 2, .text = "text", .n = 4 };
	struct run_log_record last = { 0 };
	struct run_log_segment segment;
	uint8_t *more;
	size_t n;

	if (size > 65536)
		return 0;
	(void) run_log_segment_decode(data, size, &segment);
	n = read_all(data, size, &last);
	more = malloc(size + run_log_record_size(&added));
	CHECK(more);
	if (size > 0)
		memcpy(more, data, size);
	run_log_record_encode(&added, more + size);
	CHECK(read_all(more, size + run_log_record_size(&added), &last) > 0);
	CHECK(n == 0 || last.n <= RUN_LOG_TEXT_MAX);
	free(more);
	return 0;
}
