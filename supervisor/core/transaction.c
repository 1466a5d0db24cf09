/* SPDX-License-Identifier: MIT */
#include "core/transaction.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Marks of a node in the walk of a start. */
enum {
	MARK_PULLED = 1 << 0, /* it is to be started, unless … */
	MARK_BROKEN = 1 << 1, /* … it cannot be */
	MARK_NEEDED = 1 << 2, /* by the anchor, by way of requirements alone */
	MARK_KEPT = 1 << 3,   /* still pulled in when the broken ones are gone */
	MARK_SORTED = 1 << 4,
	MARK_STOPS = 1 << 5,
};

struct list {
	struct graph_node **item;
	size_t n, allocated;
};

struct build {
	struct graph *g;
	struct graph_node *anchor;
	node_state_fn *state;
	void *userdata;
	struct list pulled; /* in the order in which they were met */
	struct list kept;
	struct transaction *t;
	size_t n_allocated; /* of t->job */
	bool is_for_restart;
};

static int list_add(struct list *l, struct graph_node *n)
{
	struct graph_node **grown;

	if (l->n == l->allocated) {
		grown = reallocarray(l->item, l->allocated * 2 + 8, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		l->item = grown;
		l->allocated = l->allocated * 2 + 8;
	}
	l->item[l->n++] = n;
	return 0;
}

static int add_job(struct build *b, struct graph_node *n, struct graph_node *puller,
		   enum job_kind kind)
{
	struct transaction *t = b->t;
	struct transaction_job *grown;

	if (t->n == b->n_allocated) {
		grown = reallocarray(t->job, b->n_allocated * 2 + 8, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		t->job = grown;
		b->n_allocated = b->n_allocated * 2 + 8;
	}
	t->job[t->n++] = (struct transaction_job) { .node = n, .puller = puller, .kind = kind };
	return 0;
}

static bool has_mark(const struct build *b, const struct graph_node *n, unsigned mark)
{
	return graph_has_met(b->g, n) && (n->mark & mark);
}

static bool pulls(const struct graph_edge *e)
{
	return e->kind == EDGE_REQUIRES || e->kind == EDGE_WANTS;
}

/* ---- what is pulled in ---- */

static int pull(struct build *b, struct graph_node *n)
{
	(void) graph_meet(b->g, n);
	n->mark |= MARK_PULLED;
	return list_add(&b->pulled, n);
}

static int pull_all(struct build *b)
{
	int r = pull(b, b->anchor);

	for (size_t i = 0; r >= 0 && i < b->pulled.n; i++) {
		const struct graph_node *n = b->pulled.item[i];

		for (size_t k = 0; r >= 0 && k < n->n_edges; k++)
			if (pulls(&n->edge[k]) && !graph_meet(b->g, n->edge[k].to) &&
			    b->state(b->userdata, n->edge[k].to) == NODE_DOWN)
				r = pull(b, n->edge[k].to);
	}
	return r;
}

/* ---- what is broken, and what that breaks ---- */

/* @n is broken, and whatever requires it, and so on; the first that breaks the anchor is to
 * blame. */
static int break_up(struct build *b, struct graph_node *n, const struct graph_node *culprit,
		    enum transaction_fault fault)
{
	struct list broken = { 0 };
	int r = list_add(&broken, n);

	n->mark |= MARK_BROKEN;
	for (size_t i = 0; r >= 0 && i < broken.n; i++) {
		const struct graph_node *one = broken.item[i];

		for (size_t k = 0; r >= 0 && k < one->n_edges; k++) {
			struct graph_node *by = one->edge[k].to;

			if (one->edge[k].kind != EDGE_REQUIRED_BY ||
			    !has_mark(b, by, MARK_PULLED) || (by->mark & MARK_BROKEN))
				continue;
			by->mark |= MARK_BROKEN;
			r = list_add(&broken, by);
		}
	}
	free(broken.item);
	if ((b->anchor->mark & MARK_BROKEN) && !b->t->culprit) {
		b->t->culprit = culprit;
		b->t->fault = fault;
	}
	return r;
}

/* Does what @e leads to keep us from starting? */
static bool is_fault(struct build *b, const struct graph_edge *e, enum transaction_fault *ret)
{
	enum node_state state;

	if (e->kind != EDGE_REQUIRES && e->kind != EDGE_REQUISITE)
		return false;
	if (has_mark(b, e->to, MARK_PULLED))
		return false;
	state = b->state(b->userdata, e->to);
	switch (state) {
	case NODE_UP:
	case NODE_COMING:
	case NODE_FOREIGN:
		return false;
	case NODE_DOWN:
		*ret = FAULT_NOT_ACTIVE;
		break;
	case NODE_ABSENT:
		*ret = FAULT_ABSENT;
		break;
	case NODE_MASKED:
		*ret = FAULT_MASKED;
		break;
	case NODE_INVALID:
		*ret = FAULT_INVALID;
		break;
	case NODE_DISABLED:
		*ret = FAULT_DISABLED;
		break;
	}
	return true;
}

static int break_faulty(struct build *b)
{
	enum transaction_fault fault = FAULT_ABSENT;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->pulled.n; i++) {
		struct graph_node *n = b->pulled.item[i];

		for (size_t k = 0; r >= 0 && k < n->n_edges; k++)
			if (is_fault(b, &n->edge[k], &fault))
				r = break_up(b, n, n->edge[k].to, fault);
	}
	return r;
}

/* ---- what remains ---- */

/* Those that the anchor reaches over such edges, past nothing broken; the ones met are marked. */
static int reach(struct build *b, bool required_only, unsigned mark)
{
	int r;

	for (size_t i = 0; i < b->pulled.n; i++)
		b->pulled.item[i]->mark &= ~mark;
	b->kept.n = 0;
	b->anchor->mark |= mark;
	b->anchor->from = NULL;
	r = list_add(&b->kept, b->anchor);
	for (size_t i = 0; r >= 0 && i < b->kept.n; i++) {
		struct graph_node *n = b->kept.item[i];

		for (size_t k = 0; r >= 0 && k < n->n_edges; k++) {
			struct graph_node *to = n->edge[k].to;

			if (!pulls(&n->edge[k]) ||
			    (required_only && n->edge[k].kind != EDGE_REQUIRES) ||
			    !has_mark(b, to, MARK_PULLED) || (to->mark & (MARK_BROKEN | mark)))
				continue;
			to->mark |= mark;
			to->from = n;
			r = list_add(&b->kept, to);
		}
	}
	return r;
}

/* Two that are to be started and conflict: the one that is not needed goes. 1: one went; look
 * again. */
static int settle_conflict(struct build *b)
{
	for (size_t i = 0; i < b->kept.n; i++) {
		struct graph_node *n = b->kept.item[i];

		for (size_t k = 0; k < n->n_edges; k++) {
			struct graph_node *to = n->edge[k].to,
					  *loser = to->mark & MARK_NEEDED ? n : to;
			int r;

			if (n->edge[k].kind != EDGE_CONFLICTS || !has_mark(b, to, MARK_KEPT))
				continue;
			if (loser->mark & MARK_NEEDED)
				loser = b->anchor;
			r = break_up(b, loser, to, FAULT_CONFLICT);
			return r < 0 ? r : 1;
		}
	}
	return 0;
}

static int keep(struct build *b)
{
	int r;

	do {
		if (b->anchor->mark & MARK_BROKEN)
			return TRANSACTION_BROKEN;
		r = reach(b, true, MARK_NEEDED);
		if (r >= 0)
			r = reach(b, false, MARK_KEPT);
		if (r >= 0)
			r = settle_conflict(b);
	} while (r == 1);
	return r;
}

/* ---- the order ---- */

/* Adds @n after all that it comes after (@kind: EDGE_AFTER), or that come after it
 * (EDGE_BEFORE). */
static int add_sorted(struct build *b, struct graph_node *n, unsigned mark,
		      enum graph_edge_kind kind, enum job_kind job)
{
	struct list stack = { 0 };
	int r = 0;

	if (n->mark & MARK_SORTED)
		return 0;
	n->mark |= MARK_SORTED;
	n->cursor = 0;
	r = list_add(&stack, n);
	while (r >= 0 && stack.n > 0) {
		struct graph_node *top = stack.item[stack.n - 1], *to;

		if (top->cursor == top->n_edges) {
			stack.n--;
			r = add_job(b, top, top->from, job);
			continue;
		}
		to = top->edge[top->cursor++].to;
		if (top->edge[top->cursor - 1].kind != kind || !has_mark(b, to, mark) ||
		    (to->mark & MARK_SORTED))
			continue;
		to->mark |= MARK_SORTED;
		to->cursor = 0;
		r = list_add(&stack, to);
	}
	free(stack.item);
	return r;
}

static int add_stops(struct build *b, struct graph_node *n)
{
	int r = 0;

	for (size_t k = 0; r >= 0 && k < n->n_edges; k++) {
		struct graph_node *to = n->edge[k].to;
		enum node_state state;

		if (n->edge[k].kind != EDGE_CONFLICTS || has_mark(b, to, MARK_STOPS))
			continue;
		state = b->state(b->userdata, to);
		if (state != NODE_UP && state != NODE_COMING)
			continue;
		(void) graph_meet(b->g, to);
		to->mark |= MARK_STOPS;
		r = add_job(b, to, n, JOB_STOP);
	}
	return r;
}

static void build_done(struct build *b, int r)
{
	free(b->pulled.item);
	free(b->kept.item);
	if (r < 0)
		transaction_done(b->t);
}

int transaction_start(struct graph *g, struct graph_node *anchor, node_state_fn *state,
		      void *userdata, struct transaction *ret)
{
	struct build b = {
		.g = g, .anchor = anchor, .state = state, .userdata = userdata, .t = ret
	};
	int r;

	*ret = (struct transaction) { 0 };
	graph_walk(g);
	r = pull_all(&b);
	if (r >= 0)
		r = break_faulty(&b);
	if (r >= 0)
		r = keep(&b);
	for (size_t i = 0; r == 0 && i < b.kept.n; i++)
		r = add_stops(&b, b.kept.item[i]);
	for (size_t i = 0; r == 0 && i < b.kept.n; i++)
		r = add_sorted(&b, b.kept.item[i], MARK_KEPT, EDGE_AFTER, JOB_START);
	build_done(&b, r);
	return r;
}

/* ---- stopping ---- */

static bool carries_stop(const struct build *b, const struct graph_edge *e)
{
	return e->kind == EDGE_REQUIRED_BY || e->kind == EDGE_PART ||
	       (e->kind == EDGE_STOPS && !b->is_for_restart);
}

static int pull_stops(struct build *b)
{
	int r = pull(b, b->anchor);

	for (size_t i = 0; r >= 0 && i < b->pulled.n; i++) {
		struct graph_node *n = b->pulled.item[i];

		for (size_t k = 0; r >= 0 && k < n->n_edges; k++) {
			struct graph_node *to = n->edge[k].to;
			enum node_state state;

			if (!carries_stop(b, &n->edge[k]) || graph_has_met(b->g, to))
				continue;
			state = b->state(b->userdata, to);
			if (state != NODE_UP && state != NODE_COMING)
				continue;
			r = pull(b, to);
			to->from = n;
		}
	}
	return r;
}

int transaction_stop(struct graph *g, struct graph_node *anchor, bool for_restart,
		     node_state_fn *state, void *userdata, struct transaction *ret)
{
	struct build b = {
		.g = g, .anchor = anchor, .state = state, .userdata = userdata, .t = ret,
		.is_for_restart = for_restart,
	};
	int r;

	*ret = (struct transaction) { 0 };
	graph_walk(g);
	r = pull_stops(&b);
	for (size_t i = 0; r >= 0 && i < b.pulled.n; i++)
		r = add_sorted(&b, b.pulled.item[i], MARK_PULLED, EDGE_BEFORE, JOB_STOP);
	build_done(&b, r);
	return r;
}

void transaction_done(struct transaction *t)
{
	free(t->job);
	t->job = NULL;
	t->n = 0;
}

const char *transaction_fault_words(enum transaction_fault f)
{
	static const char *const words[] = {
		[FAULT_ABSENT] = "does not exist",
		[FAULT_MASKED] = "is masked",
		[FAULT_INVALID] = "is invalid",
		[FAULT_DISABLED] = "is disabled (Enabled=no)",
		[FAULT_NOT_ACTIVE] = "is not active",
		[FAULT_CONFLICT] = "conflicts with what is required",
	};
	static_assert(ELEMENTS(words) == FAULT_CONFLICT + 1, "words for each fault");

	return words[f];
}
