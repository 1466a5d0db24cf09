/* SPDX-License-Identifier: MIT */
#include "tests/sim/sim.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "core/ledger.h"
#include "core/manager_private.h"
#include "service/specifier.h"
#include "tests/lib/test_dir.h"
#include "timer/state_file.h"

/* ---- chance, clocks, messages ---- */

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t sim_random(struct sim *s, uint64_t below)
{
	return draw(&s->chance) % below;
}

usec_t sim_real(const struct sim *s)
{
	return (usec_t) ((int64_t) s->boot + s->offset);
}

struct supd_now sim_now(const struct sim *s)
{
	return (struct supd_now) { .real = sim_real(s), .boot = s->boot };
}

void sim_fail(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "# SEED=%llu, event %llu (%s), boot %llu.%06llu, real %llu.%06llu:\n# ", (unsigned long long) s->seed,
		(unsigned long long) s->n_events, s->event ? s->event : "-", (unsigned long long) (s->boot / USEC_PER_SEC),
		(unsigned long long) (s->boot % USEC_PER_SEC), (unsigned long long) (sim_real(s) / USEC_PER_SEC),
		(unsigned long long) (sim_real(s) % USEC_PER_SEC));
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static void trace(struct sim *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void trace(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (!s->verbose)
		return;
	fprintf(stderr, "# %12.6f %17.6f ", (double) s->boot / 1e6, (double) sim_real(s) / 1e6);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* ---- unit files ---- */

static struct sim_file *file_find(struct sim *s, const char *name)
{
	for (size_t i = 0; i < s->n_files; i++)
		if (strcmp(s->file[i].name, name) == 0)
			return &s->file[i];
	return NULL;
}

static struct sim_file *file_get(struct sim *s, const char *name)
{
	struct sim_file *f = file_find(s, name);

	if (f)
		return f;
	if (s->n_files == SIM_UNITS_MAX)
		sim_fail(s, "too many unit files");
	f = &s->file[s->n_files++];
	snprintf(f->name, sizeof(f->name), "%s", name);
	return f;
}

void sim_write(struct sim *s, const char *name, const char *text)
{
	struct sim_file *f = file_get(s, name);

	free(f->text);
	f->text = text ? strdup(text) : NULL;
	f->is_masked = false;
	f->fingerprint = text ? ++s->last_fingerprint : 0;
}

void sim_mask(struct sim *s, const char *name)
{
	sim_write(s, name, "");
	file_get(s, name)->is_masked = true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct sim_file *const *) a)->name, (*(struct sim_file *const *) b)->name);
}

/* ---- the world's calls ---- */

/* Each call may be the one at which the power goes. True: nothing happens any more. */
static bool dead(struct sim *s)
{
	s->calls++;
	if (s->die_at && s->calls >= s->die_at && !s->is_dead) {
		s->is_dead = true;
		trace(s, "dies in the middle of %s", s->event);
	}
	return s->is_dead;
}

static struct sim_event *enqueue(struct sim *s, enum sim_event_kind kind, usec_t delay)
{
	struct sim_event *e;

	if (s->n_queue == SIM_QUEUE_MAX)
		sim_fail(s, "too many events");
	e = &s->queue[s->n_queue++];
	*e = (struct sim_event) { .at = s->boot + delay, .order = ++s->order, .kind = kind };
	return e;
}

static int world_arm(void *ctx, enum supd_clock clock, usec_t when)
{
	struct sim *s = ctx;

	if (!dead(s))
		s->armed[clock] = when;
	return 0;
}

static struct sim_process *process_of(struct sim *s, world_token token)
{
	for (size_t i = 0; i < SIM_RUNS_MAX; i++)
		if (s->process[i].token == token)
			return &s->process[i];
	return NULL;
}

static void tree_check(struct sim *s, struct sim_process *p)
{
	if (!p->is_watched || p->is_alive)
		return;
	p->is_watched = false;
	enqueue(s, SIM_TREE_EMPTY, 0)->token = p->token;
}

/* A network mount that answers at once. */
static int world_check(void *ctx, world_token token, const char *unit, const struct service_spec *spec)
{
	struct sim *s = ctx;

	(void) unit;
	(void) spec;
	if (!dead(s))
		enqueue(s, SIM_CHECKED, 0)->token = token;
	return 0;
}

static bool is_among(const uint64_t *ticket, size_t n, uint64_t wanted)
{
	for (size_t i = 0; i < n; i++)
		if (ticket[i] == wanted)
			return true;
	return false;
}

static bool is_being_saved(const struct sim *s, uint64_t ticket)
{
	return is_among(s->writing_ticket, s->n_writing, ticket) || is_among(s->next_ticket, s->n_next, ticket);
}

static void execute(struct sim *s, struct sim_process *p, int written)
{
	struct sim_event *e;

	if (s->watcher.executed)
		s->watcher.executed(s->watcher.data, p->unit, p->run_id, written);
	if (p->job.fails_to_spawn) {
		enqueue(s, SIM_SPAWN_FAILED, 0)->token = p->token;
		return;
	}
	p->is_alive = true;
	p->ignores_term = p->job.ignores_term;
	enqueue(s, SIM_SPAWNED, 0)->token = p->token;
	e = enqueue(s, SIM_EXITED, p->job.takes);
	e->token = p->token;
	e->wstatus = p->job.wstatus;
}

