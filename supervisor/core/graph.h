/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_GRAPH_H
#define SUPD_CORE_GRAPH_H

/* Who depends on whom, both ways: made of what all units say, anew whenever that changes. Only
 * units that depend on others, or others on them, are in it. Pure.
 *
 * The order (EDGE_AFTER) of nodes that are not excluded never has a circle: graph_cycle() finds
 * those that the files make, whose nodes are excluded then (the units are mistaken), and
 * graph_order_groups() makes none. So whatever waits for its turn gets it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct dependency;
struct unit;
struct unit_job;

enum graph_edge_kind {
	EDGE_REQUIRES,    /* started with us; its failure is ours */
	EDGE_REQUISITE,   /* must be up, or come up, when we start */
	EDGE_WANTS,       /* started with us */
	EDGE_CONFLICTS,   /* stopped when we start; both ways */
	EDGE_AFTER,       /* we come after it */
	EDGE_BEFORE,      /* the other way */
	/* REQUIRES and REQUISITE, the other way: stops and is restarted with us */
	EDGE_REQUIRED_BY,
	EDGE_PART,        /* a part of us: stops and is restarted with us */
	EDGE_STOPS,       /* stops with us */
	EDGE_BOUND,       /* stops when we are no more, for whatever reason */
	EDGE_ON_SUCCESS,
	EDGE_ON_FAILURE,
	/* the other way of those that mean nothing there: so that a node knows that it is named */
	EDGE_NAMED,
};

struct graph_node;

struct graph_edge {
	struct graph_node *to;
	const struct dependency *why; /* lent: until the unit's file is read again; NULL: our own */
	enum graph_edge_kind kind;
};

struct graph_node {
	UT_hash_handle hh;    /* by name */
	struct unit *unit;    /* NULL: there is none of this name */
	struct unit_job *job; /* waits for its turn; NULL: none does */
	struct graph_edge *edge;
	size_t n_edges, allocated;
	bool is_group;        /* comes after all that it starts */
	bool is_excluded;     /* in a circle of the files' making */
	/* of the walk that goes on, or went last */
	unsigned epoch;       /* of it; older: this node has not been met */
	unsigned mark;
	struct graph_node *from;
	size_t cursor;        /* edges before it have been looked at */
	char name[];
};

/* All zero is an empty graph. */
struct graph {
	struct graph_node *node; /* in the order in which they were added */
	unsigned epoch;
};

void graph_done(struct graph *g);
struct graph_node *graph_find(const struct graph *g, const char *name);
/* Added if need be; NULL when memory ran out. */
struct graph_node *graph_node(struct graph *g, const char *name);
/* All that this dependency of @from on @to means. 0 or -ENOMEM. */
int graph_add(struct graph_node *from, struct graph_node *to, const struct dependency *why);
/* Forgets all edges and exclusions; nodes stay. */
void graph_clear(struct graph *g);
/* Takes out nodes without edges, unit and job. */
void graph_prune(struct graph *g, void (*gone)(struct graph_node *n));

/* A node on a circle of EDGE_AFTER without excluded nodes; NULL: there is none. From it,
 * graph_cycle_next() is the one that it comes after, and so on around; the edge to it says why.
 * Until the next call on this graph. */
struct graph_node *graph_cycle(struct graph *g);
const struct graph_edge *graph_cycle_next(const struct graph_node *n);
/* Groups come after what they start, where nothing says otherwise. After all circles were excluded.
 * 0 or -ENOMEM. */
int graph_order_groups(struct graph *g);

/* Begins a walk: nothing has been met. */
void graph_walk(struct graph *g);
/* Has this walk met it? Else it has now, with no mark. */
bool graph_meet(const struct graph *g, struct graph_node *n);
bool graph_has_met(const struct graph *g, const struct graph_node *n);

#endif
