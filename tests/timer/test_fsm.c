/* SPDX-License-Identifier: MIT */
/* The rules of one timer, as scripts: each row is an event, and what follows from it. */
#include "tests/timer/fsm_script.h"

#include <string.h>

#include "base/cleanup.h"
#include "tests/lib/test_main.h"

#define BEGIN TIMER_BEGIN
#define WAKE TIMER_WAKE
#define SUBMITTED TIMER_SUBMITTED
#define STARTED TIMER_STARTED
#define ENDED TIMER_ENDED
#define IDLE TIMER_IDLE
#define INTENT TIMER_INTENT
#define OPEN TIMER_OPEN

#define EXIT .result = SUPD_RESULT_EXIT_CODE
#define SUCCESS .result = SUPD_RESULT_SUCCESS

#define DAILY "OnCalendar=*-*-* 02:00\n"
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

/* From the moment at @at to the run that is on, for calendar timers: the next moment is at
 * @next. */
#define RUN(at, next) \
	ROW(at, WAKE, INTENT, next, NEVER, "intent"), ROW(at, SUBMITTED, OPEN, next, NEVER, "start"), \
	ROW(at, STARTED, OPEN, next, NEVER, "", .active = true)

static const struct script scripts[] = {
	SCRIPT("a daily timer runs its target and remembers", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR + 5, ENDED, IDLE, 26 * HOUR, NEVER, "ended", SUCCESS),
	       RUN(26 * HOUR, 50 * HOUR),
	       ROW(26 * HOUR + 5, ENDED, IDLE, 50 * HOUR, NEVER, "ended", SUCCESS)),
	SCRIPT("an alarm that is stale changes nothing", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(1, WAKE, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR - 1, WAKE, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR - 1, SUBMITTED, IDLE, 2 * HOUR, NEVER, "")),
	SCRIPT("a moment while our own run goes on is an overlap", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       RUN(HOUR, 2 * HOUR),
	       ROW(2 * HOUR, WAKE, OPEN, 3 * HOUR, NEVER, "missed overlap"),
	       ROW(2 * HOUR + 1, ENDED, IDLE, 3 * HOUR, NEVER, "ended", SUCCESS),
	       ROW(3 * HOUR, WAKE, INTENT, 4 * HOUR, NEVER, "intent")),
	SCRIPT("a moment while the intent is being written is an overlap", "OnCalendar=minutely\n", NULL,
	       ROW(1, BEGIN, IDLE, MIN, NEVER, ""),
	       ROW(MIN, WAKE, INTENT, 2 * MIN, NEVER, "intent"),
	       ROW(2 * MIN, WAKE, INTENT, 3 * MIN, NEVER, "missed overlap"),
	       ROW(2 * MIN + 1, SUBMITTED, OPEN, 3 * MIN, NEVER, "start")),
	SCRIPT("a target started by hand counts as active", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(10, STARTED, IDLE, HOUR, NEVER, "", .who = OTHER, .active = true),
	       ROW(HOUR, WAKE, IDLE, 2 * HOUR, NEVER, "missed overlap"),
	       ROW(HOUR + 1, ENDED, IDLE, 2 * HOUR, NEVER, "", SUCCESS, .who = OTHER),
	       ROW(2 * HOUR, WAKE, INTENT, 3 * HOUR, NEVER, "intent")),
	SCRIPT("the ladder is 30s, 2min and 10min after each end, then the run has failed for good", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR + 7, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 37, "retry, ended", EXIT),
	       ROW(2 * HOUR + 37, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR + 37, SUBMITTED, OPEN, 26 * HOUR, NEVER, "start"),
	       ROW(2 * HOUR + 37, STARTED, OPEN, 26 * HOUR, NEVER, "", .active = true),
	       ROW(2 * HOUR + 40, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 160, "retry, ended", EXIT),
	       ROW(2 * HOUR + 160, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR + 161, SUBMITTED, OPEN, 26 * HOUR, NEVER, "start"),
	       ROW(2 * HOUR + 162, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 762, "retry, ended", EXIT),
	       ROW(2 * HOUR + 762, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR + 762, SUBMITTED, OPEN, 26 * HOUR, NEVER, "start"),
	       ROW(2 * HOUR + 763, ENDED, IDLE, 26 * HOUR, NEVER, "ended", EXIT)),
	SCRIPT("a success on the ladder ends it", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 30, "retry, ended", EXIT),
	       ROW(2 * HOUR + 30, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR + 30, SUBMITTED, OPEN, 26 * HOUR, NEVER, "start"),
	       ROW(2 * HOUR + 31, ENDED, IDLE, 26 * HOUR, NEVER, "ended", SUCCESS)),
	SCRIPT("a fresh moment drops the rung and begins a ladder of its own", "OnCalendar=minutely\nRetrySec=50s 90s\n",
	       NULL,
	       ROW(1, BEGIN, IDLE, MIN, NEVER, ""),
	       RUN(MIN, 2 * MIN),
	       ROW(MIN + 1, ENDED, IDLE, 2 * MIN, MIN + 51, "retry, ended", EXIT),
	       ROW(MIN + 51, WAKE, INTENT, 2 * MIN, NEVER, "intent"),
	       ROW(MIN + 51, SUBMITTED, OPEN, 2 * MIN, NEVER, "start"),
	       ROW(MIN + 52, ENDED, IDLE, 2 * MIN, MIN + 142, "retry, ended", EXIT),
	       ROW(2 * MIN, WAKE, INTENT, 3 * MIN, NEVER, "intent"),
	       ROW(2 * MIN, SUBMITTED, OPEN, 3 * MIN, NEVER, "start"),
	       ROW(2 * MIN + 1, ENDED, IDLE, 3 * MIN, 2 * MIN + 51, "retry, ended", EXIT)),
	SCRIPT("a rung that finds the target active is an overlap and ends the ladder", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 30, "retry, ended", EXIT),
	       ROW(2 * HOUR + 5, STARTED, IDLE, 26 * HOUR, 2 * HOUR + 30, "", .who = OTHER, .active = true),
	       ROW(2 * HOUR + 30, WAKE, IDLE, 26 * HOUR, NEVER, "missed overlap"),
	       ROW(2 * HOUR + 40, ENDED, IDLE, 26 * HOUR, NEVER, "", EXIT, .who = OTHER)),
	SCRIPT("a signal, a timeout and a failure to execute are not retried", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, NEVER, "ended", .result = SUPD_RESULT_SIGNAL),
	       RUN(26 * HOUR, 50 * HOUR),
	       ROW(26 * HOUR, ENDED, IDLE, 50 * HOUR, NEVER, "ended", .result = SUPD_RESULT_TIMEOUT),
	       RUN(50 * HOUR, 74 * HOUR),
	       ROW(50 * HOUR, ENDED, IDLE, 74 * HOUR, NEVER, "ended", .result = SUPD_RESULT_EXEC),
	       RUN(74 * HOUR, 98 * HOUR),
	       ROW(74 * HOUR, ENDED, IDLE, 98 * HOUR, NEVER, "ended", .result = SUPD_RESULT_CORE_DUMP),
	       RUN(98 * HOUR, 122 * HOUR),
	       ROW(98 * HOUR, ENDED, IDLE, 122 * HOUR, NEVER, "ended", .result = SUPD_RESULT_STOPPED),
	       RUN(122 * HOUR, 146 * HOUR),
	       ROW(122 * HOUR, ENDED, IDLE, 146 * HOUR, NEVER, "ended", .result = SUPD_RESULT_SKIPPED),
	       RUN(146 * HOUR, 170 * HOUR),
	       ROW(146 * HOUR, ENDED, IDLE, 170 * HOUR, 146 * HOUR + 30, "retry, ended", .result = SUPD_RESULT_RESOURCES)),
	SCRIPT("RetryOn= widens what is retried", DAILY "RetryOn=signal timeout exec\n", NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 30, "retry, ended", .result = SUPD_RESULT_SIGNAL),
	       RUN(26 * HOUR, 50 * HOUR),
	       ROW(26 * HOUR, ENDED, IDLE, 50 * HOUR, 26 * HOUR + 30, "retry, ended", .result = SUPD_RESULT_TIMEOUT),
	       RUN(50 * HOUR, 74 * HOUR),
	       ROW(50 * HOUR, ENDED, IDLE, 74 * HOUR, 50 * HOUR + 30, "retry, ended", .result = SUPD_RESULT_EXEC),
	       RUN(74 * HOUR, 98 * HOUR),
	       ROW(74 * HOUR, ENDED, IDLE, 98 * HOUR, NEVER, "ended", EXIT)),
	SCRIPT("an empty ladder retries nothing", DAILY "RetrySec=\n", NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, NEVER, "ended", EXIT)),
	SCRIPT("what would not start is missed for its reason", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR, SUBMITTED, OPEN, 26 * HOUR, NEVER, "start"),
	       ROW(2 * HOUR, TIMER_REFUSED, IDLE, 26 * HOUR, NEVER, "missed masked", .refused = MISS_MASKED)),
	SCRIPT("an interval counts from the success", "OnStartupSec=1min\nOnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, MIN, ""),
	       ROW(MIN, WAKE, INTENT, NEVER, NEVER, "intent"),
	       ROW(MIN, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(2 * MIN, ENDED, IDLE, NEVER, HOUR + 2 * MIN, "ended", SUCCESS),
	       ROW(HOUR + 2 * MIN, WAKE, INTENT, NEVER, NEVER, "intent"),
	       ROW(HOUR + 2 * MIN, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(HOUR + 3 * MIN, ENDED, IDLE, NEVER, 2 * HOUR + 3 * MIN, "ended", SUCCESS)),
	SCRIPT("retries move no anchor: the interval counts from the end of the ladder",
	       "OnStartupSec=1min\nOnUnitActiveSec=1h\nRetrySec=30s\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, MIN, ""),
	       ROW(MIN, WAKE, INTENT, NEVER, NEVER, "intent"),
	       ROW(MIN, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(2 * MIN, ENDED, IDLE, NEVER, 2 * MIN + 30, "retry, ended", EXIT),
	       ROW(2 * MIN + 30, WAKE, INTENT, NEVER, NEVER, "intent"),
	       ROW(2 * MIN + 30, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(3 * MIN, ENDED, IDLE, NEVER, HOUR + 3 * MIN, "ended", EXIT)),
	SCRIPT("OnUnitInactiveSec= counts from the run's end, not from its retry's",
	       "OnStartupSec=1min\nOnUnitInactiveSec=1h\nRetrySec=30s\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, MIN, ""),
	       ROW(MIN, WAKE, INTENT, NEVER, NEVER, "intent"),
	       ROW(MIN, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(2 * MIN, ENDED, IDLE, NEVER, 2 * MIN + 30, "retry, ended", EXIT),
	       ROW(2 * MIN + 30, WAKE, INTENT, NEVER, HOUR + 2 * MIN, "intent"),
	       ROW(2 * MIN + 30, SUBMITTED, OPEN, NEVER, HOUR + 2 * MIN, "start"),
	       ROW(3 * MIN, ENDED, IDLE, NEVER, HOUR + 2 * MIN, "ended", EXIT)),
	SCRIPT("an interval whose moment fell into a retry goes on", "OnStartupSec=0\nOnUnitInactiveSec=1min\nRetrySec=30s\n",
	       NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(1, ENDED, IDLE, NEVER, 31, "retry, ended", EXIT),
	       ROW(31, WAKE, INTENT, NEVER, 61, "intent"),
	       ROW(31, SUBMITTED, OPEN, NEVER, 61, "start"),
	       ROW(61, WAKE, OPEN, NEVER, NEVER, "missed overlap"),
	       ROW(90, ENDED, IDLE, NEVER, 150, "ended", EXIT)),
	SCRIPT("an interval goes on although its target is masked", "OnStartupSec=1min\nOnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, MIN, ""),
	       ROW(MIN, WAKE, INTENT, NEVER, NEVER, "intent"),
	       ROW(MIN, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(MIN, TIMER_REFUSED, IDLE, NEVER, HOUR + MIN, "missed masked", .refused = MISS_MASKED),
	       ROW(HOUR + MIN, WAKE, INTENT, NEVER, NEVER, "intent")),
	SCRIPT("an interval counts from a run of its target that nobody here began", "OnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, HOUR, "", SUCCESS, .who = OTHER)),
	SCRIPT("a target that remains active makes overlaps until it is stopped", "OnStartupSec=0\nOnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(0, STARTED, OPEN, NEVER, NEVER, "", .active = true),
	       ROW(5, ENDED, IDLE, NEVER, HOUR + 5, "ended", SUCCESS, .active = true),
	       ROW(HOUR + 5, WAKE, IDLE, NEVER, NEVER, "missed overlap"),
	       ROW(2 * HOUR, TIMER_INACTIVE, IDLE, NEVER, 3 * HOUR, "")),
	SCRIPT("a moment not acted on for more than a minute is late, and made up for", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR + 61, WAKE, IDLE, 26 * HOUR, 2 * HOUR + 61, ""),
	       ROW(2 * HOUR + 61, WAKE, INTENT, 26 * HOUR, NEVER, "intent")),
	SCRIPT("within a minute it is in time", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR + 60, WAKE, INTENT, 26 * HOUR, NEVER, "intent")),
	SCRIPT("however many were missed in a suspend: one run, and the count", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(10 * HOUR + 600, WAKE, IDLE, 11 * HOUR, 10 * HOUR + 600, "missed late 9"),
	       ROW(10 * HOUR + 600, WAKE, INTENT, 11 * HOUR, NEVER, "intent")),
	SCRIPT("not persistent: late is missed", "OnCalendar=hourly\nPersistent=no\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(10 * HOUR + 600, WAKE, IDLE, 11 * HOUR, NEVER, "missed late 10")),
	SCRIPT("an interval that was late counts its spans", "OnStartupSec=0\nOnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(0, ENDED, IDLE, NEVER, HOUR, "ended", SUCCESS),
	       ROW(5 * HOUR + 600, WAKE, IDLE, NEVER, 5 * HOUR + 600, "missed late 4"),
	       ROW(5 * HOUR + 600, WAKE, INTENT, NEVER, 6 * HOUR, "intent"),
	       ROW(5 * HOUR + 600, SUBMITTED, OPEN, NEVER, 6 * HOUR, "start"),
	       ROW(5 * HOUR + 700, ENDED, IDLE, NEVER, 6 * HOUR + 700, "ended", SUCCESS)),
	SCRIPT("beside a moment that comes in time nothing is made up for", "OnStartupSec=0\nOnUnitActiveSec=1h\nOnCalendar=05:10\n",
	       NULL,
	       ROW(0, BEGIN, INTENT, 5 * HOUR + 10 * MIN, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, 5 * HOUR + 10 * MIN, NEVER, "start"),
	       ROW(0, ENDED, IDLE, 5 * HOUR + 10 * MIN, HOUR, "ended", SUCCESS),
	       ROW(5 * HOUR + 10 * MIN, WAKE, INTENT, 29 * HOUR + 10 * MIN, 6 * HOUR, "intent, missed late 5")),
	SCRIPT("whichever is looked at first", "OnStartupSec=0\nOnUnitActiveSec=1h\nOnActiveSec=310min\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, 5 * HOUR + 10 * MIN, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, 5 * HOUR + 10 * MIN, "start"),
	       ROW(0, ENDED, IDLE, NEVER, HOUR, "ended", SUCCESS),
	       ROW(5 * HOUR + 10 * MIN, WAKE, INTENT, NEVER, 6 * HOUR, "missed late 5, intent")),
	SCRIPT("a catch-up that finds the target active is an overlap", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(100, STARTED, IDLE, 2 * HOUR, NEVER, "", .who = OTHER, .active = true),
	       ROW(3 * HOUR, WAKE, IDLE, 26 * HOUR, 3 * HOUR, ""),
	       ROW(3 * HOUR, WAKE, IDLE, 26 * HOUR, NEVER, "missed overlap")),
	SCRIPT("the clock is set forward over a moment: one catch-up", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(100, TIMER_JUMP, IDLE, 26 * HOUR, 100, "", .jump = 3 * HOUR),
	       ROW(100, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(101, SUBMITTED, OPEN, 26 * HOUR, NEVER, "start"),
	       ROW(102, ENDED, IDLE, 26 * HOUR, NEVER, "ended", SUCCESS),
	       /* and back: it does not come again */
	       ROW(103, TIMER_JUMP, IDLE, 26 * HOUR, NEVER, "", .jump = -3 * HOUR)),
	SCRIPT("a catch-up that has not run when the clock goes back comes at its time", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(100, TIMER_JUMP, IDLE, 26 * HOUR, 100, "", .jump = 3 * HOUR),
	       ROW(100, TIMER_JUMP, IDLE, 2 * HOUR, NEVER, "", .jump = -3 * HOUR)),
	SCRIPT("a catch-up that waits is missed when the clock shows that it is too old", "OnCalendar=Mon 02:00\n", NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(3 * HOUR, WAKE, IDLE, 7 * DAY + 2 * HOUR, 3 * HOUR, ""),
	       ROW(3 * HOUR, TIMER_JUMP, IDLE, 7 * DAY + 2 * HOUR, NEVER, "missed late", .jump = 2 * DAY)),
	SCRIPT("one that was late has come, and does not come again: it is made up for", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(3 * HOUR, WAKE, IDLE, 26 * HOUR, 3 * HOUR, ""),
	       ROW(3 * HOUR, TIMER_JUMP, IDLE, 26 * HOUR, 3 * HOUR, "", .jump = -2 * HOUR),
	       ROW(3 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent")),
	SCRIPT("nor does one of an interval", "OnStartupSec=0\nOnUnitActiveSec=1h\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(0, ENDED, IDLE, NEVER, HOUR, "ended", SUCCESS),
	       ROW(90 * MIN, WAKE, IDLE, NEVER, 90 * MIN, ""),
	       ROW(90 * MIN, TIMER_JUMP, IDLE, NEVER, 90 * MIN, "", .jump = -2 * HOUR),
	       ROW(90 * MIN, WAKE, INTENT, NEVER, 2 * HOUR, "intent")),
	SCRIPT("the clock is set a year ahead and back: what it passed over comes all the same", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(100, TIMER_JUMP, IDLE, 365 * DAY + 2 * HOUR, 100, "missed clock-jump 364", .jump = 365 * DAY),
	       ROW(100, WAKE, INTENT, 365 * DAY + 2 * HOUR, NEVER, "intent"),
	       ROW(100, SUBMITTED, OPEN, 365 * DAY + 2 * HOUR, NEVER, "start"),
	       ROW(101, ENDED, IDLE, 365 * DAY + 2 * HOUR, NEVER, "ended", SUCCESS),
	       ROW(102, TIMER_JUMP, IDLE, 2 * HOUR, NEVER, "", .jump = -365 * DAY)),
	SCRIPT("set back, a moment that ran does not come again", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       RUN(HOUR, 2 * HOUR),
	       ROW(HOUR + 1, ENDED, IDLE, 2 * HOUR, NEVER, "ended", SUCCESS),
	       RUN(2 * HOUR, 3 * HOUR),
	       ROW(2 * HOUR + 1, ENDED, IDLE, 3 * HOUR, NEVER, "ended", SUCCESS),
	       ROW(2 * HOUR + 2, TIMER_JUMP, IDLE, 3 * HOUR, NEVER, "", .jump = -110 * MIN),
	       ROW(4 * HOUR + 50 * MIN, WAKE, INTENT, 4 * HOUR, NEVER, "intent")),
	SCRIPT("nor does one that was taken, and missed behind a reset", "OnCalendar=hourly\nPersistent=no\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       ROW(HOUR, WAKE, INTENT, 2 * HOUR, NEVER, "intent"),
	       ROW(HOUR + 1, TIMER_RESET, INTENT, 2 * HOUR, NEVER, ""),
	       ROW(HOUR + 2, TIMER_END, IDLE, 2 * HOUR, NEVER, "missed shutdown"),
	       ROW(HOUR + 3, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(HOUR + 4, TIMER_JUMP, IDLE, 2 * HOUR, NEVER, "", .jump = -30 * MIN)),
	SCRIPT("nor does it if the timer was disabled in between", "OnCalendar=hourly\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR, NEVER, ""),
	       RUN(HOUR, 2 * HOUR),
	       ROW(HOUR + 1, ENDED, IDLE, 2 * HOUR, NEVER, "ended", SUCCESS),
	       ROW(HOUR + 2, TIMER_CHANGED, IDLE, NEVER, NEVER, "", .spec = "OnCalendar=hourly\nEnabled=no\n"),
	       ROW(HOUR + 3, TIMER_JUMP, IDLE, NEVER, NEVER, "", .jump = -30 * MIN),
	       ROW(HOUR + 4, TIMER_CHANGED, IDLE, 2 * HOUR, NEVER, "", .spec = "OnCalendar=hourly\n")),
	SCRIPT("small steps to and fro run nothing twice", "OnCalendar=minutely\n", NULL,
	       ROW(1, BEGIN, IDLE, MIN, NEVER, ""),
	       RUN(MIN, 2 * MIN),
	       ROW(MIN + 1, ENDED, IDLE, 2 * MIN, NEVER, "ended", SUCCESS),
	       ROW(MIN + 2, TIMER_RECOMPUTE, IDLE, 2 * MIN, NEVER, "", .jump = -50),
	       ROW(MIN + 3, TIMER_RECOMPUTE, IDLE, 2 * MIN, NEVER, "", .jump = -50),
	       ROW(2 * MIN + 100, WAKE, INTENT, 3 * MIN, NEVER, "intent")),
	SCRIPT("OnClockChange= elapses with the change", "OnClockChange=yes\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, NEVER, ""),
	       ROW(5, TIMER_RECOMPUTE, IDLE, NEVER, NEVER, "", .jump = 3),
	       ROW(5, TIMER_CLOCK_CHANGED, INTENT, NEVER, NEVER, "intent"),
	       ROW(6, TIMER_CLOCK_CHANGED, INTENT, NEVER, NEVER, "missed overlap")),
	SCRIPT("in a new zone only what comes after now counts", DAILY "OnTimezoneChange=yes\n", BERLIN,
	       ROW(0, BEGIN, IDLE, HOUR, NEVER, ""),
	       RUN(HOUR, 25 * HOUR),
	       ROW(HOUR, ENDED, IDLE, 25 * HOUR, NEVER, "ended", SUCCESS),
	       ROW(10 * HOUR, TIMER_ZONE_CHANGED, INTENT, 25 * HOUR, NEVER, "intent")),
	SCRIPT("in 1970 nothing is made up for; when the clock is set, moments begin there", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR - 20000 * DAY, NEVER, "", .jump = -20000 * DAY),
	       ROW(100, TIMER_JUMP, IDLE, 2 * HOUR, NEVER, "", .jump = 20000 * DAY)),
	/* The epoch is 2023-11-14 22:13:20, 72409600 s before T0. */
	SCRIPT("a clock that goes on past its epoch is believed from there, and its moments come", "OnCalendar=hourly\n", NULL,
	       ROW(0, BEGIN, IDLE, -72410400, NEVER, "", .jump = -72409600 - HOUR),
	       RUN(2800, -72406800),
	       ROW(2801, ENDED, IDLE, -72406800, NEVER, "ended", SUCCESS),
	       RUN(6400, -72403200),
	       ROW(6401, ENDED, IDLE, -72403200, NEVER, "ended", SUCCESS),
	       ROW(6402, TIMER_JUMP, IDLE, -72403200, NEVER, "", .jump = -10 * MIN)),
	SCRIPT("an edited timer begins anew, and its ladder is gone", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 30, "retry, ended", EXIT),
	       ROW(2 * HOUR + 1, TIMER_CHANGED, IDLE, 25 * HOUR, NEVER, "", .spec = "OnCalendar=*-*-* 01:00\n")),
	SCRIPT("an edited interval that would be over begins anew", "OnStartupSec=0\nOnUnitActiveSec=10h\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(0, ENDED, IDLE, NEVER, 10 * HOUR, "ended", SUCCESS),
	       ROW(5 * HOUR, TIMER_CHANGED, IDLE, NEVER, 6 * HOUR, "", .spec = "OnUnitActiveSec=1h\n"),
	       ROW(5 * HOUR, TIMER_CHANGED, IDLE, NEVER, 25 * HOUR, "", .spec = "OnUnitActiveSec=20h\n")),
	SCRIPT("an edit in mid-run leaves the run", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR + 1, TIMER_CHANGED, OPEN, 3 * HOUR, NEVER, "", .spec = "OnCalendar=*-*-* 03:00\n", .active = true),
	       ROW(2 * HOUR + 2, ENDED, IDLE, 3 * HOUR, 2 * HOUR + 32, "retry, ended", EXIT)),
	SCRIPT("a disabled timer has no moments and no ladder, but can be triggered", DAILY "Enabled=no\n", NULL,
	       ROW(0, BEGIN, IDLE, NEVER, NEVER, ""),
	       ROW(2 * HOUR, WAKE, IDLE, NEVER, NEVER, ""),
	       ROW(3 * HOUR, TIMER_TRIGGER, INTENT, NEVER, NEVER, "intent"),
	       ROW(3 * HOUR, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(3 * HOUR, STARTED, OPEN, NEVER, NEVER, "", .active = true),
	       ROW(3 * HOUR, ENDED, IDLE, NEVER, NEVER, "ended", EXIT),
	       ROW(4 * HOUR, TIMER_CHANGED, IDLE, 26 * HOUR, NEVER, "", .spec = DAILY)),
	SCRIPT("a trigger by hand drops the ladder", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR, ENDED, IDLE, 26 * HOUR, 2 * HOUR + 30, "retry, ended", EXIT),
	       ROW(2 * HOUR + 10, TIMER_TRIGGER, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR + 10, TIMER_TRIGGER, INTENT, 26 * HOUR, NEVER, "")),
	SCRIPT("a reset forgets the record, and the interval begins anew", "OnStartupSec=0\nOnUnitActiveSec=10h\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(0, ENDED, IDLE, NEVER, 10 * HOUR, "ended", SUCCESS),
	       ROW(HOUR, TIMER_RESET, IDLE, NEVER, 11 * HOUR, "")),
	SCRIPT("a delay by chance moves the run, not the moment", "OnCalendar=hourly\nRandomizedDelaySec=10min\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR + 300, NEVER, "", .random = 300 * USEC_PER_SEC),
	       ROW(HOUR, WAKE, IDLE, HOUR + 300, NEVER, ""),
	       ROW(HOUR + 300, WAKE, INTENT, 2 * HOUR + 7, NEVER, "intent", .random = 7 * USEC_PER_SEC),
	       ROW(HOUR + 300, TIMER_REFUSED, IDLE, 2 * HOUR + 7, NEVER, "missed target", .refused = MISS_TARGET)),
	SCRIPT("a delay longer than the period: the moment behind it comes at once", "OnCalendar=hourly\nRandomizedDelaySec=3h\n",
	       NULL,
	       ROW(1, BEGIN, IDLE, 3 * HOUR + 30 * MIN, NEVER, "", .random = 150 * 60 * USEC_PER_SEC),
	       ROW(3 * HOUR + 30 * MIN, WAKE, INTENT, 3 * HOUR + 30 * MIN, NEVER, "intent", .random = 60 * USEC_PER_SEC),
	       ROW(3 * HOUR + 30 * MIN, WAKE, INTENT, 3 * HOUR + 30 * MIN, NEVER, "missed overlap",
		   .random = 60 * USEC_PER_SEC),
	       ROW(3 * HOUR + 30 * MIN, WAKE, INTENT, 4 * HOUR + MIN, NEVER, "missed overlap",
		   .random = 60 * USEC_PER_SEC)),
	SCRIPT("a longer delay than the last brings nothing back", "OnBootSec=25h\nOnCalendar=*:00/2\nRandomizedDelaySec=1h\n",
	       NULL,
	       ROW(1, BEGIN, IDLE, 130, HOUR + 10, "", .random = 10 * USEC_PER_SEC),
	       ROW(HOUR + 10, WAKE, INTENT, HOUR + 120, NEVER, "missed late 29, intent, missed overlap"),
	       ROW(HOUR + 120, WAKE, INTENT, 2 * HOUR + 240, NEVER, "missed overlap",
		   .random = HOUR * USEC_PER_SEC),
	       ROW(2 * HOUR + 240, WAKE, INTENT, 2 * HOUR + 240, NEVER, "missed overlap")),
	SCRIPT("an edit cuts a delay short", "OnCalendar=hourly\nRandomizedDelaySec=30min\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR + 20 * MIN, NEVER, "", .random = 20 * 60 * USEC_PER_SEC),
	       ROW(HOUR + 5 * MIN, TIMER_SETTLE, INTENT, 2 * HOUR, NEVER, "intent"),
	       ROW(HOUR + 5 * MIN, TIMER_CHANGED, INTENT, 2 * HOUR, NEVER, "", .spec = DAILY)),
	SCRIPT("disabled in mid-delay: the moment is missed", "OnCalendar=hourly\nRandomizedDelaySec=30min\n", NULL,
	       ROW(1, BEGIN, IDLE, HOUR + 20 * MIN, NEVER, "", .random = 20 * 60 * USEC_PER_SEC),
	       ROW(HOUR + 5 * MIN, TIMER_CHANGED, IDLE, NEVER, NEVER, "missed disabled", .spec = DAILY "Enabled=no\n")),
	SCRIPT("spring forward: the lost hour's job runs at the end of the gap", "OnCalendar=*-*-* 02:30\n", BERLIN,
	       ROW(26 * DAY + 12 * HOUR, BEGIN, IDLE, 27 * DAY + HOUR, NEVER, ""),
	       RUN(27 * DAY + HOUR, 28 * DAY + 30 * MIN)),
	SCRIPT("several triggers: the earliest wins, and one moment is one run", "OnBootSec=25h\nOnCalendar=01:00\n", NULL,
	       ROW(0, BEGIN, IDLE, HOUR, HOUR, ""),
	       ROW(HOUR, WAKE, INTENT, 25 * HOUR, NEVER, "intent, missed overlap")),
	SCRIPT("OnBootSec= that was over before supd began for the first time this boot runs at once", "OnBootSec=10s\n", NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent")),
	SCRIPT("spans of infinity and ladders of ages saturate", "OnUnitActiveSec=infinity\nOnStartupSec=0\nRetrySec=200000y\n",
	       NULL,
	       ROW(0, BEGIN, INTENT, NEVER, NEVER, "intent"),
	       ROW(0, SUBMITTED, OPEN, NEVER, NEVER, "start"),
	       ROW(0, ENDED, IDLE, NEVER, INT64_C(200000) * 31557600, "retry, ended", EXIT)),
	SCRIPT("stopping with a taken moment: it is made up for at the next start", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR, TIMER_END, IDLE, 26 * HOUR, 2 * HOUR, ""),
	       ROW(3 * HOUR, BEGIN, IDLE, 26 * HOUR, 3 * HOUR, ""),
	       ROW(3 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent")),
	SCRIPT("so it is if the clock is set back over it, which it had come on", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR, TIMER_END, IDLE, 26 * HOUR, 2 * HOUR, ""),
	       ROW(3 * HOUR, BEGIN, IDLE, 26 * HOUR, 3 * HOUR, ""),
	       ROW(3 * HOUR, TIMER_JUMP, IDLE, 26 * HOUR, 3 * HOUR, "", .jump = -2 * HOUR),
	       ROW(3 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent")),
	SCRIPT("not persistent: it is missed", DAILY "Persistent=no\n", NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       ROW(2 * HOUR, WAKE, INTENT, 26 * HOUR, NEVER, "intent"),
	       ROW(2 * HOUR, TIMER_END, IDLE, 26 * HOUR, NEVER, "missed shutdown")),
	SCRIPT("paused in mid-run, and the run is still on", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR + 1, TIMER_END, OPEN, 26 * HOUR, NEVER, ""),
	       ROW(2 * HOUR + 2, BEGIN, OPEN, 26 * HOUR, NEVER, "", .active = true),
	       ROW(2 * HOUR + 3, ENDED, IDLE, 26 * HOUR, NEVER, "ended", SUCCESS)),
	SCRIPT("paused in mid-run, and the run failed meanwhile", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR + 1, TIMER_END, OPEN, 26 * HOUR, NEVER, ""),
	       ROW(2 * HOUR + 200, BEGIN, IDLE, 26 * HOUR, 2 * HOUR + 230, "retry, ended", EXIT)),
	SCRIPT("paused in mid-run, and another run came after it: nothing was interrupted", DAILY, NULL,
	       ROW(0, BEGIN, IDLE, 2 * HOUR, NEVER, ""),
	       RUN(2 * HOUR, 26 * HOUR),
	       ROW(2 * HOUR + 1, TIMER_END, OPEN, 26 * HOUR, NEVER, ""),
	       ROW(2 * HOUR + 200, BEGIN, IDLE, 26 * HOUR, NEVER, "", SUCCESS, .who = OTHER)),
};

START_TEST(the_rules_hold)
{
	script_run(&scripts[_i]);
}
END_TEST

/* ---- beginning with a memory, in another life of the daemon ---- */

static void begin_at(struct bench *b, int64_t at, const char *effects)
{
	const struct row row = { .at = at, .event = BEGIN, .who = OTHER };

	ck_assert_str_eq(bench_step(b, &row), effects);
}

/* What the state file keeps: everything but what lives in the instance. */
static void other_life(struct bench *b)
{
	const struct timer_memory memory = b->timer.memory;

	timer_init(&b->timer);
	b->timer.memory = memory;
	b->timer.memory.activated = (struct stamp) { 0 };
}

static void remember_daily(struct bench *b, const char *spec)
{
	const struct row rows[] = {
		{ .at = 0, .event = BEGIN },
		{ .at = 2 * HOUR, .event = WAKE },
		{ .at = 2 * HOUR, .event = SUBMITTED },
		{ .at = 2 * HOUR, .event = STARTED },
		{ .at = 2 * HOUR + 5, .event = ENDED, SUCCESS },
	};

	bench_init(b, spec, NULL);
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		(void) bench_step(b, &rows[i]);
	other_life(b);
}

START_TEST(after_a_night_one_run_makes_up_for_the_night)
{
	struct bench b;

	remember_daily(&b, DAILY);
	begin_at(&b, 30 * HOUR, "");
	ck_assert_int_eq(bench_boot(&b), 30 * HOUR);
	ck_assert_int_eq(bench_real(&b), 50 * HOUR);
	ck_assert_uint_eq(b.timer.memory.waiting.scheduled, real_at(26 * HOUR));
	bench_done(&b);
}
END_TEST

START_TEST(of_a_holiday_only_the_last_day_is_made_up_for)
{
	struct bench b;

	remember_daily(&b, DAILY);
	begin_at(&b, 9 * DAY + 3 * HOUR, "missed downtime 8");
	ck_assert_uint_eq(b.timer.memory.waiting.scheduled, real_at(9 * DAY + 2 * HOUR));
	ck_assert_uint_eq(b.timer.memory.miss_at, real_at(8 * DAY + 2 * HOUR));
	bench_done(&b);
}
END_TEST

static const struct timer_effect *missed_of(const struct bench *b)
{
	for (unsigned i = 0; i < b->effects.n; i++)
		if (b->effects.item[i].kind == TFX_MISSED)
			return &b->effects.item[i];
	ck_abort_msg("nothing was missed");
}

START_TEST(of_many_misses_the_first_and_the_last_are_told)
{
	struct bench b;

	remember_daily(&b, DAILY);
	begin_at(&b, 9 * DAY + 3 * HOUR, "missed downtime 8");
	ck_assert_uint_eq(missed_of(&b)->first, real_at(DAY + 2 * HOUR));
	ck_assert_uint_eq(missed_of(&b)->at, real_at(8 * DAY + 2 * HOUR));
	bench_done(&b);
}
END_TEST

START_TEST(of_an_interval_too)
{
	const struct row late = { .at = 5 * HOUR + 30 * MIN, .event = WAKE };
	const struct row anew = { .at = 0, .event = TIMER_ENDED, .result = SUPD_RESULT_SUCCESS };
	struct bench b;

	bench_init(&b, "OnUnitActiveSec=1h\nPersistent=no\n", NULL);
	begin_at(&b, 0, "");
	(void) bench_step(&b, &anew);
	ck_assert_str_eq(bench_step(&b, &late), "missed late 5");
	ck_assert_uint_eq(missed_of(&b)->first, real_at(HOUR));
	ck_assert_uint_eq(missed_of(&b)->at, real_at(5 * HOUR));
	bench_done(&b);
}
END_TEST

START_TEST(what_is_older_than_CatchUpSec_is_missed)
{
	struct bench b;

	remember_daily(&b, DAILY "CatchUpSec=1h\n");
	begin_at(&b, 27 * HOUR + 1, "missed downtime");
	ck_assert_int_eq(bench_boot(&b), NEVER);
	bench_done(&b);
}
END_TEST

START_TEST(exactly_as_old_is_made_up_for)
{
	struct bench b;

	remember_daily(&b, DAILY "CatchUpSec=1h\n");
	begin_at(&b, 27 * HOUR, "");
	ck_assert_int_eq(bench_boot(&b), 27 * HOUR);
	bench_done(&b);
}
END_TEST

START_TEST(without_Persistent_all_is_missed)
{
	struct bench b;

	remember_daily(&b, DAILY "Persistent=no\n");
	begin_at(&b, 30 * HOUR, "missed downtime");
	ck_assert_int_eq(bench_boot(&b), NEVER);
	bench_done(&b);
}
END_TEST

START_TEST(a_waiting_catch_up_survives_a_second_restart)
{
	struct bench b;

	remember_daily(&b, DAILY);
	begin_at(&b, 30 * HOUR, "");
	other_life(&b);
	begin_at(&b, 31 * HOUR, "");
	ck_assert_int_eq(bench_boot(&b), 31 * HOUR);
	other_life(&b);
	begin_at(&b, 49 * HOUR, "");
	ck_assert_int_eq(bench_boot(&b), 49 * HOUR);
	/* but not for ever */
	other_life(&b);
	begin_at(&b, 50 * HOUR - 1, "");
	other_life(&b);
	begin_at(&b, 50 * HOUR, "missed downtime");
	bench_done(&b);
}
END_TEST

START_TEST(a_run_that_was_open_was_interrupted_and_is_made_up_for)
{
	const struct row rows[] = {
		{ .at = 0, .event = BEGIN }, { .at = 2 * HOUR, .event = WAKE }, { .at = 2 * HOUR, .event = SUBMITTED },
	};
	struct bench b;

	bench_init(&b, DAILY, NULL);
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		(void) bench_step(&b, &rows[i]);
	other_life(&b);
	begin_at(&b, 3 * HOUR, "interrupted, missed interrupted");
	ck_assert_int_eq(bench_boot(&b), 3 * HOUR);
	ck_assert(b.timer.memory.is_interrupted);
	ck_assert_uint_eq(b.timer.memory.last_scheduled, real_at(2 * HOUR));
	bench_done(&b);
}
END_TEST

/* Our run goes on while the clock is set forward by a day: the moment in between waits. Then supd dies. */
static void die_in_a_run_with_a_moment_waiting(struct bench *b)
{
	const struct row rows[] = {
		{ .at = 0, .event = BEGIN },
		{ .at = 2 * HOUR, .event = WAKE },
		{ .at = 2 * HOUR, .event = SUBMITTED },
		{ .at = 2 * HOUR + 1, .event = TIMER_JUMP, .jump = DAY },
	};

	bench_init(b, DAILY "CatchUpSec=48h\n", NULL);
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		(void) bench_step(b, &rows[i]);
	ck_assert_uint_eq(b->timer.memory.waiting.scheduled, real_at(26 * HOUR));
	other_life(b);
}

START_TEST(what_waited_beside_an_interrupted_run_is_not_missed_if_it_comes_by_itself)
{
	struct bench b;

	die_in_a_run_with_a_moment_waiting(&b);
	b.skew = -30 * DAY;
	begin_at(&b, 3 * HOUR, "interrupted, missed interrupted, future");
	ck_assert_int_eq(bench_boot(&b), 3 * HOUR);
	ck_assert_int_eq(bench_real(&b), 26 * HOUR - 30 * DAY);
	bench_done(&b);
}
END_TEST

START_TEST(what_waited_beside_an_interrupted_run_is_missed)
{
	struct bench b;

	die_in_a_run_with_a_moment_waiting(&b);
	begin_at(&b, 3 * HOUR, "interrupted, missed interrupted, missed clock-jump");
	ck_assert_int_eq(bench_real(&b), 50 * HOUR);
	bench_done(&b);
}
END_TEST

/* Our run goes on while a moment waits beside it, and fails while timers are paused. */
START_TEST(what_waits_to_be_made_up_for_goes_before_a_rung_that_a_pause_left)
{
	const struct row rows[] = {
		{ .at = 0, .event = BEGIN },
		{ .at = 2 * HOUR, .event = WAKE },
		{ .at = 2 * HOUR, .event = SUBMITTED },
		{ .at = 2 * HOUR + 1, .event = TIMER_JUMP, .jump = DAY },
		{ .at = 2 * HOUR + 2, .event = TIMER_END },
	};
	const struct row again = { .at = 2 * HOUR + 9, .event = BEGIN, EXIT };
	struct timer_memory kept;
	struct bench b;

	bench_init(&b, DAILY "CatchUpSec=48h\nRetrySec=1s\n", NULL);
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		(void) bench_step(&b, &rows[i]);
	kept = memory_take(&b.timer.memory);
	timer_init(&b.timer);
	b.timer.memory = kept;
	ck_assert_str_eq(bench_step(&b, &again), "retry, ended");
	ck_assert_uint_eq(b.timer.retry_at, USEC_NEVER);
	ck_assert_int_eq(bench_boot(&b), 2 * HOUR + 9);
	bench_done(&b);
}
END_TEST

START_TEST(an_interval_of_seven_days_counts_over_restarts)
{
	const struct row rows[] = {
		{ .at = 0, .event = BEGIN }, { .at = 0, .event = SUBMITTED }, { .at = 0, .event = STARTED },
		{ .at = 10, .event = ENDED, SUCCESS },
	};
	struct bench b;

	bench_init(&b, "OnUnitActiveSec=7d\nOnStartupSec=0\n", NULL);
	for (size_t i = 0; i < ELEMENTS(rows); i++)
		(void) bench_step(&b, &rows[i]);
	ck_assert_int_eq(bench_boot(&b), 7 * DAY + 10);
	other_life(&b);
	begin_at(&b, 3 * DAY, "");
	ck_assert_int_eq(bench_boot(&b), 7 * DAY + 10);
	/* off for nine days: two over it, and that is too old; the next is seven after the one
	 * missed */
	other_life(&b);
	begin_at(&b, 9 * DAY + 10, "missed downtime");
	ck_assert_int_eq(bench_boot(&b), 14 * DAY + 10);
	bench_done(&b);
}
END_TEST

START_TEST(a_record_from_the_near_future_runs_nothing_twice)
{
	struct bench b;

	remember_daily(&b, DAILY);
	b.skew = -3 * HOUR;
	begin_at(&b, 4 * HOUR, "future");
	ck_assert_int_eq(bench_real(&b), 26 * HOUR);
	bench_done(&b);
}
END_TEST

START_TEST(a_record_from_the_far_future_is_not_believed)
{
	struct bench b;

	remember_daily(&b, DAILY);
	b.skew = -30 * DAY;
	begin_at(&b, 4 * HOUR, "future");
	ck_assert_int_eq(bench_real(&b), 26 * HOUR - 30 * DAY);
	bench_done(&b);
}
END_TEST

START_TEST(a_board_that_boots_in_1970_makes_up_for_the_night_when_it_learns_the_time)
{
	const struct row set = { .at = 30 * HOUR + 40, .event = TIMER_JUMP, .jump = 20000 * DAY };
	struct bench b;

	remember_daily(&b, DAILY);
	b.skew = -20000 * DAY;
	begin_at(&b, 30 * HOUR, "");
	ck_assert_int_eq(bench_boot(&b), NEVER);
	ck_assert_str_eq(bench_step(&b, &set), "");
	ck_assert_int_eq(bench_boot(&b), 30 * HOUR + 40);
	ck_assert_uint_eq(b.timer.memory.waiting.scheduled, real_at(26 * HOUR));
	bench_done(&b);
}
END_TEST

START_TEST(in_1970_a_moment_that_did_not_start_comes_again_and_has_one_record)
{
	const struct row due = { .at = HOUR, .event = TIMER_WAKE }, end = { .at = HOUR, .event = TIMER_END };
	const struct row again = { .at = HOUR + 30 * MIN, .event = TIMER_WAKE };
	struct bench b;

	bench_init(&b, "OnCalendar=hourly\n", NULL);
	b.skew = -20000 * DAY;
	begin_at(&b, 1, "");
	ck_assert_str_eq(bench_step(&b, &due), "intent");
	ck_assert_str_eq(bench_step(&b, &end), "");
	b.timer.catch_up_at = USEC_NEVER; /* in another life */
	b.skew -= 30 * MIN;
	begin_at(&b, HOUR + 1, "");
	ck_assert_str_eq(bench_step(&b, &again), "intent");
	bench_done(&b);
}
END_TEST

START_TEST(set_back_by_hours_while_nobody_looked_the_clock_brings_nothing_again)
{
	struct bench b;

	bench_init(&b, "OnCalendar=hourly\n", NULL);
	b.timer.memory.normal_since = real_at(0);
	b.timer.memory.accounted_real = real_at(5 * HOUR);
	begin_at(&b, 2 * HOUR + 30 * MIN, "future");
	ck_assert_int_eq(bench_real(&b), 6 * HOUR);
	bench_done(&b);
}
END_TEST

START_TEST(what_a_record_from_the_future_says_of_what_lies_ahead_is_not_believed)
{
	struct bench b;

	bench_init(&b, DAILY, NULL);
	b.timer.memory.normal_since = real_at(9 * DAY);
	b.timer.memory.accounted_real = real_at(10 * DAY);
	ck_assert(memory_add_spent(&b.timer.memory, real_at(20 * HOUR), real_at(3 * DAY)));
	begin_at(&b, 10 * HOUR, "future");
	ck_assert_int_eq(bench_real(&b), 26 * HOUR);
	bench_done(&b);
}
END_TEST

START_TEST(a_ladder_that_is_lost_with_its_life_has_failed_for_good)
{
	const struct row submitted = { .event = TIMER_SUBMITTED }, ended = { .event = TIMER_ENDED, EXIT };
	struct bench b;

	bench_init(&b, "OnStartupSec=0\nOnUnitActiveSec=1h\nRetrySec=30min\n", NULL);
	begin_at(&b, 0, "intent");
	ck_assert_str_eq(bench_step(&b, &submitted), "start");
	ck_assert_str_eq(bench_step(&b, &ended), "retry, ended");
	other_life(&b);
	begin_at(&b, 10 * MIN, "");
	ck_assert_int_eq(bench_boot(&b), HOUR);
	bench_done(&b);
}
END_TEST

START_TEST(stamps_from_before_the_boot_follow_the_clock)
{
	const struct row set = { .at = 0, .event = TIMER_JUMP, .jump = 20000 * DAY };
	struct bench b;

	/* Last success three days before T0, on a board that now boots in 1970. */
	bench_init(&b, "OnUnitActiveSec=7d\n", NULL);
	b.timer.memory.anchor_active = (struct stamp) { .real = real_at(-3 * DAY), .boot = -1 };
	b.timer.memory.accounted = (struct stamp) { .real = real_at(-2 * DAY), .boot = -1 };
	b.skew = -20000 * DAY;
	begin_at(&b, 0, "");
	ck_assert_int_eq(bench_boot(&b), 6 * DAY - 1); /* for now: from the boot */
	(void) bench_step(&b, &set);
	ck_assert_int_eq(bench_boot(&b), 4 * DAY);
	bench_done(&b);
}
END_TEST

START_TEST(what_stretches_are_spent_is_merged_and_bounded)
{
	struct bench b;

	remember_daily(&b, "OnCalendar=hourly\n");
	begin_at(&b, 2 * HOUR, "");
	for (int i = 0; i < 100; i++) {
		const struct row jump = { .at = 3 * HOUR + i, .event = TIMER_JUMP, .jump = i % 2 ? 2 * HOUR : -2 * HOUR };

		(void) bench_step(&b, &jump);
		ck_assert_uint_le(b.timer.memory.n_spent, TIMER_SPENT_MAX);
	}
	ck_assert_uint_le(b.timer.memory.n_spent, 3);
	bench_done(&b);
}
END_TEST

START_TEST(of_too_many_stretches_the_one_that_ends_first_is_forgotten)
{
	const struct row due = { .at = HOUR, .event = TIMER_WAKE };
	const struct row back = { .at = HOUR + 1, .event = TIMER_JUMP, .jump = -30 * MIN };
	struct timer_memory *m;
	struct bench b;

	bench_init(&b, "OnCalendar=hourly\n", NULL);
	begin_at(&b, 1, "");
	m = &b.timer.memory;
	ck_assert(memory_add_spent(m, real_at(300 * DAY), real_at(301 * DAY)));
	for (int i = 1; i < TIMER_SPENT_MAX; i++)
		ck_assert(memory_add_spent(m, real_at(-2 * i * DAY), real_at(-2 * i * DAY + 1)));
	ck_assert_str_eq(bench_step(&b, &due), "intent");
	(void) bench_step(&b, &back);
	ck_assert_uint_eq(m->n_spent, TIMER_SPENT_MAX);
	ck_assert_uint_eq(m->spent[0].to, real_at(301 * DAY));
	ck_assert_uint_eq(m->spent[TIMER_SPENT_MAX - 2].to, real_at(-2 * (TIMER_SPENT_MAX - 2) * DAY + 1));
	ck_assert_uint_eq(m->spent[TIMER_SPENT_MAX - 1].to, real_at(HOUR));
	bench_done(&b);
}
END_TEST

START_TEST(a_masked_target_is_counted_in_a_row)
{
	struct bench b;

	bench_init(&b, "OnCalendar=hourly\n", NULL);
	begin_at(&b, 1, "");
	for (int64_t hour = 1; hour <= 5; hour++) {
		const struct row wake = { .at = hour * HOUR, .event = WAKE };
		const struct row submitted = { .at = hour * HOUR, .event = SUBMITTED };
		const struct row refused = { .at = hour * HOUR, .event = TIMER_REFUSED, .refused = MISS_MASKED };

		(void) bench_step(&b, &wake);
		(void) bench_step(&b, &submitted);
		(void) bench_step(&b, &refused);
	}
	ck_assert_uint_eq(b.timer.memory.miss_in_row, 5);
	ck_assert_uint_eq(b.timer.memory.last_trigger.real, 0); /* no run ever began */
	bench_done(&b);
}
END_TEST

START_TEST(a_rung_after_all_ages_is_no_moment_of_the_past)
{
	static const struct row script[] = {
		{ .event = BEGIN },
		{ .event = SUBMITTED },
		{ .event = STARTED, .active = true },
		{ .at = 1, .event = ENDED, EXIT },
	};
	struct timer_coming coming;
	struct supd_now now;
	struct bench b;

	bench_init(&b, "OnStartupSec=0\nRetrySec=584000y\n", NULL);
	for (size_t i = 0; i < ELEMENTS(script); i++)
		(void) bench_step(&b, &script[i]);
	now = bench_now(&b, 2);
	ck_assert_uint_gt(timer_next(&b.timer, &b.context, &now, &coming), now.real + 100000 * 365 * USEC_PER_DAY);
	ck_assert_str_eq(coming.cause, "retry");
	bench_done(&b);
}
END_TEST

START_TEST(spreading_moves_the_alarm)
{
	struct bench b;

	remember_daily(&b, DAILY);
	begin_at(&b, 30 * HOUR, "");
	timer_spread(&b.timer, T0_BOOT + 30 * HOUR * USEC_PER_SEC + 2 * USEC_PER_SEC);
	ck_assert_int_eq(bench_boot(&b), 30 * HOUR + 2);
	bench_done(&b);
}
END_TEST

static Suite *fsm_suite(void)
{
	Suite *s = suite_create("timer/fsm");
	TCase *t = tcase_create("rules");

	tcase_add_loop_test(t, the_rules_hold, 0, ELEMENTS(scripts));
	tcase_add_test(t, after_a_night_one_run_makes_up_for_the_night);
	tcase_add_test(t, of_a_holiday_only_the_last_day_is_made_up_for);
	tcase_add_test(t, of_many_misses_the_first_and_the_last_are_told);
	tcase_add_test(t, of_an_interval_too);
	tcase_add_test(t, what_is_older_than_CatchUpSec_is_missed);
	tcase_add_test(t, exactly_as_old_is_made_up_for);
	tcase_add_test(t, without_Persistent_all_is_missed);
	tcase_add_test(t, a_waiting_catch_up_survives_a_second_restart);
	tcase_add_test(t, a_run_that_was_open_was_interrupted_and_is_made_up_for);
	tcase_add_test(t, what_waited_beside_an_interrupted_run_is_not_missed_if_it_comes_by_itself);
	tcase_add_test(t, what_waited_beside_an_interrupted_run_is_missed);
	tcase_add_test(t, what_waits_to_be_made_up_for_goes_before_a_rung_that_a_pause_left);
	tcase_add_test(t, an_interval_of_seven_days_counts_over_restarts);
	tcase_add_test(t, a_record_from_the_near_future_runs_nothing_twice);
	tcase_add_test(t, a_record_from_the_far_future_is_not_believed);
	tcase_add_test(t, a_board_that_boots_in_1970_makes_up_for_the_night_when_it_learns_the_time);
	tcase_add_test(t, in_1970_a_moment_that_did_not_start_comes_again_and_has_one_record);
	tcase_add_test(t, set_back_by_hours_while_nobody_looked_the_clock_brings_nothing_again);
	tcase_add_test(t, what_a_record_from_the_future_says_of_what_lies_ahead_is_not_believed);
	tcase_add_test(t, a_ladder_that_is_lost_with_its_life_has_failed_for_good);
	tcase_add_test(t, stamps_from_before_the_boot_follow_the_clock);
	tcase_add_test(t, what_stretches_are_spent_is_merged_and_bounded);
	tcase_add_test(t, of_too_many_stretches_the_one_that_ends_first_is_forgotten);
	tcase_add_test(t, a_masked_target_is_counted_in_a_row);
	tcase_add_test(t, a_rung_after_all_ages_is_no_moment_of_the_past);
	tcase_add_test(t, spreading_moves_the_alarm);
	suite_add_tcase(s, t);
	return s;
}

TEST_MAIN(fsm_suite)
