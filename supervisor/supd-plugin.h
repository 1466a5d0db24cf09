/* SPDX-License-Identifier: MIT */
#ifndef SUPD_PLUGIN_H
#define SUPD_PLUGIN_H

/* The border between supd and its plugins; supd-plugin(3) is its manual.
 *
 * A plugin is a shared object that exports one const struct, supd_plugin_1. It has three entry
 * points: start, stop and list. start() is lent the host: a table of calls that is valid until
 * stop() returns. What happens meanwhile reaches the listener that start() subscribed. An instance
 * lives only while the gate is open and the manager is running: pausing or shutting down stops it,
 * resuming starts a new one.
 *
 * No re-entry: no host call ever calls back into the plugin, except through a function pointer that
 * is an argument of that very call. Consequences come later, as events. One thread: events, list()
 * and stop() never overlap.
 *
 * Growth: every struct that crosses the border begins with its size (the two tables: abi, size),
 * and grows only at its end; who reads a member newer than version 1 tests the size first. A change
 * of meaning is a new ABI number and a new symbol.
 *
 * Times are microseconds, UINT64_MAX is "never". Functions return 0 or more, or a negative
 * errno. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SUPD_ABI 1u
#define SUPD_NEVER UINT64_MAX
#define SUPD_RUN_ID_BYTES 16

/* Does this struct of the other side reach as far as @member? */
#define SUPD_HAS(ptr, member) \
	((ptr)->size >= offsetof(__typeof__(*(ptr)), member) + sizeof((ptr)->member))

enum supd_clock {
	SUPD_CLOCK_REALTIME, /* since the epoch; jumps when somebody sets it */
	SUPD_CLOCK_BOOTTIME, /* since boot, suspend included; never jumps */
};
#define SUPD_CLOCK_COUNT 2

/* Plugins live while it is running; the others are for those who show it. */
enum supd_manager_state {
	SUPD_MANAGER_STARTING,
	SUPD_MANAGER_RUNNING,
	SUPD_MANAGER_PAUSED,
	SUPD_MANAGER_STOPPING,
	SUPD_MANAGER_ENDED,
};
#define SUPD_MANAGER_STATE_COUNT (SUPD_MANAGER_ENDED + 1)

/* One moment, read once a loop turn. */
struct supd_now {
	uint64_t real;
	uint64_t boot;
};

enum supd_log_level {
	SUPD_LOG_ERROR = 3, /* syslog's numbers */
	SUPD_LOG_WARNING = 4,
	SUPD_LOG_NOTICE = 5,
	SUPD_LOG_INFO = 6,
	SUPD_LOG_DEBUG = 7,
};

/* ---- rows: typed keys and values, so that nobody who shows them needs to know what they mean
 * ---- */

enum supd_type {
	SUPD_NULL,      /* unknown, or does not apply */
	SUPD_BOOL,      /* value.boolean */
	SUPD_NUMBER,    /* value.number */
	SUPD_STRING,    /* value.string, UTF-8, never NULL */
	SUPD_TIMESTAMP, /* value.usec: real time, since the epoch */
	SUPD_SPAN,      /* value.usec: a length of time */
	SUPD_ROW,       /* value.row: fields of its own */
	SUPD_ROWS,      /* value.rows: a list of such */
	SUPD_STRINGS,   /* value.strings */
	SUPD_REAL,      /* value.real, finite */
};
#define SUPD_TYPE_COUNT (SUPD_REAL + 1)

struct supd_row;

struct supd_field {
	const char *key; /* [a-z][a-z0-9_]* */
	enum supd_type type;
	union {
		bool boolean;
		int64_t number;
		double real;
		const char *string;
		uint64_t usec;
		const struct supd_row *row;
		struct {
			const struct supd_row *item;
			size_t n;
		} rows;
		struct {
			const char *const *item;
			size_t n;
		} strings;
	} value;
};

struct supd_row {
	const struct supd_field *field;
	size_t n;
};

/* Lent during the call. A negative return ends the listing and is passed up. */
typedef int supd_row_fn(void *userdata, const struct supd_row *row);

/* ---- units as the host read them ---- */

