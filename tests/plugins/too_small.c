/* SPDX-License-Identifier: MIT */
/* Ends before version 1 does. What stands behind the size is not to be read. */
#include "tests/plugins/fixture.h"

FIXTURE(.size = offsetof(struct supd_plugin, list), .name = (const char *) 1, .suffix = (const char *) 1);
