/* SPDX-License-Identifier: MIT */
#include "daemon/supd_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"

enum option_key {
	OPTION_CHECK = 256,
	OPTION_CONFIG,
	OPTION_EXPERIMENTAL,
	OPTION_LOG_FORMAT,
	OPTION_LOG_LEVEL,
	OPTION_PLUGIN_DIR,
	OPTION_RUNTIME_DIR,
	OPTION_STATE_DIR,
	OPTION_SYSTEM,
	OPTION_SYSTEMD_UNIT_PATH,
	OPTION_UNIT_PATH,
	OPTION_USER,
	OPTION_VERSION,
};

static const struct option long_options[] = {
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "config", required_argument, NULL, OPTION_CONFIG },
	{ "experimental", required_argument, NULL, OPTION_EXPERIMENTAL },
	{ "help", no_argument, NULL, 'h' },
	{ "log-format", required_argument, NULL, OPTION_LOG_FORMAT },
	{ "log-level", required_argument, NULL, OPTION_LOG_LEVEL },
	{ "plugin-dir", required_argument, NULL, OPTION_PLUGIN_DIR },
	{ "runtime-dir", required_argument, NULL, OPTION_RUNTIME_DIR },
	{ "state-dir", required_argument, NULL, OPTION_STATE_DIR },
	{ "system", no_argument, NULL, OPTION_SYSTEM },
	{ "systemd-unit-path", required_argument, NULL, OPTION_SYSTEMD_UNIT_PATH },
	{ "unit-path", required_argument, NULL, OPTION_UNIT_PATH },
	{ "user", no_argument, NULL, OPTION_USER },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ NULL, 0, NULL, 0 },
};

static const char help[] =
	"usage: supd [OPTION…]\n"
	"\n"
	"Supervises oneshot services and, if asked to, starts them by timers. supd(8) is the manual.\n"
	"\n"
	"  --system                  the machine's supd: the default for root\n"
	"  --user                    a person's own: the default for everybody else\n"
	"  --config=FILE             read this instead of supd.conf\n"
	"  --check                   read supd.conf, say what is wrong with it, and end\n"
	"  --unit-path=DIR[:DIR…]    where units are, instead of the built-in path; may repeat\n"
	"  --systemd-unit-path=DIR[:DIR…]\n"
	"                            more of them, laid out for systemd; may repeat\n"
	"  --state-dir=DIR           what is kept over restarts\n"
	"  --runtime-dir=DIR         the socket is supd/private in it\n"
	"  --plugin-dir=DIR          where timer.so is\n"
	"  --experimental=timers     turn timers on for this run\n"
	"  --log-level=LEVEL         error, warning, notice, info or debug\n"
	"  --log-format=FORMAT       auto, text or json\n"
	"  -h, --help                this text\n"
	"  --version                 the version\n";

/* One line; @value stands between the two in quotes. */
static enum options_verdict wrong(const char *before, const char *value, const char *after)
{
	char shown[128];

	(void) fprintf(stderr, "supd: %s'%s'%s\n", before,
		       text_escape_to(shown, sizeof(shown), value), after);
	return OPTIONS_WRONG;
}

static enum options_verdict set_paths(struct options *o, struct config_paths *paths,
				      const char *value)
{
	if (settings_add_paths(value, &o->arena, paths) >= 0)
		return OPTIONS_GO_ON;
	return wrong("", value, " cannot be made an absolute path");
}

static enum options_verdict set_path(struct options *o, const char **path, const char *value)
{
	if (*value == '\0')
		return wrong("a path is missing: ", value, " will not do");
	*path = settings_absolute(value, &o->arena);
	return *path ? OPTIONS_GO_ON : wrong("", value, " cannot be made an absolute path");
}

static enum options_verdict set_log_level(struct options *o, const char *value)
{
	o->log_level = log_level_from_string(value);
	if (o->log_level >= 0)
		return OPTIONS_GO_ON;
	return wrong("", value, " is not a log level: use error, warning, notice, info or debug");
}

static enum options_verdict set_log_format(struct options *o, const char *value)
{
	o->log_format = config_log_format_from_string(value);
	if (o->log_format >= 0)
		return OPTIONS_GO_ON;
	return wrong("", value, " is not a log format: use auto, text or json");
}

static enum options_verdict set_experimental(struct options *o, const char *value)
{
	if (!str_equal(value, "timers"))
		return wrong("there is no experimental feature ", value, ": use timers");
	o->timers = true;
	return OPTIONS_GO_ON;
}

static enum options_verdict apply(struct options *o, int key, const char *value)
{
	switch (key) {
	case OPTION_CHECK:
		o->is_check = true;
		return OPTIONS_GO_ON;
	case OPTION_CONFIG:
		return set_path(o, &o->settings.config_file, value);
	case OPTION_EXPERIMENTAL:
		return set_experimental(o, value);
	case OPTION_LOG_FORMAT:
		return set_log_format(o, value);
	case OPTION_LOG_LEVEL:
		return set_log_level(o, value);
	case OPTION_PLUGIN_DIR:
		return set_path(o, &o->plugin_dir, value);
	case OPTION_RUNTIME_DIR:
		return set_path(o, &o->settings.runtime_dir, value);
	case OPTION_STATE_DIR:
		return set_path(o, &o->settings.state_dir, value);
	case OPTION_SYSTEM:
		o->settings.is_user = false;
		return OPTIONS_GO_ON;
	case OPTION_SYSTEMD_UNIT_PATH:
		return set_paths(o, &o->settings.systemd_unit_path, value);
	case OPTION_UNIT_PATH:
		return set_paths(o, &o->settings.unit_path, value);
	case OPTION_USER:
		o->settings.is_user = true;
		return OPTIONS_GO_ON;
	case OPTION_VERSION:
		(void) puts("supd " PACKAGE_VERSION);
		return OPTIONS_DONE;
	case 'h':
		(void) fputs(help, stdout);
		return OPTIONS_DONE;
	default:
		(void) fputs("supd: see supd --help\n", stderr);
		return OPTIONS_WRONG;
	}
}

enum options_verdict options_parse(int argc, char **argv, bool is_root, struct options *ret)
{
	enum options_verdict v = OPTIONS_GO_ON;
	int key;

	*ret = (struct options) { .log_level = -1, .log_format = -1 };
	ret->settings.is_user = !is_root;
	while (v == OPTIONS_GO_ON && (key = getopt_long(argc, argv, "h", long_options, NULL)) != -1)
		v = apply(ret, key, optarg);
	if (v == OPTIONS_GO_ON && optind < argc)
		v = wrong("", argv[optind], " is not an option; supd takes no arguments");
	return v;
}

void options_done(struct options *o)
{
	arena_done(&o->arena);
}
