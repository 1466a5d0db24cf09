/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_UNIT_LINKS_H
#define SUPD_STORE_UNIT_LINKS_H

/* What `supctl enable`, `disable`, `mask` and `unmask` leave on disk, below one directory of the
 * unit path: links in default.target.wants/ and the like, aliases beside the units, links to
 * /dev/null, and for units of plugins a drop-in NAME.d/50-enabled.conf with Enabled=. */

#include <stdbool.h>

/* Each returns 1 (changed), 0 (was so already), or a negative errno. @dir is made if missing
 * (0755), where something is to be written. Durable: written beside, fsynced, renamed, directory
 * fsynced. No name is ever a path. */

/* @subdir/@name → @target, whatever link was there. @subdir "": an alias, for which only a link to
 * the same unit gives way. -EEXIST: something else has that name. */
int unit_links_put(const char *dir, const char *subdir, const char *name, const char *target);
/* Every link to @unit: its name in any .wants/, .requires/ and .upholds/, aliases. Those to
 * /dev/null stay, which say no. */
int unit_links_remove(const char *dir, const char *unit);
/* A link @subdir/@unit to /dev/null outweighs those in directories below. */
int unit_links_off(const char *dir, const char *subdir, const char *unit);
int unit_links_no_longer_off(const char *dir, const char *subdir, const char *unit);
int unit_links_dropin(const char *dir, const char *unit, const char *section, bool enable);
int unit_links_no_dropin(const char *dir, const char *unit);
/* @name → /dev/null. -EEXIST: a file, or a link to elsewhere, has the name. */
int unit_links_mask(const char *dir, const char *name);
int unit_links_unmask(const char *dir, const char *name);

#endif
