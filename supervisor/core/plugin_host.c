/* SPDX-License-Identifier: MIT */
/* The host's side of supd-plugin.h: one plugin, its instance while it runs, its units and their
 * problems. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "core/manager_private.h"
#include "core/plugin_verdict.h"
#include "service/specifier.h"
#include "unit/merge.h"

/* ---- units of the plugin ---- */

static void files_done(struct plugin_unit_files *f)
{
	fragment_done(&f->fragment);
	diag_done(&f->problems);
}

static void next_drop(struct plugin_unit *pu)
{
	if (pu->next)
		files_done(pu->next);
	free(TAKE_PTR(pu->next));
}

static void plugin_unit_free(struct plugin_unit *pu)
{
	next_drop(pu);
	files_done(&pu->files);
	free(pu);
}

static void units_forget(struct plugin_host *h)
{
	for (size_t i = 0; i < h->units.n; i++)
		plugin_unit_free(h->units.item[i]);
	names_done(&h->units);
}

struct plugin_unit *plugin_unit_find(struct plugin_host *h, const char *name)
{
	return names_find(&h->units, name);
}

static struct plugin_unit *unit_get(struct plugin_host *h, const char *name)
{
	size_t n = strlen(name) + 1;
	struct plugin_unit *pu = names_find(&h->units, name);

	if (pu)
		return pu;
	pu = calloc(1, sizeof(*pu) + n);
	if (!pu)
		return NULL;
	memcpy(pu->name, name, n);
	if (names_add(&h->units, pu) == 0)
		return pu;
	free(pu);
	return NULL;
}

/* Room for what is read now; the fragment is the caller's to fill in. */
static struct plugin_unit_files *next_begin(struct plugin_unit *pu, uint64_t fingerprint,
					    bool is_masked)
{
	next_drop(pu);
	pu->next = calloc(1, sizeof(*pu->next));
	if (!pu->next)
		return NULL;
	pu->next->fingerprint = fingerprint;
	pu->next->is_masked = is_masked;
	pu->next->is_read = true;
	return pu->next;
}

static int next_read(struct plugin_unit *pu, const struct unit_source *source)
{
	struct plugin_unit_files *next = next_begin(pu, source->fingerprint, source->is_masked);

	return next ? fragment_init(&next->fragment, source) : -ENOMEM;
}

/* Only the plugin's own judgement of a file that stands as it was: its old problems go. */
static int next_same(struct plugin_unit *pu)
{
	struct plugin_unit_files *next = next_begin(pu, pu->files.fingerprint, pu->files.is_masked);

	return next ? fragment_copy(&pu->files.fragment, &next->fragment) : -ENOMEM;
}

/* What was read becomes what is. */
static void unit_settle(struct plugin_unit *pu)
{
	if (!pu->next)
		return;
	files_done(&pu->files);
	pu->files = *pu->next;
	free(TAKE_PTR(pu->next));
}

static bool is_expanded(const struct plugin_host *h, const char *key)
{
	if (!SUPD_HAS(h->plugin, expanded) || !h->plugin->expanded)
		return false;
	if (str_starts(key, "X-"))
		key += strlen("X-");
	for (const char *const *k = h->plugin->expanded; *k; k++)
		if (str_equal(*k, key))
			return true;
	return false;
}

/* Specifiers in those values of @file that the plugin names. Mistakes go to @d. 0 or -ENOMEM. */
static int expand_all(struct plugin_host *h, const struct supd_unit_file *file, struct arena *arena,
		      struct assignments *all, struct diag *d)
{
	struct specifiers s = *h->manager->config->specifiers;

	s.unit = file->name;
	s.fragment = file->path;
	for (size_t i = 0; i < all->n; i++) {
		struct assignment *a = &all->item[i];
		char *value, letter, shown[128];
		int r;

		if (!strchr(a->value, '%') || !is_expanded(h, a->key))
			continue;
		r = specifier_expand(&s, a->value, arena, &value, &letter);
		if (r >= 0)
			a->value = value;
		else if (r == -EINVAL)
			diag_add(d, DIAG_ERROR, a->file, a->line, a->key,
				 "%s= asks for %%%c, which is not known here: '%s' (a percent sign is written %%%%)",
				 a->key, letter, text_escape_to(shown, sizeof(shown), a->value));
		else
			return r;
	}
	return 0;
}

