/* SPDX-License-Identifier: MIT */
#include "run/history_keeper.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "run/history_batch.h"
#include "run/worker.h"

/* How long what happens is gathered, and how much of it. */
#define GATHER (500 * USEC_PER_MSEC)
#define GATHER_RECORDS 1024
/* Between two attempts to write where one failed. */
#define AGAIN (10 * USEC_PER_SEC)
/* What waits in memory while nothing can be written. What services printed last is left out of more
 * than the first bound; what is more than the second is lost. */
#define WAITING_OUTPUT_MAX ((size_t) 4 * 1024 * 1024)
#define WAITING_MAX ((size_t) 16 * 1024 * 1024)
/* Pruning: how often it is looked for, and how it goes on while there is more: so many steps, then
 * a pause, so that no question waits for long; beside a batch one more for each so many records, so
 * that it is faster than what comes. */
#define PRUNE_INTERVAL USEC_PER_MINUTE
#define PRUNE_STEPS 2
#define PRUNE_PAUSE (200 * USEC_PER_MSEC)
#define PRUNE_RECORDS 128
#define ACCURACY (50 * USEC_PER_MSEC)

struct history_keeper {
	struct worker *worker;
	sd_event_source *timer;
	struct history_limits limits;
	char *path;
	/* the loop's */
	struct history_batch gathered;
	struct write *writing;   /* a thread has it, or it failed and is tried again */
	struct question *held, **held_end; /* what is gathered goes to the thread before them */
	bool is_at_work;         /* a thread has it */
	bool is_off;             /* a newer supd's file: nothing is kept */
	/* what is over a limit is removed so much later; USEC_NEVER: nothing was left */
	usec_t prune_in;
	char failure[256];       /* "": all is well */
	struct history_record gap; /* what was lost since; count 0: nothing */
	usec_t failing_since;
	/* the thread's */
	struct history *history;
	usec_t pruned;           /* real time */
	bool has_unpruned;       /* was anything written since? */
};

/* Opens the file if it is not open, and writes. */
struct write {
	struct worker_job job;
	struct history_keeper *keeper;
	struct history_batch batch;
	usec_t now;              /* real time, of the loop */
	int result;
	char message[256];       /* on failure */
	char aside[512];         /* the damaged file's new name; "" */
	int n_interrupted;
	usec_t prune_in;
};

struct question {
	struct worker_job job;
	struct question *next;   /* held, too */
	struct history_keeper *keeper;
	struct history_answer answer;
	struct history_filter filter;
	struct arena arena;      /* of the filter */
	struct history_batch batch;
	struct told_tally *tally;
	size_t n_tallies;
	int result;
	char message[256];
};

struct told_tally {
	struct tally tally;
	char *unit;
};

static usec_t real_now(void)
{
	struct timespec now = { 0 };

	(void) clock_gettime(CLOCK_REALTIME, &now);
	return (usec_t) now.tv_sec * USEC_PER_SEC + (usec_t) now.tv_nsec / NSEC_PER_USEC;
}

/* ---- in the thread ---- */

static int open_file(struct history_keeper *k, int *ret_interrupted)
{
	int r;

	if (k->history)
		return 0;
	r = history_open(k->path, false, &k->history);
	if (r < 0)
		return r;
	r = history_interrupt(k->history);
	if (r < 0)
		k->history = history_close(k->history);
	else
		*ret_interrupted += r;
	return r < 0 ? r : 0;
}

/* The file is damaged: a new one takes its place, and begins with what is known of the loss. */
static int begin_anew(struct history_keeper *k, struct write *w)
{
	const struct history_record gap = {
		.class = HISTORY_GAP,
		.at = w->now,
		.first = w->now,
		.reason = "damaged",
		.scheduled = USEC_NEVER,
	};
	char stamp[32];
	int r;

	k->history = history_close(k->history);
	(void) snprintf(stamp, sizeof(stamp), "%llu", (unsigned long long) (w->now / USEC_PER_SEC));
	r = history_set_aside(k->path, stamp, w->aside, sizeof(w->aside));
	if (r >= 0)
		r = open_file(k, &w->n_interrupted);
	return r < 0 ? r : history_write(k->history, &gap, 1);
}

static void say(const struct history_keeper *k, int r, char *message, size_t n)
{
	const char *more = k->history ? history_error(k->history) : NULL;

	if (r == -EPROTONOSUPPORT)
		(void) snprintf(message, n, "%s was written by a newer supd, and is left alone",
				k->path);
	else if (r == -ETIME)
		(void) snprintf(
			message, n,
			"that takes too long: name units, or times with --since= and --until=");
	else
		(void) snprintf(message, n, "%s: %s%s%s%s", k->path, strerror(-r), more ? " (" : "",
				more ? more : "", more ? ")" : "");
}

