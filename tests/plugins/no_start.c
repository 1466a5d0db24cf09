/* SPDX-License-Identifier: MIT */
/* A required member is missing. */
#include "tests/plugins/fixture.h"

FIXTURE(.start = NULL);
