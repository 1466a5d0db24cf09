/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_CONFIG_H
#define SUPD_CORE_CONFIG_H

/* supd.conf, understood: assignments → one struct. supd.conf(5) is its manual. Pure: who reads the
 * file and what the command line adds is supd.c's affair. */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/keys.h"
#include "base/usec.h"

enum config_log_format {
	CONFIG_LOG_AUTO, /* the journal where stderr leads to it, else text */
	CONFIG_LOG_TEXT,
	CONFIG_LOG_JSON,
};
#define CONFIG_LOG_FORMAT_COUNT (CONFIG_LOG_JSON + 1)

/* Who may look, besides root and the user supd runs as, who may do everything. */
enum config_read_access {
	CONFIG_READ_ALL,
	CONFIG_READ_NONE,
	CONFIG_READ_GROUP,
};

/* Absolute paths, high priority first. */
struct config_paths {
	const char **item; /* NULL: none was given */
	size_t n;
};

/* What is NULL or empty was not said. */
struct config {
	struct config_paths unit_path, systemd_unit_path;
	const char *state_dir, *runtime_dir;
	int log_level;
	enum config_log_format log_format;
	enum config_read_access read_access;
	const char *read_group;
	/* what services print: how much of it is kept, in bytes (0: nothing) and µs; does it go to
	 * the log, too? */
	uint64_t output_max_per_run, output_max_per_unit;
	usec_t output_max_age;
	bool history;
	usec_t history_max_age;
	uint64_t history_max_per_unit, history_max_size;
	bool forward_output;
	bool timers; /* [Experimental] Timers= */
	/* [Timer], as they stand: checked here, understood by the plugin */
	const char *retry, *catch_up, *catch_up_spread;
};

/* What holds when nobody says anything. */
void config_init(struct config *c);

/* All sections and keys of supd.conf. */
const struct key_table *config_keys(void);

/* Applies @n assignments to @c. Mistakes go to @d (the caller looks at d->n_errors); strings live
 * in @arena. 0 or -ENOMEM. */
int config_parse(const struct assignment *assignment, size_t n, struct arena *arena, struct diag *d,
		 struct config *c);

/* A list of absolute paths parted by colons, appended; "" empties the list. 0, -ENOMEM, or -EINVAL
 * with the offending part (lent) in *reterr. */
int config_paths_parse(const char *text, struct arena *arena, struct config_paths *paths,
		       const char **reterr);

/* "text", "json", "auto"; -EINVAL. */
int config_log_format_from_string(const char *s);

/* A setting for plugins by its name ("RetrySec"); NULL: not set. */
const char *config_setting(const struct config *c, const char *key);

#endif
