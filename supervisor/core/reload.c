/* SPDX-License-Identifier: MIT */
/* Reload, all or nothing: what changed is read and judged aside; only then is anything replaced. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/report.h"
#include "core/turns.h"

void reload_report_done(struct reload_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->change[i].unit);
	free(r->change);
	diag_done(&r->mistakes);
	*r = (struct reload_report) { 0 };
}

/* A line that is lost for want of memory is only a line. */
void reload_report_add(struct reload_report *r, const char *unit, const char *what)
{
	struct reload_change *change;
	char *name;

	if (r->n == r->allocated) {
		change = reallocarray(r->change, r->allocated * 2 + 8, sizeof(*change));
		if (!change)
			return;
		r->change = change;
		r->allocated = r->allocated * 2 + 8;
	}
	name = strdup(unit);
	if (name)
		r->change[r->n++] = (struct reload_change) { .unit = name, .what = what };
}

static struct candidate *candidate_find(const struct manager *m, const char *name)
{
	struct candidate *c;

	HASH_FIND_STR(m->candidate, name, c);
	return c;
}

/* Takes @config, NULL for a unit that is no more. NULL when memory ran out (@config is the caller's
 * then). */
static struct candidate *candidate_add(struct manager *m, const char *name,
				       struct unit_config *config)
{
	struct candidate *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->name = strdup(name);
	c->config = config;
	if (c->name)
		HASH_ADD_KEYPTR(hh, m->candidate, c->name, strlen(c->name), c);
	if (c->name && HASH_IS_IN(c))
		return c;
	free(c->name);
	free(c);
	return NULL;
}

static void candidates_drop(struct manager *m)
{
	struct candidate *c, *next;

	HASH_ITER(hh, m->candidate, c, next) {
		HASH_DEL(m->candidate, c);
		unit_config_free(c->config);
		free(c->name);
		free(c);
	}
}

static const struct unit_config *config_of(const struct unit *u)
{
	return u->next ? u->next : u->config;
}

static void blame(struct diag *mistakes, const struct unit_config *c)
{
	for (size_t i = 0; i < c->problems.n; i++) {
		const struct diag_entry *e = &c->problems.entry[i];

		if (e->severity == DIAG_ERROR)
			diag_add(mistakes, e->severity, e->file, e->line, e->key, "%s", e->message);
	}
}

/* @named: a file or a link names it; else somebody needs the instance, or it is there already. */
static int consider(struct manager *m, const char *name, bool is_named)
{
	const struct world *w = m->world;
	struct unit_source source = { 0 };
	struct unit_config *config;
	struct candidate *c;
	struct unit *u = names_find(&m->units, name);
	int r;

	if (u)
		u->is_named = is_named;
	if (u && !u->is_gone && config_of(u)->fingerprint == w->unit_fingerprint(w->ctx, name))
		return 0;
	r = w->read_unit(w->ctx, name, &source);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	config = unit_config_load(&source, m->config->specifiers);
	unit_source_done(&source);
	if (!config)
		return -ENOMEM;
	blame(m->mistakes, config);
	c = candidate_add(m, name, config);
	if (!c) {
		unit_config_free(config);
		return -ENOMEM;
	}
	c->is_named = is_named;
	return 0;
}

const struct unit_config *reload_need_unit(struct manager *m, const char *name)
{
	struct candidate *c = candidate_find(m, name);
	struct unit *u = names_find(&m->units, name);

	if (!c && (!u || u->is_gone) && unit_name_is_instance(name) &&
	    unit_name_kind(name) == UNIT_SERVICE && consider(m, name, false) >= 0)
		c = candidate_find(m, name);
	if (u)
		u->is_needed = true;
	if (c) {
		c->is_needed = true;
		return c->config;
	}
	return !u || u->is_gone ? NULL : config_of(u);
}

/* Units that were, and that no file and no link names now: removed; instances, whose template is
 * still there, are what it says now. */
static int consider_unnamed(struct manager *m, struct unit *u)
{
	if (u->is_gone || u->is_named)
		return 0;
	if (unit_name_is_instance(u->name) && manager_is_unit(m, u->name))
		return consider(m, u->name, false);
	return candidate_add(m, u->name, NULL) ? 0 : -ENOMEM;
}

