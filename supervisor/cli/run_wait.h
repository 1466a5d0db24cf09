/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_RUN_WAIT_H
#define SUPD_CLI_RUN_WAIT_H

/* supctl run, once it is clear what is to be run: has the daemon begin it, shows what it prints as
 * it comes, and stops it when whoever waits wants no more of it. */

#include <stdbool.h>
#include <stddef.h>

#include "base/usec.h"

struct cli;
struct control_reply;
struct supd_row;

struct run_wait {
	const char *unit;          /* the service */
	const char *service_text, *timer_text;
	usec_t since;              /* what was printed before is another's, of the same name */
	bool shows;                /* what it prints */
	void (*tell)(const struct supd_row *row, size_t n); /* rows that come before it begins */
};

/* Waits for the end. 0, or the signal for which it was stopped: SIGINT, or SIGPIPE if nobody reads
 * what it prints. @ret is the caller's to end. */
int run_wait(struct cli *c, const struct run_wait *what, struct control_reply *ret);

/* Ends supctl by that signal, so that the shell sees it, too. */
void run_wait_die(int signal);

#endif
