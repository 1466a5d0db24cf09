/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_LOGS_H
#define SUPD_SUPD_LOGS_H

/* Answers what services have printed. The disk is read by the keeper's thread, a part at a time,
 * and the next part when the caller has taken the one before; who follows is given more as soon as
 * more has been written. */

struct control_request;
struct supd_control;
struct log_reading;

/* All zero: nobody reads. */
struct logs {
	struct log_reading *reading;
};

void logs_read(struct supd_control *c, const struct control_request *q);
/* The keeper is to say what it has written; @c has it. */
void logs_listen(struct supd_control *c);
/* What a thread still has goes when that is done. */
void logs_done(struct logs *l);

#endif
