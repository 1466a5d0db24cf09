/* SPDX-License-Identifier: MIT */
/* The real manager and the real timer plugin over the real unit files, in a world where time passes
 * at once. supd is taken to begin at --from, on a machine that has just booted, with nothing on
 * record. */
#include "cli/cli_simulate.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/offline.h"
#include "cli/simulate_report.h"
#include "cli/world_virtual.h"
#include "control/format.h"
#include "control/rows.h"
#include "core/unit.h"
#include "timer/timestamp.h"
#include "timer/zone_load.h"

#define ROWS_DEFAULT 1000
#define ROWS_MAX 10000000
/* Who asks for more than this has waited for minutes, and seen nothing. */
#define STEPS_MAX UINT64_C(100000000)
/* So that boot is no special moment. */
#define BOOT_FROM (10 * USEC_PER_SEC)

#define GO_ON (-1)

/* --fail=, --take=: as typed, then as it counts. */
struct fate {
	char typed[CLI_UNIT_MAX];
	const char *service; /* NULL: not known yet */
	bool has_exit, has_take;
	struct virtual_fate as;
};

struct jump {
	usec_t when; /* real time */
	int64_t delta;
};

struct simulate {
	struct cli cli;
	struct offline offline;
	struct world_virtual world;
	struct simulate_report report;
	struct zone_cache *zones;
	const char *from_text, *to_text;
	usec_t from, to;
	usec_t end; /* boot-time clock */
	struct fate *fate;
	size_t n_fates;
	const char **jump_text;
	struct jump *jump;
	size_t n_jumps, next_jump;
	char **pattern;
	int n_patterns;
	uint64_t max_rows, steps;
	bool has_learned;
	bool is_cut;
};

/* ---- the command line ---- */

enum option_key {
	OPTION_CLOCK_JUMP = OFFLINE_OPTION_END,
	OPTION_FAIL,
	OPTION_FROM,
	OPTION_JSON,
	OPTION_LIMIT,
	OPTION_NO_LEGEND,
	OPTION_TAKE,
	OPTION_TO,
};

