/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_RUN_RECORD_H
#define SUPD_SERVICE_RUN_RECORD_H

/* One run of a service: what is known of it from its cause to its end. DESIGN section 7. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

#define RUN_ID_BYTES 16
#define RUN_CAUSE_MAX 32

enum run_result {
	RUN_RESULT_NONE, /* goes on */
	RUN_RESULT_SUCCESS,
	RUN_RESULT_EXIT_CODE,
	RUN_RESULT_SIGNAL,
	RUN_RESULT_CORE_DUMP,
	RUN_RESULT_TIMEOUT,
	RUN_RESULT_EXEC,      /* a step between fork and exec failed */
	RUN_RESULT_SKIPPED,   /* a condition said no */
	RUN_RESULT_RESOURCES, /* supd lacked something: no process, no memory */
	RUN_RESULT_STOPPED,   /* stopped on request before it was done */
	RUN_RESULT_DEPENDENCY,  /* not begun: a unit that it requires failed; detail says which */
	RUN_RESULT_START_LIMIT, /* not begun: started too often */
	RUN_RESULT_ASSERT,      /* an Assert*= was not met, detail says which; nothing was run */
	/* the kernel killed a process of the run, as its memory was used up */
	RUN_RESULT_OOM_KILL,
};
#define RUN_RESULT_COUNT (RUN_RESULT_OOM_KILL + 1)

/* The steps between fork and exec that can fail, as systemd names them; exec_step_status() is the
 * exit status that systemd.exec(5) gives it (200 CHDIR, 203 EXEC, 216 GROUP, 217 USER …). */
enum exec_step {
	EXEC_STEP_NONE,
	EXEC_STEP_FORK,
	EXEC_STEP_CGROUP,
	EXEC_STEP_STDIN,
	EXEC_STEP_STDOUT,
	EXEC_STEP_STDERR,
	EXEC_STEP_NICE,
	EXEC_STEP_SETSID,
	EXEC_STEP_SIGNAL_MASK,
	EXEC_STEP_ENVIRONMENT, /* an EnvironmentFile= could not be read */
	EXEC_STEP_GROUP,
	EXEC_STEP_USER,
	EXEC_STEP_CHDIR,
	EXEC_STEP_FDS,
	EXEC_STEP_EXEC,
	EXEC_STEP_LIMITS,
	EXEC_STEP_OOM_ADJUST,
	EXEC_STEP_SCHEDULER,
	EXEC_STEP_CPU_AFFINITY,
	EXEC_STEP_NUMA_POLICY,
	EXEC_STEP_IO_PRIORITY,
	EXEC_STEP_TIMER_SLACK,
	EXEC_STEP_PERSONALITY,
	EXEC_STEP_RUNTIME_DIRECTORY,
	EXEC_STEP_STATE_DIRECTORY,
	EXEC_STEP_CACHE_DIRECTORY,
	EXEC_STEP_LOGS_DIRECTORY,
	EXEC_STEP_CONFIGURATION_DIRECTORY,
};
#define EXEC_STEP_COUNT (EXEC_STEP_CONFIGURATION_DIRECTORY + 1)

struct diag;
struct run_said;

/* For a run that OnFailure= or OnSuccess= began: of what run that is the end. */
struct run_monitor {
	uint8_t id[RUN_ID_BYTES];
	enum run_result result;
	bool main_exited;
	int32_t main_wstatus;
	char unit[];
};

struct run {
	uint8_t id[RUN_ID_BYTES];
	char cause[RUN_CAUSE_MAX + 1];
	const char *trigger_unit; /* or NULL; owned by who owns the run */
	uint32_t attempt;
	uint64_t after; /* the ticket of a save: see struct supd_host's start_after(); 0: none */
	usec_t scheduled_real, scheduled_boot; /* USEC_NEVER: not on that clock */
	usec_t triggered_real, triggered_boot; /* when the trigger decided */
	usec_t started_real, started_boot;     /* the first process; 0: none was started */
	usec_t ended_real, ended_boot;         /* 0: goes on */
	enum run_result result;
	/* EXIT_CODE, SKIPPED: the code; SIGNAL, CORE_DUMP: the signal; EXEC, RESOURCES: errno */
	int32_t status;
	enum exec_step step;      /* EXEC, RESOURCES: which */
	bool main_exited;         /* what EXIT_CODE= and EXIT_STATUS= say of the main process */
	int32_t main_wstatus;
	const struct run_monitor *monitor; /* or NULL; likewise */
	const char *detail; /* DEPENDENCY: what failed; SKIPPED, ASSERT: what was not met; in words,
			     * or NULL. Owned like trigger_unit */
	/* what it printed last, until its end has been told; or NULL. Owned */
	char *last_words;
	size_t n_last_words;
	usec_t cpu;               /* user and system, of all processes reaped */
	uint64_t peak_memory;     /* bytes, of the largest process; 0: unknown */
	struct run_said *said;    /* over $NOTIFY_SOCKET; owned likewise; NULL: nothing */
	struct diag *refused;     /* limits that could not be had; owned likewise; NULL: none */
};

/* The scheduled moment on the real-time clock, where it was on the other as counted back from the
 * trigger; USEC_NEVER: there is none. */
usec_t run_scheduled_real(const struct run *run);

/* One word each, for records and programs: systemd's SERVICE_RESULT= words ("success", "exit-code",
 * "signal", "core-dump", "timeout", "exec-condition" for SKIPPED, "resources", "start-limit-hit"),
 * that of its jobs ("dependency") and ours: "none", "exec", "stopped", "assert". */
const char *run_result_to_string(enum run_result r);
/* The other way; false: no such word. */
bool run_result_from_string(const char *word, enum run_result *ret);
/* For people: "success", "failed exit 3", "killed KILL", "timeout", "failed user: No such process",
 * "skipped" … Lends @buf or a constant. */
const char *run_result_words(const struct run *r, char *buf, size_t n);
/* The condition or assert for which nothing was run, in a sentence; else NULL. Lends. */
const char *run_unmet(const struct run *r);
const char *exec_step_to_string(enum exec_step s); /* "user", "group", "chdir", "exec" … */
/* The exit status of systemd.exec(5), "PROCESS EXIT CODES"; 0 for NONE, FORK and ENVIRONMENT, which
 * come before. */
int exec_step_status(enum exec_step s);

#endif
