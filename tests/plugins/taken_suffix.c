/* SPDX-License-Identifier: MIT */
/* Wants what is not to be had. */
#include "tests/plugins/fixture.h"

FIXTURE(.suffix = ".service");
