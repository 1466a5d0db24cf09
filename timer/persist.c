/* SPDX-License-Identifier: MIT */
/* When the state is written: an intent at once, everything else at once, too, but no more than once
 * a second, and all of it at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "timer/instance.h"

#define SAVE_INTERVAL USEC_PER_SEC
#define SAVE_RETRY (10 * USEC_PER_SEC)
/* Lines may become as long as this and half of the whole. */
#define ADDED_MIN ((size_t) 64 * 1024)

/* ---- reading ---- */

void orphan_free(struct orphan *o)
{
	if (!o)
		return;
	memory_done(&o->memory);
	free(o->name);
	free(o);
}

int orphan_add(struct supd_instance *self, struct orphan *o, const char *name)
{
	o->name = strdup(name);
	if (!o->name)
		return -ENOMEM;
	HASH_ADD_KEYPTR(hh, self->orphan, o->name, strlen(o->name), o);
	return HASH_IS_IN(o) ? 0 : -ENOMEM;
}

struct orphan *persist_take(struct supd_instance *self, const char *name)
{
	struct orphan *o;

	HASH_FIND_STR(self->orphan, name, o);
	if (o)
		HASH_DEL(self->orphan, o);
	return o;
}

struct loading {
	struct supd_instance *self;
	const struct supd_now *now;
	enum state_verdict verdict;
};

static bool is_believed(const struct supd_instance *self, const struct supd_now *now)
{
	return now->real >= self->info.clock_epoch;
}

/* A timer that has been gone for longer than anything is made up for is forgotten. */
static bool is_stale(const struct supd_instance *self, const struct orphan *o,
		     const struct supd_now *now)
{
	return o->gone_since != 0 && is_believed(self, now) &&
	       usec_sub(now->real, o->gone_since) > self->defaults.catch_up;
}

void persist_prune(struct supd_instance *self, const struct supd_now *now)
{
	struct orphan *o, *next;

	HASH_ITER(hh, self->orphan, o, next) {
		if (o->gone_since == 0 && is_believed(self, now))
			o->gone_since = now->real;
		if (!is_stale(self, o, now))
			continue;
		HASH_DEL(self->orphan, o);
		orphan_free(o);
		self->is_whole_wanted = true;
	}
}

static int remember(void *userdata, const char *name, const struct timer_memory *m,
		    usec_t gone_since)
{
	struct loading *l = userdata;
	struct orphan *o;

	orphan_free(persist_take(l->self, name)); /* said again */
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	if (memory_copy(m, &o->memory) < 0) {
		orphan_free(o);
		return -ENOMEM;
	}
	o->gone_since = gone_since;
	if (is_stale(l->self, o, l->now)) {
		orphan_free(o);
		return 0;
	}
	if (orphan_add(l->self, o, name) < 0) {
		orphan_free(o);
		return -ENOMEM;
	}
	return 0;
}

static void forget_all(struct supd_instance *self)
{
	struct orphan *o, *next;

	HASH_ITER(hh, self->orphan, o, next) {
		HASH_DEL(self->orphan, o);
		orphan_free(o);
	}
}

static struct state_life life_of(const struct supd_instance *self)
{
	struct state_life life;

	memcpy(life.boot_id, self->info.boot_id, sizeof(life.boot_id));
	memcpy(life.daemon_id, self->info.daemon_id, sizeof(life.daemon_id));
	return life;
}

static int decode(void *userdata, const void *bytes, size_t n)
{
	struct loading *l = userdata;
	struct state_now now = {
		.now = *l->now,
		.life = life_of(l->self),
		.is_clock_believed = is_believed(l->self, l->now),
	};

	l->verdict = state_decode(bytes, n, &now, remember, l);
	return 0;
}

/* 0 with a verdict, -ENOENT, or a negative errno. Nothing is remembered but of a sound file. */
static int load_generation(struct supd_instance *self, const struct supd_now *now,
			   unsigned generation, enum state_verdict *ret)
{
	struct loading l = { .self = self, .now = now, .verdict = STATE_CORRUPT };
	int r = self->host->load(self->host->ctx, generation, decode, &l);

	if (r >= 0 && l.verdict == STATE_NO_MEMORY)
		r = -ENOMEM;
	if (r < 0 || l.verdict != STATE_SOUND)
		forget_all(self);
	*ret = l.verdict;
	return r;
}

static void without_memory(struct supd_instance *self, const struct supd_now *now, int error)
{
	self->is_persistent = false;
	self->failing_since = usec_max(now->real, 1);
	self->failure = error;
}

/* Not read is not empty: writing over it would lose what it says. */
static int leave_alone(struct supd_instance *self, const struct supd_now *now, int error,
		       const char *why)
{
	without_memory(self, now, error);
	timer_log(self, SUPD_LOG_WARNING, NULL,
		  "%s; timers run without memory, and it is left as it is", why);
	return 0;
}

