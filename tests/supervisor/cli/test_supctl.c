/* SPDX-License-Identifier: MIT */

/* The real supctl against a daemon that answers from a script: what it asks, prints and returns. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "control/server.h"
#include "tests/lib/test_dir.h"
#include "tests/lib/test_main.h"

#define SEC UINT64_C(1000000)
#define NOON (UINT64_C(1795262400) * SEC) /* Sat 2026-11-21 12:00:00 UTC */

static struct {
	char *dir, *supctl;
	pid_t daemon;
} world;

/* ---- the daemon, in a process of its own ---- */

static struct control_server *server;

#define STRING(k, s) { .key = k, .type = SUPD_STRING, .value.string = s }
#define BOOL(k, b) { .key = k, .type = SUPD_BOOL, .value.boolean = b }
#define NUMBER(k, v) { .key = k, .type = SUPD_NUMBER, .value.number = v }
#define TIME(k, v) { .key = k, .type = SUPD_TIMESTAMP, .value.usec = v }
#define SPAN(k, v) { .key = k, .type = SUPD_SPAN, .value.usec = v }
#define NOTHING(k) { .key = k, .type = SUPD_NULL }
#define SEND(id, ...)                                                                           \
	do {                                                                                    \
		const struct supd_field _f[] = { __VA_ARGS__ };                                 \
		control_row(server, id, &(const struct supd_row){ _f, ELEMENTS(_f) });          \
	} while (0)

static const struct supd_field problem_fields[] = {
	STRING("file", "/units/bad.service"),
	NUMBER("line", 3),
	STRING("key", "Typo"),
	STRING("message", "unknown key 'Typo'\x1b[31m"),
	STRING("severity", "error"),
};
static const struct supd_row problem = { problem_fields, ELEMENTS(problem_fields) };
static const char *const triggered_by[] = { "a.timer" };
static const char *const dropins[] = { "/units/a.service.d/1.conf", "/units/a.service.d/2.conf" };

static void send_a(uint64_t id)
{
	SEND(id, STRING("unit", "a.service"), STRING("description", "First\nline"), STRING("load_state", "loaded"),
	     STRING("active_state", "active"), STRING("sub_state", "exited"), BOOL("enabled", true),
	     STRING("result", "success"), STRING("run_id", "00112233445566778899aabbccddeeff"),
	     STRING("cause", "calendar"), STRING("trigger", "a.timer"), NUMBER("attempt", 2), TIME("started", NOON),
	     TIME("ended", NOON + 2 * SEC), SPAN("duration", 2 * SEC), NUMBER("main_pid", 42),
	     STRING("fragment", "/units/a.service"),
	     { .key = "dropins", .type = SUPD_STRINGS, .value.strings = { dropins, 2 } },
	     { .key = "problems", .type = SUPD_ROWS },
	     { .key = "triggered_by", .type = SUPD_STRINGS, .value.strings = { triggered_by, 1 } });
}

static void send_bad(uint64_t id)
{
	SEND(id, STRING("unit", "bad.service"), NOTHING("description"), STRING("load_state", "invalid"),
	     STRING("active_state", "inactive"), STRING("sub_state", "dead"), BOOL("enabled", false), NOTHING("result"),
	     STRING("fragment", "/units/bad.service"),
	     { .key = "problems", .type = SUPD_ROWS, .value.rows = { &problem, 1 } });
}

static void send_failed(uint64_t id)
{
	SEND(id, STRING("unit", "failed.service"), STRING("load_state", "loaded"), STRING("active_state", "failed"),
	     STRING("sub_state", "failed"), BOOL("enabled", false), STRING("result", "failed exit 3"));
}

static const struct supd_field trigger_fields[][3] = {
	{ STRING("key", "OnCalendar"), STRING("value", "daily"), TIME("next", NOON) },
	{ STRING("key", "OnUnitActiveSec"), STRING("value", "1h"), NOTHING("next") },
};
static const struct supd_row triggers[] = { { trigger_fields[0], 3 }, { trigger_fields[1], 3 } };
static const struct supd_field retry_fields[] = { NUMBER("attempt", 2), NUMBER("of", 3), TIME("at", NOON) };
static const struct supd_row retry = { retry_fields, ELEMENTS(retry_fields) };
static const struct supd_field miss_fields[] = { TIME("at", NOON), STRING("reason", "overlap"), NUMBER("count", 2) };
static const struct supd_row miss = { miss_fields, ELEMENTS(miss_fields) };

static void send_timer(uint64_t id)
{
	SEND(id, TIME("next", NOON), SPAN("left", 14 * SEC), TIME("last", NOON), SPAN("passed", 5 * SEC),
	     STRING("unit", "a.timer"), STRING("activates", "a.service"), STRING("result", "retry 2/3 in 14s"),
	     STRING("load_state", "loaded"), STRING("active_state", "active"), STRING("sub_state", "waiting"),
	     STRING("next_cause", "retry"), BOOL("enabled", true),
	     { .key = "retry", .type = SUPD_ROW, .value.row = &retry },
	     { .key = "last_miss", .type = SUPD_ROW, .value.row = &miss }, NUMBER("miss_count", 5),
	     { .key = "timer_triggers", .type = SUPD_ROWS, .value.rows = { triggers, 2 } },
	     STRING("fragment", "/units/a.timer"));
}

static bool is_about(const struct control_request *q, const char *unit)
{
	return q->unit && str_equal(q->unit, unit);
}

