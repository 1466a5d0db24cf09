/* SPDX-License-Identifier: MIT */
#include "tests/timer/fsm_script.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "timer/zone.h"
#include "timer/zone_load.h"

usec_t real_at(int64_t at)
{
	return (usec_t) ((int64_t) T0_REAL + at * (int64_t) USEC_PER_SEC);
}

void bench_spec(struct bench *b, const char *text)
{
	struct assignment assignment[16];
	_cleanup_free_ char *copy = strdup(text);
	char *line, *rest = copy;
	struct diag d = { 0 };
	size_t n = 0;

	while ((line = strsep(&rest, "\n"))) {
		char *value = strchr(line, '=');

		if (!value)
			continue;
		*value++ = '\0';
		ck_assert_uint_lt(n, ELEMENTS(assignment));
		assignment[n] = (struct assignment) { "Timer", line, value, "x.timer", (uint32_t) n + 1, 1 };
		n++;
	}
	ck_assert_int_eq(timer_spec_parse("x.timer", "x.timer", assignment, n, &b->defaults,
					   b->zones, &b->arena, &d, &b->spec), 0);
	if (d.n_errors > 0)
		ck_abort_msg("the script's spec is wrong: %s", d.entry[0].message);
	diag_done(&d);
}

void bench_init(struct bench *b, const char *spec, const char *zone)
{
	const struct zone_source source = { .tz = "UTC" };

	*b = (struct bench) { .defaults = timer_defaults_builtin };
	ck_assert_int_eq(zone_cache_new(&source, &b->zones), 0);
	if (zone)
		ck_assert_int_eq(zone_from_posix(zone, &b->zone, NULL), 0);
	bench_spec(b, spec);
	timer_init(&b->timer);
	b->context = (struct timer_context) {
		.spec = &b->spec,
		.local = b->zone ? b->zone : zone_utc(),
		.bases = { .startup = (int64_t) T0_BOOT, .boot = 0 },
		.clock_epoch = UINT64_C(1700000000) * USEC_PER_SEC,
	};
}

void bench_done(struct bench *b)
{
	memory_done(&b->timer.memory);
	zone_cache_free(b->zones);
	zone_free(b->zone);
	arena_done(&b->arena);
}

struct supd_now bench_now(const struct bench *b, int64_t at)
{
	int64_t real = (int64_t) real_at(at + b->skew);

	return (struct supd_now) {
		.real = real > 0 ? (usec_t) real : 1,
		.boot = (usec_t) ((int64_t) T0_BOOT + at * (int64_t) USEC_PER_SEC),
	};
}

static const char *const effect_words[] = {
	[TFX_INTENT] = "intent", [TFX_START] = "start", [TFX_SAVE] = NULL, [TFX_MISSED] = "missed",
	[TFX_ENDED] = "ended", [TFX_RETRY] = "retry", [TFX_INTERRUPTED] = "interrupted", [TFX_FUTURE] = "future",
};

static const char *effects_words(const struct timer_effects *fx)
{
	static char words[512];
	size_t n = 0;

	words[0] = '\0';
	for (unsigned i = 0; i < fx->n; i++) {
		const struct timer_effect *e = &fx->item[i];

		if (e->kind == TFX_SAVE)
			continue;
		n += (size_t) snprintf(words + n, sizeof(words) - n, "%s%s", n ? ", " : "", effect_words[e->kind]);
		if (e->kind != TFX_MISSED)
			continue;
		n += (size_t) snprintf(words + n, sizeof(words) - n, " %s", miss_reason_to_string(e->reason));
		if (e->count > 1)
			n += (size_t) snprintf(words + n, sizeof(words) - n, " %llu", (unsigned long long) e->count);
	}
	return words;
}

const char *bench_step(struct bench *b, const struct row *row)
{
	struct timer_event ev = {
		.kind = row->event,
		.random = row->random,
		.is_target_active = row->active,
		.result = row->result,
		.refused = row->refused,
	};

	if (row->skip != 0) {
		struct supd_now now = bench_now(b, row->at);
		usec_t moment = real_at(row->skip), found;

		ck_assert_int_eq(timer_skip(&b->timer, &b->context, &now, moment, &found), SKIP_DONE);
		ck_assert_uint_eq(found, moment);
	}
	b->skew += row->jump;
	if (row->spec)
		bench_spec(b, row->spec);
	ev.now = bench_now(b, row->at);
	if (row->result != SUPD_RESULT_NONE)
		ev.ended = ev.now;
	memset(ev.run_id, ++b->n_runs, sizeof(ev.run_id));
	memset(ev.last_run_id, 0xee, sizeof(ev.last_run_id));
	if (row->who == OURS)
		memcpy(ev.last_run_id, b->timer.memory.open.run_id, sizeof(ev.last_run_id));
	if (row->event == TIMER_STARTED || row->event == TIMER_ENDED)
		memcpy(ev.run_id, ev.last_run_id, sizeof(ev.run_id));
	timer_step(&b->timer, &b->context, &ev, &b->effects);
	return effects_words(&b->effects);
}

int64_t bench_real(const struct bench *b)
{
	if (b->timer.wake_real == USEC_NEVER)
		return NEVER;
	return ((int64_t) b->timer.wake_real - (int64_t) T0_REAL) / (int64_t) USEC_PER_SEC;
}

int64_t bench_boot(const struct bench *b)
{
	if (b->timer.wake_boot == USEC_NEVER)
		return NEVER;
	return ((int64_t) b->timer.wake_boot - (int64_t) T0_BOOT) / (int64_t) USEC_PER_SEC;
}

void script_run(const struct script *s)
{
	struct bench b;

	bench_init(&b, s->spec, s->zone);
	for (size_t i = 0; i < s->n; i++) {
		const struct row *row = &s->row[i];
		const char *effects = bench_step(&b, row);

		if (b.timer.phase != row->phase || bench_real(&b) != row->real || bench_boot(&b) != row->boot ||
		    strcmp(effects, row->effects) != 0)
			ck_abort_msg("%s, row %zu: phase %d, alarms %lld and %lld, effects '%s'", s->name, i + 1,
				     (int) b.timer.phase, (long long) bench_real(&b), (long long) bench_boot(&b), effects);
	}
	bench_done(&b);
}
