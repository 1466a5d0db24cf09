/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_NOTIFY_H
#define SUPD_SERVICE_NOTIFY_H

/* What a service's process says over $NOTIFY_SOCKET: sd_notify(3)'s lines of NAME=VALUE, as far as
 * they mean something for a oneshot service, and X_SUPD_METRIC=. supd.exec(5) tells people. Who may
 * say it is settled elsewhere. */

#include <stdbool.h>
#include <stddef.h>

#include "base/usec.h"

/* Of one message; as many as systemd takes. */
#define NOTIFY_BYTES_MAX 4096
#define NOTIFY_METRIC_NAME_MAX 64
/* Of one run. */
#define NOTIFY_METRICS_MAX 64

struct metric {
	const char *name; /* [A-Za-z_][A-Za-z0-9_.:-]* */
	double value;     /* finite */
};

/* Lent by the message that was parsed. */
struct notification {
	const char *status; /* UTF-8; "": no more; NULL: nothing was said of it */
	usec_t extend;      /* EXTEND_TIMEOUT_USEC=, from now; 0: nothing was said of it */
	struct metric metric[NOTIFY_METRICS_MAX];
	size_t n_metrics;
	const char *mistake; /* the first, a sentence; what it is about is passed over; or NULL */
};

/* @message has room for a NUL at @n, and is cut up. What is not for us is passed over in
 * silence. */
void notification_parse(char *message, size_t n, struct notification *ret);

#endif
