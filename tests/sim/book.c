/* SPDX-License-Identifier: MIT */
#include "tests/sim/book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "core/manager_private.h"
#include "timer/instance.h"

#define STEP USEC_PER_MINUTE
#define DAY USEC_PER_DAY
#define SPREAD (6 * USEC_PER_MINUTE)
#define SPANS(x) ((unsigned long long) ((x) / USEC_PER_SEC))
#define fail(b, t, fmt, ...) (tell((b), (t)), sim_fail((b)->sim, "%s: " fmt, (t)->name, ##__VA_ARGS__))

enum { ITEM_RECORD, ITEM_SPAWN, ITEM_END, ITEM_INACTIVE };

/* What both sides believe, before a failure is told. */
static void tell(const struct book *b, const struct book_timer *t)
{
	struct supd_instance *i = b->sim->manager ? b->sim->manager->host.instance : NULL;
	const struct sim_file *file = NULL;
	struct entry *e = NULL;

	for (size_t k = 0; k < b->sim->n_files; k++)
		if (strcmp(b->sim->file[k].name, t->name) == 0)
			file = &b->sim->file[k];
	fprintf(stderr, "# %s\n# book: since %llu, kept %llu, line %llu, vague %llu, forgotten %llu, interrupted %llu\n",
		file && file->text ? file->text : "-", SPANS(t->memory.since), SPANS(t->memory.kept), SPANS(t->memory.line),
		SPANS(t->memory.vague), SPANS(t->memory.forgotten), SPANS(t->memory.interrupted));
	if (i)
		e = names_find(&i->entries, t->name);
	if (!e)
		return;
	fprintf(stderr, "# timer: phase %d, line %llu, normal since %llu, kept %llu, waiting %llu (%s) at %llu, next %llu\n",
		(int) e->timer.phase, SPANS(e->timer.memory.accounted_real), SPANS(e->timer.memory.normal_since),
		SPANS(e->timer.memory.kept_real), SPANS(e->timer.memory.waiting.scheduled),
		miss_reason_to_string(e->timer.memory.waiting.reason), SPANS(e->timer.catch_up_at), SPANS(e->timer.wake_real));
	for (unsigned k = 0; k < e->timer.memory.n_spent; k++)
		fprintf(stderr, "#   spent (%llu, %llu]\n", SPANS(e->timer.memory.spent[k].from),
			SPANS(e->timer.memory.spent[k].to));
}

/* ---- unit files ---- */

void book_write_timer(struct book *b, unsigned i)
{
	struct plan *p = &b->timer[i].file;
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *f;

	if (!p->exists) {
		sim_write(b->sim, b->timer[i].name, NULL);
		p->version = 0;
		return;
	}
	f = open_memstream(&text, &n);
	fprintf(f, "[Timer]\nUnit=%s\nEnabled=%s\nPersistent=%s\nCatchUpSec=%llu\n", b->service[p->service].name,
		p->is_enabled ? "yes" : "no", p->is_persistent ? "yes" : "no", SPANS(p->catch_up));
	if (p->expression >= 0)
		fprintf(f, "OnCalendar=%s\n", sim_expressions[p->expression].text);
	if (p->startup)
		fprintf(f, "OnStartupSec=%llu\n", SPANS(p->startup));
	if (p->boot)
		fprintf(f, "OnBootSec=%llu\n", SPANS(p->boot));
	if (p->active)
		fprintf(f, "OnActiveSec=%llu\n", SPANS(p->active));
	if (p->unit_active)
		fprintf(f, "OnUnitActiveSec=%llu\n", SPANS(p->unit_active));
	if (p->unit_inactive)
		fprintf(f, "OnUnitInactiveSec=%llu\n", SPANS(p->unit_inactive));
	if (p->delay)
		fprintf(f, "RandomizedDelaySec=%llu\n", SPANS(p->delay));
	if (p->on_clock_change)
		fprintf(f, "OnClockChange=yes\n");
	if (p->retries_signals)
		fprintf(f, "RetryOn=exit signal\n");
	fprintf(f, "RetrySec=");
	for (unsigned k = 0; k < p->n_ladder; k++)
		fprintf(f, " %llus", SPANS(p->ladder[k]));
	fprintf(f, "\n%s", p->is_bad ? "OnCalender=daily\n" : "");
	fclose(f);
	sim_write(b->sim, b->timer[i].name, text);
	p->version = b->sim->last_fingerprint;
}

void book_write_service(struct book *b, unsigned i)
{
	struct book_service *s = &b->service[i];
	char text[256];

	snprintf(text, sizeof(text), "[Service]\nExecStart=/bin/job\nTimeoutStartSec=2h\n%s%s%s",
		 s->is_disabled ? "Enabled=no\n" : "", i == 3 ? "RemainAfterExit=yes\n" : "",
		 i == 4 ? "ExecCondition=/bin/condition\n" : "");
	if (s->is_masked)
		sim_mask(b->sim, s->name);
	else
		sim_write(b->sim, s->name, text);
}

/* ---- fates ---- */

/* Nothing but a calendar: each of its moments can be told from what is said of it. */
static bool is_pure(const struct plan *p)
{
	return !p->startup && !p->boot && !p->active && !p->unit_active && !p->unit_inactive && !p->on_clock_change;
}