static int unit_hand_over(struct plugin_host *h, struct plugin_unit *pu,
			  const struct unit_source *source, const struct supd_unit_reader *reader)
{
	struct arena arena = { 0 };
	struct assignments all = { 0 };
	struct supd_assignment *out = NULL;
	struct supd_unit_file file = {
		.size = sizeof(file),
		.name = pu->name,
		.fingerprint = source->fingerprint,
		.is_masked = source->is_masked,
		/* Supd's own are so unless they say no; instances, only if somebody wants them. */
		.is_enabled = source->is_wanted || !(source->is_systemd || source->is_made),
		.path = source->n_pieces > 0 ? source->piece[0].path : pu->name,
	};
	int r = 0;

	if (!source->is_masked)
		r = unit_merge(source, &arena, &all, &pu->next->problems);
	if (r >= 0)
		r = expand_all(h, &file, &arena, &all, &pu->next->problems);
	if (r >= 0 && pu->next->problems.n_errors == 0) {
		out = calloc(all.n + 1, sizeof(*out));
		for (size_t i = 0; out && i < all.n; i++)
			out[i] = (struct supd_assignment){
				.section = all.item[i].section,
				.key = all.item[i].key,
				.value = all.item[i].value,
				.file = all.item[i].file,
				.line = all.item[i].line,
				.section_line = all.item[i].section_line,
			};
		file.assignment = out;
		file.n_assignments = all.n;
		r = out ? reader->unit(reader->userdata, &file) : -ENOMEM;
	}
	free(out);
	arena_done(&arena);
	return r;
}

static int unit_read_one(struct plugin_host *h, const char *name,
			 const struct supd_unit_reader *reader)
{
	const struct world *w = h->manager->world;
	struct unit_source source = { 0 };
	struct plugin_unit *pu = unit_get(h, name);
	int r;

	if (!pu)
		return -ENOMEM;
	pu->is_present = true;
	if (!reader->want(reader->userdata, name, w->unit_fingerprint(w->ctx, name)) &&
	    pu->files.is_read && pu->files.problems.n_errors == 0)
		return 0;
	r = w->read_unit(w->ctx, name, &source);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = next_read(pu, &source);
	if (r >= 0)
		r = unit_hand_over(h, pu, &source, reader);
	unit_source_done(&source);
	/* Only a reload may yet be refused. */
	if (r >= 0 && !h->is_preparing)
		unit_settle(pu);
	return r;
}

static bool is_among(const char *const *names, const char *name)
{
	for (; *names; names++)
		if (str_equal(*names, name))
			return true;
	return false;
}

/* Those that are known are said to be as they were, so that they stay. */
static int read_only(struct plugin_host *h, const struct supd_unit_reader *reader)
{
	const struct world *w = h->manager->world;
	int r = 0;

	for (size_t i = 0; i < h->units.n; i++) {
		struct plugin_unit *pu = h->units.item[i];

		if (is_among(h->only, pu->name))
			continue;
		pu->is_present = true;
		(void) reader->want(reader->userdata, pu->name, pu->files.fingerprint);
	}
	for (const char *const *name = h->only; r >= 0 && *name; name++)
		if (str_ends(*name, h->plugin->suffix) && w->unit_fingerprint(w->ctx, *name) != 0)
			r = unit_read_one(h, *name, reader);
	return r;
}

static int host_read_units(void *ctx, const struct supd_unit_reader *reader)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	const char *name;
	int r;

	if (h->only)
		return read_only(h, reader);
	for (size_t i = 0; (name = w->unit_name(w->ctx, i)); i++) {
		/* A template is a file to make units of, none itself. */
		if (!str_ends(name, h->plugin->suffix) || unit_name_is_template(name) ||
		    !manager_is_unit(h->manager, name))
			continue;
		r = unit_read_one(h, name, reader);
		if (r < 0)
			return r;
	}
	return 0;
}

