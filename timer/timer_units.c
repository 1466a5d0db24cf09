/* SPDX-License-Identifier: MIT */
/* Which timers there are: reading them, judging them against their targets, and reload in two
 * steps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "timer/instance.h"
#include "timer/never.h"
#include "timer/zone_load.h"

/* For most timers. */
#define DRAFT_ROOM ((size_t) 2048)

/* ---- configs ---- */

static struct timer_config *config_free(struct timer_config *c)
{
	struct arena arena;

	if (!c)
		return NULL;
	arena = c->arena;
	arena_done(&arena);
	return NULL;
}

static void tell_problems(struct supd_instance *self, const char *unit, const struct diag *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct diag_entry *e = &d->entry[i];
		const struct supd_problem p = {
			.size = sizeof(p),
			.unit = unit,
			.file = e->file,
			.line = e->line,
			.key = e->key,
			.message = e->message,
			.severity = (enum supd_severity) e->severity,
		};

		(void) self->host->problem(self->host->ctx, &p);
	}
}

/* What stands against the target; NULL: nothing. A masked target is no mistake: its moments are
 * missed. */
static const char *target_fault(struct supd_instance *self, const char *target)
{
	struct supd_unit_state state = { .size = sizeof(state) };

	if (self->host->unit_state(self->host->ctx, target, &state) < 0)
		return "is missing";
	return state.is_startable || state.is_masked ? NULL : state.why_not;
}

/* Where the target is named; of @file alone, if it is not. */
static struct assignment target_place(const char *file, const struct assignment *all, size_t n)
{
	while (n-- > 0)
		if (str_equal(all[n].section, "Timer") && str_equal(all[n].key, "Unit"))
			return *all[n].value ? all[n] : (struct assignment) { .file = file };
	return (struct assignment) { .file = file };
}

static void judge_target(struct supd_instance *self, const struct assignment *place,
			 const struct timer_spec *spec, struct diag *d)
{
	const char *fault = spec->unit ? target_fault(self, spec->unit) : NULL, *advice = "";

	if (!fault)
		return;
	if (str_equal(fault, "is missing"))
		advice = place->key ? " (add it, or name another)"
				    : " (set Unit= or add the service)";
	else if (str_equal(fault, "is a template"))
		advice = " (name an instance of it)";
	diag_add(d, DIAG_ERROR, place->file, place->line, place->key, "its target %s %s%s",
		 spec->unit, fault, advice);
}

/* @assignment's strings are lent; the spec copies what it keeps. */
static int understand(struct supd_instance *self, const struct supd_unit_file *file,
		      struct timer_config *c, struct diag *d)
{
	_cleanup_free_ struct assignment *all = calloc(file->n_assignments + 1, sizeof(*all));
	struct assignment target;
	int r;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < file->n_assignments; i++)
		all[i] = (struct assignment) {
			.section = file->assignment[i].section,
			.key = file->assignment[i].key,
			.value = file->assignment[i].value,
			.file = file->assignment[i].file,
			.line = file->assignment[i].line,
			.section_line = file->assignment[i].section_line,
		};
	r = timer_spec_parse(file->name, file->path, all, file->n_assignments, &self->defaults,
			     self->zones, &c->arena, d, &c->spec);
	if (r < 0)
		return r;
	target = target_place(file->path, all, file->n_assignments);
	judge_target(self, &target, &c->spec, d);
	never_warn(&c->spec, zone_cache_local(self->zones), self->info.now.real, all,
		   file->n_assignments, d);
	if (!c->spec.is_enabled_said)
		c->spec.is_enabled = file->is_enabled;
	c->is_valid = d->n_errors == 0;
	return 0;
}

/* In an arena with this much room. */
static int config_make(struct supd_instance *self, const struct supd_unit_file *file, size_t room,
		       struct diag *d, struct timer_config **ret)
{
	struct arena arena = { 0 };
	struct timer_config *c;
	int r = 0;