static size_t fate_place(const struct book_timer *t, usec_t at)
{
	size_t low = 0, high = t->n_fates;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->fate[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum fate fate_of(const struct book_timer *t, usec_t at)
{
	size_t i = fate_place(t, at);

	return i < t->n_fates && t->fate[i].at == at ? t->fate[i].fate : FATE_NONE;
}

static void fate_put(struct book_timer *t, usec_t at, enum fate fate)
{
	size_t i = fate_place(t, at);
	bool is_there = i < t->n_fates && t->fate[i].at == at;

	if (fate == FATE_NONE) {
		if (is_there)
			memmove(&t->fate[i], &t->fate[i + 1], (--t->n_fates - i) * sizeof(t->fate[0]));
		return;
	}
	if (!is_there) {
		if (t->n_fates == t->allocated) {
			t->allocated = t->allocated * 2 + 64;
			t->fate = reallocarray(t->fate, t->allocated, sizeof(t->fate[0]));
		}
		memmove(&t->fate[i + 1], &t->fate[i], (t->n_fates++ - i) * sizeof(t->fate[0]));
	}
	t->fate[i] = (struct fate_entry) { at, fate };
}

static void fate_set(struct book *b, struct book_timer *t, usec_t at, enum fate fate)
{
	if (b->n_undo == b->undo_allocated) {
		b->undo_allocated = b->undo_allocated * 2 + 256;
		b->undo = reallocarray(b->undo, b->undo_allocated, sizeof(b->undo[0]));
	}
	b->undo[b->n_undo++] = (struct book_undo) { (unsigned) (t - b->timer), at, fate_of(t, at) };
	fate_put(t, at, fate);
}

/* Ahead of now nothing is settled but what came already. */
static void fates_ahead(struct book *b, struct book_timer *t, usec_t now, bool is_believed)
{
	for (size_t i = t->n_fates; i-- > 0 && t->fate[i].at > now;) {
		bool is_kept = is_believed ? t->fate[i].fate != FATE_PASSED : t->fate[i].at == t->memory.scheduled;

		if (!is_kept)
			fate_set(b, t, t->fate[i].at, FATE_NONE);
	}
}

static bool happens(const struct book *b, const char *what)
{
	return b->sim->event && strcmp(b->sim->event, what) == 0;
}

/* ---- marks: what the disk knows ---- */

static void process(struct book *b, bool is_midway);

static struct book_mark *mark_find(struct book *b, uint64_t id)
{
	for (unsigned i = 0; i < BOOK_MARKS; i++)
		if (b->mark[i].id == id)
			return &b->mark[i];
	return NULL;
}

/* One that no state on the disk, or on its way there, goes back to. */
static struct book_mark *mark_free(struct book *b)
{
	const struct sim *s = b->sim;

	for (unsigned i = 0; i < BOOK_MARKS; i++) {
		uint64_t id = b->mark[i].id;

		if (id == 0 || (id != s->generation[0].mark && id != s->generation[1].mark && id != s->writing.mark &&
				id != s->next.mark && id != s->unsaved_mark && id != b->last_mark))
			return &b->mark[i];
	}
	sim_fail(b->sim, "no room for marks");
}

static uint64_t on_mark(void *data)
{
	struct book *b = data;
	struct book_mark *m = mark_free(b);

	process(b, true); /* what was said before is in the state that is being saved */
	m->id = ++b->last_mark;
	if (b->sim->verbose)
		fprintf(stderr, "# mark %llu\n", (unsigned long long) m->id);
	m->undo = b->n_undo;
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		m->memory[i] = b->timer[i].memory;
	return m->id;
}

static void life_begins(struct book_timer *t)
{
	t->is_active = t->is_taken = t->has_ladder = t->ladder_said = false;
	t->waits_for = 0;
	t->anchor_active = t->anchor_inactive = 0;
}

static void on_restored(void *data, uint64_t mark, bool has_state)
{
	struct book *b = data;
	struct book_mark *m = has_state ? mark_find(b, mark) : NULL;

	b->n_restored++;
	if (b->sim->verbose)
		fprintf(stderr, "# back to mark %llu\n", has_state ? (unsigned long long) mark : 0);
	if (has_state && !m)
		sim_fail(b->sim, "the book has lost mark %llu", (unsigned long long) mark);
	while (has_state && b->n_undo > m->undo) {
		struct book_undo *u = &b->undo[--b->n_undo];

		fate_put(&b->timer[u->timer], u->at, u->was);
	}
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		life_begins(t);
		t->memory = has_state ? m->memory[i] : (struct book_memory) { 0 };
		if (!has_state)
			t->n_fates = 0;
	}
	if (!has_state)
		b->n_undo = 0;
	b->was_restored = true;
	b->life += happens(b, "boot");
	if (happens(b, "boot"))
		b->born = b->sim->boot;
}

/* ---- what is seen ---- */

static struct book_item *item(struct book *b, int kind)
{
	struct book_item *i;

	if (b->n_items == ELEMENTS(b->item))
		sim_fail(b->sim, "more happened in one event than fits into the book");
	i = &b->item[b->n_items++];
	*i = (struct book_item) { .kind = kind };
	return i;
}

static void on_record(void *data, const struct sim_record *r)
{
	struct book *b = data;

	if (!b->was_running &&
	    (manager_state(b->sim->manager) != SUPD_MANAGER_RUNNING || !gate_is_open(&b->sim->manager->gate)))
		sim_fail(b->sim, "%s %s, although timers are off", r->unit, r->type);
	b->n_catch_ups += str_equal(r->type, "elapsed") && str_equal(r->reason, "catch-up");
	b->n_retries += str_equal(r->type, "elapsed") && str_equal(r->reason, "retry");
	b->n_overlaps += str_equal(r->type, "missed") && str_equal(r->reason, "overlap");
	b->n_interrupted += str_equal(r->type, "interrupted");
	b->n_skipped += str_equal(r->type, "missed") && str_equal(r->reason, "skipped-by-admin");
	item(b, ITEM_RECORD)->record = *r;
}

static void run_of(struct book_item *i, const char *unit, const struct run *run)
{
	snprintf(i->unit, sizeof(i->unit), "%s", unit);
	snprintf(i->trigger, sizeof(i->trigger), "%s", run->trigger_unit ? run->trigger_unit : "");
	snprintf(i->cause, sizeof(i->cause), "%.23s", run->cause);
	memcpy(i->run_id, run->id, sizeof(i->run_id));
	i->attempt = run->attempt;
	i->scheduled = run->scheduled_real;
	i->result = (int) run->result;
}

/* Each end is noted once: when it is told, or when a state that knows of it is saved. */
static bool end_is_new(struct book *b, const struct unit *u)
{
	for (unsigned i = 0; i < BOOK_SERVICES; i++) {
		struct book_service *s = &b->service[i];

		if (strcmp(s->name, u->name) != 0)
			continue;
		if (u->run->ended_boot == 0 || memcmp(s->ended_run, u->run->id, 16) == 0)
			return false;
		memcpy(s->ended_run, u->run->id, 16);
		return true;
	}
	return false;
}

static void note_ends(struct book *b)
{
	for (unsigned i = 0; i < BOOK_SERVICES; i++) {
		struct unit *u = manager_unit(b->sim->manager, b->service[i].name);

		if (u && u->run && end_is_new(b, u))
			run_of(item(b, ITEM_END), u->name, u->run);
	}
}

static void went_down(struct book *b, const struct unit *u)
{
	for (unsigned i = 0; i < BOOK_SERVICES; i++)
		if (strcmp(b->service[i].name, u->name) == 0)
			b->service[i].is_up = unit_is_active(u);
}

static void on_settled(void *data, struct unit *u, bool run_ended)
{
	struct book *b = data;

	if (u->run && run_ended)
		b->results[u->run->result]++;
	went_down(b, u);
	if (!u->run || (run_ended && !end_is_new(b, u)))
		return;
	run_of(item(b, run_ended ? ITEM_END : ITEM_INACTIVE), u->name, u->run);
}

static struct book_timer *timer_of(struct book *b, const char *name)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		if (strcmp(b->timer[i].name, name) == 0)
			return &b->timer[i];
	return NULL;
}

/* The intent was on the disk before the first process of its run. */
static void intent_was_written(struct book *b, const struct book_service *s)
{
	const struct sim_blob *state = &b->sim->generation[0];
	const struct supd_instance *plugin = b->sim->manager->host.instance;
	char id[33];

	text_hex16(s->last_run, id);
	if (b->sim->is_disk_full || (state->bytes && memmem(state->bytes, state->n, id, 32)))
		return;
	if (plugin ? plugin->failing_since == 0 : !b->sim->has_unsaved)
		sim_fail(b->sim, "%s starts before its intent is durable", s->name);
}

/* A timer that begins anew, with another target maybe, need not know of the run any more. */
static bool is_as_it_was(const struct book *b, const struct book_service *s)
{
	return s->n_restored == b->n_restored && s->version == s->timer->plan.version;
}

/* @written: what came of the write that it waited for. */
static void on_executed(void *data, const char *unit, const uint8_t run_id[16], int written)
{
	struct book *b = data;

	for (unsigned i = 0; i < BOOK_SERVICES; i++) {
		struct book_service *s = &b->service[i];

		if (strcmp(s->name, unit) != 0 || !s->timer || memcmp(s->last_run, run_id, 16) != 0)
			continue;
		if (written >= 0 && is_as_it_was(b, s))
			intent_was_written(b, s);
		s->timer = NULL;
	}
}