/* How much later it is to be gone on with; USEC_NEVER: nothing was left. Once a minute is enough
 * for what is new. */
static usec_t prune(struct history_keeper *k, usec_t now, size_t n_new)
{
	size_t steps = PRUNE_STEPS + n_new / PRUNE_RECORDS;
	int r = 1;

	k->has_unpruned |= n_new > 0;
	if (now >= k->pruned && now - k->pruned < PRUNE_INTERVAL)
		return k->has_unpruned ? PRUNE_INTERVAL : USEC_NEVER;
	for (size_t i = 0; i < steps && r > 0; i++)
		r = history_prune(k->history, &k->limits, now);
	if (r == 0) {
		k->pruned = now;
		k->has_unpruned = false;
	}
	return r > 0 ? PRUNE_PAUSE : USEC_NEVER;
}

static int write_batch(struct history_keeper *k, struct write *w)
{
	int r = open_file(k, &w->n_interrupted);

	if (r >= 0 && w->batch.n > 0)
		r = history_write(k->history, w->batch.record, w->batch.n);
	return r;
}

static void write_work(struct worker_job *job)
{
	struct write *w = (struct write *) job; /* its first member */
	struct history_keeper *k = w->keeper;
	int r = write_batch(k, w);

	if (r == -EBADMSG) {
		r = begin_anew(k, w);
		if (r >= 0)
			r = write_batch(k, w);
	}
	/* What is not removed now is removed another time. */
	w->prune_in = r >= 0 ? prune(k, w->now, w->batch.n) : USEC_NEVER;
	w->result = r;
	if (r < 0)
		say(k, r, w->message, sizeof(w->message));
}

static int keep_record(void *userdata, const struct history_record *r)
{
	struct question *q = userdata;

	return history_batch_add(&q->batch, r);
}

static int keep_tally(void *userdata, const char *unit, const struct tally *t)
{
	struct question *q = userdata;
	struct told_tally *grown = reallocarray(q->tally, q->n_tallies + 1, sizeof(*grown)), *own;

	if (!grown)
		return -ENOMEM;
	q->tally = grown;
	own = &grown[q->n_tallies];
	*own = (struct told_tally) { .unit = strdup(unit) };
	if (!own->unit)
		return -ENOMEM;
	q->n_tallies++;
	return tally_merge(&own->tally, t);
}

static void question_work(struct worker_job *job)
{
	struct question *q = (struct question *) job; /* its first member */
	struct history_keeper *k = q->keeper;
	int ignored = 0, r = open_file(k, &ignored);

	if (r >= 0 && q->answer.tally)
		r = history_tally(k->history, &q->filter, keep_tally, q);
	else if (r >= 0)
		r = history_find(k->history, &q->filter, keep_record, q);
	q->result = r;
	if (r < 0)
		say(k, r, q->message, sizeof(q->message));
}

/* ---- writing, seen from the loop ---- */

static struct write *write_free(struct write *w)
{
	if (w)
		history_batch_done(&w->batch);
	free(w);
	return NULL;
}

static void alarm_in(struct history_keeper *k, usec_t span)
{
	(void) sd_event_source_set_time_relative(k->timer, span);
	(void) sd_event_source_set_enabled(k->timer, SD_EVENT_ONESHOT);
}

static void lose(struct history_keeper *k, uint64_t n)
{
	if (n > 0 && k->gap.count == 0)
		k->gap = (struct history_record){
			.class = HISTORY_GAP,
			.at = real_now(),
			.scheduled = USEC_NEVER,
			.reason = "lost",
		};
	k->gap.first = k->gap.at;
	k->gap.count += n;
}

static void failed(struct history_keeper *k, const struct write *w)
{
	if (!*k->failure) {
		k->failing_since = w->now;
		log_warning(0, "the history is not written, runs go on: %s", w->message);
	}
	(void) snprintf(k->failure, sizeof(k->failure), "%s", w->message);
}

static void recovered(struct history_keeper *k)
{
	if (!*k->failure)
		return;
	*k->failure = '\0';
	if (k->gap.count > 0)
		log_warning(0, "the history is written again; %llu records are lost",
			    (unsigned long long) k->gap.count);
	else
		log_notice("the history is written again, nothing is lost");
}

static void submit(struct history_keeper *k, struct write *w)
{
	w->now = real_now();
	k->writing = w;
	k->is_at_work = true;
	worker_submit(k->worker, &w->job);
}

static void write_done(struct worker_job *job);

static void write_drop(struct worker_job *job)
{
	struct write *w = (struct write *) job;

	w->keeper->writing = NULL;
	write_free(w);
}

/* What was gathered goes to the thread, with what is to be said of a loss. @is_time: if there is
 * nothing, what is over a limit may go. */
