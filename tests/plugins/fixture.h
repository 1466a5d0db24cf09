/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TEST_PLUGIN_FIXTURE_H
#define SUPD_TEST_PLUGIN_FIXTURE_H

/* A plugin that would be in order but for what its designated initialisers say last. Its code must
 * never run: the loader and the verdict come before. */

#include <stdlib.h>

#include "supd-plugin.h"

static int fixture_start(const struct supd_host *host, const struct supd_start_info *info, struct supd_instance **ret)
{
	(void) host;
	(void) info;
	(void) ret;
	abort();
}

static void fixture_stop(struct supd_instance *self, const struct supd_now *now)
{
	(void) self;
	(void) now;
	abort();
}

static int fixture_list(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row, void *userdata)
{
	(void) self;
	(void) query;
	(void) row;
	(void) userdata;
	abort();
}

#define FIXTURE(...)                                                                             \
	_Pragma("GCC diagnostic push")                                                           \
	_Pragma("GCC diagnostic ignored \"-Woverride-init\"")                                    \
	const struct supd_plugin supd_plugin_1 = {                                               \
		.abi = SUPD_ABI,                                                                 \
		.size = sizeof(struct supd_plugin),                                              \
		.name = "fixture",                                                               \
		.suffix = ".fixture",                                                            \
		.start = fixture_start,                                                          \
		.stop = fixture_stop,                                                            \
		.list = fixture_list,                                                            \
		__VA_ARGS__                                                                      \
	};                                                                                       \
	_Pragma("GCC diagnostic pop")                                                            \
	_Static_assert(1, "takes the semicolon")

#endif
