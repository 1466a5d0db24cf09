/* SPDX-License-Identifier: MIT */
#include "cli/cli_run.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/cli_options.h"
#include "cli/run_unit.h"
#include "cli/run_wait.h"
#include "control/rows.h"
#include "control/rows_json.h"
#include "service/spec.h"
#include "unit/name.h"

#define GO_ON (-1)
#define SIGNAL_BASE 128
#define PATH_FALLBACK "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

enum option_key {
	OPTION_UNIT = 256,
	OPTION_DESCRIPTION,
	OPTION_TIMER_PROPERTY,
	OPTION_UID,
	OPTION_GID,
	OPTION_WORKING_DIRECTORY,
	OPTION_NICE,
	OPTION_NO_BLOCK,
	OPTION_PRINT,
	OPTION_USER,
	OPTION_SYSTEM,
	OPTION_RUNTIME_DIR,
	OPTION_JSON,
	OPTION_ON, /* and behind it, by their place in triggers[] */
};

static const struct {
	const char *option, *key;
} triggers[] = {
	{ "on-calendar", "OnCalendar" },
	{ "on-active", "OnActiveSec" },
	{ "on-startup", "OnStartupSec" },
	{ "on-boot", "OnBootSec" },
	{ "on-unit-active", "OnUnitActiveSec" },
	{ "on-unit-inactive", "OnUnitInactiveSec" },
};

