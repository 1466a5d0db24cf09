/* SPDX-License-Identifier: MIT */
#include "run/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define THREADS_MAX 16
#define TELL_MAX 1000
/* libc's default of 8 MiB is too much where memory is counted when it is promised. Lookups of users
 * run modules of others on it. */
#define STACK_SIZE ((size_t) 1024 * 1024)

struct queue {
	struct worker_job *first, *last;
};

struct worker {
	sd_event_source *source;
	int fd; /* eventfd: something is in done */
	unsigned max_threads;
	pthread_t thread[THREADS_MAX];
	/* guarded by the mutex */
	pthread_mutex_t mutex;
	pthread_cond_t work_or_end, idle;
	struct queue todo, done;
	unsigned n_threads, n_waiting, n_working;
	bool is_ending;
};

static void queue_push(struct queue *q, struct worker_job *job)
{
	job->next = NULL;
	if (q->last)
		q->last->next = job;
	else
		q->first = job;
	q->last = job;
}

static struct worker_job *queue_pop(struct queue *q)
{
	struct worker_job *job = q->first;

	if (job) {
		q->first = job->next;
		if (!q->first)
			q->last = NULL;
	}
	return job;
}

static void tell_loop(struct worker *w)
{
	uint64_t one = 1;

	/* But for an overflow nothing is known that would refuse it; but a loop that is not told
	 * would never look. */
	for (unsigned i = 0; i < TELL_MAX && write(w->fd, &one, sizeof(one)) < 0; i++)
		(void) poll(NULL, 0, 1);
}

static void work_on(struct worker *w, struct worker_job *job)
{
	bool is_first;

	w->n_working++;
	pthread_mutex_unlock(&w->mutex);
	job->work(job);
	pthread_mutex_lock(&w->mutex);
	w->n_working--;
	is_first = !w->done.first;
	queue_push(&w->done, job);
	if (w->n_working == 0 && (!w->todo.first || w->is_ending))
		pthread_cond_broadcast(&w->idle);
	/* Whoever is woken is not to find the mutex taken; and who has been told takes all there
	 * is. */
	pthread_mutex_unlock(&w->mutex);
	if (is_first)
		tell_loop(w);
	pthread_mutex_lock(&w->mutex);
}

static void *thread_main(void *userdata)
{
	struct worker *w = userdata;

	pthread_mutex_lock(&w->mutex);
	while (!w->is_ending) {
		struct worker_job *job = queue_pop(&w->todo);

		if (job) {
			work_on(w, job);
			continue;
		}
		w->n_waiting++;
		pthread_cond_wait(&w->work_or_end, &w->mutex);
		w->n_waiting--;
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

/* Signals are the loop's business: a thread has them all blocked from its first moment. */
static int thread_add(struct worker *w)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	int r = pthread_attr_init(&attributes);

	if (r != 0)
		return -r;
	(void) pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&w->thread[w->n_threads], &attributes, thread_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (r == 0)
		w->n_threads++;
	return -r;
}

static struct worker_job *take_done(struct worker *w)
{
	struct worker_job *job;

	pthread_mutex_lock(&w->mutex);
	job = queue_pop(&w->done);
	pthread_mutex_unlock(&w->mutex);
	return job;
}

/* Only what is done now: a job that its done() brings about waits for the next turn. */
static int on_done(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct worker *w = userdata;
	struct worker_job *job, *next;
	uint64_t count;

	(void) source;
	(void) revents;
	(void)!read(fd, &count, sizeof(count));
	pthread_mutex_lock(&w->mutex);
	job = w->done.first;
	w->done = (struct queue) { 0 };
	pthread_mutex_unlock(&w->mutex);
	for (; job; job = next) {
		next = job->next;
		job->done(job);
	}
	return 0;
}

int worker_new(sd_event *event, int64_t priority, unsigned max_threads, struct worker **ret)
{
	struct worker *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->work_or_end, NULL);
	pthread_cond_init(&w->idle, NULL);
	w->max_threads = max_threads < THREADS_MAX ? max_threads : THREADS_MAX;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = w->fd < 0 ? -errno : sd_event_add_io(event, &w->source, w->fd, EPOLLIN, on_done, w);
	if (r >= 0)
		r = sd_event_source_set_priority(w->source, priority);
	if (r >= 0)
		r = thread_add(w);
	if (r < 0) {
		worker_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

static void drop_all(struct worker *w)
{
	struct worker_job *job;

	while ((job = take_done(w)) || (job = queue_pop(&w->todo)))
		if (job->drop)
			job->drop(job);
}

struct worker *worker_free(struct worker *w)
{
	if (!w)
		return NULL;
	pthread_mutex_lock(&w->mutex);
	w->is_ending = true;
	pthread_cond_broadcast(&w->work_or_end);
	pthread_mutex_unlock(&w->mutex);
	for (unsigned i = 0; i < w->n_threads; i++)
		pthread_join(w->thread[i], NULL);
	drop_all(w);
	sd_event_source_disable_unref(w->source);
	if (w->fd >= 0)
		close(w->fd);
	pthread_cond_destroy(&w->idle);
	pthread_cond_destroy(&w->work_or_end);
	pthread_mutex_destroy(&w->mutex);
	free(w);
	return NULL;
}

/* What is queued is not begun any more. */
static bool becomes_idle(struct worker *w, unsigned ms)
{
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long) (ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&w->mutex);
	w->is_ending = true;
	while (w->n_working > 0 && r == 0)
		r = pthread_cond_timedwait(&w->idle, &w->mutex, &until);
	r = w->n_working > 0;
	pthread_mutex_unlock(&w->mutex);
	return r == 0;
}

bool worker_free_within(struct worker *w, unsigned ms)
{
	if (w && !becomes_idle(w, ms)) {
		/* Nobody is told any more. */
		sd_event_source_disable_unref(w->source);
		w->source = NULL;
		return false;
	}
	worker_free(w);
	return true;
}

void worker_submit(struct worker *w, struct worker_job *job)
{
	unsigned n_queued = 0;

	pthread_mutex_lock(&w->mutex);
	queue_push(&w->todo, job);
	for (struct worker_job *j = w->todo.first; j && n_queued <= w->n_waiting; j = j->next)
		n_queued++;
	/* If no thread can be had, those there are do it later. */
	if (n_queued > w->n_waiting && w->n_threads < w->max_threads)
		(void) thread_add(w);
	pthread_mutex_unlock(&w->mutex);
	pthread_cond_signal(&w->work_or_end);
}

void worker_wait(struct worker *w)
{
	pthread_mutex_lock(&w->mutex);
	while (w->n_working > 0 || w->todo.first)
		pthread_cond_wait(&w->idle, &w->mutex);
	pthread_mutex_unlock(&w->mutex);
}
