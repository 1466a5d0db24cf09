/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TESTS_SYSTEMD_ANALYZE_H
#define SUPD_TESTS_SYSTEMD_ANALYZE_H

/* systemd-analyze as a child. */

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* True if it is there and is of the version supd.time(7) compares with; else says so as TAP does.
 * ORACLE_ANY=1 takes any version. */
bool analyze_is_reference(void);

/* Runs @argv with TZ=@tz; its stdout is read from the result, its stderr is thrown away. */
FILE *analyze_start(char *const *argv, const char *tz, pid_t *ret_pid);
void analyze_finish(FILE *out, pid_t pid);

/* A number from the environment: how much to ask, and with which seed. */
unsigned long analyze_number(const char *variable, unsigned long otherwise);

/* Splits "   Label: value\n" in place; false if it is no such line. */
bool analyze_split(char *line, const char **ret_label, const char **ret_value);

#endif
