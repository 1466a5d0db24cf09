/* SPDX-License-Identifier: MIT */
#include "timer/spec.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parse_error.h"
#include "base/text.h"
#include "base/timespan.h"
#include "base/values.h"
#include "timer/zone_load.h"

const struct timer_defaults timer_defaults_builtin = {
	.retry = { 30 * USEC_PER_SEC, 2 * USEC_PER_MINUTE, 10 * USEC_PER_MINUTE },
	.n_retries = 3,
	.catch_up = USEC_PER_DAY,
	.catch_up_spread = 5 * USEC_PER_MINUTE,
};

/* An interval that is over as soon as it begins would start its target without end. */
#define INTERVAL_MIN USEC_PER_SEC

/* While a file is read: the spec, and what its rows need besides. */
struct reading {
	struct timer_spec spec;
	struct zone_cache *zones;
	bool is_unit_bad; /* Unit= does not name a service: then no target is guessed either */
};

/* ---- triggers ---- */

static const struct {
	const char *name, *key;
} trigger_words[] = {
	[TRIGGER_CALENDAR] = { "calendar", "OnCalendar" },
	[TRIGGER_STARTUP] = { "startup", "OnStartupSec" },
	[TRIGGER_ACTIVE] = { "active", "OnActiveSec" },
	[TRIGGER_BOOT] = { "boot", "OnBootSec" },
	[TRIGGER_UNIT_ACTIVE] = { "unit-active", "OnUnitActiveSec" },
	[TRIGGER_UNIT_INACTIVE] = { "unit-inactive", "OnUnitInactiveSec" },
};
_Static_assert(ELEMENTS(trigger_words) == TRIGGER_KIND_COUNT, "a word for each kind");

const char *trigger_kind_to_string(enum trigger_kind k)
{
	return trigger_words[k].name;
}

const char *trigger_kind_to_key(enum trigger_kind k)
{
	return trigger_words[k].key;
}

bool trigger_is_once(const struct trigger *t)
{
	return t->kind == TRIGGER_STARTUP || t->kind == TRIGGER_ACTIVE || t->kind == TRIGGER_BOOT;
}

static int calendar_read(const struct key_context *c, struct trigger *t)
{
	struct reading *reading = c->object;
	struct parse_error error;
	int r;

	t->calendar = arena_alloc(c->arena, sizeof(*t->calendar));
	if (!t->calendar)
		return -ENOMEM;
	r = zone_cache_parse(reading->zones, t->text, t->calendar, &error);
	if (r == -EBADMSG)
		key_error(c, "OnCalendar= does not parse: %s", error.sentence);
	else if (r >= 0 && !calendar_is_possible(t->calendar))
		key_warning(c, "OnCalendar= names a date that no year has, so it never elapses");
	return r;
}

static int span_read(const struct key_context *c, struct trigger *t)
{
	struct parse_error error;
	int r = timespan_parse(t->text, &t->span, &error);

	if (r < 0)
		key_error(c, "%s= is no time span: %s", c->assignment->key, error.sentence);
	else if (t->span == USEC_NEVER)
		key_warning(c, "%s=infinity never elapses", c->assignment->key);
	else if (t->span < INTERVAL_MIN && !trigger_is_once(t)) {
		key_warning(c, "%s= of less than a second is taken as one second",
			    c->assignment->key);
		t->span = INTERVAL_MIN;
	}
	return r;
}

/* row->parameter is the kind. As in systemd, an empty value of any of these keys resets all of
 * them. */
static int parse_trigger(const struct key_context *c)
{
	struct timer_spec *spec = &((struct reading *) c->object)->spec;
	struct trigger t = { .kind = (enum trigger_kind) c->row->parameter };
	struct trigger *all;
	int r;

	if (!*c->assignment->value) {
		spec->n_triggers = 0;
		return 0;
	}
	t.text = arena_strdup(c->arena, c->assignment->value);
	if (!t.text)
		return -ENOMEM;
	r = t.kind == TRIGGER_CALENDAR ? calendar_read(c, &t) : span_read(c, &t);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (spec->n_triggers >= UINT8_MAX) {
		key_error(c, "more than %d triggers", UINT8_MAX);
		return 0;
	}
	all = arena_grow(c->arena, spec->trigger, spec->n_triggers, sizeof(t));
	if (!all)
		return -ENOMEM;
	all[spec->n_triggers++] = t;
	spec->trigger = all;
	return 0;
}

