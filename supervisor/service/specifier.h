/* SPDX-License-Identifier: MIT */
#ifndef SUPD_SERVICE_SPECIFIER_H
#define SUPD_SERVICE_SPECIFIER_H

/* %n, %i, %h and the like: systemd.unit(5), "SPECIFIERS". Pure: what they stand for is handed
 * in. */

#include <stddef.h>

struct arena;

/* What is known to whoever loads units. NULL: not known here, and a value that asks for it is
 * refused. All but @unit and @fragment is the same for every unit of a daemon. */
struct specifiers {
	const char *unit; /* full name, backup@home.service; never NULL */
	const char *fragment; /* path of its file; as @unit, each unit's own */
	/* of the user the daemon runs as, not of User= */
	const char *user, *user_id, *group, *group_id, *home, *shell;
	const char *runtime_dir, *state_dir, *cache_dir, *logs_dir, *config_dir, *data_dir,
		*tmp_dir, *var_tmp_dir;
	/* of os-release(5) */
	const char *os_id, *os_version_id, *os_variant_id, *os_build_id, *os_image_id,
		*os_image_version;
	const char *host_name, *pretty_host_name, *machine_id, *boot_id, *kernel_release,
		*architecture;
};

/* @text with its specifiers replaced, in @arena. 0, -ENOMEM, or -EINVAL with the offending letter
 * in *reterr (may be NULL): no such specifier, not known here, or, like %f, without sense for this
 * unit's name. As in systemd, '%' before anything but a letter or digit stands for itself. */
int specifier_expand(const struct specifiers *s, const char *text, struct arena *arena, char **ret,
		     char *reterr);

#endif
