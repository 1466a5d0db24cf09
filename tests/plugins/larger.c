/* SPDX-License-Identifier: MIT */
/* Of a later version, which has appended members: fit. */
#include "tests/plugins/fixture.h"

FIXTURE(.size = sizeof(struct supd_plugin) + 64, .name = "larger", .suffix = ".larger");
