/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_OUTPUT_H
#define SUPD_RUN_OUTPUT_H

/* What services print: two pipes a process, read without ever waiting, a bounded part each turn of the loop, cut into
 * lines, and handed to the log with unit, run and stream. A newline ends a line, and so does a NUL; a line longer than
 * OUTPUT_LINE_MAX is split. "<3>" at its beginning sets its level, as sd-daemon(3) has it. */

#include <stdint.h>
#include <systemd/sd-event.h>

#define OUTPUT_LINE_MAX 16384
/* Read from one pipe in one turn: a flood is one guest among others. */
#define OUTPUT_TURN_MAX 65536

struct output;
struct outputs;

/* Who was not done when its run ended is heard for @grace more µs. */
int outputs_new(sd_event *event, int64_t priority, uint64_t grace, struct outputs **ret);
/* What stands in the pipes is read and logged; then they are closed. */
struct outputs *outputs_free(struct outputs *all);

/* The two ends to write to are given; the caller closes them once the child has them. @token: names the run. */
int output_new(struct outputs *all, uint64_t token, const char *unit, const uint8_t run_id[16], int *ret_out,
	       int *ret_err, struct output **ret);
/* The process has ended: what it had written before is logged when this returns, its last line too if unfinished. Others
 * may still hold the pipes: reading goes on, but @o is not the caller's any more. */
void output_finish(struct output *o);
/* The run is over: what is still open of it goes at the end of its pipes, or after the grace time. */
void outputs_leave(struct outputs *all, uint64_t token);

#endif