/* Services that are new or changed, read and judged; and those that are no more. */
static int prepare(struct manager *m)
{
	const struct world *w = m->world;
	struct unit *u;
	const char *name;
	int r = 0;

	for (size_t i = 0; (u = manager_unit_nth(m, i)); i++) {
		u->was_named = u->is_named;
		u->was_needed = u->is_needed;
		u->is_named = u->is_needed = false;
	}
	for (size_t i = 0; r >= 0 && (name = w->unit_name(w->ctx, i)); i++)
		if (manager_is_started(name) && manager_is_unit(m, name))
			r = consider(m, name, true);
	for (size_t i = 0; r >= 0 && (u = manager_unit_nth(m, i)); i++)
		r = consider_unnamed(m, u);
	return r;
}

static void abort_names(struct manager *m)
{
	struct unit *u;

	for (size_t i = 0; (u = manager_unit_nth(m, i)); i++) {
		u->is_named = u->was_named;
		u->is_needed = u->was_needed;
	}
}

/* A failure stays, for people to see. */
static bool is_superfluous(const struct unit *u)
{
	return !u->is_named && !u->is_needed && !u->is_gone && !unit_is_active(u) &&
	       !u->is_queued && u->service.state != SERVICE_FAILED;
}

/* Instances that nobody names and nobody needs go, when they do nothing. */
static int drop_superfluous(struct manager *m)
{
	const struct unit *u;
	struct candidate *c;

	for (size_t i = 0; (u = manager_unit_nth(m, i)); i++) {

		if (!is_superfluous(u))
			continue;
		c = candidate_find(m, u->name);
		if (c)
			c->config = unit_config_free(c->config);
		else if (!candidate_add(m, u->name, NULL))
			return -ENOMEM;
	}
	/* What commit() needs is got now, so that it cannot fail. */
	return heap_reserve(&m->deadlines, m->units.n + HASH_COUNT(m->candidate));
}

/* A run ends under the rules with which it began; what merely remains active after its run follows
 * the new ones. */
static bool must_wait(const struct unit *u, const struct unit_config *config)
{
	bool has_processes = u->service.state != SERVICE_EXITED &&
			     u->service.state != SERVICE_AUTO_RESTART;

	return unit_is_active(u) && (has_processes || config->load != UNIT_LOADED);
}

static void replace(struct manager *m, const struct supd_now *now, struct unit *u,
		    struct unit_config *config)
{
	const struct service_event ev = { .kind = SVC_SPEC_CHANGED, .boot = now->boot };

	u->is_gone = false;
	if (must_wait(u, config)) {
		unit_config_free(u->next);
		u->next = config;
	} else {
		u->next = unit_config_free(u->next);
		unit_config_free(u->config);
		u->config = config;
		if (unit_is_active(u))
			unit_event(m, now, u, &ev);
	}
}

static void apply(struct manager *m, const struct supd_now *now, struct candidate *c,
		  struct reload_report *r)
{
	struct unit *u = names_find(&m->units, c->name);

	if (!c->config) {
		reload_report_add(r, c->name, "removed");
		u->is_gone = true;
		return;
	}
	if (u) {
		reload_report_add(r, c->name, u->is_gone ? "added" : "changed");
		replace(m, now, u, TAKE_PTR(c->config));
		return;
	}
	u = unit_new(c->name, c->config);
	if (!u) {
		m->applied = UINT64_MAX; /* the next reload finds it again */
		return;
	}
	c->config = NULL;
	u->is_named = c->is_named;
	u->is_needed = c->is_needed;
	if (names_add(&m->units, u) < 0) {
		m->applied = UINT64_MAX; /* likewise */
		unit_free(u);
	} else {
		reload_report_add(r, u->name, "added");
	}
}

static int candidate_by_name(struct candidate *a, struct candidate *b)
{
	return strcmp(a->name, b->name);
}

static void commit(struct manager *m, const struct supd_now *now, struct reload_report *r)
{
	struct candidate *c, *next;
	bool has_changed = m->candidate;

	HASH_SRT(hh, m->candidate, candidate_by_name);
	HASH_ITER(hh, m->candidate, c, next)
		apply(m, now, c, r);
	candidates_drop(m);
	if (has_changed) {
		manager_forget_gone(m);
		m->is_graph_stale = true;
		ordering_settle(m);
		turns_look(m, now);
	}
	plugin_host_commit(&m->host, now, r);
}

