/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_NOT_APPLIED_H
#define SUPD_SERVICE_NOT_APPLIED_H

/* Why a key of systemd's that was accepted is not applied: one table, from which supctl verify
 * --strict and supctl status take their words, and supd.service(5) its lists. */

#include <stdbool.h>
#include <stddef.h>

enum not_applied_reason {
	NOT_APPLIED_UNSUPPORTED,   /* nothing of the following: supd cannot do it */
	/* it would take something away from the service, which runs with it */
	NOT_APPLIED_SANDBOX,
	NOT_APPLIED_NEEDS_SYSTEMD, /* it makes sense only with another part of systemd */
};
#define NOT_APPLIED_REASON_COUNT (NOT_APPLIED_NEEDS_SYSTEMD + 1)

/* For any key, known here or not; NULL, too. */
enum not_applied_reason not_applied_reason(const char *key);
/* "unsupported", "sandbox", "needs-systemd" */
const char *not_applied_reason_to_string(enum not_applied_reason r);
/* What comes of it and what to do: a sentence, lower case, no full stop. */
const char *not_applied_explanation(const char *key);
/* Is this value what systemd does without the key, so that nothing is missing? */
bool not_applied_asks_for_nothing(const char *key, const char *value);
/* All keys that have a row in the table, for tests; NULL past the end. */
const char *not_applied_key_at(size_t i);

#endif
