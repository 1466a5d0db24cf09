/* SPDX-License-Identifier: MIT */
#include "run/scanner.h"

#include <errno.h>
#include <stdlib.h>

#include "run/worker.h"
#include "store/unit_files.h"

/* For a scan that is at work when the daemon ends. */
#define PATIENCE_MS 1000

struct scanner {
	struct worker_job job; /* its first member */
	struct worker *worker;
	struct unit_files *files;
	struct unit_scan *scan; /* the worker's; NULL: none is at work */
	void (*done)(void *userdata);
	void *userdata;
};

static void work(struct worker_job *job)
{
	struct scanner *s = (struct scanner *) job;

	unit_scan_make(s->scan);
}

static void done(struct worker_job *job)
{
	struct scanner *s = (struct scanner *) job;
	struct unit_scan *scan = s->scan;

	s->scan = NULL;
	unit_scan_give(s->files, scan);
	s->done(s->userdata);
}

int scanner_new(sd_event *event, int64_t priority, struct unit_files *files, struct scanner **ret)
{
	struct scanner *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->job = (struct worker_job) { .work = work, .done = done };
	s->files = files;
	r = worker_new(event, priority, 1, &s->worker);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = s;
	return 0;
}

bool scanner_free(struct scanner *s)
{
	if (!s)
		return true;
	if (!worker_free_within(s->worker, PATIENCE_MS))
		return false;
	unit_scan_free(s->scan);
	free(s);
	return true;
}

int scanner_begin(struct scanner *s, unsigned kinds, void (*done_fn)(void *userdata),
		  void *userdata)
{
	int r = s->scan ? -EBUSY : unit_scan_begin(s->files, kinds, &s->scan);

	if (r < 0)
		return r;
	s->done = done_fn;
	s->userdata = userdata;
	worker_submit(s->worker, &s->job);
	return 0;
}
