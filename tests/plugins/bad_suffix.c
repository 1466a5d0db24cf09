/* SPDX-License-Identifier: MIT */
/* Its suffix is not one. */
#include "tests/plugins/fixture.h"

FIXTURE(.suffix = "../timer");