/* Whatever came of the write that they waited for. */
static void execute_held(struct sim *s, int written)
{
	for (size_t i = 0; i < SIM_RUNS_MAX; i++) {
		struct sim_process *p = &s->process[i];

		if (!p->is_held || is_being_saved(s, p->after))
			continue;
		p->is_held = false;
		s->n_held++;
		execute(s, p, written);
	}
}

static int world_spawn(void *ctx, const struct spawn_request *r)
{
	struct sim *s = ctx;
	struct sim_process *p = process_of(s, r->token);
	struct sim_job job = { .takes = USEC_PER_SEC };

	if (dead(s))
		return 0;
	if (s->manager && manager_state(s->manager) == SUPD_MANAGER_ENDED)
		sim_fail(s, "%s is spawned after the end", r->unit);
	for (size_t i = 0; i < SIM_RUNS_MAX; i++)
		if (s->process[i].token && s->process[i].token != r->token && strcmp(s->process[i].unit, r->unit) == 0)
			sim_fail(s, "%s is started while it is active", r->unit);
	if (p && (p->is_alive || p->is_held))
		sim_fail(s, "%s has two processes", r->unit);
	if (!p)
		p = process_of(s, 0);
	if (!p)
		sim_fail(s, "too many runs");
	p->token = r->token;
	snprintf(p->unit, sizeof(p->unit), "%s", r->unit);
	if (s->job)
		job = s->job(s, r->unit, r->phase);
	trace(s, "spawn %s for %s, %s %u", r->unit, r->run->trigger_unit ? r->run->trigger_unit : "-", r->run->cause,
	      (unsigned) r->run->attempt);
	if (s->watcher.spawned)
		s->watcher.spawned(s->watcher.data, r);
	p->job = job;
	p->after = r->run->after;
	memcpy(p->run_id, r->run->id, sizeof(p->run_id));
	p->is_held = is_being_saved(s, p->after);
	if (!p->is_held)
		execute(s, p, 0);
	else
		trace(s, "%s waits for the disk", p->unit);
	return 0;
}

static void world_cancel(void *ctx, world_token token)
{
	struct sim *s = ctx;
	struct sim_process *p = process_of(s, token);

	if (dead(s) || !p || !p->is_held)
		return;
	p->is_held = false;
	s->n_cancelled++;
	enqueue(s, SIM_CANCELLED, 0)->token = token;
}

/* The process ends of the signal, a millisecond on. */
static int kill_process(struct sim *s, world_token token, int signal)
{
	struct sim_process *p = process_of(s, token);

	if (!p || !p->is_alive)
		return -ESRCH;
	if (signal == SIGCONT || signal == SIGHUP || (p->ignores_term && signal != SIGKILL))
		return 0;
	for (size_t i = 0; i < s->n_queue; i++)
		if (s->queue[i].kind == SIM_EXITED && s->queue[i].token == token && s->queue[i].at > s->boot + 1000) {
			s->queue[i].at = s->boot + 1000;
			s->queue[i].wstatus = signal;
		}
	return 0;
}

static int world_kill_main(void *ctx, world_token token, int signal)
{
	return dead(ctx) ? 0 : kill_process(ctx, token, signal);
}

static int world_kill_tree(void *ctx, world_token token, int signal, bool spare_main)
{
	return dead(ctx) || spare_main ? 0 : kill_process(ctx, token, signal);
}

static int world_watch_tree(void *ctx, world_token token)
{
	struct sim *s = ctx;
	struct sim_process *p = process_of(s, token);

	if (dead(s))
		return 0;
	if (!p)
		return -ESRCH;
	p->is_watched = true;
	tree_check(s, p);
	return 0;
}

static void world_release(void *ctx, world_token token, bool restarts _unused_)
{
	struct sim *s = ctx;
	struct sim_process *p = process_of(s, token);

	if (dead(s) || !p)
		return;
	for (size_t i = 0; i < s->n_queue;)
		if (s->queue[i].kind != SIM_SAVED && s->queue[i].token == token)
			s->queue[i] = s->queue[--s->n_queue];
		else
			i++;
	*p = (struct sim_process) { 0 };
}

static int world_scan_units(void *ctx, unsigned kinds, struct diag *d)
{
	struct sim *s = ctx;

	(void) d;
	if (dead(s))
		return 0;
	s->n_index = 0;
	for (size_t i = 0; i < s->n_files; i++) {
		bool is_timer = str_ends(s->file[i].name, ".timer");

		s->file[i].indexed = 0;
		if (!s->file[i].text || !(kinds & 1U << (is_timer ? UNIT_TIMER : UNIT_SERVICE)))
			continue;
		s->file[i].indexed = s->file[i].fingerprint;
		s->index[s->n_index++] = &s->file[i];
	}
	qsort(s->index, s->n_index, sizeof(s->index[0]), by_name);
	return 0;
}

static const char *world_unit_name(void *ctx, size_t i)
{
	struct sim *s = ctx;

	return !dead(s) && i < s->n_index ? s->index[i]->name : NULL;
}

static uint64_t world_unit_fingerprint(void *ctx, const char *name)
{
	struct sim *s = ctx;
	struct sim_file *f = file_find(s, name);

	return !dead(s) && f ? f->indexed : 0;
}

static const char *world_unit_resolve(void *ctx, const char *name)
{
	struct sim *s = ctx;
	struct sim_file *f = file_find(s, name);

	return f && f->indexed ? f->name : NULL;
}

