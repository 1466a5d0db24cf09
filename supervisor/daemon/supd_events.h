/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_EVENTS_H
#define SUPD_SUPD_EVENTS_H

/* What happens, as core/events.h knows it: said in the log, kept for a while, told to those who
 * follow. The last 1000 are kept, in at most 256 KiB. Who follows is told out of these: a reader
 * that is too slow loses the oldest, and is told how many; nothing else grows or waits for it. */

#include <stddef.h>
#include <stdint.h>

struct control_request;
struct event;
struct event_reader;
struct supd_control;
struct supd_row;
struct unit;

#define EVENTS_MAX 1000

/* All zero: nothing has happened yet. */
struct events {
	struct event *event[EVENTS_MAX]; /* each at its number modulo EVENTS_MAX */
	uint64_t first, next;            /* numbers: the oldest that is kept, and the next one */
	size_t bytes;
	struct event_reader *reader;
};

/* @unit, @run_id (16 bytes) and @fields may be NULL. All is copied; what memory does not suffice
 * for is only logged. */
struct happening {
	const char *type, *unit;
	const uint8_t *run_id;
	const struct supd_row *fields;
};
void events_tell(struct supd_control *c, const struct happening *h);
/* From the manager, or a plugin: a type that is not in the table, that has logged itself. */
void events_tell_plugin(struct supd_control *c, const char *type, const char *unit,
			const struct supd_row *fields);

/* ReadEvents. */
void events_read(struct supd_control *c, const struct control_request *q);
void events_done(struct events *e);

#endif