#define ON(i, name) { name, required_argument, NULL, OPTION_ON + (i) }
static const struct option long_options[] = {
	{ "unit", required_argument, NULL, OPTION_UNIT },
	{ "description", required_argument, NULL, OPTION_DESCRIPTION },
	{ "property", required_argument, NULL, 'p' },
	{ "timer-property", required_argument, NULL, OPTION_TIMER_PROPERTY },
	ON(0, "on-calendar"),
	ON(1, "on-active"),
	ON(2, "on-startup"),
	ON(3, "on-boot"),
	ON(4, "on-unit-active"),
	ON(5, "on-unit-inactive"),
	{ "uid", required_argument, NULL, OPTION_UID },
	{ "gid", required_argument, NULL, OPTION_GID },
	{ "setenv", required_argument, NULL, 'E' },
	{ "working-directory", required_argument, NULL, OPTION_WORKING_DIRECTORY },
	{ "same-dir", no_argument, NULL, 'd' },
	{ "nice", required_argument, NULL, OPTION_NICE },
	{ "no-block", no_argument, NULL, OPTION_NO_BLOCK },
	{ "quiet", no_argument, NULL, 'q' },
	{ "print", no_argument, NULL, OPTION_PRINT },
	{ "user", no_argument, NULL, OPTION_USER },
	{ "system", no_argument, NULL, OPTION_SYSTEM },
	{ "runtime-dir", required_argument, NULL, OPTION_RUNTIME_DIR },
	{ "json", optional_argument, NULL, OPTION_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"supctl run [OPTION…] [--] COMMAND [ARGUMENT…]\n"
	"\n"
	"Runs a command as a service, shows what it prints, and ends with its exit status; or runs it on a schedule.\n"
	"\n"
	"Options, before the command:\n"
	"      --unit=NAME             the name of the service, and of the timer\n"
	"      --description=TEXT      what it is, for people\n"
	"  -p, --property=KEY=VALUE    a line of [Service] or [Unit]\n"
	"      --on-calendar=EXPR      when a calendar expression elapses\n"
	"      --on-active=SPAN        so long after now\n"
	"      --on-startup=SPAN       so long after supd's start\n"
	"      --on-boot=SPAN          so long after the boot\n"
	"      --on-unit-active=SPAN   so long after the last success\n"
	"      --on-unit-inactive=SPAN so long after the last end\n"
	"      --timer-property=KEY=VALUE\n"
	"                              a line of [Timer]\n"
	"      --uid=USER              as this user\n"
	"      --gid=GROUP             with this group\n"
	"  -E, --setenv=NAME[=VALUE]   with this variable; without a value, that of supctl\n"
	"      --working-directory=DIR in this directory\n"
	"  -d, --same-dir              in the current one\n"
	"      --nice=N                with this niceness\n"
	"      --no-block              do not wait for the end\n"
	"  -q, --quiet                 print no result; the exit status tells\n"
	"      --print                 print the files that it would be, and do nothing; needs no daemon\n"
	"      --user, --system, --runtime-dir=DIR, --json[=short|pretty]\n"
	"                              as with all verbs\n"
	"  -h, --help                  this text\n";

struct run {
	struct cli cli;
	struct arena arena;
	struct run_unit unit;
	const char *name; /* without a suffix, or NULL */
	const char **argv;
	struct run_line *line, *timer_line;
	bool is_print, has_trigger;
	bool is_drawn; /* the name is a random one */
	char service[UNIT_NAME_MAX + 1], timer[UNIT_NAME_MAX + 1];
};

static int out_of_memory(struct run *r)
{
	return cli_fail(&r->cli, CONTROL_FAILED, "out of memory");
}

/* ---- lines ---- */

static int add_line(struct run *r, struct run_line **list, size_t *n, const char *section,
		    const char *key, const char *value)
{
	struct run_line *grown = arena_grow(&r->arena, *list, *n, sizeof(*grown));
	const char *fault = value ? run_unit_fault(value) : NULL;

	if (!grown || !value)
		return out_of_memory(r);
	*list = grown;
	if (fault)
		return cli_fail(&r->cli, CONTROL_USAGE, "%s=: %s", key, fault);
	grown[(*n)++] = (struct run_line) { section, key, value };
	return GO_ON;
}

static int add_service(struct run *r, const char *section, const char *key, const char *value)
{
	return add_line(r, &r->line, &r->unit.n_lines, section, key, value);
}

/* A value of ours: what a line makes of percent signs is not meant. */
static int add_plain(struct run *r, const char *key, const char *value)
{
	_cleanup_free_ char *plain = run_unit_plain(value);

	return add_service(r, "Service", key, plain ? arena_strdup(&r->arena, plain) : NULL);
}

static const char *section_of(const char *key)
{
	const struct key_table *table = service_keys();
	const char *section = NULL;

	if (str_starts(key, "X-"))
		key += strlen("X-");
	for (size_t i = 0; i < table->n; i++)
		if (str_equal(table->row[i].key, key)) {
			section = table->row[i].section;
			if (str_equal(section, "Service"))
				break;
		}
	return section;
}

static const char *key_at(void *userdata _unused_, size_t i)
{
	const struct key_table *table = service_keys();

	return i < table->n ? table->row[i].key : NULL;
}

/* Cuts "KEY=VALUE" in two. */
static int cut(struct run *r, const char *option, const char *text, const char **ret_key,
	       const char **ret_value)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return cli_fail(&r->cli, CONTROL_USAGE, "--%s= wants KEY=VALUE, not '%s'", option,
				text);
	*ret_key = arena_strndup(&r->arena, text, (size_t) (equals - text));
	*ret_value = equals + 1;
	return *ret_key ? GO_ON : out_of_memory(r);
}

static int add_property(struct run *r, const char *text)
{
	const char *key, *value, *section, *near;
	int s = cut(r, "property", text, &key, &value);

	if (s != GO_ON)
		return s;
	section = section_of(key);
	if (section)
		return add_service(r, section, key, value);
	near = text_suggest(key, key_at, NULL);
	return cli_fail(&r->cli, CONTROL_USAGE, "--property=: unknown key '%s'%s%s%s", key,
			near ? " (did you mean " : "", near ? near : "", near ? "=?)" : "");
}

static int add_timer_line(struct run *r, const char *key, const char *value)
{
	return add_line(r, &r->timer_line, &r->unit.n_timer_lines, "Timer", key, value);
}

static int add_timer_property(struct run *r, const char *text)
{
	const char *key, *value;
	int s = cut(r, "timer-property", text, &key, &value);

	if (s == GO_ON && str_starts(key, "On"))
		r->has_trigger = true;
	return s == GO_ON ? add_timer_line(r, key, value) : s;
}

/* "NAME=VALUE", or "NAME", of which supctl has the value. */
static int add_variable(struct run *r, const char *text)
{
	const char *equals = strchr(text, '='), *value = equals ? NULL : getenv(text);
	_cleanup_free_ char *quoted = NULL;
	const char *assignment = text;

	if (!equals && !value)
		return cli_fail(&r->cli, CONTROL_USAGE,
				"--setenv=%s: there is no such variable here", text);
	if (!equals)
		assignment = arena_printf(&r->arena, "%s=%s", text, value);
	quoted = assignment ? run_unit_quote(assignment) : NULL;
	return add_service(r, "Service", "Environment",
			   quoted ? arena_strdup(&r->arena, quoted) : NULL);
}

/* As a path of this process; the daemon has another. */
static int add_directory(struct run *r, const char *path)
{
	_cleanup_free_ char *absolute = str_equal(path, "~") ? strdup(path) : realpath(path, NULL);

	if (!absolute)
		return cli_fail(&r->cli, CONTROL_FAILED, "--working-directory=%s: %s", path,
				strerror(errno));
	return add_plain(r, "WorkingDirectory", absolute);
}

/* ---- the command line ---- */

static int set_json(struct run *r, const char *mode)
{
	if (!mode || str_equal(mode, "short"))
		r->cli.json = CLI_JSON_SHORT;
	else if (str_equal(mode, "pretty"))
		r->cli.json = CLI_JSON_PRETTY;
	else if (str_equal(mode, "off"))
		r->cli.json = CLI_JSON_OFF;
	else
		return cli_fail(&r->cli, CONTROL_USAGE, "--json= is short, pretty or off, not '%s'",
				mode);
	return GO_ON;
}

static int give(struct run *r, cli_options bit)
{
	r->cli.given |= bit;
	return GO_ON;
}

static int apply_trigger(struct run *r, size_t i, const char *value)
{
	r->has_trigger = true;
	return add_timer_line(r, triggers[i].key, value);
}

/* What says to whom and how it is spoken. */
static int apply_general(struct run *r, int key, const char *value)
{
	switch (key) {
	case OPTION_USER:
		return give(r, CLI_USER);
	case OPTION_SYSTEM:
		return give(r, CLI_SYSTEM);
	case OPTION_RUNTIME_DIR:
		r->cli.runtime_dir = value;
		return GO_ON;
	case OPTION_JSON:
		return set_json(r, value);
	case OPTION_NO_BLOCK:
		return give(r, CLI_NO_BLOCK);
	case 'q':
		return give(r, CLI_QUIET);
	case OPTION_PRINT:
		r->is_print = true;
		return GO_ON;
	case 'h':
		(void) fputs(help, stdout);
		return CONTROL_OK;
	default:
		return cli_fail(&r->cli, CONTROL_USAGE,
				"run: wrong usage (supctl run --help lists the options)");
	}
}

static int apply(struct run *r, int key, const char *value)
{
	if (key >= OPTION_ON)
		return apply_trigger(r, (size_t) (key - OPTION_ON), value);
	switch (key) {
	case OPTION_UNIT:
		r->name = value;
		return GO_ON;
	case OPTION_DESCRIPTION:
		r->unit.description = value;
		return GO_ON;
	case 'p':
		return add_property(r, value);
	case OPTION_TIMER_PROPERTY:
		return add_timer_property(r, value);
	case OPTION_UID:
		return add_plain(r, "User", value);
	case OPTION_GID:
		return add_plain(r, "Group", value);
	case 'E':
		return add_variable(r, value);
	case OPTION_WORKING_DIRECTORY:
		return add_directory(r, value);
	case 'd':
		return add_directory(r, ".");
	case OPTION_NICE:
		return add_plain(r, "Nice", value);
	default:
		return apply_general(r, key, value);
	}
}

/* ---- names ---- */

static int draw_name(struct run *r)
{
	unsigned char bytes[8];
	char hex[2 * sizeof(bytes) + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t) sizeof(bytes))
		return cli_fail(&r->cli, CONTROL_FAILED,
				"no random number for a name; --unit= gives one");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	r->is_drawn = true;
	r->name = arena_printf(&r->arena, "run-%s", hex);
	return r->name ? GO_ON : out_of_memory(r);
}