/* ---- the ladder ---- */

/* Where the span of the ladder that begins at @p ends: "1min 30s" is two rungs, "1min30s" is
 * one. */
static size_t rung_length(const char *p)
{
	size_t n = strcspn(p, " \t");
	const char *next = p + n + strspn(p + n, " \t");

	/* "30 s": a number and its unit may stand apart. */
	if (strspn(p, "0123456789.") == n && *next && !strchr("0123456789.", *next))
		n = (size_t) (next - p) + strcspn(next, " \t");
	return n;
}

static int ladder_read(const char *value, usec_t *ret, unsigned *ret_n, struct parse_error *reterr)
{
	const char *p = value + strspn(value, " \t");
	char rung[64];

	*ret_n = 0;
	for (; *p; p += strspn(p, " \t")) {
		size_t n = rung_length(p);
		int r;

		if (*ret_n >= TIMER_RETRY_MAX)
			return parse_error_at(reterr, (unsigned) (p - value) + 1,
					      "more than %d delays", TIMER_RETRY_MAX);
		if (n >= sizeof(rung))
			return parse_error_at(reterr, (unsigned) (p - value) + 1,
					      "a delay is too long a text");
		memcpy(rung, p, n);
		rung[n] = '\0';
		r = timespan_parse(rung, &ret[*ret_n], reterr);
		if (r < 0)
			return r;
		if (ret[*ret_n] == USEC_NEVER)
			return parse_error_at(reterr, (unsigned) (p - value) + 1,
					      "a retry cannot wait for ever; end the list there instead");
		++*ret_n;
		p += n;
	}
	return 0;
}

static int parse_retry(const struct key_context *c)
{
	struct timer_spec *spec = &((struct reading *) c->object)->spec;
	usec_t ladder[TIMER_RETRY_MAX], *kept;
	struct parse_error error;
	unsigned n;

	if (ladder_read(c->assignment->value, ladder, &n, &error) < 0) {
		key_error(c, "RetrySec= is no list of time spans: %s", error.sentence);
		return 0;
	}
	kept = arena_alloc(c->arena, n * sizeof(*kept) + 1);
	if (!kept)
		return -ENOMEM;
	memcpy(kept, ladder, n * sizeof(*kept));
	spec->retry = kept;
	spec->n_retries = n;
	spec->has_retry = true;
	return 0;
}

static int parse_retry_on(const struct key_context *c)
{
	static const struct {
		const char *word;
		uint8_t bit;
	} words[] = {
		{ "exit", RETRY_ON_EXIT },
		{ "signal", RETRY_ON_SIGNAL },
		{ "timeout", RETRY_ON_TIMEOUT },
		{ "exec", RETRY_ON_EXEC },
	};
	struct timer_spec *spec = &((struct reading *) c->object)->spec;
	const char *p = c->assignment->value;
	uint8_t mask = 0;
	char *word, shown[64];
	size_t i;
	int r;

	while ((r = value_word(&p, VALUE_WORD_PLAIN, c->arena, &word)) > 0) {
		for (i = 0; i < ELEMENTS(words) && !str_equal(words[i].word, word); i++)
			;
		if (i == ELEMENTS(words)) {
			key_error(c, "RetryOn= knows exit, signal, timeout and exec, not '%s'",
				  text_escape_to(shown, sizeof(shown), word));
			return 0;
		}
		mask |= words[i].bit;
	}
	if (r == -EINVAL)
		key_error(c, "RetryOn= has unbalanced quotes or a bad escape");
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	/* Empty: the default again. */
	spec->retry_on = mask ? mask : RETRY_ON_EXIT;
	return 0;
}

/* ---- the rest ---- */

/* As unit/name.h has it, which is on the other side of the border. */
static bool is_service_name(const char *s)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\-@";
	size_t n = strlen(s);

	return str_ends(s, ".service") && n > strlen(".service") && n <= 255 &&
	       strspn(s, allowed) == n && *s != '.' && *s != '-' && *s != '@';
}

