/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_SAVER_H
#define SUPD_RUN_SAVER_H

/* State files, written beside the loop: one write at a time, and a newer save takes the place of
 * one that has not begun; both are answered, in order, when the newer is on disk. */

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "run/barrier.h"

struct saver;

/* From the loop; @result: 0, or a negative errno: what stood there before still stands. */
typedef void saver_done_fn(void *userdata, const char *plugin, uint64_t ticket, int result);

/* @dir: the state directory, lent; -1: there is none, everything is refused with -ENOTDIR. */
int saver_new(sd_event *event, int64_t priority, int dir, saver_done_fn *done, void *userdata,
	      struct saver **ret);
/* Writes what is queued; nobody is told. */
struct saver *saver_free(struct saver *s);

/* Copies. */
int saver_save(struct saver *s, const char *plugin, uint64_t ticket, const void *bytes, size_t n);
/* Behind what was saved last, be that written or queued; -ESTALE as the answer: that has failed, or
 * nothing was saved in this life. Those that wait are written as one. */
int saver_append(struct saver *s, const char *plugin, uint64_t ticket, const void *bytes, size_t n);
/* After everything queued; durable when it returns 0. */
int saver_save_now(struct saver *s, const char *plugin, const void *bytes, size_t n);
/* Generation 0 is the newest, 1 the one before. Gives. -ENOENT: none. */
int saver_load(struct saver *s, const char *plugin, unsigned generation, void **ret, size_t *ret_n);
int saver_set_aside(struct saver *s, const char *plugin, char *ret_name, size_t n);
/* For who has to wait until the write with @ticket is over, whatever came of it, and does not want
 * to be told from the loop. Nothing to wait for: it is over, or there was none. Good until
 * saver_free(). */
struct barrier_wait saver_wait(const struct saver *s, uint64_t ticket);
/* Returns when no write is going on: others may write to the directory until the loop goes on. */
void saver_settle(struct saver *s);

#endif
