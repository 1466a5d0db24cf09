/* SPDX-License-Identifier: MIT */
#include "core/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "service/dependencies.h"

/* ---- nodes and edges ---- */

void graph_done(struct graph *g)
{
	struct graph_node *n, *next;

	HASH_ITER(hh, g->node, n, next) {
		HASH_DEL(g->node, n);
		free(n->edge);
		free(n);
	}
}

struct graph_node *graph_find(const struct graph *g, const char *name)
{
	struct graph_node *n;

	HASH_FIND_STR(g->node, name, n);
	return n;
}

struct graph_node *graph_node(struct graph *g, const char *name)
{
	struct graph_node *n = graph_find(g, name);
	size_t size = strlen(name) + 1;

	if (n)
		return n;
	n = calloc(1, sizeof(*n) + size);
	if (!n)
		return NULL;
	memcpy(n->name, name, size);
	HASH_ADD_KEYPTR(hh, g->node, n->name, size - 1, n);
	if (HASH_IS_IN(n))
		return n;
	free(n);
	return NULL;
}

static int add_edge(struct graph_node *from, struct graph_node *to, enum graph_edge_kind kind,
		    const struct dependency *why)
{
	struct graph_edge *grown;

	if (from->n_edges == from->allocated) {
		grown = reallocarray(from->edge, from->allocated * 2 + 4, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		from->edge = grown;
		from->allocated = from->allocated * 2 + 4;
	}
	from->edge[from->n_edges++] = (struct graph_edge) { .to = to, .why = why, .kind = kind };
	return 0;
}

static int add_pair(struct graph_node *from, struct graph_node *to, enum graph_edge_kind kind,
		    enum graph_edge_kind inverse, const struct dependency *why)
{
	int r = add_edge(from, to, kind, why);

	return r < 0 ? r : add_edge(to, from, inverse, why);
}

int graph_add(struct graph_node *from, struct graph_node *to, const struct dependency *why)
{
	int r;

	switch (why->kind) {
	case DEPENDENCY_REQUIRES:
		return add_pair(from, to, EDGE_REQUIRES, EDGE_REQUIRED_BY, why);
	case DEPENDENCY_REQUISITE:
		return add_pair(from, to, EDGE_REQUISITE, EDGE_REQUIRED_BY, why);
	case DEPENDENCY_BINDS_TO:
		r = add_pair(from, to, EDGE_REQUIRES, EDGE_REQUIRED_BY, why);
		return r < 0 ? r : add_pair(to, from, EDGE_BOUND, EDGE_NAMED, why);
	case DEPENDENCY_WANTS:
	case DEPENDENCY_UPHOLDS: /* to start a oneshot again and again while we are up is nothing
				    anybody wants */
		return add_pair(from, to, EDGE_WANTS, EDGE_NAMED, why);
	case DEPENDENCY_PART_OF:
		return add_pair(to, from, EDGE_PART, EDGE_NAMED, why);
	case DEPENDENCY_CONFLICTS:
		return add_pair(from, to, EDGE_CONFLICTS, EDGE_CONFLICTS, why);
	case DEPENDENCY_BEFORE:
		return add_pair(from, to, EDGE_BEFORE, EDGE_AFTER, why);
	case DEPENDENCY_AFTER:
		return add_pair(from, to, EDGE_AFTER, EDGE_BEFORE, why);
	case DEPENDENCY_ON_SUCCESS:
		return add_pair(from, to, EDGE_ON_SUCCESS, EDGE_NAMED, why);
	case DEPENDENCY_ON_FAILURE:
		return add_pair(from, to, EDGE_ON_FAILURE, EDGE_NAMED, why);
	case DEPENDENCY_PROPAGATES_STOP_TO:
		return add_pair(from, to, EDGE_STOPS, EDGE_NAMED, why);
	case DEPENDENCY_STOP_PROPAGATED_FROM:
		return add_pair(to, from, EDGE_STOPS, EDGE_NAMED, why);
	}
	return 0;
}

void graph_clear(struct graph *g)
{
	for (struct graph_node *n = g->node; n; n = n->hh.next) {
		n->n_edges = 0;
		n->is_excluded = n->is_group = false;
	}
}

void graph_prune(struct graph *g, void (*gone)(struct graph_node *n))
{
	struct graph_node *n, *next;

	HASH_ITER(hh, g->node, n, next) {
		if (n->n_edges > 0 || n->job)
			continue;
		HASH_DEL(g->node, n);
		gone(n);
		free(n->edge);
		free(n);
	}
}

/* ---- walks ---- */

void graph_walk(struct graph *g)
{
	g->epoch++;
}

bool graph_has_met(const struct graph *g, const struct graph_node *n)
{
	return n->epoch == g->epoch;
}

bool graph_meet(const struct graph *g, struct graph_node *n)
{
	if (graph_has_met(g, n))
		return true;
	n->epoch = g->epoch;
	n->mark = 0;
	n->from = NULL;
	n->cursor = 0;
	return false;
}

/* ---- circles ---- */

enum { MARK_OPEN, MARK_DONE };

/* The next node that @n comes after and that may lie on a circle. */
static struct graph_node *next_before(struct graph_node *n)
{
	while (n->cursor < n->n_edges) {
		const struct graph_edge *e = &n->edge[n->cursor++];

		if (e->kind == EDGE_AFTER && !e->to->is_excluded)
			return e->to;
	}
	return NULL;
}

/* Depth first, and without recursion: chains may be long. Returns a node that lies on a circle. */
static struct graph_node *search(const struct graph *g, struct graph_node *n)
{
	while (n) {
		struct graph_node *to = next_before(n);

		if (!to) {
			n->mark = MARK_DONE;
			n = n->from;
		} else if (!graph_meet(g, to)) {
			to->from = n;
			n = to;
		} else if (to->mark == MARK_OPEN) {
			return to;
		}
	}
	return NULL;
}

struct graph_node *graph_cycle(struct graph *g)
{
	struct graph_node *found = NULL;

	graph_walk(g);
	for (struct graph_node *n = g->node; n && !found; n = n->hh.next)
		if (!n->is_excluded && !graph_meet(g, n))
			found = search(g, n);
	return found;
}

const struct graph_edge *graph_cycle_next(const struct graph_node *n)
{
	return &n->edge[n->cursor - 1];
}

/* ---- groups ---- */

/* Does @from come after @to, be it by way of others? */
static bool comes_after(struct graph *g, struct graph_node *from, const struct graph_node *to)
{
	graph_walk(g);
	(void) graph_meet(g, from);
	for (struct graph_node *n = from; n;) {
		struct graph_node *next = next_before(n);

		if (!next) {
			n = n->from;
		} else if (next == to) {
			return true;
		} else if (!graph_meet(g, next)) {
			next->from = n;
			n = next;
		}
	}
	return false;
}

static int order_group(struct graph *g, struct graph_node *group)
{
	size_t n = group->n_edges;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++) {
		const struct graph_edge e = group->edge[i];

		if ((e.kind == EDGE_REQUIRES || e.kind == EDGE_WANTS) &&
		    !comes_after(g, e.to, group))
			r = add_pair(group, e.to, EDGE_AFTER, EDGE_BEFORE, NULL);
	}
	return r;
}

int graph_order_groups(struct graph *g)
{
	int r = 0;

	for (struct graph_node *n = g->node; r >= 0 && n; n = n->hh.next)
		if (n->is_group && !n->is_excluded)
			r = order_group(g, n);
	return r;
}