static int parse_unit(const struct key_context *c)
{
	struct reading *reading = c->object;
	const char *value = c->assignment->value;
	char shown[128];

	reading->spec.unit = NULL;
	reading->is_unit_bad = false;
	if (!*value)
		return 0;
	if (!is_service_name(value)) {
		key_error(c, "Unit= must name a service, such as backup.service, not '%s'",
			  text_escape_to(shown, sizeof(shown), value));
		reading->is_unit_bad = true;
		return 0;
	}
	reading->spec.unit = arena_strdup(c->arena, value);
	return reading->spec.unit ? 0 : -ENOMEM;
}

static int parse_catch_up(const struct key_context *c)
{
	struct timer_spec *spec = &((struct reading *) c->object)->spec;

	spec->has_catch_up = *c->assignment->value;
	return key_parse_span(c);
}

static int parse_enabled(const struct key_context *c)
{
	struct timer_spec *spec = &((struct reading *) c->object)->spec;

	spec->is_enabled_said = *c->assignment->value;
	return key_parse_bool(c);
}

static int parse_wake_system(const struct key_context *c)
{
	bool *field = key_field(c);
	bool is_told = *field;
	int r = key_parse_bool(c);

	if (r >= 0 && *field && !is_told)
		key_warning(
			c,
			"WakeSystem= is not possible here: supd sets no wake-up alarms; the timer "
			"elapses when the system runs again");
	return r;
}

#define FIELD(name) (offsetof(struct reading, spec) + offsetof(struct timer_spec, name))
#define TIMER_KEY(key, fn, field, parameter) \
	{ \
		"Timer", key, KEY_KNOWN, fn, FIELD(field), parameter \
	}
#define TRIGGER_KEY(key, kind) { "Timer", key, KEY_KNOWN, parse_trigger, 0, kind }
#define HARMLESS(section, key) { section, key, KEY_HARMLESS, NULL, 0, 0 }
#define NOT_APPLIED(section, key) { section, key, KEY_NOT_APPLIED, NULL, 0, 0 }

