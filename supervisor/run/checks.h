/* SPDX-License-Identifier: MIT */
#ifndef SUPD_RUN_CHECKS_H
#define SUPD_RUN_CHECKS_H

/* Conditions that are being looked at, by threads of their own: a look that hangs on a dead network
 * mount holds up neither the loop nor the starts of services that ask for nothing of the kind. */

#include <stdint.h>
#include <systemd/sd-event.h>

#include "service/condition.h"
#include "world.h"

struct checks;

struct checks_listener {
	void *userdata;
	void (*checked)(void *userdata, world_token token, enum condition_outcome outcome,
			const char *unmet, int error);
};

/* @environment, of the daemon, is lent. */
int checks_new(sd_event *event, int64_t priority, const char *const *environment,
	       const struct checks_listener *listener, struct checks **ret);
struct checks *checks_free(struct checks *all);

/* As in world.h. */
int checks_begin(struct checks *all, world_token token, const struct service_spec *spec);
void checks_release(struct checks *all, world_token token);

#endif
