/* SPDX-License-Identifier: MIT */
/* Calls what nobody has: found at load, not in the middle of a night. */
#include "supd-plugin.h"

int nobody_has_this(void);

static int start(const struct supd_host *host, const struct supd_start_info *info, struct supd_instance **ret)
{
	(void) host;
	(void) info;
	(void) ret;
	return nobody_has_this();
}

const struct supd_plugin supd_plugin_1 = {
	.abi = SUPD_ABI, .size = sizeof(struct supd_plugin), .name = "unresolved", .suffix = ".unresolved", .start = start,
};
