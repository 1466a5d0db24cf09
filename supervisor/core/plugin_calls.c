/* SPDX-License-Identifier: MIT */
/* What a plugin may ask of its host: the calls of struct supd_host, except for those about its
 * units. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "core/manager_private.h"
#include "core/plugin_verdict.h"

static int host_subscribe(void *ctx, const struct supd_listener *listener, void *userdata)
{
	struct plugin_host *h = ctx;

	if (!plugin_listener_is_complete(listener))
		return -EINVAL;
	h->listener = listener;
	h->listener_data = userdata;
	return 0;
}

static int host_arm(void *ctx, enum supd_clock clock, uint64_t when)
{
	struct plugin_host *h = ctx;

	if ((unsigned) clock >= SUPD_CLOCK_COUNT)
		return -EINVAL;
	h->wake[clock] = when;
	return 0;
}

static int host_start_unit(void *ctx, const char *unit, const struct supd_cause *cause)
{
	struct plugin_host *h = ctx;
	struct supd_now now = { .real = cause->triggered_real, .boot = cause->triggered_boot };
	const struct unit *u = manager_need_unit(h->manager, unit);

	/* Enabled=no: nobody but a person starts it. */
	if (u && u->config->spec && !u->config->spec->is_enabled &&
	    !str_equal(cause->kind, "manual"))
		return -EACCES;
	switch (unit_start(h->manager, &now, unit, cause)) {
	case MANAGER_DONE:
		return 0;
	case MANAGER_ALREADY_ACTIVE:
		return -EALREADY;
	case MANAGER_NO_UNIT:
		return -ENOENT;
	case MANAGER_MASKED:
		return -EPERM;
	case MANAGER_INVALID:
	case MANAGER_UNSUPPORTED:
		return -ENOEXEC;
	case MANAGER_STOPPING:
		return -ESHUTDOWN;
	case MANAGER_NO_MEMORY:
		return -ENOMEM;
	case MANAGER_NO_MANUAL_START: /* a plugin is no hand */
	case MANAGER_NO_MANUAL_STOP:
		break;
	}
	return -EINVAL;
}

static int host_start_after(void *ctx, const char *unit, const struct supd_cause *cause,
			    uint64_t ticket)
{
	struct plugin_host *h = ctx;
	uint64_t outer = manager_start_as(h->manager, ticket);
	int r = host_start_unit(ctx, unit, cause);

	(void) manager_start_as(h->manager, outer);
	return r;
}

static const struct unit_config *config_now(const struct unit *u)
{
	if (!u || u->is_gone)
		return NULL;
	return u->next ? u->next : u->config;
}

#define NOT_ONESHOT \
	"is not a oneshot service (if it ends by itself, Type=oneshot in a drop-in makes it one)"

static const char *why_not(const struct unit_config *c, const char *name)
{
	switch (c->load) {
	case UNIT_MASKED:
		return "is masked";
	case UNIT_INVALID:
		return "is invalid";
	case UNIT_UNSUPPORTED:
		return unit_name_kind(name) == UNIT_SERVICE ? NOT_ONESHOT : "is not a service";
	case UNIT_LOADED:
		break;
	}
	if (unit_name_kind(name) != UNIT_SERVICE)
		return "is not a service";
	return unit_name_is_template(name) ? "is a template" : NULL;
}

static int host_unit_state(void *ctx, const char *name, struct supd_unit_state *ret)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	/* Which units there are is up to the reload that is under way. */
	struct unit *u = h->is_preparing ? manager_unit(h->manager, name)
					 : manager_need_unit(h->manager, name);
	const char *real = u ? u->name : w->unit_resolve(w->ctx, name);
	const struct unit_config *c;

	name = real ? real : name;
	c = h->is_preparing ? reload_need_unit(h->manager, name) : config_now(u);
	if (!c)
		return -ENOENT;
	*ret = (struct supd_unit_state) {
		.size = sizeof(*ret),
		.is_masked = c->load == UNIT_MASKED,
		.is_enabled = c->spec ? c->spec->is_enabled : true,
		.why_not = why_not(c, name),
		.is_active = u && (unit_is_active(u) || u->notice_ended),
		.name = name,
	};
	ret->is_startable = !ret->why_not;
	if (u && unit_is_waiting(u)) {
		memcpy(ret->run_id, unit_coming_run(u)->id, sizeof(ret->run_id));
	} else if (u && u->chain && u->chain->is_going_on) {
		memcpy(ret->run_id, u->chain->first_id, sizeof(ret->run_id));
	} else if (u && u->run) {
		memcpy(ret->run_id, u->run->id, sizeof(ret->run_id));
		if (u->run->ended_boot != 0) {
			ret->result = (enum supd_result) u->run->result;
			ret->status = u->run->status;
			ret->ended = (struct supd_now){ .real = u->run->ended_real,
							.boot = u->run->ended_boot };
		}
	}
	return 0;
}