static void flush(struct history_keeper *k, bool is_time)
{
	struct write *w;

	if (k->is_at_work)
		return;
	if (k->writing) {
		submit(k, k->writing);
		return;
	}
	if (k->gap.count > 0 && history_batch_add(&k->gathered, &k->gap) >= 0)
		k->gap.count = 0;
	if (k->gathered.n == 0 && (!is_time || k->prune_in == USEC_NEVER))
		return;
	w = calloc(1, sizeof(*w));
	if (!w) {
		alarm_in(k, AGAIN);
		return;
	}
	w->job = (struct worker_job) { .work = write_work, .done = write_done, .drop = write_drop };
	w->keeper = k;
	w->batch = k->gathered;
	k->gathered = (struct history_batch) { 0 };
	submit(k, w);
}

static void release_questions(struct history_keeper *k)
{
	struct question *q = k->held;

	k->held = NULL;
	k->held_end = &k->held;
	while (q) {
		struct question *next = q->next;

		worker_submit(k->worker, &q->job);
		q = next;
	}
}

/* 0, or the error. */
static int written(struct history_keeper *k, struct write *w)
{
	k->is_at_work = false;
	if (*w->aside)
		log_error(0,
			  "the history was damaged: it is set aside as %s, and a new one is begun",
			  w->aside);
	*w->aside = '\0';
	if (w->n_interrupted > 0)
		log_notice("%d run%s going on when supd ended last, on record as interrupted now",
			   w->n_interrupted, w->n_interrupted == 1 ? " was" : "s were");
	w->n_interrupted = 0;
	if (w->result < 0) {
		int r = w->result;

		failed(k, w);
		k->is_off = r == -EPROTONOSUPPORT;
		if (k->is_off)
			k->writing = write_free(w);
		else
			alarm_in(k, AGAIN);
		return r;
	}
	recovered(k);
	k->prune_in = w->prune_in;
	k->writing = write_free(w);
	if (k->gathered.n > 0 || k->gap.count > 0)
		alarm_in(k, GATHER);
	else if (k->prune_in != USEC_NEVER)
		alarm_in(k, k->prune_in);
	return 0;
}

static void write_done(struct worker_job *job)
{
	struct write *w = (struct write *) job;
	struct history_keeper *k = w->keeper;

	if (written(k, w) >= 0 && k->held)
		flush(k, false);
	release_questions(k);
}

static int on_alarm(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void) source;
	(void) usec;
	flush(userdata, true);
	return 0;
}

/* 0, -ENOMEM, or -ENOBUFS: too much waits already. */
static int gather(struct history_keeper *k, const struct history_record *r)
{
	size_t waiting = k->gathered.bytes + (k->writing ? k->writing->batch.bytes : 0);
	struct history_record copy = *r;

	if (waiting + copy.n_output > WAITING_OUTPUT_MAX) {
		copy.output = NULL;
		copy.n_output = 0;
	}
	if (waiting + history_record_bytes(&copy) > WAITING_MAX)
		return -ENOBUFS;
	return history_batch_add(&k->gathered, &copy);
}

void history_keeper_add(struct history_keeper *k, const struct history_record *r)
{
	if (!k || k->is_off)
		return;
	if (gather(k, r) < 0) {
		lose(k, 1);
		return;
	}
	/* A file that fails is tried again by its own alarm. */
	if (k->writing)
		return;
	if (k->gathered.n == 1)
		alarm_in(k, GATHER);
	else if (k->gathered.n >= GATHER_RECORDS)
		flush(k, false);
}

struct history_keeper_state history_keeper_state(const struct history_keeper *k)
{
	if (!k || !*k->failure)
		return (struct history_keeper_state) { 0 };
	return (struct history_keeper_state) {
		.failure = k->failure, .since = k->failing_since, .lost = k->gap.count,
	};
}

/* ---- questions, seen from the loop ---- */

static struct question *question_free(struct question *q)
{
	for (size_t i = 0; i < q->n_tallies; i++) {
		tally_done(&q->tally[i].tally);
		free(q->tally[i].unit);
	}
	free(q->tally);
	history_batch_done(&q->batch);
	arena_done(&q->arena);
	free(q);
	return NULL;
}

static void question_done(struct worker_job *job)
{
	struct question *q = (struct question *) job;
	int r = q->result;

	for (size_t i = 0; i < q->batch.n && r >= 0; i++)
		r = q->answer.record(q->answer.userdata, &q->batch.record[i]);
	for (size_t i = 0; i < q->n_tallies && r >= 0; i++)
		r = q->answer.tally(q->answer.userdata, q->tally[i].unit, &q->tally[i].tally);
	q->answer.done(q->answer.userdata, r, q->result < 0 ? q->message : NULL);
	question_free(q);
}

