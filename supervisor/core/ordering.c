/* SPDX-License-Identifier: MIT */
/* From what the units say of each other to the graph of them, and the circles in it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/turns.h"
#include "service/dependencies.h"

/* ---- what is known of a unit, now or after the reload that is prepared ---- */

/* A service or target and what its files say. */
struct named {
	const char *name;
	const struct unit_config *config;
};

struct building {
	struct manager *m;
	struct graph *g;
	bool is_judging;      /* the units as they will be */
	/* units that say something; grows while instances are found to be needed */
	struct named *source;
	size_t n, allocated;
};

static const struct dependencies *dependencies_of(const struct unit_config *c)
{
	bool is_sound = c && (c->load == UNIT_LOADED || c->is_in_circle);

	return is_sound && c->spec ? c->spec->dependencies : NULL;
}

static int add_source(struct building *b, const char *name, const struct unit_config *c)
{
	const struct dependencies *d = dependencies_of(c);
	struct named *grown;

	if (!d || (d->n == 0 && unit_name_kind(name) != UNIT_TARGET) || unit_name_is_template(name))
		return 0;
	if (b->n == b->allocated) {
		grown = reallocarray(b->source, b->allocated * 2 + 64, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		b->source = grown;
		b->allocated = b->allocated * 2 + 64;
	}
	b->source[b->n++] = (struct named) { .name = name, .config = c };
	return 0;
}

static const struct unit_config *config_of(const struct unit *u)
{
	return u->next ? u->next : u->config;
}

static int collect(struct building *b)
{
	struct manager *m = b->m;
	struct candidate *c;
	struct unit *u;
	int r = 0;

	for (size_t i = 0; r >= 0 && (u = manager_unit_nth(m, i)); i++) {
		HASH_FIND_STR(m->candidate, u->name, c);
		if (!u->is_gone && !(b->is_judging && c))
			r = add_source(b, u->name, config_of(u));
	}
	for (c = m->candidate; b->is_judging && r >= 0 && c; c = c->hh.next)
		r = add_source(b, c->name, c->config);
	return r;
}

/* The unit of that name, or alias; an instance is loaded. NULL config: there is none. A new
 * instance may say something itself. */
static int resolve(struct building *b, const char *name, struct named *ret)
{
	const struct world *w = b->m->world;
	const char *real = w->unit_resolve(w->ctx, name);
	bool was_known;
	struct unit *u;

	*ret = (struct named) { .name = name };
	if (!b->is_judging) {
		was_known = manager_unit(b->m, name);
		u = manager_need_unit(b->m, name);
		if (u && !u->is_gone)
			*ret = (struct named) { .name = u->name, .config = config_of(u) };
	} else {
		struct candidate *c;

		name = real ? real : name;
		HASH_FIND_STR(b->m->candidate, name, c);
		was_known = c || names_find(&b->m->units, name);
		*ret = (struct named) { .name = name, .config = reload_need_unit(b->m, name) };
		HASH_FIND_STR(b->m->candidate, name, c);
		if (c)
			ret->name = c->name;
	}
	return ret->config && !was_known ? add_source(b, ret->name, ret->config) : 0;
}

static bool must_exist(enum dependency_kind k)
{
	return k == DEPENDENCY_REQUIRES || k == DEPENDENCY_REQUISITE || k == DEPENDENCY_BINDS_TO;
}

static struct graph_node *node_of(struct building *b, const char *name)
{
	struct graph_node *n = graph_node(b->g, name);

	if (n && !n->unit && !b->is_judging) {
		n->unit = names_find(&b->m->units, name);
		if (n->unit)
			n->unit->node = n;
	}
	return n;
}

static int add_one(struct building *b, struct graph_node *from, const struct dependency *d)
{
	struct graph_node *to;
	struct named named;
	int r = resolve(b, d->unit, &named);

	if (r < 0)
		return r;
	/* What only systemd has, or runs, is there. */
	if (named.config ? named.config->load == UNIT_UNSUPPORTED
			 : !must_exist(d->kind) || unit_name_kind(d->unit) == UNIT_TARGET)
		return 0;
	to = node_of(b, named.name);
	if (!to)
		return -ENOMEM;
	return to == from ? 0 : graph_add(from, to, d);
}

static int add_all(struct building *b)
{
	int r = collect(b);

	for (size_t i = 0; r >= 0 && i < b->n; i++) {
		const struct dependencies *d = b->source[i].config->spec->dependencies;
		struct graph_node *from = node_of(b, b->source[i].name);

		if (!from)
			return -ENOMEM;
		from->is_group = unit_name_kind(from->name) == UNIT_TARGET && d->has_defaults;
		for (size_t k = 0; r >= 0 && k < d->n; k++)
			r = add_one(b, from, &d->item[k]);
	}
	return r;
}

/* ---- circles ---- */

#define CIRCLE_MAX 512

/* "a.service → b.service → a.service" */
static void circle_words(struct graph_node *first, char *buf, size_t size)
{
	struct graph_node *n = first;
	size_t used;

	used = (size_t) snprintf(buf, size, "%s", n->name);
	do {
		n = graph_cycle_next(n)->to;
		if (used < size)
			used += (size_t) snprintf(buf + used, size - used, " → %s", n->name);
	} while (n != first);
}

/* The line of @n's own file that has its part in it; the other's, where that says Before=. */
static void blame(struct diag *d, const struct graph_node *n, const struct dependency *why,
		  const char *words)
{
	diag_add(d, DIAG_ERROR, why && why->file ? why->file : n->name, why ? why->line : 0,
		 why ? dependency_kind_to_string(why->kind) : NULL,
		 "the order goes in a circle: %s", words);
}

/* Was it in a circle before, and is its file as it was? */
static bool is_old(struct building *b, const char *name)
{
	const struct unit *u = names_find(&b->m->units, name);
	const struct candidate *c;

	HASH_FIND_STR(b->m->candidate, name, c);
	return !c && u && config_of(u)->is_in_circle;
}

static void exclude(struct building *b, struct graph_node *first)
{
	struct graph_node *n = first;
	char words[CIRCLE_MAX];

	do {
		const struct graph_edge *e = graph_cycle_next(n);
		struct unit_config *c = n->unit ? n->unit->next ? n->unit->next : n->unit->config
						: NULL;

		circle_words(n, words, sizeof(words));
		if (b->is_judging) {
			if (!is_old(b, n->name))
				blame(b->m->mistakes, n, e->why, words);
		} else if (c && !c->is_in_circle) {
			blame(&c->problems, n, e->why, words);
			c->is_in_circle = true;
			c->load = UNIT_INVALID;
		}
		n->is_excluded = true;
		n = e->to;
	} while (n != first);
}

static void find_circles(struct building *b)
{
	struct graph_node *n;

	while ((n = graph_cycle(b->g)))
		exclude(b, n);
}

/* A circle that was may be none any more. */
static void forget_circle(struct unit_config *c)
{
	if (!c || !c->is_in_circle)
		return;
	c->is_in_circle = false;
	c->load = UNIT_LOADED;
	diag_drop_last(&c->problems);
}

/* ---- the whole ---- */

static void node_gone(struct graph_node *n)
{
	if (n->unit)
		n->unit->node = NULL;
}

int ordering_build(struct manager *m)
{
	struct building b = { .m = m, .g = &m->graph };
	struct unit *u;
	int r;

	m->is_graph_stale = false;
	for (size_t i = 0; (u = manager_unit_nth(m, i)); i++) {
		forget_circle(u->config);
		forget_circle(u->next);
	}
	graph_clear(&m->graph);
	r = add_all(&b);
	if (r >= 0) {
		find_circles(&b);
		r = graph_order_groups(&m->graph);
	}
	graph_prune(&m->graph, node_gone);
	free(b.source);
	m->is_graph_stale = r < 0;
	return r;
}

void ordering_settle(struct manager *m)
{
	if (m->is_graph_stale)
		(void) ordering_build(m);
}

int ordering_judge(struct manager *m)
{
	struct graph g = { 0 };
	struct building b = { .m = m, .g = &g, .is_judging = true };
	int r = add_all(&b);

	if (r >= 0)
		find_circles(&b);
	graph_done(&g);
	free(b.source);
	return r;
}