static int world_read_unit(void *ctx, const char *name, struct unit_source *ret)
{
	struct sim *s = ctx;
	struct sim_file *f = file_find(s, name);

	if (dead(s) || !f || !f->text)
		return -ENOENT;
	if (str_ends(name, ".timer") && !gate_is_open(&s->manager->gate))
		sim_fail(s, "%s is read although the gate is closed", name);
	*ret = (struct unit_source) {
		.name = strdup(name), .fingerprint = f->fingerprint, .is_masked = f->is_masked,
		.piece = calloc(1, sizeof(*ret->piece)), .n_pieces = 1,
	};
	ret->piece[0].path = strdup(name);
	ret->piece[0].bytes = strdup(f->text);
	ret->piece[0].n = strlen(f->text);
	return 0;
}

static int world_enable_unit(void *ctx, const struct unit_change *change, char *reterr, size_t n)
{
	(void) ctx, (void) change, (void) reterr, (void) n;
	return -ENOTSUP;
}

static int world_mask_unit(void *ctx, const char *name, bool mask, bool runtime, char *reterr, size_t n)
{
	(void) ctx, (void) name, (void) mask, (void) runtime, (void) reterr, (void) n;
	return -ENOTSUP;
}

/* ---- the disk ---- */

static void blob_done(struct sim_blob *b)
{
	free(b->bytes);
	*b = (struct sim_blob) { 0 };
}

static struct sim_blob blob_new(struct sim *s, const void *bytes, size_t n)
{
	struct sim_blob b = { .bytes = malloc(n + 1), .n = n, .n_first = n };

	memcpy(b.bytes, bytes, n);
	b.mark = s->watcher.mark ? s->watcher.mark(s->watcher.data) : 0;
	return b;
}

/* As store/atomic_file: the old one becomes the generation before, the new one takes its place. */
static void blob_land(struct sim *s, struct sim_blob *b)
{
	if (s->generation[0].bytes) {
		blob_done(&s->generation[1]);
		s->generation[1] = s->generation[0];
	}
	s->generation[0] = *b;
	*b = (struct sim_blob) { 0 };
}

/* As atomic_file_append(). */
static void blob_add(struct sim_blob *b, const void *bytes, size_t n, uint64_t mark)
{
	b->bytes = realloc(b->bytes, b->n + n + 1);
	memcpy((char *) b->bytes + b->n, bytes, n);
	b->n += n;
	b->mark = mark;
}

/* What was being written is on the disk. */
static void write_land(struct sim *s)
{
	if (s->writing.is_added)
		blob_add(&s->generation[0], s->writing.bytes, s->writing.n, s->writing.mark);
	else
		blob_land(s, &s->writing);
	blob_done(&s->writing);
}

static void write_begin(struct sim *s)
{
	s->writing = s->next;
	s->next = (struct sim_blob) { 0 };
	memcpy(s->writing_ticket, s->next_ticket, sizeof(s->next_ticket));
	s->n_writing = s->n_next;
	s->n_next = 0;
	enqueue(s, SIM_SAVED, s->save_takes ? sim_random(s, s->save_takes) + 1 : 1);
}

static int world_save(void *ctx, const char *plugin, uint64_t ticket, const void *bytes, size_t n)
{
	struct sim *s = ctx;

	(void) plugin;
	if (dead(s))
		return 0;
	if (!gate_is_open(&s->manager->gate) || manager_state(s->manager) != SUPD_MANAGER_RUNNING)
		sim_fail(s, "state is saved although timers are off");
	blob_done(&s->next);
	s->next = blob_new(s, bytes, n);
	if (s->n_next == ELEMENTS(s->next_ticket))
		sim_fail(s, "saves pile up");
	s->next_ticket[s->n_next++] = ticket;
	if (s->n_writing == 0)
		write_begin(s);
	return 0;
}

static int world_append(void *ctx, const char *plugin, uint64_t ticket, const void *bytes, size_t n)
{
	struct sim *s = ctx;

	(void) plugin;
	if (dead(s))
		return 0;
	if (!gate_is_open(&s->manager->gate) || manager_state(s->manager) != SUPD_MANAGER_RUNNING)
		sim_fail(s, "state is added although timers are off");
	if (s->next.bytes) {
		blob_add(&s->next, bytes, n, s->watcher.mark ? s->watcher.mark(s->watcher.data) : 0);
	} else {
		s->next = blob_new(s, bytes, n);
		s->next.is_added = true;
	}
	if (s->n_next == ELEMENTS(s->next_ticket))
		sim_fail(s, "saves pile up");
	s->next_ticket[s->n_next++] = ticket;
	s->n_added++;
	if (s->n_writing == 0)
		write_begin(s);
	return 0;
}

static int world_save_now(void *ctx, const char *plugin, const void *bytes, size_t n)
{
	struct sim *s = ctx;
	struct sim_blob b;

	(void) plugin;
	if (dead(s))
		return -EIO;
	if (s->is_disk_full) {
		s->has_unsaved = true;
		s->unsaved_mark = s->watcher.mark ? s->watcher.mark(s->watcher.data) : 0;
		return -ENOSPC;
	}
	s->has_unsaved = false;
	if (s->writing.bytes && (!s->writing.is_added || s->can_add))
		write_land(s);
	blob_done(&s->next);
	b = blob_new(s, bytes, n);
	blob_land(s, &b);
	return 0;
}