static void no_unit(const struct control_request *q)
{
	char message[400];

	(void) snprintf(message, sizeof(message), "no unit '%s' (did you mean a.service?)", q->unit);
	control_done(server, q->id, 4, message);
}

static void answer_status(const struct control_request *q)
{
	if (is_about(q, "a.timer")) {
		send_timer(q->id);
		control_done(server, q->id, 0, NULL);
		return;
	}
	if (!q->unit || is_about(q, "a.service"))
		send_a(q->id);
	if (!q->unit || is_about(q, "bad.service"))
		send_bad(q->id);
	if (!q->unit || is_about(q, "failed.service"))
		send_failed(q->id);
	if (!q->unit || is_about(q, "a.service"))
		control_done(server, q->id, 0, NULL);
	else if (is_about(q, "bad.service"))
		control_done(server, q->id, 4, NULL);
	else if (is_about(q, "failed.service"))
		control_done(server, q->id, 3, NULL);
	else if (is_about(q, "off.timer"))
		control_done(server, q->id, 3, "timers are disabled");
	else
		no_unit(q);
}

static void send_run(const struct control_request *q, const char *result, const char *words, int status)
{
	SEND(q->id, STRING("unit", q->unit), STRING("run_id", "00112233445566778899aabbccddeeff"),
	     STRING("result", result), STRING("words", words), NUMBER("exit_status", status),
	     SPAN("duration", 1500 * 1000), STRING("cause", "manual"));
}

static void answer_job(const struct control_request *q)
{
	if (is_about(q, "failed.service")) {
		send_run(q, "exit-code", "failed exit 3", 3);
		control_done(server, q->id, 1, "failed.service: failed exit 3");
	} else if (is_about(q, "a.service") || is_about(q, "a.timer")) {
		send_run(q, "success", q->wait ? "success" : "started", 0);
		control_done(server, q->id, 0, NULL);
	} else {
		no_unit(q);
	}
}

static void answer_enable(const struct control_request *q)
{
	SEND(q->id, STRING("unit", q->unit), BOOL("changed", is_about(q, "a.timer")), NOTHING("message"));
	control_done(server, q->id, 0, NULL);
}

static void answer_table(const struct control_request *q)
{
	SEND(q->id, STRING("subsystem", "timer"), STRING("state", "enabled"), NOTHING("reason"),
	     NOTHING("not_persisted_since"));
	SEND(q->id, STRING("kind", "timer"), NOTHING("next"), NOTHING("left"), TIME("last", NOON), SPAN("passed", 5 * SEC),
	     STRING("unit", "z.timer"), STRING("activates", "z.service"), STRING("result", "missed overlap"),
	     BOOL("enabled", true));
	SEND(q->id, STRING("kind", "timer"), TIME("next", NOON), SPAN("left", 14 * SEC), NOTHING("last"), NOTHING("passed"),
	     STRING("unit", "b.timer"), STRING("activates", "b.service"), NOTHING("result"), BOOL("enabled", true));
	SEND(q->id, STRING("kind", "timer"), TIME("next", NOON), SPAN("left", 14 * SEC), TIME("last", NOON),
	     SPAN("passed", 5 * SEC), STRING("unit", "a.timer"), STRING("activates", "a.service"),
	     STRING("result", "success"), BOOL("enabled", true), NUMBER("newer_key", 7));
	SEND(q->id, STRING("kind", "timer"), NOTHING("next"), NOTHING("left"), NOTHING("last"), NOTHING("passed"),
	     STRING("unit", "off.timer"), STRING("activates", "off.service"), NOTHING("result"), BOOL("enabled", false));
	SEND(q->id, STRING("load_state", "invalid"), STRING("unit", "bad.timer"),
	     { .key = "problems", .type = SUPD_ROWS, .value.rows = { &problem, 1 } });
	control_done(server, q->id, 0, NULL);
}

static void answer_closed_table(const struct control_request *q)
{
	SEND(q->id, STRING("subsystem", "timer"), STRING("state", "disabled"), STRING("reason", "off by default"),
	     NOTHING("not_persisted_since"));
	control_done(server, q->id, 0, NULL);
}

static void answer_reload(const struct control_request *q, bool is_good)
{
	if (is_good) {
		SEND(q->id, STRING("unit", "new.service"), STRING("change", "added"));
		control_done(server, q->id, 0, NULL);
		return;
	}
	control_row(server, q->id, &problem);
	control_done(server, q->id, 4, "nothing was changed: 1 mistake must be corrected first");
}

static void answer_cat(const struct control_request *q)
{
	SEND(q->id, STRING("path", "/units/a.service"), STRING("text", "[Service]\nExecStart=/bin/true\n"));
	SEND(q->id, STRING("path", "/units/a.service.d/1.conf"), STRING("text", "[Unit]"));
	control_done(server, q->id, 0, NULL);
}

static void answer_feature(const struct control_request *q)
{
	SEND(q->id, STRING("feature", "timers"), BOOL("enabled", q->on), STRING("state", q->on ? "enabled" : "disabled"),
	     STRING("reason", q->runtime ? "for this run" : "off by default"));
	control_done(server, q->id, 0, NULL);
}

static void answer_logs(const struct control_request *q)
{
	if (is_about(q, "nosuch.service")) {
		no_unit(q);
		return;
	}
	if (is_about(q, "a.service") && !q->run) {
		SEND(q->id, TIME("time", NOON + 1), STRING("unit", q->unit),
		     STRING("run_id", "00112233445566778899aabbccddeeff"), STRING("stream", "stderr"), NUMBER("level", 4),
		     STRING("identifier", "me"), NUMBER("missing", 2), BOOL("continued", true),
		     STRING("message_base64", "AP8="));
		control_flush(server, q->id);
		SEND(q->id, TIME("time", NOON), STRING("unit", q->unit),
		     STRING("run_id", "00112233445566778899aabbccddeeff"), STRING("stream", "stdout"), NUMBER("level", 6),
		     STRING("message", "text"));
	}
	control_done(server, q->id, 0, NULL);
}