struct supd_assignment {
	const char *section; /* "Timer" */
	const char *key;     /* "OnCalendar", "X-RetrySec": as it stands */
	const char *value;   /* verbatim, continuation lines joined; "" resets */
	const char *file;    /* where it stands */
	uint32_t line;
	uint32_t section_line; /* where its section's header stands; 0: unknown */
};

/* One unit file with its drop-ins, merged; lent during the call. */
struct supd_unit_file {
	uint32_t size;
	const char *name;
	uint64_t fingerprint; /* changes when a byte of it may have changed */
	bool is_masked;
	bool is_enabled;      /* as its directory means it: a link, or no Enabled=no, see supd(8) */
	const struct supd_assignment *assignment;
	size_t n_assignments;
	const char *path;     /* of the fragment */
};

struct supd_unit_reader {
	uint32_t size;
	void *userdata;
	/* Asked first, by name and fingerprint. False: leave it unread (known already). */
	bool (*want)(void *userdata, const char *name, uint64_t fingerprint);
	/* Called in the order of names. Not called for files that the host itself found at
	 * fault. */
	int (*unit)(void *userdata, const struct supd_unit_file *file);
};

enum supd_severity {
	SUPD_PROBLEM_ERROR,       /* makes the unit invalid */
	SUPD_PROBLEM_WARNING,     /* something was set aside; the message says what */
	SUPD_PROBLEM_NOT_APPLIED, /* systemd's key, accepted, and not yet applied here */
};

/* A mistake in a unit file, or a remark; told the host, who lists it and says it where asked. */
struct supd_problem {
	uint32_t size;
	const char *unit;
	const char *file;    /* or NULL */
	uint32_t line;       /* or 0 */
	const char *key;     /* or NULL */
	const char *message; /* lower case, no full stop */
	enum supd_severity severity;
};

enum supd_result {
	SUPD_RESULT_NONE,         /* has not ended, or never ran */
	SUPD_RESULT_SUCCESS,
	SUPD_RESULT_EXIT_CODE,    /* status: the exit code */
	SUPD_RESULT_SIGNAL,       /* status: the signal */
	SUPD_RESULT_CORE_DUMP,    /* status: the signal */
	SUPD_RESULT_TIMEOUT,
	SUPD_RESULT_EXEC,         /* could not be executed; status: errno */
	SUPD_RESULT_SKIPPED,      /* a condition said no */
	SUPD_RESULT_RESOURCES,    /* supd lacked something; status: errno */
	SUPD_RESULT_STOPPED,      /* stopped on request before it was done */
	SUPD_RESULT_DEPENDENCY,   /* not begun: a unit that it requires failed */
	SUPD_RESULT_START_LIMIT,  /* not begun: started too often */
	SUPD_RESULT_ASSERT,       /* an assert was not met: nothing was run */
	SUPD_RESULT_OOM_KILL,     /* the kernel killed a process of it, as its memory was used up */
};
#define SUPD_RESULT_COUNT (SUPD_RESULT_OOM_KILL + 1)

/* What a unit is and does, as far as somebody who wants to start it must know. */
struct supd_unit_state {
	uint32_t size;
	bool is_startable;  /* loaded, valid, a oneshot service; else @why_not says why not */
	bool is_masked;
	bool is_enabled;
	bool is_active;     /* starting, running, stopping, or remains after exit */
	const char *why_not; /* a sentence, or NULL; lent until the next host call */
	/* the run that goes on, or the last one; zero: none yet */
	uint8_t run_id[SUPD_RUN_ID_BYTES];
	enum supd_result result;           /* how that run ended; NONE while it goes on */
	int32_t status;
	struct supd_now ended;             /* zero while it goes on */
	/* its own, if the one asked for is an alias; lent until the next host call */
	const char *name;
};

/* Why a unit is started. Lent during the call. */
struct supd_cause {
	uint32_t size;
	const char *kind;         /* "calendar", "startup", "retry", "manual" …: [a-z-]{1,32} */
	const char *trigger_unit; /* the unit that starts it, or NULL */
	uint32_t attempt;         /* 1 is the first */
	uint8_t run_id[SUPD_RUN_ID_BYTES];
	/* the moment it was due; SUPD_NEVER where that is on the other clock */
	uint64_t scheduled_real;
	uint64_t scheduled_boot;
	uint64_t triggered_real;  /* the time of the event in which it was decided */
	uint64_t triggered_boot;
};