static enum diag_severity severity_of(enum supd_severity s)
{
	switch (s) {
	case SUPD_PROBLEM_ERROR:
		return DIAG_ERROR;
	case SUPD_PROBLEM_WARNING:
		return DIAG_WARNING;
	case SUPD_PROBLEM_NOT_APPLIED:
		return DIAG_NOT_APPLIED;
	}
	return DIAG_ERROR;
}

static int host_problem(void *ctx, const struct supd_problem *p)
{
	struct plugin_host *h = ctx;
	struct plugin_unit *pu = plugin_unit_find(h, p->unit);

	if (!pu)
		return -ENOENT;
	if (!pu->next && h->is_preparing && next_same(pu) < 0)
		return -ENOMEM;
	diag_add(pu->next ? &pu->next->problems : &pu->files.problems, severity_of(p->severity),
		 p->file ? p->file : pu->name, p->line, p->key, "%s", p->message);
	return 0;
}

/* ---- the host's calls ---- */

static int host_subscribe(void *ctx, const struct supd_listener *listener, void *userdata)
{
	struct plugin_host *h = ctx;

	if (!plugin_listener_is_complete(listener))
		return -EINVAL;
	h->listener = listener;
	h->listener_data = userdata;
	return 0;
}

static int host_arm(void *ctx, enum supd_clock clock, uint64_t when)
{
	struct plugin_host *h = ctx;

	if ((unsigned) clock >= SUPD_CLOCK_COUNT)
		return -EINVAL;
	h->wake[clock] = when;
	return 0;
}

static int host_start_unit(void *ctx, const char *unit, const struct supd_cause *cause)
{
	struct plugin_host *h = ctx;
	struct supd_now now = { .real = cause->triggered_real, .boot = cause->triggered_boot };
	const struct unit *u = manager_need_unit(h->manager, unit);

	/* Enabled=no: nobody but a person starts it. */
	if (u && u->config->spec && !u->config->spec->is_enabled &&
	    !str_equal(cause->kind, "manual"))
		return -EACCES;
	switch (unit_start(h->manager, &now, unit, cause)) {
	case MANAGER_DONE:
		return 0;
	case MANAGER_ALREADY_ACTIVE:
		return -EALREADY;
	case MANAGER_NO_UNIT:
		return -ENOENT;
	case MANAGER_MASKED:
		return -EPERM;
	case MANAGER_INVALID:
	case MANAGER_UNSUPPORTED:
		return -ENOEXEC;
	case MANAGER_STOPPING:
		return -ESHUTDOWN;
	case MANAGER_NO_MEMORY:
		return -ENOMEM;
	case MANAGER_NO_MANUAL_START: /* a plugin is no hand */
	case MANAGER_NO_MANUAL_STOP:
		break;
	}
	return -EINVAL;
}

static const struct unit_config *config_now(const struct unit *u)
{
	if (!u || u->is_gone)
		return NULL;
	return u->next ? u->next : u->config;
}

#define NOT_ONESHOT \
	"is not a oneshot service (if it ends by itself, Type=oneshot in a drop-in makes it one)"

static const char *why_not(const struct unit_config *c, const char *name)
{
	switch (c->load) {
	case UNIT_MASKED:
		return "is masked";
	case UNIT_INVALID:
		return "is invalid";
	case UNIT_UNSUPPORTED:
		return unit_name_kind(name) == UNIT_SERVICE ? NOT_ONESHOT : "is not a service";
	case UNIT_LOADED:
		break;
	}
	if (unit_name_kind(name) != UNIT_SERVICE)
		return "is not a service";
	return unit_name_is_template(name) ? "is a template" : NULL;
}

