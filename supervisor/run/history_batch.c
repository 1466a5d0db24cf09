/* SPDX-License-Identifier: MIT */
#include "run/history_batch.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

void history_batch_done(struct history_batch *b)
{
	arena_done(&b->arena);
	*b = (struct history_batch) { 0 };
}

static int copy_text(struct arena *a, const char **text)
{
	if (!*text)
		return 0;
	*text = arena_strdup(a, *text);
	return *text ? 0 : -ENOMEM;
}

static int copy_metrics(struct arena *a, struct history_record *r)
{
	struct metric *copy;

	if (r->n_metrics == 0)
		return 0;
	copy = arena_alloc(a, r->n_metrics * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_metrics; i++) {
		copy[i] = r->metric[i];
		if (copy_text(a, &copy[i].name) < 0)
			return -ENOMEM;
	}
	r->metric = copy;
	return 0;
}

static int copy_output(struct arena *a, struct history_record *r)
{
	char *copy;

	if (r->n_output == 0)
		return 0;
	copy = arena_alloc(a, r->n_output);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, r->output, r->n_output);
	r->output = copy;
	return 0;
}

static size_t text_bytes(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

size_t history_record_bytes(const struct history_record *r)
{
	size_t n = sizeof(*r) + text_bytes(r->unit) + text_bytes(r->trigger) +
		   text_bytes(r->cause) + text_bytes(r->words) + text_bytes(r->reason) +
		   r->n_output;

	for (size_t i = 0; i < r->n_metrics; i++)
		n += sizeof(*r->metric) + text_bytes(r->metric[i].name);
	return n;
}

int history_batch_add(struct history_batch *b, const struct history_record *r)
{
	struct history_record copy = *r,
			      *grown = arena_grow(&b->arena, b->record, b->n, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	b->record = grown;
	if (copy_text(&b->arena, &copy.unit) < 0 || copy_text(&b->arena, &copy.trigger) < 0 ||
	    copy_text(&b->arena, &copy.cause) < 0 || copy_text(&b->arena, &copy.words) < 0 ||
	    copy_text(&b->arena, &copy.reason) < 0 || copy_metrics(&b->arena, &copy) < 0 ||
	    copy_output(&b->arena, &copy) < 0)
		return -ENOMEM;
	b->record[b->n++] = copy;
	b->bytes += history_record_bytes(r);
	return 0;
}
