/* SPDX-License-Identifier: MIT */
#include "service/tally.h"

#include <errno.h>
#include <float.h>

#include "base/cleanup.h"

static void spans_done(struct tally_spans *s)
{
	histogram_done(&s->histogram);
}

void tally_done(struct tally *t)
{
	for (size_t i = 0; i < t->n_misses; i++)
		free(t->miss[i].reason);
	for (size_t i = 0; i < t->n_metrics; i++)
		free(t->metric[i].name);
	free(t->miss);
	free(t->metric);
	spans_done(&t->duration);
	spans_done(&t->lateness);
	*t = (struct tally) { 0 };
}

static int spans_add(struct tally_spans *s, usec_t span)
{
	if (span == USEC_NEVER)
		return 0;
	s->sum = usec_add(s->sum, span);
	s->most = usec_max(s->most, span);
	return histogram_add(&s->histogram, span, 1);
}

static int spans_merge(struct tally_spans *s, const struct tally_spans *other)
{
	s->sum = usec_add(s->sum, other->sum);
	s->most = usec_max(s->most, other->most);
	return histogram_merge(&s->histogram, &other->histogram);
}

/* The few reasons and metrics that a unit has are looked through one by one. */
static struct tally_miss *miss_of(struct tally *t, const char *reason)
{
	struct tally_miss *grown;
	char *copy;

	for (size_t i = 0; i < t->n_misses; i++)
		if (str_equal(t->miss[i].reason, reason))
			return &t->miss[i];
	grown = reallocarray(t->miss, t->n_misses + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	t->miss = grown;
	copy = strdup(reason);
	if (!copy)
		return NULL;
	t->miss[t->n_misses] = (struct tally_miss) { .reason = copy };
	return &t->miss[t->n_misses++];
}

static struct tally_metric *metric_of(struct tally *t, const char *name)
{
	struct tally_metric *grown;
	char *copy;

	for (size_t i = 0; i < t->n_metrics; i++)
		if (str_equal(t->metric[i].name, name))
			return &t->metric[i];
	grown = reallocarray(t->metric, t->n_metrics + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	t->metric = grown;
	copy = strdup(name);
	if (!copy)
		return NULL;
	t->metric[t->n_metrics] = (struct tally_metric) { .name = copy };
	return &t->metric[t->n_metrics++];
}

/* Of very large ones the sum is the largest there is: it has to be told in JSON. */
static double bounded(double value)
{
	return value > DBL_MAX ? DBL_MAX : value < -DBL_MAX ? -DBL_MAX : value;
}

int tally_add_metric(struct tally *t, const struct tally_metric *add, bool is_newer)
{
	struct tally_metric *m = metric_of(t, add->name);

	if (!m)
		return -ENOMEM;
	m->last = m->count == 0 || is_newer ? add->last : m->last;
	m->most = m->count == 0 || add->most > m->most ? add->most : m->most;
	m->count += add->count;
	m->sum = bounded(m->sum + add->sum);
	return 0;
}

int tally_add_miss(struct tally *t, const char *reason, uint64_t count)
{
	struct tally_miss *m = miss_of(t, reason);

	if (!m)
		return -ENOMEM;
	m->count += count;
	return 0;
}

void tally_seen(struct tally *t, usec_t first, usec_t last)
{
	if (last == 0)
		return;
	t->first = t->last == 0 ? first : usec_min(t->first, first);
	t->last = usec_max(t->last, last);
}

static int add_run(struct tally *t, const struct history_record *r)
{
	int error;

	t->by_class[r->class]++;
	t->cpu = usec_add(t->cpu, r->cpu);
	if (r->peak_memory > t->peak_memory)
		t->peak_memory = r->peak_memory;
	if (r->class == HISTORY_SUCCESS) {
		t->healed += r->attempt > 1;
		t->last_success = usec_max(t->last_success, r->ended);
	}
	error = spans_add(&t->duration, r->duration);
	/* How late a catch-up is says how long supd was down, not how well it keeps time. */
	if (error >= 0 && !(r->cause && str_equal(r->cause, "catch-up")))
		error = spans_add(&t->lateness, r->lateness);
	for (size_t i = 0; i < r->n_metrics && error >= 0; i++) {
		const struct metric *m = &r->metric[i];
		/* It is only looked at. */
		const struct tally_metric one = {
			.name = (char *) (uintptr_t) m->name,
			.count = 1,
			.sum = m->value,
			.most = m->value,
			.last = m->value,
		};

		error = tally_add_metric(t, &one, true);
	}
	return error;
}

int tally_add(struct tally *t, const struct history_record *r)
{
	switch (r->class) {
	case HISTORY_RUNNING:
		return 0;
	case HISTORY_MISSED:
		tally_seen(t, r->first, r->at);
		t->by_class[HISTORY_MISSED] += r->count;
		return tally_add_miss(t, r->reason, r->count);
	case HISTORY_GAP:
		tally_seen(t, r->at, r->at);
		t->by_class[HISTORY_GAP] += r->count;
		return 0;
	case HISTORY_SUCCESS:
	case HISTORY_FAILED:
	case HISTORY_SKIPPED:
	case HISTORY_STOPPED:
	case HISTORY_INTERRUPTED:
		break;
	}
	tally_seen(t, r->at, r->at);
	return add_run(t, r);
}

int tally_merge(struct tally *t, const struct tally *other)
{
	bool is_newer = other->last >= t->last;
	int r;

	for (size_t i = 0; i < HISTORY_CLASS_COUNT; i++)
		t->by_class[i] += other->by_class[i];
	t->healed += other->healed;
	tally_seen(t, other->first, other->last);
	t->last_success = usec_max(t->last_success, other->last_success);
	t->cpu = usec_add(t->cpu, other->cpu);
	if (other->peak_memory > t->peak_memory)
		t->peak_memory = other->peak_memory;
	r = spans_merge(&t->duration, &other->duration);
	if (r >= 0)
		r = spans_merge(&t->lateness, &other->lateness);
	for (size_t i = 0; i < other->n_misses && r >= 0; i++)
		r = tally_add_miss(t, other->miss[i].reason, other->miss[i].count);
	for (size_t i = 0; i < other->n_metrics && r >= 0; i++)
		r = tally_add_metric(t, &other->metric[i], is_newer);
	return r;
}

uint64_t tally_runs(const struct tally *t)
{
	return t->by_class[HISTORY_SUCCESS] + t->by_class[HISTORY_FAILED] +
	       t->by_class[HISTORY_SKIPPED] + t->by_class[HISTORY_STOPPED] +
	       t->by_class[HISTORY_INTERRUPTED];
}
