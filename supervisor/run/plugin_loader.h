/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_PLUGIN_LOADER_H
#define SUPD_RUN_PLUGIN_LOADER_H

/* Plugins mapped into the process: each once, never unmapped. Before any byte of a file is mapped,
 * it and its folder are looked at; whether what it exports is fit to be called is for
 * core/plugin_verdict to say. */

#include <stddef.h>

struct plugin_loader;
struct supd_plugin;

/* @dir: where NAME.so are; copied. */
int plugin_loader_new(const char *dir, struct plugin_loader **ret);
/* Leaves the plugins mapped. */
struct plugin_loader *plugin_loader_free(struct plugin_loader *l);

/* 0: the struct, not judged, valid for good, and the file's path in @reterr_or_path. -ENOENT: no
 * such file; -EPERM: others could have written it; -ENOEXEC: no shared object, or without the
 * symbol; with a sentence. */
int plugin_loader_open(struct plugin_loader *l, const char *name, const struct supd_plugin **ret,
		       char *reterr_or_path, size_t n);

#endif
