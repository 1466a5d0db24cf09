/* SPDX-License-Identifier: MIT */
/* The timer plugin: the border of supd-plugin.h on one side, the rules of fsm.h on the other. It
 * turns the host's events into steps, and the steps' effects into calls. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "timer/instance.h"
#include "timer/timestamp.h"
#include "timer/zone_load.h"

/* Catch-ups of one moment are at most this far apart. */
#define SPREAD_GAP_MAX (2 * USEC_PER_SEC)

void timer_log(struct supd_instance *self, enum supd_log_level level, const char *unit,
	       const char *fmt, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	self->host->log(self->host->ctx, level, unit, message);
}

void timer_tell(struct supd_instance *self, const char *type, const char *unit,
		const struct supd_field *field, size_t n)
{
	const struct supd_row row = { .field = field, .n = n };

	self->host->event(self->host->ctx, type, unit, &row);
}

/* ---- effects ---- */

struct timer_context entry_context(const struct supd_instance *self, const struct entry *e)
{
	return (struct timer_context) {
		.spec = &e->config->spec,
		.local = zone_cache_local(self->zones),
		.bases = self->bases,
		.clock_epoch = self->info.clock_epoch,
	};
}

static enum miss_reason reason_of(int error)
{
	switch (error) {
	case -EALREADY:
		return MISS_OVERLAP;
	case -EPERM:
		return MISS_MASKED;
	case -EACCES:
		return MISS_DISABLED;
	case -ESHUTDOWN:
		return MISS_SHUTDOWN;
	case -ENOENT:
	case -ENOEXEC:
		return MISS_TARGET;
	}
	return MISS_RESOURCES;
}

/* Asks for the target. If it is refused, @ret is the event that says so. */
static bool start_target(struct supd_instance *self, struct entry *e, const struct supd_now *now,
			 struct timer_event *ret)
{
	const struct open_run *open = &e->timer.memory.open;
	struct supd_cause cause = {
		.size = sizeof(cause),
		.kind = open->cause,
		.trigger_unit = e->name,
		.attempt = open->attempt,
		.scheduled_real = open->scheduled,
		.scheduled_boot = usec_sub(now->boot, usec_sub(now->real, open->scheduled)),
		.triggered_real = now->real,
		.triggered_boot = now->boot,
	};
	int r;

	memcpy(cause.run_id, open->run_id, sizeof(cause.run_id));
	r = self->host->start_after(self->host->ctx, e->config->spec.unit, &cause,
				    self->start_after);
	if (r >= 0)
		return false;
	*ret = (struct timer_event) { .kind = TIMER_REFUSED, .now = *now, .refused = reason_of(r) };
	return true;
}

static void say_missed(struct supd_instance *self, struct entry *e, const struct timer_effect *fx)
{
	const char *reason = miss_reason_to_string(fx->reason), *dst = plan_dst(self, e, fx->at);
	const struct supd_field field[] = {
		{ .key = "reason", .type = SUPD_STRING, .value.string = reason },
		{ .key = "scheduled", .type = SUPD_TIMESTAMP, .value.usec = fx->at },
		{ .key = "first", .type = SUPD_TIMESTAMP, .value.usec = fx->first },
		{ .key = "count", .type = SUPD_NUMBER, .value.number = (int64_t) fx->count },
		{ .key = "dst", .type = dst ? SUPD_STRING : SUPD_NULL, .value.string = dst },
		{ .key = "activates", .type = SUPD_STRING, .value.string = e->config->spec.unit },
	};

	timer_tell(self, "missed", e->name, field, ELEMENTS(field));
}

static void say_interrupted(struct supd_instance *self, struct entry *e, const struct open_run *run)
{
	char id[2 * SUPD_RUN_ID_BYTES + 1];
	const struct supd_field field[] = {
		{ .key = "run_id", .type = SUPD_STRING, .value.string = id },
		{ .key = "cause", .type = SUPD_STRING, .value.string = run->cause },
		{ .key = "scheduled", .type = SUPD_TIMESTAMP, .value.usec = run->scheduled },
		{ .key = "attempt", .type = SUPD_NUMBER, .value.number = run->attempt },
		{ .key = "taken", .type = SUPD_TIMESTAMP, .value.usec = run->taken.real },
		{ .key = "activates", .type = SUPD_STRING, .value.string = e->config->spec.unit },
	};

	text_hex16(run->run_id, id);
	timer_tell(self, "interrupted", e->name, field, ELEMENTS(field));
}

