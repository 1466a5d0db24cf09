/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_INSTANCE_H
#define SUPD_TIMER_INSTANCE_H

/* The plugin's inside while it runs, shared by timer_plugin.c (events and alarms), timer_units.c
 * (which timers there are, and reload), persist.c (when the state is written), report.c and why.c
 * (rows). */

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/names.h"
#include "supd-plugin.h"
#include "timer/fsm.h"
#include "timer/recent.h"
#include "timer/spec.h"
#include "timer/state_file.h"

struct zone_cache;

/* One .timer file, understood. */
struct timer_config {
	struct arena arena; /* it stands in that itself */
	struct timer_spec spec;
	uint64_t fingerprint;
	bool is_valid;
	bool is_masked;
};

/* One timer. An invalid or masked one stands here, too, so that it is looked at again at a
 * reload. */
struct entry {
	struct timer_config *config;
	struct timer timer;
	struct heap_item real, boot;
	/* the target's own name, where the timer calls it by another; or NULL */
	char *target_alias;
	struct entry *target_next;  /* with the same target */
	struct entry *stray_next;   /* whose run is of a target that it no longer has */
	struct entry *turn_next;    /* due in this turn */
	struct entry *intent_next;  /* waiting to be written */
	size_t touched_at;          /* its place in touched, from 1; 0: not there */
	struct recent *recent;      /* its last moments; NULL: none yet */
	bool is_running;            /* has begun, in this instance */
	/* while a reload is prepared */
	bool is_present;
	struct timer_config *next;
	char name[];
};

/* The record of a timer that is gone, or has not been read yet. */
struct orphan {
	UT_hash_handle hh;
	char *name;
	struct timer_memory memory;
	usec_t gone_since;
};

struct supd_instance {
	const struct supd_host *host;
	struct supd_start_info info;
	struct timer_defaults defaults;
	struct zone_cache *zones;
	struct schedule_bases bases;
	struct names entries; /* struct entry */
	/* the first timer of each target, in the order of the targets' own names */
	struct entry **target;
	size_t n_targets;
	struct orphan *orphan;
	struct entry *stray;
	struct heap real, boot;
	struct entry *intent_first, *intent_last; /* of this turn */
	uint64_t start_after;   /* the write that holds them; 0: none does */
	int64_t told_offset;    /* real − boot, as answers were told last; report.c */
	/* persist.c */
	bool is_persistent;     /* the state file is ours to write */
	bool is_dirty;
	bool is_whole_wanted;   /* lines cannot be added, or would not say all */
	struct entry **touched; /* whose record may have changed since the last write */
	size_t n_touched, touched_size;
	size_t whole, added;    /* bytes of the file as it was written, and of the lines since */
	uint64_t ticket;        /* of the save under way; 0: none */
	usec_t save_at;         /* boot-time clock; USEC_NEVER: nothing to write */
	usec_t not_before;      /* the next write that is in no hurry */
	usec_t failing_since;   /* real time; 0: the last write succeeded */
	int failure;            /* its errno, negative */
};

/* In the order of names; NULL past the end. */
static inline struct entry *entry_nth(const struct supd_instance *self, size_t i)
{
	return i < self->entries.n ? self->entries.item[i] : NULL;
}

/* timer_plugin.c */
struct timer_context entry_context(const struct supd_instance *self, const struct entry *e);
/* One event for one timer: the step, its effects, its alarms. */
void entry_event(struct supd_instance *self, struct entry *e, struct timer_event *ev);
void entry_begin(struct supd_instance *self, const struct supd_now *now, struct entry *e);
/* What is due on either clock, now rather than in a moment: something is about to change. */
void entries_due(struct supd_instance *self, const struct supd_now *now);
/* Those of @turn (linked by turn_next) that now wait for a catch-up are spread. */
void entries_spread(struct supd_instance *self, const struct supd_now *now, struct entry *turn);
/* An event: the host logs it, too. @unit may be NULL. */
void timer_tell(struct supd_instance *self, const char *type, const char *unit,
		const struct supd_field *field, size_t n);
void timer_log(struct supd_instance *self, enum supd_log_level level, const char *unit,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* timer_units.c */
int units_load(struct supd_instance *self); /* at start: reads, judges; nothing begins yet */
int units_prepare(struct supd_instance *self);
void units_commit(struct supd_instance *self, const struct supd_now *now);
void units_abort(struct supd_instance *self);
void units_free(struct supd_instance *self);
struct entry *targets_first(struct supd_instance *self, const char *unit);
/* Takes the timer out whose run with this id is of a target that it no longer has; NULL: none. */
struct entry *strays_take(struct supd_instance *self, const uint8_t run_id[SUPD_RUN_ID_BYTES]);
bool target_is_active(struct supd_instance *self, const char *target);

/* persist.c */
int persist_load(struct supd_instance *self, const struct supd_now *now);
/* gives; NULL: no record */
struct orphan *persist_take(struct supd_instance *self, const char *name);
/* Names @o, all else of which is filled in, and takes it among those that are gone. -ENOMEM: @o is
 * still the caller's. */
int orphan_add(struct supd_instance *self, struct orphan *o, const char *name);
void orphan_free(struct orphan *o);
/* Dates and forgets the records of timers that are gone. */
void persist_prune(struct supd_instance *self, const struct supd_now *now);
void persist_intent(struct supd_instance *self, struct entry *e);
void persist_changed(struct supd_instance *self);
/* The record of this timer may be another now; to be written with whatever is written next. */
void persist_touched(struct supd_instance *self, struct entry *e);
/* Its record is an orphan's now, which lines say nothing of. */
void persist_removed(struct supd_instance *self, struct entry *e);
/* At the end of each event: writes what must be written now. */
void persist_settle(struct supd_instance *self, const struct supd_now *now);
void persist_saved(struct supd_instance *self, const struct supd_now *now, uint64_t ticket,
		   int result);
void persist_stop(struct supd_instance *self, const struct supd_now *now);

/* report.c */
int report_table(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
		 void *userdata);
/* "success", "failed exit 3" …; NULL: none. Lends @buf or a constant. */
const char *report_result_words(enum supd_result result, int32_t status, char *buf, size_t n);

/* Its own next moment, whatever comes before; real time, or USEC_NEVER. */
usec_t report_trigger_next(const struct supd_instance *self, const struct entry *e,
			   const struct trigger *t, const struct supd_now *now);

/* plan.c: what is to come */
int plan_table(struct supd_instance *self, const struct supd_query *query, supd_row_fn *row,
	       void *userdata);
/* The next moments that are not skipped, real time; at most @max of them. Returns how many. */
unsigned plan_coming(const struct supd_instance *self, const struct entry *e,
		     const struct supd_now *now, usec_t *ret, unsigned max);
/* What a change of the local clock did to this moment of an OnCalendar=: a word, or NULL. */
const char *plan_dst(const struct supd_instance *self, const struct entry *e, usec_t scheduled);

/* why.c: which rule gives the next elapse, and what was considered besides. */
int why_row(struct supd_instance *self, const struct entry *e, const struct supd_now *now,
	    supd_row_fn *row, void *userdata);
/* The same in sentences; all of it lives in @arena. 0 or -ENOMEM. */
struct why_words {
	const char *const *line;         /* NULL-terminated */
	const char *const *trigger_note; /* one for each trigger */
};
int why_words(const struct supd_instance *self, const struct entry *e, const struct supd_now *now,
	      struct arena *arena, struct why_words *ret);

#endif
