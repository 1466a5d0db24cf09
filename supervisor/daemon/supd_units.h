/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_UNITS_H
#define SUPD_SUPD_UNITS_H

/* What units there are, what they are, how they go: the verbs that only look. */

struct control_request;
struct supd_control;

void units_list(struct supd_control *c, const struct control_request *q);
void units_status(struct supd_control *c, const struct control_request *q);
void units_show(struct supd_control *c, const struct control_request *q);
void units_table(struct supd_control *c, const struct control_request *q);
void units_plan(struct supd_control *c, const struct control_request *q);

#endif
