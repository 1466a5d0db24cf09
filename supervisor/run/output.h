/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_OUTPUT_H
#define SUPD_RUN_OUTPUT_H

/* What services print: two pipes a process, read without ever waiting, a bounded part each turn of
 * the loop, and cut into lines. Each is kept (run/keeper), byte for byte, and, if so wanted, passed
 * on to the log with unit, run and stream, where a NUL ends a line as well. A line longer than
 * OUTPUT_LINE_MAX is split. "<3>" at its beginning sets its level, as sd-daemon(3) has it, unless
 * the service says that it means nothing. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define OUTPUT_LINE_MAX 16384
/* Read from one pipe in one turn: a flood is one guest among others. */
#define OUTPUT_TURN_MAX 32768

struct exec_streams;
struct keeper_run;
struct output;
struct outputs;

/* Who was not done when its run ended is heard for @grace more µs. @forwards: lines go to the log,
 * too; else only those of services that ask for it. */
int outputs_new(sd_event *event, int64_t priority, uint64_t grace, bool forwards,
		struct outputs **ret);
/* What stands in the pipes is read and logged; then they are closed. */
struct outputs *outputs_free(struct outputs *all);

/* Of one process. */
struct output_config {
	uint64_t token; /* names the run */
	const char *unit;
	const uint8_t *run_id; /* 16 bytes */
	const struct exec_streams *streams; /* what of it is captured, and how lines are recorded */
	struct keeper_run *kept; /* or NULL: nothing is; referenced */
};

/* The two ends to write to are given, -1 where nothing is captured; the caller closes them once the
 * child has them. Copies @config. *ret is NULL if nothing is captured at all. */
int output_new(struct outputs *all, const struct output_config *config, int *ret_out, int *ret_err,
	       struct output **ret);
/* The process has ended: what it had written before is logged when this returns, its last line too
 * if unfinished. Others may still hold the pipes: reading goes on, but @o is not the caller's any
 * more. */
void output_finish(struct output *o); /* NULL: nothing */
/* The run is over: what is still open of it goes at the end of its pipes, or after the grace
 * time. */
void outputs_leave(struct outputs *all, uint64_t token);

#endif