static int world_load(void *ctx, const char *plugin, unsigned generation, void **ret, size_t *ret_n)
{
	struct sim *s = ctx;
	struct sim_blob *b = &s->generation[generation];

	(void) plugin;
	if (dead(s))
		return -EIO;
	if (!gate_is_open(&s->manager->gate) || manager_state(s->manager) != SUPD_MANAGER_RUNNING)
		sim_fail(s, "state is loaded although timers are off");
	if (!b->bytes)
		return -ENOENT;
	*ret = malloc(b->n + 1);
	memcpy(*ret, b->bytes, b->n);
	*ret_n = b->n;
	return 0;
}

static int world_set_aside(void *ctx, const char *plugin, char *ret_name, size_t n)
{
	struct sim *s = ctx;

	if (dead(s))
		return -EIO;
	if (!s->generation[0].is_cut)
		sim_fail(s, "the state file is whole, and does not load");
	snprintf(ret_name, n, "%s.bad", plugin);
	blob_done(&s->generation[0]);
	s->n_set_aside++;
	return 0;
}

static int world_gate_load(void *ctx, const char *name, bool *ret)
{
	struct sim *s = ctx;

	(void) name;
	if (!s->has_gate_kept)
		return -ENOENT;
	*ret = s->gate_kept;
	return 0;
}

static int world_gate_save(void *ctx, const char *name, bool on)
{
	struct sim *s = ctx;

	(void) name;
	if (!dead(s)) {
		s->has_gate_kept = true;
		s->gate_kept = on;
	}
	return 0;
}

static int world_plugin_open(void *ctx, const char *name, const struct supd_plugin **ret, char *reterr, size_t n)
{
	struct sim *s = ctx;

	if (dead(s))
		return -EIO;
	if (!gate_is_open(&s->manager->gate) || manager_state(s->manager) != SUPD_MANAGER_RUNNING)
		sim_fail(s, "the plugin is opened although timers are off");
	snprintf(reterr, n, "%s", name);
	*ret = &supd_plugin_1;
	return 0;
}

static uint64_t world_random(void *ctx)
{
	struct sim *s = ctx;

	return draw(&s->drawn);
}

static void world_manager_state(void *ctx, enum supd_manager_state state)
{
	(void) dead(ctx);
	(void) state;
}

static const struct world world_of_sim = {
	.arm = world_arm, .check = world_check, .spawn = world_spawn, .cancel = world_cancel, .kill_main = world_kill_main, .kill_tree = world_kill_tree,
	.watch_tree = world_watch_tree, .release = world_release, .scan_units = world_scan_units,
	.unit_name = world_unit_name, .unit_fingerprint = world_unit_fingerprint, .unit_resolve = world_unit_resolve,
	.read_unit = world_read_unit, .enable_unit = world_enable_unit, .mask_unit = world_mask_unit, .save = world_save,
	.append = world_append,
	.save_now = world_save_now, .load = world_load, .set_aside = world_set_aside, .gate_load = world_gate_load,
	.gate_save = world_gate_save, .plugin_open = world_plugin_open, .random = world_random,
	.manager_state = world_manager_state,
};

/* ---- what the manager tells ---- */

static void keep_run(struct sim *s, const struct unit *u)
{
	char words[LEDGER_WORDS_MAX];
	struct history_record record;

	if (!s->history.record)
		return;
	ledger_run(u, words, &record);
	s->history.record(s->history.data, &record);
}

static void keep_event(struct sim *s, const char *type, const char *unit, const struct supd_row *fields)
{
	struct history_record record;

	if (s->history.record && ledger_event(type, unit, fields, &record))
		s->history.record(s->history.data, &record);
}

/* Everything else is of supd as a whole, of an admin, or told by a run. */
static bool is_of_a_moment(const char *type)
{
	return str_equal(type, "elapsed") || str_equal(type, "missed") || str_equal(type, "retry") ||
	       str_equal(type, "interrupted") || str_equal(type, "catch-up");
}

static void keep_told(struct sim *s, const char *type)
{
	size_t n = strlen(s->told);

	(void) snprintf(s->told + n, sizeof(s->told) - n, "%s ", type);
}

static void on_event(void *userdata, const char *type, const char *unit, const struct supd_row *fields)
{
	struct sim *s = userdata;
	struct sim_record r = { .count = 1 };

	if (s->is_dead)
		return;
	keep_told(s, type);
	if (!is_of_a_moment(type))
		return;
	snprintf(r.type, sizeof(r.type), "%s", type);
	snprintf(r.unit, sizeof(r.unit), "%s", unit);
	for (size_t i = 0; i < fields->n; i++) {
		const struct supd_field *f = &fields->field[i];

		if (str_equal(f->key, "reason") || str_equal(f->key, "cause"))
			snprintf(r.reason, sizeof(r.reason), "%s", f->value.string);
		else if (str_equal(f->key, "scheduled"))
			r.scheduled = f->value.usec;
		else if (str_equal(f->key, "first"))
			r.first = f->value.usec;
		else if (str_equal(f->key, "count"))
			r.count = (uint64_t) f->value.number;
		else if (str_equal(f->key, "attempt"))
			r.attempt = (uint64_t) f->value.number;
		else if (str_equal(f->key, "in"))
			r.in = f->value.usec;
	}
	trace(s, "%s %s %s at %.6f, %llu, attempt %llu", r.unit, r.type, r.reason, (double) r.scheduled / 1e6,
	      (unsigned long long) r.count, (unsigned long long) r.attempt);
	keep_event(s, type, unit, fields);
	if (s->watcher.record)
		s->watcher.record(s->watcher.data, &r);
}

