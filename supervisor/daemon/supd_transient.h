/* SPDX-License-Identifier: MIT */
#ifndef SUPD_DAEMON_SUPD_TRANSIENT_H
#define SUPD_DAEMON_SUPD_TRANSIENT_H

/* Transient units, of supctl run: their files lie in <runtime dir>/supd/transient, the last
 * directory of the unit path, from when they are asked for until they are over: a service when its
 * run has ended, one with a timer when that will never elapse again, or was stopped. They outlive
 * the daemon, and with a timer they go on; a boot takes them away. */

#include <stdbool.h>
#include <systemd/sd-event.h>

struct control_request;
struct supd_control;
struct transients;
struct unit;

/* Opens or makes the directory below @socket_dir, and removes services whose run went with the
 * daemon before. Without a directory (it has been said why) nothing can be transient. 0 or
 * -ENOMEM. */
int transients_new(const char *socket_dir, struct transients **ret);
struct transients *transients_free(struct transients *t);
/* NULL: there is none. */
const char *transients_directory(const struct transients *t);
/* From here on they are removed when they are over. @c is lent. */
int transients_attach(struct transients *t, sd_event *event, struct supd_control *c);

/* CONTROL_RUN */
void transients_run(struct supd_control *c, const struct control_request *q);
/* CONTROL_STOP of a transient timer: removes it. False: it is none. */
bool transients_stop(struct supd_control *c, const struct control_request *q);
/* A run of it has ended, or it has become inactive. */
void transients_settled(struct supd_control *c, const struct unit *u);

#endif