static void say_retry(struct supd_instance *self, struct entry *e, const struct supd_now *now)
{
	const struct timer *t = &e->timer;
	const struct supd_field field[] = {
		{ .key = "attempt", .type = SUPD_NUMBER, .value.number = t->attempt },
		{ .key = "of", .type = SUPD_NUMBER, .value.number = e->config->spec.n_retries },
		{ .key = "in", .type = SUPD_SPAN, .value.usec = usec_sub(t->retry_at, now->boot) },
	};

	timer_tell(self, "retry", e->name, field, ELEMENTS(field));
}

static void say_elapsed(struct supd_instance *self, struct entry *e)
{
	const struct open_run *open = &e->timer.memory.open;
	const char *dst = str_equal(open->cause, "retry") ? NULL
							  : plan_dst(self, e, open->scheduled);
	const struct supd_field field[] = {
		{ .key = "cause", .type = SUPD_STRING, .value.string = open->cause },
		{ .key = "scheduled", .type = SUPD_TIMESTAMP, .value.usec = open->scheduled },
		{ .key = "attempt", .type = SUPD_NUMBER, .value.number = open->attempt },
		{ .key = "dst", .type = dst ? SUPD_STRING : SUPD_NULL, .value.string = dst },
	};

	timer_tell(self, "elapsed", e->name, field, ELEMENTS(field));
}

/* A moment that was missed has begun to wait for being made up for. */
static void say_catch_up(struct supd_instance *self, struct entry *e)
{
	const struct waiting *w = &e->timer.memory.waiting;
	const struct supd_field field[] = {
		{ .key = "scheduled", .type = SUPD_TIMESTAMP, .value.usec = w->scheduled },
		{ .key = "reason",
		  .type = SUPD_STRING,
		  .value.string = miss_reason_to_string(w->reason) },
	};

	timer_tell(self, "catch-up", e->name, field, ELEMENTS(field));
}

/* True: @ret is another event for this timer, to be stepped at once. */
static bool effect_do(struct supd_instance *self, struct entry *e, const struct supd_now *now,
		      const struct timer_effect *fx, struct timer_event *ret)
{
	switch (fx->kind) {
	case TFX_INTENT:
		persist_intent(self, e);
		recent_taken(&e->recent, &e->timer.memory.open);
		say_elapsed(self, e);
		break;
	case TFX_START:
		return start_target(self, e, now, ret);
	case TFX_SAVE:
		persist_changed(self);
		break;
	case TFX_MISSED:
		recent_missed(&e->recent, fx->reason, fx->at, fx->count);
		say_missed(self, e, fx);
		break;
	case TFX_ENDED:
		/* The host logs it. */
		recent_ended(e->recent, &e->timer.memory);
		break;
	case TFX_RETRY:
		say_retry(self, e, now);
		break;
	case TFX_INTERRUPTED:
		say_interrupted(self, e, &fx->run);
		break;
	case TFX_FUTURE:
		timer_log(self, SUPD_LOG_WARNING, e->name,
			  "its record is from the future, and is not believed: was the "
			  "clock set back?");
		break;
	}
	return false;
}

/* ---- steps ---- */

static void draw(struct supd_instance *self, struct entry *e, struct timer_event *ev)
{
	const struct timer_spec *spec = &e->config->spec;

	if (spec->randomized_delay == 0)
		ev->random = 0;
	else if (spec->fixed_random_delay)
		ev->random = text_hash(text_hash(TEXT_HASH_INIT, e->name, strlen(e->name)),
				       self->info.machine_id, sizeof(self->info.machine_id));
	else
		ev->random = self->host->random(self->host->ctx);
	for (unsigned i = 0; i < SUPD_RUN_ID_BYTES; i += sizeof(uint64_t)) {
		uint64_t x = self->host->random(self->host->ctx);

		memcpy(ev->run_id + i, &x, sizeof(x));
	}
	ev->run_id[6] = (uint8_t) ((ev->run_id[6] & 0x0f) | 0x40); /* version 4, as RFC 9562 */
	ev->run_id[8] = (uint8_t) ((ev->run_id[8] & 0x3f) | 0x80);
}