static void on_started(void *userdata, struct unit *u)
{
	struct sim *s = userdata;

	if (!s->is_dead)
		keep_run(s, u);
}

static void on_settled(void *userdata, struct unit *u, bool run_ended)
{
	struct sim *s = userdata;

	if (s->is_dead)
		return;
	if (run_ended)
		trace(s, "%s ended: %s %d", u->name, run_result_to_string(u->run->result), u->run->status);
	if (run_ended)
		keep_run(s, u);
	if (s->watcher.settled)
		s->watcher.settled(s->watcher.data, u, run_ended);
}

static void no_log(void *userdata, const struct log_line *line)
{
	(void) userdata, (void) line;
}

/* ---- life ---- */

void sim_init(struct sim *s, uint64_t seed)
{
	static const struct specifiers none = { .unit = "", .user = "root", .user_id = "0" };

	*s = (struct sim) {
		.seed = seed, .chance = seed, .drawn = ~seed, .boot = 20 * USEC_PER_SEC, .world = world_of_sim,
		.gate_configured = true, .save_takes = 5 * USEC_PER_MSEC,
		.armed = { USEC_NEVER, USEC_NEVER },
	};
	s->world.ctx = s;
	s->config.specifiers = &none;
	s->zone_dir = test_dir_new();
	log_set_sink(no_log, NULL);
	snprintf(s->boot_id, sizeof(s->boot_id), "%016llx", (unsigned long long) draw(&s->chance));
	s->offset = (int64_t) SIM_2026 - (int64_t) s->boot;
}

static void put32(uint8_t *at, uint32_t x)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t) (x >> (24 - 8 * i));
}

/* A TZif file of the second version with nothing but a rule. */
static void zone_file(struct sim *s, enum sim_zone z)
{
	uint8_t block[44 + 6 + 4] = "TZif2";
	const char *rule = sim_zone_rule(z);
	_cleanup_free_ char *tz = NULL, *path = test_dir_path(s->zone_dir, "localtime"), *bytes = NULL;
	_cleanup_free_ char *next = test_dir_path(s->zone_dir, "next");
	size_t n = 2 * sizeof(block) + strlen(rule) + 2;

	put32(block + 36, 1); /* types */
	put32(block + 40, 4); /* bytes of abbreviations */
	memcpy(block + 50, "LMT", 4);
	bytes = malloc(n);
	memcpy(bytes, block, sizeof(block));
	memcpy(bytes + sizeof(block), block, sizeof(block));
	bytes[2 * sizeof(block)] = '\n';
	memcpy(bytes + 2 * sizeof(block) + 1, rule, strlen(rule));
	bytes[n - 1] = '\n';
	test_dir_write(s->zone_dir, "next", bytes, n);
	if (rename(next, path) < 0 || asprintf(&tz, ":%s", path) < 0)
		sim_fail(s, "cannot write a zone");
	setenv("TZ", tz, 1);
	s->zone = z;
}

static void after(struct sim *s)
{
	s->n_events++;
	s->in_event = false;
	if (s->after && !s->is_dead)
		s->after(s, s->after_data);
}

static void before(struct sim *s, const char *what)
{
	s->event = what;
	s->in_event = true;
}

static enum sim_loss line_lost(struct sim *s)
{
	struct sim_blob *b = &s->generation[0];

	if (!s->can_add)
		return SIM_LOSS_LINE;
	switch (sim_random(s, 3)) {
	case 0:
		write_land(s);
		return SIM_LOSS_NOT_TOLD;
	case 1:
		blob_add(b, s->writing.bytes, sim_random(s, s->writing.n_first), b->mark);
		return SIM_LOSS_LINE_CUT;
	default:
		return SIM_LOSS_LINE;
	}
}

static enum sim_loss file_lost(struct sim *s)
{
	switch (sim_random(s, 4)) {
	case 0:
		blob_land(s, &s->writing);
		return SIM_LOSS_NOT_TOLD;
	case 1: /* the disk lied */
		s->writing.n = sim_random(s, s->writing.n_first);
		s->writing.is_cut = true;
		blob_land(s, &s->writing);
		return SIM_LOSS_TORN;
	case 2:
		if (!s->generation[0].bytes)
			return SIM_LOSS_ALL;
		blob_done(&s->generation[1]);
		s->generation[1] = s->generation[0];
		s->generation[1].bytes = malloc(s->generation[0].n + 1);
		memcpy(s->generation[1].bytes, s->generation[0].bytes, s->generation[0].n);
		return SIM_LOSS_BOTH_NAMES;
	default:
		return SIM_LOSS_ALL;
	}
}

static int no_record(void *userdata, const char *name, const struct timer_memory *m, usec_t gone_since)
{
	(void) userdata, (void) name, (void) m, (void) gone_since;
	return 0;
}

