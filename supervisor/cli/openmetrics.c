/* SPDX-License-Identifier: MIT */
#include "cli/openmetrics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cli.h"
#include "control/rows.h"

static const char *const outcomes[] = { "success", "failed", "skipped", "stopped", "interrupted" };

struct named {
	const char *name;
	double value;
};

/* Lengths of time in seconds. */
struct summary {
	double count, sum, p50, p95, p99;
};

struct openmetrics_row {
	const char *unit;
	double outcome[ELEMENTS(outcomes)];
	double healed, cpu, last_success; /* the last 0: never */
	struct summary duration, lateness;
	struct named *miss, *metric;
	size_t n_misses, n_metrics;
};

void openmetrics_done(struct openmetrics *m)
{
	arena_done(&m->arena);
}

/* ---- gathering ---- */

static double seconds(usec_t span)
{
	return span == USEC_NEVER ? 0 : (double) span / (double) USEC_PER_SEC;
}

static const struct supd_row *part(const struct supd_row *row, const char *key)
{
	static const struct supd_row nothing = { NULL, 0 };
	const struct supd_field *f = row_field(row, key);

	return f && f->type == SUPD_ROW ? f->value.row : &nothing;
}

static struct summary summary_of(const struct supd_row *row, const char *key)
{
	const struct supd_row *s = part(row, key);

	return (struct summary) {
		.count = (double) row_number(s, "count", 0),
		.sum = seconds(row_usec(s, "sum")),
		.p50 = seconds(row_usec(s, "p50")),
		.p95 = seconds(row_usec(s, "p95")),
		.p99 = seconds(row_usec(s, "p99")),
	};
}

/* A number, or the sum in a row of its own. */
static double value_of(const struct supd_field *f)
{
	if (f->type == SUPD_NUMBER)
		return (double) f->value.number;
	if (f->type == SUPD_REAL)
		return f->value.real;
	if (f->type == SUPD_ROW) {
		const struct supd_field *sum = row_field(f->value.row, "sum");

		return sum && sum->type != SUPD_ROW ? value_of(sum) : 0;
	}
	return 0;
}

static int named_of(struct arena *arena, const struct supd_row *row, struct named **ret,
		    size_t *ret_n)
{
	struct named *named = arena_alloc(arena, (row->n + 1) * sizeof(*named));

	if (!named)
		return -ENOMEM;
	for (size_t i = 0; i < row->n; i++) {
		named[i].name = arena_strdup(arena, row->field[i].key);
		named[i].value = value_of(&row->field[i]);
		if (!named[i].name)
			return -ENOMEM;
	}
	*ret = named;
	*ret_n = row->n;
	return 0;
}

int openmetrics_add(struct openmetrics *m, const struct supd_row *row)
{
	struct openmetrics_row *grown = arena_grow(&m->arena, m->row, m->n, sizeof(*grown)), *r;
	const char *unit = row_string(row, "unit");
	usec_t success = row_usec(row, "last_success");

	if (!grown)
		return -ENOMEM;
	m->row = grown;
	r = &grown[m->n];
	*r = (struct openmetrics_row) {
		.unit = arena_strdup(&m->arena, unit ? unit : ""),
		.healed = (double) row_number(row, "healed", 0),
		.cpu = seconds(row_usec(row, "cpu")),
		.last_success = seconds(success),
		.duration = summary_of(row, "duration"),
		.lateness = summary_of(row, "lateness"),
	};
	for (size_t i = 0; i < ELEMENTS(outcomes); i++)
		r->outcome[i] = (double) row_number(row, outcomes[i], 0);
	if (!r->unit || named_of(&m->arena, part(row, "misses"), &r->miss, &r->n_misses) < 0 ||
	    named_of(&m->arena, part(row, "metrics"), &r->metric, &r->n_metrics) < 0)
		return -ENOMEM;
	m->n++;
	return 0;
}

/* ---- printing ---- */

static void family(FILE *f, const char *name, const char *type, const char *unit, const char *help)
{
	fprintf(f, "# TYPE %s %s\n", name, type);
	if (unit)
		fprintf(f, "# UNIT %s %s\n", name, unit);
	fprintf(f, "# HELP %s %s\n", name, help);
}

/* As the format wants it in quotes. */
static void label(FILE *f, const char *name, const char *value)
{
	fprintf(f, "%s=\"", name);
	for (; *value; value++)
		if (*value == '\n')
			fputs("\\n", f);
		else if (*value == '"' || *value == '\\')
			fprintf(f, "\\%c", *value);
		else
			fputc(*value, f);
	fputc('"', f);
}

/* NULL: no second label. */
static void sample(FILE *f, const char *name, const char *unit, const char *key, const char *value,
		   double number)
{
	fprintf(f, "%s{", name);
	label(f, "unit", unit);
	if (key) {
		fputc(',', f);
		label(f, key, value);
	}
	fprintf(f, "} %.15g\n", number);
}

static void print_outcomes(FILE *f, const struct openmetrics *m)
{
	family(f, "supd_runs", "counter", NULL, "Runs that have ended, by how they ended.");
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < ELEMENTS(outcomes); k++)
			sample(f, "supd_runs_total", m->row[i].unit, "outcome", outcomes[k],
			       m->row[i].outcome[k]);
}

