/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_LEDGER_H
#define SUPD_CORE_LEDGER_H

/* From what the manager's observer hears to lines of the history (service/history_record.h). Pure.
 * Every scheduled moment becomes exactly one line: started() and settled() tell of runs, event() of
 * what was missed. A run that was interrupted is a line of its own; what makes up for it, or fails
 * to, is another. */

#include "service/history_record.h"
#include "supd-plugin.h"

struct unit;

#define LEDGER_WORDS_MAX 256

/* The last run of @u as it is now: RUNNING, or how it ended. Lends what is @u's, and @words. */
void ledger_run(const struct unit *u, char words[LEDGER_WORDS_MAX], struct history_record *ret);

/* An event of a plugin: true if it is a miss, or the end of a run that supd did not live to see.
 * Lends the event's strings. */
bool ledger_event(const char *type, const char *unit, const struct supd_row *fields,
		  struct history_record *ret);

#endif