static int host_unit_state(void *ctx, const char *name, struct supd_unit_state *ret)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	/* Which units there are is up to the reload that is under way. */
	struct unit *u = h->is_preparing ? manager_unit(h->manager, name)
					 : manager_need_unit(h->manager, name);
	const char *real = u ? u->name : w->unit_resolve(w->ctx, name);
	const struct unit_config *c;

	name = real ? real : name;
	c = h->is_preparing ? reload_need_unit(h->manager, name) : config_now(u);
	if (!c)
		return -ENOENT;
	*ret = (struct supd_unit_state) {
		.size = sizeof(*ret),
		.is_masked = c->load == UNIT_MASKED,
		.is_enabled = c->spec ? c->spec->is_enabled : true,
		.why_not = why_not(c, name),
		.is_active = u && (unit_is_active(u) || u->notice_ended),
		.name = name,
	};
	ret->is_startable = !ret->why_not;
	if (u && unit_is_waiting(u)) {
		memcpy(ret->run_id, unit_coming_run(u)->id, sizeof(ret->run_id));
	} else if (u && u->chain && u->chain->is_going_on) {
		memcpy(ret->run_id, u->chain->first_id, sizeof(ret->run_id));
	} else if (u && u->run) {
		memcpy(ret->run_id, u->run->id, sizeof(ret->run_id));
		if (u->run->ended_boot != 0) {
			ret->result = (enum supd_result) u->run->result;
			ret->status = u->run->status;
			ret->ended = (struct supd_now){ .real = u->run->ended_real,
							.boot = u->run->ended_boot };
		}
	}
	return 0;
}

static const char *host_setting(void *ctx, const char *key)
{
	struct plugin_host *h = ctx;
	const struct manager_config *c = h->manager->config;

	return c->setting ? c->setting(c->userdata, key) : NULL;
}

static void unsaved_forget(struct plugin_host *h)
{
	free(h->unsaved);
	h->unsaved = NULL;
	h->n_unsaved = 0;
}

/* What the disk does not take is kept here, so that a pause on a full disk costs no memory of what
 * ran. */
static int save_at_stop(struct plugin_host *h, const void *bytes, size_t n)
{
	const struct world *w = h->manager->world;
	int r = w->save_now(w->ctx, h->name, bytes, n);

	unsaved_forget(h);
	if (r >= 0)
		return r;
	h->unsaved = malloc(n + 1);
	if (!h->unsaved)
		return r;
	memcpy(h->unsaved, bytes, n);
	h->n_unsaved = n;
	return r;
}

static int64_t host_save(void *ctx, const void *bytes, size_t n)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	int r;

	if (h->is_stopping)
		r = save_at_stop(h, bytes, n);
	else
		r = w->save(w->ctx, h->name, h->last_ticket + 1, bytes, n);
	return r < 0 ? r : (int64_t) ++h->last_ticket;
}

static int64_t host_append(void *ctx, const void *bytes, size_t n)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	int r = -ENOTSUP;

	if (w->append && !h->is_stopping)
		r = w->append(w->ctx, h->name, h->last_ticket + 1, bytes, n);
	return r < 0 ? r : (int64_t) ++h->last_ticket;
}

static int host_load(void *ctx, unsigned generation,
		     int (*fn)(void *userdata, const void *bytes, size_t n), void *userdata)
{
	struct plugin_host *h = ctx;
	const struct world *w = h->manager->world;
	_cleanup_free_ void *bytes = NULL;
	size_t n = 0;
	int r;

	if (h->unsaved && generation == 0)
		return fn(userdata, h->unsaved, h->n_unsaved);
	r = w->load(w->ctx, h->name, generation, &bytes, &n);
	return r < 0 ? r : fn(userdata, bytes, n);
}

static int host_set_aside(void *ctx, char *ret_name, size_t n)
{
	struct plugin_host *h = ctx;

	return h->manager->world->set_aside(h->manager->world->ctx, h->name, ret_name, n);
}

static uint64_t host_random(void *ctx)
{
	struct plugin_host *h = ctx;

	return h->manager->world->random(h->manager->world->ctx);
}

static void host_log(void *ctx, enum supd_log_level level, const char *unit, const char *message)
{
	(void) ctx;
	log_unit(unit, (int) level, 0, "%s", message);
}

static void host_event(void *ctx, const char *type, const char *unit, const struct supd_row *fields)
{
	struct plugin_host *h = ctx;
	const struct manager_observer *o = &h->manager->observer;

	if (o->event)
		o->event(o->userdata, type, unit, fields);
}

/* ---- its life ---- */

