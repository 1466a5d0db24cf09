/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TESTS_EXPRESSIONS_H
#define SUPD_TESTS_EXPRESSIONS_H

/* Random texts in and around the grammar of systemd.time(7); the same seed gives the same texts. */

#include <stddef.h>
#include <stdint.h>

/* Never 0. */
struct chance {
	uint64_t state;
};

uint64_t chance_next(struct chance *chance);
/* 0 … n - 1 */
unsigned chance_below(struct chance *chance, unsigned n);

/* A calendar expression; some are not valid. Without a newline. */
void expression_calendar(struct chance *chance, char *buf, size_t size);
void expression_timespan(struct chance *chance, char *buf, size_t size);
void expression_timestamp(struct chance *chance, char *buf, size_t size);

#endif