	c = arena_reserve(&arena, room) ? arena_alloc(&arena, sizeof(*c)) : NULL;
	if (!c) {
		arena_done(&arena);
		return -ENOMEM;
	}
	c->arena = arena;
	c->fingerprint = file->fingerprint;
	c->is_masked = file->is_masked;
	if (!file->is_masked)
		r = understand(self, file, c, d);
	if (r < 0)
		config_free(c);
	else
		*ret = c;
	return r;
}

/* There may be very many: the first time tells how much room it takes, the second takes no more. */
static int config_new(struct supd_instance *self, const struct supd_unit_file *file,
		      struct timer_config **ret)
{
	struct diag said_twice = { 0 }, d = { 0 };
	struct timer_config *draft;
	int r;

	r = config_make(self, file, DRAFT_ROOM, &said_twice, &draft);
	if (r >= 0) {
		r = config_make(self, file, arena_used(&draft->arena), &d, ret);
		config_free(draft);
	}
	if (r >= 0)
		tell_problems(self, file->name, &d);
	diag_done(&said_twice);
	diag_done(&d);
	return r;
}

/* ---- targets ---- */

static const char *target_name(const struct entry *e)
{
	return e->target_alias ? e->target_alias : e->config->spec.unit;
}

static int compare_target(const void *name, const void *element)
{
	return strcmp(name, target_name(*(struct entry *const *) element));
}

struct entry *targets_first(struct supd_instance *self, const char *unit)
{
	struct entry **found = NULL;

	if (self->n_targets > 0)
		found = bsearch(unit, self->target, self->n_targets, sizeof(*self->target),
				compare_target);
	return found ? *found : NULL;
}

static void targets_free(struct supd_instance *self)
{
	free(self->target);
	self->target = NULL;
	self->n_targets = 0;
}

static bool is_usable(const struct timer_config *c)
{
	return c && c->is_valid && !c->is_masked;
}

/* Events of runs name the unit itself, a timer may name it by an alias. */
static int find_alias(struct supd_instance *self, struct entry *e)
{
	struct supd_unit_state state = { .size = sizeof(state) };
	const char *unit = e->config->spec.unit;

	free(e->target_alias);
	e->target_alias = NULL;
	if (self->host->unit_state(self->host->ctx, unit, &state) < 0 || !state.name ||
	    str_equal(state.name, unit))
		return 0;
	e->target_alias = strdup(state.name);
	return e->target_alias ? 0 : -ENOMEM;
}

static int by_target(const void *one, const void *other)
{
	struct entry *const *a = one, *const *b = other;
	int c = strcmp(target_name(*a), target_name(*b));

	return c ? c : strcmp((*a)->name, (*b)->name);
}

/* Of sorted entries, the first of each target stays, and leads to the others. */
static void link_targets(struct supd_instance *self, size_t n)
{
	struct entry *before = NULL;

	for (size_t i = 0; i < n; i++) {
		struct entry *e = self->target[i];

		e->target_next = NULL;
		if (before && str_equal(target_name(before), target_name(e)))
			before->target_next = e;
		else
			self->target[self->n_targets++] = e;
		before = e;
	}
}

static int index_targets(struct supd_instance *self)
{
	struct entry *e;
	size_t n = 0;
	int r;

	targets_free(self);
	self->target = calloc(self->entries.n + 1, sizeof(*self->target));
	if (!self->target)
		return -ENOMEM;
	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		if (!is_usable(e->config))
			continue;
		r = find_alias(self, e);
		if (r < 0)
			return r;
		self->target[n++] = e;
	}
	qsort(self->target, n, sizeof(*self->target), by_target);
	link_targets(self, n);
	return 0;
}

/* After the set of entries has changed. */
static int index_entries(struct supd_instance *self)
{
	int r;

	names_settle(&self->entries);
	r = index_targets(self);
	if (r >= 0)
		r = heap_reserve(&self->real, self->entries.n);
	return r < 0 ? r : heap_reserve(&self->boot, self->entries.n);
}

/* ---- entries ---- */