void plugin_host_init(struct plugin_host *h, struct manager *m, const char *name)
{
	*h = (struct plugin_host) {
		.manager = m,
		.name = name,
		.wake = { USEC_NEVER, USEC_NEVER },
		.units.name_at = offsetof(struct plugin_unit, name),
		.table = {
			.abi = SUPD_ABI,
			.size = sizeof(h->table),
			.ctx = h,
			.subscribe = host_subscribe,
			.arm = host_arm,
			.start_unit = host_start_unit,
			.unit_state = host_unit_state,
			.read_units = host_read_units,
			.problem = host_problem,
			.setting = host_setting,
			.save = host_save,
			.load = host_load,
			.set_aside = host_set_aside,
			.random = host_random,
			.log = host_log,
			.event = host_event,
			.append = host_append,
		},
	};
}

void plugin_host_done(struct plugin_host *h)
{
	units_forget(h);
	unsaved_forget(h);
}

static bool is_present(void *item, void *userdata _unused_)
{
	struct plugin_unit *pu = item;

	if (!pu->is_present) {
		plugin_unit_free(pu);
		return false;
	}
	unit_settle(pu);
	pu->is_present = false;
	return true;
}

static void units_settle(struct plugin_host *h)
{
	names_keep(&h->units, is_present, NULL);
}

static int open_plugin(struct plugin_host *h)
{
	const struct world *w = h->manager->world;
	const struct supd_plugin *plugin;
	char where[sizeof(h->failure)] = "";
	enum plugin_verdict v;
	int r;

	if (h->plugin)
		return 0;
	r = w->plugin_open(w->ctx, h->name, &plugin, where, sizeof(where));
	if (r < 0) {
		snprintf(h->failure, sizeof(h->failure), "%s",
			 where[0] ? where : "the plugin cannot be loaded");
		return r;
	}
	v = plugin_judge(plugin, NULL, NULL);
	if (v != PLUGIN_FIT) {
		plugin_verdict_words(v, plugin, where[0] ? where : h->name, h->failure,
				     sizeof(h->failure));
		return -ENOEXEC;
	}
	h->plugin = plugin;
	return 0;
}

/* Forgets everything of an instance: its alarms at once. */
static void disarm(struct plugin_host *h)
{
	h->instance = NULL;
	h->listener = NULL;
	h->wake[SUPD_CLOCK_REALTIME] = h->wake[SUPD_CLOCK_BOOTTIME] = USEC_NEVER;
	units_forget(h);
}

/* Said once, when they are read first; a reload answers whoever asked for it. */
static void log_problems(const struct plugin_host *h)
{
	for (size_t u = 0; u < h->units.n; u++) {
		const struct plugin_unit *pu = h->units.item[u];

		for (size_t i = 0; i < pu->files.problems.n; i++) {
			const struct diag_entry *e = &pu->files.problems.entry[i];
			_cleanup_free_ char *line = diag_format(e);

			log_unit(pu->name,
				 e->severity == DIAG_NOT_APPLIED ? LOG_DEBUG : LOG_WARNING, 0, "%s",
				 line ? line : e->message);
		}
	}
}

static void start(struct plugin_host *h, const struct supd_now *now)
{
	struct manager *m = h->manager;
	struct supd_start_info info = m->config->info;
	struct supd_instance *instance = NULL;
	struct diag d = { 0 };
	int r;

	info.size = sizeof(info);
	info.now = *now;
	info.running_since = m->running_since;
	r = open_plugin(h);
	if (r >= 0) {
		(void) m->world->scan_units(m->world->ctx, manager_kinds(m) | 1U << UNIT_TIMER, &d);
		h->failure[0] = '\0';
		r = h->plugin->start(&h->table, &info, &instance);
		if (r < 0)
			snprintf(h->failure, sizeof(h->failure),
				 "the plugin '%s' did not start: %s", h->name, strerror(-r));
		else if (!h->listener)
			snprintf(h->failure, sizeof(h->failure),
				 "the plugin '%s' did not subscribe", h->name);
	}
	diag_done(&d);
	if (h->failure[0]) {
		log_unit(NULL, LOG_ERR, 0, "%s", h->failure);
		if (instance)
			h->plugin->stop(instance, now);
		disarm(h);
		return;
	}
	h->instance = instance;
	units_settle(h);
	log_problems(h);
}