static int not_read(struct supd_instance *self, const struct supd_now *now, int error)
{
	char why[128];

	if (error == -ENOMEM)
		return error;
	if (error == -EROFS) { /* of the whole directory supd itself has told */
		without_memory(self, now, error);
		return 0;
	}
	snprintf(why, sizeof(why), "the state file cannot be read (%s)", strerror(-error));
	return leave_alone(self, now, error, why);
}

static int judge(struct supd_instance *self, const struct supd_now *now, enum state_verdict verdict,
		 bool *ret_corrupt)
{
	*ret_corrupt = verdict == STATE_CORRUPT;
	if (verdict == STATE_NEWER)
		return leave_alone(self, now, -EOVERFLOW,
				   "the state file was written by a newer supd");
	return 0;
}

static int read_older(struct supd_instance *self, const struct supd_now *now)
{
	enum state_verdict verdict;
	bool is_corrupt = true;
	int r = load_generation(self, now, 1, &verdict);

	if (r < 0 && r != -ENOENT)
		return not_read(self, now, r);
	if (r >= 0)
		r = judge(self, now, verdict, &is_corrupt);
	if (is_corrupt)
		timer_log(self, SUPD_LOG_WARNING, NULL,
			  "there is no sound state file; timers begin without memory");
	return 0;
}

static int load_older(struct supd_instance *self, const struct supd_now *now)
{
	char name[256] = "";
	int r = self->host->set_aside(self->host->ctx, name, sizeof(name));

	timer_log(self, SUPD_LOG_WARNING, NULL,
		  "the state file is damaged; it was set aside%s%s, and the one before is read",
		  r >= 0 ? " as " : "", r >= 0 ? name : "");
	return read_older(self, now);
}

static int have(void *userdata, const void *bytes, size_t n)
{
	(void) userdata, (void) bytes, (void) n;
	return 0;
}

/* None, or one that was set aside by a daemon that died before it wrote another. */
static int load_missing(struct supd_instance *self, const struct supd_now *now)
{
	if (self->host->load(self->host->ctx, 1, have, NULL) == -ENOENT)
		return 0;
	timer_log(self, SUPD_LOG_WARNING, NULL,
		  "the state file is missing, and the one before is read");
	return read_older(self, now);
}

int persist_load(struct supd_instance *self, const struct supd_now *now)
{
	enum state_verdict verdict;
	bool is_corrupt;
	int r = load_generation(self, now, 0, &verdict);

	self->is_persistent = self->is_whole_wanted = true;
	self->save_at = USEC_NEVER;
	if (r == -ENOENT)
		return load_missing(self, now);
	if (r < 0)
		return not_read(self, now, r);
	r = judge(self, now, verdict, &is_corrupt);
	return is_corrupt ? load_older(self, now) : r;
}

/* ---- writing ---- */

struct walk {
	const struct supd_instance *self;
	size_t i; /* the next entry */
	struct orphan *orphan;
};

static bool next_record(void *userdata, struct state_record *ret)
{
	struct walk *w = userdata;
	const struct entry *e;

	do
		e = entry_nth(w->self, w->i++);
	while (e && !e->is_running);
	if (e) {
		*ret = (struct state_record) { .name = e->name, .memory = &e->timer.memory };
	} else if (w->orphan) {
		*ret = (struct state_record){
			.name = w->orphan->name,
			.memory = &w->orphan->memory,
			.gone_since = w->orphan->gone_since,
		};
		w->orphan = w->orphan->hh.next;
	} else {
		return false;
	}
	return true;
}

/* Hands the whole state over. The ticket, or a negative errno. */
static int64_t save(struct supd_instance *self, const struct supd_now *now)
{
	struct walk w = { .self = self, .orphan = self->orphan };
	struct state_life life = life_of(self);
	_cleanup_free_ char *bytes = NULL;
	size_t n;
	int r;

	r = state_encode(&life, now->real, next_record, &w, &bytes, &n);
	if (r < 0)
		return r;
	self->whole = n;
	self->added = 0;
	return self->host->save(self->host->ctx, bytes, n);
}

static bool next_touched(void *userdata, struct state_record *ret)
{
	struct walk *w = userdata;
	const struct entry *e = w->i < w->self->n_touched ? w->self->touched[w->i++] : NULL;

	if (e)
		*ret = (struct state_record) { .name = e->name, .memory = &e->timer.memory };
	return e;
}

/* Only what has changed. */
static int64_t add(struct supd_instance *self)
{
	struct walk w = { .self = self };
	_cleanup_free_ char *bytes = NULL;
	size_t n;
	int r;

	r = state_encode_added(next_touched, &w, &bytes, &n);
	if (r < 0)
		return r;
	self->added += n;
	return self->host->append(self->host->ctx, bytes, n);
}

