/* SPDX-License-Identifier: MIT */
/* A shared object, but no plugin. */
#include "supd-plugin.h"

__attribute__((visibility("default"))) extern const unsigned supd_plugin_0;

const unsigned supd_plugin_0 = SUPD_ABI;
