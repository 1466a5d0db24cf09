# SPDX-License-Identifier: MIT
# One static library a layer; a program names the highest layer it needs.
include %D%/base/local.mk
include %D%/unit/local.mk
include %D%/service/local.mk
include %D%/core/local.mk
include %D%/store/local.mk
include %D%/run/local.mk
include %D%/control/local.mk
include %D%/cli/local.mk
include %D%/daemon/local.mk

include_HEADERS = %D%/supd-plugin.h
EXTRA_DIST += %D%/world.h