static void answer_run(const struct control_request *q)
{
	if (*q->timer_text) {
		SEND(q->id, STRING("unit", "r.timer"), STRING("activates", q->unit));
		control_done(server, q->id, 0, NULL);
	} else if (strstr(q->service_text, "Nice=99")) {
		SEND(q->id, STRING("file", "/run/r.service"), NUMBER("line", 7), STRING("message", "Nice= is wrong"),
		     STRING("severity", "error"));
		control_done(server, q->id, 4, "r.service: not run, for what stands above");
	} else {
		bool is_good = strstr(q->service_text, "ExecStart=/bin/true\n");

		SEND(q->id, STRING("unit", q->unit), STRING("result", is_good ? "success" : "exit-code"),
		     STRING("words", is_good ? "success" : "failed exit 7"), NUMBER("exit_status", is_good ? 0 : 7));
		control_done(server, q->id, !is_good, is_good ? NULL : "r.service: failed exit 7");
	}
}

static void answer_history(const struct control_request *q)
{
	if (q->offset == 0)
		SEND(q->id, STRING("kind", "missed"), STRING("unit", "a.service"), STRING("trigger", "a.timer"),
		     TIME("time", NOON), STRING("outcome", "missed"), STRING("words", "overlap\033"),
		     STRING("reason", "overlap\033"), NUMBER("count", 7));
	if (!q->outcomes)
		SEND(q->id, STRING("kind", "run"), STRING("unit", "a.service"), STRING("trigger", "a.timer"),
		     TIME("time", NOON), STRING("outcome", "failed"), STRING("words", "failed exit 3"),
		     STRING("run_id", "00112233445566778899aabbccddeeff"), STRING("cause", "retry"),
		     NUMBER("attempt", 3), SPAN("lateness", 1500), SPAN("duration", 61 * SEC), SPAN("cpu", 900),
		     NUMBER("peak_memory", 3 * 1024 * 1024));
	control_done(server, q->id, 0, NULL);
}

static void answer_statistics(const struct control_request *q)
{
	SEND(q->id, STRING("unit", "a.service"), NUMBER("runs", 3), NUMBER("success", 2), NUMBER("failed", 1),
	     NUMBER("missed", 0), NUMBER("healed", 1), SPAN("cpu", SEC), TIME("last_success", NOON));
	control_done(server, q->id, 0, NULL);
}

/* The userdata says which of two moods the daemon is in. */
static void ask(void *userdata, const struct control_request *q)
{
	bool is_open = *(const bool *) userdata;

	switch (q->verb) {
	case CONTROL_VERSION:
		SEND(q->id, STRING("version", "9.9"), STRING("state", "running"), NUMBER("pid", 1), TIME("started", NOON));
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_LIST:
		send_a(q->id);
		send_bad(q->id);
		send_failed(q->id);
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_STATUS:
	case CONTROL_SHOW:
		answer_status(q);
		return;
	case CONTROL_CAT:
		answer_cat(q);
		return;
	case CONTROL_START:
	case CONTROL_STOP:
	case CONTROL_RESTART:
	case CONTROL_TRIGGER:
		answer_job(q);
		return;
	case CONTROL_RESET:
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_ENABLE:
	case CONTROL_DISABLE:
	case CONTROL_MASK:
	case CONTROL_UNMASK:
		answer_enable(q);
		return;
	case CONTROL_RELOAD:
		answer_reload(q, is_open);
		return;
	case CONTROL_TABLE:
		if (is_open)
			answer_table(q);
		else
			answer_closed_table(q);
		return;
	case CONTROL_EXPERIMENTAL:
		answer_feature(q);
		return;
	case CONTROL_PAUSE:
	case CONTROL_RESUME:
		SEND(q->id, STRING("state", q->verb == CONTROL_PAUSE ? "paused" : "running"),
		     BOOL("changed", q->verb == CONTROL_PAUSE));
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_SKIP:
	case CONTROL_UNSKIP:
		SEND(q->id, STRING("unit", q->unit), TIME("moment", q->moment ? q->moment : NOON),
		     BOOL("changed", q->verb == CONTROL_SKIP), TIME("next", NOON + USEC_PER_DAY));
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_PLAN:
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_RUN:
		answer_run(q);
		return;
	case CONTROL_ENVIRONMENT:
		SEND(q->id, STRING("file", "/etc/default/a"), NUMBER("line", 3), STRING("message", "a line without '='"),
		     STRING("severity", "warning"));
		SEND(q->id, STRING("name", "A"), STRING("value", "one\ntwo\033[31m"));
		SEND(q->id, STRING("name", "B"), STRING("value", ""));
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_LOGS:
		answer_logs(q);
		return;
	case CONTROL_EVENTS:
		SEND(q->id, NUMBER("seq", 7), STRING("type", "missed"), STRING("level", "notice"),
		     STRING("unit", q->n_units > 0 ? q->units[0] : "a.timer"), STRING("message", q->types ? q->types : "mis\033[31m"));
		control_done(server, q->id, 0, NULL);
		return;
	case CONTROL_HISTORY:
		answer_history(q);
		return;
	case CONTROL_STATISTICS:
		answer_statistics(q);
		return;
	}
}

