/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_INSTALL_H
#define SUPD_CORE_INSTALL_H

/* The [Install] section of a unit: which links enabling it makes. systemd.unit(5), "[INSTALL]
 * SECTION OPTIONS". Read only when somebody enables or disables the unit, or asks whether it is
 * enabled. */

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"

struct specifiers;
struct unit_source;

struct install {
	bool is_there;
	/* names of units, NULL-terminated; or NULL */
	const char *const *wanted_by, *const *required_by, *const *upheld_by, *const *alias,
										      *const *also;
	const char *default_instance; /* or NULL */
	/* Enabled= stands in the unit's own files, supctl's drop-in apart: links alone do not
	 * decide then. */
	bool says_enabled;
};

/* Understands [Install] of @source as that of the unit @name (an instance of the template whose
 * source it may be). Mistakes go to @d. Strings live in @arena. 0 or -ENOMEM. */
int install_read(const char *name, const struct unit_source *source,
		 const struct specifiers *common, struct arena *arena, struct diag *d,
		 struct install *ret);

#endif
