/* SPDX-License-Identifier: MIT */
#include "core/unit_wait.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "core/report.h"
#include "core/turns.h"
#include "core/unit.h"

/* Names in a sentence; further ones are only counted. */
#define NAMES_SHOWN 5

static char *words_of(struct arena *arena, enum job_kind kind, const char *const *units, size_t n)
{
	char *words = arena_printf(arena, "waits to %s, for", kind == JOB_START ? "start" : "stop");

	for (size_t i = 0; words && i < n && i < NAMES_SHOWN; i++)
		words = arena_printf(arena, "%s%s %s", words, i > 0 ? "," : "", units[i]);
	if (words && n > NAMES_SHOWN)
		words = arena_printf(arena, "%s and %zu more", words, n - NAMES_SHOWN);
	return words;
}

/* When the last of them has come so far at the latest; who waits as well may take for ever. */
static usec_t latest(const struct graph_node *n, usec_t until)
{
	const struct unit *u = n->unit;

	if (!u || until == USEC_NEVER || unit_is_waiting(u) || u->service.deadline == USEC_NEVER)
		return USEC_NEVER;
	return u->service.deadline > until ? u->service.deadline : until;
}

static bool find_turn(const struct unit *u, struct arena *arena, struct unit_wait *ret)
{
	const struct graph_node *node = u->node;
	const char **units = arena_alloc(arena, (node->n_edges + 1) * sizeof(*units));
	usec_t until = 0;
	size_t n = 0;

	for (size_t i = 0; units && i < node->n_edges; i++) {
		const struct graph_node *to = node->edge[i].to;

		if (!turns_is_held_up(node, &node->edge[i]) || (n > 0 && units[n - 1] == to->name))
			continue;
		units[n++] = to->name;
		until = latest(to, until);
	}
	if (n == 0)
		return false;
	*ret = (struct unit_wait) { words_of(arena, node->job->kind, units, n), units, until };
	return ret->words != NULL;
}

bool unit_wait_find(const struct unit *u, struct arena *arena, struct unit_wait *ret)
{
	const char *words;

	if (u->node && u->node->job)
		return find_turn(u, arena, ret);
	if (u->service.state == SERVICE_AUTO_RESTART)
		words = "waits to be restarted";
	else if (u->service.state == SERVICE_CHECK)
		words = "waits for its conditions to be judged";
	else
		return false;
	*ret = (struct unit_wait) { arena_strdup(arena, words), NULL, u->service.deadline };
	return ret->words != NULL;
}

void unit_wait_report(struct report *r, const struct unit *u, const struct supd_now *now)
{
	struct unit_wait wait;

	if (!unit_wait_find(u, r->arena, &wait))
		return;
	report_string(r, "waiting", wait.words);
	report_strings(r, "waits_for", wait.units);
	report_time(r, "waits_until",
		    wait.until == USEC_NEVER
			    ? USEC_NEVER
			    : usec_add(now->real, usec_sub(wait.until, now->boot)));
}
