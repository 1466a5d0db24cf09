/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CLI_OFFLINE_H
#define SUPD_CLI_OFFLINE_H

/* What verbs without a daemon share: whose supd is meant and where its units are, and a manager of
 * our own that reads them by the code that runs them. */

#include "base/arena.h"
#include "core/manager.h"
#include "daemon/settings.h"
#include "daemon/surroundings.h"

struct diag;
struct unit_files;

/* All zero but what offline_init() sets; offline_done() ends it, however far it came. */
struct offline {
	struct settings_options options;
	struct arena arena; /* of what was said on the command line */
	struct settings settings;
	struct surroundings surroundings;
	struct unit_files *files;
	struct manager_config config;
	struct manager *manager;
};

/* The options of all these verbs, for getopt_long(). Keys of a verb's own begin at
 * OFFLINE_OPTION_END. */
enum offline_option {
	OFFLINE_CONFIG = 256,
	OFFLINE_SYSTEM,
	OFFLINE_SYSTEMD_UNIT_PATH,
	OFFLINE_UNIT_PATH,
	OFFLINE_USER,
	OFFLINE_OPTION_END,
};
/* clang-format off */
#define OFFLINE_OPTIONS \
	{ "config", required_argument, NULL, OFFLINE_CONFIG }, \
	{ "system", no_argument, NULL, OFFLINE_SYSTEM }, \
	{ "systemd-unit-path", required_argument, NULL, OFFLINE_SYSTEMD_UNIT_PATH }, \
	{ "unit-path", required_argument, NULL, OFFLINE_UNIT_PATH }, \
	{ "user", no_argument, NULL, OFFLINE_USER }
/* clang-format on */
#define OFFLINE_HELP                                                               \
	"      --unit-path=DIR[:DIR…]  where units are, instead of what supd.conf says\n" \
	"      --systemd-unit-path=DIR[:DIR…]\n"                                    \
	"                              more of them, laid out for systemd\n"         \
	"      --config=FILE           read this instead of supd.conf\n"             \
	"      --user, --system        whose supd.conf and unit path\n"

void offline_init(struct offline *o);
/* Stops the plugin before what it was lent goes. */
void offline_done(struct offline *o, const struct supd_now *now);

/* 1: @key was one of ours; 0: it is the verb's; or a negative errno. */
int offline_option(struct offline *o, int key, const char *value);
/* As settings_load(). */
int offline_settings(struct offline *o, struct diag *d);
/* Looks around and opens the unit directories; @dirs instead of the unit path, NULL: that.
 * @trusted_only: files that others may write are refused, as by a supd run by root. 0 or a negative
 * errno. */
int offline_open(struct offline *o, const char *const *dirs, bool trusted_only);
/* A manager that has loaded, and has not begun; the gate is open. @world is lent to the end. @d:
 * what is wrong with directories. 0 or a negative errno. */
int offline_load(struct offline *o, const struct world *world, const struct supd_start_info *info,
		 struct diag *d);

/* What the clocks say. */
struct supd_now offline_clocks(void);

#endif