enum supd_run_stage {
	SUPD_RUN_STARTED,
	SUPD_RUN_ENDED,
	SUPD_RUN_INACTIVE, /* the unit, which had remained active after that run, was stopped */
};

/* A run of some unit began or ended (whoever began it); lent during the call. */
struct supd_run_event {
	uint32_t size;
	const char *unit;
	enum supd_run_stage stage;
	uint8_t run_id[SUPD_RUN_ID_BYTES];
	const char *cause_kind;
	enum supd_result result;
	int32_t status;
	bool is_unit_active; /* after this event: a service may remain active after its run */
};

enum supd_command {
	SUPD_COMMAND_TRIGGER,
	SUPD_COMMAND_RESET,
	SUPD_COMMAND_SKIP,   /* drop the coming @moment */
	SUPD_COMMAND_UNSKIP, /* take that back */
};
#define SUPD_COMMAND_COUNT (SUPD_COMMAND_UNSKIP + 1)

/* An admin's command for a unit of this plugin's suffix. Lent during the call. */
struct supd_command_request {
	uint32_t size;
	enum supd_command command;
	const char *unit;
	/* SKIP, UNSKIP: real time; 0: the next one that is (UNSKIP: the first that is not) to
	 * come */
	uint64_t moment;
};

/* The answer to a command. */
struct supd_command_reply {
	uint32_t size;
	char target[256];                  /* TRIGGER: the unit that will run */
	uint8_t run_id[SUPD_RUN_ID_BYTES]; /* and its run */
	char message[512];                 /* on failure: why, what to do */
	uint64_t moment;                   /* SKIP, UNSKIP: which one it was */
	uint64_t next;                     /* and the next one now; SUPD_NEVER: none */
	bool is_changed;                   /* SKIP, UNSKIP: it was not so before */
};

/* ---- what the plugin hears; every member is required in version 1 ---- */

struct supd_listener {
	uint32_t abi, size;
	/* The alarm of this clock is due (or was: it may be stale). It is disarmed. */
	void (*wake)(void *userdata, const struct supd_now *now, enum supd_clock clock);
	/* Somebody set the real-time clock; delta is signed. */
	void (*clock_jump)(void *userdata, const struct supd_now *now, int64_t delta);
	void (*zone_change)(void *userdata, const struct supd_now *now);
	void (*run)(void *userdata, const struct supd_now *now, const struct supd_run_event *run);
	/* A save() is on disk (0) or failed (negative errno); saves are answered in their order,
	 * and one that a newer save replaced before it was begun is answered with that newer
	 * one. */
	void (*saved)(void *userdata, const struct supd_now *now, uint64_t ticket, int result);
	/* A reload in two steps. prepare(): read the units again, tell the problems, keep the
	 * result aside; read_units() and unit_state() answer from the new set. Then either commit()
	 * or abort(). */
	int (*prepare)(void *userdata, const struct supd_now *now);
	void (*commit)(void *userdata, const struct supd_now *now);
	void (*abort)(void *userdata);
	/* 0, -ENOENT, -EOPNOTSUPP (a command that it does not know), or another errno with a
	 * message. */
	int (*command)(void *userdata, const struct supd_now *now,
		       const struct supd_command_request *request,
		       struct supd_command_reply *reply);
};

/* ---- what the plugin may call; lent from start() until stop() returns ---- */

/* The circumstances of start(). */
struct supd_start_info {
	uint32_t size;
	struct supd_now now;
	/* when the manager became running, in this life of the daemon */
	struct supd_now running_since;
	struct supd_now daemon_since;
	uint8_t daemon_id[16];         /* new for each life of the daemon */
	char boot_id[37];              /* of the kernel, as text; "" unknown */
	uint8_t machine_id[16];        /* zero: unknown */
	bool is_container;             /* boot means the daemon's start */
	uint64_t clock_epoch;          /* real time before this is not believed */
};

