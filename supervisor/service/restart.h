/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_RESTART_H
#define SUPD_SERVICE_RESTART_H

/* Restart= and StartLimit*=: is a run that ended followed by another, and when is that too often.
 * Pure. The rules are those of systemd 252 for Type=oneshot. */

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "service/run_record.h"

struct exit_status_set;

enum restart_mode {
	RESTART_NO,
	RESTART_ON_FAILURE,
	RESTART_ON_ABNORMAL,
	RESTART_ON_ABORT,
	RESTART_ON_WATCHDOG
};
#define RESTART_MODE_COUNT (RESTART_ON_WATCHDOG + 1)

struct restart_policy {
	enum restart_mode mode;
	/* StartLimit*= was written: it holds for every start, not for restarts alone */
	bool has_limit;
	unsigned limit_burst; /* starts within limit_interval; either 0: no limit */
	usec_t limit_interval;
	usec_t delay;         /* RestartSec= */
	const struct exit_status_set *prevent, *force; /* of the main process; NULL: none */
};

/* What was started lately; all zero: nothing. */
struct start_limit {
	usec_t since; /* boot-time clock: the window's begin */
	unsigned n;
};

/* After a run with this result; @main_exited, @main_wstatus: of the main process. */
bool restart_is_due(const struct restart_policy *p, enum run_result result, bool main_exited,
		    int main_wstatus);

/* Counts a start at boot-time @now; false: it is one too many. */
bool start_limit_take(struct start_limit *l, const struct restart_policy *p, usec_t now);

const char *restart_mode_to_string(enum restart_mode m); /* "no", "on-failure" … */
bool restart_mode_from_string(const char *word, enum restart_mode *ret);

#endif
