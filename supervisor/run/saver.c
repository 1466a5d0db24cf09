/* SPDX-License-Identifier: MIT */
#include "run/saver.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "run/worker.h"
#include "store/atomic_file.h"

#define STATE_MAX ((size_t) 64 * 1024 * 1024)
#define NAME_SIZE 128

/* Bytes on their way, and who waits for them. */
struct blob {
	void *bytes;
	size_t n;
	uint64_t *ticket;
	size_t n_tickets;
	bool is_added; /* behind what the file holds; else they take its place */
};

/* The file of one plugin. */
struct slot {
	struct worker_job job;
	struct saver *saver;
	char *plugin;
	char name[NAME_SIZE];
	struct blob current; /* the worker's, while is_busy */
	struct blob next;
	struct barrier written; /* tickets, whatever came of them */
	bool is_busy;
	bool may_be_added_to; /* the file is as we wrote it; the worker's, while is_busy */
	int result;
	/* waited for bytes that a saver_save_now() replaced; answered with its result */
	struct blob late;
	int late_result;
	struct slot *prev, *after;
};

struct saver {
	struct worker *worker;
	int dir;
	saver_done_fn *done;
	void *userdata;
	struct slot *slots;
};

static void blob_done(struct blob *b)
{
	free(b->bytes);
	free(b->ticket);
	*b = (struct blob) { 0 };
}

