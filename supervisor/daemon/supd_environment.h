/* SPDX-License-Identifier: MIT */
#ifndef SUPD_DAEMON_SUPD_ENVIRONMENT_H
#define SUPD_DAEMON_SUPD_ENVIRONMENT_H

/* supctl env: the environment that a service's commands would get if it were started by hand
 * now. */

struct control_request;
struct supd_control;

void environment_ask(struct supd_control *c, const struct control_request *q);

#endif