static const char *host_setting(void *ctx, const char *key)
{
	struct plugin_host *h = ctx;
	const struct manager_config *c = h->manager->config;

	return c->setting ? c->setting(c->userdata, key) : NULL;
}

void plugin_calls_done(struct plugin_host *h)
{
	free(h->unsaved);
	h->unsaved = NULL;
	h->n_unsaved = 0;
}

/* What the disk does not take is kept here, so that a pause on a full disk costs no memory of what
 * ran. */
static int save_at_stop(struct plugin_host *h, const void *bytes, size_t n)
{
	const struct world *w = h->manager->world;
	int r = w->save_now(w->ctx, h->name, bytes, n);

	plugin_calls_done(h);
	if (r >= 0)
		return r;
	h->unsaved = malloc(n + 1);
	if (!h->unsaved)
		return r;
	memcpy(h->unsaved, bytes, n);
	h->n_unsaved = n;
	return r;
}

static int64_t host_save(void *ctx, const void *bytes, size_t n)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	int r;

	if (h->is_stopping)
		r = save_at_stop(h, bytes, n);
	else
		r = w->save(w->ctx, h->name, h->last_ticket + 1, bytes, n);
	return r < 0 ? r : (int64_t) ++h->last_ticket;
}

static int64_t host_append(void *ctx, const void *bytes, size_t n)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	int r = -ENOTSUP;

	if (w->append && !h->is_stopping)
		r = w->append(w->ctx, h->name, h->last_ticket + 1, bytes, n);
	return r < 0 ? r : (int64_t) ++h->last_ticket;
}

static int host_load(void *ctx, unsigned generation,
		     int (*fn)(void *userdata, const void *bytes, size_t n), void *userdata)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	_cleanup_free_ void *bytes = NULL;
	size_t n = 0;
	int r;

	if (h->unsaved && generation == 0)
		return fn(userdata, h->unsaved, h->n_unsaved);
	r = w->load(w->ctx, h->name, generation, &bytes, &n);
	return r < 0 ? r : fn(userdata, bytes, n);
}

static int host_set_aside(void *ctx, char *ret_name, size_t n)
{
	struct plugin_host *h = ctx;

	return h->manager->world->set_aside(h->manager->world->ctx, h->name, ret_name, n);
}

static uint64_t host_random(void *ctx)
{
	struct plugin_host *h = ctx;

	return h->manager->world->random(h->manager->world->ctx);
}

static void host_log(void *ctx, enum supd_log_level level, const char *unit, const char *message)
{
	(void) ctx;
	log_unit(unit, (int) level, 0, "%s", message);
}

static void host_event(void *ctx, const char *type, const char *unit, const struct supd_row *fields)
{
	struct plugin_host *h = ctx;
	const struct manager_observer *o = &h->manager->observer;

	if (o->event)
		o->event(o->userdata, type, unit, fields);
}

void plugin_calls_init(struct plugin_host *h)
{
	h->table = (struct supd_host) {
		.abi = SUPD_ABI,
		.size = sizeof(h->table),
		.ctx = h,
		.subscribe = host_subscribe,
		.arm = host_arm,
		.start_unit = host_start_unit,
		.unit_state = host_unit_state,
		.read_units = plugin_units_read,
		.problem = plugin_units_problem,
		.setting = host_setting,
		.save = host_save,
		.load = host_load,
		.set_aside = host_set_aside,
		.random = host_random,
		.log = host_log,
		.event = host_event,
		.append = host_append,
		.start_after = host_start_after,
	};
}