static int set_names(struct run *r)
{
	const char *name;
	size_t n;

	if (!r->name && draw_name(r) != GO_ON)
		return CONTROL_FAILED;
	name = r->name;
	n = strlen(name);
	if (str_ends(name, ".service") || str_ends(name, ".timer"))
		n = (size_t) (strrchr(name, '.') - name);
	if (snprintf(r->service, sizeof(r->service), "%.*s.service", (int) n, name) >=
		    (int) sizeof(r->service) ||
	    !unit_name_is_valid(r->service) || unit_name_is_template(r->service) ||
	    unit_name_is_instance(r->service))
		return cli_fail(&r->cli, CONTROL_USAGE, "--unit=%s: that is not the name of a unit",
				name);
	(void) snprintf(r->timer, sizeof(r->timer), "%.*s.timer", (int) n, name);
	return GO_ON;
}

/* ---- the command ---- */

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As a shell here would find it; the daemon looks elsewhere. */
static const char *find_program(struct run *r, const char *name)
{
	const char *path = getenv("PATH"), *end;

	for (path = path && *path ? path : PATH_FALLBACK; *path; path = *end ? end + 1 : end) {
		const char *candidate;

		end = strchrnul(path, ':');
		candidate = arena_printf(&r->arena, "%.*s/%s", (int) (end - path), path, name);
		if (candidate && *candidate == '/' && is_program(candidate))
			return candidate;
	}
	return NULL;
}