static void be_daemon(const char *directory, bool is_open, int ready)
{
	const struct control_config config = { .directory = directory, .ask = ask, .userdata = &is_open };
	sd_event *event;

	signal(SIGPIPE, SIG_IGN);
	if (sd_event_new(&event) < 0 || control_server_new(event, &config, &server) < 0)
		_exit(1);
	close(ready);
	_exit(sd_event_loop(event) < 0);
}

static void start_daemon(bool is_open)
{
	_cleanup_free_ char *directory = test_dir_path(world.dir, "supd");
	int ready[2];
	char byte;

	ck_assert(mkdir(directory, 0755) == 0 || errno == EEXIST);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	world.daemon = fork();
	if (world.daemon == 0)
		be_daemon(directory, is_open, ready[1]);
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
}

static void stop_daemon(void)
{
	if (world.daemon > 0) {
		kill(world.daemon, SIGKILL);
		waitpid(world.daemon, NULL, 0);
	}
	world.daemon = 0;
}

static void begin(void)
{
	world.dir = test_dir_new();
	world.supctl = test_build_path("supctl");
	setenv("TZ", "UTC", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("SUPD_RUNTIME_DIR");
}

static void begin_open(void)
{
	begin();
	start_daemon(true);
}

static void begin_closed(void)
{
	begin();
	start_daemon(false);
}

static void end(void)
{
	stop_daemon();
	free(world.supctl);
	test_dir_free(world.dir);
}

/* ---- running supctl ---- */

struct outcome {
	int status;
	char *out, *err;
};

/* @arguments is split by the shell. */
static struct outcome run(const char *arguments)
{
	_cleanup_free_ char *command = NULL;
	struct outcome o;
	int r;

	r = asprintf(&command, "'%s' --runtime-dir='%s' %s >'%s/out' 2>'%s/err' </dev/null", world.supctl, world.dir,
		     arguments, world.dir, world.dir);
	ck_assert_int_gt(r, 0);
	r = system(command);
	ck_assert(WIFEXITED(r));
	o.status = WEXITSTATUS(r);
	o.out = test_dir_read(world.dir, "out", NULL);
	o.err = test_dir_read(world.dir, "err", NULL);
	return o;
}

static void outcome_done(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

struct expectation {
	const char *arguments;
	int status;
	const char *out, *err;
};

static void check(const struct expectation *e)
{
	_cleanup_(outcome_done) struct outcome o = run(e->arguments);

	ck_assert_msg(str_equal(o.out, e->out), "supctl %s printed\n%s\nand not\n%s\nstderr: %s", e->arguments, o.out,
		      e->out, o.err);
	ck_assert_msg(str_equal(o.err, e->err), "supctl %s complained\n%s\nand not\n%s", e->arguments, o.err, e->err);
	ck_assert_msg(o.status == e->status, "supctl %s: exit status %d", e->arguments, o.status);
}

#define RUN_JSON(unit, result, words, status)                                                              \
	"{\"unit\":\"" unit "\",\"run_id\":\"00112233445566778899aabbccddeeff\",\"result\":\"" result       \
	"\",\"words\":\"" words "\",\"exit_status\":" status ",\"duration\":1500000,\"cause\":\"manual\"}"

static const struct expectation with_daemon[] = {
	{ "list", 0,
	  "UNIT           LOAD    ACTIVE   SUB    RESULT        DESCRIPTION\n"
	  "a.service      loaded  active   exited success       First\\nline\n"
	  "bad.service    invalid inactive dead   -             -\n"
	  "failed.service loaded  failed   failed failed exit 3 -\n"
	  "\n3 units listed.\n", "" },
	{ "--no-legend list 'f*'", 0, "failed.service loaded failed failed failed exit 3 -\n", "" },
	{ "list-units --failed --no-legend", 0, "failed.service loaded failed failed failed exit 3 -\n", "" },
	{ "list nothing --json", 0, "[]\n", "" },

	{ "timers", 0,
	  "NEXT                        LEFT     LAST                        PASSED UNIT    ACTIVATES RESULT\n"
	  "Sat 2026-11-21 12:00:00 UTC 14s left Sat 2026-11-21 12:00:00 UTC 5s ago a.timer a.service success\n"
	  "Sat 2026-11-21 12:00:00 UTC 14s left -                           -      b.timer b.service -\n"
	  "-                           -        Sat 2026-11-21 12:00:00 UTC 5s ago z.timer z.service missed overlap\n"
	  "\n3 timers listed.\nPass --all to see loaded but inactive timers, too.\n"
	  "\n1 timer is invalid and not run:\n  /units/bad.service:3: unknown key 'Typo'\\x1b[31m\n", "" },
	{ "list-timers a --no-legend", 0,
	  "Sat 2026-11-21 12:00:00 UTC 14s left Sat 2026-11-21 12:00:00 UTC 5s ago a.timer a.service success\n", "" },
	{ "timers --all --no-legend 'o*'", 0, "- - - - off.timer off.service -\n", "" },
	{ "timers 'no*'", 0,
	  "NEXT LEFT LAST PASSED UNIT ACTIVATES RESULT\n\n0 timers listed.\n"
	  "Pass --all to see loaded but inactive timers, too.\n", "" },
	{ "timers --json a.timer bad", 0,
	  "{\"subsystem\":{\"subsystem\":\"timer\",\"state\":\"enabled\",\"reason\":null,\"not_persisted_since\":null},"
	  "\"timers\":[{\"next\":1795262400000000,\"left\":14000000,\"last\":1795262400000000,\"passed\":5000000,"
	  "\"unit\":\"a.timer\",\"activates\":\"a.service\",\"result\":\"success\",\"enabled\":true,\"newer_key\":7}],"
	  "\"invalid\":[{\"load_state\":\"invalid\",\"unit\":\"bad.timer\",\"problems\":[{\"file\":\"/units/bad.service\",\"line\":3,"
	  "\"key\":\"Typo\",\"message\":\"unknown key 'Typo'\\u001B[31m\",\"severity\":\"error\"}]}]}\n", "" },

	{ "show a -p unit,main_pid,started,dropins", 0,
	  "unit=a.service\nstarted=Sat 2026-11-21 12:00:00 UTC\nmain_pid=42\n"
	  "dropins=/units/a.service.d/1.conf /units/a.service.d/2.conf\n", "" },
	{ "show --value --property=duration a.service", 0, "2s\n", "" },
	{ "show --json=short -penabled a.service", 0, "{\"enabled\":true}\n", "" },
	{ "show nosuch", 4, "", "supctl: no unit 'nosuch.service' (did you mean a.service?)\n" },
	{ "show", 2, "", "supctl: show needs UNIT (supctl show --help tells more)\n" },
	{ "show a b", 2, "", "supctl: show takes no more than UNIT (supctl show --help tells more)\n" },

	{ "logs a --json=short", 0,
	  "{\"time\":1795262400000000,\"unit\":\"a.service\",\"run_id\":\"00112233445566778899aabbccddeeff\","
	  "\"stream\":\"stdout\",\"level\":6,\"message\":\"text\"}\n"
	  "{\"time\":1795262400000001,\"unit\":\"a.service\",\"run_id\":\"00112233445566778899aabbccddeeff\","
	  "\"stream\":\"stderr\",\"level\":4,\"identifier\":\"me\",\"message\":[0,255],\"continued\":true,"
	  "\"missing\":2}\n", "" },
	{ "logs failed", 0, "-- no lines --\n", "" },
	{ "logs failed --no-legend --run=00 -n all", 0, "", "" },
	{ "logs nosuch", 4, "", "supctl: no unit 'nosuch.service' (did you mean a.service?)\n" },
	{ "logs a -n 0", 2, "", "supctl: --lines= wants a number of lines or all, not '0'\n" },
	{ "logs a --run=0x", 2, "", "supctl: --run= wants a run's id or its first digits, not '0x'\n" },
	{ "events", 0, "- missed         a.timer: mis\\x1b[31m\n", "" },
	{ "events --type=missed,elapsed b*", 0, "- missed         b*: missed,elapsed\n", "" },
	{ "events b --json", 0,
	  "{\"seq\":7,\"type\":\"missed\",\"level\":\"notice\",\"unit\":\"b.service\",\"message\":\"mis\\u001B[31m\"}\n", "" },
	{ "events --unit=b.timer c", 0, "- missed         c.service: mis\\x1b[31m\n", "" },
	{ "events -n some", 2, "", "supctl: --lines= wants a number of events or all, not 'some'\n" },
	{ "events --type=missed:x", 2, "",
	  "supctl: --type= wants types of events parted by commas, not 'missed:x'\n" },
	{ "run --unit=r /bin/true", 0, "", "r.service: success\n" },
	{ "run --unit=r -q -- /bin/true", 0, "", "" },
	{ "run --unit=r -- /bin/false --json=x -q", 7, "", "supctl: r.service: failed exit 7\n" },
	{ "run --unit=r --json /bin/false", 7,
	  "{\"unit\":\"r.service\",\"result\":\"exit-code\",\"words\":\"failed exit 7\",\"exit_status\":7}\n", "" },
	{ "run --unit=r -p Nice=99 /bin/true", 4, "",
	  "/run/r.service:7: Nice= is wrong\nsupctl: r.service: not run, for what stands above\n" },
#if ENABLE_TIMER
	{ "--json run --unit=r.service --on-active=1h /bin/true", 0,
	  "{\"unit\":\"r.timer\",\"activates\":\"r.service\"}\n", "" },
#endif
	{ "run", 2, "", "supctl: run needs a COMMAND (supctl run --help tells more)\n" },
	{ "run --no-such /bin/true", 2, "", "supctl: run: wrong usage (supctl run --help lists the options)\n" },
	{ "run --timer-property=Persistent=no /bin/true", 2, "",
	  "supctl: --timer-property= needs a trigger, such as --on-active=\n" },
	{ "run -p Descriptoin=x /bin/true", 2, "",
	  "supctl: --property=: unknown key 'Descriptoin' (did you mean Description=?)\n" },
	{ "run -p Nice /bin/true", 2, "", "supctl: --property= wants KEY=VALUE, not 'Nice'\n" },
	{ "run --unit=a@b /bin/true", 2, "", "supctl: --unit=a@b: that is not the name of a unit\n" },
	{ "env a", 0, "A=one\\ntwo\\x1b[31m\nB=\n", "supctl: /etc/default/a:3: a line without '='\n" },
	{ "env a --json", 0, "{\"A\":\"one\\ntwo\\u001B[31m\",\"B\":\"\"}\n",
	  "supctl: /etc/default/a:3: a line without '='\n" },
	{ "cat a", 0,
	  "# /units/a.service\n[Service]\nExecStart=/bin/true\n\n# /units/a.service.d/1.conf\n[Unit]\n", "" },
	{ "cat a --json", 0,
	  "[{\"path\":\"/units/a.service\",\"text\":\"[Service]\\nExecStart=/bin/true\\n\"},"
	  "{\"path\":\"/units/a.service.d/1.conf\",\"text\":\"[Unit]\"}]\n", "" },

	{ "is-active a", 0, "active\n", "" },
	{ "is-active failed", 3, "failed\n", "" },
	{ "is-active failed a", 0, "failed\nactive\n", "" },
	{ "is-active nosuch", 4, "inactive\n", "" },
	{ "is-active off.timer", 3, "inactive\n", "" },
	{ "is-active -q failed", 3, "", "" },
	{ "is-active --json failed", 3, "[{\"unit\":\"failed.service\",\"state\":\"failed\"}]\n", "" },
	{ "is-failed failed", 0, "failed\n", "" },
	{ "is-failed a", 1, "active\n", "" },
	{ "is-failed nosuch", 4, "inactive\n", "" },
	{ "is-enabled a", 0, "enabled\n", "" },
	{ "is-enabled failed", 1, "disabled\n", "" },
	{ "is-enabled bad", 1, "invalid\n", "" },
	{ "is-enabled nosuch", 4, "not-found\n", "" },

	{ "start a", 0, "a.service: success, took 1.500s\n", "" },
	{ "start a failed nosuch", 4, "a.service: success, took 1.500s\n",
	  "supctl: failed.service: failed exit 3\nsupctl: no unit 'nosuch.service' (did you mean a.service?)\n" },
	{ "start failed", 1, "", "supctl: failed.service: failed exit 3\n" },
	{ "start --no-block a", 0, "a.service: started, took 1.500s\n", "" },
	{ "restart -q a", 0, "", "" },
	{ "stop a", 0, "a.service: stopped\n", "" },
	{ "trigger a", 0, "a.timer: success, took 1.500s\n", "" },
	{ "reset a", 0, "a.timer: reset\n", "" },
	{ "start --json a", 0, "[" RUN_JSON("a.service", "success", "success", "0") "]\n", "" },
	{ "start --json failed", 1, "[" RUN_JSON("failed.service", "exit-code", "failed exit 3", "3") "]\n", "" },
	{ "start --json nosuch", 4,
	  "{\"error\":true,\"message\":\"no unit 'nosuch.service' (did you mean a.service?)\",\"exitcode\":4}\n", "" },
	{ "start --json a nosuch", 4,
	  "[" RUN_JSON("a.service", "success", "success", "0") ",{\"error\":true,"
	  "\"message\":\"no unit 'nosuch.service' (did you mean a.service?)\",\"exitcode\":4,"
	  "\"unit\":\"nosuch.service\"}]\n", "" },
	{ "start ../etc/passwd", 4, "", "supctl: '../etc/passwd' cannot be the name of a unit\n" },
	{ "enable a.timer b", 0, "a.timer: enabled\nb.service: was enabled already\n", "" },
	{ "disable b", 0, "b.service: was disabled already\n", "" },
	{ "mask --runtime a.timer", 0, "a.timer: masked\n", "" },
	{ "mask b", 0, "b.service: was masked already\n", "" },
	{ "unmask b", 0, "b.service: was not masked\n", "" },
	{ "unmask --quiet a.timer", 0, "", "" },

	{ "reload", 0, "added new.service\n", "" },
	{ "daemon-reload --json", 0,
	  "{\"reloaded\":true,\"changes\":[{\"unit\":\"new.service\",\"change\":\"added\"}],\"problems\":[]}\n", "" },
	{ "experimental", 0, "FEATURE STATE    REASON\ntimers  disabled off by default\n", "" },
	{ "experimental enable timers --runtime", 0, "timers: enabled, for this run\n", "" },
	{ "experimental enable", 2, "",
	  "supctl: experimental takes 'enable FEATURE', 'disable FEATURE' or nothing, to list them\n" },
	{ "experimental toggle timers", 2, "",
	  "supctl: experimental takes 'enable FEATURE', 'disable FEATURE' or nothing, to list them\n" },
	{ "pause", 0, "paused\n", "" },
	{ "resume", 0, "running already\n", "" },
	{ "pause --json", 0, "{\"state\":\"paused\",\"changed\":true}\n", "" },
	{ "version", 0, "supctl " PACKAGE_VERSION "\nsupd 9.9 (running)\n", "" },
	{ "--version", 0, "supctl " PACKAGE_VERSION "\n", "" },

	{ "status a", 0,
	  "● a.service - First\\nline\n"
	  "      Loaded: loaded (/units/a.service; enabled)\n"
	  "     Drop-In: /units/a.service.d/1.conf\n"
	  "              /units/a.service.d/2.conf\n"
	  "      Active: active (exited) since Sat 2026-11-21 12:00:00 UTC; @AGO@\n"
	  "Triggered by: a.timer\n"
	  "    Last run: success, took 2s, cause calendar of a.timer, attempt 2\n"
	  "      Run ID: 00112233445566778899aabbccddeeff\n"
	  "    Main PID: 42\n", "" },
	{ "status a.timer", 0,
	  "● a.timer\n"
	  "      Loaded: loaded (/units/a.timer; enabled)\n"
	  "      Active: active (waiting)\n"
	  "     Trigger: OnCalendar=daily, next Sat 2026-11-21 12:00:00 UTC\n"
	  "     Trigger: OnUnitActiveSec=1h, next never\n"
	  "        Next: Sat 2026-11-21 12:00:00 UTC; 14s left, retry\n"
	  "   Activates: a.service\n"
	  "        Last: Sat 2026-11-21 12:00:00 UTC; 5s ago\n"
	  "      Result: retry 2/3 in 14s\n"
	  "       Retry: 2 of 3 at Sat 2026-11-21 12:00:00 UTC\n"
	  "      Missed: Sat 2026-11-21 12:00:00 UTC, overlap, 2 in a row; 5 in all\n", "" },
	{ "status bad", 4,
	  "● bad.service\n"
	  "      Loaded: invalid (/units/bad.service)\n"
	  "      Active: inactive (dead)\n"
	  "       Error: /units/bad.service:3: unknown key 'Typo'\\x1b[31m\n", "" },
	{ "status failed --json", 3,
	  "[{\"unit\":\"failed.service\",\"load_state\":\"loaded\",\"active_state\":\"failed\",\"sub_state\":\"failed\","
	  "\"enabled\":false,\"result\":\"failed exit 3\"}]\n", "" },
	{ "history a", 0,
	  "TIME                        LATE TOOK    UNIT      CAUSE   RESULT                CPU MEMORY RUN\n"
	  "Sat 2026-11-21 12:00:00 UTC -    -       a.service -       missed 7: overlap\\x1b -   -      -\n"
	  "Sat 2026-11-21 12:00:00 UTC 1ms  1min 1s a.service retry 2 failed exit 3         0   3.0M   00112233\n"
	  "\n2 on record, newest first.\n", "" },
	{ "history --result=missed --offset=1 --json", 0, "[]\n", "" },
	{ "history -n 0", 2, "", "supctl: --lines= wants a number of runs or all, not '0'\n" },
	{ "history --json -n x", 2,
	  "{\"error\":true,\"message\":\"--lines= wants a number of runs or all, not 'x'\",\"exitcode\":2}\n", "" },
	{ "history --cause=manual,retry", 2, "", "supctl: --cause= wants one word, not 'manual,retry'\n" },
	{ "history --result=missed --offset=1 --cause=manul --json", 0, "[]\n",
	  "supctl: --cause=: supd itself has no 'manul' (did you mean manual?)\n" },
	{ "history --result=some", 2, "",
	  "supctl: --result= wants words parted by commas (success, failed, skipped, stopped, interrupted, running,"
	  " missed, gap), not 'some'\n" },
	{ "stats --no-legend", 0, "a.service 3 2 1 0 1 - - - - - - 1s Sat 2026-11-21 12:00:00 UTC\n", "" },

	{ "status nosuch", 4, "", "supctl: no unit 'nosuch.service' (did you mean a.service?)\n" },
	{ "status --json nosuch", 4,
	  "{\"error\":true,\"message\":\"no unit 'nosuch.service' (did you mean a.service?)\",\"exitcode\":4}\n", "" },
};

/* How long ago is for the clock to say. */
static void check_but_ago(const struct expectation *e)
{
	_cleanup_(outcome_done) struct outcome o = run(e->arguments);
	char *ago = strstr(o.out, "UTC; "), *line_end = ago ? strchr(ago, '\n') : NULL;
	_cleanup_free_ char *out = NULL;

	ck_assert_msg(line_end, "%s", o.out);
	ck_assert_int_gt(asprintf(&out, "%.*s@AGO@%s", (int) (ago + 5 - o.out), o.out, line_end), 0);
	ck_assert_str_eq(out, e->out);
	ck_assert_str_eq(o.err, e->err);
	ck_assert_int_eq(o.status, e->status);
}

START_TEST(verbs_print_what_the_daemon_answers)
{
	const struct expectation *e = &with_daemon[_i];

	if (strstr(e->out, "@AGO@"))
		check_but_ago(e);
	else
		check(e);
}
END_TEST

static const struct expectation with_closed_gate[] = {
	{ "timers", 0, "timers are disabled: off by default; 'supctl experimental enable timers' turns them on\n", "" },
	{ "--json timers", 0,
	  "{\"subsystem\":{\"subsystem\":\"timer\",\"state\":\"disabled\",\"reason\":\"off by default\","
	  "\"not_persisted_since\":null},\"timers\":[],\"invalid\":[]}\n", "" },
	{ "reload", 4, "",
	  "/units/bad.service:3: unknown key 'Typo'\\x1b[31m\n"
	  "supctl: nothing was changed: 1 mistake must be corrected first\n" },
	{ "reload --json", 4,
	  "{\"reloaded\":false,\"changes\":[],\"problems\":[{\"file\":\"/units/bad.service\",\"line\":3,\"key\":\"Typo\","
	  "\"message\":\"unknown key 'Typo'\\u001B[31m\",\"severity\":\"error\"}]}\n", "" },
};

START_TEST(a_closed_gate_and_a_refused_reload_are_told)
{
	check(&with_closed_gate[_i]);
}
END_TEST

/* ---- the command line ---- */

static const struct expectation without_daemon[] = {
	{ "", 2, "", "supctl: a verb is missing (supctl --help lists them)\n" },
	{ "stattus", 2, "", "supctl: unknown verb 'stattus' (did you mean status?)\n" },
	{ "frobnicate", 2, "", "supctl: unknown verb 'frobnicate' (supctl --help lists them)\n" },
	{ "--josn list", 2, "", "supctl: unknown option '--josn' (did you mean --json?)\n" },
	{ "list --json=yaml", 2, "", "supctl: --json= is short, pretty or off, not 'yaml'\n" },
	{ "list --no-block", 2, "", "supctl: list takes no --no-block (supctl list --help lists what it takes)\n" },
	{ "list -aq", 2, "", "supctl: list takes no --quiet (supctl list --help lists what it takes)\n" },
	{ "list -x", 2, "", "supctl: unknown option '-x' (supctl list --help lists them)\n" },
	{ "list --user=me", 2, "", "supctl: --user takes no value\n" },
	{ "list --runtime-dir", 2, "", "supctl: --runtime-dir needs a value\n" },
	{ "start", 2, "", "supctl: start needs UNIT… (supctl start --help tells more)\n" },
	{ "reload now", 2, "", "supctl: reload takes no arguments (supctl reload --help tells more)\n" },
	{ "stattus --json", 2,
	  "{\"error\":true,\"message\":\"unknown verb 'stattus' (did you mean status?)\",\"exitcode\":2}\n", "" },
	{ "help nothing", 2, "", "supctl: unknown verb 'nothing' (supctl --help lists them)\n" },
	{ "start -- -x", 4, "", "supctl: '-x' cannot be the name of a unit\n" },
};

START_TEST(mistakes_on_the_command_line_are_told)
{
	check(&without_daemon[_i]);
}
END_TEST

static const char *const verbs_that_ask[] = {
	"list", "timers", "status", "status a", "show a", "cat a", "is-active a", "start a", "trigger a", "reload",
	"pause", "experimental",
};

START_TEST(without_a_daemon_the_exit_status_is_69)
{
	_cleanup_(outcome_done) struct outcome o = run(verbs_that_ask[_i]);

	ck_assert_int_eq(o.status, 69);
	ck_assert_str_eq(o.out, "");
	ck_assert_ptr_eq(strstr(o.err, "supctl: no supd answers at "), o.err);
	ck_assert_ptr_nonnull(strstr(o.err, "start it with 'supd --runtime-dir="));
	ck_assert_ptr_eq(strchr(o.err, '\n'), o.err + strlen(o.err) - 1);
}
END_TEST

START_TEST(without_a_daemon_the_error_may_be_json)
{
	_cleanup_(outcome_done) struct outcome o = run("list --json");

	ck_assert_int_eq(o.status, 69);
	ck_assert_str_eq(o.err, "");
	ck_assert_ptr_eq(strstr(o.out, "{\"error\":true,\"message\":\"no supd answers at "), o.out);
	ck_assert_ptr_nonnull(strstr(o.out, ",\"exitcode\":69}\n"));
}
END_TEST

START_TEST(the_version_is_known_without_a_daemon)
{
	_cleanup_(outcome_done) struct outcome o = run("version");

	ck_assert_int_eq(o.status, 0);
	ck_assert_ptr_eq(strstr(o.out, "supctl " PACKAGE_VERSION "\nsupd - (no supd answers at "), o.out);
	ck_assert_str_eq(o.err, "");
}
END_TEST

START_TEST(each_verb_has_help)
{
	_cleanup_(outcome_done) struct outcome all = run("--help");
	unsigned n = 0;

	ck_assert_int_eq(all.status, 0);
	for (char *line = strtok(all.out, "\n"); line; line = strtok(NULL, "\n")) {
		char arguments[64], verb[32];
		struct outcome one;

		if (!str_starts(line, "  ") || line[2] == ' ' || sscanf(line + 2, "%31[a-z-]", verb) != 1 ||
		    verb[0] == '-')
			continue;
		(void) snprintf(arguments, sizeof(arguments), "%s --help", verb);
		one = run(arguments);
		ck_assert_msg(one.status == 0 && strstr(one.out, verb), "supctl %s", arguments);
		ck_assert_str_eq(one.err, "");
		outcome_done(&one);
		n++;
	}
	ck_assert_uint_ge(n, 20);
}
END_TEST

START_TEST(a_full_disk_is_a_failure)
{
	_cleanup_free_ char *command = NULL;
	int r = asprintf(&command, "'%s' --help >/dev/full 2>'%s/err'", world.supctl, world.dir);
	_cleanup_free_ char *err = NULL;

	ck_assert_int_gt(r, 0);
	r = system(command);
	err = test_dir_read(world.dir, "err", NULL);
	ck_assert_int_eq(WEXITSTATUS(r), 1);
	ck_assert_str_eq(err, "supctl: cannot write the output: No space left on device\n");
}
END_TEST

static Suite *supctl_suite(void)
{
	Suite *s = suite_create("supctl");
	TCase *open = tcase_create("open"), *closed = tcase_create("closed"), *none = tcase_create("none");

	tcase_add_checked_fixture(open, begin_open, end);
	tcase_add_loop_test(open, verbs_print_what_the_daemon_answers, 0, ELEMENTS(with_daemon));
	suite_add_tcase(s, open);
	tcase_add_checked_fixture(closed, begin_closed, end);
	tcase_add_loop_test(closed, a_closed_gate_and_a_refused_reload_are_told, 0, ELEMENTS(with_closed_gate));
	suite_add_tcase(s, closed);
	tcase_add_checked_fixture(none, begin, end);
	tcase_add_loop_test(none, mistakes_on_the_command_line_are_told, 0, ELEMENTS(without_daemon));
	tcase_add_loop_test(none, without_a_daemon_the_exit_status_is_69, 0, ELEMENTS(verbs_that_ask));
	tcase_add_test(none, without_a_daemon_the_error_may_be_json);
	tcase_add_test(none, the_version_is_known_without_a_daemon);
	tcase_add_test(none, each_verb_has_help);
	tcase_add_test(none, a_full_disk_is_a_failure);
	tcase_set_timeout(none, 60);
	suite_add_tcase(s, none);
	return s;
}

TEST_MAIN(supctl_suite)