static bool may_begin_run(enum timer_event_kind kind)
{
	return kind == TIMER_WAKE || kind == TIMER_TRIGGER || kind == TIMER_BEGIN ||
	       kind == TIMER_CHANGED || kind == TIMER_RESET || kind == TIMER_CLOCK_CHANGED ||
	       kind == TIMER_ZONE_CHANGED || kind == TIMER_SETTLE || kind == TIMER_JUMP;
}

void entry_event(struct supd_instance *self, struct entry *e, struct timer_event *ev)
{
	struct timer_context context = entry_context(self, e);
	struct timer_event event = *ev, answer;
	const usec_t waited_for = e->timer.memory.waiting.scheduled;
	const usec_t waited_until = e->timer.catch_up_at;
	struct timer_effects fx;
	bool again;

	do {
		again = false;
		if (may_begin_run(event.kind))
			draw(self, e, &event);
		timer_step(&e->timer, &context, &event, &fx);
		persist_touched(self, e);
		for (unsigned i = 0; i < fx.n; i++)
			if (effect_do(self, e, &event.now, &fx.item[i], &answer))
				again = true;
		event = answer;
	} while (again);
	/* At the end it is not said: the next beginning will say it. */
	if (ev->kind != TIMER_END && e->timer.catch_up_at != USEC_NEVER &&
	    (waited_until == USEC_NEVER || waited_for != e->timer.memory.waiting.scheduled))
		say_catch_up(self, e);
	heap_set(&self->real, &e->real, e->timer.wake_real);
	heap_set(&self->boot, &e->boot, e->timer.wake_boot);
}

void entry_begin(struct supd_instance *self, const struct supd_now *now, struct entry *e)
{
	struct supd_unit_state state = { .size = sizeof(state) };
	struct timer_event ev = { .kind = TIMER_BEGIN, .now = *now };
	struct orphan *known = persist_take(self, e->name);

	memory_done(&e->timer.memory);
	timer_init(&e->timer);
	if (known)
		e->timer.memory = memory_take(&known->memory);
	orphan_free(known);
	if (self->host->unit_state(self->host->ctx, e->config->spec.unit, &state) >= 0) {
		ev.is_target_active = state.is_active;
		ev.result = state.result;
		ev.status = state.status;
		ev.ended = state.ended;
		memcpy(ev.last_run_id, state.run_id, sizeof(ev.last_run_id));
	}
	e->is_running = true;
	persist_changed(self);
	entry_event(self, e, &ev);
}

void entries_spread(struct supd_instance *self, const struct supd_now *now, struct entry *turn)
{
	uint64_t n = 0, k = 0;
	usec_t gap;

	for (struct entry *e = turn; e; e = e->turn_next)
		n += e->timer.catch_up_at == now->boot;
	if (n < 2)
		return;
	gap = usec_min(self->defaults.catch_up_spread / n, SPREAD_GAP_MAX);
	for (struct entry *e = turn; e; e = e->turn_next) {
		if (e->timer.catch_up_at != now->boot)
			continue;
		timer_spread(&e->timer, now->boot + gap * k++);
		heap_set(&self->boot, &e->boot, e->timer.wake_boot);
	}
}

/* ---- the end of each event ---- */

static void settle(struct supd_instance *self, const struct supd_now *now)
{
	const struct supd_host *h = self->host;

	persist_settle(self, now);
	(void) h->arm(h->ctx, SUPD_CLOCK_REALTIME, heap_when(&self->real));
	(void) h->arm(h->ctx, SUPD_CLOCK_BOOTTIME, usec_min(heap_when(&self->boot), self->save_at));
}

/* ---- what the host tells ---- */

static struct entry *entry_of(struct heap_item *i, enum supd_clock clock)
{
	size_t offset = clock == SUPD_CLOCK_REALTIME ? offsetof(struct entry, real)
						     : offsetof(struct entry, boot);

	return (struct entry *) (void *) ((char *) i - offset);
}

/* Those that are due, in the order of (moment, name); each comes once a turn. */
static struct entry *take_due(struct heap *h, enum supd_clock clock, usec_t now)
{
	struct entry *first = NULL, **end = &first;