void plugin_host_apply(struct plugin_host *h, const struct supd_now *now, bool wanted)
{
	if (wanted == (h->instance != NULL))
		return;
	if (!wanted) {
		h->is_stopping = true;
		h->plugin->stop(h->instance, now);
		h->is_stopping = false;
		disarm(h);
		return;
	}
	/* A failure stands until the gate is opened anew. */
	if (!h->failure[0])
		start(h, now);
}

void plugin_host_run(struct plugin_host *h, const struct supd_now *now, const struct unit *u,
		     enum supd_run_stage stage)
{
	struct supd_run_event ev;

	if (!h->instance)
		return;
	ev = (struct supd_run_event){
		.size = sizeof(ev),
		.unit = u->name,
		.stage = stage,
		.cause_kind = u->run->cause,
		.result = (enum supd_result)(stage == SUPD_RUN_STARTED ? RUN_RESULT_NONE
								       : u->run->result),
		.status = u->run->status,
		.is_unit_active = unit_is_active(u),
	};
	memcpy(ev.run_id, u->run->id, sizeof(ev.run_id));
	if (u->chain && u->chain->is_going_on) {
		ev.cause_kind = u->chain->first_cause;
		memcpy(ev.run_id, u->chain->first_id, sizeof(ev.run_id));
	}
	h->listener->run(h->listener_data, now, &ev);
}

/* ---- reload ---- */

static void blame(struct plugin_unit *pu, struct diag *mistakes)
{
	bool was_invalid = pu->files.problems.n_errors > 0;

	if (!pu->next || (was_invalid && pu->next->fingerprint == pu->files.fingerprint))
		return;
	for (size_t i = 0; i < pu->next->problems.n; i++) {
		const struct diag_entry *e = &pu->next->problems.entry[i];

		if (e->severity == DIAG_ERROR)
			diag_add(mistakes, e->severity, e->file, e->line, e->key, "%s", e->message);
	}
}

int plugin_host_prepare(struct plugin_host *h, const struct supd_now *now, struct diag *mistakes)
{
	int r;

	if (!h->instance)
		return 0;
	h->is_preparing = true;
	r = h->listener->prepare(h->listener_data, now);
	if (r < 0)
		return r;
	names_settle(&h->units);
	for (size_t i = 0; i < h->units.n; i++) {
		struct plugin_unit *pu = h->units.item[i];

		if (!h->only || is_among(h->only, pu->name))
			blame(pu, mistakes);
	}
	return 0;
}

int plugin_host_prepare_only(struct plugin_host *h, const struct supd_now *now,
			     const char *const *only, struct diag *mistakes)
{
	int r;

	h->only = only;
	r = plugin_host_prepare(h, now, mistakes);
	h->only = NULL;
	return r;
}

static const char *change_of(const struct plugin_unit *pu)
{
	if (!pu->is_present)
		return "removed";
	if (!pu->files.is_read)
		return "added";
	return pu->next && pu->next->fingerprint != pu->files.fingerprint ? "changed" : NULL;
}

void plugin_host_commit(struct plugin_host *h, const struct supd_now *now,
			struct reload_report *report)
{
	if (!h->is_preparing)
		return;
	h->is_preparing = false;
	for (size_t i = 0; i < h->units.n; i++) {
		const struct plugin_unit *pu = h->units.item[i];
		const char *what = change_of(pu);

		if (what)
			reload_report_add(report, pu->name, what);
	}
	units_settle(h);
	h->listener->commit(h->listener_data, now);
}

static bool was_there(void *item, void *userdata _unused_)
{
	struct plugin_unit *pu = item;

	if (!pu->files.is_read) {
		plugin_unit_free(pu);
		return false;
	}
	next_drop(pu);
	pu->is_present = false;
	return true;
}

void plugin_host_abort(struct plugin_host *h)
{
	if (!h->is_preparing)
		return;
	h->is_preparing = false;
	names_keep(&h->units, was_there, NULL);
	h->listener->abort(h->listener_data);
}

bool plugin_host_has_mistakes(const struct plugin_host *h)
{
	for (size_t i = 0; i < h->units.n; i++) {
		const struct plugin_unit *pu = h->units.item[i];

		if (pu->files.problems.n_errors > 0)
			return true;
	}
	return false;
}

