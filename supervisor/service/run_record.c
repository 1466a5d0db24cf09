/* SPDX-License-Identifier: MIT */
#include "service/run_record.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"

static const char *const result_words[] = {
	[RUN_RESULT_NONE] = "none",
	[RUN_RESULT_SUCCESS] = "success",
	[RUN_RESULT_EXIT_CODE] = "exit-code",
	[RUN_RESULT_SIGNAL] = "signal",
	[RUN_RESULT_CORE_DUMP] = "core-dump",
	[RUN_RESULT_TIMEOUT] = "timeout",
	[RUN_RESULT_EXEC] = "exec",
	[RUN_RESULT_SKIPPED] = "exec-condition",
	[RUN_RESULT_RESOURCES] = "resources",
	[RUN_RESULT_STOPPED] = "stopped",
	[RUN_RESULT_DEPENDENCY] = "dependency",
	[RUN_RESULT_START_LIMIT] = "start-limit-hit",
	[RUN_RESULT_ASSERT] = "assert",
	[RUN_RESULT_OOM_KILL] = "oom-kill",
};
static_assert(ELEMENTS(result_words) == RUN_RESULT_COUNT, "a word for each result");

/* Exit statuses as in systemd.exec(5), "PROCESS EXIT CODES". */
static const struct {
	const char *name;
	int status;
} steps[] = {
	[EXEC_STEP_NONE] = { "none", 0 },
	[EXEC_STEP_FORK] = { "fork", 0 },
	[EXEC_STEP_CGROUP] = { "cgroup", 219 },
	[EXEC_STEP_STDIN] = { "stdin", 208 },
	[EXEC_STEP_STDOUT] = { "stdout", 209 },
	[EXEC_STEP_STDERR] = { "stderr", 222 },
	[EXEC_STEP_NICE] = { "nice", 201 },
	[EXEC_STEP_SETSID] = { "setsid", 220 },
	[EXEC_STEP_SIGNAL_MASK] = { "signal-mask", 207 },
	[EXEC_STEP_ENVIRONMENT] = { "environment", 0 },
	[EXEC_STEP_GROUP] = { "group", 216 },
	[EXEC_STEP_USER] = { "user", 217 },
	[EXEC_STEP_CHDIR] = { "chdir", 200 },
	[EXEC_STEP_FDS] = { "fds", 202 },
	[EXEC_STEP_EXEC] = { "exec", 203 },
	[EXEC_STEP_LIMITS] = { "limits", 205 },
	[EXEC_STEP_OOM_ADJUST] = { "oom-adjust", 206 },
	[EXEC_STEP_SCHEDULER] = { "scheduler", 214 },
	[EXEC_STEP_CPU_AFFINITY] = { "cpu-affinity", 215 },
	[EXEC_STEP_NUMA_POLICY] = { "numa-policy", 242 },
	[EXEC_STEP_IO_PRIORITY] = { "io-priority", 211 },
	[EXEC_STEP_TIMER_SLACK] = { "timer-slack", 212 },
	[EXEC_STEP_PERSONALITY] = { "personality", 230 },
	[EXEC_STEP_RUNTIME_DIRECTORY] = { "runtime-directory", 233 },
	[EXEC_STEP_STATE_DIRECTORY] = { "state-directory", 238 },
	[EXEC_STEP_CACHE_DIRECTORY] = { "cache-directory", 239 },
	[EXEC_STEP_LOGS_DIRECTORY] = { "logs-directory", 240 },
	[EXEC_STEP_CONFIGURATION_DIRECTORY] = { "configuration-directory", 241 },
};
static_assert(ELEMENTS(steps) == EXEC_STEP_COUNT, "a name and a status for each step");

usec_t run_scheduled_real(const struct run *run)
{
	if (run->scheduled_real != USEC_NEVER)
		return run->scheduled_real;
	if (run->scheduled_boot == USEC_NEVER || run->scheduled_boot > run->triggered_boot)
		return USEC_NEVER;
	return usec_sub(run->triggered_real, run->triggered_boot - run->scheduled_boot);
}

const char *run_result_to_string(enum run_result r)
{
	return result_words[r];
}

bool run_result_from_string(const char *word, enum run_result *ret)
{
	for (size_t i = 0; i < ELEMENTS(result_words); i++)
		if (str_equal(result_words[i], word)) {
			*ret = (enum run_result) i;
			return true;
		}
	return false;
}

const char *run_result_words(const struct run *r, char *buf, size_t n)
{
	char name[16];

	switch (r->result) {
	case RUN_RESULT_NONE:
		return "running";
	case RUN_RESULT_SUCCESS:
		return "success";
	case RUN_RESULT_TIMEOUT:
		return "timeout";
	case RUN_RESULT_SKIPPED:
		return "skipped";
	case RUN_RESULT_STOPPED:
		return "stopped";
	case RUN_RESULT_START_LIMIT:
		return "started too often";
	case RUN_RESULT_DEPENDENCY:
		if (!r->detail)
			return "dependency failed";
		(void) snprintf(buf, n, "dependency failed: %s", r->detail);
		return buf;
	case RUN_RESULT_OOM_KILL:
		return "killed, out of memory";
	case RUN_RESULT_ASSERT:
		return "failed assert";
	case RUN_RESULT_EXIT_CODE:
		(void) snprintf(buf, n, "failed exit %d", r->status);
		return buf;
	case RUN_RESULT_SIGNAL:
		(void) snprintf(buf, n, "killed %s", value_signal_name(r->status, name));
		return buf;
	case RUN_RESULT_CORE_DUMP:
		(void) snprintf(buf, n, "dumped %s", value_signal_name(r->status, name));
		return buf;
	case RUN_RESULT_EXEC:
	case RUN_RESULT_RESOURCES:
		(void) snprintf(buf, n, "failed %s: %s", exec_step_to_string(r->step),
				strerror(r->status));
		return buf;
	}
	return "";
}

const char *run_unmet(const struct run *r)
{
	return r->result == RUN_RESULT_SKIPPED || r->result == RUN_RESULT_ASSERT ? r->detail : NULL;
}

const char *exec_step_to_string(enum exec_step s)
{
	return steps[s].name;
}

int exec_step_status(enum exec_step s)
{
	return steps[s].status;
}