	while (heap_when(h) <= now) {
		struct heap_item *i = heap_first(h);

		heap_set(h, i, USEC_NEVER);
		*end = entry_of(i, clock);
		end = &(*end)->turn_next;
		*end = NULL;
	}
	return first;
}

static void due(struct supd_instance *self, const struct supd_now *now, enum supd_clock clock)
{
	struct entry *turn = take_due(clock == SUPD_CLOCK_REALTIME ? &self->real : &self->boot,
				      clock, clock == SUPD_CLOCK_REALTIME ? now->real : now->boot);

	for (struct entry *e = turn; e; e = e->turn_next) {
		struct timer_event ev = { .kind = TIMER_WAKE, .now = *now };

		entry_event(self, e, &ev);
	}
	entries_spread(self, now, turn);
}

void entries_due(struct supd_instance *self, const struct supd_now *now)
{
	due(self, now, SUPD_CLOCK_REALTIME);
	due(self, now, SUPD_CLOCK_BOOTTIME);
}

static void on_wake(void *userdata, const struct supd_now *now, enum supd_clock clock)
{
	due(userdata, now, clock);
	settle(userdata, now);
}

/* The same event for every timer that runs, in the order of names. */
static void for_all(struct supd_instance *self, const struct supd_now *now,
		    enum timer_event_kind kind)
{
	struct entry *e, *turn = NULL, **end = &turn;

	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		struct timer_event ev = { .kind = kind, .now = *now };

		if (!e->is_running)
			continue;
		entry_event(self, e, &ev);
		*end = e;
		end = &e->turn_next;
		*end = NULL;
	}
	entries_spread(self, now, turn);
}

static void on_clock_jump(void *userdata, const struct supd_now *now, int64_t delta)
{
	struct supd_instance *self = userdata;
	uint64_t size = delta < 0 ? -(uint64_t) delta : (uint64_t) delta;

	const struct supd_field field[] = {
		{ .key = "by", .type = SUPD_SPAN, .value.usec = size },
		{ .key = "direction",
		  .type = SUPD_STRING,
		  .value.string = delta < 0 ? "back" : "forward" },
	};

	if (size > TIMER_STEP_MAX)
		timer_tell(self, "clock-jump", NULL, field, ELEMENTS(field));
	for_all(self, now, size > TIMER_STEP_MAX ? TIMER_JUMP : TIMER_RECOMPUTE);
	for_all(self, now, TIMER_CLOCK_CHANGED);
	settle(self, now);
}

/* The words after expressions are looked up anew: an abbreviation means what the local zone makes
 * of it. */
static void rebind_zones(struct supd_instance *self)
{
	struct entry *e;

	for (size_t n = 0; (e = entry_nth(self, n)); n++)
		for (unsigned i = 0; e->is_running && i < e->config->spec.n_triggers; i++) {
			const struct trigger *t = &e->config->spec.trigger[i];

			/* One that no longer means anything stays as it was; a reload will say
			 * so. */
			if (t->kind == TRIGGER_CALENDAR && t->calendar->zone_word)
				(void) zone_cache_parse(self->zones, t->text, t->calendar, NULL);
		}
}

static void on_zone_change(void *userdata, const struct supd_now *now)
{
	struct supd_instance *self = userdata;

	/* What is due by the old zone is acted on before the new one is looked at. */
	entries_due(self, now);
	if (zone_cache_refresh(self->zones)) {
		timer_tell(self, "zone-change", NULL, NULL, 0);
		rebind_zones(self);
		for_all(self, now, TIMER_ZONE_CHANGED);
	}
	settle(self, now);
}

static void run_event(struct supd_instance *self, const struct supd_now *now,
		      const struct supd_run_event *run, struct entry *e, bool is_target_active)
{
	static const enum timer_event_kind kinds[] = {
		[SUPD_RUN_STARTED] = TIMER_STARTED,
		[SUPD_RUN_ENDED] = TIMER_ENDED,
		[SUPD_RUN_INACTIVE] = TIMER_INACTIVE,
	};
	struct timer_event ev = {
		.kind = kinds[run->stage],
		.now = *now,
		.is_target_active = is_target_active,
		.result = run->result,
		.status = run->status,
	};

	memcpy(ev.run_id, run->run_id, sizeof(ev.run_id));
	if (e->is_running)
		entry_event(self, e, &ev);
}