static void on_spawned(void *data, const struct spawn_request *r)
{
	struct book *b = data;

	for (unsigned i = 0; i < BOOK_SERVICES; i++) {
		struct book_service *s = &b->service[i];

		if (strcmp(s->name, r->unit) != 0)
			continue;
		if (memcmp(s->last_run, r->run->id, 16) == 0 && memcmp(s->ended_run, r->run->id, 16) != 0)
			continue; /* another process of it */
		for (unsigned k = 0; k < BOOK_SERVICES; k++)
			if (memcmp(b->service[k].ended_run, r->run->id, 16) == 0)
				sim_fail(b->sim, "%s runs under the id of a run that has ended", r->unit);
		memcpy(s->last_run, r->run->id, 16);
		if (s->is_up)
			sim_fail(b->sim, "%s is started while it is active", r->unit);
		s->is_up = true;
		if (manager_state(b->sim->manager) != SUPD_MANAGER_RUNNING && r->run->trigger_unit)
			sim_fail(b->sim, "%s is started by a timer although timers are off", r->unit);
		s->timer = r->run->trigger_unit ? timer_of(b, r->run->trigger_unit) : NULL;
		s->version = s->timer ? s->timer->plan.version : 0;
		s->n_restored = b->n_restored;
		run_of(item(b, ITEM_SPAWN), r->unit, r->run);
	}
}

/* ---- judging ---- */

static const struct sim_expression *expression(const struct book_timer *t)
{
	return t->plan.expression >= 0 ? &sim_expressions[t->plan.expression] : NULL;
}

static bool is_moment(const struct book *b, const struct book_timer *t, usec_t at)
{
	return expression(t) && moment_last(expression(t), b->zone, at) == at;
}

/* Does it not come again? In 1970 moments come by the clock as it is, each time. */
static bool is_behind(const struct book *b, const struct book_timer *t, usec_t at)
{
	return is_moment(b, t, at) && (at <= sim_real(b->sim) || at >= SIM_EPOCH);
}

static usec_t floor_of(const struct book_timer *t)
{
	return usec_max(t->memory.since, usec_max(t->memory.vague, t->memory.forgotten));
}

static bool is_target_active(const struct book *b, const struct book_timer *t)
{
	return sim_is_unit_active(b->sim, b->service[t->plan.service].name);
}

static usec_t *find_skip(struct book_timer *t, usec_t at)
{
	for (unsigned i = 0; i < BOOK_SKIPS; i++)
		if (t->memory.skip[i] == at)
			return &t->memory.skip[i];
	return NULL;
}

static bool is_skipped(struct book_timer *t, usec_t at)
{
	return at > t->memory.vague && find_skip(t, at);
}

/* Eight stretches of the past are remembered apart. With more, a clock that is set back over the one that ends first
 * brings its moments again; so it does a moment that was skipped while nobody could act. */
static bool is_past_full(const struct book *b, const struct book_timer *t, usec_t *ret_first)
{
	struct supd_instance *self = b->sim->manager->host.instance;
	const struct entry *e = self ? names_find(&self->entries, t->name) : NULL;

	*ret_first = USEC_NEVER;
	for (unsigned i = 0; e && i < e->timer.memory.n_spent; i++)
		*ret_first = usec_min(*ret_first, e->timer.memory.spent[i].to);
	return e && e->timer.memory.n_spent == TIMER_SPENT_MAX;
}

static void past_is_forgotten(struct book *b, struct book_timer *t)
{
	usec_t first;

	if (is_past_full(b, t, &first))
		t->memory.forgotten = usec_max(t->memory.forgotten, first);
}

/* Before what an admin asks for has an answer: a refusal changes nothing. */
/* What is no moment in this zone is forgotten, and skipped no more should the zone come back. */
static void forget_skips(struct book *b, struct book_timer *t)
{
	for (unsigned i = 0; i < sizeof(t->memory.skip) / sizeof(t->memory.skip[0]); i++)
		if (expression(t) && is_pure(&t->plan) && t->memory.skip[i] && !is_moment(b, t, t->memory.skip[i]))
			t->memory.skip[i] = 0;
}

static void will_skip(struct book *b, bool on)
{
	struct book_timer *t = timer_of(b, b->command_timer);
	usec_t *have = find_skip(t, b->command_moment), *room = find_skip(t, 0);

	if (!t->is_active)
		return;
	if (have && !on)
		*have = 0;
	else if (!have && on && room)
		*room = b->command_moment;
}

/* It drops nothing that waits, and counts from its moment on. */
static void skipped(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	uint64_t n = 0;
	usec_t first;

	for (unsigned i = 0; i < BOOK_SKIPS; i++) {
		usec_t *skip = &t->memory.skip[i];

		if (*skip < r->first || *skip > r->scheduled || !is_moment(b, t, *skip))
			continue;
		fate_set(b, t, *skip, FATE_MISSED);
		*skip = 0;
		n++;
	}
	if (n < r->count)
		fail(b, t, "%llu is skipped, and nobody asked for it", SPANS(r->scheduled));
	if (is_past_full(b, t, &first) || !b->sim->manager->host.instance)
		t->memory.forgotten = usec_max(t->memory.forgotten, r->scheduled);
}

static void take_calendar(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	usec_t now = sim_real(b->sim), late = STEP + t->plan.delay;
	enum fate had;

	if (!is_moment(b, t, r->scheduled) && r->scheduled > t->memory.vague)
		fail(b, t, "ran for %llu, which is no moment", SPANS(r->scheduled));
	had = fate_of(t, r->scheduled);
	if ((had == FATE_RAN || (had != FATE_NONE && is_pure(&t->plan))) &&
	    r->scheduled > usec_max(t->memory.forgotten, t->memory.vague))
		fail(b, t, "moment %llu ran although it has a record", SPANS(r->scheduled));
	if (r->scheduled > now)
		fail(b, t, "ran before its moment");
	if (is_skipped(t, r->scheduled))
		fail(b, t, "%llu ran, although an admin had it skipped", SPANS(r->scheduled));
	if (now - r->scheduled > late && !happens(b, "reload"))
		fail(b, t, "ran as if in time for a moment %llu s ago", SPANS(now - r->scheduled));
	fate_set(b, t, r->scheduled, FATE_RAN);
}

static void take_catch_up(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	if (!t->plan.is_persistent && !happens(b, "reload"))
		fail(b, t, "made up for a moment although it is not persistent");
	if (t->waits_for != r->scheduled)
		fail(b, t, "made up for a moment that did not wait");
	if (t->memory.interrupted == r->scheduled) {
		t->memory.interrupted = 0;
		if (is_behind(b, t, r->scheduled))
			fate_set(b, t, r->scheduled, FATE_RAN);
		return;
	}
	if (r->scheduled <= floor_of(t) || (!is_pure(&t->plan) && !is_moment(b, t, r->scheduled)))
		return;
	fate_set(b, t, r->scheduled, FATE_RAN);
}

static bool is_unseen(const char *reason)
{
	return str_equal(reason, "downtime") || str_equal(reason, "late") || str_equal(reason, "clock-jump");
}

