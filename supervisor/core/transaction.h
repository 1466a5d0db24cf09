/* SPDX-License-Identifier: MIT */
#ifndef SUPD_CORE_TRANSACTION_H
#define SUPD_CORE_TRANSACTION_H

/* To start or to stop one unit: which others have to be started and stopped with it, and in what
 * order. Pure: the graph and what its units are like now are arguments.
 *
 * A start pulls in what the unit requires and wants, what those do, and so on, as far as it is not
 * up or coming up. Whatever cannot be started takes with it those that require it; if that reaches
 * the unit itself, nothing is started. What it only wants is left out then. What conflicts is
 * stopped; of two that conflict and were both pulled in, the one that is merely wanted is left out.
 * What only systemd has is taken as there.
 *
 * A stop pulls in those that require the unit, are parts of it, or are to stop with it, as far as
 * they are up. */

#include "core/graph.h"

/* What a unit is like now, as far as that decides. */
enum node_state {
	NODE_DOWN,     /* and can be started */
	NODE_UP,
	NODE_COMING,   /* its run goes on, or waits for its turn */
	NODE_FOREIGN,  /* there, but nothing that is run here */
	NODE_ABSENT,
	NODE_MASKED,
	NODE_INVALID,
	NODE_DISABLED, /* nobody but a person starts it */
};

typedef enum node_state node_state_fn(void *userdata, const struct graph_node *n);

enum job_kind { JOB_START, JOB_STOP };

struct transaction_job {
	struct graph_node *node;
	struct graph_node *puller; /* NULL: the one that was asked for */
	enum job_kind kind;
};

enum transaction_fault {
	FAULT_ABSENT,
	FAULT_MASKED,
	FAULT_INVALID,
	FAULT_DISABLED,
	FAULT_NOT_ACTIVE, /* Requisite= */
	FAULT_CONFLICT,   /* two that are both required */
};

/* Give back with transaction_done(). Nodes are lent by the graph. */
struct transaction {
	struct transaction_job *job; /* what stops first; then each after what it comes after */
	size_t n;
	const struct graph_node *culprit; /* TRANSACTION_BROKEN: because of it … */
	enum transaction_fault fault;     /* … for this reason */
};

#define TRANSACTION_BROKEN 1

/* @anchor itself is taken as startable. 0, TRANSACTION_BROKEN, or -ENOMEM. */
int transaction_start(struct graph *g, struct graph_node *anchor, node_state_fn *state,
		      void *userdata, struct transaction *ret);
/* @anchor first pulled, last to stop. @for_restart: only those that are restarted with it. 0 or
 * -ENOMEM. */
int transaction_stop(struct graph *g, struct graph_node *anchor, bool for_restart,
		     node_state_fn *state, void *userdata, struct transaction *ret);
void transaction_done(struct transaction *t);

/* "does not exist", "is masked" … */
const char *transaction_fault_words(enum transaction_fault f);

#endif