static void question_drop(struct worker_job *job)
{
	struct question *q = (struct question *) job;

	q->answer.drop(q->answer.userdata);
	question_free(q);
}

static int copy_run_ids(struct question *q, const struct history_filter *f)
{
	uint8_t *ids = f->run_first ? arena_alloc(&q->arena, 2 * RUN_ID_BYTES) : NULL;

	if (!f->run_first)
		return 0;
	q->filter.limit = usec_min(q->filter.limit, HISTORY_ANSWER_WHOLE);
	if (!ids)
		return -ENOMEM;
	q->filter.run_first = memcpy(ids, f->run_first, RUN_ID_BYTES);
	q->filter.run_last = memcpy(ids + RUN_ID_BYTES, f->run_last, RUN_ID_BYTES);
	return 0;
}

static int copy_filter(struct question *q, const struct history_filter *f)
{
	const char **unit = arena_alloc(&q->arena, (f->n_units + 1) * sizeof(*unit));

	if (!unit)
		return -ENOMEM;
	q->filter = *f;
	for (size_t i = 0; i < f->n_units; i++) {
		unit[i] = arena_strdup(&q->arena, f->unit[i]);
		if (!unit[i])
			return -ENOMEM;
	}
	q->filter.unit = unit;
	q->filter.cause = f->cause ? arena_strdup(&q->arena, f->cause) : NULL;
	if (f->cause && !q->filter.cause)
		return -ENOMEM;
	if (q->filter.limit > HISTORY_ANSWER_ROWS)
		q->filter.limit = HISTORY_ANSWER_ROWS;
	return copy_run_ids(q, f);
}

int history_keeper_ask(struct history_keeper *k, const struct history_filter *f,
		       const struct history_answer *answer)
{
	struct question *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	if (copy_filter(q, f) < 0) {
		question_free(q);
		return -ENOMEM;
	}
	q->job = (struct worker_job){ .work = question_work,
				      .done = question_done,
				      .drop = question_drop };
	q->keeper = k;
	q->answer = *answer;
	/* The thread does one thing after the other. */
	if (k->is_at_work && k->gathered.n > 0) {
		*k->held_end = q;
		k->held_end = &q->next;
		return 0;
	}
	flush(k, false);
	worker_submit(k->worker, &q->job);
	return 0;
}

/* ---- making and ending ---- */

/* An empty batch: opens the file, and says what became of it. */
static int begin(struct history_keeper *k)
{
	struct write *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->job = (struct worker_job) { .work = write_work, .done = write_done, .drop = write_drop };
	w->keeper = k;
	submit(k, w);
	return 0;
}

int history_keeper_new(sd_event *event, const struct history_keeper_config *config,
		       struct history_keeper **ret)
{
	struct history_keeper *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->held_end = &k->held;
	k->prune_in = USEC_NEVER;
	k->limits = config->limits;
	k->path = strdup(config->path);
	r = k->path ? worker_new(event, config->priority, 1, &k->worker) : -ENOMEM;
	if (r >= 0)
		r = sd_event_add_time_relative(event, &k->timer, CLOCK_BOOTTIME, GATHER, ACCURACY,
					       on_alarm, k);
	if (r >= 0)
		r = sd_event_source_set_priority(k->timer, config->priority);
	if (r >= 0)
		r = sd_event_source_set_enabled(k->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = begin(k);
	if (r < 0) {
		history_keeper_free(k);
		return r;
	}
	*ret = k;
	return 0;
}

/* The thread rests: what it has not written is written here, once. */
static void write_rest(struct history_keeper *k)
{
	struct write last = { .keeper = k, .now = real_now() };

	if (k->is_off)
		return;
	if (k->writing && (!k->is_at_work || k->writing->result < 0) && k->writing->batch.n > 0)
		(void) write_batch(k, k->writing);
	if (k->gap.count > 0)
		(void) history_batch_add(&k->gathered, &k->gap);
	last.batch = k->gathered;
	k->gathered = (struct history_batch) { 0 };
	if (last.batch.n > 0 && write_batch(k, &last) < 0)
		log_warning(0, "the end of the history could not be written: %zu records are lost",
			    last.batch.n);
	history_batch_done(&last.batch);
}

struct history_keeper *history_keeper_free(struct history_keeper *k)
{
	if (!k)
		return NULL;
	if (k->worker) {
		worker_wait(k->worker);
		write_rest(k);
	}
	while (k->held) {
		struct question *q = k->held;

		k->held = q->next;
		question_drop(&q->job);
	}
	/* Drops what the loop will not hear of any more. */
	if (!k->is_at_work)
		write_free(k->writing);
	worker_free(k->worker);
	sd_event_source_disable_unref(k->timer);
	history_batch_done(&k->gathered);
	history_close(k->history);
	free(k->path);
	free(k);
	return NULL;
}