/* Moments of an interval that nobody saw are over; the next is a whole number of spans from where it began. Whether its
 * moment was late depends on the delay by chance, which nobody sees. */
static void interval_skips(const struct book *b, const struct book_timer *t, usec_t *anchor, usec_t span)
{
	usec_t now = b->sim->boot;

	if (*anchor == 0 || span == 0 || *anchor + span + STEP >= now)
		return;
	if (*anchor + span + t->plan.delay + STEP < now)
		*anchor += (now - *anchor) / span * span;
	else
		*anchor = 0;
}

/* A moment is to be made up for. It drops the ladder. */
static void will_catch_up(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	bool is_again = str_equal(r->reason, "interrupted") || str_equal(r->reason, "shutdown");
	usec_t now = sim_real(b->sim);

	if (!t->plan.is_persistent && !happens(b, "reload"))
		fail(b, t, "makes up for a moment although it is not persistent");
	if (now > r->scheduled && now - r->scheduled > t->plan.catch_up && !happens(b, "reload"))
		fail(b, t, "makes up for a moment %llu s ago", SPANS(now - r->scheduled));
	if (is_again && r->scheduled != t->memory.interrupted)
		fail(b, t, "makes up for a run that was not interrupted");
	if (!is_again && is_pure(&t->plan) && r->scheduled > floor_of(t)) {
		if (!is_moment(b, t, r->scheduled))
			fail(b, t, "makes up for %llu, which is no moment", SPANS(r->scheduled));
		if (fate_of(t, r->scheduled) != FATE_NONE && b->n_undo > 0)
			fail(b, t, "makes up for %llu, which has a record", SPANS(r->scheduled));
	}
	if (is_unseen(r->reason)) {
		interval_skips(b, t, &t->anchor_active, t->plan.unit_active);
		interval_skips(b, t, &t->anchor_inactive, t->plan.unit_inactive);
	}
	t->has_ladder = false;
	t->waits_for = r->scheduled;
	t->waits_since = b->sim->boot;
	t->waits_beside_run = false;
	snprintf(t->waits_reason, sizeof(t->waits_reason), "%s", r->reason);
}

static void take_retry(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	if (!t->has_ladder)
		fail(b, t, "a retry out of nowhere");
	if (r->attempt != t->ladder_attempt)
		fail(b, t, "attempt %llu, and not %llu", (unsigned long long) r->attempt,
		     (unsigned long long) t->ladder_attempt);
	if (b->sim->boot < t->ladder_at || (b->sim->boot > t->ladder_at && t->ladder_at > b->sim->thawed))
		fail(b, t, "a retry %lld us off its time", (long long) (b->sim->boot - t->ladder_at));
}

/* What comes once, counted from @base. */
static void take_once(struct book *b, struct book_timer *t, const struct sim_record *r, usec_t base, usec_t span)
{
	if (span == 0)
		fail(b, t, "ran by a trigger that it does not have");
	if (b->sim->boot < base + span || r->scheduled > sim_real(b->sim))
		fail(b, t, "ran before its moment");
}

/* The interval's moment: exactly its span after what it counts from. */
static void take_interval(struct book *b, struct book_timer *t, const struct sim_record *r, usec_t anchor, usec_t span)
{
	usec_t now = b->sim->boot, due = anchor + span;

	if (span == 0)
		fail(b, t, "ran by a trigger that it does not have");
	if (anchor == 0)
		return; /* from before anybody kept book */
	if (now < due || now - due > STEP + t->plan.delay)
		fail(b, t, "an interval %lld us off its time", (long long) (now - due));
	if (r->scheduled > sim_real(b->sim))
		fail(b, t, "ran before its moment");
}

static void taken(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	const char *cause = r->reason;

	if (t->is_taken && !t->is_taken_spawned)
		fail(b, t, "elapsed twice before it started");
	if (str_equal(cause, "calendar"))
		take_calendar(b, t, r);
	else if (str_equal(cause, "catch-up"))
		take_catch_up(b, t, r);
	else if (str_equal(cause, "retry"))
		take_retry(b, t, r);
	else if (str_equal(cause, "unit-active"))
		take_interval(b, t, r, t->anchor_active, t->plan.unit_active);
	else if (str_equal(cause, "unit-inactive"))
		take_interval(b, t, r, t->anchor_inactive, t->plan.unit_inactive);
	else if (str_equal(cause, "boot"))
		take_once(b, t, r, 0, t->plan.boot);
	else if (str_equal(cause, "active"))
		take_once(b, t, r, t->activated, t->plan.active);
	else if (str_equal(cause, "startup")) {
		take_once(b, t, r, b->born, t->plan.startup);
		if (t->memory.begun_up == b->life)
			fail(b, t, "the start-up's moment came twice");
		t->memory.begun_up = b->life;
	} else if (str_equal(cause, "manual") && (!happens(b, "trigger") || strcmp(b->command_timer, t->name) != 0))
		fail(b, t, "ran by hand, but nobody did");
	else if (str_equal(cause, "clock-change") && !happens(b, "clock jump"))
		fail(b, t, "a change of the clock that was none");
	if (!str_equal(cause, "retry") && r->attempt != 1)
		fail(b, t, "a first attempt with number %llu", (unsigned long long) r->attempt);
	t->has_ladder = false;
	t->is_taken = true;
	t->is_taken_spawned = false;
	if (!str_equal(cause, "retry"))
		t->waits_for = 0;
	snprintf(t->taken_cause, sizeof(t->taken_cause), "%s", cause);
	t->taken_scheduled = r->scheduled;
	t->taken_attempt = r->attempt;
	t->memory.is_open = true;
	t->memory.open_scheduled = r->scheduled;
	t->n_runs++;
}

static void not_started(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	const struct book_service *s = &b->service[t->plan.service];

	if ((str_equal(r->reason, "masked") && !s->was_masked) || (str_equal(r->reason, "disabled") && !s->was_disabled) ||
	    (str_equal(r->reason, "overlap") && !is_target_active(b, t)))
		fail(b, t, "missed %s, which is not so", r->reason);
	if (fate_of(t, r->scheduled) == FATE_RAN)
		fate_set(b, t, r->scheduled, FATE_MISSED);
	t->is_taken = t->memory.is_open = false;
	if (!str_equal(r->reason, "overlap"))
		t->anchor_active = t->anchor_inactive = 0;
}

/* The latest moment up to @m that has no record; 0: none behind the floor. */
static usec_t unrecorded(const struct book *b, const struct book_timer *t, usec_t m)
{
	while (m > floor_of(t) && fate_of(t, m) != FATE_NONE)
		m = moment_last(expression(t), b->zone, m - 1);
	return m > floor_of(t) ? m : 0;
}

/* Nobody saw them come: should the clock be set back before them, they come. */
static bool is_passed_over(const char *reason)
{
	return str_equal(reason, "downtime") || str_equal(reason, "clock-jump");
}

/* Other triggers' moments are among them: all that can be said is that none was left out. */
static void missed_among_others(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	usec_t m = moment_next(expression(t), b->zone, usec_max(usec_sub(r->first, 1), floor_of(t)));

	for (; m <= r->scheduled; m = moment_next(expression(t), b->zone, m))
		if (fate_of(t, m) == FATE_NONE)
			fate_set(b, t, m, is_passed_over(r->reason) ? FATE_PASSED : FATE_MISSED);
}

