/* SPDX-License-Identifier: MIT */
#include "run/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "store/file.h"

#define CHUNK_MIN ((size_t) 256)
#define CHUNK_MAX ((size_t) 32 * 1024)
#define SWEEP_INTERVAL USEC_PER_DAY

/* Records of one run, in a row. */
struct chunk {
	struct keeper_run *run; /* a reference */
	uint8_t *bytes;
	size_t n, size; /* used, allocated */
	int result; /* of writing it */
	struct chunk *prev, *next;
};

struct keeper_run {
	struct keeper *keeper;
	char *unit, *identifier;
	uint8_t id[16];
	uint64_t number; /* of its next record */
	size_t queued;   /* bytes allocated */
	char *tail;      /* room for twice KEEPER_TAIL_MAX; NULL: nothing was put yet */
	size_t n_tail;
	unsigned n_refs;
};

/* What the thread writes in one go. */
struct batch {
	struct worker_job job;
	struct keeper *keeper;
	struct chunk *chunks;
	bool sweeps;
};

struct keeper {
	struct worker *worker;
	struct run_logs *logs; /* the thread's */
	int dir;
	sd_event_source *sweep;
	struct keeper_listener listener;
	struct chunk *queue; /* the oldest first */
	size_t queued;       /* bytes allocated */
	unsigned n_batches;  /* with the thread */
	bool has_failed;     /* the last write did, and that was told */
};

/* ---- runs ---- */

struct keeper_run *keeper_run_ref(struct keeper_run *r)
{
	if (r)
		r->n_refs++;
	return r;
}

struct keeper_run *keeper_run_unref(struct keeper_run *r)
{
	if (!r || --r->n_refs > 0)
		return NULL;
	free(r->unit);
	free(r->identifier);
	free(r->tail);
	free(r);
	return NULL;
}

struct keeper_run *keeper_run_new(struct keeper *k, const char *unit, const uint8_t run_id[16],
				  const char *identifier)
{
	struct keeper_run *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->keeper = k;
	r->n_refs = 1;
	memcpy(r->id, run_id, sizeof(r->id));
	r->unit = strdup(unit);
	r->identifier = strdup(identifier ? identifier : "");
	return r->unit && r->identifier ? r : keeper_run_unref(r);
}

/* ---- the last lines ---- */

static void remember_bytes(struct keeper_run *r, const char *bytes, size_t n)
{
	size_t cut = n > KEEPER_TAIL_MAX ? n - KEEPER_TAIL_MAX : 0;

	if (r->n_tail + n - cut > 2 * KEEPER_TAIL_MAX) {
		memmove(r->tail, r->tail + r->n_tail - KEEPER_TAIL_MAX, KEEPER_TAIL_MAX);
		r->n_tail = KEEPER_TAIL_MAX;
	}
	memcpy(r->tail + r->n_tail, bytes + cut, n - cut);
	r->n_tail += n - cut;
}

static void remember(struct keeper_run *r, const struct run_log_record *line)
{
	if (!r->tail)
		r->tail = malloc(2 * KEEPER_TAIL_MAX);
	if (!r->tail)
		return;
	remember_bytes(r, line->text, line->n);
	/* A line that is cut into parts goes on. */
	if (!(line->flags & RUN_LOG_CONTINUED))
		remember_bytes(r, "\n", 1);
}

char *keeper_run_tail(const struct keeper_run *r, size_t *ret_n)
{
	const char *from, *end;
	char *copy;

	if (!r || !r->tail || r->n_tail == 0)
		return NULL;
	end = r->tail + r->n_tail;
	from = r->n_tail > KEEPER_TAIL_MAX ? end - KEEPER_TAIL_MAX : r->tail;
	/* Not the rest of a line, unless it is all there is. */
	if (from > r->tail && from[-1] != '\n') {
		const char *line = memchr(from, '\n', (size_t) (end - from));

		from = line && line + 1 < end ? line + 1 : from;
	}
	copy = malloc((size_t) (end - from));
	if (!copy)
		return NULL;
	*ret_n = (size_t) (end - from);
	return memcpy(copy, from, *ret_n);
}