static const char *absolute_program(struct run *r, const char *name)
{
	_cleanup_free_ char *here = NULL;

	if (!strchr(name, '/'))
		return find_program(r, name);
	if (*name == '/')
		return name;
	here = getcwd(NULL, 0);
	return here ? arena_printf(&r->arena, "%s/%s", here, name) : NULL;
}

static int set_command(struct run *r, int argc, char **argv)
{
	if (argc == 0)
		return cli_fail(&r->cli, CONTROL_USAGE,
				"run needs a COMMAND (supctl run --help tells more)");
	r->argv = arena_alloc(&r->arena, ((size_t) argc + 1) * sizeof(*r->argv));
	if (!r->argv)
		return out_of_memory(r);
	for (int i = 0; i < argc; i++)
		r->argv[i] = argv[i];
	r->argv[0] = absolute_program(r, argv[0]);
	if (!r->argv[0])
		return cli_fail(&r->cli, CONTROL_FAILED, "there is no program '%s' in $PATH",
				argv[0]);
	r->unit.argv = r->argv;
	return GO_ON;
}

/* What was typed, for people. */
static int set_description(struct run *r, int argc, char **argv)
{
	const char *text = r->unit.description, *fault;

	if (text) {
		fault = run_unit_fault(text);
		return fault ? cli_fail(&r->cli, CONTROL_USAGE, "--description=: %s", fault)
			     : GO_ON;
	}
	text = "";
	for (int i = 0; text && i < argc; i++) {
		_cleanup_free_ char *shown = text_printable(argv[i]);

		text = shown ? arena_printf(&r->arena, "%s%s%s", text, i > 0 ? " " : "", shown)
			     : NULL;
	}
	/* One that ends in a backslash would join the next line to it. */
	r->unit.description = text && run_unit_fault(text) ? NULL : text;
	return text ? GO_ON : out_of_memory(r);
}

static int parse(struct run *r, int argc, char **argv)
{
	int key, s = GO_ON;

	optind = 0; /* begin anew: main() has had the line first */
	opterr = 0;
	while (s == GO_ON && (key = getopt_long(argc, argv, "+hqdp:E:", long_options, NULL)) != -1)
		s = apply(r, key, optarg);
	if (s == GO_ON)
		s = set_command(r, argc - optind, argv + optind);
	if (s == GO_ON)
		s = set_description(r, argc - optind, argv + optind);
	if (s == GO_ON)
		s = set_names(r);
	if (s == GO_ON && r->unit.n_timer_lines > 0 && !r->has_trigger)
		s = cli_fail(&r->cli, CONTROL_USAGE,
			     "--timer-property= needs a trigger, such as --on-active=");
	if (s == GO_ON && !ENABLE_TIMER && r->has_trigger)
		s = cli_fail(&r->cli, CONTROL_USAGE, "this supctl was built without timers");
	r->unit.line = r->line;
	r->unit.timer_line = r->timer_line;
	return s;
}

/* ---- printing what it would be ---- */

static int print_files(struct run *r, const char *service, const char *timer)
{
	if (r->cli.json != CLI_JSON_OFF)
		return cli_print_json(&r->cli,
				      json_pack("{s:o, s:o, s:o}", "unit",
						rows_json_string(r->service), "service",
						rows_json_string(service), "timer",
						*timer ? rows_json_string(timer) : json_null()),
				      CONTROL_OK);
	(void) printf("# %s\n%s", r->service, service);
	if (*timer)
		(void) printf("\n# %s\n%s", r->timer, timer);
	return CONTROL_OK;
}

/* ---- running ---- */

static void tell_problems(const struct supd_row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *severity = row_string(&row[i], "severity");
		_cleanup_free_ char *text = severity ? cli_problem(&row[i]) : NULL;

		if (text)
			(void) fprintf(stderr, "%s%s\n",
				       str_equal(severity, "error") ? "" : "warning: ", text);
	}
}

