/* SPDX-License-Identifier: MIT */
#include "core/history_report.h"

#include "base/cleanup.h"
#include "base/text.h"

/* ---- one line ---- */

static void report_output(struct report *r, const struct history_record *h)
{
	char *text;

	if (!h->output) {
		report_null(r, "output");
		return;
	}
	/* Whatever was printed: bytes that are no text are told as they would be shown. */
	text = text_utf8_valid(h->output, h->n_output) == h->n_output &&
			       !memchr(h->output, '\0', h->n_output)
		       ? strndup(h->output, h->n_output)
		       : text_escape(h->output, h->n_output);
	report_string(r, "output", text ? arena_strdup(r->arena, text) : NULL);
	r->is_failed |= !text;
	free(text);
}

static void report_the_run(struct report *r, const struct history_record *h)
{
	char *id = arena_alloc(r->arena, 2 * RUN_ID_BYTES + 1);

	if (id)
		text_hex16(h->run_id, id);
	r->is_failed |= !id;
	report_string(r, "run_id", id);
	report_string(r, "cause", h->cause);
	report_number(r, "attempt", h->attempt);
	report_time(r, "scheduled", h->scheduled);
	report_time(r, "started", h->at);
	report_time(r, "ended", h->ended);
	report_span(r, "lateness", h->lateness);
	report_span(r, "duration", h->duration);
	report_string(r, "result",
		      h->result == RUN_RESULT_NONE ? NULL : run_result_to_string(h->result));
	if (h->result == RUN_RESULT_SUCCESS || h->result == RUN_RESULT_EXIT_CODE)
		report_number(r, "exit_status", h->status);
	else
		report_null(r, "exit_status");
	report_span(r, "cpu",
		    h->class == HISTORY_RUNNING || h->class == HISTORY_INTERRUPTED ? USEC_NEVER
										   : h->cpu);
	if (h->peak_memory > 0)
		report_number(r, "peak_memory", (int64_t) h->peak_memory);
	else
		report_null(r, "peak_memory");
}

static void report_the_rest(struct report *r, const struct history_record *h)
{
	report_string(r, "reason", h->reason);
	report_time(r, "scheduled", h->class == HISTORY_MISSED ? h->at : USEC_NEVER);
	report_time(r, "first", h->first);
	report_time(r, "last", h->at);
	report_number(r, "count", (int64_t) h->count);
}

static const char *words_of(const struct history_record *h)
{
	return h->words ? h->words : h->reason ? h->reason : history_class_to_string(h->class);
}

void history_report_record(struct report *r, const struct history_record *h, bool with_output)
{
	bool is_run = h->class != HISTORY_MISSED && h->class != HISTORY_GAP;

	report_string(r, "kind", is_run ? "run" : history_class_to_string(h->class));
	report_string(r, "unit", h->unit);
	report_string(r, "trigger", h->trigger);
	report_time(r, "time", h->at);
	report_string(r, "outcome", history_class_to_string(h->class));
	report_string(r, "words", words_of(h));
	if (is_run)
		report_the_run(r, h);
	else
		report_the_rest(r, h);
	if (is_run && h->n_metrics > 0)
		report_metrics(r, "metrics", h->metric, h->n_metrics);
	if (is_run && with_output)
		report_output(r, h);
}

/* ---- sums ---- */

static void report_classes(struct report *r, const struct tally *t)
{
	report_number(r, "runs", (int64_t) tally_runs(t));
	for (unsigned c = HISTORY_SUCCESS; c < HISTORY_GAP; c++)
		report_number(r, history_class_to_string((enum history_class) c),
			      (int64_t) t->by_class[c]);
	report_number(r, "healed", (int64_t) t->healed);
}

static void report_misses(struct report *r, const struct tally *t)
{
	struct report misses = { .arena = r->arena };

	for (size_t i = 0; i < t->n_misses; i++)
		report_number(&misses, t->miss[i].reason, (int64_t) t->miss[i].count);
	report_row(r, "misses", &misses);
}

static void report_spans(struct report *r, const char *key, const struct tally_spans *s)
{
	struct report spans = { .arena = r->arena };
	uint64_t n = s->histogram.total;

	if (n == 0) {
		report_null(r, key);
		return;
	}
	report_number(&spans, "count", (int64_t) n);
	report_span(&spans, "sum", s->sum);
	report_span(&spans, "average", s->sum / n);
	report_span(&spans, "p50", usec_min(histogram_quantile(&s->histogram, 500), s->most));
	report_span(&spans, "p95", usec_min(histogram_quantile(&s->histogram, 950), s->most));
	report_span(&spans, "p99", usec_min(histogram_quantile(&s->histogram, 990), s->most));
	report_span(&spans, "max", s->most);
	report_row(r, key, &spans);
}

static void report_tally_metrics(struct report *r, const struct tally *t)
{
	struct report metrics = { .arena = r->arena };

	for (size_t i = 0; i < t->n_metrics; i++) {
		const struct tally_metric *m = &t->metric[i];
		struct report one = { .arena = r->arena };

		report_number(&one, "count", (int64_t) m->count);
		report_real(&one, "sum", m->sum);
		report_real(&one, "max", m->most);
		report_real(&one, "last", m->last);
		report_row(&metrics, m->name, &one);
	}
	report_row(r, "metrics", &metrics);
}

void history_report_tally(struct report *r, const char *unit, const struct tally *t)
{
	report_string(r, "unit", unit);
	report_classes(r, t);
	report_misses(r, t);
	report_spans(r, "duration", &t->duration);
	report_spans(r, "lateness", &t->lateness);
	report_span(r, "cpu", t->cpu);
	report_number(r, "peak_memory", (int64_t) t->peak_memory);
	report_time(r, "first", t->first);
	report_time(r, "last", t->last);
	report_time(r, "last_success", t->last_success);
	report_tally_metrics(r, t);
}
