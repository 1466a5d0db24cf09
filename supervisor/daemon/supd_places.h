/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SUPD_PLACES_H
#define SUPD_SUPD_PLACES_H

/* The directories of this daemon: made, judged, and locked, so that there is one daemon a
 * directory. */

struct settings;

struct places {
	char *socket_dir; /* <runtime dir>/supd */
	char *notify_socket; /* <runtime dir>/supd/notify */
	char *plugin_dir;
	int state_dir;    /* descriptor; -1: nothing can be kept */
	int state_lock, runtime_lock; /* descriptors, or -1 */
};
#define PLACES_NONE { .state_dir = -1, .state_lock = -1, .runtime_lock = -1 }

/* @plugin_dir: as the command line says, or NULL. 0, or a negative errno: it has been said why. */
int places_open(const struct settings *settings, const char *plugin_dir, struct places *ret);
void places_done(struct places *p);

#endif