/* ---- questions ---- */

const char *plugin_unit_fragment(struct plugin_host *h, const struct plugin_unit *pu)
{
	const char *path = fragment_path(&pu->files.fragment, pu->name, h->shown);

	return path ? path : pu->name;
}

static struct manager_plugin_unit plugin_unit_shown(struct plugin_host *h,
						    const struct plugin_unit *pu)
{
	return (struct manager_plugin_unit) {
		.name = pu->name,
		.fragment = plugin_unit_fragment(h, pu),
		.is_masked = pu->files.is_masked,
		.problems = &pu->files.problems,
	};
}

bool manager_plugin_unit(struct manager *m, const char *name, struct manager_plugin_unit *ret)
{
	const struct plugin_unit *pu = plugin_unit_find(&m->host, name);

	if (!pu)
		return false;
	*ret = plugin_unit_shown(&m->host, pu);
	return true;
}

void manager_plugin_units(struct manager *m,
			  void (*fn)(void *userdata, const struct manager_plugin_unit *u),
			  void *userdata)
{
	struct manager_plugin_unit shown;

	for (size_t i = 0; i < m->host.units.n; i++) {
		shown = plugin_unit_shown(&m->host, m->host.units.item[i]);
		fn(userdata, &shown);
	}
}

int manager_command(struct manager *m, const struct supd_now *now,
		    const struct supd_command_request *request, struct supd_command_reply *reply)
{
	struct plugin_host *h = &m->host;
	const char *state, *reason;
	int r;

	reply->size = sizeof(*reply);
	if (!h->instance) {
		state = manager_gate_state(m, &reason);
		snprintf(reply->message, sizeof(reply->message), "timers %s %s: %s",
			 str_equal(state, "failed") ? "have" : "are", state, reason ? reason : "");
		return -EHOSTDOWN;
	}
	r = h->listener->command(h->listener_data, now, request, reply);
	if (r == -ENOENT && !reply->message[0])
		manager_verdict_words(m, request->unit, MANAGER_NO_UNIT, reply->message,
				      sizeof(reply->message));
	manager_settle(m, now);
	return r;
}

int manager_query(struct manager *m, const struct supd_query *query, supd_row_fn *row,
		  void *userdata)
{
	struct plugin_host *h = &m->host;

	return h->instance ? h->plugin->list(h->instance, query, row, userdata) : 0;
}

int manager_table(struct manager *m, const struct supd_now *now, const char *table,
		  const char *unit, supd_row_fn *row, void *userdata)
{
	const struct supd_query query = {
		.size = sizeof(query), .table = table, .unit = unit, .now = *now
	};

	return manager_query(m, &query, row, userdata);
}

static const char *gate_off_reason(const struct gate *g)
{
	if (g->runtime == GATE_OFF || (g->forced == GATE_SILENT && g->kept == GATE_OFF))
		return "experimental, and turned off by an admin; turn on with: supctl experimental enable timers";
	if (g->forced == GATE_SILENT && g->kept == GATE_UNREADABLE)
		return "experimental, and whether an admin turned them on cannot be read (experimental-timers in the state "
		       "directory); say it anew with: supctl experimental enable timers, or disable";
	return "experimental, and off by default; turn on with: supctl experimental enable timers";
}

const char *manager_gate_state(const struct manager *m, const char **ret_reason)
{
	*ret_reason = NULL;
	if (!gate_is_open(&m->gate)) {
		*ret_reason = gate_off_reason(&m->gate);
		return "disabled";
	}
	switch (m->state) {
	case SUPD_MANAGER_STARTING:
		*ret_reason = "timers begin when the enabled services have ended";
		return "starting";
	case SUPD_MANAGER_PAUSED:
		*ret_reason = "paused by an admin; go on with: supctl resume";
		return "paused";
	case SUPD_MANAGER_STOPPING:
	case SUPD_MANAGER_ENDED:
		*ret_reason = "supd is shutting down";
		return "stopping";
	case SUPD_MANAGER_RUNNING:
		break;
	}
	if (m->host.instance)
		return "enabled";
	*ret_reason = m->host.failure;
	return "failed";
}