/* What is on the disk can be read at any time; what is torn is found out. */
static void state_loads(struct sim *s)
{
	struct state_now now = { .now = sim_now(s), .is_clock_believed = sim_real(s) >= SIM_EPOCH };

	memcpy(now.life.boot_id, s->boot_id, sizeof(s->boot_id));
	memcpy(now.life.daemon_id, s->daemon_id, sizeof(s->daemon_id));
	for (unsigned i = 0; i < ELEMENTS(s->generation); i++) {
		const struct sim_blob *b = &s->generation[i];

		if (b->bytes && state_decode(b->bytes, b->n, &now, no_record, NULL) != (b->is_cut ? STATE_CORRUPT : STATE_SOUND))
			sim_fail(s, "state file %u is %s", i, b->is_cut ? "torn, and nobody sees it" : "whole, and does not load");
	}
}

static void disk_crash(struct sim *s)
{
	enum sim_loss loss = SIM_LOSS_NONE;

	if (s->writing.bytes && !s->is_disk_full)
		loss = s->writing.is_added ? line_lost(s) : file_lost(s);
	s->losses[loss]++;
	if (loss != SIM_LOSS_NONE) /* else it is as it was, and world_set_aside() looks */
		state_loads(s);
	blob_done(&s->writing);
	blob_done(&s->next);
	s->n_writing = s->n_next = 0;
	s->can_add = false;
}

static void life_over(struct sim *s)
{
	struct supd_now now = sim_now(s);

	if (s->history.over)
		s->history.over(s->history.data, s->is_dead || manager_state(s->manager) != SUPD_MANAGER_ENDED);
	s->is_dead = true;
	plugin_host_apply(&s->manager->host, &now, false); /* frees it; the world is deaf */
	s->manager = manager_free(s->manager);
	s->is_dead = false;
	s->die_at = 0;
	s->n_queue = 0;
	memset(s->process, 0, sizeof(s->process));
	s->armed[0] = s->armed[1] = USEC_NEVER;
	s->is_frozen = s->has_unsaved = false;
}

void sim_crash(struct sim *s)
{
	if (!s->manager)
		return;
	trace(s, "crash");
	disk_crash(s);
	life_over(s);
}

void sim_crash_at(struct sim *s, uint64_t calls_from_now)
{
	s->die_at = s->calls + calls_from_now;
}

bool sim_is_on(const struct sim *s)
{
	return s->manager;
}

bool sim_is_running(const struct sim *s)
{
	return s->manager && s->manager->host.instance;
}

/* After an event: did the power go in it? */
static bool survived(struct sim *s)
{
	after(s);
	if (!s->is_dead)
		return true;
	s->n_dead_midway++;
	disk_crash(s);
	life_over(s);
	return false;
}

static bool blob_is_whole(const struct sim_blob *b)
{
	return b->bytes && !b->is_cut;
}

/* What a new instance is to read. */
static const struct sim_blob *blob_newest(const struct sim *s)
{
	return blob_is_whole(&s->generation[0]) ? &s->generation[0] : &s->generation[1];
}

void sim_boot(struct sim *s, bool is_other_kernel, usec_t real)
{
	const struct manager_observer observer = {
		.userdata = s, .started = on_started, .settled = on_settled, .event = on_event,
	};
	const struct sim_blob *state = blob_newest(s);
	struct diag d = { 0 };
	struct supd_now now;

	if (is_other_kernel) {
		s->boot = (5 + sim_random(s, 60)) * USEC_PER_SEC;
		s->thawed = 0;
		snprintf(s->boot_id, sizeof(s->boot_id), "%016llx", (unsigned long long) draw(&s->chance));
	}
	s->offset = (int64_t) real - (int64_t) s->boot;
	zone_file(s, s->zone);
	for (size_t i = 0; i < sizeof(s->daemon_id); i += 8) {
		uint64_t x = draw(&s->chance);

		memcpy(s->daemon_id + i, &x, 8);
	}
	now = sim_now(s);
	s->config.info = (struct supd_start_info) {
		.size = sizeof(s->config.info), .daemon_since = now, .clock_epoch = SIM_EPOCH, .machine_id = { 1, 2, 3 },
	};
	memcpy(s->config.info.daemon_id, s->daemon_id, sizeof(s->daemon_id));
	memcpy(s->config.info.boot_id, s->boot_id, sizeof(s->boot_id));
	s->config.gate_configured = s->gate_configured;
	before(s, "boot");
	trace(s, "boot");
	if (s->history.begins)
		s->history.begins(s->history.data);
	if (s->watcher.restored)
		s->watcher.restored(s->watcher.data, state->mark, blob_is_whole(state));
	if (manager_new(&s->world, &s->config, &s->manager) < 0)
		sim_fail(s, "no manager");
	manager_observe(s->manager, &observer);
	if (manager_load(s->manager, &d) < 0)
		sim_fail(s, "units do not load");
	diag_done(&d);
	manager_begin(s->manager, &now);
	(void) survived(s);
}

/* ---- events ---- */

static void saved(struct sim *s, const struct supd_now *now)
{
	uint64_t ticket[ELEMENTS(s->writing_ticket)];
	size_t n = s->n_writing;
	int result = s->is_disk_full ? -ENOSPC : s->writing.is_added && !s->can_add ? -ESTALE : 0;

	if (!s->writing.bytes && s->has_unsaved)
		result = -ENOSPC; /* that of the write which took its place */
	memcpy(ticket, s->writing_ticket, sizeof(ticket));
	if (result == 0 && s->writing.bytes)
		write_land(s);
	s->n_failed_writes += result < 0;
	s->can_add = result == 0;
	blob_done(&s->writing);
	s->n_writing = 0;
	if (s->n_next > 0)
		write_begin(s);
	execute_held(s, result);
	for (size_t i = 0; i < n && !s->is_dead; i++)
		manager_saved(s->manager, now, "timer", ticket[i], result);
}

