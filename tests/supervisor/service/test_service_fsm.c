/* SPDX-License-Identifier: MIT */
#include "service/service_fsm.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "tests/lib/test_main.h"
#include "tests/supervisor/service/spec_text.h"

#define SEC USEC_PER_SEC
#define NONE 0 /* no deadline */

/* ---- scripts: the specification ---- */

/* What happens at a second, and what must come of it. Effects are written as text, each with its blank before:
 *	" spawn start 0"  " kill tree TERM"  " kill main KILL"  " watch"  " ended"
 * Ending the tree is long to write: TERM_TREE, TERM_MAIN, KILL_TREE. */
struct row {
	const char *event;
	unsigned at;
	const char *state;
	unsigned deadline;
	const char *effects;
};
#define TERM_TREE " kill tree TERM kill tree CONT watch"
#define TERM_MAIN " kill main TERM kill main CONT"
#define KILL_TREE " kill tree KILL watch"

#define ROWS_MAX 24
struct script {
	const char *name;
	const char *spec;
	struct row row[ROWS_MAX];
	const char *result; /* at the end: result and status */
};

static const struct script scripts[] = {
	{
		"one command that succeeds: the tree is seen empty before the end",
		"ExecStart=a",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 0", 5, "stop-sigterm", 95, TERM_TREE },
			{ "empty", 6, "dead", NONE, " ended" },
			{ "empty", 6, "dead", NONE, "" },
		},
		"success 0",
	},
	{
		"each phase in its order, each command after the one before",
		"ExecCondition=c\nExecStartPre=p\nExecStartPre=p\nExecStart=a\nExecStart=b\nExecStartPost=q\n"
		"ExecStop=s\nExecStop=s\nExecStopPost=z\nTimeoutStartSec=60\nTimeoutStopSec=10",
		{
			{ "start", 1, "condition", 61, " spawn condition 0" },
			{ "spawned", 1, "condition", 61, "" },
			{ "exit 0", 2, "start-pre", 62, " spawn start-pre 0" },
			{ "spawned", 2, "start-pre", 62, "" },
			{ "exit 0", 3, "start-pre", 63, " spawn start-pre 1" },
			{ "spawned", 3, "start-pre", 63, "" },
			{ "exit 0", 4, "start", 64, " spawn start 0" },
			{ "spawned", 4, "start", 64, "" },
			{ "exit 0", 5, "start", 65, " spawn start 1" },
			{ "spawned", 5, "start", 65, "" },
			{ "exit 0", 6, "start-post", 66, " spawn start-post 0" },
			{ "spawned", 6, "start-post", 66, "" },
			{ "exit 0", 7, "stop", 17, " spawn stop 0" },
			{ "spawned", 7, "stop", 17, "" },
			{ "exit 0", 8, "stop", 18, " spawn stop 1" },
			{ "spawned", 8, "stop", 18, "" },
			{ "exit 0", 9, "stop-sigterm", 19, TERM_TREE },
			{ "empty", 10, "stop-post", 20, " spawn stop-post 0" },
			{ "spawned", 10, "stop-post", 20, "" },
			{ "exit 0", 11, "final-sigterm", 21, TERM_TREE },
			{ "empty", 12, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"a failing main command: no further one, no ExecStartPost=, no ExecStop=, but ExecStopPost=",
		"ExecStart=a\nExecStart=b\nExecStartPost=q\nExecStop=s\nExecStopPost=z",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 3", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "stop-post", 92, " spawn stop-post 0" },
			{ "spawned", 2, "stop-post", 92, "" },
			{ "exit 0", 2, "final-sigterm", 92, TERM_TREE },
			{ "empty", 2, "failed", NONE, " ended" },
		},
		"exit-code 3",
	},
	{
		"the first failure is the result, a later one is not",
		"ExecStart=a\nExecStopPost=z",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "signal SEGV", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "stop-post", 92, " spawn stop-post 0" },
			{ "spawned", 2, "stop-post", 92, "" },
			{ "exit 9", 2, "final-sigterm", 92, TERM_TREE },
			{ "empty", 2, "failed", NONE, " ended" },
		},
		"signal 11",
	},
	{
		"a failing ExecStopPost= fails a run that was well",
		"ExecStart=a\nExecStopPost=z\nExecStopPost=y",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 0", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "stop-post", 92, " spawn stop-post 0" },
			{ "spawned", 2, "stop-post", 92, "" },
			{ "exit 9", 3, "final-sigterm", 93, TERM_TREE },
			{ "empty", 3, "failed", NONE, " ended" },
		},
		"exit-code 9",
	},
	{
		"a core dump has its own word",
		"ExecStart=a",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "core ABRT", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "failed", NONE, " ended" },
		},
		"core-dump 6",
	},
	{
		"death by a SIGTERM that is not ours is a failure",
		"ExecStart=a",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "signal TERM", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "failed", NONE, " ended" },
		},
		"signal 15",
	},
	{
		"a command that loses a process to the want of memory has failed, however it ends",
		"ExecStart=-a\nExecStart=b\nExecStopPost=z\nExecStopPost=y",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "oom 0", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "stop-post", 92, " spawn stop-post 0" },
			{ "spawned", 2, "stop-post", 92, "" },
			{ "exit 0", 2, "stop-post", 92, " spawn stop-post 1" },
			{ "spawned", 2, "stop-post", 92, "" },
			{ "exit 0", 2, "final-sigterm", 92, TERM_TREE },
			{ "empty", 2, "failed", NONE, " ended" },
		},
		"oom-kill 9",
	},
	{
		"SuccessExitStatus= takes codes and signals for success",
		"ExecStart=a\nExecStart=b\nSuccessExitStatus=3 SIGTERM",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 3", 2, "start", NONE, " spawn start 1" },
			{ "spawned", 2, "start", NONE, "" },
			{ "signal TERM", 3, "stop-sigterm", 93, TERM_TREE },
			{ "empty", 3, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"'-' passes over a failure, a signal and a program that cannot be executed",
		"ExecStartPre=-p\nExecStart=-a\nExecStart=-b\nExecStart=-c",
		{
			{ "start", 1, "start-pre", NONE, " spawn start-pre 0" },
			{ "spawned", 1, "start-pre", NONE, "" },
			{ "exit 1", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "signal KILL", 1, "start", NONE, " spawn start 1" },
			{ "failed exec 2", 1, "start", NONE, " spawn start 2" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 0", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"'-' does not pass over what supd lacks",
		"ExecStart=-a",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "failed fork 11", 1, "failed", NONE, " ended" },
		},
		"resources 11",
	},
	{
		"nor over an environment file that cannot be read",
		"ExecStart=-a",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "failed environment 2", 1, "failed", NONE, " ended" },
		},
		"exec 2",
	},
	{
		"no process at all: nothing to end, no ExecStopPost=",
		"ExecStart=a\nExecStopPost=z",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "failed fork 12", 1, "failed", NONE, " ended" },
		},
		"resources 12",
	},
	{
		"a program that cannot be executed fails the run with the step, and ExecStopPost= follows",
		"ExecStart=a\nExecStopPost=z",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "failed user 2", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "stop-post", 91, " spawn stop-post 0" },
			{ "failed user 2", 1, "final-sigterm", 91, TERM_TREE },
			{ "empty", 1, "failed", NONE, " ended" },
		},
		"exec 2",
	},
	{
		"SuccessExitStatus=EXEC takes even that for success, as in systemd",
		"ExecStart=a\nSuccessExitStatus=EXEC",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "failed exec 2", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"conditions that hold: then the run goes on as any other, with its deadlines anew",
		"[Unit]\nConditionPathExists=/x\n[Service]\nExecCondition=c\nExecStart=a\nTimeoutStartSec=60",
		{
			{ "start", 1, "check", 61, " check" },
			{ "start", 2, "check", 61, "" },
			{ "spawned", 2, "check", 61, "" },
			{ "checked hold", 3, "condition", 63, " spawn condition 0" },
			{ "checked skip", 3, "condition", 63, "" },
			{ "spawned", 3, "condition", 63, "" },
			{ "exit 0", 4, "start", 64, " spawn start 0" },
			{ "spawned", 4, "start", 64, "" },
			{ "exit 0", 5, "stop-sigterm", 95, TERM_TREE },
			{ "empty", 5, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"a condition that is not met: no process, no ExecStopPost=, no failure",
		"[Unit]\nConditionPathExists=/x\n[Service]\nExecStart=a\nExecStopPost=z",
		{
			{ "start", 1, "check", NONE, " check" },
			{ "checked skip", 2, "dead", NONE, " ended" },
			{ "checked hold", 2, "dead", NONE, "" },
		},
		"exec-condition 0",
	},
	{
		"an assert that is not met: no process, and a failure",
		"[Unit]\nAssertPathExists=/x\n[Service]\nExecStart=a\nExecStopPost=z",
		{
			{ "start", 1, "check", NONE, " check" },
			{ "checked fail", 2, "failed", NONE, " ended" },
			{ "start", 3, "check", NONE, " check" },
			{ "checked fail", 4, "failed", NONE, " ended" },
		},
		"assert 0",
	},
	{
		"conditions that cannot be looked at: supd lacks something",
		"[Unit]\nConditionPathExists=/x\n[Service]\nExecStart=a",
		{
			{ "start", 1, "check", NONE, " check" },
			{ "checked hold 12", 1, "failed", NONE, " ended" },
		},
		"resources 12",
	},
	{
		"a stop while conditions are looked at waits for nobody",
		"[Unit]\nConditionPathExists=/x\n[Service]\nExecStart=a\nExecStopPost=z",
		{
			{ "start", 1, "check", NONE, " check" },
			{ "stop", 2, "dead", NONE, " ended" },
			{ "checked hold", 3, "dead", NONE, "" },
		},
		"stopped 0",
	},
	{
		"a look that hangs is a start-up that takes too long",
		"[Unit]\nConditionPathExists=/x\n[Service]\nExecStart=a\nTimeoutStartSec=60",
		{
			{ "start", 1, "check", 61, " check" },
			{ "deadline", 60, "check", 61, "" },
			{ "deadline", 61, "failed", NONE, " ended" },
			{ "checked hold", 62, "failed", NONE, "" },
		},
		"timeout 0",
	},
	{
		"a condition that says no skips the run; ExecStopPost= runs",
		"ExecCondition=c\nExecCondition=d\nExecStart=a\nExecStop=s\nExecStopPost=z",
		{
			{ "start", 1, "condition", NONE, " spawn condition 0" },
			{ "spawned", 1, "condition", NONE, "" },
			{ "exit 0", 1, "condition", NONE, " spawn condition 1" },
			{ "spawned", 1, "condition", NONE, "" },
			{ "exit 254", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "stop-post", 91, " spawn stop-post 0" },
			{ "spawned", 1, "stop-post", 91, "" },
			{ "exit 7", 1, "final-sigterm", 91, TERM_TREE },
			{ "empty", 1, "dead", NONE, " ended" },
		},
		"exec-condition 254",
	},
	{
		"a condition's 255 is a failure",
		"ExecCondition=c\nExecStart=a",
		{
			{ "start", 1, "condition", NONE, " spawn condition 0" },
			{ "spawned", 1, "condition", NONE, "" },
			{ "exit 255", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "failed", NONE, " ended" },
		},
		"exit-code 255",
	},
	{
		"a condition killed by a signal is a failure",
		"ExecCondition=c\nExecStart=a",
		{
			{ "start", 1, "condition", NONE, " spawn condition 0" },
			{ "spawned", 1, "condition", NONE, "" },
			{ "signal TERM", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "failed", NONE, " ended" },
		},
		"signal 15",
	},
	{
		"a condition that cannot be run is a failure, not a no",
		"ExecCondition=c\nExecStart=a",
		{
			{ "start", 1, "condition", NONE, " spawn condition 0" },
			{ "failed exec 2", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "failed", NONE, " ended" },
		},
		"exec 2",
	},
	{
		"a condition with '-' never says no",
		"ExecCondition=-c\nExecStart=a",
		{
			{ "start", 1, "condition", NONE, " spawn condition 0" },
			{ "spawned", 1, "condition", NONE, "" },
			{ "exit 1", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 0", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"a failing ExecStartPre= keeps ExecStart= from starting",
		"ExecStartPre=p\nExecStart=a",
		{
			{ "start", 1, "start-pre", NONE, " spawn start-pre 0" },
			{ "spawned", 1, "start-pre", NONE, "" },
			{ "exit 1", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "failed", NONE, " ended" },
		},
		"exit-code 1",
	},
	{
		"a failing ExecStartPost= fails the run, without ExecStop=",
		"ExecStart=a\nExecStartPost=q\nExecStop=s",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 0", 1, "start-post", NONE, " spawn start-post 0" },
			{ "spawned", 1, "start-post", NONE, "" },
			{ "exit 1", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 1, "failed", NONE, " ended" },
		},
		"exit-code 1",
	},
	{
		"RemainAfterExit=: the run ends, the service stays; a stop runs ExecStop= and tells its end",
		"ExecStart=a\nExecStop=s\nRemainAfterExit=yes\nTimeoutStartSec=50",
		{
			{ "start", 1, "start", 51, " spawn start 0" },
			{ "spawned", 1, "start", 51, "" },
			{ "exit 0", 2, "exited", NONE, " ended" },
			{ "deadline", 60, "exited", NONE, "" },
			{ "start", 61, "exited", NONE, "" },
			{ "stop", 70, "stop", 160, " spawn stop 0" },
			{ "spawned", 70, "stop", 160, "" },
			{ "stop", 71, "stop", 160, "" },
			{ "exit 0", 71, "stop-sigterm", 161, TERM_TREE },
			{ "empty", 71, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"a failing ExecStop= makes a service failed that had been well",
		"ExecStop=s\nRemainAfterExit=yes",
		{
			{ "start", 1, "exited", NONE, " ended" },
			{ "stop", 70, "stop", 160, " spawn stop 0" },
			{ "spawned", 70, "stop", 160, "" },
			{ "exit 4", 71, "stop-sigterm", 161, TERM_TREE },
			{ "empty", 71, "failed", NONE, " ended" },
		},
		"exit-code 4",
	},
	{
		"RemainAfterExit= does not keep what failed",
		"ExecStart=a\nRemainAfterExit=yes",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 1", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 3, "failed", NONE, " ended" },
		},
		"exit-code 1",
	},
	{
		"each command of the start-up has TimeoutStartSec= of its own, as in systemd",
		"ExecStartPre=p\nExecStart=a\nTimeoutStartSec=10",
		{
			{ "start", 100, "start-pre", 110, " spawn start-pre 0" },
			{ "spawned", 100, "start-pre", 110, "" },
			{ "exit 0", 107, "start", 117, " spawn start 0" },
			{ "spawned", 107, "start", 117, "" },
			{ "deadline", 110, "start", 117, "" },
			{ "deadline", 117, "stop-sigterm", 207, TERM_TREE },
			{ "signal TERM", 118, "stop-sigterm", 207, "" },
			{ "empty", 118, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"who ignores SIGTERM gets SIGKILL after TimeoutStopSec=",
		"ExecStart=a\nTimeoutStartSec=10\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", 10, " spawn start 0" },
			{ "spawned", 0, "start", 10, "" },
			{ "deadline", 10, "stop-sigterm", 15, TERM_TREE },
			{ "deadline", 14, "stop-sigterm", 15, "" },
			{ "deadline", 15, "stop-sigkill", 20, " kill tree KILL" },
			{ "signal KILL", 16, "stop-sigkill", 20, "" },
			{ "empty", 16, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"TimeoutStopSec=infinity waits for ever",
		"ExecStart=a\nTimeoutStopSec=infinity",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 10, "stop-sigterm", NONE, TERM_TREE },
			{ "deadline", 100000, "stop-sigterm", NONE, "" },
			{ "signal TERM", 100000, "stop-sigterm", NONE, "" },
			{ "empty", 100000, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"a process left by a job that was well is ended; if it does not go, the run has timed out",
		"ExecStart=a\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "exit 0", 1, "stop-sigterm", 6, TERM_TREE },
			{ "deadline", 6, "stop-sigkill", 11, " kill tree KILL" },
			{ "empty", 6, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"what SIGKILL cannot end is left behind after another TimeoutStopSec=, without ExecStopPost= to meet it",
		"ExecStart=a\nExecStopPost=z\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 6, TERM_TREE },
			{ "deadline", 6, "stop-sigkill", 11, " kill tree KILL" },
			{ "deadline", 11, "dead", NONE, " ended" },
			{ "signal KILL", 12, "dead", NONE, "" },
			{ "empty", 12, "dead", NONE, "" },
		},
		"stopped 0",
	},
	{
		"a leftover that SIGKILL cannot end does not keep ExecStopPost= away",
		"ExecStart=a\nExecStopPost=z\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "exit 0", 1, "stop-sigterm", 6, TERM_TREE },
			{ "deadline", 6, "stop-sigkill", 11, " kill tree KILL" },
			{ "deadline", 11, "stop-post", 16, " spawn stop-post 0" },
			{ "spawned", 11, "stop-post", 16, "" },
			{ "exit 0", 12, "final-sigterm", 17, " kill tree TERM kill tree CONT" },
			{ "empty", 13, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"a stop request before the start-up is done: stopped, however the process dies",
		"ExecStart=a\nExecStop=s\nExecStopPost=z",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 91, TERM_TREE },
			{ "stop", 2, "stop-sigterm", 91, "" },
			{ "exit 1", 3, "stop-sigterm", 91, "" },
			{ "empty", 3, "stop-post", 93, " spawn stop-post 0" },
			{ "spawned", 3, "stop-post", 93, "" },
			{ "exit 0", 4, "final-sigterm", 94, TERM_TREE },
			{ "empty", 4, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"a stop request while a spawn is unanswered waits for the answer",
		"ExecStart=a\nTimeoutStartSec=10",
		{
			{ "start", 0, "start", 10, " spawn start 0" },
			{ "stop", 1, "start", NONE, " cancel" },
			{ "stop", 2, "start", NONE, "" },
			{ "deadline", 11, "start", NONE, "" },
			{ "spawned", 12, "stop-sigterm", 102, TERM_TREE },
			{ "signal TERM", 12, "stop-sigterm", 102, "" },
			{ "empty", 12, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"a stop request before a spawn that fails: stopped all the same",
		"ExecStart=a",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "stop", 1, "start", NONE, " cancel" },
			{ "failed fork 11", 1, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"the deadline may pass while a spawn is unanswered",
		"ExecStart=a\nTimeoutStartSec=10",
		{
			{ "start", 0, "start", 10, " spawn start 0" },
			{ "deadline", 10, "start", NONE, " cancel" },
			{ "deadline", 11, "start", NONE, "" },
			{ "spawned", 12, "stop-sigterm", 102, TERM_TREE },
			{ "signal TERM", 12, "stop-sigterm", 102, "" },
			{ "empty", 12, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"an ExecStop= that hangs: the rest of them is left out",
		"ExecStop=s\nExecStop=t\nRemainAfterExit=yes\nTimeoutStopSec=5",
		{
			{ "start", 0, "exited", NONE, " ended" },
			{ "stop", 1, "stop", 6, " spawn stop 0" },
			{ "spawned", 1, "stop", 6, "" },
			{ "deadline", 6, "stop-sigterm", 11, TERM_TREE },
			{ "signal TERM", 7, "stop-sigterm", 11, "" },
			{ "empty", 7, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"an ExecStopPost= that hangs is ended, too",
		"ExecStart=a\nExecStopPost=z\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "exit 0", 1, "stop-sigterm", 6, TERM_TREE },
			{ "empty", 1, "stop-post", 6, " spawn stop-post 0" },
			{ "spawned", 1, "stop-post", 6, "" },
			{ "stop", 2, "stop-post", 6, "" },
			{ "deadline", 6, "final-sigterm", 11, TERM_TREE },
			{ "deadline", 11, "final-sigkill", 16, " kill tree KILL" },
			{ "signal KILL", 11, "final-sigkill", 16, "" },
			{ "empty", 11, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"the tree told empty before the process's own exit is asked for again",
		"ExecStart=a",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 2, "stop-sigterm", 91, "" },
			{ "signal TERM", 2, "stop-sigterm", 91, " watch" },
			{ "empty", 2, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"KillMode=mixed: the main process is asked, the rest killed once it has gone",
		"ExecStart=a\nKillMode=mixed\nKillSignal=SIGINT\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 6, " kill main INT kill main CONT" },
			{ "signal INT", 2, "stop-sigkill", 7, KILL_TREE },
			{ "empty", 2, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"KillMode=mixed: all are killed when the main process does not go",
		"ExecStart=a\nKillMode=mixed\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 6, TERM_MAIN },
			{ "deadline", 6, "stop-sigkill", 11, KILL_TREE },
			{ "empty", 6, "stop-sigkill", 11, "" },
			{ "signal KILL", 6, "stop-sigkill", 11, " watch" },
			{ "empty", 6, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"KillMode=mixed: what a job that was well leaves is killed at once",
		"ExecStart=a\nKillMode=mixed",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "exit 0", 1, "stop-sigkill", 91, KILL_TREE },
			{ "empty", 1, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"KillMode=mixed with SendSIGKILL=no leaves the rest alone",
		"ExecStart=a\nKillMode=mixed\nSendSIGKILL=no",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 91, TERM_MAIN },
			{ "signal TERM", 1, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"KillMode=process: only the main process, and nobody else is waited for",
		"ExecStart=a\nExecStopPost=z\nKillMode=process\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 6, TERM_MAIN },
			{ "deadline", 6, "stop-sigkill", 11, " kill main KILL" },
			{ "signal KILL", 6, "stop-post", 11, " spawn stop-post 0" },
			{ "spawned", 6, "stop-post", 11, "" },
			{ "exit 0", 7, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"KillMode=process: a job that ends ends the run",
		"ExecStart=a\nKillMode=process",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "exit 0", 1, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"KillMode=none: a stop signals nobody and waits for nobody",
		"ExecStart=a\nExecStopPost=z\nKillMode=none",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "dead", NONE, " ended" },
			{ "exit 0", 2, "dead", NONE, "" },
		},
		"stopped 0",
	},
	{
		"KillMode=none: a job that ends is followed by ExecStopPost=",
		"ExecStart=a\nExecStopPost=z\nKillMode=none",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "exit 0", 1, "stop-post", 91, " spawn stop-post 0" },
			{ "spawned", 1, "stop-post", 91, "" },
			{ "exit 0", 1, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"SendSIGKILL=no gives up instead",
		"ExecStart=a\nExecStopPost=z\nSendSIGKILL=no\nTimeoutStartSec=5\nTimeoutStopSec=5",
		{
			{ "start", 0, "start", 5, " spawn start 0" },
			{ "spawned", 0, "start", 5, "" },
			{ "deadline", 5, "stop-sigterm", 10, TERM_TREE },
			{ "deadline", 10, "failed", NONE, " ended" },
		},
		"timeout 0",
	},
	{
		"SendSIGHUP=yes: a SIGHUP right behind KillSignal=",
		"ExecStart=a\nSendSIGHUP=yes",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 91, " kill tree TERM kill tree HUP kill tree CONT watch" },
			{ "signal TERM", 1, "stop-sigterm", 91, "" },
			{ "empty", 1, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"KillSignal=SIGHUP is sent once, SIGKILL wakes without SIGCONT",
		"ExecStart=a\nSendSIGHUP=yes\nKillSignal=SIGHUP",
		{
			{ "start", 0, "start", NONE, " spawn start 0" },
			{ "spawned", 0, "start", NONE, "" },
			{ "stop", 1, "stop-sigterm", 91, " kill tree HUP kill tree CONT watch" },
			{ "deadline", 91, "stop-sigkill", 181, " kill tree KILL" },
			{ "signal KILL", 91, "stop-sigkill", 181, "" },
			{ "empty", 91, "dead", NONE, " ended" },
		},
		"stopped 0",
	},
	{
		"a reload that takes RemainAfterExit= away stops what remained; of a run that goes on it changes nothing",
		"ExecStop=s\nRemainAfterExit=yes",
		{
			{ "start", 0, "exited", NONE, " ended" },
			{ "changed", 1, "exited", NONE, "" },
			{ "remain no", 2, "exited", NONE, "" },
			{ "changed", 2, "stop", 92, " spawn stop 0" },
			{ "changed", 3, "stop", 92, "" },
			{ "spawned", 3, "stop", 92, "" },
			{ "exit 0", 3, "stop-sigterm", 93, TERM_TREE },
			{ "empty", 3, "dead", NONE, " ended" },
			{ "changed", 4, "dead", NONE, "" },
		},
		"success 0",
	},
	{
		"events out of place change nothing",
		"ExecStart=a\nTimeoutStartSec=9",
		{
			{ "stop", 0, "dead", NONE, "" },
			{ "spawned", 0, "dead", NONE, "" },
			{ "failed exec 2", 0, "dead", NONE, "" },
			{ "exit 1", 0, "dead", NONE, "" },
			{ "empty", 0, "dead", NONE, "" },
			{ "deadline", 0, "dead", NONE, "" },
			{ "changed", 0, "dead", NONE, "" },
			{ "start", 1, "start", 10, " spawn start 0" },
			{ "exit 1", 1, "start", 10, "" },
			{ "start", 1, "start", 10, "" },
			{ "empty", 1, "start", 10, "" },
			{ "spawned", 1, "start", 10, "" },
			{ "spawned", 1, "start", 10, "" },
			{ "failed exec 2", 1, "start", 10, "" },
			{ "start", 2, "start", 10, "" },
			{ "exit 1", 2, "stop-sigterm", 92, TERM_TREE },
			{ "exit 0", 2, "stop-sigterm", 92, "" },
			{ "start", 2, "stop-sigterm", 92, "" },
			{ "empty", 2, "failed", NONE, " ended" },
			{ "stop", 3, "failed", NONE, "" },
		},
		"exit-code 1",
	},
	{
		"more time counts from when it was asked for, is never less, and ends with the command",
		"ExecStart=a\nExecStart=b\nTimeoutStartSec=10\nTimeoutStopSec=5",
		{
			{ "extend 60", 0, "dead", NONE, "" },
			{ "start", 1, "start", 11, " spawn start 0" },
			{ "extend 20", 2, "start", 22, "" },
			{ "spawned", 2, "start", 22, "" },
			{ "extend 5", 3, "start", 22, "" },
			{ "deadline", 11, "start", 22, "" },
			{ "extend 10", 20, "start", 30, "" },
			{ "exit 0", 25, "start", 35, " spawn start 1" },
			{ "spawned", 25, "start", 35, "" },
			{ "deadline", 35, "stop-sigterm", 40, TERM_TREE },
			{ "extend 30", 36, "stop-sigterm", 66, "" },
			{ "signal TERM", 37, "stop-sigterm", 66, "" },
			{ "empty", 37, "failed", NONE, " ended" },
			{ "extend 60", 38, "failed", NONE, "" },
		},
		"timeout 0",
	},
	{
		"where there is no limit, more time makes none",
		"ExecStart=a\nRemainAfterExit=yes",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "extend 20", 2, "start", NONE, "" },
			{ "exit 0", 3, "exited", NONE, " ended" },
			{ "extend 20", 4, "exited", NONE, "" },
		},
		"success 0",
	},
	{
		"a start after a failure begins afresh",
		"ExecStart=a\nTimeoutStartSec=9",
		{
			{ "start", 1, "start", 10, " spawn start 0" },
			{ "spawned", 1, "start", 10, "" },
			{ "exit 1", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "failed", NONE, " ended" },
			{ "start", 20, "start", 29, " spawn start 0" },
			{ "spawned", 20, "start", 29, "" },
			{ "exit 0", 22, "stop-sigterm", 112, TERM_TREE },
			{ "empty", 22, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"a failure with Restart= is followed by another run after RestartSec=",
		"ExecStart=a\nRestart=on-failure\nRestartSec=5",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 3", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "auto-restart", 7, " ended" },
			{ "deadline", 6, "auto-restart", 7, "" },
			{ "deadline", 7, "auto-restart", NONE, " restart" },
			{ "start", 7, "start", NONE, " spawn start 0" },
			{ "spawned", 7, "start", NONE, "" },
			{ "exit 0", 8, "stop-sigterm", 98, TERM_TREE },
			{ "empty", 8, "dead", NONE, " ended" },
		},
		"success 0",
	},
	{
		"a restart that is refused leaves the failure as it was",
		"ExecStart=a\nRestart=on-failure\nRestartSec=5",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "failed exec 2", 1, "stop-sigterm", 91, TERM_TREE },
			{ "empty", 2, "auto-restart", 7, " ended" },
			{ "deadline", 7, "auto-restart", NONE, " restart" },
			{ "refused", 7, "failed", NONE, " ended" },
			{ "deadline", 8, "failed", NONE, "" },
		},
		"exec 2",
	},
	{
		"a stop while a restart is waited for leaves it dead",
		"ExecStart=a\nRestart=on-failure\nRestartSec=5",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 3", 2, "stop-sigterm", 92, TERM_TREE },
			{ "empty", 2, "auto-restart", 7, " ended" },
			{ "stop", 3, "dead", NONE, " ended" },
			{ "deadline", 7, "dead", NONE, "" },
		},
		"exit-code 3",
	},
	{
		"a stop asked for while a failed run is being ended keeps it from being restarted",
		"ExecStart=a\nRestart=on-failure",
		{
			{ "start", 1, "start", NONE, " spawn start 0" },
			{ "spawned", 1, "start", NONE, "" },
			{ "exit 3", 2, "stop-sigterm", 92, TERM_TREE },
			{ "stop", 2, "stop-sigterm", 92, "" },
			{ "empty", 3, "failed", NONE, " ended" },
		},
		"exit-code 3",
	},
	{
		"what is not mounted is a dependency that failed, and not restarted",
		"ExecStart=a\nRestart=on-failure\n[Unit]\nRequiresMountsFor=/mnt",
		{
			{ "start", 1, "check", NONE, " check" },
			{ "checked unmounted", 2, "failed", NONE, " ended" },
		},
		"dependency 0",
	},
	{
		"a run that is refused fails without having begun",
		"ExecStart=a",
		{
			{ "refused", 1, "failed", NONE, " ended" },
			{ "reset", 1, "dead", NONE, "" },
			{ "refused", 2, "failed", NONE, " ended" },
			{ "start", 3, "start", NONE, " spawn start 0" },
			{ "refused", 4, "start", NONE, "" },
			{ "reset", 4, "start", NONE, "" },
		},
		"none 0",
	},
};

static const char *const phase_names[] = { "condition", "start-pre", "start", "start-post", "stop", "stop-post" };
static_assert(ELEMENTS(phase_names) == EXEC_PHASE_COUNT, "a name for each phase");

static enum exec_step step_from_string(const char *word)
{
	for (int i = 0; i < EXEC_STEP_COUNT; i++)
		if (str_equal(word, exec_step_to_string((enum exec_step) i)))
			return (enum exec_step) i;
	ck_abort_msg("no step %s", word);
	return EXEC_STEP_NONE;
}

static struct service_event event_from_text(const char *text)
{
	struct service_event ev = { .kind = SVC_DEADLINE };
	char word[16], argument[16] = "";
	int number = 0, n = sscanf(text, "%15s %15s %d", word, argument, &number), signal = 0;

	(void) value_signal(argument, &signal);
	if (str_equal(word, "start"))
		ev.kind = SVC_START_REQUEST;
	else if (str_equal(word, "stop"))
		ev.kind = SVC_STOP_REQUEST;
	else if (str_equal(word, "checked"))
		ev = (struct service_event) {
			.kind = SVC_CHECKED,
			.outcome = str_equal(argument, "skip")        ? CONDITIONS_SKIP
				   : str_equal(argument, "fail")      ? CONDITIONS_FAIL
				   : str_equal(argument, "unmounted") ? CONDITIONS_UNMOUNTED
								      : CONDITIONS_HOLD,
			.error = number,
		};
	else if (str_equal(word, "spawned"))
		ev.kind = SVC_SPAWNED;
	else if (str_equal(word, "empty"))
		ev.kind = SVC_TREE_EMPTY;
	else if (str_equal(word, "changed"))
		ev.kind = SVC_SPEC_CHANGED;
	else if (str_equal(word, "reset"))
		ev.kind = SVC_RESET;
	else if (str_equal(word, "refused"))
		ev = (struct service_event) { .kind = SVC_REFUSED, .result = RUN_RESULT_START_LIMIT };
	else if (str_equal(word, "failed"))
		ev = (struct service_event) {
			.kind = SVC_SPAWN_FAILED, .step = step_from_string(argument), .error = number,
		};
	else if (str_equal(word, "extend"))
		ev = (struct service_event) { .kind = SVC_EXTEND, .extend = (usec_t) atoi(argument) * SEC };
	else if (str_equal(word, "exit"))
		ev = (struct service_event) { .kind = SVC_EXITED, .wstatus = W_EXITCODE(atoi(argument), 0) };
	else if (str_equal(word, "oom"))
		ev = (struct service_event) {
			.kind = SVC_EXITED, .wstatus = W_EXITCODE(atoi(argument), 0), .oom_killed = true,
		};
	else if (str_equal(word, "signal"))
		ev = (struct service_event) { .kind = SVC_EXITED, .wstatus = W_EXITCODE(0, signal) };
	else if (str_equal(word, "core"))
		ev = (struct service_event) { .kind = SVC_EXITED, .wstatus = W_EXITCODE(0, signal) | WCOREFLAG };
	else
		ck_assert_str_eq(word, "deadline");
	ck_assert_int_ge(n, 1);
	return ev;
}

static void effects_to_text(const struct service_effects *fx, char *buf, size_t size)
{
	char name[16];
	FILE *f = fmemopen(buf, size, "w");

	ck_assert_ptr_nonnull(f);
	for (unsigned i = 0; i < fx->n; i++) {
		const struct service_effect *e = &fx->item[i];

		switch (e->kind) {
		case SVC_FX_CHECK:
			fprintf(f, " check");
			break;
		case SVC_FX_SPAWN:
			fprintf(f, " spawn %s %u", phase_names[e->phase], e->index);
			break;
		case SVC_FX_CANCEL:
			fprintf(f, " cancel");
			break;
		case SVC_FX_KILL_MAIN:
			fprintf(f, " kill main %s", value_signal_name(e->signal, name));
			break;
		case SVC_FX_KILL_TREE:
			fprintf(f, " kill tree %s", value_signal_name(e->signal, name));
			break;
		case SVC_FX_WATCH_TREE:
			fprintf(f, " watch");
			break;
		case SVC_FX_ENDED:
			fprintf(f, " ended");
			break;
		case SVC_FX_RESTART:
			fprintf(f, " restart");
			break;
		}
	}
	fputc('\0', f);
	fclose(f);
}

static void play_row(struct service *s, const struct service_spec *spec, const struct row *row)
{
	usec_t deadline = row->deadline ? row->deadline * SEC : USEC_NEVER;
	struct service_event ev = event_from_text(row->event);
	struct service_effects fx;
	char text[256];

	ev.boot = row->at * SEC;
	service_step(s, spec, &ev, &fx);
	effects_to_text(&fx, text, sizeof(text));
	ck_assert_msg(str_equal(service_state_to_string(s->state), row->state), "'%s' at %u: state %s, not %s",
		      row->event, row->at, service_state_to_string(s->state), row->state);
	ck_assert_msg(s->deadline == deadline, "'%s' at %u: deadline %" PRIu64 ", not %" PRIu64, row->event, row->at,
		      s->deadline, deadline);
	ck_assert_msg(str_equal(text, row->effects), "'%s' at %u: '%s', not '%s'", row->event, row->at, text,
		      row->effects);
}

START_TEST(a_run_goes_as_its_script_says)
{
	const struct script *script = &scripts[_i];
	struct spec_text t;
	struct service s = { 0 };
	char result[64];

	spec_text_init(&t, script->spec);
	ck_assert_uint_eq(t.diag.n_errors, 0);
	for (const struct row *row = script->row; row->event; row++) {
		if (str_equal(row->event, "remain no"))
			t.spec.remain_after_exit = false;
		else
			play_row(&s, &t.spec, row);
	}
	(void) snprintf(result, sizeof(result), "%s %d", run_result_to_string(s.result), s.status);
	ck_assert_msg(str_equal(result, script->result), "%s: '%s', not '%s'", script->name, result, script->result);
	spec_text_done(&t);
}
END_TEST

/* ---- what ExecStopPost= is told ---- */

static void step(struct service *s, const struct service_spec *spec, const char *event)
{
	struct service_event ev = event_from_text(event);
	struct service_effects fx;

	service_step(s, spec, &ev, &fx);
}

START_TEST(the_main_status_is_that_of_the_last_main_process_alone)
{
	struct spec_text t;
	struct service s = { 0 };

	spec_text_init_good(&t, "ExecStartPre=p\nExecStart=a\nExecStart=b\nExecStopPost=z");
	step(&s, &t.spec, "start");
	step(&s, &t.spec, "spawned");
	step(&s, &t.spec, "exit 0");
	ck_assert(!s.main_exited);
	step(&s, &t.spec, "spawned");
	step(&s, &t.spec, "exit 0");
	step(&s, &t.spec, "spawned");
	step(&s, &t.spec, "exit 5");
	step(&s, &t.spec, "empty");
	step(&s, &t.spec, "spawned");
	step(&s, &t.spec, "exit 6");
	ck_assert(s.main_exited);
	ck_assert_int_eq(s.main_wstatus, W_EXITCODE(5, 0));
	spec_text_done(&t);
}
END_TEST

START_TEST(the_main_status_is_kept_when_our_signal_ended_it)
{
	struct spec_text t;
	struct service s = { 0 };

	spec_text_init_good(&t, "ExecStart=a");
	step(&s, &t.spec, "start");
	step(&s, &t.spec, "spawned");
	step(&s, &t.spec, "stop");
	step(&s, &t.spec, "signal TERM");
	ck_assert(s.main_exited);
	ck_assert_int_eq(s.main_wstatus, W_EXITCODE(0, SIGTERM));
	ck_assert_int_eq(s.result, RUN_RESULT_STOPPED);
	spec_text_done(&t);
}
END_TEST

START_TEST(a_failure_to_execute_has_the_exit_status_systemd_gives_it)
{
	struct spec_text t;
	struct service s = { 0 };

	spec_text_init_good(&t, "ExecStart=a");
	step(&s, &t.spec, "start");
	step(&s, &t.spec, "failed chdir 13");
	ck_assert(s.main_exited);
	ck_assert_int_eq(s.main_wstatus, W_EXITCODE(200, 0));
	ck_assert_int_eq(s.result, RUN_RESULT_EXEC);
	ck_assert_int_eq(s.step, EXEC_STEP_CHDIR);
	ck_assert_int_eq(s.status, EACCES);
	spec_text_done(&t);
}
END_TEST

START_TEST(each_state_has_its_words)
{
	ck_assert_str_eq(service_state_to_string(SERVICE_STOP_SIGKILL), "stop-sigkill");
	ck_assert_str_eq(service_active_to_string(SERVICE_DEAD), "inactive");
	ck_assert_str_eq(service_active_to_string(SERVICE_CONDITION), "activating");
	ck_assert_str_eq(service_active_to_string(SERVICE_EXITED), "active");
	ck_assert_str_eq(service_active_to_string(SERVICE_FINAL_SIGTERM), "deactivating");
	ck_assert_str_eq(service_active_to_string(SERVICE_FAILED), "failed");
}
END_TEST

static Suite *service_fsm_suite(void)
{
	Suite *s = suite_create("service_fsm");
	TCase *tc = tcase_create("scripts");

	tcase_add_loop_test(tc, a_run_goes_as_its_script_says, 0, ELEMENTS(scripts));
	suite_add_tcase(s, tc);
	tc = tcase_create("main");
	tcase_add_test(tc, the_main_status_is_that_of_the_last_main_process_alone);
	tcase_add_test(tc, the_main_status_is_kept_when_our_signal_ended_it);
	tcase_add_test(tc, a_failure_to_execute_has_the_exit_status_systemd_gives_it);
	tcase_add_test(tc, each_state_has_its_words);
	suite_add_tcase(s, tc);
	return s;
}

TEST_MAIN(service_fsm_suite)