/* ---- the queue ---- */

static void chunk_free(struct chunk *c)
{
	keeper_run_unref(c->run);
	free(c->bytes);
	free(c);
}

static void take_off(struct keeper *k, struct chunk *c)
{
	DL_DELETE(k->queue, c);
	k->queued -= c->size;
	c->run->queued -= c->size;
}

static void drop(struct keeper *k, struct chunk *c)
{
	take_off(k, c);
	chunk_free(c);
}

/* The oldest chunk of @run, or, with NULL, of the run that has most; NULL: none is queued. */
static struct chunk *find_oldest(struct keeper *k, const struct keeper_run *run)
{
	struct chunk *c, *oldest = NULL;

	DL_FOREACH(k->queue, c)
		if (run ? c->run == run && !oldest
			: !oldest || c->run->queued > oldest->run->queued)
			oldest = c;
	return oldest;
}

static void make_room(struct keeper *k, struct keeper_run *r, size_t n)
{
	struct chunk *c;

	while (r->queued + n > KEEPER_RUN_MAX && (c = find_oldest(k, r)))
		drop(k, c);
	while (k->queued + n > KEEPER_ALL_MAX && (c = find_oldest(k, NULL)))
		drop(k, c);
}

static bool chunk_grow(struct chunk *c, size_t n)
{
	size_t size = c->size > 0 ? c->size : CHUNK_MIN;
	uint8_t *grown;

	while (size < c->n + n)
		size *= 2;
	if (size == c->size)
		return true;
	grown = realloc(c->bytes, size);
	if (!grown)
		return false;
	c->run->keeper->queued += size - c->size;
	c->run->queued += size - c->size;
	c->bytes = grown;
	c->size = size;
	return true;
}

static struct chunk *chunk_new(struct keeper_run *r)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->run = keeper_run_ref(r);
	DL_APPEND(r->keeper->queue, c);
	return c;
}

/* Where the next @n bytes go; NULL when memory ran out. */
static struct chunk *find_place(struct keeper_run *r, size_t n)
{
	struct keeper *k = r->keeper;
	struct chunk *c = k->queue ? k->queue->prev : NULL;

	if (!c || c->run != r || (c->n > 0 && c->n + n > CHUNK_MAX))
		c = chunk_new(r);
	if (c && !chunk_grow(c, n)) {
		if (c->n == 0)
			drop(k, c);
		return NULL;
	}
	return c;
}

/* ---- writing ---- */

static usec_t real_time(void)
{
	struct timespec ts;

	(void) clock_gettime(CLOCK_REALTIME, &ts);
	return (usec_t) ts.tv_sec * USEC_PER_SEC + (usec_t) ts.tv_nsec / NSEC_PER_USEC;
}

static void write_chunks(struct keeper *k, struct chunk *chunks)
{
	const usec_t now = real_time();
	struct chunk *c;

	DL_FOREACH(chunks, c)
		c->result = run_logs_append(k->logs, c->run->unit, c->run->id, c->bytes, c->n, now);
}

static void work(struct worker_job *job)
{
	struct batch *b = (struct batch *) job; /* its first member */

	if (b->sweeps)
		run_logs_sweep(b->keeper->logs, real_time());
	write_chunks(b->keeper, b->chunks);
}

static void free_chunks(struct batch *b)
{
	struct chunk *c, *next;

	DL_FOREACH_SAFE(b->chunks, c, next) {
		DL_DELETE(b->chunks, c);
		chunk_free(c);
	}
}

/* Once, until it works again. */
static void tell_result(struct keeper *k, const struct chunk *c)
{
	if (c->result < 0 && !k->has_failed)
		log_unit(c->run->unit, LOG_WARNING, c->result, "what it prints cannot be kept");
	k->has_failed = c->result < 0;
}