/* The @count latest moments up to @at that have no record get theirs. */
static void missed_moments(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	bool is_passed = is_passed_over(r->reason) || (str_equal(r->reason, "overlap") && t->waits_for == r->scheduled &&
						       is_passed_over(t->waits_reason));
	usec_t m = r->scheduled, *found = NULL;
	size_t n = 0, room = 0;

	if (!is_moment(b, t, m) || fate_of(t, m) != FATE_NONE)
		fail(b, t, "missed %s: %llu is no moment without a record", r->reason, SPANS(m));
	while (n < r->count && (m = unrecorded(b, t, m)) != 0) {
		if (n == room) {
			room = room * 2 + 16;
			found = reallocarray(found, room, sizeof(*found));
		}
		found[n++] = m--;
		m = moment_last(expression(t), b->zone, m);
	}
	if (n < r->count && t->memory.vague < t->memory.since && t->memory.forgotten < r->first)
		fail(b, t, "missed %llu of only %llu moments", (unsigned long long) r->count, (unsigned long long) n);
	while (n-- > 0)
		fate_set(b, t, found[n], is_passed ? FATE_PASSED : FATE_MISSED);
	free(found);
}

static void reason_is_true(struct book *b, struct book_timer *t, const struct sim_record *r, bool is_waiting)
{
	usec_t now = sim_real(b->sim);

	if (happens(b, "boot") || happens(b, "resume") || happens(b, "gate on"))
		is_waiting = true; /* in the life before */
	if (t->memory.kept && r->scheduled >= SIM_EPOCH)
		is_waiting = true; /* since before nobody knew what time it was */
	if (str_equal(r->reason, "overlap") && !is_waiting && !is_target_active(b, t) && !t->memory.is_open)
		fail(b, t, "an overlap with nothing");
	if (str_equal(r->reason, "late") && r->count == 1 && !is_waiting && now - r->scheduled <= STEP &&
	    moment_next(expression(t), b->zone, r->scheduled) > now)
		fail(b, t, "missed as late, and was not");
	if (str_equal(r->reason, "clock-jump") && !happens(b, "clock jump") && !is_waiting)
		fail(b, t, "a jump of the clock that was none");
	if (str_equal(r->reason, "downtime") && !is_waiting && b->was_running && !happens(b, "reload") &&
	    !happens(b, "clock jump") && !happens(b, "wake real"))
		fail(b, t, "downtime in the middle of life");
}

/* What was taken goes on: the target was not refused. */
static bool is_accepted(const struct book *b, const struct book_timer *t)
{
	const struct unit *u = b->sim->manager ? manager_unit(b->sim->manager, b->service[t->plan.service].name) : NULL;

	return u && u->run && u->run->ended_boot == 0 && u->run->trigger_unit && str_equal(u->run->trigger_unit, t->name) &&
	       u->run->scheduled_real == t->taken_scheduled;
}

/* Of several that were due at one moment all but one are overlaps; the target is asked when that has been written. */
static bool may_be_answer(const struct book *b, const struct sim_record *r)
{
	return str_equal(r->reason, "shutdown") || (!b->is_before_write && !b->sim->is_dead);
}

/* The answer to what was taken comes behind whatever else was due at that moment. */
static bool is_last_miss(const struct book *b, const struct sim_record *r)
{
	for (size_t i = 0; i < b->n_items; i++) {
		const struct book_item *later = &b->item[i];

		if (later->kind == ITEM_RECORD && &later->record > r && str_equal(later->record.type, "missed") &&
		    str_equal(later->record.unit, r->unit) && later->record.scheduled == r->scheduled)
			return false;
	}
	return true;
}

static void missed(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	bool is_first = t->is_taken && !t->is_taken_spawned && r->count == 1 && r->scheduled == t->taken_scheduled &&
			(is_pure(&t->plan) || may_be_answer(b, r)) && !is_accepted(b, t) && is_last_miss(b, r);
	bool is_waiting = t->waits_for == r->scheduled;

	t->n_missed += r->count;
	if (is_unseen(r->reason)) {
		interval_skips(b, t, &t->anchor_active, t->plan.unit_active);
		interval_skips(b, t, &t->anchor_inactive, t->plan.unit_inactive);
	}
	if (str_equal(r->reason, "skipped-by-admin")) {
		skipped(b, t, r);
		return;
	}
	if (str_equal(r->reason, "interrupted")) {
		if (!t->memory.is_open || r->scheduled != t->memory.open_scheduled)
			fail(b, t, "a run was interrupted that was not open");
		t->memory.interrupted = r->scheduled;
		t->memory.is_open = false;
	} else if ((str_equal(r->reason, "shutdown") || str_equal(r->reason, "overlap")) && r->count == 1 && !is_first &&
		   t->memory.interrupted != 0 && r->scheduled == t->memory.interrupted) {
		t->memory.interrupted = 0;
		if (is_behind(b, t, r->scheduled))
			fate_set(b, t, r->scheduled, FATE_MISSED);
	} else if (is_first && !str_equal(r->reason, "late")) {
		not_started(b, t, r);
	} else if (t->has_ladder && str_equal(r->reason, "overlap") && b->sim->boot >= t->ladder_at && r->count == 1 &&
		   r->scheduled == sim_real(b->sim) - (b->sim->boot - t->ladder_at)) {
		if (!is_target_active(b, t))
			fail(b, t, "a rung overlaps with nothing");
		t->has_ladder = false;
	} else if (expression(t) && is_pure(&t->plan) && r->scheduled > floor_of(t)) {
		reason_is_true(b, t, r, is_waiting);
		missed_moments(b, t, r);
	} else if (expression(t)) {
		missed_among_others(b, t, r);
	}
	/* A moment that came drops the ladder. One that nobody saw does, too, if it is to be made up for; that is said. */
	if (!is_unseen(r->reason) && !str_equal(r->reason, "interrupted") && !is_first && !is_waiting)
		t->has_ladder = false;
	if (str_equal(r->reason, t->waits_reason) && r->first <= t->waits_for && t->waits_for <= r->scheduled)
		is_waiting = true; /* one among others */
	if (is_waiting || (fate_of(t, t->waits_for) != FATE_NONE && !str_equal(t->waits_reason, "interrupted")))
		t->waits_for = 0;
}

static void ladder_said(struct book *b, struct book_timer *t, const struct sim_record *r)
{
	t->ladder_said = true;
	t->said_attempt = r->attempt;
	t->ladder_in = r->in;
	if (!t->memory.is_open)
		fail(b, t, "a retry of no run");
	if (t->is_taken)
		return; /* its end is told next */
	/* It ended while nobody listened: the ladder begins now. */
	t->ladder_said = t->memory.is_open = false;
	t->has_ladder = true;
	t->ladder_at = b->sim->boot + r->in;
	t->ladder_attempt = r->attempt + 1;
}

static bool is_retried(const struct plan *p, int result)
{
	return result == RUN_RESULT_EXIT_CODE || result == RUN_RESULT_RESOURCES ||
	       (p->retries_signals && (result == RUN_RESULT_SIGNAL || result == RUN_RESULT_CORE_DUMP));
}

