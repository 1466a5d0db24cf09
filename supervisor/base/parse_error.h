/* SPDX-License-Identifier: MIT */
#ifndef SUPD_BASE_PARSE_ERROR_H
#define SUPD_BASE_PARSE_ERROR_H

/* What is wrong with a short text a person wrote: where, and a sentence that says why. */

struct parse_error {
	unsigned column;    /* of the offending byte, counted from 1; 0: the text as a whole */
	char sentence[160]; /* lower case, no full stop, user text in quotes */
};

/* Fills *reterr, which may be NULL. Returns -EBADMSG, so that a parser can return the call. */
int parse_error_at(struct parse_error *reterr, unsigned column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
