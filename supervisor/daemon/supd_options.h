/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_OPTIONS_H
#define SUPD_SUPD_OPTIONS_H

/* supd's command line. */

#include <stdbool.h>

#include "base/arena.h"
#include "daemon/settings.h"

struct options {
	struct settings_options settings;
	int log_level;  /* -1: not said */
	int log_format; /* enum config_log_format; -1: not said */
	bool is_check;
	bool timers;    /* --experimental=timers */
	const char *plugin_dir;
	struct arena arena;
};

/* What parsing leads to: go on, or end with this exit status. */
enum options_verdict {
	OPTIONS_GO_ON = -1,
	OPTIONS_DONE = 0,  /* --help, --version: all has been said */
	OPTIONS_WRONG = 2, /* as supctl; a sentence is on stderr */
};

/* @argv is lent to the end; @ret is the caller's to end with options_done(), whatever comes. */
enum options_verdict options_parse(int argc, char **argv, bool is_root, struct options *ret);
void options_done(struct options *o);

#endif
