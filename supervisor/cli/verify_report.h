/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_VERIFY_REPORT_H
#define SUPD_CLI_VERIFY_REPORT_H

/* What supctl verify says: a line a mistake as they come, then one about all; or one JSON document
 * at the end. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/names.h"

struct diag;

enum verify_json { VERIFY_TEXT, VERIFY_JSON_SHORT, VERIFY_JSON_PRETTY };

/* All zero is an empty one, as text. */
struct verify_report {
	enum verify_json json;
	bool is_strict;   /* what is not applied is explained, and no success */
	json_t *units;    /* an array; NULL: none yet */
	json_t *problems; /* of no unit in particular */
	size_t n_units, n_invalid, n_unsupported;
	unsigned n_errors, n_warnings, n_not_applied; /* the last are warnings, too */
	/* problems, as lines: what several instances of a template have is said once */
	struct names told;
	bool is_failed;   /* memory ran out */
};

struct verify_unit {
	const char *name, *path, *load_state;
	bool is_invalid;
};

/* Its problems, and @more (may be NULL). */
void verify_report_unit(struct verify_report *r, const struct verify_unit *unit,
			const struct diag *problems, const struct diag *more);
/* Of no unit: of directories, of supd.conf. */
void verify_report_problems(struct verify_report *r, const struct diag *d);
/* Says the last line, or all of the JSON. Returns the exit status. */
int verify_report_end(struct verify_report *r);
/* In place of that: why there is no verdict. Returns @status. */
int verify_report_fail(struct verify_report *r, const char *message, int status);
void verify_report_done(struct verify_report *r);

#endif