static const struct key_row key_rows[] = {
	{ "Unit", "Description", KEY_KNOWN, key_parse_string, FIELD(description), 0 },
	TRIGGER_KEY("OnCalendar", TRIGGER_CALENDAR),
	TRIGGER_KEY("OnStartupSec", TRIGGER_STARTUP),
	TRIGGER_KEY("OnActiveSec", TRIGGER_ACTIVE),
	TRIGGER_KEY("OnBootSec", TRIGGER_BOOT),
	TRIGGER_KEY("OnUnitActiveSec", TRIGGER_UNIT_ACTIVE),
	TRIGGER_KEY("OnUnitInactiveSec", TRIGGER_UNIT_INACTIVE),
	TIMER_KEY("OnClockChange", key_parse_bool, on_clock_change, false),
	TIMER_KEY("OnTimezoneChange", key_parse_bool, on_timezone_change, false),
	TIMER_KEY("Unit", parse_unit, unit, 0),
	TIMER_KEY("Enabled", parse_enabled, is_enabled, true),
	TIMER_KEY("RetrySec", parse_retry, retry, 0),
	TIMER_KEY("RetryOn", parse_retry_on, retry_on, 0),
	TIMER_KEY("Persistent", key_parse_bool, persistent, true),
	TIMER_KEY("CatchUpSec", parse_catch_up, catch_up, 0),
	TIMER_KEY("AccuracySec", key_parse_span, accuracy, 0),
	TIMER_KEY("RandomizedDelaySec", key_parse_span, randomized_delay, 0),
	TIMER_KEY("FixedRandomDelay", key_parse_bool, fixed_random_delay, false),
	TIMER_KEY("RemainAfterElapse", key_parse_bool, remain_after_elapse, true),
	TIMER_KEY("WakeSystem", parse_wake_system, wake_system, false),
	/* An elapse while the target runs is never made up for here, so there is nothing to
	 * defer. */
	HARMLESS("Timer", "DeferReactivation"),
	NOT_APPLIED("Timer", "RandomizedOffsetSec"),

	/* supctl enable reads them. */
	HARMLESS("Install", "WantedBy"),
	HARMLESS("Install", "RequiredBy"),
	HARMLESS("Install", "UpheldBy"),
	HARMLESS("Install", "Alias"),
	HARMLESS("Install", "Also"),
	HARMLESS("Install", "DefaultInstance"),
	HARMLESS("Unit", "Documentation"),
	HARMLESS("Unit", "After"),
	HARMLESS("Unit", "Before"),
	HARMLESS("Unit", "Wants"),
	HARMLESS("Unit", "Requires"),
	HARMLESS("Unit", "Requisite"),
	HARMLESS("Unit", "BindsTo"),
	HARMLESS("Unit", "PartOf"),
	HARMLESS("Unit", "Upholds"),
	HARMLESS("Unit", "Conflicts"),
	HARMLESS("Unit", "DefaultDependencies"),
	HARMLESS("Unit", "IgnoreOnIsolate"),
	HARMLESS("Unit", "StopWhenUnneeded"),
	HARMLESS("Unit", "RefuseManualStart"),
	HARMLESS("Unit", "RefuseManualStop"),
	HARMLESS("Unit", "AllowIsolate"),
	HARMLESS("Unit", "CollectMode"),
	HARMLESS("Unit", "SourcePath"),
	HARMLESS("Unit", "OnFailureJobMode"),
	HARMLESS("Unit", "OnSuccessJobMode"),
	HARMLESS("Unit", "PropagatesReloadTo"),
	HARMLESS("Unit", "ReloadPropagatedFrom"),
	HARMLESS("Unit", "PropagatesStopTo"),
	HARMLESS("Unit", "StopPropagatedFrom"),
	HARMLESS("Unit", "JoinsNamespaceOf"),
	HARMLESS("Unit", "JobTimeoutRebootArgument"),
	HARMLESS("Unit", "FailureActionExitStatus"),
	HARMLESS("Unit", "SuccessActionExitStatus"),
	HARMLESS("Unit", "RebootArgument"),
	HARMLESS("Unit", "WantsMountsFor"),
	HARMLESS("Unit", "SurviveFinalKillSignal"),
	/* What some of these were called once. */
	HARMLESS("Unit", "BindTo"),
	HARMLESS("Unit", "IgnoreOnSnapshot"),
	HARMLESS("Unit", "OnFailureIsolate"),
	HARMLESS("Unit", "PropagateReloadFrom"),
	HARMLESS("Unit", "PropagateReloadTo"),
	HARMLESS("Unit", "RequiresOverridable"),
	HARMLESS("Unit", "RequisiteOverridable"),
	NOT_APPLIED("Unit", "RequiresMountsFor"),
	NOT_APPLIED("Unit", "OnFailure"),
	NOT_APPLIED("Unit", "OnSuccess"),
	NOT_APPLIED("Unit", "JobTimeoutSec"),
	NOT_APPLIED("Unit", "JobRunningTimeoutSec"),
	NOT_APPLIED("Unit", "JobTimeoutAction"),
	NOT_APPLIED("Unit", "StartLimitIntervalSec"),
	NOT_APPLIED("Unit", "StartLimitInterval"),
	NOT_APPLIED("Unit", "StartLimitBurst"),
	NOT_APPLIED("Unit", "StartLimitAction"),
	NOT_APPLIED("Unit", "FailureAction"),
	NOT_APPLIED("Unit", "SuccessAction"),
#define CONDITION(name) NOT_APPLIED("Unit", "Condition" name), NOT_APPLIED("Unit", "Assert" name)
	CONDITION("Architecture"),
	CONDITION("Firmware"),
	CONDITION("Virtualization"),
	CONDITION("Host"),
	CONDITION("KernelCommandLine"),
	CONDITION("KernelVersion"),
	CONDITION("Credential"),
	CONDITION("Environment"),
	CONDITION("Security"),
	CONDITION("Capability"),
	CONDITION("ACPower"),
	CONDITION("NeedsUpdate"),
	CONDITION("FirstBoot"),
	CONDITION("PathExists"),
	CONDITION("PathExistsGlob"),
	CONDITION("PathIsDirectory"),
	CONDITION("PathIsSymbolicLink"),
	CONDITION("PathIsMountPoint"),
	CONDITION("PathIsReadWrite"),
	CONDITION("PathIsEncrypted"),
	CONDITION("DirectoryNotEmpty"),
	CONDITION("FileNotEmpty"),
	CONDITION("FileIsExecutable"),
	CONDITION("User"),
	CONDITION("Group"),
	CONDITION("ControlGroupController"),
	CONDITION("Memory"),
	CONDITION("CPUs"),
	CONDITION("CPUFeature"),
	CONDITION("OSRelease"),
	CONDITION("MemoryPressure"),
	CONDITION("CPUPressure"),
	CONDITION("IOPressure"),
	CONDITION("KernelModuleLoaded"),
	CONDITION("PathIsSocket"),
	CONDITION("Version"),
};

