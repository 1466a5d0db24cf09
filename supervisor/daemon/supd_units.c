/* SPDX-License-Identifier: MIT */
#include "daemon/supd_units.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "control/client.h"
#include "core/report.h"
#include "core/unit.h"
#include "core/unit_wait.h"
#include "daemon/supd_control.h"
#include "daemon/supd_files.h"

#define PLUGIN "timer"

/* ---- rows of the plugin, completed with what the host knows ---- */

/* One listing on its way to the caller. */
struct listing {
	struct supd_control *c;
	uint64_t id;
	struct arena arena;
	const char *kind;  /* put before the fields of rows that have none; NULL: nothing */
	const char *only;  /* of this unit, or NULL */
	/* units of which a row was sent, of those that send_silent() might speak of */
	struct seen *seen;
	size_t n;
	bool is_active;    /* the last row was of an active unit */
	bool has_problems; /* rows get the problems of their files */
	bool only_errors;  /* masked units are none of it */
};

struct seen {
	UT_hash_handle hh;
	const char *unit;
};

static void listing_done(struct listing *l)
{
	HASH_CLEAR(hh, l->seen);
	arena_done(&l->arena);
}

static bool was_seen(const struct listing *l, const char *unit)
{
	struct seen *s;

	HASH_FIND_STR(l->seen, unit, s);
	return s;
}

/* Are its files at fault, or do they mask it? */
static bool is_told_of(const struct listing *l, const struct manager_plugin_unit *u)
{
	return u->problems->n_errors > 0 || (u->is_masked && !l->only_errors);
}

/* Most units need no note, and lists are long. */
static void see(struct listing *l, const char *unit)
{
	struct manager_plugin_unit u;
	struct seen *s;

	if (!manager_plugin_unit(l->c->manager, unit, &u) || !is_told_of(l, &u))
		return;
	s = arena_alloc(&l->arena, sizeof(*s));
	if (!s)
		return;
	s->unit = arena_strdup(&l->arena, unit);
	if (s->unit)
		HASH_ADD_KEYPTR(hh, l->seen, s->unit, strlen(s->unit), s);
}

static const struct supd_field *field_of(const struct supd_row *row, const char *key)
{
	for (size_t i = 0; i < row->n; i++)
		if (str_equal(row->field[i].key, key))
			return &row->field[i];
	return NULL;
}

static const char *text_of(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = field_of(row, key);

	return f && f->type == SUPD_STRING ? f->value.string : NULL;
}

static bool bool_of(const struct supd_row *row, const char *key)
{
	const struct supd_field *f = field_of(row, key);

	return f && f->type == SUPD_BOOL && f->value.boolean;
}

/* What systemctl is-enabled would say: only of one unit, as its files are read again for it. */
static void report_file_state(struct supd_control *c, struct report *r, const char *asked,
			      bool is_enabled)
{
	report_string(r, "unit_file_state", manager_unit_file_state(c->manager, asked, is_enabled));
}

/* Its files and their problems, where the row does not have them. */
static void complete(struct listing *l, struct report *r, const char *unit)
{
	const struct supd_row row = { .field = r->field, .n = r->n };
	struct manager_plugin_unit u;

	if (!unit || !manager_plugin_unit(l->c->manager, unit, &u))
		return;
	if (!field_of(&row, "fragment"))
		report_string(r, "fragment", u.fragment);
	if (!field_of(&row, "problems"))
		report_problems(r, "problems", u.problems);
}

/* Room for a row with what is added to it. */
#define ROW_BYTES (64 * sizeof(struct supd_field))

static int send_row(void *userdata, const struct supd_row *row)
{
	_cleanup_(arena_done) struct arena arena = { 0 };
	struct listing *l = userdata;
	struct report r = { .arena = &arena, .is_failed = !arena_reserve(&arena, ROW_BYTES) };
	const char *unit = text_of(row, "unit"), *active = text_of(row, "active_state");

	if (l->kind && !field_of(row, "kind"))
		report_string(&r, "kind", l->kind);
	report_fields(&r, row);
	if (l->has_problems)
		complete(l, &r, unit);
	if (unit && l->only)
		report_file_state(l->c, &r, unit, bool_of(row, "enabled"));
	if (unit)
		see(l, unit);
	l->n++;
	l->is_active = active && !str_equal(active, "inactive") && !str_equal(active, "failed");
	supd_control_row(l->c, l->id, &r);
	return 0;
}

static int table(struct listing *l, const char *name)
{
	const struct supd_now now = l->c->now(l->c->userdata);

	return manager_table(l->c->manager, &now, name, l->only, send_row, l);
}