static void on_run(void *userdata, const struct supd_now *now, const struct supd_run_event *run)
{
	struct supd_instance *self = userdata;
	struct entry *stray = run->stage == SUPD_RUN_ENDED ? strays_take(self, run->run_id) : NULL;

	for (struct entry *e = targets_first(self, run->unit); e; e = e->target_next)
		run_event(self, now, run, e, run->is_unit_active);
	if (stray)
		run_event(self, now, run, stray, target_is_active(self, stray->config->spec.unit));
	settle(self, now);
}

static void on_saved(void *userdata, const struct supd_now *now, uint64_t ticket, int result)
{
	struct supd_instance *self = userdata;

	persist_saved(self, now, ticket, result);
	settle(self, now);
}

static int on_prepare(void *userdata, const struct supd_now *now)
{
	(void) now;
	return units_prepare(userdata);
}

static void on_commit(void *userdata, const struct supd_now *now)
{
	entries_due(userdata, now);
	units_commit(userdata, now);
	settle(userdata, now);
}

static void on_abort(void *userdata)
{
	units_abort(userdata);
}

/* Why the target cannot be started now: 0 with nothing against it, or an errno with a sentence. */
static int refuse_trigger(struct supd_instance *self, const struct entry *e,
			  struct supd_command_reply *reply)
{
	struct supd_unit_state state = { .size = sizeof(state) };
	const char *target = e->config->spec.unit, *why = NULL;
	int r = 0;

	if (self->host->unit_state(self->host->ctx, target, &state) < 0) {
		r = -ENOENT;
		why = "is missing";
	} else if (!state.is_startable) {
		r = state.is_masked ? -EPERM : -ENOEXEC;
		why = state.why_not ? state.why_not : "cannot be started";
	} else if (state.is_active) {
		r = -EALREADY;
		why = "is active already";
	} else if (timer_has_open_run(&e->timer)) { /* its intent, or a run of a target that a
						       reload took from it */
		r = -EALREADY;
		why = "waits for a run of this timer";
	}
	if (r < 0)
		snprintf(reply->message, sizeof(reply->message), "%s %s; %s was not triggered",
			 target, why, e->name);
	return r;
}

static int trigger(struct supd_instance *self, const struct supd_now *now, struct entry *e,
		   struct supd_command_reply *reply)
{
	struct timer_event ev = { .kind = TIMER_TRIGGER, .now = *now };
	int r;

	snprintf(reply->target, sizeof(reply->target), "%s", e->config->spec.unit);
	r = refuse_trigger(self, e, reply);
	if (r < 0)
		return r;
	entry_event(self, e, &ev);
	memcpy(reply->run_id, e->timer.memory.open.run_id, sizeof(reply->run_id));
	return 0;
}

/* It was asked to start after all, and refused: that is on record as missed. */
static int refuse_late(const struct entry *e, struct supd_command_reply *reply)
{
	snprintf(reply->message, sizeof(reply->message), "%s could not be started (%s)",
		 e->config->spec.unit, miss_reason_to_string(e->timer.memory.miss_reason));
	return -EAGAIN;
}

/* ---- skipping ---- */

static const char *print_moment(const struct supd_instance *self, usec_t when, char *buf, size_t n)
{
	return timestamp_print(buf, n, when, zone_cache_local(self->zones),
			       when % USEC_PER_SEC != 0);
}

/* "; those to come: …" */
static void add_coming(const struct supd_instance *self, const struct entry *e,
		       const struct supd_now *now, struct supd_command_reply *reply)
{
	size_t n = strlen(reply->message);
	usec_t moment[3];
	unsigned n_moments = plan_coming(self, e, now, moment, ELEMENTS(moment));
	char when[TIMESTAMP_MAX];

	for (unsigned i = 0; i < n_moments && n < sizeof(reply->message); i++)
		n += (size_t) snprintf(reply->message + n, sizeof(reply->message) - n, "%s%s",
				       i > 0 ? ", " : "; to come: ",
				       print_moment(self, moment[i], when, sizeof(when)));
}

static void refuse_skip(const struct supd_instance *self, const struct entry *e,
			const struct supd_now *now, enum skip_verdict v, usec_t moment,
			struct supd_command_reply *reply)
{
	char when[TIMESTAMP_MAX], *to = reply->message;
	size_t n = sizeof(reply->message);

