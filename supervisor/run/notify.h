/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_NOTIFY_H
#define SUPD_RUN_NOTIFY_H

/* The socket behind $NOTIFY_SOCKET: datagrams of at most NOTIFY_BYTES_MAX, each with the process
 * that the kernel says has sent it. Descriptors that come along are closed, which is also what
 * systemd-notify(1) waits for. Whose process it is is for the listener to find out. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct notify;

struct notify_sender {
	pid_t pid; /* in our namespace; 0: not to be seen from here */
	int pidfd; /* lent; -1: the kernel (before 6.5) does not give one */
};

/* Has the process that sent it not been reaped yet? What was found out by its number before is then
 * true of it. Where it cannot be told: yes. */
bool notify_sender_is_there(const struct notify_sender *from);

/* @message has room for one byte more, and may be changed. */
typedef void notify_fn(void *userdata, const struct notify_sender *from, char *message, size_t n);

/* Everybody may send to @path, lent; a socket that lies there is replaced. -ENAMETOOLONG: no
 * socket's address. */
int notify_new(sd_event *event, int64_t priority, const char *path, notify_fn *fn, void *userdata,
	       struct notify **ret);
struct notify *notify_free(struct notify *n);
/* What has arrived, now, and not in its turn; no more than a queue is long, and not for ever in one
 * turn of the loop. */
void notify_read(struct notify *n);

#endif
