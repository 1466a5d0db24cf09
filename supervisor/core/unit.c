/* SPDX-License-Identifier: MIT */
#include "core/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/turns.h"
#include "service/run_said.h"
#include "unit/merge.h"

/* For most units. */
#define DRAFT_ROOM ((size_t) 2048)

struct unit_config *unit_config_free(struct unit_config *c)
{
	struct arena arena;

	if (!c)
		return NULL;
	diag_done(&c->problems);
	fragment_done(&c->fragment);
	arena = c->arena;
	arena_done(&arena);
	return NULL;
}

static void config_cleanup(struct unit_config **c)
{
	unit_config_free(*c);
}

static int keep_paths(struct unit_config *c, const struct unit_source *source)
{
	if (source->n_pieces == 0)
		return 0;
	if (fragment_init(&c->fragment, source) < 0)
		return -ENOMEM;
	if (source->n_pieces == 1)
		return 0;
	c->dropin = arena_alloc(&c->arena, source->n_pieces * sizeof(*c->dropin));
	if (!c->dropin)
		return -ENOMEM;
	for (size_t i = 1; i < source->n_pieces; i++) {
		c->dropin[i - 1] = arena_strdup(&c->arena, source->piece[i].path);
		if (!c->dropin[i - 1])
			return -ENOMEM;
	}
	return 0;
}

/* A template is judged as an instance of it would be, and described as it stands. */
#define INSTANCE_TO_JUDGE "i"

static int describe_template(struct unit_config *c, const struct assignments *all)
{
	for (size_t i = all->n; i > 0; i--) {
		const struct assignment *a = &all->item[i - 1];

		if (!str_equal(a->section, "Unit") || !str_equal(a->key, "Description"))
			continue;
		c->spec->description = *a->value ? arena_strdup(&c->arena, a->value) : NULL;
		return *a->value && !c->spec->description ? -ENOMEM : 0;
	}
	return 0;
}

static int load_service(struct unit_config *c, const struct unit_source *source,
			const struct specifiers *common)
{
	const char *file = source->n_pieces > 0 ? source->piece[0].path : NULL;
	struct specifiers specifiers = *common;
	/* What was read is needed only until it is understood. */
	struct arena scratch = { 0 };
	struct assignments all = { 0 };
	char judged[UNIT_NAME_MAX + 1];
	int r;

	specifiers.unit = source->name;
	specifiers.fragment = file;
	if (unit_name_add_instance(source->name, INSTANCE_TO_JUDGE, judged) == 0)
		specifiers.unit = judged;
	c->spec = arena_alloc(&c->arena, sizeof(*c->spec));
	if (!c->spec)
		return -ENOMEM;
	r = unit_merge(source, &scratch, &all, &c->problems);
	if (r >= 0 && unit_name_kind(source->name) == UNIT_TARGET)
		r = target_spec_parse(&specifiers, all.item, all.n, &c->arena, &c->problems,
				      c->spec);
	else if (r >= 0)
		r = service_spec_parse(&specifiers, file, all.item, all.n, &c->arena, &c->problems,
				       c->spec);
	if (r >= 0 && unit_name_is_template(source->name))
		r = describe_template(c, &all);
	arena_done(&scratch);
	return r;
}

static int load(struct unit_config *c, const struct unit_source *source,
		const struct specifiers *specifiers)
{
	enum unit_kind kind = unit_name_kind(source->name);
	int r;

	r = keep_paths(c, source);
	if (r < 0)
		return r;
	if (source->is_masked) {
		c->load = UNIT_MASKED;
		return 0;
	}
	if (kind != UNIT_SERVICE && kind != UNIT_TARGET) {
		c->load = UNIT_UNSUPPORTED;
		return 0;
	}
	r = load_service(c, source, specifiers);
	if (r < 0)
		return r;
	if (c->spec->type == SERVICE_UNSUPPORTED)
		c->load = UNIT_UNSUPPORTED;
	else
		c->load = c->problems.n_errors > 0 ? UNIT_INVALID : UNIT_LOADED;
	return 0;
}