static uint64_t revision(const struct manager *m)
{
	return m->world->units_revision ? m->world->units_revision(m->world->ctx) : UINT64_MAX;
}

/* Is there an instance that somebody asked for, and that has had its time? */
static bool has_superfluous(const struct manager *m)
{
	const struct unit *u;

	for (size_t i = 0; m->has_instances && (u = manager_unit_nth(m, i)); i++)
		if (is_superfluous(u))
			return true;
	return false;
}

/* The scan has found just what the last reload found, and that was applied. */
static bool has_nothing_changed(const struct manager *m, const struct diag *mistakes)
{
	return m->applied != UINT64_MAX && m->applied == revision(m) && mistakes->n == 0 &&
	       !plugin_units_have_mistakes(&m->host) && !has_superfluous(m);
}

/* ---- a few units alone ---- */

static int consider_only(struct manager *m, const char *name)
{
	const struct unit *u = names_find(&m->units, name);

	if (unit_name_kind(name) != UNIT_SERVICE)
		return 0;
	if (manager_is_unit(m, name))
		return consider(m, name, true);
	return u && !u->is_gone && !candidate_add(m, name, NULL) ? -ENOMEM : 0;
}

static int prepare_only(struct manager *m, const struct supd_now *now, const char *const *names,
			struct diag *mistakes)
{
	int r = 0;

	for (const char *const *name = names; r >= 0 && *name; name++)
		r = consider_only(m, *name);
	if (r >= 0)
		r = plugin_host_prepare_only(&m->host, now, names, mistakes);
	if (r >= 0)
		r = ordering_judge(m);
	return r < 0 ? r : heap_reserve(&m->deadlines, m->units.n + HASH_COUNT(m->candidate));
}

int manager_reload_only(struct manager *m, const struct supd_now *now, const char *const *names,
			struct reload_report *ret)
{
	struct diag elsewhere = { 0 };
	int r;

	if (m->world->scan_only)
		r = m->world->scan_only(m->world->ctx, manager_kinds(m), names, &elsewhere);
	else
		r = m->world->scan_units(m->world->ctx, manager_kinds(m), &elsewhere);
	diag_done(&elsewhere);
	if (r < 0)
		return r;
	m->applied = UINT64_MAX; /* the next reload looks at what this one passes over */
	m->mistakes = &ret->mistakes;
	r = prepare_only(m, now, names, &ret->mistakes);
	m->mistakes = NULL;
	if (r >= 0 && ret->mistakes.n_errors > 0)
		r = -EBADMSG;
	if (r < 0) {
		plugin_host_abort(&m->host);
		candidates_drop(m);
	} else {
		commit(m, now, ret);
	}
	manager_settle(m, now);
	return r;
}

/* ---- all of them ---- */

static int reload(struct manager *m, const struct supd_now *now, struct reload_report *ret)
{
	int r;

	r = m->world->scan_units(m->world->ctx, manager_kinds(m), &ret->mistakes);
	if (r < 0)
		return r;
	if (has_nothing_changed(m, &ret->mistakes)) {
		manager_settle(m, now);
		return 0;
	}
	m->mistakes = &ret->mistakes;
	m->applied = UINT64_MAX;
	r = prepare(m);
	if (r >= 0)
		r = plugin_host_prepare(&m->host, now, &ret->mistakes);
	if (r >= 0)
		r = ordering_judge(m);
	if (r >= 0)
		r = drop_superfluous(m);
	m->mistakes = NULL;
	if (r >= 0 && ret->mistakes.n_errors > 0)
		r = -EBADMSG;
	if (r < 0) {
		plugin_host_abort(&m->host);
		candidates_drop(m);
		abort_names(m);
	} else {
		m->applied = revision(m);
		commit(m, now, ret);
	}
	manager_settle(m, now);
	return r;
}

static void tell_reload(struct manager *m, const char *type, const char *key, size_t n)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_number(&r, key, (int64_t) n);
	manager_tell(m, type, NULL, &r);
}

int manager_reload(struct manager *m, const struct supd_now *now, struct reload_report *ret)
{
	int r = reload(m, now, ret);

	if (r == -EBADMSG)
		tell_reload(m, "reload-refused", "mistakes", ret->mistakes.n_errors);
	else if (r >= 0)
		tell_reload(m, "reloaded", "changed", ret->n);
	return r;
}