/* Units of the plugin that it does not speak of itself: their files are at fault, or mask them. */
static void send_silent(void *userdata, const struct manager_plugin_unit *u)
{
	struct listing *l = userdata;
	struct report r = { .arena = &l->arena };

	if (!is_told_of(l, u) || was_seen(l, u->name) || (l->only && !str_equal(l->only, u->name)))
		return;
	if (l->kind)
		report_string(&r, "kind", l->kind);
	report_string(&r, "unit", u->name);
	report_null(&r, "description");
	report_string(&r, "load_state", u->problems->n_errors > 0 ? "invalid" : "masked");
	report_string(&r, "active_state", "inactive");
	report_string(&r, "sub_state", "dead");
	report_bool(&r, "enabled", false);
	report_string(&r, "fragment", u->fragment);
	report_problems(&r, "problems", u->problems);
	if (l->only)
		report_file_state(l->c, &r, u->name, false);
	l->n++;
	l->is_active = false;
	supd_control_row(l->c, l->id, &r);
}

static bool timers_run(struct supd_control *c)
{
	const char *reason;

	return str_equal(manager_gate_state(c->manager, &reason), "enabled");
}

/* ---- list ---- */

static void send_service(struct supd_control *c, uint64_t id, const struct unit *u)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_unit(&r, u);
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

static void send_template(struct supd_control *c, uint64_t id, const char *name)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	struct unit_source source = { 0 };

	if (c->world->read_unit(c->world->ctx, name, &source) >= 0) {
		report_string(&r, "unit", name);
		report_null(&r, "description");
		report_string(&r, "load_state", source.is_masked ? "masked" : "loaded");
		report_string(&r, "active_state", "inactive");
		report_string(&r, "sub_state", "dead");
		report_bool(&r, "enabled", false);
		report_string(&r, "fragment", source.n_pieces > 0 ? source.piece[0].path : NULL);
		report_problems(&r, "problems", &source.problems);
		supd_control_row(c, id, &r);
	}
	unit_source_done(&source);
	arena_done(&arena);
}

/* The plugin knows nothing of templates. */
static void send_templates(struct supd_control *c, uint64_t id)
{
	const char *name;

	for (size_t i = 0; (name = c->world->unit_name(c->world->ctx, i)); i++)
		if (unit_name_kind(name) == UNIT_TIMER && unit_name_is_template(name))
			send_template(c, id, name);
}

void units_list(struct supd_control *c, const struct control_request *q)
{
	struct listing l = { .c = c, .id = q->id, .has_problems = true };
	struct unit *u;

	for (size_t i = 0; (u = manager_unit_at(c->manager, i)); i++)
		send_service(c, q->id, u);
	if (timers_run(c)) {
		(void) table(&l, "list");
		manager_plugin_units(c->manager, send_silent, &l);
		send_templates(c, q->id);
	}
	control_done(c->server, q->id, CONTROL_OK, NULL);
	listing_done(&l);
}

/* ---- status ---- */

/* Which timers start which service: read once for all of them. */
struct target {
	UT_hash_handle hh;
	const char *name;
	const char **timer; /* NULL-terminated */
	size_t n;
};

struct triggers {
	struct arena arena;
	struct target *target;
};

static struct target *target_get(struct triggers *t, const char *name)
{
	struct target *target;

	HASH_FIND_STR(t->target, name, target);
	if (target)
		return target;
	target = arena_alloc(&t->arena, sizeof(*target));
	if (!target)
		return NULL;
	target->name = arena_strdup(&t->arena, name);
	if (!target->name)
		return NULL;
	HASH_ADD_KEYPTR(hh, t->target, target->name, strlen(target->name), target);
	return HASH_IS_IN(target) ? target : NULL;
}

static int note_trigger(void *userdata, const struct supd_row *row)
{
	struct triggers *t = userdata;
	const char *unit = text_of(row, "unit"), *name = text_of(row, "activates");
	struct target *target;
	const char **grown;

	if (!unit || !name)
		return 0;
	target = target_get(t, name);
	/* One more, for the NULL at the end. */
	grown = target ? arena_grow(&t->arena, target->timer, target->n + 1, sizeof(*grown)) : NULL;
	unit = arena_strdup(&t->arena, unit);
	if (!grown || !unit)
		return -ENOMEM;
	target->timer = grown;
	target->timer[target->n++] = unit;
	target->timer[target->n] = NULL;
	return 0;
}

/* What memory does not suffice for is left out. */
static void triggers_read(struct supd_control *c, struct triggers *t)
{
	const struct supd_now now = c->now(c->userdata);

	*t = (struct triggers) { 0 };
	(void) manager_table(c->manager, &now, "units", NULL, note_trigger, t);
}

