/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_HISTORY_REPORT_H
#define SUPD_CORE_HISTORY_REPORT_H

/* Lines of the history and what they come to, as rows: the same whether the daemon tells them, or
 * supctl reads the file while there is none. Keys: supd-control(7). Pure. */

#include "core/report.h"
#include "service/history_record.h"
#include "service/tally.h"

/* Strings are lent by @h. With its output only if @with_output, which may be secret. */
void history_report_record(struct report *r, const struct history_record *h, bool with_output);
void history_report_tally(struct report *r, const char *unit, const struct tally *t);

#endif