static void own_run_ended(struct book *b, struct book_timer *t, const struct book_item *i)
{
	bool expected = b->was_running && t->is_active && t->plan.is_enabled && is_retried(&t->plan, i->result) &&
			i->attempt <= t->plan.n_ladder;

	if (!b->was_running)
		return; /* nobody listens; the memory keeps it open */
	if (expected != t->ladder_said)
		fail(b, t, "a run ended as %d at attempt %llu, and %s retry", i->result, (unsigned long long) i->attempt,
		     expected ? "no" : "a");
	if (expected && (t->ladder_in != t->plan.ladder[i->attempt - 1] || t->said_attempt != i->attempt))
		fail(b, t, "rung %llu is %llu s", (unsigned long long) i->attempt, SPANS(t->ladder_in));
	t->has_ladder = expected;
	t->ladder_at = b->sim->boot + t->ladder_in;
	t->ladder_attempt = i->attempt + 1;
	t->is_taken = t->memory.is_open = false;
	t->memory.scheduled = i->scheduled;
}

/* And none of those before, of a target that it had then. */
static bool is_taken_run(const struct book_timer *t, const struct book_item *i)
{
	return t->is_taken && strcmp(t->taken_cause, i->cause) == 0 && t->taken_attempt == i->attempt &&
	       t->taken_scheduled == i->scheduled;
}

static void run_ended(struct book *b, const struct book_item *i)
{
	for (unsigned k = 0; k < BOOK_TIMERS; k++) {
		struct book_timer *t = &b->timer[k];
		bool is_own = strcmp(t->name, i->trigger) == 0 && is_taken_run(t, i);
		bool is_retry = is_own && str_equal(i->cause, "retry");

		if (is_own)
			own_run_ended(b, t, i);
		else if (strcmp(b->service[t->plan.service].name, i->unit) != 0 || !t->is_active)
			continue;
		t->ladder_said = false;
		if (!is_own || !t->has_ladder)
			t->anchor_active = b->sim->boot;
		if (!is_retry)
			t->anchor_inactive = b->sim->boot;
		else if (t->anchor_inactive && t->anchor_inactive + t->plan.unit_inactive <= b->sim->boot)
			t->anchor_inactive = 0; /* its moment fell into the retry */
	}
}

static void became_inactive(struct book *b, const struct book_item *i)
{
	for (unsigned k = 0; k < BOOK_TIMERS; k++)
		if (strcmp(b->service[b->timer[k].plan.service].name, i->unit) == 0)
			b->timer[k].anchor_active = b->timer[k].anchor_inactive = 0;
}

static void spawned(struct book *b, const struct book_item *i)
{
	struct book_timer *t = timer_of(b, i->trigger);

	if (!t)
		return;
	if (!is_taken_run(t, i) || t->is_taken_spawned)
		fail(b, t, "%s is started, but it did not elapse so", i->unit);
	t->is_taken_spawned = true;
	t->memory.scheduled = i->scheduled;
}

static void settle_at(struct book_timer *t, usec_t now)
{
	t->memory.line = now;
	t->memory.peak = usec_max(t->memory.peak, now);
}

static void judge(struct book *b)
{
	for (size_t k = 0; k < b->n_items; k++) {
		const struct book_item *i = &b->item[k];
		struct book_timer *t = i->kind == ITEM_RECORD ? timer_of(b, i->record.unit) : NULL;

		if (i->kind == ITEM_SPAWN)
			spawned(b, i);
		else if (i->kind == ITEM_END)
			run_ended(b, i);
		else if (i->kind == ITEM_INACTIVE)
			became_inactive(b, i);
		else if (!t)
			continue;
		else if (str_equal(i->record.type, "elapsed"))
			taken(b, t, &i->record);
		else if (str_equal(i->record.type, "missed"))
			missed(b, t, &i->record);
		else if (str_equal(i->record.type, "retry"))
			ladder_said(b, t, &i->record);
		else if (str_equal(i->record.type, "catch-up"))
			will_catch_up(b, t, &i->record);
		if (t)
			settle_at(t, sim_real(b->sim));
		b->n_records++;
	}
}

/* ---- what an event means before anything is judged ---- */

static void begin_unbelieved(struct book *b, struct book_timer *t, usec_t now)
{
	struct book_memory *m = &t->memory;

	if (m->kept == 0 && m->since >= SIM_EPOCH) {
		m->kept = m->since;
		m->kept_line = m->line;
	}
	m->since = now;
	/* In 1970 moments come by the clock as it is, each time. */
	while (t->n_fates > 0 && t->fate[0].at < SIM_EPOCH)
		fate_set(b, t, t->fate[0].at, FATE_NONE);
}

static void begin_believed(struct book *b, struct book_timer *t, usec_t now, bool is_jump)
{
	struct book_memory *m = &t->memory;
	usec_t line = m->kept ? m->kept_line : m->line;
	bool is_set_back = is_jump && !m->kept;

	if (m->kept)
		m->since = m->kept;
	if (m->since < SIM_EPOCH)
		m->since = 0;
	m->kept = 0;
	if (m->since == 0)
		fates_ahead(b, t, now, true); /* what was passed over comes, now that somebody schedules it */
	else if (line > now && line >= SIM_EPOCH)
		fates_ahead(b, t, now, is_set_back || line - now <= USEC_PER_DAY);
	m->since = m->since ? usec_min(m->since, now) : now;
}

/* Its run went on while nobody listened. */
static void still_runs(struct book *b, struct book_timer *t)
{
	const struct unit *u = manager_unit(b->sim->manager, b->service[t->plan.service].name);

	if (!t->memory.is_open || !u || !u->run || u->run->ended_boot != 0 || !u->run->trigger_unit ||
	    !str_equal(u->run->trigger_unit, t->name))
		return;
	t->is_taken = t->is_taken_spawned = true;
	snprintf(t->taken_cause, sizeof(t->taken_cause), "%.23s", u->run->cause);
	t->taken_attempt = u->run->attempt;
	t->taken_scheduled = u->run->scheduled_real;
}

/* The record of a timer that has been gone for longer than a day is forgotten. */
static void gone_is_forgotten(struct book *b, struct book_timer *t)
{
	usec_t now = sim_real(b->sim);

	if (t->memory.gone_since == 0 || now < SIM_EPOCH || usec_sub(now, t->memory.gone_since) <= DAY)
		return;
	while (t->n_fates > 0)
		fate_set(b, t, t->fate[t->n_fates - 1].at, FATE_NONE);
	t->memory = (struct book_memory) { 0 };
}

static void gone_are_dated(struct book *b)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		if (t->plan.exists)
			continue;
		if (t->memory.gone_since == 0 && sim_real(b->sim) >= SIM_EPOCH)
			t->memory.gone_since = sim_real(b->sim);
		gone_is_forgotten(b, t);
	}
}

static void timer_begins(struct book *b, struct book_timer *t)
{
	usec_t now = sim_real(b->sim);

	life_begins(t);
	t->memory.gone_since = 0;
	if (t->memory.version != t->plan.version || t->memory.zone != b->zone)
		t->memory.vague = usec_max(t->memory.vague, usec_max(now, t->memory.peak));
	t->memory.version = t->plan.version;
	t->memory.zone = b->zone;
	still_runs(b, t);
	if (t->memory.is_open)
		t->memory.scheduled = t->memory.open_scheduled; /* it is known to have begun */
	t->is_active = t->plan.is_enabled;
	if (!t->is_active) {
		t->memory.since = t->memory.kept = 0;
		return;
	}
	forget_skips(b, t);
	if (t->activated_life != b->life) {
		t->activated = b->sim->boot;
		t->activated_life = b->life;
	}
	if (now < SIM_EPOCH)
		begin_unbelieved(b, t, now);
	else
		begin_believed(b, t, now, false);
	settle_at(t, now);
	/* A run that was open is still there, or ended in this life while nobody listened; judged by the records. */
}