const struct key_table *timer_keys(void)
{
	static const struct key_table table = { .row = key_rows, .n = ELEMENTS(key_rows) };

	return &table;
}

bool timer_defaults_set(struct timer_defaults *d, const char *key, const char *value)
{
	usec_t ladder[TIMER_RETRY_MAX];
	unsigned n;

	if (str_equal(key, "RetrySec")) {
		if (ladder_read(value, ladder, &n, NULL) < 0)
			return false;
		memcpy(d->retry, ladder, n * sizeof(*ladder));
		d->n_retries = n;
		return true;
	}
	return value_span(value,
			  str_equal(key, "CatchUpSec") ? &d->catch_up : &d->catch_up_spread) >= 0;
}

static int default_target(const char *name, struct arena *arena, struct timer_spec *spec)
{
	if (spec->unit)
		return 0;
	spec->unit =
		arena_printf(arena, "%.*s.service", (int) (strlen(name) - strlen(".timer")), name);
	return spec->unit ? 0 : -ENOMEM;
}

int timer_spec_parse(const char *name, const char *path, const struct assignment *assignment,
		     size_t n, const struct timer_defaults *defaults, struct zone_cache *zones,
		     struct arena *arena, struct diag *d, struct timer_spec *ret)
{
	struct reading reading = {
		.spec = {
			.is_enabled = true,
			.persistent = true,
			.remain_after_elapse = true,
			.retry_on = RETRY_ON_EXIT,
		},
		.zones = zones,
	};
	struct timer_spec *spec = &reading.spec;
	unsigned n_errors = d->n_errors;
	int r;

	r = keys_apply(timer_keys(), assignment, n, arena, d, &reading);
	if (r < 0)
		return r;
	if (!spec->has_retry) {
		spec->retry = defaults->retry; /* lives as long as the plugin */
		spec->n_retries = defaults->n_retries;
	}
	if (!spec->has_catch_up)
		spec->catch_up = defaults->catch_up;
	if (spec->n_triggers == 0 && !spec->on_clock_change && !spec->on_timezone_change &&
	    d->n_errors == n_errors)
		diag_add(d, DIAG_ERROR, path, 0, NULL,
			 "no trigger: set at least one of OnCalendar=, OnStartupSec=, OnActiveSec=, OnBootSec=, "
			 "OnUnitActiveSec=, OnUnitInactiveSec=, OnClockChange=, OnTimezoneChange=");
	r = reading.is_unit_bad ? 0 : default_target(name, arena, spec);
	if (r >= 0)
		*ret = *spec;
	return r;
}

static bool same_trigger(const struct trigger *a, const struct trigger *b)
{
	return a->kind == b->kind && a->span == b->span && str_equal(a->text, b->text);
}

static bool same_triggers(const struct timer_spec *a, const struct timer_spec *b)
{
	for (unsigned i = 0; i < a->n_triggers && i < b->n_triggers; i++)
		if (!same_trigger(&a->trigger[i], &b->trigger[i]))
			return false;
	return a->n_triggers == b->n_triggers && a->on_clock_change == b->on_clock_change &&
	       a->on_timezone_change == b->on_timezone_change;
}

static bool same_ladder(const struct timer_spec *a, const struct timer_spec *b)
{
	for (unsigned i = 0; i < a->n_retries && i < b->n_retries; i++)
		if (a->retry[i] != b->retry[i])
			return false;
	return a->n_retries == b->n_retries && a->retry_on == b->retry_on;
}

static bool same_delay(const struct timer_spec *a, const struct timer_spec *b)
{
	return a->accuracy == b->accuracy && a->randomized_delay == b->randomized_delay &&
	       a->fixed_random_delay == b->fixed_random_delay;
}

bool timer_spec_is_same(const struct timer_spec *a, const struct timer_spec *b)
{
	return str_equal(a->unit, b->unit) && same_triggers(a, b) && same_ladder(a, b) &&
	       same_delay(a, b) && a->catch_up == b->catch_up && a->persistent == b->persistent &&
	       a->is_enabled == b->is_enabled && a->remain_after_elapse == b->remain_after_elapse &&
	       a->wake_system == b->wake_system;
}
