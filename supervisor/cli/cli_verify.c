/* SPDX-License-Identifier: MIT */
#include "cli/cli_verify.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/offline.h"
#include "cli/verify_programs.h"
#include "cli/verify_report.h"
#include "cli/world_offline.h"
#include "control/client.h"
#include "core/unit.h"
#include "store/unit_files.h"

/* A FILE of the command line: a unit by its name, in a directory of its own. */
struct wanted {
	const char *path, *name;
};

/* A template is judged as the daemon judges those of services: by an instance, which nobody else
 * names. */
#define INSTANCE_TO_JUDGE "i"
struct made {
	char name[UNIT_NAME_MAX + 1];
	const char *template; /* lent by the index */
};

struct verify {
	struct offline offline;
	struct world_offline world;
	struct wanted *wanted;
	size_t n_wanted; /* 0: all units there are */
	struct made *made; /* instances of templates of timers */
	size_t n_made;
	struct diag unfit; /* FILEs that cannot be judged; the others are all the same */
	struct verify_report report;
};

/* ---- the command line ---- */

enum option_key { OPTION_JSON = OFFLINE_OPTION_END, OPTION_STRICT };

static const struct option long_options[] = {
	OFFLINE_OPTIONS,
	{ "help", no_argument, NULL, 'h' },
	{ "json", optional_argument, NULL, OPTION_JSON },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"supctl verify [FILE…]\n"
	"\n"
	"Judges unit files without a daemon: those named, or all of the unit path.\n"
	"\n"
	"Options:\n"
	"      --json[=short|pretty]   answer in JSON\n"
	"      --strict                explain what is not applied, and exit with 4 if there is any\n"
	OFFLINE_HELP
	"  -h, --help                  this text\n";

#define GO_ON (-1)

/* With --json as an object on stdout, like any other answer. */
static int fail(struct verify *v, int status, const char *subject, const char *sentence)
{
	char shown[256], message[512];

	(void) snprintf(message, sizeof(message), "%s%s%s",
			text_escape_to(shown, sizeof(shown), subject), *subject ? ": " : "",
			sentence);
	return verify_report_fail(&v->report, message, status);
}

static int set_json(struct verify *v, const char *mode)
{
	if (!mode || str_equal(mode, "short"))
		v->report.json = VERIFY_JSON_SHORT;
	else if (str_equal(mode, "pretty"))
		v->report.json = VERIFY_JSON_PRETTY;
	else if (str_equal(mode, "off"))
		v->report.json = VERIFY_TEXT;
	else
		return fail(v, CONTROL_USAGE, "--json", "is short, pretty or off");
	return GO_ON;
}

static int apply(struct verify *v, int key, const char *value)
{
	int r = offline_option(&v->offline, key, value);

	if (r < 0)
		return fail(v, CONTROL_FAILED, value, strerror(-r));
	if (r > 0)
		return GO_ON;
	switch (key) {
	case OPTION_JSON:
		return set_json(v, value);
	case OPTION_STRICT:
		v->report.is_strict = true;
		return GO_ON;
	case 'h':
		(void) fputs(help, stdout);
		return CONTROL_OK;
	default:
		return fail(v, CONTROL_USAGE, "verify",
			    "wrong usage (supctl verify --help lists the options)");
	}
}

/* What stands against a FILE, or NULL. */
static const char *file_fault(const struct verify *v, const char *path, const char *name)
{
	enum unit_kind kind = unit_name_kind(name);

	if (!unit_name_is_valid(name))
		return "that is not the name of a unit";
	if (kind != UNIT_SERVICE && kind != UNIT_TIMER && kind != UNIT_TARGET)
		return "only services, targets and timers can be verified";
	if (!ENABLE_TIMER && kind == UNIT_TIMER)
		return "this supctl was built without timers";
	if (access(path, R_OK) < 0)
		return strerror(errno);
	for (size_t i = 0; i < v->n_wanted; i++)
		if (str_equal(v->wanted[i].name, name) && !str_equal(v->wanted[i].path, path))
			return "another file of this name is to be verified; one at a time";
	return NULL;
}

static int want_file(struct verify *v, const char *file)
{
	struct wanted *grown =
		arena_grow(&v->offline.arena, v->wanted, v->n_wanted, sizeof(*grown));
	const char *path = settings_absolute(file, &v->offline.arena), *name, *fault;

	if (!grown || !path)
		return fail(v, CONTROL_FAILED, file, strerror(ENOMEM));
	v->wanted = grown;
	name = strrchr(path, '/') + 1;
	fault = file_fault(v, path, name);
	if (fault)
		diag_add(&v->unfit, DIAG_ERROR, file, 0, NULL, "%s", fault);
	else
		v->wanted[v->n_wanted++] = (struct wanted) { path, name };
	return GO_ON;
}

static int parse(struct verify *v, int argc, char **argv)
{
	int key, r = GO_ON;

	optind = 0; /* begin anew: main() has had the line first */
	opterr = 0;
	while (r == GO_ON && (key = getopt_long(argc, argv, "h", long_options, NULL)) != -1)
		r = apply(v, key, optarg);
	for (; r == GO_ON && optind < argc; optind++)
		r = want_file(v, argv[optind]);
	if (r == GO_ON && v->n_wanted == 0 && v->unfit.n > 0)
		r = fail(v, CONTROL_FAILED, v->unfit.entry[0].file, v->unfit.entry[0].message);
	return r;
}

/* ---- where units are ---- */

static bool is_among(const char *const *list, const char *path, size_t n)
{
	for (; *list; list++)
		if (strlen(*list) == n && memcmp(*list, path, n) == 0)
			return true;
	return false;
}

/* The directories of the files come before the unit path, but for those that are in it. */
static const char *const *search_path(struct verify *v)
{
	size_t n = 0, n_path = 0;
	const char **list;

	while (v->offline.settings.unit_path[n_path])
		n_path++;
	list = arena_alloc(&v->offline.arena, (v->n_wanted + n_path + 1) * sizeof(*list));
	for (size_t i = 0; list && i < v->n_wanted; i++) {
		size_t length = (size_t) (v->wanted[i].name - v->wanted[i].path) - 1;

		length += length == 0; /* the root directory */
		if (is_among(v->offline.settings.systemd_unit_path, v->wanted[i].path, length) ||
		    is_among(list, v->wanted[i].path, length))
			continue;
		list[n] = arena_strndup(&v->offline.arena, v->wanted[i].path, length);
		if (!list[n++])
			return NULL;
	}
	if (list)
		memcpy(list + n, v->offline.settings.unit_path, n_path * sizeof(*list));
	return list;
}

static int read_settings(struct verify *v)
{
	struct diag d = { 0 };
	int r = offline_settings(&v->offline, &d), status = GO_ON;

	if (d.n_errors > 0) {
		verify_report_problems(&v->report, &d);
		status = fail(v, CONTROL_FAILED, "",
			      "supd.conf has mistakes; units are not looked at");
	} else if (r < 0) {
		status = fail(v, CONTROL_FAILED, "supd.conf",
			      r == -ENOENT ? "your home directory is not known" : strerror(-r));
	}
	diag_done(&d);
	return status;
}

/* ---- the manager ---- */

static int make_instance(struct verify *v, const char *template)
{
	struct made *grown = arena_grow(&v->offline.arena, v->made, v->n_made, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	v->made = grown;
	if (unit_name_add_instance(template, INSTANCE_TO_JUDGE, grown[v->n_made].name) == 0)
		grown[v->n_made++].template = template;
	return 0;
}

/* Those of the index as it is now. What memory does not suffice for is left out. */
static void make_instances(struct verify *v)
{
	const char *name;

	v->n_made = 0;
	for (size_t i = 0; (name = unit_files_name(v->offline.files, i)); i++)
		if (unit_name_kind(name) == UNIT_TIMER && unit_name_is_template(name) &&
		    make_instance(v, name) < 0)
			return;
}

/* The names of the index, then those. */
static const char *name_at(void *ctx, size_t i)
{
	struct world_offline *w = ctx;
	struct verify *v = (struct verify *) (void *) ((char *) w - offsetof(struct verify, world));
	size_t n = unit_files_count(w->files);

	if (i == n)
		make_instances(v);
	return i < n               ? unit_files_name(w->files, i)
	       : i - n < v->n_made ? v->made[i - n].name
				   : NULL;
}

static const struct made *find_made(const struct verify *v, const char *name)
{
	for (size_t i = 0; i < v->n_made; i++)
		if (str_equal(v->made[i].name, name))
			return &v->made[i];
	return NULL;
}

/* The target of such a timer, which is an instance as well. */
static bool is_made_for_us(const struct unit *u)
{
	return !u->is_named && strstr(u->name, "@" INSTANCE_TO_JUDGE ".");
}

/* As far as it goes without a process: loaded, begun, and with the plugin running. */
static int open_manager(struct verify *v)
{
	const struct supd_now now = offline_clocks();
	const struct supd_start_info info = { .size = sizeof(info), .daemon_since = now };
	const char *const *dirs = search_path(v);
	struct diag d = { 0 };
	/* Files at hand are judged for what they say, wherever they lie; the unit path as supd
	 * would. */
	int r = dirs ? offline_open(&v->offline, dirs, v->n_wanted == 0 && geteuid() == 0)
		     : -ENOMEM;

	if (r < 0)
		return r;
	world_offline_init(&v->world, v->offline.files);
	v->world.world.unit_name = name_at;
	r = offline_load(&v->offline, &v->world.world, &info, &d);
	verify_report_problems(&v->report, &d);
	diag_done(&d);
	if (r >= 0)
		manager_begin(v->offline.manager, &now);
	return r;
}

/* ---- the verdicts ---- */

static bool is_wanted(const struct verify *v, const char *name)
{
	const char *real;

	for (size_t i = 0; i < v->n_wanted; i++) {
		real = unit_files_resolve(v->offline.files, v->wanted[i].name);
		if (str_equal(name, v->wanted[i].name) || (real && str_equal(name, real)))
			return true;
	}
	return v->n_wanted == 0;
}

static void judge_service(struct verify *v, const struct unit *u)
{
	const struct unit_config *c = u->config;
	char path[FRAGMENT_PATH_MAX];
	struct verify_unit unit = { u->name, unit_fragment(u, path), unit_load_to_string(c->load),
				    c->load == UNIT_INVALID };
	struct unit_source source = { 0 };
	struct diag more = { 0 };

	if (c->load == UNIT_LOADED && unit_files_read(v->offline.files, u->name, &source) >= 0)
		verify_programs(c->spec, &source, &more);
	verify_report_unit(&v->report, &unit, &c->problems, &more);
	unit_source_done(&source);
	diag_done(&more);
}

static void judge_timer(void *userdata, const struct manager_plugin_unit *u)
{
	struct verify *v = userdata;
	bool is_invalid = u->problems->n_errors > 0;
	const char *load = is_invalid ? "invalid" : u->is_masked ? "masked" : "loaded";
	const struct made *made = find_made(v, u->name);
	struct verify_unit unit = { made ? made->template : u->name, u->fragment, load,
				    is_invalid };

	if (is_wanted(v, unit.name))
		verify_report_unit(&v->report, &unit, u->problems, NULL);
}

static int judge(struct verify *v)
{
	const char *reason, *state = manager_gate_state(v->offline.manager, &reason);
	struct unit *u;

	for (size_t i = 0; (u = manager_unit_at(v->offline.manager, i)); i++)
		if (is_wanted(v, u->name) && !is_made_for_us(u))
			judge_service(v, u);
	if (ENABLE_TIMER && !str_equal(state, "enabled"))
		return fail(v, CONTROL_FAILED, "timers", reason ? reason : state);
	manager_plugin_units(v->offline.manager, judge_timer, v);
	return verify_report_end(&v->report);
}

static int verify(struct verify *v)
{
	int r = read_settings(v);

	if (r != GO_ON)
		return r;
	verify_report_problems(&v->report, &v->unfit);
	r = open_manager(v);
	if (r < 0)
		return fail(v, CONTROL_FAILED, "units cannot be read", strerror(-r));
	return judge(v);
}

int cli_verify(int argc, char **argv)
{
	struct verify v = { 0 };
	struct supd_now now;
	int r;

	offline_init(&v.offline);
	r = parse(&v, argc, argv);
	if (r == GO_ON)
		r = verify(&v);
	now = offline_clocks();
	offline_done(&v.offline, &now);
	verify_report_done(&v.report);
	diag_done(&v.unfit);
	return r;
}
