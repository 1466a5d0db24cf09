/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_SCANNER_H
#define SUPD_RUN_SCANNER_H

/* Unit directories looked at beside the loop: very many files take a while, and a dead mount for
 * ever. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct scanner;
struct unit_files;

/* @files: lent */
int scanner_new(sd_event *event, int64_t priority, struct unit_files *files, struct scanner **ret);
/* False: a thread hangs, and has the files until the process ends. */
bool scanner_free(struct scanner *s);

/* @done is called from the loop, once the files have been given what was found. -EBUSY: one is at
 * work. */
int scanner_begin(struct scanner *s, unsigned kinds, void (*done)(void *userdata), void *userdata);

#endif