/* The row about what was begun, or NULL. */
static const struct supd_row *find_row(const struct control_reply *reply)
{
	for (size_t i = 0; i < reply->n; i++)
		if (!row_string(&reply->row[i], "severity"))
			return &reply->row[i];
	return NULL;
}

/* As a shell has it: 128 and the number of the signal. */
static int status_of_signal(const char *name)
{
	int signal;

	return name && value_signal(name, &signal) == 0 ? SIGNAL_BASE + signal : CONTROL_FAILED;
}

/* That of the command, if it came so far. */
static int status_of(const struct control_reply *reply, const struct supd_row *row)
{
	const char *result = row ? row_string(row, "result") : NULL;

	if (result && str_equal(result, "exit-code"))
		return (int) row_number(row, "exit_status", CONTROL_FAILED);
	if (result && (str_equal(result, "signal") || str_equal(result, "core-dump")))
		return status_of_signal(row_string(row, "exit_signal"));
	if (result && str_equal(result, "oom-kill"))
		return SIGNAL_BASE + SIGKILL;
	return reply->status;
}

/* With what it prints on standard output, what is said of it is not. */
static void print_row(const struct run *r, const struct supd_row *row)
{
	usec_t duration = row_usec(row, "duration");
	const char *words = row_string(row, "words");
	_cleanup_free_ char *text = text_printable(r->has_trigger ? "waits"
						   : words        ? words
								  : "started");
	char buf[TIMESPAN_MAX];

	(void) fprintf(stderr, "%s: %s", r->has_trigger ? r->timer : r->service, text ? text : "");
	if (duration != USEC_NEVER)
		(void) fprintf(stderr, ", took %s",
			       timespan_print(buf, sizeof(buf), duration, USEC_PER_MSEC));
	(void) fputc('\n', stderr);
}

static int report(struct run *r, const struct control_reply *reply)
{
	const struct supd_row *row = find_row(reply);
	int status = status_of(reply, row);

	tell_problems(reply->row, reply->n);
	if (r->cli.json != CLI_JSON_OFF && row)
		return cli_print_json(&r->cli, rows_json_object(row), status);
	if (reply->status != CONTROL_OK && (!row || !cli_has(&r->cli, CLI_QUIET)))
		(void) cli_fail_reply(&r->cli, reply);
	else if (row && !cli_has(&r->cli, CLI_QUIET))
		print_row(r, row);
	return status;
}

/* Whatever it came to: it was given up. */
static int given_up(int signal)
{
	run_wait_die(signal);
	return SIGNAL_BASE + signal;
}

static int wait_for_end(struct run *r, const char *service, const char *timer)
{
	const struct run_wait what = {
		.unit = r->service, .service_text = service, .timer_text = timer,
		/* A name of our own has never been used before. */
		.since = r->is_drawn ? 0 : r->cli.now,
		.shows = r->cli.json == CLI_JSON_OFF,
		.tell = tell_problems,
	};
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };
	int signal = run_wait(&r->cli, &what, &reply), status = report(r, &reply);

	return signal != 0 && reply.status != CONTROL_NO_DAEMON ? given_up(signal) : status;
}

static int only_begin(struct run *r, const char *service, const char *timer)
{
	_cleanup_(control_reply_done) struct control_reply reply = { 0 };

	(void) cli_ask(&r->cli, &reply, "RunTransient", "sssb", r->service, service, timer, 0);
	return report(r, &reply);
}

static int run(struct run *r)
{
	_cleanup_free_ char *service = run_unit_service(&r->unit);
	_cleanup_free_ char *timer = r->has_trigger ? run_unit_timer(&r->unit) : strdup("");

	if (!service || !timer)
		return out_of_memory(r);
	if (r->is_print)
		return print_files(r, service, timer);
	if (r->has_trigger || cli_has(&r->cli, CLI_NO_BLOCK))
		return only_begin(r, service, timer);
	return wait_for_end(r, service, timer);
}

int cli_run(int argc, char **argv)
{
	struct run r = { .has_trigger = false };
	int s;

	cli_init(&r.cli);
	r.cli.verb = cli_options_verb("run");
	s = parse(&r, argc, argv);
	if (s == GO_ON)
		s = run(&r);
	cli_done(&r.cli);
	arena_done(&r.arena);
	return s;
}