static struct entry *entry_new(const char *name)
{
	size_t n = strlen(name) + 1;
	struct entry *e = calloc(1, sizeof(*e) + n);

	if (!e)
		return NULL;
	memcpy(e->name, name, n);
	timer_init(&e->timer);
	e->real = e->boot = (struct heap_item) { .when = USEC_NEVER, .name = e->name };
	return e;
}

static void entry_free(struct entry *e)
{
	config_free(e->config);
	config_free(e->next);
	memory_done(&e->timer.memory);
	free(e->recent);
	free(e->target_alias);
	free(e);
}

static void intents_remove(struct supd_instance *self, struct entry *gone)
{
	struct entry **at = &self->intent_first, *last = NULL;

	while (*at) {
		if (*at == gone) {
			*at = gone->intent_next;
			continue;
		}
		last = *at;
		at = &last->intent_next;
	}
	self->intent_last = last;
}

static void strays_remove(struct supd_instance *self, struct entry *gone)
{
	struct entry **at = &self->stray;

	while (*at)
		if (*at == gone)
			*at = gone->stray_next;
		else
			at = &(*at)->stray_next;
}

struct entry *strays_take(struct supd_instance *self, const uint8_t run_id[SUPD_RUN_ID_BYTES])
{
	for (struct entry *e = self->stray; e; e = e->stray_next)
		if (memcmp(e->timer.memory.open.run_id, run_id, SUPD_RUN_ID_BYTES) == 0) {
			strays_remove(self, e);
			return e;
		}
	return NULL;
}

/* Stops it. What is remembered of it stays for a while. */
static void entry_end(struct supd_instance *self, const struct supd_now *now, struct entry *e)
{
	struct timer_event ev = { .kind = TIMER_END, .now = *now };
	struct orphan *o;

	if (!e->is_running)
		return;
	entry_event(self, e, &ev);
	intents_remove(self, e);
	strays_remove(self, e);
	heap_set(&self->real, &e->real, USEC_NEVER);
	heap_set(&self->boot, &e->boot, USEC_NEVER);
	e->is_running = false;
	persist_removed(self, e);
	o = calloc(1, sizeof(*o));
	if (!o)
		return;
	o->memory = memory_take(&e->timer.memory);
	if (orphan_add(self, o, e->name) < 0)
		orphan_free(o);
}

void units_free(struct supd_instance *self)
{
	struct entry *e;

	targets_free(self);
	for (size_t i = 0; (e = entry_nth(self, i)); i++)
		entry_free(e);
	names_done(&self->entries);
}

/* ---- reading ---- */

static bool want(void *userdata, const char *name, uint64_t fingerprint)
{
	struct supd_instance *self = userdata;
	struct entry *e = names_find(&self->entries, name);

	if (!e)
		return true;
	e->is_present = true;
	/* An invalid one is judged again: its target may be there now. */
	return !e->config || e->config->fingerprint != fingerprint ||
	       (!e->config->is_valid && !e->config->is_masked);
}

static int read_one(void *userdata, const struct supd_unit_file *file)
{
	struct supd_instance *self = userdata;
	struct entry *e = names_find(&self->entries, file->name);

	if (!e) {
		e = entry_new(file->name);
		if (!e)
			return -ENOMEM;
		if (names_add(&self->entries, e) < 0) {
			entry_free(e);
			return -ENOMEM;
		}
	}
	e->is_present = true;
	e->next = config_free(e->next);
	return config_new(self, file, &e->next);
}

static int read_all(struct supd_instance *self)
{
	const struct supd_unit_reader reader = {
		.size = sizeof(reader), .userdata = self, .want = want, .unit = read_one,
	};

	return self->host->read_units(self->host->ctx, &reader);
}

int units_load(struct supd_instance *self)
{
	struct entry *e;
	int r = read_all(self);

	if (r < 0)
		return r;
	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		e->config = TAKE_PTR(e->next);
		e->is_present = false;
	}
	return index_entries(self);
}

