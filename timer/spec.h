/* SPDX-License-Identifier: MIT */
#ifndef SUPD_TIMER_SPEC_H
#define SUPD_TIMER_SPEC_H

/* A .timer file, understood: assignments → one struct. supd.timer(5) is its manual. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/keys.h"
#include "base/usec.h"
#include "timer/calendar.h"

struct zone_cache;

/* What makes a timer elapse. The order is that of their names in lists. */
enum trigger_kind {
	TRIGGER_CALENDAR,      /* real time: each match of the expression */
	TRIGGER_STARTUP,       /* once: after the manager became running */
	TRIGGER_ACTIVE,        /* once: after the timer became active */
	TRIGGER_BOOT,          /* once: after boot */
	TRIGGER_UNIT_ACTIVE,   /* after the target's last success, or its last end for good */
	TRIGGER_UNIT_INACTIVE, /* after the target's last end */
};
#define TRIGGER_KIND_COUNT (TRIGGER_UNIT_INACTIVE + 1)

struct trigger {
	enum trigger_kind kind;
	usec_t span;               /* all but CALENDAR */
	struct calendar *calendar; /* CALENDAR only */
	const char *text;          /* as written */
};

/* RetryOn=, a mask: which ends of a run the ladder is for. */
enum retry_on {
	RETRY_ON_EXIT = 1 << 0,
	RETRY_ON_SIGNAL = 1 << 1,
	RETRY_ON_TIMEOUT = 1 << 2,
	RETRY_ON_EXEC = 1 << 3,
};

struct timer_spec {
	const char *description;
	const char *unit;      /* the target */
	struct trigger *trigger;
	unsigned n_triggers;
	unsigned n_retries;
	const usec_t *retry;   /* the ladder; NULL with n_retries 0: none */
	usec_t catch_up;       /* how old a missed moment may be to be made up for */
	usec_t accuracy;
	usec_t randomized_delay;
	uint8_t retry_on;      /* enum retry_on */
	bool has_retry, has_catch_up; /* said so here; else supd.conf's default counts */
	bool persistent;
	bool is_enabled;
	bool is_enabled_said;  /* Enabled= was given: links do not count */
	bool fixed_random_delay;
	bool remain_after_elapse;
	bool wake_system;
	bool on_clock_change, on_timezone_change;
};

/* Defaults that supd.conf may set, [Timer] RetrySec=, CatchUpSec=, CatchUpSpreadSec=. */
struct timer_defaults {
	usec_t retry[16];
	unsigned n_retries;
	usec_t catch_up;
	usec_t catch_up_spread;
};
#define TIMER_RETRY_MAX 16

/* The built-in ones: 30s 2min 10min, 24 h, 5 min. */
extern const struct timer_defaults timer_defaults_builtin;
/* Each takes the value as written; false: it makes no sense, nothing changed. */
bool timer_defaults_set(struct timer_defaults *d, const char *key, const char *value);

const struct key_table *timer_keys(void);

/* Understands @n assignments of the timer @name, whose file is @path. Mistakes go to @d (the
 * caller looks at d->n_errors). Everything lives in @arena. Zones named by expressions are looked
 * up in @zones. 0 or -ENOMEM. */
int timer_spec_parse(const char *name, const char *path, const struct assignment *assignment,
		     size_t n, const struct timer_defaults *defaults, struct zone_cache *zones,
		     struct arena *arena, struct diag *d, struct timer_spec *ret);

/* Do both ask for the same? How it is written and described does not count. */
bool timer_spec_is_same(const struct timer_spec *a, const struct timer_spec *b);

/* "calendar", "startup", "active", "boot", "unit-active", "unit-inactive": the cause of a run. */
const char *trigger_kind_to_string(enum trigger_kind k);
/* "OnCalendar" … */
const char *trigger_kind_to_key(enum trigger_kind k);
/* Elapses at most once in the life of its clock. */
bool trigger_is_once(const struct trigger *t);

#endif