static void plan_applied(struct book *b, struct book_timer *t)
{
	usec_t now = sim_real(b->sim);

	t->memory.vague = usec_max(t->memory.vague, usec_max(now, t->memory.peak));
	t->plan = t->file;
	t->memory.version = t->plan.version;
	t->memory.begun_up = 0;
	if (t->plan.is_bad)
		t->plan.exists = false;
}

/* A changed spec: the new one has no past. */
static void timer_changed(struct book *b, struct book_timer *t)
{
	usec_t now = sim_real(b->sim);
	bool was_active = t->is_active;

	plan_applied(b, t);
	t->is_active = t->plan.is_enabled;
	t->has_ladder = t->ladder_said = false;
	t->waits_for = 0;
	t->anchor_active = t->anchor_inactive = 0;
	t->activated = b->sim->boot;
	t->activated_life = b->life;
	if (t->is_active && !was_active)
		fates_ahead(b, t, now, true);
	if (!t->is_active)
		t->memory.since = t->memory.kept = 0;
	else
		t->memory.since = was_active && t->memory.since ? t->memory.since : now;
	t->memory.kept = 0;
	settle_at(t, now);
}

static void services_applied(struct book *b)
{
	for (unsigned i = 0; i < BOOK_SERVICES; i++) {
		b->service[i].was_masked = b->service[i].is_masked;
		b->service[i].was_disabled = b->service[i].is_disabled;
	}
}

static bool is_changed(const struct book_timer *t)
{
	return t->plan.version != t->file.version;
}

static void files_at_boot(struct book *b)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		if (is_changed(&b->timer[i]))
			plan_applied(b, &b->timer[i]);
}

/* But for the file: words alone change nothing. */
static bool plan_is_same(const struct plan *a, const struct plan *b)
{
	for (unsigned i = 0; i < a->n_ladder; i++)
		if (i >= b->n_ladder || a->ladder[i] != b->ladder[i])
			return false;
	return a->n_ladder == b->n_ladder && a->exists == b->exists && a->is_bad == b->is_bad &&
	       a->is_enabled == b->is_enabled && a->is_persistent == b->is_persistent &&
	       a->on_clock_change == b->on_clock_change && a->expression == b->expression &&
	       a->startup == b->startup && a->boot == b->boot && a->active == b->active &&
	       a->unit_active == b->unit_active && a->unit_inactive == b->unit_inactive && a->catch_up == b->catch_up &&
	       a->delay == b->delay && a->service == b->service && a->retries_signals == b->retries_signals;
}

/* Those that were not there begin, and say so by their new rules. */
static void files_that_begin(struct book *b)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		if (!is_changed(t) || t->plan.exists)
			continue;
		plan_applied(b, t);
		if (t->plan.exists)
			timer_begins(b, t);
	}
}

/* What was taken and did not start is made up for at the next beginning. */
static void timer_ends(struct book *b, struct book_timer *t)
{
	if (t->is_taken && !t->is_taken_spawned) {
		if (fate_of(t, t->taken_scheduled) == FATE_RAN)
			fate_set(b, t, t->taken_scheduled, FATE_NONE);
		t->memory.interrupted = t->taken_scheduled;
		t->memory.is_open = false;
	}
	t->is_active = false;
}

/* What the others say in a reload is by their old rules: what is due is due by them. */
static void files_that_change(struct book *b)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		if (!is_changed(t))
			continue;
		if (plan_is_same(&t->plan, &t->file)) {
			t->plan = t->file;
			t->memory.version = t->plan.version;
			continue;
		}
		if (t->file.exists && !t->file.is_bad) {
			timer_changed(b, t);
			continue;
		}
		timer_ends(b, t);
		plan_applied(b, t);
		t->is_taken = t->has_ladder = false;
	}
}

/* A moment that was to be made up for lies ahead again, or nobody knows where, or too far behind. */
static bool is_off(const struct book *b, const struct book_timer *t)
{
	usec_t now = sim_real(b->sim);

	if (now < SIM_EPOCH && t->waits_for >= SIM_EPOCH)
		return true;
	if (str_equal(t->waits_reason, "interrupted") && usec_sub(now, t->waits_for) > t->plan.catch_up)
		return true; /* it is on record already */
	if (now < SIM_EPOCH && str_equal(t->waits_reason, "late"))
		return t->waits_for > now && is_moment(b, t, t->waits_for); /* nothing is spent in 1970 */
	return t->waits_for > now && is_passed_over(t->waits_reason) && is_moment(b, t, t->waits_for);
}

static void clock_jumped(struct book *b)
{
	usec_t now = sim_real(b->sim), was = (usec_t) ((int64_t) now - b->sim->last_step);

	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		if (!t->is_active || (now > was ? now - was : was - now) <= STEP)
			continue;
		if (now < SIM_EPOCH)
			begin_unbelieved(b, t, now);
		else
			begin_believed(b, t, now, true);
		if (is_off(b, t))
			t->waits_for = 0;
		settle_at(t, now);
	}
}

static void zone_changed(struct book *b)
{
	usec_t now = sim_real(b->sim);

	b->zone = b->sim->zone;
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		t->memory.vague = usec_max(t->memory.vague, usec_max(now, t->memory.peak));
		t->memory.zone = b->zone;
		if (b->was_running)
			settle_at(t, now);
		if (b->was_running && t->is_active)
			forget_skips(b, t);
	}
}

static void was_reset(struct book *b)
{
	struct book_timer *t = timer_of(b, b->command_timer);
	usec_t now = sim_real(b->sim);
	struct book_memory was;

	if (!t || !t->is_active)
		return;
	was = t->memory;
	while (t->n_fates > 0)
		fate_set(b, t, t->fate[t->n_fates - 1].at, FATE_NONE);
	t->memory = (struct book_memory) {
		.since = now, .is_open = was.is_open, .open_scheduled = was.open_scheduled,
		.version = t->plan.version, .zone = b->zone,
	};
	memcpy(t->memory.skip, was.skip, sizeof(was.skip)); /* of the future */
	t->has_ladder = false;
	t->waits_for = 0;
	t->anchor_active = t->anchor_inactive = 0;
	t->activated = b->sim->boot;
	t->activated_life = b->life;
	settle_at(t, now);
}

static void life_ends(struct book *b)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		timer_ends(b, &b->timer[i]);
}

static void life_may_begin(struct book *b, bool is_midway)
{
	if (!b->was_restored || (!is_midway && !sim_is_running(b->sim)))
		return;
	b->was_restored = false;
	b->has_begun = true;
	if (b->zone != b->sim->zone)
		zone_changed(b);
	files_at_boot(b);
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		gone_is_forgotten(b, &b->timer[i]);
		if (b->timer[i].plan.exists)
			timer_begins(b, &b->timer[i]);
	}
	gone_are_dated(b);
}

