/* SPDX-License-Identifier: MIT */
#include "service/run_said.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static int set_status(struct run_said *said, const char *status)
{
	char *copy = NULL;

	if (*status) {
		copy = strdup(status);
		if (!copy)
			return -ENOMEM;
	}
	free(said->status);
	said->status = copy;
	return 0;
}

static struct metric *find(struct run_said *said, const char *name)
{
	for (size_t i = 0; i < said->n_metrics; i++)
		if (str_equal(said->metric[i].name, name))
			return &said->metric[i];
	return NULL;
}

static int set_metric(struct run_said *said, const struct metric *m)
{
	struct metric *known = find(said, m->name);
	char *name;

	if (known) {
		known->value = m->value;
		return 0;
	}
	if (said->n_metrics == NOTIFY_METRICS_MAX) {
		said->n_ignored++;
		return 0;
	}
	known = reallocarray(said->metric, said->n_metrics + 1, sizeof(*known));
	if (!known)
		return -ENOMEM;
	said->metric = known;
	name = strdup(m->name);
	if (!name)
		return -ENOMEM;
	said->metric[said->n_metrics++] = (struct metric) { name, m->value };
	return 0;
}

int run_said_add(struct run_said **said, const struct notification *t)
{
	int r = 0;

	if (!t->status && t->n_metrics == 0)
		return 0;
	if (!*said)
		*said = calloc(1, sizeof(**said));
	if (!*said)
		return -ENOMEM;
	if (t->status)
		r = set_status(*said, t->status);
	for (size_t i = 0; r >= 0 && i < t->n_metrics; i++)
		r = set_metric(*said, &t->metric[i]);
	return r;
}

struct run_said *run_said_free(struct run_said *said)
{
	if (!said)
		return NULL;
	for (size_t i = 0; i < said->n_metrics; i++)
		free((char *) (uintptr_t) said->metric[i].name);
	free(said->metric);
	free(said->status);
	free(said);
	return NULL;
}