static void tell_written(struct keeper *k, const struct batch *b)
{
	const struct chunk *c;

	DL_FOREACH(b->chunks, c) {
		tell_result(k, c);
		if (k->listener.written && (!c->next || c->next->run != c->run))
			k->listener.written(k->listener.userdata, c->run->unit);
	}
}

static void submit(struct keeper *k, bool sweeps);

static void done(struct worker_job *job)
{
	struct batch *b = (struct batch *) job;
	struct keeper *k = b->keeper;

	k->n_batches--;
	if (k->queue && k->n_batches == 0)
		submit(k, false);
	tell_written(k, b);
	free_chunks(b);
	free(b);
}

/* The daemon ends: it is written, and nobody is told any more. */
static void at_end(struct worker_job *job)
{
	struct batch *b = (struct batch *) job;

	b->keeper->n_batches--;
	free_chunks(b);
	free(b);
}

/* All that is queued, and, if asked for, a look at what is old. */
static void submit(struct keeper *k, bool sweeps)
{
	struct batch *b = calloc(1, sizeof(*b));
	struct chunk *c, *next;

	if (!b)
		return;
	b->job.work = work;
	b->job.done = done;
	b->job.drop = at_end;
	b->keeper = k;
	b->sweeps = sweeps;
	DL_FOREACH_SAFE(k->queue, c, next) {
		take_off(k, c);
		DL_APPEND(b->chunks, c);
	}
	k->n_batches++;
	worker_submit(k->worker, &b->job);
}

void keeper_put(struct keeper_run *r, const struct run_log_record *line)
{
	struct run_log_record record = *line;
	struct chunk *c;
	size_t n;

	if (!r)
		return;
	remember(r, line);
	record.number = r->number++;
	memcpy(record.run_id, r->id, sizeof(record.run_id));
	record.identifier = r->identifier;
	record.n_identifier = strlen(r->identifier);
	n = run_log_record_size(&record);
	make_room(r->keeper, r, n);
	c = find_place(r, n);
	if (!c)
		return;
	run_log_record_encode(&record, c->bytes + c->n);
	c->n += n;
	if (r->keeper->n_batches == 0)
		submit(r->keeper, false);
}

void keeper_submit(struct keeper *k, struct worker_job *job)
{
	if (k->queue)
		submit(k, false);
	worker_submit(k->worker, job);
}

int keeper_dir(const struct keeper *k)
{
	return k->dir;
}

/* ---- life ---- */

static int on_sweep(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void) usec;
	submit(userdata, true);
	(void) sd_event_source_set_time_relative(source, SWEEP_INTERVAL);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

void keeper_listen(struct keeper *k, const struct keeper_listener *listener)
{
	k->listener = *listener;
}

int keeper_new(sd_event *event, int64_t priority, int state_dir,
	       const struct run_log_limits *limits, struct keeper **ret)
{
	struct keeper *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->dir = -1;
	r = run_logs_new(state_dir, limits, &k->logs);
	if (r >= 0) {
		k->dir = openat(state_dir, RUN_LOG_DIRECTORY,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		r = k->dir < 0 ? -errno : worker_new(event, priority, 1, &k->worker);
	}
	if (r >= 0)
		r = sd_event_add_time_relative(event, &k->sweep, CLOCK_BOOTTIME, 0, USEC_PER_SEC,
					       on_sweep, k);
	if (r < 0) {
		keeper_free(k);
		return r;
	}
	*ret = k;
	return 0;
}

struct keeper *keeper_free(struct keeper *k)
{
	if (!k)
		return NULL;
	sd_event_source_disable_unref(k->sweep);
	if (k->queue)
		submit(k, false);
	if (k->worker)
		worker_wait(k->worker);
	worker_free(k->worker);
	run_logs_free(k->logs);
	cleanup_close(&k->dir);
	free(k);
	return NULL;
}