/* ---- reload ---- */

/* A timer whose file stands as it was, but whose target does not. */
static void judge_unchanged(struct supd_instance *self, struct entry *e)
{
	const struct assignment place = { .file = e->name };
	struct diag d = { 0 };

	if (!e->is_present || e->next || !is_usable(e->config))
		return;
	judge_target(self, &place, &e->config->spec, &d);
	tell_problems(self, e->name, &d);
	diag_done(&d);
}

int units_prepare(struct supd_instance *self)
{
	struct entry *e;
	int r = read_all(self);

	if (r < 0)
		return r;
	names_settle(&self->entries);
	for (size_t i = 0; (e = entry_nth(self, i)); i++)
		judge_unchanged(self, e);
	r = heap_reserve(&self->real, self->entries.n);
	return r < 0 ? r : heap_reserve(&self->boot, self->entries.n);
}

bool target_is_active(struct supd_instance *self, const char *target)
{
	struct supd_unit_state state = { .size = sizeof(state) };

	return self->host->unit_state(self->host->ctx, target, &state) >= 0 && state.is_active;
}

/* A run goes on for the target that it was started for. */
static void keep_stray(struct supd_instance *self, struct entry *e, const struct timer_config *old)
{
	if (e->timer.phase != TIMER_OPEN || str_equal(old->spec.unit, e->config->spec.unit))
		return;
	strays_remove(self, e); /* its target changed twice */
	e->stray_next = self->stray;
	self->stray = e;
}

static void change(struct supd_instance *self, const struct supd_now *now, struct entry *e)
{
	struct timer_event settle = { .kind = TIMER_SETTLE, .now = *now };
	struct timer_event changed = { .kind = TIMER_CHANGED, .now = *now };
	const struct timer_config *old = e->config;

	/* What is due is due by the old rules; but nothing starts for being disabled. */
	if (e->next->spec.is_enabled)
		entry_event(self, e, &settle);
	e->config = TAKE_PTR(e->next);
	keep_stray(self, e, old);
	changed.is_target_active = target_is_active(self, e->config->spec.unit);
	entry_event(self, e, &changed);
}

static void replace_config(struct supd_instance *self, const struct supd_now *now, struct entry *e)
{
	struct timer_config *old = e->config;

	if (!is_usable(e->next)) {
		entry_end(self, now, e); /* its last step is under the old rules */
		e->config = TAKE_PTR(e->next);
	} else if (e->is_running && !timer_spec_is_same(&old->spec, &e->next->spec)) {
		change(self, now, e);
	} else {
		e->config = TAKE_PTR(e->next);
	}
	config_free(old);
}

static bool is_present(void *item, void *userdata _unused_)
{
	struct entry *e = item;

	if (!e->is_present) {
		entry_free(e);
		return false;
	}
	e->is_present = false;
	return true;
}

void units_commit(struct supd_instance *self, const struct supd_now *now)
{
	struct entry *e, *turn = NULL, **end = &turn;

	for (size_t i = 0; (e = entry_nth(self, i)); i++)
		if (!e->is_present)
			entry_end(self, now, e);
		else if (e->next)
			replace_config(self, now, e);
	names_keep(&self->entries, is_present, NULL);
	if (index_entries(self) < 0)
		timer_log(
			self, SUPD_LOG_ERROR, NULL,
			"out of memory: some timers do not follow their targets until the next reload");
	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		if (e->is_running || !is_usable(e->config))
			continue;
		entry_begin(self, now, e);
		*end = e;
		end = &e->turn_next;
		*end = NULL;
	}
	entries_spread(self, now, turn);
	persist_prune(self, now);
}

static bool was_there(void *item, void *userdata _unused_)
{
	struct entry *e = item;

	if (!e->config) {
		entry_free(e);
		return false;
	}
	e->is_present = false;
	e->next = config_free(e->next);
	return true;
}

void units_abort(struct supd_instance *self)
{
	names_keep(&self->entries, was_there, NULL);
}
