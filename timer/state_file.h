/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_STATE_FILE_H
#define SUPD_TIMER_STATE_FILE_H

/* The bytes of timers.state: JSON, versioned, with a checksum over version and body, in an envelope
 * that is the same for every version: so an altered file is not taken for one of a newer version.
 * Bytes in, bytes out: the host keeps the file (whole, and the generation before it).
 *
 * Behind the whole stand lines that were added since, each with the records that had changed and a
 * checksum of its own: of one timer the last record counts. So a timer that elapses costs one small
 * write, however many there are. The last line may have been cut off by a crash, and is passed over
 * then: nobody had been told that it was durable. One that is damaged with a sound one behind it
 * was not cut off: the file is corrupt.
 *
 * Order of writes, by persist.c: an intent is in the file before its target is started; its end,
 * and every miss, at the latest a second after; all of it when the plugin stops. What is decided in
 * one loop turn shares one write. The file is written whole (by the host: a new one, in place of
 * the old) first of all in each life of the daemon, since stamps on the boot-time clock belong to
 * one; after a write that failed; when a timer has gone; when the lines have become as long as half
 * of the whole; and when the plugin stops. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timer/memory.h"

#define STATE_VERSION 1

/* Which life the stamps on the boot-time clock belong to. */
struct state_life {
	char boot_id[37];
	uint8_t daemon_id[16];
};

/* Lent. */
struct state_record {
	const char *name;
	const struct timer_memory *memory;
	usec_t gone_since; /* 0: the timer is there */
};

/* The whole file: @next yields records until it returns false. Gives. 0 or -ENOMEM. */
typedef bool state_next_fn(void *userdata, struct state_record *ret);
int state_encode(const struct state_life *life, usec_t now_real, state_next_fn *next,
		 void *userdata, char **ret, size_t *ret_n);

/* A line to be added, with these records; no gone_since. Gives. 0 or -ENOMEM. */
int state_encode_added(state_next_fn *next, void *userdata, char **ret, size_t *ret_n);

enum state_verdict {
	STATE_SOUND,
	STATE_CORRUPT, /* cut, altered, or not ours */
	STATE_NEWER,   /* written by a version that knows more: to be left alone */
	STATE_NO_MEMORY,
};

/* What the stamps are translated to. */
struct state_now {
	struct supd_now now;
	struct state_life life;
	/* else stamps from the future are left as they are: the clock will be set */
	bool is_clock_believed;
};

/* Calls @record for each timer, and once more for each later record of it. Stamps are of this boot
 * when it returns: those of an earlier one are counted back from the real-time clock, and lie
 * before zero. @gone_since is 0 for a timer that was there when the file was written. */
typedef int state_record_fn(void *userdata, const char *name, const struct timer_memory *m,
			    usec_t gone_since);
enum state_verdict state_decode(const void *bytes, size_t n, const struct state_now *now,
				state_record_fn *record, void *userdata);

#endif
