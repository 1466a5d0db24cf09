/* SPDX-License-Identifier: MIT */
#include "cli/cli_verbs.h"

#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/cli_environment.h"
#include "cli/cli_enable.h"
#include "cli/cli_events.h"
#include "cli/cli_healthy.h"
#include "cli/cli_history.h"
#include "cli/cli_jobs.h"
#include "cli/cli_logs.h"
#include "cli/cli_manager.h"
#include "cli/cli_options.h"
#include "cli/cli_run.h"
#include "cli/cli_stats.h"
#include "cli/cli_plan.h"
#include "cli/cli_skip.h"
#include "cli/cli_status.h"
#include "cli/cli_timers.h"
#include "cli/cli_units.h"
#include "cli/cli_verify.h"
#include "cli/cli_why.h"
#if ENABLE_TIMER
#include "cli/cli_calendar.h"
#include "cli/cli_simulate.h"
#endif

static int cli_help(struct cli *c, int argc, char **argv)
{
	const struct cli_verb *v = argc > 1 ? cli_options_verb(argv[1]) : NULL;
	char help[] = "--help", *words[] = { argv[1], help, NULL };

	if (argc > 1 && !v)
		return cli_fail(c, CONTROL_USAGE, "unknown verb '%s' (supctl --help lists them)",
				argv[1]);
	if (v && v->raw)
		return v->raw(2, words);
	if (v)
		cli_options_help_verb(v, stdout);
	else
		cli_options_help(stdout);
	return CONTROL_OK;
}

#define LOOK "Looking"
#define DO "Doing"
#define DAEMON "The daemon"
#define OFFLINE "Without a daemon"
#define JOB (CLI_NO_BLOCK | CLI_QUIET)
#define ENABLE (CLI_QUIET | CLI_RUNTIME | CLI_NOW | CLI_NO_BLOCK)

