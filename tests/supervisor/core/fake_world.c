/* SPDX-License-Identifier: MIT */
#include "tests/supervisor/core/fake_world.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "unit/name.h"

/* ---- units ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct fake_unit *) a)->name, ((const struct fake_unit *) b)->name);
}

static struct fake_unit *find(struct fake_world *f, const char *name)
{
	for (size_t i = 0; i < f->n_units; i++)
		if (str_equal(f->unit[i].name, name))
			return &f->unit[i];
	return NULL;
}

struct fake_unit *fake_unit(struct fake_world *f, const char *name, const char *text)
{
	struct fake_unit *u = find(f, name);

	if (u) {
		u->text = text;
		u->version++;
		return u;
	}
	ck_assert_uint_lt(f->n_units, FAKE_MAX);
	f->unit[f->n_units++] = (struct fake_unit) { .name = name, .text = text, .version = 1 };
	qsort(f->unit, f->n_units, sizeof(*f->unit), by_name);
	return find(f, name);
}

void fake_unit_remove(struct fake_world *f, const char *name)
{
	struct fake_unit *u = find(f, name);

	ck_assert_ptr_nonnull(u);
	*u = f->unit[--f->n_units];
	qsort(f->unit, f->n_units, sizeof(*f->unit), by_name);
}

static int scan_units(void *ctx, unsigned kinds, struct diag *d _unused_)
{
	struct fake_world *f = ctx;

	f->kinds = kinds;
	return 0;
}

static const char *unit_name(void *ctx, size_t i)
{
	struct fake_world *f = ctx;

	for (size_t k = 0; k < f->n_units; k++)
		if (i-- == 0)
			return f->unit[k].name;
	return NULL;
}

/* Its own file, or its template's. */
static const struct fake_unit *find_file(struct fake_world *f, const char *name)
{
	const struct fake_unit *u = find(f, name);
	char template[UNIT_NAME_MAX + 1];

	return u || unit_name_template(name, template) < 0 ? u : find(f, template);
}

static uint64_t unit_fingerprint(void *ctx, const char *name)
{
	const struct fake_unit *u = find_file(ctx, name);

	return u ? u->version : 0;
}

static const char *unit_resolve(void *ctx, const char *name)
{
	const struct fake_unit *u = find(ctx, name);

	if (!u)
		return find_file(ctx, name) ? name : NULL;
	return u->alias_of ? u->alias_of : u->name;
}

static int read_unit(void *ctx, const char *name, struct unit_source *ret)
{
	const struct fake_unit *u = find_file(ctx, name);

	if (!u)
		return -ENOENT;
	*ret = (struct unit_source) {
		.name = strdup(name), .fingerprint = u->version, .is_wanted = u->is_wanted, .is_masked = u->is_masked,
		.is_systemd = u->is_systemd, .is_linked = u->is_linked, .is_linked_for_good = u->is_linked_for_good,
		.is_outside = u->is_outside, .is_runtime = u->is_runtime,
	};
	ret->is_made = !str_equal(u->name, name);
	if (u->is_masked)
		return 0;
	ret->piece = calloc(1, sizeof(*ret->piece));
	ret->n_pieces = 1;
	ck_assert_int_gt(asprintf(&ret->piece->path, "/units/%s", u->name), 0);
	ret->piece->bytes = strdup(u->text);
	ret->piece->n = strlen(u->text);
	return 0;
}

/* ---- processes ---- */

static int check(void *ctx, world_token token, const char *unit _unused_, const struct service_spec *spec)
{
	struct fake_world *f = ctx;

	ck_assert_ptr_nonnull(spec->conditions);
	f->checked = token;
	return f->check_error;
}

static int spawn(void *ctx, const struct spawn_request *request)
{
	struct fake_world *f = ctx;
	struct fake_process *p;

	if (f->spawn_error < 0)
		return f->spawn_error;
	ck_assert_uint_lt(f->n_processes, FAKE_MAX);
	p = &f->process[f->n_processes++];
	*p = (struct fake_process) { .token = request->token, .phase = request->phase };
	(void) snprintf(p->unit, sizeof(p->unit), "%s", request->unit);
	memcpy(p->run_id, request->run->id, RUN_ID_BYTES);
	p->after = request->run->after;
	return 0;
}

static int note_kill(struct fake_world *f, world_token token, int signal)
{
	ck_assert_uint_lt(f->n_killed, FAKE_MAX);
	f->killed[f->n_killed] = token;
	f->kill_signal[f->n_killed++] = signal;
	return 0;
}

static int kill_main(void *ctx, world_token token, int signal)
{
	return note_kill(ctx, token, signal);
}

static int kill_tree(void *ctx, world_token token, int signal, bool spare_main _unused_)
{
	return note_kill(ctx, token, signal);
}

static int watch_tree(void *ctx, world_token token)
{
	struct fake_world *f = ctx;

	ck_assert_uint_lt(f->n_watched, FAKE_MAX);
	f->watched[f->n_watched++] = token;
	return 0;
}

static void release(void *ctx _unused_, world_token token _unused_, bool restarts _unused_)
{
}

struct fake_process *fake_process(struct fake_world *f, const char *unit)
{
	for (size_t i = f->n_processes; i > 0; i--)
		if (str_equal(f->process[i - 1].unit, unit))
			return &f->process[i - 1];
	return NULL;
}

void fake_spawned(struct fake_world *f, struct manager *m, struct fake_process *p)
{
	p->is_answered = true;
	f->now.boot++;
	f->now.real++;
	manager_spawned(m, &f->now, p->token, (pid_t) (1000 + p->token));
}