static bool is_reloaded(const struct book *b)
{
	return happens(b, "reload") && b->sim->result == 0 && b->was_running;
}

static void prepare(struct book *b, bool is_midway)
{
	if (b->is_prepared)
		return;
	b->is_prepared = true;
	if (happens(b, "boot") || (happens(b, "reload") && b->sim->result == 0))
		services_applied(b);
	if (is_reloaded(b))
		files_that_begin(b);
	if (happens(b, "clock jump") && b->was_running)
		clock_jumped(b);
	if (happens(b, "zone change") && b->was_running)
		zone_changed(b);
	if (happens(b, "reset") && b->was_running)
		was_reset(b);
	if ((happens(b, "skip") || happens(b, "unskip")) && b->was_running)
		will_skip(b, happens(b, "skip"));
	life_may_begin(b, is_midway);
}

static void process(struct book *b, bool is_midway)
{
	prepare(b, is_midway);
	if (is_midway)
		note_ends(b);
	b->is_before_write = is_midway;
	judge(b);
	b->n_items = 0;
	if (is_reloaded(b)) {
		files_that_change(b);
		gone_are_dated(b);
	}
	if (is_midway && (happens(b, "pause") || happens(b, "gate off") || happens(b, "shutdown")))
		life_ends(b);
}

/* ---- what must be so after each event ---- */

/* Up to here moments have come: those behind wait out a delay. A jump and a beginning leave none waiting. */
static usec_t come_by(const struct book *b, const struct book_timer *t)
{
	int64_t step = b->sim->last_step;

	if ((happens(b, "clock jump") && (step > (int64_t) STEP || step < -(int64_t) STEP)) || b->has_begun)
		return sim_real(b->sim);
	return usec_sub(sim_real(b->sim), t->plan.delay);
}

/* Every moment up to now has its record, but for the one that is to be made up for. */
static void moments_have_records(struct book *b, struct book_timer *t)
{
	const struct sim_expression *e = expression(t);
	usec_t until = come_by(b, t), m;
	unsigned settled = 0;

	if (!e || until <= floor_of(t))
		return;
	for (m = moment_last(e, b->zone, until); m > floor_of(t) && settled < 4; m = moment_last(e, b->zone, m - 1))
		if (fate_of(t, m) != FATE_NONE)
			settled++;
		else if (m != t->waits_for)
			fail(b, t, "moment %llu has no record", SPANS(m));
}

/* An interrupted run, being on record already, is dropped for an overlap without a word. */
static void nothing_waits_for_long(struct book *b, struct book_timer *t)
{
	t->waits_beside_run |= is_target_active(b, t);
	if ((str_equal(t->waits_reason, "interrupted") && t->waits_beside_run) || t->waits_for <= t->memory.forgotten)
		return;
	if (t->waits_for != 0 && t->waits_since >= b->sim->thawed && b->sim->boot - t->waits_since > SPREAD)
		fail(b, t, "moment %llu is to be made up for since %llu, and waits", SPANS(t->waits_for),
		     SPANS(t->waits_since));
}

static void no_interval_is_silent(struct book *b, struct book_timer *t)
{
	struct entry *e;

	if (!t->plan.unit_active && !t->plan.unit_inactive)
		return;
	e = names_find(&b->sim->manager->host.instance->entries, t->name);
	if (!e || e->timer.phase != TIMER_IDLE || e->timer.is_target_active)
		return;
	if ((t->plan.unit_active && e->timer.memory.anchor_active.real == 0) ||
	    (t->plan.unit_inactive && e->timer.memory.anchor_inactive.real == 0))
		return;
	if (e->timer.wake_boot == USEC_NEVER)
		fail(b, t, "its interval has fallen silent");
}

static void alarms_match(struct book *b)
{
	struct manager *m = b->sim->manager;
	struct supd_instance *i = m->host.instance;
	usec_t real = USEC_NEVER, boot = heap_when(&m->deadlines);
	struct entry *e;

	if (i) {
		boot = usec_min(boot, i->save_at);
		for (size_t k = 0; (e = entry_nth(i, k)); k++) {
			if (!e->is_running)
				continue;
			real = usec_min(real, e->timer.wake_real);
			boot = usec_min(boot, e->timer.wake_boot);
		}
	}
	if (b->sim->armed[SUPD_CLOCK_REALTIME] != real || b->sim->armed[SUPD_CLOCK_BOOTTIME] != boot)
		sim_fail(b->sim, "the alarms are not those of the timers");
}

static void no_storm(struct book *b)
{
	uint64_t hour = b->sim->boot / USEC_PER_HOUR + 1;

	if (hour != b->hour) {
		b->hour = hour;
		b->hour_wakes = b->sim->n_wakes;
		b->hour_records = b->n_records;
	}
	if (b->sim->is_disk_full || (sim_is_running(b->sim) && b->sim->manager->host.instance->failing_since))
		b->hour = 0; /* it is tried again every ten seconds */
	if (b->sim->n_wakes - b->hour_wakes > 60 + 6 * (b->n_records - b->hour_records))
		sim_fail(b->sim, "%llu wakes in an hour, for %llu records", (unsigned long long) (b->sim->n_wakes - b->hour_wakes),
			 (unsigned long long) (b->n_records - b->hour_records));
}

static void check(struct book *b)
{
	bool is_settled = sim_is_settled(b->sim);

	no_storm(b);
	alarms_match(b);
	if (!sim_is_running(b->sim))
		return;
	for (unsigned i = 0; i < BOOK_TIMERS; i++) {
		struct book_timer *t = &b->timer[i];

		if (!t->is_active)
			continue;
		t->memory.peak = usec_max(t->memory.peak, sim_real(b->sim));
		past_is_forgotten(b, t);
		if (!is_settled)
			continue;
		moments_have_records(b, t);
		nothing_waits_for_long(b, t);
		no_interval_is_silent(b, t);
		if (t->has_ladder && t->ladder_at <= b->sim->boot)
			fail(b, t, "a retry did not come");
	}
}

static void after(struct sim *s, void *data)
{
	struct book *b = data;

	process(b, false);
	b->is_prepared = false;
	if (b->was_running && !sim_is_running(s))
		life_ends(b);
	b->was_running = sim_is_running(s);
	if (s->manager)
		check(b);
	b->has_begun = false;
}

void book_open(struct book *b, struct sim *s)
{
	*b = (struct book) { .sim = s };
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		snprintf(b->timer[i].name, sizeof(b->timer[i].name), "t%u.timer", i);
	for (unsigned i = 0; i < BOOK_SERVICES; i++)
		snprintf(b->service[i].name, sizeof(b->service[i].name), "s%u.service", i);
	s->watcher = (struct sim_watcher) {
		.data = b, .record = on_record, .spawned = on_spawned, .executed = on_executed, .settled = on_settled, .mark = on_mark,
		.restored = on_restored,
	};
	s->after = after;
	s->after_data = b;
}

void book_crashed(struct book *b)
{
	b->n_items = 0;
	b->is_prepared = b->was_running = false;
	for (unsigned i = 0; i < BOOK_SERVICES; i++)
		b->service[i].is_up = false;
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		b->timer[i].is_active = b->timer[i].is_taken = false;
}

void book_close(struct book *b)
{
	for (unsigned i = 0; i < BOOK_TIMERS; i++)
		free(b->timer[i].fate);
	free(b->undo);
}