static void deliver(struct sim *s, const struct sim_event *e)
{
	static const char *const words[] = { "spawned", "spawn failed", "exited", "tree empty", "saved", "checked", "cancelled" };
	struct sim_process *p = process_of(s, e->token);
	struct supd_now now = sim_now(s);

	before(s, words[e->kind]);
	switch (e->kind) {
	case SIM_SPAWNED:
		manager_spawned(s->manager, &now, e->token, (pid_t) e->token);
		break;
	case SIM_SPAWN_FAILED:
		manager_spawn_failed(s->manager, &now, e->token, EXEC_STEP_EXEC, ENOENT);
		break;
	case SIM_CANCELLED:
		manager_spawn_failed(s->manager, &now, e->token, EXEC_STEP_FORK, ECANCELED);
		break;
	case SIM_EXITED:
		if (p)
			p->is_alive = false;
		if (p)
			tree_check(s, p);
		manager_exited(s->manager, &now, e->token, &(struct process_end) { .wstatus = e->wstatus });
		break;
	case SIM_TREE_EMPTY:
		manager_tree_empty(s->manager, &now, e->token);
		break;
	case SIM_SAVED:
		saved(s, &now);
		break;
	case SIM_CHECKED:
		manager_checked(s->manager, &now, e->token, CONDITIONS_HOLD, NULL, 0);
		break;
	}
}

static struct sim_event *queue_first(struct sim *s)
{
	struct sim_event *first = NULL;

	for (size_t i = 0; i < s->n_queue; i++)
		if (!first || s->queue[i].at < first->at || (s->queue[i].at == first->at && s->queue[i].order < first->order))
			first = &s->queue[i];
	return first;
}

static usec_t alarm_boot(const struct sim *s, enum supd_clock clock)
{
	int64_t at;

	if (s->armed[clock] == USEC_NEVER || clock == SUPD_CLOCK_BOOTTIME)
		return s->armed[clock];
	if (s->armed[clock] > INT64_MAX / 2)
		return USEC_NEVER;
	at = (int64_t) s->armed[clock] - s->offset;
	return at > 0 ? (usec_t) at : 0;
}

/* The next thing to happen, if it is due by now. False: nothing is. */
static bool step_due(struct sim *s)
{
	struct sim_event *e = queue_first(s), copy;
	struct supd_now now = sim_now(s);

	if (e && e->at <= s->boot) {
		copy = *e;
		*e = s->queue[--s->n_queue];
		deliver(s, &copy);
		return true;
	}
	for (unsigned clock = 0; clock < SUPD_CLOCK_COUNT; clock++) {
		if (alarm_boot(s, clock) > s->boot)
			continue;
		s->armed[clock] = USEC_NEVER;
		s->n_wakes++;
		before(s, clock == SUPD_CLOCK_REALTIME ? "wake real" : "wake boot");
		trace(s, "%s", s->event);
		manager_wake(s->manager, &now, (enum supd_clock) clock);
		return true;
	}
	return false;
}

static usec_t next_time(struct sim *s)
{
	struct sim_event *e = queue_first(s);
	usec_t next = usec_min(alarm_boot(s, SUPD_CLOCK_REALTIME), alarm_boot(s, SUPD_CLOCK_BOOTTIME));

	return e ? usec_min(next, e->at) : next;
}

/* Everything due now; bounded. */
static bool settle(struct sim *s)
{
	unsigned n = 0;

	while (s->manager && step_due(s)) {
		if (!survived(s))
			return false;
		if (++n > 2000)
			sim_fail(s, "a storm: 2000 events at one moment");
	}
	return s->manager;
}

bool sim_run_events(struct sim *s, usec_t span, uint64_t max)
{
	usec_t end = s->boot + span, next;

	if (!settle(s)) {
		s->boot = usec_max(s->boot, end);
		return false;
	}
	max = max < UINT64_MAX - s->n_events ? max + s->n_events : UINT64_MAX;
	while ((next = next_time(s)) <= end) {
		if (s->n_events >= max)
			return true;
		s->boot = usec_max(s->boot, next);
		if (!settle(s))
			return false;
		if (manager_state(s->manager) == SUPD_MANAGER_ENDED)
			break;
	}
	s->boot = end;
	return true;
}

bool sim_run(struct sim *s, usec_t span)
{
	return sim_run_events(s, span, UINT64_MAX);
}

bool sim_run_until(struct sim *s, usec_t real)
{
	usec_t now = sim_real(s);

	return real <= now || sim_run(s, real - now);
}

bool sim_suspend(struct sim *s, usec_t span)
{
	trace(s, "suspend for %.0f s", (double) span / 1e6);
	s->is_frozen = true;
	s->boot += span;
	s->thawed = s->boot;
	s->is_frozen = false;
	return settle(s);
}

bool sim_set_clock(struct sim *s, usec_t real)
{
	int64_t delta = (int64_t) real - (int64_t) sim_real(s);
	struct supd_now now;

	s->offset += delta;
	s->last_step = delta;
	if (!s->manager)
		return true;
	now = sim_now(s);
	trace(s, "the clock is set by %.0f s", (double) delta / 1e6);
	before(s, "clock jump");
	manager_clock_jump(s->manager, &now, delta);
	return survived(s) && settle(s);
}