	print_moment(self, moment, when, sizeof(when));
	switch (v) {
	case SKIP_DONE:
	case SKIP_ALREADY:
		break;
	case SKIP_NO_MOMENT:
		snprintf(to, n, moment != 0 ? "%s has no moment at %s" : "%s has no moment to come",
			 e->name, when);
		add_coming(self, e, now, reply);
		break;
	case SKIP_PAST:
		snprintf(to, n, "%s of %s lies in the past", when, e->name);
		add_coming(self, e, now, reply);
		break;
	case SKIP_TOO_FAR:
		snprintf(to, n, "%s is more than a year ahead", when);
		break;
	case SKIP_INACTIVE:
		snprintf(to, n, "%s is disabled: it has no moments to come", e->name);
		break;
	case SKIP_TOO_MANY:
		snprintf(to, n, "%d moments of %s are skipped already, and no more can be",
			 TIMER_SKIPS_MAX, e->name);
		break;
	case SKIP_NO_MEMORY:
		snprintf(to, n, "out of memory");
		break;
	}
}

static void tell_skip(struct supd_instance *self, const struct entry *e, const char *type,
		      usec_t moment)
{
	char when[TIMESTAMP_MAX];
	const struct supd_field field[] = {
		{ .key = "scheduled", .type = SUPD_TIMESTAMP, .value.usec = moment },
		{ .key = "moment",
		  .type = SUPD_STRING,
		  .value.string = print_moment(self, moment, when, sizeof(when)) },
	};

	timer_tell(self, type, e->name, field, ELEMENTS(field));
}

static int skip(struct supd_instance *self, const struct supd_now *now, struct entry *e,
		const struct supd_command_request *request, struct supd_command_reply *reply)
{
	bool on = request->command == SUPD_COMMAND_SKIP;
	struct timer_context context = entry_context(self, e);
	struct timer_coming coming;
	enum skip_verdict v;
	usec_t moment;

	v = on ? timer_skip(&e->timer, &context, now, request->moment, &moment)
	       : timer_unskip(&e->timer, now, request->moment, &moment);
	if (v != SKIP_DONE && v != SKIP_ALREADY) {
		refuse_skip(self, e, now, v, request->moment, reply);
		return v == SKIP_NO_MEMORY ? -ENOMEM : -EINVAL;
	}
	if (v == SKIP_DONE) {
		persist_touched(self, e);
		persist_changed(self);
		tell_skip(self, e, on ? "skip" : "unskip", moment);
	}
	if (SUPD_HAS(reply, is_changed)) {
		reply->moment = moment;
		reply->next = timer_next(&e->timer, &context, now, &coming);
		reply->is_changed = v == SKIP_DONE;
	}
	return 0;
}

static int on_command(void *userdata, const struct supd_now *now,
		      const struct supd_command_request *request, struct supd_command_reply *reply)
{
	struct supd_instance *self = userdata;
	struct timer_event ev = { .kind = TIMER_RESET, .now = *now };
	struct entry *e = names_find(&self->entries, request->unit);
	int r = 0;

	if (!e)
		return -ENOENT;
	if (!e->is_running) {
		snprintf(reply->message, sizeof(reply->message), "%s is %s; see supctl status %s",
			 request->unit, e->config->is_masked ? "masked" : "invalid", request->unit);
		return -ENOEXEC;
	}
	switch (request->command) {
	case SUPD_COMMAND_TRIGGER:
		r = trigger(self, now, e, reply);
		break;
	case SUPD_COMMAND_RESET:
		free(TAKE_PTR(e->recent));
		entry_event(self, e, &ev);
		break;
	case SUPD_COMMAND_SKIP:
	case SUPD_COMMAND_UNSKIP:
		r = skip(self, now, e, request, reply);
		break;
	}
	settle(self, now);
	if (r >= 0 && request->command == SUPD_COMMAND_TRIGGER && !timer_has_open_run(&e->timer))
		r = refuse_late(e, reply);
	return r;
}

