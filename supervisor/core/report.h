/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_REPORT_H
#define SUPD_CORE_REPORT_H

/* What there is to say of a unit, a run, a mistake, as rows: control/api.h names the keys. Pure.
 * Everything a row points to lives in the arena or in what it was made of. Each returns 0 or
 * -ENOMEM. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/usec.h"
#include "service/run_record.h"
#include "supd-plugin.h"

struct diag;
struct diag_entry;
struct metric;
struct unit;
struct unit_config;

/* A row in the making. All zero but the arena is an empty one; when memory runs out is_failed is
 * set, and what follows does nothing. */
struct report {
	struct arena *arena;
	struct supd_field *field;
	size_t n;
	bool is_failed;
};

/* @value NULL: a null. Strings are lent to the row. */
void report_string(struct report *r, const char *key, const char *value);
void report_bool(struct report *r, const char *key, bool value);
void report_number(struct report *r, const char *key, int64_t value);
void report_null(struct report *r, const char *key);
/* Those of another row, which go on belonging to whom they belong to. */
void report_fields(struct report *r, const struct supd_row *row);
/* Infinity and what is no number: a null. */
void report_real(struct report *r, const char *key, double value);
/* A row in a row, of the same arena. */
void report_row(struct report *r, const char *key, const struct report *row);
/* Their names as keys. None: a null. */
void report_metrics(struct report *r, const char *key, const struct metric *metric, size_t n);
/* 0 and USEC_NEVER: a null. */
void report_time(struct report *r, const char *key, usec_t when);
/* USEC_NEVER: a null. */
void report_span(struct report *r, const char *key, usec_t span);
/* NULL-terminated; NULL: an empty list. */
void report_strings(struct report *r, const char *key, const char *const *list);
/* file, line, key, message, severity of each. */
void report_problems(struct report *r, const char *key, const struct diag *d);
int report_end(const struct report *r, struct supd_row *ret);

/* LIST and STATUS. The caller may append before report_end(). */
void report_unit(struct report *r, const struct unit *u);
/* A unit that nobody knows, but that is spoken of. */
void report_unit_missing(struct report *r, const char *name);
/* SHOW: what its files say. Without @with_commands, nothing that might be secret: no commands, no
 * environment. */
void report_unit_properties(struct report *r, const struct unit_config *c, bool with_commands);
/* START, STOP, RESTART, TRIGGER. @run may be NULL: none is known. */
void report_run(struct report *r, const char *unit, const struct run *run);
/* The same of one that has not begun, or that is to be followed by another: @words instead of how
 * it went. */
void report_run_waiting(struct report *r, const char *unit, const struct run *run,
			const char *words);
void report_problem(struct report *r, const struct diag_entry *e);

/* "error", "warning", "not-applied" */
const char *report_severity(const struct diag_entry *e);

#endif