static void triggers_done(struct triggers *t)
{
	HASH_CLEAR(hh, t->target);
	arena_done(&t->arena);
}

/* @asked: the one unit that is asked for, by this name; or NULL. */
static void status_service(struct supd_control *c, uint64_t id, const struct unit *u,
			   const struct triggers *t, const char *asked)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	const struct supd_now now = c->now(c->userdata);
	const struct target *target;

	HASH_FIND_STR(t->target, u->name, target);
	report_unit(&r, u);
	unit_wait_report(&r, u, &now);
	report_strings(&r, "triggered_by", target ? target->timer : NULL);
	if (asked)
		report_file_state(c, &r, asked, unit_config_starts_with_supd(u->config));
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

/* A timer that is none yet: a template, or an instance that nobody has enabled. */
static bool send_possible(struct listing *l)
{
	const struct world *w = l->c->world;
	const char *real = w->unit_resolve(w->ctx, l->only);
	struct report r = { .arena = &l->arena };
	struct unit_source source = { 0 };

	if (!real || (!unit_name_is_template(real) && !unit_name_is_instance(real)) ||
	    w->read_unit(w->ctx, l->only, &source) < 0)
		return false;
	report_string(&r, "unit", l->only);
	report_null(&r, "description");
	report_string(&r, "load_state", source.is_masked ? "masked" : "loaded");
	report_string(&r, "active_state", "inactive");
	report_string(&r, "sub_state", "dead");
	report_bool(&r, "enabled", false);
	report_string(&r, "fragment", source.n_pieces > 0 ? source.piece[0].path : NULL);
	report_problems(&r, "problems", &source.problems);
	report_file_state(l->c, &r, l->only, false);
	supd_control_row(l->c, l->id, &r);
	unit_source_done(&source);
	return true;
}

static void status_timers(struct supd_control *c, const struct control_request *q, int *ret_status)
{
	struct listing l = { .c = c, .id = q->id, .only = q->unit, .has_problems = true };
	struct manager_plugin_unit u;

	(void) table(&l, "status");
	manager_plugin_units(c->manager, send_silent, &l);
	if (l.n == 0)
		*ret_status = q->unit && send_possible(&l) ? CONTROL_NOT_ACTIVE : CONTROL_NO_UNIT;
	else if (q->unit && manager_plugin_unit(c->manager, q->unit, &u) &&
		 u.problems->n_errors > 0)
		*ret_status = CONTROL_NO_UNIT;
	else
		*ret_status = l.is_active ? CONTROL_OK : CONTROL_NOT_ACTIVE;
	listing_done(&l);
}

static void status_all(struct supd_control *c, const struct control_request *q)
{
	struct triggers t;
	struct unit *u;
	int ignored;

	triggers_read(c, &t);
	for (size_t i = 0; (u = manager_unit_at(c->manager, i)); i++)
		status_service(c, q->id, u, &t, NULL);
	triggers_done(&t);
	if (timers_run(c))
		status_timers(c, q, &ignored);
	control_done(c->server, q->id, CONTROL_OK, NULL);
}

/* As systemctl: 0 active, 3 not active, 4 no such unit; and 4 where the files are at fault. */
static int status_of(const struct unit *u)
{
	if (unit_is_active(u))
		return CONTROL_OK;
	return u->config->load == UNIT_INVALID ? CONTROL_NO_UNIT : CONTROL_NOT_ACTIVE;
}

/* An answer about one timer: the rows are sent; what remains is how it ends. */
static void end_timer(struct supd_control *c, const struct control_request *q, int status)
{
	struct manager_plugin_unit u;

	if (status == CONTROL_NO_UNIT && !manager_plugin_unit(c->manager, q->unit, &u))
		supd_control_no_unit(c, q->id, q->unit);
	else
		control_done(c->server, q->id, status, NULL);
}

void units_status(struct supd_control *c, const struct control_request *q)
{
	struct triggers t;
	struct unit *u;
	int status;

	if (!q->unit) {
		status_all(c, q);
		return;
	}
	if (unit_name_kind(q->unit) == UNIT_TIMER) {
		if (supd_control_no_timers(c, q->id))
			return;
		status_timers(c, q, &status);
		end_timer(c, q, status);
		return;
	}
	u = manager_load_unit(c->manager, q->unit);
	if (!u) {
		supd_control_no_unit(c, q->id, q->unit);
		return;
	}
	triggers_read(c, &t);
	status_service(c, q->id, u, &t, q->unit);
	triggers_done(&t);
	control_done(c->server, q->id, status_of(u), NULL);
	manager_unload_unit(c->manager, u);
}

/* ---- show ---- */

