/* SPDX-License-Identifier: MIT */
/* Made for another version of the interface. What stands behind the size is not to be read. */
#include "tests/plugins/fixture.h"

FIXTURE(.abi = SUPD_ABI + 1, .name = (const char *) 1, .suffix = (const char *) 1);
