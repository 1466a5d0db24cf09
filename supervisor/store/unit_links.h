/* SPDX-License-Identifier: MIT */
#ifndef SUPD_STORE_UNIT_LINKS_H
#define SUPD_STORE_UNIT_LINKS_H

/* What `supctl enable` and `disable` leave on disk, below the first directory of the unit path: services by a
 * link in default.target.wants/, units of plugins by a drop-in NAME.d/50-enabled.conf with Enabled=. */

#include <stdbool.h>

/* Each returns 1 (changed), 0 (was so already), or a negative errno. @dir is made if missing (0755). Durable:
 * written beside, fsynced, renamed, directory fsynced. */
int unit_links_service(const char *dir, const char *unit, const char *fragment_path, bool enable);
/* For a service that a lower directory wants, too: a link to /dev/null, which outweighs that one. */
int unit_links_service_off(const char *dir, const char *unit);
int unit_links_dropin(const char *dir, const char *unit, const char *section, bool enable);

#endif
