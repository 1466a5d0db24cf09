/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_RUN_SAID_H
#define SUPD_SERVICE_RUN_SAID_H

/* What the processes of a run have said of it, over $NOTIFY_SOCKET; made when one does. */

#include <stddef.h>

#include "service/notify.h"

struct run_said {
	char *status;          /* the last; or NULL */
	/* in the order in which names came up; the last value of each. Names are owned */
	struct metric *metric;
	size_t n_metrics;
	size_t n_ignored;      /* values of further names, beyond NOTIFY_METRICS_MAX */
};

/* Adds @t to *said, which is made if need be (NULL: nothing was said yet). 0, or -ENOMEM: as far as
 * memory sufficed. */
int run_said_add(struct run_said **said, const struct notification *t);
struct run_said *run_said_free(struct run_said *said);

#endif
