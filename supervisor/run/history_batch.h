/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_HISTORY_BATCH_H
#define SUPD_RUN_HISTORY_BATCH_H

/* Records of the history on their way, with all that they lend: from the loop to the thread that
 * writes, and from it to who asked. */

#include "base/arena.h"
#include "service/history_record.h"

/* All zero is empty. */
struct history_batch {
	struct arena arena;
	struct history_record *record;
	size_t n;
	size_t bytes; /* of what they lend, and of themselves */
};

void history_batch_done(struct history_batch *b);
/* What a copy of it takes. */
size_t history_record_bytes(const struct history_record *r);
/* Copies. 0 or -ENOMEM. */
int history_batch_add(struct history_batch *b, const struct history_record *r);

#endif
