/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_DIAG_H
#define SUPD_BASE_DIAG_H

/* Mistakes in what people wrote, collected, worded for the person who wrote it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum diag_severity {
	DIAG_ERROR,       /* the unit is invalid */
	DIAG_WARNING,     /* something was set aside; the message says what */
	/* systemd's key, accepted, not yet applied here: a warning of its own kind */
	DIAG_NOT_APPLIED,
};
#define DIAG_SEVERITY_COUNT (DIAG_NOT_APPLIED + 1)

struct diag_entry {
	enum diag_severity severity;
	char *file; /* may be NULL: the mistake is in no one place */
	uint32_t line; /* 0: the file as a whole */
	char *key;  /* may be NULL */
	char *message; /* lower case, no full stop, user text in quotes and escaped */
};

/* All zero is an empty collection. If memory runs out, the entry is lost, the counts are not. */
struct diag {
	struct diag_entry *entry;
	unsigned n, allocated;
	unsigned n_errors, n_warnings;
};

void diag_done(struct diag *d);
void diag_add(struct diag *d, enum diag_severity severity, const char *file, uint32_t line,
	      const char *key, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Takes the last entry back. */
void diag_drop_last(struct diag *d);
/* Takes back what was said of this key not being applied. */
void diag_drop_not_applied(struct diag *d, const char *key);
/* Moves all entries of @from behind those of @to; @from is empty then. */
void diag_move(struct diag *to, struct diag *from);

/* "file:line: message", "file: message" or "message", one line, no newline, escaped for a terminal.
 * Gives; the caller frees. NULL when memory ran out. */
char *diag_format(const struct diag_entry *e);

#endif
