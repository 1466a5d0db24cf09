/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_PLUGIN_VERDICT_H
#define SUPD_CORE_PLUGIN_VERDICT_H

/* Is what a plugin exports fit to be called? Judged once, in a fixed order, before any of its code
 * runs; until the size has been found sufficient nothing but abi and size is read. That there is a
 * symbol at all is for the loader to say (run/plugin_loader). */

#include <stdbool.h>
#include <stddef.h>

struct supd_listener;
struct supd_plugin;

enum plugin_verdict {
	PLUGIN_FIT,
	PLUGIN_ABI_DIFFERS,
	PLUGIN_TOO_SMALL,     /* shorter than version 1 of its own ABI */
	/* a required member is NULL, or name or suffix are not of the right form */
	PLUGIN_INCOMPLETE,
	PLUGIN_SUFFIX_TAKEN,
};
#define PLUGIN_VERDICT_COUNT (PLUGIN_SUFFIX_TAKEN + 1)

/* Who has units of this suffix already ("supd", a plugin's name), or NULL. */
typedef const char *plugin_suffix_owner_fn(void *userdata, const char *suffix);

/* ".service" belongs to supd itself; @owner (may be NULL) knows of the other plugins. */
enum plugin_verdict plugin_judge(const struct supd_plugin *plugin, plugin_suffix_owner_fn *owner,
				 void *userdata);

/* The sentence for a verdict other than PLUGIN_FIT, into @buf; lends it. @where: the plugin's
 * path. */
const char *plugin_verdict_words(enum plugin_verdict v, const struct supd_plugin *plugin,
				 const char *where, char *buf, size_t n);

/* Of this ABI, long enough, nothing missing: may it be called? */
bool plugin_listener_is_complete(const struct supd_listener *listener);

#endif