bool sim_set_zone(struct sim *s, enum sim_zone z)
{
	struct supd_now now = sim_now(s);

	if (!s->manager) {
		s->zone = z;
		return true;
	}
	trace(s, "zone %s", sim_zone_rule(z));
	zone_file(s, z);
	before(s, "zone change");
	manager_zone_change(s->manager, &now);
	return survived(s) && settle(s);
}

void sim_shutdown(struct sim *s)
{
	struct supd_now now = sim_now(s);

	if (!s->manager)
		return;
	before(s, "shutdown");
	trace(s, "shutdown");
	manager_shutdown(s->manager, &now, NULL);
	if (!survived(s))
		return;
	for (unsigned i = 0; s->manager && manager_state(s->manager) != SUPD_MANAGER_ENDED; i++) {
		if (i > 100)
			sim_fail(s, "the shutdown does not end");
		if (!sim_run(s, 10 * USEC_PER_SEC))
			return;
	}
	if (s->manager) {
		disk_crash(s); /* nothing is under way: save_now() waited */
		life_over(s);
	}
}

/* ---- admins ---- */

int sim_reload(struct sim *s)
{
	struct reload_report report = { 0 };
	struct supd_now now = sim_now(s);
	int r;

	before(s, "reload");
	s->result = 0; /* what is saved in between is saved by one that succeeds */
	trace(s, "reload");
	r = s->result = manager_reload(s->manager, &now, &report);
	if (s->verbose)
		for (size_t i = 0; i < report.mistakes.n; i++)
			trace(s, "mistake: %s: %s", report.mistakes.entry[i].file, report.mistakes.entry[i].message);
	reload_report_done(&report);
	(void) survived(s);
	return r;
}

static int command(struct sim *s, const char *word, enum supd_command c, const char *timer, uint64_t moment)
{
	const struct supd_command_request request = {
		.size = sizeof(request), .command = c, .unit = timer, .moment = moment,
	};
	struct supd_command_reply reply = { 0 };
	struct supd_now now = sim_now(s);
	int r;

	before(s, word);
	trace(s, "%s %s", s->event, timer);
	r = manager_command(s->manager, &now, &request, &reply);
	(void) survived(s);
	return r;
}

int sim_command(struct sim *s, enum supd_command c, const char *timer)
{
	return command(s, c == SUPD_COMMAND_RESET ? "reset" : "trigger", c, timer, 0);
}

int sim_skip(struct sim *s, const char *timer, uint64_t moment, bool on)
{
	return command(s, on ? "skip" : "unskip", on ? SUPD_COMMAND_SKIP : SUPD_COMMAND_UNSKIP, timer, moment);
}

enum manager_verdict sim_start(struct sim *s, const char *service)
{
	const struct supd_cause cause = { .size = sizeof(cause), .kind = "manual", .attempt = 1 };
	struct supd_now now = sim_now(s);
	enum manager_verdict v;

	before(s, "start");
	v = manager_start_unit(s->manager, &now, service, &cause);
	(void) survived(s);
	return v;
}

enum manager_verdict sim_stop(struct sim *s, const char *service)
{
	struct supd_now now = sim_now(s);
	enum manager_verdict v;

	before(s, "stop");
	trace(s, "stop %s", service);
	v = manager_stop_unit(s->manager, &now, service);
	(void) survived(s);
	return v;
}

/* A new instance in the same daemon, which has kept what the disk did not take. */
static void restored_in_life(struct sim *s)
{
	const struct sim_blob *state = blob_newest(s);

	if (!s->watcher.restored)
		return;
	if (s->has_unsaved)
		s->watcher.restored(s->watcher.data, s->unsaved_mark, true);
	else
		s->watcher.restored(s->watcher.data, state->mark, blob_is_whole(state));
}

int sim_pause(struct sim *s, bool on)
{
	struct supd_now now = sim_now(s);
	int r;

	before(s, on ? "pause" : "resume");
	trace(s, "%s", s->event);
	if (!on && manager_state(s->manager) == SUPD_MANAGER_PAUSED && gate_is_open(&s->manager->gate))
		restored_in_life(s);
	r = on ? manager_pause(s->manager, &now) : manager_resume(s->manager, &now);
	(void) survived(s);
	return r;
}

int sim_gate(struct sim *s, bool on)
{
	struct supd_now now = sim_now(s);
	char error[256];
	int r;

	before(s, on ? "gate on" : "gate off");
	trace(s, "%s", s->event);
	if (on && manager_state(s->manager) == SUPD_MANAGER_RUNNING && !gate_is_open(&s->manager->gate))
		restored_in_life(s);
	r = manager_experimental(s->manager, &now, on, false, error, sizeof(error));
	(void) survived(s);
	return r;
}

bool sim_is_settled(struct sim *s)
{
	return next_time(s) > s->boot;
}

bool sim_is_unit_active(struct sim *s, const char *service)
{
	struct unit *u = s->manager ? manager_unit(s->manager, service) : NULL;

	return u && unit_is_active(u);
}

void sim_done(struct sim *s)
{
	sim_crash(s);
	for (size_t i = 0; i < s->n_files; i++)
		free(s->file[i].text);
	blob_done(&s->generation[0]);
	blob_done(&s->generation[1]);
	blob_done(&s->writing);
	blob_done(&s->next);
	s->zone_dir = test_dir_free(s->zone_dir);
}