static const struct option long_options[] = {
	OFFLINE_OPTIONS,
	{ "clock-jump", required_argument, NULL, OPTION_CLOCK_JUMP },
	{ "fail", required_argument, NULL, OPTION_FAIL },
	{ "from", required_argument, NULL, OPTION_FROM },
	{ "full", no_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ "json", optional_argument, NULL, OPTION_JSON },
	{ "limit", required_argument, NULL, OPTION_LIMIT },
	{ "no-legend", no_argument, NULL, OPTION_NO_LEGEND },
	{ "take", required_argument, NULL, OPTION_TAKE },
	{ "to", required_argument, NULL, OPTION_TO },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"supctl simulate [OPTION…] [UNIT…]\n"
	"\n"
	"Shows what would run, be retried and be missed, and why: the real scheduler over the real\n"
	"unit files, on a clock of its own. Nothing is run, no daemon is asked. supd is taken to begin\n"
	"at --from, with nothing on record. UNITs are timers or services, patterns of their names, too.\n"
	"\n"
	"Options:\n"
	"      --from=TIME             when it begins; the default is now\n"
	"      --to=TIME               when it ends, \"+7d\" say; the default is a day later\n"
	"      --fail=UNIT:EXIT        runs of UNIT end with this exit status; others with 0\n"
	"      --take=UNIT:SPAN        runs of UNIT take so long; others no time at all\n"
	"      --clock-jump=WHEN,±SPAN at WHEN the clock is set ahead or back by SPAN\n"
	"      --limit=N               stop after N lines; the default is 1000\n"
	"      --json[=short|pretty]   answer in JSON\n"
	"      --no-legend             a table without header and footer\n"
	"  -l, --full                  cut nothing, however narrow the terminal\n"
	OFFLINE_HELP
	"  -h, --help                  this text\n";

static int set_json(struct simulate *s, const char *mode)
{
	if (!mode || str_equal(mode, "short"))
		s->cli.json = CLI_JSON_SHORT;
	else if (str_equal(mode, "pretty"))
		s->cli.json = CLI_JSON_PRETTY;
	else if (str_equal(mode, "off"))
		s->cli.json = CLI_JSON_OFF;
	else
		return cli_fail(&s->cli, CONTROL_USAGE, "--json= is short, pretty or off, not '%s'",
				mode);
	return GO_ON;
}

/* The fate of the unit that is typed as the first @n bytes of @text; made if there is none. */
static struct fate *fate_of(struct simulate *s, const char *text, size_t n)
{
	struct fate *grown;
	char *typed;

	for (size_t i = 0; i < s->n_fates; i++)
		if (strlen(s->fate[i].typed) == n && memcmp(s->fate[i].typed, text, n) == 0)
			return &s->fate[i];
	grown = arena_grow(&s->offline.arena, s->fate, s->n_fates, sizeof(*grown));
	if (!grown)
		return NULL;
	s->fate = grown;
	s->fate[s->n_fates] = (struct fate) { .service = NULL };
	typed = s->fate[s->n_fates].typed;
	memcpy(typed, text, n);
	typed[n] = '\0';
	return &s->fate[s->n_fates++];
}

static int set_fate(struct simulate *s, const char *option, const char *value, bool is_exit)
{
	const char *colon = strrchr(value, ':');
	struct parse_error error;
	struct fate *f;
	uint64_t status;

	if (!colon || colon == value || (size_t) (colon - value) >= CLI_UNIT_MAX)
		return cli_fail(&s->cli, CONTROL_USAGE, "--%s= is UNIT:%s, not '%s'", option,
				is_exit ? "EXIT" : "SPAN", value);
	f = fate_of(s, value, (size_t) (colon - value));
	if (!f)
		return cli_fail(&s->cli, CONTROL_FAILED, "out of memory");
	if (is_exit) {
		if (value_unsigned(colon + 1, 255, &status) < 0)
			return cli_fail(&s->cli, CONTROL_USAGE,
					"--fail=%s: an exit status is a number up to 255", value);
		f->as.exit = (int) status;
		f->has_exit = true;
		return GO_ON;
	}
	if (timespan_parse(colon + 1, &f->as.take, &error) < 0)
		return cli_fail(&s->cli, CONTROL_USAGE, "--take=%s: %s", value, error.sentence);
	f->has_take = true;
	return GO_ON;
}

static int keep_jump(struct simulate *s, const char *text)
{
	const char **grown =
		arena_grow(&s->offline.arena, s->jump_text, s->n_jumps, sizeof(*grown));

	if (!grown)
		return cli_fail(&s->cli, CONTROL_FAILED, "out of memory");
	s->jump_text = grown;
	s->jump_text[s->n_jumps++] = text;
	return GO_ON;
}

static int set_limit(struct simulate *s, const char *value)
{
	if (value_unsigned(value, ROWS_MAX, &s->max_rows) < 0 || s->max_rows == 0)
		return cli_fail(&s->cli, CONTROL_USAGE,
				"--limit= is a number from 1 to %d, not '%s'", ROWS_MAX, value);
	return GO_ON;
}

static int apply(struct simulate *s, int key, const char *value, const char *word)
{
	int r = offline_option(&s->offline, key, value);

	if (r < 0)
		return cli_fail(&s->cli, CONTROL_FAILED, "%s: %s", value, strerror(-r));
	if (r > 0)
		return GO_ON;
	switch (key) {
	case OPTION_CLOCK_JUMP:
		return keep_jump(s, value);
	case OPTION_FAIL:
		return set_fate(s, "fail", value, true);
	case OPTION_FROM:
		s->from_text = value;
		return GO_ON;
	case OPTION_JSON:
		return set_json(s, value);
	case OPTION_LIMIT:
		return set_limit(s, value);
	case OPTION_NO_LEGEND:
		s->cli.given |= CLI_NO_LEGEND;
		return GO_ON;
	case OPTION_TAKE:
		return set_fate(s, "take", value, false);
	case OPTION_TO:
		s->to_text = value;
		return GO_ON;
	case 'l':
		s->cli.given |= CLI_FULL;
		return GO_ON;
	case 'h':
		(void) fputs(help, stdout);
		return CONTROL_OK;
	case ':':
		return cli_fail(&s->cli, CONTROL_USAGE, "%s needs a value", word);
	default:
		return cli_fail(&s->cli, CONTROL_USAGE,
				"unknown option '%s' (supctl simulate --help lists them)", word);
	}
}

static int parse(struct simulate *s, int argc, char **argv)
{
	int key, r = GO_ON;

	s->max_rows = ROWS_DEFAULT;
	optind = 0; /* begin anew: main() has had the line first */
	opterr = 0;
	while (r == GO_ON && (key = getopt_long(argc, argv, ":hl", long_options, NULL)) != -1)
		r = apply(s, key, optarg, argv[optind - 1]);
	s->pattern = argv + optind;
	s->n_patterns = argc - optind;
	return r;
}

/* ---- times ---- */

/* "+30min", "3h left": whoever writes this means from the beginning on; all else is said of now, as
 * everywhere. */
static bool is_onward(const char *text)
{
	return text[0] == '+' || str_ends(text, " left");
}

static int parse_time(const struct simulate *s, const char *option, const char *text, usec_t from,
		      usec_t *ret)
{
	const struct timestamp_context context = {
		.now = is_onward(text) ? from : s->cli.now,
		.local = zone_cache_local(s->zones),
		.find_zone = zone_cache_find,
		.userdata = s->zones,
	};
	struct parse_error error;

	if (timestamp_parse(text, &context, ret, &error) < 0)
		return cli_fail(&s->cli, CONTROL_USAGE, "--%s=%s: %s", option, text,
				error.sentence);
	return GO_ON;
}

/* "WHEN,+SPAN" */
static int parse_jump(const struct simulate *s, const char *text, struct jump *ret)
{
	const char *comma = strrchr(text, ',');
	_cleanup_free_ char *when = comma ? strndup(text, (size_t) (comma - text)) : NULL;
	struct parse_error error;
	usec_t span;

	if (!when || (comma[1] != '+' && comma[1] != '-'))
		return cli_fail(&s->cli, CONTROL_USAGE,
				"--clock-jump= is WHEN,+SPAN or WHEN,-SPAN, not '%s'", text);
	if (timespan_parse(comma + 2, &span, &error) < 0)
		return cli_fail(&s->cli, CONTROL_USAGE, "--clock-jump=%s: %s", text,
				error.sentence);
	if (span > INT64_MAX)
		return cli_fail(&s->cli, CONTROL_USAGE, "--clock-jump=%s: that is too far", text);
	ret->delta = comma[1] == '-' ? -(int64_t) span : (int64_t) span;
	return parse_time(s, "clock-jump", when, s->from, &ret->when);
}

static int by_time(const void *a, const void *b)
{
	const struct jump *x = a, *y = b;

	return x->when < y->when ? -1 : x->when > y->when;
}

static int parse_times(struct simulate *s)
{
	const struct zone_source source = zone_source_from_environment();
	int r = GO_ON;

	if (zone_cache_new(&source, &s->zones) < 0)
		return cli_fail(&s->cli, CONTROL_FAILED, "out of memory");
	s->from = s->cli.now;
	if (s->from_text)
		r = parse_time(s, "from", s->from_text, s->cli.now, &s->from);
	s->to = usec_add(s->from, USEC_PER_DAY);
	if (r == GO_ON && s->to_text)
		r = parse_time(s, "to", s->to_text, s->from, &s->to);
	if (r != GO_ON)
		return r;
	if (s->to <= s->from || s->to == USEC_NEVER)
		return cli_fail(&s->cli, CONTROL_USAGE, "--to= must be a moment after --from=");
	s->jump = arena_alloc(&s->offline.arena, (s->n_jumps + 1) * sizeof(*s->jump));
	if (!s->jump)
		return cli_fail(&s->cli, CONTROL_FAILED, "out of memory");
	for (size_t i = 0; i < s->n_jumps && r == GO_ON; i++)
		r = parse_jump(s, s->jump_text[i], &s->jump[i]);
	qsort(s->jump, s->n_jumps, sizeof(*s->jump), by_time);
	return r;
}

/* ---- what the world and the manager ask and tell ---- */

/* Only the first main command takes time and fails; what a service does before and after goes
 * well. */
static void tell_fate(void *userdata, const char *unit, enum exec_phase phase,
		      struct virtual_fate *ret)
{
	const struct simulate *s = userdata;

	for (size_t i = 0; i < s->n_fates && phase == EXEC_START; i++) {
		const struct fate *f = &s->fate[i];

		if (!f->service || !str_equal(f->service, unit))
			continue;
		if (f->has_exit)
			ret->exit = f->as.exit;
		if (f->has_take)
			ret->take = f->as.take;
	}
}

static void on_started(void *userdata, struct unit *u)
{
	struct simulate *s = userdata;

	simulate_started(&s->report, u);
}

static void on_settled(void *userdata, struct unit *u, bool run_ended)
{
	struct simulate *s = userdata;

	if (run_ended)
		simulate_ended(&s->report, u);
}

static void on_event(void *userdata, const char *type, const char *unit,
		     const struct supd_row *fields)
{
	struct simulate *s = userdata;

	simulate_told(&s->report, type, unit, fields);
}

static bool is_wanted(void *userdata, const char *service)
{
	const struct simulate *s = userdata;

	return cli_matches(service, s->n_patterns, s->pattern);
}

/* ---- the units that are spoken of ---- */

static int fail_no_unit(struct simulate *s, const char *name)
{
	char words[1024];

	return cli_fail(&s->cli, CONTROL_NO_UNIT, "%s",
			manager_verdict_words(s->offline.manager, name, MANAGER_NO_UNIT, words,
					      sizeof(words)));
}

static int fail_invalid(struct simulate *s, const char *name, const struct diag *problems)
{
	for (size_t i = 0; i < problems->n; i++) {
		_cleanup_free_ char *line = NULL;

		if (problems->entry[i].severity != DIAG_ERROR)
			continue;
		line = diag_format(&problems->entry[i]);
		return cli_fail(&s->cli, CONTROL_NO_UNIT, "%s is invalid: %s", name,
				line ? line : "");
	}
	return GO_ON;
}

/* The service that a fate is for, if it was typed as @suffix has it: itself, or the timer that
 * starts it. */
static bool is_fate_of(struct simulate *s, struct fate *f, const char *suffix)
{
	const struct simulate_timer *t;
	char name[CLI_UNIT_MAX];
	struct unit *u;

	if (unit_name_complete(f->typed, suffix, name) < 0)
		return false;
	HASH_FIND_STR(s->report.timer, name, t);
	u = manager_unit(s->offline.manager, t && t->target ? t->target : name);
	f->service = u ? u->name : NULL;
	return u;
}

/* Services may run before timers begin, which are not known till then. */
static int settle_fate(struct simulate *s, struct fate *f)
{
	char name[CLI_UNIT_MAX];
	int r;

	if (is_fate_of(s, f, ".service") || is_fate_of(s, f, ".timer"))
		return GO_ON;
	r = cli_unit_name(&s->cli, f->typed, ".service", name);
	return r != 0 ? r : fail_no_unit(s, name);
}

struct match {
	struct simulate *simulate;
	char *pattern;
	int n, status; /* how many, and what stands against the first that is invalid */
};

static void match(struct match *m, const char *name, const struct diag *problems)
{
	if (!cli_matches(name, 1, &m->pattern))
		return;
	if (problems->n_errors > 0 && cli_is_pattern(m->pattern))
		return; /* left out, as is said below the table */
	m->n++;
	if (m->status == GO_ON)
		m->status = fail_invalid(m->simulate, name, problems);
}

static void match_timer(void *userdata, const struct manager_plugin_unit *u)
{
	match(userdata, u->name, u->problems);
}

/* Each name must stand for something that can be simulated, a pattern for one that can at least. */
static int check_pattern(struct simulate *s, char *pattern)
{
	struct match m = { .simulate = s, .pattern = pattern, .status = GO_ON };
	struct unit *u;
	char name[CLI_UNIT_MAX];

	for (size_t i = 0; (u = manager_unit_at(s->offline.manager, i)); i++)
		match(&m, u->name, &u->config->problems);
	manager_plugin_units(s->offline.manager, match_timer, &m);
	if (m.status != GO_ON || m.n > 0)
		return m.status;
	if (cli_is_pattern(pattern))
		return cli_fail(&s->cli, CONTROL_NO_UNIT, "no unit matches '%s'", pattern);
	if (cli_unit_name(&s->cli, pattern, ".timer", name) != 0)
		return CONTROL_NO_UNIT;
	return fail_no_unit(s, name);
}

static int learn_timer(void *userdata, const struct supd_row *row)
{
	struct simulate *s = userdata;
	const char *timer = row_string(row, "unit"), *target = row_string(row, "activates");

	if (timer && target)
		simulate_learn(&s->report, timer, target,
			       !cli_matches(timer, s->n_patterns, s->pattern) &&
				       !cli_matches(target, s->n_patterns, s->pattern));
	return 0;
}

/* As soon as timers run: what they start, and who was meant on the command line. */
static int learn(struct simulate *s)
{
	int r = GO_ON;

	s->has_learned = true;
	(void) manager_table(s->offline.manager, &s->world.now, "units", NULL, learn_timer, s);
	simulate_learned(&s->report);
	for (size_t i = 0; i < s->n_fates && r == GO_ON; i++)
		r = settle_fate(s, &s->fate[i]);
	for (int i = 0; i < s->n_patterns && r == GO_ON; i++)
		r = check_pattern(s, s->pattern[i]);
	return r;
}

/* ---- time passes ---- */

static int open_manager(struct simulate *s)
{
	const struct manager_observer observer = {
		.userdata = s, .started = on_started, .settled = on_settled, .event = on_event,
	};
	const struct supd_now start = { .real = s->from, .boot = BOOT_FROM };
	struct supd_start_info info = {
		.size = sizeof(info),
		.daemon_since = start,
		.is_container = true, /* OnBootSec= counts from --from */
		.clock_epoch = s->from < CLOCK_EPOCH ? 0 : CLOCK_EPOCH,
	};
	struct diag d = { 0 };
	int r = offline_open(&s->offline, NULL, geteuid() == 0);

	if (r < 0)
		return r;
	memcpy(info.machine_id, s->offline.surroundings.machine_id, sizeof(info.machine_id));
	world_virtual_init(&s->world, s->offline.files, &start);
	s->world.fate = tell_fate;
	s->world.userdata = s;
	s->report.now = &s->world.now;
	s->report.is_shown = is_wanted;
	s->report.userdata = s;
	r = offline_load(&s->offline, &s->world.base.world, &info, &d);
	diag_done(&d);
	s->world.manager = s->offline.manager;
	if (r < 0)
		return r;
	manager_observe(s->offline.manager, &observer);
	return 0;
}

static bool timers_run(const struct simulate *s)
{
	const char *reason;

	return str_equal(manager_gate_state(s->offline.manager, &reason), "enabled");
}

/* The end of this stretch of time: the next jump, or the end of it all, on the boot-time clock. */
static usec_t stretch_end(const struct simulate *s)
{
	const struct supd_now *now = &s->world.now;

	if (s->next_jump == s->n_jumps)
		return s->end;
	return usec_min(s->end,
			usec_add(now->boot, usec_sub(s->jump[s->next_jump].when, now->real)));
}

/* On the boot-time clock: when the clock shows --to, and not before as much time has passed as
 * there is to it. */
static void set_end(struct simulate *s)
{
	s->end = usec_max(s->end, usec_add(s->world.now.boot, usec_sub(s->to, s->world.now.real)));
}

static void jump(struct simulate *s)
{
	int64_t delta = s->jump[s->next_jump++].delta;
	struct supd_now *now = &s->world.now;

	/* The row comes before what follows from it, and shows the clock as it is then. */
	now->real = delta < 0 ? usec_sub(now->real, -(usec_t) delta)
			      : usec_add(now->real, (usec_t) delta);
	simulate_jumped(&s->report, delta);
	set_end(s);
	manager_clock_jump(s->offline.manager, now, delta);
}

/* The line too many tells that there is more, and is when the list is cut: what took no time before
 * it has ended. */
static bool is_enough(const struct simulate *s)
{
	return s->report.n > s->max_rows || s->steps >= STEPS_MAX || s->report.is_failed;
}

static int run(struct simulate *s)
{
	usec_t until;

	set_end(s);
	for (size_t i = 0; i < s->n_fates; i++)
		(void) is_fate_of(s, &s->fate[i], ".service");
	manager_begin(s->offline.manager, &s->world.now);
	for (;;) {
		if (!s->has_learned && timers_run(s)) {
			int r = learn(s);

			if (r != GO_ON)
				return r;
		}
		if (is_enough(s)) {
			simulate_cut(&s->report, s->max_rows);
			s->is_cut = true;
			break;
		}
		s->steps++;
		until = stretch_end(s);
		if (world_virtual_step(&s->world, until))
			continue;
		if (s->next_jump == s->n_jumps || s->world.now.boot >= s->end)
			break;
		jump(s);
	}
	return s->has_learned ? GO_ON : learn(s);
}

/* ---- the answer ---- */

struct invalid {
	const struct simulate *simulate;
	size_t n;
};

static void count_invalid(void *userdata, const struct manager_plugin_unit *u)
{
	struct invalid *i = userdata;

	i->n += u->problems->n_errors > 0;
}

/* Beside the list, on stderr: what a reader of it would otherwise take for granted. */
static void print_remarks(struct simulate *s)
{
	struct invalid invalid = { .simulate = s };
	const char *reason, *state = manager_gate_state(s->offline.manager, &reason);
	char buf[FORMAT_TIME_MAX];
	struct unit *u;

	for (size_t i = 0; (u = manager_unit_at(s->offline.manager, i)); i++)
		invalid.n += u->config->load == UNIT_INVALID;
	manager_plugin_units(s->offline.manager, count_invalid, &invalid);
	(void) fflush(stdout);
	if (invalid.n > 0)
		fprintf(stderr,
			"supctl: %zu unit%s invalid and left out (supctl verify tells why)\n",
			invalid.n, invalid.n == 1 ? " is" : "s are");
	if (!str_equal(state, "enabled"))
		fprintf(stderr, "supctl: timers are %s: %s\n", state, reason ? reason : "");
	if (s->is_cut)
		fprintf(stderr,
			"supctl: cut after %" PRIu64
			" lines, at %s (--limit= allows more, UNITs and --to= "
			"ask for less)\n",
			(uint64_t) s->report.n - 1,
			format_timestamp(buf, sizeof(buf), s->world.now.real));
}

static int answer(struct simulate *s)
{
	int status;

	if (s->report.is_failed)
		return cli_fail(&s->cli, CONTROL_FAILED, "out of memory");
	status = s->cli.json != CLI_JSON_OFF ? simulate_print_json(&s->report, &s->cli)
					     : simulate_print_table(&s->report, &s->cli);
	print_remarks(s);
	return status;
}

static int read_settings(struct simulate *s)
{
	struct diag d = { 0 };
	int r = offline_settings(&s->offline, &d), status = GO_ON;

	if (d.n_errors > 0) {
		_cleanup_free_ char *line = diag_format(&d.entry[0]);

		status = cli_fail(&s->cli, CONTROL_FAILED, "%s",
				  line ? line : "supd.conf has mistakes");
	} else if (r < 0) {
		status = cli_fail(&s->cli, CONTROL_FAILED, "supd.conf: %s",
				  r == -ENOENT ? "your home directory is not known" : strerror(-r));
	}
	diag_done(&d);
	return status;
}

static int simulate(struct simulate *s)
{
	int r = parse_times(s);

	if (r == GO_ON)
		r = read_settings(s);
	if (r != GO_ON)
		return r;
	r = open_manager(s);
	if (r < 0)
		return cli_fail(&s->cli, CONTROL_FAILED, "units cannot be read: %s", strerror(-r));
	r = run(s);
	return r == GO_ON ? answer(s) : r;
}

int cli_simulate(int argc, char **argv)
{
	static const struct manager_observer nobody;
	struct simulate s = { .steps = 0 };
	int r;

	cli_init(&s.cli);
	offline_init(&s.offline);
	r = parse(&s, argc, argv);
	if (r == GO_ON)
		r = simulate(&s);
	if (s.offline.manager)
		manager_observe(s.offline.manager, &nobody);
	offline_done(&s.offline, &s.world.now);
	world_virtual_done(&s.world);
	simulate_report_done(&s.report);
	zone_cache_free(s.zones);
	cli_done(&s.cli);
	return r;
}
