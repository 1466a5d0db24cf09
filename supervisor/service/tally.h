/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_TALLY_H
#define SUPD_SERVICE_TALLY_H

/* What many runs and misses come to: counts, sums, percentiles. Tallies add up: that of a month is
 * the sum of those of its days. The history keeps one for each hour and each day, so that nobody
 * has to read a month's runs. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/usec.h"
#include "service/history_record.h"

/* Of lengths of time. */
struct tally_spans {
	usec_t sum, most;
	struct histogram histogram; /* its total is how many there were */
};

struct tally_miss {
	char *reason;
	uint64_t count;
};

struct tally_metric {
	char *name;
	uint64_t count;
	double sum, most, last;
};

/* All zero is empty. */
struct tally {
	/* runs, by how they ended; MISSED: moments; GAP: records lost */
	uint64_t by_class[HISTORY_CLASS_COUNT];
	uint64_t healed;       /* retries that succeeded */
	/* the moments of the first and the last record; last 0: there was none */
	usec_t first, last;
	usec_t last_success;   /* when it ended; 0: none */
	usec_t cpu;
	uint64_t peak_memory;
	struct tally_spans duration, lateness;
	struct tally_miss *miss;
	size_t n_misses;
	struct tally_metric *metric;
	size_t n_metrics;
};

void tally_done(struct tally *t);
/* Each: 0 or -ENOMEM, and then the tally is good for nothing but tally_done(). Of a run that goes
 * on nothing is added. */
int tally_add(struct tally *t, const struct history_record *r);
int tally_merge(struct tally *t, const struct tally *other);
/* Parts of a record. */
int tally_add_miss(struct tally *t, const char *reason, uint64_t count);
/* Copies its name. Its last value is the last if @is_newer than what there is. */
int tally_add_metric(struct tally *t, const struct tally_metric *add, bool is_newer);
/* Records were from @first to @last; 0: there was none. */
void tally_seen(struct tally *t, usec_t first, usec_t last);
uint64_t tally_runs(const struct tally *t); /* that have ended */

/* As bytes, for a file. Gives; the caller frees. 0 or -ENOMEM. */
int tally_encode(const struct tally *t, void **ret, size_t *ret_n);
/* 0, -ENOMEM, or -EBADMSG: these are no tally. */
int tally_decode(const void *bytes, size_t n, struct tally *ret);
/* As tally_merge(), of what these bytes are; errors as of both. */
int tally_merge_bytes(struct tally *t, const void *bytes, size_t n);

#endif