void units_show(struct supd_control *c, const struct control_request *q)
{
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };
	const struct supd_now now = c->now(c->userdata);
	struct unit *u;
	int status;

	if (unit_name_kind(q->unit) == UNIT_TIMER) {
		if (supd_control_no_timers(c, q->id))
			return;
		status_timers(c, q, &status);
		end_timer(c, q, status == CONTROL_NOT_ACTIVE ? CONTROL_OK : status);
		return;
	}
	u = manager_load_unit(c->manager, q->unit);
	if (!u) {
		supd_control_no_unit(c, q->id, q->unit);
		return;
	}
	report_unit(&r, u);
	unit_wait_report(&r, u, &now);
	report_unit_properties(&r, u->config, files_may_see(q, u));
	supd_control_row(c, q->id, &r);
	control_done(c->server, q->id, CONTROL_OK, NULL);
	manager_unload_unit(c->manager, u);
	arena_done(&arena);
}

/* ---- tables of the plugin ---- */

static int keep_state(void *userdata, const struct supd_row *row)
{
	struct report *r = userdata;

	for (size_t i = 0; i < row->n; i++) {
		const struct supd_field *f = &row->field[i];

		/* Numbers and times only: text is the plugin's own. */
		if (str_equal(f->key, "not_persisted_since") && f->type == SUPD_TIMESTAMP)
			report_time(r, "not_persisted_since", f->value.usec);
	}
	return 0;
}

static void send_subsystem(struct supd_control *c, uint64_t id)
{
	const char *reason, *state = manager_gate_state(c->manager, &reason);
	const struct supd_now now = c->now(c->userdata);
	struct arena arena = { 0 };
	struct report r = { .arena = &arena };

	report_string(&r, "subsystem", PLUGIN);
	report_string(&r, "state", state);
	report_string(&r, "reason", reason);
	(void) manager_table(c->manager, &now, "subsystem", NULL, keep_state, &r);
	if (!r.is_failed && r.n == 3)
		report_null(&r, "not_persisted_since");
	supd_control_row(c, id, &r);
	arena_done(&arena);
}

static void end_table(struct supd_control *c, const struct control_request *q, int r)
{
	struct manager_plugin_unit u;
	char message[700];

	if (r >= 0) {
		control_done(c->server, q->id, CONTROL_OK, NULL);
	} else if (r == -ENOENT && q->unit && manager_plugin_unit(c->manager, q->unit, &u)) {
		(void) snprintf(message, sizeof(message), "%s is %s; supctl status %s tells more",
				q->unit, u.is_masked ? "masked" : "invalid", q->unit);
		control_done(c->server, q->id, CONTROL_NO_UNIT, message);
	} else if (r == -ENOENT && q->unit) {
		supd_control_no_unit(c, q->id, q->unit);
	} else {
		(void) snprintf(message, sizeof(message), "%s timers: %s", q->table,
				r == -EOPNOTSUPP ? "there is no such table" : strerror(-r));
		control_done(c->server, q->id, CONTROL_FAILED, message);
	}
}

/* "units" is the list of timers: those that are well, then those that are not; other tables are the
 * plugin's. */
void units_table(struct supd_control *c, const struct control_request *q)
{
	bool is_list = str_equal(q->table, "units");
	struct listing l = {
		.c = c, .id = q->id, .only = q->unit, .kind = is_list ? "timer" : NULL
	};
	char message[256];
	int r;

	if (!str_equal(q->subsystem, PLUGIN)) {
		(void) snprintf(message, sizeof(message),
				"no such subsystem: %s (there is: " PLUGIN ")", q->subsystem);
		control_done(c->server, q->id, CONTROL_NO_UNIT, message);
		return;
	}
	if (q->unit && supd_control_no_timers(c, q->id))
		return;
	send_subsystem(c, q->id);
	r = table(&l, q->table);
	if (is_list && r >= 0) {
		l.kind = "invalid";
		l.only_errors = true;
		manager_plugin_units(c->manager, send_silent, &l);
	}
	end_table(c, q, r);
	listing_done(&l);
}

/* Where timers do not run nothing comes: the first row says why. */
void units_plan(struct supd_control *c, const struct control_request *q)
{
	const struct supd_query query = {
		.size = sizeof(query),
		.table = "plan",
		.unit = q->unit,
		.now = c->now(c->userdata),
		.from = q->since,
		.to = q->until,
	};
	struct listing l = { .c = c, .id = q->id };
	struct control_request named = *q;

	named.table = query.table;
	send_subsystem(c, q->id);
	end_table(c, &named, manager_query(c->manager, &query, send_row, &l));
	listing_done(&l);
}