struct supd_host {
	uint32_t abi, size;
	void *ctx; /* first argument of every call */
	int (*subscribe)(void *ctx, const struct supd_listener *listener, void *userdata);
	/* Wake me when @clock reaches @when; replaces the alarm of that clock. SUPD_NEVER: no
	 * alarm. */
	int (*arm)(void *ctx, enum supd_clock clock, uint64_t when);
	/* Start @unit. 0: run() will say STARTED and later ENDED with the cause's run id. Refused,
	 * and nothing will come: -EALREADY it is active, -ENOENT, -EPERM masked, -EACCES disabled
	 * (Enabled=no), -ENOEXEC invalid or not a oneshot service, -ESHUTDOWN the manager is
	 * stopping, -ENOMEM. */
	int (*start_unit)(void *ctx, const char *unit, const struct supd_cause *cause);
	int (*unit_state)(void *ctx, const char *unit, struct supd_unit_state *ret); /* -ENOENT */
	/* Every unit with the plugin's suffix; a unit that is read again loses its problems
	 * first. */
	int (*read_units)(void *ctx, const struct supd_unit_reader *reader);
	int (*problem)(void *ctx, const struct supd_problem *problem);
	/* A setting of supd.conf ("RetrySec"), verbatim; NULL: not set. Lent until the next host
	 * call. */
	const char *(*setting)(void *ctx, const char *key);
	/* The plugin's state, one blob. save() copies, returns a ticket at once, and is answered by
	 * saved(). load() generation 0 is the newest, 1 the one before; the bytes are lent to @fn.
	 * -ENOENT: none. */
	int64_t (*save)(void *ctx, const void *bytes, size_t n);
	int (*load)(void *ctx, unsigned generation,
		    int (*fn)(void *userdata, const void *bytes, size_t n), void *userdata);
	/* Put the newest generation out of the way, under another name, for a person to look at. */
	int (*set_aside)(void *ctx, char *ret_name, size_t n);
	uint64_t (*random)(void *ctx);
	void (*log)(void *ctx, enum supd_log_level level, const char *unit, const char *message);
	/* Something happened that people may want to follow: "elapsed", "missed" … */
	void (*event)(void *ctx, const char *type, const char *unit, const struct supd_row *fields);
	/* Adds to what was saved last, behind it, and load() gives both as one. Copies, returns a
	 * ticket at once, and is answered by saved(): it is there whole then. What a crash kept of
	 * one that was not answered may be cut off anywhere, and the plugin must see that by
	 * itself. After a failure, and in stop(), nothing can be added until a save() has
	 * succeeded; without save() in this life, nothing can. -ENOTSUP: this host cannot. */
	int64_t (*append)(void *ctx, const void *bytes, size_t n);
	/* As start_unit(). Nothing of it is executed, nor of what is started because of it, before
	 * the write of the save() or append() that gave @ticket is over, whether it succeeded or
	 * not; what can be prepared is prepared meanwhile. */
	int (*start_after)(void *ctx, const char *unit, const struct supd_cause *cause,
			   uint64_t ticket);
	/* later versions only append */
};

struct supd_instance; /* the plugin's own */

struct supd_query {
	uint32_t size;
	const char *table; /* "units": one row a unit; "invalid": one a mistaken unit; "why",
			    * "status": one unit's; "plan": one a coming moment */
	const char *unit;  /* only this one, or NULL */
	struct supd_now now;
	uint64_t from, to; /* "plan": only moments from here up to before there; real time */
};

struct supd_plugin {
	uint32_t abi, size; /* these two never move, in any version */
	const char *name;   /* "timer" */
	const char *suffix; /* ".timer" */
	int (*start)(const struct supd_host *host, const struct supd_start_info *info,
		     struct supd_instance **ret);
	/* Saves what it must. NULL is allowed. Afterwards the host disarms and forgets everything
	 * of it. */
	void (*stop)(struct supd_instance *self, const struct supd_now *now);
	/* Rows of a table; an unknown table is -EOPNOTSUPP, an unknown unit -ENOENT. */
	int (*list)(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
		    void *userdata);
	/* Keys of its units in whose values the host replaces specifiers (%i, %n, %h …) before it
	 * hands them over; NULL-terminated, or NULL: none. X-Key= is Key= here. */
	const char *const *expanded;
};

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
extern const struct supd_plugin supd_plugin_1; /* the only symbol a plugin exports */

#ifdef __cplusplus
}
#endif

#endif