static bool can_add(const struct supd_instance *self)
{
	return !self->is_whole_wanted && self->n_touched <= self->entries.n / 2 + 16 &&
	       self->added <= self->whole / 2 + ADDED_MIN;
}

void persist_touched(struct supd_instance *self, struct entry *e)
{
	size_t bigger = self->touched_size * 2 + 16;
	struct entry **touched;

	if (e->touched_at != 0 || !e->is_running)
		return;
	if (self->n_touched == self->touched_size) {
		touched = reallocarray(self->touched, bigger, sizeof(*touched));
		if (!touched) {
			self->is_whole_wanted = true;
			return;
		}
		self->touched = touched;
		self->touched_size = bigger;
	}
	self->touched[self->n_touched++] = e;
	e->touched_at = self->n_touched;
}

void persist_removed(struct supd_instance *self, struct entry *e)
{
	struct entry *last;

	self->is_dirty = self->is_whole_wanted = true;
	if (e->touched_at == 0)
		return;
	last = self->touched[--self->n_touched];
	self->touched[e->touched_at - 1] = last;
	last->touched_at = e->touched_at;
	e->touched_at = 0;
}

static void untouch_all(struct supd_instance *self)
{
	while (self->n_touched > 0)
		self->touched[--self->n_touched]->touched_at = 0;
}

/* Said once when it begins and once when it is over. */
static void outcome(struct supd_instance *self, const struct supd_now *now, int result)
{
	const struct supd_field error = {
		.key = "error",
		.type = SUPD_STRING,
		.value.string = result < 0 ? strerror(-result) : "",
	};

	if (result < 0) {
		self->not_before = usec_add(now->boot, SAVE_RETRY);
		self->is_dirty = self->is_whole_wanted = true;
		self->failure = result;
		if (self->failing_since != 0)
			return;
		self->failing_since = usec_max(now->real, 1);
		timer_tell(self, "not-persisted", NULL, &error, 1);
	} else if (self->failing_since != 0) {
		self->failing_since = 0;
		self->not_before = now->boot;
		timer_tell(self, "persisted", NULL, NULL, 0);
	}
}

void persist_changed(struct supd_instance *self)
{
	self->is_dirty = true;
}

void persist_intent(struct supd_instance *self, struct entry *e)
{
	persist_changed(self);
	e->intent_next = NULL;
	if (self->intent_last)
		self->intent_last->intent_next = e;
	else
		self->intent_first = e;
	self->intent_last = e;
}

/* The targets are asked to start, once the write with @ticket is over; 0: at once. */
static void submitted(struct supd_instance *self, const struct supd_now *now, uint64_t ticket)
{
	struct entry *e;

	self->start_after = ticket;
	while ((e = self->intent_first)) {
		struct timer_event ev = { .kind = TIMER_SUBMITTED, .now = *now };

		self->intent_first = e->intent_next;
		if (!self->intent_first)
			self->intent_last = NULL;
		entry_event(self, e, &ev);
	}
}

static void write_now(struct supd_instance *self, const struct supd_now *now)
{
	int64_t ticket = can_add(self) ? add(self) : -ENOTSUP;

	if (ticket == -ENOTSUP) {
		ticket = save(self, now);
		self->is_whole_wanted = false;
	}
	if (ticket < 0) {
		outcome(self, now, (int) ticket);
		submitted(self, now, 0); /* a full disk stops no job */
		return;
	}
	self->is_dirty = false;
	untouch_all(self);
	self->ticket = (uint64_t) ticket;
	submitted(self, now, self->ticket);
}

void persist_settle(struct supd_instance *self, const struct supd_now *now)
{
	self->save_at = USEC_NEVER;
	if (!self->is_persistent) {
		submitted(self, now, 0);
		return;
	}
	if (self->intent_first) {
		write_now(self, now);
	} else if (self->is_dirty && self->ticket == 0 && self->not_before <= now->boot) {
		/* Of a short run its intent was written just now; what it came to is no less urgent
		 * for that. */
		self->not_before = usec_add(now->boot, SAVE_INTERVAL);
		write_now(self, now);
	}
	if (self->is_dirty && self->ticket == 0)
		self->save_at = usec_max(self->not_before, now->boot);
}

void persist_saved(struct supd_instance *self, const struct supd_now *now, uint64_t ticket,
		   int result)
{
	outcome(self, now, result);
	if (ticket >= self->ticket)
		self->ticket = 0;
}

void persist_stop(struct supd_instance *self, const struct supd_now *now)
{
	int64_t r;

	if (!self->is_persistent)
		return;
	r = save(self, now);
	if (r < 0)
		outcome(self, now, (int) r);
}