/* Room for one more: nothing else of it changes. */
static int blob_grow_tickets(struct blob *b)
{
	uint64_t *grown = reallocarray(b->ticket, b->n_tickets + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	b->ticket = grown;
	return 0;
}

/* What waits already takes them with it, be it a whole file or not. */
static int blob_add(struct blob *b, uint64_t ticket, const void *bytes, size_t n)
{
	void *grown;

	if (blob_grow_tickets(b) < 0)
		return -ENOMEM;
	grown = realloc(b->bytes, b->n + n + 1);
	if (!grown)
		return -ENOMEM;
	if (!b->bytes)
		b->is_added = true;
	b->bytes = grown;
	memcpy((char *) grown + b->n, bytes, n);
	b->n += n;
	b->ticket[b->n_tickets++] = ticket;
	return 0;
}

/* The newer bytes; the tickets of both. */
static int blob_replace(struct blob *b, uint64_t ticket, const void *bytes, size_t n)
{
	void *copy;

	if (blob_grow_tickets(b) < 0)
		return -ENOMEM;
	copy = malloc(n + 1);
	if (!copy)
		return -ENOMEM;
	if (n > 0)
		memcpy(copy, bytes, n);
	free(b->bytes);
	b->bytes = copy;
	b->n = n;
	b->is_added = false;
	b->ticket[b->n_tickets++] = ticket;
	return 0;
}

/* timer → timers.state. A plugin's name is a word, and never a path. */
static int file_name(const char *plugin, char ret[NAME_SIZE])
{
	size_t n = strspn(plugin, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (n == 0 || plugin[n] != '\0' || plugin[0] == '-')
		return -EINVAL;
	return snprintf(ret, NAME_SIZE, "%ss.state", plugin) < NAME_SIZE ? 0 : -ENAMETOOLONG;
}

static int blob_write(struct slot *slot, const struct blob *b)
{
	int r = -ESTALE;

	if (!b->is_added)
		r = atomic_file_write(slot->saver->dir, slot->name, b->bytes, b->n);
	else if (slot->may_be_added_to)
		r = atomic_file_append(slot->saver->dir, slot->name, b->bytes, b->n);
	slot->may_be_added_to = r >= 0;
	return r;
}

static void let_go(struct slot *slot, const struct blob *b)
{
	if (b->n_tickets > 0)
		barrier_raise(&slot->written, b->ticket[b->n_tickets - 1]);
}

static void work(struct worker_job *job)
{
	struct slot *slot = (struct slot *) job; /* its first member */

	slot->result = blob_write(slot, &slot->current);
	let_go(slot, &slot->current);
}

static void begin(struct slot *slot)
{
	slot->current = slot->next;
	slot->next = (struct blob) { 0 };
	slot->is_busy = true;
	worker_submit(slot->saver->worker, &slot->job);
	/* What follows here mostly waits for the disk, so the disk does not wait for us: should the
	 * thread have woken up on our processor, it goes first, and soon sleeps again. */
	(void) sched_yield();
}

static void answer(struct slot *slot, struct blob *b, int result)
{
	for (size_t i = 0; i < b->n_tickets; i++)
		slot->saver->done(slot->saver->userdata, slot->plugin, b->ticket[i], result);
	blob_done(b);
}

static void done(struct worker_job *job)
{
	struct slot *slot = (struct slot *) job;
	struct blob written = slot->current, late = slot->late;
	int result = slot->result, late_result = slot->late_result;

	slot->current = slot->late = (struct blob) { 0 };
	slot->is_busy = false;
	if (slot->next.bytes)
		begin(slot);
	answer(slot, &written, result);
	answer(slot, &late, late_result);
}

static void slot_free(struct slot *slot)
{
	DL_DELETE2(slot->saver->slots, slot, prev, after);
	blob_done(&slot->current);
	blob_done(&slot->next);
	blob_done(&slot->late);
	free(slot->plugin);
	free(slot);
}

static int slot_get(struct saver *s, const char *plugin, struct slot **ret)
{
	char name[NAME_SIZE];
	struct slot *slot;
	int r;

	if (s->dir < 0)
		return -EROFS; /* the only reason for there being none */
	r = file_name(plugin, name);
	if (r < 0)
		return r;
	DL_FOREACH2(s->slots, slot, after)
		if (str_equal(slot->plugin, plugin)) {
			*ret = slot;
			return 0;
		}
	slot = calloc(1, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	slot->saver = s;
	slot->job.work = work;
	slot->job.done = done;
	memcpy(slot->name, name, sizeof(name));
	slot->plugin = strdup(plugin);
	DL_APPEND2(s->slots, slot, prev, after);
	if (!slot->plugin) {
		slot_free(slot);
		return -ENOMEM;
	}
	atomic_file_sweep(s->dir, slot->name);
	*ret = slot;
	return 0;
}

int saver_new(sd_event *event, int64_t priority, int dir, saver_done_fn *done_fn, void *userdata,
	      struct saver **ret)
{
	struct saver *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->dir = dir;
	s->done = done_fn;
	s->userdata = userdata;
	r = worker_new(event, priority, 1, &s->worker);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void saver_settle(struct saver *s)
{
	worker_wait(s->worker);
}

/* What was queued behind a write that the loop has not told yet goes out now, the newest bytes
 * only. */
static void flush(struct saver *s)
{
	struct slot *slot;

	saver_settle(s);
	DL_FOREACH2(s->slots, slot, after)
		if (slot->next.bytes) {
			(void) blob_write(slot, &slot->next);
			blob_done(&slot->next);
		}
}

struct saver *saver_free(struct saver *s)
{
	if (!s)
		return NULL;
	flush(s);
	worker_free(s->worker);
	while (s->slots)
		slot_free(s->slots);
	free(s);
	return NULL;
}

int saver_save(struct saver *s, const char *plugin, uint64_t ticket, const void *bytes, size_t n)
{
	struct slot *slot;
	int r;

	r = slot_get(s, plugin, &slot);
	if (r >= 0)
		r = blob_replace(&slot->next, ticket, bytes, n);
	if (r >= 0 && !slot->is_busy)
		begin(slot);
	return r;
}

int saver_append(struct saver *s, const char *plugin, uint64_t ticket, const void *bytes, size_t n)
{
	struct slot *slot;
	int r;

	r = slot_get(s, plugin, &slot);
	if (r >= 0)
		r = blob_add(&slot->next, ticket, bytes, n);
	if (r >= 0 && !slot->is_busy)
		begin(slot);
	return r;
}

static bool blob_has(const struct blob *b, uint64_t ticket)
{
	for (size_t i = 0; i < b->n_tickets; i++)
		if (b->ticket[i] == ticket)
			return true;
	return false;
}

struct barrier_wait saver_wait(const struct saver *s, uint64_t ticket)
{
	struct slot *slot;

	DL_FOREACH2(s->slots, slot, after)
		if (blob_has(&slot->current, ticket) || blob_has(&slot->next, ticket))
			return (struct barrier_wait){ .barrier = &slot->written,
						      .number = (uint32_t) ticket };
	return (struct barrier_wait) { 0 };
}

/* What is queued is older and must not be written after this; who waits for it is answered, from
 * the loop, after those of the write before, which is done but not told. */
static void replace_queued(struct slot *slot, int result)
{
	struct blob *next = &slot->next, *late = &slot->late;
	uint64_t *grown;

	if (!next->bytes)
		return;
	let_go(slot, next);
	grown = reallocarray(late->ticket, late->n_tickets + next->n_tickets, sizeof(*grown));
	if (!grown) {
		blob_done(next);
		return;
	}
	memcpy(grown + late->n_tickets, next->ticket, next->n_tickets * sizeof(*grown));
	late->ticket = grown;
	late->n_tickets += next->n_tickets;
	slot->late_result = result;
	blob_done(next);
}

int saver_save_now(struct saver *s, const char *plugin, const void *bytes, size_t n)
{
	struct slot *slot;
	int r;

	r = slot_get(s, plugin, &slot);
	if (r < 0)
		return r;
	saver_settle(s);
	r = atomic_file_write(s->dir, slot->name, bytes, n);
	slot->may_be_added_to = r >= 0;
	replace_queued(slot, r);
	return r;
}

int saver_load(struct saver *s, const char *plugin, unsigned generation, void **ret, size_t *ret_n)
{
	struct slot *slot;
	int r;

	r = slot_get(s, plugin, &slot);
	if (r < 0)
		return r;
	saver_settle(s);
	return atomic_file_read(s->dir, slot->name, generation, STATE_MAX, ret, ret_n);
}

int saver_set_aside(struct saver *s, const char *plugin, char *ret_name, size_t n)
{
	struct slot *slot;
	char stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int r;

	r = slot_get(s, plugin, &slot);
	if (r < 0)
		return r;
	saver_settle(s);
	slot->may_be_added_to = false;
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	return atomic_file_set_aside(s->dir, slot->name, stamp, ret_name, n);
}