static void print_misses(FILE *f, const struct openmetrics *m)
{
	family(f, "supd_missed_moments", "counter", NULL,
	       "Scheduled moments that led to no run, by the reason.");
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->row[i].n_misses; k++)
			sample(f, "supd_missed_moments_total", m->row[i].unit, "reason",
			       m->row[i].miss[k].name, m->row[i].miss[k].value);
}

static void print_metrics(FILE *f, const struct openmetrics *m)
{
	family(f, "supd_job_metric", "gauge", NULL,
	       "Sums of what jobs reported of themselves, by name.");
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < m->row[i].n_metrics; k++)
			sample(f, "supd_job_metric", m->row[i].unit, "name",
			       m->row[i].metric[k].name, m->row[i].metric[k].value);
}

static void print_counter(FILE *f, const struct openmetrics *m, const char *name, const char *unit,
			  const char *help, size_t offset)
{
	char total[64];

	(void) snprintf(total, sizeof(total), "%s_total", name);
	family(f, name, "counter", unit, help);
	for (size_t i = 0; i < m->n; i++)
		sample(f, total, m->row[i].unit, NULL, NULL,
		       *(const double *) (const void *) ((const char *) &m->row[i] + offset));
}

static void print_summary(FILE *f, const struct openmetrics *m, const char *name, const char *help,
			  size_t offset)
{
	char part_name[64];

	family(f, name, "summary", "seconds", help);
	for (size_t i = 0; i < m->n; i++) {
		const struct summary *s = (const void *) ((const char *) &m->row[i] + offset);

		if (s->count == 0)
			continue;
		sample(f, name, m->row[i].unit, "quantile", "0.5", s->p50);
		sample(f, name, m->row[i].unit, "quantile", "0.95", s->p95);
		sample(f, name, m->row[i].unit, "quantile", "0.99", s->p99);
		(void) snprintf(part_name, sizeof(part_name), "%s_count", name);
		sample(f, part_name, m->row[i].unit, NULL, NULL, s->count);
		(void) snprintf(part_name, sizeof(part_name), "%s_sum", name);
		sample(f, part_name, m->row[i].unit, NULL, NULL, s->sum);
	}
}

static void print_last_success(FILE *f, const struct openmetrics *m, usec_t now)
{
	family(f, "supd_last_success_age_seconds", "gauge", "seconds",
	       "Since the last run that succeeded ended.");
	for (size_t i = 0; i < m->n; i++)
		if (m->row[i].last_success > 0)
			sample(f, "supd_last_success_age_seconds", m->row[i].unit, NULL, NULL,
			       seconds(now) - m->row[i].last_success);
}

/* ---- what the daemon says now ---- */

static void print_gauge(FILE *f, const char *name, const char *help, double value)
{
	family(f, name, "gauge", NULL, help);
	fprintf(f, "%s %.15g\n", name, value);
}

static void print_timers(FILE *f, const struct control_reply *timers)
{
	family(f, "supd_timer_next_elapse_timestamp_seconds", "gauge", "seconds",
	       "When the timer elapses next, since the epoch; a timer without this never does.");
	for (size_t i = 1; i < timers->n; i++) {
		const char *unit = row_string(&timers->row[i], "unit");
		usec_t next = row_usec(&timers->row[i], "next");

		if (unit && next != USEC_NEVER)
			sample(f, "supd_timer_next_elapse_timestamp_seconds", unit, NULL, NULL,
			       seconds(next));
	}
}

static void print_daemon(struct cli *c, FILE *f)
{
	static const char *const keys[] = { "subsystem",           "state", "unit", "next",
					    "not_persisted_since", NULL };
	_cleanup_(control_reply_done) struct control_reply reterr = { 0 }, timers = { 0 };
	struct control_client *client = c->state_dir ? NULL : cli_client(c, &reterr);
	const struct supd_row *subsystem;
	const char *state;

	print_gauge(f, "supd_up", "1 if a daemon answers, else 0.", client ? 1 : 0);
	if (!client)
		return;
	control_client_wait(client,
			    control_client_ask_keys(client, "ListTable", keys, "sss", "timer",
						    "units", ""),
			    &timers);
	if (timers.status != CONTROL_OK || timers.n == 0)
		return;
	subsystem = &timers.row[0];
	state = row_string(subsystem, "state");
	print_gauge(f, "supd_timers_enabled", "1 if timers elapse, else 0.",
		    state && str_equal(state, "enabled"));
	print_gauge(f, "supd_state_persisted", "1 if the timers' state reaches the disk, else 0.",
		    row_usec(subsystem, "not_persisted_since") == USEC_NEVER);
	print_timers(f, &timers);
}

int openmetrics_print(struct cli *c, const struct openmetrics *m, FILE *f)
{
	print_outcomes(f, m);
	print_misses(f, m);
	print_counter(f, m, "supd_healed_runs", NULL, "Retries that succeeded.",
		      offsetof(struct openmetrics_row, healed));
	print_counter(f, m, "supd_run_cpu_seconds", "seconds", "CPU time of runs.",
		      offsetof(struct openmetrics_row, cpu));
	print_summary(f, m, "supd_run_duration_seconds", "How long runs took.",
		      offsetof(struct openmetrics_row, duration));
	print_summary(f, m, "supd_run_lateness_seconds",
		      "From the scheduled moment to the start, catch-ups apart.",
		      offsetof(struct openmetrics_row, lateness));
	print_metrics(f, m);
	print_last_success(f, m, c->now);
	print_daemon(c, f);
	fputs("# EOF\n", f);
	return ferror(f) ? CONTROL_FAILED : CONTROL_OK;
}