static const struct cli_verb verbs[] = {
	{ LOOK, "list", "list-units", "[PATTERN…]", "units and their states", CLI_FAILED | CLI_ALL,
	  0, -1, cli_list, NULL },
	{ LOOK, "timers", "list-timers", "[PATTERN…]",
	  "timers: when each elapses next, how it went last", CLI_ALL, 0, -1, cli_timers, NULL },
	{ LOOK, "why", NULL, "TIMER",
	  "why a timer elapses when it does, and what became of its last moments", 0, 1, 1, cli_why,
	  NULL },
	{ LOOK, "plan", NULL, "[PATTERN…]", "a day as it was and will be",
	  CLI_DAY | CLI_FROM | CLI_TO | CLI_STATE_DIR, 0, -1, cli_plan, NULL },
	{ LOOK, "history", NULL, "[PATTERN…]", "every run and every miss, newest first",
	  CLI_LINES | CLI_OFFSET | CLI_SINCE | CLI_UNTIL | CLI_RESULT | CLI_CAUSE | CLI_RUN |
		  CLI_STATE_DIR,
	  0, -1, cli_history, NULL },
	{ LOOK, "status", NULL, "[UNIT…]", "what a unit does and did; without a unit, all", 0, 0,
	  -1, cli_status, NULL },
	{ LOOK, "stats", NULL, "[PATTERN…]", "what runs and misses come to",
	  CLI_SINCE | CLI_UNTIL | CLI_OPENMETRICS | CLI_STATE_DIR, 0, -1, cli_stats, NULL },
	{ LOOK, "show", NULL, "UNIT", "properties of a unit, one a line", CLI_PROPERTY | CLI_VALUE,
	  1, 1, cli_show, NULL },
	{ LOOK, "logs", NULL, "UNIT…", "what services printed",
	  CLI_LINES | CLI_FOLLOW | CLI_RUN | CLI_SINCE | CLI_UNTIL | CLI_STATE_DIR, 1, -1, cli_logs,
	  NULL },
	{ LOOK, "events", NULL, "[PATTERN…]", "what happened to timers, runs and supd itself",
	  CLI_LINES | CLI_FOLLOW | CLI_TYPE | CLI_UNIT, 0, -1, cli_events, NULL },
	{ LOOK, "cat", NULL, "UNIT…", "the files of units", 0, 1, -1, cli_cat, NULL },
	{ LOOK, "env", NULL, "UNIT", "the environment that a run of a service gets", CLI_NULL, 1, 1,
	  cli_environment, NULL },
	{ LOOK, "is-active", NULL, "UNIT…", "exit status 0 if one of the units is active, else 3",
	  CLI_QUIET, 1, -1, cli_is, NULL },
	{ LOOK, "is-failed", NULL, "UNIT…", "exit status 0 if one of the units has failed, else 1",
	  CLI_QUIET, 1, -1, cli_is, NULL },
	{ LOOK, "is-enabled", NULL, "UNIT…", "exit status 0 if one of the units is enabled, else 1",
	  CLI_QUIET, 1, -1, cli_is, NULL },
	{ LOOK, "is-healthy", NULL, "[PATTERN…]",
	  "exit status 0 if there is nothing to look at, else 1 and a line for each", CLI_QUIET, 0,
	  -1, cli_is_healthy, NULL },

	{ DO, "start", NULL, "UNIT…", "run services, wait for their ends, tell the results", JOB, 1,
	  -1, cli_job, NULL },
	{ DO, "run", NULL, "[OPTION…] [--] COMMAND…",
	  "run a command as a service, now or on a schedule",
	  CLI_USER | CLI_SYSTEM | CLI_RUNTIME_DIR | CLI_VERBATIM, 1, -1, NULL, cli_run },
	{ DO, "stop", NULL, "UNIT…", "stop services", JOB, 1, -1, cli_job, NULL },
	{ DO, "restart", NULL, "UNIT…", "stop services and run them again", JOB, 1, -1, cli_job,
	  NULL },
	{ DO, "trigger", NULL, "TIMER…", "run what timers activate, now", JOB, 1, -1, cli_job,
	  NULL },
	{ DO, "enable", NULL, "UNIT…", "start services with supd, let timers elapse", ENABLE, 1, -1,
	  cli_enable, NULL },
	{ DO, "disable", NULL, "UNIT…", "the opposite", ENABLE, 1, -1, cli_enable, NULL },
	{ DO, "mask", NULL, "UNIT…", "let nothing start units, nor people", ENABLE, 1, -1,
	  cli_enable, NULL },
	{ DO, "unmask", NULL, "UNIT…", "the opposite", CLI_QUIET | CLI_RUNTIME, 1, -1, cli_enable,
	  NULL },
	{ DO, "reset", NULL, "UNIT…",
	  "forget what is on record of timers, and failures of services", CLI_QUIET, 1, -1, cli_job,
	  NULL },
	{ DO, "skip", NULL, "TIMER MOMENT…", "drop coming moments of a timer", CLI_QUIET, 2, -1,
	  cli_skip, NULL },
	{ DO, "unskip", NULL, "TIMER MOMENT…", "take that back", CLI_QUIET, 2, -1, cli_skip, NULL },

	{ DAEMON, "reload", "daemon-reload", "",
	  "read the unit files again, all or, if one is wrong, none", 0, 0, 0, cli_reload, NULL },
	{ DAEMON, "pause", NULL, "", "no timer elapses until resume; what runs goes on", 0, 0, 0,
	  cli_pause, NULL },
	{ DAEMON, "resume", NULL, "", "timers go on", 0, 0, 0, cli_pause, NULL },
	{ DAEMON, "experimental", NULL, "[enable|disable FEATURE]",
	  "features that are off by default", CLI_RUNTIME, 0, 2, cli_experimental, NULL },
	{ DAEMON, "version", NULL, "", "versions of supctl and of supd", 0, 0, 0, cli_version,
	  NULL },

	{ OFFLINE, "verify", NULL, "[FILE…]", "judge unit files: those named, or all there are",
	  CLI_USER | CLI_SYSTEM, 0, -1, NULL, cli_verify },
#if ENABLE_TIMER
	{ OFFLINE, "simulate", NULL, "[UNIT…]",
	  "what would run, be retried and be missed, with nothing run",
	  CLI_USER | CLI_SYSTEM | CLI_NO_LEGEND | CLI_FULL, 0, -1, NULL, cli_simulate },
	{ OFFLINE, "calendar", NULL, "EXPRESSION…",
	  "check calendar expressions and show when they elapse", 0, 1, -1, NULL, cli_calendar },
	{ OFFLINE, "timespan", NULL, "SPAN…", "check time spans", 0, 1, -1, NULL, cli_timespan },
	{ OFFLINE, "timestamp", NULL, "TIME…", "check timestamps", 0, 1, -1, NULL, cli_timestamp },
#endif
	{ OFFLINE, "help", NULL, "[VERB]", "help on all verbs, or one", 0, 0, 1, cli_help, NULL },
};

const struct cli_verb *cli_verb_at(size_t i)
{
	return i < ELEMENTS(verbs) ? &verbs[i] : NULL;
}
