/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_VERSION_H
#define SUPD_SERVICE_VERSION_H

/* Versions and the operators with which conditions compare them: systemd.unit(5),
 * ConditionKernelVersion=. */

#include <stdbool.h>
#include <stdint.h>

/* Negative, 0 or positive, by the rules of the UAPI group's version format: 5.9 < 5.10, 6.1~rc1 <
 * 6.1 < 6.1.1, 6.1-2 < 6.1.1. */
int version_compare(const char *a, const char *b);

enum comparison {
	COMPARISON_NONE,    /* no operator stood there */
	COMPARISON_LESS,
	COMPARISON_LESS_OR_SAME,
	COMPARISON_SAME,    /* ==: as versions */
	COMPARISON_OTHER,   /* <> */
	COMPARISON_GREATER_OR_SAME,
	COMPARISON_GREATER,
	COMPARISON_EQUAL,   /* =: byte for byte */
	COMPARISON_UNEQUAL, /* != */
	COMPARISON_GLOB,    /* $=: as a pattern */
	COMPARISON_NO_GLOB, /* !$= */
};

/* The operator at *@p, which is moved past it. */
enum comparison comparison_read(const char **p);
/* @c is none of COMPARISON_NONE. */
bool comparison_of_texts(enum comparison c, const char *is, const char *wanted);
/* The patterns have no sense here, and hold never. */
bool comparison_of_numbers(enum comparison c, uint64_t is, uint64_t wanted);

#endif
