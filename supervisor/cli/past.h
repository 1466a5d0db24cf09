/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_PAST_H
#define SUPD_CLI_PAST_H

/* The history, asked of the daemon; where none answers, or with --state-dir=, read from its file.
 * The rows are the same: supd-control(7), ListHistory and GetStatistics. */

#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "supd-plugin.h"

struct cli;

struct past_question {
	const char *const *unit; /* whole names and patterns, NULL-terminated; NULL: all */
	const char *outcomes;    /* words parted by commas; NULL: all */
	const char *cause;       /* NULL: any */
	const char *run;         /* the beginning of an id; NULL: any */
	usec_t since, until;     /* 0, USEC_NEVER: no bound */
	uint64_t lines, offset;  /* lines UINT64_MAX: all */
};

/* Lent during the call. */
typedef void past_row_fn(void *userdata, const struct supd_row *row);

/* Newest first. CONTROL_OK, or the exit status, told. */
int past_list(struct cli *c, const struct past_question *q, past_row_fn *fn, void *userdata);
/* Of the question only units and times count. */
int past_sum(struct cli *c, const struct past_question *q, past_row_fn *fn, void *userdata);

/* From what was typed as arguments: names without a suffix are services'; patterns stay. *ret is
 * NULL-terminated and NULL if there are none; past_units_free() takes it. CONTROL_OK, or the exit
 * status, told. */
int past_units(const struct cli *c, int n, char **typed, const char *const **ret);
void past_units_free(const char *const **unit);

/* Of @words, parted by commas, those that are none of @list are told on stderr: plugins may have
 * such, but most probably the answer is empty because of a slip. */
void past_doubt_words(const char *option, const char *words,
		      const char *(*list)(void *userdata, size_t i));

#endif
