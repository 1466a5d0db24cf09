/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_LOG_LINES_H
#define SUPD_CLI_LOG_LINES_H

/* Lines that services printed, from the daemon's rows or from the disk, for people or as JSON. */

#include <stdio.h>

#include "base/arena.h"
#include "store/run_log_record.h"

struct cli;
struct supd_row;

struct log_entry {
	const char *unit;
	struct run_log_record record;
};

/* A list in the making; all zero is an empty one. Texts are copied. */
struct log_lines {
	struct arena arena;
	struct log_entry *entry;
	size_t n;
};

void log_lines_done(struct log_lines *l);
/* 0 or -ENOMEM. */
int log_lines_add(struct log_lines *l, const char *unit, const struct run_log_record *record);
/* The same from a row of ReadOutput; one that makes no sense is left out. */
int log_lines_add_row(struct log_lines *l, const struct supd_row *row);
/* Several units' lines in the order of time, and of these the last @last; 0: all. */
void log_lines_sort(struct log_lines *l, size_t last);

/* "Nov 21 12:34:56 backup.service[1a2b3c4d] out: text"; with --json an object a line. */
void log_lines_print(const struct cli *c, const struct log_lines *l, FILE *f);
/* One as it was printed, byte for byte; on a terminal what could command it is escaped. Did it end
 * with a newline? */
bool log_lines_print_bare(const struct run_log_record *r, FILE *f);

#endif
