/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_STREAMS_H
#define SUPD_RUN_STREAMS_H

/* The three descriptors a process begins with, from what StandardInput= and the others ask for.
 * Opened by the daemon itself, before the process becomes its user, as systemd does; in a worker's
 * thread, for a file may be far away. Nobody is waited for who might open the other end of a
 * FIFO. */

#include <stdbool.h>
#include <sys/types.h>

#include "service/exec_streams.h"
#include "service/run_record.h"

struct streams {
	int in, out, err;  /* one may stand in several places */
	bool has_terminal; /* in is a terminal to be that of the session */
	bool force_terminal;
	int owned[3];      /* to be closed; -1 */
};

/* @pipe_out, @pipe_err: lent; used where output is captured. @umask: for files that are made. @uid:
 * whose the terminal shall be; -1: it stays as it is. 0, or a negative errno and the step it
 * belongs to. */
int streams_open(const struct exec_streams *s, int pipe_out, int pipe_err, mode_t umask, uid_t uid,
		 struct streams *ret, enum exec_step *reterr_step);
void streams_close(struct streams *s);

#endif