static bool take_watched(struct fake_world *f, world_token token)
{
	for (size_t i = 0; i < f->n_watched; i++)
		if (f->watched[i] == token) {
			f->watched[i] = f->watched[--f->n_watched];
			return true;
		}
	return false;
}

void fake_exited(struct fake_world *f, struct manager *m, struct fake_process *p, int wstatus)
{
	world_token token = p->token;

	if (!p->is_answered)
		fake_spawned(f, m, p);
	p->has_ended = true;
	f->now.boot++;
	f->now.real++;
	manager_exited(m, &f->now, token, &(struct process_end) { .wstatus = wstatus });
	while (take_watched(f, token))
		manager_tree_empty(m, &f->now, token);
}

void fake_finish(struct fake_world *f, struct manager *m, const char *unit, int wstatus)
{
	struct fake_process *p;

	while ((p = fake_process(f, unit)) && !p->has_ended)
		fake_exited(f, m, p, wstatus);
}

/* ---- the rest ---- */

static int arm(void *ctx, enum supd_clock clock, usec_t when)
{
	struct fake_world *f = ctx;

	f->alarm[clock] = when;
	return 0;
}

/* What is asked for is kept: "+a.timer [Timer] dir/name>target …", for each change. */
static int enable_unit(void *ctx, const struct unit_change *c, char *reterr _unused_, size_t n _unused_)
{
	struct fake_world *f = ctx;
	char *to = f->changes + strlen(f->changes), *end = f->changes + sizeof(f->changes);

	to += snprintf(to, (size_t) (end - to), "%s%s%s", c->enable ? "+" : "-", c->unit, c->runtime ? " runtime" : "");
	if (c->section)
		to += snprintf(to, (size_t) (end - to), " [%s]", c->section);
	if (c->off_dir && !c->enable)
		to += snprintf(to, (size_t) (end - to), " %s", c->off_dir);
	for (size_t i = 0; i < c->n_links && c->enable; i++)
		to += snprintf(to, (size_t) (end - to), " %s/%s>%s", c->link[i].dir, c->link[i].name, c->link[i].target);
	(void) snprintf(to, (size_t) (end - to), "\n");
	return f->enable_answer;
}

static int mask_unit(void *ctx, const char *name, bool mask, bool runtime, char *reterr _unused_, size_t n _unused_)
{
	struct fake_world *f = ctx;
	char *to = f->changes + strlen(f->changes);

	(void) snprintf(to, (size_t) (f->changes + sizeof(f->changes) - to), "%s%s%s\n", mask ? "mask " : "unmask ", name,
			runtime ? " runtime" : "");
	return f->enable_answer;
}

static int save(void *ctx _unused_, const char *plugin _unused_, uint64_t ticket _unused_, const void *bytes _unused_,
		size_t n _unused_)
{
	return 0;
}

static int save_now(void *ctx _unused_, const char *plugin _unused_, const void *bytes _unused_, size_t n _unused_)
{
	return 0;
}

static int load(void *ctx _unused_, const char *plugin _unused_, unsigned generation _unused_, void **ret _unused_,
		size_t *ret_n _unused_)
{
	return -ENOENT;
}

static int set_aside(void *ctx _unused_, const char *plugin _unused_, char *ret_name _unused_, size_t n _unused_)
{
	return -ENOENT;
}

static int gate_load(void *ctx, const char *name _unused_, bool *ret)
{
	struct fake_world *f = ctx;

	if (f->kept_error < 0)
		return f->kept_error;
	if (!f->has_kept)
		return -ENOENT;
	*ret = f->kept;
	return 0;
}

static int gate_save(void *ctx, const char *name _unused_, bool on)
{
	struct fake_world *f = ctx;

	f->has_kept = true;
	f->kept = on;
	return 0;
}

static int plugin_open(void *ctx, const char *name, const struct supd_plugin **ret, char *reterr_or_path, size_t n)
{
	struct fake_world *f = ctx;

	f->n_opened++;
	(void) snprintf(reterr_or_path, n, "/plugins/%s.so%s", name, f->plugin ? "" : " is missing");
	if (!f->plugin)
		return -ENOENT;
	*ret = f->plugin;
	return 0;
}

static uint64_t next_random(void *ctx)
{
	struct fake_world *f = ctx;

	return ++f->random * UINT64_C(0x9e3779b97f4a7c15);
}

static void manager_told(void *ctx, enum supd_manager_state state)
{
	struct fake_world *f = ctx;

	ck_assert_uint_lt(f->n_states, FAKE_MAX);
	f->states[f->n_states++] = state;
}

void fake_world_init(struct fake_world *f)
{
	*f = (struct fake_world) {
		.world = {
			.ctx = f,
			.arm = arm,
			.check = check,
			.spawn = spawn,
			.kill_main = kill_main,
			.kill_tree = kill_tree,
			.watch_tree = watch_tree,
			.release = release,
			.scan_units = scan_units,
			.unit_name = unit_name,
			.unit_fingerprint = unit_fingerprint,
			.unit_resolve = unit_resolve,
			.read_unit = read_unit,
			.enable_unit = enable_unit,
			.mask_unit = mask_unit,
			.save = save,
			.save_now = save_now,
			.load = load,
			.set_aside = set_aside,
			.gate_load = gate_load,
			.gate_save = gate_save,
			.plugin_open = plugin_open,
			.random = next_random,
			.manager_state = manager_told,
		},
		.alarm = { USEC_NEVER, USEC_NEVER },
		.now = { .real = 1000 * USEC_PER_SEC, .boot = 100 * USEC_PER_SEC },
	};
}