static const struct supd_listener listener = {
	.abi = SUPD_ABI,
	.size = sizeof(listener),
	.wake = on_wake,
	.clock_jump = on_clock_jump,
	.zone_change = on_zone_change,
	.run = on_run,
	.saved = on_saved,
	.prepare = on_prepare,
	.commit = on_commit,
	.abort = on_abort,
	.command = on_command,
};

/* ---- the three entry points ---- */

static void instance_free(struct supd_instance *self)
{
	struct orphan *o, *next;

	units_free(self);
	HASH_ITER(hh, self->orphan, o, next) {
		HASH_DEL(self->orphan, o);
		orphan_free(o);
	}
	free(self->touched);
	heap_done(&self->real);
	heap_done(&self->boot);
	zone_cache_free(self->zones);
	free(self);
}

static void read_defaults(struct supd_instance *self)
{
	static const char *const keys[] = { "RetrySec", "CatchUpSec", "CatchUpSpreadSec" };
	const char *value;

	self->defaults = timer_defaults_builtin;
	for (size_t i = 0; i < ELEMENTS(keys); i++) {
		value = self->host->setting(self->host->ctx, keys[i]);
		if (value && !timer_defaults_set(&self->defaults, keys[i], value))
			timer_log(self, SUPD_LOG_WARNING, NULL,
				  "supd.conf: %s= makes no sense, the default stands", keys[i]);
	}
}

static int set_up(struct supd_instance *self)
{
	const struct zone_source source = zone_source_from_environment();
	const struct supd_start_info *info = &self->info;
	int r;

	read_defaults(self);
	self->bases.startup = (int64_t) info->running_since.boot;
	self->bases.boot = info->is_container ? (int64_t) info->daemon_since.boot : 0;
	r = zone_cache_new(&source, &self->zones);
	if (r < 0)
		return r;
	if (zone_cache_local_problem(self->zones))
		timer_log(self, SUPD_LOG_WARNING, NULL, "%s; local time is taken as UTC",
			  zone_cache_local_problem(self->zones));
	r = persist_load(self, &info->now);
	return r < 0 ? r : units_load(self);
}

static void begin_all(struct supd_instance *self, const struct supd_now *now)
{
	struct entry *e, *turn = NULL, **end = &turn;

	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		if (!e->config || !e->config->is_valid || e->config->is_masked)
			continue;
		entry_begin(self, now, e);
		*end = e;
		end = &e->turn_next;
		*end = NULL;
	}
	entries_spread(self, now, turn);
	persist_prune(self, now);
}

static int plugin_start(const struct supd_host *host, const struct supd_start_info *info,
			struct supd_instance **ret)
{
	struct supd_instance *self;
	int r;

	/* A host that lacks what came last would start a run before anybody could know of it after
	 * a crash. */
	if (!SUPD_HAS(host, start_after))
		return -ENOTSUP;
	self = calloc(1, sizeof(*self));
	if (!self)
		return -ENOMEM;
	self->host = host;
	self->info = *info;
	self->entries.name_at = offsetof(struct entry, name);
	r = host->subscribe(host->ctx, &listener, self);
	if (r >= 0)
		r = set_up(self);
	if (r < 0) {
		instance_free(self);
		return r;
	}
	begin_all(self, &info->now);
	settle(self, &info->now);
	*ret = self;
	return 0;
}

static void plugin_stop(struct supd_instance *self, const struct supd_now *now)
{
	struct entry *e;

	if (!self)
		return;
	for (size_t i = 0; (e = entry_nth(self, i)); i++) {
		struct timer_event ev = { .kind = TIMER_END, .now = *now };

		if (e->is_running)
			entry_event(self, e, &ev);
	}
	persist_stop(self, now);
	instance_free(self);
}

static int plugin_list(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
		       void *userdata)
{
	return report_table(self, query, row, userdata);
}

/* As systemd's timers have them. */
static const char *const expanded[] = {
	"Description", "Unit", "OnCalendar", "OnStartupSec", "OnActiveSec", "OnBootSec", "OnUnitActiveSec",
	"OnUnitInactiveSec", NULL,
};

const struct supd_plugin supd_plugin_1 = {
	.abi = SUPD_ABI,
	.size = sizeof(supd_plugin_1),
	.name = "timer",
	.suffix = ".timer",
	.start = plugin_start,
	.stop = plugin_stop,
	.list = plugin_list,
	.expanded = expanded,
};