static struct unit_config *understand(const struct unit_source *source,
				      const struct specifiers *specifiers, size_t room)
{
	_cleanup_(config_cleanup) struct unit_config *c = NULL;
	struct arena arena = { 0 };

	if (!arena_reserve(&arena, room))
		return NULL;
	c = arena_alloc(&arena, sizeof(*c));
	if (!c) {
		arena_done(&arena);
		return NULL;
	}
	c->arena = arena;
	c->fingerprint = source->fingerprint;
	c->is_wanted = source->is_wanted;
	c->is_systemd = source->is_systemd;
	if (load(c, source, specifiers) < 0)
		return NULL;
	return TAKE_PTR(c);
}

/* There may be very many: the first time tells how much room it takes, the second takes no more. */
struct unit_config *unit_config_load(const struct unit_source *source,
				     const struct specifiers *specifiers)
{
	_cleanup_(config_cleanup) struct unit_config *draft =
		understand(source, specifiers, DRAFT_ROOM);

	return draft ? understand(source, specifiers, arena_used(&draft->arena)) : NULL;
}

bool unit_config_starts_with_supd(const struct unit_config *c)
{
	return c->is_wanted && c->load == UNIT_LOADED && c->spec->is_enabled &&
	       (c->spec->has_type || !c->is_systemd);
}

struct unit *unit_new(const char *name, struct unit_config *config)
{
	size_t n = strlen(name) + 1;
	struct unit *u = calloc(1, sizeof(*u) + n);

	if (!u)
		return NULL;
	memcpy(u->name, name, n);
	u->kind = unit_name_kind(name);
	u->is_named = true;
	u->config = config;
	u->service.deadline = USEC_NEVER;
	u->deadline.when = USEC_NEVER;
	u->deadline.name = u->name;
	return u;
}

void run_clear(struct run *r)
{
	free((char *) (uintptr_t) r->trigger_unit);
	free((char *) (uintptr_t) r->detail);
	run_said_free(r->said);
	free(r->last_words);
	if (r->refused)
		diag_done(r->refused);
	free(r->refused);
	free((struct run_monitor *) (uintptr_t) r->monitor);
}

void run_free(struct run *r)
{
	if (r)
		run_clear(r);
	free(r);
}

struct unit *unit_free(struct unit *u)
{
	if (!u)
		return NULL;
	if (u->node)
		u->node->unit = NULL;
	unit_config_free(u->config);
	unit_config_free(u->next);
	run_free(u->run);
	run_free(u->restart_run);
	free(u->chain);
	free(u);
	return NULL;
}

const char *unit_fragment(const struct unit *u, char buf[FRAGMENT_PATH_MAX])
{
	return fragment_path(&u->config->fragment, u->name, buf);
}

bool unit_is_active(const struct unit *u)
{
	return u->token != 0 || service_is_active(&u->service) || unit_is_waiting(u);
}

bool unit_is_waiting(const struct unit *u)
{
	return u->node && u->node->job && u->node->job->kind == JOB_START;
}

const struct run *unit_coming_run(const struct unit *u)
{
	if (unit_is_waiting(u))
		return u->node->job->run;
	return u->restart_wanted ? u->restart_run : NULL;
}

void unit_take_config(struct unit *u)
{
	if (!u->next)
		return;
	unit_config_free(u->config);
	u->config = TAKE_PTR(u->next);
}

bool unit_run_is(const struct unit *u, const uint8_t id[RUN_ID_BYTES])
{
	if (u->chain && u->chain->is_going_on && memcmp(u->chain->first_id, id, RUN_ID_BYTES) == 0)
		return true;
	return u->run && memcmp(u->run->id, id, RUN_ID_BYTES) == 0;
}

const char *unit_active_to_string(const struct unit *u)
{
	return unit_is_waiting(u) ? "activating" : service_active_to_string(u->service.state);
}

const char *unit_sub_to_string(const struct unit *u)
{
	if (unit_is_waiting(u))
		return "waiting";
	if (u->kind == UNIT_TARGET && u->service.state == SERVICE_EXITED)
		return "active";
	return service_state_to_string(u->service.state);
}

const char *unit_load_to_string(enum unit_load l)
{
	static const char *const name[] = {
		[UNIT_LOADED] = "loaded",
		[UNIT_INVALID] = "invalid",
		[UNIT_MASKED] = "masked",
		[UNIT_UNSUPPORTED] = "unsupported",
	};
	return name[l];
}
